/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c -- a PyTorch export becomes an ExecuTorch program for an Ethos-U, a TOSA machine or the
 * CPU.
 *
 *   compile MODEL.pt2 CALIBRATION.npz TARGET OUT.pte */
#include <stdio.h>

#include <tosac/tosac.h>

static tc_status compile(tc_ctx *ctx, char **argv)
{
    tc_model *model;
    tc_dataset *samples;
    tc_compiled *compiled;
    const char *data = argv[2], *told;
    tc_compile_options options = tc_compile_options_default();
    tc_status status = tc_model_open(ctx, argv[1], NULL, &model);
    if (status == TC_OK)
        status = tc_dataset_open(ctx, &data, 1, &samples);
    if (status != TC_OK)
        return status;
    options.target = argv[3];
    options.quant.samples = samples;
    status = tc_compile(ctx, model, &options, &compiled);
    if (status == TC_OK)
        status = tc_compiled_write(ctx, compiled, TC_OUTPUT_PTE, argv[4]);
    if (status == TC_OK)
        status = tc_compiled_report(ctx, compiled, TC_REPORT_LINE, &told);
    if (status == TC_OK)
        fputs(told, stdout);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "%s MODEL.pt2 CALIBRATION.npz TARGET OUT.pte\n", argv[0]);
        return TC_USAGE;
    }
    tc_ctx *ctx = tc_ctx_new();
    if (!ctx)
        return TC_NO_MEMORY;
    tc_status status = compile(ctx, argv);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return (int)status;
}
