/* SPDX-License-Identifier: Apache-2.0 */
/* c_loops.c -- elementwise nodes as one loop: each node is a line of arithmetic on local numbers; for
 * cores with MVE a second time, on four of them at once, where every node has such a line. */
#include "c_model.h"

/* A pointer that the loop reads or writes by, with its steps along the loop's axes. */
typedef struct stream {
    const char *pointer; /* as an expression */
    const char *type;
    tc_val v;
    size_t next; /* 1 + another of the same value; 0: none */
    int64_t step[TC_MAX_RANK];
} stream;

typedef struct loop {
    tc_c_model *m;
    const tc_c_graph *cg;
    const tc_c_step *step;
    int rank;
    int64_t dim[TC_MAX_RANK];
    stream *stream; /* the first is the result */
    size_t n_stream;
    bool four; /* lines are of four numbers */
} loop;

static const tc_type *type_of(const loop *l, tc_val v) { return ti_type_of(l->cg->g, v); }
static tc_dtype dtype_of(const loop *l, tc_val v) { return type_of(l, v)->dtype; }

/* ---- operands ---- */

static bool is_inside(const loop *l, tc_val v)
{
    return l->cg->in_chain[v] == 1 + (size_t)(l->step - l->cg->step);
}

/* along: the last axis alone, for numbers by channel. */
static size_t stream_of(loop *l, tc_val v, bool along)
{
    const tc_type *t = type_of(l, v), *out = type_of(l, l->step->out);
    stream s = {.pointer = ti_c_pointer(l->m, l->cg, v), .type = ti_c_type(t->dtype), .v = v};
    int64_t size = 1;
    for (int i = out->rank - 1; i >= 0 && !along; i--) {
        s.step[i] = t->dim[i] == 1 ? 0 : size;
        size *= t->dim[i];
    }
    if (along && out->rank)
        s.step[out->rank - 1] = tc_type_count(t) > 1;
    for (size_t i = l->cg->stream[v]; i; i = l->stream[i - 1].next)
        if (i > 1 && memcmp(l->stream[i - 1].step, s.step, sizeof s.step) == 0)
            return i - 1;
    s.next = l->cg->stream[v];
    l->stream[l->n_stream++] = s;
    l->cg->stream[v] = l->n_stream;
    return l->n_stream - 1;
}

static bool is_number(const loop *l, tc_val v)
{
    return ti_c_is_const(l->cg, v) && tc_type_count(type_of(l, v)) == 1;
}

static const char *number(const loop *l, tc_val v)
{
    return ti_c_number(l->m, ti_c_const_at(l->cg, v, 0));
}

/* The number that stands for a value in the loop's body; "@3@" is stream 3 at its place. */
static const char *operand(loop *l, tc_val v, bool along)
{
    if (is_inside(l, v))
        return ti_text_format(&l->m->ctx->arena, "t%u", v);
    if (is_number(l, v))
        return ti_text_format(&l->m->ctx->arena, l->four ? "tosac_vnumber(%s)" : "%s",
                              number(l, v));
    return ti_text_format(&l->m->ctx->arena, "@%zu@", stream_of(l, v, along));
}

/* ---- one line for each operator ---- */

typedef const char *line_fn(loop *l, const tc_node *node);

static const char *in(loop *l, const tc_node *node, int i)
{
    return operand(l, node->in[i], false);
}
#define TEXT(l, ...) ti_text_format(&(l)->m->ctx->arena, __VA_ARGS__)

static const char *mul(loop *l, const tc_node *node)
{
    if (l->four && (!is_number(l, node->in[2]) || ti_c_const_at(l->cg, node->in[2], 0)))
        return NULL;
    const char *a = in(l, node, 0), *b = in(l, node, 1), *s = operand(l, node->in[2], true);
    if (!ti_c_is_const(l->cg, node->in[2]))
        return TEXT(l, "%s ? tosac_mul_shift(%s, %s, %s) : tosac_mul(%s, %s)", s, a, b, s, a, b);
    if (l->four)
        return TEXT(l, "vmulq_s32(%s, %s)", a, b);
    return ti_text_eq(s, "0") ? TEXT(l, "tosac_mul(%s, %s)", a, b)
                              : TEXT(l, "tosac_mul_shift(%s, %s, %s)", a, b, s);
}

static const char *clamp(loop *l, const tc_node *node)
{
    const tc_attr_tosa_clamp *a = node->attr;
    return TEXT(l, "tosac_%sclip(%s, %s, %s)", l->four ? "v" : "", in(l, node, 0),
                ti_c_number(l->m, ti_trunc_i64(a->min_val)),
                ti_c_number(l->m, ti_trunc_i64(a->max_val)));
}

static const char *right_shift(loop *l, const tc_node *node)
{
    bool round = ((const tc_attr_tosa_shift *)node->attr)->round;
    const char *a = in(l, node, 0), *b = in(l, node, 1);
    return TEXT(l, "tosac_%sasr%s(%s, %s)", l->four ? "v" : "", round ? "_round" : "", a, b);
}

static const char *logical_right_shift(loop *l, const tc_node *node)
{
    if (l->four)
        return NULL;
    const char *a = in(l, node, 0), *b = in(l, node, 1);
    return TEXT(l, "tosac_lsr((u%s)(%s), %s)", ti_c_type(dtype_of(l, node->in[0])), a, b);
}

static const char *negate(loop *l, const tc_node *node)
{
    if (l->four)
        return NULL;
    tc_dtype d = dtype_of(l, node->out[0]);
    const char *x = in(l, node, 0), *from = operand(l, node->in[1], true);
    const char *to = operand(l, node->in[2], true);
    const char *v = TEXT(l, "tosac_sub(%s, tosac_sub(%s, %s))", to, x, from);
    return d == TC_i32 ? v
                       : TEXT(l, "tosac_clip(%s, %" PRId64 ", %" PRId64 ")", v, ti_dtype_min(d),
                              ti_dtype_max(d));
}

static const char *cast(loop *l, const tc_node *node)
{
    tc_dtype from = dtype_of(l, node->in[0]), to = dtype_of(l, node->out[0]);
    bool wraps = tc_dtypes[to].bits < tc_dtypes[from].bits;
    if (l->four && to == TC_bool)
        return TEXT(l, "tosac_vtruth(vcmpneq_n_s32(%s, 0))", in(l, node, 0));
    if (l->four && wraps)
        return TEXT(l, "tosac_vwrap(%s, %d)", in(l, node, 0), tc_dtypes[to].bits);
    return TEXT(l, to == TC_bool ? "%s != 0" : "%s", in(l, node, 0));
}

static const char *table(loop *l, const tc_node *node)
{
    const char *entries = ti_c_pointer(l->m, l->cg, node->in[1]), *x = in(l, node, 0);
    if (l->four)
        return dtype_of(l, node->in[0]) == TC_i8 ? TEXT(l, "tosac_vtable(%s, %s)", entries, x)
                                                 : NULL;
    return dtype_of(l, node->in[0]) == TC_i8 ? TEXT(l, "(%s)[%s + 128]", entries, x)
                                             : TEXT(l, "tosac_table16(%s, %s)", entries, x);
}

/* ---- RESCALE ---- */

static const char *unsigned_of(loop *l, tc_dtype d, const char *v)
{
    return TEXT(l, "(%s & %s)", v, d == TC_i8 ? "0xff" : "0xffff");
}

/* One multiplier of 2^30: shifts will do. */
static bool is_power(const loop *l, const tc_node *node, int64_t *shift)
{
    const tc_attr_tosa_rescale *a = node->attr;
    if (!a->scale32 || a->rounding_mode == TC_rounding_inexact || a->per_channel ||
        !ti_c_is_const(l->cg, node->in[1]) || !ti_c_is_const(l->cg, node->in[2]) ||
        ti_c_const_at(l->cg, node->in[1], 0) != INT64_C(1) << 30)
        return false;
    *shift = ti_c_const_at(l->cg, node->in[2], 0) - 30;
    return *shift <= 1 || (a->rounding_mode == TC_rounding_single && *shift < 32);
}

static const char *scaled(loop *l, const tc_node *node, const char *v)
{
    const tc_attr_tosa_rescale *a = node->attr;
    static const char *const names[] = {[TC_rounding_single] = "tosac_scale",
                                        [TC_rounding_double] = "tosac_scale_double",
                                        [TC_rounding_inexact] = "tosac_scale_inexact"};
    bool wide = !a->scale32 && a->rounding_mode != TC_rounding_inexact;
    int64_t shift;
    if (is_power(l, node, &shift))
        return shift == 0  ? v
               : shift < 0 ? TEXT(l, "tosac_lsl(%s, %" PRId64 ")", v, -shift)
                           : TEXT(l, "tosac_asr_round(%s, %" PRId64 ")", v, shift);
    const char *m = operand(l, node->in[1], true), *s = operand(l, node->in[2], true);
    return TEXT(l, "%s(%s, %s, %s)", wide ? "tosac_scale_wide" : names[a->rounding_mode], v, m, s);
}

/* Four at once: by numbers that are known, of signed types. */
static const char *rescale_four(loop *l, const tc_node *node)
{
    const tc_attr_tosa_rescale *a = node->attr;
    tc_dtype to = dtype_of(l, node->out[0]);
    for (int i = 1; i < 5; i++)
        if (!is_number(l, node->in[i]))
            return NULL;
    if (!a->scale32 || a->rounding_mode == TC_rounding_inexact || a->input_unsigned ||
        a->output_unsigned)
        return NULL;
    const char *v = in(l, node, 0);
    int64_t zero = ti_c_const_at(l->cg, node->in[3], 0), shift;
    int64_t out_zero = ti_c_const_at(l->cg, node->in[4], 0);
    if (zero)
        v = TEXT(l, "vaddq_n_s32(%s, %s)", v, ti_c_number(l->m, -zero));
    if (!is_power(l, node, &shift))
        v = TEXT(l, "tosac_vscale%s(%s, %s, %s)",
                 a->rounding_mode == TC_rounding_double ? "_double" : "", v,
                 number(l, node->in[1]), number(l, node->in[2]));
    else if (shift)
        v = TEXT(l, "vrshlq_s32(%s, tosac_vnumber(%" PRId64 "))", v, -shift);
    if (to == TC_i32)
        return v;
    v = TEXT(l, "tosac_vclip(%s, %s, %s)", v, ti_c_number(l->m, ti_dtype_min(to) - out_zero),
             ti_c_number(l->m, ti_dtype_max(to) - out_zero));
    return out_zero ? TEXT(l, "vaddq_n_s32(%s, %s)", v, ti_c_number(l->m, out_zero)) : v;
}

static const char *rescale(loop *l, const tc_node *node)
{
    if (l->four)
        return rescale_four(l, node);
    const tc_attr_tosa_rescale *a = node->attr;
    tc_dtype from = dtype_of(l, node->in[0]), to = dtype_of(l, node->out[0]);
    const char *v = in(l, node, 0), *zero = operand(l, node->in[3], true);
    if (a->input_unsigned) {
        v = unsigned_of(l, from, v);
        zero = unsigned_of(l, from, zero);
    }
    if (!ti_text_eq(zero, "0"))
        v = TEXT(l, from == TC_i48 ? "%s - %s" : "tosac_sub(%s, %s)", v, zero);
    v = scaled(l, node, v);
    if (to == TC_i32)
        return v;
    zero = operand(l, node->in[4], true);
    if (a->output_unsigned)
        zero = unsigned_of(l, to, zero);
    int64_t lo = a->output_unsigned ? 0 : ti_dtype_min(to);
    int64_t hi = lo + ti_dtype_max(to) - ti_dtype_min(to);
    return TEXT(l, "tosac_clip(%s, %" PRId64 " - %s, %" PRId64 " - %s) + %s", v, lo,
                TEXT(l, "(%s)", zero), hi, TEXT(l, "(%s)", zero), TEXT(l, "(%s)", zero));
}

/* $0, $1, $2: the operands; of one number, and of four. */
static const struct {
    tc_op op;
    const char *one, *four;
    line_fn *line; /* instead of both */
} lines[] = {
    {TC_OP_tosa_add, "tosac_add($0, $1)", "vaddq_s32($0, $1)", NULL},
    {TC_OP_tosa_sub, "tosac_sub($0, $1)", "vsubq_s32($0, $1)", NULL},
    {TC_OP_tosa_mul, NULL, NULL, mul},
    {TC_OP_tosa_intdiv, "tosac_div($0, $1)", NULL, NULL},
    {TC_OP_tosa_maximum, "tosac_max($0, $1)", "vmaxq_s32($0, $1)", NULL},
    {TC_OP_tosa_minimum, "tosac_min($0, $1)", "vminq_s32($0, $1)", NULL},
    {TC_OP_tosa_bitwise_and, "$0 & $1", "vandq_s32($0, $1)", NULL},
    {TC_OP_tosa_bitwise_or, "$0 | $1", "vorrq_s32($0, $1)", NULL},
    {TC_OP_tosa_bitwise_xor, "$0 ^ $1", "veorq_s32($0, $1)", NULL},
    {TC_OP_tosa_bitwise_not, "~$0", "vmvnq_s32($0)", NULL},
    {TC_OP_tosa_logical_and, "$0 & $1", "vandq_s32($0, $1)", NULL},
    {TC_OP_tosa_logical_or, "$0 | $1", "vorrq_s32($0, $1)", NULL},
    {TC_OP_tosa_logical_xor, "$0 ^ $1", "veorq_s32($0, $1)", NULL},
    {TC_OP_tosa_logical_not, "!$0", "veorq_s32($0, tosac_vnumber(1))", NULL},
    {TC_OP_tosa_logical_left_shift, "tosac_lsl($0, $1)", NULL, NULL},
    {TC_OP_tosa_logical_right_shift, NULL, NULL, logical_right_shift},
    {TC_OP_tosa_arithmetic_right_shift, NULL, NULL, right_shift},
    {TC_OP_tosa_equal, "$0 == $1", "tosac_vtruth(vcmpeqq_s32($0, $1))", NULL},
    {TC_OP_tosa_greater, "$0 > $1", "tosac_vtruth(vcmpgtq_s32($0, $1))", NULL},
    {TC_OP_tosa_greater_equal, "$0 >= $1", "tosac_vtruth(vcmpgeq_s32($0, $1))", NULL},
    {TC_OP_tosa_select, "$0 ? $1 : $2", "tosac_vselect($0, $1, $2)", NULL},
    {TC_OP_tosa_abs, "tosac_abs($0)", "vabsq_s32($0)", NULL},
    {TC_OP_tosa_clz, "tosac_clz($0)", "vclzq_s32($0)", NULL},
    {TC_OP_tosa_clamp, NULL, NULL, clamp},
    {TC_OP_tosa_negate, NULL, NULL, negate},
    {TC_OP_tosa_cast, NULL, NULL, cast},
    {TC_OP_tosa_table, NULL, NULL, table},
    {TC_OP_tosa_rescale, NULL, NULL, rescale},
};

/* NULL: there is no line for it. */
static const char *line_of(loop *l, const tc_node *node)
{
    size_t i = 0;
    while (i < TC_COUNT(lines) && lines[i].op != node->op)
        i++;
    if (i == TC_COUNT(lines))
        return NULL;
    if (lines[i].line)
        return lines[i].line(l, node);
    tc_buf text;
    ti_buf_init(&text, &l->m->ctx->arena);
    for (const char *p = l->four ? lines[i].four : lines[i].one; p && *p; p++)
        if (*p == '$')
            ti_buf_text(&text, in(l, node, *++p - '0'));
        else
            ti_buf_u8(&text, (uint8_t)*p);
    return text.size ? ti_buf_cstr(&text) : NULL;
}

/* ---- the loop ---- */

/* Axes of extent 1 go; neighbours along which all streams go on evenly become one. */
static void join_axes(loop *l)
{
    const tc_type *out = type_of(l, l->step->out);
    l->rank = 0;
    for (int i = 0; i < out->rank; i++) {
        if (out->dim[i] == 1)
            continue;
        int k = l->rank;
        bool joins = k > 0;
        for (size_t s = 0; s < l->n_stream && joins; s++)
            joins = l->stream[s].step[k - 1] == l->stream[s].step[i] * out->dim[i];
        k = joins ? k - 1 : l->rank++;
        l->dim[k] = joins ? l->dim[k] * out->dim[i] : out->dim[i];
        for (size_t s = 0; s < l->n_stream; s++)
            l->stream[s].step[k] = l->stream[s].step[i];
    }
}

/* Where a stream stands: "i0 * 12 + i1". */
static void put_index(const loop *l, const stream *s, tc_buf *out)
{
    size_t begin = out->size;
    for (int k = 0; k < l->rank; k++) {
        if (!s->step[k])
            continue;
        ti_buf_printf(out, "%si%d", out->size == begin ? "" : " + ", k);
        if (s->step[k] > 1)
            ti_buf_printf(out, " * %" PRId64, s->step[k]);
    }
    if (out->size == begin)
        ti_buf_text(out, "0");
}

/* A stream's number where the loop stands. */
static void put_element(const loop *l, size_t i, tc_buf *out)
{
    const stream *s = &l->stream[i];
    bool runs = s->step[l->rank - (l->rank > 0)] != 0;
    if (l->four)
        ti_buf_printf(out, runs ? "tosac_vload_%s(&" : "tosac_vnumber(", s->type);
    ti_buf_printf(out, "p%zu[", i);
    put_index(l, s, out);
    ti_buf_text(out, !l->four ? "]" : runs ? "], lanes)" : "])");
}

/* The body with every "@3@" as that. */
static void put_body(const loop *l, const char *body, tc_buf *out)
{
    for (const char *p = body; *p; p++) {
        if (*p != '@') {
            ti_buf_u8(out, (uint8_t)*p);
            continue;
        }
        size_t s = 0;
        for (p++; *p != '@'; p++)
            s = s * 10 + (size_t)(*p - '0');
        put_element(l, s, out);
    }
}

static void put_loop(const loop *l, const char *body)
{
    tc_buf *out = &l->m->code;
    int last = l->rank - 1;
    for (int k = 0; k < l->rank; k++)
        ti_buf_printf(out,
                      l->four && k == last
                          ? "        for (size_t i%d = 0; i%d < %" PRId64 "; i%d += 4)%s\n"
                          : "        for (size_t i%d = 0; i%d < %" PRId64 "; i%d++)%s\n",
                      k, k, l->dim[k], k, k == last ? " {" : "");
    if (l->four)
        ti_buf_printf(out, "            mve_pred16_t lanes = vctp32q(%" PRId64 " - i%d);\n",
                      l->dim[last], last);
    put_body(l, body, out);
    if (l->four)
        ti_buf_printf(out, "            tosac_vstore_%s(&p0[", l->stream[0].type);
    else
        ti_buf_text(out, "            p0[");
    put_index(l, &l->stream[0], out);
    if (l->four)
        ti_buf_printf(out, "], t%u, lanes);\n", l->step->out);
    else
        ti_buf_printf(out, "] = (%s)t%u;\n", l->stream[0].type, l->step->out);
    ti_buf_text(out, l->rank ? "        }\n" : "");
}

static bool is_narrow(tc_dtype d) { return d == TC_i8 || d == TC_i16; }

/* A line for each node; the one that has none comes back. */
static const tc_node *put_lines(loop *l, tc_buf *body)
{
    for (size_t i = 0; i < l->step->n_chain; i++) {
        const tc_node *node = l->step->chain[i];
        tc_dtype d = dtype_of(l, node->out[0]);
        const char *line = line_of(l, node);
        if (!line)
            return node;
        bool wraps = is_narrow(d) && !l->four;
        ti_buf_printf(body, "            %s t%u = ",
                      l->four ? "tosac_v" : d == TC_i48 ? "int64_t" : "int32_t", node->out[0]);
        ti_buf_printf(body, wraps ? "(%s)(%s);\n" : "%s%s;\n", wraps ? ti_c_type(d) : "", line);
    }
    return NULL;
}

/* Whether four neighbours can be had at once: of 32 bits at most, side by side or all the same. */
static bool goes_by_fours(const loop *l)
{
    bool fits = l->m->request->core == TC_CORE_MVE && l->rank > 0 && l->dim[l->rank - 1] >= 8;
    for (size_t s = 0; s < l->n_stream && fits; s++)
        fits = l->stream[s].step[l->rank - 1] <= 1 && dtype_of(l, l->stream[s].v) != TC_i48;
    for (size_t i = 0; i < l->step->n_chain && fits; i++)
        fits = dtype_of(l, l->step->chain[i]->out[0]) != TC_i48;
    return fits && l->stream[0].step[l->rank - 1] == 1;
}

/* ---- what it takes ---- */

static void count_node(const loop *l, const tc_node *node, tc_c_cost *cost, double times)
{
    const tc_machine *machine = l->m->request->machine;
    const tc_attr_tosa_rescale *a = node->attr;
    tc_c_work simple = l->four ? TC_C_WORK_fours_simple : TC_C_WORK_loop_simple, work = simple;
    int64_t shift;
    if (node->op == TC_OP_tosa_rescale) {
        if (dtype_of(l, node->out[0]) != TC_i32)
            ti_c_work(cost, machine, simple, times);
        if (!is_power(l, node, &shift))
            work = l->four      ? TC_C_WORK_fours_rescale
                   : a->scale32 ? TC_C_WORK_loop_rescale
                                : TC_C_WORK_loop_wide;
    } else if (node->op == TC_OP_tosa_table) {
        work = l->four                             ? TC_C_WORK_fours_table
               : dtype_of(l, node->in[0]) == TC_i8 ? TC_C_WORK_loop_table
                                                   : TC_C_WORK_loop_wide;
    } else if (node->op == TC_OP_tosa_intdiv ||
               (node->op == TC_OP_tosa_mul &&
                !(is_number(l, node->in[2]) && !ti_c_const_at(l->cg, node->in[2], 0)))) {
        work = TC_C_WORK_loop_wide;
    }
    ti_c_work(cost, machine, work, times);
}

static void count_loop(const loop *l)
{
    const tc_machine *machine = l->m->request->machine;
    tc_c_cost *cost = &l->cg->cost[l->step - l->cg->step];
    double rows = 1, each = 1;
    int last = l->rank - 1;
    if (!machine)
        return;
    for (int i = 0; i < last; i++)
        rows *= (double)l->dim[i];
    if (last >= 0)
        each = l->four ? (double)((l->dim[last] + 3) / 4) : (double)l->dim[last];
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_call : TC_C_WORK_loop_call, 1);
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_row : TC_C_WORK_loop_row, rows);
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_element : TC_C_WORK_loop_element,
              rows * each);
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_operand : TC_C_WORK_loop_operand,
              rows * each * (double)(l->n_stream - 1));
    for (size_t i = 0; i < l->step->n_chain; i++)
        count_node(l, l->step->chain[i], cost, rows * each);
}

tc_status ti_c_chain(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *step)
{
    loop l = {.m = m, .cg = cg, .step = step};
    tc_buf one, four;
    size_t most = 1;
    for (size_t i = 0; i < step->n_chain; i++)
        most += (size_t)step->chain[i]->n_in;
    l.stream = tc_new_n(&m->ctx->arena, stream, most);
    ti_buf_init(&one, &m->ctx->arena);
    ti_buf_init(&four, &m->ctx->arena);
    stream_of(&l, step->out, false);
    const tc_node *refused = put_lines(&l, &one);
    if (refused)
        return ti_c_refuse(m, refused, "there is no kernel for it");
    l.four = true;
    bool has_four = put_lines(&l, &four) == NULL;
    for (size_t s = 0; s < l.n_stream; s++)
        cg->stream[l.stream[s].v] = 0;
    join_axes(&l);
    for (size_t s = 0; s < l.n_stream; s++)
        ti_buf_printf(&m->code, "        %s%s *p%zu = %s;\n", s ? "const " : "", l.stream[s].type,
                      s, l.stream[s].pointer);
    has_four = has_four && goes_by_fours(&l);
    l.four = has_four;
    count_loop(&l);
    if (has_four) {
        m->used[TC_C_VECTOR] = m->used[TC_C_SIMD] = true;
        ti_buf_text(&m->code, "#if TOSAC_ISA == TOSAC_ISA_MVE\n");
        put_loop(&l, ti_buf_cstr(&four));
        ti_buf_text(&m->code, "#else\n");
    }
    l.four = false;
    put_loop(&l, ti_buf_cstr(&one));
    ti_buf_text(&m->code, has_four ? "#endif\n" : "");
    return TC_OK;
}
