/* SPDX-License-Identifier: Apache-2.0 */
/* npu_text.c -- operations as text, and Vela's notes on where commands come from. */
#include "check.h"

#include <string.h>

#include "base/diag.h"
#include "npu/npu_text.h"
#include "npu/vela_map.h"

static const char xml[] = "<debug><table name=\"source\">\n<![CDATA[\n"
                          "\"id\",\"operator\",\"kernel_w\",\"ext_key\"\n1,\"Const\",1,0\n2,"
                          "\"Conv2D\",3,4\n]]>\n</table>\n"
                          "<table "
                          "name=\"optimised\">\n<![CDATA[\n\"id\",\"source_id\",\"operator\"\n1,1,"
                          "\"Const\"\n2,2,\"Conv2D\"\n]]>\n"
                          "<table "
                          "name=\"queue\">\n<![CDATA[\n\"offset\",\"cmdstream_id\",\"optimised_"
                          "id\",\"scheduled_id\"\n288,1,2,71\n]]>\n"
                          "<table "
                          "name=\"perf\">\n<![CDATA[\n\"id\",\"operator\",\"name\",\"op_cycles\","
                          "\"npu_cycles\"\n71,\"Conv2D\",\"a,b\",256,152\n]]>\n";

static void check_map(tc_ctx *ctx)
{
    tc_vela_map *m =
        ti_vela_map_read(&ctx->arena, (tc_bytes){(const uint8_t *)xml, sizeof xml - 1});
    CHECK(m != NULL);
    CHECK(ti_vela_map_operator(m, 72) == 4);
    CHECK(ti_vela_map_operator(m, 10) == 4); /* the registers before it are set for it */
    CHECK(ti_vela_map_operator(m, 73) == -1);
    CHECK(strcmp(ti_vela_map_node(m, 72), "Conv2D, operator 4 of the TOSA file") == 0);
    size_t n;
    const tc_vela_cost *cost = ti_vela_map_costs(m, &n);
    CHECK(n == 1 && cost[0].cycles == 256 && cost[0].npu_cycles == 152 && cost[0].word == 72);
    for (size_t cut = 0; cut < sizeof xml; cut++) /* cut anywhere: less of it, or nothing */
        m = ti_vela_map_read(&ctx->arena, (tc_bytes){(const uint8_t *)xml, cut});
    CHECK(ti_vela_map_read(&ctx->arena, (tc_bytes){NULL, 0}) == NULL);
}

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
    check_map(ctx);
    check_text(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
