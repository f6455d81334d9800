/* SPDX-License-Identifier: Apache-2.0 */
/* emit_bundle.c -- a program with test vectors, as a file for ExecuTorch's runtime. */
#include "emit.h"

#include "../wire/flatbuf.h"

static tc_fb_ref put_tensor(tc_fb_writer *w, tc_tensor t)
{
    uint8_t order[TC_MAX_RANK];
    for (int32_t i = 0; i < t.type->rank; i++)
        order[i] = (uint8_t)i;
    tc_fb_ref sizes = ti_fb_put_i32s(w, t.type->dim, (size_t)t.type->rank);
    tc_fb_ref data = ti_fb_put_bytes(w, t.data, tc_type_bytes(t.type), TC_BUNDLE_DATA_ALIGN);
    tc_fb_ref axes = ti_fb_put_bytes(w, order, (size_t)t.type->rank, 1);
    ti_fb_begin(w);
    ti_fb_set_u8(w, BP_TENSOR_DTYPE, (uint8_t)tc_dtypes[t.type->dtype].et, 0);
    ti_fb_set_ref(w, BP_TENSOR_SIZES, sizes);
    ti_fb_set_ref(w, BP_TENSOR_DATA, data);
    ti_fb_set_ref(w, BP_TENSOR_ORDER, axes);
    return ti_fb_end(w);
}

static tc_fb_ref put_number(tc_fb_writer *w, const tc_cpu_value *v, uint8_t *tag)
{
    uint64_t bits;
    *tag = v->kind == TC_CPU_BOOL ? BP_BOOL : v->kind == TC_CPU_REAL ? BP_DOUBLE : BP_INT;
    memcpy(&bits, &v->r, sizeof bits);
    ti_fb_begin(w);
    if (*tag == BP_BOOL)
        ti_fb_set_u8(w, BP_SCALAR, v->i != 0, 0);
    else
        ti_fb_set_u64(w, BP_SCALAR, *tag == BP_DOUBLE ? bits : (uint64_t)v->i, 0);
    return ti_fb_end(w);
}

static tc_fb_ref put_values(tc_fb_writer *w, const tc_bundle_value *v, size_t n)
{
    tc_fb_ref *ref = tc_new_n(w->arena, tc_fb_ref, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint8_t tag = BP_TENSOR;
        tc_fb_ref value =
            v[i].tensor.type ? put_tensor(w, v[i].tensor) : put_number(w, &v[i].number, &tag);
        ti_fb_begin(w);
        ti_fb_set_u8(w, BP_VALUE_TYPE, tag, 0);
        ti_fb_set_ref(w, BP_VALUE, value);
        ref[i] = ti_fb_end(w);
    }
    return ti_fb_put_refs(w, ref, n);
}

static tc_fb_ref put_suite(tc_fb_writer *w, const tc_bundle_suite *s)
{
    tc_fb_ref *ref = tc_new_n(w->arena, tc_fb_ref, s->n_test + 1);
    for (size_t i = 0; i < s->n_test; i++) {
        tc_fb_ref in = put_values(w, s->test[i].in, s->test[i].n_in);
        tc_fb_ref out = put_values(w, s->test[i].out, s->test[i].n_out);
        ti_fb_begin(w);
        ti_fb_set_ref(w, BP_CASE_INPUTS, in);
        ti_fb_set_ref(w, BP_CASE_OUTPUTS, out);
        ref[i] = ti_fb_end(w);
    }
    tc_fb_ref tests = ti_fb_put_refs(w, ref, s->n_test);
    tc_fb_ref name = ti_fb_put_string(w, ti_str_of(s->method));
    ti_fb_begin(w);
    ti_fb_set_ref(w, BP_SUITE_METHOD, name);
    ti_fb_set_ref(w, BP_SUITE_CASES, tests);
    return ti_fb_end(w);
}

tc_status ti_emit_bundle(tc_ctx *ctx, const tc_bundle *bundle, tc_bytes *out)
{
    tc_fb_writer w;
    tc_fb_ref *ref = tc_new_n(&ctx->arena, tc_fb_ref, bundle->n_suite + 1);
    ti_fb_write(&w, &ctx->arena, bundle->program.size + 65536);
    for (size_t i = 0; i < bundle->n_suite; i++)
        ref[i] = put_suite(&w, &bundle->suite[i]);
    tc_fb_ref suites = ti_fb_put_refs(&w, ref, bundle->n_suite);
    tc_fb_ref program = ti_fb_put_bytes(&w, bundle->program.data, bundle->program.size,
                                        TC_BUNDLE_PROGRAM_ALIGN);
    ti_fb_begin(&w);
    ti_fb_set_u32(&w, BP_VERSION, TC_BUNDLE_VERSION, 0);
    ti_fb_set_ref(&w, BP_SUITES, suites);
    ti_fb_set_ref(&w, BP_PROGRAM, program);
    *out = ti_fb_finish(&w, ti_fb_end(&w), TC_BUNDLE_IDENTIFIER);
    return out->data ? TC_OK
                     : ti_error(ctx, NULL, TC_E_TOO_LARGE,
                                "the program and its test vectors are larger than 2 GiB, the most "
                                "that a flatbuffer can hold");
}
