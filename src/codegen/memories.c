/* SPDX-License-Identifier: Apache-2.0 */
/* memories.c -- in which memory every root is stored: borders where the caller sees them, values in
 * the fast one; where that is a memory of its own, as many as it has room for. */
#include "hw.h"

/* What is in the fast region at a step; NULL: nothing that may leave it. */
static tc_root *largest_at(const tc_hw *hw, uint8_t fast, int32_t step)
{
    tc_root *worst = NULL;
    for (size_t i = 0; i < hw->n_root; i++) {
        tc_root *r = &hw->root[i];
        if (r->kind == TC_ROOT_VALUE && r->region == fast &&
            ti_lives_meet(r->life, (tc_life){step, step}) &&
            (!worst || ti_hw_root_bytes(r) > ti_hw_root_bytes(worst)))
            worst = r;
    }
    return worst;
}

int64_t ti_hw_most(tc_hw *hw, uint8_t region, int32_t *step)
{
    tc_mark mark = ti_arena_mark(hw->arena);
    int64_t *live = tc_new_n(hw->arena, int64_t, hw->n_op + 2), most = 0;
    const int32_t *same = ti_hw_in_place(hw);
    for (size_t i = 0; i < hw->n_root; i++) {
        const tc_root *r = &hw->root[i];
        if (r->kind == TC_ROOT_CONSTANT || !ti_is_used(r->life) || r->region != region)
            continue;
        live[same[i] ? r->life.first + 1 : r->life.first] += ti_hw_root_bytes(r);
        live[r->life.last + 1] -= ti_hw_root_bytes(r);
    }
    *step = 0;
    for (size_t i = 0; i < hw->n_op; i++) {
        if (live[i] > most) {
            most = live[i];
            *step = (int32_t)i;
        }
        live[i + 1] += live[i];
    }
    ti_arena_rewind(hw->arena, mark);
    return most;
}

bool ti_hw_evict(tc_hw *hw, int64_t room)
{
    uint8_t fast = ti_hw_fast_region(hw);
    int32_t step;
    while (ti_hw_most(hw, fast, &step) > room) {
        tc_root *worst = largest_at(hw, fast, step);
        if (!worst)
            return false;
        worst->region = 1;
    }
    return true;
}

void ti_hw_regions(tc_hw *hw)
{
    uint8_t fast = ti_hw_fast_region(hw);
    for (size_t i = 0; i < hw->n_root; i++) {
        tc_root *r = &hw->root[i];
        bool border = r->kind == TC_ROOT_INPUT || r->kind == TC_ROOT_OUTPUT;
        r->region = r->kind == TC_ROOT_CONSTANT ? 0 : border ? 1 : fast;
    }
    if (fast == 2 && hw->options->system->cache) {
        ti_hw_live(hw);
        (void)ti_hw_evict(hw, hw->options->system->cache); /* what is left is refused later */
    }
}
