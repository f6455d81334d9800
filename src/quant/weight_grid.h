/* SPDX-License-Identifier: Apache-2.0 */
/* weight_grid.h -- the representable values of weights of few bits. */
#ifndef TC_WEIGHT_GRID_H
#define TC_WEIGHT_GRID_H

#include "quantizer.h"

/* w = scale[c] * step[c][g] * q  with  lo <= q <= hi  and step an integer, one for each channel and
 * group of input channels.  Codes are step * q: an int8 holds them, so a group's scale is folded
 * into the weights exactly and the channel's scale does the rest.  Where lo is not -hi, a step may
 * be negative: the group uses the side with one code more. */
typedef struct tc_lattice {
    const tc_quant *quant; /* of the codes: channel axis and scales */
    int64_t lo, hi;        /* of q */
    int64_t n_channel, n_group, inner; /* inner: elements after the channel axis */
    int64_t each;          /* consecutive elements of a channel that make a group */
    int8_t *step;          /* n_channel rows of n_group; NULL: all are 1 */
} tc_lattice;

/* The weight of an element's error: by[k] for element k of a channel, the channels in `rows` equal
 * parts with their own weights. */
typedef struct tc_importance {
    const float *by; /* NULL: equal weights */
    int64_t rows;
} tc_importance;

/* The greatest code: in a channel's scale, its largest magnitude. */
int64_t ti_lattice_top(const tc_setting *setting);

/* Whether all steps are 1: nothing is searched for them. */
bool ti_lattice_plain(const tc_setting *setting);

/* The lattice for these weights with the channel scales in q: of each group the step with the least
 * squared error. */
tc_lattice ti_lattice_of(tc_ctx *ctx, tc_arena *arena, tc_tensor w, const tc_quant *q,
                         const tc_setting *setting, tc_importance importance);

/* The step of element k of channel c. */
static inline int64_t ti_lattice_step(const tc_lattice *l, int64_t c, int64_t k)
{
    return l->step ? l->step[c * l->n_group + k / l->each] : 1;
}

/* Rounds every element to the lattice. */
void ti_lattice_round(const tc_lattice *l, tc_tensor w, tc_tensor codes);

/* The range with the least squared error for each channel along the axis (-1: all in one), instead
 * of the largest magnitude that `most` holds. */
void ti_weights_search(tc_ctx *ctx, tc_tensor w, int axis, int64_t n, int64_t qmax, float *most);

#endif
