/* SPDX-License-Identifier: Apache-2.0 */
/* pte_cortexm.c -- calls of ExecuTorch's operators for a Cortex-M as TOSA: what CMSIS-NN computes,
 * bit-exact, from the kernel's arguments (target/cortexm_ops.def). */
#include "pte_reader.h"

#include "../ir/build.h"
#include "../num/load.h"
#include "softmax_codes.h"

typedef struct call {
    tc_pte_reader *r;
    tc_build b;
    const tc_pte_step *step;
    tc_val tensor[TC_CM_MOST_ARGS]; /* by argument; TC_NONE: None, or no tensor */
    const tc_type *out;             /* in memory order */
} call;

static const tc_cpu_value *plain(const call *c, int i)
{
    return &c->r->m->value[c->step->arg.v[i]].plain;
}

static int64_t whole(const call *c, int i) { return plain(c, i)->i; }
static tc_ints list(const call *c, int i) { return plain(c, i)->ints; }
static const tc_type *type(const call *c, int i) { return ti_b_type(&c->b, c->tensor[i]); }

static tc_val wrong(call *c, const char *what)
{
    ti_b_bad(&c->b, TC_E_FORMAT, "the kernel '%s' %s", c->r->loc->target, what);
    return TC_NONE;
}

/* ---- arguments ---- */

/* What is said in the table of the argument: "x", "w?", "I". */
static bool next_word(const char **args, tc_str *word)
{
    const char *p = *args + strspn(*args, " ");
    *word = (tc_str){p, strcspn(p, " ")};
    *args = p + word->n;
    return word->n > 0;
}

static tc_status take(call *c, int i, tc_str word)
{
    static const tc_cpu_kind kinds[] = {
        ['i'] = TC_CPU_INT, ['I'] = TC_CPU_INTS, ['b'] = TC_CPU_BOOL};
    int64_t at = c->step->arg.v[i];
    const tc_pte_value *v = &c->r->m->value[at];
    char kind = word.p[0];
    if (kind == 's')
        return TC_OK;
    if (kind != 'x' && kind != 'w') {
        if (v->plain.kind != kinds[(int)kind] ||
            (kind == 'i' && (v->plain.i < -INT32_MAX || v->plain.i > INT32_MAX)))
            wrong(c, "has another argument where a number of 32 bits is expected");
        return c->b.status;
    }
    if (word.n > 1 && v->tag == PTE_NULL)
        return TC_OK;
    return ti_pte_use_stored(c->r, at, &c->tensor[i]);
}

static tc_status take_all(call *c, tc_cm_op op, int *n)
{
    tc_str word;
    *n = 0;
    for (const char *rest = tc_cm_ops[op].args; next_word(&rest, &word);)
        (*n)++;
    if (c->step->arg.n != *n + 2) { /* and the result, twice */
        wrong(c, "has an unexpected number of arguments");
        return c->b.status;
    }
    int i = 0;
    for (const char *rest = tc_cm_ops[op].args; next_word(&rest, &word);)
        TC_TRY(take(c, i++, word));
    const tc_pte_value *out = &c->r->m->value[c->step->arg.v[*n]];
    c->out = out->tag == PTE_TENSOR && !out->dynamic ? out->stored : NULL;
    if (!c->out)
        wrong(c, "writes to something that is not a tensor");
    return c->b.status;
}

/* Axes in memory. */
static bool is_rank(call *c, const tc_type *t, int rank)
{
    if (t && t->rank == rank)
        return true;
    wrong(c, "has a tensor of another rank");
    return false;
}

/* A list of two, each from `least` on. */
static bool pair(call *c, int i, int64_t least)
{
    tc_ints v = list(c, i);
    if (v.n == 2 && v.v[0] >= least && v.v[1] >= least && v.v[0] <= INT16_MAX &&
        v.v[1] <= INT16_MAX)
        return true;
    wrong(c, "has a stride, a padding or the like that is out of range");
    return false;
}

static bool is_code(call *c, int64_t v)
{
    if (v >= INT8_MIN && v <= INT8_MAX)
        return true;
    wrong(c, "has a zero point or a bound that is no int8");
    return false;
}

/* ---- RESCALE ---- */

/* n multipliers and shifts, by element. */
typedef struct factors {
    tc_tensor multiplier, shift;
} factors;

static factors new_factors(call *c, int64_t n)
{
    return (factors){ti_b_tensor(&c->b, TC_i32, 1, &n), ti_b_tensor(&c->b, TC_i8, 1, &n)};
}

/* As the kernel has them. */
static bool set_factor(call *c, factors *f, int64_t i, int64_t multiplier, int64_t shift)
{
    if (multiplier < 0 || multiplier > INT32_MAX || shift < -31 || shift > 29) {
        wrong(c, "has a multiplier or a shift that is out of range");
        return false;
    }
    ti_store_i64(f->multiplier, i, multiplier);
    ti_store_i64(f->shift, i, 31 - shift);
    return true;
}

static tc_val rescale(call *c, tc_val x, const factors *f, int64_t zero_in, int64_t zero_out,
                      tc_dtype to)
{
    if (c->b.status != TC_OK)
        return TC_NONE;
    const tc_type *t = ti_b_type(&c->b, x);
    const void *attr = ti_b_attr(&c->b, tosa_rescale, .scale32 = true,
                                 .rounding_mode = TC_rounding_double,
                                 .per_channel = tc_type_count(f->shift.type) > 1);
    tc_val in[5] = {x, ti_b_const(&c->b, f->multiplier, NULL)};
    in[2] = ti_b_const(&c->b, f->shift, NULL);
    in[3] = ti_b_single(&c->b, t->dtype, 1, (double)zero_in);
    in[4] = ti_b_single(&c->b, to, 1, (double)zero_out);
    return ti_b_typed(&c->b, TC_OP_tosa_rescale, attr, in, 5,
                      ti_type_make(c->r->ctx, to, t->rank, t->dim));
}

/* x by the one factor of arguments i and i + 1. */
static tc_val rescale_by(call *c, tc_val x, int i, int64_t zero_out, tc_dtype to)
{
    factors f = new_factors(c, 1);
    if (!set_factor(c, &f, 0, whole(c, i), whole(c, i + 1)) || (to == TC_i8 && !is_code(c, zero_out)))
        return TC_NONE;
    return rescale(c, x, &f, 0, zero_out, to);
}

/* (x - zero) << left */
static tc_val widened(call *c, tc_val x, int64_t zero, int left)
{
    factors f = new_factors(c, 1);
    ti_store_i64(f.multiplier, 0, 1 << 30);
    ti_store_i64(f.shift, 0, 30 - left);
    return is_code(c, zero) ? rescale(c, x, &f, zero, 0, TC_i32) : TC_NONE;
}

static tc_val bounded(call *c, tc_val x, int64_t lo, int64_t hi)
{
    if (lo <= INT8_MIN && hi >= INT8_MAX)
        return x;
    return is_code(c, lo) && is_code(c, hi) && lo <= hi
               ? ti_b_tosa_clamp(&c->b, x, (double)lo, (double)hi)
               : wrong(c, "has bounds that leave nothing");
}

/* ---- windows ---- */

typedef struct window {
    int64_t kernel[2], stride[2], pad[2], dilation[2];
} window;

/* TOSA's padding, before and after; rows that no window reads are cut off x. */
static bool fit(call *c, tc_val *x, const window *w, int64_t pad[4])
{
    const tc_type *t = ti_b_type(&c->b, *x);
    int64_t size[4] = {t->dim[0], t->dim[1], t->dim[2], t->dim[3]}, start[4] = {0};
    for (int i = 0; i < 2; i++) {
        int64_t span = w->dilation[i] * (w->kernel[i] - 1) + 1;
        int64_t need = (c->out->dim[1 + i] - 1) * w->stride[i] + span;
        pad[2 * i] = w->pad[i];
        pad[2 * i + 1] = need - t->dim[1 + i] - w->pad[i];
        if (pad[2 * i + 1] > w->pad[i] || need <= w->pad[i]) {
            wrong(c, "has a result of another size");
            return false;
        }
        size[1 + i] += ti_min_i64(pad[2 * i + 1], 0);
        pad[2 * i + 1] = ti_max_i64(pad[2 * i + 1], 0);
    }
    *x = ti_b_tosa_slice(&c->b, *x, start, size);
    return c->b.status == TC_OK;
}

static tc_ints four(call *c, const int64_t *v) { return ti_ints_copy(&c->r->ctx->arena, v, 4); }
static tc_ints two(call *c, const int64_t *v) { return ti_ints_copy(&c->r->ctx->arena, v, 2); }

static tc_val no_bias(call *c) { return ti_b_single(&c->b, TC_i32, 1, 0); }

/* Multipliers and shifts of argument i and the next, a tensor each. */
static bool take_factors(call *c, int i, int64_t n, factors *f)
{
    tc_tensor m = ti_b_constant(&c->b, c->tensor[i]), s = ti_b_constant(&c->b, c->tensor[i + 1]);
    *f = new_factors(c, n);
    if (!m.data || !s.data || tc_type_count(m.type) != n || tc_type_count(s.type) != n) {
        wrong(c, "has multipliers that are not constant, or not one for each channel");
        return false;
    }
    for (int64_t k = 0; k < n; k++)
        if (!set_factor(c, f, k, ti_load_i64(m, k), ti_load_i64(s, k)))
            return false;
    return true;
}

static tc_val convolution(call *c, bool depthwise)
{
    const tc_type *x = type(c, 0), *w = type(c, 1);
    int more = depthwise ? 1 : 0; /* the depth multiplier */
    int64_t pad[4];
    factors f;
    if (!is_rank(c, x, 4) || !is_rank(c, w, 4) || !is_rank(c, c->out, 4) || !pair(c, 3, 1) ||
        !pair(c, 4, 0) || !pair(c, 5, 1) || !is_code(c, -whole(c, 6 + more)) ||
        !is_code(c, whole(c, 7 + more)) ||
        !take_factors(c, 8 + more, c->out->dim[3], &f))
        return TC_NONE;
    window win = {{w->dim[1], w->dim[2]},
                  {list(c, 3).v[0], list(c, 3).v[1]},
                  {list(c, 4).v[0], list(c, 4).v[1]},
                  {list(c, 5).v[0], list(c, 5).v[1]}};
    tc_val in[5] = {c->tensor[0], c->tensor[1], c->tensor[2]};
    if (!fit(c, &in[0], &win, pad))
        return TC_NONE;
    if (depthwise && (whole(c, 6) < 1 || x->dim[3] * whole(c, 6) != w->dim[3] || w->dim[0] != 1))
        return wrong(c, "has weights of another shape");
    if (depthwise)
        in[1] = ti_b_tosa_reshape(&c->b, in[1], 4,
                                  (int64_t[]){w->dim[1], w->dim[2], x->dim[3], whole(c, 6)});
    in[2] = in[2] ? in[2] : no_bias(c);
    in[3] = ti_b_single(&c->b, TC_i8, 1, (double)-whole(c, 6 + more));
    in[4] = ti_b_single(&c->b, TC_i8, 1, 0);
    const void *attr = ti_b_attr(&c->b, tosa_conv, four(c, pad), two(c, win.stride),
                                 two(c, win.dilation), false, TC_i32);
    tc_val y = ti_b_op(&c->b, depthwise ? TC_OP_tosa_depthwise_conv2d : TC_OP_tosa_conv2d, attr, in,
                       5);
    y = rescale(c, y, &f, 0, whole(c, 7 + more), TC_i8);
    return bounded(c, y, whole(c, 10 + more), whole(c, 11 + more));
}

static tc_val read_conv2d(call *c) { return convolution(c, false); }
static tc_val read_depthwise(call *c) { return convolution(c, true); }

/* MVE: kernel sums instead of a bias, in which the offset of x is counted already. */
static tc_val read_linear(call *c)
{
    const tc_type *x = type(c, 0), *w = type(c, 1);
    tc_val sums = c->tensor[3], bias = sums ? sums : c->tensor[2];
    factors f = new_factors(c, 1);
    if (!is_rank(c, w, 2) || x->rank < 1 || !is_code(c, -whole(c, 4)) || !is_code(c, whole(c, 6)))
        return TC_NONE;
    if (whole(c, 5) || list(c, 7).n < 1 || list(c, 8).n < 1 || x->dim[x->rank - 1] != w->dim[1])
        return wrong(c, "has weights of another shape, or with an offset");
    if (!set_factor(c, &f, 0, list(c, 7).v[0], list(c, 8).v[0]))
        return TC_NONE;
    int64_t rows = w->dim[1] ? tc_type_count(x) / w->dim[1] : 0;
    tc_val in[5] = {
        ti_b_tosa_reshape(&c->b, c->tensor[0], 4, (int64_t[]){rows, 1, 1, w->dim[1]})};
    in[1] = ti_b_tosa_reshape(&c->b, c->tensor[1], 4, (int64_t[]){w->dim[0], 1, 1, w->dim[1]});
    in[2] = bias ? ti_b_tosa_reshape(&c->b, bias, 1, &w->dim[0]) : no_bias(c);
    in[3] = ti_b_single(&c->b, TC_i8, 1, sums ? 0 : (double)-whole(c, 4));
    in[4] = ti_b_single(&c->b, TC_i8, 1, 0);
    const int64_t zeros[4] = {0}, ones[2] = {1, 1};
    const void *attr = ti_b_attr(&c->b, tosa_conv, four(c, zeros), two(c, ones), two(c, ones),
                                 false, TC_i32);
    tc_val y = ti_b_op(&c->b, TC_OP_tosa_conv2d, attr, in, 5);
    y = rescale(c, y, &f, 0, whole(c, 6), TC_i8);
    return bounded(c, y, whole(c, 10), whole(c, 9));
}

static tc_val read_batch_matmul(call *c)
{
    const int64_t swap[] = {0, 2, 1};
    if (!is_rank(c, type(c, 0), 3) || !is_rank(c, type(c, 2), 3) || !is_code(c, -whole(c, 1)) ||
        !is_code(c, -whole(c, 3)))
        return TC_NONE;
    tc_val in[4] = {c->tensor[0], ti_b_tosa_transpose(&c->b, c->tensor[2], swap)};
    in[2] = ti_b_single(&c->b, TC_i8, 1, (double)-whole(c, 1));
    in[3] = ti_b_single(&c->b, TC_i8, 1, (double)-whole(c, 3));
    tc_val y = ti_b_op(&c->b, TC_OP_tosa_matmul, NULL, in, 4);
    return rescale_by(c, y, 5, whole(c, 4), TC_i8);
}

/* ---- elementwise ---- */

static tc_val read_add(call *c)
{
    enum { LEFT = 20 };
    tc_val x = widened(c, c->tensor[0], whole(c, 1), LEFT);
    x = rescale_by(c, x, 2, 0, TC_i32);
    tc_val y = widened(c, c->tensor[4], whole(c, 5), LEFT);
    y = rescale_by(c, y, 6, 0, TC_i32);
    x = rescale_by(c, ti_b_tosa_add(&c->b, x, y), 9, whole(c, 8), TC_i8);
    return bounded(c, x, whole(c, 11), whole(c, 12));
}

static tc_val read_mul(call *c)
{
    tc_val x = widened(c, c->tensor[0], whole(c, 1), 0);
    tc_val y = widened(c, c->tensor[2], whole(c, 3), 0);
    return rescale_by(c, ti_b_tosa_mul(&c->b, x, y), 5, whole(c, 4), TC_i8);
}

static tc_val read_activation(call *c)
{
    return ti_b_tosa_table(&c->b, c->tensor[0], c->tensor[1]);
}

static tc_val read_softmax(call *c)
{
    int32_t power[256];
    int64_t rank = type(c, 0)->rank, dim = whole(c, 1);
    if ((dim != rank - 1 && dim != -1) || rank < 1 || whole(c, 3) != INT8_MIN || whole(c, 4) < 0 ||
        whole(c, 4) > INT32_MAX || whole(c, 5) < 0 || whole(c, 5) > 31)
        return wrong(c, "is not along the last axis, or has a factor that is out of range");
    ti_cm_softmax_powers((int32_t)whole(c, 4), (int)whole(c, 5), whole(c, 6), power);
    return ti_tfl_softmax8(&c->b, c->tensor[0], power, TC_i8);
}

static tc_val choice(call *c, tc_op op)
{
    int rank = c->out->rank;
    tc_val x = ti_b_tosa_rank(&c->b, c->tensor[0], rank);
    tc_val y = ti_b_tosa_rank(&c->b, c->tensor[1], rank);
    const void *attr = ti_b_attr(&c->b, tosa_nan, TC_nan_mode_propagate);
    return ti_b_op(&c->b, op, attr, (tc_val[]){x, y}, 2);
}

static tc_val read_minimum(call *c) { return choice(c, TC_OP_tosa_minimum); }
static tc_val read_maximum(call *c) { return choice(c, TC_OP_tosa_maximum); }

/* ---- pools ---- */

static bool pool_window(call *c, window *w, int64_t pad[4], tc_val *x)
{
    if (!is_rank(c, type(c, 0), 4) || !is_rank(c, c->out, 4) || !pair(c, 1, 1) || !pair(c, 2, 1) ||
        !pair(c, 3, 0))
        return false;
    *w = (window){{list(c, 1).v[0], list(c, 1).v[1]},
                  {list(c, 2).v[0], list(c, 2).v[1]},
                  {list(c, 3).v[0], list(c, 3).v[1]},
                  {1, 1}};
    *x = c->tensor[0];
    return fit(c, x, w, pad);
}

static tc_val read_max_pool(call *c)
{
    window w;
    int64_t pad[4];
    tc_val x;
    if (!pool_window(c, &w, pad, &x))
        return TC_NONE;
    if (whole(c, 5) || !ti_ints_are(list(c, 4), 1))
        return wrong(c, "has a dilation, or rounds its size up");
    const void *attr = ti_b_attr(&c->b, tosa_max_pool, two(c, w.kernel), two(c, w.stride),
                                 four(c, pad), TC_nan_mode_propagate);
    return bounded(c, ti_b_1(&c->b, tosa_max_pool2d, attr, x), whole(c, 8), whole(c, 9));
}

static tc_val read_avg_pool(call *c)
{
    enum { MOST_PIXELS = 1 << 14 };
    window w;
    int64_t pad[4];
    tc_val in[3];
    if (!pool_window(c, &w, pad, &in[0]))
        return TC_NONE;
    int64_t n = w.kernel[0] * w.kernel[1], zero = whole(c, 4);
    if (w.pad[0] || w.pad[1] || n > MOST_PIXELS || !is_code(c, zero) ||
        !ti_cm_same_mean(n, zero, zero))
        return wrong(c, "has windows whose mean TOSA rounds otherwise");
    in[1] = ti_b_single(&c->b, TC_i8, 1, (double)zero);
    in[2] = ti_b_single(&c->b, TC_i8, 1, (double)zero);
    const void *attr = ti_b_attr(&c->b, tosa_avg_pool, two(c, w.kernel), two(c, w.stride),
                                 four(c, pad), TC_i32);
    return ti_b_op(&c->b, TC_OP_tosa_avg_pool2d, attr, in, 3);
}

/* ---- movement ---- */

static tc_val read_transpose(call *c)
{
    tc_ints perm = list(c, 1);
    uint32_t seen = 0;
    for (int i = 0; i < perm.n; i++)
        seen |= perm.v[i] >= 0 && perm.v[i] < perm.n ? 1u << perm.v[i] : 0;
    if (perm.n != type(c, 0)->rank || perm.n > 4 || seen != (1u << perm.n) - 1)
        return wrong(c, "has a list of axes that is no permutation");
    return ti_b_tosa_transpose(&c->b, c->tensor[0], perm.v);
}

static tc_val read_pad(call *c)
{
    int64_t pad[8];
    if (!is_rank(c, type(c, 0), 4) || list(c, 1).n != 4 || list(c, 2).n != 4 ||
        !is_code(c, whole(c, 3)))
        return wrong(c, "has padding for another number of axes");
    for (int i = 0; i < 4; i++) {
        pad[2 * i] = list(c, 1).v[i];
        pad[2 * i + 1] = list(c, 2).v[i];
        if (pad[2 * i] < 0 || pad[2 * i + 1] < 0 || pad[2 * i] > INT16_MAX ||
            pad[2 * i + 1] > INT16_MAX)
            return wrong(c, "has a padding that is out of range");
    }
    return ti_b_tosa_pad(&c->b, c->tensor[0], pad, (double)whole(c, 3));
}

/* ---- the table ---- */

tc_status ti_pte_read_cortexm(tc_pte_reader *r, const tc_pte_step *s, tc_cm_op op)
{
    static tc_val (*const readers[TC_CM_COUNT])(call *) = {
#define CM(word, name, args) [TC_CM_##word] = read_##word,
#include "../target/cortexm_ops.def"
    };
    call c = {.r = r, .b = {.ctx = r->ctx, .g = r->in->g, .loc = r->loc}, .step = s};
    int n;
    TC_TRY(take_all(&c, op, &n));
    tc_val y = readers[op](&c);
    TC_TRY(c.b.status);
    const tc_type *t = ti_b_type(&c.b, y);
    if (t->dtype != c.out->dtype || tc_type_count(t) != tc_type_count(c.out)) {
        wrong(&c, "has a result of another size");
        return c.b.status;
    }
    y = ti_b_reshape(&c.b, y, c.out->rank, c.out->dim);
    TC_TRY(c.b.status);
    ti_pte_write(r, s->arg.v[n], y);
    return TC_OK;
}
