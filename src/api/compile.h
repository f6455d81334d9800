/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h -- the road from a model to what a target loads: the stages, in order. */
#ifndef TC_COMPILE_H
#define TC_COMPILE_H

#include "../emit/emit.h"
#include "../quant/quant.h"
#include "../split/split.h"
#include "../target/target.h"
#include "pass.h"

typedef struct tc_compile_request {
    const char *model;
    const char *target;
    const char *config;       /* as tc_config_read takes it; NULL: int8 for targets without float */
    const char *const *calib; /* calibration data: files, folders, or "random:SEED" */
    size_t n_calib;
    bool calib_only_if_needed; /* data alone does not ask for quantization */
    const char *const *cpu; /* names or operators that stay on the CPU */
    size_t n_cpu;
    const tc_trace *trace; /* told after every pass; or NULL */
    bool check;            /* run the program before and after every pass */
    void (*progress)(void *who, const char *what, size_t done, size_t total);
    void *who;
} tc_compile_request;

/* One region: its graph in the TOSA form, and as a file. */
typedef struct tc_region {
    tc_module *module; /* the graph by itself */
    const char *name;  /* as the calls name it */
    tc_bytes
        tosa; /* none when the program was TOSA and the target wants another form: tc_region_tosa */
} tc_region;

typedef struct tc_compiled {
    tc_module *module; /* the program: CPU nodes and calls; the regions' graphs beside it */
    tc_config config;  /* how it is quantized, where it is not yet */
    tc_target target;
    tc_region *region;
    size_t n_region;
    tc_split_report split;
    struct tc_checker *checker; /* while it is being compiled with `check` */
} tc_compiled;

/* Read, tidy, quantize, split, lower; nothing is written.  A model that is TOSA already is one
 * region. */
TC_MUST_USE tc_status tc_compile(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *out);

/* The region as a TOSA file, also where it was not needed so far. */
TC_MUST_USE tc_status tc_region_tosa(tc_ctx *ctx, const tc_region *region, tc_bytes *out);

/* samples.c: calibration data as the quantizer takes it. */
TC_MUST_USE tc_status tc_open_samples(tc_ctx *ctx, const tc_graph *g, const char *const *path,
                                      size_t n_path, tc_samples *out);

#endif
