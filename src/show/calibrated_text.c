/* SPDX-License-Identifier: Apache-2.0 */
/* calibrated_text.c -- see calibrated_text.h. */
#include "calibrated_text.h"

#include "../base/json_out.h"

static void put_table(const tc_calibrated *c, tc_buf *out)
{
    ti_buf_printf(out, "%-32s %6s %12s %20s %20s\n", "log", "parts", "cycles", "total off, parts", "afterwards");
    for (size_t i = 0; i < c->n_log; i++) {
        const tc_calibrated_log *l = &c->log[i];
        ti_buf_printf(out, "%-32s %6zu %12.0f %+9.1f %% %6.1f %% %+9.1f %% %6.1f %%\n", l->file, l->n_part,
                      l->cycles, 100 * l->before.total, 100 * l->before.apart, 100 * l->after.total,
                      100 * l->after.apart);
    }
    ti_buf_printf(out, "%-52s %+9.1f %% %6.1f %% %+9.1f %% %6.1f %%\n", "all", 100 * c->before.total,
                  100 * c->before.apart, 100 * c->after.total, 100 * c->after.apart);
    for (size_t i = 0; i < c->n_number; i++) {
        const tc_calibrated_number *n = &c->number[i];
        ti_buf_printf(out, "%s: %s %.4g", n->memory, n->what, n->before);
        if (n->after != n->before)
            ti_buf_printf(out, " -> %.4g\n", n->after);
        else
            ti_buf_text(out, ", as it was\n");
    }
    if (c->call >= 0)
        ti_buf_printf(out, "a call: %.0f cycles beside its job\n", c->call);
}

static void json_error(tc_json_out *out, const char *name, const tc_calibrated_error *e)
{
    tc_json_object(out, name, TC_J("total", e->total), TC_J("parts", e->apart));
}

static void put_json(const tc_calibrated *c, tc_json_out *out)
{
    ti_json_open(out, NULL, '{');
    ti_json_open(out, "logs", '[');
    for (size_t i = 0; i < c->n_log; i++) {
        const tc_calibrated_log *l = &c->log[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("file", l->file), TC_J("parts", l->n_part), TC_J("cycles", l->cycles));
        json_error(out, "before", &l->before);
        json_error(out, "after", &l->after);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
    json_error(out, "before", &c->before);
    json_error(out, "after", &c->after);
    ti_json_open(out, "numbers", '[');
    for (size_t i = 0; i < c->n_number; i++)
        tc_json_object(out, NULL, TC_J("memory", c->number[i].memory), TC_J("what", c->number[i].what),
                       TC_J("before", c->number[i].before), TC_J("after", c->number[i].after));
    ti_json_close(out, ']');
    if (c->call >= 0)
        tc_json_put(out, TC_J("call_cycles", c->call));
    else
        ti_json_put_text(out, "call_cycles", NULL);
    ti_json_put_text(out, "board", c->text);
    ti_json_close(out, '}');
}

const char *ti_show_calibrated(tc_ctx *ctx, const tc_calibrated *c, tc_form form)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    if (form == TC_FORM_JSON)
        put_json(c, &(tc_json_out){.to = &text});
    else
        put_table(c, &text);
    return ti_buf_cstr(&text);
}
