/* SPDX-License-Identifier: Apache-2.0 */
/* door_npu.c -- an Ethos-U that runs command streams in the caller's memory. */
#include "../base/enter.h"
#include "../npu/npu_device.h"

tc_status tc_npu_new(tc_ctx *ctx, const tc_npu_options *options, tc_npu **out)
{
    tc_npu_options o = TC_TAKE(tc_npu_options, options);
    TC_ENTER(ctx, ti_npu_device_new(ctx, &o, out));
}

void tc_npu_get_info(const tc_npu *npu, tc_npu_info *out)
{
    static const int product[] = {[TC_U55] = 55, [TC_U65] = 65, [TC_U85] = 85};
    const tc_npu_machine *m = npu->machine;
    ti_fill_record(out,
                   &(tc_npu_info){.machine = m->name,
                                  .id = m->id,
                                  .config = m->config,
                                  .product = product[m->product],
                                  .macs = m->macs,
                                  .clock = npu->system.clock,
                                  .system_config = npu->system.config,
                                  .memory_mode = npu->system.mode},
                   sizeof *out);
}

void tc_npu_get_fault(const tc_npu *npu, tc_npu_fault_info *out)
{
    bool wrong = npu->fault != TC_NPU_FAULT_NONE;
    ti_fill_record(out,
                   &(tc_npu_fault_info){.fault = npu->fault,
                                        .region = wrong ? npu->region : -1,
                                        .text = wrong ? npu->text : NULL},
                   sizeof *out);
}

static tc_status load(tc_npu *npu, const void *words, size_t bytes, tc_npu_load_info *out)
{
    tc_npu_load_info info;
    TC_TRY(ti_npu_device_load(npu, words, bytes, &info));
    ti_fill_record(out, &info, sizeof info);
    return TC_OK;
}

tc_status tc_npu_load(tc_npu *npu, const void *words, size_t bytes, tc_npu_load_info *out)
{
    TC_ENTER(npu->ctx, load(npu, words, bytes, out));
}

tc_status tc_npu_verify(tc_npu *npu, size_t *count, const char **text)
{
    TC_ENTER(npu->ctx, ti_npu_device_verify(npu, count, text));
}

tc_status tc_npu_bind(tc_npu *npu, int region, void *data, uint64_t bytes)
{
    TC_ENTER(npu->ctx, ti_npu_device_bind(npu, region, data, bytes));
}

static tc_status run(tc_npu *npu, tc_npu_run_info *out)
{
    tc_npu_run_info info;
    tc_status status = ti_npu_device_run(npu, &info);
    ti_fill_record(out, &info, sizeof info);
    return status;
}

tc_status tc_npu_run(tc_npu *npu, tc_npu_run_info *out)
{
    TC_ENTER(npu->ctx, run(npu, out));
}

void tc_npu_get_progress(const tc_npu *npu, double cycles, tc_npu_progress *out)
{
    tc_npu_progress p = ti_npu_device_progress(npu, cycles);
    ti_fill_record(out, &p, sizeof p);
}
