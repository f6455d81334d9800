/* SPDX-License-Identifier: Apache-2.0 */
/* road.h -- the road from a model to a file, run from one point to another (road.def). */
#ifndef TC_ROAD_H
#define TC_ROAD_H

#include "passes.h"

typedef enum tc_point {
#define LIST(name, passes, doc)
#define WHEN(name, doc)
#define POINT(name, doc) TC_AT_##name,
#define STEP(when, passes)
#include "road.def"
    TC_POINT_COUNT
} tc_point;

enum {
#define LIST(name, passes, doc)
#define WHEN(name, doc) TC_WHEN_##name,
#define POINT(name, doc)
#define STEP(when, passes)
#include "road.def"
    TC_WHEN_COUNT
};

/* A point has a name and what holds there, a step its condition and its passes. */
typedef struct tc_road_row {
    const char *name, *doc;
    const char *when, *passes;
} tc_road_row;

/* The table in its order; ended by a row of NULLs. */
extern const tc_road_row tc_road[];
extern const tc_road_row tc_road_conditions[TC_WHEN_COUNT];

/* Whether the step in a row runs where these conditions hold. */
bool ti_road_takes(size_t row, const bool holds[TC_WHEN_COUNT]);

/* Whether a condition holds for a program as it is. */
bool ti_road_when(int condition, const tc_job *job, const tc_module *module);

/* Every step between two points whose condition holds.  job: parameters of conditions and stages;
 * NULL: there is no target, and nothing is quantized.  Without a target conditions are those of
 * TOSA-1.0+INT. */
TC_MUST_USE tc_status ti_road_run(tc_ctx *ctx, tc_module *module, tc_point from, tc_point to,
                                  const tc_job *job, const tc_trace *trace);

#endif
