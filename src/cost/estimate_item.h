/* SPDX-License-Identifier: Apache-2.0 */
/* estimate_item.h -- what the files of estimates share: operations that are guessed, and what is
 * known of the values. */
#ifndef TC_ESTIMATE_ITEM_H
#define TC_ESTIMATE_ITEM_H

#include "estimate.h"

enum { TC_GUESS_NONE = -1 };

/* An operation that a stream would have. */
typedef struct tc_guess {
    tc_npu_op op;
    const tc_node *node;
    tc_val out;
    bool activated; /* has a table or a clamp */
    bool sums;      /* 32-bit sums that a rescale may join */
} tc_guess;

typedef struct tc_guesser {
    tc_arena *arena;
    const tc_graph *g;
    const uint32_t *readers;
    const bool *pinned;
    const tc_npu_machine *m;
    const tc_npu_system *s;
    tc_estimate_memo *memo;
    tc_guess *item;
    size_t n, cap;
    int32_t *maker;         /* by value: the item that makes it */
    tc_val *storage;        /* by value: the one whose elements are read */
    bool *flat;             /* by value: it is read in another shape somewhere */
    const tc_node **reader; /* by value: its last */
    size_t unknown, next;
    bool rest; /* of the next: its first slice was given */
} tc_guesser;

static inline bool ti_guess_u85(const tc_guesser *e)
{
    return e->m->product == TC_U85;
}

/* estimate_item.c: bytes of an element; an extent that fits; whether a value lies in bricks; a
 * value as a map. */
uint8_t ti_guess_bytes(const tc_type *type);
int32_t ti_guess_extent(int64_t n);
bool ti_guess_bricks(const tc_guesser *e, tc_val v);
tc_npu_map ti_guess_map(const tc_guesser *e, tc_val v);

/* A further operation, good until the next; the value that it makes; that it changes the scale; a
 * pool of one element: a copy, a rescale, a table. */
tc_guess *ti_guess_add(tc_guesser *e, const tc_node *node, tc_npu_kind kind, uint8_t mode);
void ti_guess_makes(tc_guesser *e, tc_guess *i, tc_val v);
void ti_guess_scaled(tc_guess *i);
tc_guess *ti_guess_copy(tc_guesser *e, const tc_node *node, tc_val in, tc_val out);

/* estimate_window.c */
void ti_guess_conv(tc_guesser *e, const tc_node *node);
void ti_guess_pool(tc_guesser *e, const tc_node *node);
void ti_guess_transpose(tc_guesser *e, const tc_node *node);
void ti_guess_matmul(tc_guesser *e, const tc_node *node);
void ti_guess_reduce(tc_guesser *e, const tc_node *node);

#endif
