/* SPDX-License-Identifier: Apache-2.0 */
/* shader_composite.c -- vectors, matrices, arrays and structs: put together, taken apart, and
 * products of matrices, which are written out in sums of scalars; see shader.h. */
#include "shader.h"

/* out = a[b], a of d scalars. */
static const tc_sh_ins *step_extract(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t index = m->r[i->b];
    if (index >= i->d) {
        m->error = "an index is past the end of a vector";
        return NULL;
    }
    m->r[i->out] = m->r[i->a + index];
    return i + 1;
}

/* out[b] = a, out of d scalars. */
static const tc_sh_ins *step_insert(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t index = m->r[i->b];
    if (index >= i->d) {
        m->error = "an index is past the end of a vector";
        return NULL;
    }
    m->r[i->out + index] = m->r[i->a];
    return i + 1;
}

/* The part selected by the literals from operand `first` on: registers before it, and its type. */
static uint32_t part(tc_sh_reader *r, size_t first, const tc_sh_type **type)
{
    uint32_t before = 0;
    for (size_t i = first; i < r->at.n && !r->error; i++) {
        const tc_sh_type *t = *type;
        uint32_t index = ti_sh_word(r, i);
        bool several = t->kind == TC_SH_VECTOR || t->kind == TC_SH_MATRIX || t->kind == TC_SH_ARRAY ||
                       t->kind == TC_SH_STRUCT;
        if (!several || index >= t->count) {
            ti_sh_fail(r, "a value has no part of this number");
            break;
        }
        if (t->kind == TC_SH_STRUCT) {
            for (uint32_t k = 0; k < index; k++)
                before += ti_sh_type(r, t->member[k])->slots;
            *type = ti_sh_type(r, t->member[index]);
        } else {
            *type = ti_sh_type(r, t->element);
            before += index * (*type)->slots;
        }
    }
    return before;
}

static void construct(tc_sh_reader *r)
{
    const tc_sh_type *t, *x;
    uint32_t out = ti_sh_result(r, &t), at = 0;
    for (size_t i = 2; i < r->at.n && !r->error; i++) {
        uint32_t from = ti_sh_value(r, ti_sh_word(r, i), &x);
        if (x->slots > t->slots - at)
            ti_sh_fail(r, "a value has too many parts");
        else
            ti_sh_move(r, out + at, from, x->slots);
        at += x->slots;
    }
    if (at != t->slots)
        ti_sh_fail(r, "a value has too few parts");
}

static void extract(tc_sh_reader *r)
{
    const tc_sh_type *x;
    uint32_t from = ti_sh_value(r, ti_sh_word(r, 2), &x), before = part(r, 3, &x);
    if (x != ti_sh_type(r, ti_sh_word(r, 0)))
        ti_sh_fail(r, "a part is of another type");
    ti_sh_result_is(r, from + before);
}

static void insert(tc_sh_reader *r)
{
    const tc_sh_type *t, *object, *whole;
    uint32_t out = ti_sh_result(r, &t), from = ti_sh_value(r, ti_sh_word(r, 2), &object);
    uint32_t all = ti_sh_value(r, ti_sh_word(r, 3), &whole);
    if (whole != t) {
        ti_sh_fail(r, "a part is put into a value of another type");
        return;
    }
    uint32_t before = part(r, 4, &whole);
    if (whole != object || r->error) {
        ti_sh_fail(r, "a part is of another type");
        return;
    }
    ti_sh_move(r, out, all, t->slots);
    ti_sh_move(r, out + before, from, object->slots);
}

static void copy(tc_sh_reader *r)
{
    const tc_sh_type *x, *t = ti_sh_type(r, ti_sh_word(r, 0));
    const tc_sh_id *from = ti_sh_id(r, ti_sh_word(r, 2));
    if (from->is == TC_SH_PLACE || from->is == TC_SH_RESOURCE) {
        tc_sh_id *to = ti_sh_id(r, ti_sh_word(r, 1)), kept = *to;
        *to = *from;
        to->instr = kept.instr;
        return;
    }
    uint32_t slot = ti_sh_value(r, ti_sh_word(r, 2), &x);
    if (x->slots != t->slots)
        ti_sh_fail(r, "a copy is of another type");
    ti_sh_result_is(r, slot);
}

static void shuffle(tc_sh_reader *r)
{
    const tc_sh_type *t, *x, *y;
    uint32_t out = ti_sh_result(r, &t), a = ti_sh_value(r, ti_sh_word(r, 2), &x);
    uint32_t b = ti_sh_value(r, ti_sh_word(r, 3), &y);
    if (t->kind != TC_SH_VECTOR || x->kind != TC_SH_VECTOR || y->kind != TC_SH_VECTOR ||
        x->element != y->element || t->element != x->element || r->at.n != 4 + (size_t)t->slots) {
        ti_sh_fail(r, "vectors are shuffled into another type");
        return;
    }
    for (uint32_t i = 0; i < t->slots; i++) {
        uint32_t from = ti_sh_word(r, 4 + i);
        if (from == UINT32_MAX)
            continue; /* undefined */
        if (from >= x->slots + y->slots)
            ti_sh_fail(r, "a shuffle takes a scalar that there is not");
        else
            ti_sh_move(r, out + i, from < x->slots ? a + from : b + from - x->slots, 1);
    }
}

static void dynamic(tc_sh_reader *r)
{
    bool put = r->at.op == TC_SPV_VectorInsertDynamic;
    const tc_sh_type *t, *x, *index, *object = NULL;
    uint32_t out = ti_sh_result(r, &t), a = ti_sh_value(r, ti_sh_word(r, 2), &x);
    uint32_t o = put ? ti_sh_value(r, ti_sh_word(r, 3), &object) : 0;
    uint32_t at = ti_sh_value(r, ti_sh_word(r, put ? 4 : 3), &index);
    if (x->kind != TC_SH_VECTOR || index->kind != TC_SH_INT || (put && object->slots != 1) ||
        t->slots != (put ? x->slots : 1)) {
        ti_sh_fail(r, "an index is not into a vector");
        return;
    }
    if (put)
        ti_sh_move(r, out, a, x->slots);
    ti_sh_put(r, (tc_sh_ins){.step = put ? step_insert : step_extract, .out = out,
                             .a = put ? o : a, .b = at, .d = x->slots});
}

/* ---- matrices: column major
 * ---------------------------------------------------------------------- */

typedef struct {
    uint32_t slot, rows, columns;
    const tc_sh_type *element;
} matrix;

/* A vector is a matrix of one column. */
static matrix matrix_of(tc_sh_reader *r, size_t i)
{
    const tc_sh_type *t;
    matrix x = {.slot = ti_sh_value(r, ti_sh_word(r, i), &t), .rows = 1, .columns = 1};
    x.element = ti_sh_scalar(r, t);
    if (t->kind == TC_SH_MATRIX) {
        x.columns = t->count;
        x.rows = ti_sh_type(r, t->element)->count;
    } else
        x.rows = t->slots;
    if (!x.element || x.element->kind != TC_SH_FLOAT)
        ti_sh_fail(r, "an operand is not of real numbers");
    return x;
}

/* out[i, j] = sum over k of a[i, k] * b[k, j], in order. */
static void product(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t out = ti_sh_result(r, &t);
    matrix a = matrix_of(r, 2), b = matrix_of(r, 3);
    if (r->error)
        return;
    if (r->at.op == TC_SPV_VectorTimesMatrix) {
        a.columns = a.rows;
        a.rows = 1;
    } else if (r->at.op == TC_SPV_OuterProduct) {
        b.columns = b.rows;
        b.rows = 1;
    }
    if (a.columns != b.rows || a.element != b.element || t->slots != a.rows * b.columns ||
        t->slots > 16) {
        ti_sh_fail(r, "the factors do not fit each other");
        return;
    }
    uint32_t term = ti_sh_registers(r, 1);
    for (uint32_t j = 0; j < b.columns && !r->error; j++)
        for (uint32_t i = 0; i < a.rows; i++)
            for (uint32_t k = 0; k < a.columns; k++) {
                uint32_t to = out + j * a.rows + i;
                ti_sh_emit(r, TC_SPV_FMul, a.element, k ? term : to, a.slot + k * a.rows + i,
                           b.slot + j * b.rows + k, 1);
                if (k)
                    ti_sh_emit(r, TC_SPV_FAdd, a.element, to, to, term, 1);
            }
}

static void times_scalar(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t out = ti_sh_result(r, &t);
    matrix a = matrix_of(r, 2), b = matrix_of(r, 3);
    if (r->error)
        return;
    if (a.element != b.element || b.rows * b.columns != 1 || t->slots != a.rows * a.columns) {
        ti_sh_fail(r, "the factors do not fit each other");
        return;
    }
    for (uint32_t i = 0; i < t->slots; i++)
        ti_sh_emit(r, TC_SPV_FMul, a.element, out + i, a.slot + i, b.slot, 1);
}

static void transpose(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t out = ti_sh_result(r, &t);
    matrix a = matrix_of(r, 2);
    if (t->kind != TC_SH_MATRIX || t->slots != a.rows * a.columns || r->error) {
        ti_sh_fail(r, "the result is not the transposed matrix");
        return;
    }
    for (uint32_t i = 0; i < a.rows; i++)
        for (uint32_t j = 0; j < a.columns; j++)
            ti_sh_move(r, out + i * a.columns + j, a.slot + j * a.rows + i, 1);
}

bool ti_sh_composite(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        void (*read)(tc_sh_reader *);
    } rows[] = {{TC_SPV_CompositeConstruct, construct},
                {TC_SPV_CompositeExtract, extract},
                {TC_SPV_CompositeInsert, insert},
                {TC_SPV_CopyObject, copy},
                {TC_SPV_CopyLogical, copy},
                {TC_SPV_VectorShuffle, shuffle},
                {TC_SPV_VectorExtractDynamic, dynamic},
                {TC_SPV_VectorInsertDynamic, dynamic},
                {TC_SPV_MatrixTimesVector, product},
                {TC_SPV_VectorTimesMatrix, product},
                {TC_SPV_MatrixTimesMatrix, product},
                {TC_SPV_OuterProduct, product},
                {TC_SPV_VectorTimesScalar, times_scalar},
                {TC_SPV_MatrixTimesScalar, times_scalar},
                {TC_SPV_Transpose, transpose}};
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == r->at.op) {
            rows[i].read(r);
            return true;
        }
    return false;
}
