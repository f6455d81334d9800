/* SPDX-License-Identifier: Apache-2.0 */
/* device.h -- a device with a data cache, as CMSIS has it; driver.c looks at what is asked of it. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdint.h>

#define __DCACHE_PRESENT 1

void SCB_CleanDCache_by_Addr(volatile void *address, int32_t bytes);
void SCB_InvalidateDCache_by_Addr(volatile void *address, int32_t bytes);

#endif
