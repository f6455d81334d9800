/* SPDX-License-Identifier: Apache-2.0 */
/* cascade.c -- cascades: steps striped by rows; each computes some rows of its output as soon as the
 * step before it has made what they need.
 *
 * Of a value between two of them only the rows that are still needed are kept: its root is a
 * rolling buffer.  A step is an operation, or several that each make some channels of one value; steps
 * in a row, each the only reader of the one before; the last may begin a chain.  Weights are read again
 * for every stripe. */
#include "cascade.h"

typedef struct uses {
    int32_t written, read; /* operations */
} uses;

static uses *count_uses(tc_hw *hw)
{
    uses *u = tc_new_n(hw->arena, uses, hw->n_root + 1);
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        if (op->ifm.root >= 0)
            u[op->ifm.root].read++;
        if (op->ifm2.root >= 0)
            u[op->ifm2.root].read++;
        if (op->ofm.root >= 0)
            u[op->ofm.root].written++;
    }
    return u;
}

/* A window over one image whose rows can be computed by themselves. */
static bool by_rows(const tc_hw *hw, const tc_hw_op *op)
{
    const tc_npu_op *o = &op->op;
    bool average = o->kind == TC_NPU_KIND_POOL && o->mode == TC_POOL_AVERAGE;
    bool kind = (o->kind == TC_NPU_KIND_CONV && !o->weights_ifm2) ||
                o->kind == TC_NPU_KIND_DEPTHWISE ||
                (o->kind == TC_NPU_KIND_POOL && (o->mode == TC_POOL_MAX || average));
    /* U55 divides by what is inside only where there is padding at all. */
    bool divides = average && !ti_hw_is_u85(hw) && (o->window.top || o->window.bottom);
    return kind && !divides && !o->window.upscale && !o->transpose && !o->reverse &&
           o->acc_input == 0 && o->acc_output && op->ifm.root >= 0 && !op->joins;
}

/* All rows of the root, and some or all channels. */
static bool all_rows(const tc_hw *hw, const tc_view *v)
{
    const tc_root *r = &hw->root[v->root];
    int64_t row = (int64_t)r->w * r->c;
    return r->kind == TC_ROOT_VALUE && r->h > 1 && v->dim[0] == r->h && v->dim[1] == r->w &&
           v->at + v->dim[2] <= r->c && v->stride[0] == row && (r->w == 1 || v->stride[1] == r->c) &&
           (v->dim[2] == 1 || v->stride[2] == 1);
}

static bool same_rows(const tc_hw_op *a, const tc_hw_op *b)
{
    const tc_npu_window *v = &a->op.window, *w = &b->op.window;
    return v->kh == w->kh && v->stride_y == w->stride_y && v->dilation_y == w->dilation_y &&
           v->top == w->top && v->bottom == w->bottom && a->op.ifm.h == b->op.ifm.h &&
           a->op.ofm.h == b->op.ofm.h;
}

/* The operations from i on that make all of one value out of another one, some channels each; else
 * one; none: it cannot be striped. */
static int step_length(const tc_hw *hw, const uses *u, size_t i)
{
    const tc_hw_op *first = &hw->op[i];
    int32_t root = first->ofm.root;
    int n = 0;
    if (!by_rows(hw, first))
        return 0;
    if (root < 0 || u[root].written == 1)
        return 1;
    for (int64_t channels = 0; n < u[root].written; n++) {
        const tc_hw_op *op = first + n;
        if (i + (size_t)n >= hw->n_op || !by_rows(hw, op) || op->ofm.root != root ||
            op->ifm.root != first->ifm.root || !same_rows(op, first) || !all_rows(hw, &op->ofm))
            return 1;
        channels += op->ofm.dim[2];
        if (n + 1 == u[root].written && channels != hw->root[root].c)
            return 1;
    }
    return n;
}

/* b reads what a writes, all of its rows, and nothing else does. */
static bool follows(const tc_hw *hw, const uses *u, const tc_cascade_step *a, const tc_cascade_step *b)
{
    int32_t root = a->op->ofm.root;
    if (root < 0 || u[root].written != a->n || u[root].read != b->n)
        return false;
    for (int k = 0; k < a->n; k++)
        if (!all_rows(hw, &a->op[k].ofm))
            return false;
    for (int k = 0; k < b->n; k++)
        if (b->op[k].ifm.root != root || !all_rows(hw, &b->op[k].ifm))
            return false;
    return true;
}

/* ---- stripes ---- */

typedef struct cascade {
    tc_hw *hw;
    const tc_cascade_step *step;
    int n;
    bool counts; /* stripes are only counted, not emitted */
    size_t tail; /* operations after the last step that are its chain */
    int64_t done[TC_CASCADE_LONGEST]; /* rows */
    int32_t first[TC_CASCADE_LONGEST]; /* 1 + the place of its first operation */
    tc_cascade_size size;
    tc_hw_op *list;
    size_t n_list, cap_list;
} cascade;

static void rows_needed(const tc_hw_op *op, int64_t y0, int64_t y1, int64_t *lo, int64_t *hi)
{
    const tc_npu_window *w = &op->op.window;
    *lo = ti_max_i64(0, y0 * w->stride_y - w->top);
    *hi = ti_min_i64(op->op.ifm.h, (y1 - 1) * w->stride_y + (int64_t)(w->kh - 1) * w->dilation_y +
                                       1 - w->top);
}

static void add(cascade *c, const tc_hw_op *op)
{
    tc_grow(c->hw->arena, c->list, c->n_list, c->cap_list);
    c->list[c->n_list++] = *op;
}

static void slice_rows(tc_view *v, tc_npu_map *m, int64_t y0, int64_t rows)
{
    if (v->root >= 0 && v->dim[0] > 1)
        *v = ti_view_slice(v, 0, y0, rows);
    if (m->h > 1)
        m->h = (int32_t)rows;
}

/* Rows [y0, y1) of an operation. */
static tc_hw_op rows_of(const tc_hw_op *whole, int64_t y0, int64_t y1)
{
    tc_hw_op op = *whole;
    tc_npu_window *w = &op.op.window;
    int64_t lo, hi, rows = y1 - y0;
    rows_needed(&op, y0, y1, &lo, &hi);
    w->top = (int32_t)ti_max_i64(0, w->top - y0 * w->stride_y);
    w->ih = (int32_t)(hi - lo);
    w->bottom = (int32_t)((rows - 1) * w->stride_y + (int64_t)(w->kh - 1) * w->dilation_y + 1 -
                          w->top - w->ih);
    op.ifm = ti_view_slice(&op.ifm, 0, lo, hi - lo);
    op.op.ifm.h = (int32_t)(hi - lo);
    if (op.ofm.root >= 0)
        op.ofm = ti_view_slice(&op.ofm, 0, y0, rows);
    op.op.ofm.h = (int32_t)rows;
    return op;
}

/* The same of one that is chained behind. */
static tc_hw_op chained_rows_of(const tc_hw_op *whole, int64_t y0, int64_t y1)
{
    tc_hw_op op = *whole;
    slice_rows(&op.ifm, &op.op.ifm, y0, y1 - y0);
    slice_rows(&op.ifm2, &op.op.ifm2, y0, y1 - y0);
    slice_rows(&op.ofm, &op.op.ofm, y0, y1 - y0);
    return op;
}

/* Rows [y0, y1) of step k. */
static void take_turn(cascade *c, int k, int64_t y0, int64_t y1)
{
    const tc_cascade_step *s = &c->step[k];
    int32_t like = c->first[k];
    int n = s->n + (k == c->n - 1 ? (int)c->tail : 0);
    if (!like)
        c->first[k] = (int32_t)c->n_list + 1;
    for (int i = 0; i < n; i++) {
        tc_hw_op op = i < s->n ? rows_of(&s->op[i], y0, y1) : chained_rows_of(&s->op[i], y0, y1);
        op.like = like ? like + i : 0;
        op.turns = true;
        add(c, &op);
    }
}

static void make(cascade *c, int k, int64_t y1)
{
    if (c->done[k] >= y1)
        return;
    int64_t lo, hi;
    rows_needed(c->step[k].op, c->done[k], y1, &lo, &hi);
    if (k) {
        make(c, k - 1, hi);
        c->size.room[k - 1] = ti_max_i64(c->size.room[k - 1], c->done[k - 1] - lo);
    }
    c->size.turns[k]++;
    c->size.read[k] += hi - lo;
    if (!c->counts)
        take_turn(c, k, c->done[k], y1);
    c->done[k] = y1;
}

static void take_turns(cascade *c, int32_t rows)
{
    int64_t height = c->step[c->n - 1].op->op.ofm.h;
    memset(c->done, 0, sizeof c->done);
    memset(c->first, 0, sizeof c->first);
    c->size = (tc_cascade_size){{0}, {0}, {0}};
    for (int64_t y = 0; y < height; y += rows)
        make(c, c->n - 1, ti_min_i64(height, y + rows));
}

void ti_cascade_measure(const tc_cascade_step *step, int n, int32_t rows, tc_cascade_size *out)
{
    cascade c = {.step = step, .n = n, .counts = true};
    take_turns(&c, rows);
    *out = c.size;
}

static void expand(cascade *c, int32_t rows)
{
    take_turns(c, rows);
    for (int k = 0; k + 1 < c->n; k++) {
        tc_root *r = &c->hw->root[c->step[k].op->ofm.root];
        r->roll = (int32_t)ti_min_i64(r->h, c->size.room[k]);
    }
}

/* The steps from operation i on that can be striped. */
static int find_run(const tc_hw *hw, const uses *u, size_t i, tc_cascade_step *step)
{
    int n = 0;
    while (n < TC_CASCADE_LONGEST && i < hw->n_op) {
        step[n] = (tc_cascade_step){&hw->op[i], step_length(hw, u, i)};
        if (!step[n].n || (n && !follows(hw, u, &step[n - 1], &step[n])))
            break;
        i += (size_t)step[n].n;
        if (step[n++].op->op.ofm.storage == TC_STORE_CHAIN) /* it begins a chain, and ends here */
            break;
    }
    return n;
}

/* How many bytes of the run's values a rolling buffer would replace: where that is little, striping
 * only costs. */
static int64_t between(const tc_hw *hw, const tc_cascade_step *step, int n)
{
    int64_t most = 0;
    for (int k = 0; k + 1 < n; k++)
        most = ti_max_i64(most, ti_hw_root_bytes(&hw->root[step[k].op->ofm.root]));
    return most;
}

/* The steps of a piece as they are, or as a cascade in stripes. */
static bool add_piece(cascade *c, const tc_cascade_step *step, const tc_cascade_piece *p)
{
    c->step = step;
    c->n = p->n;
    if (p->rows)
        expand(c, p->rows);
    for (int k = 0; k < p->n && !p->rows; k++) {
        int n = step[k].n + (k + 1 == p->n ? (int)c->tail : 0);
        for (int i = 0; i < n; i++)
            add(c, &step[k].op[i]);
    }
    return p->rows != 0;
}

bool ti_hw_cascades(tc_hw *hw)
{
    bool found = false;
    if (!hw->rows)
        return false;
    const uses *u = count_uses(hw);
    int64_t most = 0;
    ti_hw_live(hw);
    for (size_t i = 0; i < hw->n_root; i++)
        if (hw->root[i].kind == TC_ROOT_VALUE)
            most = ti_max_i64(most, ti_hw_root_bytes(&hw->root[i]));
    cascade c = {.hw = hw,
                 .list = tc_new_n(hw->arena, tc_hw_op, hw->n_op + 1), /* room at once */
                 .cap_list = hw->n_op + 1};
    for (size_t i = 0; i < hw->n_op;) {
        tc_cascade_step run[TC_CASCADE_LONGEST], *step = run;
        int n = find_run(hw, u, i, run), n_piece = 1;
        if (!n)
            run[0] = (tc_cascade_step){&hw->op[i], 1};
        bool turns = n >= 2 && between(hw, run, n) >= most / 4;
        tc_cascade_piece piece[TC_CASCADE_LONGEST] = {{n ? n : 1, turns ? hw->rows : 0}};
        if (hw->rows < 0)
            n_piece = n >= 2 ? ti_cascade_plan(hw, run, n, piece) : 1;
        for (int k = 0; k < n_piece; k++, step += piece[k - 1].n) {
            for (int j = 0; j < piece[k].n; j++)
                i += (size_t)step[j].n;
            c.tail = 0;
            while (k + 1 == n_piece && i + c.tail < hw->n_op && hw->op[i + c.tail].joins)
                c.tail++;
            found |= add_piece(&c, step, &piece[k]);
            i += c.tail;
        }
    }
    hw->op = c.list;
    hw->n_op = c.n_list;
    hw->cap_op = c.cap_list;
    return found;
}
