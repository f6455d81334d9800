/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h -- a growing output buffer, little-endian writers, whole files in and out. */
#ifndef TC_BYTES_H
#define TC_BYTES_H

#include "arena.h"

/* Bytes being written; lives in its arena. */
typedef struct tc_buf {
    tc_arena *arena;
    uint8_t *data;
    size_t size, cap;
} tc_buf;

void ti_buf_init(tc_buf *buf, tc_arena *arena);

/* Room for n more bytes; the caller fills them. */
uint8_t *ti_buf_room(tc_buf *buf, size_t n);
void ti_buf_put(tc_buf *buf, const void *data, size_t n);
void ti_buf_text(tc_buf *buf, const char *text);
void ti_buf_printf(tc_buf *buf, const char *format, ...) TC_PRINTF(2, 3);
void ti_buf_zeros(tc_buf *buf, size_t n);
void ti_buf_align(tc_buf *buf, size_t align); /* zeros up to a multiple of align */
void ti_buf_u8(tc_buf *buf, uint8_t v);
void ti_buf_u16(tc_buf *buf, uint16_t v);
void ti_buf_u32(tc_buf *buf, uint32_t v);
void ti_buf_u64(tc_buf *buf, uint64_t v);

/* The text written so far, NUL-terminated; good until the next write. */
const char *ti_buf_cstr(tc_buf *buf);

/* The text stands at a place of the bytes. */
static inline bool ti_bytes_have(tc_bytes bytes, size_t at, const char *text)
{
    size_t n = strlen(text);
    return bytes.size >= at + n && memcmp(bytes.data + at, text, n) == 0;
}

static inline uint16_t ti_le16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t ti_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t ti_le64(const uint8_t *p)
{
    return (uint64_t)ti_le32(p) | (uint64_t)ti_le32(p + 4) << 32;
}

#endif
