/* SPDX-License-Identifier: Apache-2.0 */
/* pte_schema.h -- the numbers of ExecuTorch's program format "ET12": fields by their tables, tags
 * of unions.
 *
 * A file is a flatbuffer, with a header between its identifier and its body when there are
 * segments, and the segments after it: constants, the buffers that are changed, delegates'
 * payloads, named data. */
#ifndef TC_PTE_SCHEMA_H
#define TC_PTE_SCHEMA_H

#define TC_PTE_IDENTIFIER "ET12"
#define TC_PTE_HEADER                                                                              \
    "eh00" /* u32 its bytes, u64 bytes of the program, u64 where segments begin, u64 their bytes   \
            */

enum {
    TC_PTE_HEADER_AT = 8,
    TC_PTE_HEADER_BYTES = 32,
    TC_PTE_SEGMENT_ALIGN = 128,
    TC_PTE_DATA_ALIGN = 16
};

enum {
    PTE_PROGRAM_VERSION = 0,
    PTE_PROGRAM_PLANS = 1,
    PTE_PROGRAM_CONSTANT_BUFFER = 2,
    PTE_PROGRAM_DELEGATE_DATA = 3,
    PTE_PROGRAM_SEGMENTS = 4,
    PTE_PROGRAM_CONSTANTS = 5,
    PTE_PROGRAM_MUTABLE = 6,
    PTE_PROGRAM_NAMED = 7,

    PTE_PLAN_NAME = 0,
    PTE_PLAN_CONTAINER = 1,
    PTE_PLAN_VALUES = 2,
    PTE_PLAN_INPUTS = 3,
    PTE_PLAN_OUTPUTS = 4,
    PTE_PLAN_CHAINS = 5,
    PTE_PLAN_OPERATORS = 6,
    PTE_PLAN_DELEGATES = 7,
    PTE_PLAN_ARENAS = 8,

    PTE_CONTAINER_IN = 0,
    PTE_CONTAINER_OUT = 1,

    PTE_UNION_TYPE = 0, /* EValue and Instruction */
    PTE_UNION_VALUE = 1,

    PTE_TENSOR_DTYPE = 0,
    PTE_TENSOR_STORAGE_OFFSET = 1,
    PTE_TENSOR_SIZES = 2,
    PTE_TENSOR_ORDER = 3,
    PTE_TENSOR_DATA = 5,
    PTE_TENSOR_PLACE = 6,
    PTE_TENSOR_LAYOUT = 7,
    PTE_TENSOR_DYNAMISM = 8,
    PTE_TENSOR_EXTRA = 9,

    PTE_EXTRA_NAME = 1,
    PTE_EXTRA_LOCATION = 2,

    PTE_PLACE_MEMORY = 0,
    PTE_PLACE_LOW = 1,
    PTE_PLACE_HIGH = 2,

    PTE_SCALAR = 0, /* the one field of Int, Bool, Double, String and of the lists */

    PTE_OPERATOR_NAME = 0,
    PTE_OPERATOR_OVERLOAD = 1,

    PTE_CHAIN_INPUTS = 0,
    PTE_CHAIN_OUTPUTS = 1,
    PTE_CHAIN_INSTRUCTIONS = 2,
    PTE_CHAIN_STACKTRACE = 3,

    PTE_FRAMES_ITEMS = 0,

    PTE_FRAME_FILE = 0,
    PTE_FRAME_LINE = 1,
    PTE_FRAME_NAME = 2,
    PTE_FRAME_CONTEXT = 3,

    PTE_CALL_WHAT = 0, /* KernelCall and DelegateCall; of MoveCall: from */
    PTE_CALL_ARGS = 1, /* of MoveCall: to */

    PTE_DELEGATE_ID = 0,
    PTE_DELEGATE_DATA = 1,
    PTE_DELEGATE_SPECS = 2,
    PTE_DATA_LOCATION = 0, /* 0: among the delegate data of the program, 1: a segment */
    PTE_DATA_INDEX = 1,
    PTE_SPEC_KEY = 0,
    PTE_SPEC_VALUE = 1,
    PTE_INLINE_DATA = 0,

    PTE_SEGMENT_OFFSET = 0,
    PTE_SEGMENT_SIZE = 1,
    PTE_SUBSEGMENT_INDEX = 0,
    PTE_SUBSEGMENT_OFFSETS = 1,
    PTE_NAMED_KEY = 0,
    PTE_NAMED_SEGMENT = 1
};

/* Tags of EValue. */
enum {
    PTE_NULL = 1,
    PTE_INT,
    PTE_BOOL,
    PTE_DOUBLE,
    PTE_TENSOR,
    PTE_STRING,
    PTE_INT_LIST, /* of values, not of integers */
    PTE_DOUBLE_LIST,
    PTE_BOOL_LIST,
    PTE_TENSOR_LIST,
    PTE_OPTIONAL_TENSOR_LIST
};

/* Tags of Instruction. */
enum { PTE_KERNEL_CALL = 1, PTE_DELEGATE_CALL, PTE_MOVE_CALL, PTE_JUMP_FALSE_CALL, PTE_FREE_CALL };

/* Named data: by what and with which settings the file was made (drive/made_by.h). */
#define TC_PTE_MADE_BY "tosac.made_by"

#endif
