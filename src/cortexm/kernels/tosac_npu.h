/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_npu.h -- an Ethos-U next to the core: what a model needs from the firmware.
 *
 * tosac_npu_run() is the firmware's: it passes the job to the Ethos-U's driver and returns when it
 * is done.  One for Arm's driver is in tosac's examples/cortex-m/npu_ethosu.c. */
#ifndef TOSAC_NPU_H
#define TOSAC_NPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sections of streams and weights, and of a model's own arena: memory that the Ethos-U can access.
 * -DTOSAC_NPU_CONST='__attribute__((section("network_model_sec")))' */
#ifndef TOSAC_NPU_CONST
#define TOSAC_NPU_CONST
#endif
#ifndef TOSAC_NPU_ARENA
#define TOSAC_NPU_ARENA
#endif

/* One run of a command stream; stream, weights and scratch are aligned to 16 bytes. */
typedef struct tosac_npu_job {
    const void *stream; /* with the driver's header in front (COP1) */
    size_t stream_bytes;
    const void *weights; /* region 0; NULL: there are none */
    size_t weight_bytes;
    size_t scratch_bytes; /* region 1: it contains its inputs and outputs */
    size_t fast_bytes;    /* region 2: memory of the firmware's; 0: it is the scratch */
} tosac_npu_job;

/* 0: done; else what went wrong, which the model's run() returns. */
int tosac_npu_run(const tosac_npu_job *job, void *scratch);

#ifdef __cplusplus
}
#endif
#endif
