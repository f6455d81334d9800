/* SPDX-License-Identifier: Apache-2.0 */
/* pack_weights.c -- in what blocks each operation goes through the machine, and its weights and
 * scales as bytes in that order. */
#include "hw.h"

#include "../npu/block.h"
#include "../npu/block_search.h"

#include <math.h>

enum { BRICK = 16 };

/* Strides and dilations are part of the order of weights. */
static bool same_walk(const tc_npu_op *a, const tc_npu_op *b)
{
    const tc_npu_window *v = &a->window, *w = &b->window;
    return a->kind == b->kind && a->block.depth == b->block.depth &&
           a->microblock == b->microblock && a->ofm.c == b->ofm.c && a->ifm.c == b->ifm.c &&
           v->kh == w->kh && v->kw == w->kw && v->stride_y == w->stride_y &&
           v->stride_x == w->stride_x && v->dilation_y == w->dilation_y &&
           v->dilation_x == w->dilation_x && v->part_kernel == w->part_kernel &&
           a->weights.sparse == b->weights.sparse;
}

/* ---- what was packed before ---- */

static size_t hash_of(const void *from)
{
    uintptr_t p = (uintptr_t)from;
    return (p >> 4 ^ p >> 14) % TC_HW_HASH;
}

/* Its index, or -1. */
static int32_t packed_before(const tc_hw *hw, const tc_npu_op *op, const void *const from[3])
{
    for (int32_t k = hw->hash[hash_of(from[0])]; k; k = hw->packed[k - 1].next) {
        const tc_hw_packed *p = &hw->packed[k - 1];
        if (p->from[0] == from[0] && p->from[1] == from[1] && p->from[2] == from[2] &&
            p->walk.acc_bits == op->acc_bits && same_walk(&p->walk, op))
            return k - 1;
    }
    return -1;
}

static int32_t remember(tc_hw *hw, const tc_npu_op *op, const void *const from[3], tc_hw_packed p)
{
    int32_t *first = &hw->hash[hash_of(from[0])];
    memcpy(p.from, from, sizeof p.from);
    p.walk = *op;
    p.next = *first;
    p.root = -1;
    tc_grow(hw->kept, hw->packed, hw->n_packed, hw->cap_packed);
    hw->packed[hw->n_packed] = p;
    *first = (int32_t)++hw->n_packed;
    return *first - 1;
}

/* Streams one after the other. */
static void join(tc_hw *hw, const tc_bytes *stream, int n, tc_hw_packed *p)
{
    tc_buf all;
    if (n == 1 || !stream[1].size) {
        p->size[0] = (int64_t)stream[0].size;
        p->bytes = stream[0];
        return;
    }
    ti_buf_init(&all, &hw->ctx->arena);
    for (int k = 0; k < n && stream[k].size; k++) {
        p->at[k] = (int64_t)all.size;
        p->size[k] = (int64_t)stream[k].size;
        ti_buf_put(&all, stream[k].data, stream[k].size);
        ti_buf_align(&all, 16);
    }
    p->bytes = (tc_bytes){all.data, all.size};
}

static void pack_scales(tc_hw *hw, const tc_hw_op *op, const void *const from[3], int32_t *number)
{
    int32_t n = op->op.ofm.c;
    tc_bytes stream[2] = {{0}};
    tc_hw_packed p = {0};
    tc_npu_channel_scale *channel = tc_new_n(hw->arena, tc_npu_channel_scale, (size_t)n);
    for (int32_t i = 0; i < n; i++)
        channel[i] =
            (tc_npu_channel_scale){op->bias[i], (uint32_t)op->factor[i], op->shift[i]};
    const char *wrong =
        ti_npu_scales_encode(&hw->ctx->arena, hw->machine, &op->op, channel, stream);
    if (wrong)
        ti_hw_refuse(hw, op->node, "its scales cannot be encoded: %s", wrong);
    join(hw, stream, 2, &p);
    *number = remember(hw, &op->op, from, p);
}

/* How many more bytes the form that is quick to decode may have. */
static const double a_few_more = 1.08;

static tc_npu_weight_size size_of(const tc_hw *hw, const tc_hw_op *op)
{
    const tc_npu_op *o = &op->op;
    tc_npu_weight_census census;
    int64_t n = (int64_t)o->ofm.c * o->window.kh * o->window.kw *
                (o->kind == TC_NPU_KIND_DEPTHWISE ? 1 : o->ifm.c);
    ti_npu_weights_count(op->weight, (size_t)n, &census);
    return ti_npu_weights_size(hw->machine, o, &census);
}

/* U85 has two forms of weights, unless a program before has decided. */
static bool has_forms(const tc_hw *hw, const tc_hw_op *op)
{
    return ti_hw_is_u85(hw) && op->op.kind == TC_NPU_KIND_CONV && !(op->known && op->known->depth);
}

/* A memory that takes longer for all weights than the standard form's decoder, 8 a cycle of each
 * core, is not helped by more bytes. */
static bool comes_in_time(const tc_hw *hw, tc_npu_weight_size size)
{
    enum { A_CYCLE = 8 };
    const tc_npu_system *s = hw->options->system;
    return (double)size.fixed / s->memory[s->of_region[0]].bytes_per_cycle <=
           (double)size.values / (A_CYCLE * hw->machine->cores);
}

/* U85: compressed weights where decoding them keeps up with the multiplications, or where they have
 * far fewer bytes; else the form that is quick to decode, which for some weights is also
 * the smaller one. */
static tc_npu_weight_form form_of(const tc_hw *hw, const tc_hw_op *op, tc_npu_weight_size size)
{
    const tc_npu_op *o = &op->op;
    if (op->known && op->known->depth && op->known->fast)
        return TC_WEIGHTS_FIXED;
    if (!has_forms(hw, op))
        return TC_WEIGHTS_STANDARD;
    if (hw->options->size)
        return TC_WEIGHTS_SMALLEST;
    int64_t n = (int64_t)o->ofm.c * o->window.kh * o->window.kw * o->ifm.c,
            blocks = ti_parts(o->ofm.h, o->block.h) * ti_parts(o->ofm.w, o->block.w);
    tc_npu_weight_form form = ti_npu_weights_form((int64_t)size.values, blocks, hw->machine->cores,
                                                  n * o->ofm.h * o->ofm.w / hw->machine->macs);
    bool few = size.fixed && (double)size.fixed <= a_few_more * (double)size.standard &&
               comes_in_time(hw, size),
         fewer = size.fixed && size.fixed <= size.standard;
    return few && form == TC_WEIGHTS_FIXED ? form
           : fewer                         ? TC_WEIGHTS_SMALLEST
                                           : TC_WEIGHTS_STANDARD;
}

static void pack_weights(tc_hw *hw, const tc_hw_op *op, const void *const from[3], int32_t *number)
{
    static const tc_npu_weight_size none = {0};
    tc_npu_encoded e;
    tc_npu_weight_form form = form_of(hw, op, has_forms(hw, op) ? size_of(hw, op) : none);
    const char *wrong = ti_npu_weights_encode(&hw->ctx->arena, &hw->ctx->scratch, hw->machine,
                                              &op->op, op->weight, form, &e);
    if (wrong) {
        ti_hw_refuse(hw, op->node, "its weights cannot be encoded: %s", wrong);
        return;
    }
    tc_hw_packed p = {.fast = e.fixed};
    join(hw, e.stream, hw->machine->cores, &p);
    *number = remember(hw, &op->op, from, p);
}

/* As many bytes as they will have. */
static void count_weights(tc_hw *hw, const tc_hw_op *op, const void *const from[3], int32_t *number)
{
    tc_npu_weight_size size = size_of(hw, op);
    tc_npu_weight_form form = form_of(hw, op, size);
    bool fast = size.fixed && (form == TC_WEIGHTS_FIXED ||
                               (form == TC_WEIGHTS_SMALLEST && size.fixed <= size.standard));
    tc_hw_packed p = {.fast = fast, .bytes.size = fast ? size.fixed : size.standard};
    p.size[0] = (int64_t)p.bytes.size;
    *number = remember(hw, &op->op, from, p);
}

static void count_scales(tc_hw *hw, const tc_hw_op *op, const void *const from[3], int32_t *number)
{
    enum { SCALE = 10 }; /* bytes of one channel's */
    tc_hw_packed p = {.bytes.size = (size_t)(SCALE * op->op.ofm.c + 15) / 16 * 16};
    p.size[0] = (int64_t)p.bytes.size;
    *number = remember(hw, &op->op, from, p);
}

double ti_hw_packed_bytes(const tc_hw *hw, const tc_hw_op *op, const tc_npu_op *o)
{
    enum { STEPS = 16 };
    if (!op->weight)
        return 0;
    double channel = (double)o->window.kh * o->window.kw *
                     (o->kind == TC_NPU_KIND_DEPTHWISE ? 1 : o->ifm.c),
           n = o->ofm.c * channel;
    if (!op->census)
        return n;
    tc_npu_op walk = *o;
    walk.ofm.c = (int32_t)((double)op->census->n / channel);
    if (o->kind == TC_NPU_KIND_DEPTHWISE)
        walk.ifm.c = walk.depth = walk.ofm.c;
    ti_npu_set_order(hw->machine, &walk);
    walk.block.depth = walk.ofm.c;
    tc_npu_weight_size size = ti_npu_weights_size(hw->machine, &walk, op->census);
    double bytes = (double)(size.fixed && size.fixed < size.standard ? size.fixed : size.standard);
    bytes *= o->ofm.c / (double)walk.ofm.c; /* the census of a slice is that of all channels */
    return bytes > 0 ? n * rint(STEPS * bytes / n) / STEPS : n;
}

/* How far RESIZE advances, by one result and over a block: whole input steps and remainder. */
static void set_steps(tc_npu_axis *a, int32_t block)
{
    a->one_int = a->step / a->scale;
    a->one_mod = a->step % a->scale;
    a->block_int = (block - 1) * a->step / a->scale;
    a->block_mod = (block - 1) * a->step % a->scale;
}

/* U85: two zeros in every four channels halve the multiplications, and one or two channels alone
 * always have them. */
static bool is_sparse(const tc_hw *hw, const tc_hw_op *op)
{
    const tc_npu_op *o = &op->op;
    return ti_hw_is_u85(hw) && o->kind == TC_NPU_KIND_CONV && op->weight && o->ifm.bytes == 1 &&
           ti_npu_weights_are_sparse(op->weight, o->ofm.c, o->window.kh, o->window.kw, o->ifm.c);
}

enum { LONGEST = 8 }; /* of chains */

/* One block for n operations; where an earlier program has such weights, one that keeps their
 * order. */
static void best_blocks(tc_hw *hw, tc_npu_op *op, size_t n, size_t i, const double *bytes)
{
    for (size_t k = 0; k < n; k++) {
        const tc_codegen_packing *p = hw->op[i + k].known;
        if (p && p->depth &&
            ti_npu_best_blocks_of(hw->machine, hw->options->system, op, n, bytes,
                                  (tc_npu_order){p->depth, p->unit, p->part_kernel}))
            return;
    }
    ti_npu_best_blocks(hw->memo, hw->machine, hw->options->system, op, n, bytes, hw->ways & TC_WAY_AGAIN);
}

/* Other rows of an operation that has its block, its order of weights kept. */
static void set_like(tc_npu_op *to, const tc_npu_op *o)
{
    to->block = o->block;
    to->microblock = o->microblock;
    to->window.part_kernel = o->window.part_kernel;
    to->weights.sparse = o->weights.sparse;
    to->ib_end = o->ib_end;
    to->ib2_start = o->ib2_start;
    to->ab_start = o->ab_start;
}

/* The last rows may be fewer: they have blocks of their own. */
static size_t choose_like(tc_hw *hw, size_t i)
{
    tc_npu_op op[LONGEST];
    double bytes[LONGEST];
    size_t n = 0;
    const tc_npu_op *first = &hw->op[hw->op[i].like - 1].op;
    do {
        set_like(&hw->op[i + n].op, &hw->op[hw->op[i + n].like - 1].op);
        op[n] = hw->op[i + n].op;
        bytes[n] = ti_hw_packed_bytes(hw, &hw->op[i + n], &op[n]);
        n++;
    } while (n < LONGEST && i + n < hw->n_op && hw->op[i + n].joins);
    tc_npu_order order = {first->block.depth, ti_npu_unit(hw->machine, first).depth,
                          first->window.part_kernel};
    if (!hw->op[i].weight || op->ofm.h == first->ofm.h ||
        !ti_npu_best_blocks_of(hw->machine, hw->options->system, op, n, bytes, order))
        return n;
    for (size_t k = 0; k < n; k++)
        hw->op[i + k].op = op[k];
    return n;
}

/* A chain, or one operation: one block for all of it. */
static size_t choose(tc_hw *hw, size_t i)
{
    tc_npu_op op[LONGEST];
    double bytes[LONGEST];
    size_t n = 0;
    if (hw->op[i].like)
        return choose_like(hw, i);
    do {
        op[n] = hw->op[i + n].op;
        op[n].weights.sparse = is_sparse(hw, &hw->op[i + n]);
        bytes[n] = ti_hw_packed_bytes(hw, &hw->op[i + n], &op[n]);
        n++;
    } while (n < LONGEST && i + n < hw->n_op && hw->op[i + n].joins);
    best_blocks(hw, op, n, i, bytes);
    for (size_t k = 0; k < n; k++)
        hw->op[i + k].op = op[k];
    if (op->kind == TC_NPU_KIND_RESIZE) {
        set_steps(&hw->op[i].op.x, op->block.w);
        set_steps(&hw->op[i].op.y, op->block.h);
    }
    return n;
}

/* Operations that go on with each other's accumulators: one block for all outputs. */
static size_t choose_kept(tc_hw *hw, size_t i)
{
    size_t n = 1;
    while (i + n < hw->n_op && hw->op[i + n].op.acc_input == 1)
        n++;
    tc_npu_op last = hw->op[i + n - 1].op;
    ti_npu_choose_block(hw->machine, &last);
    tc_npu_block step = ti_npu_block_step(hw->machine, &last);
    last.block = (tc_npu_block){(last.ofm.h + step.h - 1) / step.h * step.h,
                                (last.ofm.w + step.w - 1) / step.w * step.w,
                                (last.ofm.c + BRICK - 1) / BRICK * BRICK};
    last.block.depth = (last.block.depth + step.depth - 1) / step.depth * step.depth;
    for (size_t k = 0; k < n; k++) {
        tc_npu_op *op = &hw->op[i + k].op;
        bool part = op->kind == TC_NPU_KIND_CONV && last.window.part_kernel;
        op->window.part_kernel = part;
        op->block = last.block;
        op->microblock = last.microblock;
        if (!ti_npu_block_fits(hw->machine, op))
            ti_hw_refuse(hw, hw->op[i + k].node, "its accumulators do not fit the machine");
    }
    return n;
}

void ti_hw_blocks(tc_hw *hw)
{
    if (!hw->memo)
        hw->memo = ti_npu_block_memo_new(hw->kept);
    for (size_t i = 0, n; i < hw->n_op && !hw->refused; i += n) {
        n = 1;
        if (!hw->op[i].op.acc_output)
            n = choose_kept(hw, i);
        else if (ti_npu_is_kernel(hw->op[i].op.kind) && !hw->op[i].fixed)
            n = choose(hw, i);
    }
}

typedef void packer(tc_hw *hw, const tc_hw_op *op, const void *const from[3], int32_t *number);

/* The index of what is packed, and a root for it. */
static int32_t pack(tc_hw *hw, const tc_hw_op *op, const char *name, packer *f,
                    const void *const from[3])
{
    int32_t number = packed_before(hw, &op->op, from);
    if (number < 0)
        f(hw, op, from, &number);
    if (hw->refused || hw->packed[number].root >= 0)
        return number;
    tc_hw_packed *p = &hw->packed[number];
    p->root = ti_hw_root(hw, name, TC_ROOT_CONSTANT, 1, (int64_t)p->bytes.size);
    hw->root[p->root].data = p->bytes.data;
    return number;
}

void ti_hw_pack(tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_op && !hw->refused; i++) {
        tc_hw_op *op = &hw->op[i];
        if (op->factor)
            op->scales = pack(hw, op, "scales", hw->counts ? count_scales : pack_scales,
                              (const void *const[]){op->bias, op->factor, op->shift});
        if (op->weight && !hw->refused)
            op->packed = pack(hw, op, "weights", hw->counts ? count_weights : pack_weights,
                              (const void *const[]){op->weight, NULL, NULL});
    }
}
