/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h -- a model becomes what a target loads; and what went where, and why. */
#ifndef TOSAC_COMPILE_H
#define TOSAC_COMPILE_H

#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a target string makes sense: "TOSA-1.0+INT+int16", "vgf", "vgf:TOSA-1.0+INT",
 * "ethos-u55-128", "ethos-u85-256", "cpu".  TC_USAGE and a message when it does not. */
TC_API TC_MUST_USE tc_status tc_target_check(tc_ctx *ctx, const char *target);

/* A compiled model. */
typedef struct tc_compiled tc_compiled;

typedef struct tc_compile_options {
    size_t size;        /* of this record */
    const char *target; /* must be given */
    const char *config; /* as tc_config_open() takes it; NULL: int8 for targets without float */
    const tc_config *settings;  /* instead of config: settings made by tc_config_*(); or NULL */
    tc_dataset *samples;        /* calibration data; NULL: none */
    int samples_only_if_needed; /* not 0: data alone does not ask for quantization */
    const char *const *cpu;     /* names or operators that stay on the CPU */
    size_t n_cpu;
    int check;           /* not 0: run the program before and after every step, and compare */
    tc_on_pass *on_pass; /* told after every pass; or NULL */
    void *user;          /* for on_pass */
    /* Ethos-U: what Vela is told; NULL and 0 leave it to the target. */
    const char *vela_ini;      /* a system description of one's own */
    const char *system_config; /* which system of the description */
    const char *memory_mode;   /* which memory mode of the description */
    const char *optimise;      /* "Performance" or "Size" */
    double vela_timeout;       /* seconds for a region; 0: ten minutes */
    int64_t max_scratch;       /* bytes that a region may need; 0: any */
    int strict; /* not 0: a region that is refused is an error; else what is to blame goes to the
                   CPU */
    int details; /* not 0: what a report tells of every operator is kept (Ethos-U: Vela's notes) */
    int places;  /* not 0: a .pte keeps line, module and node of every step, as stack traces */
    /* One .pte of several methods: each is compiled by itself, one after the other. */
    const char *method;  /* its name; NULL: "forward" */
    tc_compiled *beside; /* the method before it, for the same target: buffers that share a name are
                            one, in place and type.  What is made of the last holds them all */
    int unexecuted; /* not 0: what is written is not run beside the model; Ethos-U: command streams
                       are verified, but not executed on a sample */
    /* Goals instead of settings: bits per value and per weight are searched for; 0: none. */
    double target_sqnr_db; /* at least, on calibration samples */
    double target_drop;    /* points of top-1 that may be lost: of labels, or of float's answers */
    double max_cycles;     /* Ethos-U: by the cost model */
    double max_flash;      /* bytes of constants; Ethos-U: compressed */
    double search_seconds; /* that the search may take; 0: ten minutes */
    const char *labels;    /* of the calibration samples: a file or "by-folder"; or NULL */
    int keep_odd;          /* not 0: no calibration sample is set aside, however odd */
    double refusal_seconds; /* for finding which part of a region is refused; 0: a minute */
} tc_compile_options;
TC_SIZED_RECORD(tc_compile_options)

/* tc_model_run_passes() with stages among the passes: `quantize-model` wants samples,
 * `narrow-integers`, `split-regions` and `lower-to-tosa` want a target.  Of the options target,
 * config, settings, samples, cpu, on_pass and user count; all of them may be NULL.  TC_USAGE where a
 * stage is not told what it wants. */
TC_API TC_MUST_USE tc_status tc_model_run_stages(tc_ctx *ctx, tc_model *model, const char *passes,
                                                 const tc_compile_options *options);

/* Compile a model for a target: quantize it where it must be, split it into regions for the
 * accelerator and a rest for the CPU, lower the regions.  Nothing is written yet.
 *
 *   model    stays as it is; one that is TOSA already is one region
 *   options  target must be there; the record is not needed after the call
 *   out      on TC_OK, the result; it lives as long as the context
 *
 * On any other status *out is left alone, and the messages say what happened and where in the
 * model.  The same model and options give the same bytes on every run. */
TC_API TC_MUST_USE tc_status tc_compile(tc_ctx *ctx, const tc_model *model,
                                        const tc_compile_options *options, tc_compiled **out);

/* A setting that was tried for a goal. */
typedef struct tc_frontier_row {
    const char *name;
    double sqnr_db, agreement; /* on calibration samples */
    double drop;               /* points of top-1 lost, where there are labels */
    double cycles, flash;      /* cycles 0: not known for the target */
    int chosen;
} tc_frontier_row;

/* All that were tried, in order; *n is 0 when there was no goal. */
TC_API const tc_frontier_row *tc_compiled_frontier(const tc_compiled *compiled, size_t *n);

/* ---- what comes out ---- */

/* Kinds of files. */
typedef enum tc_output {
    TC_OUTPUT_TOSA = 0,     /* a TOSA 1.0 flatbuffer for each region */
    TC_OUTPUT_VGF = 1,      /* a VGF file; one region */
    TC_OUTPUT_PTE = 2,      /* an ExecuTorch program: everything */
    TC_OUTPUT_PTE_TOSA = 3, /* the same, each region's TOSA beside its command stream, so that it
                               runs on a PC too */
    TC_OUTPUT_VELA = 4,     /* Ethos-U: the payload of each region */
    TC_OUTPUT_IR = 5,       /* the graphs as text */
    TC_OUTPUT_C = 6         /* the ExecuTorch program as C: an array, and a header with sizes */
} tc_output;

/* The kind's name ("pte+tosa") and the extension that stands for it (".pte"; "" for none); NULL
 * when there is no such kind. */
TC_API const char *tc_output_name(tc_output kind);
TC_API const char *tc_output_extension(tc_output kind);

/* Before long work: whether what makes such files for the target is on this machine.  An error says
 * what is missing and how to install it. */
TC_API TC_MUST_USE tc_status tc_output_ready(tc_ctx *ctx, const char *target, tc_output kind);

/* Makes the files of a kind, in memory: *count of them, tc_compiled_bytes() has each.  Vela is run
 * here where it is needed. */
TC_API TC_MUST_USE tc_status tc_compiled_make(tc_ctx *ctx, tc_compiled *compiled, tc_output kind,
                                              size_t *count);

/* File i of those that were made last; data NULL: there is none. */
TC_API tc_bytes tc_compiled_bytes(const tc_compiled *compiled, size_t i);

/* Makes and writes them: PATH for one file; PATH with .0, .1, ... before its extension for several.
 * Of text, large constants go to PATH.bin. */
TC_API TC_MUST_USE tc_status tc_compiled_write(tc_ctx *ctx, tc_compiled *compiled, tc_output kind,
                                               const char *path);

/* What reports call the files; tc_compiled_write() does so by itself. */
TC_API TC_MUST_USE tc_status tc_compiled_set_name(tc_ctx *ctx, tc_compiled *compiled,
                                                  const char *name);

/* A region as a TOSA file, whatever the target; it lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_compiled_region_tosa(tc_ctx *ctx, const tc_compiled *compiled,
                                                     size_t region, tc_bytes *out);

/* The compiled program as a model, to be asked, written or run; it is lent. */
TC_API const tc_model *tc_compiled_model(const tc_compiled *compiled);

/* ---- what went where ---- */

typedef struct tc_compiled_info {
    size_t size; /* of this record: set by the caller */
    const char *target;
    size_t n_region;
    size_t on_target, on_cpu; /* operators of the model */
    size_t bytes;             /* of what was made or written last */
    size_t memory;            /* .pte: bytes of the block that its values live in; 0: not made */
    size_t state;             /* and of the block that its methods share; 0: there is one method */
    const char *method;       /* its name in a .pte */
    size_t samples;           /* that what was made was run on beside the model; 0: it was not */
    size_t set_aside;         /* and of those that calibration had set aside */
    int invented;             /* not 0: there was no data, and their numbers are invented */
} tc_compiled_info;
TC_SIZED_RECORD(tc_compiled_info)

/* An output of what was made, beside that of the model as it was read, over all its numbers that are
 * finite in the model. */
typedef struct tc_accuracy {
    size_t size;        /* of this record: set by the caller */
    const char *output; /* its name */
    int real;           /* not 0: sqnr_db counts; 0: integers or bools, of which agreement does */
    double sqnr_db;     /* 10 log10 (sum a^2 / sum (a - b)^2); INFINITY: no difference */
    double agreement;   /* share of numbers that are equal */
    int64_t lost;       /* numbers that are NaN or infinite, and finite in the model */
    double typed_sqnr_db, typed_agreement; /* of the typed program; NAN: it is not quantized here */
    double aside_sqnr_db, aside_agreement; /* on samples that calibration set aside; NAN: none */
} tc_accuracy;
TC_SIZED_RECORD(tc_accuracy)

/* Runs what was compiled beside the model, where there is data or the target computes with floats;
 * tc_compiled_make() and tc_compiled_write() do so by themselves, with the CPU's part as kernels.
 * TC_BUG where a step breaks its promise: such a program is not written. */
TC_API TC_MUST_USE tc_status tc_compiled_prove(tc_ctx *ctx, tc_compiled *compiled);

/* Output i as it was seen then; 0: there is none, or nothing was run. */
TC_API int tc_compiled_accuracy(const tc_compiled *compiled, size_t i, tc_accuracy *out);

/* What Vela expects of a region. */
typedef struct tc_vela_figures {
    double cycles, macs, sram_kib, inferences_per_second;
    int64_t scratch, fast_scratch, weights, payload; /* bytes */
} tc_vela_figures;

/* What one region takes. */
typedef struct tc_region_info {
    size_t size; /* of this record: set by the caller */
    const char *name;
    size_t operators;            /* of the model */
    size_t tosa_operators;       /* that they became, constants not counted */
    size_t transposes;           /* of these */
    int64_t bytes_in, bytes_out; /* that cross its border on each run */
    size_t n_in, n_out;          /* tensors that do; tc_compiled_region_port() */
    int has_vela;                /* vela is filled in: the files were made, for Ethos-U */
    tc_vela_figures vela;
} tc_region_info;
TC_SIZED_RECORD(tc_region_info)

/* A node that stays on the CPU. */
typedef struct tc_cpu_node_info {
    size_t size;      /* of this record: set by the caller */
    const char *node; /* PyTorch's name, else the operator */
    const char *op;
    const tc_loc *loc;
    const char *why; /* a clause that goes after "stays on the CPU: " */
} tc_cpu_node_info;
TC_SIZED_RECORD(tc_cpu_node_info)

TC_API void tc_compiled_get_info(const tc_compiled *compiled, tc_compiled_info *out);

/* 0: there is no i-th. */
TC_API int tc_compiled_region(const tc_compiled *compiled, size_t i, tc_region_info *out);
TC_API const tc_type *tc_compiled_region_port(const tc_compiled *compiled, size_t region,
                                              int output, size_t i);
TC_API int tc_compiled_cpu_node(const tc_compiled *compiled, size_t i, tc_cpu_node_info *out);

/* How much is told. */
typedef enum tc_report_kind {
    TC_REPORT_LINE = 0,        /* one line: what was written, and its sizes */
    TC_REPORT_EXPLAIN = 1,     /* a page: regions, borders, what stays on the CPU and why */
    TC_REPORT_JSON = 2,        /* all of it, with what was written */
    TC_REPORT_EXPLAIN_JSON = 3, /* all of it, before anything is written */
    TC_REPORT_CHOICES = 4 /* a table: the forms that passes offered, their cost, which were taken */
} tc_report_kind;

/* The text ends in a newline and a NUL, and lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_compiled_report(tc_ctx *ctx, const tc_compiled *compiled,
                                                tc_report_kind kind, const char **out);

#ifdef __cplusplus
}
#endif
#endif
