/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_shape.c -- TensorFlow Lite files whose operator takes the shape of its result as an operand that is no constant: the
 * shape is what the file states of the result, and the numbers are those of the same file with the shape as a constant. */
#include "check.h"
#include "num/load.h"
#include "read/read.h"
#include "run/eval.h"
#include "target/tflite_schema.h"
#include "wire/flatbuf.h"

enum { X, S, W, Y, T, TENSORS };
enum { TRANSPOSE_CONV = 67, RESHAPE = 22, BROADCAST_TO = 130, FILL = 94, NEAREST = 97, MAXIMUM = 55 };
enum { SAME, VALID };

typedef struct list {
    size_t n;
    int64_t v[5];
} list;

#define L(...) {sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}}

typedef struct row {
    const char *name;
    int code;
    list x, shape, y; /* of x; the numbers of the operand; as the file states y */
    list open;        /* its signature; none: it has none */
    int padding, stride;
    bool codes, through; /* int8; an operator is between the input and the operand */
    const char *words;   /* why it is refused; NULL: it is read */
} row;

static const row rows[] = {
    {"same", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 4, 6, 2), L(1, 4, 6, 2), {0}, SAME, 2, false, false, NULL},
    {"same, short", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 3, 5, 2), L(1, 3, 5, 2), {0}, SAME, 2, false, false, NULL},
    {"valid", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 5, 7, 2), L(1, 5, 7, 2), {0}, VALID, 2, false, false, NULL},
    {"valid, long", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 6, 8, 2), L(1, 6, 8, 2), {0}, VALID, 2, false, false, NULL},
    {"computed", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 4, 6, 2), L(1, 4, 6, 2), {0}, SAME, 2, false, true, NULL},
    {"batch", TRANSPOSE_CONV, L(3, 2, 3, 1), L(3, 4, 6, 2), L(1, 4, 6, 2), L(-1, 4, 6, 2), SAME, 2, false, false, NULL},
    {"codes", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 4, 6, 2), L(1, 4, 6, 2), {0}, SAME, 2, true, false, NULL},
    {"open", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 4, 6, 2), L(1, 1, 1, 2), L(-1, -1, -1, 2), SAME, 2, false, false,
     "determines a shape and is not constant"},
    {"no rank", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 4, 6, 2), {0}, {0}, SAME, 2, false, false,
     "determines a shape and is not constant"},
    {"impossible", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 5, 6, 2), L(1, 5, 6, 2), {0}, SAME, 2, false, false,
     "do not make the 5 that the file states"},
    {"impossible codes", TRANSPOSE_CONV, L(1, 2, 3, 1), L(1, 4, 4, 2), L(1, 4, 4, 2), {0}, VALID, 2, true, false,
     "do not make the 4 that the file states"},
    {"reshape", RESHAPE, L(2, 6), L(3, 4), L(3, 4), {0}, 0, 0, false, false, NULL},
    {"reshape, one open", RESHAPE, L(2, 6), L(3, 4), L(1, 4), L(-1, 4), 0, 0, false, false, NULL},
    {"reshape, other", RESHAPE, L(2, 6), L(3, 5), L(3, 5), {0}, 0, 0, false, false, "12 numbers do not fit the shape"},
    {"broadcast", BROADCAST_TO, L(1, 3), L(2, 4, 3), L(2, 4, 3), {0}, 0, 0, false, true, NULL},
    {"broadcast, open", BROADCAST_TO, L(1, 3), L(2, 4, 3), L(1, 4, 3), L(-1, 4, 3), 0, 0, false, false,
     "determines a shape and is not constant"},
    {"fill", FILL, {0}, L(2, 3), L(2, 3), {0}, 0, 0, false, false, NULL},
    {"nearest", NEAREST, L(1, 2, 3, 2), L(4, 6), L(1, 4, 6, 2), {0}, 0, 0, false, false, NULL},
    {"nearest, open batch", NEAREST, L(2, 2, 3, 2), L(5, 7), L(1, 5, 7, 2), L(-1, 5, 7, 2), 0, 0, false, false, NULL},
};

/* ---- a file ---- */

static tc_fb_ref scales(tc_fb_writer *w)
{
    static const float scale = .5F;
    static const uint64_t zero = 0;
    tc_fb_ref s = ti_fb_put_list(w, &scale, 1, sizeof scale), z = ti_fb_put_u64s(w, &zero, 1);
    ti_fb_begin(w);
    ti_fb_set_ref(w, 2, s);
    ti_fb_set_ref(w, 3, z);
    return ti_fb_end(w);
}

static tc_fb_ref tensor(tc_fb_writer *w, const row *r, int i, bool constant)
{
    static const char *const names[TENSORS] = {"x", "s", "w", "y", "t"};
    const list length = {1, {(int64_t)r->shape.n}}, kernel = L(2, 3, 3, 1);
    const list *dim = i == X ? &r->x : i == W ? &kernel : i == Y ? &r->y : &length;
    bool whole = i == S || i == T;
    tc_fb_ref name = ti_fb_put_string(w, ti_str_of(names[i])), shape = ti_fb_put_i32s(w, dim->v, dim->n);
    tc_fb_ref open = ti_fb_put_i32s(w, r->open.v, r->open.n), quant = scales(w);
    ti_fb_begin(w);
    ti_fb_set_ref(w, TENSOR_SHAPE, shape);
    ti_fb_set_u8(w, TENSOR_TYPE, whole ? TFL_INT32 : r->codes ? TFL_INT8 : TFL_FLOAT32, 255);
    ti_fb_set_u32(w, TENSOR_BUFFER, i == W ? 1 : i == S && constant ? 2 : 0, 0);
    ti_fb_set_ref(w, TENSOR_NAME, name);
    if (r->codes && !whole)
        ti_fb_set_ref(w, TENSOR_QUANT, quant);
    if (i == Y && r->open.n)
        ti_fb_set_ref(w, TENSOR_SIGNATURE, open);
    return ti_fb_end(w);
}

static tc_fb_ref operator(tc_fb_writer *w, uint32_t code, tc_fb_ref options, list in, int64_t out)
{
    tc_fb_ref i = ti_fb_put_i32s(w, in.v, in.n), o = ti_fb_put_i32s(w, &out, 1);
    ti_fb_begin(w);
    ti_fb_set_u32(w, OP_CODE, code, 0);
    ti_fb_set_ref(w, OP_INPUTS, i);
    ti_fb_set_ref(w, OP_OUTPUTS, o);
    if (options) {
        ti_fb_set_u8(w, OP_OPTIONS_TYPE, 49, 0);
        ti_fb_set_ref(w, OP_OPTIONS, options);
    }
    return ti_fb_end(w);
}

static tc_fb_ref graph(tc_fb_writer *w, const row *r, bool constant)
{
    tc_fb_ref t[TENSORS], op[2], options = 0;
    bool through = r->through && !constant;
    int64_t s = through ? T : S;
    list in = {2, {X, s}};
    for (int i = 0; i < TENSORS; i++)
        t[i] = tensor(w, r, i, constant);
    if (r->code == FILL)
        in = (list){2, {s, X}};
    if (r->code == TRANSPOSE_CONV) {
        in = (list){3, {s, W, X}};
        ti_fb_begin(w);
        ti_fb_set_u8(w, 0, (uint8_t)r->padding, 0);
        ti_fb_set_u32(w, 1, (uint32_t)r->stride, 0);
        ti_fb_set_u32(w, 2, (uint32_t)r->stride, 0);
        options = ti_fb_end(w);
    }
    if (through)
        op[0] = operator(w, 1, 0, (list){2, {S, S}}, T);
    op[through] = operator(w, 0, options, in, Y);
    tc_fb_ref tensors = ti_fb_put_refs(w, t, TENSORS), ops = ti_fb_put_refs(w, op, 1 + through);
    tc_fb_ref ins = ti_fb_put_i32s(w, (int64_t[]){X, S}, constant ? 1 : 2),
              outs = ti_fb_put_i32s(w, (int64_t[]){Y}, 1);
    ti_fb_begin(w);
    ti_fb_set_ref(w, GRAPH_TENSORS, tensors);
    ti_fb_set_ref(w, GRAPH_INPUTS, ins);
    ti_fb_set_ref(w, GRAPH_OUTPUTS, outs);
    ti_fb_set_ref(w, GRAPH_OPERATORS, ops);
    return ti_fb_end(w);
}

static tc_fb_ref code(tc_fb_writer *w, int builtin)
{
    ti_fb_begin(w);
    ti_fb_set_u8(w, 0, (uint8_t)(builtin < 127 ? builtin : 127), 0);
    ti_fb_set_u32(w, 2, 1, 0);
    ti_fb_set_u32(w, 3, (uint32_t)builtin, 0);
    return ti_fb_end(w);
}

/* Weights of two channels and 3 x 3 places, no two alike. */
static tc_fb_ref weights(tc_fb_writer *w, const row *r)
{
    float real[18];
    int8_t byte[18];
    for (int k = 0; k < 18; k++) {
        byte[k] = (int8_t)(3 * k - 20);
        real[k] = (float)byte[k] / 4;
    }
    return r->codes ? ti_fb_put_bytes(w, byte, sizeof byte, 16) : ti_fb_put_bytes(w, real, sizeof real, 16);
}

/* The bytes of a list of i32, as a buffer has them. */
static tc_fb_ref shape_bytes(tc_fb_writer *w, const row *r)
{
    int32_t v[5];
    for (size_t k = 0; k < r->shape.n; k++)
        v[k] = (int32_t)r->shape.v[k];
    return ti_fb_put_bytes(w, v, r->shape.n * sizeof *v, 16);
}

static tc_bytes model(tc_arena *arena, const row *r, bool constant)
{
    tc_fb_writer w;
    ti_fb_write(&w, arena, 1024);
    tc_fb_ref buffer[3], codes[2];
    for (int i = 0; i < 3; i++) {
        tc_fb_ref data = i == 1 ? weights(&w, r) : i == 2 ? shape_bytes(&w, r) : 0;
        ti_fb_begin(&w);
        if (i)
            ti_fb_set_ref(&w, 0, data);
        buffer[i] = ti_fb_end(&w);
    }
    codes[0] = code(&w, r->code);
    codes[1] = code(&w, MAXIMUM);
    tc_fb_ref g = graph(&w, r, constant);
    tc_fb_ref list_of_codes = ti_fb_put_refs(&w, codes, 2), graphs = ti_fb_put_refs(&w, &g, 1),
              buffers = ti_fb_put_refs(&w, buffer, 3);
    ti_fb_begin(&w);
    ti_fb_set_u32(&w, 0, 3, 0);
    ti_fb_set_ref(&w, 1, list_of_codes);
    ti_fb_set_ref(&w, 2, graphs);
    ti_fb_set_ref(&w, 4, buffers);
    return ti_fb_finish(&w, ti_fb_end(&w), "TFL3");
}

/* ---- what becomes of it ---- */

static bool computed(tc_ctx *ctx, const row *r, bool constant, tc_tensor *out)
{
    tc_module *m;
    if (ti_read_tflite(ctx, "t.tflite", model(&ctx->arena, r, constant), &m) != TC_OK)
        return false;
    tc_graph *g = ti_main(m);
    tc_tensor in[2] = {{0}};
    for (size_t i = 0; i < g->n_in && i < 2; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++)
            ti_store_f64(in[i], k, i ? (double)r->shape.v[k] : (double)(7 * k % 11) - 4);
    }
    return ti_eval(g, in, out, &ctx->arena) == TC_OK;
}

static bool same(tc_tensor a, tc_tensor b)
{
    return ti_same_dims(a.type, b.type) && a.type->dtype == b.type->dtype &&
           !memcmp(a.data, b.data, tc_type_bytes(a.type));
}

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        const row *r = &rows[i];
        tc_ctx *ctx = tc_ctx_new();
        tc_tensor want, got;
        bool read = computed(ctx, r, false, &got);
        const char *said = tc_diagnostics(ctx);
        CHECK_ROW(r->name, strstr(said, r->words ? r->words : "as the file states") != NULL);
        CHECK_ROW(r->name, r->words ? !read : read && computed(ctx, r, true, &want) && same(want, got));
        tc_ctx_free(ctx);
    }
    return check_done();
}
