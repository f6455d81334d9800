/* SPDX-License-Identifier: Apache-2.0 */
/* typed_move.h -- reshapes of reshapes become one. */
#ifndef TC_TYPED_MOVE_H
#define TC_TYPED_MOVE_H

#include "../../ir/build.h"

/* ti_b_reshape of what x is a reshape of. */
tc_val ti_typed_reshape(tc_build *b, tc_val x, int rank, const int64_t *dim);

#endif
