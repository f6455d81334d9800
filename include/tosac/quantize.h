/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.h -- quantizes a float model with calibration samples.  The result is a typed model:
 * every quantized value has its scale and zero point in its type. */
#ifndef TOSAC_QUANTIZE_H
#define TOSAC_QUANTIZE_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings ---- */

/* Quantization settings: a scheme for all values, and entries for some of them. */
typedef struct tc_config tc_config;

/* A preset (int8, int8xS, int8-XdB, best, int8+16:K, int8+16:P%, a16w8, a8w4, a16w4, none, anchor, mxfp8, mxfp6,
 * mxfp4, mxint8) or the path of a JSON file, which ends in .json or holds a slash; NULL is int8.
 * "int8,float=front-end,float=NAME,rate=0.3dB,transform=int16": what stays in float, what coarser
 * weights may lose, and the weights of transforms of power spectra, int8, int16 or float (doc/quantization.md). */
TC_API TC_MUST_USE tc_status tc_config_open(tc_ctx *ctx, const char *preset_or_path,
                                            tc_config **out);

/* The same from JSON text (format: doc/quantization.md).  name: for messages. */
TC_API TC_MUST_USE tc_status tc_config_parse(tc_ctx *ctx, const char *name, tc_bytes json,
                                             tc_config **out);

/* The scope of an entry; of the entries for a value, the later scope in this list wins. */
typedef enum tc_scope {
    TC_SCOPE_GLOBAL = 0,      /* everything */
    TC_SCOPE_INPUT = 1,       /* the program's own inputs */
    TC_SCOPE_OUTPUT = 2,      /* the program's own outputs */
    TC_SCOPE_MODULE_TYPE = 3, /* "torch.nn.modules.linear.Linear" */
    TC_SCOPE_MODULE = 4,      /* "layers.0": that module and all inside it; the longer path wins */
    TC_SCOPE_OPERATOR = 5,    /* "aten.softmax.int" */
    TC_SCOPE_NODE = 6         /* PyTorch's node */
} tc_scope;

/* Observers: how a range is chosen. */
typedef enum tc_observer_kind {
    TC_OBSERVE_MSE = 0,              /* the least squared error, after a table operator that
                                        reads it */
    TC_OBSERVE_MINMAX = 1,           /* the smallest and largest number seen */
    TC_OBSERVE_EMA = 2,              /* moving averages of each sample's minimum and maximum */
    TC_OBSERVE_PERCENTILE = 3,       /* all but the tails */
    TC_OBSERVE_HISTOGRAM_TORCHAO = 4 /* the search of torchao's histogram observer */
} tc_observer_kind;

/* Which fields of tc_quant_entry are set. */
enum {
    TC_ENTRY_DTYPE = 1 << 0, /* also sets the usual qmin and qmax of that type */
    TC_ENTRY_RANGE = 1 << 1, /* qmin and qmax */
    TC_ENTRY_SYMMETRIC = 1 << 2,
    TC_ENTRY_PER_CHANNEL = 1 << 3,
    TC_ENTRY_OBSERVER = 1 << 4, /* and percentile, where that is not 0 */
    TC_ENTRY_FLOOR = 1 << 5,
    TC_ENTRY_FIXED = 1 << 6, /* scale and zero */
    TC_ENTRY_GROUP = 1 << 7
};

/* One entry: settings for the values in its scope.  Fields that `has` does not name come from
 * entries with a wider scope. */
typedef struct tc_quant_entry {
    size_t size; /* of this record */
    tc_scope scope;
    const char *name; /* of the module, operator, node; NULL for the first three */
    bool weights;     /* about weights; false: about activations */
    uint32_t has;     /* TC_ENTRY_* */
    tc_dtype dtype;   /* i8, i16, u8; weights i8, i4; none: left in float */
    int64_t qmin, qmax;
    bool symmetric;   /* the zero point is 0 */
    bool per_channel; /* weights: a scale for each output channel */
    tc_observer_kind observer;
    double percentile; /* of each end, such as 99.99; 0: what a wider entry says, else 99.99 */
    double floor;      /* the least scale */
    double scale;      /* fixed: > 0 */
    int64_t zero;
    int64_t group; /* weights: input channels per scale; 0: all share one */
} tc_quant_entry;
TC_SIZED_RECORD(tc_quant_entry)

/* Adds an entry; its fields override those of an earlier one with the same scope and name. */
TC_API TC_MUST_USE tc_status tc_config_add_entry(tc_ctx *ctx, tc_config *config,
                                                 const tc_quant_entry *entry);

/* ---- quantizing ---- */

/* What was observed on a part of the data: opaque, portable bytes that may be stored and sent.
 * doc/calibration.md says how parts are merged over machines, in one or two rounds. */
typedef struct tc_observations {
    const char *name; /* for messages: a path, for example */
    tc_bytes bytes;   /* data NULL: the file of that name is read */
} tc_observations;

typedef struct tc_quantize_options {
    size_t size;                  /* of this record */
    const tc_config *config;      /* NULL: int8 */
    tc_dataset *samples;          /* NULL: observations alone, or a model without inputs */
    const tc_observations *merge; /* of other runs, in any order */
    size_t n_merge;
    bool keep_odd;         /* keep every sample, outliers too */
    bool reset;            /* start every sample from the initial state, as tc_program_run_data() can */
    double budget_seconds; /* skip methods that have not begun by then; 0: no limit */
    const char *target;    /* what it will be compiled for; NULL: TOSA-1.0+INT.  tc_compile() then
                              gives the same bytes as it does for the float model */
    bool all_samples;      /* none are kept back to measure on, and sqnr_db is optimistic */
} tc_quantize_options;
TC_SIZED_RECORD(tc_quantize_options)

/* The gain of one method: the accuracy on calibration samples with it. */
typedef struct tc_method_gain {
    const char *name, *what;
    double sqnr_db;
    bool taken; /* false: it did not help and was dropped */
} tc_method_gain;

/* The result in figures, and the CPU time of all threads, in seconds. */
typedef struct tc_quantize_report {
    size_t size;            /* of this record: set by the caller */
    size_t quantized, real; /* values quantized and left in float, without constants */
    size_t samples;
    double first_pass, second_pass; /* over the samples */
    double read;                    /* of these two: reading samples */
    double search, rank, correct;
    double sqnr_db;               /* of the output that has the least, typed against float, on the
                                     samples of measured_on; 0: not known */
    double plain_sqnr_db;         /* of all outputs when every code is just the nearest, on
                                     calibration samples, as methods are judged */
    double agreement;             /* share of these with the same argmax of the first output */
    const tc_method_gain *method; /* the methods that were tried */
    size_t n_method;
    size_t kept_back;        /* samples that were kept back, for sqnr_db; 0: none */
    const char *measured_on; /* "8 held-out and 32 calibration samples"; NULL: nothing
                                was measured */
} tc_quantize_report;
TC_SIZED_RECORD(tc_quantize_report)

/* Quantizes a float model.  A PT2E model already has its parameters: its quantize and dequantize
 * nodes become types, and options must have neither data nor settings.
 *
 *   model    is not changed
 *   out      on TC_OK, the typed model
 *   report   filled in; or NULL
 *
 * The same samples give the same model, in any order and on any number of threads.  Of 16 samples and
 * more some are kept back from a first quantization, the last of each half, on which it is measured
 * for sqnr_db. */
TC_API TC_MUST_USE tc_status tc_quantize_model(tc_ctx *ctx, const tc_model *model,
                                               const tc_quantize_options *options, tc_model **out,
                                               tc_quantize_report *report);

/* Observes only: the ranges of the samples (first round) or, with the first rounds of all parts in
 * options->merge, the histograms of this part (second round).  The bytes live as long as the
 * context. */
TC_API TC_MUST_USE tc_status tc_observe_model(tc_ctx *ctx, const tc_model *model,
                                              const tc_quantize_options *options, tc_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
