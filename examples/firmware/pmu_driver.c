/* SPDX-License-Identifier: Apache-2.0 */
/* pmu_driver.c -- a log of the NPU's cycle counter around every call of Arm's driver (../pmu/pmu.h).
 *
 * The driver calls ethosu_inference_begin() right before a job; the linker puts __wrap_ethosu_invoke_v3() in
 * the place of its own (CMakeLists.txt). */
#include "board.h"
#include "board_npu.h"
#include "ethosu_driver.h"
#include "pmu.h"

#ifndef PMU_PROGRAM
#define PMU_PROGRAM NULL
#endif

static pmu counted = {.npu = (volatile uint32_t *)NPU_BASE, .program = PMU_PROGRAM, .print = board_print};

bool npu_is_mark(void); /* of npu_interrupt() in main.c */
bool npu_is_mark(void) { return pmu_mark(&counted); }

void ethosu_inference_begin(struct ethosu_driver *driver, void *user)
{
    (void)driver;
    (void)user;
    pmu_begin(&counted);
}

int __real_ethosu_invoke_v3(struct ethosu_driver *driver, const void *stream, int bytes, uint64_t *base,
                            const size_t *size, int n, void *user);
int __wrap_ethosu_invoke_v3(struct ethosu_driver *driver, const void *stream, int bytes, uint64_t *base,
                            const size_t *size, int n, void *user);
int __wrap_ethosu_invoke_v3(struct ethosu_driver *driver, const void *stream, int bytes, uint64_t *base,
                            const size_t *size, int n, void *user)
{
    uint32_t start = board_ticks();
    int status = __real_ethosu_invoke_v3(driver, stream, bytes, base, size, n, user);
    uint32_t ticks = (board_ticks() - start) & 0xFFFFFF; /* of the same clock on this board */
    pmu_end(&counted, (const uint8_t *)(uintptr_t)counted.npu[4], ticks);
    return status;
}
