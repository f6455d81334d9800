/* SPDX-License-Identifier: Apache-2.0 */
/* precision_needs.c -- where a program needs more precision than codes have.
 *
 * Codes are finite: isnan, isinf, isfinite and nan_to_num of codes are constant, fmax and fmin
 * never see NaN.  So where their operand may be NaN or infinite, it stays in float, and so do its
 * elementwise producers, back to an input of the program, or an operator whose results quantization
 * takes as finite (products, norms, ...).
 *
 * So do elementwise functions of the inputs that become integers or are compared for equality: half
 * a step would change them.  And values far from zero that a constant beyond 2^24 brings back, as
 * with time stamps: codes always include zero. */
#include "dataflow.h"

#include <math.h>

#include "../num/load.h"

/* Infinite, or NaN, for some finite operands. */
static bool makes_odd(const tc_dataflow *f, const tc_node *node)
{
    if (TC_OP_IN(node->op, TC_OP_log, TC_OP_log2, TC_OP_log10, TC_OP_log1p, TC_OP_sqrt, TC_OP_rsqrt,
                 TC_OP_reciprocal, TC_OP_exp, TC_OP_exp2, TC_OP_expm1, TC_OP_sinh, TC_OP_cosh,
                 TC_OP_asin, TC_OP_acos, TC_OP_acosh, TC_OP_atanh, TC_OP_erfinv, TC_OP_logit,
                 TC_OP_pow, TC_OP_xlogy, TC_OP_addcdiv, TC_OP_function))
        return true;
    if (!TC_OP_IN(node->op, TC_OP_div, TC_OP_remainder, TC_OP_fmod))
        return false;
    tc_tensor by = ti_tensor_of(f->g, node->in[1]); /* never zero: finite */
    for (int64_t i = 0; by.data && i < tc_type_count(by.type); i++)
        if (ti_load_f64(by, i) == 0)
            return true;
    return !by.data;
}

/* NaN or infinity of operand i propagates to the result, or decides it. */
static bool passes_odd(const tc_node *node, int i)
{
    return (tc_ops[node->op].traits & (T_ELTWISE | T_REDUCES)) || node->op == TC_OP_cumsum ||
           node->op == TC_OP_cumprod || ti_role_carries(node, i);
}

static bool asks(const tc_dataflow *f, const tc_node *node)
{
    if (TC_OP_IN(node->op, TC_OP_isnan, TC_OP_isinf, TC_OP_isfinite, TC_OP_nan_to_num, TC_OP_fmax,
                 TC_OP_fmin))
        return true;
    bool equal = node->op == TC_OP_eq || node->op == TC_OP_ne;
    if (equal && node->in[0] == node->in[1]) /* of a value and itself: isnan */
        return true;
    return (equal || TC_OP_IN(node->op, TC_OP_lt, TC_OP_le, TC_OP_gt, TC_OP_ge)) &&
           ((f->fixed[node->in[0]] && f->huge[node->in[0]]) || /* with an infinity: isinf */
            (f->fixed[node->in[1]] && f->huge[node->in[1]]));
}

/* Needs the exact value. */
static bool asks_exactly(const tc_dataflow *f, const tc_node *node)
{
    const tc_type *y = node->n_out ? ti_type_of(f->g, node->out[0]) : NULL;
    return node->op == TC_OP_eq || node->op == TC_OP_ne ||
           (node->op == TC_OP_cast && (ti_is_int(y->dtype) || y->dtype == TC_bool));
}

/* Adds or subtracts a scalar beyond 2^24. */
static bool brings_back(const tc_dataflow *f, const tc_node *node)
{
    for (int i = 0; i < 2 && (node->op == TC_OP_add || node->op == TC_OP_sub); i++) {
        tc_tensor c = ti_tensor_of(f->g, node->in[i]);
        if (c.data && f->fixed[node->in[i]] && tc_type_count(c.type) == 1 &&
            fabs(ti_load_f64(c, 0)) >= 0x1p24 && fabs(ti_load_f64(c, 0)) < 0x1p60)
            return true;
    }
    return false;
}

/* Elementwise functions of inputs and constants. */
static void find_fresh(const tc_dataflow *f, bool *fresh)
{
    const tc_graph *g = f->g;
    for (size_t i = 0; i < g->n_in; i++)
        fresh[g->in[i]] = true;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool made = (tc_ops[node->op].traits & (T_ELTWISE | T_MOVES)) || ti_role_moves(node);
        for (int i = 0; i < node->n_in; i++)
            made = made && (!node->in[i] || fresh[node->in[i]] || f->fixed[node->in[i]]);
        for (int i = 0; i < node->n_out; i++)
            fresh[node->out[i]] = made && !f->fixed[node->out[i]];
    }
}

static void find_odd(const tc_dataflow *f, bool *odd)
{
    const tc_graph *g = f->g;
    for (size_t i = 0; i < g->n_in; i++)
        odd[g->in[i]] = ti_dataflow_is_f32(f, g->in[i]);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool made = makes_odd(f, node);
        for (int i = 0; i < node->n_in; i++)
            made = made || (odd[node->in[i]] && passes_odd(node, i));
        for (int i = 0; i < node->n_out; i++)
            odd[node->out[i]] = ti_dataflow_is_f32(f, node->out[i]) &&
                                (made || f->huge[node->out[i]]) && node->op != TC_OP_nan_to_num;
    }
}

void ti_dataflow_find_asked(tc_ctx *ctx, tc_dataflow *f)
{
    const tc_graph *g = f->g;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *odd = tc_new_n(&ctx->scratch, bool, g->n_val + 1),
         *fresh = tc_new_n(&ctx->scratch, bool, g->n_val + 1);
    find_odd(f, odd);
    find_fresh(f, fresh);
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool on = false;
        for (int i = 0; i < node->n_out; i++)
            on = on || f->asked[node->out[i]];
        bool exactly = asks_exactly(f, node) || brings_back(f, node), asked = asks(f, node);
        for (int i = 0; i < node->n_in && !on; i++)
            on = (asked && odd[node->in[i]]) ||
                 (exactly && fresh[node->in[i]] && ti_dataflow_is_f32(f, node->in[i]));
        for (int i = 0; i < node->n_out && on; i++)
            f->asked[node->out[i]] = true;
        for (int i = 0; i < node->n_in && on; i++)
            if ((odd[node->in[i]] || fresh[node->in[i]]) && passes_odd(node, i))
                f->asked[node->in[i]] = true;
    }
    ti_arena_rewind(&ctx->scratch, mark);
}
