/* SPDX-License-Identifier: Apache-2.0 */
/* tflite.c -- any bytes as a TensorFlow Lite model: an answer or a message, and memory given back.
 * What is read keeps the rules of graphs. */
#include "answer.h"

#include "ir/verify.h"
#include "read/read.h"
#include "read/survey.h"

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL;
    tc_survey survey = {0};
    answered(ctx, ti_survey_tflite(ctx, "fuzz.tflite", bytes, &survey));
    if (answered(ctx, ti_read_tflite(ctx, "fuzz.tflite", bytes, &module)))
        must(ti_verify(ctx, module) == TC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)256 << 20);
    return 0;
}
