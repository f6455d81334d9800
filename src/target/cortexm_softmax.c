/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_softmax.c -- the softmax of int8 codes that TFLM and CMSIS-NN compute: where it stands in a graph, and
 * by which factor it scales. */
#include "cortexm_call.h"

#include "../num/fixed_exp.h"
#include "../num/load.h"

enum { CODES = 256, WHOLE = 5, BITS = 32, MOST_SHIFT = 31 };

static const tc_node *def_of(const tc_graph *g, tc_val v, tc_op op)
{
    const tc_node *node = v ? ti_def(g, v) : NULL;
    return node && node->op == op ? node : NULL;
}

/* Byte `byte` of every power, from one of the four tables; TC_NONE: it is none, else what it looks
 * up. */
static tc_val add_byte(const tc_graph *g, tc_val part, int byte, int32_t *power)
{
    const tc_node *left = def_of(g, part, TC_OP_tosa_logical_left_shift); /* of the last */
    const tc_node *widen = def_of(g, left ? left->in[0] : part, TC_OP_tosa_rescale);
    const tc_node *table = widen ? def_of(g, widen->in[0], TC_OP_tosa_table) : NULL;
    if (!table || !ti_is_const(g, table->in[1]) ||
        tc_type_count(ti_type_of(g, table->in[1])) != CODES ||
        ti_type_of(g, table->in[0])->dtype != TC_i8)
        return TC_NONE;
    tc_tensor t = ti_tensor_of(g, table->in[1]);
    for (int k = 0; k < CODES; k++) {
        uint32_t bits = (uint32_t)(ti_load_i64(t, k) - INT8_MIN) << (8 * byte);
        power[CODES - 1 - k] = (int32_t)((uint32_t)power[CODES - 1 - k] | bits);
    }
    return table->in[0];
}

tc_val ti_cm_softmax_at(const tc_graph *g, const tc_node *end, int32_t *power)
{
    const tc_node *shift =
        end->op == TC_OP_tosa_rescale
            ? def_of(g, end->in[0], TC_OP_tosa_arithmetic_right_shift)
            : NULL;
    const tc_node *share = shift ? def_of(g, shift->in[0], TC_OP_tosa_mul) : NULL;
    tc_val sum = share ? share->in[0] : TC_NONE, code = TC_NONE;
    memset(power, 0, CODES * sizeof *power);
    for (int byte = 3; byte >= 0; byte--) {
        const tc_node *add = byte ? def_of(g, sum, TC_OP_tosa_add) : NULL;
        code = sum && (add || !byte) ? add_byte(g, add ? add->in[1] : sum, byte, power) : TC_NONE;
        if (!code)
            return TC_NONE;
        sum = add ? add->in[0] : TC_NONE;
    }
    const tc_node *narrow = def_of(g, code, TC_OP_tosa_rescale);
    const tc_node *below = narrow ? def_of(g, narrow->in[0], TC_OP_tosa_sub) : NULL;
    const tc_node *x = below ? def_of(g, below->in[0], TC_OP_tosa_rescale) : NULL;
    return x ? x->in[0] : TC_NONE;
}

static int64_t least_difference(int shift)
{
    return -((INT64_C(31) << (BITS - 1 - WHOLE)) >> shift);
}

void ti_cm_softmax_powers(int32_t multiplier, int shift, int64_t diff_min, int32_t *power)
{
    for (int d = 0; d < CODES; d++) {
        int64_t scaled = ti_fixed_high(
            ti_fixed_wrapped((int64_t)((uint64_t)-d << shift), BITS), multiplier, BITS);
        power[d] = -d >= diff_min && scaled <= 0 ? (int32_t)ti_fixed_exp(scaled, WHOLE, BITS) : 0;
    }
}

/* Less than 0: these powers fall too slowly, more: too fast; 0: they are those. */
static int compare(const int32_t *want, int32_t multiplier, int shift)
{
    int32_t got[CODES];
    ti_cm_softmax_powers(multiplier, shift, least_difference(shift), got);
    for (int d = 0; d < CODES; d++)
        if (got[d] != want[d])
            return got[d] > want[d] ? -1 : 1;
    return 0;
}

bool ti_cm_softmax_factor(const int32_t *power, int32_t *multiplier, int *shift, int64_t *diff_min)
{
    for (*shift = 0; *shift <= MOST_SHIFT; ++*shift) {
        int64_t low = INT64_C(1) << 30, high = INT32_MAX;
        *diff_min = least_difference(*shift);
        while (low <= high) {
            *multiplier = (int32_t)((low + high) / 2);
            int side = compare(power, *multiplier, *shift);
            if (!side)
                return true;
            low = side < 0 ? *multiplier + INT64_C(1) : low;
            high = side > 0 ? *multiplier - INT64_C(1) : high;
        }
    }
    return false;
}
