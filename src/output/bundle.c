/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c -- see bundle.h. */
#include "bundle.h"

#include <math.h>
#include <stdlib.h>

#include "../base/enter.h"
#include "../num/load.h"
#include "../read/read.h"
#include "../read/read_pte.h"
#include "../run/exec.h"
#include "../wire/file.h"
#include "../drive/road.h"

enum { VECTORS = 8 }; /* of the samples that the program is run on */

/* A method of the program, ready to run. */
typedef struct runner {
    tc_ctx *ctx;
    const char *file;
    const tc_pte_method *m;
    tc_graph *g;
    tc_exec *exec;
    tc_tensor *in, *out;
} runner;

static tc_status runner_open(tc_ctx *ctx, const char *file, tc_bytes program,
                             const tc_pte_method *m, runner *out)
{
    tc_module *module;
    const char *before = ti_reading(ctx)->method;
    ti_reading(ctx)->method = m->name;
    tc_status status = ti_read_bytes(ctx, file, program, (tc_bytes){NULL, 0}, &module);
    ti_reading(ctx)->method = before;
    TC_TRY(status);
    if (!ctx->reference_kernels)
        TC_TRY(ti_road_run(ctx, module, TC_AT_COPY, TC_AT_RUNNABLE, NULL, NULL));
    *out = (runner){.ctx = ctx, .file = file, .m = m, .g = ti_main(module)};
    out->exec = ti_exec_new(ctx, module);
    out->in = tc_new_n(&ctx->arena, tc_tensor, out->g->n_in + 1);
    out->out = tc_new_n(&ctx->arena, tc_tensor, out->g->n_out + 1);
    return TC_OK;
}

static tc_status not_held(const runner *r, const char *what, int32_t i)
{
    return ti_unsupported(r->ctx, &(tc_loc){.file = r->file, .place = r->m->name}, TC_E_UNSUPPORTED,
                          "%s %d is neither a tensor nor a number, and a test vector holds nothing "
                          "else",
                          what, i);
}

/* ---- making ---- */

static tc_tensor kept(tc_ctx *ctx, tc_tensor t)
{
    size_t n = tc_type_bytes(t.type);
    return (tc_tensor){t.type, n ? ti_arena_copy(&ctx->arena, t.data, n) : t.data};
}

/* Values of the signature, tensors among them from a list. */
static tc_status take_values(const runner *r, const char *what, tc_ints port, const tc_tensor *tensor,
                             tc_bundle_value **out, size_t *n)
{
    *out = tc_new_n(&r->ctx->arena, tc_bundle_value, (size_t)port.n + 1);
    *n = (size_t)port.n;
    for (int32_t i = 0, at = 0; i < port.n; i++) {
        const tc_pte_value *v = &r->m->value[port.v[i]];
        tc_bundle_value *to = &(*out)[i];
        if (v->tag == PTE_TENSOR)
            to->tensor = kept(r->ctx, tensor[at++]);
        else if (v->tag == PTE_INT || v->tag == PTE_BOOL || v->tag == PTE_DOUBLE)
            to->number = v->plain;
        else
            return not_held(r, what, i);
    }
    return TC_OK;
}

static tc_status make_case(const runner *r, const tc_tensor *in, tc_bundle_case *out)
{
    TC_TRY(ti_go_on(r->ctx));
    TC_TRY(ti_exec_run(r->exec, in, r->out));
    TC_TRY(take_values(r, "input", r->m->in, in, &out->in, &out->n_in));
    return take_values(r, "output", r->m->out, r->out, &out->out, &out->n_out);
}

static tc_status from_data(const runner *r, tc_dataset *data, tc_bundle_suite *out)
{
    tc_samples samples;
    TC_TRY(ti_open_dataset(r->ctx, data, r->g, &samples));
    out->test = tc_new_n(&r->ctx->arena, tc_bundle_case, samples.n + 1);
    for (size_t i = 0; i < r->g->n_in; i++)
        r->in[i] = ti_tensor_new(&r->ctx->arena, ti_type_of(r->g, r->g->in[i]));
    for (; out->n_test < samples.n; out->n_test++) {
        TC_TRY(samples.read(samples.from, out->n_test, r->in));
        TC_TRY(make_case(r, r->in, &out->test[out->n_test]));
        TC_TRY(ti_tell_progress(r->ctx, "test vectors", out->n_test + 1, samples.n));
    }
    return TC_OK;
}

static tc_status from_given(const runner *r, const tc_compiled *c, tc_bundle_suite *out)
{
    size_t n = c->given.n < VECTORS ? c->given.n : VECTORS;
    out->test = tc_new_n(&r->ctx->arena, tc_bundle_case, n + 1);
    for (size_t k = 0; k < n; k++) {
        const tc_tensor *in = ti_check_taken(r->g, c->given.sample[k], &r->ctx->arena);
        if (c->proof.of && c->proof.refused[k])
            continue; /* invented values that the model does not take */
        TC_TRY(make_case(r, in, &out->test[out->n_test++]));
    }
    return TC_OK;
}

static tc_status make_suite(tc_ctx *ctx, const tc_compiled *c, const tc_pte_file *f, size_t i,
                            tc_bundle_suite *out)
{
    runner r;
    *out = (tc_bundle_suite){.method = f->method[i].name};
    TC_TRY(runner_open(ctx, f->name, f->bytes, &f->method[i], &r));
    if (r.g->n_in && !c->asked.vectors && !c->given.n)
        return ti_usage(ctx, "a .bpte needs test vectors: --input DATA");
    return c->asked.vectors ? from_data(&r, c->asked.vectors, out) : from_given(&r, c, out);
}

static int by_method(const void *a, const void *b)
{
    return strcmp(((const tc_bundle_suite *)a)->method, ((const tc_bundle_suite *)b)->method);
}

tc_status ti_bundle_make(tc_ctx *ctx, const tc_compiled *c, tc_bytes program, tc_bytes *out,
                         size_t *vectors)
{
    tc_pte_file f;
    tc_bundle bundle = {.program = program};
    TC_TRY(ti_pte_open(ctx, c->module->file, program, &f));
    bundle.suite = tc_new_n(&ctx->arena, tc_bundle_suite, f.n_method + 1);
    bundle.n_suite = f.n_method;
    for (size_t i = f.n_method; c && i-- > 0; c = c->asked.beside) /* the last method is the first here */
        TC_TRY(make_suite(ctx, c, &f, i, &bundle.suite[i]));
    for (size_t i = 0; i < bundle.n_suite; i++)
        *vectors += bundle.suite[i].n_test;
    qsort(bundle.suite, bundle.n_suite, sizeof *bundle.suite, by_method);
    return ti_emit_bundle(ctx, &bundle, out);
}

/* ---- checking a program against its vectors ---- */

static const double RTOL = 1e-5, ATOL = 1e-8; /* those of ExecuTorch's own check */

typedef struct difference {
    int64_t n, first; /* elements beyond the tolerance; the first of them */
    bool exact;
} difference;

static difference compare(tc_tensor want, tc_tensor got)
{
    difference d = {.exact = true};
    size_t each = tc_dtypes[want.type->dtype].bytes;
    bool real = ti_is_float(want.type->dtype);
    int64_t n = tc_type_count(want.type);
    for (int64_t i = 0; i < n; i++) {
        const char *a = (const char *)want.data + (size_t)i * each;
        if (memcmp(a, (const char *)got.data + (size_t)i * each, each) == 0)
            continue;
        d.exact = false;
        double x = real ? ti_load_f64(want, i) : 0, y = real ? ti_load_f64(got, i) : 0;
        bool both_nan = isnan(x) && isnan(y);
        if (real && (both_nan || x == y || fabs(x - y) <= ATOL + RTOL * fabs(y)))
            continue;
        d.first = d.n++ ? d.first : i;
    }
    return d;
}

static const char *element_text(tc_ctx *ctx, tc_tensor t, int64_t i)
{
    return ti_is_float(t.type->dtype)
               ? ti_text_format(&ctx->arena, "%.9g", ti_load_f64(t, i))
               : ti_text_format(&ctx->arena, "%" PRId64, ti_load_i64(t, i));
}

/* Which vector it is, for messages. */
static tc_loc *place_of(const runner *r, size_t k)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = r->file;
    loc->place = ti_text_format(&r->ctx->arena, "%s, test vector %zu", r->m->name, k);
    return loc;
}

static tc_status check_fits(const runner *r, const tc_loc *loc, const tc_bundle_case *t)
{
    size_t at = 0;
    if (t->n_in != (size_t)r->m->in.n || (t->n_out && t->n_out != (size_t)r->m->out.n))
        return ti_error(r->ctx, loc, TC_E_STRUCTURE,
                        "%zu inputs and %zu outputs, but the method has %d and %d", t->n_in,
                        t->n_out, r->m->in.n, r->m->out.n);
    for (size_t i = 0; i < t->n_in; i++) {
        bool tensor = r->m->value[r->m->in.v[i]].tag == PTE_TENSOR;
        const tc_type *want = tensor ? ti_type_of(r->g, r->g->in[at]) : NULL;
        if (tensor ? t->in[i].tensor.type != want : t->in[i].tensor.type != NULL)
            return ti_error(r->ctx, loc, TC_E_STRUCTURE, "input %zu is not of the method's type", i);
        if (tensor)
            r->in[at++] = t->in[i].tensor;
    }
    return TC_OK;
}

static tc_status check_output(const runner *r, const tc_loc *loc, size_t i, tc_tensor want, tc_tensor got,
                              bool *exact)
{
    if (want.type != got.type)
        return ti_error(r->ctx, loc, TC_E_STRUCTURE, "output %zu is %s, and what is expected is %s", i,
                        ti_type_text(&r->ctx->arena, got.type),
                        ti_type_text(&r->ctx->arena, want.type));
    difference d = compare(want, got);
    *exact = *exact && d.exact;
    return d.n ? ti_error(r->ctx, loc, TC_E_WRITTEN,
                          "output %zu differs from what is expected in %" PRId64 " of %" PRId64
                          " elements, first in element %" PRId64 ": %s instead of %s",
                          i, d.n, tc_type_count(want.type), d.first,
                          element_text(r->ctx, got, d.first), element_text(r->ctx, want, d.first))
               : TC_OK;
}

static tc_status run_case(const runner *r, size_t k, const tc_bundle_case *t, tc_vectors_report *out)
{
    tc_status status = TC_OK;
    const tc_loc *loc = place_of(r, k);
    bool exact = true;
    size_t at = 0;
    TC_TRY(check_fits(r, loc, t));
    TC_TRY(ti_exec_run(r->exec, r->in, r->out));
    for (size_t i = 0; i < t->n_out; i++) {
        if (r->m->value[r->m->out.v[i]].tag != PTE_TENSOR)
            continue;
        if (!t->out[i].tensor.type)
            return ti_error(r->ctx, loc, TC_E_STRUCTURE, "output %zu is a tensor, not a number", i);
        tc_status one = check_output(r, loc, i, t->out[i].tensor, r->out[at++], &exact);
        status = one != TC_OK ? one : status;
    }
    out->vectors++;
    out->without_outputs += !t->n_out;
    out->exact += status == TC_OK && exact && t->n_out;
    return status;
}

static const tc_pte_method *method_named(const tc_pte_file *f, const char *name)
{
    for (size_t i = 0; i < f->n_method; i++)
        if (ti_text_eq(f->method[i].name, name))
            return &f->method[i];
    return NULL;
}

static tc_status run_suite(tc_ctx *ctx, const tc_pte_file *f, const tc_bundle_suite *s,
                           tc_vectors_report *out)
{
    runner r;
    tc_status status = TC_OK;
    const tc_pte_method *m = method_named(f, s->method);
    if (!m)
        return ti_error(ctx, &(tc_loc){.file = f->name}, TC_E_STRUCTURE,
                        "test vectors for a method '%s', which the program has not", s->method);
    TC_TRY(runner_open(ctx, f->name, f->bytes, m, &r));
    for (size_t k = 0; k < s->n_test; k++) {
        TC_TRY(ti_go_on(ctx));
        tc_status one = run_case(&r, k, &s->test[k], out);
        status = one != TC_OK ? one : status;
    }
    return status;
}

tc_status ti_bundle_verify(tc_ctx *ctx, const char *path, tc_vectors_report *out)
{
    tc_pte_file f;
    tc_bytes bytes;
    tc_vectors_report r = {0};
    tc_status status = TC_OK;
    path = ti_intern_text(ctx, path);
    TC_TRY(ti_file_read(ctx, path, &bytes));
    if (ti_bundle_looks_like(bytes)) {
        r.holds_vectors = 1;
        TC_TRY(ti_pte_open(ctx, path, bytes, &f));
        r.methods = f.bundle->n_suite;
        for (size_t i = 0; i < f.bundle->n_suite; i++) {
            tc_status one = run_suite(ctx, &f, &f.bundle->suite[i], &r);
            status = one != TC_OK ? one : status;
        }
    }
    ti_fill_record(out, &r, sizeof r);
    return status;
}
