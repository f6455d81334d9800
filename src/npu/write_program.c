/* SPDX-License-Identifier: Apache-2.0 */
/* write_program.c -- a stream as the driver takes it (COP1), and a program as Vela's archive. */
#include "program.h"

#include "../wire/archive.h"
#include "../wire/npy.h"

/* ---- the driver payload ---- */

const char *ti_npu_make_driver(tc_arena *arena, tc_npu_program *p)
{
    enum { STREAM_AT = 32, CONFIG = 0x00100001, STREAM = 2, NOP = 5 };
    tc_npu_words words = p->words;
    tc_buf b;
    if (!p->machine)
        return "it has no machine";
    if (!words.n || words.n >> 24)
        return "a driver takes streams of less than 2^24 words";
    p->config = p->machine->config;
    p->id = p->machine->id;
    ti_buf_init(&b, arena);
    ti_buf_text(&b, "COP1");
    ti_buf_u32(&b, CONFIG);
    ti_buf_u32(&b, p->config);
    ti_buf_u32(&b, p->id);
    while (b.size < STREAM_AT - 4)
        ti_buf_u32(&b, NOP);
    ti_buf_u32(&b, STREAM | (uint32_t)(words.n >> 16) << 8 | (uint32_t)(words.n & 0xffff) << 16);
    ti_buf_put(&b, words.data, 4 * words.n);
    p->driver = (tc_bytes){b.data, b.size};
    p->words_at = STREAM_AT;
    p->words.data = b.data + STREAM_AT;
    return ti_npu_settle_tensors(p);
}

/* ---- Vela's archive ---- */

typedef struct npz {
    tc_arena *arena;
    tc_zip zip;
} npz;

static void add(npz *z, const char *name, const char *descr, int32_t rank, const int64_t *dim,
                tc_bytes content)
{
    tc_buf b;
    ti_buf_init(&b, z->arena);
    ti_npy_header(&b, descr, rank, dim);
    if (content.size)
        ti_buf_put(&b, content.data, content.size);
    ti_zip_add(&z->zip, ti_text_format(z->arena, "%s.npy", name), (tc_bytes){b.data, b.size});
}

/* Bytes as one text; none: one NUL. */
static void add_bytes(npz *z, const char *name, tc_bytes content)
{
    static const uint8_t nul[1] = {0};
    tc_bytes some = content.size ? content : (tc_bytes){nul, 1};
    add(z, name, ti_text_format(z->arena, "|S%zu", some.size), 0, NULL, some);
}

static void add_numbers(npz *z, const char *name, int32_t rank, const int64_t *dim,
                        const int64_t *value, size_t n)
{
    tc_buf b;
    ti_buf_init(&b, z->arena);
    for (size_t i = 0; i < n; i++)
        ti_buf_u64(&b, (uint64_t)value[i]);
    add(z, name, "<i8", rank, dim, (tc_bytes){b.data, b.size});
}

static void add_number(npz *z, const char *name, int64_t value)
{
    add_numbers(z, name, 0, NULL, &value, 1);
}

static void add_size(npz *z, const char *shape, const char *region, const char *size, int64_t bytes,
                     int64_t number)
{
    static const int64_t one = 1;
    add_numbers(z, shape, 1, &one, &bytes, 1);
    add_number(z, region, number);
    add_number(z, size, bytes);
}

static void add_none(npz *z, const char *name)
{
    static const int64_t none = 0;
    add(z, name, "<f8", 1, &none, (tc_bytes){0});
}

/* A number of each tensor. */
static void add_column(npz *z, const char *side, const char *what, const int64_t *value, size_t n)
{
    int64_t dim = (int64_t)n;
    add_numbers(z, ti_text_format(z->arena, "%s_%s", side, what), 1, &dim, value, n);
}

static void add_tensors(npz *z, const char *side, const tc_npu_tensor *t, size_t n)
{
    int64_t *shape = tc_new_n(z->arena, int64_t, n * TC_NPU_DIMS),
            *column = tc_new_n(z->arena, int64_t, n);
    const int64_t dim[2] = {(int64_t)n, TC_NPU_DIMS};
    for (size_t i = 0; i < n; i++)
        memcpy(shape + i * TC_NPU_DIMS, t[i].dim, sizeof t[i].dim);
    add_numbers(z, ti_text_format(z->arena, "%s_shape", side), 2, dim, shape, n * TC_NPU_DIMS);
    for (size_t i = 0; i < n; i++)
        column[i] = t[i].element_bytes;
    add_column(z, side, "elem_size", column, n);
    for (size_t i = 0; i < n; i++)
        column[i] = t[i].region;
    add_column(z, side, "region", column, n);
    for (size_t i = 0; i < n; i++)
        column[i] = t[i].offset;
    add_column(z, side, "offset", column, n);
}

tc_bytes ti_npu_write_npz(tc_arena *arena, const tc_npu_program *p)
{
    static const char *const none[] = {"variable_shape",     "variable_elem_size",
                                       "variable_region",    "variable_offset",
                                       "input_quantization", "output_quantization",
                                       "variable_quantization"};
    int64_t fast = p->fast > 0 ? p->fast : 0;
    npz z = {.arena = arena};
    ti_zip_begin(&z.zip, arena);
    add_bytes(&z, "cmd_data", p->driver);
    add_bytes(&z, "weight_data", p->weights);
    add_number(&z, "weight_region", 0);
    add_size(&z, "scratch_shape", "scratch_region", "scratch_size", p->scratch, 1);
    add_size(&z, "scratch_fast_shape", "scratch_fast_region", "scratch_fast_size", fast,
             fast ? 2 : 0);
    add_tensors(&z, "input", p->in, p->n_in);
    add_tensors(&z, "output", p->out, p->n_out);
    for (size_t i = 0; i < TC_COUNT(none); i++)
        add_none(&z, none[i]);
    return ti_zip_end(&z.zip);
}
