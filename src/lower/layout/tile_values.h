/* SPDX-License-Identifier: Apache-2.0 */
/* tile_values.h -- a tile of a value of the typed form, computed from tiles of its operands.
 *
 * Through movement always; through matrix products, softmax and elementwise operators if their
 * results have no other reader; elsewhere as a slice of the whole value.  A tile is computed
 * once. */
#ifndef TC_TILE_VALUES_H
#define TC_TILE_VALUES_H

#include "strided_slice.h"
#include "typed_move.h"

#include "../../ir/rewrite.h"

typedef struct tc_tiler {
    tc_rewrite *rw;
    tc_build b;
    tc_map made;      /* (old value, selection) -> value of the new graph */
    bool *inner;      /* by old value: part of an attention, with no reader outside */
    int64_t together; /* attention: batches that one piece holds at least */
} tc_tiler;

/* The tiler of a walk at one of its nodes; it finds the inner values at first use. */
tc_tiler *ti_tiler_at(tc_tiler *t, tc_rewrite *rw, const tc_node *node);

/* The selected elements of an old value; the result has the counts as extents. */
tc_val ti_tile(tc_tiler *t, tc_val old, const tc_select *s);

/* The same whatever its other readers, and none when it cannot be computed by parts: the whole need
 * not exist. */
tc_val ti_tile_computed(tc_tiler *t, tc_val old, const tc_select *s);

/* Some batches of a linear layer over merged heads (below): [count, t, c]. */
tc_val ti_tile_projection(tc_tiler *t, const tc_node *linear, tc_range batch);

/* stacked_attention.c: the whole of such a layer, all heads and batches of its attention at
 * once; none when the attention cannot be done so. */
tc_val ti_tile_stacked(tc_tiler *t, const tc_node *linear);
/* Whether its scores are few enough for that; if not, the batches in one piece of the attention
 * before `o`. */
bool ti_tile_stacks(const tc_tiler *t, const tc_node *linear);
int64_t ti_tile_together(const tc_tiler *t, tc_val o);

/* The layer over stacked heads, [1, heads, rows, d], as a convolution down the column: [1, 1, rows,
 * c]. */
tc_val ti_tile_down(tc_tiler *t, const tc_node *linear, tc_val x);

/* The tiles made of an old value, by selection; and whether parts of it come from parts of a
 * product, so that everything in between is done by parts too. */
void **ti_tile_place(tc_tiler *t, tc_val old, const tc_select *s);
bool ti_tile_from_product(const tc_tiler *t, tc_val old);

/* The operator only moves elements. */
bool ti_tile_moves(const tc_node *node);

/* linear(reshape(permute(o))) where o is [b,h,t,d] and the permute makes [b,t,h,d] of it: o, else
 * none. */
tc_val ti_merged_heads(const tc_graph *g, const tc_node *linear);

#endif
