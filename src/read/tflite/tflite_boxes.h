/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_boxes.h -- boxes that are taken by their scores, and go where they overlap one that is. */
#ifndef TC_TFLITE_BOXES_H
#define TC_TFLITE_BOXES_H

#include "tflite.h"

enum { TFL_MOST_BOXES = 1024 }; /* that are taken: as many steps are built */

typedef struct tc_tfl_rule {
    int64_t steps;  /* the most that are taken */
    tc_op enough;   /* gt or ge: which scores take part */
    double least;   /* than this */
    tc_op too_much; /* gt or ge: which boxes go */
    double overlap; /* by the part of their union with the one that is taken */
    double sigma;   /* > 0: the others' scores fall by e^(-overlap^2 / 2 sigma) */
} tc_tfl_rule;

/* What each step takes: [groups, steps]. */
typedef struct tc_tfl_picks {
    tc_val index; /* i64; 0 where nothing is left */
    tc_val value; /* its score; -inf where nothing is left */
    tc_val taken; /* whether something was */
} tc_tfl_picks;

/* Boxes [count, 4], two opposite corners each; scores [groups, count]: each group takes its own, the
 * first of equals first. */
tc_tfl_picks ti_tfl_suppress(tc_build *m, tc_val box, tc_val score, const tc_tfl_rule *rule);

#endif
