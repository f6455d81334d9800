/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h -- compiles a model for a target; says what runs where, and why. */
#ifndef TOSAC_COMPILE_H
#define TOSAC_COMPILE_H

#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks a target string: "TOSA-1.0+INT+int16", "vgf", "vgf:TOSA-1.0+INT",
 * "ethos-u55-128", "ethos-u85-256", "cpu".  TC_USAGE and a message when it is wrong. */
TC_API TC_MUST_USE tc_status tc_target_check(tc_ctx *ctx, const char *target);

/* A compiled model. */
typedef struct tc_compiled tc_compiled;

/* How the model is quantized. */
typedef struct tc_compile_quant {
    const char *config;        /* a preset or a file, as tc_config_open() takes it; NULL: int8
                                  for targets without float */
    const tc_config *settings; /* instead of config: made by tc_config_*(); or NULL */
    tc_dataset *samples;       /* calibration data; NULL: none */
    bool only_if_needed;       /* samples alone do not ask for quantization */
    bool keep_odd;             /* keep every calibration sample, outliers too */
    bool all_samples;          /* none are kept back to measure on, and accuracy is optimistic */
    bool reset;                /* start every calibration sample from the initial state */
    uint64_t reserved[4];      /* for later versions: 0 */
} tc_compile_quant;

/* Ethos-U: how command streams are made.  NULL and 0 leave the choice to the target. */
typedef struct tc_compile_ethosu {
    const char *system;        /* the system around the machine: "FILE:CONFIG,MODE", any of them
                                  left out (doc/compile.md); NULL: the target's or the board's */
    const char *optimise;      /* "Performance" or "Size": the least SRAM, and weights of 8 bits at a
                                  loss of 0.3 dB where their stream saves bytes by it */
    int64_t max_scratch;       /* bytes of working memory a region may need; 0: no limit */
    bool u55_products;         /* U55 and U65: products of two activations as convolutions,
                                  whose weights the accelerator makes; computed right by our
                                  executor, not tried on silicon */
    bool share_weights;        /* several methods: a method takes the weights of those before
                                  it, and a .pte has them once */
    const char *marks;         /* experimental: "irq" or "wait": every operation ends by itself, for
                                  counters (doc/profile.md); NULL: none */
    uint64_t reserved[1];      /* for later versions: 0 */
} tc_compile_ethosu;

/* Experimental.  Goals instead of quant.config: the bits of each value and weight are searched for.
 * 0: no such goal. */
typedef struct tc_compile_goal {
    double sqnr_db;       /* at least, on calibration samples */
    double drop;          /* points of top-1 accuracy that may be lost: of labels, else of the
                             float model's answers */
    double cycles;        /* at most; Ethos-U, by the cost model */
    double flash;         /* at most: bytes of constants; Ethos-U: compressed */
    double seconds;       /* for the search; 0: ten minutes */
    const char *labels;   /* of the calibration samples: a file or "by-folder"; or NULL */
    uint64_t reserved[4]; /* for later versions: 0 */
} tc_compile_goal;

typedef struct tc_compile_options {
    size_t size;        /* of this record */
    const char *target; /* must be given, unless there is a board */
    tc_compile_quant quant;
    tc_compile_ethosu ethosu;
    tc_compile_goal goal;
    const char *const *cpu; /* names or operators that stay on the CPU */
    size_t n_cpu;
    bool strict;         /* a region that is refused is an error; else the refused part goes to
                            the CPU */
    bool check;          /* run the program before and after every step, and compare */
    bool no_execute;     /* do not run the result beside the model before it is written; Ethos-U:
                            command streams are verified, but not executed on a sample */
    bool locations;      /* a .pte keeps line, module and node of every step, as stack traces */
    tc_on_pass *on_pass; /* called after every pass; or NULL */
    void *user;          /* for on_pass */
    /* Several methods in one .pte: each is compiled by itself, one after the other. */
    const char *method;  /* its name; NULL: "forward" */
    tc_compiled *beside; /* the method before it, for the same target: buffers of the same name
                            are shared.  The files made of the last method hold all of them */
    const char *kernels; /* C for a Cortex-M: "cmsis-nn": calls of CMSIS-NN where it computes the
                            same bits; NULL: our own kernels only */
    const char *board;   /* a board's name or file (board.h): target, system, memory mode and clocks
                            are its own unless they are given; NULL: none */
    tc_dataset *vectors; /* .bpte: its test vectors; NULL: samples that the program was run on */
    const char *shaders; /* .vgf: what becomes compute shaders.  "auto" or NULL: what no region takes;
                            "all": the same, and a .pte is one delegate with nothing left to the CPU;
                            "resample": grid_sample and upsampling too, of both; "samplers": and those
                            read images by samplers (.vgf); "none": nothing, a file holds one region */
    const char *const *images; /* .vgf: inputs and outputs that the caller has as images: "NAME=FORMAT",
                                  Vulkan's name of the format in small letters, with ":nchw" or ":nhwc"
                                  where the extents do not say which axis has the channels */
    size_t n_images;
} tc_compile_options;
TC_SIZED_RECORD(tc_compile_options)

/* tc_model_run_passes() with stages among the passes: `quantize-model` needs samples;
 * `narrow-integers`, `split-regions` and `lower-to-tosa` need a target.  Of the options target,
 * quant, cpu, on_pass and user are used; all of them may be NULL.  TC_USAGE where a stage lacks
 * what it needs. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_model_run_stages(tc_ctx *ctx, tc_model *model, const char *passes,
                    const tc_compile_options *options);

/* Compiles a model for a target: quantizes it where needed, splits it into regions for the
 * accelerator and a rest for the CPU, lowers the regions to TOSA and, for Ethos-U, makes their
 * command streams; what is refused goes to the CPU.  Nothing is written yet, and making files does
 * not change what the functions below report.
 *
 *   model    is not changed; a TOSA model becomes one region
 *   options  with a target; the record is not needed after the call
 *   out      on TC_OK, the result; it lives as long as the context
 *
 * On any other status *out is left alone, and the messages say what happened and where in the
 * model.  The same model and options give the same bytes on every run. */
TC_API TC_MUST_USE tc_status tc_compile(tc_ctx *ctx, const tc_model *model,
                                        const tc_compile_options *options, tc_compiled **out);

/* One setting that the search for a goal tried. */
typedef struct tc_frontier_row {
    const char *name;
    double sqnr_db, agreement; /* on calibration samples */
    double drop;               /* points of top-1 accuracy lost, with labels */
    double cycles, flash;      /* cycles 0: not known for the target */
    bool chosen;
} tc_frontier_row;

/* All settings that were tried, in order; *n is 0 when there was no goal. */
TC_API TC_EXPERIMENTAL const tc_frontier_row *
tc_compiled_frontier(const tc_compiled *compiled, size_t *n);

/* ---- files ---- */

/* Kinds of files. */
typedef enum tc_output {
    TC_OUTPUT_TOSA = 0,     /* a TOSA flatbuffer for each region */
    TC_OUTPUT_VGF = 1,      /* a VGF file; one region */
    TC_OUTPUT_PTE = 2,      /* an ExecuTorch program: the whole model */
    TC_OUTPUT_PTE_TOSA = 3, /* the same, with each region's TOSA beside its command stream, so
                               that it also runs on a PC */
    TC_OUTPUT_STREAM = 4,   /* Ethos-U: the payload of each region */
    TC_OUTPUT_IR = 5,       /* the graphs as text */
    TC_OUTPUT_C = 6,        /* the ExecuTorch program as C: an array, and a header with sizes */
    TC_OUTPUT_TFLITE = 7,   /* Ethos-U, cpu: a .tflite for TensorFlow Lite Micro: the whole model */
    TC_OUTPUT_BPTE = 8,     /* the ExecuTorch program with test vectors and what it gives on them */
    TC_OUTPUT_PACK = 9,     /* Cortex-M, an Ethos-U beside one: the C in a CMSIS-Pack */
    TC_OUTPUT_LIBRARY = 10  /* the same as a library of Arduino and PlatformIO */
} tc_output;

/* The kind's name ("pte+tosa") and its file extension (".pte"; "" for none); NULL for an unknown
 * kind. */
TC_API const char *tc_output_name(tc_output kind);
TC_API const char *tc_output_extension(tc_output kind);

/* Makes the files of a kind in memory: *count of them; tc_compiled_bytes() returns each. */
TC_API TC_MUST_USE tc_status tc_compiled_make(tc_ctx *ctx, tc_compiled *compiled, tc_output kind,
                                              size_t *count);

/* File i of those made last; data NULL: there is none. */
TC_API tc_bytes tc_compiled_bytes(const tc_compiled *compiled, size_t i);

/* Makes and writes them: PATH for one file; PATH with .0, .1, ... before its extension for several.
 * Of text, large constants go to PATH.bin. */
TC_API TC_MUST_USE tc_status tc_compiled_write(tc_ctx *ctx, tc_compiled *compiled, tc_output kind,
                                               const char *path);

/* The name of the files in reports; tc_compiled_write() sets it itself. */
TC_API TC_MUST_USE tc_status tc_compiled_set_name(tc_ctx *ctx, tc_compiled *compiled,
                                                  const char *name);

/* An ETRecord for ExecuTorch's Inspector, of the .pte or .bpte that was made last, compiled with
 * `locations`; it lives as long as the context.  doc/from-executorch.md has what is in it. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_compiled_etrecord(tc_ctx *ctx, const tc_compiled *compiled, tc_bytes *out);

/* A region as a TOSA file, whatever the target; it lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_compiled_region_tosa(tc_ctx *ctx, const tc_compiled *compiled,
                                                     size_t region, tc_bytes *out);

/* What was proved about the files that were made last, by what, and what was not (doc/assessors.md); the same model, data,
 * settings and tool give the same bytes. */
typedef struct tc_certificate {
    size_t size;      /* of this record: set by the caller */
    tc_bytes json;    /* doc/schema/certificate.json; it names the other two by their hashes */
    tc_bytes program; /* the typed program as text, large constants by a hash */
    tc_bytes samples; /* a .npz: what each command stream was given, and what it gave */
} tc_certificate;
TC_SIZED_RECORD(tc_certificate)

/* They live as long as the context.  TC_USAGE: no file has been made. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_compiled_certificate(tc_ctx *ctx, const tc_compiled *compiled, tc_certificate *out);

/* Writes them: PATH, and beside it PATH with .program.ir and .samples.npz in place of its extension. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_compiled_write_certificate(tc_ctx *ctx, const tc_compiled *compiled, const char *path);

/* The compiled program as a model, to query, write or run; it belongs to `compiled`. */
TC_API const tc_model *tc_compiled_model(const tc_compiled *compiled);

/* The program that was made last, as a model to run: bit for bit what its file computes on the target.
 * Nothing is made for it, so sizes, reports and the verdict stay; where no program was made, it is the
 * one that tc_compiled_model() returns.  It lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_compiled_made(tc_ctx *ctx, const tc_compiled *compiled,
                                              const tc_model **out);

/* ---- what runs where ---- */

typedef struct tc_compiled_info {
    size_t size; /* of this record: set by the caller */
    const char *target;
    size_t n_region;
    size_t on_target, on_cpu; /* operators of the model */
    size_t bytes;             /* of the files made or written last */
    size_t memory;            /* .pte: bytes of its activation memory; 0: not made */
    size_t state;             /* .pte: bytes of state that its methods share; 0: one method */
    const char *method;       /* its name in a .pte */
    size_t samples;           /* on which the result was run beside the model; 0: it was not */
    size_t set_aside;         /* of these, samples that calibration had set aside */
    bool invented;            /* there was no data: random samples were used */
    bool kept_back;           /* those samples were kept back from a first quantization, and sqnr_db is
                                 never above what that has on them */
    size_t calibration_samples; /* the typed program was measured on so many, too, while it was
                                   quantized */
} tc_compiled_info;
TC_SIZED_RECORD(tc_compiled_info)

/* One output of the compiled program against that of the model as it was read, over all elements
 * that are finite in the model. */
typedef struct tc_accuracy {
    size_t size;                           /* of this record: set by the caller */
    const char *output;                    /* its name */
    bool real;                             /* float or quantized: look at sqnr_db; false: look at
                                              agreement */
    double sqnr_db;                        /* 10 log10 (sum a^2 / sum (a - b)^2), or what quantizing
                                              has measured of the typed program where that is
                                              less; INFINITY: no difference */
    double agreement;                      /* share of elements that are equal */
    int64_t lost;                          /* elements that are NaN or infinite here, finite in
                                              the model */
    double typed_sqnr_db, typed_agreement; /* of the typed program; NAN: not quantized here */
    double aside_sqnr_db, aside_agreement; /* on samples that calibration set aside; NAN: none */
} tc_accuracy;
TC_SIZED_RECORD(tc_accuracy)

/* Runs the compiled program beside the model, with data or on float targets; tc_compiled_make() and
 * tc_compiled_write() do this themselves.  TC_BUG where a step breaks its promise: such a program
 * is not written. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_compiled_prove(tc_ctx *ctx, tc_compiled *compiled);

/* Output i of that run; false: there are no more, or nothing was run. */
TC_API bool tc_compiled_accuracy(const tc_compiled *compiled, size_t i, tc_accuracy *out);

/* What a region's command stream takes, by the model of the machine. */
typedef struct tc_stream_figures {
    double cycles, macs, sram_kib, inferences_per_second;
    int64_t scratch, fast_scratch, weights, payload; /* bytes */
} tc_stream_figures;

/* One region. */
typedef struct tc_region_info {
    size_t size; /* of this record: set by the caller */
    const char *name;
    size_t operators;            /* of the model */
    size_t tosa_operators;       /* after lowering, constants not counted */
    size_t transposes;           /* of these */
    int64_t bytes_in, bytes_out; /* that go in and out on each run */
    size_t n_in, n_out;          /* tensors that go in and out; tc_compiled_region_port() */
    bool has_stream;             /* `stream` is filled in: Ethos-U */
    tc_stream_figures stream;
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

/* The method that was compiled before it for the same program; NULL: it is the first, or the only one.
 * A list of sizes (tc_ctx_set_dim(), "seq=64,128") makes a method for each; tc_compile() gives the last. */
TC_API tc_compiled *tc_compiled_beside(const tc_compiled *compiled);

TC_API void tc_compiled_get_info(const tc_compiled *compiled, tc_compiled_info *out);

/* Region i; the type of its input or output i (NULL: none); node i on the CPU.  false: no more. */
TC_API bool tc_compiled_region(const tc_compiled *compiled, size_t i, tc_region_info *out);
TC_API const tc_type *tc_compiled_region_port(const tc_compiled *compiled, size_t region,
                                              bool output, size_t i);
TC_API bool tc_compiled_cpu_node(const tc_compiled *compiled, size_t i, tc_cpu_node_info *out);

/* Kinds of reports. */
typedef enum tc_report_kind {
    TC_REPORT_LINE = 0,         /* one line: what was written, and its sizes */
    TC_REPORT_EXPLAIN = 1,      /* a page: regions, tensors in and out, what stays on the CPU and
                                   why */
    TC_REPORT_JSON = 2,         /* everything, with the files written */
    TC_REPORT_EXPLAIN_JSON = 3, /* everything, before files are written */
    TC_REPORT_CHOICES = 4       /* a table: alternative forms, their cost, which were chosen */
} tc_report_kind;

/* The text ends in a newline and a NUL, and lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_compiled_report(tc_ctx *ctx, const tc_compiled *compiled,
                                                tc_report_kind kind, const char **out);

#ifdef __cplusplus
}
#endif
#endif
