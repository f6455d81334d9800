/* SPDX-License-Identifier: Apache-2.0 */
/* advice_text.c -- advice as a page, or as JSON. */
#include "advise.h"

#include <math.h>

#include "../base/json_out.h"
#include "../npu/cost.h"

/* ---- figures ---- */

static const char *bytes_text(tc_ctx *ctx, double bytes)
{
    return bytes >= 1048576 ? ti_text_format(&ctx->arena, "%.2f MiB", bytes / 1048576)
           : bytes >= 1024  ? ti_text_format(&ctx->arena, "%.1f KiB", bytes / 1024)
                            : ti_text_format(&ctx->arena, "%.0f bytes", bytes);
}

static const char *cycles_text(tc_ctx *ctx, double cycles)
{
    return ti_text_format(&ctx->arena, "%.0f", cycles);
}

/* The figures of a program that are printed with a sign and a percentage. */
static const struct {
    const char *name;
    size_t at;
    const char *(*text)(tc_ctx *ctx, double v);
} shares[] = {
    {"cycles", offsetof(tc_advice_figures, cycles), cycles_text},
    {"SRAM", offsetof(tc_advice_figures, sram), bytes_text},
    {"flash", offsetof(tc_advice_figures, flash), bytes_text},
};

static double figure(const tc_advice_figures *f, size_t at)
{
    return *(const double *)((const char *)f + at);
}

/* Each is inside the band of the other: the model does not know which is quicker. */
static bool is_tie(const tc_advice_figures *a, const tc_advice_figures *b)
{
    return b->cycles >= a->cycles_low && b->cycles <= a->cycles_high &&
           a->cycles >= b->cycles_low && a->cycles <= b->cycles_high;
}

/* "cycles -12.3 % (400 to 351), operators on the CPU 2 to 0, +3.1 dB (20.0 to 23.1, measured)" */
static void put_change(tc_ctx *ctx, const tc_advice_item *item, tc_buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < TC_COUNT(shares); i++) {
        double before = figure(&item->before, shares[i].at), then = figure(&item->then, shares[i].at);
        double change = before > 0 ? 100 * (then / before - 1) : 0;
        if (fabs(change) < 0.05)
            continue;
        ti_buf_printf(out, "%s%s %+.1f %% (%s to %s)", comma, shares[i].name, change,
                      shares[i].text(ctx, before), shares[i].text(ctx, then));
        if (shares[i].text == cycles_text && is_tie(&item->before, &item->then))
            ti_buf_text(out, " (a tie: less than the figures may be off by)");
        comma = ", ";
    }
    if (item->before.on_cpu != item->then.on_cpu) {
        ti_buf_printf(out, "%soperators on the CPU %zu to %zu", comma, item->before.on_cpu,
                      item->then.on_cpu);
        comma = ", ";
    }
    if (item->before.converts != item->then.converts) {
        ti_buf_printf(out, "%sconversions on the CPU %zu to %zu", comma, item->before.converts,
                      item->then.converts);
        comma = ", ";
    }
    if (item->before.regions != item->then.regions) {
        ti_buf_printf(out, "%sregions %zu to %zu", comma, item->before.regions, item->then.regions);
        comma = ", ";
    }
    double db = item->then.sqnr_db - item->before.sqnr_db;
    if (isfinite(db)) {
        ti_buf_printf(out, "%s%+.1f dB (%.1f to %.1f, measured)", comma, db, item->before.sqnr_db,
                      item->then.sqnr_db);
        comma = ", ";
    }
    if (!*comma)
        ti_buf_text(out, "no difference");
}

static void put_now(tc_ctx *ctx, const tc_advice_info *info, tc_buf *out)
{
    const tc_advice_figures *f = &info->now;
    ti_buf_printf(out, "%s: ", info->target);
    if (f->cycles > 0)
        ti_buf_printf(out, "%.0f cycles estimated", f->cycles);
    if (f->cycles_high > 0)
        ti_buf_printf(out, " (%s)",
                      ti_npu_band_text(&ctx->arena, f->cycles_low, f->cycles_high));
    ti_buf_text(out, f->cycles > 0 ? ", " : "");
    if (f->sram > 0)
        ti_buf_printf(out, "%s of SRAM, ", bytes_text(ctx, f->sram));
    ti_buf_printf(out, "%s of flash, %zu region%s, %zu operator%s and %zu conversion%s on the CPU",
                  bytes_text(ctx, f->flash), f->regions, f->regions == 1 ? "" : "s", f->on_cpu,
                  f->on_cpu == 1 ? "" : "s", f->converts, f->converts == 1 ? "" : "s");
    if (isfinite(f->sqnr_db))
        ti_buf_printf(out, ", %.1f dB on %zu samples", f->sqnr_db, info->samples);
    ti_buf_text(out, "\n");
}

static void put_item(tc_ctx *ctx, size_t number, const tc_advice_item *item, tc_buf *out)
{
    ti_buf_printf(out, "\n%2zu. %s\n", number, item->change);
    ti_buf_text(out, "    ");
    put_change(ctx, item, out);
    ti_buf_printf(out, " [%s]\n", item->basis);
    if (item->option)
        ti_buf_printf(out, "    %s\n", item->option);
    ti_buf_printf(out, "    %s: %s%s\n", item->kind, item->why,
                  item->retrain ? "; to be trained again" : "");
}

void ti_advice_text(tc_ctx *ctx, const tc_advice *advice, tc_buf *out)
{
    const tc_advice_info *info = &advice->info;
    put_now(ctx, info, out);
    ti_buf_printf(out,
                  "%zu change%s tried, %zu worth making: each is the whole program, compiled "
                  "without and with it",
                  info->tried, info->tried == 1 ? "" : "s", info->n_item);
    if (info->left)
        ti_buf_printf(out, "; %zu more not tried (--tries N)", info->left);
    ti_buf_text(out, "\n");
    for (size_t i = 0; i < info->n_item; i++)
        put_item(ctx, i + 1, &advice->item[i], out);
    if (info->n_item < advice->n_all)
        ti_buf_text(out, "\ntried, and not worth it:\n");
    for (size_t i = info->n_item; i < advice->n_all; i++) {
        ti_buf_printf(out, "  %s: ", advice->item[i].change);
        put_change(ctx, &advice->item[i], out);
        ti_buf_text(out, "\n");
    }
}

/* ---- JSON ---- */

static void put_figures(const char *name, const tc_advice_figures *f, tc_json_out *out)
{
    ti_json_open(out, name, '{');
    tc_json_put(out, TC_J_IF("cycles", f->cycles),
                TC_J_IF("cycles_low", rint(f->cycles_low)),
                TC_J_IF("cycles_high", rint(f->cycles_high)), TC_J_IF("sram", f->sram), TC_J("flash", f->flash),
                TC_J("on_cpu", f->on_cpu),
                TC_J("converts", f->converts), TC_J("regions", f->regions));
    if (isfinite(f->sqnr_db))
        tc_json_put(out, TC_J("sqnr_db", f->sqnr_db));
    ti_json_close(out, '}');
}

static void put_items(const char *name, const tc_advice_item *item, size_t n, tc_json_out *out)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++) {
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("kind", item[i].kind), TC_J("change", item[i].change),
                    TC_J("why", item[i].why), TC_J_IF("node", item[i].node),
                    TC_J_IF("place", item[i].loc ? item[i].loc->place : NULL),
                    TC_J_IF("option", item[i].option), TC_J("retrain", item[i].retrain),
                    TC_J("basis", item[i].basis));
        put_figures("before", &item[i].before, out);
        put_figures("then", &item[i].then, out);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

void ti_advice_json(const tc_advice *advice, const char *name, tc_json_out *out)
{
    const tc_advice_info *info = &advice->info;
    ti_json_open(out, name, '{');
    tc_json_put(out, TC_J("target", info->target), TC_J("tried", info->tried),
                TC_J("left", info->left), TC_J("samples", info->samples));
    put_figures("now", &info->now, out);
    put_items("advice", advice->item, info->n_item, out);
    put_items("rejected", advice->item + info->n_item, advice->n_all - info->n_item, out);
    ti_json_close(out, '}');
}
