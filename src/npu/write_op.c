/* SPDX-License-Identifier: Apache-2.0 */
/* write_op.c -- operations to registers: those that an operation of its kind reads. */
#include "writer.h"

/* ---- which operations read what ---- */

enum {
    C = 1 << TC_NPU_KIND_CONV,
    D = 1 << TC_NPU_KIND_DEPTHWISE,
    P = 1 << TC_NPU_KIND_POOL,
    E = 1 << TC_NPU_KIND_ELEMENTWISE,
    R = 1 << TC_NPU_KIND_RESIZE,
    WINDOW = C | D | P,
    ALL = WINDOW | E | R
};

/* Registers that hold a number of the operation, less `less`. */
static const struct {
    int code, kinds, less;
    size_t at;
} plain[] = {
#define NUMBER(name, kinds, less, field) {TC_NPU_##name, kinds, less, offsetof(tc_npu_op, field)}
    NUMBER(IFM_PAD_TOP, WINDOW | R, 0, window.top),
    NUMBER(IFM_PAD_LEFT, WINDOW | R, 0, window.left),
    NUMBER(IFM_PAD_RIGHT, WINDOW | R, 0, window.right),
    NUMBER(IFM_PAD_BOTTOM, WINDOW | R, 0, window.bottom),
    NUMBER(IFM_UPSCALE, ALL, 0, window.upscale),
    NUMBER(OFM_WIDTH_M1, ALL, 1, ofm.w),
    NUMBER(OFM_HEIGHT_M1, ALL, 1, ofm.h),
    NUMBER(OFM_DEPTH_M1, ALL, 1, ofm.c),
    NUMBER(OFM_BLK_WIDTH_M1, ALL, 1, block.w),
    NUMBER(OFM_BLK_HEIGHT_M1, ALL, 1, block.h),
    NUMBER(OFM_BLK_DEPTH_M1, ALL, 1, block.depth),
    NUMBER(RESIZE_X_SCALE_N_M1, R, 1, x.scale),
    NUMBER(RESIZE_Y_SCALE_N_M1, R, 1, y.scale),
#undef NUMBER
};

static void set_plain(tc_npu_writer *w, const tc_npu_op *op)
{
    for (size_t i = 0; i < TC_COUNT(plain); i++) {
        int32_t value;
        memcpy(&value, (const uint8_t *)op + plain[i].at, sizeof value);
        if (plain[i].kinds >> op->kind & 1)
            ti_npu_set(w, plain[i].code, (int64_t)value - plain[i].less);
    }
}

static bool is_u85(const tc_npu_writer *w)
{
    return w->machine->product == TC_U85;
}

static bool is_one_of(const tc_npu_op *op, int kinds)
{
    return kinds >> op->kind & 1;
}

static bool is_scalar(const tc_npu_map *m)
{
    return m->broadcast & TC_BROADCAST_SCALAR;
}

/* ---- feature maps ---- */

/* First opcodes of the registers of a map; the rest are equally spaced. */
typedef struct map_code {
    int precision, zero, width0, region, base;
} map_code;
static const map_code ifm_code = {TC_NPU_IFM_PRECISION, TC_NPU_IFM_ZERO_POINT, TC_NPU_IFM_WIDTH0_M1,
                                  TC_NPU_IFM_REGION, TC_NPU_IFM_BASE0};
static const map_code ifm2_code = {TC_NPU_IFM2_PRECISION, TC_NPU_IFM2_ZERO_POINT,
                                   TC_NPU_IFM2_WIDTH0_M1, TC_NPU_IFM2_REGION, TC_NPU_IFM2_BASE0};
static const map_code ofm_code = {TC_NPU_OFM_PRECISION, TC_NPU_OFM_ZERO_POINT, TC_NPU_OFM_WIDTH0_M1,
                                  TC_NPU_OFM_REGION, TC_NPU_OFM_BASE0};

/* Type, format and storage; an ifm that nothing reads is said to have bytes. */
static uint32_t precision_of(tc_npu_writer *w, const map_code *code, const tc_npu_map *m, int at)
{
    int32_t bytes = m->bytes ? m->bytes : 1, log2 = 0;
    while (log2 < 3 && 1 << log2 < bytes)
        log2++;
    if (1 << log2 != bytes)
        ti_npu_field(w, code->precision, bytes, 0, 0);
    uint32_t all = (uint32_t)(m->is_signed || !m->bytes) | (uint32_t)log2 << at |
                   ti_npu_field(w, code->precision, m->format, 6, 2);
    if (is_u85(w))
        return all | ti_npu_field(w, code->precision, m->storage, 14, 2);
    if (m->storage != TC_STORE_TILES)
        ti_npu_field(w, code->precision, m->storage, 0, 0);
    return all;
}

/* A place of no extent, of one tile or as many as the map before had. */
static void set_point(tc_npu_writer *w, const map_code *code, uint8_t region, tc_npu_format format)
{
    ti_npu_set(w, code->region, region);
    ti_npu_set_address(w, code->base, 0);
    ti_npu_set_stride(w, code->base + (format == TC_NHWC ? 4 : 6), 0);
    ti_npu_set_stride(w, code->base + 5, 0);
}

/* Its address: of a chain the index of its buffer, of kept accumulators where they would be written.
 * A chain and U65's scalar have none; Linux's driver (linux_rules.h) computes one all the same. */
static void set_place(tc_npu_writer *w, const map_code *code, const tc_npu_map *m)
{
    bool somewhere = m->used || (code == &ofm_code && m->width0 > 0);
    if (!somewhere || is_scalar(m))
        return;
    if (m->storage == TC_STORE_CHAIN) {
        set_point(w, code, m->region, m->format);
        return;
    }
    ti_npu_set(w, code->region, m->region);
    ti_npu_set(w, code->width0, (int64_t)m->width0 - 1);
    ti_npu_set(w, code->width0 + 1, (int64_t)m->height0 - 1);
    ti_npu_set(w, code->width0 + 2, (int64_t)m->height1 - 1);
    for (int i = 0; i < 4; i++)
        ti_npu_set_address(w, code->base + i, m->base[i]);
    ti_npu_set_stride(w, code->base + 4, m->stride_x);
    ti_npu_set_stride(w, code->base + 5, m->stride_y);
    ti_npu_set_stride(w, code->base + 6, m->stride_c);
}

static void set_map(tc_npu_writer *w, const map_code *code, const tc_npu_map *m, uint32_t precision)
{
    ti_npu_set(w, code->precision, precision);
    ti_npu_set(w, code->zero, ti_npu_signed_field(w, code->zero, m->zero, 16));
    set_place(w, code, m);
}

/* U55's codes of rounding modes; it lacks the others. */
static uint32_t round_u55(tc_npu_writer *w, int code, tc_npu_round round)
{
    static const int8_t mode[] = {[TC_ROUND_DOUBLE] = 0,     [TC_ROUND_NATURAL] = 2,
                                  [TC_ROUND_DOUBLE_UP] = -1, [TC_ROUND_SYMMETRIC] = -1,
                                  [TC_ROUND_TO_ZERO] = 1,    [TC_ROUND_DOWN] = -1};
    if (round > TC_ROUND_DOWN || mode[round] < 0) {
        ti_npu_field(w, code, round, 0, 0);
        return 0;
    }
    return (uint32_t)mode[round] << 14;
}

static void set_maps(tc_npu_writer *w, const tc_npu_op *op)
{
    uint32_t ifm = precision_of(w, &ifm_code, &op->ifm, 2),
             ofm = precision_of(w, &ofm_code, &op->ofm, 1);
    if (!is_u85(w)) {
        ifm |= ti_npu_field(w, ifm_code.precision, op->scale_mode, 8, 2) |
               round_u55(w, ifm_code.precision, op->ifm_scale.round);
        ofm |= round_u55(w, ofm_code.precision, op->ofm_scale.round);
    }
    ofm |= ti_npu_field(w, ofm_code.precision, !op->per_channel, 8, 1) |
           ti_npu_field(w, ofm_code.precision, op->reverse, 9, is_u85(w) ? 2 : 0) |
           ti_npu_field(w, ofm_code.precision, op->transpose, 11, is_u85(w) ? 3 : 0);
    set_map(w, &ifm_code, &op->ifm, ifm);
    if (!op->ifm.used) /* it starts from ifm2: the ifm is given that address, too */
        set_place(w, &ifm_code, &op->ifm2);
    if (!is_scalar(&op->ifm))
        ti_npu_set(w, TC_NPU_IFM_DEPTH_M1, (op->depth ? op->depth : op->ifm.c) - 1);
    if (op->ifm2.used)
        set_map(w, &ifm2_code, &op->ifm2, precision_of(w, &ifm2_code, &op->ifm2, 2));
    if (op->ifm2.used && is_scalar(&op->ifm2) && w->machine->product == TC_U65)
        set_point(w, &ifm2_code, op->ofm.region, op->ifm2.format);
    set_map(w, &ofm_code, &op->ofm, ofm);
}

/* ---- the window ---- */

static void set_window(tc_npu_writer *w, const tc_npu_op *op)
{
    const tc_npu_window *k = &op->window;
    int code = TC_NPU_KERNEL_STRIDE;
    ti_npu_set(w, TC_NPU_KERNEL_HEIGHT_M1, (int64_t)(k->kh - 1) * k->dilation_y);
    ti_npu_set(w, TC_NPU_KERNEL_WIDTH_M1, (int64_t)(k->kw - 1) * k->dilation_x);
    uint32_t x = ti_npu_field(w, code, k->stride_x - 1, 0, 2),
             y = ti_npu_field(w, code, k->stride_y - 1, 0, 2);
    ti_npu_set(w, code,
               (x & 1) | (y & 1) << 1 | (uint32_t)k->part_kernel << 2 |
                   ti_npu_field(w, code, k->dilation_x - 1, 3, 1) |
                   ti_npu_field(w, code, k->dilation_y - 1, 4, 1) |
                   (uint32_t)k->decompose_4x4 << 5 | x >> 1 << 6 | y >> 1 << 9);
}

/* ---- accumulators, weights, scaling ---- */

static void set_accumulator(tc_npu_writer *w, const tc_npu_op *op)
{
    int code = TC_NPU_ACC_FORMAT;
    int32_t bits = op->acc_bits ? op->acc_bits : 32;
    uint32_t wide = bits == 32 ? 0 : bits == (is_u85(w) ? 48 : 40) ? 1 : 2;
    if (wide == 2 && (is_u85(w) || bits != 16))
        ti_npu_field(w, code, bits, 0, 0);
    if (is_u85(w))
        wide |= ti_npu_field(w, code, op->acc_input, 4, 2) | (uint32_t)!op->acc_output << 6 |
                ti_npu_field(w, code, op->microblock, 8, 3);
    else if (op->acc_input || !op->acc_output)
        ti_npu_cannot(w, "accumulators are kept on U85 only");
    ti_npu_set(w, code, wide);
    if (w->machine->product == TC_U65)
        ti_npu_set(w, TC_NPU_PARALLEL_MODE, op->cores == 2);
}

static void set_weights(tc_npu_writer *w, const tc_npu_op *op)
{
    static const int base[] = {TC_NPU_WEIGHT_BASE, TC_NPU_WEIGHT1_BASE, TC_NPU_WEIGHT2_BASE,
                               TC_NPU_WEIGHT3_BASE};
    const tc_npu_weights *v = &op->weights;
    ti_npu_set(w, TC_NPU_WEIGHT_REGION, v->region);
    for (int i = 0; i < op->cores && i < TC_NPU_CORES; i++) {
        if (v->bytes[i])
            ti_npu_set_address(w, base[i], v->base[i]);
        ti_npu_set2(w, base[i] + 1, 0,
                    ti_npu_field(w, base[i] + 1, (int64_t)v->bytes[i], 0, 32));
    }
    if (is_u85(w))
        ti_npu_set(w, TC_NPU_WEIGHT_FORMAT, (uint32_t)v->fast | (uint32_t)v->sparse << 4);
}

static void set_scale_stream(tc_npu_writer *w, const tc_npu_op *op)
{
    static const int base[] = {TC_NPU_SCALE_BASE, TC_NPU_SCALE1_BASE};
    int n = !is_u85(w) && op->cores == 2 ? 2 : 1;
    ti_npu_set(w, TC_NPU_SCALE_REGION, op->scale_region);
    for (int i = 0; i < n; i++) {
        if (op->scale_bytes[i])
            ti_npu_set_address(w, base[i], op->scale_base[i]);
        ti_npu_set2(w, base[i] + 1, 0,
                    ti_npu_field(w, base[i] + 1, (int64_t)op->scale_bytes[i], 0, 20));
    }
}

static void set_scale(tc_npu_writer *w, int code, const tc_npu_scale *s, int round_bits)
{
    uint32_t param = ti_npu_field(w, code, s->shift, 0, 6);
    if (is_u85(w))
        param |= ti_npu_field(w, code, s->double_bits, 6, 5) |
                 ti_npu_field(w, code, s->round, 13, round_bits);
    ti_npu_set2(w, code, param, ti_npu_field(w, code, s->multiplier, 0, is_u85(w) ? 31 : 32));
}

/* U55 and U65 scale the operands of sums only; with weights the stream of scales counts, of which U85
 * takes the rounding from the register of the result. */
static void set_scales(tc_npu_writer *w, const tc_npu_op *op)
{
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE;
    if (is_u85(w) || !op->per_channel || is_one_of(op, P | E))
        set_scale(w, TC_NPU_OFM_SCALE, &op->ofm_scale, 3);
    if (is_one_of(op, WINDOW) && op->per_channel && op->acc_output)
        set_scale_stream(w, op);
    if (is_u85(w) && ew) {
        set_scale(w, TC_NPU_IFM_SCALE, &op->ifm_scale, 1);
        if (op->ifm2.used || op->mode == TC_EW_LRELU)
            set_scale(w, TC_NPU_IFM2_SCALE, &op->ifm2_scale, 1);
    } else if (ew && (op->mode == TC_EW_ADD || op->mode == TC_EW_SUB)) {
        int code = TC_NPU_OPB_SCALE;
        set_scale(w, TC_NPU_OPA_SCALE, &op->ifm_scale, 0);
        ti_npu_set2(w, code, 0, ti_npu_field(w, code, op->ifm2_scale.multiplier, 0, 16));
    }
}

/* ---- operands, activation, banks, axes ---- */

static void set_operands(tc_npu_writer *w, const tc_npu_op *op)
{
    int64_t scalar = op->scalar;
    if (is_u85(w)) {
        ti_npu_set(w, TC_NPU_IFM_BROADCAST, op->ifm.broadcast);
        ti_npu_set(w, TC_NPU_IFM2_BROADCAST, op->ifm2.used ? op->ifm2.broadcast : 0);
        if (is_scalar(&op->ifm) || (op->ifm2.used && is_scalar(&op->ifm2)))
            ti_npu_set2(w, TC_NPU_OP_SCALAR, 0,
                        ti_npu_signed_field(w, TC_NPU_OP_SCALAR, scalar, 32));
        return;
    }
    if (op->ifm.broadcast)
        ti_npu_cannot(w, "U55 and U65 broadcast the second operand only");
    if (!op->ifm2.used)
        return;
    int code = TC_NPU_IFM2_BROADCAST;
    ti_npu_set(w, code,
               (op->ifm2.broadcast & 7u) | (uint32_t)op->swapped << 6 |
                   (uint32_t)is_scalar(&op->ifm2) << 7);
    code = TC_NPU_IFM2_SCALAR;
    if (is_scalar(&op->ifm2))
        ti_npu_set(w, code,
                   op->ifm2.is_signed ? ti_npu_signed_field(w, code, scalar, 16)
                                      : ti_npu_field(w, code, scalar, 0, 16));
}

/* Limits are signed or not, by the result's type. */
static void set_limit(tc_npu_writer *w, int code, int32_t value)
{
    ti_npu_set(w, code,
               value < 0 ? ti_npu_signed_field(w, code, value, 16)
                         : ti_npu_field(w, code, value, 0, 16));
}

static void set_activation(tc_npu_writer *w, const tc_npu_op *op)
{
    int code = TC_NPU_ACTIVATION;
    bool lookup = !is_u85(w) && op->function == TC_NPU_LOOKUP;
    uint32_t all = ti_npu_field(w, code, op->function, 0, 5) |
                   ti_npu_field(w, code, op->table, lookup ? 0 : 5, is_u85(w) || lookup ? 3 : 0) |
                   ti_npu_field(w, code, op->clip, 12, is_u85(w) ? 1 : 3);
    ti_npu_set(w, code, all);
    set_limit(w, TC_NPU_ACTIVATION_MIN, op->lo);
    set_limit(w, TC_NPU_ACTIVATION_MAX, op->hi);
}

static void set_banks(tc_npu_writer *w, const tc_npu_op *op)
{
    ti_npu_set(w, TC_NPU_IFM_IB_END, op->ib_end);
    ti_npu_set(w, TC_NPU_AB_START, op->ab_start);
    if (op->kind == TC_NPU_KIND_ELEMENTWISE && op->ifm2.used)
        ti_npu_set(w, TC_NPU_IFM2_IB_START, op->ib2_start);
}

static void set_axis(tc_npu_writer *w, const tc_npu_axis *a, int offset, int step)
{
    ti_npu_set(w, offset, ti_npu_signed_field(w, offset, a->offset, 12));
    ti_npu_set2(w, step,
                ti_npu_field(w, step, a->one_int, 0, 4) |
                    ti_npu_field(w, step, a->block_int, 4, 11),
                ti_npu_field(w, step, a->one_mod, 0, 11) |
                    ti_npu_field(w, step, a->block_mod, 16, 11));
}

static void set_resize(tc_npu_writer *w, const tc_npu_op *op)
{
    ti_npu_set(w, TC_NPU_KERNEL_HEIGHT_M1, (int64_t)op->window.kh - 1);
    ti_npu_set(w, TC_NPU_KERNEL_WIDTH_M1, (int64_t)op->window.kw - 1);
    set_axis(w, &op->x, TC_NPU_RESIZE_X_OFFSET, TC_NPU_RESIZE_X_STEP);
    set_axis(w, &op->y, TC_NPU_RESIZE_Y_OFFSET, TC_NPU_RESIZE_Y_STEP);
}

/* ---- whole operations ---- */

void ti_npu_set_kernel(tc_npu_writer *w, const tc_npu_op *op)
{
    set_maps(w, op);
    set_plain(w, op);
    if (is_one_of(op, WINDOW))
        set_window(w, op);
    if (is_one_of(op, C | D) && !op->weights_ifm2)
        set_weights(w, op);
    if (op->kind == TC_NPU_KIND_ELEMENTWISE)
        set_operands(w, op);
    if (op->kind == TC_NPU_KIND_RESIZE)
        set_resize(w, op);
    set_scales(w, op);
    set_activation(w, op);
    set_accumulator(w, op);
    if (!is_u85(w))
        set_banks(w, op);
}

/* U65 skips bytes between rows on one side, and has contiguous ones on the other. */
static void set_rows_u65(tc_npu_writer *w, const tc_npu_dma *d, bool scatter)
{
    int64_t bytes = (int64_t)d->bytes, row = scatter ? d->dst_row : d->src_row,
            plane = scatter ? d->dst_plane : d->src_plane;
    bool dense = scatter ? d->src_row == bytes && (d->planes == 1 || d->src_plane == bytes * d->rows)
                         : d->dst_row == bytes && (d->planes == 1 || d->dst_plane == bytes * d->rows);
    if (!dense)
        ti_npu_cannot(w, "U65 copies from or to bytes side by side");
    ti_npu_set_stride(w, TC_NPU_DMA0_SKIP0, row - bytes);
    if (d->planes > 1)
        ti_npu_set_stride(w, TC_NPU_DMA0_SKIP1, plane - row * d->rows);
}

static void set_rows_u85(tc_npu_writer *w, const tc_npu_dma *d)
{
    ti_npu_set_stride(w, TC_NPU_DMA0_SRC_STRIDE0, d->src_row);
    ti_npu_set_stride(w, TC_NPU_DMA0_SRC_STRIDE1, d->src_plane);
    ti_npu_set_stride(w, TC_NPU_DMA0_DST_STRIDE0, d->dst_row);
    ti_npu_set_stride(w, TC_NPU_DMA0_DST_STRIDE1, d->dst_plane);
}

static void set_index(tc_npu_writer *w, const tc_npu_dma *d)
{
    int code = TC_NPU_DMA0_IDX_MAX;
    ti_npu_set(w, TC_NPU_DMA0_IDX_REGION, d->index_region);
    ti_npu_set_address(w, TC_NPU_DMA0_IDX, d->index);
    ti_npu_set2(w, code, 0, ti_npu_field(w, code, d->index_max, 0, 31));
    ti_npu_set_address(w, TC_NPU_DMA0_IDX_SKIP1, (uint64_t)d->index_skip);
}

void ti_npu_set_dma(tc_npu_writer *w, const tc_npu_op *op)
{
    const tc_npu_dma *d = &op->dma;
    bool indexed = d->src_indexed || d->dst_indexed, u65 = w->machine->product == TC_U65;
    uint32_t dims = indexed || d->planes != 1 ? 2 : d->rows != 1 ? 1 : 0;
    bool scatter = u65 && dims && d->src_row == (int64_t)d->bytes;
    int src = TC_NPU_DMA0_SRC_REGION, dst = TC_NPU_DMA0_DST_REGION;
    if (w->machine->product == TC_U55 && dims)
        ti_npu_cannot(w, "U55 copies one run of bytes");
    ti_npu_set(w, src,
               ti_npu_field(w, src, d->src_region, 0, 3) | (uint32_t)d->src_internal << 8 |
                   dims << 9 | (uint32_t)d->src_indexed << 11);
    ti_npu_set(w, dst,
               ti_npu_field(w, dst, d->dst_region, 0, 3) | (uint32_t)d->dst_internal << 8 |
                   (scatter ? dims << 9 : 0) | (uint32_t)d->dst_indexed << 11);
    ti_npu_set_address(w, TC_NPU_DMA0_SRC, d->src);
    ti_npu_set_address(w, TC_NPU_DMA0_DST, d->dst);
    ti_npu_set_address(w, TC_NPU_DMA0_LEN, d->bytes);
    if (!dims)
        return;
    ti_npu_set(w, TC_NPU_DMA0_SIZE0, d->rows);
    if (dims > 1)
        ti_npu_set(w, TC_NPU_DMA0_SIZE1, d->planes);
    if (u65)
        set_rows_u65(w, d, scatter);
    else
        set_rows_u85(w, d);
    if (indexed)
        set_index(w, d);
}
