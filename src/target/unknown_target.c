/* SPDX-License-Identifier: Apache-2.0 */
/* unknown_target.c -- what to say of a target that is none.
 *
 * A machine's number is its instruction set: one with another number is never offered for it, unless
 * relative.def says that what is compiled for it runs there. */
#include <ctype.h>

#include "target.h"

typedef struct {
    const char *name, *instead, *why;
} relative;

static const relative relatives[] = {
#define RELATIVE(name, instead, why) {name, instead, why},
#include "relative.def"
};

static const char *lower_case(tc_ctx *ctx, const char *text)
{
    char *out = ti_text_copy(&ctx->arena, ti_str_of(text));
    for (char *p = out; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return out;
}

static const relative *relative_of(const char *text)
{
    for (size_t i = 0; i < TC_COUNT(relatives); i++) {
        size_t n = strlen(relatives[i].name) - 1;
        bool all = relatives[i].name[n] == '*';
        if (all ? strncmp(text, relatives[i].name, n) == 0 : ti_text_eq(text, relatives[i].name))
            return &relatives[i];
    }
    return NULL;
}

/* Its first digits, up to the next character. */
static tc_str number_in(const char *text)
{
    text += strcspn(text, "0123456789");
    return (tc_str){text, strspn(text, "0123456789")};
}

static bool same_number(const char *a, const char *b)
{
    tc_str x = number_in(a), y = number_in(b);
    return x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

/* "ethos-u85" and "u85" are parts of the machine's name ethos-u85-SIZE, "m55" of cortex-m55; names of
 * TOSA have extensions in them. */
static bool is_part(const tc_machine *m, const char *text)
{
    return strlen(text) > 1 && strstr(m->name, text) && same_number(m->name, text) &&
           !ti_text_starts(m->name, "TOSA");
}

/* The names of a machine, one a size; the nearest to the text is kept. */
static void nearer_size(tc_ctx *ctx, const tc_machine *m, const char *text, size_t *least,
                        const char **best)
{
    if (!m->n_npu)
        ti_text_nearer(text, lower_case(ctx, m->name), least, best);
    for (size_t i = 0; i < m->n_npu; i++) {
        const char *name = m->npu[i].name;
        bool within = strchr(text, '-') && ti_text_ends(name, text); /* "u55-128" */
        ti_text_nearer(within ? name : text, name, least, best);
    }
}

/* The machine of several sizes whose name this begins with, or is; NULL: there is none. */
static const tc_machine *sized_machine(const char *text)
{
    const tc_machine *m;
    for (size_t i = 0; (m = ti_machine_at(i)) != NULL; i++)
        if (m->n_npu && (is_part(m, text) || ti_text_starts(text, m->name)))
            break;
    return m;
}

/* Of the machines with the text's number; NULL: none is near. */
static const char *nearest(tc_ctx *ctx, const char *text)
{
    size_t least = sized_machine(text) ? 2 : ti_text_far(text);
    const char *best = NULL;
    const tc_machine *m;
    for (size_t i = 0; (m = ti_machine_at(i)) != NULL; i++)
        if (is_part(m, text) && !m->n_npu)
            return m->name;
    for (size_t i = 0; (m = ti_machine_at(i)) != NULL; i++)
        if (!ti_text_starts(m->name, "TOSA") && same_number(m->name, text))
            nearer_size(ctx, m, text, &least, &best);
    return best;
}

static void note_sizes(tc_ctx *ctx, const tc_machine *m)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    for (size_t i = 0; i < m->n_npu; i++)
        ti_buf_printf(&text, "%s%s", text.size ? ", " : "", m->npu[i].name);
    ti_note(ctx, NULL, "there are %s", ti_buf_cstr(&text));
}

static void note_relative(tc_ctx *ctx, const relative *r, const char *text)
{
    if (r->instead)
        ti_note(ctx, NULL, "for '%s' use '%s': %s", text, r->instead, r->why);
    else
        ti_note(ctx, NULL, "'%s' is not supported: %s", text, r->why);
}

/* "TOSA", "tosa-1.0", "TOSA-1.2". */
static void note_versions(tc_ctx *ctx)
{
    ti_note(ctx, NULL, "did you mean 'TOSA-1.0+INT', +FP or +INT+FP?  There are TOSA-1.0 and "
                       "TOSA-1.1 (a draft), in capitals");
}

tc_status ti_target_unknown(tc_ctx *ctx, const char *text)
{
    tc_status status = ti_usage(ctx, "the target '%s' is unknown", text);
    const char *low = lower_case(ctx, text);
    const relative *other = relative_of(low);
    const char *near = other ? NULL : nearest(ctx, low);
    if (other)
        note_relative(ctx, other, text);
    else if (ti_text_starts(low, "tosa"))
        note_versions(ctx);
    else if (near)
        ti_note(ctx, NULL, "did you mean '%s'?", near);
    else if (sized_machine(low))
        note_sizes(ctx, sized_machine(low));
    ti_note(ctx, NULL,
            "targets are TOSA-1.0+INT (+FP, +int16, ...), vgf, ethos-u55-128, ethos-u65-256, "
            "ethos-u85-256 and their sizes, cortex-m0plus to cortex-m85, "
            "ethos-u55-128+cortex-m55 and so on, cpu; 'tosac targets' lists them");
    return status;
}
