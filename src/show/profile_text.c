/* SPDX-License-Identifier: Apache-2.0 */
/* profile_text.c -- a profile as a table, or as JSON. */
#include "../cost/profile.h"

#include "../base/json_out.h"

#include <math.h>

enum { HINT_SHARE = 50 }; /* rows of at least 1 / this of the total have a hint in the table */

static const char *const heading[TC_PROFILE_BYS] = {"line", "module", "node", "operation"};

/* "1.2 M", "45.6 k": at most five characters. */
static const char *amount(tc_ctx *ctx, double v)
{
    static const char *const unit[] = {"", "k", "M", "G", "T"};
    size_t i = 0;
    while (v >= 999.5 && i + 1 < TC_COUNT(unit)) {
        v /= 1000;
        i++;
    }
    return ti_text_format(&ctx->arena, i && v < 99.95 ? "%.1f%s" : "%.0f%s", v, unit[i]);
}

static void put_memories(tc_ctx *ctx, const tc_profile *p, const tc_cost_figures *f, tc_buf *out)
{
    for (int i = 0; i < TC_PROFILE_MEMORIES; i++)
        if (p->system.memory[i].name && p->total.read[i] + p->total.written[i] > 0)
            ti_buf_printf(out, " %6s/%-6s", amount(ctx, f->read[i]), amount(ctx, f->written[i]));
}

/* Hints that were given so far: (a), (b), ... */
typedef struct said {
    const char *hint[TC_CAUSE_COUNT + 1];
    int n;
} said;

static int number_of(said *s, const char *hint)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->hint[i], hint) == 0)
            return i;
    s->hint[s->n] = hint;
    return s->n++;
}

static void put_row(tc_ctx *ctx, const tc_profile *p, const tc_profile_row *r, int width,
                    said *so_far, tc_buf *out)
{
    bool hint = r->hint && HINT_SHARE * r->share >= 1;
    const tc_profile_core *core = &p->core;
    ti_buf_printf(out, "%11.0f %5.1f %%  %-*s %7s", r->cost.cycles, 100 * r->share, width,
                  *r->name ? r->name : "(not known)", amount(ctx, r->cost.macs));
    if (!core->title)
        ti_buf_printf(out, " %5.1f %%", 100 * r->cost.utilisation);
    else if (r->cost.macs > 0)
        ti_buf_printf(out, " %7.2f", r->cost.cycles / core->factor.about / r->cost.macs);
    else
        ti_buf_printf(out, " %7s", "");
    put_memories(ctx, p, &r->cost, out);
    ti_buf_text(out, hint ? "  (" : "     ");
    if (hint)
        ti_buf_printf(out, "%c)", 'a' + number_of(so_far, r->hint));
    if (r->nodes && strcmp(r->nodes, r->name) != 0)
        ti_buf_printf(out, "  %s", r->nodes);
    while (out->size && out->data[out->size - 1] == ' ')
        out->size--;
    ti_buf_text(out, "\n");
}

/* Flash and RAM, and what is exact in it. */
static void put_core(tc_ctx *ctx, const tc_profile *p, tc_buf *out)
{
    const tc_profile_core *c = &p->core;
    tc_cost_figures total = ti_profile_figures(p, &p->total);
    double ms = p->system.clock > 0 ? 1e3 / p->system.clock : 0;
    ti_buf_printf(out, "%s: %.0f instructions estimated, %.0f cycles (%s) at %.2f for each", c->title,
                  c->instructions, total.cycles,
                  ti_npu_band_text(&ctx->arena, total.cycles_low, total.cycles_high), c->factor.about);
    if (ms > 0)
        ti_buf_printf(out, ", %.3f ms (%.3f to %.3f) at %.0f MHz", ms * total.cycles,
                      ms * total.cycles_low, ms * total.cycles_high, p->system.clock / 1e6);
    ti_buf_printf(out, "; %s MACs, %.2f instructions each\n", amount(ctx, p->total.macs),
                  p->total.macs > 0 ? c->instructions / p->total.macs : 0);
    ti_buf_printf(out, "flash: %zu bytes: constants %zu, code about %zu\n", c->constants + c->code,
                  c->constants, c->code);
    ti_buf_printf(out, "RAM: %zu bytes: arena %zu, inputs and outputs %zu",
                  c->arena + c->ports + c->state, c->arena, c->ports);
    if (c->state)
        ti_buf_printf(out, ", state %zu", c->state);
    ti_buf_text(out, "; the stack comes on top\n");
}

/* The total, its band, and what the band rests on. */
static void put_machine(tc_ctx *ctx, const tc_profile *p, const tc_cost_figures *total, tc_buf *out)
{
    double ms = 1e3 / p->system.clock;
    ti_buf_printf(out,
                  "%s: %.0f cycles (%s) %s, %.3f ms (%.3f to %.3f) at %.0f MHz, %s MACs, %.1f %% in "
                  "use (%s, %s)\n",
                  p->machine->name, total->cycles,
                  ti_npu_band_text(&ctx->arena, total->cycles_low, total->cycles_high),
                  p->estimated ? "estimated from TOSA operators" : "expected", ms * total->cycles,
                  ms * total->cycles_low, ms * total->cycles_high, p->system.clock / 1e6,
                  amount(ctx, total->macs), 100 * total->utilisation, p->system.config,
                  p->system.mode);
    if (p->total.unmeasured > 0.05 * p->total.cycles)
        ti_buf_printf(out,
                      "%.0f %% of the cycles are of kinds that were never measured (16 and 32 bits, "
                      "products, resizing, transposes, tables): their band is wide\n",
                      100 * p->total.unmeasured / p->total.cycles);
    if (p->system.filled)
        ti_buf_printf(out, "the system's description is completed: %s\n", p->system.filled);
}

static void put_head(tc_ctx *ctx, const tc_profile *p, tc_profile_by by, int width, tc_buf *out)
{
    tc_cost_figures total = ti_profile_figures(p, &p->total);
    if (p->core.title)
        put_core(ctx, p, out);
    else
        put_machine(ctx, p, &total, out);
    ti_buf_printf(out, "%11s %7s  %-*s %7s %7s", "cycles", "share", width, heading[by], "MACs",
                  p->core.title ? "for one" : "in use");
    for (int i = 0; i < TC_PROFILE_MEMORIES; i++)
        if (p->system.memory[i].name && p->total.read[i] + p->total.written[i] > 0)
            ti_buf_printf(out, " %13s",
                          ti_text_format(&ctx->arena, "%.8s r/w", p->system.memory[i].name));
    ti_buf_text(out,
                by == TC_PROFILE_BY_KIND || by == TC_PROFILE_BY_NODE ? "\n" : "       nodes\n");
}

/* The time between streams is the CPU's. */
static void put_cpu(const tc_profile *p, tc_buf *out)
{
    if (p->n_stream > 1 && !p->core.title)
        ti_buf_printf(
            out, "the program has %zu regions: data between them goes through the CPU\n",
            p->n_stream);
    if (p->n_cpu)
        ti_buf_printf(out, "%s, not counted above: %zu\n",
                      p->core.title ? "not in the C" : "on the CPU", p->n_cpu);
    for (size_t i = 0; i < p->n_cpu; i++)
        ti_buf_printf(out, "  %-28s %s%s%s\n", p->cpu[i].node,
                      p->cpu[i].place ? p->cpu[i].place : "", p->cpu[i].place ? ": " : "",
                      p->cpu[i].why);
}

static void put_table(tc_ctx *ctx, const tc_profile *p, tc_profile_by by, size_t most, tc_buf *out)
{
    size_t n = most && most < p->n_row[by] ? most : p->n_row[by];
    int width = 12;
    tc_npu_cost rest = p->total;
    said hints = {0};
    if (!p->machine && !p->core.title) {
        ti_buf_text(out, "no part of the program runs on the accelerator\n");
        put_cpu(p, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int w = (int)strlen(p->row[by][i].name);
        width = w > width ? w < 40 ? w : 40 : width;
    }
    put_head(ctx, p, by, width, out);
    for (size_t i = 0; i < n; i++) {
        put_row(ctx, p, &p->row[by][i], width, &hints, out);
        rest.cycles -= p->row[by][i].cost.cycles;
    }
    if (n < p->n_row[by])
        ti_buf_printf(out, "%11.0f %5.1f %%  %zu more\n", rest.cycles,
                      p->total.cycles > 0 ? 100 * rest.cycles / p->total.cycles : 0,
                      p->n_row[by] - n);
    for (int i = 0; i < hints.n; i++)
        ti_buf_printf(out, "(%c) %s\n", 'a' + i, hints.hint[i]);
    if (!p->lines && by != TC_PROFILE_BY_KIND)
        ti_buf_text(out, "the file does not have the source of its operations: use --by kind\n");
    put_cpu(p, out);
}

/* ---- JSON ---- */

static void json_figures(const tc_profile *p, const tc_cost_figures *f, tc_json_out *out)
{
    tc_json_put(out, TC_J("cycles", rint(f->cycles)), TC_J("cycles_low", rint(f->cycles_low)),
                TC_J("cycles_high", rint(f->cycles_high)));
    tc_json_put(out, TC_J("macs", f->macs), TC_J("utilisation", f->utilisation));
    ti_json_open(out, "bytes", '{');
    for (int i = 0; i < TC_PROFILE_MEMORIES; i++)
        if (p->system.memory[i].name)
            tc_json_object(out, p->system.memory[i].name, TC_J("read", f->read[i]),
                           TC_J("written", f->written[i]));
    ti_json_close(out, '}');
}

static void json_rows(const tc_profile *p, tc_profile_by by, tc_json_out *out)
{
    static const char *const name[TC_PROFILE_BYS] = {"lines", "modules", "nodes", "kinds"};
    ti_json_open(out, name[by], '[');
    for (size_t i = 0; i < p->n_row[by]; i++) {
        const tc_profile_row *r = &p->row[by][i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J(heading[by], r->name), TC_J("nodes", r->nodes));
        if (by != TC_PROFILE_BY_MODULE)
            ti_json_put_text(out, "module", r->module);
        tc_json_put(out, TC_J("operations", r->operations), TC_J("share", r->share));
        json_figures(p, &r->cost, out);
        ti_json_put_text(out, "hint", r->hint);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

/* The work of a kernel on a Cortex-M, and its instructions. */
static void json_counts(const tc_profile *p, const tc_profile_entry *e, tc_json_out *out)
{
    tc_json_put(out, TC_J("instructions", e->cost.cycles / p->core.factor.about));
    ti_json_open(out, "counts", '{');
    for (size_t i = 0; i < e->n_count; i++)
        tc_json_put(out, TC_J(e->count[i].what, e->count[i].times));
    ti_json_close(out, '}');
}

static void json_core(const tc_profile_core *c, tc_json_out *out)
{
    tc_json_put(out, TC_J("instructions", c->instructions),
                TC_J("cycles_per_instruction", c->factor.about));
    tc_json_object(out, "flash", TC_J("constants", c->constants), TC_J("code", c->code));
    tc_json_object(out, "ram", TC_J("arena", c->arena), TC_J("ports", c->ports),
                   TC_J("state", c->state));
}

static void json_operations(const tc_profile *p, tc_json_out *out)
{
    ti_json_open(out, "operations", '[');
    for (size_t i = 0; i < p->n_entry; i++) {
        const tc_profile_entry *e = &p->entry[i];
        tc_cost_figures f = ti_profile_figures(p, &e->cost);
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("stream", e->stream), TC_J("word", e->word), TC_J("name", e->name),
                    TC_J("tosa", e->op), TC_J("node", e->loc ? e->loc->node : NULL),
                    TC_J("place", e->loc ? e->loc->place : NULL));
        json_figures(p, &f, out);
        if (!p->core.title)
            tc_json_put(out, TC_J("waits_for", ti_npu_wait_name(e->wait)));
        if (e->count)
            json_counts(p, e, out);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

/* Cycles that nothing could go below: every multiplier busy, every memory busy. */
static void json_limits(const tc_profile *p, const tc_cost_figures *f, tc_json_out *out)
{
    double bytes = 0;
    for (int i = 0; i < TC_PROFILE_MEMORIES; i++) {
        double speed = p->system.memory[i].name ? p->system.memory[i].bytes_per_cycle : 0;
        double cycles = speed > 0 ? (f->read[i] + f->written[i]) / speed : 0;
        bytes = cycles > bytes ? cycles : bytes;
    }
    tc_json_object(out, "limits", TC_J("macs", f->cycles * f->utilisation), TC_J("bytes", bytes));
}

static void put_json(const tc_profile *p, tc_json_out *out)
{
    tc_cost_figures total = ti_profile_figures(p, &p->total);
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("machine", p->machine ? p->machine->name : p->core.title),
                TC_J("system_config", p->system.config), TC_J("memory_mode", p->system.mode),
                TC_J("clock_hz", p->system.clock),
                TC_J("seconds", p->system.clock > 0 ? total.cycles / p->system.clock : 0));
    json_figures(p, &total, out);
    if (!p->core.title)
        tc_json_put(out, TC_J("cycles_unmeasured", p->total.unmeasured),
                    TC_J("system_filled", p->system.filled));
    json_limits(p, &total, out);
    if (p->core.title)
        json_core(&p->core, out);
    ti_json_put_int(out, "streams", (int64_t)p->n_stream);
    for (int by = 0; by < TC_PROFILE_BYS; by++)
        json_rows(p, (tc_profile_by)by, out);
    json_operations(p, out);
    ti_json_open(out, "cpu", '[');
    for (size_t i = 0; i < p->n_cpu; i++)
        tc_json_object(out, NULL, TC_J("node", p->cpu[i].node), TC_J("place", p->cpu[i].place),
                       TC_J("why", p->cpu[i].why));
    ti_json_close(out, ']');
    if (p->measured)
        ti_measured_json(p->measured, out);
    if (p->counted)
        ti_counted_json(p->counted, out);
    ti_json_close(out, '}');
}

tc_status ti_show_profile(tc_ctx *ctx, const tc_profile *p, tc_profile_by by, size_t most,
                        tc_form form, const char **out)
{
    tc_buf text;
    if ((int)by < 0 || (int)by >= TC_PROFILE_BYS)
        return ti_usage(ctx, "unknown row kind %d (see tc_profile_by)", (int)by);
    ti_buf_init(&text, &ctx->arena);
    if (form == TC_FORM_JSON)
        put_json(p, &(tc_json_out){.to = &text});
    else if (p->measured)
        ti_show_measured(p, by, most, &text);
    else if (p->counted)
        ti_show_counted(p, by, most, &text);
    else
        put_table(ctx, p, by, most, &text);
    *out = ti_buf_cstr(&text);
    return TC_OK;
}

tc_status ti_show_overlay(tc_ctx *ctx, const tc_profile *p, const char **out)
{
    tc_buf text;
    if (!p->counted)
        return ti_usage(ctx, "only what was measured goes over a graph: the profile has no log of a counter");
    ti_buf_init(&text, &ctx->arena);
    ti_counted_overlay(p, &(tc_json_out){.to = &text});
    *out = ti_buf_cstr(&text);
    return TC_OK;
}
