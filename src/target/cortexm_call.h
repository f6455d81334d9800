/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_call.h -- ExecuTorch's operators for a Cortex-M, and how a piece of TOSA is one of them.
 *
 * In a program such a call is a `call` node: its graph is the piece, constants inside, its target
 * says the operator and the core, "cortex_m::quantized_conv2d+mve".  The piece says the bits; what
 * the kernel is given follows from it alone, for the memory plan and for the writer. */
#ifndef TC_CORTEXM_CALL_H
#define TC_CORTEXM_CALL_H

#include "cpu.h"
#include "../machine/machine.h"

/* Of what release the operators are; they change from one to the next. */
#define TC_CM_RELEASE "1.4"

typedef enum tc_cm_op {
#define CM(word, name, args) TC_CM_##word,
#include "cortexm_ops.def"
    TC_CM_COUNT
} tc_cm_op;

typedef struct tc_cm_info {
    const char *name; /* without "cortex_m::" */
    const char *args; /* as the table has them */
} tc_cm_info;
extern const tc_cm_info tc_cm_ops[TC_CM_COUNT];

/* The operator of a name such as "cortex_m::pad"; TC_CM_COUNT: there is none. */
tc_cm_op ti_cm_find(tc_str name);

/* What a call's target says: "cortex_m::pad+mve" and back.  false: it is no such call. */
const char *ti_cm_target(tc_ctx *ctx, tc_cm_op op, tc_core core);
bool ti_cm_of(const tc_node *node, tc_cm_op *op, tc_core *core);

/* Whose operators a program has, and for which core: "ExecuTorch 1.4, cortex_m:: for MVE".  A .pte has it
 * as named data. */
const char *ti_cm_whose(tc_ctx *ctx, tc_core core);
#define TC_CM_NAMED "tosac.cortex_m"

/* The operator between floats and codes that stands for the kernel for any CPU; NULL: there is none. */
const tc_cpu_kernel *ti_cm_codes(const tc_graph *g, const tc_node *node);

/* How many of the program's kernels are such operators, and how many others are. */
void ti_cm_count(const tc_graph *g, size_t *own, size_t *other);

/* How a tensor is shown to the kernel; its bytes stay where they are. */
typedef struct tc_cm_view {
    int32_t rank;
    int64_t dim[4];
    uint8_t order[4]; /* of the axes in memory */
} tc_cm_view;

typedef enum tc_cm_kind { TC_CM_TENSOR, TC_CM_DATA, TC_CM_VALUE, TC_CM_SCRATCH } tc_cm_kind;

typedef struct tc_cm_arg {
    tc_cm_kind kind;
    int index;          /* TENSOR: operand of the call */
    tc_cm_view view;    /* TENSOR */
    tc_tensor data;     /* DATA: elements in the context's arena */
    tc_cpu_value value; /* VALUE: a number, a list, None */
    size_t bytes;       /* SCRATCH */
} tc_cm_arg;

enum { TC_CM_MOST_ARGS = 16 };

typedef struct tc_cm_call {
    tc_cm_arg arg[TC_CM_MOST_ARGS];
    int n_arg;
    tc_cm_view out;
} tc_cm_call;

/* Who calls CMSIS-NN: ExecuTorch's operator, which derives sizes and pads evenly, or C that gives them. */
typedef enum tc_cm_caller { TC_CM_EXECUTORCH, TC_CM_C } tc_cm_caller;

/* The arguments of the kernel so that it computes the graph; why it cannot, or NULL. */
const char *ti_cm_describe(tc_ctx *ctx, const tc_graph *g, tc_cm_op op, tc_core core,
                           tc_cm_caller caller, tc_cm_call *out);

/* ---- the kernels' arithmetic ---- */

/* The mean of n codes: halves away from zero. */
int32_t ti_cm_mean(int64_t sum, int64_t n);

/* Whether it is AVG_POOL2D's, for every sum that n codes have. */
bool ti_cm_same_mean(int64_t n, int64_t zero_in, int64_t zero_out);

/* ---- cortexm_softmax.c ---- */

/* The codes whose softmax may end with this node; power: of e, 31 bits of fraction, of 0 to -255 codes.
 * TC_NONE: none does. */
tc_val ti_cm_softmax_at(const tc_graph *g, const tc_node *end, int32_t *power);
/* Those of a factor as the kernel is given it; and back.  false: no factor gives them. */
void ti_cm_softmax_powers(int32_t multiplier, int shift, int64_t diff_min, int32_t *power);
bool ti_cm_softmax_factor(const int32_t *power, int32_t *multiplier, int *shift, int64_t *diff_min);

/* ---- cortexm_scratch.c: bytes ---- */

typedef struct tc_cm_window {
    int64_t n, h, w, c;    /* input */
    int64_t oh, ow, oc;    /* output */
    int64_t kh, kw;        /* kernel */
    int64_t stride[2], pad[2], dilation[2];
} tc_cm_window;

size_t ti_cm_scratch_conv(const tc_cm_window *w, tc_core core);
size_t ti_cm_scratch_depthwise(const tc_cm_window *w, tc_core core);
size_t ti_cm_scratch_avg_pool(int64_t channels, tc_core core);
size_t ti_cm_scratch_matmul(int64_t columns, tc_core core);
/* MVE: a depthwise convolution in several blocks of channels advances its bias pointer, also where
 * there is no bias: it reads what is stored there. */
bool ti_cm_needs_bias(int64_t channels, tc_core core);
/* MVE: the kernel that the convolution goes to gives right results for every shape but some of one
 * row. */
bool ti_cm_conv_safe(const tc_cm_window *w, tc_core core);

#endif
