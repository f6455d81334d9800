/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c -- the central directory of a ZIP file, walked with every offset checked.
 *
 * Sizes come from the directory, where local headers may leave them out; the start of a payload
 * comes from the local header, whose extra field may differ.  Inflating is libzip's work. */
#include "archive.h"

#include <zip.h>

enum {
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    LONGEST_COMMENT = 65535,
    STORED = 0,
    DEFLATED = 8,
    MOST_RATIO = 1032 /* no deflated stream grows more than this */
};
#define POLYNOMIAL UINT32_C(0xedb88320)
#define SIGN_LOCAL UINT32_C(0x04034b50)
#define SIGN_ENTRY UINT32_C(0x02014b50)
#define SIGN_END UINT32_C(0x06054b50)
#define SIGN_END64 UINT32_C(0x06064b50)
#define SIGN_LOCATOR UINT32_C(0x07064b50)

/* Where the directory is and how many entries it announces. */
typedef struct directory {
    uint64_t at, size, count;
} directory;

tc_loc *tc_archive_loc(const tc_archive *a, const char *place)
{
    tc_arena *arena = &a->ctx->arena;
    tc_loc *loc = tc_new(arena, tc_loc);
    loc->file = a->file;
    loc->place = a->inside ? tc_text_format(arena, "%s: %s", a->inside, place)
                           : tc_text_copy(arena, tc_str_of(place));
    return loc;
}

static tc_loc *at_byte(const tc_archive *a, uint64_t at)
{
    return tc_archive_loc(a, tc_text_format(&a->ctx->arena, "byte %" PRIu64, at));
}

static tc_loc *at_member(const tc_archive *a, const tc_member *m)
{
    return tc_archive_loc(a, tc_text_format(&a->ctx->arena, "member '%s'", m->name));
}

/* n bytes at `at`, or NULL when they are not all there. */
static const uint8_t *span(tc_bytes b, uint64_t at, uint64_t n)
{
    return at <= b.size && n <= b.size - at ? b.data + at : NULL;
}

/* table[k][b]: the checksum of byte b followed by k zero bytes. */
static const uint32_t *make_crc_table(tc_arena *arena)
{
    uint32_t *table = tc_new_n(arena, uint32_t, 8 * 256);
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int i = 0; i < 8; i++)
            c = c >> 1 ^ (c & 1 ? POLYNOMIAL : 0);
        table[b] = c;
    }
    for (size_t i = 256; i < 8 * 256; i++)
        table[i] = table[table[i - 256] & 255] ^ table[i - 256] >> 8;
    return table;
}

/* Eight bytes onto a running checksum. */
static inline uint32_t step8(const uint32_t *t, uint32_t c, const uint8_t *p)
{
    uint32_t a = c ^ tc_le32(p), b = tc_le32(p + 4);
    return t[7 * 256 + (a & 255)] ^ t[6 * 256 + (a >> 8 & 255)] ^ t[5 * 256 + (a >> 16 & 255)] ^
           t[4 * 256 + (a >> 24)] ^ t[3 * 256 + (b & 255)] ^ t[2 * 256 + (b >> 8 & 255)] ^
           t[256 + (b >> 16 & 255)] ^ t[b >> 24];
}

/* a * b of polynomials over GF(2), modulo CRC-32's; bit 31 is the coefficient of 1. */
static uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit; bit >>= 1) {
        product ^= a & bit ? b : 0;
        b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return product;
}

/* x^n in the same arithmetic. */
static uint32_t x_to(uint64_t n)
{
    uint32_t power = UINT32_C(1) << 31;
    for (uint32_t square = UINT32_C(1) << 30; n; n >>= 1, square = times(square, square))
        power = n & 1 ? times(power, square) : power;
    return power;
}

/* CRC-32 as ZIP has it.  Long input is four lanes side by side, so that the processor need not wait
 * for one look-up before the next; they are joined by  crc(ab) = crc(a) * x^(8 |b|) + crc(b). */
static uint32_t checksum(const uint32_t *t, const uint8_t *p, size_t n)
{
    enum { LONG = 4096 };
    uint32_t c = 0;
    if (n >= LONG) {
        size_t lane = n / 32 * 8;
        uint32_t each[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
        for (size_t i = 0; i < lane; i += 8)
            for (size_t k = 0; k < 4; k++)
                each[k] = step8(t, each[k], p + k * lane + i);
        uint32_t over = x_to(8 * (uint64_t)lane);
        for (size_t k = 0; k < 4; k++)
            c = times(c, over) ^ ~each[k];
        p += 4 * lane;
        n -= 4 * lane;
    }
    c = ~c;
    for (; n >= 8; n -= 8, p += 8)
        c = step8(t, c, p);
    while (n--)
        c = t[(c ^ *p++) & 255] ^ c >> 8;
    return ~c;
}

/* The end record: the last place where one fits with its comment. */
static tc_status find_end(const tc_archive *a, uint64_t *at)
{
    tc_bytes b = a->bytes;
    uint64_t least = b.size > END_SIZE + LONGEST_COMMENT ? b.size - END_SIZE - LONGEST_COMMENT : 0;
    for (uint64_t i = b.size >= END_SIZE ? b.size - END_SIZE + 1 : 0; i-- > least;)
        if (tc_le32(b.data + i) == SIGN_END && i + END_SIZE + tc_le16(b.data + i + 20) <= b.size) {
            *at = i;
            return TC_OK;
        }
    return tc_error(a->ctx, at_byte(a, b.size), TC_E_TRUNCATED,
                    "the archive has no end record: it is not a ZIP file, or its end is missing");
}

static tc_status find_directory(const tc_archive *a, directory *dir)
{
    uint64_t end = 0;
    TC_TRY(find_end(a, &end));
    const uint8_t *e = a->bytes.data + end;
    if (tc_le16(e + 4) && tc_le16(e + 4) != 0xffff)
        return tc_unsupported(a->ctx, at_byte(a, end), TC_E_UNSUPPORTED,
                              "an archive of several volumes");
    *dir = (directory){tc_le32(e + 16), tc_le32(e + 12), tc_le16(e + 10)};
    bool wide = dir->at == UINT32_MAX || dir->size == UINT32_MAX || dir->count == 0xffff;
    if (wide) {
        const uint8_t *l = end >= LOCATOR_SIZE ? e - LOCATOR_SIZE : NULL;
        const uint8_t *w =
            l && tc_le32(l) == SIGN_LOCATOR ? span(a->bytes, tc_le64(l + 8), END64_SIZE) : NULL;
        if (!w || tc_le32(w) != SIGN_END64)
            return tc_error(a->ctx, at_byte(a, end), TC_E_FORMAT,
                            "the end record points to a 64-bit one that is not there");
        *dir = (directory){tc_le64(w + 48), tc_le64(w + 40), tc_le64(w + 32)};
    }
    if (!span(a->bytes, dir->at, dir->size))
        return tc_error(a->ctx, at_byte(a, end), TC_E_TRUNCATED,
                        "the directory (%" PRIu64 " bytes at %" PRIu64 ") is not inside the file",
                        dir->size, dir->at);
    return TC_OK;
}

/* Fields of an entry that are all ones stand in its 64-bit extra field, in this order. */
static bool widen(tc_member *m, const uint8_t *extra, size_t n)
{
    uint64_t *wide[] = {&m->size, &m->packed, &m->header};
    bool needed = false;
    for (size_t i = 0; i < TC_COUNT(wide); i++)
        needed = needed || *wide[i] == UINT32_MAX;
    if (!needed)
        return true;
    for (size_t at = 0; at + 4 <= n; at += 4 + (size_t)tc_le16(extra + at + 2)) {
        size_t size = tc_le16(extra + at + 2), next = at + 4;
        if (tc_le16(extra + at) != 1 || next + size > n)
            continue;
        size_t end = next + size;
        for (size_t i = 0; i < TC_COUNT(wide); i++) {
            if (*wide[i] != UINT32_MAX)
                continue;
            if (next + 8 > end)
                return false;
            *wide[i] = tc_le64(extra + next);
            next += 8;
        }
        return true;
    }
    return false;
}

/* Names are paths below the archive: no NUL, no way up or out. */
static bool good_name(tc_str name)
{
    if (!name.n || memchr(name.p, 0, name.n) || name.p[0] == '/')
        return false;
    for (size_t i = 0; i + 2 <= name.n; i++)
        if (name.p[i] == '.' && name.p[i + 1] == '.' && (i == 0 || name.p[i - 1] == '/') &&
            (i + 2 == name.n || name.p[i + 2] == '/'))
            return false;
    return true;
}

static tc_status add_member(tc_archive *a, tc_arena *arena, const uint8_t *e, uint64_t at,
                            size_t n_name, size_t n_extra)
{
    tc_str name = {(const char *)e + ENTRY_SIZE, n_name};
    tc_member m = {.header = tc_le32(e + 42),
                   .packed = tc_le32(e + 20),
                   .size = tc_le32(e + 24),
                   .crc = tc_le32(e + 16),
                   .method = tc_le16(e + 10),
                   .flags = tc_le16(e + 8)};
    if (!good_name(name))
        return tc_error(a->ctx, at_byte(a, at), TC_E_FORMAT,
                        "a member whose name is no path below the archive");
    if (!widen(&m, e + ENTRY_SIZE + n_name, n_extra))
        return tc_error(a->ctx, at_byte(a, at), TC_E_FORMAT, "a member without its 64-bit sizes");
    tc_grow(arena, a->member, a->n_member, a->cap_member);
    void **slot = tc_map_at(&a->by_name, name);
    m.name = a->by_name.entry[a->by_name.n - 1].key.p;
    if (*slot)
        return tc_error(a->ctx, at_byte(a, at), TC_E_FORMAT, "two members of one name, '%.*s'",
                        (int)name.n, name.p);
    *slot = (void *)(uintptr_t)(a->n_member + 1);
    a->member[a->n_member++] = m;
    return TC_OK;
}

bool tc_archive_looks_like(tc_bytes bytes)
{
    return bytes.size >= 4 &&
           (tc_le32(bytes.data) == SIGN_LOCAL || tc_le32(bytes.data) == SIGN_END);
}

tc_status tc_archive_open(tc_ctx *ctx, tc_arena *arena, const char *file, const char *inside,
                          tc_bytes bytes, tc_archive *out)
{
    *out = (tc_archive){.ctx = ctx, .file = file, .inside = inside, .bytes = bytes};
    tc_map_init(&out->by_name, arena);
    out->crc_table = make_crc_table(arena);
    directory dir = {0, 0, 0};
    TC_TRY(find_directory(out, &dir));
    uint64_t at = dir.at, end = dir.at + dir.size;
    for (uint64_t i = 0; i < dir.count; i++) {
        const uint8_t *e = end - at >= ENTRY_SIZE ? bytes.data + at : NULL;
        if (!e || tc_le32(e) != SIGN_ENTRY)
            return tc_error(ctx, at_byte(out, at), TC_E_FORMAT,
                            "entry %" PRIu64 " of %" PRIu64 " in the directory is not there", i + 1,
                            dir.count);
        size_t n_name = tc_le16(e + 28), n_extra = tc_le16(e + 30);
        uint64_t size = ENTRY_SIZE + n_name + n_extra + tc_le16(e + 32);
        if (size > end - at)
            return tc_error(ctx, at_byte(out, at), TC_E_TRUNCATED,
                            "a directory entry runs past the directory");
        TC_TRY(add_member(out, arena, e, at, n_name, n_extra));
        at += size;
    }
    return TC_OK;
}

tc_member *tc_archive_find(const tc_archive *archive, const char *name)
{
    uintptr_t at = (uintptr_t)tc_map_get(&archive->by_name, tc_str_of(name));
    return at ? &archive->member[at - 1] : NULL;
}

/* The bytes of a member as they stand in the file. */
static tc_status find_payload(tc_archive *a, const tc_member *m, const uint8_t **out)
{
    const uint8_t *h = span(a->bytes, m->header, LOCAL_SIZE);
    if (!h || tc_le32(h) != SIGN_LOCAL)
        return tc_error(a->ctx, at_member(a, m), TC_E_FORMAT, "its header is not at byte %" PRIu64,
                        m->header);
    size_t n_name = tc_le16(h + 26);
    const uint8_t *name = span(a->bytes, m->header + LOCAL_SIZE, n_name);
    if (!name || n_name != strlen(m->name) || memcmp(name, m->name, n_name) != 0)
        return tc_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                        "its header at byte %" PRIu64 " has another name", m->header);
    *out = span(a->bytes, m->header + LOCAL_SIZE + n_name + tc_le16(h + 28), m->packed);
    if (!*out)
        return tc_error(a->ctx, at_member(a, m), TC_E_TRUNCATED,
                        "its %" PRIu64 " bytes run past the end of the file", m->packed);
    return TC_OK;
}

/* libzip's own walk to the same member; false when it does not give exactly size bytes. */
static bool inflate_with_libzip(const tc_archive *a, size_t index, uint8_t *data, size_t size)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(a->bytes.data, a->bytes.size, 0, &error);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!zip) {
        zip_source_free(source);
        zip_error_fini(&error);
        return false;
    }
    zip_file_t *file = zip_fopen_index(zip, index, 0);
    size_t got = 0;
    for (zip_int64_t n = 1; file && n > 0 && got < size; got += n > 0 ? (size_t)n : 0)
        n = zip_fread(file, data + got, size - got);
    uint8_t more;
    bool whole = file && got == size && zip_fread(file, &more, 1) == 0;
    if (file)
        zip_fclose(file);
    zip_discard(zip);
    zip_error_fini(&error);
    return whole;
}

/* Memory for what is inflated stays in proportion to the file. */
static tc_status inflate(tc_archive *a, tc_member *m)
{
    const uint64_t most = (UINT64_C(64) << 20) + 64 * (uint64_t)a->bytes.size;
    if (m->size > MOST_RATIO * m->packed + 64 || m->size > most - a->inflated)
        return tc_error(a->ctx, at_member(a, m), TC_E_TOO_LARGE,
                        "%" PRIu64 " bytes that claim to inflate to %" PRIu64, m->packed, m->size);
    uint8_t *data = tc_arena_raw(&a->ctx->arena, (size_t)m->size);
    a->inflated += (size_t)m->size;
    if (!inflate_with_libzip(a, (size_t)(m - a->member), data, (size_t)m->size))
        return tc_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                        "its compressed bytes do not inflate to %" PRIu64, m->size);
    m->data = data;
    return TC_OK;
}

tc_status tc_archive_read(tc_archive *a, tc_member *m, tc_bytes *out)
{
    if (!m->data) {
        const uint8_t *payload;
        TC_TRY(find_payload(a, m, &payload));
        if (m->flags & 1)
            return tc_unsupported(a->ctx, at_member(a, m), TC_E_UNSUPPORTED, "it is encrypted");
        if (m->method == STORED && m->packed != m->size)
            return tc_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                            "stored as it is, yet %" PRIu64 " bytes for %" PRIu64, m->packed,
                            m->size);
        if (m->method == DEFLATED)
            TC_TRY(inflate(a, m));
        else if (m->method != STORED)
            return tc_unsupported(a->ctx, at_member(a, m), TC_E_UNSUPPORTED,
                                  "compression method %d", m->method);
        else
            m->data = payload;
        /* A writer may leave the checksum out; it is zero then. */
        if (m->crc && checksum(a->crc_table, m->data, (size_t)m->size) != m->crc) {
            m->data = NULL;
            return tc_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                            "its bytes do not have its checksum: the file is damaged");
        }
    }
    *out = (tc_bytes){m->data, (size_t)m->size};
    return TC_OK;
}
