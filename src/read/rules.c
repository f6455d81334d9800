/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c -- the text of --preprocess. */
#include "preprocess.h"

#include <math.h>

typedef struct reader {
    tc_ctx *ctx;
    const char *key;
    tc_str value;
    tc_rules *out;
} reader;

static tc_status wrong(const reader *r, const char *expected)
{
    return ti_usage(r->ctx, "--preprocess %s=%.*s: expected %s", r->key, (int)r->value.n,
                    r->value.p, expected);
}

/* "224" or "224x320", rows first; n says how many there were. */
static bool take_size(tc_str text, int32_t *h, int32_t *w, int *n)
{
    const char *x = memchr(text.p, 'x', text.n);
    int64_t a, b = 0;
    tc_str left = {text.p, x ? (size_t)(x - text.p) : text.n};
    if (!ti_text_to_i64(left, &a) || a < 1 || a > 1 << 15)
        return false;
    if (x && (!ti_text_to_i64((tc_str){x + 1, text.n - left.n - 1}, &b) || b < 1 || b > 1 << 15))
        return false;
    *h = (int32_t)a;
    *w = (int32_t)b;
    *n = x ? 2 : 1;
    return true;
}

static tc_status resize(const reader *r)
{
    int n;
    return take_size(r->value, &r->out->resize_h, &r->out->resize_w, &n)
               ? TC_OK
               : wrong(r, "the shorter side, or HEIGHTxWIDTH");
}

static tc_status crop(const reader *r)
{
    int n;
    if (!take_size(r->value, &r->out->crop_h, &r->out->crop_w, &n))
        return wrong(r, "a side, or HEIGHTxWIDTH");
    if (n == 1)
        r->out->crop_w = r->out->crop_h;
    return TC_OK;
}

static tc_status list(const reader *r, double *out, int *n, bool positive)
{
    tc_str rest = r->value;
    for (*n = 0; *n < TC_MOST_CHANNELS; ++*n) {
        const char *comma = memchr(rest.p, ',', rest.n);
        tc_str word = {rest.p, comma ? (size_t)(comma - rest.p) : rest.n};
        if (!ti_text_to_f64(word, &out[*n]) || !isfinite(out[*n]) || (positive && out[*n] <= 0))
            break;
        if (!comma) {
            ++*n;
            return TC_OK;
        }
        rest = (tc_str){comma + 1, rest.n - word.n - 1};
    }
    return wrong(r, positive ? "numbers above 0, one for each channel"
                             : "numbers, one for each channel");
}

static tc_status mean(const reader *r)
{
    return list(r, r->out->mean, &r->out->n_mean, false);
}
static tc_status std(const reader *r)
{
    return list(r, r->out->std, &r->out->n_std, true);
}

static tc_status filter(const reader *r)
{
    r->out->filter = ti_str_is(r->value, "bicubic") ? TC_FILTER_BICUBIC : TC_FILTER_BILINEAR;
    return ti_str_is(r->value, "bilinear") || r->out->filter == TC_FILTER_BICUBIC
               ? TC_OK
               : wrong(r, "bilinear or bicubic");
}

static tc_status range(const reader *r)
{
    return ti_text_to_f64(r->value, &r->out->range) && (r->out->range == 1 || r->out->range == 255)
               ? TC_OK
               : wrong(r, "1 or 255");
}

static tc_status order(const reader *r)
{
    r->out->bgr = ti_str_is(r->value, "bgr");
    return r->out->bgr || ti_str_is(r->value, "rgb") ? TC_OK : wrong(r, "rgb or bgr");
}

static tc_status layout(const reader *r)
{
    r->out->layout = ti_str_is(r->value, "nchw") ? 'c' : ti_str_is(r->value, "nhwc") ? 'w' : 0;
    return r->out->layout ? TC_OK : wrong(r, "nchw or nhwc");
}

static tc_status rate(const reader *r)
{
    int64_t v;
    if (!ti_text_to_i64(r->value, &v) || v < 1 || v > INT32_MAX)
        return wrong(r, "samples per second, such as 16000");
    r->out->rate = (int32_t)v;
    return TC_OK;
}

static const struct {
    const char *key;
    tc_status (*take)(const reader *r);
} rules[] = {{"resize", resize}, {"crop", crop},   {"filter", filter}, {"mean", mean}, {"std", std},
             {"range", range},   {"order", order}, {"layout", layout}, {"rate", rate}};

static tc_status unknown(tc_ctx *ctx, tc_str key)
{
    const char *word = ti_text_copy(&ctx->arena, key), *near = NULL;
    size_t least = 3;
    for (size_t i = 0; i < TC_COUNT(rules); i++)
        if (ti_text_distance(word, rules[i].key) < least) {
            least = ti_text_distance(word, rules[i].key);
            near = rules[i].key;
        }
    tc_status status = ti_usage(ctx, "--preprocess: unknown rule '%s'", word);
    if (near)
        ti_note(ctx, NULL, "did you mean '%s'?", near);
    else
        ti_note(ctx, NULL, "rules are resize, crop, filter, mean, std, range, order, layout, rate");
    return status;
}

static tc_status take(tc_ctx *ctx, tc_str word, tc_rules *out)
{
    const char *is = memchr(word.p, '=', word.n);
    tc_str key = {word.p, is ? (size_t)(is - word.p) : word.n};
    for (size_t i = 0; i < TC_COUNT(rules); i++)
        if (ti_str_is(key, rules[i].key)) {
            reader r = {ctx,
                        rules[i].key,
                        {is ? is + 1 : word.p + word.n, is ? word.n - key.n - 1 : 0},
                        out};
            return is ? rules[i].take(&r) : wrong(&r, "a value");
        }
    return unknown(ctx, key);
}

tc_status ti_rules_parse(tc_ctx *ctx, const char *text, tc_rules *out)
{
    *out = (tc_rules){0};
    while (*(text += strspn(text, " \t\n"))) {
        size_t n = strcspn(text, " \t\n");
        TC_TRY(take(ctx, (tc_str){text, n}, out));
        text += n;
    }
    return TC_OK;
}
