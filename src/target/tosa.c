/* SPDX-License-Identifier: Apache-2.0 */
/* tosa.c -- the TOSA judge: goes through a module with the tables of tosa.def and reports every
 * rule that is broken, with what was found and what is allowed. */
#include "judge.h"

#include "../num/load.h"
#include "tosa_schema.h"

enum { MOST_LETTERS = 4 };

/* Profiles and extensions as a mask; EITHER: one of the two profiles. */
enum {
#define FEATURE(name, word, spec, base) name = 1 << TC_FEATURE_##name,
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
    EITHER = 1 << TC_FEATURE_COUNT
};

static const char *const spec_name[TC_FEATURE_COUNT] = {
#define FEATURE(name, word, spec, base) [TC_FEATURE_##name] = spec,
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
};

typedef struct {
    const char *family;
    uint32_t need;
    int n;
    tc_dtype type[MOST_LETTERS];
} types_row;

static const types_row types_table[] = {
#define FEATURE(name, word, spec, base)
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

static const judge_row judge_table[TC_OP_COUNT] = {
#define FEATURE(name, word, spec, base)
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

/* The element type that a letter other than a to d stands for. */
static tc_dtype fixed_type(const tc_node *node, char letter)
{
    switch (letter) {
    case 'B':
        return TC_bool;
    case 'S':
        return TC_shape;
    case 'Y':
        return TC_i8;
    default: /* M: the multipliers of a rescale */
        return ((const tc_attr_tosa_rescale *)node->attr)->scale32 ? TC_i32 : TC_i16;
    }
}

static void match(tc_judge *j, found *f, const char *what, int i, char letter, tc_dtype is)
{
    bool variable = letter >= 'a' && letter < 'a' + MOST_LETTERS;
    tc_dtype want = variable ? f->type[letter - 'a'] : fixed_type(j->node, letter);
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

static void put_types(tc_buf *out, const tc_dtype *type, int n)
{
    ti_buf_u8(out, '(');
    for (int i = 0; i < n; i++)
        ti_buf_printf(out, "%s%s", i ? "," : "", tc_dtypes[type[i]].name);
    ti_buf_u8(out, ')');
}

static bool satisfied(uint32_t need, uint32_t have)
{
    bool either = !(need & EITHER) || (have & (INT | FP));
    return either && !(need & ~(uint32_t)EITHER & ~have);
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
    ti_buf_init(&out, &j->ctx->scratch);
    put_types(&out, type, n);
    return ti_buf_cstr(&out);
}

static void types_unknown(tc_judge *j, const judge_row *row, const found *f)
{
    tc_buf all;
    ti_buf_init(&all, &j->ctx->scratch);
    int n = 0;
    for (size_t i = 0; i < TC_COUNT(types_table); i++)
        if (ti_text_eq(types_table[i].family, row->family)) {
            n = types_table[i].n;
            ti_buf_u8(&all, ' ');
            put_types(&all, types_table[i].type, n);
        }
    TC_BREAKS(j, TOSA_RULE, "the element types %s are not supported; supported are%s",
              types_text(j, f->type, n), ti_buf_cstr(&all));
}

/* The rows of a family stand together; where they begin is looked up once per operator. */
static const types_row *types_find(tc_judge *j, tc_op op, const tc_dtype *type)
{
    const char *family = judge_table[op].family;
    const types_row *end = types_table + TC_COUNT(types_table), *t = j->types[op];
    for (t = t ? t : types_table; t < end && !ti_text_eq(t->family, family);)
        t++;
    j->types[op] = t;
    for (; t < end && ti_text_eq(t->family, family); t++)
        if (memcmp(t->type, type, (size_t)t->n * sizeof t->type[0]) == 0)
            return t;
    return NULL;
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
    else if (j->target && !satisfied(hit->need, j->target->tosa))
        TC_BREAKS(j, TOSA_PROFILE, "on %s needs %s, the target is %s",
                  types_text(j, f->type, hit->n), need_text(j, hit->need), target_text(j));
    return hit != NULL;
}

void ti_judge_need(tc_judge *j, tc_feature feature, const char *what)
{
    if (j->target && !(j->target->tosa & 1u << feature))
        TC_BREAKS(j, TOSA_PROFILE, "%s needs %s, the target is %s", what, spec_name[feature],
                  j->target->text);
}

/* ---- constants, zero points, choices --------------------------------------------------------- */

static void check_constants(tc_judge *j, const judge_row *row)
{
    if (!j->target || j->target->tosa & DYNAMIC)
        return;
    for (const char *p = row->constant; *p; p++)
        if (!ti_is_const(j->g, j->node->in[*p - '0']))
            TC_BREAKS(j, TOSA_PROFILE,
                      "operand %c is not a constant, which needs EXT-DYNAMIC; the target is %s", *p,
                      j->target->text);
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
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_tensor_of(j->g, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        out[i] = *ti_result(j, i);
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
        if (t->dim[i] < 1)
            return true;
    return false;
}

static void check_value(tc_judge *j, const tc_value *value)
{
    const tc_type *t = value->type;
    const tc_dtype_info *info = &tc_dtypes[t->dtype];
    bool shape = t->dtype == TC_shape;
    int64_t bytes = tc_type_count(t) * ((info->bits + 7) / 8);
    tc_mark mark = ti_arena_mark(&j->ctx->scratch);
    if (info->tosa < 1 || info->tosa > TC_TOSA_LAST_DTYPE_1_0)
        TURN_DOWN(j, value, TOSA_RULE, "a tensor has type %s, which TOSA 1.0 does not have",
                  info->name);
    if (shape && (!value->data || t->rank != 1))
        TURN_DOWN(j, value, TOSA_RULE, "a shape of rank %d is not a constant list", t->rank);
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
    if (!value->def && j->target && row && !satisfied(row->need, j->target->tosa))
        TURN_DOWN(j, value, TOSA_PROFILE, "an input of type %s needs %s, the target is %s",
                  info->name, need_text(j, row->need), j->target->text);
    ti_arena_rewind(&j->ctx->scratch, mark);
}

static void judge_node(tc_judge *j, const tc_node *node)
{
    const judge_row *row = &judge_table[node->op];
    j->node = node;
    if (!row->family) {
        TC_BREAKS(j, TOSA_RULE, "has no TOSA form%s", "");
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
    for (size_t i = 1; i < g->n_val; i++)
        check_value(j, g->val[i]);
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
    collect_names(&j);
    for (size_t i = 0; i < module->n_graph; i++)
        judge_graph(&j, module->graph[i]);
    ti_judge_nesting(&j);
    ti_arena_rewind(&ctx->scratch, mark);
    return j.worst;
}
