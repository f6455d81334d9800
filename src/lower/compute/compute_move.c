/* SPDX-License-Identifier: Apache-2.0 */
/* compute_move.c -- operators that move elements, as shaders.
 *
 * One template: element i of the result is element base + sum (i / block_k % extent_k) * stride_k
 * of the operand.  The coefficients are found by running the operator's kernel on 1, 2, 3, ...:
 * reshapes, permutes, slices, repeats and flips are such sums.  Others (padding by reflection,
 * windows with edges) read their indices from an inline list. */
#include "compute.h"
#include "compute_family.h"

#include "../../num/load.h"

enum { MOST_DIGITS = 16, MOST_PLACES = 1 << 24 };

typedef struct digits {
    int64_t base;
    int n;
    struct {
        int64_t block, extent, stride;
    } d[MOST_DIGITS];
} digits;

/* Where the elements of a result come from, counted from 1; 0: from nowhere.  NULL: the kernel does
 * not say. */
static int32_t *places_of(tc_cs *s, const tc_node *node, int result)
{
    tc_ctx *ctx = s->ctx;
    const tc_type *x = ti_cs_type(s, 0);
    tc_tensor in = ti_tensor_new(&ctx->scratch, ti_type_make(ctx, TC_i32, x->rank, x->dim));
    tc_tensor *out = tc_new_n(&ctx->scratch, tc_tensor, (size_t)node->n_out);
    int32_t *number = in.data;
    for (int64_t i = 0; i < tc_type_count(x); i++)
        number[i] = (int32_t)i + 1;
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_cs_type(s, s->n_in + i);
        if (tc_type_count(t) > MOST_PLACES)
            return NULL;
        out[i] = ti_tensor_new(&ctx->scratch, ti_type_make(ctx, TC_i32, t->rank, t->dim));
    }
    tc_call call = {node->attr, 1, node->n_out, &in, out, &ctx->scratch, NULL};
    tc_ops[node->op].kernel(&call);
    return call.error ? NULL : out[result].data;
}

/* How many equal steps there are from the front, in blocks; at least 1, and a divisor of n. */
static int64_t equal_steps(const int32_t *m, int64_t block, int64_t n)
{
    int64_t stride = m[block] - m[0], k = 1;
    while (k < n && m[k * block] == m[0] + k * stride)
        k++;
    while (n % k)
        k--;
    return k;
}

static bool find_digits(const int32_t *m, int64_t n, digits *out)
{
    *out = (digits){.base = m[0] - 1};
    for (int64_t block = 1; block < n;) {
        int64_t extent = equal_steps(m, block, n / block);
        if (extent < 2 || out->n == MOST_DIGITS)
            return false;
        out->d[out->n].block = block;
        out->d[out->n].extent = extent;
        out->d[out->n++].stride = m[block] - m[0];
        block *= extent;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t at = out->base + 1;
        for (int k = 0; k < out->n; k++)
            at += i / out->d[k].block % out->d[k].extent * out->d[k].stride;
        if (m[i] <= 0 || at != m[i])
            return false;
    }
    return true;
}

static tc_cs_val place_by(tc_cs *s, const digits *d, tc_cs_val at)
{
    tc_cs_val place = ti_cs_i32(s, d->base);
    bool bare = d->base == 0;
    for (int k = 0; k < d->n; k++) {
        if (!d->d[k].stride)
            continue;
        tc_cs_val digit = ti_cs_part(s, at, d->d[k].block);
        if (k + 1 < d->n)
            digit = ti_cs_rest(s, digit, d->d[k].extent);
        if (d->d[k].stride != 1)
            digit = ti_cs_mul(s, digit, ti_cs_i32(s, d->d[k].stride));
        place = bare ? digit : ti_cs_add(s, place, digit);
        bare = false;
    }
    return place;
}

void ti_cs_move(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    int to = s->n_in + s->result;
    int64_t n = tc_type_count(ti_cs_type(s, to));
    const int32_t *m = places_of(s, node, s->result);
    digits d;
    if (!m) {
        s->why = "where its elements come from is not known";
        return;
    }
    if (find_digits(m, n, &d)) {
        ti_cs_store(s, to, at, ti_cs_load(s, 0, place_by(s, &d, at)));
        return;
    }
    tc_cs_list list = {{ti_type_make(s->ctx, TC_i32, 1, &n), (void *)(uintptr_t)m}, 0};
    tc_cs_val from = ti_cs_item(s, &list, at), none = ti_cs_equal(s, from, ti_cs_i32(s, 0));
    tc_cs_val place = ti_cs_select(s, none, from, ti_cs_sub(s, from, ti_cs_i32(s, 1)));
    tc_cs_val v = ti_cs_load(s, 0, place);
    ti_cs_store(s, to, at, ti_cs_select(s, none, ti_cs_number(s, v.kind, 0), v));
}

/* ---- movements with a condition --------------------------------------------------------------- */

/* The operand where the index is inside it, else the value; other modes are a list of indices. */
void ti_cs_pad(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_pad *a = node->attr;
    const tc_type *x = ti_cs_type(s, 0), *y = ti_cs_type(s, 1);
    tc_cs_val c[TC_MAX_RANK], inside = ti_cs_number(s, TC_CS_BOOL, 1);
    if (a->mode != TC_pad_mode_constant) {
        ti_cs_move(s, node, at);
        return;
    }
    ti_cs_split(s, y, at, c);
    for (int i = 0; i < x->rank; i++) {
        tc_cs_val zero = ti_cs_i32(s, 0), extent = ti_cs_i32(s, x->dim[i]);
        if (x->dim[i] == y->dim[i] && !a->pad.v[2 * i])
            continue;
        c[i] = ti_cs_sub(s, c[i], ti_cs_i32(s, a->pad.v[2 * i]));
        tc_cs_val low = ti_cs_not(s, ti_cs_less(s, c[i], zero)), in = ti_cs_less(s, c[i], extent);
        tc_cs_val here = ti_cs_and(s, low, in);
        inside = ti_cs_and(s, inside, here);
        c[i] = ti_cs_select(s, here, c[i], zero);
    }
    tc_cs_val v = ti_cs_load(s, 0, ti_cs_join(s, x, c));
    ti_cs_store(s, 1, at, ti_cs_select(s, inside, v, ti_cs_number(s, v.kind, a->value)));
}

/* x where column - row is up to (or, of triu, from) the diagonal on, else 0. */
void ti_cs_triangle(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_type *x = ti_cs_type(s, 0);
    tc_cs_val c[TC_MAX_RANK], v = ti_cs_load(s, 0, at);
    ti_cs_split(s, x, at, c);
    tc_cs_val line = ti_cs_sub(s, c[x->rank - 1], c[x->rank - 2]);
    tc_cs_val diagonal = ti_cs_i32(s, ((const tc_attr_tri *)node->attr)->diagonal);
    tc_cs_val out = node->op == TC_OP_tril ? ti_cs_less(s, diagonal, line)
                                           : ti_cs_less(s, line, diagonal);
    ti_cs_store(s, 1, at, ti_cs_select(s, out, ti_cs_number(s, v.kind, 0), v));
}

/* Element i - shift of every axis. */
void ti_cs_roll(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_roll *a = node->attr;
    const tc_type *x = ti_cs_type(s, 0);
    tc_cs_val c[TC_MAX_RANK];
    if (!a->axes.n) {
        ti_cs_move(s, node, at);
        return;
    }
    ti_cs_split(s, x, at, c);
    for (int i = 0; i < a->axes.n; i++) {
        int64_t axis = a->axes.v[i], n = x->dim[axis], by = (n - a->shifts.v[i] % n) % n;
        c[axis] = ti_cs_rest(s, ti_cs_add(s, c[axis], ti_cs_i32(s, by)), n);
    }
    ti_cs_store(s, 1, at, ti_cs_load(s, 0, ti_cs_join(s, x, c)));
}

/* The operands concatenated along an axis: which one contains an index. */
void ti_cs_concat(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    int64_t axis = ((const tc_attr_axis *)node->attr)->axis, start = 0;
    const tc_type *y = ti_cs_type(s, s->n_in);
    tc_cs_val c[TC_MAX_RANK];
    ti_cs_split(s, y, at, c);
    for (int k = 0; k < node->n_in; k++) {
        tc_type x = *ti_cs_type(s, k);
        if (node->op == TC_OP_stack) { /* an axis of extent one more */
            x = *y;
            x.dim[axis] = 1;
        }
        int64_t end = start + x.dim[axis];
        tc_cs_val own[TC_MAX_RANK], here = ti_cs_less(s, c[axis], ti_cs_i32(s, end));
        if (start)
            here = ti_cs_and(s, here, ti_cs_not(s, ti_cs_less(s, c[axis], ti_cs_i32(s, start))));
        tc_cs_if block = ti_cs_if(s, here);
        memcpy(own, c, sizeof own);
        own[axis] = ti_cs_sub(s, c[axis], ti_cs_i32(s, start));
        ti_cs_store(s, s->n_in, at, ti_cs_load(s, k, ti_cs_join(s, &x, own)));
        ti_cs_end(s, block);
        start = end;
    }
}

/* x, and the source where a slice or one index of an axis is. */
void ti_cs_replace(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_slice *slice = node->attr;
    const tc_attr_select *select = node->attr;
    bool one = node->op == TC_OP_select_scatter;
    int64_t axis = one ? select->axis : slice->axis, start = one ? select->index : slice->start,
            end = one ? start + 1 : slice->end, step = one ? 1 : slice->step;
    tc_type source = *ti_cs_type(s, 2);
    tc_cs_val c[TC_MAX_RANK];
    source.dim[axis] = one ? 1 : ti_cs_type(s, 1)->dim[axis];
    ti_cs_split(s, ti_cs_type(s, 2), at, c);
    tc_cs_val from = ti_cs_i32(s, start), to = ti_cs_i32(s, end), zero = ti_cs_i32(s, 0);
    tc_cs_val above = ti_cs_not(s, ti_cs_less(s, c[axis], from)), below = ti_cs_less(s, c[axis], to);
    tc_cs_val there = ti_cs_and(s, above, below), off = ti_cs_sub(s, c[axis], from);
    if (step > 1)
        there = ti_cs_and(s, there, ti_cs_equal(s, ti_cs_rest(s, off, step), zero));
    tc_cs_val x = ti_cs_load(s, 0, at);
    c[axis] = ti_cs_select(s, there, ti_cs_part(s, off, step), zero);
    tc_cs_val v = ti_cs_load(s, 1, ti_cs_join(s, &source, c));
    ti_cs_store(s, 2, at, ti_cs_select(s, there, v, x));
}
