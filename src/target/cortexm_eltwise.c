/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_eltwise.c -- sums, products, tables, softmax, minimum and maximum, as cortexm_call.h
 * describes them to their kernels. */
#include "cortexm_site.h"

#include "../num/fixed.h"
#include "../num/load.h"

/* CMSIS-NN's requantization as it is built for everybody: TOSA's RESCALE in DOUBLE_ROUND with the
 * shift 31 - shift. */
static int32_t requantize(int32_t value, int32_t multiplier, int shift)
{
    return ti_scale32_double(value, multiplier, 31 - shift);
}

enum { LEFT_SHIFT = 20 }; /* of an operand of a sum, in the kernel */

enum { CODES = 256 };

/* One operand of a sum: (x - zero) << 20, requantized; and for each code what that is in the
 * program and in the kernel. */
typedef struct operand {
    int64_t zero, multiplier, shift, most;
    int32_t program[CODES], kernel[CODES];
} operand;

/* INT64_MIN: TOSA leaves it open. */
static int64_t scaled(const tc_attr_tosa_rescale *a, int64_t v, int64_t m, int64_t shift)
{
    if (!ti_scale32_defined(v, m, shift))
        return INT64_MIN;
    return a->rounding_mode == TC_rounding_double
               ? ti_scale32_double((int32_t)v, (int32_t)m, (int)shift)
               : ti_scale32((int32_t)v, (int32_t)m, (int)shift);
}

/* A RESCALE of int8 by one factor, to i32 without a zero point. */
static bool widens(const tc_cm_site *s, const tc_node *r)
{
    const tc_attr_tosa_rescale *a = r->attr;
    return ti_cm_all_const(s, r, 1) && a->scale32 && !a->input_unsigned && !a->output_unsigned &&
           a->rounding_mode != TC_rounding_inexact &&
           ti_cm_site_type(s, r->in[X])->dtype == TC_i8 &&
           tc_type_count(ti_cm_site_type(s, r->in[SHIFT])) == 1 &&
           !ti_cm_site_at(s, r->in[ZERO_OUT], 0);
}

static bool operand_of(const tc_cm_site *s, const tc_node *r, operand *o)
{
    if (!widens(s, r))
        return false;
    int64_t m = ti_cm_site_at(s, r->in[MULTIPLIER], 0), shift = ti_cm_site_at(s, r->in[SHIFT], 0);
    *o = (operand){.zero = ti_cm_site_at(s, r->in[ZERO_IN], 0),
                   .multiplier = m,
                   .shift = 31 - (shift + LEFT_SHIFT)};
    for (int64_t i = 0; i < CODES; i++) {
        int64_t x = i + INT8_MIN - o->zero, wide = x * (1 << LEFT_SHIFT);
        int64_t v = scaled(r->attr, x, m, shift);
        if (v == INT64_MIN || !ti_scale32_defined(wide, m, shift + LEFT_SHIFT))
            return false;
        o->program[i] = (int32_t)v;
        o->kernel[i] = requantize((int32_t)wide, (int32_t)m, (int)o->shift);
        o->most = ti_max_i64(o->most, v < 0 ? -v + 1 : v + 1);
    }
    return o->shift >= -31 && o->shift <= 0;
}

/* Whether the codes of every pair are the kernel's; it rounds operands twice, the program once. */
static bool same_sums(const tc_cm_site *s, const tc_cm_finish *f, const operand *a,
                      const operand *b)
{
    int32_t m = (int32_t)ti_cm_multiplier_of(s, f->rescale, 0);
    int shift = (int)ti_cm_shift_of(s, f->rescale, 0);
    int64_t zero = ti_cm_site_at(s, f->rescale->in[ZERO_OUT], 0);
    for (int i = 0; i < CODES; i++)
        for (int k = 0; k < CODES; k++) {
            int32_t program = a->program[i] + b->program[k], kernel = a->kernel[i] + b->kernel[k];
            if (program != kernel && ti_clip(requantize(program, m, shift) + zero, f->lo, f->hi) !=
                                         ti_clip(requantize(kernel, m, shift) + zero, f->lo, f->hi))
                return false;
        }
    return true;
}

/* Operands of a shape, or one of them a row of channels. */
static bool add_pair(const tc_cm_site *s, tc_cm_view view[2])
{
    const tc_type *a = ti_cm_site_type(s, s->g->in[0]),
                  *b = ti_cm_site_type(s, s->g->in[s->g->n_in - 1]), *y = ti_cm_site_result(s);
    view[0] = ti_cm_view_plain(a);
    view[1] = ti_cm_view_plain(b);
    s->call->out = ti_cm_view_plain(y);
    if (ti_same_dims(a, b))
        return y->rank <= 4;
    int64_t c = y->rank == 4 ? y->dim[3] : -1;
    view[0] = ti_cm_view_channels_last(a);
    view[1] = ti_cm_view_channels_last(b);
    s->call->out = ti_cm_view_channels_last(y);
    return a->rank == 4 && b->rank == 4 && a->dim[3] == c && b->dim[3] == c &&
           ((ti_same_dims(a, y) && tc_type_count(b) == c) ||
            (ti_same_dims(b, y) && tc_type_count(a) == c));
}

/* The operand i of a node is x of the piece, through a RESCALE. */
static const tc_node *through(const tc_cm_site *s, const tc_node *node, int i)
{
    const tc_node *r = ti_def(s->g, node->in[i]);
    return r && r->op == TC_OP_tosa_rescale ? r : NULL;
}

static int input_of(const tc_cm_site *s, tc_val v)
{
    return ti_value_of(s->g, v)->index;
}

const char *ti_cm_describe_add(tc_cm_site *s)
{
    static const char shapes[] = "its operands are broadcast along more than rows of channels";
    const tc_node *sum = ti_cm_find_node(s->g, TC_OP_tosa_add);
    tc_cm_finish f = ti_cm_finish_of(s);
    operand o[2];
    tc_cm_view view[2];
    for (int i = 0; i < 2; i++) {
        const tc_node *r = through(s, sum, i);
        if (!r || !operand_of(s, r, &o[i]))
            return "its operands are scaled in another way";
    }
    const char *why = ti_cm_check_finish(s, &f, &(int64_t){o[0].most + o[1].most}, 1);
    if (why)
        return why;
    if (!ti_cm_one_scale(s, f.rescale, tc_type_count(ti_cm_site_type(s, f.rescale->in[SHIFT]))))
        return "it has a scale for each channel";
    if (!same_sums(s, &f, &o[0], &o[1]))
        return "the kernel rounds its operands twice, to another code";
    if (!add_pair(s, view))
        return shapes;
    for (int i = 0; i < 2; i++) {
        int x = input_of(s, through(s, sum, i)->in[X]);
        ti_cm_add_tensor(s, x, view[x]);
        ti_cm_add_int(s, o[i].zero);
        ti_cm_add_int(s, o[i].multiplier);
        ti_cm_add_int(s, o[i].shift);
    }
    ti_cm_add_int(s, ti_cm_site_at(s, f.rescale->in[ZERO_OUT], 0));
    ti_cm_add_int(s, ti_cm_multiplier_of(s, f.rescale, 0));
    ti_cm_add_int(s, ti_cm_shift_of(s, f.rescale, 0));
    ti_cm_add_int(s, f.lo);
    ti_cm_add_int(s, f.hi);
    return NULL;
}

/* x - zero, as a RESCALE. */
static bool is_offset(const tc_cm_site *s, const tc_node *r, int64_t *zero)
{
    if (!widens(s, r))
        return false;
    *zero = ti_cm_site_at(s, r->in[ZERO_IN], 0);
    for (int64_t x = INT8_MIN; x <= INT8_MAX; x++)
        if (scaled(r->attr, x - *zero, ti_cm_site_at(s, r->in[MULTIPLIER], 0),
                   ti_cm_site_at(s, r->in[SHIFT], 0)) != x - *zero)
            return false;
    return true;
}

const char *ti_cm_describe_mul(tc_cm_site *s)
{
    const tc_node *mul = ti_cm_find_node(s->g, TC_OP_tosa_mul);
    tc_cm_finish f = ti_cm_finish_of(s);
    int64_t zero[2], most = (int64_t)UINT8_MAX * UINT8_MAX;
    tc_cm_view view[2];
    if (!ti_is_const(s->g, mul->in[2]) || ti_cm_site_at(s, mul->in[2], 0))
        return "its product is shifted";
    for (int i = 0; i < 2; i++) {
        const tc_node *r = through(s, mul, i);
        if (!r || !is_offset(s, r, &zero[i]))
            return "its operands are scaled in another way";
    }
    const char *why = ti_cm_check_finish(s, &f, &most, 1);
    if (why)
        return why;
    if (f.lo != INT8_MIN || f.hi != INT8_MAX ||
        !ti_cm_one_scale(s, f.rescale, tc_type_count(ti_cm_site_type(s, f.rescale->in[SHIFT]))))
        return "its result has bounds, or a scale for each channel";
    if (!add_pair(s, view))
        return "its operands are broadcast along more than rows of channels";
    for (int i = 0; i < 2; i++) {
        int x = input_of(s, through(s, mul, i)->in[X]);
        ti_cm_add_tensor(s, x, view[x]);
        ti_cm_add_int(s, zero[i]);
    }
    ti_cm_add_int(s, ti_cm_site_at(s, f.rescale->in[ZERO_OUT], 0));
    ti_cm_add_int(s, ti_cm_multiplier_of(s, f.rescale, 0));
    ti_cm_add_int(s, ti_cm_shift_of(s, f.rescale, 0));
    return NULL;
}

const char *ti_cm_describe_activation(tc_cm_site *s)
{
    const tc_node *t = ti_cm_find_node(s->g, TC_OP_tosa_table);
    const tc_type *x = ti_cm_site_type(s, t->in[X]);
    if (x->dtype != TC_i8 || !ti_is_const(s->g, t->in[1]))
        return "its table is not of int8";
    ti_cm_add_tensor(s, 0, ti_cm_view_rows(x));
    ti_cm_add_data(s, ti_tensor_of(s->g, t->in[1]));
    s->call->out = ti_cm_view_rows(ti_cm_site_result(s));
    return NULL;
}

/* The piece is a softmax, whoever made it says: here by which factor. */
const char *ti_cm_describe_softmax(tc_cm_site *s)
{
    int32_t power[CODES], multiplier;
    int shift;
    int64_t diff_min;
    const tc_type *x = ti_cm_site_type(s, s->g->in[0]);
    const tc_node *end = ti_def(s->g, s->g->out[0]);
    if (!end || ti_cm_softmax_at(s->g, end, power) != s->g->in[0] || x->rank < 1 || x->rank > 4)
        return "it is not a softmax";
    if (!ti_cm_softmax_factor(power, &multiplier, &shift, &diff_min))
        return "no factor gives its powers";
    ti_cm_add_tensor(s, 0, ti_cm_view_plain(x));
    ti_cm_add_int(s, x->rank - 1);
    ti_cm_add_int(s, 0); /* zero point of x: it does not matter */
    ti_cm_add_int(s, INT8_MIN);
    ti_cm_add_int(s, multiplier);
    ti_cm_add_int(s, shift);
    ti_cm_add_int(s, diff_min);
    s->call->out = ti_cm_view_plain(ti_cm_site_result(s));
    return NULL;
}

static const char *describe_choice(tc_cm_site *s)
{
    if (ti_cm_site_result(s)->dtype != TC_i8 || ti_cm_site_result(s)->rank > 4)
        return "it is not of int8 in at most four axes";
    ti_cm_add_tensor(s, 0, ti_cm_view_plain(ti_cm_site_type(s, s->g->in[0])));
    ti_cm_add_tensor(s, (int)s->g->n_in - 1,
                     ti_cm_view_plain(ti_cm_site_type(s, s->g->in[s->g->n_in - 1])));
    s->call->out = ti_cm_view_plain(ti_cm_site_result(s));
    return NULL;
}

const char *ti_cm_describe_minimum(tc_cm_site *s)
{
    return describe_choice(s);
}
const char *ti_cm_describe_maximum(tc_cm_site *s)
{
    return describe_choice(s);
}
