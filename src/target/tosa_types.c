/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_types.c -- which element types an operator of TOSA has together, by the rows of tosa.def, and
 * the profiles and extensions that they need. */
#include "judge.h"

#include "tosa_schema.h"

enum { MOST_LETTERS = 4 };

/* Profiles and extensions as a mask; EITHER: one of the two profiles. */
enum {
#define FEATURE(name, word, spec, base, since) name = 1 << TC_FEATURE_##name,
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
    EITHER = 1 << TC_FEATURE_COUNT,
    NEW = 1 << (TC_FEATURE_COUNT + 1), /* the row came with TOSA 1.1 */
    SINCE_1_1 = 0
#define FEATURE(name, word, spec, base, since) | (since ? name : 0)
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
};

/* Sets of element types, after the types themselves. */
enum {
    TC_MX = TC_DTYPE_COUNT,
    TC_VALUE,
    TC_VALUE_FP,
    TC_NARROW,
    TC_NARROW_8,
    TC_REAL,
    TC_PLAIN,
    TC_WHOLE,
    TC_INDEX,
    SET_END
};

static const char *const set_name[SET_END - TC_DTYPE_COUNT] = {
    "any block-scaled type",
    "any value of a block",
    "any value of a block but mxint8",
    "any float but f32",
    "any float but f32 and f16",
    "any float",
    "any float that is not block scaled",
    "bool, i8, i16, i32 or i64",
    "i32 or i64",
};

typedef struct {
    const char *family;
    uint32_t need;
    int n;
    int type[MOST_LETTERS]; /* or sets of them */
} types_row;

static const types_row types_table[] = {
#define FEATURE(name, word, spec, base, since)
#define T0 0, {TC_none}
#define T1(a) 1, {TC_##a}
#define T2(a, b) 2, {TC_##a, TC_##b}
#define T3(a, b, c) 3, {TC_##a, TC_##b, TC_##c}
#define T4(a, b, c, d) 4, {TC_##a, TC_##b, TC_##c, TC_##d}
#define TYPES(family, need, types) {#family, need, types},
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
};

/* The element types found for the letters a to d. */
typedef struct {
    tc_dtype type[MOST_LETTERS];
    bool fits; /* nothing contradicted a letter so far */
} found;

/* The zero point of an operand: of its type, and f32 where that is block scaled. */
static tc_dtype zero_type(const tc_judge *j, int i)
{
    tc_dtype t = ti_operand(j, i)->dtype;
    return ti_is_block(t) ? TC_f32 : t;
}

/* The element type that a letter other than a to d stands for. */
static tc_dtype fixed_type(const tc_judge *j, char letter)
{
    switch (letter) {
    case 'U':
        return TC_ue8m0;
    case 'F':
        return TC_f32;
    case 'I':
        return TC_i32;
    case 'P':
        return zero_type(j, 0);
    case 'Q':
        return zero_type(j, 1);
    case 'B':
        return TC_bool;
    case 'S':
        return TC_shape;
    case 'Y':
        return TC_i8;
    default: /* M: the multipliers of a rescale */
        return ((const tc_attr_tosa_rescale *)j->node->attr)->scale32 ? TC_i32 : TC_i16;
    }
}

static void match(tc_judge *j, found *f, const char *what, int i, char letter, tc_dtype is)
{
    bool variable = letter >= 'a' && letter < 'a' + MOST_LETTERS;
    tc_dtype want = variable ? f->type[letter - 'a'] : fixed_type(j, letter);
    if (want == TC_none)
        f->type[letter - 'a'] = is;
    else if (want != is) {
        f->fits = false;
        TC_BREAKS(j, TOSA_RULE, "%s %d is of type %s, expected %s", what, i, tc_dtypes[is].name,
                  tc_dtypes[want].name);
    }
}

/* The letter for place i of a signature; 0: whatever there is. */
static char letter_at(const char *letters, int i)
{
    size_t n = strlen(letters);
    if (n && letters[n - 1] == '+')
        return (size_t)i < n - 1 ? letters[i] : letters[n - 2];
    return n && letters[0] != '*' ? letters[i] : 0;
}

static tc_dtype acc_type(const tc_node *node)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[node->op].attr];
    for (int i = 0; i < info->n_field; i++)
        if (ti_text_eq(info->field[i].name, "acc_type"))
            return *(const tc_dtype *)((const char *)node->attr + info->field[i].at);
    return TC_none;
}

static found find_types(tc_judge *j, const tc_judge_row *row)
{
    found f = {.fits = true};
    for (int i = 0; i < j->node->n_in; i++)
        if (letter_at(row->in, i))
            match(j, &f, "operand", i, letter_at(row->in, i), ti_operand(j, i)->dtype);
    for (int i = 0; i < j->node->n_out; i++)
        if (letter_at(row->out, i))
            match(j, &f, "result", i, letter_at(row->out, i), ti_result(j, i)->dtype);
    if (row->acc)
        match(j, &f, "acc_type", 0, row->acc, acc_type(j->node));
    return f;
}

static void put_types(tc_buf *out, const int *type, int n)
{
    ti_buf_u8(out, '(');
    for (int i = 0; i < n; i++)
        ti_buf_printf(out, "%s%s", i ? "," : "",
                      type[i] < TC_DTYPE_COUNT ? tc_dtypes[type[i]].name
                                               : set_name[type[i] - TC_DTYPE_COUNT]);
    ti_buf_u8(out, ')');
}

/* Whether a type is the one of a row, or in its set. */
static bool in_set(int set, tc_dtype t)
{
    bool mx = ti_is_block(t), plain = t == TC_e4m3 || t == TC_e5m2 || t == TC_f16 || t == TC_bf16;
    switch (set) {
    case TC_MX:
        return mx;
    case TC_VALUE:
        return ti_block_of(t) != TC_none;
    case TC_VALUE_FP:
        return ti_block_of(t) != TC_none && t != TC_mxint8;
    case TC_NARROW:
        return mx || plain;
    case TC_NARROW_8:
        return mx || (plain && t != TC_f16);
    case TC_REAL:
        return mx || plain || t == TC_f32;
    case TC_PLAIN:
        return plain || t == TC_f32;
    case TC_WHOLE:
        return t == TC_bool || t == TC_i8 || t == TC_i16 || t == TC_i32 || t == TC_i64;
    case TC_INDEX:
        return t == TC_i32 || t == TC_i64;
    default:
        return set == (int)t;
    }
}

/* What a value of a block needs, of whatever type it is. */
static uint32_t value_need(tc_dtype value)
{
    static const uint32_t need[TC_DTYPE_COUNT] = {
        [TC_e4m3] = MXE4M3, [TC_e5m2] = MXE5M2, [TC_e2m3] = MXE2M3,
        [TC_e3m2] = MXE3M2, [TC_e2m1] = MXE2M1, [TC_mxint8] = MXINT8};
    return MX | need[value];
}

/* What a type needs that stands in a set. */
static uint32_t deduced_need(int set, tc_dtype t)
{
    static const uint32_t need[TC_DTYPE_COUNT] = {
        [TC_i64] = INT64, [TC_f16] = FP,     [TC_f32] = FP,
        [TC_bf16] = BF16, [TC_e4m3] = E4M3, [TC_e5m2] = E5M2};
    if (set < TC_DTYPE_COUNT)
        return 0;
    if (set == TC_VALUE || set == TC_VALUE_FP)
        return value_need(t);
    return ti_is_block(t) ? value_need(ti_block_value(t)) : need[t];
}

static void put_need(tc_buf *out, uint32_t need)
{
    const char *between = "";
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (need & 1u << i) {
            ti_buf_printf(out, "%s%s", between, ti_feature_spec((tc_feature)i));
            between = " and ";
        }
    if (need & EITHER)
        ti_buf_printf(out, "%sPRO-INT or PRO-FP", between);
}

static const char *types_text(tc_judge *j, const tc_dtype *type, int n)
{
    tc_buf out;
    int each[MOST_LETTERS];
    for (int i = 0; i < n; i++)
        each[i] = (int)type[i];
    ti_buf_init(&out, &j->ctx->scratch);
    put_types(&out, each, n);
    return ti_buf_cstr(&out);
}

/* A row that TOSA 1.0 does not have. */
static bool is_new(const types_row *t)
{
    return (t->need & (NEW | SINCE_1_1)) != 0;
}

static void types_unknown(tc_judge *j, const tc_judge_row *row, const found *f)
{
    tc_buf all;
    ti_buf_init(&all, &j->ctx->scratch);
    int n = 0;
    for (size_t i = 0; i < TC_COUNT(types_table); i++)
        if (ti_text_eq(types_table[i].family, row->family) && j->minor >= is_new(&types_table[i])) {
            n = types_table[i].n;
            ti_buf_u8(&all, ' ');
            put_types(&all, types_table[i].type, n);
        }
    TC_BREAKS(j, TOSA_RULE, "the element types %s are not supported; supported are%s",
              types_text(j, f->type, n), ti_buf_cstr(&all));
}

static bool row_holds(const types_row *t, const tc_dtype *type)
{
    for (int i = 0; i < t->n; i++)
        if (!in_set(t->type[i], type[i]))
            return false;
    return true;
}

/* All that these types need in this row. */
static uint32_t need_of(const types_row *t, const tc_dtype *type)
{
    uint32_t need = t->need & ~(uint32_t)NEW;
    for (int i = 0; i < t->n; i++)
        need |= deduced_need(t->type[i], type[i]);
    return need;
}

static bool satisfied(uint32_t need, uint32_t have)
{
    bool either = !(need & EITHER) || (have & (INT | FP));
    return either && !(need & ~(uint32_t)EITHER & ~have);
}

/* The row that holds these types: of several the one whose needs the target has.  The rows of a
 * family stand together; which they are is looked up once per operator. */
static const types_row *types_find(tc_judge *j, tc_op op, const tc_dtype *type)
{
    const char *family = ti_judge_row(op)->family;
    const types_row *end = types_table + TC_COUNT(types_table), *t = j->types[op],
                    *behind = j->types_end[op];
    if (!t) {
        for (t = types_table; t < end && !ti_text_eq(t->family, family);)
            t++;
        for (behind = t; behind < end && ti_text_eq(behind->family, family);)
            behind++;
        j->types[op] = t;
        j->types_end[op] = behind;
    }
    const types_row *hit = NULL;
    for (; t < behind; t++) {
        if (j->minor < is_new(t) || !row_holds(t, type))
            continue;
        if (!j->target || satisfied(need_of(t, type), j->target->tosa))
            return t;
        hit = hit ? hit : t;
    }
    return hit;
}

static const char *need_text(tc_judge *j, uint32_t need)
{
    tc_buf out;
    ti_buf_init(&out, &j->ctx->scratch);
    put_need(&out, need);
    return ti_buf_cstr(&out);
}

/* The target as TOSA knows it. */
static const char *target_text(const tc_judge *j)
{
    return !j->target->machine->spec ? j->target->text : ti_target_spec(j->ctx, j->target);
}

/* Whether the operator's table holds these types, and the target what their row needs. */
static bool types_allowed(tc_judge *j, const tc_judge_row *row, const found *f)
{
    const types_row *hit = types_find(j, j->node->op, f->type);
    if (!hit)
        types_unknown(j, row, f);
    else if (j->target && !satisfied(need_of(hit, f->type), j->target->tosa))
        TC_BREAKS(j, TOSA_PROFILE, "on %s needs %s, the target is %s",
                  types_text(j, f->type, hit->n), need_text(j, need_of(hit, f->type)),
                  target_text(j));
    return hit != NULL;
}

/* Values, perhaps with their scales, that are moved: those of a block need its extensions, others
 * what RESHAPE of them needs. */
void ti_limits_block_list(tc_judge *j)
{
    tc_dtype t = ti_operand(j, 0)->dtype;
    bool scaled = j->node->n_out == 2;
    const types_row *row = scaled ? NULL : types_find(j, TC_OP_tosa_reshape, &t);
    uint32_t need = scaled && in_set(TC_VALUE, t) ? value_need(t) : row ? need_of(row, &t) : 0;
    if (!need)
        TC_BREAKS(j, TOSA_RULE, "the element type %s is not supported", tc_dtypes[t].name);
    if (j->node->op == TC_OP_tosa_row_gather_block_scaled) {
        tc_dtype index = ti_operand(j, j->node->n_in - 2)->dtype;
        need |= deduced_need(TC_INDEX, index);
        if (!in_set(TC_INDEX, index))
            TC_BREAKS(j, TOSA_RULE, "indices are of type %s, expected i32 or i64",
                      tc_dtypes[index].name);
    }
    if (need && j->target && !satisfied(need, j->target->tosa))
        TC_BREAKS(j, TOSA_PROFILE, "on %s needs %s, the target is %s", tc_dtypes[t].name,
                  need_text(j, need), target_text(j));
}

bool ti_judge_types(tc_judge *j)
{
    const tc_judge_row *row = ti_judge_row(j->node->op);
    found f = find_types(j, row);
    return f.fits && types_allowed(j, row, &f);
}

bool ti_judge_types_are_new(tc_judge *j)
{
    found f = find_types(j, ti_judge_row(j->node->op));
    const types_row *hit = f.fits ? types_find(j, j->node->op, f.type) : NULL;
    return hit && is_new(hit);
}

const char *ti_judge_value_needs(tc_judge *j, tc_dtype type)
{
    const types_row *row = types_find(j, TC_OP_const, &type);
    uint32_t need = row ? need_of(row, &type) : 0;
    return satisfied(need, j->target->tosa) ? NULL : need_text(j, need);
}
