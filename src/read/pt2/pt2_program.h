/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_program.h -- what the reader itself keeps while it walks an exported program.
 *
 *   pt2.c        the archive: which program, which version
 *   pt2_signature.c  inputs, outputs, mutated buffers
 *   pt2_graph.c      the walk over the nodes
 *   pt2_loc.c        where each came from
 *   pt2_args.c       a node's arguments
 *   pt2_results.c    and its results
 *   pt2_view.c       in-place operators and views, made functional
 *   pt2_layout.c     sizes, strides and offsets: what is a view and what a copy
 *   pt2_memory.c     which names may share storage, and what is written to
 *   pt2_sym.c        symbolic sizes and the arithmetic on them
 *   pt2_later.c      scalars known at run time
 *   pt2_dims.c       dynamic sizes, and their values from the caller
 *   pt2_control.c    cond, while_loop and the wrappers that only run a graph
 *   pt2_weights.c    parameters, buffers and constants */
#ifndef TC_PT2_PROGRAM_H
#define TC_PT2_PROGRAM_H

#include "../../wire/archive.h"
#include "../facts.h"
#include "../pickle.h"
#include "pt2.h"

/* Layout of a tensor: in elements from the start of its storage. */
typedef struct tc_pt2_layout {
    int rank;
    int64_t dim[TC_MAX_RANK], stride[TC_MAX_RANK], offset;
} tc_pt2_layout;

/* One step on the way from a tensor to its view. */
typedef struct tc_pt2_step {
    tc_pt2_shows shows; /* PART: by the operator; CONJUGATE, NEGATED, AS_PAIRS, AS_COMPLEX, BITS */
    tc_op op;
    const void *attr;
    int index, n_out;
    tc_val rows;    /* index_select: which */
    tc_dtype dtype; /* BITS: as what */
} tc_pt2_step;

/* A tensor as Python sees it: in-place operators give it new values, and its views follow. */
typedef struct tc_pt2_cell {
    tc_val val;               /* its value now, when `seen` is the owner's version */
    struct tc_pt2_cell *base; /* a view: the tensor that owns the storage; or NULL */
    const tc_pt2_step *step;  /* from the owner's value to its own */
    int n_step;               /* -1: by a way that cannot be taken again */
    unsigned seen, version;   /* version: of an owner, counts the in-place changes of its storage */
    const tc_json *meta;      /* what the file states of it: TensorMeta, or NULL */
    tc_val stored;            /* an owner from the file: the constant it was at first */
    const tc_stored *payload; /* and where that stands */
    const char *input;        /* an owner that the caller gives: its name */
} tc_pt2_cell;

/* The value of a name of the file. */
typedef enum tc_pt2_kind {
    TC_PT2_NOTHING,
    TC_PT2_INT,
    TC_PT2_FLOAT,
    TC_PT2_BOOL,
    TC_PT2_CELL,
    TC_PT2_PAYLOAD, /* a parameter, buffer or constant not used so far */
    TC_PT2_LATER,   /* a number that is known when the program runs: a tensor without axes */
    TC_PT2_OBJECT,  /* something that is not a tensor */
    TC_PT2_UNMADE,  /* a result that the importer does not make, such as a norm's statistics */
    TC_PT2_BROKEN   /* a result of a node that failed, of which a message has been given */
} tc_pt2_kind;

typedef struct tc_pt2_number {
    tc_pt2_kind kind; /* INT, FLOAT, BOOL; NOTHING: it is not a number; BROKEN */
    int64_t i;        /* INT and BOOL */
    double f;         /* the same as a double */
} tc_pt2_number;

typedef struct tc_pt2_name {
    tc_pt2_kind kind;
    tc_pt2_number number;
    tc_pt2_cell *cell;
    tc_str name;           /* PAYLOAD: "p_conv1_weight" */
    const char *full_name; /* PAYLOAD: "conv1.weight"; UNMADE: "aten.native_layer_norm.default" */
    bool constant;         /* PAYLOAD: among the constants, not the weights */
    bool changes;          /* PAYLOAD: the program may change it: no constant while it is read */
} tc_pt2_name;

/* One graph of the file: its names, and the types it declares. */
typedef struct tc_pt2_scope {
    struct tc_pt2 *reader;
    tc_graph *g;
    tc_map name;    /* tc_pt2_name */
    tc_map declared; /* tc_json: TensorMeta */
    const tc_json *numbers; /* what the sizes computed in it are, as expressions */
    tc_facts facts;         /* what follows from constants alone, computed once */
    struct tc_pt2_scope *outer;
    bool autocast; /* floats take the type that the result is declared with */
} tc_pt2_scope;

/* A result of a node: its name in the file, and its declared type. */
typedef struct tc_pt2_slot {
    tc_str name;
    bool tensor;
    tc_pt2_cell *cell; /* once it is bound */
} tc_pt2_slot;

/* Where a node's results are written to: a functional importer serves the in-place operator too. */
typedef enum tc_pt2_writes {
    TC_PT2_NOWHERE, /* they are new tensors */
    TC_PT2_FIRST,   /* the first result to the first operand: add_ */
    TC_PT2_LAST     /* each to one of the last operands: add.out */
} tc_pt2_writes;

/* The reader's notes on the node being imported. */
typedef struct tc_pt2_work {
    tc_pt2_scope *scope;
    tc_pt2_slot *result;
    tc_pt2_writes writes;
} tc_pt2_work;

/* A size that the file leaves open. */
typedef struct tc_pt2_dim {
    const char *symbol; /* "s77" */
    int64_t lo, hi;     /* INT64_MAX: no bound */
    const char *input;  /* its first occurrence alone: axis `axis` of that input; or NULL */
    int axis;
    bool has_hint, known;
    bool ranged;        /* the caller has said a range of it, */
    const char *word;   /* by this name; NULL: none */
    const int64_t *list; /* or these sizes of it; NULL: a range */
    size_t n_list;
    int64_t hint, value; /* of the export's example; settled */
} tc_pt2_dim;

/* One reading of one file. */
typedef struct tc_pt2 {
    tc_ctx *ctx;
    tc_module *module;
    const char *file;
    tc_arena work; /* goes when the reading is done */
    tc_archive archive;
    const char *root;  /* "model/": what all names begin with; "" in old files */
    const char *model; /* "model": which program of the archive */
    const tc_json *program;
    tc_map row;              /* target -> tc_pt2_row */
    tc_map weight, constant; /* full name -> tc_stored or the JSON that describes it */
    bool pickled;            /* weight and constant hold tc_stored */
    tc_map cell;             /* payload -> the cell that all its names share */
    tc_map full_name;        /* -> tc_pt2_name */
    size_t materialized;     /* bytes that were copied out of the archive */
    tc_map changed;          /* names of buffers that the program may change */
    tc_pt2_dim *dim;         /* in the order in which they appear among the inputs */
    size_t n_dim, cap_dim;
    tc_status worst;
} tc_pt2;

/* pt2.c */
/* Finds and parses the program: sets archive, root, model and program. */
tc_status ti_pt2_open(tc_pt2 *reader, tc_bytes bytes);

/* pt2_signature.c */
tc_status ti_pt2_bind_inputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature);
tc_status ti_pt2_bind_outputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature);

/* pt2_loc.c */
const char *ti_pt2_target(tc_pt2 *reader, const tc_json *node);
const tc_loc *ti_pt2_loc(tc_pt2 *reader, const tc_json *node);

/* pt2_graph.c */
void ti_pt2_add_rows(tc_pt2 *reader);
/* The row of an operator, and where it writes to; NULL: it is not known. */
const tc_pt2_row *ti_pt2_find_row(tc_pt2 *reader, const char *target, tc_pt2_writes *writes);
/* A message for every operator that is not known, the inner graphs' included. */
tc_status ti_pt2_check_operators(tc_pt2 *reader, const tc_json *graph);
/* Import the graph's nodes; its inputs have been bound. */
tc_status ti_pt2_graph(tc_pt2_scope *scope, const tc_json *graph);
void ti_pt2_scope_init(tc_pt2_scope *scope, tc_pt2 *reader, tc_graph *g, tc_pt2_scope *outer,
                       const tc_json *graph);
/* The type that the scope's graph declares for a name; NULL when it does not, or when a dimension
 * is not fixed: with a message and *status set, or in silence when status is NULL. */
const tc_type *ti_pt2_declared(tc_pt2_scope *scope, tc_str name, const tc_loc *loc,
                               tc_status *status);
/* Of two failures the one that a later version could not lift. */
static inline tc_status ti_pt2_worse(tc_status a, tc_status b)
{
    return b != TC_OK && (a == TC_OK || a == TC_UNSUPPORTED) ? b : a;
}

/* pt2_args.c */
/* What the scope's graph states of an {"name": ...}. */
const tc_json *ti_pt2_meta(tc_pt2_scope *scope, const tc_json *named);
/* The node uses what is BROKEN: it fails without another message. */
void ti_pt2_fail_again(tc_pt2_node *n);
/* Argument i by position: its value, and the union's member in *tag; NULL when there is none. */
const tc_json *ti_pt2_arg_at(tc_pt2_node *n, int i, tc_str *tag);
tc_pt2_number ti_pt2_number_of(tc_pt2_scope *scope, const tc_json *json, tc_str tag);
/* An argument by name; NULL: missing, or None. */
const tc_json *ti_pt2_arg(tc_pt2_node *n, const char *name, tc_str *tag);
/* The cell of an {"name": ...}, payload read; NULL with n->m.status set. */
tc_pt2_cell *ti_pt2_cell_of(tc_pt2_node *n, const tc_json *named);
tc_val ti_pt2_value(tc_pt2_node *n, const tc_json *named);
tc_val *ti_pt2_values(tc_pt2_node *n, const tc_json *json, tc_str tag, int *count);
tc_pt2_name *ti_pt2_name_of(tc_pt2_scope *scope, tc_str name);

/* pt2_results.c */
void ti_pt2_bind_number(tc_pt2_node *n, int i, tc_pt2_number number);
/* Result i is a tensor that there is already. */
void ti_pt2_bind_cell(tc_pt2_node *n, int i, tc_pt2_cell *cell);

/* pt2_layout.c: layouts in storage */
/* By what the file states; without gaps in the order of the axes where it states nothing. */
tc_pt2_layout ti_pt2_layout(tc_pt2 *reader, const tc_json *meta, const tc_type *type);
/* `to` is what reshaping makes of `from` without a copy. */
bool ti_pt2_reshapes_in_place(const tc_pt2_layout *from, const tc_pt2_layout *to);
bool ti_pt2_same_layout(const tc_pt2_layout *a, const tc_pt2_layout *b);
/* Some element is in both, and they are not the same ones in the same order. */
bool ti_pt2_overlaps(tc_pt2 *reader, const tc_pt2_layout *to, const tc_pt2_layout *from);

/* pt2_view.c */
/* The tensor whose storage the cell shows: itself, or what it is a view of. */
tc_pt2_cell *ti_pt2_owner(tc_pt2_cell *cell);
/* The cell's value now; a view of a tensor that was changed is made again. */
tc_status ti_pt2_current(tc_graph *g, tc_pt2_cell *cell, const tc_loc *loc, tc_val *out);
/* The cell is given another value, and so is what it is a view of. */
tc_status ti_pt2_write(tc_graph *g, tc_pt2_cell *cell, tc_val val, const tc_loc *loc);
/* `base` after `view` was written where the steps lead. */
tc_status ti_pt2_put(tc_graph *g, const tc_pt2_step *step, int n_step, tc_val base, tc_val view,
                     const tc_loc *loc, tc_val *out);
/* The operators from base to view, at most `most`; -1: there is no such path. */
int ti_pt2_trace(const tc_graph *g, tc_val base, tc_val view, tc_pt2_step *step, int most);
/* A word where elements are copied from one view of a storage to another that has some of them. */
void ti_pt2_warn_of_overlap(tc_pt2_node *n, const tc_json *to, const tc_json *from);
/* The node's results become views of its operand where its row and the file say so. */
void ti_pt2_share(tc_pt2_node *n);

/* pt2_bits.c */
/* The bits of x as elements of another type. */
tc_val ti_pt2_bits(tc_build *b, tc_val x, tc_dtype to);

/* pt2_memory.c: who shares memory with whom, before anything is imported */
/* For every name of the graph that may show another's storage, the other: tc_str. */
void ti_pt2_memory(tc_pt2 *reader, const tc_json *graph, tc_map *memory);
tc_str ti_pt2_memory_of(const tc_map *memory, tc_str name);
/* A node's first operand that is a tensor, or the first of a list of them. */
const tc_json *ti_pt2_first_tensor(const tc_json *node, bool *list);
/* Operand k of those that a node changes in place, {"name": ...}; NULL: no more. */
const tc_json *ti_pt2_written(tc_pt2 *reader, const tc_json *node, int k);
/* "aten.t_.default": its name ends with an underscore. */
bool ti_pt2_is_in_place(const char *target);
/* The running mean (k 0) and variance (1) that a batch norm in training mode writes, without a '_';
 * NULL: not one, or it has none. */
const tc_json *ti_pt2_statistics(tc_pt2 *reader, const tc_json *node, int k);

/* pt2_dims.c */
void ti_pt2_find_dims(tc_pt2 *reader);
/* Every open size gets its value, or a message says which are to be given. */
tc_status ti_pt2_settle_dims(tc_pt2 *reader);
bool ti_pt2_dim_value(const tc_pt2 *reader, tc_str symbol, int64_t *out);
/* A size that the export did not know (u0) is this one; ignored if it is not a single symbol. */
void ti_pt2_learn(tc_pt2 *reader, const tc_json *sym_int, int64_t value);

/* pt2_sym.c */
bool ti_pt2_sym(tc_pt2_node *n);
bool ti_pt2_is_sym(const char *target);
/* A SymInt of the file, when it is fixed. */
bool ti_pt2_fixed(tc_pt2 *reader, const tc_json *sym_int, int64_t *out);

/* pt2_later.c */
/* The argument is a number that is known when the program runs: a tensor without axes; or NONE. */
tc_val ti_pt2_later(tc_pt2_node *n, const char *arg);
/* The node's result is such a number; false: it is none, and nothing was done. */
bool ti_pt2_compute_later(tc_pt2_node *n);
/* The node needs a number now that is known later. */
void ti_pt2_tell_later(tc_pt2_node *n);
/* The list start, start + step, ... of `count` indices on an axis of size `extent`, where the
 * argument is the start, from the axis' end when it is negative. */
tc_val ti_pt2_rows_from(tc_pt2_node *n, const char *arg, int64_t extent, int64_t count,
                        int64_t step);

/* pt2_control.c: rows as in the importers' tables. */
extern const tc_pt2_row tc_pt2_control[];

/* pt2_weights.c */
tc_status ti_pt2_open_weights(tc_pt2 *reader);
tc_status ti_pt2_load(tc_pt2_scope *scope, tc_pt2_name *name, const tc_loc *loc);

#endif
