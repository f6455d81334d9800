/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_site.h -- a piece of TOSA while the arguments of its kernel are collected: those so far,
 * and what the piece is made of. */
#ifndef TC_CORTEXM_SITE_H
#define TC_CORTEXM_SITE_H

#include "cortexm_call.h"

typedef struct tc_cm_site {
    tc_ctx *ctx;
    const tc_graph *g;
    tc_core core;
    tc_cm_caller caller;
    tc_cm_call *call;
} tc_cm_site;

/* The arguments of one operator's kernel; why there are none, or NULL. */
typedef const char *tc_cm_describer(tc_cm_site *s);
#define CM(word, name, args) tc_cm_describer ti_cm_describe_##word;
#include "cortexm_ops.def"

/* ---- arguments, in order ---- */

tc_cm_arg *ti_cm_add(tc_cm_site *s, tc_cm_kind kind);
void ti_cm_add_int(tc_cm_site *s, int64_t i);
void ti_cm_add_ints(tc_cm_site *s, const int64_t *v, int n);
void ti_cm_add_none(tc_cm_site *s);
void ti_cm_add_scratch(tc_cm_site *s, size_t bytes);
void ti_cm_add_data(tc_cm_site *s, tc_tensor t);
void ti_cm_add_tensor(tc_cm_site *s, int index, tc_cm_view view);
tc_tensor ti_cm_new_tensor(tc_cm_site *s, tc_dtype dtype, int rank, const int64_t *dim);

/* Axes as they are; [n,h,w,c] as [n,c,h,w] with the channels last in memory; all but the last as one. */
tc_cm_view ti_cm_view_plain(const tc_type *t);
tc_cm_view ti_cm_view_channels_last(const tc_type *t);
tc_cm_view ti_cm_view_rows(const tc_type *t);

/* ---- what a piece is made of ---- */

const tc_node *ti_cm_find_node(const tc_graph *g, tc_op op);
const tc_type *ti_cm_site_type(const tc_cm_site *s, tc_val v);
const tc_type *ti_cm_site_result(const tc_cm_site *s);
/* Element i of a constant. */
int64_t ti_cm_site_at(const tc_cm_site *s, tc_val v, int64_t i);
/* Whether all operands from `first` on are constants. */
bool ti_cm_all_const(const tc_cm_site *s, const tc_node *node, int first);

enum { X = 0, MULTIPLIER = 1, SHIFT = 2, ZERO_IN = 3, ZERO_OUT = 4 }; /* RESCALE */

/* The last RESCALE, and the bounds of what comes out. */
typedef struct tc_cm_finish {
    const tc_node *rescale;
    int64_t lo, hi;
} tc_cm_finish;

tc_cm_finish ti_cm_finish_of(const tc_cm_site *s);
/* most: the largest sum of each channel there can be; n channels. */
const char *ti_cm_check_finish(const tc_cm_site *s, const tc_cm_finish *f, const int64_t *most,
                               int64_t n);
/* Element i of a constant by channel, or its only one. */
int64_t ti_cm_of_channel(const tc_cm_site *s, tc_val v, int64_t i);
int64_t ti_cm_shift_of(const tc_cm_site *s, const tc_node *rescale, int64_t i);
int64_t ti_cm_multiplier_of(const tc_cm_site *s, const tc_node *rescale, int64_t i);
/* Whether n channels have the same multiplier and shift. */
bool ti_cm_one_scale(const tc_cm_site *s, const tc_node *rescale, int64_t n);
/* A multiplier and a shift for each channel. */
void ti_cm_add_channels(tc_cm_site *s, const tc_cm_finish *f, int64_t n);

/* Whether the kernel has as many windows as the piece. */
const char *ti_cm_check_window(const tc_cm_site *s, const tc_cm_window *w);

#endif
