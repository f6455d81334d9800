/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_inputs.c -- what was put in: the model, the data, the settings, and the tool itself. */
#ifndef _WIN32
#define _GNU_SOURCE /* dladdr() */
#include <dlfcn.h>
#endif

#include "certificate.h"

#include "../base/version.h"
#include "../board/board.h"
#include "../data/dataset.h"
#include "../wire/file.h"

static void put_model(const tc_compiled *c, tc_json_out *out)
{
    const tc_module *m = c->work.real ? c->work.real : c->module;
    ti_json_open(out, "model", '{');
    tc_json_put(out, TC_J("name", ti_path_last(c->request.model)), TC_J_IF("producer", m->origin.producer));
    ti_put_hash(out, m->origin.image);
    ti_json_close(out, '}');
}

/* Of data: the bytes of every sample as the model takes it, one input after the other. */
static tc_status hash_samples(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out)
{
    const tc_graph *g = ti_main(c->work.real ? c->work.real : c->module);
    tc_samples samples;
    TC_TRY(ti_open_dataset(ctx, c->request.data.calib, g, &samples));
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in + 1);
    tc_bytes *part = tc_new_n(&ctx->arena, tc_bytes, g->n_in + 1);
    char(*hex)[TC_SHA256_HEX + 1] = ti_arena_raw(&ctx->arena, (samples.n + 1) * sizeof *hex);
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        part[i] = (tc_bytes){in[i].data, tc_type_bytes(in[i].type)};
    }
    for (size_t k = 0; k < samples.n; k++) {
        TC_TRY(ti_go_on(ctx));
        TC_TRY(samples.read(samples.from, k, in));
        ti_sha256_hex(part, g->n_in, hex[k]);
    }
    char all[TC_SHA256_HEX + 1];
    ti_sha256_hex(&(tc_bytes){(const uint8_t *)hex, samples.n * sizeof *hex}, 1, all);
    tc_json_put(out, TC_J("samples", samples.n), TC_J("sha256", (const char *)all));
    return TC_OK;
}

static tc_status put_data(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out)
{
    const tc_dataset *data = c->request.data.calib;
    if (!data)
        return TC_OK;
    ti_json_open(out, "data", '{');
    ti_json_open(out, "from", '[');
    for (size_t i = 0; i < data->n_path; i++)
        ti_json_put_text(out, NULL, ti_path_last(data->path[i]));
    ti_json_close(out, ']');
    TC_TRY(hash_samples(ctx, c, out));
    tc_json_put(out, TC_J("invented", ti_dataset_invented(data)));
    ti_json_close(out, '}');
    return TC_OK;
}

/* A preset by its name, a file by its bytes; settings that a program made by what they led to: `program`. */
static tc_status put_quantization(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out)
{
    const char *config = c->request.config, *file = c->quant.config.file;
    tc_bytes bytes;
    ti_json_open(out, "quantization", '{');
    tc_json_put(out, TC_J("name", file ? ti_path_last(file) : config ? config : "default"));
    if (file && config && ti_text_eq(file, config)) {
        TC_TRY(ti_file_read(ctx, file, &bytes));
        ti_put_hash(out, bytes);
    }
    ti_json_close(out, '}');
    return TC_OK;
}

static tc_status put_settings(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out)
{
    const tc_compile_request *r = &c->request;
    const tc_ethosu_options *e = &c->asked.ethosu;
    ti_json_open(out, "settings", '{');
    TC_TRY(put_quantization(ctx, c, out));
    tc_json_put(out, TC_J_IF("board", c->asked.board ? c->asked.board->name : NULL),
                TC_J_IF("system", e->system_config), TC_J_IF("memory_mode", e->memory_mode),
                TC_J_IF("optimise", e->optimise), TC_J("check", r->check), TC_J("execute", (bool)!r->unexecuted),
                TC_J("strict", r->strict), TC_J("keep_odd", r->data.keep_odd),
                TC_J("all_samples", r->data.all_samples));
    if (e->max_scratch)
        ti_json_put_int(out, "max_scratch", e->max_scratch);
    tc_json_list(out, "cpu", r->n_cpu, r->cpu);
    ti_json_close(out, '}');
    return TC_OK;
}

/* The file that this code was loaded from; none: the system does not say. */
static tc_bytes tool_bytes(tc_ctx *ctx)
{
    tc_bytes bytes = {NULL, 0};
#ifndef _WIN32
    Dl_info info;
    tc_trial trial;
    static const char here[] = TC_VERSION_TEXT;
    if (!dladdr(here, &info) || !info.dli_fname)
        return bytes;
    ti_trial_begin(ctx, &trial);
    const char *path = strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
    if (ti_file_read(ctx, path, &bytes) != TC_OK)
        bytes = (tc_bytes){NULL, 0};
    ti_trial_end(ctx, &trial);
#else
    (void)ctx;
#endif
    return bytes;
}

static void put_tool(tc_ctx *ctx, tc_json_out *out)
{
    tc_bytes self = tool_bytes(ctx);
    ti_json_open(out, "tool", '{');
    tc_json_put(out, TC_J("name", "tosac"), TC_J("version", TC_VERSION_TEXT));
    if (self.size)
        ti_put_hash(out, self);
    ti_json_close(out, '}');
}

tc_status ti_certificate_inputs(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out)
{
    put_tool(ctx, out);
    put_model(c, out);
    TC_TRY(put_data(ctx, c, out));
    return put_settings(ctx, c, out);
}
