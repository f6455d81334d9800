/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c -- the central directory of a ZIP file, walked with every offset checked.
 *
 * Sizes come from the directory, where local headers may leave them out; the start of a payload
 * comes from the local header, whose extra field may differ.  Inflating is libzip's work. */
#include "archive.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <zip.h>

#include "../base/lazy_library.h"
#include "../base/mapped.h"
#include "late_calls.h"

enum {
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    LONGEST_COMMENT = 65535,
    STORED = 0,
    DEFLATED = 8,
    MOST_RATIO = 1032, /* no deflated stream grows more than this */
    FAR = 64 * 1024    /* bytes that are worth leaving out */
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

tc_loc *ti_archive_loc(const tc_archive *a, const char *place)
{
    tc_arena *arena = &a->ctx->arena;
    tc_loc *loc = tc_new(arena, tc_loc);
    loc->file = a->file;
    loc->place = a->inside ? ti_text_format(arena, "%s: %s", a->inside, place)
                           : ti_text_copy(arena, ti_str_of(place));
    return loc;
}

static tc_loc *at_byte(const tc_archive *a, uint64_t at)
{
    return ti_archive_loc(a, ti_text_format(&a->ctx->arena, "byte %" PRIu64, at));
}

static tc_loc *at_member(const tc_archive *a, const tc_member *m)
{
    return ti_archive_loc(a, ti_text_format(&a->ctx->arena, "member '%s'", m->name));
}

/* Whether the file has n bytes at `at`. */
static bool has(const tc_archive *a, uint64_t at, uint64_t n)
{
    return at <= a->size && n <= a->size - at;
}

/* n bytes of the file at `at` where they are in memory, else NULL. */
static const uint8_t *span(const tc_archive *a, uint64_t at, uint64_t n)
{
    return has(a, at, n) && at >= a->base ? a->bytes.data + (at - a->base) : NULL;
}

/* n bytes of the file, in place or read into `arena`. */
static tc_status fetch(const tc_archive *a, tc_arena *arena, uint64_t at, uint64_t n,
                       const uint8_t **out)
{
    *out = span(a, at, n);
    if (*out)
        return TC_OK;
    uint8_t *data = ti_arena_raw(arena, (size_t)n);
    *out = data;
    return ti_input_read(a->input, at, (size_t)n, data);
}

/* table[k][b]: the checksum of byte b followed by k zero bytes. */
const uint32_t *ti_crc_table(tc_arena *arena)
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
    uint32_t a = c ^ ti_le32(p), b = ti_le32(p + 4);
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

/* CRC-32 as in ZIP.  Long input is processed in four independent lanes, which hides the latency of
 * look-ups; they are joined by  crc(ab) = crc(a) * x^(8 |b|) + crc(b). */
uint32_t ti_crc(const uint32_t *t, const uint8_t *p, size_t n)
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

/* The end record: the last position where one fits with its comment. */
static tc_status find_end(const tc_archive *a, uint64_t *at)
{
    tc_bytes b = a->bytes;
    uint64_t least = b.size > END_SIZE + LONGEST_COMMENT ? b.size - END_SIZE - LONGEST_COMMENT : 0;
    for (uint64_t i = b.size >= END_SIZE ? b.size - END_SIZE + 1 : 0; i-- > least;)
        if (ti_le32(b.data + i) == SIGN_END && i + END_SIZE + ti_le16(b.data + i + 20) <= b.size) {
            *at = a->base + i;
            return TC_OK;
        }
    return ti_error(a->ctx, at_byte(a, a->size), TC_E_TRUNCATED,
                    "the archive has no end record: it is not a ZIP file, or its end is missing");
}

static tc_status find_directory(const tc_archive *a, directory *dir)
{
    uint64_t end = 0;
    TC_TRY(find_end(a, &end));
    const uint8_t *e = span(a, end, END_SIZE);
    if (ti_le16(e + 4) && ti_le16(e + 4) != 0xffff)
        return ti_unsupported(a->ctx, at_byte(a, end), TC_E_UNSUPPORTED,
                              "an archive of several volumes");
    *dir = (directory){ti_le32(e + 16), ti_le32(e + 12), ti_le16(e + 10)};
    bool wide = dir->at == UINT32_MAX || dir->size == UINT32_MAX || dir->count == 0xffff;
    if (wide) {
        const uint8_t *l = end >= LOCATOR_SIZE ? span(a, end - LOCATOR_SIZE, LOCATOR_SIZE) : NULL;
        const uint8_t *w =
            l && ti_le32(l) == SIGN_LOCATOR ? span(a, ti_le64(l + 8), END64_SIZE) : NULL;
        if (!w || ti_le32(w) != SIGN_END64)
            return ti_error(a->ctx, at_byte(a, end), TC_E_FORMAT,
                            "the end record points to a 64-bit record that does not exist");
        *dir = (directory){ti_le64(w + 48), ti_le64(w + 40), ti_le64(w + 32)};
    }
    if (!has(a, dir->at, dir->size))
        return ti_error(a->ctx, at_byte(a, end), TC_E_TRUNCATED,
                        "the directory (%" PRIu64 " bytes at %" PRIu64 ") is not inside the file",
                        dir->size, dir->at);
    return TC_OK;
}

/* Fields of an entry that are all ones are in its 64-bit extra field, in this order. */
static bool widen(tc_member *m, const uint8_t *extra, size_t n)
{
    uint64_t *wide[] = {&m->size, &m->packed, &m->header};
    bool needed = false;
    for (size_t i = 0; i < TC_COUNT(wide); i++)
        needed = needed || *wide[i] == UINT32_MAX;
    if (!needed)
        return true;
    for (size_t at = 0; at + 4 <= n; at += 4 + (size_t)ti_le16(extra + at + 2)) {
        size_t size = ti_le16(extra + at + 2), next = at + 4;
        if (ti_le16(extra + at) != 1 || next + size > n)
            continue;
        size_t end = next + size;
        for (size_t i = 0; i < TC_COUNT(wide); i++) {
            if (*wide[i] != UINT32_MAX)
                continue;
            if (next + 8 > end)
                return false;
            *wide[i] = ti_le64(extra + next);
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
    tc_member m = {.header = ti_le32(e + 42),
                   .packed = ti_le32(e + 20),
                   .size = ti_le32(e + 24),
                   .crc = ti_le32(e + 16),
                   .method = ti_le16(e + 10),
                   .flags = ti_le16(e + 8)};
    if (!good_name(name))
        return ti_error(a->ctx, at_byte(a, at), TC_E_FORMAT,
                        "a member whose name is not a path inside the archive");
    if (!widen(&m, e + ENTRY_SIZE + n_name, n_extra))
        return ti_error(a->ctx, at_byte(a, at), TC_E_FORMAT, "a member without its 64-bit sizes");
    tc_grow(arena, a->member, a->n_member, a->cap_member);
    void **slot = ti_map_at(&a->by_name, name);
    m.name = a->by_name.entry[a->by_name.n - 1].key.p;
    if (*slot)
        return ti_error(a->ctx, at_byte(a, at), TC_E_FORMAT, "two members of one name, '%.*s'",
                        (int)name.n, name.p);
    *slot = (void *)(uintptr_t)(a->n_member + 1);
    a->member[a->n_member++] = m;
    return TC_OK;
}

bool ti_archive_looks_like(tc_bytes bytes)
{
    return bytes.size >= 4 &&
           (ti_le32(bytes.data) == SIGN_LOCAL || ti_le32(bytes.data) == SIGN_END);
}

/* Every entry of the directory, which is in memory. */
static tc_status read_directory(tc_archive *a, tc_arena *arena, directory dir)
{
    uint64_t at = dir.at, end = dir.at + dir.size;
    for (uint64_t i = 0; i < dir.count; i++) {
        const uint8_t *e = end - at >= ENTRY_SIZE ? span(a, at, ENTRY_SIZE) : NULL;
        if (!e || ti_le32(e) != SIGN_ENTRY)
            return ti_error(a->ctx, at_byte(a, at), TC_E_FORMAT,
                            "entry %" PRIu64 " of %" PRIu64 " in the directory is missing", i + 1,
                            dir.count);
        size_t n_name = ti_le16(e + 28), n_extra = ti_le16(e + 30);
        uint64_t size = ENTRY_SIZE + n_name + n_extra + ti_le16(e + 32);
        if (size > end - at)
            return ti_error(a->ctx, at_byte(a, at), TC_E_TRUNCATED,
                            "a directory entry runs past the directory");
        TC_TRY(add_member(a, arena, e, at, n_name, n_extra));
        at += size;
    }
    return TC_OK;
}

static void begin(tc_ctx *ctx, tc_arena *arena, const char *file, tc_archive *a)
{
    *a = (tc_archive){.ctx = ctx, .file = file};
    a->zip = tc_new(&ctx->arena, struct zip *);
    ti_map_init(&a->by_name, arena);
    a->crc_table = ti_crc_table(arena);
}

tc_status ti_archive_open(tc_ctx *ctx, tc_arena *arena, const char *file, const char *inside,
                          tc_bytes bytes, tc_archive *out)
{
    directory dir = {0, 0, 0};
    begin(ctx, arena, file, out);
    out->inside = inside;
    out->bytes = bytes;
    out->size = bytes.size;
    TC_TRY(find_directory(out, &dir));
    return read_directory(out, arena, dir);
}

/* The file from byte `at` to its end into memory. */
static tc_status load_end(tc_archive *a, tc_arena *arena, uint64_t at)
{
    size_t size = (size_t)(a->size - at);
    uint8_t *data = ti_arena_raw(arena, size);
    TC_TRY(ti_input_read(a->input, at, size, data));
    a->base = at;
    a->bytes = (tc_bytes){data, size};
    return TC_OK;
}

tc_status ti_archive_open_input(tc_ctx *ctx, tc_arena *arena, const char *file, tc_input *input,
                                tc_archive *out)
{
    const uint64_t tail = END64_SIZE + LOCATOR_SIZE + END_SIZE + LONGEST_COMMENT;
    directory dir = {0, 0, 0};
    begin(ctx, arena, file, out);
    out->input = input;
    out->size = ti_input_size(input);
    TC_TRY(load_end(out, arena, out->size > tail ? out->size - tail : 0));
    TC_TRY(find_directory(out, &dir));
    if (dir.at < out->base)
        TC_TRY(load_end(out, arena, dir.at));
    return read_directory(out, arena, dir);
}

tc_member *ti_archive_find(const tc_archive *archive, const char *name)
{
    uintptr_t at = (uintptr_t)ti_map_get(&archive->by_name, ti_str_of(name));
    return at ? &archive->member[at - 1] : NULL;
}

/* The bytes of a member in the file, checked to be complete. */
static tc_status find_payload(const tc_archive *a, const tc_member *m, uint64_t *out)
{
    tc_arena *scratch = &a->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    const uint8_t *h = NULL, *name = NULL;
    size_t n_name = strlen(m->name);
    if (has(a, m->header, LOCAL_SIZE))
        TC_TRY(fetch(a, scratch, m->header, LOCAL_SIZE, &h));
    if (!h || ti_le32(h) != SIGN_LOCAL)
        return ti_error(a->ctx, at_member(a, m), TC_E_FORMAT, "its header is not at byte %" PRIu64,
                        m->header);
    if (n_name == ti_le16(h + 26) && has(a, m->header + LOCAL_SIZE, n_name))
        TC_TRY(fetch(a, scratch, m->header + LOCAL_SIZE, n_name, &name));
    if (!name || memcmp(name, m->name, n_name) != 0)
        return ti_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                        "its header at byte %" PRIu64 " has another name", m->header);
    *out = m->header + LOCAL_SIZE + n_name + ti_le16(h + 28);
    ti_arena_rewind(scratch, mark);
    if (!has(a, *out, m->packed))
        return ti_error(a->ctx, at_member(a, m), TC_E_TRUNCATED,
                        "its %" PRIu64 " bytes run past the end of the file", m->packed);
    return TC_OK;
}

/* What we can read: stored or deflated, and not encrypted. */
static tc_status check_method(const tc_archive *a, const tc_member *m)
{
    if (m->flags & 1)
        return ti_unsupported(a->ctx, at_member(a, m), TC_E_UNSUPPORTED, "it is encrypted");
    if (m->method == STORED && m->packed != m->size)
        return ti_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                        "stored as it is, yet %" PRIu64 " bytes for %" PRIu64, m->packed, m->size);
    if (m->method != STORED && m->method != DEFLATED)
        return ti_unsupported(a->ctx, at_member(a, m), TC_E_UNSUPPORTED, "compression method %d",
                              m->method);
    return TC_OK;
}

static tc_status damaged(const tc_archive *a, const tc_member *m)
{
    return ti_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                    "its bytes do not have its checksum: the file is damaged");
}

/* ---- inflating ---- */

/* Loaded with the first compressed member; exports store weights uncompressed. */
static struct {
    TC_LATE_POINTERS(TC_LIBZIP_CALLS)
} libzip;
static bool libzip_here;

static void load_libzip(void)
{
    static const char *const name[] = {TC_LATE_NAMES(TC_LIBZIP_CALLS)};
    libzip_here = ti_late_load(TOSAC_LIBZIP, name, &libzip);
}

static tc_status want_libzip(const tc_archive *a, const tc_member *m)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_libzip);
    return libzip_here ? TC_OK
                       : ti_error(a->ctx, at_member(a, m), TC_E_TOOL,
                                  "it is compressed, and the library that inflates cannot be "
                                  "loaded: %s", TOSAC_LIBZIP);
}

static void close_zip(void *what)
{
    zip_t **zip = what;
    if (*zip)
        libzip.discard(*zip);
    *zip = NULL;
}

/* The bytes in memory, or the file itself, whose descriptor the archive owns. */
static zip_source_t *source_of(const tc_archive *a, zip_error_t *why)
{
    if (!a->input)
        return libzip.source_buffer_create(a->bytes.data, a->bytes.size, 0, why);
    int fd = dup(ti_input_fd(a->input));
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    zip_source_t *source = file ? libzip.source_filep_create(file, 0, -1, why) : NULL;
    if (!source && file)
        fclose(file);
    else if (!file && fd >= 0)
        close(fd);
    return source;
}

/* libzip's own walk to the same member, or NULL. */
static zip_file_t *inflate_from(const tc_archive *a, const tc_member *m)
{
    if (!*a->zip) {
        ti_ctx_defer(a->ctx, close_zip, a->zip);
        zip_error_t why;
        libzip.error_init(&why);
        zip_source_t *source = source_of(a, &why);
        *a->zip = source ? libzip.open_from_source(source, ZIP_RDONLY, &why) : NULL;
        if (!*a->zip)
            libzip.source_free(source);
        libzip.error_fini(&why);
    }
    return *a->zip ? libzip.fopen_index(*a->zip, (zip_uint64_t)(m - a->member), 0) : NULL;
}

/* n bytes; false when there are fewer, or they are damaged. */
static bool inflate_some(zip_file_t *file, uint8_t *out, size_t n)
{
    while (n) {
        zip_int64_t got = libzip.fread(file, out, n);
        if (got <= 0)
            return false;
        out += got;
        n -= (size_t)got;
    }
    return true;
}

/* Nothing more comes, and the checksum is right. */
static bool inflated_to_end(zip_file_t *file)
{
    uint8_t more;
    return libzip.fread(file, &more, 1) == 0;
}

/* Memory for what is inflated stays in proportion to the file. */
static tc_status inflate(tc_archive *a, tc_member *m)
{
    const uint64_t most = (UINT64_C(64) << 20) + 64 * a->size;
    if (m->size > MOST_RATIO * m->packed + 64 || m->size > most - a->inflated)
        return ti_error(a->ctx, at_member(a, m), TC_E_TOO_LARGE,
                        "%" PRIu64 " bytes that claim to inflate to %" PRIu64, m->packed, m->size);
    TC_TRY(want_libzip(a, m));
    uint8_t *data = ti_arena_raw(&a->ctx->arena, (size_t)m->size);
    a->inflated += (size_t)m->size;
    zip_file_t *file = inflate_from(a, m);
    bool good = file && inflate_some(file, data, (size_t)m->size) && inflated_to_end(file);
    if (file)
        libzip.fclose(file);
    if (!good)
        return ti_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                        "its compressed bytes do not inflate to %" PRIu64, m->size);
    m->data = data;
    return TC_OK;
}

tc_status ti_archive_read(tc_archive *a, tc_member *m, tc_bytes *out)
{
    if (!m->data) {
        uint64_t payload;
        TC_TRY(find_payload(a, m, &payload));
        TC_TRY(check_method(a, m));
        if (m->method == DEFLATED)
            TC_TRY(inflate(a, m));
        else
            TC_TRY(fetch(a, &a->ctx->arena, payload, m->size, &m->data));
        /* A writer may leave the checksum out; it is zero then. */
        if (m->crc && ti_crc(a->crc_table, m->data, (size_t)m->size) != m->crc) {
            m->data = NULL;
            return damaged(a, m);
        }
        ti_mapped_forget(a->ctx, m->data, (size_t)m->size);
    }
    *out = (tc_bytes){m->data, (size_t)m->size};
    return TC_OK;
}

/* ---- from front to back ---- */

static void close_stream(void *what)
{
    tc_stream *s = what;
    if (s->inflating)
        libzip.fclose(s->inflating);
    s->inflating = NULL;
}

tc_status ti_stream_rewind(tc_stream *s)
{
    close_stream(s);
    s->at = 0;
    s->crc = 0;
    s->skipped = false;
    if (s->member->method == STORED)
        return TC_OK;
    TC_TRY(want_libzip(s->archive, s->member));
    s->inflating = inflate_from(s->archive, s->member);
    return s->inflating ? TC_OK
                        : ti_error(s->archive->ctx, at_member(s->archive, s->member), TC_E_FORMAT,
                                   "its compressed bytes cannot be read");
}

tc_status ti_stream_open(tc_archive *archive, const tc_member *member, tc_stream *s)
{
    *s = (tc_stream){.archive = archive, .member = member};
    TC_TRY(find_payload(archive, member, &s->payload));
    TC_TRY(check_method(archive, member));
    ti_ctx_defer(archive->ctx, close_stream, s);
    return ti_stream_rewind(s);
}

/* The next n bytes, which are there. */
static tc_status take(tc_stream *s, size_t n, uint8_t *out)
{
    const tc_archive *a = s->archive;
    const tc_member *m = s->member;
    const uint8_t *there = span(a, s->payload + s->at, n);
    if (m->method == DEFLATED && !inflate_some(s->inflating, out, n))
        return ti_error(a->ctx, at_member(a, m), TC_E_FORMAT,
                        "its compressed bytes do not inflate to %" PRIu64, m->size);
    if (m->method == STORED && there)
        memcpy(out, there, n);
    else if (m->method == STORED)
        TC_TRY(ti_input_read(a->input, s->payload + s->at, n, out));
    s->at += n;
    if (m->method == STORED) /* crc(ab), as in ti_crc() */
        s->crc = times(s->crc, x_to(8 * (uint64_t)n)) ^ ti_crc(a->crc_table, out, n);
    if (s->at < m->size)
        return TC_OK;
    bool good = m->method == DEFLATED ? inflated_to_end(s->inflating)
                                      : s->skipped || !m->crc || s->crc == m->crc;
    return good ? TC_OK : damaged(a, m);
}

/* Past n bytes.  Far ones that are stored are not looked at. */
static tc_status pass(tc_stream *s, uint64_t n)
{
    uint8_t waste[4096];
    if (s->member->method == STORED && n > FAR) {
        s->skipped = true;
        s->at += n;
        return TC_OK;
    }
    for (size_t step; n; n -= step) {
        step = n < sizeof waste ? (size_t)n : sizeof waste;
        TC_TRY(take(s, step, waste));
    }
    return TC_OK;
}

tc_status ti_stream_read(tc_stream *s, uint64_t n, uint8_t *out)
{
    if (n > s->member->size - s->at)
        return ti_error(s->archive->ctx, at_member(s->archive, s->member), TC_E_TRUNCATED,
                        "the member ends early");
    if (!n)
        return TC_OK;
    return out ? take(s, (size_t)n, out) : pass(s, n);
}
