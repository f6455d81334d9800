/* SPDX-License-Identifier: Apache-2.0 */
/* What there is, as a caller sees it: every target that is listed is taken, and says what it
 * says. */
#include <stdio.h>
#include <string.h>

#include "tosac/tosac.h"

static int passed, failed;

static void check(int good, const char *words, const char *more)
{
    if (good)
        passed++;
    else {
        failed++;
        printf("about: %s %s\n", words, more);
    }
}

static void check_targets(tc_ctx *ctx)
{
    tc_target_info t = tc_target_info_default(), again = tc_target_info_default();
    size_t n = 0, with_vela = 0;
    for (; tc_target_at(n, &t); n++) {
        check(tc_target_check(ctx, t.name) == TC_OK, "is listed and not taken:", t.name);
        check(tc_target_find(ctx, t.name, &again) == TC_OK && strcmp(t.spec, again.spec) == 0 &&
                  t.integers == again.integers && t.floats == again.floats,
              "is listed as something else:", t.name);
        with_vela += t.needs_vela != 0;
    }
    check(n == 16 && with_vela == 11, "are not sixteen targets, eleven of them through Vela", "");
    check(tc_target_find(ctx, "TOSA-1.0+FP+bf16", &t) == TC_OK && t.floats && !t.integers &&
              strcmp(t.spec, "TOSA-1.0+FP+bf16") == 0,
          "extensions are lost", t.spec);
    check(tc_target_find(ctx, "ethos-u99", &t) == TC_USAGE, "ethos-u99 is found", "");
}

static void check_operators(void)
{
    tc_operator_info op = tc_operator_info_default();
    size_t n = 0, tosa = 0;
    int conv = 0;
    for (; tc_operator_at(n, &op); n++) {
        check(op.name && op.doc && *op.doc, "says nothing:", op.name ? op.name : "?");
        tosa += op.is_tosa != 0;
        if (strcmp(op.name, "conv") == 0)
            conv = op.quantized && op.plain && op.cpu && !op.is_tosa;
    }
    check(tosa == 73 && n > 250, "are not 73 operators of TOSA among all", "");
    check(conv, "convolutions go nowhere", "");
}

/* A caller whose record is of an older version: nothing behind it is touched. */
static void check_small_record(void)
{
    struct {
        tc_operator_info op;
        char behind[8];
    } r = {.op = {.size = offsetof(tc_operator_info, doc)}, .behind = "behind"};
    check(tc_operator_at(0, &r.op) && r.op.name && !r.op.doc, "a short record is filled on", "");
}

/* A warning is given once, however often it is found. */
static void check_once(tc_ctx *ctx)
{
    size_t before = tc_diagnostic_count(ctx);
    for (int i = 0; i < 3; i++)
        check(tc_target_check(ctx, "TOSA-1.1+INT") == TC_OK, "is not taken: TOSA-1.1+INT", "");
    check(tc_diagnostic_count(ctx) == before + 1, "a warning is repeated", "");
    check(tc_target_check(ctx, "TOSA-1.1+FP") == TC_OK && tc_diagnostic_count(ctx) == before + 1,
          "the same words, again", "");
    check(tc_target_check(ctx, "vfg") == TC_USAGE, "is taken: vfg", "");
    const tc_diagnostic *last = tc_diagnostic_at(ctx, tc_diagnostic_count(ctx) - 1);
    check(last->n_note == 2, "notes are lost behind a warning that was repeated", last->text);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_machine_info m = tc_machine_info_default();
    check_targets(ctx);
    check_operators();
    check_small_record();
    check_once(ctx);
    check(tc_machine_look(ctx, &m) == TC_OK && m.instructions && m.vela_wanted, "is not known", "");
    tc_ctx_free(ctx);
    printf("about: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
