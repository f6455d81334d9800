/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h -- a model becomes what a target loads: the request, and the result. */
#ifndef TC_DRIVER_H
#define TC_DRIVER_H

#include "../codegen/codegen.h"
#include "../cortexm/cortexm.h"
#include "../emit/emit.h"
#include "../emit/ethosu.h"
#include "../lower/images.h"
#include "../lower/shaders.h"
#include "../quant/quantizer.h"
#include "../split/split.h"
#include "../target/target.h"
#include "checker.h"
#include "../data/dataset.h"
#include "passes.h"
#include "proof_record.h"
#include "tosac/tosac.h"

/* A request's data. */
typedef struct tc_request_data {
    tc_dataset *calib;     /* calibration data; NULL: none */
    bool only_if_needed;   /* data alone does not ask for quantization */
    const int64_t *labels; /* of the calibration samples; or NULL */
    bool keep_odd;         /* no calibration sample is excluded as an outlier */
    bool all_samples;      /* none is held out */
    bool only_learned;     /* held-out samples are left out: settings are compared on them */
} tc_request_data;

/* A request for one of several sizes of a model; zeros: it has one. */
typedef struct tc_request_sizes {
    int64_t any; /* 0: it is for one size; else the largest extent of all sizes: no form is taken
                    that pays, or exists, at some of them only */
    const tc_quant_size *calib; /* further sizes of calibration samples, */
    size_t n_calib;             /* their number */
    bool own_samples;           /* the calibration data is of this size, whatever `as` and `first` are */
    bool record;                /* other sizes are to be quantized in the same way */
    bool ready_only;            /* stop at READY, before quantization, values numbered */
    const tc_module *largest;   /* the same model up to READY at its largest sizes; or NULL */
    const struct tc_compiled *first; /* the same model at the size of the data, compiled; or NULL */
    const tc_quant_record *as;  /* quantized as the same model was at another size; or NULL */
} tc_request_sizes;

typedef struct tc_compile_request {
    const char *model; /* its file, or only its name: */
    tc_module *module; /* the model itself, verified; NULL: the file is read */
    const char *target;
    const char *config;        /* as ti_config_read takes it; NULL: int8 for targets without float */
    const tc_config *settings; /* instead of config; or NULL */
    tc_request_data data;
    tc_request_sizes sizes;
    const char *const *cpu; /* names or operators that stay on the CPU */
    size_t n_cpu;
    const tc_trace *trace; /* called after every pass; or NULL */
    bool check;            /* run the program before and after every pass */
    tc_tensor *check_on;   /* `check`: this sample, by input, and no other; or NULL */
    bool strict;           /* what a region's rules or its back end refuse is an error */
    bool unexecuted;       /* nothing that is written is run; command streams are verified only */
    tc_shaders shaders;    /* .vgf: what becomes shaders, */
    tc_image_port *image;  /* and ports that are images; the result is reported there */
    size_t n_image;
    const char *method;    /* its name among several; NULL: it is the only one */
    const struct tc_compiled *beside; /* the method compiled before it; or NULL */
    const tc_trace *faults; /* tests: called like `trace`, which is NULL then, whenever the model is
                               compiled; may change what a pass has left */
} tc_compile_request;

/* One region: its graph in the TOSA form, and as a file. */
typedef struct tc_region {
    tc_module *module; /* the graph by itself */
    const char *name;  /* as the calls name it */
    int64_t times;     /* that an inference runs it */
    const char **node; /* the model's nodes in it, by name */
    size_t n_node;
    tc_bytes
        tosa; /* none when the program was TOSA and the target wants another form: ti_region_tosa */
    tc_tensor *sample[TC_CHECK_SAMPLES]; /* Ethos-U: what it is given, by input */
    size_t n_sample;
    tc_tensor *want; /* what it should give on the one sample, by output; NULL: not known */
    tc_codegen_result *own; /* Ethos-U: what the back end says; NULL: it was not asked */
    tc_tensor *gave[TC_CHECK_SAMPLES]; /* what its stream was seen to give on each sample, by output, the
                                          same as the TOSA program; NULL: it was not executed */
    size_t commands;        /* of its stream, held to the machine's rules */
} tc_region;

/* What has been made of it, or written. */
typedef struct tc_written {
    const char *path;  /* NULL: nothing was written */
    tc_bytes *file;    /* what was made last */
    size_t n_file;
    const char **name; /* C for a Cortex-M: the names of the files after the first; else NULL */
    const char **written_as; /* the names that they were written under, without folders; NULL: they were not */
    size_t bytes;      /* of all of them */
    size_t memory;     /* a program's: bytes of the block that its values live in, */
    size_t state;      /* and of the one that its methods share */
    tc_memory plan;    /* and their addresses in it, */
    const tc_graph *planned; /* by value of this graph; NULL: no program was made */
    const tc_c_transformed *transform; /* C for a Cortex-M: products that are fast Fourier transforms */
    size_t n_transform;
    const tc_c_layer *layer; /* C that calls CMSIS-NN: by whose kernel each layer is computed, */
    size_t n_layer;
    const char *library;     /* and its version; NULL: it does not */
    size_t code, ports;      /* C for a Cortex-M: bytes of code, about; of inputs, outputs and state; */
    size_t outside, floats;  /* operators that no region has, and those of them that it computes in float; */
    double core_cycles;      /* and what its own steps take */
    size_t vectors;          /* .bpte: its test vectors */
    size_t shaders;          /* .vgf: compute shaders for what no region takes */
    bool whole;              /* .pte: one VGF file, with shaders for that */
    const struct tc_compiled *held; /* .tosa: its regions, with the file's inputs and outputs */
    const struct tc_npu_moved *moved; /* .tflite: where each region's commands stand in the file; NULL: where the region has them */
    struct tc_pte_needs *needs; /* .pte, .bpte: what the runtime needs; NULL: another file */
} tc_written;

/* What the caller asks of the files that are made; no stage writes it. */
typedef struct tc_asked {
    tc_ethosu_options ethosu;
    const struct tc_board *board; /* board.h: where it is to run; NULL: not said */
    bool places;                  /* .pte: steps keep where they come from */
    tc_dataset *vectors;          /* .bpte: its test vectors; NULL: what it is run on */
    bool cmsis_nn;                /* C for a Cortex-M calls it */
    tc_compile_goal goal;         /* what its settings were searched for; zeros: they were given */
    const char *method;           /* its name in a .pte */
    struct tc_compiled *beside;   /* the method before it in the same .pte; or NULL */
} tc_asked;

/* How it is quantized. */
typedef struct tc_quantized {
    tc_config config;          /* where it is not yet, */
    tc_quant_gains gains;      /* what that came to, */
    tc_fouriers fouriers;      /* which layers are Fourier transforms, */
    tc_quant_record record;    /* and what was decided, for other sizes of the same model */
    tc_frontier_row *frontier; /* settings that were tried for a goal */
    size_t n_frontier;
} tc_quantized;

/* The samples that the written program is run on. */
typedef struct tc_given {
    tc_tensor *sample[TC_GIVEN]; /* by input; streams are run on the first */
    bool odd[TC_GIVEN];          /* calibration has excluded it, or it is far from the others */
    size_t number[TC_GIVEN];     /* in the data */
    size_t n;
    bool held_out; /* calibration has not seen them, except those that it excluded */
    bool invented;
    bool apart; /* each starts from the initial state */
} tc_given;

/* What stages leave to later ones. */
typedef struct tc_work {
    tc_module *typed;        /* the program before it was split; NULL: it is not split, */
    tc_map left;             /* and the nodes that a refusal left on the CPU, with the reason */
    const tc_module *source; /* the same, for the names of --cpu; NULL: they are not looked up */
    tc_module *real;         /* the model as it was read; NULL: nothing is executed */
    bool rule_broke;         /* with `check`: a rule gave other results than its node */
    struct tc_checker *checker;  /* while it is being compiled with `check`, */
    tc_checked checked;          /* and what that has covered */
    struct tc_verdicts *choices; /* verdicts.h: which forms its regions took; NULL: costs are not known */
    struct tc_many_sizes *many;  /* many_sizes.h: it is for many sizes; NULL: for one */
} tc_work;

/* Regions of the core next to an Ethos-U: output/core_part.c. */
typedef struct tc_core_regions {
    tc_region *region; /* NULL: not made yet */
    size_t n, nodes;   /* and the operators in them */
} tc_core_regions;

struct tc_compiled {
    tc_compile_request request; /* what was asked for; */
    tc_asked asked;
    tc_target target;
    tc_work work;
    tc_given given;
    tc_module *module; /* what came out: CPU nodes and calls, and the regions' graphs; */
    tc_model *model;   /* the same, for callers */
    tc_quantized quant;
    tc_block_report blocks; /* what is block scaled, where the settings ask for that */
    tc_split_report split;
    tc_region *region;
    size_t n_region;
    tc_core_regions core;
    tc_payload *payload; /* payload.h: what each region's machine loads; NULL: not made yet */
    tc_ethosu_job *jobs; /* Ethos-U: each region and its stream; NULL: not made yet */
    tc_proof proof;
    tc_written written;
    struct tc_fit *fit; /* board_fit.h: whether the files made last fit there; NULL: not known */
};

/* Operators that are left to the CPU, or, in C for a Cortex-M, to the caller. */
static inline size_t ti_left_outside(const tc_compiled *c)
{
    size_t left = c->core.region ? c->split.n_left - c->core.nodes : c->split.n_left;
    return left > c->written.outside ? left - c->written.outside : 0;
}

/* A Cortex-M computes the program, or what an Ethos-U next to it leaves: C for it can be written. */
static inline bool ti_is_for_core(const tc_compiled *c)
{
    return c->target.machine->packing == TC_PACKED_C || c->target.core;
}

/* Read, tidy, quantize, split, lower; nothing is written.  A model that is TOSA already is one
 * region.  The request's module becomes the program; out->asked.ethosu is what the caller asks of
 * command streams, or zeros. */
TC_MUST_USE tc_status ti_compile_stages(tc_ctx *ctx, const tc_compile_request *request,
                                        tc_compiled *out);

/* Compiles the model of c again from the beginning, and runs it before and after each step on one
 * sample: TC_BUG and a message where a step breaks its promise; *rule: the step is a rule, compared
 * with its own node. */
TC_MUST_USE tc_status ti_compile_checked(tc_ctx *ctx, const tc_compiled *c, tc_tensor *sample,
                                         bool *rule);
/* Compiles the model of c again, up to the typed program, which is out->module, with other
 * settings; config NULL: with the same. */
TC_MUST_USE tc_status ti_compile_otherwise(tc_ctx *ctx, const tc_compiled *c, const char *config,
                                           bool keep_odd, tc_compiled *out);

/* Compiles the model of c again, with one more node on the CPU: a node's name, or an operator's. */
TC_MUST_USE tc_status ti_compile_on_cpu(tc_ctx *ctx, const tc_compiled *c, const char *name,
                                        tc_compiled *out);

/* The model of a request up to READY, values numbered. */
TC_MUST_USE tc_status ti_compile_ready(tc_ctx *ctx, const tc_compile_request *request,
                                       tc_module **out);

/* front.c: a file that quantizes activations dynamically is a float model (module->real) where it
 * is to be quantized here. */
void ti_take_real(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *out);
/* The model becomes the typed program in one piece. */
TC_MUST_USE tc_status ti_compile_front(tc_ctx *ctx, const tc_compile_request *request,
                                       tc_compiled *c);

/* whole.c: a program that is TOSA already becomes one region; its sample inputs stay with it, for
 * its command stream. */
bool ti_is_tosa(const tc_compiled *c);
/* checker: runs it after every pass; or NULL. */
TC_MUST_USE tc_status ti_take_whole(tc_ctx *ctx, const tc_trace *trace, tc_checker *checker,
                                    tc_compiled *c);

/* regions.c: the call of a region; NULL: there is none. */
tc_node *ti_call_of(const tc_graph *g, const char *name);
/* Removes inputs that no node reads any more, from the region and from its call. */
void ti_drop_inputs(tc_ctx *ctx, const tc_module *module, tc_graph *g);
void ti_bring_back(tc_module *from, tc_module *to); /* graphs that were alone in a module */

/* regions.c: the typed program split, its regions lowered and judged; *failed: the region that was
 * refused, where one was. */
TC_MUST_USE tc_status ti_compile_regions(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace,
                                         size_t *failed);

/* regions.c: a copy of the region, in a module of its own, at RULED. */
TC_MUST_USE tc_status ti_region_ruled(tc_ctx *ctx, tc_compiled *c, const char *name,
                                      const tc_trace *trace, tc_module **out);

/* The second half of it: c->split says which graphs of c->module are regions. */
TC_MUST_USE tc_status ti_finish_regions(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace,
                                        size_t *failed);

/* output/core_part.c: what an Ethos-U leaves to the core next to it (target.core) becomes regions
 * of the core in c->core, each a call of c->module; once, after ti_pack_regions.  What the core has
 * no integer form for stays as it is; without a core nothing is done. */
TC_MUST_USE tc_status ti_core_part(tc_ctx *ctx, tc_compiled *c);

/* fallback.c: region `failed` was refused by a rule, for the reason by_rule; or (by_rule NULL,
 * failed SIZE_MAX) the back end refuses some.  The nodes that refusals name go to the CPU, with a
 * warning and the reason, and so on until nothing is refused; c is compiled again. */
typedef struct tc_refusal {
    const char *why;  /* NULL: it is taken */
    const char *node; /* the model's node that it comes from; or NULL */
} tc_refusal;
TC_MUST_USE tc_status ti_fall_back(tc_ctx *ctx, tc_compiled *c, size_t failed,
                                   const tc_refusal *by_rule);

/* nothing_offloaded.c: a warning where the target is an accelerator and nothing runs there;
 * `strict`: an error. */
TC_MUST_USE tc_status ti_tell_idle(tc_ctx *ctx, const tc_compiled *c);

/* method_state.c: a constant that an earlier method changes under the same name is that method's
 * buffer here too; this method does not change it. */
void ti_methods_adopt_state(tc_graph *g, const tc_compiled *before);

/* Buffers that earlier methods have by name get the same quantization here. */
void ti_methods_same_state(tc_ctx *ctx, const tc_graph *g, const tc_compiled *before,
                           tc_config *config);

/* Weights and tables of rows that earlier methods have get the same quantization here. */
void ti_methods_same_weights(tc_ctx *ctx, const tc_graph *g, const tc_compiled *before,
                             tc_config *config);

/* regions.c: the region as a TOSA file, made now where it was not needed before. */
TC_MUST_USE tc_status ti_region_tosa(tc_ctx *ctx, const tc_region *region, tc_bytes *out);

/* show/summary.c: what was compiled, for people and for programs. */
void ti_report_line(const tc_compiled *c, tc_buf *out); /* one line */
void ti_report_text(const tc_compiled *c, tc_buf *out); /* regions, borders, the CPU's part */
struct tc_json_out;
void ti_fouriers_json(const tc_compiled *c, struct tc_json_out *out); /* layers that are Fourier transforms */
void ti_report_json(tc_ctx *ctx, const tc_compiled *c, bool written, tc_buf *out);

/* What crosses a region's border, and its number of operators. */
typedef struct tc_region_border {
    int64_t bytes_in, bytes_out;
    size_t n_tosa, n_transpose;
} tc_region_border;
tc_region_border ti_border_of(const tc_region *region);

#endif
