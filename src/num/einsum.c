/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.c -- sums of products by an equation, as a chain of matrix products.
 *
 * Operands are taken in pairs from the left.  Labels fall into four kinds: batch (in both and still
 * needed), rows and columns (in one and still needed), inner (in both, summed now); labels of one
 * operand that are not needed later are summed while packing. */
#include "einsum.h"

#include "gemm.h"
#include "work.h"

enum { DOTS = 52 };

/* 0 .. 51 for A-Z and a-z, else -1. */
static int label_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

/* One term: labels before and after "...", up to ',' or '-' or the end. */
typedef struct term {
    int n, before; /* letters in all; how many before the dots */
    bool dots;
    uint8_t label[TC_MAX_RANK];
} term;

static const char *read_term(const char **at, term *t)
{
    *t = (term){0};
    for (; **at && **at != ',' && **at != '-'; (*at)++) {
        if (**at == ' ')
            continue;
        int label = label_of(**at);
        if (label >= 0 && t->n < TC_MAX_RANK)
            t->label[t->n++] = (uint8_t)label;
        else if (label >= 0)
            return "has a term of too many axes";
        else if (strncmp(*at, "...", 3) == 0 && !t->dots) {
            t->dots = true;
            t->before = t->n;
            *at += 2;
        } else
            return "has a character that is neither a letter nor \"...\"";
    }
    return NULL;
}

/* The term's letters with `dots` axes instead of "...", right-aligned among `most`. */
static int spell(const term *t, int dots, int most, uint8_t *out)
{
    int n = 0;
    for (int i = 0; i <= t->n; i++) {
        for (int k = 0; t->dots && i == t->before && k < dots; k++)
            out[n++] = (uint8_t)(DOTS + most - dots + k);
        if (i < t->n)
            out[n++] = t->label[i];
    }
    return n;
}

static const char *join_extent(tc_einsum *e, int label, int64_t extent)
{
    int64_t *now = &e->extent[label];
    if (*now >= 0 && *now != 1 && extent != 1 && *now != extent)
        return "gives one label two extents";
    if (*now < 0 || *now == 1)
        *now = extent;
    return NULL;
}

static const char *spell_operands(const term *t, const tc_tensor *in, tc_einsum *e, int *most)
{
    for (int i = 0; i < e->n_in; i++) {
        int rank = in[i].type->rank;
        if (t[i].dots ? rank < t[i].n : rank != t[i].n)
            return "has a term that does not fit its operand's rank";
        if (t[i].dots && rank - t[i].n > *most)
            *most = rank - t[i].n;
    }
    for (int i = 0; i < e->n_in; i++) {
        e->rank[i] = spell(&t[i], in[i].type->rank - t[i].n, *most, e->in[i]);
        for (int k = 0; k < e->rank[i]; k++) {
            const char *problem = join_extent(e, e->in[i][k], in[i].type->dim[k]);
            if (problem)
                return problem;
        }
    }
    return NULL;
}

/* Without "->": the dots, then the letters that occur once, in order. */
static const char *implied_result(const term *t, int most, tc_einsum *e)
{
    int seen[DOTS] = {0};
    for (int i = 0; i < e->n_in; i++)
        for (int k = 0; k < t[i].n; k++)
            seen[t[i].label[k]]++;
    for (int k = 0; k < most; k++)
        e->out[e->out_rank++] = (uint8_t)(DOTS + k);
    for (int label = 0; label < DOTS; label++) {
        if (seen[label] != 1)
            continue;
        if (e->out_rank == TC_MAX_RANK)
            return "has a result of too many axes";
        e->out[e->out_rank++] = (uint8_t)label;
    }
    return NULL;
}

static const char *spelled_result(const term *t, int most, tc_einsum *e)
{
    if (t->n + (t->dots ? most : 0) > TC_MAX_RANK)
        return "has a result of too many axes";
    e->out_rank = spell(t, most, most, e->out);
    for (int i = 0; i < e->out_rank; i++) {
        if (e->extent[e->out[i]] < 0)
            return "has a label in its result that no operand has";
        for (int k = 0; k < i; k++)
            if (e->out[k] == e->out[i])
                return "has a label twice in its result";
    }
    return NULL;
}

const char *ti_einsum_parse(const char *equation, const tc_tensor *in, int n_in, tc_einsum *e)
{
    term t[TC_EINSUM_OPERANDS], result;
    const char *at = equation, *problem;
    if (!at || n_in < 1 || n_in > TC_EINSUM_OPERANDS)
        return "is missing or has too many operands";
    *e = (tc_einsum){.n_in = n_in};
    for (int i = 0; i < TC_EINSUM_LABELS; i++)
        e->extent[i] = -1;
    for (int i = 0; i < n_in; i++) {
        if ((problem = read_term(&at, &t[i])))
            return problem;
        if (i + 1 < n_in && *at++ != ',')
            return "has fewer terms than there are operands";
    }
    if (*at == ',')
        return "has more terms than there are operands";
    int most = 0;
    if ((problem = spell_operands(t, in, e, &most)))
        return problem;
    if (!*at)
        return implied_result(t, most, e);
    if (at[0] != '-' || at[1] != '>')
        return "has a '-' that is not \"->\"";
    at += 2;
    if ((problem = read_term(&at, &result)))
        return problem;
    return *at ? "continues after its result" : spelled_result(&result, most, e);
}

/* An array with a step per label; labels it does not have are not in `has`. */
typedef struct view {
    const void *data;
    uint64_t has;
    int64_t step[TC_EINSUM_LABELS];
} view;

/* Labels in the order of a loop, the last one fastest. */
typedef struct axes {
    int n;
    int label[TC_EINSUM_LABELS];
} axes;

static void append(axes *list, uint64_t mask)
{
    for (int i = 0; i < TC_EINSUM_LABELS; i++)
        if (mask >> i & 1)
            list->label[list->n++] = i;
}

/* Elements of all labels together; -1 when they are too many. */
static int64_t count_of(const tc_einsum *e, const axes *list)
{
    int64_t n = 1;
    for (int i = 0; i < list->n; i++)
        if (__builtin_mul_overflow(n, e->extent[list->label[i]], &n) || n > INT64_C(1) << 40)
            return -1;
    return n;
}

/* Step the odometer; returns its offset. */
static int64_t turn(const tc_einsum *e, const axes *list, const view *v, int64_t *digit, int64_t at)
{
    for (int i = list->n - 1; i >= 0; i--) {
        int label = list->label[i];
        at += v->step[label];
        if (++digit[i] < e->extent[label])
            return at;
        at -= digit[i] * v->step[label];
        digit[i] = 0;
    }
    return at;
}

#define PACK(T, Acc, name)                                                                         \
    static void name(const tc_einsum *e, const view *v, const axes *keep, const axes *sum, T *out) \
    {                                                                                              \
        int64_t digit[TC_EINSUM_LABELS] = {0}, inner[TC_EINSUM_LABELS] = {0};                      \
        int64_t n = count_of(e, keep), m = count_of(e, sum), at = 0;                               \
        for (int64_t i = 0; i < n; i++, at = turn(e, keep, v, digit, at)) {                        \
            Acc total = 0;                                                                         \
            int64_t from = at;                                                                     \
            for (int64_t k = 0; k < m; k++, from = turn(e, sum, v, inner, from))                   \
                total += (Acc)((const T *)v->data)[from];                                          \
            out[i] = (T)total;                                                                     \
        }                                                                                          \
    }
PACK(float, double, pack_f32)
PACK(double, double, pack_f64)
PACK(uint64_t, uint64_t, pack_i64)

static void pack(tc_work work, const tc_einsum *e, const view *v, const axes *keep, const axes *sum,
                 void *out)
{
    if (work == TC_WORK_f32)
        pack_f32(e, v, keep, sum, out);
    else if (work == TC_WORK_f64)
        pack_f64(e, v, keep, sum, out);
    else
        pack_i64(e, v, keep, sum, out);
}

/* `keep` of v in order and contiguous, the other labels of v summed; NULL when it is too large.
 */
static const void *packed(tc_call *call, tc_work work, const tc_einsum *e, const view *v,
                          const axes *keep, uint64_t sum)
{
    axes summed = {0};
    append(&summed, sum);
    int64_t n = count_of(e, keep), size = 1;
    if (n < 0 || count_of(e, &summed) < 0)
        return NULL;
    bool as_is = summed.n == 0;
    for (int i = keep->n - 1; i >= 0; i--) {
        as_is = as_is && (v->step[keep->label[i]] == size || e->extent[keep->label[i]] == 1);
        size *= e->extent[keep->label[i]];
    }
    if (as_is)
        return v->data;
    void *out = ti_arena_raw(call->scratch, (size_t)n * ti_work_size(work));
    pack(work, e, v, keep, &summed, out);
    return out;
}

/* a times b; labels outside `need` are summed. */
static view contract(tc_call *call, tc_work work, const tc_einsum *e, const view *a, const view *b,
                     uint64_t need)
{
    uint64_t both = a->has & b->has;
    axes batch = {0}, rows = {0}, columns = {0}, inner = {0};
    append(&batch, both & need);
    append(&inner, both & ~need);
    append(&rows, a->has & ~b->has & need);
    append(&columns, b->has & ~a->has & need);
    axes left = batch, right = batch, result = batch;
    append(&left, a->has & ~b->has & need);
    append(&left, both & ~need);
    append(&right, both & ~need);
    append(&right, b->has & ~a->has & need);
    append(&result, a->has & ~b->has & need);
    append(&result, b->has & ~a->has & need);
    view y = {.has = (a->has | b->has) & need};
    int64_t size = 1, total = count_of(e, &result);
    for (int i = result.n - 1; total >= 0 && i >= 0; i--) {
        y.step[result.label[i]] = e->extent[result.label[i]] == 1 ? 0 : size;
        size *= e->extent[result.label[i]];
    }
    const void *x = total < 0 ? NULL : packed(call, work, e, a, &left, a->has & ~b->has & ~need);
    const void *w = x ? packed(call, work, e, b, &right, b->has & ~a->has & ~need) : NULL;
    if (!w) {
        call->error = "the product of two operands is too large";
        return y;
    }
    int64_t m = count_of(e, &rows), n = count_of(e, &columns), k = count_of(e, &inner);
    void *out = ti_arena_array(call->scratch, (size_t)total, ti_work_size(work), 8);
    for (int64_t i = 0; i < count_of(e, &batch); i++)
        ti_gemm(work, call->scratch, m, n, k, ti_work_at(work, x, i * m * k), k, 1,
                ti_work_at(work, w, i * k * n), n, 1, ti_work_at_out(work, out, i * m * n), n);
    y.data = out;
    return y;
}

static view operand(tc_call *call, tc_work work, const tc_einsum *e, int i)
{
    view v = {.data = ti_work_in(call, i, work)};
    const tc_type *t = call->in[i].type;
    int64_t size = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        int label = e->in[i][k];
        v.has |= UINT64_C(1) << label;
        v.step[label] += t->dim[k] == 1 ? 0 : size; /* a repeated label walks the diagonal */
        size *= t->dim[k];
    }
    return v;
}

void ti_num_einsum(tc_call *call)
{
    const tc_attr_einsum *a = call->attr;
    tc_einsum e;
    call->error = ti_einsum_parse(a->equation, call->in, call->n_in, &e);
    if (call->error)
        return;
    uint64_t result = 0, mask[TC_EINSUM_OPERANDS] = {0};
    axes keep = {.n = e.out_rank}, sum = {0};
    for (int i = 0; i < e.out_rank; i++) {
        keep.label[i] = e.out[i];
        result |= UINT64_C(1) << e.out[i];
    }
    for (int i = 0; i < e.n_in; i++)
        for (int k = 0; k < e.rank[i]; k++)
            mask[i] |= UINT64_C(1) << e.in[i][k];
    tc_work work = ti_work_of(call->out[0].type->dtype);
    view v = operand(call, work, &e, 0);
    for (int i = 1; i < e.n_in && !call->error; i++) {
        uint64_t need = result;
        for (int k = i + 1; k < e.n_in; k++)
            need |= mask[k];
        view next = operand(call, work, &e, i);
        v = contract(call, work, &e, &v, &next, need);
    }
    append(&sum, v.has & ~result);
    if (!call->error && count_of(&e, &sum) < 0)
        call->error = "the sum has too many terms";
    if (call->error)
        return;
    void *out = ti_work_out(call, 0, work);
    pack(work, &e, &v, &keep, &sum, out);
    ti_work_done(call, 0, work, out);
}
