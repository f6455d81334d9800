/* SPDX-License-Identifier: Apache-2.0 */
/* api_context.c -- contexts as a caller has them: memory, messages, progress, calling off. */
#include "tosac/tosac.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define DIGITS TOSAC_FIXTURES "/digits/model.pt2"
#define CALIB TOSAC_FIXTURES "/digits/calib.npz"

/* ---- memory ---- */

#ifdef _WIN32
#include <malloc.h>
#define TAKE(size, align) _aligned_malloc(size, align)
#define GIVE(block) _aligned_free(block)
#else
#define TAKE(size, align) (align > sizeof(max_align_t) ? aligned_alloc(align, size) : malloc(size))
#define GIVE(block) free(block)
#endif

typedef struct heap {
    size_t blocks, bytes, calls;
    size_t fail_at; /* the call that fails; 0: none */
} heap;

static void *take(void *user, size_t size, size_t align)
{
    heap *h = user;
    if (++h->calls == h->fail_at)
        return NULL;
    void *block = TAKE(size, align);
    h->blocks += block != NULL;
    h->bytes += block ? size : 0;
    return block;
}

static void give(void *user, void *block, size_t size)
{
    heap *h = user;
    h->blocks--;
    h->bytes -= size;
    GIVE(block);
}

static tc_ctx_options with_heap(heap *h)
{
    tc_ctx_options o = tc_ctx_options_default();
    o.allocator = (tc_allocator){take, give, h};
    o.threads = 1;
    return o;
}

static tc_status read_waves(void *user, size_t k, const tc_tensor *in, size_t n_in)
{
    (void)user, (void)n_in;
    for (int64_t i = 0; i < tc_type_count(in[0].type); i++)
        ((float *)in[0].data)[i] = (float)((i * 7 + (int64_t)k * 13) % 32) / 16 - 0.5f;
    return TC_OK;
}

/* few: a handful of samples that are made up. */
static tc_status compile(tc_ctx *ctx, bool few)
{
    const char *files[] = {CALIB};
    tc_model *model;
    tc_compiled *compiled;
    tc_compile_options o = tc_compile_options_default();
    o.target = "TOSA-1.0+INT";
    tc_status status = tc_model_open(ctx, DIGITS, NULL, &model);
    if (status == TC_OK)
        status = few ? tc_dataset_new(ctx, 2, read_waves, NULL, &o.quant.samples)
                     : tc_dataset_open(ctx, files, 1, &o.quant.samples);
    if (status == TC_OK)
        status = tc_compile(ctx, model, &o, &compiled);
    return status == TC_OK ? tc_compiled_make(ctx, compiled, TC_OUTPUT_PTE, NULL) : status;
}

static void test_memory(void)
{
    heap h = {0};
    tc_ctx_options o = with_heap(&h);
    tc_ctx *ctx = tc_ctx_new_with(&o);
    CHECK(ctx && h.blocks == 1);
    CHECK(compile(ctx, false) == TC_OK);
    tc_ctx_stats stats = {.size = sizeof stats};
    tc_ctx_get_stats(ctx, &stats);
    CHECK(stats.memory > 1000000 && stats.memory_peak >= stats.memory && h.bytes >= stats.memory);
    tc_ctx_free(ctx);
    CHECK(h.blocks == 0 && h.bytes == 0);

    o.allocator.release = NULL;
    CHECK(!tc_ctx_new_with(&o));
}

/* One call after the other fails: the status says so, and nothing is left. */
static void test_no_memory(void)
{
    size_t all = 0;
    for (size_t fail_at = 1; fail_at < 12 || fail_at < all; fail_at += fail_at < 12 ? 1 : 53) {
        heap h = {.fail_at = fail_at};
        tc_ctx_options o = with_heap(&h);
        tc_ctx *ctx = tc_ctx_new_with(&o);
        CHECK((ctx == NULL) == (fail_at == 1));
        if (!ctx)
            continue;
        tc_status status = compile(ctx, true);
        all = status == TC_OK ? h.calls : fail_at + 54;
        CHECK(status == TC_OK || status == TC_NO_MEMORY);
        if (status == TC_NO_MEMORY) {
            tc_model *model;
            CHECK(tc_model_open(ctx, DIGITS, NULL, &model) == TC_NO_MEMORY);
            CHECK(strstr(tc_diagnostics(ctx), "out of memory"));
        }
        tc_ctx_free(ctx);
        CHECK(h.blocks == 0 && h.bytes == 0);
    }
}

static void test_limit(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model;
    tc_ctx_set_memory_limit(ctx, 10000);
    CHECK(tc_model_open(ctx, DIGITS, NULL, &model) == TC_NO_MEMORY);
    tc_ctx_free(ctx);
    tc_ctx_free(NULL);
}

/* ---- messages ---- */

typedef struct heard {
    tc_diagnostic last;
    size_t n;
} heard;

static void hear(void *user, const tc_diagnostic *d)
{
    heard *h = user;
    h->last = *d;
    h->n++;
}

static void test_messages(void)
{
    heard h = {0};
    tc_ctx_options o = tc_ctx_options_default();
    o.on_diagnostic = hear;
    o.user = &h;
    tc_ctx *ctx = tc_ctx_new_with(&o);
    tc_model *model;
    CHECK(tc_model_open(ctx, "/nowhere/model.pt2", NULL, &model) == TC_BAD_MODEL);
    CHECK(h.n == 1 && h.last.severity == TC_SEVERITY_ERROR && h.last.status == TC_BAD_MODEL);
    CHECK(h.last.loc && strcmp(h.last.loc->file, "/nowhere/model.pt2") == 0);
    CHECK(strcmp(h.last.id, "io") == 0 && strstr(h.last.text, "cannot open it"));

    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(tc_model_read(ctx, "some", (tc_bytes){bytes, sizeof bytes}, NULL, &model) ==
          TC_BAD_MODEL);
    CHECK(h.n == 2 && strcmp(h.last.id, "format") == 0 && h.last.n_note == 1);
    CHECK(h.last.n_note && strstr(h.last.note[0], "it reads PyTorch exports"));

    CHECK(tc_target_check(ctx, "ethos-u99") == TC_USAGE && h.n == 3 && !h.last.loc);
    CHECK(tc_diagnostic_count(ctx) == 3 && !tc_diagnostic_at(ctx, 3));
    CHECK(strcmp(tc_diagnostic_at(ctx, 0)->id, "io") == 0);
    CHECK(strstr(tc_diagnostics(ctx), "/nowhere/model.pt2: error: cannot open it"));
    CHECK(strstr(tc_diagnostics(ctx), "[io]\nsome: error: this is not a model"));
    tc_ctx_stats stats = {.size = sizeof stats};
    tc_ctx_get_stats(ctx, &stats);
    CHECK(stats.errors == 3 && stats.muted == 0);
    tc_ctx_free(ctx);
}

/* ---- progress and calling off ---- */

typedef struct seen {
    size_t n, most;
    size_t stop_at; /* 0: never */
} seen;

static int watch(void *user, const char *what, size_t done, size_t total)
{
    seen *s = user;
    s->n++;
    s->most = done > s->most ? done : s->most;
    return (what && done > total) || (s->stop_at && s->n >= s->stop_at);
}

static void test_progress(void)
{
    seen s = {0};
    tc_ctx_options o = tc_ctx_options_default();
    o.on_progress = watch;
    o.user = &s;
    tc_ctx *ctx = tc_ctx_new_with(&o);
    CHECK(compile(ctx, false) == TC_OK);
    CHECK(s.n >= 128 && s.most == 128);
    tc_ctx_free(ctx);

    s = (seen){.stop_at = 5};
    ctx = tc_ctx_new_with(&o);
    CHECK(compile(ctx, false) == TC_CANCELLED);
    CHECK(s.n < 128);
    CHECK(compile(ctx, false) == TC_CANCELLED); /* until it is resumed */
    s = (seen){0};
    tc_ctx_resume(ctx);
    CHECK(compile(ctx, false) == TC_OK);
    tc_ctx_cancel(ctx);
    CHECK(compile(ctx, false) == TC_CANCELLED);
    CHECK(*tc_diagnostics(ctx) == 0);
    tc_ctx_free(ctx);
}

/* ---- small things ---- */

static void test_versions(void)
{
    char text[32];
    snprintf(text, sizeof text, "tosac %d.%d.%d", TOSAC_VERSION_MAJOR, TOSAC_VERSION_MINOR,
             TOSAC_VERSION_PATCH);
    CHECK(strcmp(tc_version(), text) == 0);
    CHECK(tc_version_number() == TOSAC_VERSION_NUMBER);
    CHECK(strcmp(tc_status_text(TC_NO_MEMORY), "out of memory") == 0);
    CHECK(tc_status_text((tc_status)99) != NULL);
}

/* A caller that was compiled with a shorter record, and one with a longer record. */
static void test_sizes(void)
{
    struct {
        tc_ctx_options o;
        char later[64];
    } longer = {tc_ctx_options_default(), {1, 2, 3}};
    tc_ctx_options shorter = tc_ctx_options_default();
    shorter.size = offsetof(tc_ctx_options, memory_limit);
    shorter.memory_limit = 1; /* not there for the library */
    longer.o.size = sizeof longer;
    tc_model *model;
    tc_ctx *a = tc_ctx_new_with(&shorter), *b = tc_ctx_new_with(&longer.o);
    CHECK(a && tc_model_open(a, DIGITS, NULL, &model) == TC_OK);
    CHECK(b && tc_model_open(b, DIGITS, NULL, &model) == TC_OK);

    tc_ctx_stats stats = {.size = offsetof(tc_ctx_stats, muted), .muted = 77};
    tc_ctx_get_stats(a, &stats);
    CHECK(stats.muted == 77 && stats.size == offsetof(tc_ctx_stats, muted));
    tc_ctx_free(a);
    tc_ctx_free(b);
}

static void test_types(void)
{
    const double scale[] = {0.5};
    const int64_t zero[] = {3};
    const tc_quant q = {-1, 1, -128, 127, scale, zero};
    const tc_type type = {TC_i8, 2, {2, 3}, &q};
    int8_t numbers[] = {1, 2, 3, 4, 5, 6};
    const tc_tensor t = {&type, numbers};
    double wide[2];
    float narrow[1];
    const char *text;
    tc_ctx *ctx = tc_ctx_new();
    CHECK(tc_type_count(&type) == 6 && tc_type_bytes(&type) == 6);
    CHECK(tc_type_spell(ctx, &type, &text) == TC_OK && strcmp(text, "i8[2,3] q(0.5:3)") == 0);
    tc_tensor_get_f64(&t, 2, 2, wide);
    tc_tensor_get_f32(&t, 5, 1, narrow);
    CHECK(wide[0] == 3 && wide[1] == 4 && narrow[0] == 6);
    tc_tensor_put_f64(&t, 0, 2, (const double[]){-7, 9});
    CHECK(numbers[0] == -7 && numbers[1] == 9 && numbers[2] == 3);
    CHECK(strcmp(tc_dtype_name(TC_bf16), "bf16") == 0 && tc_dtype_bytes(TC_f64) == 8);
    CHECK(strcmp(tc_dtype_name((tc_dtype)77), "none") == 0 && tc_dtype_bytes(TC_none) == 0);
    char digits[32];
    tc_text_f64(0.1, digits);
    CHECK(strcmp(digits, "0.1") == 0);
    tc_ctx_free(ctx);
}

int main(void)
{
    test_memory();
    test_no_memory();
    test_limit();
    test_messages();
    test_progress();
    test_versions();
    test_sizes();
    test_types();
    return check_done();
}
