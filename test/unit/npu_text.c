/* SPDX-License-Identifier: Apache-2.0 */
/* npu_text.c -- operations as text. */
#include "check.h"

#include <string.h>

#include "base/diag.h"
#include "npu/npu_text.h"

static const char *said(tc_ctx *ctx, const tc_npu_op *op)
{
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    ti_npu_op_text(&b, ti_npu_machine_find("ethos-u55-128"), op);
    return ti_buf_cstr(&b);
}

static void check_text(tc_ctx *ctx)
{
    tc_npu_map
        in = {.used = true, .is_signed = true, .bytes = 1, .region = 1, .h = 4, .w = 4, .c = 8},
        out = in;
    out.base[0] = 128;
    out.c = 16;
    tc_npu_op op = {.kind = TC_NPU_KIND_CONV,
                    .ifm = in,
                    .ofm = out,
                    .block = {4, 4, 16},
                    .cores = 1,
                    .per_channel = true,
                    .acc_output = true,
                    .window = {.kh = 3,
                               .kw = 3,
                               .stride_y = 1,
                               .stride_x = 1,
                               .dilation_y = 1,
                               .dilation_x = 1,
                               .top = 1,
                               .left = 1,
                               .bottom = 1,
                               .right = 1},
                    .weights = {.bytes = {576}},
                    .ofm_scale = {.multiplier = 1}};
    CHECK(strcmp(said(ctx, &op), "CONV  4x4x8 i8 r1+0 -> 4x4x16 i8 r1+0x80, 3x3, pad 1,1,1,1, "
                                 "weights 576 of 1152 bytes (50 %), "
                                 "scales by channel, block 4x4x16") == 0);
    op = (tc_npu_op){.kind = TC_NPU_KIND_ELEMENTWISE,
                     .mode = TC_EW_ADD,
                     .ifm = in,
                     .ifm2 = in,
                     .ofm = in,
                     .block = {4, 4, 8},
                     .scalar = -3,
                     .acc_output = true,
                     .ofm_scale = {.multiplier = 5, .shift = 2}};
    op.ifm2.broadcast = TC_BROADCAST_SCALAR;
    CHECK(strcmp(said(ctx, &op),
                 "ELEMENTWISE ADD  4x4x8 i8 r1+0, -3 -> 4x4x8 i8 r1+0, scale 5>>2, block 4x4x8") ==
          0);
    op = (tc_npu_op){
        .kind = TC_NPU_KIND_DMA,
        .dma = {
            .bytes = 256, .rows = 1, .planes = 1, .src = 16, .dst = 22528, .dst_internal = true}};
    CHECK(strcmp(said(ctx, &op), "DMA  256 bytes r0+0x10 -> tables+0x5800") == 0);
    op = (tc_npu_op){.kind = TC_NPU_KIND_KERNEL_WAIT, .param = 1};
    CHECK(strcmp(said(ctx, &op), "KERNEL_WAIT 1") == 0);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    check_text(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
