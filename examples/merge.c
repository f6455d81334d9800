/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c -- calibrate in parts, as several machines would, and merge what they saw.
 *
 *   ./merge model.pt2 typed.ir part0.npz part1.npz ...
 *
 * First round: each part's ends.  Second round: each part's counts within the ends of all.  The
 * result is the one that all the data in one place would give. */
#include <stdio.h>
#include <stdlib.h>
#include <tosac/tosac.h>

/* One round: what is observed on each part, given what all parts saw in the round before. */
static tc_status observe(tc_ctx *ctx, const tc_model *model, char **part, size_t n,
                         const tc_observations *before, tc_observations *out)
{
    tc_status status = TC_OK;
    for (size_t i = 0; i < n && status == TC_OK; i++) {
        const char *file[] = {part[i]};
        tc_quantize_options o = tc_quantize_options_default();
        o.merge = before;
        o.n_merge = before ? n : 0;
        out[i].name = part[i];
        status = tc_dataset_open(ctx, file, 1, &o.samples);
        if (status == TC_OK)
            status = tc_observe_model(ctx, model, &o, &out[i].bytes);
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: merge MODEL OUT.ir PART...\n");
        return TC_USAGE;
    }
    size_t n = (size_t)argc - 3;
    tc_observations *first = calloc(n, sizeof *first), *second = calloc(n, sizeof *second);
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model, *typed;
    tc_status status = ctx && first && second ? tc_model_open(ctx, argv[1], NULL, &model)
                                              : TC_NO_MEMORY;
    if (status == TC_OK)
        status = observe(ctx, model, argv + 3, n, NULL, first);
    if (status == TC_OK)
        status = observe(ctx, model, argv + 3, n, first, second);
    if (status == TC_OK) {
        tc_quantize_options o = tc_quantize_options_default();
        o.merge = second;
        o.n_merge = n;
        status = tc_quantize_model(ctx, model, &o, &typed, NULL);
    }
    if (status == TC_OK)
        status = tc_model_write(ctx, typed, argv[2]);
    if (status == TC_OK)
        printf("%s: the ranges of %zu parts\n", argv[2], n);
    if (ctx)
        fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    free(first);
    free(second);
    return (int)status;
}
