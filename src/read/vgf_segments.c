/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_segments.c -- a VGF file of several segments as one graph: graphs inlined, shaders as nodes;
 * see vgf_ids.h.
 *
 * Segments run in sequence and communicate through resources.  Resources of one alias group are one
 * value in several views: a tensor of one segment is an image of the next.  An image
 * [1, height, width, components] is a tensor of that shape and of its components' storage; its
 * format is an attribute of the shader that is bound to it. */
#include "../target/vgf_schema.h"
#include "../num/pixel.h"
#include "vgf_ids.h"

enum { MOST_PORTS = 256 };

typedef struct {
    tc_vgf_reader *r;
    tc_val *val;    /* by resource: what it holds; those of a group share the first one's */
    size_t *first;  /* by resource: the first one of its group, or itself */
    bool *in_graph; /* by first resource: some graph is bound to it */
    const tc_loc *loc;
} sequence;

static tc_status bad(sequence *s, tc_diag_id id, const char *what, size_t i)
{
    return ti_error(s->r->ctx, s->loc, id, "resource %zu: %s", i, what);
}

/* ---- resources ------------------------------------------------------------------------------- */

/* An integer or float of so many bits, signless as in TOSA.  64 bits that no graph sees are not
 * i48. */
static tc_dtype element_of(const sequence *s, size_t i)
{
    enum { R64_UINT = 110, R64_SINT = 111 };
    uint32_t format = s->r->vgf.resource[i].format;
    if (format == R64_UINT || format == R64_SINT)
        return s->in_graph[s->first[i]] ? TC_i48 : TC_i64;
    return ti_vgf_format_dtype(format);
}

/* The same of a pixel's component. */
static tc_dtype component(const tc_vk_format *f)
{
    unsigned bits = ti_vk_element_bits(f);
    if (f->number == TC_VK_SFLOAT && f->order == TC_VK_APART)
        return bits == 16 ? TC_f16 : TC_f32;
    return bits == 8 ? TC_i8 : bits == 16 ? TC_i16 : TC_i32;
}

/* 0: it is not an image. */
static uint32_t image_format(const sequence *s, size_t i)
{
    const tc_vgf_resource *res = &s->r->vgf.resource[i];
    bool image = res->descriptor >= TC_VGF_IMAGE_SAMPLER && res->descriptor <= TC_VGF_STORAGE_IMAGE;
    return image ? res->format : 0;
}

/* The strides are those of a contiguous tensor, in bytes. */
static bool is_packed(const tc_vgf_resource *res, size_t bytes)
{
    int64_t next = (int64_t)bytes;
    if (res->n_stride && res->n_stride != res->n_dim)
        return false;
    for (size_t i = res->n_stride; i-- > 0;) {
        if (res->stride[i] != next && res->dim[i] != 1)
            return false;
        next *= res->dim[i];
    }
    return true;
}

static tc_status type_of(sequence *s, size_t i, const tc_type **out)
{
    const tc_vgf_resource *res = &s->r->vgf.resource[i];
    const tc_vk_format *pixel = ti_vk_format(res->format);
    tc_dtype dtype = element_of(s, i);
    if (dtype == TC_none && pixel)
        dtype = component(pixel);
    if (dtype == TC_none)
        return ti_unsupported(s->r->ctx, s->loc, TC_E_TYPE,
                              "resource %zu: format %" PRIu32 " is not supported", i, res->format);
    for (size_t k = 0; k < res->n_dim; k++)
        if (res->dim[k] == TC_OPEN)
            return ti_unsupported(s->r->ctx, s->loc, TC_E_UNSUPPORTED,
                                  "resource %zu: its shape is open, which is not read", i);
    if (res->n_dim > TC_MAX_RANK || ti_dims_count((int32_t)res->n_dim, res->dim) < 0)
        return bad(s, TC_E_TOO_LARGE, "it is too large, or of too high a rank", i);
    if (!is_packed(res, tc_dtypes[dtype].bytes))
        return ti_unsupported(s->r->ctx, s->loc, TC_E_UNSUPPORTED,
                              "resource %zu: its elements are not packed, which is not read", i);
    int64_t dim[TC_MAX_RANK] = {0};
    for (size_t k = 0; k < res->n_dim; k++)
        dim[k] = res->dim[k];
    if (pixel && image_format(s, i) && res->n_dim && dim[res->n_dim - 1] == pixel->n)
        dim[res->n_dim - 1] = ti_vk_elements(pixel); /* components in one word are one element */
    *out = ti_type_make(s->r->ctx, dtype, (int32_t)res->n_dim, dim);
    return TC_OK;
}

/* An input or output that is an image, and not a graph's tensor in another view: codes with their
 * scale. */
static tc_status port_type_of(sequence *s, size_t i, const tc_type **out)
{
    const tc_vk_format *pixel = ti_vk_format(image_format(s, i));
    TC_TRY(type_of(s, i, out));
    bool port = s->r->vgf.resource[i].category <= TC_VGF_OUTPUT;
    if (!port || !pixel || (*out)->rank != 4 || (*out)->dim[0] != 1 || (*out)->dim[3] != ti_vk_elements(pixel))
        return TC_OK;
    const tc_vgf *vgf = &s->r->vgf;
    for (size_t k = 0; k < vgf->n_resource; k++)
        if (k != i && s->first[k] == s->first[i])
            return TC_OK;
    *out = ti_pixel_type(s->r->ctx, pixel, (*out)->dim[1], (*out)->dim[2]);
    return TC_OK;
}

static void find_groups(sequence *s)
{
    const tc_vgf *vgf = &s->r->vgf;
    tc_map groups;
    ti_map_init(&groups, &s->r->ctx->arena);
    s->first = tc_new_n(&s->r->ctx->arena, size_t, vgf->n_resource);
    s->val = tc_new_n(&s->r->ctx->arena, tc_val, vgf->n_resource);
    s->in_graph = tc_new_n(&s->r->ctx->arena, bool, vgf->n_resource);
    for (size_t i = 0; i < vgf->n_resource; i++) {
        const tc_vgf_resource *res = &vgf->resource[i];
        s->first[i] = i;
        if (!res->aliases)
            continue;
        void **slot = ti_map_at(&groups, (tc_str){(const char *)&res->alias, sizeof res->alias});
        if (*slot)
            s->first[i] = (size_t)(uintptr_t)*slot - 1;
        else
            *slot = (void *)(uintptr_t)(i + 1);
    }
    for (size_t i = 0; i < vgf->n_segment; i++)
        for (size_t k = 0; vgf->segment[i].type == TC_VGF_GRAPH && k < vgf->segment[i].n_set; k++)
            for (size_t b = 0; b < vgf->segment[i].set[k].slots.n; b++)
                s->in_graph[s->first[vgf->segment[i].set[k].slots.v[b].resource]] = true;
}

/* A constant that is bound directly. */
static tc_status constant_of(sequence *s, size_t i, const tc_type *type, tc_val *out)
{
    const tc_vgf *vgf = &s->r->vgf;
    for (size_t k = 0; k < vgf->n_constant; k++) {
        const tc_vgf_constant *c = &vgf->constant[k];
        if (c->resource != i || c->sparsity >= 0)
            continue;
        if (c->data.size < tc_type_bytes(type))
            return bad(s, TC_E_TRUNCATED, "its constant has fewer bytes than it needs", i);
        void *data = ti_arena_copy(&s->r->ctx->arena, c->data.data, tc_type_bytes(type));
        *out = ti_graph_const(s->r->g, type, data, NULL, s->loc);
        return TC_OK;
    }
    return bad(s, TC_E_ORDER, "it is read before anything is written to it", i);
}

/* What a resource holds, of the type that it has there. */
static tc_status held(sequence *s, size_t i, const tc_type *type, tc_val *out)
{
    tc_val v = s->val[s->first[i]];
    if (!v) {
        TC_TRY(constant_of(s, i, type, out));
        return TC_OK;
    }
    const tc_type *is = ti_type_of(s->r->g, v);
    if (is->dtype != type->dtype || tc_type_count(is) != tc_type_count(type))
        return bad(s, TC_E_MISMATCH, "it is seen as another type than it was written with", i);
    *out = ti_same_dims(is, type) ? v : ti_vgf_reshaped(s->r, v, type, s->loc);
    return TC_OK;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* The resource of variable i: by its set and binding, or in the order of the segment's own lists. */
static bool resource_of(const sequence *s, size_t i, size_t *out)
{
    const tc_vgf_segment *seg = s->r->segment;
    const tc_vgf_entry *variable = ti_vgf_variable(s->r, i);
    for (size_t k = 0; variable && k < seg->n_set; k++)
        for (size_t b = 0; b < seg->set[k].slots.n && seg->set[k].index == variable->set; b++)
            if (seg->set[k].slots.v[b].binding == variable->binding) {
                *out = seg->set[k].slots.v[b].resource;
                return true;
            }
    bool in = i < s->r->n_in;
    size_t place = in ? i : i - s->r->n_in;
    const tc_vgf_slots *list = in ? &seg->in : &seg->out;
    if (variable || place >= list->n)
        return false;
    *out = list->v[place].resource;
    return true;
}

static tc_status graph_inputs(sequence *s)
{
    tc_vgf_reader *r = s->r;
    for (size_t i = 0; i < r->n_in; i++) {
        size_t res;
        if (!resource_of(s, i, &res)) { /* nothing reads it */
            r->given[i] = ti_graph_input(r->g, r->type[i], NULL);
            continue;
        }
        TC_TRY(type_of(s, res, &r->outer[i]));
        bool one = !r->outer[i]->rank && r->type[i]->rank == 1 && r->type[i]->dim[0] == 1;
        if (r->outer[i]->dtype != r->type[i]->dtype ||
            (!one && !ti_same_dims(r->outer[i], r->type[i])))
            return bad(s, TC_E_MISMATCH, "it is not what the graph binds to it", res);
        TC_TRY(held(s, res, r->outer[i], &r->given[i]));
        tc_value *v = ti_value_of(r->g, r->given[i]);
        if (!v->def && !v->type->quant)
            TC_TRY(ti_vgf_noted(r, "input", i, &v->type));
    }
    return TC_OK;
}

static tc_status graph_outputs(sequence *s)
{
    tc_vgf_reader *r = s->r;
    for (size_t i = 0; i < r->n_out; i++) {
        size_t res;
        const tc_type *outer;
        if (!resource_of(s, r->n_in + i, &res))
            continue; /* unused */
        TC_TRY(type_of(s, res, &outer));
        const tc_type *is = ti_type_of(r->g, r->out[i]);
        if (is->dtype != outer->dtype || tc_type_count(is) != tc_type_count(outer))
            return bad(s, TC_E_MISMATCH, "it is not what the graph writes to it", res);
        tc_val v = r->out[i];
        if (!ti_same_dims(is, outer))
            v = ti_vgf_reshaped(r, v, outer, s->loc);
        tc_value *value = ti_value_of(r->g, v);
        if (!value->type->quant && value->def)
            TC_TRY(ti_vgf_noted(r, "output", i, &value->type));
        s->val[s->first[res]] = v;
    }
    return TC_OK;
}

static tc_status read_graph(sequence *s)
{
    TC_TRY(ti_vgf_open_graph(s->r));
    TC_TRY(graph_inputs(s));
    TC_TRY(ti_vgf_read_graph(s->r));
    return graph_outputs(s);
}

/* ---- shaders --------------------------------------------------------------------------------- */

typedef struct {
    size_t resource;
    uint32_t set, binding;
    size_t place; /* in the segment's list of inputs or outputs */
} port;

typedef struct {
    port *in, *out;
    size_t n_in, n_out;
    int64_t *sampler;
    size_t n_sampler; /* integers, seven a row */
} ports;

/* Where the list has the resource; past its end: nowhere. */
static size_t place_in(const tc_vgf_slots *slots, size_t resource)
{
    for (size_t i = 0; i < slots->n; i++)
        if (slots->v[i].resource == resource)
            return i;
    return slots->n;
}

/* After those that come earlier in the segment's own list. */
static void add_port(port *v, size_t *n, port at, size_t place)
{
    size_t i = (*n)++;
    at.place = place;
    for (; i > 0 && v[i - 1].place > place; i--)
        v[i] = v[i - 1];
    v[i] = at;
}

/* A binding is an operand, a result, or both; what the segment does not list is read once
 * written. */
static void sort_binding(sequence *s, const port *at, ports *p)
{
    const tc_vgf_segment *seg = s->r->segment;
    const tc_vgf_resource *res = &s->r->vgf.resource[at->resource];
    const tc_vgf_sampler *sampler = res->sampler;
    if (sampler) {
        const int64_t row[] = {at->set, at->binding, sampler->min_filter, sampler->mag_filter,
                               sampler->address_u, sampler->address_v, sampler->border};
        memcpy(p->sampler + p->n_sampler, row, sizeof row);
        p->n_sampler += TC_COUNT(row);
    }
    if (res->descriptor == TC_VGF_SAMPLER)
        return;
    size_t as_in = place_in(&seg->in, at->resource), as_out = place_in(&seg->out, at->resource);
    bool in = as_in < seg->in.n, out = as_out < seg->out.n;
    bool known = s->val[s->first[at->resource]] || res->category == TC_VGF_CONSTANT;
    if (in || (!out && known))
        add_port(p->in, &p->n_in, *at, as_in);
    if (out || (!in && !known))
        add_port(p->out, &p->n_out, *at, as_out);
}

static tc_status collect_ports(sequence *s, ports *p)
{
    const tc_vgf_segment *seg = s->r->segment;
    tc_arena *arena = &s->r->ctx->arena;
    size_t n = 0;
    for (size_t i = 0; i < seg->n_set; i++)
        n += seg->set[i].slots.n;
    if (n > MOST_PORTS)
        return ti_error(s->r->ctx, s->loc, TC_E_TOO_LARGE, "the segment has %zu bindings", n);
    *p = (ports){.in = tc_new_n(arena, port, n),
                 .out = tc_new_n(arena, port, n),
                 .sampler = tc_new_n(arena, int64_t, 7 * n)};
    for (size_t i = 0; i < seg->n_set; i++)
        for (size_t k = 0; k < seg->set[i].slots.n; k++) {
            const tc_vgf_slot *slot = &seg->set[i].slots.v[k];
            sort_binding(s, &(port){slot->resource, seg->set[i].index, slot->binding, 0}, p);
        }
    return TC_OK;
}

static tc_attr_tosa_shader *shader_of(sequence *s, const ports *p)
{
    const tc_vgf_segment *seg = s->r->segment;
    const tc_vgf_module *m = &s->r->vgf.module[seg->module];
    tc_arena *arena = &s->r->ctx->arena;
    size_t n = p->n_in + p->n_out;
    int64_t *v[4], *push = tc_new_n(arena, int64_t, 3 * seg->n_push);
    int64_t *dispatch = tc_new_n(arena, int64_t, 3);
    for (int k = 0; k < 4; k++)
        v[k] = tc_new_n(arena, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        const port *at = i < p->n_in ? &p->in[i] : &p->out[i - p->n_in];
        v[0][i] = at->set;
        v[1][i] = at->binding;
        v[2][i] = s->r->vgf.resource[at->resource].descriptor;
        v[3][i] = s->r->vgf.resource[at->resource].format;
    }
    for (size_t i = 0; i < seg->n_push; i++) {
        push[3 * i] = seg->push[i].stages;
        push[3 * i + 1] = seg->push[i].offset;
        push[3 * i + 2] = seg->push[i].size;
    }
    for (size_t i = 0; i < 3; i++)
        dispatch[i] = seg->dispatch[i];
    tc_attr_tosa_shader *a = tc_new(arena, tc_attr_tosa_shader);
    *a = (tc_attr_tosa_shader){.name = m->name,
                               .entry_point = m->entry_point,
                               .language = m->code_type < TC_shader_code_COUNT
                                               ? (tc_field_shader_code)m->code_type
                                               : TC_shader_code_none,
                               .dispatch = {3, dispatch},
                               .set = {(int32_t)n, v[0]},
                               .binding = {(int32_t)n, v[1]},
                               .descriptor = {(int32_t)n, v[2]},
                               .format = {(int32_t)n, v[3]},
                               .sampler = {(int32_t)p->n_sampler, p->sampler},
                               .push_ranges = {(int32_t)(3 * seg->n_push), push},
                               .code = m->code};
    if (m->code_type == TC_VGF_SPIRV && !m->code.size)
        a->language = TC_shader_code_none;
    return a;
}

static tc_status read_shader(sequence *s)
{
    tc_vgf_reader *r = s->r;
    ports p = {0};
    TC_TRY(collect_ports(s, &p));
    if (r->segment->n_push > INT16_MAX)
        return ti_error(r->ctx, s->loc, TC_E_TOO_LARGE, "the segment has too many push constants");
    tc_val *in = tc_new_n(&r->ctx->arena, tc_val, p.n_in);
    const tc_type *type;
    for (size_t i = 0; i < p.n_in; i++) {
        TC_TRY(port_type_of(s, p.in[i].resource, &type));
        TC_TRY(held(s, p.in[i].resource, type, &in[i]));
    }
    tc_node *node = ti_graph_add(r->g, TC_OP_tosa_shader, shader_of(s, &p), in, (int)p.n_in,
                                 (int)p.n_out, s->loc);
    for (size_t i = 0; i < p.n_out; i++) {
        TC_TRY(port_type_of(s, p.out[i].resource, &type));
        ti_value_of(r->g, node->out[i])->type = type;
        s->val[s->first[p.out[i].resource]] = node->out[i];
    }
    return ti_node_infer(r->g, node); /* the module against what is bound to it */
}

/* ---- the file -------------------------------------------------------------------------------- */

static tc_status add_inputs(sequence *s)
{
    const tc_vgf_slots *in = &s->r->vgf.in;
    for (size_t i = 0; i < in->n; i++) {
        const tc_type *type;
        size_t res = in->v[i].resource;
        TC_TRY(port_type_of(s, res, &type));
        if (s->val[s->first[res]])
            return bad(s, TC_E_STRUCTURE, "it is an input twice", res);
        tc_val v = s->val[s->first[res]] =
            ti_graph_input(s->r->g, type, ti_vgf_port_name(s->r, true, i, in->n));
        ti_value_of(s->r->g, v)->image = image_format(s, res);
    }
    return TC_OK;
}

static tc_status add_outputs(sequence *s)
{
    const tc_vgf_slots *out = &s->r->vgf.out;
    for (size_t i = 0; i < out->n; i++) {
        const tc_type *type;
        tc_val v;
        size_t res = out->v[i].resource;
        TC_TRY(port_type_of(s, res, &type));
        TC_TRY(held(s, res, type, &v));
        tc_value *value = ti_value_of(s->r->g, v);
        value->image = value->def ? image_format(s, res) : value->image;
        if (!value->name && value->def)
            value->name = ti_vgf_port_name(s->r, false, i, out->n);
        ti_graph_output(s->r->g, v);
    }
    return TC_OK;
}

tc_status ti_vgf_read_segments(tc_vgf_reader *r)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    sequence s = {.r = r, .loc = loc};
    loc->file = r->module->file;
    if (!r->vgf.n_segment || !r->vgf.out.n)
        return ti_error(r->ctx, loc, TC_E_STRUCTURE, "the file has %zu segments and %zu outputs",
                        r->vgf.n_segment, r->vgf.out.n);
    find_groups(&s);
    TC_TRY(add_inputs(&s));
    for (size_t i = 0; i < r->vgf.n_segment; i++) {
        tc_loc *at = tc_new(&r->ctx->arena, tc_loc);
        r->segment = &r->vgf.segment[i];
        *at = (tc_loc){.file = r->module->file,
                       .place = ti_text_format(&r->ctx->arena, "segment %zu", i),
                       .node = *r->segment->name ? r->segment->name : NULL,
                       .target = r->segment->type == TC_VGF_GRAPH ? NULL : "tosa_shader"};
        s.loc = at;
        TC_TRY(r->segment->type == TC_VGF_GRAPH ? read_graph(&s) : read_shader(&s));
    }
    s.loc = loc;
    return add_outputs(&s);
}
