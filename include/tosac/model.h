/* SPDX-License-Identifier: Apache-2.0 */
/* model.h -- models: reading, querying, running passes, writing as text.
 *
 * A model is a list of graphs: the first is the program, the others are bodies of control flow and
 * regions for the accelerator.  A graph is inputs, nodes in order (producers first) and outputs.  A
 * value is a number within its graph; 0 is "none", an optional operand that is absent. */
#ifndef TOSAC_MODEL_H
#define TOSAC_MODEL_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_model tc_model;

/* ---- reading ---- */

typedef struct tc_model_options {
    size_t size;      /* of this record */
    bool unchecked;   /* do not verify the graph's structure and types */
    bool borrow;      /* from memory: the bytes are not copied and must outlive the context */
    tc_bytes side;    /* from memory, text graphs: the bytes of OUT.bin */
    bool prefer_tosa; /* a .pte: take the TOSA that is stored beside an Ethos-U stream */
    /* ONNX: data that determines dynamic sizes, and values that shapes depend on.  One .npy for
     * each input, in order; later runs must use the same values there. */
    const char *const *data;
    size_t n_data;
    bool dequantize; /* float32 inputs and outputs, by their types or by FILE.json */
    /* A .pte: the method; NULL: forward, else the first.  A .tflite: the signature or graph; NULL:
     * that of tc_ctx_set_signature(), else the first graph. */
    const char *method;
    /* A .tflite that a .tflite will be made of: operators that cannot be read stay as they are. */
    bool keep_unread;
    /* A .pt2, or an ONNX file with ranges by tc_ctx_set_dim(): sizes that nobody settles stay open, for
     * tc_compile() to a target with shape operators; else they are a message. */
    bool open_sizes;
} tc_model_options;
TC_SIZED_RECORD(tc_model_options)

/* Reads a file: a PyTorch export (.pt2), an ONNX or TFLite model, a TOSA flatbuffer, a VGF file, an
 * ExecuTorch program (.pte), Vela's output (_vela.npz) or a text graph (.ir); recognized by its
 * first bytes.
 *
 *   path     "-" is a text graph on standard input; PATH.bin beside a text graph is read with it
 *   options  NULL for the defaults
 *   out      on TC_OK, the model; it lives as long as the context
 *
 * On any other status the messages say what was found and where.  The file must not change during
 * the life of the context: large parts are read when they are needed. */
TC_API TC_MUST_USE tc_status tc_model_open(tc_ctx *ctx, const char *path,
                                           const tc_model_options *options, tc_model **out);

/* The same from bytes in memory, which are copied unless options say `borrow`.  name: for
 * messages. */
TC_API TC_MUST_USE tc_status tc_model_read(tc_ctx *ctx, const char *name, tc_bytes bytes,
                                           const tc_model_options *options, tc_model **out);

/* ---- querying ---- */

/* The file name, and the producer ("torch 2.13.0", or NULL). */
TC_API const char *tc_model_file(const tc_model *model);
TC_API const char *tc_model_producer(const tc_model *model);

/* Method i of the .pte that it was read from, or signature i of the .tflite; NULL: there are no
 * more. */
TC_API const char *tc_model_method(const tc_model *model, size_t i);

/* The stage of a model. */
typedef enum tc_model_stage {
    TC_STAGE_FLOAT = 0,  /* nothing is quantized */
    TC_STAGE_PT2E = 1,   /* quantize and dequantize nodes, as torchao's PT2E leaves them */
    TC_STAGE_TYPED = 2,  /* quantization is part of the values' types */
    TC_STAGE_LOWERED = 3 /* partly or wholly TOSA, or calls of regions */
} tc_model_stage;
TC_API tc_model_stage tc_model_get_stage(const tc_model *model);

/* One input or output. */
typedef struct tc_port_info {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* as the signature has it, or NULL */
    const tc_type *type;
    uint32_t value; /* its number in the program */
} tc_port_info;
TC_SIZED_RECORD(tc_port_info)

/* Tensor inputs and outputs of the program, in the order of the signature.  false: no such index.
 */
TC_API size_t tc_model_input_count(const tc_model *model);
TC_API size_t tc_model_output_count(const tc_model *model);
TC_API bool tc_model_input(const tc_model *model, size_t i, tc_port_info *out);
TC_API bool tc_model_output(const tc_model *model, size_t i, tc_port_info *out);

/* One node. */
typedef struct tc_node_info {
    size_t size;        /* of this record: set by the caller */
    const char *op;     /* "conv", "tosa.add": doc/ops.md */
    const tc_loc *loc;  /* PyTorch's node, operator, module and line, where known */
    const uint32_t *in; /* values it reads; 0: absent */
    size_t n_in;
    const uint32_t *out; /* values it defines */
    size_t n_out;
} tc_node_info;
TC_SIZED_RECORD(tc_node_info)

/* One value. */
typedef struct tc_value_info {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* the author's, or NULL */
    const tc_type *type;
    const void *data; /* constants: the elements as in tc_tensor; else NULL */
} tc_value_info;
TC_SIZED_RECORD(tc_value_info)

/* Graphs, their nodes and their values.  Values are numbered from 1 to tc_model_value_count().
 * false, 0 or NULL: no such graph, node or value. */
TC_API size_t tc_model_graph_count(const tc_model *model);
TC_API const char *tc_model_graph_name(const tc_model *model, size_t graph);
TC_API size_t tc_model_node_count(const tc_model *model, size_t graph);
TC_API bool tc_model_node(const tc_model *model, size_t graph, size_t i, tc_node_info *out);
TC_API size_t tc_model_value_count(const tc_model *model, size_t graph);
TC_API bool tc_model_value(const tc_model *model, size_t graph, uint32_t value, tc_value_info *out);

/* ---- passes ---- */

/* Called after each pass with the model as it is then, for the time of the call.  Any status but
 * TC_OK ends the call with that status. */
typedef tc_status tc_on_pass(void *user, const tc_model *model, const char *pass);

/* Runs passes in place: "fold-constants,remove-dead-code", passes and lists of passes, in order
 * (doc/passes.md).  The model is verified after each.  on_pass may be NULL. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_model_run_passes(tc_ctx *ctx, tc_model *model, const char *passes, tc_on_pass *on_pass,
                    void *user);

/* A pass, or a list of passes. */
typedef struct tc_pass_info {
    size_t size; /* of this record: set by the caller */
    const char *name;
    const char *doc;
    const char *list; /* a list: its passes; else NULL */
} tc_pass_info;
TC_SIZED_RECORD(tc_pass_info)

/* Passes first, then lists.  false: there are no more. */
TC_API TC_EXPERIMENTAL bool tc_pass_at(size_t i, tc_pass_info *out);

/* ---- writing ---- */

/* The model as text with all constants; locations: with the source location of each node.  A NUL
 * follows that size does not count; the text lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_model_text(tc_ctx *ctx, const tc_model *model, bool locations,
                                           tc_bytes *out);

/* Writes the same to a file, with locations; constants of more than 64 elements go to PATH.bin.
 * Either both files are complete or none is left behind. */
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
