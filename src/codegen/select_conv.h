/* SPDX-License-Identifier: Apache-2.0 */
/* select_conv.h -- a convolution of constant weights, for the files that make operations of it. */
#ifndef TC_SELECT_CONV_H
#define TC_SELECT_CONV_H

#include "select_form.h"
#include "select_window.h"

enum { TC_CONV_AXES = 3 }; /* depth, rows, columns */

/* Weights [o][kd][kh][kw][i], less their zero point. */
typedef struct tc_sel_kernel {
    const int16_t *v;
    int64_t o, tap[TC_CONV_AXES], i;
} tc_sel_kernel;

typedef struct tc_sel_conv {
    tc_sel *s;
    const tc_node *node;
    tc_hw_op op; /* all but views, weights and window */
    bool depthwise;
    tc_sel_kernel k;
    tc_sel_pieces piece[TC_CONV_AXES];
    tc_view in, out; /* [n][d][h][w][c] */
    int64_t stride[TC_CONV_AXES], dilation[TC_CONV_AXES]; /* but of transposed ones, */
    int64_t before[TC_CONV_AXES];                         /* as the padding is */
    struct tc_sel_taps *taps;
    size_t n_taps, cap_taps;
    bool beside; /* taps are contiguous in `in`, as channels */
    bool wide;   /* a window may have more columns than rows */
    bool more;   /* outputs than the node has: its taps do not stand beside each other */
    const int16_t *zeros;
    tc_view bias; /* of 48 bits that is not constant; or no root */
} tc_sel_conv;

/* A window of that many rows and columns is one operation's. */
bool ti_sel_is_wide(const tc_sel_conv *c);
/* Its operations; false: a window is larger than one operation's. */
bool ti_sel_emit_conv(tc_sel_conv *c);

/* ---- other forms (select_conv_form.c) ---- */

/* The image whose channels the convolution wants last, as it was given: [1][h][w][c], columns
 * contiguous; no root: it is none, or others read it. */
tc_view ti_sel_image(const tc_sel *s, const tc_node *node);
/* After the plain operations: those that are possible, from where `ways` began; `alone` began behind what
 * puts an image's channels last.  image: or no root. */
void ti_sel_conv_forms(const tc_sel_conv *c, const tc_view *image, tc_sel_ways *alone, tc_sel_ways *ways);

#endif
