/* SPDX-License-Identifier: Apache-2.0 */
/* flatbuf.c -- see flatbuf.h.
 *
 * The wire, in short: everything is little-endian.  A reference is a u32, the distance forward from
 * itself to its target.  A table begins with an i32, the distance back to its layout: u16 bytes of
 * the layout, u16 bytes of the table, then one u16 per field, its offset in the table or 0 when
 * absent. A vector is a u32 count and its elements; a string is a vector of bytes and a NUL. */
#include "flatbuf.h"

void ti_fb_fail(tc_fb *fb, size_t at, const char *error)
{
    if (fb->error)
        return;
    fb->error = error;
    fb->error_at = at;
}

/* Whether n bytes at `at` are inside the buffer and may still be looked at. */
static bool visit(tc_fb *fb, size_t at, size_t n)
{
    if (fb->error)
        return false;
    if (at > fb->size || n > fb->size - at) {
        ti_fb_fail(fb, at, "a reference leads past the end of the file");
        return false;
    }
    if (n > fb->budget) {
        ti_fb_fail(fb, at, "the same parts of the file are referred to over and over");
        return false;
    }
    fb->budget -= n;
    return true;
}

void ti_fb_init(tc_fb *fb, tc_bytes bytes, const char *identifier)
{
    enum { SHARING = 32, SLACK = 65536 };
    *fb = (tc_fb){.data = bytes.data, .size = bytes.size};
    fb->budget =
        bytes.size > (SIZE_MAX - SLACK) / SHARING ? SIZE_MAX : bytes.size * SHARING + SLACK;
    if (bytes.size < 8)
        ti_fb_fail(fb, bytes.size, "the file is too short");
    else if (identifier && memcmp(bytes.data + 4, identifier, 4) != 0)
        ti_fb_fail(fb, 4, "the file identifier is another one");
}

/* Where the reference at `at` leads; 0 after a failure. */
static size_t follow(tc_fb *fb, size_t at)
{
    if (!visit(fb, at, 4))
        return 0;
    uint32_t distance = ti_le32(fb->data + at);
    if (distance < 4) {
        ti_fb_fail(fb, at, "a reference leads nowhere");
        return 0;
    }
    return at + distance;
}

static tc_fb_table table_at(tc_fb *fb, size_t at)
{
    tc_fb_table none = {.fb = fb};
    if (!at || !visit(fb, at, 4))
        return none;
    int64_t vtable = (int64_t)at - (int32_t)ti_le32(fb->data + at);
    if (vtable < 0 || (uint64_t)vtable > fb->size) {
        ti_fb_fail(fb, at, "a table's layout lies outside the file");
        return none;
    }
    tc_fb_table table = {.fb = fb, .at = at, .vtable = (size_t)vtable};
    if (!visit(fb, table.vtable, 4))
        return none;
    uint32_t layout = ti_le16(fb->data + table.vtable);
    table.bytes = ti_le16(fb->data + table.vtable + 2);
    if (layout < 4 || layout % 2 || table.bytes < 4) {
        ti_fb_fail(fb, table.vtable, "a table's layout has an impossible size");
        return none;
    }
    table.n_field = (layout - 4) / 2;
    if (!visit(fb, table.vtable, layout) || !visit(fb, at, table.bytes))
        return none;
    return table;
}

tc_fb_table ti_fb_root(tc_fb *fb)
{
    return table_at(fb, fb->error ? 0 : follow(fb, 0));
}

/* Offset of `width` bytes of a field; 0: absent. */
static size_t field_at(tc_fb_table table, uint32_t field, size_t width)
{
    if (!table.at || table.fb->error || field >= table.n_field)
        return 0;
    size_t entry = table.vtable + 4 + 2 * (size_t)field;
    uint32_t offset = ti_le16(table.fb->data + entry);
    if (!offset)
        return 0;
    /* Python's builder shares layouts between tables of different sizes, so a field may be past the
     * size that its layout gives; it must be inside the file. */
    if (offset < 4 || offset + width > table.fb->size - table.at) {
        ti_fb_fail(table.fb, entry, "a field lies outside the file");
        return 0;
    }
    return table.at + offset;
}

bool ti_fb_has(tc_fb_table table, uint32_t field)
{
    return field_at(table, field, 1) != 0;
}

uint8_t ti_fb_u8(tc_fb_table table, uint32_t field, uint8_t missing)
{
    size_t at = field_at(table, field, 1);
    return at ? table.fb->data[at] : missing;
}

uint32_t ti_fb_u32(tc_fb_table table, uint32_t field, uint32_t missing)
{
    size_t at = field_at(table, field, 4);
    return at ? ti_le32(table.fb->data + at) : missing;
}

uint64_t ti_fb_u64(tc_fb_table table, uint32_t field, uint64_t missing)
{
    size_t at = field_at(table, field, 8);
    return at ? ti_le64(table.fb->data + at) : missing;
}

tc_fb_table ti_fb_child(tc_fb_table table, uint32_t field)
{
    size_t at = field_at(table, field, 4);
    return table_at(table.fb, at ? follow(table.fb, at) : 0);
}

static tc_fb_vector vector_at(tc_fb *fb, size_t at, size_t element_bytes)
{
    tc_fb_vector none = {.fb = fb};
    if (!at || !visit(fb, at, 4))
        return none;
    size_t n = ti_le32(fb->data + at), bytes;
    if (!ti_mul_size(n, element_bytes, &bytes) || !visit(fb, at + 4, bytes))
        return none;
    return (tc_fb_vector){fb, at + 4, n};
}

tc_fb_vector ti_fb_list(tc_fb_table table, uint32_t field, size_t element_bytes)
{
    size_t at = field_at(table, field, 4);
    return vector_at(table.fb, at ? follow(table.fb, at) : 0, element_bytes);
}

tc_bytes ti_fb_bytes(tc_fb_table table, uint32_t field)
{
    tc_fb_vector list = ti_fb_list(table, field, 1);
    return list.at ? (tc_bytes){list.fb->data + list.at, list.n} : (tc_bytes){NULL, 0};
}

size_t ti_fb_count(tc_fb_table table, uint32_t field)
{
    size_t at = field_at(table, field, 4);
    at = at ? follow(table.fb, at) : 0;
    return at && visit(table.fb, at, 4) ? ti_le32(table.fb->data + at) : 0;
}

static tc_str string_at(tc_fb *fb, size_t at)
{
    tc_fb_vector list = vector_at(fb, at, 1);
    if (!list.at || !visit(fb, list.at + list.n, 1))
        return (tc_str){NULL, 0};
    const char *text = (const char *)fb->data + list.at;
    if (text[list.n] || memchr(text, 0, list.n)) {
        ti_fb_fail(fb, at, "a string does not end where it says");
        return (tc_str){NULL, 0};
    }
    return (tc_str){text, list.n};
}

tc_str ti_fb_string(tc_fb_table table, uint32_t field)
{
    size_t at = field_at(table, field, 4);
    return string_at(table.fb, at ? follow(table.fb, at) : 0);
}

tc_fb_table ti_fb_list_table(tc_fb_vector list, size_t i)
{
    return table_at(list.fb, i < list.n ? follow(list.fb, list.at + 4 * i) : 0);
}

tc_str ti_fb_list_string(tc_fb_vector list, size_t i)
{
    return string_at(list.fb, i < list.n ? follow(list.fb, list.at + 4 * i) : 0);
}

int32_t ti_fb_list_i32(tc_fb_vector list, size_t i)
{
    return i < list.n ? (int32_t)ti_le32(list.fb->data + list.at + 4 * i) : 0;
}

uint64_t ti_fb_list_u64(tc_fb_vector list, size_t i)
{
    return i < list.n ? ti_le64(list.fb->data + list.at + 8 * i) : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { LARGEST = INT32_MAX };

void ti_fb_write(tc_fb_writer *w, tc_arena *arena, size_t expected)
{
    *w = (tc_fb_writer){.arena = arena, .align = 4};
    w->cap = expected < 1024 ? 1024 : expected < LARGEST ? expected : LARGEST;
    w->data = ti_arena_raw(arena, w->cap);
    ti_map_init(&w->strings, arena);
}

/* n bytes before what is written so far.  Past the limit the writer starts over in the same buffer,
 * so that callers need to check only at the end; large pieces are checked with fits() first. */
static uint8_t *room(tc_fb_writer *w, size_t n)
{
    if (n > LARGEST - w->used) {
        w->too_large = true;
        w->used = 0;
    }
    if (n > w->cap - w->used) {
        size_t cap = w->cap * 2;
        while (cap - w->used < n)
            cap *= 2;
        uint8_t *data = ti_arena_raw(w->arena, cap);
        memcpy(data + cap - w->used, w->data + w->cap - w->used, w->used);
        w->data = data;
        w->cap = cap;
    }
    w->used += n;
    return w->data + w->cap - w->used;
}

static bool fits(tc_fb_writer *w, size_t n)
{
    w->too_large = w->too_large || n > LARGEST - w->used;
    return n <= LARGEST - w->used;
}

static void put(tc_fb_writer *w, uint64_t v, size_t width)
{
    uint8_t *p = room(w, width);
    for (size_t i = 0; i < width; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* Zeros, so that after n more bytes the offset is a multiple of align (counted from the end; the
 * whole buffer becomes a multiple of the largest alignment). */
static void align_for(tc_fb_writer *w, size_t n, size_t align)
{
    if (align > w->align)
        w->align = align;
    size_t pad = (align - (w->used + n) % align) % align;
    if (pad)
        memset(room(w, pad), 0, pad);
}

static tc_fb_ref here(const tc_fb_writer *w)
{
    return (tc_fb_ref)w->used;
}

/* A reference field's content: the distance from it forward to what it refers to. */
static void put_ref(tc_fb_writer *w, tc_fb_ref ref)
{
    put(w, (uint32_t)(w->used + 4 - ref), 4);
}

tc_fb_ref ti_fb_put_bytes(tc_fb_writer *w, const void *data, size_t size, size_t align)
{
    align_for(w, size, align < 4 ? 4 : align);
    if (size && fits(w, size))
        memcpy(room(w, size), data, size);
    put(w, size, 4);
    return here(w);
}

tc_fb_ref ti_fb_put_list(tc_fb_writer *w, const void *data, size_t n, size_t element)
{
    size_t size = n * element;
    align_for(w, size, element < 4 ? 4 : element);
    if (size && fits(w, size))
        memcpy(room(w, size), data, size);
    put(w, n, 4);
    return here(w);
}

tc_fb_ref ti_fb_put_string(tc_fb_writer *w, tc_str text)
{
    void **slot = ti_map_at(&w->strings, text);
    if (*slot)
        return (tc_fb_ref)(uintptr_t)*slot;
    align_for(w, text.n + 1, 4);
    put(w, 0, 1);
    if (text.n && fits(w, text.n))
        memcpy(room(w, text.n), text.p, text.n);
    put(w, text.n, 4);
    *slot = (void *)(uintptr_t)here(w);
    return here(w);
}

tc_fb_ref ti_fb_put_i32s(tc_fb_writer *w, const int64_t *v, size_t n)
{
    align_for(w, 0, 4);
    for (size_t i = n; i-- > 0;)
        put(w, (uint64_t)v[i], 4);
    put(w, n, 4);
    return here(w);
}

tc_fb_ref ti_fb_put_words(tc_fb_writer *w, tc_bytes words)
{
    return ti_fb_put_list(w, words.data, words.size / 4, 4);
}

tc_fb_ref ti_fb_put_u64s(tc_fb_writer *w, const uint64_t *v, size_t n)
{
    align_for(w, 0, 8);
    for (size_t i = n; i-- > 0;)
        put(w, v[i], 8);
    put(w, n, 4);
    return here(w);
}

tc_fb_ref ti_fb_put_refs(tc_fb_writer *w, const tc_fb_ref *ref, size_t n)
{
    align_for(w, 0, 4);
    for (size_t i = n; i-- > 0;)
        put_ref(w, ref[i]);
    put(w, n, 4);
    return here(w);
}

void ti_fb_begin(tc_fb_writer *w)
{
    memset(w->field, 0, sizeof w->field);
    w->n_field = 0;
    align_for(w, 0, 4);
    w->table_end = w->used;
}

static void set(tc_fb_writer *w, uint32_t field, uint64_t v, size_t width)
{
    assert(field < TC_FB_FIELDS);
    align_for(w, width, width);
    put(w, v, width);
    w->field[field] = here(w);
    if (field >= w->n_field)
        w->n_field = field + 1;
}

void ti_fb_set_u8(tc_fb_writer *w, uint32_t field, uint8_t v, uint8_t missing)
{
    if (v != missing)
        set(w, field, v, 1);
}

void ti_fb_set_u32(tc_fb_writer *w, uint32_t field, uint32_t v, uint32_t missing)
{
    if (v != missing)
        set(w, field, v, 4);
}

void ti_fb_set_u64(tc_fb_writer *w, uint32_t field, uint64_t v, uint64_t missing)
{
    if (v != missing)
        set(w, field, v, 8);
}

void ti_fb_set_ref(tc_fb_writer *w, uint32_t field, tc_fb_ref ref)
{
    if (!ref)
        return;
    align_for(w, 4, 4);
    set(w, field, (uint32_t)(w->used + 4 - ref), 4);
}

static const uint8_t *at_ref(const tc_fb_writer *w, tc_fb_ref ref)
{
    return w->data + w->cap - ref;
}

/* The vtable for the fields just set: an equal one from before, or a new one. */
static tc_fb_ref vtable_for(tc_fb_writer *w, tc_fb_ref table)
{
    uint8_t layout[4 + 2 * TC_FB_FIELDS];
    size_t bytes = 4 + 2 * (size_t)w->n_field, n = 0;
    uint32_t entry[2 + TC_FB_FIELDS] = {(uint32_t)bytes, (uint32_t)(table - w->table_end)};
    for (uint32_t i = 0; i < w->n_field; i++)
        entry[2 + i] = w->field[i] ? table - w->field[i] : 0;
    for (size_t i = 0; i < 2 + (size_t)w->n_field; i++) {
        layout[n++] = (uint8_t)entry[i];
        layout[n++] = (uint8_t)(entry[i] >> 8);
    }
    for (size_t i = 0; i < w->n_vtable; i++) {
        const uint8_t *old = at_ref(w, w->vtable[i]);
        if (ti_le16(old) == bytes && memcmp(old, layout, bytes) == 0)
            return w->vtable[i];
    }
    memcpy(room(w, bytes), layout, bytes);
    tc_grow(w->arena, w->vtable, w->n_vtable, w->cap_vtable);
    return w->vtable[w->n_vtable++] = here(w);
}

tc_fb_ref ti_fb_end(tc_fb_writer *w)
{
    align_for(w, 4, 4);
    put(w, 0, 4);
    tc_fb_ref table = here(w);
    if (w->too_large)
        return table;
    tc_fb_ref vtable = vtable_for(w, table);
    /* The layout is at table - soffset; references count from the end. */
    uint32_t soffset = vtable - table;
    uint8_t *p = w->data + w->cap - table;
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(soffset >> 8 * i);
    return table;
}

tc_bytes ti_fb_finish(tc_fb_writer *w, tc_fb_ref root, const char *identifier)
{
    align_for(w, identifier ? 8 : 4, w->align);
    if (identifier)
        memcpy(room(w, 4), identifier, 4);
    put_ref(w, root);
    if (w->too_large)
        return (tc_bytes){NULL, 0};
    return (tc_bytes){w->data + w->cap - w->used, w->used};
}
