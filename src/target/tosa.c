/* SPDX-License-Identifier: Apache-2.0 */
/* tosa.c -- the TOSA judge: goes through a module with the tables of tosa.def and reports every
 * rule that is broken, with what was found and what is allowed. */
#include "judge.h"

#include "../ir/settle.h"
#include "../num/load.h"
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

static const char *const spec_name[TC_FEATURE_COUNT] = {
#define FEATURE(name, word, spec, base, since) [TC_FEATURE_##name] = spec,
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
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

typedef struct {
    const char *in, *out;
    char acc;
    const char *constant, *zeros, *family;
    tc_limits *limits;
} judge_row;

static tc_limits ti_limits_block_list;

static const judge_row judge_table[TC_OP_COUNT] = {
#define FEATURE(name, word, spec, base, since)
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)                                    \
    [TC_OP_##op] = {in, out, acc, constant, zeros, #types, ti_limits_##limits},
#include "tosa.def"
};

/* ---- counts ---------------------------------------------------------------------------------- */

static bool complete(tc_judge *j)
{
    const tc_node *node = j->node;
    const tc_op_info *info = &tc_ops[node->op];
    bool in = node->n_in >= info->min_in && (info->max_in == TC_ANY || node->n_in <= info->max_in);
    bool out = info->n_out == TC_ANY || node->n_out == info->n_out;
    if (!in)
        TC_BREAKS(j, TOSA_RULE, "has %d operands, expected %d%s", node->n_in, info->min_in,
                  info->max_in == TC_ANY ? " or more" : "");
    if (!out)
        TC_BREAKS(j, TOSA_RULE, "has %d results, expected %d", node->n_out, info->n_out);
    bool attr = info->attr == TC_ATTR_none || node->attr;
    if (!attr)
        TC_BREAKS(j, TOSA_RULE, "has no attributes, expected those of %s",
                  tc_attrs[info->attr].name);
    for (int i = 0; i < node->n_in; i++)
        if (!node->in[i]) {
            TC_BREAKS(j, TOSA_RULE, "operand %d is missing", i);
            in = false;
        }
    return in && out && attr;
}

/* ---- element types --------------------------------------------------------------------------- */

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

static found find_types(tc_judge *j, const judge_row *row)
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
            ti_buf_printf(out, "%s%s", between, spec_name[i]);
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

static void types_unknown(tc_judge *j, const judge_row *row, const found *f)
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
    const char *family = judge_table[op].family;
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

/* Whether the operator's table holds these types, and the target what their row needs. */
/* The target as TOSA knows it. */
static const char *target_text(const tc_judge *j)
{
    return !j->target->machine->spec ? j->target->text : ti_target_spec(j->ctx, j->target);
}

static bool types_allowed(tc_judge *j, const judge_row *row, const found *f)
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

/* The first node that lacks a feature has a message, the others are counted. */
static bool is_first(tc_judge *j, tc_feature feature)
{
    j->worst = j->worst == TC_OK ? TC_BAD_MODEL : j->worst;
    return j->lacks[feature]++ == 0;
}

void ti_judge_need(tc_judge *j, tc_feature feature, const char *what)
{
    if (j->target && !(j->target->tosa & 1u << feature) && is_first(j, feature))
        TC_BREAKS(j, TOSA_PROFILE, "%s needs %s, the target is %s", what, spec_name[feature],
                  j->target->text);
}

/* How many need a feature, and the target with it. */
static void tell_lacks(const tc_judge *j)
{
    static const char *const word[TC_FEATURE_COUNT] = {
#define FEATURE(name, word, spec, base, since) [TC_FEATURE_##name] = word,
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
    };
    for (int i = 0; i < TC_FEATURE_COUNT; i++) {
        if (!j->lacks[i])
            continue;
        size_t n = j->lacks[i];
        const char *spec = ti_target_spec(j->ctx, j->target), *one = n == 1 ? "" : "s";
        tc_packing packing = j->target->machine->packing;
        if (packing == TC_PACKED_VGF || packing == TC_PACKED_TOSA)
            ti_note(j->ctx, NULL, "%zu operator%s need%s %s; the target '%s%s+%s' has it", n, one,
                    n == 1 ? "s" : "", spec_name[i], packing == TC_PACKED_VGF ? "vgf:" : "", spec,
                    word[i]);
        else if (n > 1)
            ti_note(j->ctx, NULL, "%zu operators need %s", n, spec_name[i]);
    }
}

/* Values, perhaps with their scales, that are moved: those of a block need its extensions, others
 * what RESHAPE of them needs. */
static void ti_limits_block_list(tc_judge *j)
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

/* ---- constants, zero points, choices --------------------------------------------------------- */

/* Shapes that operators make are constants too: they follow from the sizes of tensors. */
static bool made_shape(const tc_judge *j, tc_val val)
{
    return j->minor > 0 && ti_type_of(j->g, val)->dtype == TC_shape && ti_value_of(j->g, val)->def;
}

static void check_constants(tc_judge *j, const judge_row *row)
{
    if (!j->target || j->target->tosa & DYNAMIC)
        return;
    for (const char *p = row->constant; *p; p++)
        if (!ti_is_const(j->g, j->node->in[*p - '0']) && !made_shape(j, j->node->in[*p - '0'])) {
            if (is_first(j, TC_FEATURE_DYNAMIC))
                TC_BREAKS(j, TOSA_PROFILE,
                          "operand %c is not a constant, which needs EXT-DYNAMIC; the target is %s",
                          *p, j->target->text);
            return;
        }
}

/* A zero point is zero unless it belongs to i8. */
static void check_zeros(tc_judge *j, const judge_row *row)
{
    for (const char *p = row->zeros; *p; p++) {
        tc_tensor zero = ti_tensor_of(j->g, j->node->in[*p - '0']);
        if (!zero.data || zero.type->dtype == TC_i8 || tc_type_count(zero.type) < 1)
            continue;
        if (ti_load_f64(zero, 0) != 0)
            TC_BREAKS(j, TOSA_RULE, "operand %c is a zero point of %g, type %s allows only 0", *p,
                      ti_load_f64(zero, 0), tc_dtypes[zero.type->dtype].name);
    }
}

/* Choices count from "unknown", which is none. */
static void check_choices(tc_judge *j)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[j->node->op].attr];
    for (int i = 0; i < info->n_field; i++) {
        const tc_field *field = &info->field[i];
        if (field->kind < TC_FIELD_CHOICES)
            continue;
        int value;
        memcpy(&value, (const char *)j->node->attr + field->at, sizeof value);
        if (value == 0)
            TC_BREAKS(j, TOSA_RULE, "%s is unknown", field->name);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Whether the operator's shape function accepts the operands; declared results are compared with
 * computed ones, element types only where they are known to be possible. */
static bool check_shapes(tc_judge *j, bool types_too)
{
    const tc_node *node = j->node;
    tc_arena *scratch = &j->ctx->scratch;
    tc_tensor *in = tc_new_n(scratch, tc_tensor, (size_t)node->n_in);
    tc_type *out = tc_new_n(scratch, tc_type, (size_t)node->n_out);
    bool open = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = ti_tensor_of(j->g, node->in[i]);
        in[i].data = in[i].data ? in[i].data : (void *)(uintptr_t)j->known[node->in[i]];
        open = open || ti_type_open(in[i].type);
    }
    for (int i = 0; i < node->n_out; i++) {
        out[i] = *ti_result(j, i);
        open = open || ti_type_open(&out[i]);
    }
    if (open)
        return false; /* known when the program runs */
    tc_infer call = {j->ctx, node->loc, tc_ops[node->op].name, node->attr, node->n_in, node->n_out,
                     in,     out};
    if (tc_ops[node->op].shape(&call) != TC_OK) {
        j->worst = TC_BAD_MODEL;
        return false;
    }
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *declared = ti_result(j, i);
        if (!ti_same_dims(declared, &out[i]))
            TC_BREAKS(j, TOSA_RULE, "result %d is declared %s, and is %s", i,
                      ti_dims_text(scratch, declared->rank, declared->dim),
                      ti_dims_text(scratch, out[i].rank, out[i].dim));
        else if (types_too && declared->dtype != out[i].dtype)
            TC_BREAKS(j, TOSA_RULE, "result %d is declared %s, and is %s", i,
                      tc_dtypes[declared->dtype].name, tc_dtypes[out[i].dtype].name);
    }
    return true;
}

/* ---- every value ----------------------------------------------------------------------------- */

/* A value of the graph is refused. */
#define TURN_DOWN(j, value, id, format, ...)                                                       \
    ((void)((j)->worst = ti_error((j)->ctx, value_loc(j, value), TC_E_##id, format, __VA_ARGS__)))

static const tc_loc *value_loc(tc_judge *j, const tc_value *value)
{
    if (value->def)
        return value->def->loc;
    tc_loc *loc = tc_new(&j->ctx->scratch, tc_loc);
    loc->file = j->module->file;
    loc->node =
        value->name ? value->name : ti_text_format(&j->ctx->scratch, "input %d", value->index);
    return loc;
}

static bool has_zero(const tc_type *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] < 1 && t->dim[i] != TC_OPEN)
            return true;
    return false;
}

static void check_value(tc_judge *j, const tc_value *value)
{
    const tc_type *t = value->type;
    const tc_dtype_info *info = &tc_dtypes[t->dtype];
    bool shape = t->dtype == TC_shape, open = ti_type_open(t);
    int64_t bytes = open ? 0 : tc_type_count(t) * ((info->bits + 7) / 8);
    tc_mark mark = ti_arena_mark(&j->ctx->scratch);
    if (!value->image && !(j->minor ? ti_tosa_has_1_1(t->dtype) : ti_tosa_has_1_0(t->dtype)))
        TURN_DOWN(j, value, TOSA_RULE, "a tensor has type %s, which TOSA 1.%d does not have",
                  info->name, j->minor);
    if (shape && ((!value->data && !(j->minor && value->def)) || t->rank != 1))
        TURN_DOWN(j, value, TOSA_RULE, "a shape of rank %d is not a constant list", t->rank);
    if (shape && j->minor && t->rank == 1 && t->dim[0] > TC_LEVEL_SHAPE)
        TURN_DOWN(j, value, TOSA_LEVEL, "a shape has %" PRId64 " values, level 8K allows %d",
                  t->dim[0], TC_LEVEL_SHAPE);
    if (open && !j->minor)
        TURN_DOWN(j, value, TOSA_RULE, "a tensor has the shape %s, TOSA 1.0 has no open sizes",
                  ti_dims_text(&j->ctx->scratch, t->rank, t->dim));
    if (ti_is_block(t->dtype) && (t->rank < 1 || t->dim[t->rank - 1] % TC_BLOCK))
        TURN_DOWN(j, value, TOSA_RULE, "a tensor is %s, expected a last axis of whole blocks of %d",
                  ti_type_text(&j->ctx->scratch, t), TC_BLOCK);
    if (t->rank > TC_LEVEL_RANK)
        TURN_DOWN(j, value, TOSA_LEVEL, "a tensor has rank %d, level 8K allows %d", t->rank,
                  TC_LEVEL_RANK);
    if (!shape && has_zero(t))
        TURN_DOWN(j, value, TOSA_RULE, "a tensor has the shape %s, no dimension may be 0",
                  ti_dims_text(&j->ctx->scratch, t->rank, t->dim));
    if (bytes >> TC_LEVEL_LOG2_SIZE)
        TURN_DOWN(j, value, TOSA_LEVEL,
                  "a tensor of shape %s has %" PRId64 " bytes, level 8K allows less than 2^%d",
                  ti_dims_text(&j->ctx->scratch, t->rank, t->dim), bytes, TC_LEVEL_LOG2_SIZE);
    const types_row *row = types_find(j, TC_OP_const, &t->dtype);
    uint32_t need = row ? need_of(row, &t->dtype) : 0;
    if (!value->def && j->target && !satisfied(need, j->target->tosa))
        TURN_DOWN(j, value, TOSA_PROFILE, "an input of type %s needs %s, the target is %s",
                  info->name, need_text(j, need), j->target->text);
    ti_arena_rewind(&j->ctx->scratch, mark);
}

/* An operator that TOSA 1.0 does not have. */
static bool is_new_op(tc_op op)
{
    return tc_ops[op].tosa > TC_TOSA_LAST_1_0 || op == TC_OP_tosa_cast_unsigned;
}

static void judge_node(tc_judge *j, const tc_node *node)
{
    const judge_row *row = &judge_table[node->op];
    j->node = node;
    if (!row->family) {
        TC_BREAKS(j, TOSA_RULE, "has no TOSA form%s", "");
        return;
    }
    if (!j->minor && is_new_op(node->op)) {
        TC_BREAKS(j, TOSA_RULE, "is of TOSA 1.1, and the %s of 1.0",
                  j->target ? "target is" : "program is");
        return;
    }
    if (!complete(j))
        return;
    tc_mark mark = ti_arena_mark(&j->ctx->scratch);
    found f = find_types(j, row);
    bool possible = f.fits && types_allowed(j, row, &f);
    check_constants(j, row);
    check_zeros(j, row);
    check_choices(j);
    if (node->op == TC_OP_const || check_shapes(j, possible))
        row->limits(j);
    ti_arena_rewind(&j->ctx->scratch, mark);
}

static void judge_graph(tc_judge *j, const tc_graph *g)
{
    j->g = g;
    j->known = ti_known_shapes(&j->ctx->scratch, g);
    for (size_t i = 1; i < g->n_val; i++)
        check_value(j, g->val[i]);
    for (size_t i = 0; i < g->n_out; i++)
        if (ti_type_of(g, g->out[i])->dtype == TC_shape)
            TURN_DOWN(j, ti_value_of(g, g->out[i]), TOSA_RULE, "output %zu is a shape", i);
    for (size_t i = 0; i < g->n_node; i++)
        judge_node(j, g->node[i]);
}

/* Names that nodes refer to. */
static void collect_names(tc_judge *j)
{
    ti_map_init(&j->graphs, &j->ctx->scratch);
    ti_map_init(&j->variables, &j->ctx->scratch);
    for (size_t i = 0; i < j->module->n_graph; i++) {
        tc_graph *g = j->module->graph[i];
        *ti_map_at(&j->graphs, ti_str_of(g->name)) = g;
        for (size_t k = 0; k < g->n_node; k++)
            if (g->node[k]->op == TC_OP_tosa_variable && g->node[k]->attr &&
                g->node[k]->n_out == 1) {
                const tc_attr_tosa_variable *a = g->node[k]->attr;
                void **slot = ti_map_at(&j->variables, ti_str_of(a->name));
                *slot = *slot ? *slot : (void *)(uintptr_t)ti_type_of(g, g->node[k]->out[0]);
            }
    }
}

tc_status ti_verify_tosa(tc_ctx *ctx, const tc_module *module, const char *target)
{
    tc_target parsed;
    if (target)
        TC_TRY(ti_target_parse(ctx, target, &parsed));
    return ti_verify_tosa_for(ctx, module, target ? &parsed : NULL);
}

tc_status ti_verify_tosa_for(tc_ctx *ctx, const tc_module *module, const tc_target *target)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_judge j = {.ctx = ctx, .module = module, .target = target};
    j.minor = target ? target->minor : module->origin.tosa_minor;
    collect_names(&j);
    for (size_t i = 0; i < module->n_graph; i++)
        judge_graph(&j, module->graph[i]);
    ti_judge_nesting(&j);
    tell_lacks(&j);
    ti_arena_rewind(&ctx->scratch, mark);
    return j.worst;
}

/* A node whose operator or element types are of TOSA 1.1. */
static bool node_is_new(tc_judge *j, const tc_node *node)
{
    const judge_row *row = &judge_table[node->op];
    j->node = node;
    if (is_new_op(node->op))
        return true;
    if (!row->family || !complete(j))
        return false;
    found f = find_types(j, row);
    const types_row *hit = f.fits ? types_find(j, node->op, f.type) : NULL;
    return hit && is_new(hit);
}

static bool is_new_type(const tc_type *t)
{
    return (ti_tosa_has_1_1(t->dtype) && !ti_tosa_has_1_0(t->dtype)) || ti_type_open(t);
}

bool ti_tosa_is_new(const tc_graph *g, const tc_node *node)
{
    tc_judge j = {.ctx = g->module->ctx, .module = g->module, .g = g, .minor = 1};
    tc_trial trial;
    ti_trial_begin(j.ctx, &trial);
    bool is = node_is_new(&j, node);
    ti_trial_end(j.ctx, &trial);
    return is;
}

int ti_tosa_minor(const tc_module *module)
{
    tc_judge j = {.ctx = module->ctx, .module = module, .minor = 1};
    tc_trial trial;
    bool new_one = false;
    ti_trial_begin(j.ctx, &trial);
    for (size_t i = 0; i < module->n_graph && !new_one; i++) {
        const tc_graph *g = j.g = module->graph[i];
        for (size_t k = 1; k < g->n_val && !new_one; k++)
            new_one = is_new_type(g->val[k]->type);
        for (size_t k = 0; k < g->n_node && !new_one; k++)
            new_one = node_is_new(&j, g->node[k]);
    }
    ti_trial_end(j.ctx, &trial);
    return new_one;
}
