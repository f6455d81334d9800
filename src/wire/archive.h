/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h -- ZIP files, in memory or on disk: members by name, whole or streamed; in memory
 * stored (uncompressed) members are used in place. */
#ifndef TC_ARCHIVE_H
#define TC_ARCHIVE_H

#include "file.h"

typedef struct tc_member {
    const char *name; /* its whole path */
    uint64_t header;  /* offset of its local header */
    uint64_t packed;  /* bytes in the archive */
    uint64_t size;    /* bytes of content */
    uint32_t crc;
    uint16_t method;    /* 0: stored, 8: deflated */
    uint16_t flags;     /* bit 0: encrypted */
    const uint8_t *data; /* once it has been read */
} tc_member;

typedef struct tc_archive {
    tc_ctx *ctx;
    const char *file;  /* for messages */
    const char *inside; /* an archive inside an archive: the member that holds it; else NULL */
    tc_bytes bytes;     /* the file, or its end from byte `base` on */
    uint64_t base, size; /* size: of the whole file */
    tc_input *input;    /* NULL: all of it is in `bytes` */
    struct zip **zip;   /* libzip's own view, once something was inflated */
    tc_member *member; /* in the order of the directory */
    size_t n_member, cap_member;
    tc_map by_name;
    const uint32_t *crc_table;
    size_t inflated; /* bytes made by inflating, all members together */
} tc_archive;

/* Whether the bytes begin as a ZIP file does. */
bool ti_archive_looks_like(tc_bytes bytes);

/* Read the directory.  `bytes` must live as long as the archive and what is read from it. */
TC_MUST_USE tc_status ti_archive_open(tc_ctx *ctx, tc_arena *arena, const char *file,
                                      const char *inside, tc_bytes bytes, tc_archive *out);

/* The same for a file that may be larger than the memory: only its directory is kept. */
TC_MUST_USE tc_status ti_archive_open_input(tc_ctx *ctx, tc_arena *arena, const char *file,
                                            tc_input *input, tc_archive *out);

/* The member of that name, or NULL. */
tc_member *ti_archive_find(const tc_archive *archive, const char *name);

/* A member's content, compared with its checksum. */
TC_MUST_USE tc_status ti_archive_read(tc_archive *archive, tc_member *member, tc_bytes *out);

/* A member that is read from front to back.  Its memory and the archive must live as long as the
 * context, which closes it. */
typedef struct tc_stream {
    tc_archive *archive;
    const tc_member *member;
    struct zip_file *inflating; /* deflated, and open */
    uint64_t payload;           /* stored: where its bytes begin in the file */
    uint64_t at;                /* content read so far */
    uint32_t crc;               /* of that */
    bool skipped;               /* some of it was skipped, so there is no checksum */
} tc_stream;

TC_MUST_USE tc_status ti_stream_open(tc_archive *archive, const tc_member *member, tc_stream *s);
/* The next n bytes, or past them where `out` is NULL; at the end the checksum is compared. */
TC_MUST_USE tc_status ti_stream_read(tc_stream *s, uint64_t n, uint8_t *out);
/* At the beginning again. */
TC_MUST_USE tc_status ti_stream_rewind(tc_stream *s);

/* An archive being written: members uncompressed, below 4 GiB in all. */
typedef struct tc_zip {
    tc_buf file, directory;
    const uint32_t *crc_table;
    uint16_t n;
} tc_zip;

void ti_zip_begin(tc_zip *zip, tc_arena *arena);
void ti_zip_add(tc_zip *zip, const char *name, tc_bytes content);
tc_bytes ti_zip_end(tc_zip *zip);

/* CRC-32 as ZIP has it, and the table for it. */
const uint32_t *ti_crc_table(tc_arena *arena);
uint32_t ti_crc(const uint32_t *table, const uint8_t *data, size_t n);

/* A location inside the archive, for messages. */
tc_loc *ti_archive_loc(const tc_archive *archive, const char *place);

#endif
