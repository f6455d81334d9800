/* SPDX-License-Identifier: Apache-2.0 */
/* own_backend.h -- regions by the Ethos-U back end (codegen/codegen.h): asked at point TOSA of the
 * road. */
#ifndef TC_OWN_BACKEND_H
#define TC_OWN_BACKEND_H

#include "driver.h"

/* From here on the target takes what the back end takes, by its selection. */
TC_MUST_USE tc_status ti_own_judges(tc_ctx *ctx, tc_compiled *c);

/* Asks it for a region as it is now: region->own.  Where only estimates are made, it reports
 * whether it takes the region, and generates nothing. */
TC_MUST_USE tc_status ti_own_ask(tc_ctx *ctx, const tc_compiled *c, tc_region *region);

/* Whether it makes the region. */
static inline bool ti_own_takes(const tc_region *region)
{
    return region->own && !region->own->refused;
}

/* Why it does not make the region, and the node that is to blame; why NULL: it makes it. */
tc_refusal ti_own_refusal(tc_ctx *ctx, const tc_region *region);

/* A graph of the region's machine; TC_OK also where it is refused.
 *
 *   before   region 0 as other programs left it; NULL: it is not shared */
TC_MUST_USE tc_status ti_own_generate(tc_ctx *ctx, const tc_compiled *c, const tc_graph *g,
                                      const tc_codegen_shared *before, tc_codegen_result *out);

/* A region at point REGION of the road: which tilings are better left out (tc_tiles), by pricing
 * every way.  Where methods share their weights, tiled attention would need its own copies, and
 * must save more than it costs. */
TC_MUST_USE tc_status ti_own_untiled(tc_ctx *ctx, const tc_compiled *c, const tc_region *region,
                                     unsigned *untiled);

/* The stream made of job->graph, as a payload with its figures. */
TC_MUST_USE tc_status ti_own_pack(tc_ctx *ctx, const tc_compiled *c, const tc_codegen_result *own,
                                  tc_ethosu_job *job);

/* The region's operator that the command at a word comes from; NULL: not known. */
const tc_node *ti_own_node(const tc_codegen_result *own, size_t word);

/* The same as text: tc_payload.lines. */
tc_bytes ti_own_lines(tc_ctx *ctx, const tc_codegen_result *own);

#endif
