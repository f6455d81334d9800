/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h -- programs with test vectors (.bpte): made of what a program computes, and held to it. */
#ifndef TC_DRIVE_BUNDLE_H
#define TC_DRIVE_BUNDLE_H

#include "../drive/driver.h"

/* The program with test vectors of each of its methods: the samples of c->vectors, else those that
 * the program was run on.  What is expected is what the file computes, read back and run; a method that remembers
 * is run from its first state, vector after vector.  *vectors: how many there are. */
TC_MUST_USE tc_status ti_bundle_make(tc_ctx *ctx, const tc_compiled *c, tc_bytes program,
                                     tc_bytes *out, size_t *vectors);

/* The vectors of a .bpte run in their order, and compared: bits, of floats also within the tolerance
 * of ExecuTorch's own check.  Each one that differs has been told, and is an error at the end. */
TC_MUST_USE tc_status ti_bundle_verify(tc_ctx *ctx, const char *path, tc_vectors_report *out);

#endif
