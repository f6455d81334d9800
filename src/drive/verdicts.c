/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.c -- see verdicts.h. */
#include "verdicts.h"

tc_status ti_verdicts_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                         const char *system_config, const char *memory_mode, tc_verdicts **out)
{
    tc_pricer *pricer;
    *out = NULL;
    TC_TRY(ti_pricer_for(ctx, target, ini, system_config, memory_mode, &pricer));
    if (!pricer)
        return TC_OK;
    *out = tc_new(&ctx->arena, tc_verdicts);
    (*out)->pricer = pricer;
    return TC_OK;
}

void ti_verdicts_add(tc_ctx *ctx, tc_verdicts *c, const tc_verdict *one)
{
    tc_grow(&ctx->arena, c->choice, c->n, c->cap);
    c->choice[c->n++] = *one;
}

void ti_verdicts_text(const tc_verdicts *c, tc_buf *out)
{
    if (!c) {
        ti_buf_printf(out, "the costs of this machine are not known\n");
        return;
    }
    ti_buf_printf(out,
                  "alternative forms on %s, cycles without and with them, of the operations that "
                  "match or of the region:\n",
                  c->pricer->options.machine->name);
    ti_buf_printf(out, "  %-10s %-20s %7s %12s %12s %10s  %-6s %s\n", "region", "form", "matches",
                  "without", "with", "", "", "where");
    for (size_t i = 0; i < c->n; i++) {
        const tc_verdict *k = &c->choice[i];
        const tc_loc *loc = k->node ? k->node->loc : NULL;
        ti_buf_printf(out, "  %-10s %-20s %7zu %12.0f %12.0f %+10.0f  %-6s %s%s%s\n", k->region,
                      k->form, k->places, k->without, k->with, k->with - k->without,
                      k->taken ? "used" : "not", k->node ? k->shape : "region",
                      loc && loc->node ? " " : "", loc && loc->node ? loc->node : "");
    }
    if (!c->n)
        ti_buf_printf(out, "  none\n");
}
