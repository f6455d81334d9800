/* SPDX-License-Identifier: Apache-2.0 */
/* plan_eltwise.c -- integer RESCALE, arithmetic, sums, TABLE and CLAMP of TOSA through fast/.
 *
 * A RESCALE to i32 whose only reader is arithmetic or a sum is fused into that reader, and so is
 * the RESCALE after arithmetic. */
#include "plan_int.h"

#include "../fast/finish.h"
#include "../fast/int_eltwise.h"

static bool is_int(tc_dtype d) { return d == TC_i8 || d == TC_i16 || d == TC_i32; }

/* ---- RESCALE ---- */

/* As fast/ has it; `c` gets the narrowing. */
static bool take_rescale(tc_maker *m, const tc_node *node, tc_chain *c, tc_rescale *out)
{
    if (node->op != TC_OP_tosa_rescale)
        return false;
    const tc_type *x = ti_type_of(m->g, node->in[0]);
    bool per_channel = ((const tc_attr_tosa_rescale *)node->attr)->per_channel;
    if (!is_int(x->dtype) || (per_channel && !x->rank))
        return false;
    size_t columns = per_channel ? (size_t)x->dim[x->rank - 1] : TC_RESCALE_BLOCK;
    int64_t zero;
    if (!ti_plan_takes_rescale(m, node, columns, &zero, &c->narrow) ||
        (x->dtype == TC_i32 && zero))
        return false;
    *out = ti_rescale_make(x->dtype, (int32_t)zero, columns, per_channel, &c->narrow);
    return true;
}

typedef struct rescale_step {
    tc_rescale rescale;
    size_t n;
} rescale_step;

static void run_rescale(const void *what, void *const *in, void *out, void *scratch)
{
    const rescale_step *s = what;
    ti_rescale_run(&s->rescale, in[0], s->n, out, scratch);
}

static bool takes_binary(const tc_maker *m, const tc_node *node, tc_int_binary *e);
static bool takes_reduce(const tc_maker *m, const tc_node *node, tc_int_reduce *r);

/* Whether the only reader of 32 bits will do it: see operand_of(). */
static bool waits(const tc_maker *m, const tc_node *node)
{
    tc_int_binary e;
    tc_int_reduce sum;
    const tc_node *user = ti_plan_only_user(m, node->out[0]);
    return user && (takes_binary(m, user, &e) || takes_reduce(m, user, &sum));
}

bool ti_plan_rescale(tc_maker *m, const tc_node *node)
{
    rescale_step *s = tc_new(&m->ctx->arena, rescale_step);
    tc_chain c = {.last = node};
    if (!take_rescale(m, node, &c, &s->rescale))
        return false;
    if (s->rescale.alike && s->rescale.narrow.dtype == TC_i32 && waits(m, node)) {
        m->waiting[node->out[0]] = true;
        return true;
    }
    ti_plan_activation(m, &c);
    s->rescale.narrow = c.narrow;
    s->n = (size_t)tc_type_count(ti_type_of(m->g, node->in[0]));
    ti_plan_emit(m, node, &c, run_rescale, s, s->rescale.columns * sizeof(int32_t), 1);
    return true;
}

/* ---- operands ---- */

/* Operand i, after a deferred RESCALE or TABLE; *from: the value that is read. */
static tc_int_operand operand_of(tc_maker *m, const tc_node *node, int i, tc_spread spread,
                                 tc_val *from)
{
    *from = node->in[i];
    tc_int_operand o = {.from = ti_type_of(m->g, *from)->dtype, .spread = spread};
    if (!m->waiting[*from])
        return o;
    const tc_node *first = m->g->val[*from]->def;
    *from = first->in[0];
    o.from = ti_type_of(m->g, *from)->dtype;
    if (first->op == TC_OP_tosa_table) {
        o.table = ti_place_known(m, first->in[1]).data;
        return o;
    }
    tc_chain c = {.last = first};
    tc_rescale *r = tc_new(&m->ctx->arena, tc_rescale);
    take_rescale(m, first, &c, r); /* it did before */
    o.rescale = r;
    return o;
}

static void emit_from(tc_maker *m, const tc_node *node, const tc_chain *c, tc_prepared *run,
                      const void *what, size_t scratch, const tc_val *from, int n_in)
{
    const place *in[2];
    for (int i = 0; i < n_in; i++)
        in[i] = ti_place_plain(m, from[i], node);
    tc_val v = c->last->out[0];
    ti_step_prepared(m, node, run, what, scratch, in, n_in, v,
                     ti_layout_plain(ti_type_of(m->g, v)->rank));
    for (int i = 0; i < c->n_part; i++)
        m->joined[c->part[i]->out[0]] = true;
}

/* ---- arithmetic of two ---- */

/* How operand t is broadcast to result y; false when it is repeated along a middle axis. */
static bool spread_of(const tc_type *t, const tc_type *y, tc_spread *out)
{
    bool one = true, whole = true, row = true, column = true;
    for (int i = 0; i < y->rank; i++) {
        bool last = i == y->rank - 1;
        one = one && t->dim[i] == 1;
        whole = whole && t->dim[i] == y->dim[i];
        row = row && t->dim[i] == (last ? y->dim[i] : 1);
        column = column && t->dim[i] == (last ? 1 : y->dim[i]);
    }
    *out = whole ? TC_SPREAD_none : one ? TC_SPREAD_one : row ? TC_SPREAD_row : TC_SPREAD_column;
    return whole || one || row || column;
}

/* One operand has y's shape, the other is repeated along some middle axes, or the last ones: rows
 * of it, or a value per row. */
static bool repeats(const tc_type *t, const tc_type *y, tc_int_binary *e, tc_spread *spread)
{
    int i = 0, first;
    size_t outer = 1, mid = 1, inner = 1;
    for (; i < y->rank && t->dim[i] == y->dim[i]; i++)
        outer *= (size_t)y->dim[i];
    for (first = i; i < y->rank && t->dim[i] == 1; i++)
        mid *= (size_t)y->dim[i];
    for (; i < y->rank && t->dim[i] == y->dim[i]; i++)
        inner *= (size_t)y->dim[i];
    *spread = inner == 1 ? TC_SPREAD_column : TC_SPREAD_row;
    e->outer = inner == 1 ? 1 : outer;
    e->rows = inner == 1 ? outer : mid;
    e->columns = inner == 1 ? mid : inner;
    return first < y->rank && i == y->rank;
}

/* How both operands are broadcast to y. */
static bool take_spreads(const tc_type *a, const tc_type *b, const tc_type *y, tc_int_binary *e)
{
    e->outer = 1;
    e->columns = y->rank ? (size_t)y->dim[y->rank - 1] : 1;
    e->rows = e->columns ? (size_t)tc_type_count(y) / e->columns : 0;
    if (spread_of(a, y, &e->a.spread) && spread_of(b, y, &e->b.spread)) {
        bool plain_a = e->a.spread == TC_SPREAD_none || e->a.spread == TC_SPREAD_one;
        bool plain_b = e->b.spread == TC_SPREAD_none || e->b.spread == TC_SPREAD_one;
        if (plain_a && plain_b) {
            e->columns *= e->rows; /* one long row */
            e->rows = 1;
        }
        return true;
    }
    bool whole_a = ti_same_dims(a, y), whole_b = ti_same_dims(b, y);
    e->a.spread = e->b.spread = TC_SPREAD_none;
    return tc_type_count(y) && whole_a != whole_b &&
           repeats(whole_a ? b : a, y, e, whole_a ? &e->b.spread : &e->a.spread);
}

static bool int_op(tc_op op, tc_int_op *out)
{
    static const struct {
        tc_op op;
        tc_int_op as;
    } known[] = {{TC_OP_tosa_add, TC_INT_add},     {TC_OP_tosa_sub, TC_INT_sub},
                 {TC_OP_tosa_mul, TC_INT_mul},     {TC_OP_tosa_maximum, TC_INT_max},
                 {TC_OP_tosa_minimum, TC_INT_min}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].op == op) {
            *out = known[i].as;
            return true;
        }
    return false;
}

/* Everything but what is fused with it. */
static bool takes_binary(const tc_maker *m, const tc_node *node, tc_int_binary *e)
{
    *e = (tc_int_binary){0};
    if (!int_op(node->op, &e->op))
        return false;
    const tc_type *a = ti_type_of(m->g, node->in[0]), *b = ti_type_of(m->g, node->in[1]);
    const tc_type *y = ti_type_of(m->g, node->out[0]);
    int64_t shift = 0;
    if (a->dtype != b->dtype || !is_int(a->dtype) || !is_int(y->dtype) || a->rank != y->rank ||
        b->rank != y->rank || !take_spreads(a, b, y, e))
        return false;
    if (node->op == TC_OP_tosa_mul) {
        if (!ti_plan_number(m, node, 2, &shift) || y->dtype != TC_i32 || shift < 0 || shift > 62 ||
            (shift && a->dtype != TC_i32))
            return false;
    } else if (y->dtype != a->dtype || (e->op <= TC_INT_sub && y->dtype != TC_i32)) {
        return false;
    }
    e->shift = (int32_t)shift;
    e->to = y->dtype;
    return true;
}

static void run_binary(const void *what, void *const *in, void *out, void *scratch)
{
    (void)scratch;
    ti_int_binary_run(what, in[0], in[1], out);
}

/* The RESCALE after 32 bits, if its scales are equal: *to is its result. */
static const tc_rescale *follow_rescale(tc_maker *m, tc_dtype *to, tc_chain *c)
{
    const tc_node *user = ti_plan_tail(m, c);
    tc_rescale *r = tc_new(&m->ctx->arena, tc_rescale);
    if (!user || *to != TC_i32 || !take_rescale(m, user, c, r) || !r->alike)
        return NULL;
    c->part[c->n_part++] = c->last = user;
    ti_plan_activation(m, c);
    r->narrow = c->narrow;
    *to = c->narrow.dtype;
    return r;
}

bool ti_plan_int_binary(tc_maker *m, const tc_node *node)
{
    tc_int_binary *e = tc_new(&m->ctx->arena, tc_int_binary);
    tc_chain c = {.last = node};
    tc_val from[2];
    if (!takes_binary(m, node, e))
        return false;
    e->a = operand_of(m, node, 0, e->a.spread, &from[0]);
    e->b = operand_of(m, node, 1, e->b.spread, &from[1]);
    e->then = follow_rescale(m, &e->to, &c);
    emit_from(m, node, &c, run_binary, e, 0, from, 2);
    return true;
}

/* ---- shifts ---- */

/* A kernel of two operands, and what is fused with it. */
static void emit_kernel(tc_maker *m, const tc_node *node, void (*kernel)(tc_call *),
                        const void *attr, const tc_chain *c)
{
    const place *in[2] = {ti_place_plain(m, node->in[0], node), NULL};
    in[1] = ti_place_plain(m, node->in[1], node);
    step *s = ti_step_new(m, STEP_KERNEL, node, 2, 1);
    memcpy(s->in, in, sizeof in);
    s->kernel = kernel;
    s->attr = attr;
    tc_val v = c->last->out[0];
    s->out[0] = ti_place_made(m, v, ti_layout_plain(ti_type_of(m->g, v)->rank));
    ti_step_end(m, s);
    for (int i = 0; i < c->n_part; i++)
        m->joined[c->part[i]->out[0]] = true;
}

/* A kernel, since an invalid shift is an error of the program. */
static void shift_kernel(tc_call *call)
{
    const tc_int_binary *e = call->attr;
    const tc_type *b = call->in[1].type;
    if (ti_int_shifts_fit(b->dtype, call->in[1].data, (size_t)tc_type_count(b),
                          tc_dtypes[b->dtype].bits))
        ti_int_binary_run(e, call->in[0].data, call->in[1].data, call->out[0].data);
    else
        call->error = "a shift is negative, or as wide as the elements";
}

bool ti_plan_int_shift(tc_maker *m, const tc_node *node)
{
    const tc_type *a = ti_type_of(m->g, node->in[0]), *b = ti_type_of(m->g, node->in[1]);
    const tc_type *y = ti_type_of(m->g, node->out[0]);
    tc_int_binary *e = tc_new(&m->ctx->arena, tc_int_binary);
    tc_chain c = {.last = node};
    if (!is_int(a->dtype) || b->dtype != a->dtype || y->dtype != a->dtype || a->rank != y->rank ||
        b->rank != y->rank || !take_spreads(a, b, y, e))
        return false;
    bool round = node->op == TC_OP_tosa_arithmetic_right_shift &&
                 ((const tc_attr_tosa_shift *)node->attr)->round;
    e->op = node->op == TC_OP_tosa_logical_left_shift ? TC_INT_shl
            : round                                   ? TC_INT_asr_round
                                                      : TC_INT_asr;
    e->a.from = e->b.from = e->to = a->dtype;
    e->then = follow_rescale(m, &e->to, &c);
    emit_kernel(m, node, shift_kernel, e, &c);
    return true;
}

/* ---- of one operand ---- */

static void run_unary(const void *what, void *const *in, void *out, void *scratch)
{
    (void)scratch;
    ti_int_binary_run(what, in[0], in[0], out);
}

/* ABS, CLZ, and CAST between integers, which keeps low bits. */
bool ti_plan_int_unary(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *y = ti_type_of(m->g, node->out[0]);
    bool cast = node->op == TC_OP_tosa_cast;
    size_t n = (size_t)tc_type_count(y);
    if (!n || !is_int(x->dtype) || !is_int(y->dtype) || (!cast && x->dtype != TC_i32))
        return false;
    tc_int_binary *e = tc_new(&m->ctx->arena, tc_int_binary);
    *e = (tc_int_binary){.op = cast                          ? TC_INT_keep
                               : node->op == TC_OP_tosa_abs ? TC_INT_abs
                                                            : TC_INT_clz,
                         .b = {.from = x->dtype, .spread = TC_SPREAD_one},
                         .rows = 1, .columns = n, .outer = 1, .to = y->dtype};
    e->a = (tc_int_operand){.from = x->dtype, .spread = TC_SPREAD_none};
    ti_plan_emit(m, node, &(tc_chain){.last = node}, run_unary, e, 0, 1);
    return true;
}

/* ---- over an axis ---- */

static bool takes_reduce(const tc_maker *m, const tc_node *node, tc_int_reduce *r)
{
    bool sums = node->op == TC_OP_tosa_reduce_sum;
    if (!sums && node->op != TC_OP_tosa_reduce_max && node->op != TC_OP_tosa_reduce_min)
        return false;
    const tc_type *x = ti_type_of(m->g, node->in[0]);
    int64_t axis = sums ? ((const tc_attr_tosa_axis *)node->attr)->axis
                        : ((const tc_attr_tosa_axis_nan *)node->attr)->axis;
    if (!is_int(x->dtype) || (sums && x->dtype != TC_i32) || axis < 0 || axis >= x->rank ||
        !tc_type_count(x) || ti_type_of(m->g, node->out[0])->dtype != x->dtype)
        return false;
    *r = (tc_int_reduce){.op = sums                                 ? TC_INT_add
                               : node->op == TC_OP_tosa_reduce_max ? TC_INT_max
                                                                   : TC_INT_min,
                         .outer = 1, .inner = 1, .n = (size_t)x->dim[axis], .to = x->dtype};
    for (int i = 0; i < x->rank; i++)
        *(i < axis ? &r->outer : &r->inner) *= i == axis ? 1 : (size_t)x->dim[i];
    return true;
}

static void run_reduce(const void *what, void *const *in, void *out, void *scratch)
{
    ti_int_reduce_run(what, in[0], out, scratch);
}

bool ti_plan_int_reduce(tc_maker *m, const tc_node *node)
{
    tc_int_reduce *r = tc_new(&m->ctx->arena, tc_int_reduce);
    tc_val from;
    if (!takes_reduce(m, node, r))
        return false;
    r->x = operand_of(m, node, 0, TC_SPREAD_none, &from);
    emit_from(m, node, &(tc_chain){.last = node}, run_reduce, r, ti_int_reduce_scratch(r), &from,
              1);
    return true;
}

/* ---- element by element ---- */

typedef struct table_step {
    const void *table;
    size_t n;
    const tc_rescale *then; /* of 32 bits, scales alike; NULL: none */
    tc_dtype to;
} table_step;

static void run_table8(const void *what, void *const *in, void *out, void *scratch)
{
    const table_step *s = what;
    (void)scratch;
    ti_table8_run(s->table, in[0], out, s->n);
}

static void run_table16(const void *what, void *const *in, void *out, void *scratch)
{
    const table_step *s = what;
    (void)scratch;
    ti_table16_run(s->table, in[0], out, s->n);
}

/* A block at a time stays in cache. */
static void run_table16_rescale(const void *what, void *const *in, void *out, void *scratch)
{
    enum { BLOCK = 512 };
    const table_step *s = what;
    size_t bytes = tc_dtypes[s->to].bytes;
    int32_t block[BLOCK];
    (void)scratch;
    for (size_t i = 0; i < s->n; i += BLOCK) {
        size_t some = s->n - i < BLOCK ? s->n - i : BLOCK;
        ti_table16_run(s->table, (const int16_t *)in[0] + i, block, some);
        ti_rescale_run(s->then, block, some, (uint8_t *)out + i * bytes, NULL);
    }
}

bool ti_plan_table(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *y = ti_type_of(m->g, node->out[0]);
    tc_tensor table = ti_place_known(m, node->in[1]);
    bool narrow = x->dtype == TC_i8 && y->dtype == TC_i8;
    if (!table.data || table.type->dtype != x->dtype ||
        (!narrow && (x->dtype != TC_i16 || y->dtype != TC_i32)))
        return false;
    if (!narrow && waits(m, node)) {
        m->waiting[node->out[0]] = true;
        return true;
    }
    table_step *s = tc_new(&m->ctx->arena, table_step);
    *s = (table_step){.table = table.data, .n = (size_t)tc_type_count(x)};
    tc_chain c = {.last = node};
    s->to = y->dtype;
    s->then = narrow ? NULL : follow_rescale(m, &s->to, &c);
    ti_plan_emit(m, node, &c,
                 narrow    ? run_table8
                 : s->then ? run_table16_rescale
                           : run_table16,
                 s, 0, 1);
    return true;
}

/* A kernel, since an index out of range is an error of the program. */
static void gather_kernel(tc_call *call)
{
    const int16_t *values = call->in[0].data;
    const int32_t *index = call->in[1].data;
    int16_t *y = call->out[0].data;
    size_t batch = (size_t)call->in[1].type->dim[0], n = (size_t)call->in[1].type->dim[1],
           most = (size_t)call->in[0].type->dim[1];
    for (size_t i = 0; i < batch && !call->error; i++)
        if (!ti_gather16_run(values + i * most, most, index + i * n, y + i * n, n))
            call->error = "an index is outside the values";
}

/* Single 16-bit elements: a table with an entry for each of them. */
bool ti_plan_gather(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *index = ti_type_of(m->g, node->in[1]);
    if (x->dtype != TC_i16 || x->dim[2] != 1 || index->dtype != TC_i32)
        return false;
    emit_kernel(m, node, gather_kernel, NULL, &(tc_chain){.last = node});
    return true;
}

typedef struct clamp_step {
    tc_dtype dtype;
    int32_t lo, hi;
    size_t n;
} clamp_step;

static void run_clamp(const void *what, void *const *in, void *out, void *scratch)
{
    const clamp_step *s = what;
    (void)scratch;
    ti_clamp_run(s->dtype, s->lo, s->hi, in[0], out, s->n);
}

bool ti_plan_clamp(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]);
    const tc_attr_tosa_clamp *a = node->attr;
    if (x->dtype != TC_i8 && x->dtype != TC_i16)
        return false;
    double least = (double)ti_dtype_min(x->dtype), most = (double)ti_dtype_max(x->dtype);
    if (!(a->min_val >= least && a->max_val <= most && a->min_val <= a->max_val))
        return false;
    clamp_step *s = tc_new(&m->ctx->arena, clamp_step);
    *s = (clamp_step){x->dtype, (int32_t)a->min_val, (int32_t)a->max_val,
                      (size_t)tc_type_count(x)};
    ti_plan_emit(m, node, &(tc_chain){.last = node}, run_clamp, s, 0, 1);
    return true;
}
