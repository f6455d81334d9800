/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.c -- see certificate.h. */
#include "certificate.h"

#include "../ir/ir_text.h"

enum { FORMAT = 1 }; /* of the record; a reader refuses one that it does not know */

void ti_put_hash(tc_json_out *out, tc_bytes bytes)
{
    char hex[TC_SHA256_HEX + 1];
    ti_sha256_hex(&bytes, 1, hex);
    tc_json_put(out, TC_J("bytes", bytes.size), TC_J("sha256", (const char *)hex));
}

/* The typed program; large constants by the hash of all of them. */
static tc_bytes program_text(tc_ctx *ctx, const tc_compiled *c)
{
    tc_side side;
    tc_buf text;
    uint64_t hash = TC_SIDE_HASH;
    const tc_module *m = c->work.typed ? c->work.typed : c->module;
    ti_side_init(&side, &ctx->arena);
    ti_buf_init(&text, &ctx->arena);
    ti_print(m, &(tc_print_options){.locs = true, .side = &side, .file_as = ti_path_last(m->file)}, &text);
    for (size_t i = 0; i < side.n_part; i++)
        hash = ti_side_hash(hash, side.part[i]);
    const char *head =
        side.n_part ? ti_text_format(&ctx->arena, "bin \"%s\"\n",
                                     ti_side_word(&ctx->arena, side.size, hash))
                    : "";
    tc_buf all;
    ti_buf_init(&all, &ctx->arena);
    ti_buf_text(&all, head);
    ti_buf_put(&all, text.data, text.size);
    return (tc_bytes){all.data, all.size};
}

/* ---- the record ---- */

static void put_port(tc_ctx *ctx, tc_json_out *out, const char *name, const tc_type *type)
{
    tc_json_object(out, NULL, TC_J_IF("name", name), TC_J("type", (const char *)ti_type_text(&ctx->arena, type)));
}

static void put_ports(tc_ctx *ctx, tc_json_out *out, const char *name, const tc_graph *g, const tc_val *v, size_t n)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++)
        put_port(ctx, out, g->val[v[i]]->name, ti_type_of(g, v[i]));
    ti_json_close(out, ']');
}

static void put_results(tc_ctx *ctx, tc_json_out *out, const tc_compiled *c, const tc_region *r)
{
    const tc_graph *g = ti_main(r->module), *main = ti_main(c->module);
    const tc_node *call = ti_call_of(main, r->name);
    ti_json_open(out, "outputs", '[');
    for (size_t i = 0; i < g->n_out; i++) {
        const char *own = g->val[g->out[i]]->name;
        put_port(ctx, out, call && i < (size_t)call->n_out ? main->val[call->out[i]]->name : own, ti_type_of(g, g->out[i]));
    }
    ti_json_close(out, ']');
}

/* What each region takes and gives, in the order of its payload; results by the names that their values have where it is called. */
static void put_regions(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out)
{
    ti_json_open(out, "regions", '[');
    for (size_t i = 0; i < c->n_region; i++) {
        const tc_region *r = &c->region[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", r->name), TC_J_IF("commands", r->commands),
                    TC_J_IF("times", (size_t)(r->times > 1 ? r->times : 0)));
        if (r->tosa.size) {
            ti_json_open(out, "tosa", '{');
            ti_put_hash(out, r->tosa);
            ti_json_close(out, '}');
        }
        if (c->payload && c->payload[i].bytes.size) {
            ti_json_open(out, "payload", '{');
            ti_put_hash(out, c->payload[i].bytes);
            ti_json_close(out, '}');
        }
        if (c->jobs)
            tc_json_put(out, TC_J("scratch", c->jobs[i].scratch), TC_J("fast_scratch", c->jobs[i].fast_scratch));
        const tc_graph *g = ti_main(r->module);
        put_ports(ctx, out, "inputs", g, g->in, g->n_in);
        put_results(ctx, out, c, r);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void put_files(const tc_compiled *c, tc_json_out *out)
{
    ti_json_open(out, "output", '[');
    for (size_t i = 0; i < c->written.n_file; i++) {
        ti_json_open(out, NULL, '{');
        if (c->written.written_as)
            ti_json_put_text(out, "name", c->written.written_as[i]);
        ti_put_hash(out, c->written.file[i]);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void put_beside(tc_json_out *out, const char *name, const char *extension, tc_bytes bytes)
{
    ti_json_open(out, name, '{');
    ti_json_put_text(out, "extension", extension);
    ti_put_hash(out, bytes);
    ti_json_close(out, '}');
}

tc_status ti_certificate(tc_ctx *ctx, const tc_compiled *c, tc_certificate *out)
{
    tc_buf text;
    if (!c->written.n_file)
        return ti_usage(ctx, "a certificate is of files, and none was made");
    tc_certificate r = {.program = program_text(ctx, c)};
    tc_sample_count drawn;
    TC_TRY(ti_certificate_samples(ctx, c, &r.samples, &drawn));
    ti_buf_init(&text, &ctx->arena);
    tc_json_out json = {.to = &text};
    ti_json_open(&json, NULL, '{');
    tc_json_put(&json, TC_J("certificate", FORMAT), TC_J("target", c->target.text));
    TC_TRY(ti_certificate_inputs(ctx, c, &json));
    put_files(c, &json);
    put_beside(&json, "program", TC_CERTIFICATE_PROGRAM, r.program);
    put_beside(&json, "samples", TC_CERTIFICATE_SAMPLES, r.samples);
    const tc_graph *g = ti_main(c->work.typed ? c->work.typed : c->module);
    put_ports(ctx, &json, "inputs", g, g->in, g->n_in);
    put_ports(ctx, &json, "outputs", g, g->out, g->n_out);
    put_regions(ctx, c, &json);
    TC_TRY(ti_certificate_kernels(ctx, c, &json));
    TC_TRY(ti_certificate_checks(ctx, c, &drawn, &json));
    ti_certificate_map(c, &json);
    char above[TC_SHA256_HEX + 1];
    ti_sha256_hex(&(tc_bytes){text.data, text.size}, 1, above);
    ti_json_put_text(&json, "sha256_of_above", above);
    ti_json_close(&json, '}');
    r.json = (tc_bytes){text.data, text.size};
    size_t size = out->size;
    *out = r;
    out->size = size;
    return TC_OK;
}
