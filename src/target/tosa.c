/* SPDX-License-Identifier: Apache-2.0 */
/* tosa.c -- the TOSA judge: goes through a module with the tables of tosa.def and reports every
 * rule that is broken, with what was found and what is allowed. */
#include "judge.h"

#include "../ir/settle.h"
#include "../num/load.h"
#include "tosa_schema.h"

static const char *const spec_name[TC_FEATURE_COUNT] = {
#define FEATURE(name, word, spec, base, since) [TC_FEATURE_##name] = spec,
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
};

const char *ti_feature_spec(tc_feature feature)
{
    return spec_name[feature];
}

static const tc_judge_row judge_table[TC_OP_COUNT] = {
#define FEATURE(name, word, spec, base, since)
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)                                    \
    [TC_OP_##op] = {in, out, acc, constant, zeros, #types, ti_limits_##limits},
#include "tosa.def"
};

const tc_judge_row *ti_judge_row(tc_op op)
{
    return &judge_table[op];
}

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

/* ---- features ------------------------------------------------------------------------------- */

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

/* ---- constants, zero points, choices --------------------------------------------------------- */

/* Shapes that operators make are constants too: they follow from the sizes of tensors. */
static bool made_shape(const tc_judge *j, tc_val val)
{
    return j->minor > 0 && ti_type_of(j->g, val)->dtype == TC_shape && ti_value_of(j->g, val)->def;
}

static void check_constants(tc_judge *j, const tc_judge_row *row)
{
    if (!j->target || j->target->tosa & 1u << TC_FEATURE_DYNAMIC)
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
static void check_zeros(tc_judge *j, const tc_judge_row *row)
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
    const char *need = value->def || !j->target ? NULL : ti_judge_value_needs(j, t->dtype);
    if (need)
        TURN_DOWN(j, value, TOSA_PROFILE, "an input of type %s needs %s, the target is %s",
                  info->name, need, j->target->text);
    ti_arena_rewind(&j->ctx->scratch, mark);
}

/* An operator that TOSA 1.0 does not have. */
static bool is_new_op(tc_op op)
{
    return tc_ops[op].tosa > TC_TOSA_LAST_1_0 || op == TC_OP_tosa_cast_unsigned;
}

static void judge_node(tc_judge *j, const tc_node *node)
{
    const tc_judge_row *row = &judge_table[node->op];
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
    bool possible = ti_judge_types(j);
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
    const tc_judge_row *row = &judge_table[node->op];
    j->node = node;
    if (is_new_op(node->op))
        return true;
    return row->family && complete(j) && ti_judge_types_are_new(j);
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
