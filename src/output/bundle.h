/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h -- programs with test vectors (.bpte): made from what a program computes, and checked
 * against them. */
#ifndef TC_DRIVE_BUNDLE_H
#define TC_DRIVE_BUNDLE_H

#include "../drive/driver.h"

/* The program with test vectors of each of its methods: the samples of c->asked.vectors, else those
 * that the program was run on.  Expected outputs are what the file computes, read back and run; a
 * method with state is run from its initial state, vector after vector.  *vectors: how many there
 * are. */
TC_MUST_USE tc_status ti_bundle_make(tc_ctx *ctx, const tc_compiled *c, tc_bytes program,
                                     tc_bytes *out, size_t *vectors);

/* Runs the vectors of a .bpte in their order, and compares: bits, for floats also within the
 * tolerance of ExecuTorch's own check.  Each one that differs is reported, and is an error at the
 * end. */
TC_MUST_USE tc_status ti_bundle_verify(tc_ctx *ctx, const char *path, tc_vectors_report *out);

#endif
