/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.c -- samples: from files, from the caller, or invented on demand ("random:SEED"). */
#include "dataset.h"

#include <stdlib.h>

#include "../num/load.h"
#include "../wire/file.h"

enum { INVENTED = 32 }; /* samples of random data */

static tc_status read_file(void *from, size_t k, const tc_tensor *in)
{
    return ti_data_sample(from, k, in);
}

typedef struct invention {
    const tc_graph *g;
    uint64_t seed;
} invention;

/* A hash of (seed, sample, input, element): the same in any order of calls. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static double real_of(uint64_t bits) { return (double)(bits >> 11) * 0x1p-52 - 1; }

static void invent_f32(uint64_t seed, float *to, int64_t n)
{
    for (int64_t e = 0; e < n; e++)
        to[e] = (float)real_of(mix(seed + (uint64_t)e));
}

/* Floats from -1 to 1; any code of a quantized type; integers 0 and 1, which are valid for most
 * indices. */
static tc_status invent(void *from, size_t k, const tc_tensor *in)
{
    const invention *v = from;
    for (size_t i = 0; i < v->g->n_in; i++) {
        int64_t n = tc_type_count(in[i].type);
        uint64_t seed = mix(mix(v->seed + k) + i);
        bool real = ti_is_float(in[i].type->dtype);
        const tc_quant *q = in[i].type->quant;
        int64_t least = q ? q->lo : 0, most = q ? q->hi : 1;
        if (in[i].type->dtype == TC_f32) {
            invent_f32(seed, in[i].data, n);
            continue;
        }
        for (int64_t e = 0; e < n; e++) {
            uint64_t bits = mix(seed + (uint64_t)e);
            if (real)
                ti_store_f64(in[i], e, real_of(bits));
            else
                ti_store_i64(in[i], e, least + (int64_t)(bits % (uint64_t)(most - least + 1)));
        }
    }
    return TC_OK;
}

bool ti_invent_ends(const tc_graph *g, bool reals, const tc_tensor *in)
{
    static const double real[] = {0, 1e-3, -1, 30, -1e4, 0.5, 1e4, -0.25};
    bool any = false;
    for (size_t i = 0; i < g->n_in; i++) {
        int64_t n = tc_type_count(in[i].type);
        tc_dtype t = in[i].type->dtype;
        if (ti_is_float(t) != reals || in[i].type->quant || tc_dtypes[t].kind == TC_COMPLEX)
            continue;
        any = true;
        int bits = tc_dtypes[t].bits;
        bool is_signed = ti_wrap(t, -1) < 0;
        int64_t least = is_signed ? -(INT64_C(1) << (bits - 2)) * 2 : 0;
        int64_t greatest = is_signed ? -(least + 1) : ti_wrap(t, -1);
        const int64_t whole[] = {greatest, least, 0, 1, -1, greatest - 1, least + 1, greatest / 2};
        for (int64_t e = 0; e < n; e++) {
            size_t k = (size_t)(mix(mix(i) + (uint64_t)e) % TC_COUNT(real));
            if (ti_is_float(t))
                ti_store_f64(in[i], e, real[k]);
            else
                ti_store_i64(in[i], e, t == TC_bool ? (int64_t)k % 2 : ti_wrap(t, whole[k]));
        }
    }
    return any;
}

static tc_status open_invention(tc_ctx *ctx, const tc_graph *g, const char *text, tc_samples *out)
{
    char *end;
    invention *v = tc_new(&ctx->arena, invention);
    *v = (invention){g, strtoull(text + 7, &end, 10)};
    if (!text[7] || *end)
        return ti_usage(ctx, "--calib=%s: a number is expected after 'random:'", text);
    *out = (tc_samples){.n = INVENTED, .read = invent, .from = v};
    return TC_OK;
}

static bool is_invention(const char *const *path, size_t n_path)
{
    return n_path == 1 && ti_text_starts(path[0], "random:");
}

bool ti_dataset_invented(const tc_dataset *data)
{
    return !data->read && is_invention(data->path, data->n_path);
}

bool ti_dataset_files(const tc_dataset *data)
{
    return data->n_path && !data->rules && !data->read && !ti_dataset_invented(data);
}

static tc_status read_picture(void *from, size_t k, const tc_tensor *in)
{
    return ti_pictures_sample(from, k, in);
}

static const char *name_picture(void *from, size_t k)
{
    return ti_pictures_file(from, k);
}

const char *ti_dataset_file(const tc_dataset *data, size_t k)
{
    return data->pictures ? ti_pictures_file(data->pictures, k) : NULL;
}

static const char *name_array(void *from, size_t k)
{
    return ti_data_sample_name(from, k);
}

static tc_status open_files(tc_ctx *ctx, const tc_graph *g, const char *const *path, size_t n_path,
                            const bool *taken, size_t repeat, tc_data **data, tc_samples *out)
{
    *data = NULL;
    if (is_invention(path, n_path))
        return open_invention(ctx, g, path[0], out);
    TC_TRY(ti_read_data_rows(ctx, g, path, n_path, taken, data));
    if (repeat)
        TC_TRY(ti_data_repeat(*data, repeat));
    *out = (tc_samples){
        .n = ti_data_samples(*data), .read = read_file, .from = *data, .name = name_array};
    return TC_OK;
}

tc_status ti_open_samples(tc_ctx *ctx, const tc_graph *g, const char *const *path, size_t n_path,
                          tc_samples *out)
{
    enum { OWN_CALLS = 32 }; /* for a program without inputs that has state */
    tc_data *data;
    return open_files(ctx, g, path, n_path, NULL, !g->n_in && g->n_mutation ? OWN_CALLS : 0, &data, out);
}

/* ---- what the caller brings ---- */

typedef struct lent {
    const tc_dataset *data;
    size_t n_in;
} lent;

static tc_status read_lent(void *from, size_t k, const tc_tensor *in)
{
    const lent *l = from;
    return l->data->read(l->data->user, k, in, l->n_in);
}

/* Every sample is a step at which the work can be cancelled. */
typedef struct watched {
    tc_ctx *ctx;
    tc_samples inner;
} watched;

static tc_status read_watched(void *from, size_t k, const tc_tensor *in)
{
    const watched *w = from;
    TC_TRY(ti_go_on(w->ctx));
    return w->inner.read(w->inner.from, k, in);
}

static const char *name_watched(void *from, size_t k)
{
    const watched *w = from;
    return w->inner.name ? w->inner.name(w->inner.from, k) : NULL;
}

static void tell_progress(void *who, const char *what, size_t done, size_t total)
{
    const watched *w = who;
    tc_status status = ti_tell_progress(w->ctx, what, done, total);
    (void)status; /* the next sample reports it */
}

tc_status ti_open_dataset(tc_ctx *ctx, tc_dataset *data, const tc_graph *g, tc_samples *out)
{
    watched *w = tc_new(&ctx->arena, watched);
    w->ctx = ctx;
    if (data->read) {
        lent *l = tc_new(&ctx->arena, lent);
        *l = (lent){data, g->n_in};
        w->inner = (tc_samples){.n = data->n, .read = read_lent, .from = l};
    } else if (data->rules && !is_invention(data->path, data->n_path)) {
        TC_TRY(ti_read_pictures(ctx, g, data->rules, data->path, data->n_path, &data->pictures));
        w->inner = (tc_samples){.n = ti_pictures_count(data->pictures),
                                .read = read_picture,
                                .from = data->pictures,
                                .name = name_picture};
    } else
        TC_TRY(open_files(ctx, g, data->path, data->n_path, data->taken, data->repeat, &data->data,
                          &w->inner));
    *out = w->inner; /* its other fields stay valid */
    out->read = read_watched;
    out->name = name_watched;
    out->progress = tell_progress;
    out->from = out->who = w;
    out->reset = data->reset;
    if (data->most && out->n > data->most)
        out->n = data->most;
    return TC_OK;
}

tc_status ti_open_calibration(tc_ctx *ctx, tc_dataset *data, const tc_graph *g,
                              const tc_config *config, bool every, tc_samples *out,
                              tc_samples *learned, tc_samples *held_out)
{
    TC_TRY(ti_open_dataset(ctx, data, g, out));
    bool some = ti_held_out_count(out->n) && !every && !ti_dataset_invented(data) && !config->anchor &&
                !g->n_mutation;
    *learned = some ? ti_samples_part(ctx, out, false) : (tc_samples){0};
    *held_out = some ? ti_samples_part(ctx, out, true) : (tc_samples){0};
    return TC_OK;
}

static tc_join_kind join_of(const tc_dataset *data, int64_t *extent)
{
    static const tc_join_kind kind[] = {[TC_JOIN_NONE] = TC_JOINED_NOT,
                                        [TC_JOIN_FIRST] = TC_JOINED_FIRST,
                                        [TC_JOIN_NEW] = TC_JOINED_NEW};
    *extent = 0;
    if (data->data)
        return kind[ti_data_join(data->data, extent)];
    const tc_type *t = data->pictures ? ti_type_of(data->bound, data->bound->in[0]) : NULL;
    if (t && t->rank > 1 && t->dim[0] == 1 && data->samples.n > 1) {
        *extent = 1;
        return TC_JOINED_FIRST;
    }
    return data->samples.n == 1 ? TC_JOINED_NOT : TC_JOINED_NEW;
}

tc_status ti_bind_dataset(tc_ctx *ctx, tc_dataset *data, const tc_graph *g, size_t *samples,
                          tc_join_kind *join, int64_t *extent)
{
    int64_t along;
    TC_TRY(ti_open_dataset(ctx, data, g, &data->samples));
    data->bound = g;
    tc_join_kind kind = join_of(data, &along);
    if (samples)
        *samples = data->samples.n;
    if (join)
        *join = kind;
    if (extent)
        *extent = along;
    return TC_OK;
}
