/* SPDX-License-Identifier: Apache-2.0 */
/* target.c -- target strings. */
#include "target.h"

typedef struct {
    const char *word, *spec;
    uint32_t base; /* the features it builds on */
} feature;

enum { BASE_0 = 0, BASE_INT = 1u << TC_FEATURE_INT, BASE_FP = 1u << TC_FEATURE_FP };

static const feature features[TC_FEATURE_COUNT] = {
#define FEATURE(name, word, spec, base) [TC_FEATURE_##name] = {word, spec, BASE_##base},
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, rules)
#include "tosa.def"
};

static int feature_named(tc_str word)
{
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (tc_str_is(word, features[i].word))
            return i;
    return -1;
}

static tc_status unknown_word(tc_ctx *ctx, const char *text, tc_str word)
{
    const char *name = tc_text_copy(&ctx->arena, word);
    tc_status status = tc_usage(
        ctx, "the target '%s' asks for '%s', which is no profile or extension", text, name);
    const char *nearest = NULL;
    size_t least = 3;
    for (int i = 0; i < TC_FEATURE_COUNT; i++) {
        size_t d = tc_text_distance(name, features[i].word);
        if (d < least) {
            least = d;
            nearest = features[i].word;
        }
    }
    if (nearest)
        tc_note(ctx, NULL, "did you mean '%s'?", nearest);
    return status;
}

tc_status tc_target_parse(tc_ctx *ctx, const char *text, tc_target *out)
{
    *out = (tc_target){.text = text};
    if (!tc_text_starts(text, "TOSA-1.0") && !tc_text_starts(text, "TOSA-1.1"))
        return tc_usage(ctx, "the target '%s' is unknown; TOSA-1.0+INT is one", text);
    const char *at = text + strlen("TOSA-1.0");
    while (*at) {
        if (*at != '+')
            return tc_usage(ctx, "the target '%s' has '%s' where a '+' is expected", text, at);
        const char *word = ++at;
        at += strcspn(at, "+");
        int found = feature_named((tc_str){word, (size_t)(at - word)});
        if (found < 0)
            return unknown_word(ctx, text, (tc_str){word, (size_t)(at - word)});
        out->tosa |= 1u << found;
    }
    if (!(out->tosa & (BASE_INT | BASE_FP)))
        return tc_usage(ctx, "the target '%s' has no profile: +INT, +FP or both", text);
    for (int i = 0; i < TC_FEATURE_COUNT; i++)
        if (out->tosa & 1u << i && (out->tosa & features[i].base) != features[i].base)
            return tc_usage(ctx, "the target '%s' has '%s' without the profile that it extends",
                            text, features[i].word);
    return TC_OK;
}
