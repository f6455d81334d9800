/* SPDX-License-Identifier: Apache-2.0 */
/* emit_c.c -- see emit_c.h.  read/pte_needs.c has the sizes. */
#include "emit_c.h"

#include <ctype.h>

#include "../drive/made_by.h"
#include "../read/pte_needs.h"
#include "../drive/model.h"

const char *ti_c_symbol(tc_ctx *ctx, const char *path)
{
    const char *base = ti_path_last(path);
    size_t n = strcspn(base, ".");
    char *name = ti_text_format(&ctx->arena, "%s%.*s", isdigit((unsigned char)*base) ? "m" : "",
                                (int)n, base);
    for (char *p = name; *p; p++)
        *p = isalnum((unsigned char)*p) ? *p : '_';
    return *name ? name : "model";
}

static const char *upper(tc_ctx *ctx, const char *name)
{
    char *text = ti_text_format(&ctx->arena, "%s", name);
    for (char *p = text; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return text;
}

/* ---- borders ---- */

/* The quantization of the value past the border: the other type of the node that reads it, or makes
 * it. */
static const tc_quant *quant_of(const tc_graph *g, tc_val v, bool output)
{
    const tc_node *def = output ? ti_def(g, v) : NULL;
    if (ti_type_of(g, v)->quant)
        return ti_type_of(g, v)->quant;
    if (def && def->op == TC_OP_rescale)
        return ti_type_of(g, def->in[0])->quant;
    for (size_t k = 0; k < g->n_node && !output; k++)
        if (g->node[k]->op == TC_OP_rescale && g->node[k]->in[0] == v)
            return ti_type_of(g, g->node[k]->out[0])->quant;
    return NULL;
}

/* What the elements of a port are to the caller: after the type, in its comment. */
static const char *meaning(const tc_type *t, const tc_quant *q, bool output)
{
    if (!q || q->count != 1)
        return "as the model has them";
    if (t->quant)
        return "codes; one stands for SCALE * (code - ZERO_POINT)";
    return output ? "real numbers; the codes that they are made of have this scale"
                  : "real numbers; the program makes codes of this scale of them";
}

static void put_ports(tc_ctx *ctx, tc_buf *out, const char *prefix, const tc_graph *g, bool output)
{
    const char *side = output ? "OUTPUT" : "INPUT";
    size_t n = output ? g->n_out : g->n_in;
    ti_buf_printf(out, "\n#define %s_%sS %zu\n", prefix, side, n);
    for (size_t i = 0; i < n; i++) {
        tc_val v = output ? g->out[i] : g->in[i];
        const tc_type *t = ti_type_of(g, v);
        const tc_quant *q = quant_of(g, v, output);
        const char *name = output ? ti_output_name_of(g, i) : ti_input_name(g, i);
        char number[32];
        ti_buf_printf(out, "/* %s: %s */\n",
                      ti_type_text(&ctx->arena,
                                   &(tc_type){.dtype = t->dtype,
                                              .rank = t->rank,
                                              .dim = {t->dim[0], t->dim[1], t->dim[2], t->dim[3],
                                                      t->dim[4], t->dim[5], t->dim[6], t->dim[7]}}),
                      meaning(t, q, output));
        ti_buf_printf(out, "#define %s_%s_%zu_NAME \"", prefix, side, i);
        for (const char *p = name ? name : ""; *p; p++)
            ti_buf_printf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
        ti_buf_printf(out, "\"\n#define %s_%s_%zu_BYTES %zu\n", prefix, side, i, tc_type_bytes(t));
        if (q && q->count == 1) {
            tc_text_f64(q->scale[0], number);
            ti_buf_printf(out, "#define %s_%s_%zu_SCALE %s\n", prefix, side, i, number);
            ti_buf_printf(out, "#define %s_%s_%zu_ZERO_POINT %" PRId64 "\n", prefix, side, i,
                          q->zero[0]);
        }
    }
}

/* ---- the two files ---- */

static void put_size(tc_buf *out, const char *prefix, const char *what, size_t bytes,
                     const char *why)
{
    ti_buf_printf(out, "/* %s */\n#define %s_%s %zu\n", why, prefix, what, bytes);
}

/* Bytes that a method needs. */
typedef struct needs {
    size_t planned, scratch, fast, temporary, method;
} needs;

static needs needs_of(const tc_compiled *c, const tc_pte_method *m)
{
    needs n = {.method = ti_pte_method_bytes(m), .temporary = ti_pte_meta_bytes(m)};
    for (int32_t i = 1; i < m->arena.n; i++)
        n.planned += (size_t)m->arena.v[i];
    for (size_t i = 0; c->jobs && i < c->n_region; i++) {
        const tc_ethosu_job *job = &c->jobs[i];
        n.scratch = (size_t)job->scratch > n.scratch ? (size_t)job->scratch : n.scratch;
        n.fast = (size_t)job->fast_scratch > n.fast ? (size_t)job->fast_scratch : n.fast;
    }
    if (n.scratch && n.temporary <= n.scratch + 16)
        n.temporary = n.scratch + 16;
    return n;
}

/* What all methods share. */
static needs larger(needs a, needs b)
{
    return (needs){a.planned > b.planned ? a.planned : b.planned,
                   a.scratch > b.scratch ? a.scratch : b.scratch, a.fast > b.fast ? a.fast : b.fast,
                   a.temporary > b.temporary ? a.temporary : b.temporary,
                   a.method > b.method ? a.method : b.method};
}

static void put_needs(tc_buf *out, const char *prefix, const needs *n)
{
    put_size(out, prefix, "PLANNED_BYTES", n->planned,
             "Memory 1 of the method, exactly: the values between its steps.");
    put_size(out, prefix, "NPU_SCRATCH_BYTES", n->scratch,
             "The accelerator's working memory, exactly: the largest of all regions; it comes from "
             "the temporary pool.");
    put_size(out, prefix, "NPU_FAST_SCRATCH_BYTES", n->fast,
             "The accelerator's fast memory where it has one of its own (ethosu_fast_scratch), "
             "exactly.");
    put_size(out, prefix, "TEMPORARY_BYTES", n->temporary,
             "The temporary pool: the scratch, aligned; kernels of the CPU may ask for more.");
    put_size(out, prefix, "METHOD_BYTES", n->method,
             "The method allocator's pool: enough for ExecuTorch 1.4 on 32 and 64 bits, an upper "
             "bound.");
}

static const tc_pte_method *method_of(const tc_pte_file *f, const tc_compiled *c)
{
    for (size_t i = 0; i < f->n_method; i++)
        if (f->method[i].name && c->asked.method && ti_text_eq(f->method[i].name, c->asked.method))
            return &f->method[i];
    return &f->method[0];
}

/* One of several: PROGRAM_METHOD_NAME, and what is its own. */
static void put_method(tc_ctx *ctx, tc_buf *out, const char *name, const tc_compiled *c,
                       const tc_pte_method *m)
{
    const char *prefix =
        upper(ctx, ti_c_symbol(ctx, ti_text_format(&ctx->arena, "%s_%s", name, c->asked.method)));
    needs n = needs_of(c, m);
    ti_buf_printf(out, "\n#define %s_METHOD \"%s\"\n", prefix, c->asked.method);
    put_needs(out, prefix, &n);
    put_ports(ctx, out, prefix, ti_main(c->module), false);
    put_ports(ctx, out, prefix, ti_main(c->module), true);
}

static void put_header(tc_ctx *ctx, const tc_compiled *c, const char *name, const tc_pte_file *file,
                       size_t bytes, tc_buf *out)
{
    const char *prefix = upper(ctx, name);
    needs all = {0};
    for (const tc_compiled *m = c; m; m = m->asked.beside)
        all = larger(all, needs_of(m, method_of(file, m)));
    ti_buf_printf(
        out, "/* %s.h -- made by %s.  What a firmware sets aside to run the program. */\n",
        name, ti_made_by(ctx, c));
    ti_buf_printf(out,
                  "#ifndef %s_H\n#define %s_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
                  prefix, prefix);
    put_size(out, prefix, "PTE_BYTES", bytes, "The program itself.");
    ti_buf_printf(out, "extern const unsigned char %s_pte[%s_PTE_BYTES];\n\n", name, prefix);
    if (c->asked.beside)
        ti_buf_text(out, "/* ---- enough for any one of its methods ---- */\n");
    put_needs(out, prefix, &all);
    for (const tc_compiled *m = c; m && c->asked.beside; m = m->asked.beside)
        put_method(ctx, out, name, m, method_of(file, m));
    if (!c->asked.beside) {
        put_ports(ctx, out, prefix, ti_main(c->module), false);
        put_ports(ctx, out, prefix, ti_main(c->module), true);
    }
    ti_buf_printf(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

static void put_source(const char *name, const char *file, const char *made_by, tc_bytes pte, tc_buf *out)
{
    static const char digit[] = "0123456789abcdef";
    ti_buf_printf(
        out,
        "/* %s.c -- an ExecuTorch program of %zu bytes, made by %s; %s.h has what it needs.\n"
        " * TOSAC_SECTION places it: "
        "-DTOSAC_SECTION='__attribute__((section(\"network_model_sec\")))' */\n"
        "#include \"%s.h\"\n\n#ifndef TOSAC_SECTION\n#define TOSAC_SECTION\n#endif\n"
        "#if defined(__cplusplus)\n#define TOSAC_ALIGNED alignas(16)\n#elif defined(__GNUC__)\n"
        "#define TOSAC_ALIGNED __attribute__((aligned(16)))\n#else\n#define TOSAC_ALIGNED "
        "_Alignas(16)\n#endif\n\n"
        "TOSAC_SECTION TOSAC_ALIGNED const unsigned char %s_pte[] = {\n",
        file, pte.size, made_by, file, file, name);
    for (size_t i = 0; i < pte.size; i++) {
        uint8_t *p = ti_buf_room(out, 5);
        p[0] = '0';
        p[1] = 'x';
        p[2] = (uint8_t)digit[pte.data[i] >> 4];
        p[3] = (uint8_t)digit[pte.data[i] & 15];
        p[4] = ',';
        if (i % 20 == 19)
            ti_buf_u8(out, '\n');
    }
    ti_buf_text(out, "\n};\n");
}

const char *ti_c_stem(tc_ctx *ctx, const char *path)
{
    const char *base = ti_path_last(path);
    size_t n = strlen(base);
    return ti_text_format(&ctx->arena, "%.*s", (int)(ti_text_ends(base, ".c") ? n - 2 : n), base);
}

tc_status ti_emit_c(tc_ctx *ctx, const tc_compiled *c, const char *path, tc_bytes pte,
                    tc_bytes *source, tc_bytes *header)
{
    tc_pte_file file;
    tc_buf text, head;
    const char *name = ti_c_symbol(ctx, path);
    TC_TRY(ti_pte_open(ctx, name, pte, &file));
    ti_buf_init(&text, &ctx->arena);
    ti_buf_init(&head, &ctx->arena);
    put_source(name, ti_c_stem(ctx, path), ti_made_by(ctx, c), pte, &text);
    put_header(ctx, c, name, &file, pte.size, &head);
    *source = (tc_bytes){text.data, text.size};
    *header = (tc_bytes){head.data, head.size};
    return TC_OK;
}
