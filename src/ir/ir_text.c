/* SPDX-License-Identifier: Apache-2.0 */
/* ir_text.c -- the comparison of modules by their text. */
#include "ir_text.h"

static bool same_side(const tc_side *a, const tc_side *b)
{
    if (a->n_part != b->n_part)
        return false;
    for (size_t i = 0; i < a->n_part; i++)
        if (a->part[i].size != b->part[i].size ||
            memcmp(a->part[i].data, b->part[i].data, a->part[i].size) != 0)
            return false;
    return true;
}

static void print_whole(const tc_module *m, tc_arena *arena, tc_buf *text, tc_side *side)
{
    ti_buf_init(text, arena);
    ti_side_init(side, arena);
    ti_print(m, &(tc_print_options){.locs = true, .side = side}, text);
}

bool ti_module_equal(const tc_module *a, const tc_module *b)
{
    tc_arena *arena = &a->ctx->arena;
    tc_mark mark = ti_arena_mark(arena); /* printing allocates nothing that stays */
    tc_buf text_a, text_b;
    tc_side side_a, side_b;
    print_whole(a, arena, &text_a, &side_a);
    print_whole(b, arena, &text_b, &side_b);
    bool same = text_a.size == text_b.size && memcmp(text_a.data, text_b.data, text_a.size) == 0 &&
                same_side(&side_a, &side_b);
    ti_arena_rewind(arena, mark);
    return same;
}
