/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c -- what a change may cost: two reports held to limits, as a table in Markdown.
 *
 *   NAME+N     the second may have N more than the first: cycles+2%, flash+4K, cpu+0
 *   NAME-N     N less, where more is better: db-0.5, top1-1 (points)
 *
 * N% is of the first's figure; K and M are 1024 and 1024 * 1024. */
#include "saved.h"

#include <math.h>
#include <stdlib.h>

#include "../base/enter.h"

/* Names of figures, as they are written in a limit. */
static const struct {
    const char *name, *what;
    char sign; /* the direction that is worse */
} rows[] = {
    {"cycles", "cycles", '+'},
    {"time", "time", '+'},
    {"sram", "SRAM of the accelerator", '+'},
    {"memory", "memory of the program", '+'},
    {"weights", "weights", '+'},
    {"flash", "written", '+'},
    {"cpu", "operators on the CPU", '+'},
    {"db", "SQNR of the output", '-'},
    {"top1", "right answers", '-'},
};

typedef struct tc_limit {
    const char *text, *what;
    double by; /* what it may be worse by, > 0 up or < 0 down as the row's sign */
    bool percent;
    char sign;
} tc_limit;

static tc_status bad_limit(tc_ctx *ctx, const char *text)
{
    tc_buf names;
    ti_buf_init(&names, &ctx->arena);
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        ti_buf_printf(&names, "%s%s%c", i ? ", " : "", rows[i].name, rows[i].sign);
    ti_buf_u8(&names, 0);
    return ti_usage(ctx, "'%s' is not a limit; expected one of %s with a number, N%%, NK or NM",
                    text, (const char *)names.data);
}

static tc_status read_limit(tc_ctx *ctx, const char *text, tc_limit *out)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        size_t n = strlen(rows[i].name);
        if (strncmp(text, rows[i].name, n) != 0 || text[n] != rows[i].sign)
            continue;
        const char *number = text + n + 1;
        char *end;
        double by = strtod(number, &end);
        double factor = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
        *out = (tc_limit){text, rows[i].what, by * factor, *end == '%', rows[i].sign};
        end += *end == '%' || factor > 1;
        if (end == number || *end || !(by >= 0) || !isfinite(by) || !(*number >= '0' && *number <= '9'))
            break;
        return TC_OK;
    }
    return bad_limit(ctx, text);
}

/* Whether a figure is worse by more than the limit; one that is known before and not afterwards is. */
static bool exceeds(const tc_limit *l, const tc_change *f)
{
    double a = f->value[0], b = f->value[1];
    if (isnan(a))
        return false;
    double by = l->percent ? fabs(a) * l->by / 100 : l->by;
    return isnan(b) || (l->sign == '+' ? b > a + by : b < a - by);
}

static const tc_limit *limit_of(const tc_limit *l, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (ti_text_eq(l[i].what, what))
            return &l[i];
    return NULL;
}

static tc_status hold(tc_ctx *ctx, const tc_saved_report *report, const tc_saved_report *before,
                      const char *const *text, size_t n, const char **table, size_t *exceeded)
{
    tc_buf out;
    tc_changes c;
    tc_limit *l = tc_new_n(&ctx->arena, tc_limit, n + 1);
    for (size_t i = 0; i < n; i++) {
        TC_TRY(read_limit(ctx, text[i], &l[i]));
        if (limit_of(l, i, l[i].what))
            return ti_usage(ctx, "two limits of one figure: '%s' and '%s'",
                            limit_of(l, i, l[i].what)->text, text[i]);
    }
    ti_changes_find(ctx, before, report, &c);
    ti_buf_init(&out, &ctx->arena);
    *exceeded = 0;
    ti_buf_text(&out, "| | before | after | change | limit | |\n|---|---:|---:|---:|---|---|\n");
    for (size_t i = 0; i < c.n_figure; i++) {
        const tc_limit *of = limit_of(l, n, c.figure[i].what);
        bool over = of && exceeds(of, &c.figure[i]);
        *exceeded += over;
        ti_changes_row(ctx, &c.figure[i], &out);
        ti_buf_printf(&out, " %s | %s |\n", of ? of->text : "", !of ? "" : over ? "**exceeded**" : "held");
    }
    ti_buf_u8(&out, 0);
    *table = (const char *)out.data;
    return TC_OK;
}

tc_status tc_report_hold(tc_ctx *ctx, const tc_saved_report *report, const tc_saved_report *before,
                         const char *const *limit, size_t n, const char **table, size_t *exceeded)
{
    TC_ENTER(ctx, hold(ctx, report, before, limit, n, table, exceeded));
}
