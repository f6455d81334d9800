/* SPDX-License-Identifier: Apache-2.0 */
/* cascade_plan.c -- where a run of steps is cut into cascades, when the fast memory is small.
 *
 * A value between two pieces is kept there, or goes to the slow memory and comes back; one within a
 * piece is a rolling buffer.  All that a piece needs at the same time must fit.  Of all ways to cut
 * the one is taken that costs the fewest cycles, each operation as a stripe of average height in a
 * steady stream (stage.c), times its stripes. */
#include "cascade.h"

#include <math.h>

/* Rows of a piece's last operation at a time. */
static const int32_t rows_of[] = {1, 2, 4, 8, 16, 32};

typedef struct way {
    double cycles; /* -1: there is no way */
    int from;
    bool was_slow;
    int32_t rows;
} way;

/* What a piece may need is not known before there are addresses: each is tried. */
typedef struct guess {
    int64_t weights; /* of so many parts of the memory one is kept for weights */
    bool others;     /* values that the run does not touch stay there, too */
} guess;
static const guess guesses[-TC_HW_PLANNED] = {{16, true}, {4, true}, {4, false}};

/* An operation's stripe of so many rows, read from and written to one memory or the other. */
typedef struct stripe {
    struct stripe *next;
    int64_t rows;
    bool slow_in, slow_out;
    tc_npu_job job[2]; /* weights where they are; copied ahead */
} stripe;

typedef struct plan {
    tc_hw *hw;
    const tc_cascade_step *step;
    int64_t room;
    stripe **stripe; /* that were priced before, by operation of the run */
    way at[TC_CASCADE_LONGEST + 1][2]; /* after so many steps; [1]: in the slow memory */
} plan;

/* The value before step k of n; after the last for k = n. */
static const tc_root *value_at(const plan *p, int k, int n)
{
    int32_t root = k < n ? p->step[k].op->ifm.root : p->step[n - 1].op->ofm.root;
    return root >= 0 ? &p->hw->root[root] : NULL;
}

static bool may_lie(const tc_root *r, bool slow)
{
    return r ? slow || r->kind == TC_ROOT_VALUE : !slow; /* none: it goes on in a chain */
}

/* Bytes of the rolling buffers within steps a to b - 1. */
static int64_t rolling(const plan *p, int a, int b, const tc_cascade_size *size)
{
    int64_t bytes = 0;
    for (int k = a; k + 1 < b; k++) {
        tc_root r = p->hw->root[p->step[k].op->ofm.root];
        r.roll = (int32_t)ti_min_i64(r.h, size->room[k - a]);
        bytes += ti_hw_root_bytes(&r);
    }
    return bytes;
}

static const tc_npu_job *job_of(plan *p, const tc_hw_op *whole, int64_t rows, int64_t read,
                                bool slow_in, bool slow_out)
{
    stripe **priced = &p->stripe[whole - p->step->op];
    for (stripe *s = *priced; s; s = s->next)
        if (s->rows == rows && s->slow_in == slow_in && s->slow_out == slow_out)
            return s->job;
    stripe *s = tc_new(p->hw->arena, stripe);
    *s = (stripe){.next = *priced, .rows = rows, .slow_in = slow_in, .slow_out = slow_out};
    tc_hw_op op = *whole;
    uint8_t fast = ti_hw_fast_region(p->hw);
    op.op.ofm.h = (int32_t)rows;
    op.op.ifm.h = op.op.window.ih = (int32_t)read;
    op.op.ifm.region = slow_in ? 1 : fast;
    op.op.ofm.region = slow_out ? 1 : fast;
    op.op.ifm.format = p->hw->root[op.ifm.root].format;
    if (op.ofm.root >= 0)
        op.op.ofm.format = p->hw->root[op.ofm.root].format;
    for (int staged = 0; staged < 2; staged++)
        ti_hw_job(p->hw, &op, staged, &s->job[staged]);
    *priced = s;
    return s->job;
}

/* Cycles of steps a to b - 1 in stripes, with so many bytes for weights. */
static double cycles_of(plan *p, int a, int b, const tc_cascade_size *size, int64_t room,
                        bool slow_in, bool slow_out)
{
    double cycles = 0, slack = 0;
    for (int k = a; k < b; k++)
        for (int i = 0; i < p->step[k].n; i++) {
            const tc_hw_op *op = &p->step[k].op[i];
            bool may_copy = op->weight && ti_hw_weight_bytes(op, op->op.ofm.c) <= room;
            int64_t turns = size->turns[k - a], h = op->op.ofm.h;
            const tc_npu_job *job =
                job_of(p, op, (h + turns - 1) / turns, (size->read[k - a] + turns - 1) / turns,
                       slow_in && k == a, slow_out && k + 1 == b);
            double slack_of[2] = {slack, slack},
                   here = ti_hw_job_cycles(p->hw, &job[0], &slack_of[0]),
                   copied = may_copy ? ti_hw_job_cycles(p->hw, &job[1], &slack_of[1]) : INFINITY;
            slack = slack_of[copied < here];
            cycles += (double)turns * (copied < here ? copied : here);
        }
    return cycles;
}

/* Steps a to b - 1 as one piece. */
static void try_piece(plan *p, int a, int b, int n, int32_t rows)
{
    tc_cascade_size size;
    ti_cascade_measure(&p->step[a], b - a, rows ? rows : p->step[b - 1].op->op.ofm.h, &size);
    const tc_root *in = value_at(p, a, n), *out = value_at(p, b, n);
    int64_t rolled = rolling(p, a, b, &size), in_bytes = in ? ti_hw_root_bytes(in) : 0,
            out_bytes = out ? ti_hw_root_bytes(out) : 0;
    for (int ends = 0; ends < 4; ends++) {
        bool slow_in = ends & 1, slow_out = ends & 2;
        const way *before = &p->at[a][slow_in];
        way *now = &p->at[b][slow_out];
        int64_t held = rolled + (slow_in ? 0 : in_bytes) + (slow_out ? 0 : out_bytes);
        if (before->cycles < 0 || held > p->room || !may_lie(in, slow_in) || !may_lie(out, slow_out))
            continue;
        double cycles = before->cycles + cycles_of(p, a, b, &size, p->room - held, slow_in, slow_out);
        if (now->cycles < 0 || cycles < now->cycles)
            *now = (way){cycles, a, slow_in, rows};
    }
}

/* Bytes that values of other operations take while these run. */
static int64_t taken_by_others(const tc_hw *hw, const tc_hw_op *op, int n)
{
    int64_t most = 0;
    for (int k = 0; k < n; k++) {
        int32_t at = (int32_t)(&op[k] - hw->op);
        int64_t bytes = 0;
        for (size_t i = 0; i < hw->n_root; i++) {
            const tc_root *r = &hw->root[i];
            bool own = (int32_t)i == op[k].ifm.root || (int32_t)i == op[k].ofm.root;
            if (r->kind == TC_ROOT_VALUE && !own && ti_lives_meet(r->life, (tc_life){at, at}))
                bytes += ti_hw_root_bytes(r);
        }
        most = ti_max_i64(most, bytes);
    }
    return most;
}

int ti_cascade_plan(tc_hw *hw, const tc_cascade_step *step, int n, tc_cascade_piece *piece)
{
    int n_op = (int)(step[n - 1].op - step->op) + step[n - 1].n;
    const guess *of = &guesses[hw->rows - TC_HW_PLANNED];
    int64_t all = hw->options->system->cache, bytes = all - all / of->weights;
    if (of->others)
        bytes = ti_max_i64(bytes - taken_by_others(hw, step->op, n_op), 0);
    plan p = {.hw = hw, .step = step, .room = bytes, .stripe = tc_new_n(hw->arena, stripe *, (size_t)n_op)};
    for (int k = 1; k <= n; k++)
        p.at[k][0].cycles = p.at[k][1].cycles = -1;
    for (int b = 1; b <= n; b++)
        for (int a = b - 1; a >= 0; a--)
            for (size_t r = 0; r < TC_COUNT(rows_of) && (a < b - 1 || r == 0); r++)
                try_piece(&p, a, b, n, a < b - 1 ? rows_of[r] : 0);
    int n_piece = 0;
    bool slow = p.at[n][0].cycles < 0 || (p.at[n][1].cycles >= 0 && p.at[n][1].cycles < p.at[n][0].cycles);
    for (int b = n; b > 0;) {
        const way *s = &p.at[b][slow];
        memmove(piece + 1, piece, (size_t)n_piece++ * sizeof *piece);
        piece[0] = (tc_cascade_piece){b - s->from, s->rows};
        slow = s->was_slow;
        b = s->from;
    }
    return n_piece;
}
