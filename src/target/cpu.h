/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h -- what runs on the CPU: ExecuTorch's kernels, their arguments, and where a program's
 * values are stored.
 *
 * cpu.def says which kernel computes which operator, and how its arguments are made of the
 * operator's operands and attributes; the writer and the reader of .pte files go by the same rows.
 */
#ifndef TC_CPU_H
#define TC_CPU_H

#include "../ir/graph.h"

typedef struct tc_cpu_kernel {
    tc_op op;
    const char *name, *overload;                          /* "aten::add", "out" */
    bool (*when)(const tc_graph *g, const tc_node *node); /* NULL: only read */
    const char *args;
} tc_cpu_kernel;

extern const tc_cpu_kernel tc_cpu_kernels[];
extern const size_t tc_cpu_n_kernel;

/* The kernel that computes the node as it is, or NULL. */
const tc_cpu_kernel *ti_cpu_kernel_for(const tc_graph *g, const tc_node *node);

/* The constant whole exponent of a pow, 0 to 63; else -1. */
int ti_cpu_whole_power(const tc_graph *g, const tc_node *node);

/* The node's result shows its operand's elements in another shape: no kernel, no memory of its own.
 */
static inline bool ti_cpu_is_view(const tc_node *node) { return node && node->op == TC_OP_reshape; }
/* The value whose memory v shows: itself, or what views of it begin with. */
tc_val ti_cpu_root(const tc_graph *g, tc_val v);

/* The mutation that begins with this constant, or -1: it is memory, not a constant. */
long ti_cpu_buffer(const tc_graph *g, tc_val v);

/* ---- arguments ---- */

typedef enum tc_cpu_arg_kind {
    TC_CPU_IN,     /* operand `index` */
    TC_CPU_MAYBE,  /* the same, or None */
    TC_CPU_LIST,   /* operands from `index` on */
    TC_CPU_SOME,   /* the same, or None among them */
    TC_CPU_SCALAR, /* reading only: a number for operand `index` */
    TC_CPU_VALUE,  /* ti_cpu_get and ti_cpu_set know it */
    TC_CPU_MORE,   /* a further result */
    TC_CPU_LISTS,  /* the results come as one list */
    TC_CPU_FOLLOWS /* no argument; ti_cpu_set knows it */
} tc_cpu_arg_kind;

typedef struct tc_cpu_arg {
    tc_cpu_arg_kind kind;
    int index;
    tc_str word, field; /* of the row: "axis", "keepdim" */
} tc_cpu_arg;

/* The next argument of a row; false at its end. */
bool ti_cpu_next(const char **args, tc_cpu_arg *arg);

typedef enum tc_cpu_kind {
    TC_CPU_NULL,
    TC_CPU_INT,
    TC_CPU_REAL,
    TC_CPU_BOOL,
    TC_CPU_TEXT,
    TC_CPU_INTS,
    TC_CPU_REALS,
    TC_CPU_OTHER /* reading only: a tensor, a list of them */
} tc_cpu_kind;

typedef struct tc_cpu_value {
    tc_cpu_kind kind;
    int64_t i; /* and bool */
    double r;
    const char *text;
    tc_ints ints;
    tc_floats reals;
} tc_cpu_value;

/* A node, or what is about to become one. */
typedef struct tc_cpu_site {
    tc_ctx *ctx;
    tc_op op;
    int n_in, n_out;
    const tc_type *const *in; /* NULL inside: left out */
    const tc_type *const *out;
    void *attr; /* its record; filled by ti_cpu_set */
} tc_cpu_site;

tc_cpu_site ti_cpu_site_of(tc_ctx *ctx, const tc_graph *g, const tc_node *node);
/* The argument's value at a node. */
tc_cpu_value ti_cpu_get(const tc_cpu_site *site, const tc_cpu_arg *arg);
/* The attribute from the argument's value; what is wrong with it, or NULL. */
const char *ti_cpu_set(const tc_cpu_site *site, const tc_cpu_arg *arg, const tc_cpu_value *value);
/* The type of a further result; NULL: the node has it already. */
const tc_type *ti_cpu_more(const tc_cpu_site *site, const tc_cpu_arg *arg);

/* ---- memory ---- */

enum { TC_CPU_ALIGN = 16 };

/* A block of its own for what the methods of one program remember: a buffer that several of them
 * have, by name, has one place there. */
typedef struct tc_state_place {
    const char *name;
    const tc_type *type;
    size_t offset;
} tc_state_place;

typedef struct tc_state_block {
    tc_state_place *place;
    size_t n, cap, bytes;
} tc_state_block;

/* Where the values of the program's first graph are, in one block that outlives a run; where the
 * program has several methods, its buffers in a second one. */
typedef struct tc_memory {
    size_t *offset; /* by value: inputs, results, buffers that are changed; views are where
                       their roots are */
    size_t **more;  /* by node: further results, NULL where there are none; of a loop: the block of
                       the values of its graphs */
    struct tc_memory **inner; /* by node: of a loop, where those of its condition and of its body
                                 are within the block; else NULL */
    size_t bytes;   /* of the block */
    bool *in_place; /* by mutation: what is written back is made where the buffer is */
    bool *in_state; /* by value: it is in the block of the state; NULL: there is none */
    size_t state_bytes;
} tc_memory;

#endif
