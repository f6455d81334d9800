/* SPDX-License-Identifier: Apache-2.0 */
/* nothing_offloaded.c -- a program for an accelerator of which nothing runs there: reported, with
 * the most frequent reason, and what can be done about it. */
#include "driver.h"

/* The most frequent reason; *n: of how many operators, *first: one of them. */
static const char *main_reason(const tc_split_report *r, size_t *n, const tc_node **first)
{
    const char *why = NULL;
    *n = 0;
    for (size_t i = 0; i < r->n_left; i++) {
        size_t same = 0;
        for (size_t k = i; k < r->n_left; k++)
            same += ti_text_eq(r->left[k].why, r->left[i].why);
        if (same <= *n)
            continue;
        *n = same;
        why = r->left[i].why;
        *first = r->left[i].node;
    }
    return why;
}

tc_status ti_tell_idle(tc_ctx *ctx, const tc_compiled *c)
{
    if (c->n_region || c->target.machine->packing == TC_PACKED_NOT || !c->work.typed ||
        !c->split.n_left)
        return TC_OK;
    static const char text[] = "no part of the model runs on '%s': all %zu operators stay on the "
                               "CPU";
    tc_loc loc = {.file = c->module->file};
    tc_status status = TC_OK;
    size_t n, all = c->split.n_left;
    const tc_node *first = NULL;
    const char *why = main_reason(&c->split, &n, &first);
    if (c->request.strict)
        status = ti_error(ctx, &loc, TC_E_IDLE, text, c->target.text, all);
    else
        ti_warning(ctx, &loc, TC_E_IDLE, text, c->target.text, all);
    ti_note(ctx, first->loc, "%zu of them, the first is '%s': %s", n,
            first->loc->node ? first->loc->node : tc_ops[first->op].name, why);
    if (c->request.config && ti_text_eq(c->request.config, "none"))
        ti_note(ctx, NULL, "-q none keeps the model in float: without it, --calib quantizes it");
    else
        ti_note(ctx, NULL, "'tosac explain' lists every operator with its reason");
    return status;
}
