/* SPDX-License-Identifier: Apache-2.0 */
/* npu_op.c -- registers to operations. */
#include "npu_op.h"

/* ---- names ---- */

static const char *const kind_name[] = {"STOP",      "IRQ",    "PMU_MASK",    "KERNEL_WAIT",
                                        "DMA_WAIT",  "BRANCH", "DMA",         "CONV",
                                        "DEPTHWISE", "POOL",   "ELEMENTWISE", "RESIZE"};
static const char *const pool_name[] = {"MAX",  "AVERAGE", "REDUCE_SUM", "SUM",
                                        "NONE", "MIN",     "ARGMAX_X",   "ARGMAX_Y"};
static const char *const resize_name[] = {"BILINEAR", "REPLICATE", "NEAREST"};
static const char *const eltwise_name[] = {
    [TC_EW_MUL] = "MUL",       [TC_EW_ADD] = "ADD",       [TC_EW_SUB] = "SUB",
    [TC_EW_MIN] = "MIN",       [TC_EW_MAX] = "MAX",       [TC_EW_LRELU] = "LRELU",
    [TC_EW_ABS] = "ABS",       [TC_EW_CLZ] = "CLZ",       [TC_EW_SHR] = "SHR",
    [TC_EW_SHL] = "SHL",       [TC_EW_LSR] = "LSR",       [TC_EW_DIV] = "DIV",
    [TC_EW_CMP_EQ] = "CMP_EQ", [TC_EW_CMP_NE] = "CMP_NE", [TC_EW_CMP_GE] = "CMP_GE",
    [TC_EW_CMP_GT] = "CMP_GT", [TC_EW_AND] = "AND",       [TC_EW_OR] = "OR",
    [TC_EW_XOR] = "XOR",       [TC_EW_NOT] = "NOT",       [TC_EW_AND_NOT] = "AND_NOT"};

const char *ti_npu_kind_name(tc_npu_kind kind)
{
    return kind_name[kind];
}

const char *ti_npu_mode_name(tc_npu_kind kind, uint8_t mode)
{
    const char *name = NULL;
    if (kind == TC_NPU_KIND_POOL && mode < TC_COUNT(pool_name))
        name = pool_name[mode];
    if (kind == TC_NPU_KIND_RESIZE && mode < TC_COUNT(resize_name))
        name = resize_name[mode];
    if (kind == TC_NPU_KIND_ELEMENTWISE && mode < TC_COUNT(eltwise_name))
        name = eltwise_name[mode];
    return name ? name : "?";
}

/* ---- registers ---- */

static uint16_t reg(const tc_npu_walk *w, int code)
{
    return w->reg.set[code - 256];
}
static int32_t extent(const tc_npu_walk *w, int code)
{
    return reg(w, code) + 1;
} /* _M1 */
static int32_t signed16(const tc_npu_walk *w, int code)
{
    return (int16_t)reg(w, code);
}
static uint16_t param(const tc_npu_walk *w, int code)
{
    return w->reg.set2[code].param;
}
static uint32_t payload(const tc_npu_walk *w, int code)
{
    return w->reg.set2[code].payload;
}

static bool is_u85(const tc_npu_walk *w)
{
    return w->machine->product == TC_U85;
}

/* Addresses and lengths are of 40 bits, on U55 of 32. */
static uint64_t address(const tc_npu_walk *w, int code)
{
    uint64_t high = w->machine->product == TC_U55 ? 0 : param(w, code) & 0xff;
    return high << 32 | payload(w, code);
}

/* Strides are signed, of 40 bits on every machine. */
static int64_t stride(const tc_npu_walk *w, int code)
{
    uint64_t v = (uint64_t)(param(w, code) & 0xff) << 32 | payload(w, code), sign = UINT64_C(1)
                                                                                    << 39;
    return (int64_t)((v ^ sign) - sign);
}

static int32_t signed_bits(uint32_t v, int bits)
{
    uint32_t sign = UINT32_C(1) << (bits - 1);
    v &= (sign << 1) - 1;
    return (int32_t)(v ^ sign) - (int32_t)sign;
}

/* ---- feature maps ---- */

/* First opcodes of the registers of a map, of 16 bits and of two words; the rest are equally
 * spaced. */
typedef struct map_code {
    int zero, width0, region, base;
} map_code;
static const map_code ifm_code = {TC_NPU_IFM_ZERO_POINT, TC_NPU_IFM_WIDTH0_M1, TC_NPU_IFM_REGION,
                                  TC_NPU_IFM_BASE0};
static const map_code ifm2_code = {TC_NPU_IFM2_ZERO_POINT, TC_NPU_IFM2_WIDTH0_M1,
                                   TC_NPU_IFM2_REGION, TC_NPU_IFM2_BASE0};
static const map_code ofm_code = {TC_NPU_OFM_ZERO_POINT, TC_NPU_OFM_WIDTH0_M1, TC_NPU_OFM_REGION,
                                  TC_NPU_OFM_BASE0};

static void read_map(const tc_npu_walk *w, const map_code *code, uint16_t precision,
                     int precision_at, tc_npu_map *m)
{
    *m = (tc_npu_map){
        .is_signed = precision & 1,
        .bytes = (uint8_t)(1 << (precision >> precision_at & 3)),
        .region = reg(w, code->region) & 7,
        .format = precision >> 6 & 3 ? TC_NHCWB16 : TC_NHWC,
        .storage = is_u85(w) ? (tc_npu_storage)(precision >> 14 & 3) : TC_STORE_TILES,
        .zero = signed16(w, code->zero),
        .width0 = extent(w, code->width0),
        .height0 = extent(w, code->width0 + 1),
        .height1 = extent(w, code->width0 + 2),
        .stride_x = stride(w, code->base + 4),
        .stride_y = stride(w, code->base + 5),
        .stride_c = stride(w, code->base + 6),
    };
    for (int i = 0; i < 4; i++)
        m->base[i] = address(w, code->base + i);
}

static void read_maps(const tc_npu_walk *w, tc_npu_op *op)
{
    uint16_t ofm = reg(w, TC_NPU_OFM_PRECISION);
    read_map(w, &ifm_code, reg(w, TC_NPU_IFM_PRECISION), 2, &op->ifm);
    op->depth = extent(w, TC_NPU_IFM_DEPTH_M1);
    read_map(w, &ifm2_code, reg(w, TC_NPU_IFM2_PRECISION), 2, &op->ifm2);
    read_map(w, &ofm_code, ofm, 1, &op->ofm);
    op->ofm.h = extent(w, TC_NPU_OFM_HEIGHT_M1);
    op->ofm.w = extent(w, TC_NPU_OFM_WIDTH_M1);
    op->ofm.c = extent(w, TC_NPU_OFM_DEPTH_M1);
    op->ofm.used = op->ofm.storage != TC_STORE_NONE;
    if (is_u85(w)) {
        op->reverse = ofm >> 9 & 3;
        op->transpose = ofm >> 11 & 7;
    }
}

/* ---- the window ---- */

/* The registers hold the dilated size of the kernel; the height that it slides over follows from
 * the output's. */
static const char *read_window(const tc_npu_walk *w, tc_npu_op *op)
{
    uint16_t k = reg(w, TC_NPU_KERNEL_STRIDE);
    tc_npu_window *v = &op->window;
    *v = (tc_npu_window){
        .stride_x = 1 + (k & 1) + 2 * (k >> 6 & 1),
        .stride_y = 1 + (k >> 1 & 1) + 2 * (k >> 9 & 1),
        .part_kernel = k >> 2 & 1,
        .dilation_x = 1 + (k >> 3 & 1),
        .dilation_y = 1 + (k >> 4 & 1),
        .decompose_4x4 = k >> 5 & 1,
        .top = reg(w, TC_NPU_IFM_PAD_TOP) & 0x7f,
        .left = reg(w, TC_NPU_IFM_PAD_LEFT) & 0x7f,
        .right = reg(w, TC_NPU_IFM_PAD_RIGHT) & 0xff,
        .bottom = reg(w, TC_NPU_IFM_PAD_BOTTOM) & 0xff,
        .upscale = (tc_npu_upscale)(reg(w, TC_NPU_IFM_UPSCALE) & 3),
    };
    v->kh = reg(w, TC_NPU_KERNEL_HEIGHT_M1) / v->dilation_y + 1;
    v->kw = reg(w, TC_NPU_KERNEL_WIDTH_M1) / v->dilation_x + 1;
    v->ih = (op->ofm.h - 1) * v->stride_y + (v->kh - 1) * v->dilation_y + 1 - v->top - v->bottom;
    v->iw = (op->ofm.w - 1) * v->stride_x + (v->kw - 1) * v->dilation_x + 1 - v->left - v->right;
    if (v->ih < 1 || v->iw < 1)
        return "the padding leaves nothing of the input";
    if (v->upscale > TC_UPSCALE_ZEROS)
        return "an unknown way to upscale";
    op->ifm.h = v->upscale ? (v->ih + 1) / 2 : v->ih;
    op->ifm.w = v->upscale ? (v->iw + 1) / 2 : v->iw;
    return NULL;
}

/* ---- scaling, activation, accumulators ---- */

static const tc_npu_round round_u55[] = {TC_ROUND_DOUBLE, TC_ROUND_TO_ZERO, TC_ROUND_NATURAL,
                                         TC_ROUND_NATURAL};

static tc_npu_scale read_scale(const tc_npu_walk *w, int code)
{
    uint16_t p = param(w, code);
    if (!is_u85(w))
        return (tc_npu_scale){.multiplier = payload(w, code), .shift = p & 63};
    return (tc_npu_scale){.multiplier = payload(w, code) & 0x7fffffff,
                          .shift = p & 63,
                          .double_bits = p >> 6 & 31,
                          .round = (tc_npu_round)(p >> 13 & 7)};
}

static void read_scales(const tc_npu_walk *w, tc_npu_op *op)
{
    op->per_channel = !(reg(w, TC_NPU_OFM_PRECISION) >> 8 & 1);
    op->ofm_scale = read_scale(w, TC_NPU_OFM_SCALE);
    op->scale_region = reg(w, TC_NPU_SCALE_REGION) & 7;
    op->scale_base[0] = address(w, TC_NPU_SCALE_BASE);
    op->scale_bytes[0] = payload(w, TC_NPU_SCALE_LENGTH);
    if (is_u85(w)) {
        op->ifm_scale = read_scale(w, TC_NPU_IFM_SCALE);
        op->ifm2_scale = read_scale(w, TC_NPU_IFM2_SCALE);
        op->ifm_scale.round &= 1;
        op->ifm2_scale.round &= 1;
        op->scalar = (int32_t)payload(w, TC_NPU_OP_SCALAR);
        return;
    }
    op->ofm_scale.round = round_u55[reg(w, TC_NPU_OFM_PRECISION) >> 14 & 3];
    op->ifm_scale = read_scale(w, TC_NPU_OPA_SCALE);
    op->ifm_scale.round = round_u55[reg(w, TC_NPU_IFM_PRECISION) >> 14 & 3];
    op->ifm2_scale = (tc_npu_scale){.multiplier = payload(w, TC_NPU_OPB_SCALE) & 0xffff,
                                    .round = op->ifm_scale.round};
    op->scale_mode = reg(w, TC_NPU_IFM_PRECISION) >> 8 & 3;
    if (w->machine->cores == 2) {
        op->scale_base[1] = address(w, TC_NPU_SCALE1_BASE);
        op->scale_bytes[1] = payload(w, TC_NPU_SCALE1_LENGTH);
    }
}

static void read_activation(const tc_npu_walk *w, tc_npu_op *op)
{
    uint16_t a = reg(w, TC_NPU_ACTIVATION);
    op->function = a & 31;
    op->table = is_u85(w) ? a >> 5 & 7 : op->function >= TC_NPU_LOOKUP ? op->function & 7 : 0;
    if (!is_u85(w) && op->function >= TC_NPU_LOOKUP)
        op->function = TC_NPU_LOOKUP;
    op->clip = (uint8_t)(is_u85(w) ? a >> 12 & 1 : a >> 12 & 7);
    op->lo = signed16(w, TC_NPU_ACTIVATION_MIN);
    op->hi = signed16(w, TC_NPU_ACTIVATION_MAX);
}

static void read_accumulator(const tc_npu_walk *w, tc_npu_op *op)
{
    static const uint8_t bits[2][4] = {{32, 40, 16, 16}, {32, 48, 32, 32}};
    uint16_t a = reg(w, TC_NPU_ACC_FORMAT);
    op->acc_bits = bits[is_u85(w)][a & 3];
    op->acc_output = true;
    op->cores = (uint8_t)w->machine->cores;
    if (is_u85(w)) {
        op->acc_input = a >> 4 & 3;
        op->acc_output = !(a >> 6 & 1);
        op->microblock = a >> 8 & 7;
    } else if (w->machine->cores == 2 && !(reg(w, TC_NPU_PARALLEL_MODE) & 1))
        op->cores = 1;
}

static void read_weights(const tc_npu_walk *w, tc_npu_op *op)
{
    static const int base[] = {TC_NPU_WEIGHT_BASE, TC_NPU_WEIGHT1_BASE, TC_NPU_WEIGHT2_BASE,
                               TC_NPU_WEIGHT3_BASE};
    tc_npu_weights *v = &op->weights;
    v->region = reg(w, TC_NPU_WEIGHT_REGION) & 7;
    for (int i = 0; i < op->cores; i++) {
        v->base[i] = address(w, base[i]);
        v->bytes[i] = payload(w, base[i] + 1);
    }
    if (is_u85(w)) {
        v->fast = reg(w, TC_NPU_WEIGHT_FORMAT) & 1;
        v->sparse = reg(w, TC_NPU_WEIGHT_FORMAT) >> 4 & 1;
    }
}

static void read_blocks(const tc_npu_walk *w, tc_npu_op *op)
{
    op->block =
        (tc_npu_block){extent(w, TC_NPU_OFM_BLK_HEIGHT_M1), extent(w, TC_NPU_OFM_BLK_WIDTH_M1),
                       extent(w, TC_NPU_OFM_BLK_DEPTH_M1)};
    op->blockdep = reg(w, TC_NPU_BLOCKDEP) & 7;
    if (!is_u85(w)) {
        op->ib_end = reg(w, TC_NPU_IFM_IB_END) & 63;
        op->ib2_start = reg(w, TC_NPU_IFM2_IB_START) & 63;
        op->ab_start = reg(w, TC_NPU_AB_START) & 63;
    }
}

/* ---- operations ---- */

static void whole(tc_npu_map *m, int32_t h, int32_t w, int32_t c)
{
    m->used = true;
    m->h = h;
    m->w = w;
    m->c = c;
}

/* IFM2 as what accumulators start from. */
static void read_start(tc_npu_op *op)
{
    if (op->acc_input == 2)
        whole(&op->ifm2, op->ofm.h, op->ofm.w, op->ofm.c);
}

static const char *read_conv(const tc_npu_walk *w, tc_npu_op *op)
{
    const char *wrong = read_window(w, op);
    if (wrong)
        return wrong;
    read_weights(w, op);
    op->weights_ifm2 = is_u85(w) && op->kind == TC_NPU_KIND_CONV && op->param & 1;
    int32_t depth = extent(w, TC_NPU_IFM_DEPTH_M1);
    if (op->kind == TC_NPU_KIND_DEPTHWISE)
        depth = op->ofm.c;
    whole(&op->ifm, op->ifm.h, op->ifm.w, depth);
    read_start(op);
    if (!op->weights_ifm2)
        return NULL;
    if (op->acc_input == 2)
        return "ifm2 cannot be both weights and what accumulators start from";
    if (op->window.kh != 1 || op->window.kw != 1)
        return "weights from ifm2 are of a 1x1 kernel";
    whole(&op->ifm2, 1, op->ofm.c, depth);
    return NULL;
}

/* U55 does not scale maxima, nor averages at a border, which it divides itself: Vela before 5.0
 * gives them no scale, and declares it in the scale stream. */
static void drop_pool_scale(tc_npu_op *op)
{
    const tc_npu_window *v = &op->window;
    bool padded = v->top || v->left || v->bottom || v->right;
    if (!op->per_channel || (op->mode != TC_POOL_MAX && !(op->mode == TC_POOL_AVERAGE && padded)))
        return;
    op->per_channel = false;
    op->ofm_scale = (tc_npu_scale){.multiplier = 1, .round = op->ofm_scale.round};
}

static const char *read_pool(const tc_npu_walk *w, tc_npu_op *op)
{
    op->mode = op->param & 7;
    if (!is_u85(w) && op->mode > TC_POOL_REDUCE_SUM)
        return "the machine has no such pool";
    if (op->mode != TC_POOL_NONE) {
        const char *wrong = read_window(w, op);
        if (wrong)
            return wrong;
        if (!is_u85(w))
            drop_pool_scale(op);
        whole(&op->ifm, op->ifm.h, op->ifm.w,
              op->mode == TC_POOL_REDUCE_SUM ? extent(w, TC_NPU_IFM_DEPTH_M1) : op->ofm.c);
    } else
        op->window = (tc_npu_window){.kh = 1,
                                     .kw = 1,
                                     .stride_y = 1,
                                     .stride_x = 1,
                                     .dilation_y = 1,
                                     .dilation_x = 1,
                                     .ih = op->ofm.h,
                                     .iw = op->ofm.w};
    read_start(op);
    return NULL;
}

static bool is_unary(uint8_t mode)
{
    return mode == TC_EW_LRELU || mode == TC_EW_ABS || mode == TC_EW_CLZ || mode == TC_EW_NOT;
}

static void read_operand(tc_npu_op *op, tc_npu_map *m, uint8_t broadcast)
{
    m->broadcast = broadcast;
    whole(m, broadcast & TC_BROADCAST_H ? 1 : op->ofm.h, broadcast & TC_BROADCAST_W ? 1 : op->ofm.w,
          broadcast & TC_BROADCAST_C ? 1 : op->ofm.c);
}

static const char *read_eltwise(const tc_npu_walk *w, tc_npu_op *op)
{
    op->mode = op->param & 63;
    if (*ti_npu_mode_name(op->kind, op->mode) == '?' || (!is_u85(w) && op->mode > TC_EW_SHL))
        return "the machine has no such elementwise operation";
    uint16_t second = reg(w, TC_NPU_IFM2_BROADCAST);
    if (is_u85(w)) {
        read_operand(op, &op->ifm, reg(w, TC_NPU_IFM_BROADCAST) & 15);
        if (op->ifm.storage == TC_STORE_NONE)
            op->ifm.broadcast |= TC_BROADCAST_SCALAR;
        if (!is_unary(op->mode))
            read_operand(op, &op->ifm2, second & 15);
        if (op->ifm2.used && op->ifm2.storage == TC_STORE_NONE)
            op->ifm2.broadcast |= TC_BROADCAST_SCALAR;
        return NULL;
    }
    read_operand(op, &op->ifm, 0);
    if (is_unary(op->mode))
        return NULL;
    read_operand(op, &op->ifm2, (uint8_t)((second & 7) | (second >> 7 & 1) << 3));
    op->swapped = second >> 6 & 1;
    op->scalar = op->ifm2.is_signed ? signed16(w, TC_NPU_IFM2_SCALAR) : reg(w, TC_NPU_IFM2_SCALAR);
    return NULL;
}

static tc_npu_axis read_axis(const tc_npu_walk *w, int scale, int offset, int step)
{
    tc_npu_axis a = {.scale = (reg(w, scale) & 0x7ff) + 1,
                     .offset = signed_bits(reg(w, offset), 12),
                     .one_int = param(w, step) & 15,
                     .one_mod = (int32_t)(payload(w, step) & 0x7ff),
                     .block_int = param(w, step) >> 4 & 0x7ff,
                     .block_mod = (int32_t)(payload(w, step) >> 16 & 0x7ff)};
    a.step = a.one_int * a.scale + a.one_mod;
    return a;
}

static const char *read_resize(const tc_npu_walk *w, tc_npu_op *op)
{
    op->mode = op->param & 3;
    if (op->mode > TC_NPU_NEAREST)
        return "the machine has no such way to resize";
    op->y = read_axis(w, TC_NPU_RESIZE_Y_SCALE_N_M1, TC_NPU_RESIZE_Y_OFFSET, TC_NPU_RESIZE_Y_STEP);
    op->x = read_axis(w, TC_NPU_RESIZE_X_SCALE_N_M1, TC_NPU_RESIZE_X_OFFSET, TC_NPU_RESIZE_X_STEP);
    op->window = (tc_npu_window){.kh = extent(w, TC_NPU_KERNEL_HEIGHT_M1),
                                 .kw = extent(w, TC_NPU_KERNEL_WIDTH_M1),
                                 .stride_y = 1,
                                 .stride_x = 1,
                                 .dilation_y = 1,
                                 .dilation_x = 1};
    op->window.ih = op->window.kh;
    op->window.iw = op->window.kw;
    whole(&op->ifm, op->window.kh, op->window.kw, op->ofm.c);
    return NULL;
}

/* U65's strides are what is skipped between rows of `bytes`; U55 and one dimension have none. */
static const char *read_dma(const tc_npu_walk *w, tc_npu_op *op)
{
    uint16_t src = reg(w, TC_NPU_DMA0_SRC_REGION), dst = reg(w, TC_NPU_DMA0_DST_REGION);
    int dims = 1 + (src >> 9 & 3);
    tc_npu_dma *d = &op->dma;
    *d = (tc_npu_dma){.src_region = src & 7,
                      .dst_region = dst & 7,
                      .src_internal = src >> 8 & 1,
                      .dst_internal = dst >> 8 & 1,
                      .src = address(w, TC_NPU_DMA0_SRC),
                      .dst = address(w, TC_NPU_DMA0_DST),
                      .bytes = address(w, TC_NPU_DMA0_LEN),
                      .rows = 1,
                      .planes = 1};
    if (dims > 3 || (dims > 1 && w->machine->product == TC_U55))
        return "the machine has no DMA of so many dimensions";
    if (is_u85(w)) {
        d->src_indexed = src >> 11 & 1;
        d->dst_indexed = dst >> 11 & 1;
        if (d->src_indexed && d->dst_indexed)
            return "source and destination of a DMA are both indexed";
        d->index_region = reg(w, TC_NPU_DMA0_IDX_REGION) & 7;
        d->index = address(w, TC_NPU_DMA0_IDX);
        d->index_max = payload(w, TC_NPU_DMA0_IDX_MAX) & 0x7fffffff;
        d->index_skip = (int64_t)address(w, TC_NPU_DMA0_IDX_SKIP1);
        d->src_row = stride(w, TC_NPU_DMA0_SRC_STRIDE0);
        d->src_plane = stride(w, TC_NPU_DMA0_SRC_STRIDE1);
        d->dst_row = stride(w, TC_NPU_DMA0_DST_STRIDE0);
        d->dst_plane = stride(w, TC_NPU_DMA0_DST_STRIDE1);
    }
    if (dims > 1 || d->src_indexed || d->dst_indexed)
        d->rows = reg(w, TC_NPU_DMA0_SIZE0);
    if (dims > 2)
        d->planes = reg(w, TC_NPU_DMA0_SIZE1);
    if (w->machine->product == TC_U65 && dims > 1) {
        bool scatter = dst >> 9 & 3;
        int64_t bytes = (int64_t)d->bytes, row = bytes + stride(w, TC_NPU_DMA0_SKIP0);
        int64_t plane = row * d->rows + stride(w, TC_NPU_DMA0_SKIP1);
        if (plane > INT64_C(1) << 46 || plane < -(INT64_C(1) << 46))
            return "the rows of a DMA reach beyond every memory";
        d->src_row = scatter ? bytes : row;
        d->src_plane = scatter ? bytes * d->rows : plane;
        d->dst_row = scatter ? row : bytes;
        d->dst_plane = scatter ? plane : bytes * d->rows;
    }
    return NULL;
}

typedef const char *read_kind(const tc_npu_walk *w, tc_npu_op *op);
static const struct {
    int code;
    tc_npu_kind kind;
    read_kind *read;
} kinds[] = {
    {TC_NPU_STOP, TC_NPU_KIND_STOP, NULL},
    {TC_NPU_IRQ, TC_NPU_KIND_IRQ, NULL},
    {TC_NPU_PMU_MASK, TC_NPU_KIND_PMU, NULL},
    {TC_NPU_KERNEL_WAIT, TC_NPU_KIND_KERNEL_WAIT, NULL},
    {TC_NPU_DMA_WAIT, TC_NPU_KIND_DMA_WAIT, NULL},
    {TC_NPU_BRANCH, TC_NPU_KIND_BRANCH, NULL},
    {TC_NPU_DMA_START, TC_NPU_KIND_DMA, read_dma},
    {TC_NPU_CONV, TC_NPU_KIND_CONV, read_conv},
    {TC_NPU_DEPTHWISE, TC_NPU_KIND_DEPTHWISE, read_conv},
    {TC_NPU_POOL, TC_NPU_KIND_POOL, read_pool},
    {TC_NPU_ELEMENTWISE, TC_NPU_KIND_ELEMENTWISE, read_eltwise},
    {TC_NPU_RESIZE, TC_NPU_KIND_RESIZE, read_resize},
};

static const char *read_kernel(const tc_npu_walk *w, read_kind *read, tc_npu_op *op)
{
    read_maps(w, op);
    read_accumulator(w, op);
    read_scales(w, op);
    read_activation(w, op);
    read_blocks(w, op);
    if (op->ofm_scale.round > TC_ROUND_DOWN)
        return "an unknown rounding mode";
    if (op->acc_input > 2)
        return "an unknown start of accumulators";
    if (op->transpose == 4 || op->transpose == 5)
        return "an unknown transposition";
    return read(w, op);
}

static const char *read_op(const tc_npu_walk *w, tc_npu_op *op)
{
    const tc_npu_command *c = &w->command;
    *op = (tc_npu_op){.at = c->at, .number = w->number, .param = c->param};
    for (size_t i = 0; i < TC_COUNT(kinds); i++) {
        if (kinds[i].code != c->info->code)
            continue;
        op->kind = kinds[i].kind;
        if (op->kind == TC_NPU_KIND_BRANCH) {
            op->conditional = c->param & 1;
            op->target = c->payload;
        } else if (op->kind == TC_NPU_KIND_KERNEL_WAIT || op->kind == TC_NPU_KIND_DMA_WAIT)
            op->param &= 3;
        if (ti_npu_is_kernel(op->kind))
            return read_kernel(w, kinds[i].read, op);
        return kinds[i].read ? kinds[i].read(w, op) : NULL;
    }
    return "the machine has no such command";
}

/* ---- the walk ---- */

void ti_npu_walk_begin(tc_npu_walk *walk, const tc_npu_machine *machine, tc_npu_words words)
{
    *walk = (tc_npu_walk){.machine = machine, .words = words};
}

bool ti_npu_walk_next(tc_npu_walk *w, tc_npu_op *out)
{
    if (w->given) { /* settings of the last operation are no longer fresh */
        memset(w->reg.fresh, 0, sizeof w->reg.fresh);
        memset(w->reg.fresh2, 0, sizeof w->reg.fresh2);
        w->given = false;
    }
    while (!w->error && w->at < w->words.n) {
        w->error = ti_npu_command_read(w->words, w->machine, w->at, &w->command);
        if (w->error)
            return false;
        w->at += w->command.info->words;
        if (!w->command.info->is_operation) {
            ti_npu_register_set(&w->reg, &w->command);
            continue;
        }
        w->error = read_op(w, out);
        w->number++;
        w->given = ti_npu_is_kernel(out->kind) || out->kind == TC_NPU_KIND_DMA;
        return !w->error;
    }
    return false;
}
