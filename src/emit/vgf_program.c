/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_program.c -- a program of regions and shaders to one VGF file.
 *
 * Every call is a graph segment, every shader a compute segment, in the order of the program.  A
 * value is a resource: an input, an output, or an intermediate; several where shaders view its
 * bytes in several ways, which are then one alias group.  Constants are in the file once. */
#include "../target/vgf_schema.h"
#include "../num/vk_format.h"
#include "emit.h"
#include "vgf_graph.h"

enum { SAMPLER_ROW = 7 };

/* One way in which a value's bytes are seen. */
typedef struct view {
    tc_val val;
    uint32_t descriptor, format, resource;
    const tc_vgf_sampler *sampler;
    struct view *next; /* of the same value */
} view;

typedef struct writer {
    tc_ctx *ctx;
    const tc_module *module;
    const tc_graph *g;
    tc_vgf vgf;
    tc_vgf_pool pool;
    view **views;      /* by value, in the order of requests */
    view **order;      /* by resource after the constants */
    size_t n_view, cap_view, cap_module, cap_segment;
    bool *is_unsigned; /* by value: a region takes or gives it so */
    bool *is_output;
    size_t n_graph, n_compute;
} writer;

static uint32_t format_of(const writer *w, tc_val v)
{
    tc_dtype t = ti_type_of(w->g, v)->dtype;
    bool is_unsigned = w->is_unsigned[v] || tc_dtypes[t].kind == TC_UINT;
    static const tc_dtype same_bytes[TC_DTYPE_COUNT] = {
        [TC_u8] = TC_i8, [TC_u16] = TC_i16, [TC_u32] = TC_i32, [TC_i64] = TC_i48};
    return ti_vgf_format(same_bytes[t] ? same_bytes[t] : t, is_unsigned);
}

static bool is_image(uint32_t descriptor)
{
    return descriptor >= TC_VGF_IMAGE_SAMPLER && descriptor <= TC_VGF_STORAGE_IMAGE;
}

/* What a port's value is to the caller: its first view; the image, where it is one. */
static const view *port_view(const writer *w, tc_val v)
{
    const view *first = w->views[v];
    for (const view *o = first; o && ti_value_of(w->g, v)->image; o = o->next)
        if (is_image(o->descriptor))
            return o;
    return first;
}

/* The index of the view among all of them. */
static uint32_t view_of(writer *w, tc_val v, uint32_t descriptor, uint32_t format,
                        const tc_vgf_sampler *sampler)
{
    view **at = &w->views[v];
    for (; *at; at = &(*at)->next)
        if ((*at)->descriptor == descriptor && (*at)->format == format &&
            !(*at)->sampler == !sampler &&
            (!sampler || memcmp((*at)->sampler, sampler, sizeof *sampler) == 0))
            return (*at)->resource;
    *at = tc_new(&w->ctx->scratch, view);
    **at = (view){v, descriptor, format, (uint32_t)w->n_view, sampler, NULL};
    tc_grow(&w->ctx->scratch, w->order, w->n_view, w->cap_view);
    w->order[w->n_view++] = *at;
    return (*at)->resource;
}

static uint32_t tensor_of(writer *w, tc_val v)
{
    return view_of(w, v, TC_VGF_TENSOR, format_of(w, v), NULL);
}

/* An image that no shader is bound to: a graph reads or writes its bytes as a tensor. */
static void image_of(writer *w, tc_val v, bool in)
{
    static const tc_vgf_sampler nearest = {.address_u = 2, .address_v = 2}; /* clamped to the edge */
    uint32_t format = ti_value_of(w->g, v)->image;
    const view *port = port_view(w, v);
    if (format && !(port && is_image(port->descriptor)))
        view_of(w, v, in ? TC_VGF_IMAGE_SAMPLER : TC_VGF_STORAGE_IMAGE, format, in ? &nearest : NULL);
}

static tc_vgf_segment *add_segment(writer *w, tc_vgf_module module, const char *kind, size_t number,
                                   size_t n_in, size_t n_out)
{
    tc_arena *arena = &w->ctx->scratch;
    tc_vgf *f = &w->vgf;
    tc_grow(arena, f->module, f->n_module, w->cap_module);
    f->module[f->n_module] = module;
    tc_grow(arena, f->segment, f->n_segment, w->cap_segment);
    tc_vgf_segment *s = &f->segment[f->n_segment++];
    *s = (tc_vgf_segment){.type = module.type, .module = (uint32_t)f->n_module++};
    s->name = ti_text_format(arena, "%s_segment_%zu", kind, number);
    s->in = (tc_vgf_slots){tc_new_n(arena, tc_vgf_slot, n_in), n_in};
    s->out = (tc_vgf_slots){tc_new_n(arena, tc_vgf_slot, n_out), n_out};
    return s;
}

/* Inputs and outputs, as their bindings are, in one set. */
static void close_set(writer *w, tc_vgf_segment *s)
{
    tc_arena *arena = &w->ctx->scratch;
    s->n_set = 1;
    s->set = tc_new(arena, tc_vgf_set);
    s->set->index = TC_VGF_SET_BY_PLACE;
    s->set->slots.n = s->in.n + s->out.n;
    s->set->slots.v = tc_new_n(arena, tc_vgf_slot, s->set->slots.n);
    for (size_t i = 0; i < s->set->slots.n; i++)
        s->set->slots.v[i] = i < s->in.n ? s->in.v[i] : s->out.v[i - s->in.n];
}

static tc_status add_call(writer *w, const tc_node *node)
{
    tc_arena *arena = &w->ctx->scratch;
    tc_vgf_code code;
    const tc_graph *callee = ti_node_callee(w->module, node, 0);
    if (!callee)
        return ti_bug(w->ctx, node->loc, "a call of a graph that is not there");
    TC_TRY(ti_vgf_flatten(w->ctx, w->module, callee, &callee));
    TC_TRY(ti_vgf_graph(w->ctx, callee, &w->pool, &code));
    tc_vgf_module module = {TC_VGF_GRAPH, TC_VGF_SPIRV,
                            ti_text_format(arena, "graph_partition_%zu", w->n_graph),
                            TC_VGF_ENTRY, code.words};
    tc_vgf_segment *s =
        add_segment(w, module, "graph", w->n_graph++, (size_t)node->n_in, (size_t)node->n_out);
    s->constant = code.constant;
    s->n_constant = code.n_constant;
    for (int i = 0; i < node->n_in; i++)
        s->in.v[i] = (tc_vgf_slot){(uint32_t)i, tensor_of(w, node->in[i])};
    for (int i = 0; i < node->n_out; i++)
        s->out.v[i] = (tc_vgf_slot){(uint32_t)(node->n_in + i), tensor_of(w, node->out[i])};
    close_set(w, s);
    return TC_OK;
}

/* The sampler of a port, or NULL. */
static const tc_vgf_sampler *sampler_of(writer *w, const tc_attr_tosa_shader *a, int port)
{
    for (int k = 0; k + SAMPLER_ROW <= a->sampler.n; k += SAMPLER_ROW) {
        const int64_t *v = a->sampler.v + k;
        if (v[0] != a->set.v[port] || v[1] != a->binding.v[port])
            continue;
        tc_vgf_sampler *s = tc_new(&w->ctx->scratch, tc_vgf_sampler);
        *s = (tc_vgf_sampler){(uint32_t)v[2], (uint32_t)v[3], (uint32_t)v[4], (uint32_t)v[5],
                              (uint32_t)v[6]};
        return s;
    }
    return NULL;
}

static tc_vgf_slot shader_slot(writer *w, const tc_attr_tosa_shader *a, int port, tc_val v)
{
    uint32_t descriptor = (uint32_t)a->descriptor.v[port], format = (uint32_t)a->format.v[port];
    if (descriptor == TC_VGF_TENSOR)
        return (tc_vgf_slot){(uint32_t)a->binding.v[port], tensor_of(w, v)};
    return (tc_vgf_slot){(uint32_t)a->binding.v[port],
                         view_of(w, v, descriptor, format, sampler_of(w, a, port))};
}

/* What cannot be expressed: a constant that only a shader reads, one binding for an operand and a
 * result, a sampler without an image. */
static tc_status check_shader(writer *w, const tc_node *node)
{
    const tc_attr_tosa_shader *a = node->attr;
    int n = node->n_in + node->n_out;
    const char *what = NULL;
    for (int i = 0; i < node->n_in; i++) {
        if (ti_is_const(w->g, node->in[i]))
            what = "reads a constant";
        for (int k = node->n_in; k < n; k++)
            if (a->set.v[i] == a->set.v[k] && a->binding.v[i] == a->binding.v[k])
                what = "has an operand and a result at one binding";
    }
    for (int k = 0; k + SAMPLER_ROW <= a->sampler.n; k += SAMPLER_ROW) {
        bool found = false;
        for (int i = 0; i < n; i++)
            found |= a->sampler.v[k] == a->set.v[i] && a->sampler.v[k + 1] == a->binding.v[i];
        what = found ? what : "has a sampler apart from images";
    }
    return !what ? TC_OK
                 : ti_unsupported(w->ctx, node->loc, TC_E_UNSUPPORTED,
                                  "the shader '%s' %s, which is not written", a->name, what);
}

/* A set for each number that the ports have, in their order. */
static void close_sets(writer *w, tc_vgf_segment *s, const tc_attr_tosa_shader *a)
{
    tc_arena *arena = &w->ctx->scratch;
    size_t n = s->in.n + s->out.n;
    s->set = tc_new_n(arena, tc_vgf_set, n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < s->n_set && s->set[k].index != (uint32_t)a->set.v[i])
            k++;
        if (k == s->n_set)
            s->set[s->n_set++] =
                (tc_vgf_set){{tc_new_n(arena, tc_vgf_slot, n), 0}, (uint32_t)a->set.v[i]};
        s->set[k].slots.v[s->set[k].slots.n++] = i < s->in.n ? s->in.v[i] : s->out.v[i - s->in.n];
    }
    if (s->n_set == 1 && s->set[0].index == 0)
        s->set[0].index = TC_VGF_SET_BY_PLACE;
}

static tc_status add_shader(writer *w, const tc_node *node)
{
    const tc_attr_tosa_shader *a = node->attr;
    int n = node->n_in + node->n_out;
    if (a->set.n < n || a->binding.n < n || a->descriptor.n < n || a->format.n < n ||
        a->dispatch.n != 3)
        return ti_bug(w->ctx, node->loc, "a shader whose ports are not described");
    TC_TRY(check_shader(w, node));
    tc_vgf_module module = {TC_VGF_COMPUTE, (uint8_t)a->language, a->name, a->entry_point,
                            {a->code.data, a->code.size}};
    tc_vgf_segment *s =
        add_segment(w, module, "compute", w->n_compute++, (size_t)node->n_in, (size_t)node->n_out);
    for (int i = 0; i < node->n_in; i++)
        s->in.v[i] = shader_slot(w, a, i, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        s->out.v[i] = shader_slot(w, a, node->n_in + i, node->out[i]);
    for (int i = 0; i < 3; i++)
        s->dispatch[i] = (uint32_t)a->dispatch.v[i];
    s->n_push = (size_t)a->push_ranges.n / 3;
    s->push = tc_new_n(&w->ctx->scratch, tc_vgf_push, s->n_push);
    for (size_t i = 0; i < s->n_push; i++) {
        const int64_t *v = a->push_ranges.v + 3 * i;
        s->push[i] = (tc_vgf_push){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]};
    }
    close_sets(w, s, a);
    return TC_OK;
}

/* Which values regions read or write without a sign. */
static tc_status find_unsigned(writer *w)
{
    for (size_t k = 0; k < w->g->n_node; k++) {
        const tc_node *node = w->g->node[k];
        const tc_graph *callee =
            node->op == TC_OP_call ? ti_node_callee(w->module, node, 0) : NULL;
        if (!callee)
            continue;
        if (callee->n_in != (size_t)node->n_in || callee->n_out != (size_t)node->n_out)
            return ti_bug(w->ctx, node->loc, "a call with other operands than its graph has inputs");
        const bool *is = ti_vgf_unsigned(w->ctx, callee);
        for (int i = 0; i < node->n_in; i++)
            w->is_unsigned[node->in[i]] |= is[callee->in[i]];
        for (int i = 0; i < node->n_out; i++)
            w->is_unsigned[node->out[i]] |= is[callee->out[i]];
    }
    return TC_OK;
}

static tc_status add_nodes(writer *w)
{
    for (size_t k = 0; k < w->g->n_node; k++) {
        const tc_node *node = w->g->node[k];
        if (node->op == TC_OP_call)
            TC_TRY(add_call(w, node));
        else if (node->op == TC_OP_tosa_shader)
            TC_TRY(add_shader(w, node));
        else if (node->op != TC_OP_const)
            return ti_error(w->ctx, node->loc, TC_E_TOSA_PROFILE, "a VGF file cannot hold '%s'",
                            tc_ops[node->op].name);
    }
    return TC_OK;
}

static void move_slots(tc_vgf_slots *slots, size_t by)
{
    for (size_t i = 0; i < slots->n; i++)
        slots->v[i].resource += (uint32_t)by;
}

/* [1, height, width, components], where the tensor of these bytes has another shape. */
static void picture(writer *w, const tc_type *type, tc_vgf_resource *r)
{
    const tc_vk_format *f = ti_vk_format(r->format);
    if (!f || type->rank < 3)
        return;
    const int64_t *d = type->dim + (type->rank - 3), n = ti_vk_elements(f);
    bool last = d[2] == n;
    int64_t *dim = tc_new_n(&w->ctx->scratch, int64_t, 4);
    dim[0] = 1;
    dim[1] = last ? d[0] : d[1];
    dim[2] = last ? d[1] : d[2];
    dim[3] = f->n; /* also of those in one word */
    r->dim = dim;
    r->n_dim = 4;
}

/* Constants first, then every view; those of one value share its bytes. */
static void fill_resources(writer *w)
{
    tc_arena *arena = &w->ctx->scratch;
    tc_vgf *f = &w->vgf;
    f->n_resource = w->pool.n + w->n_view;
    f->resource = tc_new_n(arena, tc_vgf_resource, f->n_resource);
    f->constant = tc_new_n(arena, tc_vgf_constant, w->pool.n);
    f->n_constant = w->pool.n;
    for (size_t i = 0; i < w->pool.n; i++) {
        const tc_value *v = w->pool.v[i].value;
        f->resource[i] = ti_vgf_constant_resource(&w->pool.v[i]);
        f->constant[i] = (tc_vgf_constant){(uint32_t)i, -1, {v->data, tc_type_bytes(v->type)}};
    }
    uint32_t group = 0;
    for (size_t i = 0; i < w->n_view; i++) {
        const view *o = w->order[i];
        const tc_type *type = ti_type_of(w->g, o->val);
        tc_vgf_resource *r = &f->resource[w->pool.n + i];
        bool first = o == w->views[o->val], port = o == port_view(w, o->val);
        r->descriptor = o->descriptor;
        r->format = o->format;
        r->sampler = o->sampler;
        r->dim = type->dim;
        r->n_dim = (size_t)type->rank;
        if (is_image(o->descriptor) && ti_value_of(w->g, o->val)->image)
            picture(w, type, r);
        r->category = port && ti_graph_takes(w->g, o->val)  ? TC_VGF_INPUT
                      : port && w->is_output[o->val] ? TC_VGF_OUTPUT
                                                     : TC_VGF_INTERMEDIATE;
        if (!w->views[o->val]->next)
            continue;
        r->aliases = true;
        r->alias = first ? group++ : f->resource[w->pool.n + w->views[o->val]->resource].alias;
    }
    for (size_t k = 0; k < f->n_segment; k++) {
        tc_vgf_segment *s = &f->segment[k];
        move_slots(&s->in, w->pool.n);
        move_slots(&s->out, w->pool.n);
        for (size_t i = 0; i < s->n_set; i++)
            move_slots(&s->set[i].slots, w->pool.n);
    }
}

/* The program's inputs, then its outputs: bindings count on. */
static tc_vgf_slots ports(writer *w, bool in, const char ***name, size_t *n_name)
{
    tc_arena *arena = &w->ctx->scratch;
    const tc_val *val = in ? w->g->in : w->g->out;
    size_t n = in ? w->g->n_in : w->g->n_out;
    tc_vgf_slots slots = {tc_new_n(arena, tc_vgf_slot, n), n};
    *name = tc_new_n(arena, const char *, n);
    *n_name = n;
    for (size_t i = 0; i < n; i++) {
        const char *own = ti_value_of(w->g, val[i])->name;
        slots.v[i] = (tc_vgf_slot){(uint32_t)(in ? i : w->g->n_in + i),
                                   port_view(w, val[i])->resource + (uint32_t)w->pool.n};
        (*name)[i] =
            own && *own ? own : ti_text_format(arena, "%s_%zu", in ? "input" : "output", i);
    }
    return slots;
}

static tc_status write(writer *w, tc_bytes *out)
{
    const tc_graph *g = w->g;
    for (size_t i = 0; i < g->n_out; i++) {
        if (w->is_output[g->out[i]] || ti_graph_takes(g, g->out[i]) || ti_is_const(g, g->out[i]))
            return ti_error(w->ctx, &(tc_loc){.file = w->module->file}, TC_E_STRUCTURE,
                            "output %zu is an input, a constant or another output, which a VGF "
                            "file cannot hold",
                            i);
        w->is_output[g->out[i]] = true;
    }
    TC_TRY(find_unsigned(w));
    for (size_t i = 0; i < g->n_in; i++)
        if (!ti_value_of(g, g->in[i])->image)
            tensor_of(w, g->in[i]);
    TC_TRY(add_nodes(w));
    for (size_t i = 0; i < g->n_in; i++)
        image_of(w, g->in[i], true);
    for (size_t i = 0; i < g->n_out; i++)
        image_of(w, g->out[i], false);
    fill_resources(w);
    w->vgf.in = ports(w, true, &w->vgf.in_name, &w->vgf.n_in_name);
    w->vgf.out = ports(w, false, &w->vgf.out_name, &w->vgf.n_out_name);
    return ti_vgf_write(w->ctx, w->module->file, &w->vgf, out);
}

tc_status ti_vgf_segments(tc_ctx *ctx, const tc_module *module, tc_bytes *out)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const tc_graph *g = ti_main(module);
    writer w = {.ctx = ctx, .module = module, .g = g, .vgf = {.version = {0, 4, 0}}};
    ti_vgf_pool_init(&w.pool, &ctx->arena);
    w.views = tc_new_n(&ctx->scratch, view *, g->n_val);
    w.is_unsigned = tc_new_n(&ctx->scratch, bool, g->n_val);
    w.is_output = tc_new_n(&ctx->scratch, bool, g->n_val);
    tc_status status = write(&w, out);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
