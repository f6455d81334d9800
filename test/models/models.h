/* SPDX-License-Identifier: Apache-2.0 */
/* models.h -- random models: what the parts of the tester share.
 *
 * A model is text, made from a number by a grammar (grow_*.c).  It is tried for a target in a
 * process of its own (try.c): compiled with every step checked, run by the quick kernels and by the
 * reference ones, written as a program, read back and run again.  One that fails is made smaller
 * while it fails in the same way (shrink.c). */
#ifndef TC_MODELS_H
#define TC_MODELS_H

#include "ir/graph.h"

/* ---- dice ---- */

/* A number below n, from a state that is the same on every machine. */
uint64_t draw(uint64_t n);
void draw_from(uint64_t seed);
/* Where the dice are, and back there. */
uint64_t draw_state(void);
void draw_on(uint64_t from);

/* ---- growing ---- */

enum { MOST_VALUES = 200, MOST_ELEMENTS = 4096 };

typedef struct garden {
    tc_ctx *ctx;
    tc_graph *g;
    tc_val pool[MOST_VALUES]; /* what later nodes may read, oldest first */
    size_t n_pool;
    bool broken; /* a node broke a shape rule: the model is given up */
} garden;

/* A rule of the grammar: adds to the graph, or leaves it when nothing in the pool suits. */
typedef void grow_rule(garden *d);

/* What a rule is made with; all give none once the garden is broken. */
const tc_type *type_at(const garden *d, tc_val v);
tc_val put(garden *d, tc_op op, const void *attr, size_t attr_size, int n, const tc_val *in);
/* With several results; into out. */
void put_many(garden *d, tc_op op, const void *attr, size_t attr_size, int n, const tc_val *in,
              int n_out, tc_val *out);
void keep(garden *d, tc_val v);  /* into the pool, when it is small enough */
tc_val some(garden *d, tc_dtype dtype, int least_rank, int most_rank); /* of the pool, or none */
tc_val constant(garden *d, tc_dtype dtype, int rank, const int64_t *dim, double lo, double hi);
tc_val scalar(garden *d, double value);
tc_val index_const(garden *d, int rank, const int64_t *dim, int64_t below);
tc_ints list(garden *d, int n, const int64_t *v);
tc_ints same(garden *d, int n, int64_t value);

#define PUT(d, op, record, ...)                                                                    \
    put(d, TC_OP_##op, &(record), sizeof(record), (int)TC_COUNT(((tc_val[]){__VA_ARGS__})),        \
        (const tc_val[]){__VA_ARGS__})
#define PUT0(d, op, ...)                                                                           \
    put(d, TC_OP_##op, NULL, 0, (int)TC_COUNT(((tc_val[]){__VA_ARGS__})),                          \
        (const tc_val[]){__VA_ARGS__})

/* ---- the operator table (table.c) ---- */

/* Where functions are defined, a column of op.def. */
enum { ON_all, ON_positive, ON_inside, ON_share, ON_above_1 };
extern const uint8_t defined_on[TC_OP_COUNT];
tc_val brought(garden *d, tc_val x, int to); /* x into that: grow_eltwise.c */

/* Any operator with the trait and so many operands. */
tc_op drawn_op(uint32_t trait, int operands);
/* Whether it computes with numbers of a type. */
bool op_takes(tc_op op, tc_dtype type);
/* Whether its last operand should not be near 0, or not below. */
bool divides(tc_op op);
/* Attributes of a kind that elementwise operators have; whole: for integers.  *fine is false for a
 * kind that nobody has thought of. */
const void *some_attr(garden *d, tc_attr_kind kind, bool whole, bool *fine);

/* Small models of the operator, for all that it claims: at most 4.  folder: golden files of
 * lowering. */
size_t specimens(tc_ctx *ctx, tc_op op, const char *folder, tc_buf *out);
bool has_no_specimen(tc_op op);

/* The rules, by family. */
typedef struct grow_entry {
    grow_rule *rule;
    int weight;
} grow_entry;
extern const grow_entry grow_eltwise[], grow_layers[], grow_moves[], grow_whole[], grow_ints[],
    grow_edges[], grow_idioms[];

/* The model of a number: a module in the rich form, or NULL when it came to nothing. */
tc_module *grow_model(tc_ctx *ctx, uint64_t seed);

/* ---- trying ---- */

typedef enum outcome {
    FINE,
    REFUSED, /* with a message */
    WRONG,   /* other numbers */
    BROKEN,  /* our own mistake, found by ourselves */
    CRASHED, /* a signal */
    HUNG,    /* no answer in time, or no end of memory */
    OUTCOMES
} outcome;
extern const char *const outcome_name[OUTCOMES];

typedef struct finding {
    outcome what;
    bool told;       /* the child came to its end */
    char words[400]; /* why, of what is not fine */
    char left[400];  /* fine: why a node stayed on the CPU, when one did */
} finding;

/* text: a model.  written: a folder for the regions' .tosa files, named after `name`; or NULL. */
finding try_model(const char *text, size_t size, const char *target, const char *name,
                  const char *written);

/* ---- shrinking ---- */

/* The smallest text that fails for the target as this one does. */
tc_buf shrink_model(tc_ctx *ctx, tc_bytes text, const char *target, const finding *first);

#endif
