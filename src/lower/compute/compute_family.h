/* SPDX-License-Identifier: Apache-2.0 */
/* compute_family.h -- the functions that compute.def names. */
#ifndef TC_COMPUTE_FAMILY_H
#define TC_COMPUTE_FAMILY_H

#include "compute.h"

#define FAMILY(name, ...) tc_cs_make ti_cs_##name;
#define SHADER(op, family)
#include "compute.def"

#endif
