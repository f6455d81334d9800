/* SPDX-License-Identifier: Apache-2.0 */
/* model.h -- models: read from anywhere, asked about, rewritten pass by pass, written as text.
 *
 * A model is a list of graphs, the first of which is the program; the others are what control flow
 * runs and what an accelerator takes.  A graph is inputs, nodes in order (producers first) and
 * outputs.  A value is a number within its graph; 0 is "none", an operand that was left out. */
#ifndef TOSAC_MODEL_H
#define TOSAC_MODEL_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_model tc_model;

/* ---- reading ---- */

typedef struct tc_model_options {
    size_t size;     /* of this record */
    int unchecked;   /* not 0: read only, without verifying the graph's structure and types */
    int borrow;      /* from memory, not 0: the bytes stay where they are until the context goes */
    tc_bytes side;   /* from memory, text graphs: the large constants, as OUT.bin has them */
    int prefer_tosa; /* a .pte, not 0: take the TOSA that is kept beside an Ethos-U's stream */
    /* Data that settles what the file leaves open (ONNX): sizes, and numbers that shapes follow
     * from.  One .npy for each input, in order; later runs must bring the same numbers there. */
    const char *const *data;
    size_t n_data;
    int dequantize; /* not 0: float32 at quantized borders, by types or by what FILE.json says */
    /* A .pte: which of its methods; NULL: forward, else the first.  A .tflite: which of its
     * signatures or graphs; NULL: what tc_ctx_set_signature() said, else the first graph. */
    const char *method;
} tc_model_options;
TC_SIZED_RECORD(tc_model_options)

/* Read a file: a PyTorch export (.pt2), an ONNX model, a TOSA flatbuffer, a VGF file, an ExecuTorch
 * program (.pte), Vela's stream (_vela.npz) or a text graph (.ir); the first bytes tell which.
 *
 *   path     "-" is a text graph on standard input; PATH.bin beside a text graph is read with it
 *   options  NULL for the defaults
 *   out      on TC_OK, the model; it lives as long as the context
 *
 * On any other status the messages say what was found and where.  The file must not change while
 * the context lives: large parts of it are read when they are needed. */
TC_API TC_MUST_USE tc_status tc_model_open(tc_ctx *ctx, const char *path,
                                           const tc_model_options *options, tc_model **out);

/* The same from bytes in memory, which are copied unless options say `borrow`.  name: what messages
 * call it. */
TC_API TC_MUST_USE tc_status tc_model_read(tc_ctx *ctx, const char *name, tc_bytes bytes,
                                           const tc_model_options *options, tc_model **out);

/* ---- asking ---- */

/* The name it was read under, and what wrote it ("torch 2.13.0", or NULL). */
TC_API const char *tc_model_file(const tc_model *model);
TC_API const char *tc_model_producer(const tc_model *model);

/* The methods of the .pte that it was read from, or the signatures of the .tflite, in the file's
 * order; NULL: there is no i-th. */
TC_API const char *tc_model_method(const tc_model *model, size_t i);

/* How far a model has come. */
typedef enum tc_model_stage {
    TC_STAGE_FLOAT = 0,  /* nothing is quantized */
    TC_STAGE_PT2E = 1,   /* quantize and dequantize nodes, as torchao's PT2E leaves them */
    TC_STAGE_TYPED = 2,  /* quantization is part of the values' types */
    TC_STAGE_LOWERED = 3 /* a part of it computes on stored integers: TOSA, or calls of regions */
} tc_model_stage;
TC_API tc_model_stage tc_model_get_stage(const tc_model *model);

/* One tensor that goes in or comes out. */
typedef struct tc_port_info {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* as the signature has it, or NULL */
    const tc_type *type;
    uint32_t value; /* its number in the program */
} tc_port_info;
TC_SIZED_RECORD(tc_port_info)

/* Tensor inputs and outputs of the program, in the order of the signature.  0: no such place. */
TC_API size_t tc_model_input_count(const tc_model *model);
TC_API size_t tc_model_output_count(const tc_model *model);
TC_API int tc_model_input(const tc_model *model, size_t i, tc_port_info *out);
TC_API int tc_model_output(const tc_model *model, size_t i, tc_port_info *out);

/* One operator at its place. */
typedef struct tc_node_info {
    size_t size;        /* of this record: set by the caller */
    const char *op;     /* "conv", "tosa.add": doc/ops.md */
    const tc_loc *loc;  /* PyTorch's node, operator, module and line, where they are known */
    const uint32_t *in; /* values it reads; 0: left out */
    size_t n_in;
    const uint32_t *out; /* values it makes */
    size_t n_out;
} tc_node_info;
TC_SIZED_RECORD(tc_node_info)

/* One value. */
typedef struct tc_value_info {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* the author's, or NULL */
    const tc_type *type;
    const void *data; /* constants: the numbers as tc_tensor holds them; else NULL */
} tc_value_info;
TC_SIZED_RECORD(tc_value_info)

/* Graphs, their nodes and their values.  Values are numbered from 1 to tc_model_value_count().  0
 * (or NULL): no such graph, node or value. */
TC_API size_t tc_model_graph_count(const tc_model *model);
TC_API const char *tc_model_graph_name(const tc_model *model, size_t graph);
TC_API size_t tc_model_node_count(const tc_model *model, size_t graph);
TC_API int tc_model_node(const tc_model *model, size_t graph, size_t i, tc_node_info *out);
TC_API size_t tc_model_value_count(const tc_model *model, size_t graph);
TC_API int tc_model_value(const tc_model *model, size_t graph, uint32_t value, tc_value_info *out);

/* ---- rewriting ---- */

/* Told after each pass, with the model as it is then; the model is only lent.  Anything but TC_OK
 * stops there and is what the call comes to. */
typedef tc_status tc_on_pass(void *user, const tc_model *model, const char *pass);

/* Run passes in place: "fold-constants,remove-dead-code", passes and lists of passes, in order
 * (doc/passes.md).  The model is verified after each.  on_pass may be NULL. */
TC_API TC_MUST_USE tc_status tc_model_run_passes(tc_ctx *ctx, tc_model *model, const char *passes,
                                                 tc_on_pass *on_pass, void *user);

/* What there is to run. */
typedef struct tc_pass_info {
    size_t size; /* of this record: set by the caller */
    const char *name;
    const char *doc;
    const char *list; /* a list: the passes it stands for; else NULL */
} tc_pass_info;
TC_SIZED_RECORD(tc_pass_info)

/* Passes first, lists after them.  0: there is no i-th. */
TC_API int tc_pass_at(size_t i, tc_pass_info *out);

/* ---- writing ---- */

/* The model as text, everything in place; places: with where each node came from.  The text ends in
 * a NUL that size does not count, and lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_model_text(tc_ctx *ctx, const tc_model *model, int places,
                                           tc_bytes *out);

/* The same into a file, with places; constants of more than 64 elements stand in PATH.bin.  Either
 * both files are complete or nothing is left behind. */
TC_API TC_MUST_USE tc_status tc_model_write(tc_ctx *ctx, const tc_model *model, const char *path);

/* The parameters of a quantized model by PyTorch's names, as JSON: {value: {scale, zero_point,
 * qmin, qmax, dtype, axis}}; in memory, or as a file. */
TC_API TC_MUST_USE tc_status tc_model_qparams(tc_ctx *ctx, const tc_model *model, tc_bytes *out);
TC_API TC_MUST_USE tc_status tc_model_write_qparams(tc_ctx *ctx, const tc_model *model,
                                                    const char *path);

#ifdef __cplusplus
}
#endif
#endif
