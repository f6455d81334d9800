/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess.c -- see preprocess.h; sizes and corners are torchvision's. */
#include "preprocess.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "../num/load.h"
#include "../wire/file.h"

/* Layout of an image's elements in the input. */
typedef struct shape {
    int64_t h, w, c;
    bool last; /* channels are the last axis */
} shape;

struct tc_pictures {
    tc_ctx *ctx;
    tc_rules rules;
    const char **file;
    size_t n, cap;
    const char *input;
    const tc_type *type;
    shape shape;
    bool sounds;
    tc_arena work; /* for one sample */
};

static void free_work(void *what)
{
    ti_arena_free(&((tc_pictures *)what)->work);
}

/* ---- which files ---- */

static bool is_sample(const char *path)
{
    return ti_is_picture(path) || ti_is_sound(path);
}

static tc_status add_path(tc_pictures *p, const char *path, int depth)
{
    enum { DEEPEST = 16 };
    const char **name;
    size_t n;
    if (!ti_is_folder(path)) {
        tc_grow(&p->ctx->arena, p->file, p->n, p->cap);
        p->file[p->n++] = path;
        return is_sample(path)
                   ? TC_OK
                   : ti_usage(p->ctx, "--preprocess is for PNG, JPEG and WAV files, not for '%s'",
                              path);
    }
    TC_TRY(ti_folder_list(p->ctx, path, &name, &n));
    for (size_t i = 0; i < n; i++) {
        const char *inner = ti_text_format(&p->ctx->arena, "%s/%s", path, name[i]);
        if (is_sample(inner) || (depth < DEEPEST && ti_is_folder(inner)))
            TC_TRY(add_path(p, inner, depth + 1));
    }
    return TC_OK;
}

/* ---- which input ---- */

static bool are_channels(int64_t n)
{
    return n == 1 || n == 3;
}

static tc_status find_shape(tc_pictures *p)
{
    const tc_type *t = p->type;
    int at = t->rank == 4 ? 1 : 0; /* after the batch */
    bool one = (t->rank == 4 && t->dim[0] == 1) || t->rank == 3;
    bool first = one && are_channels(t->dim[at]), last = one && are_channels(t->dim[at + 2]);
    if (p->rules.layout)
        first = first && p->rules.layout == 'c', last = last && p->rules.layout == 'w';
    if (first == last) {
        tc_status status =
            ti_error(p->ctx, NULL, TC_E_DATA,
                     first ? "input '%s' is %s: either end may be the channels"
                           : "input '%s' is %s: an image needs [1, channels, height, width] or "
                             "[1, height, width, channels], of 1 or 3 channels",
                     p->input, ti_type_text(&p->ctx->arena, t));
        if (first)
            ti_note(p->ctx, NULL, "use layout=nchw or layout=nhwc");
        return status;
    }
    const int64_t *d = t->dim + at;
    p->shape = first ? (shape){d[1], d[2], d[0], false} : (shape){d[0], d[1], d[2], true};
    const struct {
        const char *rule;
        int n;
    } given[] = {{"mean", p->rules.n_mean}, {"std", p->rules.n_std}};
    for (size_t i = 0; i < TC_COUNT(given); i++)
        if (given[i].n > 1 && given[i].n != p->shape.c)
            return ti_usage(p->ctx, "--preprocess %s has %d numbers, but input '%s' has %d "
                                    "channels",
                            given[i].rule, given[i].n, p->input, (int)p->shape.c);
    return TC_OK;
}

tc_status ti_read_pictures(tc_ctx *ctx, const tc_graph *g, const tc_rules *rules,
                           const char *const *path, size_t n_path, tc_pictures **out)
{
    tc_pictures *p = tc_new(&ctx->arena, tc_pictures);
    *p = (tc_pictures){.ctx = ctx, .rules = *rules};
    if (g->n_in != 1)
        return ti_error(ctx, NULL, TC_E_DATA,
                        "images and audio need a program with one input, this one has %zu",
                        g->n_in);
    p->type = ti_type_of(g, g->in[0]);
    p->input = g->val[g->in[0]]->name ? g->val[g->in[0]]->name : "0";
    for (size_t i = 0; i < n_path; i++)
        TC_TRY(add_path(p, path[i], 0));
    if (!p->n)
        return ti_error(ctx, &(tc_loc){.file = n_path ? path[0] : "data"}, TC_E_DATA,
                        "there is no PNG, JPEG or WAV file");
    p->sounds = ti_is_sound(p->file[0]);
    for (size_t i = 0; i < p->n; i++)
        if (ti_is_sound(p->file[i]) != p->sounds)
            return ti_error(ctx, &(tc_loc){.file = p->file[i]}, TC_E_DATA,
                            "images and audio cannot be mixed");
    if (!p->sounds)
        TC_TRY(find_shape(p));
    ti_arena_init_like(&p->work, &ctx->arena);
    ti_ctx_defer(ctx, free_work, p);
    *out = p;
    return TC_OK;
}

size_t ti_pictures_count(const tc_pictures *p)
{
    return p->n;
}

const char *ti_pictures_file(const tc_pictures *p, size_t k)
{
    return k < p->n ? p->file[k] : NULL;
}

/* ---- one picture ---- */

/* The shorter side becomes `side`, the other keeps the proportion, cut to whole pixels. */
static tc_picture resize(tc_pictures *p, tc_picture from)
{
    const tc_rules *r = &p->rules;
    int32_t h = r->resize_h, w = r->resize_w;
    if (!h)
        return from;
    if (!w) {
        int32_t side = h;
        bool wide = from.w >= from.h;
        double ratio = wide ? (double)side * from.w / from.h : (double)side * from.h / from.w;
        int32_t longer = (int32_t)ratio;
        h = wide ? side : longer;
        w = wide ? longer : side;
    }
    return ti_resample(&p->work, from, h, w, r->filter);
}

/* Halves go to the even neighbour, as Python rounds. */
static int32_t half(int32_t n)
{
    return (int32_t)rint(n / 2.0);
}

static tc_picture crop(tc_pictures *p, tc_picture from)
{
    int32_t h = p->rules.crop_h, w = p->rules.crop_w;
    if (!h || (h == from.h && w == from.w))
        return from;
    tc_picture to = {h, w, from.c,
                     tc_new_n(&p->work, uint8_t, (size_t)h * (size_t)w * (size_t)from.c)};
    /* Padding: the smaller half before. */
    int32_t pad_y = h > from.h ? (h - from.h) / 2 : 0, pad_x = w > from.w ? (w - from.w) / 2 : 0;
    int32_t top = h > from.h ? -pad_y : half(from.h - h),
            left = w > from.w ? -pad_x : half(from.w - w);
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            int32_t sy = y + top, sx = x + left;
            if (sy >= 0 && sy < from.h && sx >= 0 && sx < from.w)
                memcpy(to.pixel + ((size_t)y * (size_t)w + (size_t)x) * (size_t)to.c,
                       from.pixel + ((size_t)sy * (size_t)from.w + (size_t)sx) * (size_t)from.c,
                       (size_t)from.c);
        }
    return to;
}

/* Colours to grey by ITU-R 601 in 16 bits, grey to three equal colours. */
static tc_picture with_channels(tc_pictures *p, tc_picture from, int32_t c)
{
    size_t n = (size_t)from.h * (size_t)from.w;
    if (from.c == c)
        return from;
    tc_picture to = {from.h, from.w, c, ti_arena_raw(&p->work, n * (size_t)c)};
    for (size_t i = 0; i < n; i++) {
        const uint8_t *v = from.pixel + i * (size_t)from.c;
        if (c == 1)
            to.pixel[i] = (uint8_t)((v[0] * 19595u + v[1] * 38470u + v[2] * 7471u + 0x8000u) >> 16);
        else
            to.pixel[3 * i] = to.pixel[3 * i + 1] = to.pixel[3 * i + 2] = v[0];
    }
    return to;
}

static tc_status wrong_size(const tc_pictures *p, const tc_loc *loc, tc_picture found)
{
    tc_status status = ti_error(
        p->ctx, loc, TC_E_DATA, "the image is %d x %d after the rules, input '%s' is %d x %d",
        (int)found.h, (int)found.w, p->input, (int)p->shape.h, (int)p->shape.w);
    ti_note(p->ctx, NULL, "resize=%dx%d or crop=%dx%d makes it so", (int)p->shape.h,
            (int)p->shape.w, (int)p->shape.h, (int)p->shape.w);
    return status;
}

static void store(const tc_pictures *p, tc_picture from, tc_tensor to)
{
    const tc_rules *r = &p->rules;
    bool real = ti_is_float(to.type->dtype);
    double white = r->range != 0 ? r->range : real ? 1 : 255;
    int64_t plane = (int64_t)from.h * from.w;
    for (int32_t c = 0; c < from.c; c++) {
        int32_t source = r->bgr ? from.c - 1 - c : c;
        float mean = r->n_mean ? (float)r->mean[r->n_mean > 1 ? c : 0] : 0,
              std = r->n_std ? (float)r->std[r->n_std > 1 ? c : 0] : 1;
        for (int64_t i = 0; i < plane; i++) {
            float v = (float)from.pixel[i * from.c + source];
            v = white == 1 ? v / 255.0f : v;
            if (r->n_mean)
                v -= mean;
            if (r->n_std)
                v /= std;
            int64_t at = p->shape.last ? i * from.c + c : c * plane + i;
            ti_store_f64(to, at, real ? (double)v : rint((double)v));
        }
    }
}

static tc_status picture_sample(tc_pictures *p, const tc_loc *loc, tc_bytes file, tc_tensor to)
{
    tc_picture picture;
    TC_TRY(ti_picture_decode(p->ctx, &p->work, loc, file, &picture));
    picture = with_channels(p, picture, (int32_t)p->shape.c);
    picture = crop(p, resize(p, picture));
    if (picture.h != p->shape.h || picture.w != p->shape.w)
        return wrong_size(p, loc, picture);
    store(p, picture, to);
    return TC_OK;
}

/* ---- one sound ---- */

static tc_status sound_sample(tc_pictures *p, const tc_loc *loc, tc_bytes file, tc_tensor to)
{
    tc_sound sound;
    int64_t n = tc_type_count(to.type);
    TC_TRY(ti_sound_decode(p->ctx, &p->work, loc, file, &sound));
    if (p->rules.rate && sound.rate != p->rules.rate)
        return ti_error(p->ctx, loc, TC_E_DATA,
                        "the audio has %d samples per second, rate=%d was given", (int)sound.rate,
                        (int)p->rules.rate);
    for (int64_t i = 0; i < n; i++) {
        float v = i < sound.n ? sound.value[i] : 0;
        if (p->rules.n_mean)
            v -= (float)p->rules.mean[0];
        if (p->rules.n_std)
            v /= (float)p->rules.std[0];
        ti_store_f64(to, i, (double)v);
    }
    return TC_OK;
}

/* ---- reading ---- */

static tc_status read_whole(tc_pictures *p, const char *path, tc_bytes *out)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    if (!f || size < 0 || fseek(f, 0, SEEK_SET) != 0) {
        tc_status status = ti_io_error(p->ctx, path, "read it");
        if (f)
            fclose(f);
        return status;
    }
    fclose(f); /* nothing is open while memory is taken */
    uint8_t *data = ti_arena_raw(&p->work, (size_t)size + 1);
    f = fopen(path, "rb");
    size_t n = f ? fread(data, 1, (size_t)size, f) : 0;
    bool good = f && n == (size_t)size;
    if (f)
        fclose(f);
    if (!good)
        return ti_io_error(p->ctx, path, "read it");
    *out = (tc_bytes){data, n};
    return TC_OK;
}

tc_status ti_pictures_sample(tc_pictures *p, size_t k, const tc_tensor *in)
{
    tc_mark mark = ti_arena_mark(&p->work);
    tc_loc loc = {.file = p->file[k]};
    tc_bytes file;
    TC_TRY(read_whole(p, p->file[k], &file));
    tc_status status =
        p->sounds ? sound_sample(p, &loc, file, in[0]) : picture_sample(p, &loc, file, in[0]);
    ti_arena_rewind(&p->work, mark);
    return status;
}
