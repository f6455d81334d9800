/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.h -- one TOSA program for many sizes, out of programs that were compiled for some of them.
 *
 * Passes need static shapes.  So a model with open sizes is compiled at several of them, and the
 * programs are aligned (align.c): node by node they are the same, and only extents, the contents of
 * shapes, paddings of windows and constants that grow with a size differ.  Each of these is fitted
 * by a formula of dimensions known at run time (fit.c), and written with TOSA 1.1's operators on
 * shapes (general.c).  Formulas come from some of the sizes, and have to hold at all of them.
 *
 * A point is one choice of all open sizes. */
#ifndef TC_SIZES_H
#define TC_SIZES_H

#include "../ir/graph.h"

enum { TC_POINTS = 24 };

/* A number at every point. */
typedef struct tc_series {
    int64_t at[TC_POINTS];
} tc_series;

/* A value of all programs: which one it is in each. */
typedef struct tc_place {
    tc_val at[TC_POINTS];
    bool constant;
    tc_val made; /* general.c: in the general program; TC_NONE: not yet */
} tc_place;

/* A node of all programs.  NULL at a point: that size has no such node, an identity there, whose
 * result is its first operand. */
typedef struct tc_row {
    const tc_node *node[TC_POINTS];
    const tc_node *any; /* one of them */
    size_t *in, *out;   /* indices into place[] */
} tc_row;

typedef struct tc_aligned {
    tc_ctx *ctx;
    const tc_module *module[TC_POINTS];
    size_t n_point, n_fit;     /* the first n_fit make formulas, the others try them */
    size_t largest;            /* the point with every size at its upper bound; n_point: none */
    const char *text[TC_POINTS]; /* "seq=5", for messages */
    tc_row *row;
    size_t n_row, cap_row;
    tc_place *place;
    size_t n_place, cap_place;
    size_t *in, *out; /* the program's inputs and outputs, as indices into place[] */
    size_t n_in, n_out;
} tc_aligned;

/* align.c: aligns the programs of points 0 .. n_point - 1; they are TOSA, of one graph. On failure
 * reports which nodes differ at which sizes. */
TC_MUST_USE tc_status ti_align(tc_aligned *a);
/* The same for one more program; false, and nothing is said nor changed: it does not fit.  */
bool ti_align_more(tc_aligned *a, const tc_module *module, const char *text);

static inline const tc_graph *ti_point_graph(const tc_aligned *a, size_t p)
{
    return ti_main(a->module[p]);
}
static inline tc_tensor ti_point_tensor(const tc_aligned *a, size_t place, size_t p)
{
    return ti_tensor_of(ti_point_graph(a, p), a->place[place].at[p]);
}
tc_series ti_place_dim(const tc_aligned *a, size_t place, int axis);
bool ti_series_constant(const tc_aligned *a, const tc_series *s);

/* ---- formulas (fit.c) ---- */

typedef enum tc_formula_kind {
    TC_FORMULA_CONST,
    TC_FORMULA_DIM, /* a dimension of a value */
    TC_FORMULA_ADD,
    TC_FORMULA_SUB,
    TC_FORMULA_MUL,
    TC_FORMULA_DIV, /* towards minus infinity */
    TC_FORMULA_MOD,
    TC_FORMULA_MAX,
    TC_FORMULA_MIN
} tc_formula_kind;

typedef struct tc_size_formula {
    tc_formula_kind kind;
    int64_t number;     /* CONST */
    size_t place;       /* DIM */
    int axis;
    const struct tc_size_formula *a, *b;
    tc_series is; /* what it is at every point */
    tc_val made;  /* general.c: as a shape of one value; TC_NONE: not yet */
} tc_size_formula;

/* What formulas are made of: dimensions, each series once, in the order in which they were added. */
typedef struct tc_atoms {
    tc_aligned *a;
    tc_size_formula **atom;
    size_t n, cap;
} tc_atoms;

/* The dimensions of a value that differ between points become atoms. */
void ti_atoms_add(tc_atoms *atoms, size_t place);
/* A formula that gives the series at the fitted points; near: dimensions of this value are tried
 * before those of others; SIZE_MAX: none are.  NULL: no such formula. */
tc_size_formula *ti_fit(tc_atoms *atoms, const tc_series *s, size_t near);
/* Whether a formula holds at the other points; *p: where it does not. */
bool ti_fit_holds(const tc_aligned *a, const tc_size_formula *f, const tc_series *s, size_t *p);
/* "2 * x.1 + 1", for messages and texts; in the arena. */
const char *ti_formula_text(const tc_aligned *a, const tc_size_formula *f);

/* ---- the program (general.c) ---- */

/* What a size may be: `axis` of an input is times * SIZE + plus. */
typedef struct tc_size_bound {
    const char *word;
    size_t input;
    int axis;
    int64_t times, plus, lo, hi; /* of SIZE; hi INT64_MAX: no bound */
} tc_size_bound;

/* One program for all sizes: bounds are asserted when it runs. */
TC_MUST_USE tc_status ti_generalize(tc_aligned *a, const tc_size_bound *bound, size_t n_bound,
                                    tc_module **out);

#endif
