/* SPDX-License-Identifier: Apache-2.0 */
/* npu.c -- Ethos-U streams: recorded ones give what the TOSA suite or TensorFlow Lite gives;
 * scaling, addresses and broken programs. */
#include "npu/npu_exec.h"
#include "npu/scale.h"
#include "wire/archive.h"
#include "wire/file.h"

#include "check.h"

/* ---- recorded streams (tools/peer/npu_suite.py --record, tools/peer/npu_tflite.py) ---- */

static tc_bytes part(tc_archive *z, const char *folder, const char *name, size_t i)
{
    tc_bytes out = {0};
    tc_arena *arena = &z->ctx->arena;
    const char *path = ti_text_eq(name, "program")
                           ? ti_text_format(arena, "%s/%s", folder, name)
                           : ti_text_format(arena, "%s/%s%zu", folder, name, i);
    tc_member *m = ti_archive_find(z, path);
    CHECK(m && ti_archive_read(z, m, &out) == TC_OK);
    return out;
}

/* Twice: what an operation keeps for the next run must not change it. */
static void run_twice(tc_archive *z, const char *folder, const tc_npu_program *p)
{
    tc_arena *arena = &z->ctx->arena;
    const char *error;
    tc_npu_exec *x = ti_npu_exec_new(arena, p, &error);
    CHECK(x != NULL);
    const void **in = tc_new_n(arena, const void *, p->n_in + 1);
    void **out = tc_new_n(arena, void *, p->n_out + 1);
    for (size_t i = 0; i < p->n_in; i++) {
        tc_bytes b = part(z, folder, "in", i);
        CHECK(b.size == (size_t)p->in[i].bytes);
        in[i] = b.data;
    }
    for (size_t i = 0; i < p->n_out; i++)
        out[i] = ti_arena_raw(arena, (size_t)p->out[i].bytes);
    for (int times = 0; times < 2 && x; times++) {
        error = ti_npu_exec_run(x, in, out);
        if (error)
            fprintf(stderr, "%s: %s\n", folder, error);
        CHECK(!error);
        for (size_t i = 0; i < p->n_out; i++) {
            tc_bytes want = part(z, folder, "out", i);
            bool same =
                want.size == (size_t)p->out[i].bytes && !memcmp(want.data, out[i], want.size);
            if (!same)
                fprintf(stderr, "%s: output %zu differs\n", folder, i);
            CHECK(same);
        }
    }
}

static void recorded(const char *name, size_t least)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes bytes;
    tc_archive z;
    size_t n = 0;
    const char *path = ti_text_format(&ctx->arena, "%s/npu/%s", TOSAC_FIXTURES, name);
    if (ti_file_read(ctx, path, &bytes) != TC_OK ||
        ti_archive_open(ctx, &ctx->arena, name, NULL, bytes, &z) != TC_OK) {
        CHECK(false && "the streams are there");
        return;
    }
    for (size_t i = 0; i < z.n_member; i++) {
        size_t length = strlen(z.member[i].name);
        if (!ti_text_ends(z.member[i].name, "/program"))
            continue;
        const char *folder =
            ti_text_format(&ctx->arena, "%.*s", (int)(length - 8), z.member[i].name);
        tc_npu_program p;
        bool read = ti_npu_read_backend(ctx, NULL, part(&z, folder, "program", 0), &p) == TC_OK;
        CHECK(read && strncmp(p.machine->name, folder, strlen(p.machine->name)) == 0);
        if (read)
            run_twice(&z, folder, &p);
        n++;
    }
    CHECK(n >= least);
    tc_ctx_free(ctx);
}

/* ---- scaling ---- */

/* By the formulas, in numbers wide enough for everything here. */
static int64_t plainly(int64_t v, int64_t m, int n, int mode, int k)
{
    tc_npu_wide p = (tc_npu_wide)v * m, one = 1, half = n ? one << (n - 1) : 0;
    tc_npu_wide more = n > 31 - k ? one << (30 - k) : 0,
                add[] = {
                    v >= 0 ? half + more : half - more, half, half + more, v < 0 ? half - 1 : half,
                    p < 0 ? (one << n) - 1 : 0,         0};
    tc_npu_wide sum = n ? p + add[mode] : p, step = one << n, q = sum / step;
    return (int64_t)(q - (sum < 0 && q * step != sum));
}

static void scaling(void)
{
    static const int64_t value[] = {0,
                                    1,
                                    -1,
                                    7,
                                    -7,
                                    127,
                                    -128,
                                    40000,
                                    -40001,
                                    INT32_MAX,
                                    INT32_MIN,
                                    INT64_C(1) << 40,
                                    -(INT64_C(1) << 46) + 5};
    static const uint32_t factor[] = {0, 1, 3, 255, 32767, 1 << 30, INT32_MAX, UINT32_MAX};
    static const int shift[] = {0, 1, 2, 8, 15, 30, 31, 32, 40, 47, 62, 63};
    for (size_t i = 0; i < TC_COUNT(value); i++)
        for (size_t j = 0; j < TC_COUNT(factor); j++)
            for (size_t s = 0; s < TC_COUNT(shift); s++)
                for (int mode = 0; mode < 6; mode++)
                    for (int k = 0; k < 21; k += 5) {
                        tc_npu_wide p = (tc_npu_wide)value[i] * factor[j];
                        if (p >> shift[s] > INT64_MAX || p >> shift[s] < INT64_MIN)
                            continue;
                        CHECK(ti_npu_scaled(value[i], factor[j], shift[s], (tc_npu_round)mode, k) ==
                              plainly(value[i], factor[j], shift[s], mode, k));
                    }
}

/* ---- addresses ---- */

/* What the range says is what the formula of every element gives. */
static void addresses(void)
{
    uint32_t seed = 1;
    for (int t = 0; t < 3000; t++) {
#define PICK(n) (seed = seed * 1664525 + 1013904223, (int)((seed >> 8) % (uint32_t)(n)))
        tc_npu_map m = {.bytes = (uint8_t)(1 << PICK(4))};
        m.format = (tc_npu_format)PICK(2);
        m.width0 = 1 + PICK(4);
        m.height0 = 1 + PICK(4);
        m.height1 = 1 + PICK(4);
        m.stride_x = PICK(200) - 50;
        m.stride_y = PICK(2000) - 300;
        m.stride_c = PICK(3000) - 500;
        for (int i = 0; i < 4; i++)
            m.base[i] = (uint64_t)PICK(100000);
        int32_t h = 1 + PICK(6), w = 1 + PICK(6), c = 1 + PICK(40);
        int64_t lo = INT64_MAX, hi = INT64_MIN, e = m.bytes;
        for (int32_t y = 0; y < h; y++)
            for (int32_t x = 0; x < w; x++)
                for (int32_t k = 0; k < c; k++) {
                    bool right = x >= m.width0, low = y >= (right ? m.height1 : m.height0);
                    int64_t ty = y - (low ? right ? m.height1 : m.height0 : 0),
                            tx = x - (right ? m.width0 : 0);
                    int64_t at = (int64_t)m.base[right + 2 * low] + ty * m.stride_y;
                    at += m.format == TC_NHWC ? tx * m.stride_x + k * e
                                              : tx * 16 * e + k / 16 * m.stride_c + k % 16 * e;
                    lo = at < lo ? at : lo;
                    hi = at + e > hi ? at + e : hi;
                }
        tc_npu_range r = ti_npu_map_range(&m, h, w, c);
        CHECK(r.lo <= lo && r.hi >= hi);
        if (m.stride_c >= 16 * e || m.format == TC_NHWC)
            CHECK(r.lo == lo && r.hi == hi);
    }
}

/* ---- programs that are none ---- */

static void broken(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_npu_program p = {0};
    static const uint8_t none[] = "COP1", unknown[] = {'C', 'O', 'P', '1', 9, 0, 0, 0},
                         machine[] = {'C', 'O', 'P', '1', 1, 0, 16, 0, 3, 0, 0, 0x70, 0, 0, 0, 0};
    CHECK(ti_npu_read_driver(ctx, NULL, (tc_bytes){none, 4}, &p) == TC_BAD_MODEL);
    CHECK(ti_npu_read_driver(ctx, NULL, (tc_bytes){unknown, 8}, &p) == TC_BAD_MODEL);
    CHECK(ti_npu_read_driver(ctx, NULL, (tc_bytes){machine, 16}, &p) == TC_BAD_MODEL);
    CHECK(ti_npu_read_driver(ctx, NULL, (tc_bytes){none, 0}, &p) == TC_BAD_MODEL);
    CHECK(ctx->n_error == 4);
    CHECK(ti_npu_machine_of(0x00001807) == ti_npu_machine_find("ethos-u55-128"));
    CHECK(ti_npu_machine_of(0x20000118) == ti_npu_machine_find("ethos-u85-256"));
    CHECK(!ti_npu_machine_of(0x30000118) && !ti_npu_machine_find("ethos-u85-3"));
    tc_ctx_free(ctx);
}

/* A loop without end, an output outside its region, a stream without STOP: an answer each. */
static void faults(void)
{
    static const uint32_t loop[] = {0x4100, 0},
                          outside[] = {0x00000111, 0x00000112, 0x00000113, 0x4010, 4096, 0x0005},
                          open[] = {0x00000111};
    static const struct {
        const uint32_t *word;
        size_t n;
        const char *says;
    } row[] = {{loop, 2, "does more than"}, {outside, 6, "region"}, {open, 1, "without STOP"}};
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_npu_program p = {.machine = ti_npu_machine_find("ethos-u85-256"), .scratch = 64};
        p.words = (tc_npu_words){(const uint8_t *)row[i].word, row[i].n};
        const char *error;
        tc_npu_exec *x = ti_npu_exec_new(&ctx->arena, &p, &error);
        error = ti_npu_exec_run(x, NULL, NULL);
        CHECK(error && strstr(error, row[i].says));
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    recorded("streams.zip", 50);
    recorded("tflite.zip", 40);
    scaling();
    addresses();
    broken();
    faults();
    return check_done();
}
