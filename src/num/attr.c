/* SPDX-License-Identifier: Apache-2.0 */
/* attr.c -- the tables generated from attr.def, and comparison by them. */
#include "attr.h"

#define CHOICE(name, words) static const char *const words_##name[] = {words};
#define WORD(choice, word) #word,
#define ATTR(name, fields) static const tc_field fields_##name[] = {fields};
#define FIELD(record, kind, name) {#name, TC_FIELD_##kind, offsetof(tc_attr_##record, name)},
#include "attr.def"

const tc_choice tc_choices[] = {
#define CHOICE(name, words) {#name, words_##name, TC_##name##_COUNT},
#define WORD(choice, word)
#define ATTR(name, fields)
#define FIELD(record, kind, name)
#include "attr.def"
};

const tc_attr_info tc_attrs[TC_ATTR_COUNT] = {
    [TC_ATTR_none] = {"none", 0, 0, NULL},
#define CHOICE(name, words)
#define WORD(choice, word)
#define ATTR(name_, list_)                                                                       \
    [TC_ATTR_##name_] = {#name_, sizeof(tc_attr_##name_), TC_COUNT(fields_##name_), fields_##name_},
#define FIELD(record, kind, name)
#include "attr.def"
};

static tc_bytes span(const void *data, size_t size)
{
    return (tc_bytes){data, size};
}

/* The bytes that make up a field's content. */
static tc_bytes content(const tc_field *field, const void *record)
{
    const void *at = (const char *)record + field->at;
    switch (field->kind) {
    case TC_FIELD_i64:
        return span(at, sizeof(int64_t));
    case TC_FIELD_f64:
        return span(at, sizeof(double));
    case TC_FIELD_bool:
    case TC_FIELD_flag:
        return span(at, sizeof(bool));
    case TC_FIELD_ints: {
        const tc_ints *list = at;
        return span(list->v, (size_t)list->n * sizeof list->v[0]);
    }
    case TC_FIELD_floats: {
        const tc_floats *list = at;
        return span(list->v, (size_t)list->n * sizeof list->v[0]);
    }
    case TC_FIELD_text: {
        const char *text = *(const char *const *)at;
        return span(text, text ? strlen(text) : 0);
    }
    case TC_FIELD_bytes:
        return *(const tc_bytes *)at;
    default: /* dtype and choices are enumerations */
        return span(at, sizeof(tc_dtype));
    }
}

bool ti_attr_equal(tc_attr_kind kind, const void *a, const void *b)
{
    const tc_attr_info *info = &tc_attrs[kind];
    for (int i = 0; i < info->n_field; i++) {
        tc_bytes x = content(&info->field[i], a), y = content(&info->field[i], b);
        if (x.size != y.size || (x.size && memcmp(x.data, y.data, x.size) != 0))
            return false;
    }
    return true;
}

uint64_t ti_attr_hash(tc_attr_kind kind, const void *attr, uint64_t seed)
{
    const tc_attr_info *info = &tc_attrs[kind];
    for (int i = 0; i < info->n_field; i++) {
        tc_bytes x = content(&info->field[i], attr);
        seed = ti_hash(x.data, x.size, seed);
    }
    return seed;
}

int64_t ti_axes_count(const tc_type *t, tc_ints axes)
{
    int64_t n = 1;
    for (int i = 0; i < axes.n; i++)
        n *= t->dim[axes.v[i]];
    return n;
}

tc_ints ti_ints_copy(tc_arena *arena, const int64_t *v, int32_t n)
{
    int64_t *copy = tc_new_n(arena, int64_t, (size_t)n);
    if (n)
        memcpy(copy, v, (size_t)n * sizeof *v);
    return (tc_ints){n, copy};
}

bool ti_ints_are(tc_ints list, int64_t v)
{
    for (int32_t i = 0; i < list.n; i++)
        if (list.v[i] != v)
            return false;
    return true;
}

tc_ints ti_ints_fill(tc_arena *arena, int64_t value, int32_t n)
{
    int64_t *v = tc_new_n(arena, int64_t, (size_t)n);
    for (int32_t i = 0; i < n; i++)
        v[i] = value;
    return (tc_ints){n, v};
}
