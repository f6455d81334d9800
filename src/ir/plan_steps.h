/* SPDX-License-Identifier: Apache-2.0 */
/* plan_steps.h -- what plan.c and plan_steps.c share. */
#ifndef TC_PLAN_STEPS_H
#define TC_PLAN_STEPS_H

#include "../fast/float.h"
#include "layout.h"
#include "plan.h"

/* Numbers in memory; several places may show the same ones. */
typedef enum store_kind { STORE_MADE, STORE_KNOWN, STORE_INPUT, STORE_STATE } store_kind;
typedef struct store {
    store_kind kind;
    size_t index;       /* which input, which mutation */
    size_t size;        /* bytes */
    size_t first, last; /* steps between which it is alive */
    void *data;         /* known: the constant; otherwise given when memory is */
} store;

/* A value as it lies in a store. */
typedef struct place {
    const tc_type *type; /* of the numbers as they lie */
    tc_layout layout;
    size_t store;
    struct place *next; /* the same value in another layout */
} place;

typedef struct shown {
    tc_val val;
    const place *place;
    struct shown *next;
} shown;

typedef enum step_kind { STEP_KERNEL, STEP_PRODUCT, STEP_NODE, STEP_NOTHING } step_kind;
typedef struct step {
    step_kind kind;
    const tc_node *node; /* for messages, and for STEP_NODE */
    int n_in, n_out;
    const place **in, **out; /* product: a, b (NULL: packed), extra operand */
    tc_kernel *kernel;
    const void *attr; /* with axes renamed as the operands lie */
    const tc_product *product;
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
    const place **result; /* outputs, then what the buffers hold afterwards; plain */
    uint8_t *memory;
    size_t bytes;
    tc_arena arena; /* working space of kernels */
};

/* Fill plan->store, step and result; false when the graph is not for us. */
bool tc_plan_steps(tc_plan *plan);

#endif
