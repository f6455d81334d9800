/* SPDX-License-Identifier: Apache-2.0 */
/* census.c -- see census.h.  A setting is an integer: product, part and kind of operation in the
 * high bits, then a few bits per field; those of Vela's streams are in census.inc, sorted. */
#include "census.h"

enum part { NUMBERS, PLACES, WINDOWS };
enum { KIND_BITS = 4, PART_BITS = 2, HEAD = 64 - KIND_BITS - PART_BITS - 2 };

typedef struct field {
    const char *name;
    uint8_t part, bits;
} field;

static const field fields[] = {
#define CENSUS_FIELD(part, name, bits, value) {#name, part, bits},
#include "census.def"
};

typedef enum field_id {
#define CENSUS_FIELD(part, name, bits, value) part##_##name,
#include "census.def"
    FIELDS
} field_id;

typedef struct own {
    tc_npu_product product;
    tc_npu_kind kind;
    field_id field;
    uint32_t value;
    const char *reason;
} own;

static const own owns[] = {
#define CENSUS_OWN(product, kind, part, field, value, reason) \
    {TC_##product, TC_NPU_KIND_##kind, part##_##field, value, reason},
#include "census.def"
    {TC_U55, TC_NPU_KIND_STOP, FIELDS, 0, NULL}};

static const tc_npu_setting known[] = {
#include "census.inc"
};

/* ---- of an operation ---- */

/* Bytes and sign of what is read or written; 0: nothing is. */
static uint32_t type_of(const tc_npu_map *m)
{
    return !m->used ? 0 : 1u << 3 | (m->bytes == 8 ? 3u : m->bytes >> 1) << 1 | m->is_signed;
}

/* Kind of memory, and format. */
static uint32_t place_of(const tc_npu_map *m)
{
    return !m->used ? 0 : (uint32_t)m->storage << 1 | (uint32_t)m->format;
}

/* Whether it scales its operands. */
static bool has_factors(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_ELEMENTWISE &&
           (op->mode == TC_EW_ADD || op->mode == TC_EW_SUB || op->mode == TC_EW_MIN ||
            op->mode == TC_EW_MAX);
}

void ti_npu_setting(const tc_npu_machine *m, const tc_npu_op *op,
                    tc_npu_setting out[TC_CENSUS_PARTS])
{
    const uint32_t value[] = {
#define CENSUS_FIELD(part, name, bits, value) (uint32_t)(value),
#include "census.def"
    };
    int at[TC_CENSUS_PARTS] = {0};
    for (unsigned p = 0; p < TC_CENSUS_PARTS; p++)
        out[p] = ((uint64_t)m->product << PART_BITS | p) << KIND_BITS | (unsigned)op->kind;
    for (unsigned p = 0; p < TC_CENSUS_PARTS; p++)
        out[p] <<= HEAD;
    for (size_t i = 0; i < TC_COUNT(fields); i++) {
        const field *f = &fields[i];
        uint32_t most = (1u << f->bits) - 1;
        out[f->part] |= (uint64_t)(value[i] < most ? value[i] : most) << at[f->part];
        at[f->part] += f->bits;
    }
    if (op->kind == TC_NPU_KIND_ELEMENTWISE || op->kind == TC_NPU_KIND_RESIZE)
        out[WINDOWS] = 0;
}

/* ---- what is known ---- */

/* The first index whose setting is not smaller. */
static size_t find(tc_npu_setting s)
{
    size_t lo = 0, hi = TC_COUNT(known);
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (known[mid] < s)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool setting_known(tc_npu_setting s)
{
    size_t i = find(s);
    return s == 0 || (i < TC_COUNT(known) && known[i] == s);
}

static uint32_t get(tc_npu_setting s, int at, int bits)
{
    return (uint32_t)(s >> at) & ((1u << bits) - 1);
}

/* Another operation of the kind has this value. */
static bool value_known(tc_npu_setting s, int at, int bits)
{
    uint64_t head = s >> HEAD;
    for (size_t i = find(head << HEAD); i < TC_COUNT(known) && known[i] >> HEAD == head; i++)
        if (get(known[i], at, bits) == get(s, at, bits))
            return true;
    return false;
}

bool ti_npu_looks_up(const tc_npu_machine *m, tc_npu_kind kind, uint8_t function)
{
    tc_npu_setting s[TC_CENSUS_PARTS];
    int at = 0;
    ti_npu_setting(m, &(tc_npu_op){.kind = kind, .function = function}, s);
    for (size_t i = 0; i < NUMBERS_function; i++)
        at += fields[i].part == NUMBERS ? fields[i].bits : 0;
    return value_known(s[NUMBERS], at, fields[NUMBERS_function].bits);
}

static const char *reason_of(tc_npu_product product, tc_npu_kind kind, size_t f, uint32_t value)
{
    for (size_t i = 0; owns[i].reason; i++)
        if (owns[i].product == product && owns[i].kind == kind && owns[i].field == f &&
            owns[i].value == value)
            return owns[i].reason;
    return NULL;
}

static const char *const part_names[] = {"numbers", "places", "windows"};

/* Fields of the part, those with values that are new marked. */
static void tell(tc_arena *arena, tc_npu_product product, tc_npu_kind kind, int part,
                 tc_npu_setting s, tc_npu_news *out)
{
    const char *text = part_names[part];
    bool listed = true;
    int at = 0;
    for (size_t i = 0; i < TC_COUNT(fields); i++) {
        const field *f = &fields[i];
        if (f->part != part)
            continue;
        uint32_t v = get(s, at, f->bits);
        bool new = !value_known(s, at, f->bits);
        const char *reason = new ? reason_of(product, kind, i, v) : NULL;
        out->value = out->value || new;
        listed = listed && (!new || reason);
        out->reason = reason ? reason : out->reason;
        if (v || new)
            text = ti_text_format(arena, "%s %s=0x%x%s", text, f->name, v, new ? " (new)" : "");
        at += f->bits;
    }
    out->reason = listed ? out->reason : NULL;
    out->text = text;
    out->setting = s;
}

static tc_npu_news *entry(tc_arena *arena, tc_npu_census *c, const tc_npu_program *p,
                          const tc_npu_op *op, int part, tc_npu_setting s)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].setting == s)
            return &c->list[i];
    tc_npu_news news = {.at = op->at};
    tell(arena, p->machine->product, op->kind, part, s, &news);
    const char *mode = ti_npu_mode_name(op->kind, op->mode);
    news.operation = *mode == '?' ? ti_npu_kind_name(op->kind)
                                  : ti_text_format(arena, "%s %s", ti_npu_kind_name(op->kind), mode);
    size_t i = c->n < TC_CENSUS_NEWS ? c->n++ : TC_CENSUS_NEWS - 1;
    c->list[i] = news;
    return &c->list[i];
}

void ti_npu_census(tc_arena *arena, const tc_npu_program *p, tc_npu_census *out)
{
    tc_npu_walk walk;
    tc_npu_op op;
    *out = (tc_npu_census){.list = tc_new_n(arena, tc_npu_news, TC_CENSUS_NEWS)};
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op)) {
        if (!ti_npu_is_kernel(op.kind))
            continue;
        tc_npu_setting s[TC_CENSUS_PARTS];
        bool combination = false, value = false, listed = false;
        ti_npu_setting(p->machine, &op, s);
        out->n_operation++;
        for (int part = 0; part < TC_CENSUS_PARTS; part++) {
            if (setting_known(s[part]))
                continue;
            tc_npu_news *news = entry(arena, out, p, &op, part, s[part]);
            news->times++;
            value = value || (news->value && !news->reason);
            listed = listed || (news->value && news->reason);
            combination = combination || !news->value;
        }
        out->n_value += value;
        out->n_listed += !value && listed;
        out->n_combination += !value && !listed && combination;
    }
}
