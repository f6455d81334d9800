/* SPDX-License-Identifier: Apache-2.0 */
/* vela.c -- answers that Vela would never give, from a stand-in: each is refused with a message. */
#include "check.h"
#include "elsewhere.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "emit/ethosu.h"
#include "ir/graph.h"
#include "wire/file.h"
#include "wire/npy.h"
#include "zipped.h"

static char folder[] = "/tmp/tosac-vela-XXXXXX";

/* What the stand-in says; a right answer unless a test changes it. */
typedef struct answer {
    int64_t in_shape[6], out_shape[6];
    int64_t element, offset, region, scratch, fast;
    const char *type;    /* of the numbers */
    const char *missing; /* a member that is left out */
    bool short_shape;
} answer;

static answer right(void)
{
    return (answer){.in_shape = {1, 1, 1, 1, 2, 3},
                    .out_shape = {1, 1, 1, 1, 2, 3},
                    .element = 1,
                    .region = 1,
                    .scratch = 64,
                    .type = "<i8"};
}

static void add(tc_ctx *ctx, zipped *z, const answer *a, const char *name, const int64_t *v,
                int64_t n)
{
    tc_buf out;
    if (a->missing && ti_text_eq(a->missing, name))
        return;
    ti_buf_init(&out, &ctx->arena);
    ti_npy_header(&out, a->type, n > 1 ? 1 : 0, &n);
    ti_buf_put(&out, v, (size_t)n * sizeof *v);
    zipped_add(z, ti_text_format(&ctx->arena, "%s.npy", name), out.data, out.size);
}

static void add_side(tc_ctx *ctx, zipped *z, const answer *a, const char *name,
                     const int64_t shape[6])
{
    add(ctx, z, a, ti_text_format(&ctx->arena, "%s_shape", name), shape, a->short_shape ? 5 : 6);
    add(ctx, z, a, ti_text_format(&ctx->arena, "%s_elem_size", name), &a->element, 1);
    add(ctx, z, a, ti_text_format(&ctx->arena, "%s_offset", name), &a->offset, 1);
    add(ctx, z, a, ti_text_format(&ctx->arena, "%s_region", name), &a->region, 1);
}

static void add_bytes(tc_ctx *ctx, zipped *z, const char *name, const char *text)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_npy_header(&out, "|S8", 0, NULL);
    ti_buf_put(&out, text, 8);
    zipped_add(z, name, out.data, out.size);
}

static void write_answer(tc_ctx *ctx, const answer *a)
{
    zipped z;
    zipped_begin(&z, &ctx->arena);
    add_bytes(ctx, &z, "cmd_data.npy", "COP1....");
    add_bytes(ctx, &z, "weight_data.npy", "weights.");
    add(ctx, &z, a, "scratch_size", &a->scratch, 1);
    add(ctx, &z, a, "scratch_fast_size", &a->fast, 1);
    add_side(ctx, &z, a, "input", a->in_shape);
    add_side(ctx, &z, a, "output", a->out_shape);
    const char *path = ti_text_format(&ctx->arena, "%s/answer.npz", folder);
    CHECK(ti_file_write(ctx, path, zipped_end(&z)) == TC_OK);
}

static void stand_in(tc_ctx *ctx)
{
    const char *path = ti_text_format(&ctx->arena, "%s/vela" TOSAC_SCRIPT, folder);
    const char *from = ti_text_format(&ctx->arena, "%s/answer.npz", folder);
    CHECK(write_copier(path, from, "region_vela.npz") && setenv("TOSAC_VELA", path, 1) == 0);
}

/* Status and a piece of the message. */
static bool comes_to(const answer *a, tc_status status, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_target target;
    write_answer(ctx, a);
    tc_graph *g = ti_graph_new(ti_module_new(ctx, "t"), "region");
    tc_val x = ti_graph_input(g, ti_type_make(ctx, TC_i8, 2, (const int64_t[]){2, 3}), "x");
    ti_graph_output(g, x);
    tc_ethosu_job job = {.graph = g, .tosa = {(const uint8_t *)"tosa", 4}};
    tc_ethosu_options options = {.max_scratch = INT64_MAX};
    bool good = ti_target_parse(ctx, "ethos-u85-256", &target) == TC_OK;
    tc_status got = ti_emit_ethosu(ctx, &target, &options, &job, 1);
    /* another signature is a refusal of the region, half a file is a failure of the tool */
    good = good && got == status && strstr(tc_diagnostics(ctx), words) &&
           job.refused == (strstr(tc_diagnostics(ctx), "do not match the region") != NULL);
    if (!good)
        fprintf(stderr, "status %d, expected %d with '%s': %s\n", (int)got, (int)status, words,
                tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

#define CHANGED(words, ...)                                                                        \
    do {                                                                                           \
        answer a = right();                                                                        \
        __VA_ARGS__;                                                                               \
        CHECK(comes_to(&a, TC_TOOL, words));                                                       \
    } while (0)

int main(void)
{
    static const char not_ours[] = "do not match the region", half[] = "not complete";
    static const char *const member[] = {"scratch_size", "scratch_fast_size", "input_shape",
                                         "input_elem_size", "output_offset", "output_region"};
    CHECK(mkdtemp(folder) != NULL);
    tc_ctx *ctx = tc_ctx_new();
    stand_in(ctx);
    answer whole = right();
    CHECK(comes_to(&whole, TC_OK, ""));
    CHANGED(not_ours, a.in_shape[5] = 4);
    CHANGED(not_ours, a.out_shape[0] = 0);
    CHANGED(not_ours, a.in_shape[4] = -2, a.in_shape[5] = -3);
    CHANGED(not_ours, a.in_shape[0] = INT64_MAX, a.in_shape[1] = 2);
    CHANGED(not_ours, a.in_shape[0] = INT64_MIN, a.in_shape[1] = -1);
    /* 2^32 * 2^32 * 6 is 6 in 64 bits. */
    CHANGED(not_ours, a.in_shape[0] = a.in_shape[1] = INT64_C(1) << 32);
    CHANGED(not_ours, a.in_shape[0] = a.in_shape[1] = a.in_shape[2] = INT64_C(1) << 31);
    CHANGED(not_ours, a.element = 2);
    CHANGED(not_ours, a.short_shape = true);
    CHANGED(half, a.offset = -1);
    CHANGED(half, a.offset = INT64_C(1) << 32);
    CHANGED(half, a.region = INT64_MIN);
    CHANGED(half, a.scratch = -1);
    CHANGED(half, a.scratch = INT64_MAX, a.fast = INT64_MAX);
    CHANGED(half, a.fast = -1);
    CHANGED(half, a.type = "<f8");
    CHANGED(half, a.type = "<i4");
    for (size_t i = 0; i < TC_COUNT(member); i++)
        CHANGED(half, a.missing = member[i]);
    tc_ctx_free(ctx);
    CHECK(remove_folder(folder));
    return check_done();
}
