/* SPDX-License-Identifier: Apache-2.0 */
/* door_about.c -- targets, operators and this build, from the tables that everything else uses. */
#include <stdio.h>
#include <stdlib.h>

#include "../emit/ethosu.h"
#include "../executorch/cpu_select.h"
#include "../base/isa.h"
#include "../lower/lower.h"
#include "../target/target.h"
#include "../base/enter.h"

/* ---- targets ---- */

/* Profiles that are offered by name; extensions are appended to them. */
static const char *const profiles[] = {"TOSA-1.0+INT", "TOSA-1.0+FP", "TOSA-1.0+INT+FP"};

/* core: a Cortex-M next to it. */
static void describe(const tc_machine *m, const char *name, const char *spec, bool core,
                     tc_target_info *out)
{
    tc_target_info info = {.title = m->title,
                           .takes_stream = m->packing == TC_PACKED_STREAM,
                           .takes_c = m->packing == TC_PACKED_C || core};
    snprintf(info.name, sizeof info.name, "%s", name);
    snprintf(info.spec, sizeof info.spec, "%s", spec ? spec : "");
    info.integers = strstr(info.spec, "+INT") != NULL;
    info.floats = strstr(info.spec, "+FP") != NULL;
    ti_fill_record(out, &info, sizeof info);
}

bool tc_target_at(size_t i, tc_target_info *out)
{
    if (i < TC_COUNT(profiles)) {
        describe(&tc_machine_tosa, profiles[i], profiles[i], false, out);
        return 1;
    }
    i -= TC_COUNT(profiles);
    const tc_machine *m;
    for (size_t k = 0; (m = ti_machine_at(k)) != NULL; k++) {
        if (m->packing == TC_PACKED_TOSA) /* by profile, above */
            continue;
        size_t n = m->n_npu ? m->n_npu : 1; /* its sizes, or itself */
        if (i < n) {
            describe(m, m->n_npu ? m->npu[i].name : m->name, m->spec, false, out);
            return 1;
        }
        i -= n;
    }
    return 0;
}

static tc_status find(tc_ctx *ctx, const char *text, tc_target_info *out)
{
    tc_target target;
    TC_TRY(ti_target_parse(ctx, text, &target));
    describe(target.machine, text, target.tosa ? ti_target_spec(ctx, &target) : NULL,
             target.core != NULL, out);
    return TC_OK;
}

tc_status tc_target_find(tc_ctx *ctx, const char *target, tc_target_info *out)
{
    TC_ENTER(ctx, find(ctx, target, out));
}

/* ---- operators ---- */

bool tc_operator_at(size_t i, tc_operator_info *out)
{
    if (i >= TC_OP_COUNT)
        return 0;
    tc_op op = (tc_op)i;
    bool is_tosa = ti_text_starts(tc_ops[op].name, "tosa_");
    tc_operator_info info = {.name = tc_ops[op].name, .doc = tc_ops[op].doc, .is_tosa = is_tosa};
    if (!is_tosa) {
        info.quantized = ti_lower_knows(op, true);
        info.plain = ti_lower_knows(op, false);
        info.cpu = ti_cpu_knows(op);
    }
    ti_fill_record(out, &info, sizeof info);
    return 1;
}

/* ---- this machine ---- */

static tc_status look(tc_ctx *ctx, tc_machine_info *out)
{
    (void)ctx;
    tc_machine_info info = {.instructions = ti_isa_name(ti_isa())};
    ti_fill_record(out, &info, sizeof info);
    return TC_OK;
}

tc_status tc_machine_look(tc_ctx *ctx, tc_machine_info *out)
{
    TC_ENTER(ctx, look(ctx, out));
}
