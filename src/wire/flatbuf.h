/* SPDX-License-Identifier: Apache-2.0 */
/* flatbuf.h -- FlatBuffers: read with bounds, written back to front.
 *
 * Reading.  A buffer that breaks its own rules fails once, remembers what and where, and from then
 * on reads as absent and zero; the caller looks at fb.error when a record is done.  Every visit is
 * paid for from a budget in proportion to the size, so that tables which share their parts a
 * million times over cannot keep a reader busy.
 *
 * Writing.  Children first: make strings, vectors and tables, then the table that refers to them.
 * Equal vtables and equal strings are written once; the same calls give the same bytes. */
#ifndef TC_FLATBUF_H
#define TC_FLATBUF_H

#include "../base/bytes.h"
#include "../base/map.h"

typedef struct tc_fb {
    const uint8_t *data;
    size_t size;
    size_t budget;     /* bytes that may still be looked at */
    const char *error; /* what is wrong with the buffer; NULL: nothing so far */
    size_t error_at;   /* and where */
} tc_fb;

/* A table; at == 0: absent.  Fields of an absent table are absent. */
typedef struct tc_fb_table {
    tc_fb *fb;
    size_t at, vtable;
    uint32_t n_field, bytes;
} tc_fb_table;

/* A vector of n elements, the first of which is at `at`; absent ones have n == 0 and at == 0. */
typedef struct tc_fb_vector {
    tc_fb *fb;
    size_t at, n;
} tc_fb_vector;

/* Ready to read; the identifier at byte 4 is compared when one is given. */
void ti_fb_init(tc_fb *fb, tc_bytes bytes, const char *identifier);
/* Notes the first error; later ones are ignored. */
void ti_fb_fail(tc_fb *fb, size_t at, const char *error);

tc_fb_table ti_fb_root(tc_fb *fb);
bool ti_fb_has(tc_fb_table table, uint32_t field);

/* Scalars, or `missing` when the field is absent. */
uint8_t ti_fb_u8(tc_fb_table table, uint32_t field, uint8_t missing);
uint32_t ti_fb_u32(tc_fb_table table, uint32_t field, uint32_t missing);
uint64_t ti_fb_u64(tc_fb_table table, uint32_t field, uint64_t missing);
static inline int32_t ti_fb_i32(tc_fb_table table, uint32_t field, int32_t missing)
{
    return (int32_t)ti_fb_u32(table, field, (uint32_t)missing);
}
static inline int64_t ti_fb_i64(tc_fb_table table, uint32_t field, int64_t missing)
{
    return (int64_t)ti_fb_u64(table, field, (uint64_t)missing);
}

/* What a field refers to.  A string has p == NULL when it is absent, and no NUL inside. */
tc_fb_table ti_fb_child(tc_fb_table table, uint32_t field);
tc_str ti_fb_string(tc_fb_table table, uint32_t field);
tc_fb_vector ti_fb_list(tc_fb_table table, uint32_t field, size_t element_bytes);
tc_bytes ti_fb_bytes(tc_fb_table table, uint32_t field); /* [ubyte], in place */
/* How many elements a list has, none of which is looked at. */
size_t ti_fb_count(tc_fb_table table, uint32_t field);

/* Elements; i must be below n. */
tc_fb_table ti_fb_list_table(tc_fb_vector list, size_t i);
tc_str ti_fb_list_string(tc_fb_vector list, size_t i);
int32_t ti_fb_list_i32(tc_fb_vector list, size_t i);
uint64_t ti_fb_list_u64(tc_fb_vector list, size_t i);

/* ---- writing --------------------------------------------------------------------------------- */

enum { TC_FB_FIELDS = 32 }; /* the most fields in a table that is written */

/* Something already written: its distance from the end of the buffer.  0: nothing. */
typedef uint32_t tc_fb_ref;

typedef struct tc_fb_writer {
    tc_arena *arena;
    uint8_t *data; /* cap bytes, of which the last `used` are written */
    size_t cap, used;
    size_t align;      /* the largest alignment so far */
    bool too_large;    /* past 2 GiB: what follows is not kept */
    tc_map strings;    /* text to its reference */
    tc_fb_ref *vtable; /* those written so far */
    size_t n_vtable, cap_vtable;
    /* The table being written: offset of each field, 0: absent. */
    tc_fb_ref field[TC_FB_FIELDS];
    uint32_t n_field;
    size_t table_end;
} tc_fb_writer;

/* `expected`: a guess at the size, so that large data is copied once. */
void ti_fb_write(tc_fb_writer *w, tc_arena *arena, size_t expected);

tc_fb_ref ti_fb_put_string(tc_fb_writer *w, tc_str text);
tc_fb_ref ti_fb_put_bytes(tc_fb_writer *w, const void *data, size_t size, size_t align);
tc_fb_ref ti_fb_put_i32s(tc_fb_writer *w, const int64_t *v, size_t n);
tc_fb_ref ti_fb_put_words(tc_fb_writer *w, tc_bytes words); /* [u32], in the file's byte order */
/* n elements of so many bytes, in the file's byte order. */
tc_fb_ref ti_fb_put_list(tc_fb_writer *w, const void *data, size_t n, size_t element);
tc_fb_ref ti_fb_put_u64s(tc_fb_writer *w, const uint64_t *v, size_t n);
tc_fb_ref ti_fb_put_refs(tc_fb_writer *w, const tc_fb_ref *ref, size_t n);

/* A table: begin, its fields in any order, end.  Scalars equal to `missing` and references to
 * nothing are left out. */
void ti_fb_begin(tc_fb_writer *w);
void ti_fb_set_u8(tc_fb_writer *w, uint32_t field, uint8_t v, uint8_t missing);
void ti_fb_set_u32(tc_fb_writer *w, uint32_t field, uint32_t v, uint32_t missing);
void ti_fb_set_u64(tc_fb_writer *w, uint32_t field, uint64_t v, uint64_t missing);
void ti_fb_set_ref(tc_fb_writer *w, uint32_t field, tc_fb_ref ref);
tc_fb_ref ti_fb_end(tc_fb_writer *w);

/* The finished buffer, in the writer's arena; identifier NULL: none.  No bytes when it grew too
 * large. */
tc_bytes ti_fb_finish(tc_fb_writer *w, tc_fb_ref root, const char *identifier);

#endif
