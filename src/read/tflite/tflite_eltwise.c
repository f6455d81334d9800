/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_eltwise.c -- builders of elementwise operators on plain numbers. */
#include <math.h>

#include "../../num/load.h"
#include "tflite.h"

/* The sum of all inputs. */
void tc_tfl_build_add_n(tc_tfl_node *n)
{
    tc_val x = tc_tfl_need(n, 0);
    for (int i = 1; i < n->n_in; i++) {
        tc_val y = tc_tfl_need(n, i);
        x = tc_b_add(&n->m, x, y);
    }
    tc_tfl_bind(n, 0, x);
}

/* x >= 0 ? x : slope * x; a slope for each number of the last axis is our operator's, with that
 * axis second. */
void tc_tfl_build_prelu(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0), slope = tc_tfl_need(n, 1);
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, x), *s = tc_b_type(m, slope);
    int64_t count = tc_type_count(s);
    bool per_channel = t->rank > 1 && s->rank > 0 && count == t->dim[t->rank - 1] &&
                       s->dim[s->rank - 1] == count;
    if ((count == 1 || per_channel) && t->rank > 1) {
        int64_t first[TC_MAX_RANK], back[TC_MAX_RANK];
        for (int i = 0; i < t->rank; i++) {
            first[i] = i == 0 ? 0 : i == 1 ? t->rank - 1 : i - 1;
            back[i] = i == 0 ? 0 : i == t->rank - 1 ? 1 : i + 1;
        }
        x = count == 1 ? x : tc_b_permute(m, x, first);
        x = tc_b_prelu(m, x, tc_b_flat(m, slope));
        tc_tfl_bind(n, 0, count == 1 ? x : tc_b_permute(m, x, back));
        return;
    }
    tc_val zero = tc_b_scalar(m, t->dtype, 0), scaled = tc_b_mul(m, x, slope);
    tc_val below = tc_b_lt(m, x, zero);
    tc_tfl_bind(n, 0, tc_b_where(m, below, scaled, x));
}

void tc_tfl_build_cast(tc_tfl_node *n)
{
    tc_val x = tc_tfl_plain(n, 0);
    const tc_tfl_tensor *t = tc_tfl_out_tensor(n, 0);
    if (!t || !t->dtype) {
        tc_b_unsupported(&n->m, "a cast to %s", t ? tc_tfl_type_name(t->code) : "nothing");
        return;
    }
    tc_tfl_bind_plain(n, 0, tc_b_cast(&n->m, x, t->shifted ? TC_u8 : t->dtype));
}

/* SELECT's condition may have one number for each row of the first axis. */
void tc_tfl_build_select(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val c = tc_tfl_need(n, 0), a = tc_tfl_need(n, 1), b = tc_tfl_need(n, 2);
    TC_STOP(m);
    const tc_type *t = tc_b_type(m, c), *x = tc_b_type(m, a);
    if (n->row->extra == 1 && t->rank == 1 && x->rank > 1 && t->dim[0] == x->dim[0]) {
        int64_t dim[TC_MAX_RANK] = {t->dim[0], 1, 1, 1, 1, 1, 1, 1};
        c = tc_b_reshape(m, c, x->rank, dim);
    }
    tc_tfl_bind(n, 0, tc_b_where(m, c, a, b));
}

/* The same bits as another type of the same width: of constants only. */
void tc_tfl_build_bitcast(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = tc_tfl_need(n, 0);
    const tc_tfl_tensor *t = tc_tfl_out_tensor(n, 0);
    tc_tensor from;
    if (m->status != TC_OK || !t)
        return;
    if (tc_b_dtype(m, x) == t->dtype) {
        tc_tfl_bind(n, 0, x);
        return;
    }
    size_t wide = t->dtype ? tc_dtypes[t->dtype].bytes : 0;
    if (!tc_b_settled(m, x, &from) || !wide || tc_dims_count(t->rank, t->dim) < 0 ||
        tc_type_bytes(from.type) != wide * (size_t)tc_dims_count(t->rank, t->dim)) {
        tc_b_unsupported(m, "BITCAST of values that are not constant");
        return;
    }
    tc_tensor to = tc_b_tensor(m, t->dtype, t->rank, t->dim);
    memcpy(to.data, from.data, tc_type_bytes(from.type));
    tc_tfl_bind(n, 0, tc_b_const(m, to, NULL));
}

/* dequantize(quantize(x)) with num_bits codes between min and max, moved so that zero is a code. */
void tc_tfl_build_fake_quant(tc_tfl_node *n)
{
    tc_val x = tc_tfl_need(n, 0);
    float lo = (float)tc_tfl_float(n, 0, 0), hi = (float)tc_tfl_float(n, 1, 0);
    int64_t bits = tc_tfl_int(n, 2, 0);
    if (bits < 2 || bits > 16 || !(lo <= 0) || !(hi >= 0) || !(hi > lo)) {
        tc_b_bad(&n->m, TC_E_ARGUMENT, "%" PRId64 " bits between %g and %g", bits, (double)lo,
                 (double)hi);
        return;
    }
    float first = tc_tfl_bool(n, 3, false) ? 1 : 0, last = (float)((1 << bits) - 1);
    float scale = (hi - lo) / (last - first), from = first - lo / scale;
    double zero = from < first ? (double)first : from > last ? (double)last : (double)roundf(from);
    float least = (float)((double)first - zero) * scale,
          most = (float)((double)last - zero) * scale;
    /* floor((clamp(x) - least) / scale + 1/2) * scale + least, in f32 */
    tc_build *m = &n->m;
    x = tc_b_clamp(m, x, (double)least, (double)most);
    x = tc_b_add_n(m, x, (double)-least);
    x = tc_b_mul_n(m, x, (double)(1.0f / scale));
    x = tc_b_add_n(m, x, 0.5);
    x = tc_b_floor(m, x);
    x = tc_b_mul_n(m, x, (double)scale);
    tc_tfl_bind(n, 0, tc_b_add_n(m, x, (double)least));
}
