/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_schema.h -- the numbers of TensorFlow Lite's format "TFL3": fields by their tables, types of
 * tensors; what its reader and its writer share. */
#ifndef TC_TFLITE_SCHEMA_H
#define TC_TFLITE_SCHEMA_H

#include "../num/type.h"

#define TC_TFL_IDENTIFIER "TFL3"
/* Metadata: i32 version 0, number of graphs, number of tensors, and the arena's offset of each. */
#define TC_TFL_OFFLINE "OfflineMemoryAllocation"
/* An operator that runs a command stream: inputs stream, constants, scratch, fast scratch, then the
 * network's; options are one integer, 1, as flexbuffers have it. */
#define TC_TFL_ETHOSU "ethos-u"

enum {
    TC_TFL_VERSION = 3,
    TC_TFL_CUSTOM = 32 /* BuiltinOperator of operators with a name of their own */
};

/* TensorType. */
enum {
    TFL_FLOAT32,
    TFL_FLOAT16,
    TFL_INT32,
    TFL_UINT8,
    TFL_INT64,
    TFL_STRING,
    TFL_BOOL,
    TFL_INT16,
    TFL_COMPLEX64,
    TFL_INT8,
    TFL_FLOAT64,
    TFL_COMPLEX128,
    TFL_UINT64,
    TFL_RESOURCE,
    TFL_VARIANT,
    TFL_UINT32,
    TFL_UINT16,
    TFL_INT4,
    TFL_BFLOAT16,
    TFL_INT2,
    TFL_UINT4,
    TFL_E4M3,
    TFL_E5M2,
    TFL_TYPES
};

/* The name of a type; how its elements are stored, TC_none: it has none. */
const char *ti_tfl_type_name(int code);
tc_dtype ti_tfl_dtype_of(int code);
/* The type of elements that are stored so; -1: there is none. */
int ti_tfl_type_of(tc_dtype dtype);

/* Fields of the tables. */
enum { MODEL_VERSION, MODEL_CODES, MODEL_GRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS,
       MODEL_METADATA = 6, MODEL_SIGNATURES };
enum { CODE_OLD, CODE_CUSTOM, CODE_VERSION, CODE_NEW };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS, GRAPH_NAME };
enum { OP_CODE, OP_INPUTS, OP_OUTPUTS, OP_OPTIONS_TYPE, OP_OPTIONS, OP_CUSTOM, OP_CUSTOM_FORMAT,
       OP_INTERMEDIATES = 8, OP_LARGE_AT, OP_LARGE_SIZE, OP_OPTIONS_2_TYPE, OP_OPTIONS_2 };
enum { TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, TENSOR_QUANT, TENSOR_VARIABLE,
       TENSOR_SPARSITY, TENSOR_SIGNATURE, TENSOR_HAS_RANK, TENSOR_EXTERNAL = 10 };
enum { BUFFER_DATA, BUFFER_AT, BUFFER_SIZE };
enum { QUANT_SCALE = 2, QUANT_ZERO, QUANT_DETAILS_TYPE, QUANT_DETAILS, QUANT_AXIS };
enum { SIGNATURE_INPUTS, SIGNATURE_OUTPUTS, SIGNATURE_KEY, SIGNATURE_GRAPH = 4 };
enum { METADATA_NAME, METADATA_BUFFER };

#endif
