/* SPDX-License-Identifier: Apache-2.0 */
/* image_check.c -- see image_check.h. */
#include "image_check.h"

#include <math.h>

#include "../num/load.h"
#include "../num/pixel.h"
#include "../run/eval.h"

/* ---- codes ----------------------------------------------------------------------------------- */

/* A computed value that nothing else reads: its codes are the output's alone. */
static bool is_last(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == v)
                return false;
    return def && !(tc_ops[def->op].traits & T_MOVES);
}

static bool is_named(const tc_config *config, const char *name)
{
    for (size_t i = 0; i < config->n_entry; i++)
        if (config->entry[i].level == TC_LEVEL_node && ti_text_eq(config->entry[i].name, name))
            return true;
    return false;
}

void ti_images_fix_codes(tc_ctx *ctx, const tc_graph *g, const tc_image_port *port, size_t n,
                         tc_config *config)
{
    if (config->anchor)
        return;
    ti_config_own_entries(ctx, config);
    for (size_t i = 0; i < n; i++) {
        tc_val v = port[i].out ? g->out[port[i].index] : g->in[port[i].index];
        const tc_node *def = ti_def(g, v);
        const char *own = ti_value_of(g, v)->name,
                   *name = def && def->loc && def->loc->node ? def->loc->node : own;
        tc_level level;
        double scale;
        int32_t zero;
        if (!name || is_named(config, name) || (port[i].out && !is_last(g, v)))
            continue;
        tc_dtype dtype = ti_config_scheme(config, def ? def->loc : NULL, own, &level).act.dtype;
        tc_patch as = {0};
        if (dtype != TC_none &&
            ti_image_codes(port[i].format, tc_dtypes[dtype].bits, &scale, &zero))
            as = (tc_patch){TC_HAS_FIXED, {.scale = scale, .zero = zero}};
        else if (dtype == TC_i8 && port[i].format->bits == 8 && ti_vk_is_whole(port[i].format))
            as = (tc_patch){TC_HAS_DTYPE, {.dtype = dtype}}; /* as many bits as it has */
        if (as.has)
            ti_config_add(ctx, config,
                          (tc_config_entry){.level = TC_LEVEL_node,
                                            .name = ti_intern_text(ctx, name),
                                            .act = as});
    }
}

/* ---- pictures and pixels --------------------------------------------------------------------- */

typedef struct picture {
    const tc_vk_format *format;
    tc_image_size size;
    const tc_quant *codes; /* the type whose codes an integer format holds; NULL: real values */
} picture;

static picture picture_of(const tc_image_port *port, const tc_type *t)
{
    return (picture){port->format, ti_image_size(t, port->format, port->layout),
                     port->tensor->quant};
}

static int64_t place_of(const picture *p, int64_t pixel, int64_t k)
{
    return p->size.last ? pixel * p->size.c + k : k * p->size.h * p->size.w + pixel;
}

static int64_t code_of(const tc_quant *q, double x)
{
    double code = rint(x / q->scale[0]) + (double)q->zero[0];
    return (int64_t)fmax((double)q->lo, fmin((double)q->hi, isnan(code) ? 0 : code));
}

/* Integers that the format has. */
static int64_t within(const tc_vk_format *f, double x)
{
    bool is_signed = f->number == TC_VK_SINT;
    double most = (double)(UINT32_MAX >> (32 - f->bits + is_signed));
    return (int64_t)fmax(is_signed ? -most - 1 : 0, fmin(most, isnan(x) ? 0 : rint(x)));
}

/* A tensor's elements as pixels.  Components that it lacks are 0, 0, 1. */
static void to_pixels(const picture *p, tc_tensor t, uint8_t *at)
{
    const tc_vk_format *f = p->format;
    for (int64_t i = 0; i < p->size.h * p->size.w; i++, at += ti_pixel_bytes(f)) {
        tc_pixel pixel = {{0, 0, 0, 1}, {0, 0, 0, 1}};
        for (int64_t k = 0; k < p->size.c; k++) {
            double x = ti_check_real(t, place_of(p, i, k));
            pixel.real[k] = (float)x;
            pixel.whole[k] = p->codes ? code_of(p->codes, x) : within(f, x);
        }
        ti_pixel_put(f, &pixel, at);
    }
}

/* What pixels stand for, as a tensor has it. */
static void from_pixels(const picture *p, const uint8_t *at, tc_tensor t)
{
    const tc_vk_format *f = p->format;
    for (int64_t i = 0; i < p->size.h * p->size.w; i++, at += ti_pixel_bytes(f)) {
        tc_pixel pixel = ti_pixel_get(f, at);
        for (int64_t k = 0; k < p->size.c; k++) {
            double x = !ti_vk_is_whole(f) ? (double)pixel.real[k]
                       : p->codes
                           ? p->codes->scale[0] * (double)(pixel.whole[k] - p->codes->zero[0])
                           : (double)pixel.whole[k];
            if (t.type->quant)
                ti_store_i64(t, place_of(p, i, k), code_of(t.type->quant, x));
            else
                ti_store_f64(t, place_of(p, i, k), x);
        }
    }
}

static const tc_image_port *port_at(const tc_image_port *port, size_t n, bool out, size_t index)
{
    for (size_t i = 0; i < n; i++)
        if (port[i].out == out && port[i].index == index)
            return &port[i];
    return NULL;
}

tc_tensor *ti_images_sample(tc_ctx *ctx, const tc_graph *plain, const tc_graph *imaged,
                            const tc_image_port *port, size_t n, const tc_tensor *sample)
{
    const tc_tensor *taken = ti_check_taken(plain, sample, &ctx->arena);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, plain->n_in + 1);
    for (size_t i = 0; i < plain->n_in; i++) {
        const tc_image_port *p = port_at(port, n, false, i);
        in[i] = taken[i];
        if (!p)
            continue;
        picture to = picture_of(p, taken[i].type);
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(imaged, imaged->in[i]));
        to_pixels(&to, taken[i], in[i].data);
    }
    return in;
}

/* The picture that the image was made from. */
static bool find_picture(const tc_value *image, const tc_type *t, picture *out)
{
    const tc_vk_format *f = ti_vk_format(image->image);
    if (!f || image->type->rank != 4 || (t->rank != 3 && (t->rank != 4 || t->dim[0] != 1)))
        return false;
    for (tc_image_layout layout = TC_IMAGE_NCHW; layout <= TC_IMAGE_NHWC; layout++) {
        *out = (picture){f, ti_image_size(t, f, layout), image->type->quant};
        if (out->size.c <= f->n && out->size.h == image->type->dim[1] &&
            out->size.w == image->type->dim[2])
            return true;
    }
    return false;
}

bool ti_image_is_of(const tc_value *image, const tc_type *tensor)
{
    picture p;
    return find_picture(image, tensor, &p);
}

void ti_image_fill(const tc_value *image, tc_tensor tensor, tc_tensor pixels)
{
    picture p;
    if (find_picture(image, tensor.type, &p))
        to_pixels(&p, tensor, pixels.data);
}

void ti_images_fit(tc_ctx *ctx, const tc_graph *plain, const tc_image_port *port, size_t n,
                   tc_tensor *const *sample, size_t n_sample)
{
    for (size_t i = 0; i < n; i++) {
        const tc_vk_format *f = port[i].format;
        bool norm = f->number == TC_VK_UNORM || f->number == TC_VK_SNORM;
        double lo = INFINITY, hi = -INFINITY, least = f->number == TC_VK_UNORM ? 0 : -1;
        for (size_t k = 0; k < n_sample && norm && !port[i].out; k++) {
            tc_tensor t = sample[k][port[i].index];
            for (int64_t e = 0; e < tc_type_count(t.type); e++) {
                lo = fmin(lo, ti_check_real(t, e));
                hi = fmax(hi, ti_check_real(t, e));
            }
        }
        if (lo >= least - 1e-3 && hi <= 1 + 1e-3)
            continue;
        if (lo > hi)
            continue; /* nothing was compared */
        const char *name = ti_value_of(plain, plain->in[port[i].index])->name;
        ti_warning(ctx, NULL, TC_E_DATA,
                   "the samples of '%s' have numbers from %.3g to %.3g, %s has %g to 1",
                   name ? name : port[i].text, lo, hi, f->name, least);
        ti_note(ctx, NULL,
                "the program is given what the image has: a model with its scaling inside "
                "takes that");
    }
}

/* ---- both programs --------------------------------------------------------------------------- */

/* Whether pixels stand for the same values: floats within a pass's rounding, codes on the
 * average. */
static bool same_pixels(tc_ctx *ctx, const picture *p, const uint8_t *a, const uint8_t *b,
                        bool rounds)
{
    int64_t n = p->size.c * p->size.h * p->size.w;
    const tc_type *real = ti_type_make(ctx, TC_f32, 1, &n);
    tc_tensor x = ti_tensor_new(&ctx->scratch, real), y = ti_tensor_new(&ctx->scratch, real);
    from_pixels(p, a, x);
    from_pixels(p, b, y);
    return ti_check_kept(TC_CLOSE,
                         rounds || p->format->number != TC_VK_SFLOAT || p->format->bits < 32, x, y);
}

static bool is_quantized(const tc_graph *g)
{
    for (size_t v = 1; v < g->n_val; v++)
        if (g->val[v]->type && g->val[v]->type->quant && !g->val[v]->image)
            return true;
    return false;
}

static tc_status compare(tc_ctx *ctx, const tc_graph *plain, const tc_image_port *port, size_t n,
                         const tc_tensor *want, const tc_tensor *got)
{
    bool rounds = is_quantized(plain);
    for (size_t i = 0; i < plain->n_out; i++) {
        const tc_image_port *p = port_at(port, n, true, i);
        bool same;
        if (p) {
            picture to = picture_of(p, want[i].type);
            tc_tensor pixels = ti_tensor_new(&ctx->scratch, got[i].type);
            to_pixels(&to, want[i], pixels.data);
            same = same_pixels(ctx, &to, pixels.data, got[i].data, rounds);
        } else
            same = ti_check_kept(TC_CLOSE, rounds, want[i], got[i]);
        if (!same)
            return ti_bug(ctx, NULL, "with images output %zu is not what the program gives", i);
    }
    return TC_OK;
}

tc_status ti_images_check(tc_ctx *ctx, const tc_module *plain, const tc_module *imaged,
                          const tc_image_port *port, size_t n, const tc_tensor *pixels)
{
    tc_graph *g = ti_main(plain);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_arena arena;
    ti_arena_init_like(&arena, &ctx->arena);
    tc_tensor *in = tc_new_n(&arena, tc_tensor, g->n_in + 1);
    tc_tensor *want = tc_new_n(&arena, tc_tensor, g->n_out + 1),
              *got = tc_new_n(&arena, tc_tensor, g->n_out + 1);
    for (size_t i = 0; i < g->n_in; i++) {
        const tc_image_port *p = port_at(port, n, false, i);
        in[i] = pixels[i];
        if (!p)
            continue;
        in[i] = ti_tensor_new(&arena, ti_type_of(g, g->in[i]));
        picture from = picture_of(p, in[i].type);
        from_pixels(&from, pixels[i].data, in[i]);
    }
    tc_status status = ti_eval(g, in, want, &arena);
    if (status == TC_OK)
        status = ti_eval(ti_main(imaged), pixels, got, &arena);
    if (status == TC_OK)
        status = compare(ctx, g, port, n, want, got);
    ti_arena_free(&arena);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
