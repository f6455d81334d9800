/* SPDX-License-Identifier: Apache-2.0 */
/* zipped.h -- a small writer of archives, for tests and fuzzers: members stored as they are,
 * checksums left out. */
#ifndef TC_ZIPPED_H
#define TC_ZIPPED_H

#include "base/diag.h"

typedef struct zipped {
    tc_buf file, directory;
    unsigned count;
} zipped;

static inline void zipped_begin(zipped *z, tc_arena *arena)
{
    ti_buf_init(&z->file, arena);
    ti_buf_init(&z->directory, arena);
    z->count = 0;
}

/* The part of a header that local and central ones share. */
static inline void zipped_common(tc_buf *b, size_t size, size_t n_name, unsigned extra)
{
    ti_buf_u16(b, 20);   /* version */
    ti_buf_u16(b, 0);    /* flags */
    ti_buf_u16(b, 0);    /* stored */
    ti_buf_u32(b, 0);    /* date */
    ti_buf_u32(b, 0);    /* no checksum */
    ti_buf_u32(b, (uint32_t)size);
    ti_buf_u32(b, (uint32_t)size);
    ti_buf_u16(b, (uint16_t)n_name);
    ti_buf_u16(b, (uint16_t)extra);
}

/* Payloads begin at multiples of 64, as PyTorch has them. */
static inline void zipped_add(zipped *z, const char *name, const void *data, size_t size)
{
    size_t at = z->file.size, n_name = strlen(name);
    unsigned extra = (unsigned)((64 - (at + 30 + n_name + 4) % 64) % 64 + 4);
    ti_buf_u32(&z->file, UINT32_C(0x04034b50));
    zipped_common(&z->file, size, n_name, extra);
    ti_buf_put(&z->file, name, n_name);
    ti_buf_u16(&z->file, 0x4246);
    ti_buf_u16(&z->file, (uint16_t)(extra - 4));
    ti_buf_zeros(&z->file, extra - 4);
    ti_buf_put(&z->file, data, size);
    ti_buf_u32(&z->directory, UINT32_C(0x02014b50));
    ti_buf_u16(&z->directory, 20);
    zipped_common(&z->directory, size, n_name, 0);
    ti_buf_zeros(&z->directory, 2 + 2 + 2 + 4); /* comment, disk, attributes */
    ti_buf_u32(&z->directory, (uint32_t)at);
    ti_buf_put(&z->directory, name, n_name);
    z->count++;
}

static inline void zipped_text(zipped *z, const char *name, const char *text)
{
    zipped_add(z, name, text, strlen(text));
}

static inline tc_bytes zipped_end(zipped *z)
{
    size_t at = z->file.size;
    ti_buf_put(&z->file, z->directory.data, z->directory.size);
    ti_buf_u32(&z->file, UINT32_C(0x06054b50));
    ti_buf_u32(&z->file, 0); /* disks */
    ti_buf_u16(&z->file, (uint16_t)z->count);
    ti_buf_u16(&z->file, (uint16_t)z->count);
    ti_buf_u32(&z->file, (uint32_t)z->directory.size);
    ti_buf_u32(&z->file, (uint32_t)at);
    ti_buf_u16(&z->file, 0);
    return (tc_bytes){z->file.data, z->file.size};
}

/* A .pt2 of one program and no weights; in its text single quotes stand for double ones. */
static inline tc_bytes zipped_program(tc_arena *arena, char *program)
{
    for (char *p = program; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    zipped z;
    zipped_begin(&z, arena);
    zipped_text(&z, "m/data/weights/model_weights_config.json", "{\"config\":{}}");
    zipped_text(&z, "m/models/model.json", program);
    zipped_text(&z, "m/archive_format", "pt2");
    zipped_text(&z, "m/archive_version", "0");
    zipped_text(&z, "m/byteorder", "little");
    return zipped_end(&z);
}

#endif
