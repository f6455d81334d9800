/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.h -- a float model and samples become a typed model: every quantized value carries its
 * scale and zero point in its type. */
#ifndef TOSAC_QUANTIZE_H
#define TOSAC_QUANTIZE_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings ---- */

/* How values are quantized: a scheme for all, and entries for some of them. */
typedef struct tc_config tc_config;

/* A preset (int8, best, int8+16:K, int8+16:P%, a16w8, a8w4, a16w4, none, anchor) or the path of a
 * JSON file, which ends in .json or holds a slash; NULL is int8. */
TC_API TC_MUST_USE tc_status tc_config_open(tc_ctx *ctx, const char *preset_or_path,
                                            tc_config **out);

/* The same from JSON text (doc/quantization.md has its members).  name: what messages call it. */
TC_API TC_MUST_USE tc_status tc_config_parse(tc_ctx *ctx, const char *name, tc_bytes json,
                                             tc_config **out);

/* What an entry is about; of the entries for a value the later kind wins. */
typedef enum tc_scope {
    TC_SCOPE_GLOBAL = 0,      /* everything */
    TC_SCOPE_INPUT = 1,       /* the program's own inputs */
    TC_SCOPE_OUTPUT = 2,      /* the program's own outputs */
    TC_SCOPE_MODULE_TYPE = 3, /* "torch.nn.modules.linear.Linear" */
    TC_SCOPE_MODULE = 4,      /* "layers.0": that module and all inside it; the longer path wins */
    TC_SCOPE_OPERATOR = 5,    /* "aten.softmax.int" */
    TC_SCOPE_NODE = 6         /* PyTorch's node */
} tc_scope;

/* How a range is found. */
typedef enum tc_observer_kind {
    TC_OBSERVE_MSE = 0,        /* the least squared error, after the table operator that reads it */
    TC_OBSERVE_MINMAX = 1,     /* everything that was seen */
    TC_OBSERVE_EMA = 2,        /* a moving average of each sample's ends */
    TC_OBSERVE_PERCENTILE = 3, /* all but the tails */
    TC_OBSERVE_HISTOGRAM_TORCHAO = 4 /* the search of torchao's histogram observer */
} tc_observer_kind;

/* Fields of tc_quant_entry that count. */
enum {
    TC_ENTRY_DTYPE = 1 << 0, /* brings the usual codes of that type along */
    TC_ENTRY_RANGE = 1 << 1, /* qmin and qmax */
    TC_ENTRY_SYMMETRIC = 1 << 2,
    TC_ENTRY_PER_CHANNEL = 1 << 3,
    TC_ENTRY_OBSERVER = 1 << 4, /* and percentile */
    TC_ENTRY_FLOOR = 1 << 5,
    TC_ENTRY_FIXED = 1 << 6, /* scale and zero */
    TC_ENTRY_GROUP = 1 << 7
};

/* One entry: what holds for the values in its scope; the fields that `has` does not name are taken
 * from wider entries. */
typedef struct tc_quant_entry {
    size_t size; /* of this record */
    tc_scope scope;
    const char *name; /* of the module, operator, node; NULL for the first three */
    int weights;      /* 0: about activations, else about weights */
    uint32_t has;     /* TC_ENTRY_* */
    tc_dtype dtype;   /* i8, i16, u8; weights i8, i4; none: left in float */
    int64_t qmin, qmax;
    int symmetric;   /* the zero point is 0 */
    int per_channel; /* weights: a scale for each output channel */
    tc_observer_kind observer;
    double percentile; /* of each end, such as 99.99 */
    double floor;      /* the least scale */
    double scale;      /* fixed: > 0 */
    int64_t zero;
    int64_t group; /* weights: so many input channels have a step of their own; 0: all share one */
} tc_quant_entry;
TC_SIZED_RECORD(tc_quant_entry)

/* Adds an entry; one with the scope and name of an earlier one is laid over it. */
TC_API TC_MUST_USE tc_status tc_config_add_entry(tc_ctx *ctx, tc_config *config,
                                                 const tc_quant_entry *entry);

/* ---- quantizing ---- */

/* What was observed on a part of the data: an opaque, portable span of bytes, which may be stored
 * and sent.  doc/quantization.md has how parts are merged over machines, in one or two rounds. */
typedef struct tc_observations {
    const char *name; /* what messages call it: a path, say */
    tc_bytes bytes;   /* data NULL: the file of that name is read */
} tc_observations;

typedef struct tc_quantize_options {
    size_t size;                  /* of this record */
    const tc_config *config;      /* NULL: int8 */
    tc_dataset *samples;          /* NULL: observations alone, or a model without inputs */
    const tc_observations *merge; /* of other runs, in any order */
    size_t n_merge;
    int keep_odd; /* not 0: no sample is set aside, however odd */
    double budget_seconds; /* methods that have not begun by then are left out; 0: no limit */
} tc_quantize_options;
TC_SIZED_RECORD(tc_quantize_options)

/* What a method brought: the accuracy on calibration samples with it. */
typedef struct tc_method_gain {
    const char *name, *what;
    double sqnr_db;
    int taken; /* 0: it did not help, and was left out */
} tc_method_gain;

/* What it came to, and where the processor time of all threads went, in seconds. */
typedef struct tc_quantize_report {
    size_t size;            /* of this record: set by the caller */
    size_t quantized, real; /* values of each kind, constants not counted */
    size_t samples;
    double first_pass, second_pass; /* over the samples */
    double read;                    /* of these: reading samples */
    double search, rank, correct;
    double sqnr_db; /* of the outputs, typed against float, on calibration samples; 0: not known */
    double plain_sqnr_db; /* the same with codes that are just the nearest */
    double agreement;     /* samples whose first output has its greatest number at the same place */
    const tc_method_gain *method; /* those that were tried */
    size_t n_method;
} tc_quantize_report;
TC_SIZED_RECORD(tc_quantize_report)

/* Quantize a float model.  A model that went through PT2E has its parameters already: its quantize
 * and dequantize nodes become types, and options must bring neither data nor settings.
 *
 *   model    stays as it is
 *   out      on TC_OK, the typed model
 *   report   filled in; or NULL
 *
 * The same samples give the same model, in whatever order and on however many threads. */
TC_API TC_MUST_USE tc_status tc_quantize_model(tc_ctx *ctx, const tc_model *model,
                                               const tc_quantize_options *options, tc_model **out,
                                               tc_quantize_report *report);

/* Only look: what was observed on the samples (first round), or, with the first rounds of all parts
 * in options->merge, the counts of this part (second round).  The bytes live as long as the
 * context. */
TC_API TC_MUST_USE tc_status tc_observe_model(tc_ctx *ctx, const tc_model *model,
                                              const tc_quantize_options *options, tc_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
