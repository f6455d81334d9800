/* SPDX-License-Identifier: Apache-2.0 */
/* tflite.c -- TensorFlow Lite files made by hand, y = x + w: what is wrong with them is said. */
#include "check.h"
#include "read/read.h"
#include "wire/flatbuf.h"

/* What differs from a file in order. */
typedef struct odd {
    const char *words; /* NULL: it is read */
    uint32_t buffer;   /* of w */
    size_t bytes;
    int64_t result;    /* which tensor the operator makes */
    bool twice;        /* two operators make it */
    const char *scale; /* of w, which is int8 then: words of 4 bytes each */
    size_t n_zero;
    uint64_t at; /* where the buffer is said to lie in the file */
} odd;

enum { X, W, Y, TENSORS };

static tc_fb_ref quantization(tc_fb_writer *w, const odd *o)
{
    const uint64_t zero[4] = {0};
    tc_fb_ref scale = ti_fb_put_words(w, (tc_bytes){(const uint8_t *)o->scale, 8});
    tc_fb_ref zeros = ti_fb_put_u64s(w, zero, o->n_zero);
    ti_fb_begin(w);
    ti_fb_set_ref(w, 2, scale);
    ti_fb_set_ref(w, 3, zeros);
    return ti_fb_end(w);
}

static tc_fb_ref tensor(tc_fb_writer *w, const odd *o, int i)
{
    static const char *const names[TENSORS] = {"x", "w", "y"};
    tc_fb_ref name = ti_fb_put_string(w, ti_str_of(names[i]));
    tc_fb_ref shape = ti_fb_put_i32s(w, (int64_t[]){2}, 1);
    bool codes = i == W && o->scale;
    tc_fb_ref quant = codes ? quantization(w, o) : shape;
    ti_fb_begin(w);
    ti_fb_set_ref(w, 0, shape);
    ti_fb_set_u8(w, 1, codes ? 9 : 0, 255);
    ti_fb_set_u32(w, 2, i == W ? o->buffer : 0, 0);
    ti_fb_set_ref(w, 3, name);
    if (codes)
        ti_fb_set_ref(w, 4, quant);
    return ti_fb_end(w);
}

static tc_fb_ref add(tc_fb_writer *w, int64_t result)
{
    tc_fb_ref in = ti_fb_put_i32s(w, (int64_t[]){X, W}, 2), out = ti_fb_put_i32s(w, &result, 1);
    ti_fb_begin(w);
    ti_fb_set_ref(w, 1, in);
    ti_fb_set_ref(w, 2, out);
    return ti_fb_end(w);
}

static tc_fb_ref graph(tc_fb_writer *w, const odd *o)
{
    tc_fb_ref t[TENSORS], op[2];
    for (int i = 0; i < TENSORS; i++)
        t[i] = tensor(w, o, i);
    for (int i = 0; i <= o->twice; i++)
        op[i] = add(w, o->result);
    tc_fb_ref tensors = ti_fb_put_refs(w, t, TENSORS), ops = ti_fb_put_refs(w, op, 1 + o->twice);
    tc_fb_ref in = ti_fb_put_i32s(w, (int64_t[]){X}, 1), out = ti_fb_put_i32s(w, (int64_t[]){Y}, 1);
    ti_fb_begin(w);
    ti_fb_set_ref(w, 0, tensors);
    ti_fb_set_ref(w, 1, in);
    ti_fb_set_ref(w, 2, out);
    ti_fb_set_ref(w, 3, ops);
    return ti_fb_end(w);
}

static tc_bytes model(tc_arena *arena, const odd *o)
{
    static const float numbers[4] = {1, 2, 3, 4};
    tc_fb_writer w;
    ti_fb_write(&w, arena, 1024);
    tc_fb_ref buffer[2], data = ti_fb_put_bytes(&w, numbers, o->bytes, 16);
    for (int i = 0; i < 2; i++) {
        ti_fb_begin(&w);
        if (i && !o->at)
            ti_fb_set_ref(&w, 0, data);
        ti_fb_set_u64(&w, 1, i ? o->at : 0, 0);
        ti_fb_set_u64(&w, 2, i && o->at ? o->bytes : 0, 0);
        buffer[i] = ti_fb_end(&w);
    }
    ti_fb_begin(&w);
    ti_fb_set_u32(&w, 2, 1, 0);
    tc_fb_ref code = ti_fb_end(&w), g = graph(&w, o);
    tc_fb_ref codes = ti_fb_put_refs(&w, &code, 1), graphs = ti_fb_put_refs(&w, &g, 1),
              buffers = ti_fb_put_refs(&w, buffer, 2);
    ti_fb_begin(&w);
    ti_fb_set_u32(&w, 0, 3, 0);
    ti_fb_set_ref(&w, 1, codes);
    ti_fb_set_ref(&w, 2, graphs);
    ti_fb_set_ref(&w, 4, buffers);
    return ti_fb_finish(&w, ti_fb_end(&w), "TFL3");
}

#define ONE "\0\0\x80\x3f"
#define NAN_ "\0\0\xc0\x7f"
#define MINUS "\0\0\x80\xbf"

static const odd files[] = {
    {NULL, 1, 8, Y, false, NULL, 0, 0},
    {"names a buffer that does not exist", 7, 8, Y, false, NULL, 0, 0},
    {"names a buffer that does not exist", UINT32_C(0xfffffffc), 8, Y, false, NULL, 0, 0},
    {"has 16 bytes, its type f32[2] needs 8", 1, 16, Y, false, NULL, 0, 0},
    {"has 4 bytes, its type f32[2] needs 8", 1, 4, Y, false, NULL, 0, 0},
    {"past the end of the file", 1, 8, Y, false, NULL, 0, UINT64_C(0xfffffffffffffffc)},
    {"'w' is used but not defined", 0, 8, Y, false, NULL, 0, 0},
    {"tensor 'y' is defined twice", 1, 8, Y, true, NULL, 0, 0},
    {"tensor 'x' is defined twice", 1, 8, X, false, NULL, 0, 0},
    {"2 scales and 3 zero points", 1, 2, Y, false, ONE ONE, 3, 0},
    {"its scale is nan", 1, 2, Y, false, ONE NAN_, 2, 0},
    {"its scale is -1", 1, 2, Y, false, MINUS ONE, 2, 0},
};

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(files); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *m;
        bool read = ti_read_tflite(ctx, "t.tflite", model(&ctx->arena, &files[i]), &m) == TC_OK;
        bool good = files[i].words ? !read && strstr(tc_diagnostics(ctx), files[i].words) : read;
        if (!good)
            fprintf(stderr, "file %zu: expected '%s', said '%s'\n", i,
                    files[i].words ? files[i].words : "", tc_diagnostics(ctx));
        CHECK(good);
        tc_ctx_free(ctx);
    }
    return check_done();
}
