/* SPDX-License-Identifier: Apache-2.0 */
/* What there is, as a caller sees it: every target that is listed is taken, and says what it
 * says. */
#include "check.h"

#include <stddef.h>
#include <string.h>

#include "tosac/tosac.h"

static void check_targets(tc_ctx *ctx)
{
    tc_target_info t = tc_target_info_default(), again = tc_target_info_default();
    size_t n = 0, streams = 0, as_c = 0;
    for (; tc_target_at(n, &t); n++) {
        CHECK_ROW(t.name, tc_target_check(ctx, t.name) == TC_OK);
        CHECK_ROW(t.name, tc_target_find(ctx, t.name, &again) == TC_OK);
        CHECK_ROW(t.name, strcmp(t.spec, again.spec) == 0 && t.integers == again.integers &&
                              t.floats == again.floats);
        streams += t.takes_stream != 0;
        as_c += t.takes_c != 0;
    }
    CHECK(n == 23 && streams == 11 && as_c == 7);
    CHECK(tc_target_find(ctx, "TOSA-1.0+FP+bf16", &t) == TC_OK && t.floats && !t.integers);
    CHECK(strcmp(t.spec, "TOSA-1.0+FP+bf16") == 0);
    CHECK(tc_target_find(ctx, "ethos-u99", &t) == TC_USAGE);
}

static void check_operators(void)
{
    tc_operator_info op = tc_operator_info_default();
    size_t n = 0, tosa = 0;
    int conv = 0;
    for (; tc_operator_at(n, &op); n++) {
        CHECK_ROW(op.name ? op.name : "?", op.name && op.doc && *op.doc);
        tosa += op.is_tosa != 0;
        if (strcmp(op.name, "conv") == 0)
            conv = op.quantized && op.plain && op.cpu && !op.is_tosa;
    }
    CHECK(tosa == 100 && n > 250); /* 98 of the specification, `shader`, and CAST of unsigned numbers */
    CHECK(conv);
}

/* A caller whose record is of an older version: nothing behind it is touched. */
static void check_small_record(void)
{
    struct {
        tc_operator_info op;
        char behind[8];
    } r = {.op = {.size = offsetof(tc_operator_info, doc)}, .behind = "behind"};
    CHECK(tc_operator_at(0, &r.op) && r.op.name && !r.op.doc);
    CHECK(strcmp(r.behind, "behind") == 0);
}

/* A warning is given once, however often it is found. */
static void warned_once(tc_ctx *ctx)
{
    size_t before = tc_diagnostic_count(ctx);
    static const char text[] = "graph @main(%0: f32[1]) {\n  return %0\n}\n";
    const tc_bytes bytes = {(const uint8_t *)text, sizeof text - 1};
    tc_model *model;
    CHECK(tc_ctx_set_dim(ctx, "batch=2") == TC_OK);
    for (int i = 0; i < 3; i++) /* --dim has no effect */
        CHECK(tc_model_read(ctx, "a.ir", bytes, NULL, &model) == TC_OK);
    CHECK(tc_diagnostic_count(ctx) == before + 1);
    CHECK(tc_target_check(ctx, "TOSA-1.1+FP+mxfp+int64+shape") == TC_OK);
    CHECK(tc_diagnostic_count(ctx) == before + 1);
    CHECK(tc_target_check(ctx, "TOSA-1.0+FP+int64") == TC_USAGE); /* of 1.1 */
    CHECK(tc_target_check(ctx, "vfg") == TC_USAGE);
    const tc_diagnostic *last = tc_diagnostic_at(ctx, tc_diagnostic_count(ctx) - 1);
    CHECK_ROW(last->text, last->n_note == 2); /* not lost behind a warning that was repeated */
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_machine_info m = tc_machine_info_default();
    check_targets(ctx);
    check_operators();
    check_small_record();
    warned_once(ctx);
    CHECK(tc_machine_look(ctx, &m) == TC_OK && m.instructions);
    tc_ctx_free(ctx);
    return check_done();
}
