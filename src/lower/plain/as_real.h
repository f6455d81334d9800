/* SPDX-License-Identifier: Apache-2.0 */
/* as_real.h -- a plain rule between dequantized operands and quantized results. */
#ifndef TC_AS_REAL_H
#define TC_AS_REAL_H

#include "../lower.h"

void ti_lower_as_real(tc_build *lw, const tc_node *node, tc_lower_rule *rule, tc_val *out);

#endif
