/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c -- see bytes.h. */
#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>

void ti_buf_init(tc_buf *buf, tc_arena *arena)
{
    *buf = (tc_buf){.arena = arena};
}

uint8_t *ti_buf_room(tc_buf *buf, size_t n)
{
    if (n > buf->cap - buf->size) {
        size_t cap = buf->cap ? buf->cap : 256;
        while (cap - buf->size < n)
            cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
        uint8_t *data = ti_arena_raw(buf->arena, cap);
        if (buf->size)
            memcpy(data, buf->data, buf->size);
        buf->data = data;
        buf->cap = cap;
    }
    uint8_t *room = buf->data + buf->size;
    buf->size += n;
    return room;
}

void ti_buf_put(tc_buf *buf, const void *data, size_t n)
{
    if (n)
        memcpy(ti_buf_room(buf, n), data, n);
}

void ti_buf_text(tc_buf *buf, const char *text)
{
    ti_buf_put(buf, text, strlen(text));
}

void ti_buf_printf(tc_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    uint8_t *room = ti_buf_room(buf, (size_t)n + 1);
    va_start(args, format);
    vsnprintf((char *)room, (size_t)n + 1, format, args);
    va_end(args);
    buf->size--; /* the NUL */
}

void ti_buf_zeros(tc_buf *buf, size_t n)
{
    if (n)
        memset(ti_buf_room(buf, n), 0, n);
}

void ti_buf_align(tc_buf *buf, size_t align)
{
    ti_buf_zeros(buf, (align - buf->size % align) % align);
}

void ti_buf_u8(tc_buf *buf, uint8_t v)
{
    *ti_buf_room(buf, 1) = v;
}

/* The low n bytes of v, lowest first. */
static void put_le(tc_buf *buf, uint64_t v, size_t n)
{
    uint8_t *p = ti_buf_room(buf, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

void ti_buf_u16(tc_buf *buf, uint16_t v)
{
    put_le(buf, v, 2);
}

void ti_buf_u32(tc_buf *buf, uint32_t v)
{
    put_le(buf, v, 4);
}

void ti_buf_u64(tc_buf *buf, uint64_t v)
{
    put_le(buf, v, 8);
}

const char *ti_buf_cstr(tc_buf *buf)
{
    *ti_buf_room(buf, 1) = 0;
    buf->size--;
    return (const char *)buf->data;
}
