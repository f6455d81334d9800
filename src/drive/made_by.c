/* SPDX-License-Identifier: Apache-2.0 */
/* made_by.c -- see made_by.h. */
#include "made_by.h"

#include "../base/version.h"
#include "../lower/shaders.h"
#include "../npu/system.h"

#define OPENING "made by tosac "

static void word(tc_buf *out, const char *option, const char *value)
{
    if (value)
        ti_buf_printf(out, " %s %s", option, value);
}

static void flag(tc_buf *out, const char *option, bool set)
{
    if (set)
        ti_buf_printf(out, " %s", option);
}

static void number(tc_buf *out, const char *name, double value, const char *before)
{
    if (value > 0)
        ti_buf_printf(out, "%s%s=%.9g", before, name, value);
}

/* "FILE:CONFIG,MODE", the file without its folder. */
static const char *system_of(tc_ctx *ctx, const tc_ethosu_options *o)
{
    return ti_system_name_text(ctx, &(tc_system_name){o->ini ? ti_path_last(o->ini) : NULL,
                                                      o->system_config, o->memory_mode});
}

/* Texts of a caller may hold anything: one line, which ends no comment of C. */
static char *tame(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127 || (*p == '*' && p[1] == '/') || *p == '"' || *p == '\\')
            *p = '_';
    return text;
}

static void put_goal(tc_buf *out, const tc_compile_goal *g)
{
    const char *before = " --goal ";
    const struct {
        const char *name;
        double value;
    } part[] = {{"sqnr", g->sqnr_db}, {"drop", g->drop}, {"cycles", g->cycles}, {"flash", g->flash}};
    for (size_t i = 0; i < TC_COUNT(part); i++) {
        number(out, part[i].name, part[i].value, before);
        before = part[i].value > 0 ? "," : before;
    }
}

static const char QUANTIZED[] = " -q ";

/* " -q a16w8 --keep-odd-samples" of a text graph that was quantized so; "": it says nothing. */
static const char *quantized_before(const tc_module *m)
{
    const char *at = m->origin.made_by ? strstr(m->origin.made_by, QUANTIZED) : NULL;
    return at ? at : "";
}

void ti_made_by_note(tc_ctx *ctx, tc_module *m, const char *config, bool keep_odd, bool all_samples)
{
    tc_buf out;
    if (!config)
        return;
    ti_buf_init(&out, &ctx->arena);
    word(&out, "-q", ti_path_last(config));
    flag(&out, "--keep-odd-samples", keep_odd);
    flag(&out, "--all-samples", all_samples);
    m->origin.made_by = tame(ti_text_copy(&ctx->arena, ti_str_of(ti_buf_cstr(&out))));
}

const char *ti_made_by_typed(tc_ctx *ctx, const tc_module *m)
{
    return ti_text_format(&ctx->arena, "%s%s", ti_made_by_tosac(), quantized_before(m));
}

const char *ti_made_by(tc_ctx *ctx, const tc_compiled *c)
{
    const tc_compile_request *r = &c->request;
    const tc_ethosu_options *e = &c->asked.ethosu;
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_text(&out, ti_made_by_tosac());
    word(&out, "-t", c->target.text);
    word(&out, "--system", system_of(ctx, e));
    word(&out, "--optimise", e->optimise);
    if (e->max_scratch)
        ti_buf_printf(&out, " --max-scratch %" PRId64, e->max_scratch);
    word(&out, "--marks", e->marks ? tc_npu_marks_names[e->marks] : NULL);
    flag(&out, "--share-weights", e->share_weights && c->asked.beside);
    put_goal(&out, &c->asked.goal);
    word(&out, "-q", r->config ? ti_path_last(r->config) : NULL);
    flag(&out, "--keep-odd-samples", r->data.keep_odd);
    flag(&out, "--all-samples", r->data.all_samples);
    ti_buf_text(&out, r->config ? "" : quantized_before(c->module));
    for (size_t i = 0; i < r->n_cpu; i++)
        word(&out, "--cpu", r->cpu[i]);
    flag(&out, "--kernels cmsis-nn", c->asked.cmsis_nn);
    word(&out, "--shaders", r->shaders == TC_SHADERS_AUTO ? NULL : ti_shaders_word(r->shaders));
    for (size_t i = 0; i < r->n_image; i++)
        word(&out, "--image", r->image[i].text);
    flag(&out, "--locations", c->asked.places);
    const char *text = ti_buf_cstr(&out);
    return tame(ti_arena_copy(&ctx->arena, text, strlen(text) + 1));
}

tc_bytes ti_made_by_appended(tc_ctx *ctx, tc_bytes file, const char *made_by)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_put(&out, file.data, file.size);
    ti_buf_printf(&out, "made by %s\n", made_by);
    return (tc_bytes){out.data, out.size};
}

const char *ti_made_by_found(tc_ctx *ctx, tc_bytes file)
{
    size_t opening = strlen(OPENING), line = 1;
    if (!file.size || file.data[file.size - 1] != '\n')
        return NULL;
    while (line < file.size && file.data[file.size - 1 - line] >= ' ' && file.data[file.size - 1 - line] < 127)
        line++;
    for (size_t at = file.size - line; at + opening < file.size; at++)
        if (memcmp(file.data + at, OPENING, opening) == 0)
            return ti_text_copy(&ctx->arena, (tc_str){(const char *)file.data + at + strlen("made by "), file.size - 1 - at - strlen("made by ")});
    return NULL;
}
