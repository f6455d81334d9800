/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_pte.c -- what an ExecuTorch program holds. */
#include "inspect.h"

#include <stdlib.h>

#include "../read/pte_needs.h"
#include "../read/survey.h"
#include "../base/json_out.h"
#include "../target/cortexm_call.h"
#include "../wire/vgf.h"

static const char *dtype_name(tc_ctx *ctx, int number)
{
    tc_dtype dtype = ti_dtype_from_et(number);
    return dtype ? tc_dtypes[dtype].name : ti_text_format(&ctx->arena, "type%d", number);
}

static int64_t element_bytes(int number)
{
    tc_dtype dtype = ti_dtype_from_et(number);
    return dtype ? tc_dtypes[dtype].bytes : 0;
}

static int64_t count(tc_ints dim)
{
    int64_t n = 1;
    for (int32_t i = 0; i < dim.n; i++)
        if (dim.v[i] < 0 || __builtin_mul_overflow(n, dim.v[i], &n))
            return -1;
    return n;
}

/* "f32[1,3,8,8]", or what it is instead of a tensor. */
static const char *value_text(tc_ctx *ctx, const tc_pte_value *v)
{
    static const char *const name[] = {"?", "None", "int", "bool", "float", "tensor", "text"};
    char number[32];
    if (v->tag == PTE_TENSOR)
        return ti_text_format(&ctx->arena, "%s%s", dtype_name(ctx, v->dtype),
                              ti_dims_text(&ctx->arena, v->dim.n, v->dim.v));
    if (v->tag == PTE_INT)
        return ti_text_format(&ctx->arena, "%" PRId64, v->plain.i);
    if (v->tag == PTE_BOOL)
        return v->plain.i ? "True" : "False";
    if (v->tag == PTE_DOUBLE) {
        tc_text_f64(v->plain.r, number);
        return ti_text_format(&ctx->arena, "%s", number);
    }
    return v->tag < TC_COUNT(name) ? name[v->tag] : "list";
}

/* Kernels and how often each is run. */
static tc_survey count_kernels(tc_ctx *ctx, const tc_pte_method *m)
{
    tc_survey s = {0};
    for (size_t k = 0; k < m->n_step; k++) {
        const tc_pte_step *step = &m->step[k];
        if (step->tag != PTE_KERNEL_CALL)
            continue;
        ti_survey_count(ctx, &s, ti_pte_kernel(ctx, m, step));
    }
    ti_survey_sort(&s);
    return s;
}

static uint64_t segment_bytes(const tc_pte_file *f, uint32_t index, size_t n)
{
    return n > 1 && index < f->n_segment ? f->segment[index].size : 0;
}

/* The next argument according to an Ethos-U payload, or NULL. */
static const tc_ethosu_tensor *next_tensor(const tc_ethosu_payload *p, bool is_input, size_t *n_in,
                                           size_t *n_out)
{
    if (is_input)
        return *n_in < p->n_in ? &p->in[(*n_in)++] : NULL;
    return *n_out < p->n_out ? &p->out[(*n_out)++] : NULL;
}

/* Graph and compute segments of a payload that is a VGF file; false: it is none. */
static bool count_segments(tc_pte_file *f, const tc_pte_delegate *d, size_t *graphs,
                           size_t *shaders)
{
    tc_vgf vgf;
    *graphs = *shaders = 0;
    if (!ti_text_eq(d->id, "VgfBackend"))
        return false;
    tc_hold hold = ti_hold_begin(f->ctx);
    bool good = ti_vgf_read(f->ctx, f->name, d->payload, &vgf) == TC_OK;
    ti_hold_drop(f->ctx, hold);
    for (size_t i = 0; good && i < vgf.n_segment; i++)
        ++*(vgf.segment[i].type == TC_VGF_GRAPH ? graphs : shaders);
    return good;
}

/* ---- records ---- */

static void put_tensor(tc_json_out *out, tc_ctx *ctx, const tc_pte_value *v)
{
    ti_json_put_text(out, "type", value_text(ctx, v));
    if (v->tag != PTE_TENSOR)
        return;
    ti_json_put_text(out, "dtype", dtype_name(ctx, v->dtype));
    tc_json_list(out, "shape", v->dim.n, v->dim.v);
    ti_json_put_int(out, "bytes", element_bytes(v->dtype) * count(v->dim));
}

static void put_ports(tc_json_out *out, tc_ctx *ctx, const char *name, const tc_pte_method *m,
                      tc_ints port)
{
    tc_say(out, "\n%s\n", name);
    ti_json_open(out, name, '[');
    for (int32_t i = 0; i < port.n; i++) {
        const tc_pte_value *v = &m->value[port.v[i]];
        tc_say(out, "  %-4d %s\n", i, value_text(ctx, v));
        ti_json_open(out, NULL, '{');
        put_tensor(out, ctx, v);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void put_border(tc_json_out *out, tc_ctx *ctx, const tc_pte_method *m,
                       const tc_pte_border *b, const tc_ethosu_tensor *vela)
{
    const tc_pte_value *v = &m->value[b->value];
    int64_t each = element_bytes(v->dtype);
    ti_json_open(out, NULL, '{');
    tc_show(out, "    {direction:-6}", TC_J("direction", b->is_input ? "input" : "output"));
    tc_say(out, " %-24s %" PRId64 " bytes", value_text(ctx, v), each * count(v->dim));
    put_tensor(out, ctx, v);
    if (b->known) {
        tc_show(out, b->axis < 0 ? ", scale {scale:.9g}, zero {zero_point}" : "",
                TC_J("scale", b->scale), TC_J("zero_point", b->zero), TC_J("qmin", b->qmin),
                TC_J("qmax", b->qmax));
        if (b->axis >= 0)
            tc_show(out, ", a scale for each of axis {axis}", TC_J("axis", b->axis));
    }
    if (vela) {
        tc_json_list(out, "payload_shape", TC_COUNT(vela->dim), vela->dim);
        tc_show(out, ", payload has {payload_element_bytes} bytes an element",
                TC_J("payload_element_bytes", vela->element_bytes),
                TC_J("payload_offset", vela->offset));
        tc_say(out, "%s", vela->element_bytes == each ? "" : "  <-- differs");
    }
    tc_say(out, "\n");
    ti_json_close(out, '}');
}

static void put_payload(tc_json_out *out, const tc_pte_delegate *d, const tc_ethosu_payload *p)
{
    tc_show(out, "    commands {command_bytes} bytes, weights {weight_bytes} bytes",
            TC_J("command_bytes", p->commands), TC_J("weight_bytes", p->weights));
    tc_say(out, "%s", d->named    ? " in the file's named data"
                      : d->common ? " that others have, too"
                                  : "");
    tc_show(out, ", scratch {scratch_bytes} bytes\n", TC_J("scratch_bytes", p->scratch));
}

static void put_call(tc_json_out *out, tc_pte_file *f, const tc_pte_method *m, size_t k)
{
    const tc_pte_step *s = &m->step[k];
    const tc_pte_delegate *d = &m->delegate[s->what];
    tc_ethosu_payload p;
    bool vela = ti_ethosu_read(&f->ctx->arena, d->payload, &p);
    const tc_pte_border *b = ti_pte_borders(f, m, k);
    ti_json_open(out, NULL, '{');
    tc_show(out, "  {id} {delegate}, {bytes} bytes", TC_J("delegate", s->what), TC_J("id", d->id),
            TC_J("bytes", d->payload.size), TC_J("tosa_bytes", d->tosa.size));
    tc_say(out, "%s", d->tosa.size ? ", with its TOSA beside it" : "");
    tc_show(out, d->vela ? ", by Vela {vela}" : "[, by tosac {tosac}]", TC_J_IF("vela", d->vela),
            TC_J_IF("tosac", d->own));
    size_t graphs, shaders;
    if (count_segments(f, d, &graphs, &shaders)) {
        tc_say(out, ", %zu graph%s, %zu shader%s", graphs, graphs == 1 ? "" : "s", shaders,
               shaders == 1 ? "" : "s");
        tc_json_put(out, TC_J("graph_segments", graphs), TC_J("compute_segments", shaders));
    }
    tc_say(out, "\n");
    if (vela)
        put_payload(out, d, &p);
    ti_json_open(out, "arguments", '[');
    size_t n_in = 0, n_out = 0;
    for (int32_t i = 0; i < s->arg.n; i++) {
        const tc_ethosu_tensor *t = vela ? next_tensor(&p, b[i].is_input, &n_in, &n_out) : NULL;
        put_border(out, f->ctx, m, &b[i], t);
    }
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

static void put_method(tc_json_out *out, tc_pte_file *f, const tc_pte_method *m)
{
    tc_survey s = count_kernels(f->ctx, m);
    ti_json_open(out, NULL, '{');
    tc_show(out, "\nmethod       {name}\n", TC_J("name", m->name));
    put_ports(out, f->ctx, "inputs", m, m->in);
    put_ports(out, f->ctx, "outputs", m, m->out);
    tc_say(out, "\n%-12s", "memory");
    ti_json_open(out, "memory", '[');
    for (int32_t i = 1; i < m->arena.n; i++) {
        tc_say(out, "%s %" PRId64, i > 1 ? "," : "", m->arena.v[i]);
        ti_json_put_int(out, NULL, m->arena.v[i]);
    }
    ti_json_close(out, ']');
    tc_say(out, " bytes\n");
    ti_inspect_kinds(out, "kernels", &s);
    if (m->n_delegate)
        tc_say(out, "\ndelegates\n");
    ti_json_open(out, "delegate_calls", '[');
    for (size_t k = 0; k < m->n_step; k++)
        if (m->step[k].tag == PTE_DELEGATE_CALL)
            put_call(out, f, m, k);
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

static void put_named(tc_json_out *out, tc_pte_file *f)
{
    ti_json_open(out, "named_data", '{');
    for (size_t i = 0; i < f->n_named; i++) {
        tc_bytes bytes = ti_pte_segment(f, f->named[i].segment);
        if (ti_text_eq(f->named[i].key, TC_PTE_MADE_BY))
            continue;
        ti_json_put_int(out, f->named[i].key, (int64_t)bytes.size);
        tc_say(out, "%-12s %s, %zu bytes", "named data", f->named[i].key, bytes.size);
        if (ti_text_eq(f->named[i].key, TC_CM_NAMED))
            tc_say(out, ": %.*s", bytes.size < 60 ? (int)bytes.size : 60, (const char *)bytes.data);
        tc_say(out, "\n");
    }
    ti_json_close(out, '}');
}

static void put_made_by(tc_json_out *out, tc_pte_file *f)
{
    for (size_t i = 0; i < f->n_named; i++)
        if (ti_text_eq(f->named[i].key, TC_PTE_MADE_BY)) {
            tc_bytes bytes = ti_pte_segment(f, f->named[i].segment);
            const char *text = ti_text_copy(&f->ctx->arena, (tc_str){(const char *)bytes.data, bytes.size});
            tc_show(out, "made by      {made_by}\n", TC_J("made_by", text));
        }
}

static void put_vectors(tc_json_out *out, const tc_pte_file *f)
{
    ti_json_open(out, "test_vectors", '{');
    for (size_t i = 0; i < f->bundle->n_suite; i++)
        ti_json_put_int(out, f->bundle->suite[i].method, (int64_t)f->bundle->suite[i].n_test);
    ti_json_close(out, '}');
}

static void put_file(tc_json_out *out, tc_pte_file *f)
{
    ti_json_open(out, NULL, '{');
    tc_show(out, "{file}: {format}, {bytes} bytes", TC_J("file", f->name),
            TC_J("format", "ExecuTorch program"), TC_J("bytes", f->bytes.size));
    tc_say(out, "%s\n", f->bundle ? ", bundled with test vectors" : "");
    put_made_by(out, f);
    for (size_t i = 0; f->bundle && i < f->bundle->n_suite; i++)
        tc_say(out, "%-12s %zu of %s\n", "test vectors", f->bundle->suite[i].n_test,
               f->bundle->suite[i].method);
    tc_show(out, "constants    {constants}, {constant_bytes} bytes\n",
            TC_J("constants", f->n_constant ? (int64_t)f->n_constant - 1 : 0),
            TC_J("constant_bytes", segment_bytes(f, f->constant_segment, f->n_constant)));
    tc_show(out, f->n_buffer > 1 ? "buffers      {buffers}, {buffer_bytes} bytes\n" : "",
            TC_J("buffers", f->n_buffer ? (int64_t)f->n_buffer - 1 : 0),
            TC_J("buffer_bytes", segment_bytes(f, f->buffer_segment, f->n_buffer)));
    put_named(out, f);
    if (f->bundle)
        put_vectors(out, f);
    ti_json_open(out, "methods", '[');
    for (size_t i = 0; i < f->n_method; i++)
        put_method(out, f, &f->method[i]);
    ti_json_close(out, ']');
    tc_pte_needs needs = ti_pte_needs(f->ctx, f);
    if (out->text) {
        ti_buf_text(out->to, "\nruntime\n");
        ti_pte_needs_line(&needs, out->to);
        ti_buf_text(out->to,
                    "  pools, for Zephyr's prj.conf and for CMake of bare-metal runners:\n");
        ti_pte_needs_lines(&needs, 0, out->to);
    } else
        ti_pte_needs_json(&needs, 0, out);
    ti_json_close(out, '}');
}

tc_status ti_inspect_pte(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json, tc_buf *to)
{
    tc_pte_file *f = tc_new(&ctx->arena, tc_pte_file);
    TC_TRY(ti_pte_open(ctx, path, bytes, f));
    put_file(&(tc_json_out){.to = to, .text = !json}, f);
    return TC_OK;
}
