/* SPDX-License-Identifier: Apache-2.0 */
/* accel.h -- the calls of Linux's driver for Ethos-U, as its interface has them: numbers of ioctls and
 * the layout of their records (include/uapi/drm/ethosu_accel.h of Linux, and drm.h). */
#ifndef TC_ACCEL_H
#define TC_ACCEL_H

#include <stdint.h>
#include <sys/ioctl.h>

typedef struct tc_accel_version {
    int32_t major, minor, patch;
    size_t name_bytes;
    char *name;
    size_t date_bytes;
    char *date;
    size_t text_bytes;
    char *text;
} tc_accel_version;

typedef struct tc_accel_info {
    uint32_t id, config, sram;
} tc_accel_info;

typedef struct tc_accel_query {
    uint32_t type, size; /* type 0: tc_accel_info */
    uint64_t pointer;
} tc_accel_query;

typedef struct tc_accel_buffer {
    uint64_t size;
    uint32_t flags, handle;
} tc_accel_buffer;

typedef struct tc_accel_wait {
    uint32_t handle, zero;
    int64_t until; /* ns of the monotonic clock */
} tc_accel_wait;

typedef struct tc_accel_place {
    uint32_t handle, zero;
    uint64_t offset; /* for mmap() */
} tc_accel_place;

typedef struct tc_accel_stream {
    uint32_t size, flags;
    uint64_t data;
    uint32_t handle, zero;
} tc_accel_stream;

typedef struct tc_accel_job {
    uint32_t stream, sram;
    uint32_t region[8];
} tc_accel_job;

typedef struct tc_accel_submit {
    uint64_t jobs;
    uint32_t n, zero;
} tc_accel_submit;

typedef struct tc_accel_close {
    uint32_t handle, zero;
} tc_accel_close;

#define TC_ACCEL_VERSION _IOWR('d', 0x00, tc_accel_version)
#define TC_ACCEL_CLOSE _IOW('d', 0x09, tc_accel_close)
#define TC_ACCEL_QUERY _IOWR('d', 0x40, tc_accel_query)
#define TC_ACCEL_BUFFER _IOWR('d', 0x41, tc_accel_buffer)
#define TC_ACCEL_WAIT _IOWR('d', 0x42, tc_accel_wait)
#define TC_ACCEL_PLACE _IOWR('d', 0x43, tc_accel_place)
#define TC_ACCEL_STREAM _IOWR('d', 0x44, tc_accel_stream)
#define TC_ACCEL_SUBMIT _IOWR('d', 0x45, tc_accel_submit)

#endif
