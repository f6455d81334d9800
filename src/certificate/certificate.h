/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.h -- what was proved about the files that were made last, by what, and what was not: doc/assessors.md.
 *
 * The same model, data, settings and tool give the same bytes: no times, no folders, no names of machines. */
#ifndef TC_CERTIFICATE_H
#define TC_CERTIFICATE_H

#include "../base/json_out.h"
#include "../base/sha256.h"
#include "../drive/driver.h"

/* What stands in place of the record's extension. */
#define TC_CERTIFICATE_PROGRAM ".program.ir"
#define TC_CERTIFICATE_SAMPLES ".samples.npz"

/* Files must have been made.  Of several methods it is the last one's. */
TC_MUST_USE tc_status ti_certificate(tc_ctx *ctx, const tc_compiled *c, tc_certificate *out);

/* "bytes" and "sha256" of what is open. */
void ti_put_hash(tc_json_out *out, tc_bytes bytes);

/* certificate_inputs.c: the model, the data, the settings and the tool. */
TC_MUST_USE tc_status ti_certificate_inputs(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out);
/* certificate_samples.c: as a .npz; drawn: inputs next to those that streams were executed on, and elements that they must give. */
typedef struct tc_sample_count {
    size_t drawn;
    int64_t elements;
} tc_sample_count;
TC_MUST_USE tc_status ti_certificate_samples(tc_ctx *ctx, const tc_compiled *c, tc_bytes *out, tc_sample_count *count);
/* certificate_checks.c: each check that has run, and what none has covered. */
TC_MUST_USE tc_status ti_certificate_checks(tc_ctx *ctx, const tc_compiled *c, const tc_sample_count *drawn, tc_json_out *out);
/* certificate_kernels.c: of a .pte. */
TC_MUST_USE tc_status ti_certificate_kernels(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out);
/* certificate_map.c: from the line of Python to the commands. */
void ti_certificate_map(const tc_compiled *c, tc_json_out *out);

#endif
