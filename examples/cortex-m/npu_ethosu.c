/* SPDX-License-Identifier: Apache-2.0 */
/* npu_ethosu.c -- tosac_npu_run() by Arm's Ethos-U driver (ethos-u-core-driver, 1.23 and later).
 *
 * Before the first run: ethosu_init(), with fast memory of NAME_NPU_FAST_BYTES where that is not 0,
 * and an interrupt handler that calls ethosu_irq_handler().
 *
 *   -DNPU_DEVICE_HEADER='<ARMCM55.h>'   a device with a data cache: CMSIS' functions for it */
#include "ethosu_driver.h"
#include "tosac_npu.h"

int tosac_npu_run(const tosac_npu_job *job, void *scratch)
{
    /* The driver puts its fast memory in place of the last where it has some. */
    uint64_t base[3] = {(uintptr_t)job->weights, (uintptr_t)scratch, (uintptr_t)scratch};
    const size_t size[3] = {job->weight_bytes, job->scratch_bytes, job->fast_bytes};
    struct ethosu_driver *driver = ethosu_reserve_driver();
    int status =
        ethosu_invoke_v3(driver, job->stream, (int)job->stream_bytes, base, size, 3, NULL);
    ethosu_release_driver(driver);
    return status;
}

/* The Ethos-U reads and writes memory, not the core's cache.  Lines of the scratch hold nothing but
 * the model's arena, so that none is lost. */
#ifdef NPU_DEVICE_HEADER
#include NPU_DEVICE_HEADER
#if defined(__DCACHE_PRESENT) && __DCACHE_PRESENT
enum { SCRATCH = 1 };

void ethosu_flush_dcache(const uint64_t *base, const size_t *size, int n)
{
    for (int i = SCRATCH; i < n; i++)
        if (size[i])
            SCB_CleanDCache_by_Addr((void *)(uintptr_t)base[i], (int32_t)size[i]);
}

void ethosu_invalidate_dcache(const uint64_t *base, const size_t *size, int n)
{
    for (int i = SCRATCH; i < n; i++)
        if (size[i])
            SCB_InvalidateDCache_by_Addr((void *)(uintptr_t)base[i], (int32_t)size[i]);
}
#endif
#endif
