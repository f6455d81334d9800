/* SPDX-License-Identifier: Apache-2.0 */
/* region_ports.h -- what goes into a region and comes out of it, next to its file: FILE.json.
 *
 *   {"schema": "tosac-io", "schema_version": 1, "target": "...", "inputs": [{"name", "dtype",
 *    "shape", "scale", "zero_point", "axis"?}, ...], "outputs": [...]}
 *
 * scale and zero_point are lists; real = scale * (stored - zero_point).  What is not quantized has
 * neither. */
#ifndef TC_REGION_PORTS_H
#define TC_REGION_PORTS_H

#include "../drive/driver.h"

/* Whether stored integers stand for real values at a border: by types, or by ports. */
bool ti_borders_quantized(tc_ctx *ctx, const tc_compiled *compiled);

/* The text for one region. */
tc_bytes ti_borders_json(tc_ctx *ctx, const tc_compiled *compiled, const tc_region *region);

/* The program takes and gives float32 wherever its borders are quantized: by their types, or by
 * FILE.json.  An error where neither says how. */
TC_MUST_USE tc_status ti_dequantize_borders(tc_ctx *ctx, const char *file, tc_module *module);

#endif
