/* SPDX-License-Identifier: Apache-2.0 */
/* carry_unsigned.c -- RESCALE instead of conversions between uint8 and int8 codes.
 *
 *   RESCALE(cast(x, i16))         RESCALE(x), which reads x without its sign
 *   cast(RESCALE(y), u8)          RESCALE(y), which writes without one, where no number is past 0..255
 *   QUANTIZE between u8 and i8    the same two, where a .tflite is written from one
 *
 * TOSA has no u8; a region has it as i8 of the same bytes (ti_type_carried). */
#include "../lower_pass.h"

#include "../../ir/build.h"
#include "../../num/load.h"

enum { HALF = 128, ONE = 1 << 30, ONE_SHIFT = 30 };

static bool is_cast(const tc_graph *g, const tc_node *node, tc_dtype from, tc_dtype to)
{
    return node && node->op == TC_OP_cast && ti_type_of(g, node->in[0])->dtype == from &&
           ti_type_of(g, node->out[0])->dtype == to;
}

static bool is_signed(const tc_node *node)
{
    const tc_attr_tosa_rescale *a = node->attr;
    return node->op == TC_OP_tosa_rescale && !a->input_unsigned && !a->output_unsigned;
}

static bool is_number(const tc_graph *g, tc_val v, int64_t number)
{
    return ti_is_const(g, v) && tc_type_count(ti_type_of(g, v)) == 1 &&
           ti_load_i64(ti_tensor_of(g, v), 0) == number;
}

static const tc_attr_tosa_rescale *with_sides(tc_ctx *ctx, const tc_attr_tosa_rescale *of, bool in,
                                              bool out)
{
    tc_attr_tosa_rescale *a = ti_arena_copy(&ctx->arena, of, sizeof *of);
    a->input_unsigned = in;
    a->output_unsigned = out;
    return a;
}

/* RESCALE(cast(x, i16)), whose input has no zero point. */
static tc_status read_codes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *cast = node->n_in ? ti_rewrite_def(rw, node, 0) : NULL;
    tc_dtype to = node->n_out ? ti_type_of(rw->from, node->out[0])->dtype : TC_none;
    if (!is_signed(node) || (to != TC_i8 && to != TC_i16) ||
        !is_cast(rw->to, cast, TC_u8, TC_i16) || !is_number(rw->from, node->in[3], 0))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val in[5] = {cast->in[0]};
    for (int i = 1; i < 5; i++)
        in[i] = ti_b_in(&b, i);
    in[3] = ti_b_single(&b, TC_i8, 1, 0);
    const tc_attr_tosa_rescale *a = with_sides(rw->ctx, node->attr, true, false);
    tc_val y = ti_b_typed(&b, TC_OP_tosa_rescale, a, in, 5, ti_b_out_type(&b, 0));
    return ti_b_replace(&b, y, done);
}

/* x + 128 of int8 codes x. */
static bool is_up(const tc_graph *g, const tc_node *node)
{
    return node && is_signed(node) && ti_type_of(g, node->in[0])->dtype == TC_i8 &&
           is_number(g, node->in[1], ONE) && is_number(g, node->in[2], ONE_SHIFT) &&
           is_number(g, node->in[3], -HALF) && is_number(g, node->in[4], 0);
}

static tc_val rescale(tc_build *b, tc_val x, bool up)
{
    tc_attr_tosa_rescale a = {.scale32 = true, .rounding_mode = TC_rounding_single};
    const tc_type *t = ti_b_type(b, x);
    tc_val in[5] = {x};
    in[1] = ti_b_single(b, TC_i32, 1, ONE);
    in[2] = ti_b_single(b, TC_i8, 1, ONE_SHIFT);
    in[3] = ti_b_single(b, TC_i8, 1, up ? -HALF : 0);
    in[4] = ti_b_single(b, TC_i8, 1, up ? 0 : -HALF);
    return ti_b_typed(b, TC_OP_tosa_rescale, with_sides(b->ctx, &a, !up, up), in, 5,
                      ti_type_make(b->ctx, up ? TC_u8 : TC_i8, t->rank, t->dim));
}

/* cast(RESCALE(y), u8) */
static tc_status write_codes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!is_cast(rw->from, node, TC_i16, TC_u8) || !is_up(rw->to, ti_rewrite_def(rw, node, 0)))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    return ti_b_replace(&b, rescale(&b, ti_rewrite_def(rw, node, 0)->in[0], true), done);
}

/* A QUANTIZE that was put between operators of the file. */
static tc_status convert_codes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_attr_tflite_op *a = node->attr;
    if (node->op != TC_OP_tflite_op || a->place >= 0)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    return ti_b_replace(&b, rescale(&b, ti_b_in(&b, 0), ti_b_out_type(&b, 0)->dtype == TC_u8), done);
}

tc_status ti_lower_carry_unsigned(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {read_codes, write_codes, convert_codes};
    (void)ctx;
    return ti_rewrite_graph(ti_main(module), rewriters, TC_COUNT(rewriters), NULL);
}
