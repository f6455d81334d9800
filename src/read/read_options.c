/* SPDX-License-Identifier: Apache-2.0 */
/* read_options.c -- see read_options.h. */
#include "read_options.h"

/* "A,B,C": at least two, ascending or not, none twice. */
static bool read_list(tc_ctx *ctx, const char *text, tc_dim_given *out)
{
    enum { MOST = 64 };
    int64_t *list = tc_new_n(&ctx->arena, int64_t, MOST);
    size_t n = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (n == MOST || !ti_text_to_i64((tc_str){at, length}, &list[n]) || list[n] < 1)
            return false;
        for (size_t i = 0; i < n; i++)
            if (list[i] == list[n])
                return false;
        out->lo = !n || list[n] < out->lo ? list[n] : out->lo;
        out->hi = list[n] > out->hi ? list[n] : out->hi;
        n++;
        at += length;
        if (!*at)
            break;
    }
    out->list = list;
    out->n_list = n;
    return true;
}

tc_status ti_read_dim(tc_ctx *ctx, const char *text)
{
    tc_read_options *o = ti_reading(ctx);
    const char *equals = strrchr(text, '=');
    tc_dim_given given = {0};
    const char *dots = equals ? strstr(equals, "..") : NULL;
    bool good = equals && equals != text;
    if (good && dots)
        good = ti_text_to_i64((tc_str){equals + 1, (size_t)(dots - equals - 1)}, &given.lo) &&
               ti_text_to_i64(ti_str_of(dots + 2), &given.hi) && given.lo >= 1 &&
               given.hi >= given.lo;
    else if (good && strchr(equals, ','))
        good = read_list(ctx, equals + 1, &given);
    else if (good)
        good = ti_text_to_i64(ti_str_of(equals + 1), &given.value) && given.value >= 0;
    if (!good) {
        tc_status status =
            ti_usage(ctx, "--dim takes NAME=VALUE, such as batch=4, not '%s'", text);
        ti_note(ctx, NULL, "NAME=LO..HI leaves it open between two sizes, for targets with shape "
                           "operators; 'compile' takes NAME=A,B,C for a method of each size");
        return status;
    }
    if (given.lo == given.hi) {
        given.value = given.hi ? given.hi : given.value;
        given.lo = given.hi = 0;
    }
    given.name = ti_intern(ctx, (tc_str){text, (size_t)(equals - text)});
    tc_grow(&ctx->arena, o->dim, o->n_dim, o->cap_dim);
    o->dim[o->n_dim++] = given;
    return TC_OK;
}

tc_status ti_read_shape(tc_ctx *ctx, const char *text)
{
    tc_read_options *o = ti_reading(ctx);
    const char *equals = strrchr(text, '=');
    tc_shape_given given = {0};
    bool good = equals && equals != text;
    for (const char *at = equals ? equals + 1 : ""; good && *at;) {
        size_t n = strcspn(at, ",");
        good = given.rank < TC_MAX_RANK &&
               ti_text_to_i64((tc_str){at, n}, &given.dim[given.rank]) &&
               given.dim[given.rank] >= 0;
        given.rank++;
        at += n + (at[n] == ',');
    }
    if (!good)
        return ti_usage(ctx, "--shape takes INPUT=SIZE,SIZE,..., such as x=1,3,48,320, not '%s'",
                        text);
    given.input = ti_intern(ctx, (tc_str){text, (size_t)(equals - text)});
    tc_grow(&ctx->arena, o->shape, o->n_shape, o->cap_shape);
    o->shape[o->n_shape++] = given;
    return TC_OK;
}

tc_status ti_read_set(tc_ctx *ctx, const char *text)
{
    tc_read_options *o = ti_reading(ctx);
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return ti_usage(ctx, "--set takes INPUT=VALUE, such as sr=16000 or flag=true, not '%s'",
                        text);
    tc_set_given given = {.input = ti_intern(ctx, (tc_str){text, (size_t)(equals - text)}),
                          .value = ti_intern_text(ctx, equals + 1)};
    tc_grow(&ctx->arena, o->set, o->n_set, o->cap_set);
    o->set[o->n_set++] = given;
    return TC_OK;
}

tc_shape_given *ti_shape_given_for(tc_ctx *ctx, const char *input)
{
    const tc_read_options *o = ti_reading(ctx);
    tc_shape_given *found = NULL;
    for (size_t i = 0; input && i < o->n_shape; i++)
        if (ti_text_eq(o->shape[i].input, input))
            found = &o->shape[i];
    return found;
}

tc_set_given *ti_set_given_for(tc_ctx *ctx, const char *input)
{
    const tc_read_options *o = ti_reading(ctx);
    tc_set_given *found = NULL;
    for (size_t i = 0; input && i < o->n_set; i++)
        if (ti_text_eq(o->set[i].input, input))
            found = &o->set[i];
    return found;
}

tc_status ti_sample_given_for(tc_ctx *ctx, size_t k, size_t n, tc_npy **out)
{
    const tc_read_options *o = ti_reading(ctx);
    size_t count;
    *out = o->n_row == n && k < n ? o->row[k] : NULL;
    return !o->n_row && o->n_sample == n && k < n && ti_text_ends(o->sample[k], ".npy")
               ? ti_npy_open(ctx, o->sample[k], out, &count)
               : TC_OK;
}

tc_status ti_said_used(tc_ctx *ctx, const char *file, const char *why)
{
    const tc_read_options *o = ti_reading(ctx);
    for (size_t i = 0; i < o->n_shape; i++)
        if (!o->shape[i].used)
            return ti_usage(ctx, "--shape %s: the model has no input of that name",
                            o->shape[i].input);
    for (size_t i = 0; i < o->n_dim; i++)
        if (!o->dim[i].used)
            ti_warning(ctx, &(tc_loc){.file = file}, TC_E_NO_EFFECT, "--dim %s has no effect: %s",
                       o->dim[i].name, why);
    return TC_OK;
}
