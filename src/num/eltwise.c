/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise.c -- promotion, broadcasting, and the walk that feeds elementwise loops. */
#include "eltwise.h"

#include "load.h"

enum { BLOCK = 1024 }; /* elements at a time: operands and result stay in the first cache */

typedef union numbers {
    float f32[2 * BLOCK]; /* singly, or pairs for complex ones */
    double f64[BLOCK];
    int64_t i64[BLOCK];
} numbers;

/* bool, integers, floats, complex */
static int category(tc_dtype t)
{
    switch (tc_dtypes[t].kind) {
    case TC_BOOL:
        return 1;
    case TC_INT:
    case TC_UINT:
        return 2;
    case TC_FLOAT:
        return 3;
    case TC_COMPLEX:
        return 4;
    default:
        return 0;
    }
}

/* Two integer types: the wider; u8 with i8 needs i16.  Wide unsigned types do not mix. */
static tc_dtype promote_ints(tc_dtype a, tc_dtype b)
{
    const tc_dtype_info *x = &tc_dtypes[a], *y = &tc_dtypes[b];
    if (x->kind == y->kind)
        return x->bits >= y->bits ? a : b;
    tc_dtype u = x->kind == TC_UINT ? a : b, s = x->kind == TC_UINT ? b : a;
    if (u != TC_u8)
        return TC_none;
    return tc_dtypes[s].bits > 8 ? s : TC_i16;
}

static tc_dtype promote_floats(tc_dtype a, tc_dtype b)
{
    const tc_dtype_info *x = &tc_dtypes[a], *y = &tc_dtypes[b];
    if (x->bits == 8 || y->bits == 8)
        return TC_none; /* fp8 does not mix */
    if (x->bits == 16 && y->bits == 16)
        return TC_f32;
    return x->bits > y->bits ? a : b;
}

static tc_dtype promote_two(tc_dtype a, tc_dtype b)
{
    if (a == b || a == TC_none || b == TC_none)
        return a == TC_none ? b : a;
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    return category(a) == 2   ? promote_ints(a, b)
           : category(a) == 3 ? promote_floats(a, b)
                              : TC_none;
}

tc_dtype ti_promote(const tc_tensor *in, int n)
{
    tc_dtype wide = TC_none, zero = TC_none; /* operands of rank > 0, and of rank 0 */
    for (int i = 0; i < n; i++) {
        if (!in[i].type)
            continue;
        tc_dtype *so_far = in[i].type->rank ? &wide : &zero, before = *so_far;
        *so_far = promote_two(before, in[i].type->dtype);
        if (*so_far == TC_none)
            return TC_none;
    }
    if (wide == TC_none || zero == TC_none)
        return wide == TC_none ? zero : wide;
    return category(zero) > category(wide) ? promote_two(wide, zero) : wide;
}

static tc_domain domain_of(tc_dtype t)
{
    if (t == TC_c64)
        return TC_AS_C64;
    if (t == TC_f64)
        return TC_AS_F64;
    return ti_is_float(t) ? TC_AS_F32 : TC_AS_I64;
}

/* Strides of an operand along the axes of the result; 0 where it is repeated. */
static void steps_of(const tc_type *out, const tc_type *t, int64_t *step)
{
    int64_t run = 1;
    for (int i = out->rank - 1, k = t ? t->rank - 1 : -1; i >= 0; i--, k--) {
        int64_t extent = k >= 0 ? t->dim[k] : 1;
        step[i] = extent == 1 ? 0 : run;
        run *= extent;
    }
}

/* Axis `to` followed by axis `from` is one axis for every operand. */
static bool joins(const tc_walk *w, int64_t step[][TC_MAX_RANK], int last, int from, int64_t extent)
{
    for (int k = 0; k < w->n; k++)
        if (w->step[k][last] != step[k][from] * extent)
            return false;
    return true;
}

void ti_walk_init(tc_walk *w, const tc_type *out, const tc_tensor *in, int n)
{
    int64_t step[TC_WALK_MAX][TC_MAX_RANK];
    *w = (tc_walk){.n = n, .length = 1, .count = 1};
    for (int k = 0; k < n; k++)
        steps_of(out, in[k].type, step[k]);
    for (int i = 0; i < out->rank; i++) {
        int64_t extent = out->dim[i];
        if (extent == 1)
            continue;
        bool join = w->rank && joins(w, step, w->rank - 1, i, extent);
        if (join)
            w->dim[w->rank - 1] *= extent;
        else
            w->dim[w->rank++] = extent;
        for (int k = 0; k < n; k++)
            w->step[k][w->rank - 1] = step[k][i];
    }
    if (w->rank)
        w->length = w->dim[--w->rank];
    for (int k = 0; k < n; k++)
        w->one[k] = w->length == 1 || w->step[k][w->rank] == 0;
    for (int i = 0; i < w->rank; i++)
        w->count *= w->dim[i];
    if (w->length == 0)
        w->count = 0;
}

void ti_walk_next(tc_walk *w)
{
    for (int i = w->rank - 1; i >= 0; i--) {
        for (int k = 0; k < w->n; k++)
            w->offset[k] += w->step[k][i];
        if (++w->at[i] < w->dim[i])
            return;
        for (int k = 0; k < w->n; k++)
            w->offset[k] -= w->step[k][i] * w->dim[i];
        w->at[i] = 0;
    }
}

/* One element n times. */
static void fill(char *to, const char *from, size_t size, int64_t n)
{
#define FILL(bytes)                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                \
        memcpy(to + i * (bytes), from, bytes);
    if (size == 1)
        memset(to, *from, (size_t)n);
    else if (size == 2)
        FILL(2)
    else if (size == 4)
        FILL(4)
    else
        FILL(8)
#undef FILL
}

tc_tensor ti_expanded(tc_arena *arena, tc_tensor t, const tc_type *out)
{
    if (!t.type || ti_same_dims(t.type, out))
        return t;
    tc_type *type = tc_new(arena, tc_type);
    *type = *out;
    type->dtype = t.type->dtype;
    type->quant = NULL;
    tc_tensor full = ti_tensor_new(arena, type);
    size_t size = tc_dtypes[type->dtype].bytes;
    tc_walk w;
    ti_walk_init(&w, out, &t, 1);
    char *to = full.data;
    for (int64_t s = 0; s < w.count; s++, ti_walk_next(&w)) {
        const char *from = (const char *)t.data + (size_t)w.offset[0] * size;
        if (w.one[0])
            fill(to, from, size, w.length);
        else
            memcpy(to, from, (size_t)w.length * size);
        to += (size_t)w.length * size;
    }
    return full;
}

/* Values through a narrower type and back. */
static void round_f32(tc_dtype t, float *v, size_t n)
{
    if (t == TC_f32)
        return;
    union {
        uint16_t halves[BLOCK];
        uint8_t bytes[BLOCK];
    } store;
    tc_type type = {.dtype = t};
    tc_tensor narrow = {&type, &store};
    ti_write_f32(narrow, 0, n, v);
    ti_read_f32(narrow, 0, n, v);
}

static void wrap_i64(tc_dtype t, int64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = ti_wrap(t, v[i]);
}

static void read_c64(tc_tensor t, int64_t start, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = (float)ti_load_f64(t, start + (int64_t)i);
        out[2 * i + 1] = 0;
    }
}

/* n elements of an operand in the common type: its own buffer, or converted into `space`.
 */
static const void *take(tc_tensor t, int64_t start, size_t n, tc_dtype common, bool keep,
                        numbers *space)
{
    static const tc_dtype plain[] = {TC_f32, TC_f64, TC_i64, TC_c64};
    tc_domain domain = domain_of(common);
    tc_dtype dtype = t.type->dtype;
    if (dtype == plain[domain] && (dtype == common || keep))
        return (const char *)t.data + (size_t)start * tc_dtypes[dtype].bytes;
    switch (domain) {
    case TC_AS_F32:
        ti_read_f32(t, start, n, space->f32);
        if (dtype != common && !keep)
            round_f32(common, space->f32, n);
        break;
    case TC_AS_F64:
        ti_read_f64(t, start, n, space->f64);
        break;
    case TC_AS_I64:
        ti_read_i64(t, start, n, space->i64);
        if (dtype != common)
            wrap_i64(common, space->i64, n);
        break;
    default:
        read_c64(t, start, n, space->f32);
    }
    return space;
}

static void put(tc_tensor out, int64_t start, size_t n, tc_domain domain, const numbers *from)
{
    if (domain == TC_AS_F32)
        ti_write_f32(out, start, n, from->f32);
    else if (domain == TC_AS_F64)
        ti_write_f64(out, start, n, from->f64);
    else
        ti_write_i64(out, start, n, from->i64);
}

/* Whether the result's buffer holds just what the loop writes. */
static bool written_in_place(const tc_eltwise *op, tc_dtype out, tc_domain domain)
{
    if (op->flags & TC_GIVES_BOOL)
        return true;
    return (domain == TC_AS_F32 && out == TC_f32) || (domain == TC_AS_F64 && out == TC_f64) ||
           (domain == TC_AS_I64 && out == TC_i64) || domain == TC_AS_C64;
}

typedef struct stretch {
    const tc_eltwise *op;
    tc_dtype common;
    tc_tensor out;
    tc_tensor in[3];
    bool keep[3]; /* values stay wider than the common type */
    int n_in;
    tc_walk walk;
} stretch;

/* Elements from .. from + n of a stretch whose results start at `at`. */
static void run_block(const stretch *s, tc_run *run, int64_t at, int64_t from, size_t n)
{
    _Alignas(64) numbers space[3], result;
    tc_domain domain = domain_of(s->common);
    for (int k = 0; k < s->n_in; k++) {
        tc_tensor t = s->in[k];
        run->in[k] = NULL;
        if (!t.type)
            continue;
        bool one = s->walk.one[k];
        int64_t start = s->walk.offset[k] + (one ? 0 : from);
        run->in[k] = take(t, start, one ? 1 : n, s->common, s->keep[k], &space[k]);
        run->one[k] = one;
        if (one && !(s->op->flags & TC_TAKES_ONE)) {
            char number[8];
            size_t size = domain == TC_AS_F32 ? sizeof(float) : sizeof(double);
            memcpy(number, run->in[k], size);
            fill((char *)&space[k], number, size, (int64_t)n);
            run->in[k] = &space[k];
        }
    }
    run->n = n;
    size_t bytes = tc_dtypes[s->out.type->dtype].bytes;
    bool direct = written_in_place(s->op, s->out.type->dtype, domain);
    run->out =
        direct ? (void *)((char *)s->out.data + (size_t)(at + from) * bytes) : (void *)&result;
    s->op->fn[domain](run);
    if (!direct)
        put(s->out, at + from, n, domain, &result);
}

void ti_eltwise_run(tc_call *call, const tc_eltwise *op, tc_dtype common)
{
    if (!op->fn[domain_of(common)]) {
        call->error = "this operator has no meaning for numbers of this type";
        return;
    }
    stretch s = {.op = op, .common = common, .out = call->out[0], .n_in = call->n_in};
    const tc_type *out = s.out.type;
    for (int k = 0; k < s.n_in; k++) {
        s.in[k] = call->in[k];
        s.keep[k] = k && (op->flags & TC_WIDE_SCALARS) && s.in[k].type && s.in[k].type->rank == 0;
    }
    ti_walk_init(&s.walk, out, s.in, s.n_in);
    if (s.walk.length < 16 &&
        s.walk.count > 1) { /* short stretches: spread the operands out instead */
        for (int k = 0; k < s.n_in; k++)
            if (s.in[k].type && s.in[k].type->rank)
                s.in[k] = ti_expanded(call->scratch, s.in[k], out);
        ti_walk_init(&s.walk, out, s.in, s.n_in);
    }
    tc_run run = {.attr = call->attr, .dtype = common};
    int64_t at = 0, length = s.walk.length;
    for (int64_t i = 0; i < s.walk.count && !run.error; i++, ti_walk_next(&s.walk), at += length)
        for (int64_t from = 0; from < length; from += BLOCK)
            run_block(&s, &run, at, from, (size_t)ti_min_i64(BLOCK, length - from));
    call->error = run.error;
}

void ti_convert(tc_tensor in, tc_tensor out)
{
    numbers space;
    tc_dtype from = in.type->dtype, to = out.type->dtype;
    int64_t count = tc_type_count(in.type);
    if (from == to) {
        memcpy(out.data, in.data, tc_type_bytes(in.type));
        return;
    }
    bool ints = domain_of(from) == TC_AS_I64 && domain_of(to) == TC_AS_I64;
    bool wide = from == TC_f64 || to == TC_f64;
    for (int64_t at = 0; at < count; at += BLOCK) {
        size_t n = (size_t)ti_min_i64(BLOCK, count - at);
        if (ints) {
            ti_read_i64(in, at, n, space.i64);
            ti_write_i64(out, at, n, space.i64);
        } else if (wide) {
            ti_read_f64(in, at, n, space.f64);
            ti_write_f64(out, at, n, space.f64);
        } else {
            ti_read_f32(in, at, n, space.f32);
            ti_write_f32(out, at, n, space.f32);
        }
    }
}
