/* SPDX-License-Identifier: Apache-2.0 */
/* checker.h -- translation validation: the program before and after each pass, on real inputs. */
#ifndef TC_CHECKER_H
#define TC_CHECKER_H

#include "../quant/quantizer.h"
#include "passes.h"

enum { TC_CHECK_SAMPLES = 2 };

/* The result of a run: the graph as it was run, and every value of it. */
typedef struct tc_seen {
    tc_graph graph;
    tc_tensor *at; /* by value; NULL before the first run */
} tc_seen;

/* What comparing has covered: passes by what they promise, samples, and elements of outputs. */
typedef struct tc_checked {
    size_t passes[3]; /* by tc_numbers */
    size_t samples;
    int64_t elements;
} tc_checked;

typedef struct tc_checker {
    tc_ctx *ctx;
    tc_checked *count;    /* is added to; or NULL */
    const tc_trace *then; /* called next; or NULL */
    size_t n;             /* samples */
    tc_tensor *in[TC_CHECK_SAMPLES];
    tc_seen last[TC_CHECK_SAMPLES];
    size_t changed;    /* of the module that ran last */
    tc_arena arena[2]; /* values of the last run, and of the next one */
    int turn;
} tc_checker;

/* Takes the first samples as inputs.  The checker is given back with ti_check_end(). */
TC_MUST_USE tc_status ti_check_begin(tc_checker *c, tc_ctx *ctx, const tc_graph *g,
                                     const tc_samples *samples);
/* With inputs that exist already and are kept by the caller. */
void ti_check_begin_with(tc_checker *c, tc_ctx *ctx, tc_tensor *const *in, size_t n);
void ti_check_end(tc_checker *c);

/* Runs the module and compares its outputs with the last run's as the pass has promised; the first
 * run is only kept.  What breaks a promise is named by the first value that does.  A tc_trace hook.
 */
tc_status ti_check_pass(void *checker, const tc_module *module, const tc_pass *pass);

/* Whether `after` is to `before` what a pass promises, shape included: EXACT, CLOSE as checker.c
 * defines it, or APPROX, where only NaN must not appear.  rounds: quantized values come before
 * it. */
bool ti_check_kept(tc_numbers numbers, bool rounds, tc_tensor before, tc_tensor after);

/* Elements of a tensor as real values, those that its codes stand for; a complex one has two. */
int64_t ti_check_count(tc_tensor t);
double ti_check_real(tc_tensor t, int64_t i);

/* A sample as the program takes it: real values become codes where an input holds codes,
 * integers those of its width. */
const tc_tensor *ti_check_taken(const tc_graph *g, const tc_tensor *in, tc_arena *arena);

/* The elements of a value in the last run of sample k. */
tc_tensor ti_check_value(const tc_checker *c, size_t k, tc_val v);

#endif
