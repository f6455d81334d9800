/* SPDX-License-Identifier: Apache-2.0 */
/* estimate_item.c -- values as maps, and operations that copy; see estimate_item.h. */
#include "estimate_item.h"

/* ---- values ---- */

uint8_t ti_guess_bytes(const tc_type *t)
{
    int bytes = t->dtype == TC_i48 ? 8 : tc_dtypes[t->dtype].bytes;
    return (uint8_t)(bytes > 0 && bytes <= 8 ? bytes : 4);
}

int32_t ti_guess_extent(int64_t n)
{
    enum { MOST = 1 << 24 };
    return n < 1 ? 1 : n > MOST ? MOST : (int32_t)n;
}

/* Channels, columns, and everything in front of them as rows. */
static void extents(const tc_type *t, int32_t *h, int32_t *w, int32_t *c)
{
    int64_t rows = 1;
    for (int i = 0; i < t->rank - 2; i++)
        rows *= t->dim[i];
    *h = ti_guess_extent(rows);
    *w = ti_guess_extent(t->rank > 1 ? t->dim[t->rank - 2] : 1);
    *c = ti_guess_extent(t->rank > 0 ? t->dim[t->rank - 1] : 1);
}

bool ti_guess_bricks(const tc_guesser *e, tc_val v)
{
    tc_val from = e->storage[v];
    return !ti_is_const(e->g, from) && e->maker[from] != TC_GUESS_NONE && !e->pinned[from] &&
           !e->flat[from] && ti_type_of(e->g, from)->rank >= 3;
}

/* A value as a map: its own shape, the element that is stored. */
tc_npu_map ti_guess_map(const tc_guesser *e, tc_val v)
{
    tc_val from = e->storage[v];
    tc_npu_map m = {
        .used = true, .is_signed = true, .bytes = ti_guess_bytes(ti_type_of(e->g, from))};
    bool spill = e->s->of_region[2] != e->s->of_region[1] && e->maker[from] != TC_GUESS_NONE &&
                 !e->pinned[from];
    extents(ti_type_of(e->g, v), &m.h, &m.w, &m.c);
    m.region = ti_is_const(e->g, from) ? 0 : spill ? 2 : 1;
    m.format = ti_guess_bricks(e, v) ? TC_NHCWB16 : TC_NHWC;
    if (ti_is_const(e->g, from) && m.h == 1 && m.w == 1 && m.c == 1)
        m.broadcast = TC_BROADCAST_SCALAR;
    for (int i = 0; i < 4; i++)
        m.base[i] = (uint64_t)from << 32;
    m.width0 = m.w;
    m.height0 = m.height1 = m.h;
    m.stride_c = m.format == TC_NHCWB16 ? (int64_t)m.w * 16 * m.bytes : m.bytes;
    m.stride_x = m.format == TC_NHCWB16 ? 16 * m.bytes : (int64_t)m.c * m.bytes;
    m.stride_y =
        m.format == TC_NHCWB16 ? (int64_t)((m.c + 15) / 16) * m.stride_c : m.w * m.stride_x;
    return m;
}

/* ---- operations ---- */

tc_guess *ti_guess_add(tc_guesser *e, const tc_node *node, tc_npu_kind kind, uint8_t mode)
{
    tc_grow(e->arena, e->item, e->n, e->cap);
    tc_guess *i = &e->item[e->n++];
    *i = (tc_guess){.node = node};
    i->op = (tc_npu_op){
        .at = e->n - 1,
        .number = e->n - 1,
        .kind = kind,
        .mode = mode,
        .acc_bits = 32,
        .acc_output = true,
        .cores = (uint8_t)e->m->cores,
        .ofm_scale = {.multiplier = 1},
        .window = {
            .kh = 1, .kw = 1, .stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1}};
    return i;
}

void ti_guess_makes(tc_guesser *e, tc_guess *i, tc_val v)
{
    i->out = v;
    e->maker[v] = (int32_t)(i - e->item);
}

void ti_guess_scaled(tc_guess *i)
{
    i->op.ofm_scale = (tc_npu_scale){.multiplier = 3, .shift = 2};
}

/* A pool of one element: a copy, a rescale, a table. */
tc_guess *ti_guess_copy(tc_guesser *e, const tc_node *node, tc_val in, tc_val out)
{
    tc_npu_map from = ti_guess_map(e, in);
    bool wide = ti_guess_u85(e) && from.bytes >= 4;
    tc_guess *i = ti_guess_add(e, node, TC_NPU_KIND_POOL,
                               (uint8_t)(wide              ? TC_POOL_NONE
                                         : ti_guess_u85(e) ? TC_POOL_SUM
                                                           : TC_POOL_AVERAGE));
    ti_guess_makes(e, i, out);
    *(wide ? &i->op.ifm2 : &i->op.ifm) = from;
    i->op.acc_input = wide ? 2 : 0;
    i->op.ofm = ti_guess_map(e, out);
    i->op.ifm.c = i->op.ofm.c;
    i->op.ifm.bytes = wide ? 1 : from.bytes;
    i->op.window.ih = i->op.ofm.h;
    i->op.window.iw = i->op.ofm.w;
    return i;
}
