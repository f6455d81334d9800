/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_later.c -- scalars known only at run time: item() of an input or of state, and Python's
 * arithmetic on it.  Each is a rank-0 tensor.  They serve as operands, and as the start of a slice:
 * its rows are gathered and scattered by index. */
#include "pt2_program.h"

/* {"as_name": ...} of such a number; NONE: it is something else. */
static tc_val later_of(tc_pt2_scope *scope, const tc_json *json)
{
    tc_str tag;
    const tc_json *value = json ? ti_json_only(json, &tag) : NULL;
    if (!value || !ti_str_is(tag, "as_name"))
        return TC_NONE;
    const tc_pt2_name *name = ti_pt2_name_of(scope, ti_json_text(&scope->reader->work, value));
    return name && name->kind == TC_PT2_LATER ? name->cell->val : TC_NONE;
}

static tc_val later_argument(tc_pt2_node *n, const tc_json *value, tc_str tag)
{
    bool sym = ti_str_is(tag, "as_sym_int") || ti_str_is(tag, "as_sym_float") ||
               ti_str_is(tag, "as_sym_bool");
    return value && sym ? later_of(n->work->scope, value) : TC_NONE;
}

tc_val ti_pt2_later(tc_pt2_node *n, const char *arg)
{
    tc_str tag;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    return later_argument(n, value, tag);
}

static void bind_later(tc_pt2_node *n, tc_val val)
{
    if (n->m.status != TC_OK || !n->n_result || !n->work->result[0].name.p)
        return;
    tc_arena *work = &n->reader->work;
    tc_pt2_name *name = tc_new(work, tc_pt2_name);
    *name = (tc_pt2_name){.kind = TC_PT2_LATER, .cell = tc_new(work, tc_pt2_cell)};
    name->cell->val = val;
    *ti_map_at(&n->work->scope->name, n->work->result[0].name) = name;
}

/* item(): the tensor itself, when its number is not known yet. */
static bool take_item(tc_pt2_node *n)
{
    if (!ti_text_eq(n->target, "aten.item.default") &&
        !ti_text_eq(n->target, "aten._local_scalar_dense.default"))
        return false;
    tc_str tag;
    tc_tensor known;
    const tc_json *operand = ti_pt2_arg_at(n, 0, &tag);
    tc_val x = operand && ti_str_is(tag, "as_tensor") ? ti_pt2_value(n, operand) : TC_NONE;
    if (!x || tc_type_count(ti_b_type(&n->m, x)) != 1 || ti_b_known(&n->m, x, &known))
        return false;
    bind_later(n, ti_b_reshape(&n->m, x, 0, NULL));
    return true;
}

static const struct {
    const char *target;
    tc_op op;
} functions[] = {
    {"_operator.add", TC_OP_add},       {"_operator.sub", TC_OP_sub},
    {"_operator.mul", TC_OP_mul},       {"_operator.floordiv", TC_OP_div},
    {"_operator.mod", TC_OP_remainder}, {"_operator.neg", TC_OP_neg},
    {"_operator.lt", TC_OP_lt},         {"_operator.le", TC_OP_le},
    {"_operator.gt", TC_OP_gt},         {"_operator.ge", TC_OP_ge},
    {"_operator.eq", TC_OP_eq},         {"_operator.ne", TC_OP_ne},
    {"torch.sym_max", TC_OP_maximum},   {"torch.sym_min", TC_OP_minimum},
    {"builtins.max", TC_OP_maximum},    {"builtins.min", TC_OP_minimum},
};

static const void *attributes(tc_pt2_node *n, tc_op op)
{
    return op == TC_OP_add || op == TC_OP_sub ? (const void *)ti_b_attr(&n->m, alpha, 1)
           : op == TC_OP_div ? (const void *)ti_b_attr(&n->m, div, TC_div_mode_floor)
                             : NULL;
}

/* Scalars of one kind: an integer combined with a real is real. */
static tc_val number_value(tc_pt2_node *n, tc_pt2_number v)
{
    return v.kind == TC_PT2_FLOAT ? ti_b_scalar(&n->m, TC_f32, v.f)
                                  : ti_b_scalar_i64(&n->m, TC_i64, v.i);
}

static bool compute(tc_pt2_node *n)
{
    tc_val in[2] = {TC_NONE, TC_NONE};
    bool any = false;
    int n_in = 0;
    tc_str tag;
    for (const tc_json *arg; n_in < 2 && (arg = ti_pt2_arg_at(n, n_in, &tag)); n_in++) {
        in[n_in] = later_argument(n, arg, tag);
        any |= in[n_in] != TC_NONE;
    }
    for (int i = 0; any && i < n_in; i++) {
        const tc_json *arg = ti_pt2_arg_at(n, i, &tag);
        tc_pt2_number v = ti_pt2_number_of(n->work->scope, arg, tag);
        if (!in[i] && v.kind != TC_PT2_NOTHING && v.kind != TC_PT2_BROKEN)
            in[i] = number_value(n, v);
        any = in[i] != TC_NONE;
    }
    if (!any)
        return false;
    for (size_t i = 0; i < TC_COUNT(functions); i++)
        if (ti_text_eq(functions[i].target, n->target)) {
            tc_op op = functions[i].op;
            bind_later(n, ti_b_op(&n->m, op, attributes(n, op), in, n_in));
            return true;
        }
    ti_pt2_tell_later(n);
    return true;
}

bool ti_pt2_compute_later(tc_pt2_node *n)
{
    return take_item(n) || compute(n);
}

void ti_pt2_tell_later(tc_pt2_node *n)
{
    if (n->m.status == TC_OK)
        n->m.status = ti_unsupported(n->m.ctx, n->m.loc, TC_E_DYNAMIC,
                                     "'%s': a number that depends on input values or on state",
                                     n->target);
}

/* Whether the file declares that a scalar is at least 0: one symbol with a range. */
static bool never_negative(tc_pt2_node *n, const char *arg)
{
    static const char mark[] = "Symbol('";
    tc_str tag;
    tc_pt2 *reader = n->reader;
    const tc_json *name = ti_json_get(ti_pt2_arg(n, arg, &tag), "as_name");
    tc_str text = ti_json_text(&reader->work, name);
    const tc_json *number =
        text.p ? ti_json_get(n->work->scope->numbers, ti_text_copy(&reader->work, text)) : NULL;
    text = ti_json_text(&reader->work, ti_json_get(ti_json_get(number, "as_expr"), "expr_str"));
    if (!text.p || !ti_text_starts(text.p, mark))
        return false;
    tc_str symbol = {text.p + strlen(mark), strcspn(text.p + strlen(mark), "'")};
    const tc_json *range = ti_json_get(ti_json_get(reader->program, "range_constraints"),
                                       ti_text_copy(&reader->work, symbol));
    int64_t least = -1;
    return ti_json_i64(ti_json_get(range, "min_val"), &least) && least >= 0;
}

tc_val ti_pt2_rows_from(tc_pt2_node *n, const char *arg, int64_t extent, int64_t count,
                        int64_t step)
{
    tc_val start = ti_pt2_later(n, arg), first = ti_b_cast(&n->m, start, TC_i64);
    TC_STOP_WITH(&n->m, TC_NONE);
    if (!never_negative(n, arg)) {
        tc_val below = ti_b_2(&n->m, lt, NULL, first, ti_b_scalar_i64(&n->m, TC_i64, 0));
        tc_val wrapped = ti_b_add_n(&n->m, first, (double)extent);
        first = ti_b_where(&n->m, below, wrapped, first);
    }
    first = ti_b_reshape(&n->m, first, 1, (int64_t[]){1});
    if (count == 1 || n->m.status != TC_OK)
        return first;
    int64_t *further = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        further[i] = i * step;
    return ti_b_2(&n->m, add, ti_b_attr(&n->m, alpha, 1), first,
                  ti_b_list(&n->m, further, count));
}
