/* SPDX-License-Identifier: Apache-2.0 */
/* spectra.h -- power spectra in i32.
 *
 * Between the squares of a signal's transform and a logarithm or root, values span 60 to 90 dB: 16
 * bits hold 45.  So from every log, sqrt, rsqrt, fractional power, back through sums, positive
 * factors, clamps and layers of weights that are not negative, to the squares, values are i32 of
 * zero point 0, and their scales follow from that of what is squared:
 *
 *   parts   one scale s for all that are added; i32 where a layer makes them, or the sum of two, by
 *           its weights, which no input exceeds, else i16
 *   powers  s^2 * 2^e, the least e for which all sums of squares fit i32, of parts of the observed
 *           range and room to spare
 *   bands   a layer's result: room for its largest weight times its largest operand
 *   sizes   where a logarithm reads two squares' sum alone, of hypot instead, 4 s: twice the dB
 *
 * Only the parts are observed.  What leads to them, by linear operators from the program's inputs,
 * has 16 bits.  A region whose parts come from other operators is no front end, and is left
 * alone. */
#ifndef TC_SPECTRA_H
#define TC_SPECTRA_H

#include "dataflow.h"

#define TC_PART_ROOM 2.0 /* of parts, times the observed range */

typedef struct tc_spectral_value {
    tc_spectral kind;
    int32_t group;      /* of powers and parts */
    double most, more;  /* powers: at most `most` times the group's unit, plus `more` */
    double factor;      /* and their scale in scales of the group */
    double above, below; /* logarithms, and what is added to them: room beyond the observed range,
                            for what is louder than calibration */
} tc_spectral_value;

/* Powers that are added: squares of parts, or sums that one layer makes of another group's. */
typedef struct tc_spectral_group {
    int32_t same;       /* merged into that one; itself: it was not */
    bool good;          /* a front end: the others are no spectra */
    tc_val part;        /* one of them */
    tc_val scaled;      /* what all parts are moved from, a value times a constant; or none */
    bool direct;        /* some parts are not moved from it */
    bool wide;          /* parts are i32 */
    bool size;          /* hypot of parts, not squares */
    int32_t from;       /* a layer's: the group of its operand, or -1 */
    double gain;        /* and its largest weight */
    double from_most, from_more;
} tc_spectral_group;

typedef struct tc_spectra {
    tc_spectral_value *value; /* by value id */
    tc_spectral_group *group;
    size_t n_group, cap_group;
    bool any;
} tc_spectra;

/* The sum of two layers of constant weights, one part of both. */
bool ti_spectra_halves(const tc_dataflow *f, const tc_node *node);
/* A movement of one value. */
bool ti_spectra_moves(const tc_node *node);

/* A logarithm, a root or a fractional power. */
bool ti_spectra_ends(const tc_dataflow *f, const tc_node *node);

/* spectra_real.c: with config->real_spectra, or transforms of f32: fills f->real and f->spectra. */
void ti_spectra_leave(tc_ctx *ctx, tc_dataflow *f);
/* A layer whose weights are a windowed Fourier transform, which is fewer operations without them. */
/* Layers of spectra whose weights are windowed Fourier transforms, for which that is fewer operations. */
void ti_spectra_fouriers(tc_ctx *ctx, tc_module *module, const tc_config *config, tc_fouriers *out);

/* In ctx->scratch. */
tc_spectra ti_spectra_find(tc_ctx *ctx, const tc_dataflow *f);
int32_t ti_spectra_root(const tc_spectra *s, int32_t group);

/* A square: of this value; else none. */
tc_val ti_spectra_squared(const tc_dataflow *f, const tc_node *node);
/* The value whose root, moved, is squared: the square is that value, moved. */
tc_val ti_spectra_rooted(const tc_dataflow *f, const tc_node *node);

/* spectra_scales.c: the settings of its values, their domains, the scales of parts from those of layers' operands, and
 * those of powers from the parts'. */
tc_setting ti_spectra_setting(const tc_spectra *s, tc_val v, const tc_setting *own);
void ti_spectra_describe(tc_ctx *ctx, const tc_dataflow *f, const tc_spectra *s, tc_domains *out);
/* Layers up to its powers have 8-bit weights where few codes are the global setting: the side lobes
 * of a coarser basis leak loud bins into quiet ones. */
void ti_spectra_weights(tc_dataflow *f, const tc_domains *domains);
void ti_spectra_parts(const tc_graph *g, tc_domains *domains);
void ti_spectra_powers(tc_domains *domains);

/* split_transforms.c: layers that make i32 parts, as two of 8-bit weights; *any: there are some that
 * were not. */
TC_MUST_USE tc_status ti_spectra_split(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                       bool *any);

/* spectra_form.c: squares of roots cancel, lower bounds become maxima, and logarithms are of sizes,
 * in spectra; nothing else changes.  *found: there are any. */
TC_MUST_USE tc_status ti_spectra_form(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                      bool *found);
/* Logarithms of bands get a power of two for each frame; *any: there are some that had none. */
TC_MUST_USE tc_status ti_spectra_frame(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                       bool *any);

#endif
