/* SPDX-License-Identifier: Apache-2.0 */
/* npu_verify.c -- the verifier: a walk over the operations, each through every check. */
#include "verifier.h"

#include <stdarg.h>
#include <stdio.h>

enum { ERROR = 1, DOUBT = 0 };
const tc_npu_check_info tc_npu_checks[TC_CHECK_COUNT] = {
#define FINDING(name, kind, doc) {#name, kind, doc},
#include "verify.def"
};

static const char *operation_name(tc_ctx *ctx, const tc_npu_op *op)
{
    const char *mode = ti_npu_mode_name(op->kind, op->mode);
    return *mode == '?' ? ti_npu_kind_name(op->kind)
                        : ti_text_format(&ctx->arena, "%s %s", ti_npu_kind_name(op->kind), mode);
}

/* Room for one more: in a full list an error replaces the last doubt. */
static bool make_room(tc_npu_findings *out, tc_npu_check check)
{
    if (out->n < TC_NPU_FINDINGS)
        return true;
    size_t i = out->n;
    while (i > 0 && tc_npu_checks[out->list[i - 1].check].is_error)
        i--;
    if (i == 0 || !tc_npu_checks[check].is_error)
        return false;
    memmove(&out->list[i - 1], &out->list[i], (out->n - i) * sizeof *out->list);
    out->n--;
    return true;
}

void ti_npu_found(tc_npu_verifier *v, tc_npu_check check, const char *format, ...)
{
    tc_npu_findings *out = v->out;
    if (tc_npu_checks[check].is_error)
        out->n_error++;
    else
        out->n_doubt++;
    if (!make_room(out, check))
        return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out->list[out->n++] =
        (tc_npu_finding){.check = check,
                         .at = v->op ? v->op->at : SIZE_MAX,
                         .number = v->op ? v->op->number : 0,
                         .operation = v->op ? operation_name(v->ctx, v->op) : NULL,
                         .text = ti_text_format(&v->ctx->arena, "%s", text)};
}

/* ---- registers ---- */

/* Which operations read a register that must have been set, a bit each. */
enum {
    C = 1 << TC_NPU_KIND_CONV,
    D = 1 << TC_NPU_KIND_DEPTHWISE,
    P = 1 << TC_NPU_KIND_POOL,
    E = 1 << TC_NPU_KIND_ELEMENTWISE,
    R = 1 << TC_NPU_KIND_RESIZE,
    M = 1 << TC_NPU_KIND_DMA,
    WINDOW = C | D | P,
    ALL = WINDOW | E | R
};

static const struct {
    int code, kinds;
} needed[] = {
    {TC_NPU_IFM_PAD_TOP, WINDOW},
    {TC_NPU_IFM_PAD_LEFT, WINDOW},
    {TC_NPU_IFM_PAD_RIGHT, WINDOW},
    {TC_NPU_IFM_PAD_BOTTOM, WINDOW},
    {TC_NPU_IFM_DEPTH_M1, C},
    {TC_NPU_IFM_PRECISION, ALL},
    {TC_NPU_IFM_UPSCALE, WINDOW},
    {TC_NPU_OFM_WIDTH_M1, ALL},
    {TC_NPU_OFM_HEIGHT_M1, ALL},
    {TC_NPU_OFM_DEPTH_M1, ALL},
    {TC_NPU_OFM_PRECISION, ALL},
    {TC_NPU_OFM_BLK_WIDTH_M1, ALL},
    {TC_NPU_OFM_BLK_HEIGHT_M1, ALL},
    {TC_NPU_OFM_BLK_DEPTH_M1, ALL},
    {TC_NPU_OFM_ZERO_POINT, ALL},
    {TC_NPU_KERNEL_WIDTH_M1, WINDOW},
    {TC_NPU_KERNEL_HEIGHT_M1, WINDOW},
    {TC_NPU_KERNEL_STRIDE, WINDOW},
    {TC_NPU_ACC_FORMAT, WINDOW},
    {TC_NPU_ACTIVATION, ALL},
    {TC_NPU_ACTIVATION_MIN, ALL},
    {TC_NPU_ACTIVATION_MAX, ALL},
    {TC_NPU_BLOCKDEP, ALL},
    {TC_NPU_DMA0_SRC_REGION, M},
    {TC_NPU_DMA0_DST_REGION, M},
};

static void verify_registers(tc_npu_verifier *v, const tc_npu_walk *walk, const tc_npu_op *op)
{
    for (size_t i = 0; i < TC_COUNT(needed); i++)
        if (needed[i].kinds >> op->kind & 1 && !walk->reg.known[needed[i].code - 256])
            for (size_t k = 0; k < tc_npu_n_command; k++)
                if (tc_npu_commands[k].code == needed[i].code && tc_npu_commands[k].words == 1 &&
                    tc_npu_commands[k].products >> v->machine->product & 1)
                    ti_npu_found(v, TC_CHECK_UNSET, "it needs %s, which was never set",
                                 tc_npu_commands[k].name);
    const struct {
        const tc_npu_map *map;
        int base, region;
        const char *name;
    } map[] = {{&op->ifm, TC_NPU_IFM_BASE0, TC_NPU_IFM_REGION, "IFM"},
               {&op->ifm2, TC_NPU_IFM2_BASE0, TC_NPU_IFM2_REGION, "IFM2"},
               {&op->ofm, TC_NPU_OFM_BASE0, TC_NPU_OFM_REGION, "OFM"}};
    for (size_t i = 0; i < TC_COUNT(map) && ti_npu_is_kernel(op->kind); i++) {
        const tc_npu_map *m = map[i].map;
        if (!m->used || m->broadcast & TC_BROADCAST_SCALAR || m->storage > TC_STORE_TILES_3X1)
            continue;
        if (!walk->reg.known[map[i].region - 256])
            ti_npu_found(v, TC_CHECK_UNSET, "it needs %s_REGION, which was never set", map[i].name);
        if (!walk->reg.known2[map[i].base])
            ti_npu_found(v, TC_CHECK_UNSET, "it needs %s_BASE0, which was never set", map[i].name);
    }
}

/* ---- alignment ---- */

static void aligned(tc_npu_verifier *v, const char *what, uint64_t value, uint64_t unit)
{
    if (value % unit)
        ti_npu_found(v, TC_CHECK_ALIGN, "its %s is %" PRIu64 ", no multiple of %" PRIu64, what,
                     value, unit);
}

static uint64_t size_of(int64_t v)
{
    return (uint64_t)(v < 0 ? -v : v);
}

/* Addresses and steps are multiples of an element, or of 16 bytes, even if unused; channels are
 * contiguous. */
static void verify_map(tc_npu_verifier *v, const tc_npu_map *m, const char *what, int32_t h,
                       int32_t w)
{
    if (!m->used || m->broadcast & TC_BROADCAST_SCALAR || m->storage > TC_STORE_TILES_3X1)
        return;
    bool bricks = m->format == TC_NHCWB16;
    uint64_t unit = bricks ? 16 : m->bytes;
    tc_arena *arena = &v->ctx->arena;
    for (int i = 0; i < 4; i++)
        if (m->base[i] % unit)
            aligned(v, ti_text_format(arena, "%s base %d", what, i), m->base[i], unit);
    if (size_of(m->stride_y) % unit)
        aligned(v, ti_text_format(arena, "%s stride of rows", what), size_of(m->stride_y), unit);
    if (size_of(m->stride_x) % unit)
        aligned(v, ti_text_format(arena, "%s stride of columns", what), size_of(m->stride_x), unit);
    if (bricks && size_of(m->stride_c) % unit)
        aligned(v, ti_text_format(arena, "%s stride of bricks", what), size_of(m->stride_c), unit);
    int64_t bytes =
        ti_npu_region_bytes(v->program, m->region == 2 && v->program->fast == 0 ? 1 : m->region);
    for (int i = 1; i < 4; i++)
        if (m->base[i] > (uint64_t)bytes)
            ti_npu_found(v, TC_CHECK_BOUNDS,
                         "its %s base %d is byte %" PRIu64 " of a region of %" PRId64, what, i,
                         m->base[i], bytes);
    bool said = m->region != 2 ||
                v->program->fast >= 0; /* else it is what is touched: a step may be more */
    if (said && (size_of(m->stride_y) > (uint64_t)bytes || size_of(m->stride_x) > (uint64_t)bytes ||
                 size_of(m->stride_c) > (uint64_t)bytes))
        ti_npu_found(v, TC_CHECK_BOUNDS,
                     "its %s goes on in steps of %" PRId64 ", %" PRId64 " and %" PRId64
                     " in a region of %" PRId64 " bytes",
                     what, m->stride_y, m->stride_x, m->stride_c, bytes);
    bool whole = m == &v->op->ofm ||
                 v->op->kind == TC_NPU_KIND_ELEMENTWISE; /* no window leaves some of it */
    if (whole && (m->height0 > h || m->height1 > h || m->width0 > w))
        ti_npu_found(v, TC_CHECK_RANGE,
                     "its %s of %d x %d has tiles of %d and %d rows and %d columns", what, h, w,
                     m->height0, m->height1, m->width0);
    int64_t apart = bricks ? m->stride_x : m->stride_c, each = bricks ? 16 * m->bytes : m->bytes;
    bool wider =
        !bricks && (apart == 2 || apart == 4 || apart == 8) && apart > each; /* moved as bytes */
    if (apart != each && !wider)
        ti_npu_found(v, TC_CHECK_STRIDE,
                     "its %s has %s %" PRId64 " bytes apart; the machine has them %" PRId64
                     " apart",
                     what, bricks ? "columns of bricks" : "channels", apart, each);
}

/* Elements that are written do not overlap: rows follow whole columns or columns follow whole rows,
 * each as large as its channels. */
static void verify_written(tc_npu_verifier *v, const tc_npu_map *m, int64_t h, int64_t w, int64_t c)
{
    if (!m->used || m->storage > TC_STORE_TILES_3X1 || m->format == TC_NHCWB16)
        return;
    int64_t x = (int64_t)size_of(m->stride_x), y = (int64_t)size_of(m->stride_y),
            each = c * m->bytes;
    bool rows = (w == 1 || x >= each) && (h == 1 || y >= (w - 1) * x + each);
    bool columns = (h == 1 || y >= each) && (w == 1 || x >= (h - 1) * y + each);
    if (!rows && !columns)
        ti_npu_found(v, TC_CHECK_OVERLAP,
                     "its ofm of %" PRId64 " x %" PRId64 " x %" PRId64 " has rows %" PRId64
                     " and columns %" PRId64 " bytes apart, so that elements share bytes",
                     h, w, c, m->stride_y, m->stride_x);
}

/* The activation's bounds are not empty, and per-channel operations have as many channels before as
 * after. */
static void verify_limits(tc_npu_verifier *v, const tc_npu_op *op)
{
    bool cuts = v->machine->product == TC_U85 ? op->clip == 0 : op->clip != 0 || op->ofm.bytes < 4;
    bool is_signed = op->ofm.is_signed || op->ofm.bytes == 1;
    if (cuts && is_signed && op->acc_output && op->lo > op->hi)
        ti_npu_found(v, TC_CHECK_RANGE, "its result is kept between %d and %d", op->lo, op->hi);
    bool one_by_one = op->kind == TC_NPU_KIND_DEPTHWISE ||
                      (op->kind == TC_NPU_KIND_POOL && op->mode != TC_POOL_REDUCE_SUM &&
                       op->mode != TC_POOL_NONE);
    if (one_by_one && op->ifm.used && op->depth != op->ofm.c)
        ti_npu_found(v, TC_CHECK_RANGE, "its ifm has %d channels, its ofm %d", op->depth,
                     op->ofm.c);
}

static void verify_streams(tc_npu_verifier *v, const tc_npu_op *op)
{
    bool weighs = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE;
    for (int i = 0; weighs && !op->weights_ifm2 && i < op->cores; i++) {
        aligned(v, "weight base", op->weights.base[i], 16);
        aligned(v, "weight length", op->weights.bytes[i], 16);
    }
    if ((!weighs && op->kind != TC_NPU_KIND_POOL) || !op->per_channel || !op->acc_output)
        return;
    int cores = v->machine->product == TC_U85 ? 1 : op->cores;
    for (int i = 0; i < cores && i < 2; i++) {
        uint64_t channels = (uint64_t)((op->ofm.c + cores - 1 - i) / cores);
        aligned(v, "scale base", op->scale_base[i], 16);
        aligned(v, "scale length", op->scale_bytes[i], 16);
        if (i == 1 && !op->scale_bytes[1] && channels)
            ti_npu_found(v, TC_CHECK_CORE,
                         "the second core has no scales for its %" PRIu64 " channels", channels);
        else if (op->scale_bytes[i] < 10 * channels)
            ti_npu_found(v, TC_CHECK_SCALES,
                         "its scales have %" PRIu64 " bytes, %" PRIu64 " channels need %" PRIu64,
                         op->scale_bytes[i], channels, 10 * channels);
    }
}

/* ---- chains and accumulators ---- */

static void verify_chain(tc_npu_verifier *v, const tc_npu_op *op)
{
    const tc_npu_map *in[] = {&op->ifm, &op->ifm2};
    for (int i = 0; i < 2; i++)
        if (in[i]->used && in[i]->storage == TC_STORE_CHAIN &&
            !(in[i]->broadcast & TC_BROADCAST_SCALAR) && !(v->chained >> in[i]->region & 1))
            ti_npu_found(v, TC_CHECK_CHAIN, "it reads chain buffer %d, which was never filled",
                         in[i]->region);
    if (op->ofm.storage == TC_STORE_CHAIN)
        v->chained |= (uint8_t)(1 << op->ofm.region);
    else
        v->chained = 0;
    const tc_npu_block now = {op->ofm.h, op->ofm.w, op->ofm.c}, *was = &v->accumulated;
    if (op->acc_input == 1 && (was->h != now.h || was->w != now.w || was->depth != now.depth))
        ti_npu_found(v, TC_CHECK_CHAIN,
                     "it goes on with accumulators of %d x %d x %d, there are %d x %d x %d", now.h,
                     now.w, now.depth, was->h, was->w, was->depth);
    bool mac = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE ||
               op->kind == TC_NPU_KIND_POOL;
    v->accumulated = mac ? now : (tc_npu_block){0};
}

/* ---- types ---- */

static void verify_types(tc_npu_verifier *v, const tc_npu_op *op)
{
    bool u85 = v->machine->product == TC_U85,
         sums = op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_REDUCE_SUM;
    bool window = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE ||
                  op->kind == TC_NPU_KIND_POOL;
    if (!op->ifm.used)
        return;
    bool picks = op->kind == TC_NPU_KIND_POOL && u85 && op->mode != TC_POOL_SUM &&
                 op->mode != TC_POOL_AVERAGE;
    if (window && !sums && !picks && op->ifm.bytes > 2)
        ti_npu_found(v, !u85 && op->kind == TC_NPU_KIND_POOL ? TC_CHECK_WIDE : TC_CHECK_TYPE,
                     "its ifm has %d bits; 8 and 16 are taken", 8 * op->ifm.bytes);
    if (sums && op->ifm.bytes == 4 && op->acc_bits > 32)
        ti_npu_found(v, TC_CHECK_TYPE, "a sum of 32 bits has accumulators of %d", op->acc_bits);
    if (!u85 && op->ofm.bytes > 4)
        ti_npu_found(v, TC_CHECK_TYPE, "its ofm has %d bits; the machine has at most 32",
                     8 * op->ofm.bytes);
    if (op->kind == TC_NPU_KIND_ELEMENTWISE && op->ifm2.used && op->ifm2.bytes != op->ifm.bytes)
        ti_npu_found(v, TC_CHECK_TYPE, "its operands have %d and %d bits", 8 * op->ifm.bytes,
                     8 * op->ifm2.bytes);
    if (op->ifm.format == TC_NHCWB16 && op->ifm.bytes == 8)
        ti_npu_found(v, TC_CHECK_TYPE, "64 bits do not come in bricks");
}

/* ---- what Vela is known to get wrong ---- */

static void verify_faults(tc_npu_verifier *v, const tc_npu_op *op)
{
    bool u85 = v->machine->product == TC_U85, ew = op->kind == TC_NPU_KIND_ELEMENTWISE;
    bool sum = ew && (op->mode == TC_EW_ADD || op->mode == TC_EW_SUB);
    if (!u85 && sum && op->scale_mode) {
        /* one operand by a 32-bit factor, the other by this, whatever OPB holds */
        uint32_t fixed = 1u << (op->ifm.bytes == 1 ? 19 : 14), said = op->ifm2_scale.multiplier;
        if (said != (fixed & 0xffff))
            ti_npu_found(v, TC_CHECK_FACTORS,
                         "one operand should be multiplied by %" PRIu32 ", and will be by %" PRIu32,
                         said, fixed);
    }
    if (!u85 && ew && op->mode == TC_EW_SHR && op->ofm_scale.round == TC_ROUND_DOUBLE)
        ti_npu_found(v, TC_CHECK_ROUNDING, "it rounds twice, as no shift of TOSA does");
    const tc_npu_window *k = &op->window;
    bool window = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE ||
                  op->kind == TC_NPU_KIND_POOL;
    int32_t kh = (k->kh - 1) * k->dilation_y + 1, kw = (k->kw - 1) * k->dilation_x + 1;
    if (window && (k->top >= kh || k->bottom >= kh || k->left >= kw || k->right >= kw))
        ti_npu_found(v, TC_CHECK_PADDING,
                     "its padding of %d, %d, %d, %d is not smaller than its kernel of %d x %d",
                     k->top, k->left, k->bottom, k->right, kh, kw);
}

/* ---- the walk ---- */

static bool has_branches(const tc_npu_program *p)
{
    tc_npu_walk walk;
    tc_npu_op op;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op))
        if (op.kind == TC_NPU_KIND_BRANCH)
            return true;
    return false;
}

/* Whether a command begins at the byte. */
static bool begins(const tc_npu_program *p, uint32_t byte)
{
    tc_npu_command c;
    size_t at = 0, word = byte / 4;
    while (at < word && at < p->words.n && !ti_npu_command_read(p->words, p->machine, at, &c))
        at += c.info->words;
    return byte % 4 == 0 && at == word && at < p->words.n;
}

static void verify_op(tc_npu_verifier *v, const tc_npu_walk *walk, const tc_npu_op *op)
{
    v->op = op;
    v->out->n_operation += ti_npu_is_kernel(op->kind) || op->kind == TC_NPU_KIND_DMA;
    verify_registers(v, walk, op);
    if (ti_npu_is_kernel(op->kind)) {
        int32_t h, w, c;
        ti_npu_written(op, &h, &w, &c);
        verify_map(v, &op->ifm, "ifm", op->ifm.h, op->ifm.w);
        verify_map(v, &op->ifm2, "ifm2", op->ifm2.h, op->ifm2.w);
        verify_map(v, &op->ofm, "ofm", h, w);
        verify_written(v, &op->ofm, h, w, c);
        verify_limits(v, op);
        verify_streams(v, op);
        verify_types(v, op);
        verify_chain(v, op);
        ti_npu_verify_block(v, op);
        verify_faults(v, op);
    } else if (op->kind == TC_NPU_KIND_BRANCH && !begins(v->program, op->target))
        ti_npu_found(v, TC_CHECK_TARGET, "it goes to byte %" PRIu32 ", where no command begins",
                     op->target);
    ti_npu_memory_op(v, op);
}

void ti_npu_verify(tc_ctx *ctx, const tc_npu_program *program, tc_npu_findings *out)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    *out = (tc_npu_findings){.list = tc_new_n(&ctx->arena, tc_npu_finding, TC_NPU_FINDINGS)};
    tc_npu_verifier *v = tc_new(&ctx->scratch, tc_npu_verifier);
    v->ctx = ctx;
    v->program = program;
    v->machine = program->machine;
    v->out = out;
    v->branches = has_branches(program);
    ti_npu_memory_begin(v);
    tc_npu_walk walk;
    tc_npu_op op;
    bool ended = false;
    ti_npu_walk_begin(&walk, program->machine, program->words);
    while (!(ended && !v->branches) && ti_npu_walk_next(&walk, &op)) {
        verify_op(v, &walk, &op);
        ended = op.kind == TC_NPU_KIND_STOP;
        if (ended && op.param != 0xffff)
            ti_npu_found(v, TC_CHECK_STOP, "its mask is %#x, not 0xffff", op.param);
    }
    v->op = NULL;
    if (walk.error)
        ti_npu_found(v, TC_CHECK_COMMAND, "word %zu: %s", walk.command.at, walk.error);
    else {
        if (!ended)
            ti_npu_found(v, TC_CHECK_STOP, "the stream has no STOP at its end");
        ti_npu_memory_end(v);
    }
    ti_arena_rewind(&ctx->scratch, mark);
}

tc_status ti_npu_tell(tc_ctx *ctx, const tc_loc *loc, const tc_npu_findings *found,
                      tc_npu_where *where, void *user)
{
    tc_status worst = TC_OK;
    for (size_t i = 0; i < found->n; i++) {
        const tc_npu_finding *f = &found->list[i];
        const char *place =
            f->at == SIZE_MAX
                ? ""
                : ti_text_format(&ctx->arena, "word %zu, operation %zu%s%s: ", f->at, f->number,
                                 f->operation ? ", " : "", f->operation ? f->operation : "");
        if (tc_npu_checks[f->check].is_error)
            worst = ti_error(ctx, loc, TC_E_STREAM, "%s%s", place, f->text);
        else
            ti_warning(ctx, loc, TC_E_STREAM, "%s%s", place, f->text);
        const tc_loc *from = where && f->at != SIZE_MAX ? where(user, f->at) : NULL;
        if (from)
            ti_note(ctx, from, "it computes this");
    }
    size_t more = found->n_error + found->n_doubt - found->n;
    if (more)
        ti_note(ctx, loc, "and %zu more", more);
    return worst;
}
