/* SPDX-License-Identifier: Apache-2.0 */
/* attr.h -- attribute records and what attr.def says of their fields.
 *
 * Records are plain data; lists and text live in the context's arena. */
#ifndef TC_ATTR_H
#define TC_ATTR_H

#include "type.h"

typedef struct tc_ints {
    int32_t n;
    const int64_t *v;
} tc_ints;

typedef struct tc_floats {
    int32_t n;
    const double *v;
} tc_floats;

typedef int64_t tc_field_i64;
typedef double tc_field_f64;
typedef bool tc_field_bool;
typedef bool tc_field_flag; /* in text only where it is true */
typedef tc_ints tc_field_ints;
typedef tc_floats tc_field_floats;
typedef const char *tc_field_text; /* interned */
typedef tc_bytes tc_field_bytes;
typedef tc_dtype tc_field_dtype;

#define CHOICE(name, words) typedef enum tc_field_##name{words TC_##name##_COUNT} tc_field_##name;
#define WORD(choice, word) TC_##choice##_##word,
#define ATTR(name, fields) typedef struct tc_attr_##name { fields } tc_attr_##name;
#define FIELD(record, kind, name) tc_field_##kind name;
#include "attr.def"

/* How a field is printed, read and compared. */
typedef enum tc_field_kind {
    TC_FIELD_i64,
    TC_FIELD_f64,
    TC_FIELD_bool,
    TC_FIELD_flag,
    TC_FIELD_ints,
    TC_FIELD_floats,
    TC_FIELD_text,
    TC_FIELD_bytes,
    TC_FIELD_dtype,
    TC_FIELD_CHOICES, /* from here on: an enumeration, its words in tc_choices[kind -
                         TC_FIELD_CHOICES] */
    TC_FIELD_before_choices_ = TC_FIELD_CHOICES - 1,
#define CHOICE(name, words) TC_FIELD_##name,
#define WORD(choice, word)
#define ATTR(name, fields)
#define FIELD(record, kind, name)
#include "attr.def"
    TC_FIELD_KIND_COUNT
} tc_field_kind;

typedef struct tc_choice {
    const char *name;
    const char *const *word;
    int count;
} tc_choice;
extern const tc_choice tc_choices[];

typedef struct tc_field {
    const char *name;
    tc_field_kind kind;
    size_t at; /* offset in the record */
} tc_field;

typedef enum tc_attr_kind {
    TC_ATTR_none,
#define CHOICE(name, words)
#define WORD(choice, word)
#define ATTR(name, fields) TC_ATTR_##name,
#define FIELD(record, kind, name)
#include "attr.def"
    TC_ATTR_COUNT
} tc_attr_kind;

typedef struct tc_attr_info {
    const char *name;
    size_t size; /* of the record */
    int n_field;
    const tc_field *field;
} tc_attr_info;
extern const tc_attr_info tc_attrs[TC_ATTR_COUNT];

/* Equal in every field. */
bool ti_attr_equal(tc_attr_kind kind, const void *a, const void *b);
uint64_t ti_attr_hash(tc_attr_kind kind, const void *attr, uint64_t seed);

/* A list in the arena. */
/* fft.c: 1, 1/n or 1/sqrt(n). */
double ti_fft_factor(const tc_attr_fft *a, double points);

/* Elements along the axes. */
int64_t ti_axes_count(const tc_type *t, tc_ints axes);
tc_ints ti_ints_copy(tc_arena *arena, const int64_t *v, int32_t n);
/* Whether every entry of the list is v. */
bool ti_ints_are(tc_ints list, int64_t v);
tc_ints ti_ints_fill(tc_arena *arena, int64_t value, int32_t n);

#endif
