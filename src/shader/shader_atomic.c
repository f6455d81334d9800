/* SPDX-License-Identifier: Apache-2.0 */
/* shader_atomic.c -- atomic instructions on integers of buffers and shared memory; see shader.h.
 *
 * One invocation runs at a time, so each is a load, an operation and a store.  Invocations run in
 * order of their index, which fixes what a machine leaves open (which of them sees which value). */
#include "shader_steps.h"

/* x: the value in memory, y: the operand, z: the comparand. */
TC_SH_WHOLE(step_set, ((void)x, y))
TC_SH_WHOLE(step_set_if, x == z ? y : x)
TC_SH_WHOLE(step_up, x + 1)
TC_SH_WHOLE(step_down, x - 1)
TC_SH_WHOLE(step_add, x + y)
TC_SH_WHOLE(step_sub, x - y)
TC_SH_WHOLE(step_smin, ti_sh_signed(x, bits) < ti_sh_signed(y, bits) ? x : y)
TC_SH_WHOLE(step_umin, x < y ? x : y)
TC_SH_WHOLE(step_smax, ti_sh_signed(x, bits) > ti_sh_signed(y, bits) ? x : y)
TC_SH_WHOLE(step_umax, x > y ? x : y)
TC_SH_WHOLE(step_and, x & y)
TC_SH_WHOLE(step_or, x | y)
TC_SH_WHOLE(step_xor, x ^ y)

typedef struct atomic {
    uint32_t op;
    tc_sh_step *step; /* NULL: nothing is stored */
    uint8_t operand, comparator; /* the opcodes; 0: none */
} atomic;

static const atomic rows[] = {
    {TC_SPV_AtomicLoad, NULL, 0, 0},
    {TC_SPV_AtomicExchange, step_set, 5, 0},
    {TC_SPV_AtomicCompareExchange, step_set_if, 6, 7},
    {TC_SPV_AtomicIIncrement, step_up, 0, 0},
    {TC_SPV_AtomicIDecrement, step_down, 0, 0},
    {TC_SPV_AtomicIAdd, step_add, 5, 0},
    {TC_SPV_AtomicISub, step_sub, 5, 0},
    {TC_SPV_AtomicSMin, step_smin, 5, 0},
    {TC_SPV_AtomicUMin, step_umin, 5, 0},
    {TC_SPV_AtomicSMax, step_smax, 5, 0},
    {TC_SPV_AtomicUMax, step_umax, 5, 0},
    {TC_SPV_AtomicAnd, step_and, 5, 0},
    {TC_SPV_AtomicOr, step_or, 5, 0},
    {TC_SPV_AtomicXor, step_xor, 5, 0},
};

/* A pointer into a buffer, or to shared memory. */
static bool is_atomic_place(tc_sh_reader *r, const tc_sh_id *p, const tc_sh_type *t)
{
    if (p->is == TC_SH_PLACE && p->space != TC_SH_PUSH && t->kind == TC_SH_INT &&
        ti_sh_type(r, p->of) == t)
        return true;
    return ti_sh_fail(r, "an atomic instruction is not on whole numbers of a buffer or of shared "
                         "memory");
}

static void store(tc_sh_reader *r)
{
    const tc_sh_type *t;
    const tc_sh_id to = *ti_sh_id(r, ti_sh_word(r, 0));
    uint32_t from = ti_sh_value(r, ti_sh_word(r, 3), &t);
    if (is_atomic_place(r, &to, t))
        ti_sh_store_to(r, &to, from, t);
}

static void change(tc_sh_reader *r, const atomic *a)
{
    const tc_sh_type *t, *other;
    const tc_sh_id place = *ti_sh_id(r, ti_sh_word(r, 2));
    uint32_t operand = 0, comparator = 0;
    if (a->operand)
        operand = ti_sh_value(r, ti_sh_word(r, a->operand), &other);
    if (a->operand && other != ti_sh_type(r, ti_sh_word(r, 0)))
        ti_sh_fail(r, "an operand is not of the result's type");
    if (a->comparator)
        comparator = ti_sh_value(r, ti_sh_word(r, a->comparator), &other);
    uint32_t before = ti_sh_result(r, &t);
    if (r->error || !is_atomic_place(r, &place, t))
        return;
    ti_sh_load_from(r, &place, before, t);
    if (!a->step)
        return;
    uint32_t after = ti_sh_registers(r, 1);
    ti_sh_put(r, (tc_sh_ins){.step = a->step, .out = after, .a = before, .b = operand,
                             .c = comparator, .n = 1, .bits = (uint16_t)t->bits});
    ti_sh_store_to(r, &place, after, t);
}

bool ti_sh_atomic(tc_sh_reader *r)
{
    if (r->at.op == TC_SPV_AtomicStore) {
        store(r);
        return true;
    }
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == r->at.op) {
            change(r, &rows[i]);
            return true;
        }
    return false;
}
