/* SPDX-License-Identifier: Apache-2.0 */
/* compute_build.h -- what the files of the builder share (compute.h is what operators see). */
#ifndef TC_COMPUTE_BUILD_H
#define TC_COMPUTE_BUILD_H

#include "compute.h"

enum { STORAGE_FUNCTION = 7 };

#define PUT(s, op, ...) TC_SPV_PUT(&(s)->w, TC_SPV_BODY, op, __VA_ARGS__)
#define UNIQUE(s, op, type, ...) TC_SPV_UNIQUE(&(s)->w, op, type, __VA_ARGS__)

uint32_t ti_cs_kind_type(tc_cs *s, tc_cs_kind kind);
uint32_t ti_cs_stored_type(tc_cs *s, tc_dtype dtype); /* what a tensor holds */
uint32_t ti_cs_word(tc_cs *s, uint32_t v);            /* a constant of 32 bits */

/* The result of an instruction. */
tc_cs_val ti_cs_made(tc_cs *s, tc_cs_kind kind, tc_spv_op op, const uint32_t *operand, size_t n);

/* A stored element to the type it is computed in, and back. */
tc_cs_val ti_cs_widened(tc_cs *s, tc_dtype dtype, uint32_t id);
uint32_t ti_cs_narrowed(tc_cs *s, tc_dtype dtype, tc_cs_val v);

#endif
