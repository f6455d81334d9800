/* SPDX-License-Identifier: Apache-2.0 */
/* plan_steps.h -- what the files of the planner share.
 *
 * plan_steps.c walks the nodes; plan_place.c gives values their memory; plan_float.c and plan_int.c
 * turn products, with what follows them, into prepared steps; plan.c runs them. */
#ifndef TC_PLAN_STEPS_H
#define TC_PLAN_STEPS_H

#include "../base/life.h"
#include "../fast/float.h"
#include "layout.h"
#include "plan.h"

/* Elements in memory; several values may alias them. */
typedef enum store_kind { STORE_MADE, STORE_KNOWN, STORE_INPUT, STORE_STATE } store_kind;
typedef struct store {
    store_kind kind;
    size_t index;       /* which input, which mutation */
    size_t size;        /* bytes */
    tc_life life;       /* steps in which it is needed */
    void *data;         /* known: the constant; otherwise given when memory is */
    bool real;          /* f32 */
    const struct tc_snap *grid; /* the grid of all its elements; NULL: unknown */
} store;

/* A value in a store. */
typedef struct place {
    const tc_type *type; /* of the elements in memory order */
    tc_layout layout;
    size_t store;
    struct place *next; /* the same value in another layout */
} place;

typedef struct shown {
    tc_val val;
    const place *place;
    struct shown *next;
} shown;

/* A prepared kernel of fast/: its operands, its result, scratch. */
typedef void tc_prepared(const void *what, void *const *in, void *out, void *scratch);

typedef enum step_kind { STEP_KERNEL, STEP_PREPARED, STEP_NODE, STEP_CALL, STEP_NOTHING } step_kind;
typedef struct step {
    step_kind kind;
    const tc_node *node; /* for messages, and for STEP_NODE */
    tc_op op;            /* what it is timed as: the node's, or permute for a change of layout */
    int n_in, n_out;
    const place **in, **out;
    tc_kernel *kernel;
    const void *attr; /* with axes renamed to the operands' memory order */
    tc_prepared *prepared;
    const void *what;
    tc_plan *callee; /* STEP_CALL: what runs */
    long scratch; /* a store, or -1 */
    shown *show;  /* what the watcher sees after it */
} step;

struct tc_plan {
    tc_ctx *ctx;
    tc_graph *g;
    const tc_watch *watch;
    store *store;
    size_t n_store, cap_store;
    step *step;
    size_t n_step, cap_step;
    const place **result; /* outputs, then the new contents of buffers; in logical order */
    const bool *late; /* by value: a constant that a product packs when it is loaded; or NULL */
    const bool *own; /* by value: a constant whose memory the plan may free; or NULL */
    uint8_t *memory;
    size_t bytes;
    tc_arena arena; /* scratch of kernels */
    double *seconds; /* by operator, or NULL */
    double *spent;   /* by step, likewise */
    bool inner;      /* the plan of a graph that another plan calls */
    size_t next;        /* the current step of a run in parts */
    const step *failed; /* the last run: the step without a result, and why */
    char why[160];
};

/* The plan of a called graph, or NULL when the interpreter has to run it: plans nest one deep. */
tc_plan *ti_plan_inner(const tc_plan *outer, tc_graph *g);

/* Fill plan->store, step and result; false: the graph needs the interpreter. */
bool ti_plan_steps(tc_plan *plan);

/* ---- while planning ---- */

typedef struct tc_maker {
    tc_plan *plan;
    tc_ctx *ctx;
    tc_graph *g;
    place **at;       /* by value: its places, the first one made first */
    const tc_node **only_user; /* by value, as ti_only_readers() has it */
    bool *joined;     /* by value: its node is computed by the product before it */
    bool *waiting;    /* by value: its node is computed by its only reader */
    /* By the value of their multipliers, or of their weights: what was prepared, for other nodes
     * with the same constants. */
    struct tc_scales **scales;
    struct tc_product **product;
} tc_maker;

/* A new store for a value that the next step makes. */
place *ti_place_made(tc_maker *m, tc_val v, tc_layout layout);
place *ti_place_new(tc_maker *m, const tc_type *logical, tc_layout layout, size_t where);
void ti_place_add(tc_maker *m, tc_val v, place *p);
size_t ti_store_new(tc_maker *m, store s);

/* The value in this layout; a transposed copy when it is not there yet. */
const place *ti_place_want(tc_maker *m, tc_val v, tc_layout layout, const tc_node *node);
const place *ti_place_plain(tc_maker *m, tc_val v, const tc_node *node); /* NULL for none */
/* A constant with its axes in another order, now. */
place *ti_place_reordered(tc_maker *m, const place *from, tc_layout layout, const tc_type *t);
/* v is an alias of `of`, without a step. */
void ti_place_alias(tc_maker *m, tc_val v, const place *of, tc_layout layout);
/* A constant operand; data is NULL when it is not constant, or mutable. */
tc_tensor ti_place_known(const tc_maker *m, tc_val v);

step *ti_step_new(tc_maker *m, step_kind kind, const tc_node *node, int n_in, int n_out);
/* The step is complete: everything it reads lives at least until now. */
void ti_step_end(tc_maker *m, step *s);

/* The only reader of v, if v need not be materialized otherwise. */
const tc_node *ti_plan_only_user(const tc_maker *m, tc_val v);

/* Plan a node in a special way; false: an ordinary kernel will do. */
typedef bool tc_plan_fn(tc_maker *m, const tc_node *node);
tc_plan_fn ti_plan_conv, ti_plan_linear, ti_plan_matmul; /* plan_float.c */
tc_plan_fn ti_plan_snap;                                 /* plan_fake_quant.c */
tc_plan_fn ti_plan_codes;                                /* plan_codes.c */
tc_plan_fn ti_plan_sdpa;                                 /* plan_attention.c */
tc_plan_fn ti_plan_max_pool, ti_plan_tosa_max_pool, ti_plan_prelu; /* plan_image.c */
tc_plan_fn ti_plan_conv8, ti_plan_spread, ti_plan_depth8, ti_plan_matmul8; /* plan_int.c */
tc_plan_fn ti_plan_rescale, ti_plan_int_binary, ti_plan_int_shift, ti_plan_int_unary,
    ti_plan_int_reduce, ti_plan_table, ti_plan_gather, ti_plan_clamp; /* plan_eltwise.c */

/* Extents and strides of a matrix operand in memory, with leading axes of extent 1 up to the
 * rank. */
tc_strided ti_plan_strided(const tc_type *t, const tc_layout *l, int32_t rank);

/* A product of fast/: a, b (NULL: packed), the operand that is added (or NULL). */
tc_prepared ti_run_product;

/* A prepared step that fills a place, with this much scratch. */
step *ti_step_into(tc_maker *m, const tc_node *node, tc_prepared *run, const void *what,
                   size_t scratch, const place *const *in, int n_in, const place *out);

/* A prepared step that makes v, with this much scratch. */
step *ti_step_prepared(tc_maker *m, const tc_node *node, tc_prepared *run, const void *what,
                       size_t scratch, const place *const *in, int n_in, tc_val v,
                       tc_layout layout);

#endif
