/* SPDX-License-Identifier: Apache-2.0 */
/* pad.c -- borders: a constant, a reflection, the edge or circular; negative ones crop.
 */
#include "kernels.h"
#include "load.h"
#include "strided.h"

static void pad_constant(tc_call *c, const tc_attr_pad *a)
{
    const tc_tensor *x = &c->in[0], *y = &c->out[0];
    size_t bytes = tc_dtypes[x->type->dtype].bytes;
    int64_t to[TC_MAX_RANK], from[TC_MAX_RANK], to_at = 0, from_at = 0;
    tc_axis axis[TC_MAX_RANK];
    ti_store_f64(*y, 0, a->value);
    ti_fill((char *)y->data + bytes, y->data, bytes, tc_type_count(y->type) - 1);
    ti_steps(y->type, to);
    ti_steps(x->type, from);
    for (int i = 0; i < x->type->rank; i++) {
        int64_t before = a->pad.v[2 * i], after = a->pad.v[2 * i + 1];
        int64_t kept = x->type->dim[i] + ti_min_i64(before, 0) + ti_min_i64(after, 0);
        axis[i] = (tc_axis){ti_max_i64(kept, 0), to[i], from[i]};
        to_at += ti_max_i64(before, 0) * to[i];
        from_at += ti_max_i64(-before, 0) * from[i];
    }
    ti_move((char *)y->data + (size_t)to_at * bytes,
            (const char *)x->data + (size_t)from_at * bytes, bytes, axis, x->type->rank);
}

/* The element of an axis of extent n at index i, which may be outside. */
static int64_t source(tc_field_pad_mode mode, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == TC_pad_mode_replicate)
        return i < 0 ? 0 : n - 1;
    if (mode == TC_pad_mode_circular)
        return i < 0 ? i + n : i - n;
    return i < 0 ? -i : 2 * (n - 1) - i;
}

/* map[k]: offset in x of element k of the padded axis. */
static int64_t *map_axis(tc_call *c, const tc_attr_pad *a, int i, int64_t step)
{
    int64_t n = c->out[0].type->dim[i];
    int64_t *map = tc_new_n(c->scratch, int64_t, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        map[k] = step * source(a->mode, k - a->pad.v[2 * i], c->in[0].type->dim[i]);
    return map;
}

static void pad_mapped(tc_call *c, const tc_attr_pad *a)
{
    const tc_type *y = c->out[0].type;
    size_t bytes = tc_dtypes[y->dtype].bytes;
    int64_t step[TC_MAX_RANK], digit[TC_MAX_RANK] = {0}, *map[TC_MAX_RANK];
    ti_steps(c->in[0].type, step);
    for (int i = 0; i < y->rank; i++)
        map[i] = map_axis(c, a, i, step[i]);
    int last = y->rank - 1;
    int64_t rows = tc_type_count(y) / y->dim[last];
    char *to = c->out[0].data;
    for (int64_t r = 0; r < rows; r++) {
        int64_t base = 0;
        for (int i = 0; i < last; i++)
            base += map[i][digit[i]];
        for (int64_t k = 0; k < y->dim[last]; k++, to += bytes)
            memcpy(to, (const char *)c->in[0].data + (size_t)(base + map[last][k]) * bytes, bytes);
        for (int i = last - 1; i >= 0 && ++digit[i] == y->dim[i]; i--)
            digit[i] = 0;
    }
}

void ti_num_pad(tc_call *c)
{
    const tc_attr_pad *a = c->attr;
    if (!tc_type_count(c->out[0].type))
        return;
    if (a->mode == TC_pad_mode_constant || !c->out[0].type->rank)
        pad_constant(c, a);
    else
        pad_mapped(c, a);
}
