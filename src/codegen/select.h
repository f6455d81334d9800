/* SPDX-License-Identifier: Apache-2.0 */
/* select.h -- for the files that select operations: where values are, and how to make operations.
 *
 * A rule is given a TOSA node and appends operations.  It asks for its operands as views
 * (ti_sel_view, which makes them if they were deferred), and for the view to write its result to
 * (ti_sel_result).  What follows the node and fits into the same operation (RESCALE, CLAMP, TABLE)
 * it fuses: ti_sel_tail.  A rule that cannot, refuses: ti_hw_refuse.
 *
 * Booleans are bytes of 0 and 1 wherever they are stored.  U85's comparisons give 0 and -1: an AND
 * makes bits of them, unless SELECT reads them, which wants them so (select_logic.c). */
#ifndef TC_SELECT_H
#define TC_SELECT_H

#include "hw.h"

/* Factors and shifts by channel, as operations have them. */
typedef struct tc_sel_channel_scales {
    struct tc_sel_channel_scales *next; /* of the same multipliers */
    tc_val shifts;
    int64_t c;
    bool is_short, fit; /* of 15 bits; all of them are */
    int32_t *factor;
    uint8_t *shift;
} tc_sel_channel_scales;

/* What is known of a value of the region. */
typedef struct tc_sel_value {
    bool placed; /* `view` counts */
    bool made;   /* operations that write it exist, or it needs none */
    tc_view view;
    const tc_node *put_off; /* a deferred RESCALE that its reader may fuse; or NULL */
    const tc_node *pad;     /* a deferred PAD, which an elementwise reader need not make; or NULL */
    bool asked; /* a deferred RESCALE that the current reader needs made: it cannot be fused */
    bool lazy; /* not made yet: `view` is what it moves, channels not contiguous */
    bool taken;             /* its node is part of another operation */
    int32_t readers;        /* nodes, and outputs of the region */
    const tc_node *reader;  /* the last of the nodes */
    int64_t part;           /* where it begins in the reader's result, on the axis of a CONCAT */
    const int64_t *numbers;        /* of a constant, once they were read; else NULL */
    tc_sel_channel_scales *scales; /* made of it as multipliers of a RESCALE */
} tc_sel_value;

typedef struct tc_sel {
    tc_hw *hw;
    const tc_graph *g;
    tc_sel_value *value; /* by id */
    bool inner; /* a graph that control flow runs, not the region itself */
} tc_sel;

typedef void tc_select_rule(tc_sel *s, const tc_node *node);
#define SELECT(op, rule) tc_select_rule ti_npu_select_##rule;
#include "select.def"

/* ---- values ---- */

/* The value where it is stored; constants become roots, what was deferred is made. */
tc_view ti_sel_view(tc_sel *s, tc_val v);
/* The same where any strides will do: a lazy TRANSPOSE is not made. */
tc_view ti_sel_any_view(tc_sel *s, tc_val v);
/* The view that the value is to be written to: a part of a CONCAT that reads it, else a root of
 * its own.  Marks it made. */
tc_view ti_sel_result(tc_sel *s, tc_val v);
/* A view for working values: a dense root. */
tc_view ti_sel_working(tc_sel *s, const char *name, uint8_t bytes, int32_t rank, const int64_t *dim);
/* What it is called: its own name, its node's, or its operator's. */
const char *ti_sel_name(const tc_sel *s, tc_val v);
/* The value is this view. */
void ti_sel_is(tc_sel *s, tc_val v, tc_view view);

/* Whether two views of one shape are the same elements. */
bool ti_sel_same_place(const tc_view *a, const tc_view *b);

/* The operations of another graph of the module: its inputs are made, its outputs have views
 * that none of its inputs shares. */
void ti_sel_graph(tc_hw *hw, const tc_node *node, const tc_graph *g, const tc_view *in,
                  const tc_view *out);

/* Bytes of an element, and its sign. */
uint8_t ti_sel_bytes(const tc_sel *s, tc_val v);
tc_dtype ti_sel_dtype(const tc_sel *s, tc_val v);

/* The RESCALE after a TABLE to 32 bits that makes it one to 16; or NULL. */
const tc_node *ti_sel_to_16_bits(tc_sel *s, const tc_node *table);
/* Leaves a RESCALE to 32 bits to its readers; false: they could not fuse it. */
bool ti_sel_put_off(tc_sel *s, const tc_node *rescale);
/* k, where a deferred RESCALE makes the value x 2^k, k > 0, of 8 or 16 bits; else 0. */
int ti_sel_moved_left(tc_sel *s, tc_val v);
/* A RESCALE that no other operation fuses (select_rescale.c). */
tc_select_rule ti_npu_select_rescale_alone;
/* A PAD that no reader does without (select_move.c). */
tc_select_rule ti_npu_select_pad_made;
/* CLAMP and TABLE of 8 and 16 bits by themselves. */
tc_select_rule ti_npu_select_pointwise;

/* A constant's elements as int64, in the arena, the same for every reader; NULL: it is none. */
const int64_t *ti_sel_numbers(tc_sel *s, tc_val v, int64_t *n);
int64_t ti_sel_number(tc_sel *s, tc_val v); /* its first one; what is no constant is refused */

/* The one node that reads the value, where nothing else does; NULL otherwise. */
const tc_node *ti_sel_only_reader(const tc_sel *s, tc_val v);

/* A constant tensor of our own in region 0. */
tc_view ti_sel_constant(tc_sel *s, const char *name, uint8_t bytes, int32_t rank,
                        const int64_t *dim, const void *data);

/* ---- RESCALE ---- */

typedef struct tc_sel_scale {
    int64_t n; /* factors: 1, or a channel each */
    const int64_t *factor, *shift;
    int32_t in_zero, out_zero;
    bool in_signed, out_signed;
    tc_npu_round round; /* DOUBLE or NATURAL */
} tc_sel_scale;
bool ti_sel_scale(tc_sel *s, const tc_node *rescale, tc_sel_scale *out);
/* factor / 2^shift in lowest terms. */
void ti_sel_reduce(int64_t *factor, int64_t *shift);

/* ---- operations ---- */

/* A new operation with default settings: factors of one, rounding natural, no table, one tap. */
tc_hw_op ti_sel_op(const tc_sel *s, const tc_node *node, tc_npu_kind kind, uint8_t mode);

/* Fills ifm, ifm2, ofm: element type, sign, zero point. */
void ti_sel_map(tc_npu_map *m, uint8_t bytes, bool is_signed, int32_t zero);

/* What comes after the value that `op` computes: the RESCALE (if the value may be scaled:
 * `scaled`), CLAMP and TABLE that only read it go into the operation.  Gives the value that the
 * operation writes in the end; sets ofm's type, scale, bounds and table.  acc: the value is an
 * accumulator whose RESCALE may be per channel (factors go into op->factor, op->shift). */
typedef struct tc_sel_tail {
    bool scaled;  /* OFM_SCALE is free for a RESCALE */
    bool shifted; /* only its shift is; otherwise only a RESCALE of factor one */
    bool below_30; /* no result has more than 30 bits: a factor of 1 + 2^-30 sends halves away from
                      zero and does nothing else */
    bool channel; /* and per channel, in a scale stream */
    bool bounds;  /* CLAMP and TABLE, too */
} tc_sel_tail;
tc_val ti_sel_take_tail(tc_sel *s, tc_hw_op *op, tc_val v, tc_sel_tail may);
/* The view of that value in the shape of the node's own result: RESHAPEs may be between them. */
tc_view ti_sel_result_of(tc_sel *s, const tc_node *node, tc_val v);

/* Sums as they are: of every channel the factor one. */
void ti_sel_unit_scales(tc_sel *s, tc_hw_op *op, int64_t channels);

/* The output as the value's type has it: 8 and 16 bits saturate, 32 do not; no zero point. */
void ti_sel_plain_output(tc_sel *s, tc_npu_op *op, tc_val v);
void ti_sel_plain_type(tc_sel *s, tc_npu_op *op, uint8_t bytes);

void ti_sel_emit(tc_sel *s, const tc_hw_op *op);

/* The operation on every part of its views; views of any rank and equal extents (ifm2 may have no
 * root).  Sets h, w, c and broadcasts of the maps. */
void ti_sel_emit_parts(tc_sel *s, const tc_hw_op *op, const tc_view *ifm, const tc_view *ifm2,
                       const tc_view *ofm);

/* Copies elements of 1, 2, 4 or 8 bytes, views of equal extents. */
void ti_sel_copy(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to);

/* An image of the caller's, int8 [1][h][w][c] of few channels that are apart, columns
 * contiguous. */
bool ti_sel_is_image(const tc_hw *hw, const tc_view *v);
/* Its planes into [1][h][w / q][c q], q columns as channels. */
void ti_sel_copy_planes(tc_sel *s, const tc_node *node, const tc_view *image, const tc_view *to);
/* A lazy TRANSPOSE, made: ti_sel_copy, or of an image plane by plane where that costs less. */
void ti_sel_copy_moved(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to);

/* ti_sel_copy where `from` is broadcast (strides of 0). */
void ti_sel_spread(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to);
/* One value everywhere. */
void ti_sel_fill(tc_sel *s, const tc_node *node, const tc_view *to, int64_t value);

/* ---- elementwise operations, one by one (select_eltwise.c) ---- */

typedef struct tc_sel_operand {
    tc_view view;   /* no root: `number` */
    bool is_number; /* a constant of one element */
    int64_t number;
    uint8_t bytes;
    bool is_signed;
    int32_t zero;
    int64_t factor, shift;
    uint8_t double_bits; /* shifted left by so many before it is scaled and rounded twice */
    tc_npu_round round;
    const tc_node *put_off; /* the RESCALE that was fused; or NULL */
    const tc_node *pad;     /* the PAD of one axis around the view that was not made; or NULL */
    tc_val constant;        /* of several elements; or TC_NONE */
} tc_sel_operand;

tc_sel_operand ti_sel_operand(tc_sel *s, tc_val v);
/* The same before a deferred RESCALE of factor one. */
tc_sel_operand ti_sel_operand_before(tc_sel *s, tc_val v);
tc_sel_operand ti_sel_operand_of(const tc_view *v, uint8_t bytes);
tc_sel_operand ti_sel_operand_number(int64_t number, uint8_t bytes);

/* The neutral number for x, of 8 or 16 bits: in a sum (U85), or in the maximum of both, which is
 * quicker on U55. */
tc_sel_operand ti_sel_operand_same(const tc_sel *s, const tc_sel_operand *x);

/* An elementwise operation whose results of `bytes` keep their low bits: U55 has no such results
 * of 8 and 16 bits, where they saturate. */
tc_hw_op ti_sel_eltwise(const tc_sel *s, const tc_node *node, tc_npu_eltwise mode, uint8_t bytes);
/* a and b broadcast to the result's view; of an operation with one operand, b is NULL. */
void ti_sel_combine(tc_sel *s, tc_hw_op *op, bool commutes, const tc_sel_operand *a,
                    const tc_sel_operand *b, const tc_view *to);
/* The same into a working view as large as a and b ask for, as the next one's operand. */
tc_sel_operand ti_sel_step(tc_sel *s, tc_hw_op *op, bool commutes, const tc_sel_operand *a,
                           const tc_sel_operand *b);
/* The operand in 32 bits (x + 0, a constant at compile time); what has them already is returned. */
tc_sel_operand ti_sel_widened(tc_sel *s, const tc_node *node, const tc_sel_operand *a);

/* U55: the low bits of x, of 32 bits, 0 < bits < 32 (select_shift.c). */
void ti_sel_low_bits(tc_sel *s, const tc_node *node, const tc_sel_operand *x, int64_t bits,
                     const tc_view *to);

/* ---- windows (select_conv.c) ---- */

/* The value with its channels contiguous; a copy where they are not. */
tc_view ti_sel_channels(tc_sel *s, const tc_node *node, tc_val v);
/* The same for an operation whose map has a zero point: int8 codes that are stored as uint8 ones
 * are read as such. */
tc_view ti_sel_codes(tc_sel *s, const tc_node *node, tc_val v, tc_npu_map *map);

/* ---- reductions (select_reduce.c) ---- */

/* A pool whose window is the axis: from [..., length, ...] to [..., 1, ...], axis of both the same;
 * 8 and 16 bits. */
void ti_sel_pool_axis(tc_sel *s, const tc_hw_op *op, tc_view from, tc_view to, int32_t axis);
/* MAX or MIN, as a pool or elementwise, of so many bytes. */
tc_hw_op ti_sel_extreme(tc_sel *s, const tc_node *node, tc_npu_kind kind, uint8_t mode,
                        uint8_t bytes);
/* Whether that may be done by halves: of what fits a fast memory that is limited (else halves
 * come and go, which the price of a form does not know). */
bool ti_sel_may_halve(const tc_sel *s, const tc_view *x);
/* The largest (the smallest) element along the axis: of the two halves, again and again, by op.  A
 * table that op has is the last one's. */
void ti_sel_halves(tc_sel *s, const tc_hw_op *op, tc_view x, tc_view to, int32_t axis);

/* What is stored, within which bounds, and through which table, as the other has it. */
void ti_sel_store_like(tc_hw_op *op, const tc_hw_op *like);
/* U85: x of 8 bits, pixels by each other over all channels, as `sum` stores them, those by themselves
 * to `to`.  false: it cannot be done so (select_matmul.c). */
bool ti_sel_pixel_products(tc_sel *s, const tc_hw_op *sum, const tc_view *x, const tc_view *to);

/* Sums of 32 bits by the factor, shift and bounds that an operation would have: a product. */
void ti_sel_scale_sums(tc_sel *s, const tc_hw_op *scaled, const tc_view *sums, const tc_view *to);

/* A pool of one tap that changes nothing but its output stage: U55's AVERAGE, U85's SUM. */
tc_hw_op ti_sel_pointwise(const tc_sel *s, const tc_node *node);
/* U55: what does the same to 8 and 16 bits without factors, quicker: the larger of x and the least
 * value of the type. */
void ti_sel_as_maximum(tc_npu_op *op);

#endif
