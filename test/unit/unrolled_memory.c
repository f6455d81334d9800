/* SPDX-License-Identifier: Apache-2.0 */
/* unrolled_memory.c -- the steps of a recurrent layer share their weights: compiling more steps takes
 * little more memory, and the files have the weights once. */
#include "tosac/tosac.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { HIDDEN = 256, GATES = 4 * HIDDEN, FEW = 6, MANY = 70 };

/* Bytes that a context has of its allocator. */
typedef struct counter {
    size_t now, most;
} counter;

static void *count_up(void *user, size_t size, size_t align)
{
    counter *c = user;
    c->now += size;
    c->most = c->now > c->most ? c->now : c->most;
    return aligned_alloc(align < 64 ? 64 : align, (size + 63) / 64 * 64);
}

static void count_down(void *user, void *block, size_t size)
{
    ((counter *)user)->now -= size;
    free(block);
}

/* ---- a layer as text ---- */

typedef struct text {
    char *data;
    size_t size;
} text;

static void put(text *t, const char *more)
{
    size_t n = strlen(more);
    memcpy(t->data + t->size, more, n + 1);
    t->size += n;
}

static void put_numbers(text *t, int value, int rows, int columns)
{
    char word[64];
    snprintf(word, sizeof word, "  %%%d = const [", value);
    put(t, word);
    for (int i = 0; i < rows * columns; i++) {
        snprintf(word, sizeof word, "%s0.%03d", i ? i % 3 ? ", " : ", -" : "",
                 (i * 37 + value * 11) % 100);
        put(t, word);
    }
    snprintf(word, sizeof word, columns > 1 ? "] : f32[%d,%d]\n" : "] : f32[%d]\n", rows, columns);
    put(t, word);
}

static void put_layer(text *t, const char *op, int gates, int steps)
{
    char line[400];
    bool cells = gates == 4;
    snprintf(line, sizeof line,
             "graph @main(%%0 \"x\": f32[%d,1,%d]) {\n  %%1 = full shape=[1,1,%d] value=0 dtype=f32 : "
             "f32[1,1,%d]\n",
             steps, HIDDEN, HIDDEN, HIDDEN);
    put(t, line);
    put_numbers(t, 2, gates * HIDDEN, HIDDEN);
    put_numbers(t, 3, gates * HIDDEN, HIDDEN);
    put_numbers(t, 4, gates * HIDDEN, 1);
    put_numbers(t, 5, gates * HIDDEN, 1);
    snprintf(line, sizeof line,
             "  %%6, %%7%s = %s %%0, %%1%s, %%2, %%3, %%4, %%5 layers=1 bidirectional=false "
             "batch_first=false has_bias=true : f32[%d,1,%d], f32[1,1,%d]%s\n  return %%6\n}\n",
             cells ? ", %8" : "", op, cells ? ", %1" : "", steps, HIDDEN, HIDDEN,
             cells ? ", f32[1,1,256]" : "");
    put(t, line);
}

/* ---- compiling it ---- */

static tc_status wave(void *user, size_t k, const tc_tensor *in, size_t n_in)
{
    (void)user;
    for (int64_t i = 0; n_in && i < tc_type_count(in[0].type); i++)
        ((float *)in[0].data)[i] = (float)((i * 29 + (int64_t)k * 7) % 200 - 100) / 100;
    return TC_OK;
}

typedef struct size {
    size_t memory, file;
} size;

static size compiled(const char *op, int gates, int steps, const char *bits, const char *target,
                     tc_output kind)
{
    counter c = {0};
    tc_ctx_options with = tc_ctx_options_default();
    with.allocator = (tc_allocator){count_up, count_down, &c};
    with.threads = 1; /* the counter is for one */
    tc_ctx *ctx = tc_ctx_new_with(&with);
    text t = {malloc((size_t)8 * (2 * GATES * HIDDEN + 2 * GATES) + 4000), 0};
    tc_model *model = NULL;
    tc_dataset *data = NULL;
    tc_compiled *out = NULL;
    tc_compile_options o = tc_compile_options_default();
    size_t count = 0;
    size s = {0};
    put_layer(&t, op, gates, steps);
    CHECK(tc_model_read(ctx, "layer.ir", (tc_bytes){(const uint8_t *)t.data, t.size}, NULL,
                        &model) == TC_OK);
    CHECK(tc_dataset_new(ctx, 2, wave, NULL, &data) == TC_OK);
    o.target = target;
    o.quant.config = bits;
    o.quant.samples = data;
    if (model && data && tc_compile(ctx, model, &o, &out) == TC_OK &&
        tc_compiled_make(ctx, out, kind, &count) == TC_OK && count)
        s = (size){c.most, tc_compiled_bytes(out, 0).size};
    CHECK(s.file > 0);
    if (!s.file)
        printf("%s\n", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    free(t.data);
    CHECK(c.now == 0);
    return s;
}

/* Of each step more: its nodes, and no weights, which are half a MB to 2 MB as real numbers. */
enum { MOST_FILE = 1 << 16 };
#ifdef __SANITIZE_ADDRESS__ /* the arena leaves a gap after every array */
enum { MOST_MEMORY = 5 << 18 };
#else
enum { MOST_MEMORY = 1 << 20 };
#endif

static void try_layer(const char *op, int gates, const char *bits, const char *target,
                      tc_output kind)
{
    size few = compiled(op, gates, FEW, bits, target, kind),
         many = compiled(op, gates, MANY, bits, target, kind);
    size_t steps = MANY - FEW;
    size_t memory = many.memory > few.memory ? (many.memory - few.memory) / steps : 0;
    size_t file = many.file > few.file ? (many.file - few.file) / steps : 0;
    if (memory >= MOST_MEMORY || file >= MOST_FILE)
        printf("%s, %s, %s: a step takes %zu bytes of memory, %zu of the file\n", op, bits, target,
               memory, file);
    CHECK(memory < MOST_MEMORY);
    CHECK(file < MOST_FILE);
}

int main(void)
{
    try_layer("lstm", 4, "int8", "TOSA-1.0+INT", TC_OUTPUT_TOSA);
    try_layer("lstm", 4, "int8", "TOSA-1.0+INT+int16", TC_OUTPUT_TOSA);
    try_layer("lstm", 4, "int8", "ethos-u85-256", TC_OUTPUT_PTE);
    try_layer("lstm", 4, "int8", "ethos-u55-128", TC_OUTPUT_PTE);
    try_layer("lstm", 4, "int8", "cpu", TC_OUTPUT_PTE);
    try_layer("lstm", 4, "int8", "cortex-m55", TC_OUTPUT_C);
    try_layer("gru", 3, "int8", "ethos-u85-256", TC_OUTPUT_PTE);
    try_layer("rnn_tanh", 1, "int8", "ethos-u85-256", TC_OUTPUT_PTE);
    try_layer("lstm", 4, "a16w8", "TOSA-1.0+INT+int16", TC_OUTPUT_TOSA);
    try_layer("gru", 3, "a16w8", "cortex-m55", TC_OUTPUT_C);
    return check_done();
}
