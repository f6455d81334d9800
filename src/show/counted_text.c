/* SPDX-License-Identifier: Apache-2.0 */
/* counted_text.c -- cycles of a counter next to the expected ones: a table, JSON, or Model Explorer's
 * data for nodes. */
#include "../cost/profile.h"

#include "../base/json_out.h"

static const char *const heading[TC_PROFILE_BYS] = {"line", "module", "node", "operation"};

static double percent(double measured, double expected)
{
    return expected > 0 ? 100 * (measured / expected - 1) : 0;
}

static void put_head(const tc_profile *p, tc_buf *out)
{
    const tc_counted *c = p->counted;
    ti_buf_printf(out, "%s: %zu job%s, %zu part%s, %.0f cycles on average, %.0f expected (%+.1f %%; parts %.1f %% apart)",
                  c->file, c->jobs, c->jobs == 1 ? "" : "s", c->n_part, c->n_part == 1 ? "" : "s",
                  c->cycles, c->expected, percent(c->cycles, c->expected), 100 * c->apart / c->cycles);
    if (c->call >= 0)
        ti_buf_printf(out, "; %.0f more for a call", c->call);
    ti_buf_printf(out, "\n%s, %s, %s\n", p->machine->name, p->system.config, p->system.mode);
}

void ti_show_counted(const tc_profile *p, tc_profile_by by, size_t most, tc_buf *out)
{
    const tc_counted *c = p->counted;
    size_t n = most && most < c->n_row[by] ? most : c->n_row[by];
    bool shared = false;
    double rest = 0;
    put_head(p, out);
    ti_buf_printf(out, "%11s %7s %11s %8s  %s\n", "measured", "share", "expected", "", heading[by]);
    for (size_t i = 0; i < c->n_row[by]; i++) {
        const tc_measured_row *r = &c->row[by][i];
        rest += i < n ? 0 : r->measured;
        shared = shared || (i < n && r->shared);
        if (i < n)
            ti_buf_printf(out, "%10.0f%s %5.1f %% %11.0f %+6.1f %%  %s\n", r->measured, r->shared ? "~" : " ",
                          100 * r->measured / c->cycles, r->expected, percent(r->measured, r->expected),
                          r->name);
    }
    if (n < c->n_row[by])
        ti_buf_printf(out, "%10.0f  %5.1f %%                       %zu more\n", rest, 100 * rest / c->cycles,
                      c->n_row[by] - n);
    if (shared)
        ti_buf_text(out, "~ measured together with others, and divided by expected cycles\n");
}

void ti_counted_json(const tc_counted *c, tc_json_out *out)
{
    static const char *const name[TC_PROFILE_BYS] = {"lines", "modules", "nodes", "kinds"};
    ti_json_open(out, "counted", '{');
    tc_json_put(out, TC_J("file", c->file), TC_J("jobs", c->jobs), TC_J("cycles", c->cycles),
                TC_J("expected_cycles", c->expected), TC_J("apart", c->apart));
    if (c->call >= 0)
        tc_json_put(out, TC_J("call_cycles", c->call));
    else
        ti_json_put_text(out, "call_cycles", NULL);
    ti_json_open(out, "parts", '[');
    for (size_t i = 0; i < c->n_part; i++)
        tc_json_object(out, NULL, TC_J("stream", c->part[i].stream), TC_J("operations", c->part[i].n_op),
                       TC_J("cycles", c->part[i].cycles), TC_J("expected_cycles", c->part[i].expected));
    ti_json_close(out, ']');
    for (int by = 0; by < TC_PROFILE_BYS; by++) {
        ti_json_open(out, name[by], '[');
        for (size_t i = 0; i < c->n_row[by]; i++) {
            ti_json_open(out, NULL, '{');
            tc_json_put(out, TC_J("name", c->row[by][i].name), TC_J("cycles", c->row[by][i].measured),
                        TC_J("expected_cycles", c->row[by][i].expected));
            ti_json_put_bool(out, "shared", c->row[by][i].shared);
            ti_json_close(out, '}');
        }
        ti_json_close(out, ']');
    }
    ti_json_close(out, '}');
}

/* A node of the graph is known by the name of its output. */
void ti_counted_overlay(const tc_profile *p, tc_json_out *out)
{
    const tc_counted *c = p->counted;
    ti_json_open(out, NULL, '{');
    ti_json_open(out, p->machine->name, '{');
    ti_json_put_text(out, "name", "measured cycles");
    ti_json_open(out, "results", '{');
    for (size_t i = 0; i < c->n_row[TC_PROFILE_BY_NODE]; i++) {
        const tc_measured_row *r = &c->row[TC_PROFILE_BY_NODE][i];
        tc_json_object(out, r->name, TC_J("value", r->measured));
    }
    ti_json_close(out, '}');
    ti_json_open(out, "gradient", '[');
    tc_json_object(out, NULL, TC_J("stop", 0), TC_J("bgColor", "#ffffff"));
    tc_json_object(out, NULL, TC_J("stop", 1), TC_J("bgColor", "#ff8844"));
    ti_json_close(out, ']');
    ti_json_close(out, '}');
    ti_json_close(out, '}');
}
