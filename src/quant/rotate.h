/* SPDX-License-Identifier: Apache-2.0 */
/* rotate.h -- the stream between norms in other coordinates, where no channel stands out. */
#ifndef TC_ROTATE_H
#define TC_ROTATE_H

#include "quantizer.h"

/* Values that layers and tables make, that sums, norms and movement connect, and that layers read,
 * turn by an orthogonal matrix, which their constants absorb, with the gains and offsets of those
 * norms: the float program gives what it gave.  *n: so many sets of values turned.  Data is not
 * asked for: the same at every size of a program. */
TC_MUST_USE tc_status ti_quant_rotate(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                      size_t *n);

#endif
