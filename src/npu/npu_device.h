/* SPDX-License-Identifier: Apache-2.0 */
/* npu_device.h -- a machine that runs jobs in memory of others: see tosac/npu.h. */
#ifndef TC_NPU_DEVICE_H
#define TC_NPU_DEVICE_H

#include "tosac/npu.h"
#include "cost.h"
#include "npu_extent.h"

/* When a command raises an interrupt, in cycles from the beginning. */
typedef struct tc_npu_irq {
    double cycles;
    uint16_t mask;
} tc_npu_irq;

/* A stream that was loaded, with all that is known of it. */
typedef struct tc_npu_held {
    tc_arena arena;
    tc_npu_program program;
    struct tc_npu_exec *exec;
    tc_npu_stream_cost cost;
    tc_npu_extents extents;
    size_t operations;
    tc_npu_irq *irq;
    size_t n_irq;
    uint64_t used; /* the load that wanted it last; 0: there is none here */
} tc_npu_held;

enum { TC_NPU_HELD = 8 };

struct tc_npu {
    tc_ctx *ctx;
    const tc_npu_machine *machine;
    tc_npu_system system;
    tc_npu_held held[TC_NPU_HELD], *job; /* job: the loaded one, or NULL */
    uint64_t loads;
    tc_npu_fault fault;
    int region;
    char text[320];
};

TC_MUST_USE tc_status ti_npu_device_new(tc_ctx *ctx, const tc_npu_options *options, tc_npu **out);
TC_MUST_USE tc_status ti_npu_device_load(tc_npu *npu, const void *words, size_t bytes,
                                         tc_npu_load_info *out);
TC_MUST_USE tc_status ti_npu_device_verify(tc_npu *npu, size_t *count, const char **text);
TC_MUST_USE tc_status ti_npu_device_bind(tc_npu *npu, int region, void *data, uint64_t bytes);
TC_MUST_USE tc_status ti_npu_device_run(tc_npu *npu, tc_npu_run_info *out);
tc_npu_progress ti_npu_device_progress(const tc_npu *npu, double cycles);

#endif
