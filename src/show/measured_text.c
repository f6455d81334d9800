/* SPDX-License-Identifier: Apache-2.0 */
/* measured_text.c -- measured times of a device next to the expected ones: a table, or JSON. */
#include "../cost/profile.h"

#include "../base/json_out.h"

static const char *const heading[TC_PROFILE_BYS] = {"line", "module", "node", "kernel or delegate"};

static void put_expected(tc_buf *out, double expected)
{
    if (expected > 0)
        ti_buf_printf(out, " %11.4f", 1e3 * expected);
    else
        ti_buf_printf(out, " %11s", "-");
}

static void put_head(const tc_profile *p, tc_buf *out)
{
    const tc_measured_run *m = p->measured;
    ti_buf_printf(out, "%s: %zu run%s of '%s', %.4f ms on average, %.4f ms the shortest, at %.10g ticks a second",
                  m->file, m->runs, m->runs == 1 ? "" : "s", m->method, 1e3 * m->seconds,
                  1e3 * m->least, m->ticks);
    if (m->load > 0)
        ti_buf_printf(out, "; loading took %.4f ms", 1e3 * m->load);
    ti_buf_text(out, "\n");
    if (p->machine)
        ti_buf_printf(out, "%s: %.4f ms expected at %.0f MHz (%s, %s)\n", p->machine->name,
                      1e3 * p->total.cycles / p->system.clock, p->system.clock / 1e6,
                      p->system.config, p->system.mode);
}

/* What delegates noted of themselves. */
static void put_delegates(const tc_measured_run *m, tc_buf *out)
{
    for (size_t i = 0; i < m->n_step; i++) {
        const tc_measured_step *s = &m->step[i];
        if (!s->delegate)
            continue;
        ti_buf_printf(out, "%s, instruction %zu: %.4f ms", s->name, s->step, 1e3 * s->seconds);
        if (s->expected > 0)
            ti_buf_printf(out, ", %.4f ms expected of its command stream", 1e3 * s->expected);
        ti_buf_text(out, "\n");
        for (size_t k = 0; k < s->n_event; k++)
            ti_buf_printf(out, "%11.4f  %s%s%s\n", 1e3 * s->event[k].seconds, s->event[k].name,
                          s->event[k].id ? " " : "", s->event[k].id ? s->event[k].id : "");
    }
}

void ti_show_measured(const tc_profile *p, tc_profile_by by, size_t most, tc_buf *out)
{
    const tc_measured_run *m = p->measured;
    size_t n = most && most < m->n_row[by] ? most : m->n_row[by];
    double rest = m->seconds, shown = 0;
    bool shared = false;
    put_head(p, out);
    ti_buf_printf(out, "%11s %7s %11s  %s\n", "measured ms", "share", "expected ms", heading[by]);
    for (size_t i = 0; i < m->n_row[by]; i++) {
        const tc_measured_row *r = &m->row[by][i];
        rest -= r->measured;
        shown += i < n ? 0 : r->measured;
        shared = shared || (i < n && r->shared);
        if (i >= n)
            continue;
        ti_buf_printf(out, "%11.4f %5.1f %%", 1e3 * r->measured,
                      m->seconds > 0 ? 100 * r->measured / m->seconds : 0);
        put_expected(out, r->expected);
        ti_buf_printf(out, "%s %s\n", r->shared ? "~" : " ", r->name);
    }
    if (n < m->n_row[by])
        ti_buf_printf(out, "%11.4f %5.1f %%              %zu more\n", 1e3 * shown,
                      m->seconds > 0 ? 100 * shown / m->seconds : 0, m->n_row[by] - n);
    if (m->seconds > 0 && rest > 0)
        ti_buf_printf(out, "%11.4f %5.1f %%              between instructions\n", 1e3 * rest,
                      100 * rest / m->seconds);
    if (shared)
        ti_buf_text(out, "~ a delegate's time, shared out by expected cycles: inside of it nothing was measured\n");
    put_delegates(m, out);
}

static void json_seconds(tc_json_out *out, double seconds, double expected)
{
    ti_json_put_real(out, "seconds", seconds);
    if (expected > 0)
        ti_json_put_real(out, "expected_seconds", expected);
    else
        ti_json_put_text(out, "expected_seconds", NULL);
}

static void json_step(const tc_measured_step *s, tc_json_out *out)
{
    const tc_loc *loc = s->n_frame ? s->frame : NULL;
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("instruction", s->step), TC_J("name", s->name));
    ti_json_put_bool(out, "delegate", s->delegate);
    bool one = loc && (s->n_frame == 1 || !s->delegate);
    tc_json_put(out, TC_J("node", one ? loc->node : NULL), TC_J("place", one ? loc->place : NULL));
    json_seconds(out, s->seconds, s->expected);
    ti_json_open(out, "events", '[');
    for (size_t k = 0; k < s->n_event; k++)
        tc_json_object(out, NULL, TC_J("name", s->event[k].name), TC_J("id", s->event[k].id),
                       TC_J("seconds", s->event[k].seconds));
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

void ti_measured_json(const tc_measured_run *m, tc_json_out *out)
{
    static const char *const name[TC_PROFILE_BYS] = {"lines", "modules", "nodes", "kinds"};
    ti_json_open(out, "measured", '{');
    tc_json_put(out, TC_J("file", m->file), TC_J("method", m->method), TC_J("runs", m->runs),
                TC_J("ticks_per_second", m->ticks), TC_J("seconds", m->seconds),
                TC_J("least_seconds", m->least), TC_J("load_seconds", m->load));
    ti_json_open(out, "instructions", '[');
    for (size_t i = 0; i < m->n_step; i++)
        json_step(&m->step[i], out);
    ti_json_close(out, ']');
    for (int by = 0; by < TC_PROFILE_BYS; by++) {
        ti_json_open(out, name[by], '[');
        for (size_t i = 0; i < m->n_row[by]; i++) {
            ti_json_open(out, NULL, '{');
            ti_json_put_text(out, "name", m->row[by][i].name);
            json_seconds(out, m->row[by][i].measured, m->row[by][i].expected);
            ti_json_put_bool(out, "shared", m->row[by][i].shared);
            ti_json_close(out, '}');
        }
        ti_json_close(out, ']');
    }
    ti_json_close(out, '}');
}
