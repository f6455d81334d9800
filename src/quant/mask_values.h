/* SPDX-License-Identifier: Apache-2.0 */
/* mask_values.h -- mask values that mean "never": the -1e9 of a mask, the 1e9 of a distance to
 * oneself.
 *
 * They are recognized by observation: two populations, the far one at least TC_FAR_TIMES beyond the
 * other and from a constant, a program input or a clamp.  Such a value has no range that codes
 * could share: it stays real, or is clamped where a softmax reads it. */
#ifndef TC_MASK_VALUES_H
#define TC_MASK_VALUES_H

#include "quantizer.h"

/* What was observed of a value, by binary exponent of the magnitude: [0] below 1, [k] from 2^(k-1)
 * up to 2^k, the last one infinite.  lo > hi: nothing. */
enum { TC_REACHES = 130 };
typedef struct tc_reach {
    float lo[TC_REACHES], hi[TC_REACHES];
} tc_reach;

void ti_reach_init(tc_reach *reach);
void ti_reach_see(tc_reach *reach, const float *x, int64_t n); /* NaN does not count */
void ti_reach_add(tc_reach *reach, const tc_reach *more);

/* The far ones of a value: those of magnitude `from` and more. */
typedef struct tc_far {
    double from;     /* 0: there are none */
    double ordinary; /* the largest magnitude below */
    double one;      /* their common value; NAN: they differ */
    bool alike;      /* at most a 64th apart */
    bool alone;      /* nothing else was observed */
} tc_far;

/* By value of the graph, in the arena: the far ones, by the `reach` of each suspect; reach NULL: by
 * constants of 1e6 and more alone. */
tc_far *ti_mask_values_find(tc_ctx *ctx, const tc_graph *g, const tc_reach *const *reach);

/* Before any observation: whether constants make far ones likely, and, by value in the arena, where
 * they may be. */
bool ti_mask_suspected(const tc_graph *g);
bool *ti_mask_suspects(tc_ctx *ctx, const tc_graph *g);

/* Biases of linear layers and convolutions with far ones are split: those are added afterwards.
 * Without any the graph, and its values, are unchanged. */
TC_MUST_USE tc_status ti_mask_split(tc_module *module);

/* x + m, m with far ones c that absorb x, becomes a select: where(m near 0, x + m, c). *n: sums
 * changed; 0: the graph is unchanged. */
TC_MUST_USE tc_status ti_mask_select(tc_module *module, const tc_far *far, size_t *n);

/* mask_samples.c: runs and observes the program's samples, turns sums into selections, and marks
 * the values with far ones: *never by value of the resulting graph, in the arena, the magnitude
 * from which on they are far; NULL: none. Without samples, by constants alone. */
TC_MUST_USE tc_status ti_quant_mask_values(tc_ctx *ctx, tc_module *module,
                                           const tc_quant_request *request, const float **never,
                                           tc_mask_steps *steps);
/* The same program at another size repeats the recorded steps; values are numbered alike. */
TC_MUST_USE tc_status ti_mask_repeat(tc_module *module, const tc_mask_steps *steps);

#endif
