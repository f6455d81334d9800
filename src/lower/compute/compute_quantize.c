/* SPDX-License-Identifier: Apache-2.0 */
/* compute_quantize.c -- explicit steps between reals and codes (num/quantize.c), as shaders. */
#include "compute.h"
#include "compute_family.h"

#include "../../num/load.h"


/* A list of values, one for each channel, or one. */
static tc_tensor list_of(tc_cs *s, tc_dtype dtype, int64_t n)
{
    return ti_tensor_new(&s->ctx->scratch, ti_type_make(s->ctx, dtype, 1, &n));
}

/* Scale (or 1 / scale) and zero of the channel of an index: attributes, or constant operands. */
static bool grid(tc_cs *s, const tc_node *node, tc_cs_val at, bool inverse, tc_cs_val *scale,
                 tc_cs_val *zero)
{
    const tc_attr_quantize *a = node->attr;
    const tc_type *x = ti_cs_type(s, 0);
    int64_t n = a->axis < 0 ? 1 : x->dim[a->axis], inner = 1;
    tc_tensor scales = list_of(s, TC_f32, n), zeros = list_of(s, TC_f32, n);
    for (int i = 1; i < node->n_in; i++)
        if (a->scale == 0 && ti_cs_type(s, i) && !s->port[i].value.data)
            return false;
    for (int64_t c = 0; c < n; c++) {
        double by = a->scale != 0 ? a->scale : ti_load_f64(s->port[1].value, c);
        int64_t z = a->zero;
        if (a->scale == 0)
            z = node->n_in > 2 && ti_cs_type(s, 2) ? ti_load_i64(s->port[2].value, c) : 0;
        ti_store_f64(scales, c, (double)(float)(inverse ? 1.0 / by : by));
        ti_store_f64(zeros, c, (double)z);
    }
    for (int i = a->axis < 0 ? x->rank : (int)a->axis + 1; i < x->rank; i++)
        inner *= x->dim[i];
    tc_cs_val channel = a->axis < 0 ? ti_cs_i32(s, 0) : ti_cs_rest(s, ti_cs_part(s, at, inner), n);
    *scale = ti_cs_item(s, &(tc_cs_list){scales, 0}, channel);
    *zero = ti_cs_item(s, &(tc_cs_list){zeros, 0}, channel);
    return true;
}

/* Codes to reals, reals to codes, or both: as every operator takes and gives them. */
void ti_cs_rescale(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    (void)node;
    ti_cs_store(s, 1, at, ti_cs_load(s, 0, at));
}

void ti_cs_quantize(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_quantize *a = node->attr;
    const tc_cs_val nothing = {0, TC_CS_BOOL};
    tc_cs_val scale, zero, v = ti_cs_to(s, TC_CS_F32, ti_cs_load(s, 0, at));
    bool back = node->op == TC_OP_dequantize, divides = !back && a->divides;
    if (a->away || a->biased || !grid(s, node, at, !back && !divides, &scale, &zero)) {
        s->why = "its scales are chosen when it runs, or it rounds in another way";
        return;
    }
    if (back) {
        ti_cs_store(s, s->n_in, at, ti_cs_mul(s, ti_cs_sub(s, v, zero), scale));
        return;
    }
    v = divides ? ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, v, scale) : ti_cs_mul(s, v, scale);
    v = ti_cs_add(s, ti_cs_ext(s, TC_GLSL_RoundEven, v, nothing), zero);
    tc_cs_val lo = ti_cs_number(s, TC_CS_F32, (double)a->qmin),
              hi = ti_cs_number(s, TC_CS_F32, (double)a->qmax), none = ti_cs_nan(s, v);
    v = ti_cs_select(s, ti_cs_less(s, v, lo), lo, v);
    v = ti_cs_select(s, ti_cs_less(s, hi, v), hi, v);
    v = ti_cs_select(s, none, ti_cs_number(s, TC_CS_F32, 0), v);
    ti_cs_store(s, s->n_in, at, v);
}
