/* SPDX-License-Identifier: Apache-2.0 */
/* ethosu_driver.h -- of Arm's Ethos-U driver the functions that examples/cortex-m/npu_ethosu.c calls,
 * for the test's driver (driver.c), which runs streams on a PC. */
#ifndef ETHOSU_DRIVER_H
#define ETHOSU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct ethosu_driver;

struct ethosu_driver *ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver *drv);
int ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr, int custom_data_size,
                     uint64_t *base_addr, const size_t *base_addr_size, int num_base_addr,
                     void *user_arg);

/* The firmware's: called by the driver in front of a run and behind it. */
void ethosu_flush_dcache(const uint64_t *base_addr, const size_t *base_addr_size,
                         int num_base_addr);
void ethosu_invalidate_dcache(const uint64_t *base_addr, const size_t *base_addr_size,
                              int num_base_addr);

#endif
