/* SPDX-License-Identifier: Apache-2.0 */
/* select_form.c -- see select_form.h. */
#include "select_form.h"

static const char *form_name(tc_sel_form form)
{
    static const char *const name[] = {
#define FORM(name, text, what) text,
#include "form.def"
    };
    return name[form];
}

tc_sel_ways ti_sel_ways(tc_sel *s, const tc_node *node)
{
    const tc_hw *hw = s->hw;
    return (tc_sel_ways){.s = s,
                         .node = node,
                         .first = hw->n_op,
                         .root = hw->n_root,
                         .told = hw->n_form};
}

void ti_sel_plain(tc_sel_ways *w)
{
    w->end = w->s->hw->n_op;
    w->root_end = w->s->hw->n_root;
    w->told_end = w->s->hw->n_form;
    w->cycles = ti_hw_cycles(w->s->hw, w->first, w->end);
}

static void tell_form(tc_hw *hw, const tc_codegen_form *form)
{
    tc_grow(hw->arena, hw->form, hw->n_form, hw->cap_form);
    hw->form[hw->n_form++] = *form;
}

static bool is_read(const tc_hw *hw, size_t first, size_t end, int32_t root)
{
    for (size_t i = first; i < end; i++) {
        const tc_hw_op *op = &hw->op[i];
        if (op->ifm.root == root || op->ifm2.root == root || op->ofm.root == root)
            return true;
    }
    return false;
}

/* The last n operations and forms instead of those before, whose working values are dropped. */
static void take(tc_sel_ways *w, size_t n, size_t n_told)
{
    tc_hw *hw = w->s->hw;
    for (size_t i = w->root; i < w->root_end; i++)
        if (hw->root[i].kind == TC_ROOT_VALUE && !is_read(hw, w->end, hw->n_op, (int32_t)i))
            hw->root[i] = (tc_root){.name = hw->root[i].name, .kind = TC_ROOT_VALUE, .bytes = 1};
    memmove(hw->op + w->first, hw->op + w->end, n * sizeof *hw->op);
    if (n_told)
        memmove(hw->form + w->told, hw->form + w->told_end, n_told * sizeof *hw->form);
    w->end = w->first + n;
    w->told_end = w->told + n_told;
}

bool ti_sel_form(tc_sel_ways *w, tc_sel_form form, bool done)
{
    tc_hw *hw = w->s->hw;
    double cycles = done ? ti_hw_cycles(hw, w->end, hw->n_op) : w->cycles;
    tc_codegen_form told = {.name = form_name(form),
                            .node = w->node,
                            .type = ti_type_of(w->s->g, w->node->out[0]),
                            .places = 1,
                            .without = w->cycles,
                            .with = cycles,
                            .taken = cycles < w->cycles};
    if (told.taken) {
        for (size_t i = w->told; i < w->told_end; i++) /* forms of what it replaces */
            told.without += hw->form[i].taken ? hw->form[i].without - hw->form[i].with : 0;
        take(w, hw->n_op - w->end, hw->n_form - w->told_end);
        w->root_end = hw->n_root;
        w->cycles = cycles;
    }
    hw->n_root = w->root_end;
    hw->n_op = w->end;
    hw->n_form = w->told_end;
    if (done)
        tell_form(hw, &told);
    w->told_end = hw->n_form;
    return told.taken;
}
