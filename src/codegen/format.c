/* SPDX-License-Identifier: Apache-2.0 */
/* format.c -- how each root is stored, and what that makes of the views: bases and strides in
 * bytes.
 *
 *   linear (NHWC)      element i of the root at i * bytes; any strides, channels contiguous
 *   bricks (NHCWB16)   16 channels at a time: [h][c / 16][w][16]; needs every view to be a box of
 *                      the root's frame whose channels begin at a multiple of 16
 *
 * Bricks are what the machine reads and writes in long bursts: taken wherever they can be; or, in another
 * attempt at a program, but where they would be padded.  What the caller fills or reads, and constants,
 * are linear. */
#include "hw.h"

enum { BRICK = 16 };

typedef struct box {
    int64_t y, x, c;
} box;

/* The view's first element in the frame; false: it is no box of the frame. */
static bool box_of(const tc_root *r, const tc_view *v, const tc_npu_map *m, box *out)
{
    int64_t row = (int64_t)r->w * r->c, step[3] = {row, r->c, 1}, size[3];
    bool boxed = m->bytes == r->bytes;
    for (int i = 0; i < 3; i++) {
        size[i] = v->stride[i] ? v->dim[i] : 1;
        boxed = boxed && (size[i] == 1 || v->stride[i] == step[i]);
    }
    *out = (box){v->at / row, v->at % row / r->c, v->at % r->c};
    return boxed && out->y + size[0] <= r->h && out->x + size[1] <= r->w &&
           out->c + size[2] <= r->c && out->c % BRICK == 0;
}

typedef void each_map(tc_hw *hw, const tc_view *v, tc_npu_map *m, bool written);

static void for_maps(tc_hw *hw, tc_hw_op *op, each_map *f)
{
    if (op->ifm.root >= 0)
        f(hw, &op->ifm, &op->op.ifm, false);
    if (op->ifm2.root >= 0)
        f(hw, &op->ifm2, &op->op.ifm2, false);
    if (op->ofm.root >= 0)
        f(hw, &op->ofm, &op->op.ofm, true);
}

static void look(tc_hw *hw, const tc_view *v, tc_npu_map *m, bool written)
{
    tc_root *r = &hw->root[v->root];
    box b;
    (void)written;
    if (r->format == TC_NHCWB16 && !box_of(r, v, m, &b))
        r->format = TC_NHWC;
}

/* A rolling buffer: rows wrap around to the first; the tile below the first begins where the buffer
 * does. */
static void roll(const tc_root *r, const tc_view *v, tc_npu_map *m)
{
    int64_t row = v->at / ((int64_t)r->w * r->c), first = row % r->roll,
            height = v->dim[0];
    m->base[0] -= (uint64_t)((row - first) * m->stride_y);
    if (first + height <= r->roll)
        return;
    m->height0 = m->height1 = (int32_t)(r->roll - first);
    m->base[2] = m->base[0] - (uint64_t)(first * m->stride_y);
}

/* Bytes from one element of an axis to the next; where there is but one, no further than the root
 * goes. */
static int64_t step(const tc_root *r, const tc_view *v, int axis, int64_t e)
{
    int64_t to = v->stride[axis] * e, all = r->count * r->bytes;
    return v->dim[axis] > 1 ? to : ti_max_i64(-all, ti_min_i64(to, all));
}

static void fill(tc_hw *hw, const tc_view *v, tc_npu_map *m, bool written)
{
    const tc_root *r = &hw->root[v->root];
    int64_t e = m->bytes;
    (void)written;
    m->format = r->format;
    m->region = r->region;
    m->storage = TC_STORE_TILES;
    m->width0 = (int32_t)(v->stride[1] ? v->dim[1] : 1);
    m->height0 = m->height1 = (int32_t)(v->stride[0] ? v->dim[0] : 1);
    memset(m->base, 0, sizeof m->base);
    if (r->format == TC_NHWC) {
        m->base[0] = (uint64_t)(v->at * e);
        m->stride_y = step(r, v, 0, e);
        m->stride_x = step(r, v, 1, e);
        m->stride_c = e;
    } else {
        box b = {0};
        box_of(r, v, m, &b);
        m->stride_x = BRICK * e;
        m->stride_c = r->w * BRICK * e;
        m->stride_y = (r->c + BRICK - 1) / BRICK * m->stride_c;
        m->base[0] =
            (uint64_t)(b.y * m->stride_y + b.c / BRICK * m->stride_c + b.x * m->stride_x);
    }
    if (m->height0 < m->h) /* every row is the first one: the tile below is the same one */
        m->base[2] = m->base[0];
    if (r->roll)
        roll(r, v, m);
}

void ti_hw_formats(tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_root; i++) {
        tc_root *r = &hw->root[i];
        bool may = r->kind == TC_ROOT_VALUE && r->h > 0 && r->c >= TC_HW_FEWEST &&
                   (!(hw->ways & TC_WAY_UNPADDED) || r->bricks || r->c % BRICK == 0);
        r->format = may ? TC_NHCWB16 : TC_NHWC;
    }
    for (size_t i = 0; i < hw->n_op; i++)
        for_maps(hw, &hw->op[i], look);
}

bool ti_hw_has_padded(const tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_root; i++)
        if (hw->root[i].format == TC_NHCWB16 && hw->root[i].c % BRICK)
            return true;
    return false;
}

void ti_hw_maps(tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_op; i++)
        for_maps(hw, &hw->op[i], fill);
}

int64_t ti_hw_root_bytes(const tc_root *r)
{
    bool bricks = r->format == TC_NHCWB16;
    int64_t c = bricks ? (r->c + BRICK - 1) / BRICK * BRICK : r->c, rows = r->roll ? r->roll : r->h;
    return bricks || r->roll ? rows * r->w * c * r->bytes : r->count * r->bytes;
}
