/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h -- the intermediate representation of all stages.
 *
 * A module is a list of graphs, the first of which is the program; the others are what
 * control flow runs.  A graph is inputs, nodes in order (producers first), outputs.
 * A value is an id, %7 in text; id 0 is "none", an absent operand. Values and nodes never move:
 * pointers to them stay valid. */
#ifndef TC_GRAPH_H
#define TC_GRAPH_H

#include "op.h"

typedef uint32_t tc_val;
enum { TC_NONE = 0 };

typedef struct tc_node {
    tc_op op;
    int n_in, n_out;
    tc_val *in, *out;
    const void *attr;  /* tc_attr_<record> as op.def says, or NULL */
    const tc_loc *loc; /* where it came from; never NULL */
} tc_node;

typedef struct tc_value {
    const tc_type *type; /* NULL until it is known */
    const char *name;    /* interned; the author's name, or NULL */
    tc_node *def;        /* its node; NULL for graph inputs */
    int index;           /* which of the node's results, or which input */
    const void *data;    /* constants: the elements, as tc_tensor holds them */
    bool state;          /* a buffer that the program changes: `data` is its initial content */
    uint32_t image;      /* the caller has it as an image of this VkFormat; 0: as a tensor */
} tc_value;

/* A buffer that the program changes: after a run, `before` holds what `after` held. */
typedef struct tc_mutation {
    tc_val before; /* the result of a const node, and `state` */
    tc_val after;
} tc_mutation;

/* An entry of the signature: tensor inputs and outputs by value, others by their text. */
typedef struct tc_port {
    tc_val val;       /* TC_NONE: not a tensor */
    const char *name; /* as the user knows it, or NULL */
    const char *text; /* not a tensor: its value as text ("None", "5"); else NULL */
    /* Plain integers that the file has a scale for: the type with that scale. */
    const tc_type *codes;
    int64_t tensor; /* its index in the file it was read from, + 1; 0: unknown */
} tc_port;

/* A dynamic size of the model; the module was read with `value` of it. */
typedef struct tc_open_size {
    const char *name;   /* as the reader takes it again: the symbol, or the dimension's name */
    const char *word;   /* as the caller knows it */
    const char *input;  /* an input with this size alone on an axis; NULL: none */
    int axis;
    int64_t lo, hi;     /* hi INT64_MAX: no bound */
    int64_t value;
    const int64_t *list; /* the sizes asked for, a program each; NULL: any from lo to hi */
    size_t n_list;
} tc_open_size;

typedef struct tc_module tc_module;

typedef struct tc_graph {
    tc_module *module;
    const char *name;
    uint32_t facts;

    tc_node **node;
    size_t n_node, cap_node;
    tc_value **val; /* by id; val[0] is NULL */
    size_t n_val, cap_val;

    tc_val *in;
    size_t n_in, cap_in;
    tc_val *out;
    size_t n_out, cap_out;

    tc_mutation *mutation; /* the program's only */
    size_t n_mutation, cap_mutation;
} tc_graph;

/* The signature as the model's author wrote it, non-tensors included; empty: in and out are all there
 * is. */
typedef struct tc_signature {
    tc_port *in, *out;
    size_t n_in, n_out;
    const char *in_tree, *out_tree; /* how the ports nest, as PyTorch writes it; or NULL */
} tc_signature;

/* What is known of the file that a module was read from; written by its reader alone. */
typedef struct tc_origin {
    const char *producer; /* "torch 2.13.0", or NULL */
    const char *made_by;  /* a text graph: by what it was written, or NULL */
    size_t bytes;
    tc_bytes image;      /* the whole file, as it was read */
    int tosa_minor;      /* 1: it is of TOSA 1.1 */
    tc_bytes source;     /* the file itself, if the output may keep parts of it: a .tflite; */
    int64_t source_graph; /* and which of its graphs was read */
    const char **method; /* its methods, where it is a program; or NULL */
    size_t n_method;
    bool any_rank; /* it does not record which axes of extent 1 exist */
    const tc_tensor *fixed; /* by input: example values that the graph was made for, or no data; or
                             * NULL */
    struct tc_module *real; /* where it quantizes activations at run time: the float model, for the
                               quantizer; or NULL */
} tc_origin;

/* Dynamic sizes that are still open. */
typedef struct tc_open_sizes {
    tc_open_size *size;
    size_t n;
    tc_bytes image; /* the file, to be read at other sizes */
    bool any;       /* one of several sizes of a model: no pass decides by extents */
} tc_open_sizes;

struct tc_module {
    tc_ctx *ctx;
    const char *file; /* where it was read from */
    tc_graph **graph;
    size_t n_graph, cap_graph;
    tc_signature signature;
    tc_origin origin;
    tc_open_sizes open;
    bool shared;            /* one method of several: buffers that this one does not change, but others do */
    struct tc_state *state; /* run/state.c: state between runs; NULL: none yet */
    int depth;              /* run/eval.c: nesting depth of running graphs */
    size_t verified;        /* drive/passes.c: passes that left it, or what it is a copy of, verified */
    size_t changed;         /* the same: passes that left other nodes, or the same ones changed */
};

tc_module *ti_module_new(tc_ctx *ctx, const char *file);
/* A copy that shares nodes and values: passes over one leave the other unchanged. Variables of the
 * copy have their initial values. */
tc_module *ti_module_copy(const tc_module *module);
/* A deep copy of nodes, values and lists. Types, attributes and constant data are shared; the
 * contents of TOSA's variables are not. */
tc_module *ti_module_clone(const tc_module *module);
tc_graph *ti_graph_new(tc_module *module, const char *name);
tc_graph ti_graph_empty(tc_module *module, const char *name); /* not yet in the module's list */
tc_graph *ti_module_find(const tc_module *module, const char *name);
static inline tc_graph *ti_main(const tc_module *module) { return module->graph[0]; }

/* Whether a TOSA node's result depends on a shape, or a number of rows, known only at run time: its
 * shape function has not checked it. */
bool ti_node_late(const tc_graph *g, const tc_node *node);

/* Building.  Types may be NULL and given later by tidy/infer_types.c. */
tc_val ti_graph_input(tc_graph *g, const tc_type *type, const char *name);
void ti_graph_output(tc_graph *g, tc_val val);
/* Nodes and outputs that read `old` read `now`. */
void ti_graph_read_instead(tc_graph *g, tc_val old, tc_val now);
/* The last n nodes move to the front, in their order. */
void ti_graph_to_front(tc_graph *g, size_t n);
/* The value is an output, an input, a buffer that runs change. */
bool ti_graph_gives(const tc_graph *g, tc_val val);
bool ti_graph_takes(const tc_graph *g, tc_val val);
bool ti_graph_keeps(const tc_graph *g, tc_val val);
/* By value: whether x follows from it; in scratch memory. */
const bool *ti_graph_leads_to(const tc_graph *g, tc_val x);
/* Bytes of n values. */
size_t ti_graph_bytes(const tc_graph *g, const tc_val *v, size_t n);
tc_node *ti_graph_add(tc_graph *g, tc_op op, const void *attr, const tc_val *in, int n_in,
                      int n_out, const tc_loc *loc);
/* A constant; the data is not copied and must live as long as the context. */
tc_val ti_graph_const(tc_graph *g, const tc_type *type, const void *data, const char *name,
                      const tc_loc *loc);
/* A rank-0 constant. */
tc_val ti_graph_scalar(tc_graph *g, tc_dtype dtype, double value, const tc_loc *loc);

/* Append and infer the result types at once: the usual way for readers and rules.
 * On failure a message has been given. */
TC_MUST_USE tc_status ti_graph_emit(tc_graph *g, tc_op op, const void *attr, const tc_val *in,
                                    int n_in, int n_out, const tc_loc *loc, tc_node **node);

static inline tc_value *ti_value_of(const tc_graph *g, tc_val v) { return g->val[v]; }
static inline const tc_type *ti_type_of(const tc_graph *g, tc_val v)
{
    return v ? g->val[v]->type : NULL;
}
static inline tc_node *ti_def(const tc_graph *g, tc_val v) { return v ? g->val[v]->def : NULL; }
static inline bool ti_is_const(const tc_graph *g, tc_val v)
{
    return v && g->val[v]->data != NULL && !g->val[v]->state;
}
/* A float constant, or an operand that is left out. */
static inline bool ti_may_be_folded(const tc_graph *g, tc_val v)
{
    return !v || (ti_is_const(g, v) && ti_type_of(g, v)->dtype == TC_f32 && !ti_type_of(g, v)->quant);
}
/* Makes the constant `before` a mutable buffer of the program. */
void ti_graph_mutate(tc_graph *g, tc_val before, tc_val after);
/* State outlives a run: a buffer of the program, or a variable of TOSA's. */
bool ti_module_has_state(const tc_module *module);
/* The name of the one-element input that alone determines x; NULL: none. */
const char *ti_steering_input(const tc_graph *g, tc_val x);
/* The value as a kernel sees it: type and, for constants, data. */
tc_tensor ti_tensor_of(const tc_graph *g, tc_val v);

/* The graphs that a T_CONTROL node names in the first fields of its attributes: how many, and
 * which; NULL when the module has none of that name. */
int ti_node_calls(const tc_node *node);
/* It runs one graph, once: on its operands, for its results. */
static inline bool ti_node_is_call(const tc_node *node)
{
    return ti_node_calls(node) == 1 && node->op != TC_OP_call_times;
}
tc_graph *ti_node_callee(const tc_module *module, const tc_node *node, int which);
/* A region's graph is run here, once or several times; its name, else NULL. */
static inline const char *ti_region_run_by(const tc_node *node)
{
    return node->op == TC_OP_call     ? ((const tc_attr_call *)node->attr)->graph
           : node->op == TC_OP_call_times ? ((const tc_attr_call_times *)node->attr)->graph
                                      : NULL;
}
/* Which part of an operand or a result that moves is of time t; 0 where it does not. */
static inline int64_t ti_repeat_part(int64_t move, int64_t t, int64_t times)
{
    return move > 0 ? t : move < 0 ? times - 1 - t : 0;
}

/* The operator works on stored integers (TOSA's, conversions, control flow); the others work on the
 * real values of quantized ones. */
bool ti_op_sees_storage(tc_op op);
/* NaN among its results is quantized as 0: a divisor that is rounded to 0 makes 0 / 0 of what is
 * 0 / eps in float, and 0 times infinity.  NaN of other operators becomes code 0, as in PyTorch. */
static inline bool ti_op_nan_is_zero(tc_op op)
{
    return op == TC_OP_div || op == TC_OP_remainder || op == TC_OP_fmod || op == TC_OP_mul ||
           op == TC_OP_addcdiv || op == TC_OP_function;
}
/* Whether an operand or a result of the node is quantized. */
bool ti_node_quantized(const tc_graph *g, const tc_node *node);

/* Give a node's results the types its operator computes from its operands (rule in op.def);
 * types that were declared before are compared with them. */
TC_MUST_USE tc_status ti_node_infer(tc_graph *g, tc_node *node);
/* Give every value of the module its type, where it has none yet. */
TC_MUST_USE tc_status ti_infer_missing(tc_ctx *ctx, tc_module *module);

/* The first node that is of that operator, or of any other, and reads a constant of these numbers;
 * NULL: there is none. */
const tc_node *ti_reader_of_data(const tc_graph *g, const void *data, tc_op op, bool other);
/* A constant that is a table of embeddings and a layer's weights, and large enough for both to be
 * stored once. */
bool ti_is_tied(const tc_graph *g, tc_val v);

#endif
