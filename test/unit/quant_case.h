/* SPDX-License-Identifier: Apache-2.0 */
/* quant_case.h -- programs as text and numbers from -1 to 1, for tests of single steps of the quantizer. */
#ifndef TC_QUANT_CASE_H
#define TC_QUANT_CASE_H

#include <string.h>

#include "check.h"
#include "ir/ir_text.h"
#include "ir/verify.h"

static inline void case_noise(float *x, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

/* Sample k of a program with one input of f32. */
static inline tc_status case_sample(void *from, size_t k, const tc_tensor *in)
{
    (void)from;
    case_noise(in[0].data, tc_type_count(in[0].type), 12345u + 77u * (uint32_t)k);
    return TC_OK;
}

/* data: what "@bin" reads. */
static inline tc_module *case_parse(tc_ctx *ctx, const char *text, const float *data, size_t n)
{
    tc_module *m = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)}, bin = {(const uint8_t *)data, n * sizeof *data};
    CHECK(ti_parse(ctx, "t.ir", bytes, bin, &m) == TC_OK && ti_infer_missing(ctx, m) == TC_OK &&
          ti_verify(ctx, m) == TC_OK);
    return m;
}

#endif
