/* SPDX-License-Identifier: Apache-2.0 */
/* use_samplers.c -- resampling by the machine's samplers.
 *
 *   grid_sample(x, grid) => sample(image(x[0..3]), image(x[4..7]), .., grid)
 *
 * Four channels are an image of four floats for each pixel: the bytes of a tensor [1,H,W,4], which
 * the first shader writes and a sampler reads (one alias group).  Padding by zeros is a border
 * colour, by the border the clamped address, by reflection the mirrored one.  The precision of
 * weights depends on the machine: 8 bits of a pixel on most.  What samplers lack (bicubic, volumes,
 * reflection at the centres of the outermost pixels, batches) is not changed. */
#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../shaders.h"
#include "compute.h"

enum { COMPONENTS = 4, MOST_IMAGES = 12 };
enum { DESCRIPTOR_IMAGE_SAMPLER = 1, DESCRIPTOR_TENSOR = 1000460000 };
enum { FORMAT_F32 = 100, FORMAT_RGBA_F32 = 109 };
enum { FILTER_NEAREST = 0, FILTER_LINEAR = 1 };
enum { ADDRESS_MIRRORED = 1, ADDRESS_EDGE = 2, ADDRESS_BORDER = 3 };

/* ---- the two shaders --------------------------------------------------------------------------- */

/* Element [y, x, k] of the image: channel 4 group + k of the picture, or 0 past the last. */
static void pack(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    (void)node;
    const tc_type *x = ti_cs_type(s, 0);
    int64_t plane = x->dim[2] * x->dim[3], left = x->dim[1] - COMPONENTS * s->group;
    tc_cs_val pixel = ti_cs_part(s, at, COMPONENTS), k = ti_cs_rest(s, at, COMPONENTS);
    tc_cs_val there = ti_cs_less(s, k, ti_cs_i32(s, left)), zero = ti_cs_i32(s, 0);
    tc_cs_val size = ti_cs_i32(s, plane), start = ti_cs_i32(s, COMPONENTS * s->group * plane);
    tc_cs_val place = ti_cs_mul(s, ti_cs_select(s, there, k, zero), size);
    place = ti_cs_add(s, ti_cs_add(s, place, pixel), start);
    tc_cs_val v = ti_cs_load(s, 0, place);
    ti_cs_store(s, 1, at, ti_cs_select(s, there, v, ti_cs_real(s, 0)));
}

/* A grid coordinate, -1 to 1, as a sampler counts: 0 to 1 from edge to edge. */
static tc_cs_val from_grid(tc_cs *s, tc_cs_val at, int64_t n, bool align_corners)
{
    tc_cs_val one = ti_cs_real(s, 1), half = ti_cs_real(s, 0.5), up = ti_cs_add(s, at, one);
    tc_cs_val share = ti_cs_mul(s, up, half);
    if (!align_corners)
        return share;
    tc_cs_val last = ti_cs_real(s, (double)(n - 1)), size = ti_cs_real(s, (double)n);
    return ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, ti_cs_add(s, ti_cs_mul(s, share, last), half), size);
}

/* The same of an output index of upsampling. */
static tc_cs_val from_place(tc_cs *s, const tc_attr_upsample *a, int axis, tc_cs_val o, int64_t n)
{
    int64_t out = a->size.v[axis];
    double scale = a->scale.n ? a->scale.v[axis] : 0,
           step = n == out            ? 1
                  : a->align_corners ? (out > 1 ? (double)(n - 1) / (double)(out - 1) : 0)
                  : scale > 0        ? 1 / scale
                                     : (double)n / (double)out;
    tc_cs_val at = ti_cs_to(s, TC_CS_F32, o), half = ti_cs_real(s, 0.5), by = ti_cs_real(s, step),
              size = ti_cs_real(s, (double)n);
    if (a->align_corners)
        at = ti_cs_add(s, ti_cs_mul(s, at, by), half);
    else
        at = ti_cs_mul(s, ti_cs_add(s, at, half), by);
    return ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, at, size);
}

/* Every channel of one pixel of the result. */
static void sample(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    bool grid = node->op == TC_OP_grid_sample;
    const tc_type *image = ti_cs_type(s, 0), *y = ti_cs_type(s, s->n_in);
    int images = s->n_in - grid;
    int64_t places = y->dim[2] * y->dim[3];
    tc_cs_val u, v, pixel[COMPONENTS];
    if (grid) {
        bool align = ((const tc_attr_grid *)node->attr)->align_corners;
        tc_cs_val first = ti_cs_mul(s, at, ti_cs_i32(s, 2)), one = ti_cs_i32(s, 1);
        u = from_grid(s, ti_cs_load(s, images, first), image->dim[2], align);
        v = from_grid(s, ti_cs_load(s, images, ti_cs_add(s, first, one)), image->dim[1], align);
    } else {
        u = from_place(s, node->attr, 1, ti_cs_rest(s, at, y->dim[3]), image->dim[2]);
        v = from_place(s, node->attr, 0, ti_cs_part(s, at, y->dim[3]), image->dim[1]);
    }
    for (int g = 0; g < images; g++) {
        ti_cs_sample(s, g, u, v, pixel);
        for (int64_t k = 0; k < COMPONENTS && COMPONENTS * g + k < y->dim[1]; k++) {
            tc_cs_val start = ti_cs_i32(s, (COMPONENTS * g + k) * places);
            ti_cs_store(s, s->n_in, ti_cs_add(s, start, at), pixel[k]);
        }
    }
}

/* ---- the pass ---------------------------------------------------------------------------------- */

/* The sampler's settings; false: it lacks the mode. */
static bool sampler_of(const tc_node *node, int64_t *filter, int64_t *address)
{
    static const int64_t addresses[] = {[TC_sample_pad_zeros] = ADDRESS_BORDER,
                                        [TC_sample_pad_border] = ADDRESS_EDGE,
                                        [TC_sample_pad_reflection] = ADDRESS_MIRRORED};
    const tc_attr_grid *a = node->attr;
    *filter = FILTER_LINEAR;
    *address = ADDRESS_EDGE;
    if (node->op == TC_OP_upsample_linear)
        return true;
    *filter = a->mode == TC_sample_mode_nearest ? FILTER_NEAREST : FILTER_LINEAR;
    *address = addresses[a->pad];
    return a->mode != TC_sample_mode_bicubic &&
           !(a->pad == TC_sample_pad_reflection && a->align_corners);
}

static bool fits(const tc_graph *g, const tc_node *node)
{
    int64_t filter, address;
    if (node->op != TC_OP_grid_sample && node->op != TC_OP_upsample_linear)
        return false;
    const tc_type *x = ti_type_of(g, node->in[0]), *y = ti_type_of(g, node->out[0]);
    bool pictures = x->rank == 4 && x->dim[0] == 1 && x->dtype == TC_f32 && y->dtype == TC_f32 &&
                    !x->quant && !y->quant && x->dim[1] <= COMPONENTS * MOST_IMAGES &&
                    tc_type_count(x) > 0 && tc_type_count(y) > 0;
    for (int i = 0; i < node->n_in; i++)
        pictures = pictures && !ti_is_const(g, node->in[i]) &&
                   ti_type_of(g, node->in[i])->dtype == TC_f32;
    return pictures && sampler_of(node, &filter, &address);
}

/* A shader of these operands: the first `images` are read by samplers. */
static tc_val put(tc_rewrite *rw, const tc_node *node, const char *name, const tc_cs_code *code,
                  const tc_val *in, int n_in, int images, const tc_type *type)
{
    int64_t descriptor[TC_CS_PORTS], format[TC_CS_PORTS], row[7 * TC_CS_PORTS], filter, address;
    sampler_of(node, &filter, &address);
    for (int i = 0; i < n_in + 1; i++) {
        descriptor[i] = i < images ? DESCRIPTOR_IMAGE_SAMPLER : DESCRIPTOR_TENSOR;
        format[i] = i < images ? FORMAT_RGBA_F32 : FORMAT_F32;
        if (i < images)
            memcpy(row + 7 * i, (const int64_t[]){0, i, filter, filter, address, address, 0},
                   7 * sizeof *row);
    }
    const tc_attr_tosa_shader *a =
        ti_cs_shader(rw->ctx, name, code, descriptor, format, row, 7 * images);
    tc_node *shader = ti_graph_add(rw->to, TC_OP_tosa_shader, a, in, n_in, 1, node->loc);
    ti_value_of(rw->to, shader->out[0])->type = type;
    return shader->out[0];
}

static tc_status to_samplers(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const tc_cs_family packing = {"pack", pack, TC_CS_RESULT, true};
    static const tc_cs_family sampling = {"sample", sample, TC_CS_RESULT, true};
    const tc_graph *g = rw->from;
    if (g != ti_main(g->module) || !fits(g, node))
        return TC_OK;
    const tc_type *x = ti_type_of(g, node->in[0]), *y = ti_type_of(g, node->out[0]);
    const tc_type *image =
        ti_type_make(rw->ctx, TC_f32, 4, (const int64_t[]){1, x->dim[2], x->dim[3], COMPONENTS});
    int images = (int)((x->dim[1] + COMPONENTS - 1) / COMPONENTS), n = images;
    tc_val in[TC_CS_PORTS];
    tc_cs_code code;
    tc_cs *s = tc_new(&rw->ctx->arena, tc_cs);
    for (int i = 0; i < images; i++) {
        tc_cs *p = tc_new(&rw->ctx->arena, tc_cs);
        p->n_in = 1;
        p->n_port = 2;
        p->group = i;
        p->port[0] = (tc_cs_port){.value = {x, NULL}};
        p->port[1] = (tc_cs_port){.value = {image, NULL}};
        if (ti_cs_code_of(rw->ctx, p, &packing, node, &code))
            return TC_OK;
        in[i] = put(rw, node, "image", &code, &(tc_val){ti_rewrite_in(rw, node, 0)}, 1, 0, image);
        s->port[i] = (tc_cs_port){.value = {image, NULL}, .image = true};
    }
    if (node->n_in > 1) {
        s->port[n] = (tc_cs_port){.value = {ti_type_of(g, node->in[1]), NULL}};
        in[n++] = ti_rewrite_in(rw, node, 1);
    }
    s->port[n] = (tc_cs_port){.value = {y, NULL}};
    s->n_in = n;
    s->n_port = n + 1;
    s->count = y->dim[2] * y->dim[3];
    if (ti_cs_code_of(rw->ctx, s, &sampling, node, &code))
        return TC_OK;
    return ti_rewrite_with(rw, node, put(rw, node, "sample", &code, in, n, images, y), done);
}

tc_status ti_lower_use_samplers(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {to_samplers};
    (void)ctx;
    return ti_rewrite_graph(ti_main(module), rewriters, 1, NULL);
}
