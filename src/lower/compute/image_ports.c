/* SPDX-License-Identifier: Apache-2.0 */
/* image_ports.c -- which inputs and outputs are images: names, formats, sizes; see images.h. */
#include "../images.h"

enum { MOST_CHANNELS = 4 };

/* ---- sizes and types --------------------------------------------------------------------------- */

tc_image_size ti_image_size(const tc_type *t, const tc_vk_format *f, tc_image_layout layout)
{
    const int64_t *d = t->dim + (t->rank - 3);
    bool first = d[0] <= f->n, last = d[2] <= f->n;
    bool nhwc = layout == TC_IMAGE_NHWC || (layout == TC_IMAGE_ANY && last && !first);
    return nhwc ? (tc_image_size){d[2], d[0], d[1], true}
                : (tc_image_size){d[0], d[1], d[2], false};
}

bool ti_image_codes(const tc_vk_format *f, unsigned bits, double *scale, int32_t *zero)
{
    if (f->order > TC_VK_BGRA || f->bits != bits ||
        !(f->number == TC_VK_SNORM || (f->number == TC_VK_UNORM && bits == 8)))
        return false;
    *scale = 1.0 / ti_vk_most(f);
    *zero = f->number == TC_VK_UNORM ? -128 : 0;
    return true;
}

/* ---- names --------------------------------------------------------------------------------------- */

static const char *port_name(const tc_graph *g, bool out, size_t i)
{
    const tc_module *m = g->module;
    tc_val v = out ? g->out[i] : g->in[i];
    const tc_port *port = out ? m->signature.out : m->signature.in;
    size_t n = out ? m->signature.n_out : m->signature.n_in;
    for (size_t k = 0; k < n && g == ti_main(m); k++)
        if (port[k].val == v && port[k].name)
            return port[k].name;
    const char *own = ti_value_of(g, v)->name;
    return own && *own ? own : NULL;
}

static const char *counted(tc_ctx *ctx, bool out, size_t i)
{
    return ti_text_format(&ctx->arena, "%s_%zu", out ? "output" : "input", i);
}

/* By its name, or by its index. */
static bool find(tc_ctx *ctx, const tc_graph *g, const char *name, tc_image_port *out)
{
    for (int pass = 0; pass < 4; pass++) {
        out->out = pass & 1;
        size_t n = out->out ? g->n_out : g->n_in;
        for (out->index = 0; out->index < n; out->index++) {
            const char *own =
                pass < 2 ? port_name(g, out->out, out->index) : counted(ctx, out->out, out->index);
            if (own && ti_text_eq(own, name))
                return true;
        }
    }
    return false;
}

static tc_status no_port(tc_ctx *ctx, const tc_graph *g, const char *text, const char *name)
{
    tc_buf names;
    ti_buf_init(&names, &ctx->arena);
    for (int out = 0; out < 2; out++)
        for (size_t i = 0; i < (out ? g->n_out : g->n_in); i++) {
            const char *own = port_name(g, out, i);
            ti_buf_printf(&names, "%s%s", names.size ? ", " : "", own ? own : counted(ctx, out, i));
        }
    return ti_usage(ctx, "--image %s: there is no input or output '%s'; there are %s", text, name,
                    ti_buf_cstr(&names));
}

static bool is_offered(const tc_vk_format *f)
{
    return !(f->number == TC_VK_UINT && f->bits == 32);
}

static tc_status no_format(tc_ctx *ctx, const char *text, const char *name)
{
    tc_buf names;
    ti_buf_init(&names, &ctx->arena);
    for (size_t i = 0; ti_vk_format_at(i); i++) {
        const tc_vk_format *f = ti_vk_format_at(i);
        if (!is_offered(f))
            continue;
        ti_buf_text(&names, names.size ? ", " : "");
        for (const char *c = f->name; *c; c++)
            ti_buf_u8(&names, (uint8_t)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c));
    }
    tc_status status = ti_usage(ctx, "--image %s: there is no format '%s'", text, name);
    ti_note(ctx, NULL, "formats: %s", ti_buf_cstr(&names));
    return status;
}

tc_status ti_image_port_read(tc_ctx *ctx, const tc_graph *g, const char *text, tc_image_port *out)
{
    tc_arena *arena = &ctx->arena;
    const char *equals = strrchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    *out = (tc_image_port){.text = ti_intern_text(ctx, text)};
    if (!equals || equals == text)
        return ti_usage(ctx, "--image %s: expected NAME=FORMAT, such as x=r8g8b8a8_unorm", text);
    const char *name = ti_text_copy(arena, (tc_str){text, (size_t)(equals - text)});
    size_t n = colon ? (size_t)(colon - equals) - 1 : strlen(equals + 1);
    const char *format = ti_text_copy(arena, (tc_str){equals + 1, n});
    if (colon && !ti_text_eq(colon, ":nchw") && !ti_text_eq(colon, ":nhwc"))
        return ti_usage(ctx, "--image %s: expected :nchw or :nhwc behind the format", text);
    out->layout = !colon ? TC_IMAGE_ANY : colon[2] == 'c' ? TC_IMAGE_NCHW : TC_IMAGE_NHWC;
    out->format = ti_vk_format_named(format);
    if (!out->format || !is_offered(out->format))
        return no_format(ctx, text, format);
    if (!find(ctx, g, name, out))
        return no_port(ctx, g, text, name);
    return ti_image_port_check(ctx, g, out);
}

tc_status ti_image_ports_read(tc_ctx *ctx, const tc_graph *g, const char *const *text, size_t n,
                              tc_image_port **out)
{
    tc_image_port *port = *out = tc_new_n(&ctx->arena, tc_image_port, n + 1);
    for (size_t i = 0; i < n; i++) {
        TC_TRY(ti_image_port_read(ctx, g, text[i], &port[i]));
        for (size_t k = 0; k < i; k++)
            if (port[k].out == port[i].out && port[k].index == port[i].index)
                return ti_usage(ctx, "--image %s: the same %s is named by '%s'", text[i],
                                port[i].out ? "output" : "input", text[k]);
    }
    return TC_OK;
}

/* ---- what goes ----------------------------------------------------------------------------------- */

static bool is_stored(tc_dtype d)
{
    return d == TC_f32 || d == TC_f16 || d == TC_i8 || d == TC_u8 || d == TC_i16 || d == TC_u16 ||
           d == TC_i32;
}

tc_status ti_image_port_check(tc_ctx *ctx, const tc_graph *g, const tc_image_port *port)
{
    const tc_type *t = ti_type_of(g, port->out ? g->out[port->index] : g->in[port->index]);
    const char *what = port->out ? "output" : "input";
    if (!t)
        return TC_OK; /* asked again when it is known */
    const char *type = ti_type_text(&ctx->arena, t);
    if (t->rank != 3 && t->rank != 4)
        return ti_usage(ctx, "--image %s: the %s is %s: an image is a tensor of rank 3 or 4",
                        port->text, what, type);
    if (ti_type_open(t) || tc_type_count(t) < 1)
        return ti_usage(ctx, "--image %s: the %s is %s, whose size is not known", port->text, what,
                        type);
    if (t->rank == 4 && t->dim[0] != 1)
        return ti_usage(ctx, "--image %s: the %s is %s: an image is one picture, not %" PRId64,
                        port->text, what, type, t->dim[0]);
    if (!is_stored(t->dtype))
        return ti_usage(ctx, "--image %s: the %s is %s: an image has no %s", port->text, what, type,
                        tc_dtypes[t->dtype].name);
    bool numbers = ti_is_float(t->dtype) || t->quant;
    if (!numbers && !ti_vk_is_whole(port->format))
        return ti_usage(
            ctx, "--image %s: the %s is %s: integers need a format of integers, uint or sint",
            port->text, what, type);
    int64_t c = ti_image_size(t, port->format, port->layout).c;
    if (c > MOST_CHANNELS)
        return ti_usage(
            ctx, "--image %s: the %s is %s: an image has at most 4 channels, this one %" PRId64,
            port->text, what, type, c);
    if (c > port->format->n)
        return ti_usage(ctx, "--image %s: the %s is %s: %" PRId64 " channels, the format has %d",
                        port->text, what, type, c, port->format->n);
    return TC_OK;
}
