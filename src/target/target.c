/* SPDX-License-Identifier: Apache-2.0 */
/* target.c -- target strings. */
#include "target.h"

#include <stdio.h>
#include <strings.h>

typedef struct {
    const char *word, *spec;
    uint32_t base; /* the features it builds on */
    int since;     /* the minor version */
} feature;

enum { BASE_0 = 0, BASE_INT = 1u << TC_FEATURE_INT, BASE_FP = 1u << TC_FEATURE_FP };

static const feature features[TC_FEATURE_COUNT] = {
#define FEATURE(name, word, spec, base, since) [TC_FEATURE_##name] = {word, spec, BASE_##base, since},
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
};

/* The features of a word; 0: there are none in that version. */
static uint32_t features_named(tc_str word, int minor)
{
    uint32_t all = 0;
    bool mx = minor > 0 && ti_str_is(word, "mxfp"); /* ExecuTorch's word for all of these */
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if ((mx && ti_text_starts(features[i].spec, "EXT-MX")) ||
            (ti_str_is(word, features[i].word) && features[i].since <= minor))
            all |= 1u << i;
    return all;
}

static tc_status unknown_word(tc_ctx *ctx, const char *text, tc_str word, int minor)
{
    const char *name = ti_text_copy(&ctx->arena, word);
    tc_status status = ti_usage(
        ctx, "the target '%s' asks for '%s', which is not a profile or extension", text, name);
    const char *near = NULL;
    size_t least = (strlen(name) + 1) / 2;
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (features[i].since <= minor)
            ti_text_nearer(strcasecmp(name, features[i].word) ? name : features[i].word,
                           features[i].word, &least, &near);
    if (features_named(word, 1))
        ti_note(ctx, NULL, "'%s' is of TOSA 1.1: TOSA-1.1+...", name);
    else if (near)
        ti_note(ctx, NULL, "did you mean '%s'?", near);
    else
        ti_note(ctx, NULL, "profiles are INT and FP; 'tosac targets' lists the extensions");
    return status;
}

static tc_status parse_spec(tc_ctx *ctx, const char *text, const char *spec, tc_target *out)
{
    const char *at = spec + strlen("TOSA-1.0");
    out->minor = ti_text_starts(spec, "TOSA-1.1");
    while (*at) {
        if (*at != '+')
            return ti_usage(ctx, "the target '%s' has '%s' where a '+' is expected", text, at);
        const char *word = ++at;
        at += strcspn(at, "+");
        uint32_t found = features_named((tc_str){word, (size_t)(at - word)}, out->minor);
        if (!found)
            return unknown_word(ctx, text, (tc_str){word, (size_t)(at - word)}, out->minor);
        out->tosa |= found;
    }
    if (!(out->tosa & (BASE_INT | BASE_FP)))
        return ti_usage(ctx, "the target '%s' has no profile: +INT, +FP or both", text);
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (out->tosa & 1u << i && (out->tosa & features[i].base) != features[i].base)
            return ti_usage(ctx, "the target '%s' has '%s' without the profile that it extends",
                            text, features[i].word);
    return TC_OK;
}

static bool is_spec(const char *text)
{
    return ti_text_starts(text, "TOSA-1.0") || ti_text_starts(text, "TOSA-1.1");
}

/* Whether the text names the machine, and which of its sizes. */
static bool is_machine(const tc_machine *m, const char *text, const tc_npu_machine **npu)
{
    *npu = NULL;
    for (size_t i = 0; i < m->n_npu; i++)
        if (ti_text_eq(text, m->npu[i].name))
            *npu = &m->npu[i];
    return *npu || (m->packing != TC_PACKED_STREAM && ti_text_eq(text, m->name));
}

/* "ethos-u55-128+cortex-m55": the plus of a machine, none of TOSA's. */
static const char *core_in(const char *text)
{
    return is_spec(text) || strchr(text, ':') ? NULL : strchr(text, '+');
}

static tc_status parse_pair(tc_ctx *ctx, const char *text, const char *plus, tc_target *out)
{
    tc_target *core = tc_new(&ctx->arena, tc_target);
    const char *name = ti_text_copy(&ctx->arena, (tc_str){text, (size_t)(plus - text)});
    TC_TRY(ti_target_parse(ctx, name, out));
    TC_TRY(ti_target_parse(ctx, plus + 1, core));
    if (out->machine->packing != TC_PACKED_STREAM || core->machine->packing != TC_PACKED_C) {
        tc_status status = ti_usage(ctx, "the target '%s' is not an Ethos-U with a Cortex-M", text);
        ti_note(ctx, NULL, "'ethos-u55-128+cortex-m55': what the Ethos-U does not take runs on the "
                           "core, in integers");
        return status;
    }
    out->text = text;
    out->core = core;
    return TC_OK;
}

tc_status ti_target_parse(tc_ctx *ctx, const char *text, tc_target *out)
{
    const char *plus = core_in(text);
    if (plus)
        return parse_pair(ctx, text, plus, out);
    *out = (tc_target){.text = text, .name = text, .machine = &tc_machine_tosa};
    if (is_spec(text)) {
        TC_TRY(parse_spec(ctx, text, text, out));
        if (out->tosa >> TC_FEATURE_U55 & 1u)
            out->machine = &tc_machine_tosa_u55;
        return TC_OK;
    }
    for (size_t i = 0; (out->machine = ti_machine_at(i)) != NULL; i++) {
        const tc_machine *m = out->machine;
        size_t n = strlen(m->name);
        if (m->packing != TC_PACKED_TOSA && is_machine(m, text, &out->npu))
            return m->spec ? parse_spec(ctx, text, m->spec, out) : TC_OK;
        if (m->spec && !m->n_npu && ti_text_starts(text, m->name) && text[n] == ':' &&
            is_spec(text + n + 1)) /* "vgf:TOSA-1.0+INT": a profile of the user's choice */
            return parse_spec(ctx, text, text + n + 1, out);
    }
    return ti_target_unknown(ctx, text);
}

const char *ti_target_refuses(tc_ctx *ctx, const tc_target *target, const tc_graph *g)
{
    return target->back_end ? target->back_end(ctx, target->who, g) : NULL;
}

const char *ti_target_spec(tc_ctx *ctx, const tc_target *target)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_buf_printf(&text, "TOSA-1.%d", target->minor);
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (target->tosa & 1u << i)
            ti_buf_printf(&text, "+%s", features[i].word);
    return ti_buf_cstr(&text);
}
