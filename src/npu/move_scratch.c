/* SPDX-License-Identifier: Apache-2.0 */
/* move_scratch.c -- a command stream that works further on in its scratch. */
#include "npu_write.h"
#include "program.h"

enum { SCRATCH = 1, FAST = 2 };

typedef struct mover {
    bool apart; /* region 2 is a separate memory */
    uint64_t by;
} mover;

static uint64_t shift(const mover *m, uint8_t region)
{
    return region == SCRATCH || (region == FAST && !m->apart) ? m->by : 0;
}

static void move_map(const mover *m, tc_npu_map *map)
{
    bool tiles = map->storage == TC_STORE_TILES || map->storage == TC_STORE_TILES_3X1;
    for (size_t i = 0; i < TC_COUNT(map->base) && tiles; i++)
        map->base[i] += shift(m, map->region);
}

static void move_dma(const mover *m, tc_npu_dma *d)
{
    d->src += d->src_internal ? 0 : shift(m, d->src_region);
    d->dst += d->dst_internal ? 0 : shift(m, d->dst_region);
    d->index += shift(m, d->index_region);
}

static void move_op(const mover *m, tc_npu_op *op)
{
    move_map(m, &op->ifm);
    move_map(m, &op->ifm2);
    move_map(m, &op->ofm);
    move_dma(m, &op->dma);
    for (size_t i = 0; i < TC_COUNT(op->weights.base); i++)
        op->weights.base[i] += shift(m, op->weights.region);
    for (size_t i = 0; i < TC_COUNT(op->scale_base); i++)
        op->scale_base[i] += shift(m, op->scale_region);
}

static tc_npu_tensor *moved(tc_arena *arena, const mover *m, const tc_npu_tensor *from, size_t n)
{
    tc_npu_tensor *to = tc_new_n(arena, tc_npu_tensor, n + 1);
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].offset += (int64_t)shift(m, from[i].region);
    }
    return to;
}

static tc_npu_moved words_of(tc_arena *arena, const tc_npu_op *op, size_t n, const size_t *to)
{
    size_t *from = tc_new_n(arena, size_t, n + 1);
    for (size_t i = 0; i < n; i++)
        from[i] = op[i].at;
    return (tc_npu_moved){from, to, n};
}

const char *ti_npu_move_scratch(tc_arena *arena, tc_npu_program *p, int64_t by, tc_npu_moved *where)
{
    mover m = {p->fast != 0, (uint64_t)by};
    tc_npu_op *op;
    size_t n;
    const char *error = ti_npu_list(arena, p->machine, p->words, true, &op, &n);
    for (size_t i = 0; i < n && !error; i++)
        move_op(&m, &op[i]);
    size_t *to = tc_new_n(arena, size_t, n + 1);
    *where = words_of(arena, op, n, to);
    if (!error)
        error = ti_npu_write_as(arena, p->machine,
                                (tc_npu_how){m.apart, .keep_waits = true, .keep_blockdep = true},
                                op, n, &p->words, to);
    if (error)
        return error;
    p->in = moved(arena, &m, p->in, p->n_in);
    p->out = moved(arena, &m, p->out, p->n_out);
    p->scratch += by;
    return ti_npu_make_driver(arena, p);
}
