/* SPDX-License-Identifier: Apache-2.0 */
/* ethosu_driver.h -- see driver.c. */
#ifndef ETHOSU_DRIVER_H
#define ETHOSU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct ethosu_driver {
    volatile uint32_t *reg;
    uintptr_t fast;
    size_t fast_bytes;
    volatile uint32_t done, overflows;
};

int ethosu_init(struct ethosu_driver *d, void *const base, const void *fast, const size_t fast_bytes,
                uint32_t secure, uint32_t privileged);
void ethosu_inference_begin(struct ethosu_driver *d, void *user); /* weak: right before a job */
void ethosu_irq_handler(struct ethosu_driver *d);
struct ethosu_driver *ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver *d);
int ethosu_invoke_v3(struct ethosu_driver *d, const void *stream, int bytes, uint64_t *base, const size_t *size, int n,
                     void *user);

#endif
