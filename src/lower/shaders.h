/* SPDX-License-Identifier: Apache-2.0 */
/* shaders.h -- compute shaders for what no region takes (the pass lower-to-shaders). */
#ifndef TC_SHADERS_H
#define TC_SHADERS_H

#include "../ir/graph.h"

/* What becomes shaders of a program for graphics processors. */
typedef enum tc_shaders {
    TC_SHADERS_AUTO,     /* what no region takes; in a .pte that stays with the CPU */
    TC_SHADERS_ALL,      /* what no region takes, in a .pte too */
    TC_SHADERS_RESAMPLE, /* and grid_sample and upsampling, which TOSA has only in many steps */
    TC_SHADERS_SAMPLERS, /* and those read images by samplers, where samplers have the mode */
    TC_SHADERS_NONE      /* nothing: a file holds one region */
} tc_shaders;

/* By name: auto, all, resample, samplers, none.  NULL: auto.  false: no such name. */
bool ti_shaders_named(const char *word, tc_shaders *out);
const char *ti_shaders_word(tc_shaders shaders);

/* Whether the operator resamples, so that a shader does it rather than a region. */
bool ti_shader_resamples(tc_op op);

/* Why a node has no shader, as a clause; NULL: it has one, or is a constant or a call. */
const char *ti_shader_refuses(tc_ctx *ctx, const tc_graph *g, const tc_node *node);

#endif
