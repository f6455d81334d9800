/* SPDX-License-Identifier: Apache-2.0 */
/* use_images.c -- inputs and outputs of a program become images.
 *
 * A shader with an invocation for each pixel converts the image to the program's input tensor, or
 * an output tensor to the image; it quantizes too, if the program did that first.  An image with
 * the tensor's own bytes is an alias of the tensor.
 *
 * Codes of normalized formats are converted back to integers first, and are written as values that
 * round to themselves, so that every machine has the same ones:
 *
 *   input   code  = clamp(round(u c) + zero),        u = round(texel most),  c = 1 / (most scale)
 *   output  texel = clamp(round((code - zero) c)) / most,                    c = most scale
 *
 * c is the f32, or a neighbour of it, with which all codes come out as in exact arithmetic. */
#include "../images.h"

#include <math.h>

#include "compute.h"

enum { DESCRIPTOR_IMAGE_SAMPLER = 1, DESCRIPTOR_STORAGE_IMAGE = 3, DESCRIPTOR_TENSOR = 1000460000 };
enum { FILTER_NEAREST = 0, ADDRESS_EDGE = 2 };
enum { COMPONENTS = 4 };

/* What one shader does. */
typedef struct image_job {
    const tc_vk_format *format;
    tc_image_size size;
    const tc_type *tensor;
} image_job;

/* ---- scalars
 * ----------------------------------------------------------------------------------- */

static tc_cs_val rounded(tc_cs *s, tc_cs_val v)
{
    return ti_cs_ext(s, TC_GLSL_RoundEven, v, (tc_cs_val){0, TC_CS_BOOL});
}

/* NaN becomes 0. */
static tc_cs_val clamped(tc_cs *s, tc_cs_val v, double lo, double hi)
{
    tc_cs_val least = ti_cs_number(s, v.kind, lo), most = ti_cs_number(s, v.kind, hi);
    tc_cs_val none = ti_cs_nan(s, v), zero = ti_cs_number(s, v.kind, 0);
    v = ti_cs_select(s, ti_cs_less(s, v, least), least, v);
    v = ti_cs_select(s, ti_cs_less(s, most, v), most, v);
    return v.kind == TC_CS_F32 ? ti_cs_select(s, none, zero, v) : v;
}

/* The largest code of component k. */
static double most_of(const tc_vk_format *f, int k)
{
    return f->order == TC_VK_A2B10G10R10 && k == 3 ? 3 : (double)ti_vk_most(f);
}

static double least_of(const tc_vk_format *f, int k)
{
    return f->number == TC_VK_SNORM ? -most_of(f, k) : 0;
}

/* An f32 near `by` that takes every whole number from lo to hi to where exact arithmetic takes it. */
static float exact_factor(double by, int64_t lo, int64_t hi)
{
    float up = (float)by, down = up;
    for (int turn = 0; turn < 8; turn++) {
        float c = turn % 2 ? up : down;
        bool all = true;
        for (int64_t u = lo; u <= hi && all; u++)
            all = rintf((float)u * c) == (float)rint((double)u * by);
        if (all)
            return c;
        if (turn % 2)
            up = nextafterf(up, INFINITY);
        else
            down = nextafterf(down, 0);
    }
    return (float)by;
}

/* ---- from the image ---------------------------------------------------------------------------- */

static bool is_norm(const tc_vk_format *f)
{
    return f->number == TC_VK_UNORM || f->number == TC_VK_SNORM;
}

/* One scale and zero point for all of it. */
static bool has_one_grid(const tc_type *t)
{
    return t->quant && t->quant->axis < 0;
}

static tc_cs_val place_of(tc_cs *s, const image_job *j, tc_cs_val pixel, int k)
{
    tc_cs_val c = ti_cs_i32(s, j->size.c), at = ti_cs_i32(s, k);
    if (j->size.last)
        return ti_cs_add(s, ti_cs_mul(s, pixel, c), at);
    return ti_cs_add(s, pixel, ti_cs_i32(s, k * j->size.h * j->size.w));
}

/* What the tensor stores of component k. */
static tc_cs_val from_component(tc_cs *s, const image_job *j, tc_cs_val v, int k)
{
    const tc_type *t = j->tensor;
    if (ti_vk_is_whole(j->format)) {
        if (!ti_is_float(t->dtype))
            return clamped(s, v, (double)(t->quant ? t->quant->lo : ti_dtype_min(t->dtype)),
                           (double)(t->quant ? t->quant->hi : ti_dtype_max(t->dtype)));
        return j->format->number == TC_VK_UINT ? ti_cs_one(s, TC_SPV_ConvertUToF, TC_CS_F32, v)
                                               : ti_cs_to(s, TC_CS_F32, v);
    }
    if (!is_norm(j->format) || !has_one_grid(t))
        return v; /* the reals themselves */
    double most = most_of(j->format, k), by = 1 / (most * t->quant->scale[0]);
    float c = exact_factor(by, (int64_t)least_of(j->format, k), (int64_t)most);
    v = rounded(s, ti_cs_mul(s, v, ti_cs_real(s, most)));
    v = rounded(s, ti_cs_mul(s, v, ti_cs_real(s, (double)c)));
    v = ti_cs_add(s, v, ti_cs_real(s, (double)t->quant->zero[0]));
    return ti_cs_to(s, TC_CS_I32, clamped(s, v, (double)t->quant->lo, (double)t->quant->hi));
}

static void pixel_at(tc_cs *s, const image_job *j, tc_cs_val at, tc_cs_val *x, tc_cs_val *y)
{
    *x = ti_cs_rest(s, at, j->size.w);
    *y = ti_cs_part(s, at, j->size.w);
}

static void read_image(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const image_job *j = (const void *)node->attr;
    tc_cs_val x, y, texel[COMPONENTS];
    pixel_at(s, j, at, &x, &y);
    ti_cs_fetch(s, 0, x, y, texel);
    for (int k = 0; k < j->size.c; k++) {
        tc_cs_val place = place_of(s, j, at, k);
        ti_cs_store(s, 1, place, from_component(s, j, texel[k], k));
    }
}

/* ---- to the image ------------------------------------------------------------------------------ */

/* To a float of n bits of mantissa, 5 of exponent and no sign, ties to even. */
static tc_cs_val small_float(tc_cs *s, tc_cs_val v, int mantissa)
{
    int gone = 23 - mantissa;
    double most = (2 - ldexp(1, -mantissa)) * 0x1p15, step = ldexp(1, -14 - mantissa);
    tc_cs_val high = ti_cs_real(s, most), zero = ti_cs_real(s, 0), nan = ti_cs_nan(s, v),
              past = ti_cs_less(s, high, v), inf = ti_cs_equal(s, v, ti_cs_real(s, (double)INFINITY));
    tc_cs_val bits = ti_cs_bits(s, TC_CS_I32, v), by = ti_cs_i32(s, gone), one = ti_cs_i32(s, 1);
    tc_cs_val odd = ti_cs_do(s, TC_SPV_BitwiseAnd, TC_CS_I32,
                             ti_cs_do(s, TC_SPV_ShiftRightLogical, TC_CS_I32, bits, by), one);
    tc_cs_val up = ti_cs_add(s, ti_cs_add(s, bits, ti_cs_i32(s, (1 << (gone - 1)) - 1)), odd);
    up = ti_cs_do(s, TC_SPV_BitwiseAnd, TC_CS_I32, up, ti_cs_i32(s, -(1 << gone)));
    tc_cs_val fine = ti_cs_bits(s, TC_CS_F32, up);
    tc_cs_val even = rounded(s, ti_cs_mul(s, v, ti_cs_real(s, 1 / step)));
    even = ti_cs_mul(s, even, ti_cs_real(s, step));
    tc_cs_val r = ti_cs_select(s, ti_cs_less(s, v, ti_cs_real(s, 0x1p-14)), even, fine);
    r = ti_cs_select(s, ti_cs_less(s, v, zero), zero, r);
    r = ti_cs_select(s, ti_cs_or(s, past, ti_cs_less(s, high, r)), high, r);
    return ti_cs_select(s, ti_cs_or(s, nan, inf), v, r);
}

/* Texel k of what the tensor stores. */
static tc_cs_val to_component(tc_cs *s, const image_job *j, tc_cs_val v, int k)
{
    const tc_type *t = j->tensor;
    const tc_vk_format *f = j->format;
    if (ti_vk_is_whole(f)) {
        bool is_signed = f->number == TC_VK_SINT;
        double most = (double)(UINT32_MAX >> (32 - f->bits + is_signed)),
               least = is_signed ? -most - 1 : 0;
        if (v.kind == TC_CS_F32 && f->bits == 32)
            return ti_cs_to(s, TC_CS_I32, clamped(s, rounded(s, v), least, 0x7fffff80p0));
        v = v.kind == TC_CS_F32 ? rounded(s, v) : v;
        return f->bits == 32 ? v : ti_cs_to(s, TC_CS_I32, clamped(s, v, least, most));
    }
    if (f->order == TC_VK_B10G11R11)
        return small_float(s, v, k < 2 ? 6 : 5);
    if (f->number == TC_VK_SFLOAT)
        return f->bits == 16 ? ti_cs_wrap(s, TC_f16, v) : v;
    double most = most_of(f, k);
    if (has_one_grid(t)) {
        double by = t->quant->scale[0] * most;
        int64_t zero = t->quant->zero[0];
        float c = exact_factor(by, t->quant->lo - zero, t->quant->hi - zero);
        v = ti_cs_to(s, TC_CS_F32, ti_cs_sub(s, v, ti_cs_i32(s, zero)));
        v = ti_cs_mul(s, v, ti_cs_real(s, (double)c));
    } else
        v = ti_cs_mul(s, v, ti_cs_real(s, most));
    v = clamped(s, rounded(s, v), least_of(f, k), most);
    return ti_cs_mul(s, v, ti_cs_real(s, 1 / most));
}

static void write_image(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const image_job *j = (const void *)node->attr;
    tc_cs_kind kind = ti_vk_is_whole(j->format) ? TC_CS_I32 : TC_CS_F32;
    tc_cs_val x, y, texel[COMPONENTS];
    pixel_at(s, j, at, &x, &y);
    for (int k = 0; k < COMPONENTS; k++)
        texel[k] = k < j->size.c ? to_component(s, j, ti_cs_load(s, 0, place_of(s, j, at, k)), k)
                                 : ti_cs_number(s, kind, k == 3);
    ti_cs_put_pixel(s, 1, x, y, texel);
}

/* ---- shaders ----------------------------------------------------------------------------------- */

/* A shader from `from` to a value of type `to`; one of them is the image. */
static tc_status add_shader(tc_ctx *ctx, tc_graph *g, image_job *job, bool out, tc_val from,
                            const tc_type *to, const tc_loc *loc, tc_node **made)
{
    static const tc_cs_family reading = {"read_image", read_image, TC_CS_RESULT, true};
    static const tc_cs_family writing = {"write_image", write_image, TC_CS_RESULT, true};
    const tc_cs_family *family = out ? &writing : &reading;
    const int64_t tensor = ti_cs_format(job->tensor), image = job->format->format;
    const int64_t descriptor[] = {out ? DESCRIPTOR_TENSOR : DESCRIPTOR_IMAGE_SAMPLER,
                                  out ? DESCRIPTOR_STORAGE_IMAGE : DESCRIPTOR_TENSOR};
    const int64_t format[] = {out ? tensor : image, out ? image : tensor};
    const int64_t row[] = {0, 0, FILTER_NEAREST, FILTER_NEAREST, ADDRESS_EDGE, ADDRESS_EDGE, 0};
    tc_node stand_in = {.op = TC_OP_tosa_shader, .attr = job};
    tc_cs_code code;
    tc_cs *s = tc_new(&ctx->arena, tc_cs);
    s->n_in = 1;
    s->n_port = 2;
    s->count = job->size.h * job->size.w;
    s->port[0] = (tc_cs_port){.value = {ti_type_of(g, from), NULL}};
    s->port[1] = (tc_cs_port){.value = {to, NULL}};
    s->port[out ? 1 : 0].pixel = job->format;
    s->port[out ? 0 : 1].stored =
        is_norm(job->format) ? has_one_grid(job->tensor) : ti_vk_is_whole(job->format);
    const char *why = ti_cs_code_of(ctx, s, family, &stand_in, &code);
    if (why)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED, "an image cannot be converted: %s", why);
    const tc_attr_tosa_shader *a = ti_cs_shader(ctx, family->name, &code, descriptor, format, row,
                                                out ? 0 : (int)TC_COUNT(row));
    *made = ti_graph_add(g, TC_OP_tosa_shader, a, &from, 1, 1, loc);
    ti_value_of(g, (*made)->out[0])->type = to;
    return TC_OK;
}

/* ---- the graph --------------------------------------------------------------------------------- */

/* The one type that every reader of an input quantizes it to; NULL: none. */
static const tc_type *quantized_to(const tc_graph *g, tc_val v)
{
    const tc_type *to = NULL;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            const tc_node *node = g->node[k];
            if (node->in[i] != v)
                continue;
            const tc_type *t = ti_type_of(g, node->out[0]);
            if (node->op != TC_OP_rescale || !t->quant || (to && to != t))
                return NULL;
            to = t;
        }
    return ti_graph_gives(g, v) ? NULL : to;
}

/* Readers of an input that quantize it are replaced: their result is `now`. */
static void drop_readers(tc_graph *g, tc_val v, tc_val now)
{
    size_t kept = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_rescale && g->node[k]->in[0] == v)
            ti_graph_read_instead(g, g->node[k]->out[0], now);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_rescale || g->node[k]->in[0] != v)
            g->node[kept++] = g->node[k];
    g->n_node = kept;
}

static void set_port(tc_graph *g, bool out, size_t i, tc_val now)
{
    tc_module *m = g->module;
    tc_port *port = out ? m->signature.out : m->signature.in;
    size_t n = out ? m->signature.n_out : m->signature.n_in;
    tc_val *at = out ? &g->out[i] : &g->in[i];
    for (size_t k = 0; k < n && g == ti_main(m); k++)
        if (port[k].val == *at) {
            port[k].val = now;
            port[k].codes = NULL;
        }
    *at = now;
}

/* Input i is another value, of this type. */
static tc_val new_input(tc_graph *g, size_t i, const tc_type *type)
{
    tc_val now = ti_graph_input(g, type, ti_value_of(g, g->in[i])->name);
    g->n_in--;
    ti_value_of(g, now)->index = (int)i;
    set_port(g, false, i, now);
    return now;
}

/* ---- what needs no shader ---------------------------------------------------------------------- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * b; /* scales are f32 somewhere */
}

/* The image has the tensor's own bytes.  Its components are the tensor's last axis, also if there
 * is one: Arm's scenario runner requires it. */
static bool same_bytes(const image_job *j, bool out)
{
    const tc_type *t = j->tensor;
    const tc_vk_format *f = j->format;
    const tc_quant *q = t->quant;
    if (f->order != TC_VK_APART || !j->size.last || j->size.c != f->n ||
        tc_dtypes[t->dtype].bits != f->bits)
        return false;
    switch (f->number) {
    case TC_VK_SFLOAT:
        return ti_is_float(t->dtype);
    case TC_VK_SINT:
        return tc_dtypes[t->dtype].kind == TC_INT;
    case TC_VK_UINT:
        return tc_dtypes[t->dtype].kind == TC_UINT;
    case TC_VK_SNORM: /* -128 equals -127 in an image: only what is written is the same */
        return out && q && q->axis < 0 && tc_dtypes[t->dtype].kind == TC_INT && q->zero[0] == 0 &&
               near(q->scale[0], 1.0 / ti_vk_most(f));
    default:
        return q && q->axis < 0 && tc_dtypes[t->dtype].kind == TC_UINT && q->zero[0] == 0 &&
               near(q->scale[0], 1.0 / ti_vk_most(f));
    }
}

/* Codes are kept, except for their zero point. */
static bool same_codes(const image_job *j)
{
    const tc_quant *q = j->tensor->quant;
    if (!has_one_grid(j->tensor) || j->format->number == TC_VK_SFLOAT)
        return false;
    return ti_vk_is_whole(j->format) || near(q->scale[0], 1.0 / most_of(j->format, 0));
}

/* Integer formats hold codes: those of the tensor must be among theirs. */
static tc_status check_codes(tc_ctx *ctx, const tc_image_port *port, const image_job *j)
{
    const tc_quant *q = j->tensor->quant;
    if (!q || !ti_vk_is_whole(j->format))
        return TC_OK;
    bool is_signed = j->format->number == TC_VK_SINT;
    int64_t most = (int64_t)(UINT32_MAX >> (32 - j->format->bits + is_signed));
    if (q->hi <= most && q->lo >= (is_signed ? -most - 1 : 0))
        return TC_OK;
    return ti_usage(ctx,
                    "--image %s: the %s has codes from %" PRId64 " to %" PRId64 ", %s has %" PRId64
                    " to %" PRId64,
                    port->text, port->out ? "output" : "input", q->lo, q->hi, j->format->name,
                    is_signed ? -most - 1 : 0, most);
}

static const char *how(tc_ctx *ctx, const tc_image_port *port, const image_job *j, bool alias)
{
    const char *type = ti_type_text(&ctx->arena, j->tensor);
    return ti_text_format(&ctx->arena, "%s %s %s: %s", port->format->name, port->out ? "of" : "as",
                          type,
                          alias           ? "the same bytes, no shader"
                          : same_codes(j) ? "a shader that keeps the codes"
                                          : "a shader that converts");
}

/* ---- ports ------------------------------------------------------------------------------------- */

static image_job job_of(const tc_image_port *port, const tc_type *tensor)
{
    return (image_job){.format = port->format,
                       .size = ti_image_size(tensor, port->format, port->layout),
                       .tensor = tensor};
}

static tc_status use_input(tc_ctx *ctx, tc_graph *g, tc_image_port *port)
{
    tc_val v = g->in[port->index];
    const tc_type *inner = quantized_to(g, v), *image;
    image_job job = job_of(port, inner ? inner : ti_type_of(g, v));
    tc_node *shader;
    TC_TRY(check_codes(ctx, port, &job));
    bool alias = same_bytes(&job, false);
    port->tensor = job.tensor;
    port->how = how(ctx, port, &job, alias);
    image = ti_pixel_type(ctx, port->format, job.size.h, job.size.w);
    tc_val given = alias && !inner ? v : new_input(g, port->index, alias ? inner : image),
           made = given;
    ti_value_of(g, given)->image = port->format->format;
    if (!alias) {
        TC_TRY(add_shader(ctx, g, &job, false, given, job.tensor, NULL, &shader));
        ti_graph_to_front(g, 1);
        made = shader->out[0];
    }
    if (inner)
        drop_readers(g, v, made);
    else if (made != v)
        ti_graph_read_instead(g, v, made);
    return TC_OK;
}

static tc_status use_output(tc_ctx *ctx, tc_graph *g, tc_image_port *port)
{
    tc_val v = g->out[port->index];
    const tc_value *value = ti_value_of(g, v);
    const tc_node *def = value->def;
    bool reals = def && def->op == TC_OP_rescale && !value->type->quant;
    tc_val from = reals ? def->in[0] : v;
    image_job job = job_of(port, ti_type_of(g, from));
    tc_node *shader;
    TC_TRY(check_codes(ctx, port, &job));
    const tc_node *maker = ti_value_of(g, from)->def;
    bool own = maker && maker->op != TC_OP_const && !ti_value_of(g, from)->image;
    for (size_t i = 0; i < g->n_out; i++)
        own = own && (i == port->index || g->out[i] != from);
    bool alias = own && same_bytes(&job, true);
    port->tensor = job.tensor;
    port->how = how(ctx, port, &job, alias);
    if (alias) {
        ti_value_of(g, from)->image = port->format->format;
        if (!ti_value_of(g, from)->name)
            ti_value_of(g, from)->name = value->name;
        set_port(g, true, port->index, from);
        return TC_OK;
    }
    const tc_type *image = ti_pixel_type(ctx, port->format, job.size.h, job.size.w);
    TC_TRY(add_shader(ctx, g, &job, true, from, image, def ? def->loc : NULL, &shader));
    ti_value_of(g, shader->out[0])->name = value->name;
    ti_value_of(g, shader->out[0])->image = port->format->format;
    set_port(g, true, port->index, shader->out[0]);
    return TC_OK;
}

tc_status ti_lower_use_images(tc_ctx *ctx, tc_module *module, tc_image_port *port, size_t n)
{
    tc_graph *g = ti_main(module);
    for (size_t i = 0; i < n; i++) {
        TC_TRY(ti_image_port_check(ctx, g, &port[i]));
        TC_TRY(port[i].out ? use_output(ctx, g, &port[i]) : use_input(ctx, g, &port[i]));
    }
    return TC_OK;
}
