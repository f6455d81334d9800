/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c -- see npy.h.  A header is a Python dictionary of three entries, read by a small parser. */
#include "npy.h"

#include "archive.h"

#include <stdio.h>

enum {
    MAGIC = 6,
    LONGEST_HEADER = 64 * 1024,
    STEP = 64 * 1024,
    LARGEST_ELEMENT = 16,
    LARGEST_WHOLE = 1 << 30
};

/* Source of the elements: in memory, in a file, or in a member of an archive that is streamed. */
struct tc_npy_source {
    tc_bytes data;   /* elements only; .data == NULL: elsewhere */
    tc_input *input; /* NULL: not in a separate file; else from `start` on */
    tc_stream stream; /* of an archive's member */
    size_t start;    /* offset of the elements in the member or file */
    size_t end;      /* where they end */
};

/* ---- the header --------------------------------------------------------------------------------
 */

typedef struct scan {
    const char *at, *end;
    const char *error;
} scan;

static void fail(scan *s, const char *error)
{
    if (!s->error)
        s->error = error;
    s->at = s->end;
}

static void skip_space(scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t'))
        s->at++;
}

static bool accept(scan *s, char c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static void expect(scan *s, char c)
{
    if (!accept(s, c))
        fail(s, "the header is not a dictionary of 'descr', 'fortran_order' and 'shape'");
}

static tc_str quoted(scan *s)
{
    skip_space(s);
    char quote = s->at < s->end ? *s->at : 0;
    if (quote != '\'' && quote != '"') {
        fail(s, "the header has something else where a name in quotes should be");
        return (tc_str){"", 0};
    }
    const char *start = ++s->at;
    while (s->at < s->end && *s->at != quote)
        s->at++;
    tc_str text = {start, (size_t)(s->at - start)};
    expect(s, quote);
    return text;
}

static bool word(scan *s, const char *w)
{
    size_t n = strlen(w);
    skip_space(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, w, n) != 0)
        return false;
    s->at += n;
    return true;
}

static int64_t extent(scan *s)
{
    skip_space(s);
    int64_t v = 0;
    if (s->at == s->end || *s->at < '0' || *s->at > '9')
        fail(s, "the shape is not a list of numbers");
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (v > (INT64_MAX - 9) / 10) {
            fail(s, "the shape has a dimension that is too large");
            return 0;
        }
        v = v * 10 + (*s->at - '0');
    }
    accept(s, 'L'); /* as Python 2 wrote them */
    return v;
}

static void scan_shape(scan *s, tc_npy *a)
{
    expect(s, '(');
    while (!s->error && !accept(s, ')')) {
        if (a->rank == TC_NPY_RANK) {
            fail(s, "the shape has more than 32 dimensions");
            return;
        }
        a->dim[a->rank++] = extent(s);
        if (!accept(s, ',')) {
            expect(s, ')');
            return;
        }
    }
}

/* "<f4": byte order, letter, bytes. */
static void scan_descr(scan *s, tc_npy *a)
{
    skip_space(s);
    if (s->at < s->end && *s->at == '[') {
        fail(s, "records of several fields are not read");
        return;
    }
    tc_str d = quoted(s);
    if (d.n && d.p[0] == '>')
        a->swapped = true;
    if (d.n && strchr("<>|=", d.p[0]))
        d.p++, d.n--;
    int64_t size = 0;
    if (d.n < 2 || !ti_text_to_i64((tc_str){d.p + 1, d.n - 1}, &size) || size < 1 ||
        size > LARGEST_ELEMENT)
        size = 0;
    a->kind = d.n ? d.p[0] : 0;
    a->size = (uint8_t)size;
    a->swapped = a->swapped && size > 1;
    bool known =
        (a->kind == 'b' && size == 1) ||
        ((a->kind == 'i' || a->kind == 'u') && size && size <= 8 && !(size & (size - 1))) ||
        (a->kind == 'f' && (size == 2 || size == 4 || size == 8)) ||
        (a->kind == 'c' && (size == 8 || size == 16)) || (a->kind == 'V' && size && size <= 2);
    if (!known && !s->error)
        fail(s, a->kind == 'O'                   ? "Python objects are not read, only numbers"
                : a->kind == 'U' || a->kind == 'S' ? "text is not read, only numbers"
                : a->kind == 'M' || a->kind == 'm' ? "times are not read, only numbers"
                                                   : "the element type is not one that is read: "
                                                     "bool, integers, floats of 16 to 64 bits, "
                                                     "complex64 and complex128 are");
}

static void scan_dictionary(scan *s, tc_npy *a)
{
    bool has_descr = false, has_order = false, has_shape = false;
    expect(s, '{');
    while (!s->error && !accept(s, '}')) {
        tc_str key = quoted(s);
        expect(s, ':');
        if (ti_str_is(key, "descr") && !has_descr) {
            scan_descr(s, a);
            has_descr = true;
        } else if (ti_str_is(key, "fortran_order") && !has_order) {
            a->fortran = word(s, "True");
            if (!a->fortran && !word(s, "False"))
                fail(s, "'fortran_order' is neither True nor False");
            has_order = true;
        } else if (ti_str_is(key, "shape") && !has_shape) {
            scan_shape(s, a);
            has_shape = true;
        } else
            fail(s, "the header has an entry that is unknown or there twice");
        if (!accept(s, ',')) {
            expect(s, '}');
            break;
        }
    }
    if (!has_descr || !has_order || !has_shape)
        fail(s, "the header lacks 'descr', 'fortran_order' or 'shape'");
}

/* Elements and bytes, when they can be counted at all. */
static bool measure(tc_npy *a, size_t *bytes)
{
    size_t product = a->size, count = 1;
    bool empty = false;
    for (int i = 0; i < a->rank; i++) {
        empty = empty || a->dim[i] == 0;
        if (a->dim[i] &&
            (!ti_mul_size(product, (size_t)a->dim[i], &product) || product > PTRDIFF_MAX))
            return false;
        count *= (size_t)(a->dim[i] ? a->dim[i] : 1);
    }
    a->count = empty ? 0 : (int64_t)count;
    *bytes = empty ? 0 : product;
    return true;
}

/* Reads the header at `head`; `total` is the length of the whole array file. Sets the offset of the
 * elements and their bytes. */
static tc_status parse_header(tc_ctx *ctx, tc_npy *a, tc_bytes head, size_t total, size_t *start,
                              size_t *bytes)
{
    const uint8_t *p = head.data;
    if (head.size < MAGIC + 4 || memcmp(p, "\x93NUMPY", MAGIC) != 0)
        return ti_error(ctx, a->loc, TC_E_FORMAT, "this is not an array in NumPy's format");
    int major = p[MAGIC];
    if (major < 1 || major > 3)
        return ti_error(ctx, a->loc, TC_E_VERSION, "version %d of the .npy format, expected 1 to 3",
                        major);
    size_t at = major == 1 ? MAGIC + 4 : MAGIC + 6;
    if (head.size < at)
        return ti_error(ctx, a->loc, TC_E_TRUNCATED, "the file ends inside its header");
    size_t length = major == 1 ? ti_le16(p + MAGIC + 2) : ti_le32(p + MAGIC + 2);
    if (length > LONGEST_HEADER)
        return ti_error(ctx, a->loc, TC_E_TOO_LARGE, "a header of %zu bytes, at most %d are read",
                        length, LONGEST_HEADER);
    if (length > head.size - at)
        return ti_error(ctx, a->loc, TC_E_TRUNCATED, "the file ends inside its header");
    scan s = {(const char *)p + at, (const char *)p + at + length, NULL};
    scan_dictionary(&s, a);
    if (s.error)
        return ti_error(ctx, a->loc, TC_E_FORMAT, "%s", s.error);
    if (!measure(a, bytes))
        return ti_error(ctx, a->loc, TC_E_TOO_LARGE,
                        "the shape has more elements than can be counted");
    *start = at + length;
    if (*bytes > total - *start)
        return ti_error(ctx, a->loc, TC_E_TRUNCATED,
                        "%zu bytes of numbers, the header promises %zu", total - *start, *bytes);
    return TC_OK;
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static const tc_loc *make_loc(tc_ctx *ctx, const char *path, const char *member)
{
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = ti_intern_text(ctx, path);
    if (member)
        loc->place = ti_text_format(&ctx->arena, "member '%s'", member);
    return loc;
}

/* The name without folder and without ".npy". */
static const char *stem(tc_ctx *ctx, const char *path, bool is_member)
{
    tc_str name = ti_str_of(is_member ? path : ti_path_last(path));
    if (name.n > 4 && memcmp(name.p + name.n - 4, ".npy", 4) == 0)
        name.n -= 4;
    return ti_intern(ctx, name);
}

/* head: what the file begins with, all of it when there is no `input`; total: how long it is. */
static tc_status parse_one(tc_ctx *ctx, const char *path, tc_bytes head, size_t total,
                           tc_input *input, tc_npy **array, size_t *count)
{
    tc_npy *a = tc_new(&ctx->arena, tc_npy);
    a->name = stem(ctx, path, false);
    a->loc = make_loc(ctx, path, NULL);
    size_t start, size;
    TC_TRY(parse_header(ctx, a, head, total, &start, &size));
    a->source = tc_new(&ctx->arena, struct tc_npy_source);
    *a->source = (struct tc_npy_source){.input = input, .start = start, .end = start + size};
    if (!input)
        a->source->data = (tc_bytes){head.data + start, size};
    *array = a;
    *count = 1;
    return TC_OK;
}

static tc_status rewind_to(tc_npy *a, size_t at)
{
    tc_stream *s = &a->source->stream;
    if (s->at > at)
        TC_TRY(ti_stream_rewind(s));
    return ti_stream_read(s, at - s->at, NULL);
}

static tc_status open_member(tc_ctx *ctx, const char *path, tc_archive *archive,
                             const tc_member *member, tc_npy *a)
{
    a->name = stem(ctx, member->name, true);
    a->loc = make_loc(ctx, path, a->name);
    a->source = tc_new(&ctx->arena, struct tc_npy_source);
    tc_stream *s = &a->source->stream;
    TC_TRY(ti_stream_open(archive, member, s));
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    size_t size = member->size < LONGEST_HEADER ? (size_t)member->size : LONGEST_HEADER;
    size_t head = size < 1024 ? size : 1024, bytes = 0; /* most headers are 128 bytes */
    uint8_t *data = ti_arena_raw(&ctx->scratch, size);
    tc_status status = ti_stream_read(s, head, data);
    if (!status && head >= 12 && data[MAGIC] > 1 && ti_le32(data + MAGIC + 2) > head - 12)
        status = ti_stream_read(s, size - head, data + head), head = size;
    else if (!status && head >= 12 && data[MAGIC] == 1 && ti_le16(data + MAGIC + 2) + 10u > head)
        status = ti_stream_read(s, size - head, data + head), head = size;
    if (!status)
        status = parse_header(ctx, a, (tc_bytes){data, head}, (size_t)member->size,
                              &a->source->start, &bytes);
    a->source->end = a->source->start + bytes;
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* A .npz without arrays, or another archive. */
static tc_status no_arrays(tc_ctx *ctx, const char *path, const tc_archive *archive)
{
    const tc_loc *loc = make_loc(ctx, path, NULL);
    tc_status status = ti_error(ctx, loc, TC_E_FORMAT, "the archive holds no .npy member");
    for (size_t i = 0; i < archive->n_member; i++)
        if (ti_text_ends(archive->member[i].name, "archive_format") ||
            ti_text_ends(archive->member[i].name, "serialized_exported_program.json")) {
            ti_note(ctx, loc, "it is a PyTorch export, a model; data is .npy, .npz or a folder of them");
            return status;
        }
    ti_note(ctx, loc, archive->n_member ? "numpy.savez() writes one with arrays" : "it is empty");
    return status;
}

static tc_status parse_archive(tc_ctx *ctx, const char *path, tc_bytes bytes, tc_input *input,
                               tc_npy **array, size_t *count)
{
    tc_archive *archive = tc_new(&ctx->arena, tc_archive);
    const char *file = ti_intern_text(ctx, path);
    TC_TRY(input ? ti_archive_open_input(ctx, &ctx->arena, file, input, archive)
                 : ti_archive_open(ctx, &ctx->arena, file, NULL, bytes, archive));
    size_t cap = 0;
    *array = NULL;
    *count = 0;
    for (size_t i = 0; i < archive->n_member; i++) {
        if (!ti_text_ends(archive->member[i].name, ".npy"))
            continue;
        tc_grow(&ctx->arena, *array, *count, cap);
        TC_TRY(open_member(ctx, path, archive, &archive->member[i], &(*array)[(*count)++]));
    }
    return *count ? TC_OK : no_arrays(ctx, path, archive);
}

tc_status ti_npy_parse(tc_ctx *ctx, const char *path, tc_bytes bytes, tc_npy **array, size_t *count)
{
    if (bytes.size >= 2 && memcmp(bytes.data, "PK", 2) == 0)
        return parse_archive(ctx, path, bytes, NULL, array, count);
    return parse_one(ctx, path, bytes, bytes.size, NULL, array, count);
}

tc_status ti_npy_open(tc_ctx *ctx, const char *path, tc_npy **array, size_t *count)
{
    tc_input *input;
    tc_bytes head = {0};
    TC_TRY(ti_input_open(ctx, path, &input));
    if (ti_input_fd(input) < 0) { /* what came through a pipe */
        TC_TRY(ti_input_all(input, &head));
        return ti_npy_parse(ctx, path, head, array, count);
    }
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    size_t total = ti_input_size(input);
    head.size = total < LONGEST_HEADER + STEP ? total : LONGEST_HEADER + STEP;
    uint8_t *data = ti_arena_raw(&ctx->scratch, head.size);
    head.data = data;
    tc_status status = ti_input_read(input, 0, head.size, data);
    if (!status)
        status = head.size >= 2 && memcmp(data, "PK", 2) == 0
                     ? parse_archive(ctx, path, head, input, array, count)
                     : parse_one(ctx, path, head, total, input, array, count);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* ---- elements ----------------------------------------------------------------------------------
 */

static void swap_bytes(uint8_t *p, size_t size, int64_t n)
{
    for (int64_t i = 0; i < n; i++, p += size)
        for (size_t k = 0; k < size / 2; k++) {
            uint8_t byte = p[k];
            p[k] = p[size - 1 - k];
            p[size - 1 - k] = byte;
        }
}

/* Element i counted last axis fastest is at sum(index[k] * stride[k]), stride[k] = dim[0] * ... *
 * dim[k-1]. */
static void gather_fortran(const tc_npy *a, int64_t first, int64_t n, uint8_t *out)
{
    int64_t index[TC_NPY_RANK] = {0}, stride[TC_NPY_RANK], step = 1, at = 0, rest = first;
    for (int k = 0; k < a->rank; k++) {
        stride[k] = step;
        step *= a->dim[k];
    }
    for (int k = a->rank - 1; k >= 0; k--) {
        index[k] = rest % a->dim[k];
        rest /= a->dim[k];
        at += index[k] * stride[k];
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy(out + (size_t)i * a->size, a->source->data.data + (size_t)at * a->size, a->size);
        for (int k = a->rank - 1; k >= 0; k--) {
            at += stride[k];
            if (++index[k] < a->dim[k])
                break;
            at -= stride[k] * a->dim[k];
            index[k] = 0;
        }
    }
}

/* All elements; memory grows with the bytes actually read. */
static tc_status load_whole(tc_ctx *ctx, tc_npy *a)
{
    struct tc_npy_source *s = a->source;
    if (s->input) {
        size_t size = s->end - s->start;
        uint8_t *data = ti_arena_raw(&ctx->arena, size);
        TC_TRY(ti_input_read(s->input, s->start, size, data));
        s->data = (tc_bytes){data, size};
        return TC_OK;
    }
    if (s->end - s->start > LARGEST_WHOLE)
        return ti_error(
            ctx, a->loc, TC_E_TOO_LARGE,
            "%zu bytes in an archive with the first axis fastest, at most %d are read that way",
            s->end - s->start, LARGEST_WHOLE);
    TC_TRY(rewind_to(a, s->start));
    tc_buf all;
    ti_buf_init(&all, &ctx->arena);
    for (size_t left = s->end - s->start; left;) {
        size_t step = left < STEP ? left : STEP;
        TC_TRY(ti_stream_read(&s->stream, step, ti_buf_room(&all, step)));
        left -= step;
    }
    s->data = (tc_bytes){all.data, all.size};
    return TC_OK;
}

tc_status ti_npy_read(tc_ctx *ctx, tc_npy *a, int64_t first, int64_t n, void *out)
{
    assert(first >= 0 && n >= 0 && first <= a->count && n <= a->count - first);
    struct tc_npy_source *s = a->source;
    bool shuffled = a->fortran && a->rank > 1;
    if (n == 0)
        return TC_OK;
    if (!s->data.data && shuffled)
        TC_TRY(load_whole(ctx, a));
    size_t at = (size_t)first * a->size, size = (size_t)n * a->size;
    if (!s->data.data && s->input)
        TC_TRY(ti_input_read(s->input, s->start + at, size, out));
    else if (!s->data.data) {
        TC_TRY(rewind_to(a, s->start + at));
        TC_TRY(ti_stream_read(&s->stream, size, out));
    }
    else if (shuffled)
        gather_fortran(a, first, n, out);
    else
        memcpy(out, s->data.data + at, size);
    if (a->swapped)
        swap_bytes(out, a->kind == 'c' ? a->size / 2u : a->size, a->kind == 'c' ? n * 2 : n);
    return TC_OK;
}

const char *ti_npy_type_text(tc_arena *arena, const tc_npy *a)
{
    static const struct {
        char kind;
        const char *name;
    } family[] = {{'i', "int"}, {'u', "uint"}, {'f', "float"}, {'c', "complex"}};
    if (a->kind == 'b')
        return "bool";
    for (size_t i = 0; i < TC_COUNT(family); i++)
        if (family[i].kind == a->kind)
            return ti_text_format(arena, "%s%d", family[i].name, a->size * 8);
    return ti_text_format(arena, "raw %d-byte", a->size);
}

void ti_npy_header(tc_buf *out, const char *descr, int32_t rank, const int64_t *dim)
{
    enum { FIXED = MAGIC + 4, ALIGN = 64 };
    size_t begin = out->size;
    ti_buf_put(out, "\x93NUMPY\x01\x00\x00\x00", FIXED);
    ti_buf_printf(out, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < rank; i++)
        ti_buf_printf(out,
                      i + 1 < rank ? "%" PRId64 ", "
                      : rank == 1  ? "%" PRId64 ","
                                   : "%" PRId64,
                      dim[i]);
    ti_buf_text(out, "), }");
    while ((out->size - begin + 1) % ALIGN)
        ti_buf_u8(out, ' ');
    ti_buf_u8(out, '\n');
    size_t length = out->size - begin - FIXED;
    out->data[begin + MAGIC + 2] = (uint8_t)length;
    out->data[begin + MAGIC + 3] = (uint8_t)(length >> 8);
}
