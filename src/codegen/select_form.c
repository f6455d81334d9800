/* SPDX-License-Identifier: Apache-2.0 */
/* select_form.c -- see select_form.h. */
#include "select_form.h"

const char *ti_form_name(tc_sel_form form)
{
    static const char *const name[] = {
#define FORM(name, text, what) text,
#include "form.def"
    };
    return name[form];
}

tc_sel_ways ti_sel_ways(tc_sel *s, const tc_node *node)
{
    return (tc_sel_ways){.s = s, .node = node, .first = s->hw->n_op};
}

void ti_sel_plain(tc_sel_ways *w)
{
    w->end = w->s->hw->n_op;
    w->cycles = ti_hw_cycles(w->s->hw, w->first, w->end);
}

void ti_hw_tell_form(tc_hw *hw, const tc_codegen_form *form)
{
    for (size_t i = 0; i < hw->n_form; i++) {
        tc_codegen_form *f = &hw->form[i];
        if (f->name != form->name || f->taken != form->taken || f->type != form->type)
            continue;
        f->places += form->places;
        f->without += form->without;
        f->with += form->with;
        return;
    }
    tc_grow(hw->arena, hw->form, hw->n_form, hw->cap_form);
    hw->form[hw->n_form++] = *form;
}

bool ti_sel_form(tc_sel_ways *w, tc_sel_form form, bool done)
{
    tc_hw *hw = w->s->hw;
    size_t n = hw->n_op - w->end;
    double cycles = done ? ti_hw_cycles(hw, w->end, hw->n_op) : w->cycles;
    bool less = done && cycles < w->cycles;
    if (done)
        ti_hw_tell_form(hw, &(tc_codegen_form){.name = ti_form_name(form),
                                               .node = w->node,
                                               .type = ti_type_of(w->s->g, w->node->out[0]),
                                               .places = 1,
                                               .without = w->cycles,
                                               .with = cycles,
                                               .taken = less});
    if (less) {
        memmove(hw->op + w->first, hw->op + w->end, n * sizeof *hw->op);
        w->end = w->first + n;
        w->cycles = cycles;
    }
    hw->n_op = w->end;
    return less;
}
