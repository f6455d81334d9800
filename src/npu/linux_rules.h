/* SPDX-License-Identifier: Apache-2.0 */
/* linux_rules.h -- what Linux's own driver for Ethos-U65 and U85 (drivers/accel/ethosu, from 6.19 on)
 * asks of a stream before it takes it, and how many bytes of each region it takes it to use.
 *
 * The driver reads the words once, in order, and at each operation computes the last byte of every
 * feature map from the registers.  It is not the machine: it reads registers that the machine ignores,
 * and ignores some that the machine reads.  This is its arithmetic, of the words alone: nothing here
 * needs the rest of the compiler, so that src/device can stand on it. */
#ifndef TC_LINUX_RULES_H
#define TC_LINUX_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TC_LINUX_REGIONS = 8, TC_LINUX_SRAM = 2 /* the region that may be the chip's SRAM */ };

typedef struct tc_linux_extent {
    uint64_t bytes[TC_LINUX_REGIONS]; /* from each region's beginning; 0: it is not used */
    bool written[TC_LINUX_REGIONS];
    const char *refused; /* why EINVAL is the answer, or NULL */
    const char *warned;  /* what the kernel's log has a warning about, or NULL */
    size_t at;           /* the word of the command that is refused, else of the one warned about */
} tc_linux_extent;

/* `words`: little-endian, without the driver's header. */
void ti_linux_validate(const uint8_t *words, size_t n, tc_linux_extent *out);

/* A job with buffers of `bytes` for the regions (0: none is given), on a machine with `sram` bytes
 * for TC_LINUX_SRAM: NULL, or why it is refused; *region which one.  errno in *code. */
const char *ti_linux_submit(const tc_linux_extent *extent, const uint64_t *bytes, uint64_t sram,
                            int *region, int *code);

#endif
