/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h -- runs passes and stages in order; each receives and leaves a verified module, and
 * keeps its contract: what passes.def says of it is checked before and after it. */
#ifndef TC_PASSES_H
#define TC_PASSES_H

#include "../emit/emit.h"
#include "../ir/verify.h"
#include "../lower/lower.h"
#include "../quant/quantizer.h"
#include "../quant/round_to_blocks.h"
#include "../split/split.h"

/* How far a pass preserves results. */
typedef enum tc_numbers {
    TC_EXACT, /* every bit */
    TC_CLOSE, /* within rounding */
    TC_APPROX /* measured on data */
} tc_numbers;

/* Whether a float program is to be quantized. */
typedef enum tc_integers {
    TC_INTEGERS_NEVER,
    TC_INTEGERS_FOR_FLOATS, /* where it has floats at all */
    TC_INTEGERS_ALWAYS
} tc_integers;

/* What a region may be cut in tiles for. */
enum tc_tiles { TC_TILE_HEADS = 1 << 0, TC_TILE_MOVES = 1 << 1 };

/* Parameters and results of stages, and what conditions of the road ask.  Unused fields are
 * NULL. */
typedef struct tc_job {
    tc_integers integers;
    bool fresh; /* it was quantized in this run of the road */
    const tc_target *target;
    const tc_config *config;
    const tc_samples *samples; /* to calibrate with */
    const tc_quant_request *quant; /* further parameters of quantization; or NULL */
    const char *const *cpu;    /* split: names or operators that stay on the CPU */
    size_t n_cpu;
    const tc_graph *source;    /* split: the program as it was read; or NULL */
    const tc_map *left;        /* split: nodes that stay there too, and why; or NULL */
    const tc_lower_check *check; /* lower: each rule is compared on these; or NULL */
    tc_block_report *blocks;     /* filled by round-to-blocks; NULL: no operand is to be block
                                    scaled */
    tc_split_report *split;      /* filled by split; or NULL */
    tc_memory *memory;           /* filled by plan; or NULL */
    bool resamples; /* split: grid_sample and upsampling are left to shaders */
    bool samplers;  /* and those read images, where samplers have the mode */
    unsigned untiled; /* Ethos-U: what is not tiled; of tc_tiles */
    const tc_state_block *state; /* plan: addresses of buffers that methods share; or NULL */
} tc_job;

/* What a stage wants of its job. */
enum { TC_WANTS_TARGET = 1 << 0, TC_WANTS_CONFIG = 1 << 1, TC_WANTS_SAMPLES = 1 << 2 };

typedef struct tc_pass {
    const char *name;
    tc_status (*run)(tc_ctx *ctx, tc_module *module);                      /* a pass */
    tc_status (*stage)(tc_ctx *ctx, tc_module *module, const tc_job *job); /* or a stage */
    uint32_t wants;                                                        /* a stage's */
    uint32_t needs, gives, breaks;                                         /* facts */
    tc_numbers numbers;
    const char *doc;
} tc_pass;

typedef struct tc_pass_list {
    const char *name, *passes, *doc;
} tc_pass_list;

/* Ended by a row without name. */
extern const tc_pass tc_passes[];
extern const tc_pass_list tc_pass_lists[];

/* Called after every pass, with the module it has left; anything but TC_OK stops there. */
typedef struct tc_trace {
    tc_status (*after)(void *user, const tc_module *module, const tc_pass *pass);
    void *user;
} tc_trace;

/* names: "fold-constants,remove-dead-code", passes, stages and lists of passes.  job: parameters of
 * stages; NULL: there are none.  trace: NULL: no hook. */
TC_MUST_USE tc_status ti_run_stages(tc_ctx *ctx, tc_module *module, const char *names,
                                    const tc_job *job, const tc_trace *trace);
/* Passes only. */
TC_MUST_USE tc_status ti_run_passes(tc_ctx *ctx, tc_module *module, const char *names,
                                    const tc_trace *trace);
/* The same on the road: only facts that earlier passes have given hold (road.c). */
TC_MUST_USE tc_status ti_run_list(tc_ctx *ctx, tc_module *module, const char *names,
                                  const tc_job *job, const tc_trace *trace);

#endif
