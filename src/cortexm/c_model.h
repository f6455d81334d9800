/* SPDX-License-Identifier: Apache-2.0 */
/* c_model.h -- a program being written as C: its graphs as steps with addresses in memory, and the
 * text so far. */
#ifndef TC_CORTEXM_MODEL_H
#define TC_CORTEXM_MODEL_H

#include "cortexm.h"

#include "../num/fixed.h"
#include "../num/load.h"

enum {
    TC_C_ALIGN = 16,
    TC_C_PAIRS = 13, TC_C_FEW = 4 /* PAIRS and FEW of tosac_depthwise.h */
};

/* Files of kernels/ that a model can need. */
typedef enum tc_c_kernel {
#define KERNEL(id, file, v6, v7, dsp, mve) TC_C_##id,
#include "kernels.def"
    TC_C_KERNEL_COUNT
} tc_c_kernel;

/* An address in the text of a step; hole 3 is TC_C_HOLE 3 TC_C_END in the text. */
typedef struct tc_c_hole {
    tc_val root;     /* whose bytes they are; TC_NONE: the step's scratch */
    tc_dtype dtype;  /* as what they are read or written */
    bool written;
    int64_t offset;  /* bytes after its beginning */
} tc_c_hole;

#define TC_C_HOLE "\1"
#define TC_C_END "\2"

/* A text with holes: steps of one form compute the same at other addresses. */
typedef struct tc_c_form {
    const char *text;
    size_t n_site;   /* where it is put */
    size_t function; /* the number of its function; 0: it has none */
} tc_c_form;

typedef struct tc_c_transform tc_c_transform; /* c_transform.c */

/* One call of a kernel, or one loop over elements. */
typedef struct tc_c_step {
    const tc_node *node;   /* what is computed; of a chain the last */
    const tc_node **chain; /* elementwise nodes that one loop computes, in order; NULL: none */
    size_t n_chain;
    const tc_node *rescale, *clamp; /* fused after a sum of products, in the same call; or NULL */
    tc_val out;                     /* the first result */
    int part;                       /* of a CONCAT of many: 1 + the operand that is copied; 0: all of it */
    tc_c_transform *transform;      /* of a product that is one; NULL: it is none */
    bool made;                      /* its result is the other one of a step before */
    int64_t scratch;                /* bytes that it needs while it runs, */
    int64_t scratch_at;             /* and where */
    tc_c_form *form;
    const tc_c_hole *hole; /* of its form */
    size_t n_hole;
} tc_c_step;

typedef enum tc_c_home { TC_C_ARENA, TC_C_INPUT, TC_C_OUTPUT, TC_C_CONST } tc_c_home;

/* Steps that repeat: `period` of them, n times, of the same forms in the same homes. */
typedef struct tc_c_run {
    size_t first, period, times;
} tc_c_run;

/* The memory of a value. */
typedef struct tc_c_place {
    tc_val root; /* the value whose bytes it is */
    tc_c_home home;
    size_t at; /* byte of the arena, or which input, output */
    int64_t offset; /* bytes of the root before it */
} tc_c_place;

typedef struct tc_c_graph {
    const tc_graph *g;
    size_t number; /* of its function; 0: the program */
    tc_c_step *step;
    size_t n_step;
    tc_c_run *run; /* all steps, in order; one that does not repeat is once */
    size_t n_run;
    size_t *in_chain; /* by value: 1 + the step whose chain makes it; 0: none */
    size_t *line;     /* by value: its index in that chain */
    size_t *stream;   /* by value: 1 + the last stream of the loop that is written now; 0: none */
    tc_c_cost *cost; /* by step */
    tc_c_place *place; /* by value */
    bool *direct;      /* by output: it is written in place */
    int64_t arena;     /* bytes, those of graphs that it runs among them */
} tc_c_graph;

typedef struct tc_c_variable {
    const char *name; /* in the program */
    const tc_type *type;
    const void *start; /* NULL: zeros */
} tc_c_variable;

typedef struct tc_c_model {
    tc_ctx *ctx;
    const tc_module *module;
    const tc_c_request *request;
    tc_buf constants, code;
    tc_map known;     /* constants by content: their indices + 1 */
    size_t n_constant, constant_bytes;
    bool used[TC_C_KERNEL_COUNT];
    tc_c_graph **graph; /* functions that are written, by the module's graphs; or NULL */
    size_t n_function, n_form_function;
    tc_map form, key;      /* forms by text; forms with homes: indices + 1 */
    const tc_c_step *now;  /* the step that is written, */
    tc_c_hole *hole;       /* and its holes */
    size_t n_hole, cap_hole;
    size_t table_bytes;    /* of addresses in loops over steps */
    tc_c_variable *variable;
    size_t n_variable;
} tc_c_model;

/* ---- c_steps.c: what is one step ---- */
void ti_c_steps(tc_ctx *ctx, tc_c_graph *cg);
bool ti_c_is_view(const tc_node *node);
/* A slice of an input that is in one piece: it is read where it is.  *first: its first element. */
bool ti_c_is_part(const tc_graph *g, const tc_node *node, int64_t *first);
/* Operands that an elementwise node reads one element of for one of the result. */
int ti_c_streams(const tc_node *node);

/* ---- c_memory.c: addresses of values ---- */
void ti_c_roots(tc_ctx *ctx, tc_c_graph *cg);  /* all but addresses */
void ti_c_places(const tc_c_model *m, tc_c_graph *cg); /* addresses, by the steps' scratch and runs too */

/* ---- c_runs.c: which steps repeat, by their keys; out has room for n ---- */
size_t ti_c_runs(const size_t *key, size_t n, tc_c_run *out);

/* ---- c_text.c: the text of all steps ---- */
tc_status ti_c_render(tc_c_model *m, tc_c_graph *cg); /* forms and runs, before there are addresses */
tc_status ti_c_put_steps(tc_c_model *m, tc_c_graph *cg);
void ti_c_put_functions(tc_c_model *m, const tc_c_graph *cg); /* of forms that are used several
                                                               * times */

/* ---- c_values.c: names and literals in the text ---- */
const char *ti_c_type(tc_dtype dtype);      /* "int8_t" */
const char *ti_c_type_word(tc_dtype dtype); /* "TOSAC_I8"; NULL: it is not computed with */
const char *ti_c_number(const tc_c_model *m, int64_t v); /* a literal of any int64_t */
const char *ti_c_real(tc_c_model *m, double v); /* a literal of float */
const char *ti_c_literal(tc_c_model *m, const tc_c_graph *cg, tc_val v); /* of a constant's first number */
/* A constant array of the type, once for all that have its bytes; its name. */
const char *ti_c_array(tc_c_model *m, tc_dtype dtype, const void *data, int64_t n);
/* Where the value begins, as an expression of type const T * (or T *, where it is written): a constant's
 * name, or a hole of the step that is written. */
const char *ti_c_pointer(tc_c_model *m, const tc_c_graph *cg, tc_val v);
/* The same, n elements further. */
const char *ti_c_pointer_at(tc_c_model *m, const tc_c_graph *cg, tc_val v, int64_t element);
/* A byte of the step's scratch. */
const char *ti_c_scratch(tc_c_model *m, tc_dtype dtype, int64_t byte);
bool ti_c_is_const(const tc_c_graph *cg, tc_val v);
static inline const tc_type *ti_c_operand(const tc_c_graph *cg, const tc_node *node, int i)
{
    return ti_type_of(cg->g, node->in[i]);
}
/* Element i of a constant. */
int64_t ti_c_const_at(const tc_c_graph *cg, tc_val v, int64_t i);
/* A zero point: its number, or where it is read. */
const char *ti_c_zero(tc_c_model *m, const tc_c_graph *cg, tc_val v);
/* How a record with the zero points in[first] and the next is declared: in flash where both are
 * known. */
const char *ti_c_storage(const tc_c_graph *cg, const tc_node *node, int first);
size_t ti_c_variable_of(const tc_c_model *m, const char *name);

/* ---- writers: the text of one step ---- */
typedef tc_status tc_c_writer(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *step);
tc_c_writer ti_c_chain, ti_c_conv, ti_c_matmul, ti_c_pool, ti_c_reduce, ti_c_argmax, ti_c_gather,
    ti_c_scatter, ti_c_resize, ti_c_transpose, ti_c_reverse, ti_c_slice, ti_c_tile, ti_c_pad,
    ti_c_concat, ti_c_cond_if, ti_c_while_loop, ti_c_variable_read, ti_c_variable_write, ti_c_npu, ti_c_npu_repeat, ti_c_library,
    ti_c_transform;
/* The function of a graph, written first; its steps need `arena` bytes. */
tc_status ti_c_function(tc_c_model *m, const tc_graph *g, tc_c_graph **out);
tc_status ti_c_refuse(const tc_c_model *m, const tc_node *node, const char *why);
/* c_npu.c: the region that a call runs; NULL: it is not a call. */
const tc_c_npu *ti_c_npu_of(const tc_c_model *m, const tc_node *node);
/* c_library.c: whether a call is a function of a library's; bytes that it needs. */
bool ti_c_is_library(const tc_node *node);
int64_t ti_c_library_scratch(const tc_c_model *m, const tc_node *node);
/* c_products.c: whether a quick kernel takes it; whether its windows are put into columns, how many
 * at a time; bytes that a convolution needs for columns. */
bool ti_c_is_quick(const tc_c_graph *cg, const tc_c_step *step);
bool ti_c_is_wide(const tc_c_graph *cg, const tc_c_step *step); /* a quick one, of 48-bit sums */
/* A depthwise convolution that adds up whole rows, columns or planes and that no quick kernel takes: [outer, n,
 * inner] along n (tosac_sums.c); false: it is none. */
typedef struct tc_c_sums {
    int64_t outer, n, inner;
} tc_c_sums;
bool ti_c_sums(const tc_c_graph *cg, const tc_c_step *step, tc_c_sums *out);
bool ti_c_has_columns(const tc_c_graph *cg, const tc_node *node);
/* The windows of a convolution that such a kernel takes, height first. */
typedef struct tc_c_windows {
    int64_t in[2], out[2], kernel[2], stride[2], before[2], dilation[2];
} tc_c_windows;
tc_c_windows ti_c_windows(const tc_c_graph *cg, const tc_node *node);
int64_t ti_c_column_count(tc_core core);
/* Bits of weights that are packed, 8 where they are not, and how many rows of them are unpacked at a time. */
int ti_c_weight_bits(const tc_c_graph *cg, const tc_c_step *step);
int64_t ti_c_unpacked_rows(const tc_c_graph *cg, const tc_c_step *step);
int64_t ti_c_columns(const tc_c_graph *cg, const tc_c_step *step, tc_core core);

/* c_transform.c: fills the steps' `transform`; the second result of one, or none; bytes that it needs. */
void ti_c_transforms(tc_ctx *ctx, tc_c_graph *cg);
tc_val ti_c_transform_other(const tc_c_step *step);
int64_t ti_c_transform_scratch(const tc_c_step *step);
tc_c_transformed ti_c_transformed(const tc_c_step *step);

/* c_size.c: flash of the functions that have been written, about. */
size_t ti_c_code_bytes(const tc_c_model *m);

/* c_cost.c: what a step takes, of those that do not count themselves. */
void ti_c_count(const tc_c_model *m, const tc_c_graph *cg, const tc_c_step *step);

#endif
