/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.c -- ONNX files made by hand: what is wrong with them is said, with the node's name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "run/eval.h"
#include "num/load.h"
#include "read/read.h"
#include "tosac/tosac.h"

/* ---- a model, field by field ---- */

static void varint(tc_buf *b, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        ti_buf_u8(b, (uint8_t)(v | 0x80));
    ti_buf_u8(b, (uint8_t)v);
}

static void number(tc_buf *b, uint32_t field, uint64_t v)
{
    varint(b, field << 3);
    varint(b, v);
}

static void bytes(tc_buf *b, uint32_t field, const void *data, size_t n)
{
    varint(b, field << 3 | 2);
    varint(b, n);
    ti_buf_put(b, data, n);
}

static void text(tc_buf *b, uint32_t field, const char *s) { bytes(b, field, s, strlen(s)); }
static void inner(tc_buf *b, uint32_t field, const tc_buf *m) { bytes(b, field, m->data, m->size); }

static tc_buf message(tc_ctx *ctx)
{
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    return b;
}

/* A tensor of these sizes; < 0: a size named "n". */
static tc_buf value_of(tc_ctx *ctx, const char *name, uint64_t dtype, const int64_t *dim, int rank)
{
    tc_buf shape = message(ctx), tensor = message(ctx), type = message(ctx), info = message(ctx);
    for (int i = 0; i < rank; i++) {
        tc_buf d = message(ctx);
        if (dim[i] < 0)
            text(&d, 2, "n");
        else
            number(&d, 1, (uint64_t)dim[i]);
        inner(&shape, 1, &d);
    }
    number(&tensor, 1, dtype);
    inner(&tensor, 2, &shape);
    inner(&type, 1, &tensor);
    text(&info, 1, name);
    inner(&info, 2, &type);
    return info;
}

static tc_buf value_info(tc_ctx *ctx, const char *name, const int64_t *dim, int rank)
{
    return value_of(ctx, name, 1, dim, rank);
}

static tc_buf node(tc_ctx *ctx, const char *op, const char *name, const char *a, const char *b,
                   const char *out)
{
    tc_buf n = message(ctx);
    text(&n, 1, a);
    if (b)
        text(&n, 1, b);
    text(&n, 2, out);
    text(&n, 3, name);
    text(&n, 4, op);
    return n;
}

/* One node from x (and w) to y, and maybe a tensor. */
static tc_bytes model(tc_ctx *ctx, const tc_buf *a_node, const tc_buf *tensor, const int64_t *dim,
                      int rank, int64_t opset)
{
    tc_buf graph = message(ctx), m = message(ctx), set = message(ctx);
    tc_buf x = value_info(ctx, "x", dim, rank), y = message(ctx);
    text(&y, 1, "y");
    inner(&graph, 1, a_node);
    if (tensor)
        inner(&graph, 5, tensor);
    inner(&graph, 11, &x);
    inner(&graph, 12, &y);
    number(&set, 2, (uint64_t)opset);
    number(&m, 1, 8);
    inner(&m, 7, &graph);
    inner(&m, 8, &set);
    return (tc_bytes){m.data, m.size};
}

static tc_buf tensor(tc_ctx *ctx, const int64_t *dim, int rank)
{
    tc_buf t = message(ctx);
    for (int i = 0; i < rank; i++)
        number(&t, 1, (uint64_t)dim[i]);
    number(&t, 2, 1);
    text(&t, 8, "w");
    return t;
}

static void beside(tc_ctx *ctx, tc_buf *t, const char *key, const char *value)
{
    tc_buf e = message(ctx);
    text(&e, 1, key);
    text(&e, 2, value);
    inner(t, 13, &e);
}

static bool says(tc_ctx *ctx, tc_bytes file, const char *words)
{
    tc_module *module;
    bool good = ti_read_bytes(ctx, "/tmp/t.onnx", file, (tc_bytes){NULL, 0}, &module) != TC_OK;
    const char *said = ti_buf_cstr(&ctx->messages);
    if (good && strstr(said, words))
        return true;
    fprintf(stderr, "expected '%s', said '%s'\n", words, said);
    return false;
}

/* The model is turned down, and the messages have these words. */
static bool refused(tc_bytes file, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
    bool good = setjmp(ctx->oom) == 0 && says(ctx, file, words);
    tc_ctx_free(ctx);
    return good;
}

static const int64_t TWO[] = {2, 3};

static void test_reading(tc_ctx *ctx)
{
    tc_module *m;
    tc_buf add = node(ctx, "Add", "plus", "x", "w", "y"), w = tensor(ctx, TWO, 2);
    float numbers[6] = {1, 2, 3, 4, 5, 6};
    bytes(&w, 9, numbers, sizeof numbers);
    tc_bytes file = model(ctx, &add, &w, TWO, 2, 13);
    CHECK(ti_onnx_looks_like(file));
    CHECK(ti_read_bytes(ctx, "t.onnx", file, (tc_bytes){NULL, 0}, &m) == TC_OK);
    const tc_graph *g = ti_main(m);
    CHECK(g->n_in == 1 && g->n_out == 1 && g->n_node == 2);
    tc_node *last = g->node[g->n_node - 1];
    CHECK(last->op == TC_OP_add && ti_text_eq(last->loc->node, "plus"));
    CHECK(ti_text_eq(last->loc->target, "onnx.Add"));
    tc_tensor c = ti_tensor_of(g, last->in[1]);
    CHECK(ti_load_f64(c, 5) == 6);
}

/* x / scale to the nearest, halves to even: where x * (1 / scale) would fall to the other side. */
static void test_quantizing(tc_ctx *ctx)
{
    const int64_t one = 1, many = 400;
    const float scale = 0.0123f;
    tc_buf q = node(ctx, "QuantizeLinear", "q", "x", "w", "y"), w = tensor(ctx, &one, 1);
    bytes(&w, 9, &scale, sizeof scale);
    tc_module *m;
    tc_bytes file = model(ctx, &q, &w, &many, 1, 13);
    CHECK(ti_read_bytes(ctx, "t.onnx", file, (tc_bytes){NULL, 0}, &m) == TC_OK);
    float x[400];
    int apart = 0;
    for (int i = 0; i < 400; i++)
        x[i] = ((float)(i / 2) + (i % 2 ? 0.5f : 0.25f)) * scale;
    tc_tensor in = {ti_type_of(ti_main(m), ti_main(m)->in[0]), x}, out;
    CHECK(ti_eval(ti_main(m), &in, &out, &ctx->arena) == TC_OK && out.type->dtype == TC_u8);
    for (int i = 0; i < 400; i++) {
        CHECK(ti_load_f64(out, i) == (double)rintf(x[i] / scale));
        apart += rintf(x[i] / scale) != rintf(x[i] * (1 / scale));
    }
    CHECK(apart > 0);
}

static void test_dims(tc_ctx *ctx)
{
    const int64_t open[] = {-1, 3};
    tc_buf relu = node(ctx, "Relu", "r", "x", NULL, "y");
    tc_bytes file = model(ctx, &relu, NULL, open, 2, 13);
    CHECK(refused(file, "axis 0 has a dynamic size ('n')"));
    CHECK(refused(file, "--dim n=1, or with --shape x=1,3"));
    tc_ctx *other = tc_ctx_new();
    CHECK(tc_ctx_set_dim(other, "n=4") == TC_OK);
    CHECK(tc_model_read(other, "t.onnx", file, NULL, &(tc_model *){NULL}) == TC_OK);
    tc_ctx_free(other);
    other = tc_ctx_new();
    CHECK(tc_ctx_set_shape(other, "x=5,3") == TC_OK);
    tc_model *model_of_five;
    CHECK(tc_model_read(other, "t.onnx", file, NULL, &model_of_five) == TC_OK);
    tc_port_info port = {.size = sizeof port};
    CHECK(tc_model_input(model_of_five, 0, &port) && port.type->dim[0] == 5);
    CHECK(tc_ctx_set_shape(other, "x=5,") == TC_OK && tc_ctx_set_shape(other, "x") == TC_USAGE);
    CHECK(tc_ctx_set_shape(other, "=1,2") == TC_USAGE &&
          tc_ctx_set_shape(other, "x=a") == TC_USAGE);
    tc_ctx_free(other);
}

/* An integer input of one number is a constant where --dim says its number. */
static void test_number(tc_ctx *ctx)
{
    enum { INT64 = 7 };
    tc_buf graph = message(ctx), m = message(ctx), set = message(ctx);
    tc_buf twice = node(ctx, "Add", "twice", "rate", "rate", "y");
    tc_buf x = value_of(ctx, "rate", INT64, NULL, 0), y = value_of(ctx, "y", INT64, NULL, 0);
    inner(&graph, 1, &twice);
    inner(&graph, 11, &x);
    inner(&graph, 12, &y);
    number(&set, 2, 17);
    inner(&m, 7, &graph);
    inner(&m, 8, &set);
    CHECK(tc_ctx_set_dim(ctx, "rate=8000") == TC_OK);
    tc_module *read;
    CHECK(ti_read_onnx(ctx, "t.onnx", (tc_bytes){m.data, m.size}, &read) == TC_OK);
    const tc_graph *g = ti_main(read);
    CHECK(g->n_in == 0 && g->n_out == 1 && ti_is_const(g, g->out[0]));
    CHECK(ti_load_i64(ti_tensor_of(g, g->out[0]), 0) == 16000);
}

/* A branch of one node from x and x. */
static tc_buf branch(tc_ctx *ctx, const char *which, const char *op, const char *of)
{
    enum { GRAPH = 5 };
    tc_buf graph = message(ctx), attribute = message(ctx), y = message(ctx);
    tc_buf inside = node(ctx, op, "inside", "x", of, "z");
    text(&y, 1, "z");
    inner(&graph, 1, &inside);
    inner(&graph, 12, &y);
    text(&attribute, 1, which);
    inner(&attribute, 6, &graph);
    number(&attribute, 20, GRAPH);
    return attribute;
}

static tc_bytes model_of_branches(tc_ctx *ctx, const char *op, const char *of)
{
    enum { BOOL = 9 };
    tc_buf graph = message(ctx), m = message(ctx), set = message(ctx), either = message(ctx);
    tc_buf x = value_info(ctx, "x", TWO, 2), c = value_of(ctx, "c", BOOL, NULL, 0);
    tc_buf y = message(ctx), then = branch(ctx, "then_branch", "Relu", NULL);
    tc_buf other = branch(ctx, "else_branch", op, of);
    text(&y, 1, "y");
    text(&either, 1, "c");
    text(&either, 2, "y");
    text(&either, 3, "either");
    text(&either, 4, "If");
    inner(&either, 5, &then);
    inner(&either, 5, &other);
    inner(&graph, 1, &either);
    inner(&graph, 11, &x);
    inner(&graph, 11, &c);
    inner(&graph, 12, &y);
    number(&set, 2, 17);
    number(&m, 1, 8);
    inner(&m, 7, &graph);
    inner(&m, 8, &set);
    return (tc_bytes){m.data, m.size};
}

/* Of two branches the one that these sizes do not fit is left out, with a word. */
static void test_branches(tc_ctx *ctx)
{
    tc_module *read;
    tc_bytes both = model_of_branches(ctx, "Add", "x"), one = model_of_branches(ctx, "MatMul", "x");
    CHECK(ti_read_onnx(ctx, "t.onnx", both, &read) == TC_OK && read->n_graph == 3);
    CHECK(!strstr(tc_diagnostics(ctx), "branch"));
    CHECK(ti_read_onnx(ctx, "t.onnx", one, &read) == TC_OK && read->n_graph == 1);
    CHECK(ti_main(read)->node[0]->op == TC_OP_relu);
    CHECK(strstr(tc_diagnostics(ctx), "node 'either' (If): warning: the else branch is not valid "
                                      "for inputs of these sizes, so the then branch is taken"));
    CHECK(strstr(tc_diagnostics(ctx), "in the else branch, node 'either/inside': "));
    CHECK(refused(model_of_branches(ctx, "Add", "nobody"), "'nobody' is used but not defined"));
    CHECK(refused(model_of_branches(ctx, "Frobnicate", "x"), "--set c=VALUE makes it a constant"));
}

/* A picture resized to more places than memory should hold. */
static void test_large_resize(tc_ctx *ctx)
{
    const int64_t dim[] = {1, 1, 2, 2}, four = 4;
    tc_buf resize = node(ctx, "Upsample", "up", "x", "w", "y"), w = tensor(ctx, &four, 1);
    tc_buf mode = message(ctx);
    const float scale[] = {1, 1, 3e7f, 1.5f};
    text(&mode, 1, "mode");
    text(&mode, 4, "linear");
    number(&mode, 20, 3);
    inner(&resize, 5, &mode);
    bytes(&w, 9, scale, sizeof scale);
    CHECK(refused(model(ctx, &resize, &w, dim, 4, 9), "an axis of 2 resized to 60000000"));
}

static void test_operators(tc_ctx *ctx)
{
    tc_buf odd = node(ctx, "Frobnicate", "odd one", "x", NULL, "y");
    CHECK(refused(model(ctx, &odd, NULL, TWO, 2, 13),
                  "node 'odd one' (Frobnicate): error: operator 'Frobnicate' (operator set 13)"));
    tc_buf early = node(ctx, "Gelu", "g", "x", NULL, "y");
    CHECK(refused(model(ctx, &early, NULL, TWO, 2, 13), "it is read from set 20"));
    tc_buf relu = node(ctx, "Relu", "r", "x", NULL, "y");
    CHECK(refused(model(ctx, &relu, NULL, TWO, 2, 99), "operator set 99"));
    tc_buf lost = node(ctx, "Relu", "r", "nobody", NULL, "y");
    CHECK(refused(model(ctx, &lost, NULL, TWO, 2, 13), "'nobody' is used but not defined"));
    tc_buf itself = node(ctx, "Add", "loop", "y", "x", "y");
    CHECK(refused(model(ctx, &itself, NULL, TWO, 2, 13), "'y' is used but not defined"));
    tc_buf strings = node(ctx, "StringConcat", "s", "x", "x", "y");
    CHECK(refused(model(ctx, &strings, NULL, TWO, 2, 21), "StringConcat"));
}

static void test_tensors(tc_ctx *ctx)
{
    tc_buf add = node(ctx, "Add", "plus", "x", "w", "y"), w = tensor(ctx, TWO, 2);
    CHECK(refused(model(ctx, &add, &w, TWO, 2, 13), "0 numbers for a tensor of 6"));
    bytes(&w, 9, "abc", 3);
    CHECK(refused(model(ctx, &add, &w, TWO, 2, 13), "3 bytes of data, expected 24"));
    const int64_t huge[] = {1 << 30, 1 << 30};
    tc_buf h = tensor(ctx, huge, 2);
    CHECK(refused(model(ctx, &add, &h, TWO, 2, 13), "tensor 'w'"));
    const int64_t negative[] = {-5, 2};
    tc_buf n = tensor(ctx, negative, 2);
    CHECK(refused(model(ctx, &add, &n, TWO, 2, 13), "tensor 'w'"));
    /* fields of our own that a file brings along point nowhere */
    tc_buf ours = tensor(ctx, TWO, 2);
    varint(&ours, 1000 << 3 | 1);
    ti_buf_u64(&ours, 1 << 20);
    varint(&ours, 1001 << 3 | 1);
    ti_buf_u64(&ours, 24);
    CHECK(refused(model(ctx, &add, &ours, TWO, 2, 13), "0 numbers for a tensor of 6"));
}

static void test_external(tc_ctx *ctx)
{
    static const char *const outside[] = {"/etc/passwd", "../x", "a/../../x", "..", "a\\b", ""};
    tc_buf add = node(ctx, "Add", "plus", "x", "w", "y");
    for (size_t i = 0; i < TC_COUNT(outside); i++) {
        tc_buf w = tensor(ctx, TWO, 2);
        beside(ctx, &w, "location", outside[i]);
        number(&w, 14, 1);
        CHECK(refused(model(ctx, &add, &w, TWO, 2, 13), "not inside the model's folder"));
    }
    tc_buf w = tensor(ctx, TWO, 2);
    number(&w, 14, 1);
    CHECK(refused(model(ctx, &add, &w, TWO, 2, 13), "of which the name is missing"));
    char name[] = "/tmp/onnx-weights-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0 && write(fd, "01234567890123456789", 20) == 20);
    beside(ctx, &w, "location", strrchr(name, '/') + 1);
    CHECK(refused(model(ctx, &add, &w, TWO, 2, 13), "which has 20"));
    tc_buf far = w;
    far.data = ti_arena_copy(&ctx->arena, w.data, w.size);
    far.cap = far.size;
    beside(ctx, &far, "offset", "9223372036854775807");
    CHECK(refused(model(ctx, &add, &far, TWO, 2, 13), "which has 20"));
    static const char *const no_offset[] = {"-4", "18446744073709551615", "four", ""};
    for (size_t i = 0; i < TC_COUNT(no_offset); i++) {
        tc_buf o = tensor(ctx, TWO, 2);
        number(&o, 14, 1);
        beside(ctx, &o, "location", strrchr(name, '/') + 1);
        beside(ctx, &o, i % 2 ? "length" : "offset", no_offset[i]);
        CHECK(refused(model(ctx, &add, &o, TWO, 2, 13), "expected a number of bytes"));
    }
#ifndef _WIN32
    /* a link that leads out of the folder */
    const char *link_name = ti_text_format(&ctx->arena, "%s.link", name);
    CHECK(symlink("/etc/passwd", link_name) == 0);
    tc_buf l = tensor(ctx, TWO, 2);
    number(&l, 14, 1);
    beside(ctx, &l, "location", strrchr(link_name, '/') + 1);
    CHECK(refused(model(ctx, &add, &l, TWO, 2, 13), "not inside the model's folder"));
    unlink(link_name);
#endif
    unlink(name);
    close(fd);
}

/* A graph of these parts, x in and y out. */
static tc_bytes model_of(tc_ctx *ctx, const tc_buf *part, const uint32_t *field, size_t n,
                         uint64_t y_type)
{
    tc_buf graph = message(ctx), m = message(ctx), set = message(ctx);
    tc_buf x = value_info(ctx, "x", TWO, 2), y = value_of(ctx, "y", y_type, TWO, 2);
    inner(&graph, 11, &x);
    inner(&graph, 12, &y);
    for (size_t i = 0; i < n; i++)
        inner(&graph, field[i], &part[i]);
    number(&set, 2, 13);
    number(&m, 1, 8);
    inner(&m, 7, &graph);
    inner(&m, 8, &set);
    return (tc_bytes){m.data, m.size};
}

/* Every name is made once, attributes and types are what they are said to be. */
static void test_names(tc_ctx *ctx)
{
    enum { NODE = 1, INITIALIZER = 5, INPUT = 11 };
    tc_buf first = node(ctx, "Relu", "a", "x", NULL, "y"),
           again = node(ctx, "Neg", "b", "x", NULL, "y"),
           onto = node(ctx, "Neg", "c", "x", NULL, "x"), weight = tensor(ctx, TWO, 2);
    tc_buf over = node(ctx, "Neg", "d", "x", NULL, "w"), second = value_info(ctx, "x", TWO, 2);
    const tc_buf twice[] = {first, again}, input[] = {first, onto}, made[] = {weight, first, over},
                 tensors[] = {first, weight, weight}, inputs[] = {first, second};
    CHECK(refused(model_of(ctx, twice, (uint32_t[]){NODE, NODE}, 2, 1), "'y' is defined twice"));
    CHECK(refused(model_of(ctx, input, (uint32_t[]){NODE, NODE}, 2, 1), "'x' is defined twice"));
    CHECK(refused(model_of(ctx, made, (uint32_t[]){INITIALIZER, NODE, NODE}, 3, 1),
                  "'w' is defined twice"));
    CHECK(refused(model_of(ctx, tensors, (uint32_t[]){NODE, INITIALIZER, INITIALIZER}, 3, 1),
                  "two initializers are named 'w'"));
    CHECK(refused(model_of(ctx, inputs, (uint32_t[]){NODE, INPUT}, 2, 1),
                  "two inputs are named 'x'"));
    tc_buf declared = value_of(ctx, "w", 7, TWO, 2);
    const tc_buf unlike[] = {first, declared, weight};
    CHECK(refused(model_of(ctx, unlike, (uint32_t[]){NODE, INPUT, INITIALIZER}, 3, 1),
                  "the input 'w' and its initializer are of different types"));
    CHECK(refused(model_of(ctx, twice, (uint32_t[]){NODE}, 1, 7),
                  "elements of type i64, inferred is f32"));
    /* softmax along an axis that is a float */
    tc_buf soft = node(ctx, "Softmax", "s", "x", NULL, "y"), axis = message(ctx);
    text(&axis, 1, "axis");
    varint(&axis, 2 << 3 | 5);
    ti_buf_u32(&axis, UINT32_C(0x3f800000));
    number(&axis, 20, 1);
    inner(&soft, 5, &axis);
    CHECK(refused(model(ctx, &soft, NULL, TWO, 2, 13),
                  "attribute 'axis' is a float, expected an integer"));
    /* 300 is no int8 */
    tc_buf narrow = message(ctx), plus = node(ctx, "Add", "plus", "x", "w", "y");
    number(&narrow, 1, 1);
    number(&narrow, 2, 3);
    number(&narrow, 5, 300);
    text(&narrow, 8, "w");
    CHECK(refused(model(ctx, &plus, &narrow, TWO, 2, 13), "number 0 is 300, not an i8"));
}

/* Graphs inside of graphs without end, functions that call each other, bytes that end. */
static void test_structure(tc_ctx *ctx)
{
    tc_buf deep = node(ctx, "Relu", "r", "x", NULL, "y");
    for (int i = 0; i < 100; i++) {
        tc_buf graph = message(ctx), attribute = message(ctx), next = message(ctx);
        inner(&graph, 1, &deep);
        text(&attribute, 1, "body");
        inner(&attribute, 6, &graph);
        inner(&next, 5, &attribute);
        deep = next;
    }
    CHECK(refused(model(ctx, &deep, NULL, TWO, 2, 13), "too deep"));
    tc_buf call = node(ctx, "Again", "call", "x", NULL, "y"), f = message(ctx);
    tc_bytes one = model(ctx, &call, NULL, TWO, 2, 13);
    tc_buf m = message(ctx);
    ti_buf_put(&m, one.data, one.size);
    text(&f, 1, "Again");
    text(&f, 4, "x");
    text(&f, 5, "y");
    inner(&f, 7, &call);
    inner(&m, 25, &f);
    CHECK(refused((tc_bytes){m.data, m.size}, "call each other recursively"));
    for (size_t n = 1; n < one.size; n++) {
        tc_ctx *other = tc_ctx_new();
        tc_model *read;
        CHECK(tc_model_read(other, "t.onnx", (tc_bytes){one.data, n}, NULL, &read) != TC_OK);
        tc_ctx_free(other);
    }
    static const uint8_t none[] = {0x08};
    CHECK(!ti_onnx_looks_like((tc_bytes){none, 1}) && !ti_onnx_looks_like((tc_bytes){NULL, 0}));
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_reading(ctx);
    test_quantizing(ctx);
    test_dims(ctx);
    test_large_resize(ctx);
    test_number(ctx);
    test_branches(ctx);
    test_operators(ctx);
    test_tensors(ctx);
    test_external(ctx);
    test_names(ctx);
    test_structure(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
