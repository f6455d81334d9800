/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_attention.c -- builders of attention and related operators of transformers. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* ---- attention ---- */

typedef struct attention {
    tc_val q, k, v; /* [batch, heads, steps, size] */
    tc_val mask, valid; /* as given: the mask, and how many keys of each sample there are */
    int64_t batch, heads, kv_heads, queries, keys, past, size;
    double scale, softcap;
    bool causal, flat; /* flat: given as [batch, steps, heads * size] */
    int64_t left, right;
    int mode;
} attention;

static tc_val split_heads(tc_build *m, tc_val x, int64_t heads)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    if (t->rank == 4)
        return x;
    if (t->rank != 3 || heads < 1 || t->dim[2] % heads) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " heads in a tensor of rank %d", heads, t->rank);
        return TC_NONE;
    }
    x = ti_b_reshape(m, x, 4, (int64_t[]){t->dim[0], t->dim[1], heads, t->dim[2] / heads});
    return ti_b_swap(m, x, 1, 2);
}

static tc_val join_heads(tc_build *m, tc_val x)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    x = ti_b_swap(m, x, 1, 2);
    return ti_b_reshape(m, x, 3, (int64_t[]){t->dim[0], t->dim[2], t->dim[1] * t->dim[3]});
}

/* Each head of keys serves several of queries. */
static tc_val repeat_heads(tc_build *m, tc_val x, int64_t times)
{
    if (times == 1)
        return x;
    return ti_b_1(m, repeat_interleave, ti_b_attr(m, interleave, 1, times), x);
}

/* Query i is at position i + offset; [batch or 1, 1, queries, 1], i64. */
static tc_val positions(tc_build *m, const attention *a)
{
    tc_val at = ti_b_arange(m, a->queries, TC_i64);
    at = ti_b_reshape(m, at, 4, (int64_t[]){1, 1, a->queries, 1});
    if (!a->valid)
        return ti_b_add_n(m, at, (double)a->past);
    tc_val offset = ti_b_cast(m, a->valid, TC_i64);
    offset = ti_b_reshape(m, offset, 4, (int64_t[]){a->batch, 1, 1, 1});
    offset = ti_b_add_n(m, offset, (double)-a->queries);
    return ti_b_add(m, at, offset);
}

static tc_val both(tc_build *m, tc_val a, tc_val b)
{
    return a ? ti_b_logical_and(m, a, b) : b;
}

/* Which keys a query may see, but for the mask that is given; TC_NONE: all of them. */
static tc_val allowed(tc_build *m, const attention *a)
{
    tc_val result = TC_NONE, key = ti_b_arange(m, a->keys, TC_i64);
    key = ti_b_reshape(m, key, 4, (int64_t[]){1, 1, 1, a->keys});
    if (a->valid) {
        tc_val end = ti_b_cast(m, a->valid, TC_i64);
        end = ti_b_reshape(m, end, 4, (int64_t[]){a->batch, 1, 1, 1});
        result = ti_b_lt(m, key, end);
    }
    if (!a->causal && a->left < 0 && a->right < 0)
        return result;
    tc_val at = positions(m, a);
    if (a->causal)
        result = both(m, result, ti_b_le(m, key, at));
    if (a->right >= 0) {
        tc_val last = ti_b_add_n(m, at, (double)a->right);
        result = both(m, result, ti_b_le(m, key, last));
    }
    if (a->left >= 0) {
        tc_val first = ti_b_add_n(m, at, (double)-a->left);
        result = both(m, result, ti_b_ge(m, key, first));
    }
    return result;
}

/* A mask shorter than the keys hides the rest. */
static tc_val whole_mask(tc_build *m, const attention *a)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, a->mask);
    int64_t have = t->rank ? t->dim[t->rank - 1] : 1;
    if (have == a->keys || have == 1)
        return a->mask;
    int64_t pad[2 * TC_MAX_RANK] = {0};
    pad[2 * t->rank - 1] = a->keys - have;
    return ti_b_pad(m, a->mask, pad, t->dtype == TC_bool ? 0 : -INFINITY);
}

/* softmax over the keys; a row in which nothing may be seen is zero. */
static tc_val shares(tc_onnx_node *n, const attention *a, tc_val scores, bool guard)
{
    tc_build *m = &n->m;
    (void)a;
    TC_STOP_WITH(m, TC_NONE);
    tc_dtype own = ti_b_dtype(m, scores);
    if (ti_onnx_has(n, "softmax_precision"))
        scores =
            ti_b_cast(m, scores, ti_onnx_need_dtype(n, ti_onnx_int(n, "softmax_precision", 1)));
    if (!guard || m->status != TC_OK)
        return ti_b_cast(m, ti_b_softmax(m, scores, 3), own);
    static const int64_t last[] = {3};
    tc_dtype dtype = ti_b_dtype(m, scores);
    tc_val most = ti_b_reduce(m, TC_OP_amax, scores, last, 1, true);
    tc_val nothing = ti_b_scalar(m, dtype, -INFINITY), zero = ti_b_scalar(m, dtype, 0);
    tc_val empty = ti_b_eq(m, most, nothing);
    scores = ti_b_where(m, empty, zero, scores);
    tc_val p = ti_b_softmax(m, scores, 3);
    return ti_b_cast(m, ti_b_where(m, empty, zero, p), own);
}

static bool is_plain(tc_onnx_node *n, const attention *a)
{
    const tc_type *mask = a->mask ? ti_b_type(&n->m, a->mask) : NULL;
    return !a->valid && a->left < 0 && a->right < 0 && a->softcap == 0 && !a->past &&
           !ti_onnx_wants(n, 3) && !ti_onnx_has(n, "softmax_precision") &&
           (!mask || (!a->causal && ti_is_float(mask->dtype) && mask->rank >= 2 &&
                      mask->dim[mask->rank - 1] == a->keys)) &&
           ti_b_dtype(&n->m, a->q) == TC_f32;
}

static tc_val step_by_step(tc_onnx_node *n, const attention *a)
{
    tc_build *m = &n->m;
    int64_t times = a->heads / a->kv_heads;
    tc_val k = repeat_heads(m, a->k, times), v = repeat_heads(m, a->v, times);
    tc_val q = ti_b_mul_n(m, a->q, sqrt(a->scale));
    k = ti_b_mul_n(m, k, sqrt(a->scale));
    k = ti_b_swap(m, k, 2, 3);
    tc_val scores = ti_b_matmul(m, q, k), told = scores;
    if (a->softcap != 0) {
        scores = ti_b_mul_n(m, scores, 1 / a->softcap);
        scores = ti_b_tanh(m, scores);
        scores = ti_b_mul_n(m, scores, a->softcap);
    }
    told = a->mode == 1 ? scores : told;
    tc_val seen = allowed(m, a);
    if (a->mask) {
        tc_val mask = whole_mask(m, a);
        if (ti_b_dtype(m, mask) == TC_bool)
            seen = both(m, seen, mask);
        else
            scores = ti_b_add(m, scores, mask);
    }
    if (seen && m->status == TC_OK) {
        tc_val hidden = ti_b_scalar(m, ti_b_dtype(m, scores), -INFINITY);
        scores = ti_b_where(m, seen, scores, hidden);
    }
    told = a->mode == 2 ? scores : told;
    bool guard = a->mask || a->valid || a->left >= 0 || a->right >= 0;
    tc_val p = shares(n, a, scores, guard);
    ti_onnx_bind(n, 3, a->mode == 3 ? p : told);
    return ti_b_matmul(m, p, v);
}

void ti_onnx_build_attention(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    attention a = {.softcap = ti_onnx_float(n, "softcap", 0),
                   .causal = ti_onnx_int(n, "is_causal", 0),
                   .left = ti_onnx_int(n, "left_window_size", -1),
                   .right = ti_onnx_int(n, "right_window_size", -1),
                   .mode = (int)ti_onnx_int(n, "qk_matmul_output_mode", 0)};
    tc_val q = ti_onnx_need(n, 0), k = ti_onnx_need(n, 1), v = ti_onnx_need(n, 2);
    a.mask = ti_onnx_in(n, 3);
    tc_val past_k = ti_onnx_in(n, 4), past_v = ti_onnx_in(n, 5);
    a.valid = ti_onnx_in(n, 6);
    TC_STOP(m);
    a.flat = ti_b_type(m, q)->rank == 3;
    a.q = split_heads(m, q, ti_onnx_int(n, "q_num_heads", 0));
    a.k = split_heads(m, k, ti_onnx_int(n, "kv_num_heads", 0));
    a.v = split_heads(m, v, ti_onnx_int(n, "kv_num_heads", 0));
    if (past_k && past_v && m->status == TC_OK) {
        a.past = ti_b_type(m, past_k)->dim[2];
        a.k = ti_b_cat(m, 2, (tc_val[]){past_k, a.k}, 2);
        a.v = ti_b_cat(m, 2, (tc_val[]){past_v, a.v}, 2);
    }
    TC_STOP(m);
    const tc_type *tq = ti_b_type(m, a.q), *tk = ti_b_type(m, a.k);
    a.batch = tq->dim[0];
    a.heads = tq->dim[1];
    a.queries = tq->dim[2];
    a.size = tq->dim[3];
    a.kv_heads = tk->dim[1];
    a.keys = tk->dim[2];
    a.scale = ti_onnx_float(n, "scale", a.size ? 1 / sqrt((double)a.size) : 1);
    if (a.kv_heads < 1 || a.heads % a.kv_heads) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " heads of queries and %" PRId64 " of keys", a.heads,
                 a.kv_heads);
        return;
    }
    tc_val y;
    if (is_plain(n, &a)) {
        tc_attr_sdpa *attr = ti_b_attr(m, sdpa, a.scale, a.causal, .gqa = a.heads != a.kv_heads);
        y = ti_b_op(m, TC_OP_sdpa, attr, (tc_val[]){a.q, a.k, a.v, a.mask}, a.mask ? 4 : 3);
    } else
        y = step_by_step(n, &a);
    ti_onnx_bind(n, 1, a.k);
    ti_onnx_bind(n, 2, a.v);
    ti_onnx_bind(n, 0, a.flat ? join_heads(m, y) : y);
}

/* ---- linear attention: one step after the other ---- */

typedef struct recurrence {
    tc_val q, k, v, decay, beta,
        state; /* [batch, heads, steps, size]; state [batch, heads, dk, dv] */
    bool gated, delta;
    double scale;
} recurrence;

/* Step t as [batch, heads, size, 1] (column) or [batch, heads, 1, size]. */
static tc_val at_step(tc_build *m, tc_val x, int64_t t, bool column)
{
    tc_val one = ti_b_slice(m, x, 2, t, t + 1, 1);
    return column ? ti_b_swap(m, one, 2, 3) : one;
}

static tc_val recur(tc_build *m, recurrence *r, int64_t t, int64_t times)
{
    tc_val k = at_step(m, r->k, t, true), v = at_step(m, r->v, t, false);
    if (r->gated) {
        tc_val g = at_step(m, r->decay, t, true);
        r->state = ti_b_mul(m, r->state, ti_b_exp(m, g));
    }
    if (r->delta) {
        tc_val row = ti_b_swap(m, k, 2, 3);
        tc_val seen = ti_b_matmul(m, row, r->state);
        v = ti_b_sub(m, v, seen);
        v = ti_b_mul(m, v, at_step(m, r->beta, t, false));
    }
    tc_val outer = ti_b_mul(m, k, v);
    r->state = ti_b_add(m, r->state, outer);
    tc_val q = at_step(m, r->q, t, false), s = repeat_heads(m, r->state, times);
    return ti_b_matmul(m, q, s);
}

/* [batch, steps, heads or 1]: one number per head and step. */
static tc_val per_head(tc_build *m, tc_val x, int64_t heads)
{
    if (m->status != TC_OK || !x)
        return TC_NONE;
    const tc_type *t = ti_b_type(m, x);
    return split_heads(m, x, t->rank == 3 && t->dim[2] == 1 ? 1 : heads);
}

void ti_onnx_build_linear_attention(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    int64_t heads = ti_onnx_int(n, "q_num_heads", 0), kv_heads = ti_onnx_int(n, "kv_num_heads", 0);
    const char *rule = ti_onnx_text(n, "update_rule", "gated_delta");
    tc_val q = ti_onnx_need(n, 0), k = ti_onnx_need(n, 1), v = ti_onnx_need(n, 2);
    recurrence r = {.gated = ti_text_starts(rule, "gated"), .delta = ti_text_ends(rule, "delta")};
    r.q = split_heads(m, q, heads);
    r.k = split_heads(m, k, kv_heads);
    r.v = split_heads(m, v, kv_heads);
    r.state = ti_onnx_in(n, 3);
    r.decay = r.gated ? per_head(m, ti_onnx_need(n, 4), kv_heads) : TC_NONE;
    r.beta = r.delta ? per_head(m, ti_onnx_need(n, 5), kv_heads) : TC_NONE;
    TC_STOP(m);
    const tc_type *tq = ti_b_type(m, r.q), *tv = ti_b_type(m, r.v);
    if (kv_heads < 1 || heads % kv_heads || tq->dim[2] < 1) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " heads of queries and %" PRId64 " of keys", heads,
                 kv_heads);
        return;
    }
    tc_dtype own = tq->dtype, dtype = own == TC_f64 ? TC_f64 : TC_f32;
    tc_val *all[] = {&r.q, &r.k, &r.v, &r.decay, &r.beta, &r.state};
    for (size_t i = 0; i < TC_COUNT(all); i++)
        *all[i] = *all[i] ? ti_b_cast(m, *all[i], dtype) : TC_NONE;
    if (!r.state) {
        int64_t dim[4] = {tq->dim[0], kv_heads, tq->dim[3], tv->dim[3]};
        r.state = ti_b_full(m, 4, dim, 0, dtype);
    }
    r.scale = ti_onnx_float(n, "scale", 0);
    if (r.scale == 0)
        r.scale = 1 / sqrt((double)tq->dim[3]);
    r.q = ti_b_mul_n(m, r.q, r.scale);
    tc_val *part = tc_new_n(&m->ctx->arena, tc_val, (size_t)tq->dim[2]);
    for (int64_t t = 0; t < tq->dim[2] && m->status == TC_OK; t++)
        part[t] = recur(m, &r, t, heads / kv_heads);
    tc_val y = ti_b_cat(m, 2, part, (int)tq->dim[2]);
    ti_onnx_bind(n, 0, ti_b_cast(m, join_heads(m, y), own));
    ti_onnx_bind(n, 1, ti_b_cast(m, r.state, own));
}

/* The state's k - 1 steps and the input's, convolved channel by channel. */
void ti_onnx_build_causal_conv(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), w = ti_onnx_need(n, 1), bias = ti_onnx_in(n, 2),
           past = ti_onnx_in(n, 3);
    const char *word = ti_onnx_text(n, "activation", "none");
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *tw = ti_b_type(m, w);
    if (t->rank != 3 || tw->rank != 3) {
        ti_b_bad(m, TC_E_SHAPE, "a causal convolution of rank %d", t->rank);
        return;
    }
    int64_t before = tw->dim[2] - 1, pad[6] = {0, 0, 0, 0, before, 0};
    tc_val all = past ? ti_b_cat(m, 2, (tc_val[]){past, x}, 2) : ti_b_pad(m, x, pad, 0);
    tc_arena *arena = &m->ctx->arena;
    tc_attr_conv *a =
        ti_b_attr(m, conv, .stride = ti_ints_fill(arena, 1, 1), .pad = ti_ints_fill(arena, 0, 2),
                  .dilation = ti_ints_fill(arena, 1, 1), .groups = t->dim[1]);
    tc_val y = ti_b_op(m, TC_OP_conv, a, (tc_val[]){all, w, bias}, bias ? 3 : 2);
    if (ti_text_eq(word, "silu") || ti_text_eq(word, "swish"))
        y = ti_b_silu(m, y);
    ti_onnx_bind(n, 0, y);
    if (ti_onnx_wants(n, 1) && m->status == TC_OK) {
        int64_t extent = ti_b_type(m, all)->dim[2];
        tc_val last = ti_b_slice(m, all, 2, extent - before, extent, 1);
        ti_onnx_bind(n, 1, last == x ? ti_b_identity(m, x) : last);
    }
}

/* ---- around it ---- */

/* cos and sin of each step, as [batch or 1, 1, steps, half]. */
static tc_val rotation(tc_build *m, tc_val cache, tc_val ids, const tc_type *x)
{
    TC_STOP_WITH(m, TC_NONE);
    int rank = ti_b_type(m, cache)->rank;
    if (rank != (ids ? 2 : 3) || (ids && ti_b_type(m, ids)->rank != 2)) {
        ti_b_bad(m, TC_E_SHAPE, "a cache of rank %d %s positions", rank, ids ? "with" : "without");
        return TC_NONE;
    }
    int64_t half = ti_b_type(m, cache)->dim[rank - 1];
    if (ids) {
        const tc_type *t = ti_b_type(m, ids);
        int64_t dim[3] = {t->dim[0], t->dim[t->rank - 1], half};
        ids = ti_b_flat(m, ids);
        cache = ti_b_index_select(m, cache, ids, 0);
        cache = ti_b_reshape(m, cache, 3, dim);
    }
    (void)x;
    return ti_b_unsqueeze(m, cache, 1);
}

void ti_onnx_build_rotary(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val given = ti_onnx_need(n, 0), cos = ti_onnx_need(n, 1), sin = ti_onnx_need(n, 2),
           ids = ti_onnx_in(n, 3);
    bool interleaved = ti_onnx_int(n, "interleaved", 0);
    TC_STOP(m);
    bool flat = ti_b_type(m, given)->rank == 3;
    tc_val x = split_heads(m, given, ti_onnx_int(n, "num_heads", 0));
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int64_t size = t->dim[3], turned = ti_onnx_int(n, "rotary_embedding_dim", 0);
    turned = turned ? turned : size;
    if (turned < 2 || turned > size || turned % 2) {
        ti_b_bad(m, TC_E_ARGUMENT, "rotation of %" PRId64 " of %" PRId64 " numbers", turned, size);
        return;
    }
    cos = rotation(m, cos, ids, t);
    sin = rotation(m, sin, ids, t);
    int64_t half = turned / 2, step = interleaved ? 2 : 1, second = interleaved ? 1 : half;
    tc_val a = ti_b_slice(m, x, 3, 0, interleaved ? turned : half, step);
    tc_val b = ti_b_slice(m, x, 3, second, turned, step);
    tc_val ca = ti_b_mul(m, cos, a), sb = ti_b_mul(m, sin, b);
    tc_val sa = ti_b_mul(m, sin, a), cb = ti_b_mul(m, cos, b);
    tc_val real = ti_b_sub(m, ca, sb), imag = ti_b_add(m, sa, cb);
    tc_val y;
    if (interleaved) {
        y = ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, 4), (tc_val[]){real, imag}, 2);
        y = ti_b_reshape(m, y, 4, (int64_t[]){t->dim[0], t->dim[1], t->dim[2], turned});
    } else
        y = ti_b_cat(m, 3, (tc_val[]){real, imag}, 2);
    if (turned < size) {
        tc_val rest = ti_b_slice(m, x, 3, turned, size, 1);
        y = ti_b_cat(m, 3, (tc_val[]){y, rest}, 2);
    }
    ti_onnx_bind(n, 0, flat ? join_heads(m, y) : y);
}

/* Steps put into a cache from an index of each sample on; circular: modulo its length. */
void ti_onnx_build_tensor_scatter(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val cache = ti_onnx_need(n, 0), update = ti_onnx_need(n, 1), from = ti_onnx_in(n, 2);
    bool circular = ti_text_eq(ti_onnx_text(n, "mode", "linear"), "circular");
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, cache), *u = ti_b_type(m, update);
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", -2), t->rank);
    int64_t along[TC_MAX_RANK], across[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++) {
        along[i] = i == axis ? u->dim[axis] : 1;
        across[i] = i == 0 ? t->dim[0] : 1;
    }
    tc_val at = ti_b_reshape(m, ti_b_arange(m, u->dim[axis], TC_i64), t->rank, along);
    if (from) {
        from = ti_b_reshape(m, ti_b_cast(m, from, TC_i64), t->rank, across);
        at = ti_b_add(m, at, from);
    }
    if (circular) {
        tc_val length = ti_b_scalar_i64(m, TC_i64, t->dim[axis]);
        at = ti_b_remainder(m, at, length);
    }
    at = ti_b_expand(m, at, u->rank, u->dim);
    tc_attr_scatter *a =
        ti_b_attr(m, scatter, .axis = axis, .combine = TC_combine_set, .include_self = true);
    ti_onnx_bind(n, 0, ti_b_3(m, scatter, a, cache, at, update));
}
