/* SPDX-License-Identifier: Apache-2.0 */
/* device.h -- runs a compiled region on the Ethos-U65 or U85 of a Linux machine, by the kernel's own
 * driver (drivers/accel/ethosu, Linux 6.19 and later).
 *
 *   tc_device_open()     /dev/accel/accelN
 *   tc_device_load()     a file of `tosac compile --emit stream`
 *   tc_device_input()    where an input's bytes are put, in memory that the machine reads
 *   tc_device_run()      submits, and waits
 *   tc_device_output()   where an output's bytes are
 *
 * It needs no context and no other part of the library: libtosac-device.a has these functions alone,
 * for programs on a board.  They return 0, or a number of errno.h; tc_device_error() says it in words.
 * One device is used by one thread at a time.  All of it is experimental. */
#ifndef TOSAC_DEVICE_H
#define TOSAC_DEVICE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_device tc_device;
typedef struct tc_device_program tc_device_program;

/* path NULL: the first of /dev/accel whose driver is `ethosu`.  ENODEV: there is none, or it is
 * another driver's.  *out is set unless the result is ENOMEM, and is to be closed. */
TC_API TC_EXPERIMENTAL TC_MUST_USE int tc_device_open(const char *path, tc_device **out);

/* Closes it with all programs that it has loaded; NULL: nothing. */
TC_API TC_EXPERIMENTAL void tc_device_close(tc_device *device);

/* What went wrong last; "" where nothing did.  Valid until the next call with this device. */
TC_API TC_EXPERIMENTAL const char *tc_device_error(const tc_device *device);

typedef struct tc_device_info {
    size_t size; /* of this record: set by the caller */
    const char *path;
    uint32_t id, config; /* its registers ID and CONFIG */
    int product;         /* 65, 85 */
    int macs;            /* multiplications a cycle */
    uint64_t sram;       /* bytes of the chip's SRAM that the driver gives to jobs */
} tc_device_info;
TC_SIZED_RECORD(tc_device_info)

TC_API TC_EXPERIMENTAL void tc_device_get_info(const tc_device *device, tc_device_info *out);

/* The file's bytes, which are copied.  EINVAL: it is no such file, it is for another machine, or the
 * driver does not take its stream. */
TC_API TC_EXPERIMENTAL TC_MUST_USE int tc_device_load(tc_device *device, const void *file,
                                                      size_t bytes, tc_device_program **out);

/* The bytes of input or output i, channels last, and how many; NULL: there is no such one. */
TC_API TC_EXPERIMENTAL void *tc_device_input(const tc_device_program *program, size_t i,
                                             size_t *bytes);
TC_API TC_EXPERIMENTAL const void *tc_device_output(const tc_device_program *program, size_t i,
                                                    size_t *bytes);

/* ETIMEDOUT: not done after so many milliseconds.  EIO: the stream's end was not reached: the driver gave
 * up, which it does after half a second without progress, and why only its log says. */
TC_API TC_EXPERIMENTAL TC_MUST_USE int tc_device_run(tc_device_program *program, int milliseconds);

#ifdef __cplusplus
}
#endif
#endif
