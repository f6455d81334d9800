/* SPDX-License-Identifier: Apache-2.0 */
/* compute_flow.c -- the builder of compute shaders: variables, branches, loops. */
#include "compute_build.h"

/* Variables and the function's beginning are in a separate part, before the code. */
tc_cs_var ti_cs_var(tc_cs *s, tc_cs_val first)
{
    uint32_t type = ti_cs_kind_type(s, first.kind),
             pointer = UNIQUE(s, TC_SPV_TypePointer, 0, STORAGE_FUNCTION, type);
    tc_cs_var v = {ti_spv_id(&s->w), first.kind};
    TC_SPV_PUT(&s->w, TC_SPV_ENTRIES, TC_SPV_Variable, pointer, v.id, STORAGE_FUNCTION);
    PUT(s, TC_SPV_Store, v.id, first.id);
    return v;
}

tc_cs_val ti_cs_get(tc_cs *s, tc_cs_var v)
{
    return ti_cs_one(s, TC_SPV_Load, v.kind, (tc_cs_val){v.id, v.kind});
}

void ti_cs_set(tc_cs *s, tc_cs_var v, tc_cs_val now)
{
    PUT(s, TC_SPV_Store, v.id, ti_cs_to(s, v.kind, now).id);
}

static void label(tc_cs *s, uint32_t id)
{
    PUT(s, TC_SPV_Label, id);
}

tc_cs_if ti_cs_if(tc_cs *s, tc_cs_val condition)
{
    uint32_t inside = ti_spv_id(&s->w), end = ti_spv_id(&s->w);
    PUT(s, TC_SPV_SelectionMerge, end, 0);
    PUT(s, TC_SPV_BranchConditional, condition.id, inside, end);
    label(s, inside);
    return (tc_cs_if){0, end};
}

void ti_cs_end(tc_cs *s, tc_cs_if block)
{
    PUT(s, TC_SPV_Branch, block.end);
    label(s, block.end);
}

tc_cs_loop ti_cs_loop(tc_cs *s, tc_cs_val times)
{
    tc_cs_loop l = {.head = ti_spv_id(&s->w)};
    l.next = ti_spv_id(&s->w);
    l.end = ti_spv_id(&s->w);
    l.i = ti_cs_var(s, ti_cs_number(s, times.kind, 0));
    uint32_t test = ti_spv_id(&s->w), body = ti_spv_id(&s->w);
    PUT(s, TC_SPV_Branch, l.head);
    label(s, l.head);
    PUT(s, TC_SPV_LoopMerge, l.end, l.next, 0);
    PUT(s, TC_SPV_Branch, test);
    label(s, test);
    l.at = ti_cs_get(s, l.i);
    PUT(s, TC_SPV_BranchConditional, ti_cs_less(s, l.at, times).id, body, l.end);
    label(s, body);
    return l;
}

void ti_cs_again(tc_cs *s, tc_cs_loop *l)
{
    PUT(s, TC_SPV_Branch, l->next);
    label(s, l->next);
    tc_cs_val i = ti_cs_get(s, l->i), one = ti_cs_number(s, l->i.kind, 1);
    ti_cs_set(s, l->i, ti_cs_add(s, i, one));
    PUT(s, TC_SPV_Branch, l->head);
    label(s, l->end);
}
