/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h -- a declaration of ti_num_<name> for every row of the operator table. */
#ifndef TC_KERNELS_H
#define TC_KERNELS_H

#include "call.h"

#define OP(name, ...) extern tc_kernel ti_num_##name;
#include "../ir/op.def"

#endif
