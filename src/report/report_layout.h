/* SPDX-License-Identifier: Apache-2.0 */
/* report_layout.h -- a program as boxes inside boxes, each with its contents in layers.
 *
 * Nodes that follow each other inside one module make a box; a module that is entered again makes
 * another one, so that boxes, like nodes, depend on each other in one direction only.  What a box
 * holds is put into rows, producers above their readers, in an order with few crossings.  The
 * position of rows depends on which boxes are open: the page computes it. */
#ifndef TC_REPORT_LAYOUT_H
#define TC_REPORT_LAYOUT_H

#include "../base/map.h"

/* What is laid out. */
typedef struct tc_layout_node {
    const char *module; /* "layers.0.attn"; "": the outermost; NULL: that of the node before */
    const char *module_type;
    const uint32_t *in; /* the nodes it reads, all before it */
    size_t n_in;
} tc_layout_node;

/* An edge between two items of a box. */
typedef struct tc_layout_edge {
    uint32_t from, to;
} tc_layout_edge;

typedef struct tc_layout_group {
    const char *name; /* "0.attn": below its parent; the outermost has "" */
    const char *path; /* "layers.0.attn" */
    const char *type; /* of the module, if one of its nodes has it; or NULL */
    int32_t parent;   /* -1: it is the outermost */
    int32_t *item;    /* node k is k, group g is -1 - g; in the order of the program */
    size_t n_item, cap_item;
    tc_layout_edge *edge;
    size_t n_edge, cap_edge;
    int32_t *
        *row; /* from top to bottom: an item's index in `item`, or -1 - e where edge e passes */
    size_t *n_in_row;
    size_t n_row;
} tc_layout_group;

typedef struct tc_layout {
    tc_layout_group *group; /* the outermost first, then those that were kept */
    size_t n_group;
} tc_layout;

tc_layout ti_layout_make(tc_arena *arena, tc_arena *scratch, const tc_layout_node *node, size_t n);

#endif
