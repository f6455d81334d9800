/* SPDX-License-Identifier: Apache-2.0 */
/* archive_write.c -- ZIP files, written: members uncompressed, the same bytes every time. */
#include "archive.h"

enum { VERSION = 20, DATE = 0x0021 }; /* the first day that a ZIP file can name */

void ti_zip_begin(tc_zip *z, tc_arena *arena)
{
    *z = (tc_zip){.crc_table = ti_crc_table(arena)};
    ti_buf_init(&z->file, arena);
    ti_buf_init(&z->directory, arena);
}

/* What local and central headers share. */
static void put_common(tc_buf *b, const char *name, tc_bytes content, uint32_t crc)
{
    ti_buf_u16(b, VERSION);
    ti_buf_u16(b, 0); /* flags */
    ti_buf_u16(b, 0); /* stored */
    ti_buf_u16(b, 0); /* time */
    ti_buf_u16(b, DATE);
    ti_buf_u32(b, crc);
    ti_buf_u32(b, (uint32_t)content.size);
    ti_buf_u32(b, (uint32_t)content.size);
    ti_buf_u16(b, (uint16_t)strlen(name));
    ti_buf_u16(b, 0); /* nothing extra */
}

void ti_zip_add(tc_zip *z, const char *name, tc_bytes content)
{
    uint32_t at = (uint32_t)z->file.size, crc = ti_crc(z->crc_table, content.data, content.size);
    ti_buf_u32(&z->file, UINT32_C(0x04034b50));
    put_common(&z->file, name, content, crc);
    ti_buf_text(&z->file, name);
    if (content.size)
        ti_buf_put(&z->file, content.data, content.size);
    ti_buf_u32(&z->directory, UINT32_C(0x02014b50));
    ti_buf_u16(&z->directory, VERSION);
    put_common(&z->directory, name, content, crc);
    ti_buf_zeros(&z->directory, 2 + 2 + 2 + 4); /* comment, disk, attributes */
    ti_buf_u32(&z->directory, at);
    ti_buf_text(&z->directory, name);
    z->n++;
}

tc_bytes ti_zip_end(tc_zip *z)
{
    uint32_t at = (uint32_t)z->file.size;
    ti_buf_put(&z->file, z->directory.data, z->directory.size);
    ti_buf_u32(&z->file, UINT32_C(0x06054b50));
    ti_buf_u32(&z->file, 0); /* disks */
    ti_buf_u16(&z->file, z->n);
    ti_buf_u16(&z->file, z->n);
    ti_buf_u32(&z->file, (uint32_t)z->directory.size);
    ti_buf_u32(&z->file, at);
    ti_buf_u16(&z->file, 0); /* no comment */
    return (tc_bytes){z->file.data, z->file.size};
}
