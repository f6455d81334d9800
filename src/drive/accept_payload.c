/* SPDX-License-Identifier: Apache-2.0 */
/* accept_payload.c -- payloads that our own back end or Vela made and that the checks of streams let
 * pass; the rest of the program goes to the CPU. */
#include "../ir/ir_text.h"
#include "model.h"
#include "payload.h"

/* The region that its maker, or the verifier of its stream, refused; SIZE_MAX: none. */
static size_t refused(const tc_compiled *c)
{
    for (size_t i = 0; c->jobs && i < c->n_region; i++)
        if (c->jobs[i].refused)
            return i;
    return SIZE_MAX;
}

static tc_status judge(tc_ctx *ctx, tc_compiled *c, size_t *failed)
{
    tc_payload *payload;
    tc_status status = ti_payloads(ctx, c, &c->ethosu, &payload, &c->jobs);
    *failed = status == TC_OK ? SIZE_MAX : refused(c);
    return status;
}

static const char sum_text[] = "graph @main(%0 \"x\": i32[1,1,1,16], %1 \"y\": i32[1,1,1,16]) {\n"
                               "  %2 = tosa.add %0, %1 : i32[1,1,1,16]\n"
                               "  return %2\n"
                               "}\n";

/* Vela refused a region: does it take anything at all? */
static tc_status try_vela(tc_ctx *ctx, const tc_compiled *c)
{
    tc_module *sum;
    tc_ethosu_job job = {0};
    TC_TRY(ti_parse(ctx, "sum", (tc_bytes){(const uint8_t *)sum_text, sizeof sum_text - 1},
                    (tc_bytes){NULL, 0}, &sum));
    TC_TRY(ti_emit_tosa(ctx, sum, &job.tosa));
    job.graph = ti_main(sum);
    return ti_vela_works(ctx, &c->target, &c->ethosu, &job);
}

static tc_status pack(tc_ctx *ctx, tc_compiled *c, tc_payload **out)
{
    for (int round = 0;; round++) {
        tc_hold hold = ti_hold_begin(ctx);
        tc_status status = ti_payloads(ctx, c, &c->ethosu, out, &c->jobs);
        size_t failed = status == TC_OK ? SIZE_MAX : refused(c);
        if (failed == SIZE_MAX || !c->typed || c->request.strict || round == 2) {
            ti_hold_keep(ctx, hold);
            return status;
        }
        const tc_ethosu_job job = c->jobs[failed];
        c->verify_only = !job.differs;
        if (!job.own)
            c->ethosu.version = job.version;
        const char *why = ti_hold_drop(ctx, hold);
        if (!job.own && !job.payload.size)
            TC_TRY(try_vela(ctx, c));
        status = ti_fall_back(ctx, c, judge, failed, why);
        c->verify_only = false;
        TC_TRY(status);
        if (job.own && c->ethosu.backend == TC_BACKEND_AUTO && !ti_vela_is_here(ctx))
            ti_note(ctx, NULL, "Vela may take it: 'pip install ethos-u-vela==" TC_VELA_VERSION
                               "' installs it; TOSAC_VELA names another path");
        c->model = ti_model_of(ctx, c->model->name, c->module);
    }
}

tc_status ti_pack_regions(tc_ctx *ctx, tc_compiled *c)
{
    tc_payload *payload;
    if (c->payload)
        return TC_OK;
    TC_TRY(pack(ctx, c, &payload));
    c->payload = payload;
    return TC_OK;
}
