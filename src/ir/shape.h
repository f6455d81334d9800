/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h -- a declaration of tc_shape_<shape> for every rule that the operator table names. */
#ifndef TC_SHAPE_H
#define TC_SHAPE_H

#include "../num/call.h"

#define OP(name, in0, in1, out, attr, shape, ...) extern tc_shape_fn ti_shape_##shape;
#include "op.def"

#endif
