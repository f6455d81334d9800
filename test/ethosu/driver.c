/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c -- Arm's Ethos-U driver, as far as a model in C calls it, on a PC: streams are run by
 * src/npu, in memory that the caller gives.  What the real one would refuse, or get wrong in silence,
 * is -1 with a line on stderr. */
#include "ethosu_driver.h"
#include "device.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "npu/npu_exec.h"
#include "tosac/context.h"

enum { WEIGHTS, SCRATCH, FAST, REGIONS, ALIGN = 16 };

struct ethosu_driver {
    bool reserved;
    uint64_t clean, stale; /* the scratch: written back before the run; to be read anew behind it */
};
static struct ethosu_driver driver;

struct ethosu_driver *ethosu_reserve_driver(void)
{
    driver.reserved = true;
    return &driver;
}

void ethosu_release_driver(struct ethosu_driver *drv)
{
    drv->reserved = false;
}

void SCB_CleanDCache_by_Addr(volatile void *address, int32_t bytes)
{
    if (bytes > 0)
        driver.clean = (uintptr_t)address;
}

void SCB_InvalidateDCache_by_Addr(volatile void *address, int32_t bytes)
{
    if (bytes > 0)
        driver.stale = (uintptr_t)address;
}

static int wrong(const char *what)
{
    fprintf(stderr, "driver: %s\n", what);
    return -1;
}

/* Arguments as the driver, and the machine, want them. */
static const char *check(const struct ethosu_driver *drv, const void *stream, int bytes,
                         const uint64_t *base, const size_t *size, int n)
{
    if (drv != &driver || !drv->reserved)
        return "it is not reserved";
    if (n != REGIONS || !size)
        return "there are three regions";
    if ((uintptr_t)stream % ALIGN || bytes % 4)
        return "the stream is not on 16 bytes";
    for (int i = 0; i < n; i++)
        if (base[i] % ALIGN)
            return "a region is not on 16 bytes";
    return size[WEIGHTS] && !base[WEIGHTS] ? "there are no weights" : NULL;
}

static const char *execute(tc_ctx *ctx, const void *stream, size_t bytes, const uint64_t *base,
                           const size_t *size)
{
    tc_arena arena;
    tc_npu_program p = {0};
    tc_npu_op op;
    const char *error = "it is no stream of COP1";
    if (ti_npu_read_driver(ctx, NULL, (tc_bytes){stream, bytes}, &p) != TC_OK)
        return error;
    if (p.words_at % ALIGN)
        return "the stream behind its header is not on 16 bytes";
    p.weights = (tc_bytes){(const uint8_t *)(uintptr_t)base[WEIGHTS], size[WEIGHTS]};
    p.scratch = (int64_t)size[SCRATCH];
    p.fast = (int64_t)size[FAST];
    ti_arena_init(&arena);
    tc_npu_exec *exec = ti_npu_exec_new(&arena, &p, &error);
    if (exec) {
        void *scratch = (void *)(uintptr_t)base[SCRATCH];
        ti_npu_exec_begin(exec);
        memcpy(ti_npu_exec_memory(exec, SCRATCH).data, scratch, size[SCRATCH]);
        while (ti_npu_exec_step(exec, &op)) {
        }
        error = ti_npu_exec_error(exec);
        memcpy(scratch, ti_npu_exec_memory(exec, SCRATCH).data, size[SCRATCH]);
    }
    error = error ? strcpy(ti_arena_raw(&ctx->arena, strlen(error) + 1), error) : NULL;
    ti_arena_free(&arena);
    return error;
}

int ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr, int custom_data_size,
                     uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr,
                     void *user_arg)
{
    (void)user_arg;
    const char *error = check(drv, custom_data_ptr, custom_data_size, base_addr, base_addr_size,
                              num_base_addr);
    if (error)
        return wrong(error);
    driver.clean = driver.stale = 0;
    ethosu_flush_dcache(base_addr, base_addr_size, num_base_addr);
    if (driver.clean != base_addr[SCRATCH])
        return wrong("what the core wrote is still in its cache");
    tc_ctx *ctx = tc_ctx_new();
    error = execute(ctx, custom_data_ptr, (size_t)custom_data_size, base_addr, base_addr_size);
    int status = error ? wrong(error) : 0;
    tc_ctx_free(ctx);
    ethosu_invalidate_dcache(base_addr, base_addr_size, num_base_addr);
    return driver.stale == base_addr[SCRATCH] ? status : wrong("the core would read old bytes");
}
