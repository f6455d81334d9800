/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c -- quantization fed by a callback, with progress, messages as records, and an
 * allocator.
 *
 *   calibrate MODEL.pt2 OUT.tosa */
#include <stdio.h>
#include <stdlib.h>

#include <tosac/tosac.h>

enum { SAMPLES = 16 };

/* Sample k of an endless supply: here a ramp that shifts; yours comes from a camera or a disk. */
static tc_status make_sample(void *user, size_t k, const tc_tensor *in, size_t n_in)
{
    (void)user;
    for (size_t i = 0; i < n_in; i++) {
        int64_t n = tc_type_count(in[i].type);
        for (int64_t e = 0; e < n; e++) {
            double v = (double)((e * 7 + (int64_t)k * 13) % 101) / 50.0 - 1.0;
            tc_tensor_put_f64(&in[i], e, 1, &v);
        }
    }
    return TC_OK;
}

static void on_diagnostic(void *user, const tc_diagnostic *d)
{
    (void)user;
    fprintf(stderr, "%s [%s]\n", d->text, d->id);
    for (size_t i = 0; i < d->n_note; i++)
        fprintf(stderr, "  %s\n", d->note[i]);
}

static int on_progress(void *user, const char *what, size_t done, size_t total)
{
    size_t *last = user;
    if (done == total && total != *last) {
        printf("%zu %s\n", total, what);
        *last = total;
    }
    return 0; /* anything else cancels */
}

static size_t held; /* bytes; one thread asks at a time in this program (options.threads) */

static void *take(void *user, size_t size, size_t align)
{
    (void)user;
    void *block = aligned_alloc(align < sizeof(void *) ? sizeof(void *) : align,
                                (size + 63) / 64 * 64);
    held += block ? size : 0;
    return block;
}

static void give(void *user, void *block, size_t size)
{
    (void)user;
    held -= size;
    free(block);
}

static tc_status work(tc_ctx *ctx, char **argv)
{
    tc_model *model, *typed;
    tc_dataset *samples;
    tc_compiled *compiled;
    tc_quantize_options q = tc_quantize_options_default();
    tc_compile_options o = tc_compile_options_default();
    tc_status status = tc_model_open(ctx, argv[1], NULL, &model);
    if (status == TC_OK)
        status = tc_dataset_new(ctx, SAMPLES, make_sample, NULL, &samples);
    if (status != TC_OK)
        return status;
    q.samples = samples;
    status = tc_quantize_model(ctx, model, &q, &typed, NULL);
    if (status != TC_OK)
        return status;
    o.target = "TOSA-1.0+INT";
    status = tc_compile(ctx, typed, &o, &compiled);
    if (status != TC_OK)
        return status;
    tc_compiled_info info = {.size = sizeof info};
    tc_compiled_get_info(compiled, &info);
    printf("%zu region, %zu operators in it, %zu on the CPU\n", info.n_region, info.on_target,
           info.on_cpu);
    for (size_t i = 0; i < info.on_cpu; i++) {
        tc_cpu_node_info node = {.size = sizeof node};
        if (tc_compiled_cpu_node(compiled, i, &node))
            printf("  %s: %s\n", node.node, node.why);
    }
    return tc_compiled_write(ctx, compiled, TC_OUTPUT_TOSA, argv[2]);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "%s MODEL.pt2 OUT.tosa\n", argv[0]);
        return TC_USAGE;
    }
    size_t last = 0;
    tc_ctx_options options = tc_ctx_options_default();
    options.on_diagnostic = on_diagnostic;
    options.on_progress = on_progress;
    options.user = &last;
    options.allocator.allocate = take;
    options.allocator.release = give;
    options.threads = 1;
    tc_ctx *ctx = tc_ctx_new_with(&options);
    if (!ctx)
        return TC_NO_MEMORY;
    tc_status status = work(ctx, argv);
    tc_ctx_free(ctx);
    if (held)
        fprintf(stderr, "%zu bytes were not given back\n", held);
    return held ? TC_BUG : (int)status;
}
