/* SPDX-License-Identifier: Apache-2.0 */
/* target.c -- target strings. */
#include "target.h"

#include <stdio.h>

typedef struct {
    const char *word, *spec;
    uint32_t base; /* the features it builds on */
    int since;     /* the minor version */
} feature;

enum { BASE_0 = 0, BASE_INT = 1u << TC_FEATURE_INT, BASE_FP = 1u << TC_FEATURE_FP };

static const feature features[TC_FEATURE_COUNT] = {
#define FEATURE(name, word, spec, base, since) [TC_FEATURE_##name] = {word, spec, BASE_##base, since},
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
};

/* The features of a word; 0: there are none in that version. */
static uint32_t features_named(tc_str word, int minor)
{
    uint32_t all = 0;
    bool mx = minor > 0 && ti_str_is(word, "mxfp"); /* ExecuTorch's word for all of these */
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if ((mx && ti_text_starts(features[i].spec, "EXT-MX")) ||
            (ti_str_is(word, features[i].word) && features[i].since <= minor))
            all |= 1u << i;
    return all;
}

static tc_status unknown_word(tc_ctx *ctx, const char *text, tc_str word)
{
    const char *name = ti_text_copy(&ctx->arena, word);
    tc_status status = ti_usage(
        ctx, "the target '%s' asks for '%s', which is not a profile or extension", text, name);
    const char *nearest = NULL;
    size_t least = 3;
    for (int i = 0; i < TC_FEATURE_COUNT; i++) {
        size_t d = ti_text_distance(name, features[i].word);
        if (d < least) {
            least = d;
            nearest = features[i].word;
        }
    }
    if (features_named(word, 1))
        ti_note(ctx, NULL, "'%s' is of TOSA 1.1: TOSA-1.1+...", name);
    else if (nearest)
        ti_note(ctx, NULL, "did you mean '%s'?", nearest);
    return status;
}

static const tc_machine *const machines[] = {
#define MACHINE(name) &tc_machine_##name,
#include "machine.def"
};

static tc_status parse_spec(tc_ctx *ctx, const char *text, const char *spec, tc_target *out)
{
    const char *at = spec + strlen("TOSA-1.0");
    out->minor = ti_text_starts(spec, "TOSA-1.1");
    while (*at) {
        if (*at != '+')
            return ti_usage(ctx, "the target '%s' has '%s' where a '+' is expected", text, at);
        const char *word = ++at;
        at += strcspn(at, "+");
        uint32_t found = features_named((tc_str){word, (size_t)(at - word)}, out->minor);
        if (!found)
            return unknown_word(ctx, text, (tc_str){word, (size_t)(at - word)});
        out->tosa |= found;
    }
    if (!(out->tosa & (BASE_INT | BASE_FP)))
        return ti_usage(ctx, "the target '%s' has no profile: +INT, +FP or both", text);
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (out->tosa & 1u << i && (out->tosa & features[i].base) != features[i].base)
            return ti_usage(ctx, "the target '%s' has '%s' without the profile that it extends",
                            text, features[i].word);
    return TC_OK;
}

static bool is_spec(const char *text)
{
    return ti_text_starts(text, "TOSA-1.0") || ti_text_starts(text, "TOSA-1.1");
}

static bool is_machine(const tc_machine *m, const char *text)
{
    if (!m->sizes)
        return ti_text_eq(text, m->name);
    if (!ti_text_starts(text, m->name))
        return false;
    char size[16];
    int n = snprintf(size, sizeof size, " %s ", text + strlen(m->name));
    return n > 2 && n < (int)sizeof size && strspn(size + 1, "0123456789") == (size_t)n - 2 &&
           strstr(m->sizes, size);
}

/* The names of a machine, one a size; the nearest to the text is kept. */
static void nearer_size(tc_ctx *ctx, const tc_machine *m, const char *text, size_t *least,
                        const char **best)
{
    if (!m->sizes)
        ti_text_nearer(text, m->name, least, best);
    for (const char *at = m->sizes ? m->sizes + 1 : ""; *at; at += strcspn(at, " ") + 1)
        ti_text_nearer(text,
                       ti_text_format(&ctx->arena, "%s%.*s", m->name, (int)strcspn(at, " "), at),
                       least, best);
}

/* "ethos-u85" and "u85" are parts of the machine's name ethos-u85-SIZE, "m55" of cortex-m55; names of
 * TOSA have extensions in them. */
static bool is_part(const tc_machine *m, const char *text)
{
    return strlen(text) > 2 && strstr(m->name, text) && !ti_text_starts(m->name, "TOSA");
}

static tc_status unknown_target(tc_ctx *ctx, const char *text)
{
    tc_status status = ti_usage(ctx, "the target '%s' is unknown", text);
    size_t least = ti_text_far(text);
    const char *best = NULL;
    const tc_machine *part = NULL;
    for (size_t i = 0; i < TC_COUNT(machines) && !part; i++)
        part = is_part(machines[i], text) ? machines[i] : NULL;
    if (part && !part->sizes)
        best = part->name;
    for (size_t i = 0; i < TC_COUNT(machines) && !part; i++)
        nearer_size(ctx, machines[i], text, &least, &best);
    if (best)
        ti_note(ctx, NULL, "did you mean '%s'?", best);
    for (size_t i = 0; i < TC_COUNT(machines); i++)
        if (machines[i]->sizes && (is_part(machines[i], text) || ti_text_starts(text, machines[i]->name)))
            ti_note(ctx, NULL, "%sSIZE comes with the sizes%s", machines[i]->name,
                    machines[i]->sizes);
    ti_note(ctx, NULL,
            "targets are TOSA-1.0+INT (+FP, +int16, ...), vgf, ethos-u55-128, ethos-u65-256, "
            "ethos-u85-256 and their sizes, cortex-m0plus to cortex-m85, "
            "ethos-u55-128+cortex-m55 and so on, cpu");
    return status;
}

/* "ethos-u55-128+cortex-m55": the plus of a machine, none of TOSA's. */
static const char *core_in(const char *text)
{
    return is_spec(text) || strchr(text, ':') ? NULL : strchr(text, '+');
}

static tc_status parse_pair(tc_ctx *ctx, const char *text, const char *plus, tc_target *out)
{
    tc_target *core = tc_new(&ctx->arena, tc_target);
    const char *name = ti_text_copy(&ctx->arena, (tc_str){text, (size_t)(plus - text)});
    TC_TRY(ti_target_parse(ctx, name, out));
    TC_TRY(ti_target_parse(ctx, plus + 1, core));
    if (out->machine->packing != TC_PACKED_STREAM || core->machine->packing != TC_PACKED_C) {
        tc_status status = ti_usage(ctx, "the target '%s' is not an Ethos-U with a Cortex-M", text);
        ti_note(ctx, NULL, "'ethos-u55-128+cortex-m55': what the Ethos-U does not take runs on the "
                           "core, in integers");
        return status;
    }
    out->text = text;
    out->core = core;
    return TC_OK;
}

tc_status ti_target_parse(tc_ctx *ctx, const char *text, tc_target *out)
{
    const char *plus = core_in(text);
    if (plus)
        return parse_pair(ctx, text, plus, out);
    *out = (tc_target){.text = text, .name = text, .machine = &tc_machine_tosa};
    if (is_spec(text)) {
        TC_TRY(parse_spec(ctx, text, text, out));
        if (out->tosa >> TC_FEATURE_U55 & 1u)
            out->machine = &tc_machine_tosa_u55;
        return TC_OK;
    }
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        const tc_machine *m = out->machine = machines[i];
        size_t n = strlen(m->name);
        if (m->spec && is_machine(m, text))
            return parse_spec(ctx, text, m->spec, out);
        if (m->packing == TC_PACKED_NOT && is_machine(m, text))
            return TC_OK;
        if (m->spec && !m->sizes && ti_text_starts(text, m->name) && text[n] == ':' &&
            is_spec(text + n + 1)) /* "vgf:TOSA-1.0+INT": a profile of the user's choice */
            return parse_spec(ctx, text, text + n + 1, out);
    }
    return unknown_target(ctx, text);
}

const char *ti_target_refuses(tc_ctx *ctx, const tc_target *target, const tc_graph *g)
{
    return target->back_end ? target->back_end(ctx, target->who, g)
                            : ti_machine_refuses(ctx, target->machine, g);
}

const char *ti_target_spec(tc_ctx *ctx, const tc_target *target)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_buf_printf(&text, "TOSA-1.%d", target->minor);
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (target->tosa & 1u << i)
            ti_buf_printf(&text, "+%s", features[i].word);
    return ti_buf_cstr(&text);
}
