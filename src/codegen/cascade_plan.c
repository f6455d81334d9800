/* SPDX-License-Identifier: Apache-2.0 */
/* cascade_plan.c -- where a run of operations is cut into cascades, when the fast memory is small.
 *
 * A value between two pieces is kept there, or goes to the slow memory and comes back; one within a
 * piece is a rolling buffer.  All that a piece needs at the same time must fit.  Of all ways to cut
 * the one is taken that moves the fewest bytes through the slow memory, where weights come from
 * too, in every stripe. */
#include "cascade.h"

/* Rows of a piece's last operation at a time. */
static const int32_t rows_of[] = {1, 2, 4, 8, 16};

/* What beginning an operation costs, as bytes. */
enum { BEGIN = 2048 };

typedef struct step {
    int64_t moved; /* bytes; -1: there is no way */
    int from;
    bool was_slow;
    int32_t rows;
} step;

typedef struct plan {
    const tc_hw *hw;
    const tc_hw_op *op;
    int64_t room;
    step at[TC_CASCADE_LONGEST + 1][2]; /* after so many operations; [1]: in the slow memory */
} plan;

/* The value before operation k of n; after the last for k = n. */
static const tc_root *value_at(const plan *p, int k, int n)
{
    int32_t root = k < n ? p->op[k].ifm.root : p->op[n - 1].ofm.root;
    return root >= 0 ? &p->hw->root[root] : NULL;
}

static bool may_lie(const tc_root *r, bool slow)
{
    return r ? slow || r->kind == TC_ROOT_VALUE : !slow; /* none: it goes on in a chain */
}

static int64_t weight_bytes(const tc_hw_op *op)
{
    return op->weight ? ti_hw_weight_bytes(op, op->op.ofm.c) : 0;
}

/* Bytes of the rolling buffers within operations a to b - 1. */
static int64_t rolling(const plan *p, int a, int b, const tc_cascade_size *size)
{
    int64_t bytes = 0;
    for (int k = a; k + 1 < b; k++) {
        tc_root r = p->hw->root[p->op[k].ofm.root];
        r.roll = (int32_t)ti_min_i64(r.h, size->room[k - a]);
        bytes += ti_hw_root_bytes(&r);
    }
    return bytes;
}

/* Operations a to b - 1 as one piece. */
static void try_piece(plan *p, int a, int b, int n, int32_t rows)
{
    tc_cascade_size size;
    ti_cascade_measure(&p->op[a], b - a, rows ? rows : p->op[b - 1].op.ofm.h, &size);
    const tc_root *in = value_at(p, a, n), *out = value_at(p, b, n);
    int64_t rolled = rolling(p, a, b, &size), again = 0,
            in_bytes = in ? ti_hw_root_bytes(in) : 0, out_bytes = out ? ti_hw_root_bytes(out) : 0,
            in_read = in && in->h ? in_bytes / in->h * size.read[0] : in_bytes;
    for (int k = a; k < b; k++)
        again += size.turns[k - a] * (weight_bytes(&p->op[k]) + BEGIN);
    for (int way = 0; way < 4; way++) {
        bool slow_in = way & 1, slow_out = way & 2;
        const step *before = &p->at[a][slow_in];
        step *now = &p->at[b][slow_out];
        int64_t held = rolled + (slow_in ? 0 : in_bytes) + (slow_out ? 0 : out_bytes);
        if (before->moved < 0 || held > p->room || !may_lie(in, slow_in) || !may_lie(out, slow_out))
            continue;
        int64_t moved = before->moved + again + (slow_in ? in_read : 0) + (slow_out ? out_bytes : 0);
        if (now->moved < 0 || moved < now->moved)
            *now = (step){moved, a, slow_in, rows};
    }
}

int ti_cascade_plan(const tc_hw *hw, const tc_hw_op *op, int n, tc_cascade_piece *piece)
{
    plan p = {.hw = hw, .op = op, .room = hw->options->system->cache / 16 * 15}; /* weights need some, too */
    for (int k = 1; k <= n; k++)
        p.at[k][0].moved = p.at[k][1].moved = -1;
    for (int b = 1; b <= n; b++)
        for (int a = b - 1; a >= 0; a--)
            for (size_t r = 0; r < TC_COUNT(rows_of) && (a < b - 1 || r == 0); r++)
                try_piece(&p, a, b, n, a < b - 1 ? rows_of[r] : 0);
    int n_piece = 0;
    bool slow = p.at[n][0].moved < 0 || (p.at[n][1].moved >= 0 && p.at[n][1].moved < p.at[n][0].moved);
    for (int b = n; b > 0;) {
        const step *s = &p.at[b][slow];
        memmove(piece + 1, piece, (size_t)n_piece++ * sizeof *piece);
        piece[0] = (tc_cascade_piece){b - s->from, s->rows};
        slow = s->was_slow;
        b = s->from;
    }
    return n_piece;
}
