/* SPDX-License-Identifier: Apache-2.0 */
/* board_fit_text.c -- whether a program fits a board, in words and as JSON; see board_fit.h. */
#include "board_fit.h"

#include <math.h>

static int64_t kib(int64_t bytes) { return (bytes + 1023) / 1024; }

/* "SRAM 65 of 4096 KiB, 4031 left" */
static void put_memory(const tc_fit_memory *m, tc_buf *out)
{
    ti_buf_printf(out, "%s %" PRId64 " of %" PRId64 " KiB", m->name, kib(m->used), m->bytes / 1024);
    if (m->used <= m->bytes)
        ti_buf_printf(out, ", %" PRId64 " left", (m->bytes - m->used) / 1024);
    else
        ti_buf_printf(out, ", %" PRId64 " too many", kib(m->used - m->bytes));
}

/* Three digits, or all before the point. */
static void put_short(double x, const char *unit, tc_buf *out)
{
    ti_buf_printf(out, x < 99.95 ? "%.3g%s" : "%.0f%s", x, unit);
}

/* "; 12.3 ms (10.9 to 13.7)" */
static void put_milliseconds(double about, double least, double most, tc_buf *out)
{
    ti_buf_text(out, "; ");
    put_short(about, " ms", out);
    if (most <= about)
        return;
    ti_buf_text(out, " (");
    put_short(least, " to ", out);
    put_short(most, ")", out);
}

/* The same with ", 81.3 inferences a second". */
static void put_time(const tc_fit *f, tc_buf *out)
{
    if (!(f->milliseconds > 0))
        return;
    put_milliseconds(f->milliseconds, f->least, f->most, out);
    ti_buf_text(out, ", ");
    put_short(f->inferences_per_second, " inferences a second", out);
    if (f->npu_clock > 0)
        ti_buf_printf(out, ", the NPU at %.0f MHz", f->npu_clock / 1e6);
    if (f->core_clock > 0)
        ti_buf_printf(out, ", the core at %.0f MHz", f->core_clock / 1e6);
    if (*f->not_counted)
        ti_buf_printf(out, " (not counted: %s)", f->not_counted);
}

static void put_trial(const tc_fit *f, const tc_fit_trial *t, tc_buf *out)
{
    ti_buf_printf(out, "  tried %s: ", t->options);
    if (t->why) {
        ti_buf_printf(out, "%s\n", t->why);
        return;
    }
    ti_buf_text(out, t->fits ? "fits:" : "does not fit:");
    for (size_t i = 0; i < f->n_memory; i++)
        ti_buf_printf(out, "%s %s %" PRId64 " KiB", i ? "," : "", f->memory[i].name,
                      kib(t->used[f->memory[i].kind]));
    if (t->milliseconds > 0)
        put_milliseconds(t->milliseconds, t->least, t->most, out);
    if (isfinite(t->sqnr_db))
        ti_buf_printf(out, "; %.1f dB", t->sqnr_db);
    ti_buf_text(out, "\n");
}

static bool any_fits(const tc_fit *f)
{
    bool any = f->fits;
    for (size_t i = 0; i < f->n_trial; i++)
        any = any || f->trial[i].fits;
    return any;
}

/* The trial that takes the least of a memory; NULL: the first compilation. */
static const tc_fit_trial *least_of(const tc_fit *f, const tc_fit_memory *m)
{
    const tc_fit_trial *least = NULL;
    for (size_t i = 0; i < f->n_trial; i++) {
        const tc_fit_trial *t = &f->trial[i];
        if (!t->why && t->used[m->kind] < (least ? least->used[m->kind] : m->used))
            least = t;
    }
    return least;
}

/* Why it does not fit, as far as it is known. */
static void put_bounds(const tc_fit *f, tc_buf *out)
{
    const char *bound = NULL, *between = ":";
    ti_buf_text(out, "  nothing that was tried fits");
    for (size_t i = 0; i < f->n_memory; i++) {
        const tc_fit_memory *m = &f->memory[i];
        const tc_fit_trial *least = least_of(f, m);
        if (m->used <= m->bytes)
            continue;
        ti_buf_printf(out, "%s at least %" PRId64 " KiB of %s%s%s%s", between,
                      kib(least ? least->used[m->kind] : m->used), m->name, least ? " (" : "",
                      least ? least->options : "", least ? ")" : "");
        between = ",";
        if (m->kind == f->works_in)
            bound = least ? least->bound : f->bound;
    }
    ti_buf_printf(out, "%s%s\n", bound ? "; " : "", bound ? bound : "");
}

void ti_fit_text(const tc_fit *f, tc_buf *out)
{
    ti_buf_printf(out, "%s%s%s: %s: ", f->board->name, f->memory_mode ? ", " : "",
                  f->memory_mode ? f->memory_mode : "", f->fits ? "fits" : "does not fit");
    for (size_t i = 0; i < f->n_memory; i++) {
        ti_buf_text(out, i ? "; " : "");
        put_memory(&f->memory[i], out);
    }
    put_time(f, out);
    ti_buf_text(out, "\n");
    for (size_t i = 0; i < f->n_trial; i++)
        put_trial(f, &f->trial[i], out);
    if (!any_fits(f) && f->n_trial)
        put_bounds(f, out);
}

/* ---- JSON ---- */

static void json_memory(tc_json_out *out, const char *name, const char *key, int64_t bytes,
                        int64_t used)
{
    tc_json_object(out, NULL, TC_J("name", name), TC_J("kind", key), TC_J("size", bytes),
                   TC_J("used", used), TC_J("left", bytes - used));
}

static void json_band(double about, double least, double most, tc_json_out *out)
{
    if (most > about)
        tc_json_put(out, TC_J("milliseconds_low", least), TC_J("milliseconds_high", most));
}

static void json_trial(const tc_fit *f, const tc_fit_trial *t, tc_json_out *out)
{
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("options", t->options), TC_J("fits", t->fits));
    if (t->why)
        ti_json_put_text(out, "why", t->why);
    else {
        ti_json_open(out, "memories", '[');
        for (size_t i = 0; i < f->n_memory; i++) {
            const tc_fit_memory *m = &f->memory[i];
            json_memory(out, m->name, tc_board_keys[m->kind], m->bytes, t->used[m->kind]);
        }
        ti_json_close(out, ']');
        tc_json_put(out, TC_J("milliseconds", t->milliseconds));
        json_band(t->milliseconds, t->least, t->most, out);
        tc_json_put(out, TC_J("sqnr_db", t->sqnr_db));
    }
    ti_json_close(out, '}');
}

void ti_fit_json(const tc_fit *f, tc_json_out *out)
{
    ti_json_open(out, "verdict", '{');
    tc_json_put(out, TC_J("board", f->board->name), TC_J("title", f->board->title),
                TC_J("target", f->target), TC_J("fits", f->fits));
    tc_json_put(out, TC_J_IF("system_config", f->system_config),
                TC_J_IF("memory_mode", f->memory_mode), TC_J_IF("npu_clock_hz", f->npu_clock),
                TC_J_IF("core_clock_hz", f->core_clock));
    ti_json_open(out, "memories", '[');
    for (size_t i = 0; i < f->n_memory; i++)
        json_memory(out, f->memory[i].name, tc_board_keys[f->memory[i].kind], f->memory[i].bytes,
                    f->memory[i].used);
    ti_json_close(out, ']');
    tc_json_put(out, TC_J("milliseconds", f->milliseconds > 0 ? f->milliseconds : NAN));
    json_band(f->milliseconds, f->least, f->most, out);
    tc_json_put(out, TC_J("inferences_per_second",
                     f->inferences_per_second > 0 ? f->inferences_per_second : NAN),
                TC_J_IF("not_counted", f->not_counted), TC_J_IF("bound", f->bound));
    ti_json_open(out, "alternatives", '[');
    for (size_t i = 0; i < f->n_trial; i++)
        json_trial(f, &f->trial[i], out);
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}
