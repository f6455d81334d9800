/* SPDX-License-Identifier: Apache-2.0 */
/* npu_op.h -- a stream as a walk over its operations, each with all that the registers say about
 * it. */
#ifndef TC_NPU_OP_H
#define TC_NPU_OP_H

#include "command.h"

typedef enum tc_npu_kind {
    TC_NPU_KIND_STOP,
    TC_NPU_KIND_IRQ,
    TC_NPU_KIND_PMU,
    TC_NPU_KIND_KERNEL_WAIT,
    TC_NPU_KIND_DMA_WAIT,
    TC_NPU_KIND_BRANCH,
    TC_NPU_KIND_DMA,
    TC_NPU_KIND_CONV, /* from here on kernel operations */
    TC_NPU_KIND_DEPTHWISE,
    TC_NPU_KIND_POOL,
    TC_NPU_KIND_ELEMENTWISE,
    TC_NPU_KIND_RESIZE,
    TC_NPU_KIND_COUNT
} tc_npu_kind;

static inline bool ti_npu_is_kernel(tc_npu_kind kind)
{
    return kind >= TC_NPU_KIND_CONV;
}

typedef enum tc_npu_pool {
    TC_POOL_MAX,
    TC_POOL_AVERAGE,
    TC_POOL_REDUCE_SUM,
    TC_POOL_SUM,
    TC_POOL_NONE,
    TC_POOL_MIN,
    TC_POOL_ARGMAX_X,
    TC_POOL_ARGMAX_Y
} tc_npu_pool;
typedef enum tc_npu_resize {
    TC_NPU_BILINEAR,
    TC_NPU_REPLICATE,
    TC_NPU_NEAREST
} tc_npu_resize;
typedef enum tc_npu_eltwise {
    TC_EW_MUL,
    TC_EW_ADD,
    TC_EW_SUB,
    TC_EW_MIN,
    TC_EW_MAX,
    TC_EW_LRELU,
    TC_EW_ABS,
    TC_EW_CLZ,
    TC_EW_SHR,
    TC_EW_SHL,
    TC_EW_LSR,
    TC_EW_DIV,
    TC_EW_CMP_EQ = 16,
    TC_EW_CMP_NE,
    TC_EW_CMP_GE,
    TC_EW_CMP_GT,
    TC_EW_AND = 33,
    TC_EW_OR,
    TC_EW_XOR,
    TC_EW_NOT,
    TC_EW_AND_NOT = 42
} tc_npu_eltwise;

/* Rounding, by U85's codes; U55's are translated. */
typedef enum tc_npu_round {
    TC_ROUND_DOUBLE,
    TC_ROUND_NATURAL,
    TC_ROUND_DOUBLE_UP,
    TC_ROUND_SYMMETRIC,
    TC_ROUND_TO_ZERO,
    TC_ROUND_DOWN
} tc_npu_round;

typedef struct tc_npu_scale {
    uint32_t multiplier;
    uint8_t shift;
    uint8_t double_bits; /* dbl_rnd */
    tc_npu_round round;
} tc_npu_scale;

typedef enum tc_npu_format { TC_NHWC, TC_NHCWB16 } tc_npu_format;
typedef enum tc_npu_storage {
    TC_STORE_TILES,
    TC_STORE_TILES_3X1,
    TC_STORE_CHAIN,
    TC_STORE_NONE
} tc_npu_storage;
enum { TC_BROADCAST_H = 1, TC_BROADCAST_W = 2, TC_BROADCAST_C = 4, TC_BROADCAST_SCALAR = 8 };
typedef enum tc_npu_upscale {
    TC_UPSCALE_NONE,
    TC_UPSCALE_NEAREST,
    TC_UPSCALE_ZEROS
} tc_npu_upscale;

/* A feature map: what is stored where. */
typedef struct tc_npu_map {
    bool used; /* the operation reads or writes it */
    bool is_signed;
    uint8_t bytes;     /* of an element: 1, 2, 4, 8 */
    uint8_t region;    /* or the number of a chain buffer */
    uint8_t broadcast; /* TC_BROADCAST_..., or'ed; with SCALAR nothing is read */
    tc_npu_format format;
    tc_npu_storage storage;
    int32_t zero;
    int32_t h, w, c; /* elements that are read; of an output before its transposition */
    uint64_t base[4];
    int32_t width0, height0, height1; /* of the tiles; of an output after its transposition */
    int64_t stride_x, stride_y, stride_c;
} tc_npu_map;

typedef struct tc_npu_window {
    int32_t kh, kw; /* taps */
    int32_t stride_y, stride_x, dilation_y, dilation_x;
    int32_t top, left, bottom, right; /* padding */
    int32_t ih, iw;                   /* what the window slides over, after upscaling */
    tc_npu_upscale upscale;
    bool part_kernel; /* order of weights */
    bool decompose_4x4;
} tc_npu_window;

typedef struct tc_npu_weights {
    uint8_t region;
    bool fast;   /* U85: the fixed-size format */
    bool sparse; /* U85: 2:4 */
    uint64_t base[TC_NPU_CORES];
    uint64_t bytes[TC_NPU_CORES];
} tc_npu_weights;

typedef struct tc_npu_dma {
    bool src_internal, dst_internal; /* the memory of tables; regions are ignored then */
    bool src_indexed, dst_indexed;
    uint8_t src_region, dst_region, index_region;
    uint64_t src, dst, bytes;                       /* of one row */
    int64_t rows, planes;                           /* 1 x 1: one dimension */
    int64_t src_row, src_plane, dst_row, dst_plane; /* strides */
    uint64_t index;
    int64_t index_max, index_skip;
} tc_npu_dma;

typedef struct tc_npu_axis {
    int32_t scale, step, offset; /* position = x * step + offset, in units of 1 / scale */
    int32_t one_int, one_mod, block_int, block_mod; /* as the registers have it */
} tc_npu_axis;

/* Activation functions that read a table: by index and entry.  U55's width of an entry is that of
 * the result; pairs: base and slope, interpolated.  curve.h has tanh and sigmoid. */
typedef enum tc_npu_function {
    TC_NPU_LOOKUP = 16, /* U55, U65; the register has the table's number in its low bits */
    TC_NPU_LOOKUP_U8_8 = 1, /* from here on U85 */
    TC_NPU_LOOKUP_I8_8 = 4,
    TC_NPU_LOOKUP_I8_16 = 5,
    TC_NPU_LOOKUP_I8_32 = 7,
    TC_NPU_LOOKUP_PAIRS_16 = 8,
    TC_NPU_LOOKUP_PAIRS_32 = 9,
    TC_NPU_LOOKUP_TANH = 10,
    TC_NPU_LOOKUP_SIGMOID = 11,
} tc_npu_function;

typedef struct tc_npu_op {
    size_t at;     /* the word of the command */
    size_t number; /* of operations before it in this walk */
    tc_npu_kind kind;
    uint8_t mode;      /* tc_npu_pool, tc_npu_eltwise, tc_npu_resize */
    bool weights_ifm2; /* CONV: the weights are ifm2 */
    uint16_t param;    /* of waits: how many may be unfinished; of IRQ, STOP and PMU: the mask */
    tc_npu_map ifm, ifm2, ofm;
    int32_t depth; /* channels that the registers give the ifm, whether they count or not */
    tc_npu_window window; /* CONV, DEPTHWISE, POOL; RESIZE: kh, kw the size of what is read */
    tc_npu_block block;   /* of the output */
    uint8_t microblock;   /* U85: number */
    uint8_t blockdep;
    uint8_t transpose, reverse; /* U85: as the register has it */
    /* Accumulators. */
    uint8_t acc_bits;  /* 32, 40, 48; 16: float */
    uint8_t acc_input; /* 0 zero 1 kept 2 ifm2 */
    bool acc_output;
    uint8_t cores; /* that take part */
    tc_npu_weights weights;
    /* Scaling. */
    bool per_channel; /* the scale stream counts, not ofm_scale (whose rounding counts all the same)
                       */
    tc_npu_scale ofm_scale, ifm_scale, ifm2_scale; /* U55: OPA and OPB */
    uint8_t scale_mode;                            /* U55: of the operands of ADD and SUB */
    bool swapped;                                  /* U55: ifm2 is the left operand */
    int64_t scalar;
    uint8_t scale_region;
    uint64_t scale_base[2], scale_bytes[2];
    /* After scaling. */
    uint8_t function, table; /* tc_npu_function, of which U55 has LOOKUP alone and the curves; 0: none */
    uint8_t clip;            /* as the register has it */
    int32_t lo, hi;          /* signed */
    uint8_t ib_end, ib2_start, ab_start; /* U55: banks */
    tc_npu_axis x, y;                    /* RESIZE */
    tc_npu_dma dma;
    bool conditional; /* BRANCH */
    uint32_t target;  /* BRANCH: byte of the stream */
} tc_npu_op;

/* The names of operations: "CONV", "POOL MAX", "ELEMENTWISE ADD"; of a mode that is none: "?". */
const char *ti_npu_kind_name(tc_npu_kind kind);
const char *ti_npu_mode_name(tc_npu_kind kind, uint8_t mode);

/* A walk through a stream, in the order of its words; who follows branches sets `at`. */
typedef struct tc_npu_walk {
    const tc_npu_machine *machine;
    tc_npu_words words;
    size_t at;     /* the next word */
    size_t number; /* operations so far */
    tc_npu_registers
        reg; /* as the current operation has them; `fresh`: what was set for it */
    bool given;
    tc_npu_command command; /* the last one read */
    const char *error;      /* what is wrong with it; NULL: nothing */
} tc_npu_walk;

void ti_npu_walk_begin(tc_npu_walk *walk, const tc_npu_machine *machine, tc_npu_words words);

/* The next operation; false at the end of the words, or where walk->error says why. */
bool ti_npu_walk_next(tc_npu_walk *walk, tc_npu_op *out);

/* Extents of an output as written: the map's, its axes in their new order. */
void ti_npu_written(const tc_npu_op *op, int32_t *h, int32_t *w, int32_t *c);

/* Bytes [lo, hi) of the region that contain the map's h x w x c elements, wide enough for any
 * registers; empty (0, 0) for a scalar or a chain.  An output: pass ti_npu_written()'s extents. */
typedef struct tc_npu_range {
    int64_t lo, hi;
} tc_npu_range;
tc_npu_range ti_npu_map_range(const tc_npu_map *map, int32_t h, int32_t w, int32_t c);

#endif
