/* SPDX-License-Identifier: Apache-2.0 */
/* parse_type.c -- types: f32[1,3,8,8], i8[4] q(0.05:-3). */
#include "parse.h"

#include "../num/element.h"

double ti_parse_f64(tc_lex *lex)
{
    double value = 0;
    tc_str text = ti_lex_number(lex);
    if (!FAILED(lex) && !ti_element_read(TC_f64, text, &value))
        ti_lex_fail(lex, TC_E_SYNTAX, "found '%.*s', expected a number",
                    (int)ti_min_i64((int64_t)text.n, 40), text.p);
    return value;
}

/* [1,3,8,8] */
static void parse_dims(tc_lex *lex, tc_type *type)
{
    ti_lex_expect(lex, "[");
    while (!FAILED(lex) && !ti_lex_accept(lex, "]")) {
        if (type->rank)
            ti_lex_expect(lex, ",");
        if (type->rank == TC_MAX_RANK) {
            ti_lex_fail(lex, TC_E_TOO_LARGE, "more than %d dimensions", TC_MAX_RANK);
            return;
        }
        type->dim[type->rank++] = ti_lex_accept(lex, "?") ? TC_OPEN : ti_lex_int(lex);
    }
    if (!FAILED(lex) && ti_dims_count(type->rank, type->dim) < 0 && !ti_type_open(type))
        ti_lex_fail(lex, TC_E_TOO_LARGE, "a negative dimension, or too many elements");
}

static void check_quant(tc_lex *lex, const tc_type *type, const tc_quant *q)
{
    int64_t expected = q->axis >= 0 && q->axis < type->rank ? type->dim[q->axis] : 1;
    if (FAILED(lex))
        return;
    if (!ti_is_int(type->dtype))
        ti_lex_fail(lex, TC_E_TYPE, "'%s' numbers cannot be quantized codes",
                    tc_dtypes[type->dtype].name);
    else if (q->axis >= type->rank)
        ti_lex_fail(lex, TC_E_TYPE, "the channel axis is %d, the rank is %d", q->axis, type->rank);
    else if (q->count != expected)
        ti_lex_fail(lex, TC_E_TYPE, "%d scales, expected %" PRId64, q->count, expected);
    else if (q->lo > q->hi || q->lo < ti_dtype_min(type->dtype) ||
             q->hi > ti_dtype_max(type->dtype))
        ti_lex_fail(lex, TC_E_TYPE, "codes %" PRId64 "..%" PRId64 " do not fit '%s'", q->lo, q->hi,
                    tc_dtypes[type->dtype].name);
    for (int i = 0; i < q->count && !FAILED(lex); i++)
        if (!(q->scale[i] > 0) || q->scale[i] > 1e300)
            ti_lex_fail(lex, TC_E_TYPE, "a scale is %g, expected a positive number", q->scale[i]);
}

/* scale:zero, scale:zero, ... */
static void parse_scales(tc_lex *lex, tc_quant *q)
{
    double *scale = NULL;
    int64_t *zero = NULL;
    size_t n = 0, cap = 0, cap_zero = 0;
    char next = ti_lex_peek(lex);
    while (!FAILED(lex) && next != ')' && next != 'i') {
        tc_grow(&lex->ctx->scratch, scale, n, cap);
        tc_grow(&lex->ctx->scratch, zero, n, cap_zero);
        scale[n] = ti_parse_f64(lex);
        ti_lex_expect(lex, ":");
        zero[n++] = ti_lex_int(lex);
        if (!ti_lex_accept(lex, ","))
            break;
    }
    q->count = (int32_t)ti_min_i64((int64_t)n, INT32_MAX);
    q->scale = scale;
    q->zero = zero;
}

/* q(0.05:-3), q(axis=0; 0.1:0, 0.2:0 in -127..127); the part after "q". */
static const tc_type *parse_quant(tc_lex *lex, const tc_type *type)
{
    tc_quant q = {.axis = -1, .lo = ti_dtype_min(type->dtype), .hi = ti_dtype_max(type->dtype)};
    ti_lex_expect(lex, "(");
    if (ti_lex_accept(lex, "axis=")) {
        int64_t axis = ti_lex_int(lex);
        q.axis = axis < 0 || axis > TC_MAX_RANK ? TC_MAX_RANK : (int32_t)axis;
        ti_lex_expect(lex, ";");
    }
    parse_scales(lex, &q);
    if (ti_lex_accept(lex, "in ")) {
        q.lo = ti_lex_int(lex);
        ti_lex_expect(lex, "..");
        q.hi = ti_lex_int(lex);
    }
    ti_lex_expect(lex, ")");
    check_quant(lex, type, &q);
    return FAILED(lex) ? type : ti_type_with(lex->ctx, type, &q);
}

/* f32[1,3,8,8], i8[4] q(0.05:-3), or ? for NULL. */
const tc_type *ti_parse_type(tc_lex *lex)
{
    if (ti_lex_accept(lex, "?"))
        return NULL;
    tc_str word = ti_lex_peek_word(lex);
    tc_type type = {.dtype = ti_dtype_named(word)};
    if (type.dtype == TC_none) {
        ti_lex_fail(lex, TC_E_SYNTAX, "found '%.*s', expected a type such as f32[1,3]",
                    (int)ti_min_i64((int64_t)word.n, 40), word.p);
        return NULL;
    }
    ti_lex_word(lex);
    parse_dims(lex, &type);
    if (FAILED(lex))
        return NULL;
    const tc_type *plain = ti_type_intern(lex->ctx, &type);
    if (!ti_str_is(ti_lex_peek_word(lex), "q"))
        return plain;
    ti_lex_word(lex);
    tc_mark mark = ti_arena_mark(&lex->ctx->scratch);
    const tc_type *with = parse_quant(lex, plain);
    ti_arena_rewind(&lex->ctx->scratch, mark);
    return with;
}
