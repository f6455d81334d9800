/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_program.h -- what the reader itself keeps while it walks an exported program.
 *
 *   pt2.c        the archive: which program, which version
 *   pt2_signature.c  inputs, outputs, mutated buffers
 *   pt2_graph.c      the walk over the nodes
 *   pt2_loc.c        where each came from
 *   pt2_args.c       a node's arguments and results
 *   pt2_view.c       in-place operators and views, made functional
 *   pt2_sym.c        symbolic sizes and the arithmetic on them
 *   pt2_dims.c       sizes that are left open, and what the caller says of them
 *   pt2_control.c    cond, while_loop and the wrappers that only run a graph
 *   pt2_weights.c    parameters, buffers and constants */
#ifndef TC_PT2_PROGRAM_H
#define TC_PT2_PROGRAM_H

#include "../../wire/archive.h"
#include "../facts.h"
#include "../pickle.h"
#include "pt2.h"

/* One operator on the way from a base to its view. */
typedef struct tc_pt2_step {
    tc_op op;
    const void *attr;
    int index, n_out;
} tc_pt2_step;

/* A tensor as Python sees it: in-place operators give it new values, and its views follow. */
typedef struct tc_pt2_cell {
    tc_val val;               /* its value now, when `seen` is its root's version */
    struct tc_pt2_cell *base; /* what it is a view of, or NULL */
    const tc_pt2_step *step;  /* from the base's value to its own */
    int n_step;               /* -1: by a way that cannot be gone again */
    unsigned seen, version;   /* version: of a root, counts the in-place changes below it */
    tc_val stored;            /* a root from the file: the constant it was at first */
    const tc_stored *payload; /* and where that stands */
    const char *input;        /* a root that the caller gives: its name */
} tc_pt2_cell;

/* What a name of the file stands for. */
typedef enum tc_pt2_kind {
    TC_PT2_NOTHING,
    TC_PT2_INT,
    TC_PT2_FLOAT,
    TC_PT2_BOOL,
    TC_PT2_CELL,
    TC_PT2_PAYLOAD, /* a parameter, buffer or constant that nobody has asked for yet */
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

/* A result of a node: the name that the file gives it, and what the file says it is. */
typedef struct tc_pt2_slot {
    tc_str name;
    bool tensor;
    tc_pt2_cell *cell; /* once it is bound */
} tc_pt2_slot;

/* The reader's notes on the node being imported. */
typedef struct tc_pt2_work {
    tc_pt2_scope *scope;
    tc_pt2_slot *result;
    tc_pt2_cell **read; /* the tensors that were read as arguments */
    size_t n_read, cap_read;
    bool in_place; /* a functional importer serves the in-place twin */
} tc_pt2_work;

/* A size that the file leaves open. */
typedef struct tc_pt2_dim {
    const char *symbol; /* "s77" */
    int64_t lo, hi;     /* INT64_MAX: no bound */
    const char *input;  /* where it stands alone first: axis `axis` of that input; or NULL */
    int axis;
    bool has_hint, known;
    bool ranged;        /* the caller has said a range of it, */
    const char *word;   /* by this name; NULL: nobody has */
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
/* It changes the numbers of its first operand. */
bool ti_pt2_writes(tc_str target);
/* The result shows none of the first operand's memory: a change of it is not seen there. */
bool ti_pt2_copies(tc_pt2 *reader, tc_str target);
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
/* Of two failures the one that no later version of ours will mend. */
static inline tc_status ti_pt2_worse(tc_status a, tc_status b)
{
    return b != TC_OK && (a == TC_OK || a == TC_UNSUPPORTED) ? b : a;
}

/* pt2_args.c */
/* The node uses what is BROKEN: it fails without another message. */
void ti_pt2_fail_again(tc_pt2_node *n);
/* Argument i by position: its value, and the union's member in *tag; NULL when there is none. */
const tc_json *ti_pt2_arg_at(tc_pt2_node *n, int i, tc_str *tag);
tc_pt2_number ti_pt2_number_of(tc_pt2_scope *scope, const tc_json *json, tc_str tag);
/* The cell that an {"name": ...} stands for, payload read; NULL with n->m.status set. */
tc_pt2_cell *ti_pt2_cell_of(tc_pt2_node *n, const tc_json *named);
tc_val ti_pt2_value(tc_pt2_node *n, const tc_json *named);
tc_val *ti_pt2_values(tc_pt2_node *n, const tc_json *json, tc_str tag, int *count);
tc_pt2_name *ti_pt2_name_of(tc_pt2_scope *scope, tc_str name);
void ti_pt2_bind_number(tc_pt2_node *n, int i, tc_pt2_number number);

/* pt2_view.c */
/* The cell's value now; views that have fallen behind are made again. */
tc_status ti_pt2_current(tc_graph *g, tc_pt2_cell *cell, const tc_loc *loc, tc_val *out);
tc_status ti_pt2_write(tc_graph *g, tc_arena *arena, tc_pt2_cell *cell, tc_val val,
                       const tc_loc *loc);
void ti_pt2_as_strided_scatter(tc_pt2_node *n);

/* pt2_dims.c */
void ti_pt2_find_dims(tc_pt2 *reader);
/* Every open size gets its value, or a message says which are to be given. */
tc_status ti_pt2_settle_dims(tc_pt2 *reader);
bool ti_pt2_dim_value(const tc_pt2 *reader, tc_str symbol, int64_t *out);
/* A size that the export did not know (u0) is this one; nothing where that is no lone symbol. */
void ti_pt2_learn(tc_pt2 *reader, const tc_json *sym_int, int64_t value);

/* pt2_sym.c */
bool ti_pt2_sym(tc_pt2_node *n);
bool ti_pt2_is_sym(const char *target);
/* A SymInt of the file, when it is fixed. */
bool ti_pt2_fixed(tc_pt2 *reader, const tc_json *sym_int, int64_t *out);

/* pt2_control.c: rows as in the importers' tables. */
extern const tc_pt2_row tc_pt2_control[];

/* pt2_weights.c */
tc_status ti_pt2_open_weights(tc_pt2 *reader);
tc_status ti_pt2_load(tc_pt2_scope *scope, tc_pt2_name *name, const tc_loc *loc);

#endif
