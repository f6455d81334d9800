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

/* What an Ethos-U payload says of the next argument, or NULL. */
static const tc_ethosu_tensor *next_tensor(const tc_ethosu_payload *p, bool is_input, size_t *n_in,
                                           size_t *n_out)
{
    if (is_input)
        return *n_in < p->n_in ? &p->in[(*n_in)++] : NULL;
    return *n_out < p->n_out ? &p->out[(*n_out)++] : NULL;
}

/* ---- for people ---- */

static void show_ports(tc_buf *to, tc_ctx *ctx, const char *title, const tc_pte_method *m,
                       tc_ints port)
{
    ti_buf_printf(to, "\n%s\n", title);
    for (int32_t i = 0; i < port.n; i++)
        ti_buf_printf(to, "  %-4d %s\n", i, value_text(ctx, &m->value[port.v[i]]));
}

static void show_border(tc_buf *to, tc_ctx *ctx, const tc_pte_method *m, const tc_pte_border *b,
                        const tc_ethosu_tensor *vela)
{
    const tc_pte_value *v = &m->value[b->value];
    int64_t each = element_bytes(v->dtype), n = count(v->dim);
    ti_buf_printf(to, "    %-6s %-24s %" PRId64 " bytes", b->is_input ? "input" : "output",
                  value_text(ctx, v), each * n);
    if (b->known && b->axis < 0)
        ti_buf_printf(to, ", scale %.9g, zero %" PRId64, b->scale, b->zero);
    else if (b->known)
        ti_buf_printf(to, ", a scale for each of axis %" PRId64, b->axis);
    if (vela)
        ti_buf_printf(to, ", payload has %d bytes an element%s", vela->element_bytes,
                      vela->element_bytes == each ? "" : "  <-- differs");
    ti_buf_printf(to, "\n");
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

static void show_call(tc_buf *to, tc_pte_file *f, const tc_pte_method *m, size_t k)
{
    const tc_pte_step *s = &m->step[k];
    const tc_pte_delegate *d = &m->delegate[s->what];
    tc_ethosu_payload p;
    bool vela = ti_ethosu_read(&f->ctx->arena, d->payload, &p);
    const tc_pte_border *b = ti_pte_borders(f, m, k);
    ti_buf_printf(to, "  %s %" PRIu32 ", %zu bytes%s", d->id, s->what, d->payload.size,
                  d->tosa.size ? ", with its TOSA beside it" : "");
    if (d->vela)
        ti_buf_printf(to, ", by Vela %s", d->vela);
    else if (d->own)
        ti_buf_printf(to, ", by tosac %s", d->own);
    size_t graphs, shaders;
    if (count_segments(f, d, &graphs, &shaders))
        ti_buf_printf(to, ", %zu graph%s, %zu shader%s", graphs, graphs == 1 ? "" : "s", shaders,
                      shaders == 1 ? "" : "s");
    ti_buf_printf(to, "\n");
    if (vela)
        ti_buf_printf(to, "    commands %zu bytes, weights %zu bytes%s, scratch %" PRIu32 " bytes\n",
                      p.commands, p.weights, d->named    ? " in the file's named data"
                      : d->common ? " that others have, too"
                                  : "",
                      p.scratch);
    size_t n_in = 0, n_out = 0;
    for (int32_t i = 0; i < s->arg.n; i++) {
        const tc_ethosu_tensor *t = vela ? next_tensor(&p, b[i].is_input, &n_in, &n_out) : NULL;
        show_border(to, f->ctx, m, &b[i], t);
    }
}

static void show_method(tc_buf *to, tc_pte_file *f, const tc_pte_method *m)
{
    tc_survey s = count_kernels(f->ctx, m);
    ti_buf_printf(to, "\nmethod       %s\n", m->name);
    show_ports(to, f->ctx, "inputs", m, m->in);
    show_ports(to, f->ctx, "outputs", m, m->out);
    ti_buf_printf(to, "\n%-12s", "memory");
    for (int32_t i = 1; i < m->arena.n; i++)
        ti_buf_printf(to, "%s %" PRId64, i > 1 ? "," : "", m->arena.v[i]);
    ti_buf_printf(to, " bytes\n%-12s %zu of %zu kinds\n", "kernels", s.n_node, s.n_op);
    for (size_t i = 0; i < s.n_op; i++)
        ti_buf_printf(to, "  %6zu  %s\n", s.op[i].count, s.op[i].name);
    if (m->n_delegate)
        ti_buf_printf(to, "\ndelegates\n");
    for (size_t k = 0; k < m->n_step; k++)
        if (m->step[k].tag == PTE_DELEGATE_CALL)
            show_call(to, f, m, k);
}

static void show_file(tc_buf *to, tc_pte_file *f)
{
    ti_buf_printf(to, "%s: ExecuTorch program, %zu bytes%s\n", f->name, f->bytes.size,
                  f->bundle ? ", bundled with test vectors" : "");
    for (size_t i = 0; f->bundle && i < f->bundle->n_suite; i++)
        ti_buf_printf(to, "%-12s %zu of %s\n", "test vectors", f->bundle->suite[i].n_test,
                      f->bundle->suite[i].method);
    ti_buf_printf(to, "%-12s %zu, %" PRIu64 " bytes\n", "constants",
                  f->n_constant ? f->n_constant - 1 : 0,
                  segment_bytes(f, f->constant_segment, f->n_constant));
    if (f->n_buffer > 1)
        ti_buf_printf(to, "%-12s %zu, %" PRIu64 " bytes\n", "buffers", f->n_buffer - 1,
                      segment_bytes(f, f->buffer_segment, f->n_buffer));
    for (size_t i = 0; i < f->n_named; i++) {
        tc_bytes bytes = ti_pte_segment(f, f->named[i].segment);
        ti_buf_printf(to, "%-12s %s, %zu bytes", "named data", f->named[i].key, bytes.size);
        if (ti_text_eq(f->named[i].key, TC_CM_NAMED))
            ti_buf_printf(to, ": %.*s", bytes.size < 60 ? (int)bytes.size : 60,
                          (const char *)bytes.data);
        ti_buf_printf(to, "\n");
    }
    for (size_t i = 0; i < f->n_method; i++)
        show_method(to, f, &f->method[i]);
    tc_pte_needs needs = ti_pte_needs(f->ctx, f);
    ti_buf_text(to, "\nruntime\n");
    ti_pte_needs_line(&needs, to);
    ti_buf_text(to, "  pools, for Zephyr's prj.conf and for CMake of bare-metal runners:\n");
    ti_pte_needs_lines(&needs, 0, to);
}

/* ---- JSON ---- */

static void json_dims(tc_json_out *out, const char *name, tc_ints dim)
{
    tc_json_list(out, name, dim.n, dim.v);
}

static void json_tensor(tc_ctx *ctx, tc_json_out *out, const tc_pte_value *v)
{
    ti_json_put_text(out, "type", value_text(ctx, v));
    if (v->tag != PTE_TENSOR)
        return;
    ti_json_put_text(out, "dtype", dtype_name(ctx, v->dtype));
    json_dims(out, "shape", v->dim);
    ti_json_put_int(out, "bytes", element_bytes(v->dtype) * count(v->dim));
}

static void json_ports(tc_ctx *ctx, tc_json_out *out, const char *name, const tc_pte_method *m,
                       tc_ints port)
{
    ti_json_open(out, name, '[');
    for (int32_t i = 0; i < port.n; i++) {
        ti_json_open(out, NULL, '{');
        json_tensor(ctx, out, &m->value[port.v[i]]);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void json_border(tc_ctx *ctx, tc_json_out *out, const tc_pte_method *m,
                        const tc_pte_border *b, const tc_ethosu_tensor *vela)
{
    ti_json_open(out, NULL, '{');
    ti_json_put_text(out, "direction", b->is_input ? "input" : "output");
    json_tensor(ctx, out, &m->value[b->value]);
    if (b->known) {
        tc_json_put(out, TC_J("scale", b->scale), TC_J("zero_point", b->zero),
                    TC_J("qmin", b->qmin), TC_J("qmax", b->qmax));
        if (b->axis >= 0)
            ti_json_put_int(out, "axis", b->axis);
    }
    if (vela) {
        int64_t dim[6];
        for (int i = 0; i < 6; i++)
            dim[i] = vela->dim[i];
        json_dims(out, "payload_shape", (tc_ints){6, dim});
        tc_json_put(out, TC_J("payload_element_bytes", vela->element_bytes),
                    TC_J("payload_offset", vela->offset));
    }
    ti_json_close(out, '}');
}

static void json_call(tc_pte_file *f, tc_json_out *out, const tc_pte_method *m, size_t k)
{
    const tc_pte_step *s = &m->step[k];
    const tc_pte_delegate *d = &m->delegate[s->what];
    tc_ethosu_payload p;
    bool vela = ti_ethosu_read(&f->ctx->arena, d->payload, &p);
    const tc_pte_border *b = ti_pte_borders(f, m, k);
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("delegate", s->what), TC_J("id", d->id), TC_J("bytes", d->payload.size),
                TC_J("tosa_bytes", d->tosa.size));
    if (d->vela)
        ti_json_put_text(out, "vela", d->vela);
    if (d->own)
        ti_json_put_text(out, "tosac", d->own);
    size_t graphs, shaders;
    if (count_segments(f, d, &graphs, &shaders))
        tc_json_put(out, TC_J("graph_segments", graphs), TC_J("compute_segments", shaders));
    if (vela)
        tc_json_put(out, TC_J("command_bytes", p.commands), TC_J("weight_bytes", p.weights),
                    TC_J("scratch_bytes", p.scratch));
    ti_json_open(out, "arguments", '[');
    size_t n_in = 0, n_out = 0;
    for (int32_t i = 0; i < s->arg.n; i++) {
        const tc_ethosu_tensor *t = vela ? next_tensor(&p, b[i].is_input, &n_in, &n_out) : NULL;
        json_border(f->ctx, out, m, &b[i], t);
    }
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

static void json_method(tc_pte_file *f, tc_json_out *out, const tc_pte_method *m)
{
    tc_survey s = count_kernels(f->ctx, m);
    ti_json_open(out, NULL, '{');
    ti_json_put_text(out, "name", m->name);
    json_ports(f->ctx, out, "inputs", m, m->in);
    json_ports(f->ctx, out, "outputs", m, m->out);
    ti_json_open(out, "memory", '[');
    for (int32_t i = 1; i < m->arena.n; i++)
        ti_json_put_int(out, NULL, m->arena.v[i]);
    ti_json_close(out, ']');
    ti_json_open(out, "kernels", '{');
    for (size_t i = 0; i < s.n_op; i++)
        ti_json_put_int(out, s.op[i].name, (int64_t)s.op[i].count);
    ti_json_close(out, '}');
    ti_json_open(out, "delegate_calls", '[');
    for (size_t k = 0; k < m->n_step; k++)
        if (m->step[k].tag == PTE_DELEGATE_CALL)
            json_call(f, out, m, k);
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

static void json_file(tc_buf *to, tc_pte_file *f)
{
    tc_json_out out = {.to = to};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("file", f->name), TC_J("format", "ExecuTorch program"),
                TC_J("bytes", f->bytes.size),
                TC_J("constants", f->n_constant ? (int64_t)f->n_constant - 1 : 0),
                TC_J("constant_bytes", segment_bytes(f, f->constant_segment, f->n_constant)),
                TC_J("buffers", f->n_buffer ? (int64_t)f->n_buffer - 1 : 0),
                TC_J("buffer_bytes", segment_bytes(f, f->buffer_segment, f->n_buffer)));
    ti_json_open(&out, "named_data", '{');
    for (size_t i = 0; i < f->n_named; i++)
        ti_json_put_int(&out, f->named[i].key,
                        (int64_t)ti_pte_segment(f, f->named[i].segment).size);
    ti_json_close(&out, '}');
    if (f->bundle) {
        ti_json_open(&out, "test_vectors", '{');
        for (size_t i = 0; i < f->bundle->n_suite; i++)
            ti_json_put_int(&out, f->bundle->suite[i].method, (int64_t)f->bundle->suite[i].n_test);
        ti_json_close(&out, '}');
    }
    ti_json_open(&out, "methods", '[');
    for (size_t i = 0; i < f->n_method; i++)
        json_method(f, &out, &f->method[i]);
    ti_json_close(&out, ']');
    tc_pte_needs needs = ti_pte_needs(f->ctx, f);
    ti_pte_needs_json(&needs, 0, &out);
    ti_json_close(&out, '}');
}

tc_status ti_inspect_pte(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json, tc_buf *to)
{
    tc_pte_file *f = tc_new(&ctx->arena, tc_pte_file);
    TC_TRY(ti_pte_open(ctx, path, bytes, f));
    if (json)
        json_file(to, f);
    else
        show_file(to, f);
    return TC_OK;
}
