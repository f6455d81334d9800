/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_eltwise.c -- builders of elementwise operators on unquantized tensors. */
#include <math.h>

#include "../../num/load.h"
#include "tflite.h"

/* The sum of all inputs. */
void ti_tfl_build_add_n(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    for (int i = 1; i < n->n_in; i++) {
        tc_val y = ti_tfl_need(n, i);
        x = ti_b_add(&n->m, x, y);
    }
    ti_tfl_bind(n, 0, x);
}

/* x >= 0 ? x : slope * x; a slope for each number of the last axis is our operator's, with that
 * axis second. */
void ti_tfl_build_prelu(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0), slope = ti_tfl_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *s = ti_b_type(m, slope);
    int64_t count = tc_type_count(s);
    bool per_channel = t->rank > 1 && s->rank > 0 && count == t->dim[t->rank - 1] &&
                       s->dim[s->rank - 1] == count;
    if ((count == 1 || per_channel) && t->rank > 1) {
        int64_t first[TC_MAX_RANK], back[TC_MAX_RANK];
        for (int i = 0; i < t->rank; i++) {
            first[i] = i == 0 ? 0 : i == 1 ? t->rank - 1 : i - 1;
            back[i] = i == 0 ? 0 : i == t->rank - 1 ? 1 : i + 1;
        }
        x = count == 1 ? x : ti_b_permute(m, x, first);
        x = ti_b_prelu(m, x, ti_b_flat(m, slope));
        ti_tfl_bind(n, 0, count == 1 ? x : ti_b_permute(m, x, back));
        return;
    }
    tc_val zero = ti_b_scalar(m, t->dtype, 0), scaled = ti_b_mul(m, x, slope);
    tc_val below = ti_b_lt(m, x, zero);
    ti_tfl_bind(n, 0, ti_b_where(m, below, scaled, x));
}

void ti_tfl_build_cast(tc_tfl_node *n)
{
    tc_val x = ti_tfl_plain(n, 0);
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    if (!t || !t->dtype) {
        ti_b_unsupported(&n->m, "a cast to %s", t ? ti_tfl_type_name(t->code) : "nothing");
        return;
    }
    ti_tfl_bind_plain(n, 0, ti_b_cast(&n->m, x, t->shifted ? TC_u8 : t->dtype));
}

/* SELECT's condition may have one number for each row of the first axis. */
void ti_tfl_build_select(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val c = ti_tfl_need(n, 0), a = ti_tfl_need(n, 1), b = ti_tfl_need(n, 2);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, c), *x = ti_b_type(m, a);
    if (n->row->extra == 1 && t->rank == 1 && x->rank > 1 && t->dim[0] == x->dim[0]) {
        int64_t dim[TC_MAX_RANK] = {t->dim[0], 1, 1, 1, 1, 1, 1, 1};
        c = ti_b_reshape(m, c, x->rank, dim);
    }
    ti_tfl_bind(n, 0, ti_b_where(m, c, a, b));
}

/* The same bits as another type of the same width: of constants only. */
void ti_tfl_build_bitcast(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    tc_tensor from;
    if (m->status != TC_OK || !t)
        return;
    if (ti_b_dtype(m, x) == t->dtype) {
        ti_tfl_bind(n, 0, x);
        return;
    }
    size_t wide = t->dtype ? tc_dtypes[t->dtype].bytes : 0;
    if (!ti_b_settled(m, x, &from) || !wide || ti_dims_count(t->rank, t->dim) < 0 ||
        tc_type_bytes(from.type) != wide * (size_t)ti_dims_count(t->rank, t->dim)) {
        ti_b_unsupported(m, "BITCAST of values that are not constant");
        return;
    }
    tc_tensor to = ti_b_tensor(m, t->dtype, t->rank, t->dim);
    memcpy(to.data, from.data, tc_type_bytes(from.type));
    ti_tfl_bind(n, 0, ti_b_const(m, to, NULL));
}

/* dequantize(quantize(x)) with num_bits codes between min and max, moved so that zero is a code. */
void ti_tfl_build_fake_quant(tc_tfl_node *n)
{
    tc_val x = ti_tfl_need(n, 0);
    float lo = (float)ti_tfl_float(n, 0, 0), hi = (float)ti_tfl_float(n, 1, 0);
    int64_t bits = ti_tfl_int(n, 2, 0);
    if (bits < 2 || bits > 16 || !(lo <= 0) || !(hi >= 0) || !(hi > lo)) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%" PRId64 " bits between %g and %g", bits, (double)lo,
                 (double)hi);
        return;
    }
    float first = ti_tfl_bool(n, 3, false) ? 1 : 0, last = (float)((1 << bits) - 1);
    float scale = (hi - lo) / (last - first), from = first - lo / scale;
    double zero = from < first ? (double)first : from > last ? (double)last : (double)roundf(from);
    float least = (float)((double)first - zero) * scale,
          most = (float)((double)last - zero) * scale;
    /* floor((clamp(x) - least) / scale + 1/2) * scale + least, in f32 */
    tc_build *m = &n->m;
    x = ti_b_clamp(m, x, (double)least, (double)most);
    x = ti_b_add_n(m, x, (double)-least);
    x = ti_b_mul_n(m, x, (double)(1.0f / scale));
    x = ti_b_add_n(m, x, 0.5);
    x = ti_b_floor(m, x);
    x = ti_b_mul_n(m, x, (double)scale);
    ti_tfl_bind(n, 0, ti_b_add_n(m, x, (double)least));
}
