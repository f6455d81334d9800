/* SPDX-License-Identifier: Apache-2.0 */
/* emit_vgf.c -- a module in the TOSA form to a VGF file: one graph, its constants, its signature;
 * or several, with shaders between them (vgf_program.c).
 *
 * Resources are the constants, then the inputs, then the outputs.  Every input has its binding,
 * also one that nothing reads, so that callers need not know which are used. */
#include "emit.h"

#include "../target/target.h"
#include "../target/vgf_schema.h"
#include "../wire/vgf.h"
#include "vgf_graph.h"

bool *ti_vgf_unsigned(tc_ctx *ctx, const tc_graph *g)
{
    bool *is = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_node *node = g->node[i];
        const tc_attr_tosa_rescale *a = node->attr;
        if (node->op == TC_OP_tosa_rescale)
            is[node->out[0]] = a->output_unsigned;
        else if (node->op == TC_OP_tosa_identity)
            is[node->out[0]] |= is[node->in[0]];
    }
    for (size_t i = g->n_node; i-- > 0;) {
        const tc_node *node = g->node[i];
        const tc_attr_tosa_rescale *a = node->attr;
        if (node->op == TC_OP_tosa_rescale)
            is[node->in[0]] |= a->input_unsigned;
        else if (node->op == TC_OP_tosa_identity)
            is[node->in[0]] |= is[node->out[0]];
    }
    return is;
}

/* Rank 0 stays rank 0 here. */
static tc_vgf_resource resource_of(const tc_graph *g, tc_val v, const bool *is_unsigned,
                                   uint8_t category)
{
    const tc_type *type = ti_type_of(g, v);
    return (tc_vgf_resource){.category = category,
                             .descriptor = TC_VGF_TENSOR,
                             .format = ti_vgf_format(type->dtype, is_unsigned[v]),
                             .dim = type->dim,
                             .n_dim = (size_t)type->rank};
}

tc_vgf_resource ti_vgf_constant_resource(const struct tc_vgf_pooled *c)
{
    const tc_type *type = c->value->type;
    return (tc_vgf_resource){.category = TC_VGF_CONSTANT,
                             .descriptor = TC_VGF_NO_DESCRIPTOR,
                             .format = ti_vgf_format(type->dtype, c->is_unsigned),
                             .dim = type->dim,
                             .n_dim = (size_t)type->rank};
}

static void add_constants(tc_ctx *ctx, const tc_vgf_pool *pool, const tc_vgf_code *code,
                          tc_vgf *vgf)
{
    tc_vgf_segment *s = vgf->segment;
    vgf->constant = tc_new_n(&ctx->scratch, tc_vgf_constant, pool->n);
    vgf->n_constant = vgf->n_resource = pool->n;
    s->constant = code->constant;
    s->n_constant = code->n_constant;
    for (size_t i = 0; i < pool->n; i++) {
        const tc_value *v = pool->v[i].value;
        vgf->resource[i] = ti_vgf_constant_resource(&pool->v[i]);
        vgf->constant[i] = (tc_vgf_constant){(uint32_t)i, -1, {v->data, tc_type_bytes(v->type)}};
    }
}

/* Inputs or outputs: a resource, a binding and a name each. */
static tc_vgf_slots add_ports(tc_ctx *ctx, const tc_graph *g, const tc_vgf_code *code, bool in,
                              const bool *is_unsigned, tc_vgf *vgf)
{
    const tc_val *val = in ? g->in : g->out;
    size_t n = in ? g->n_in : g->n_out;
    tc_vgf_slots slots = {tc_new_n(&ctx->scratch, tc_vgf_slot, n), n};
    const char **name = tc_new_n(&ctx->scratch, const char *, n);
    for (size_t i = 0; i < n; i++) {
        const char *own =
            ti_value_of(g, val[i])->name ? ti_value_of(g, val[i])->name : code->name[val[i]];
        slots.v[i] = (tc_vgf_slot){(uint32_t)(in ? i : g->n_in + i), (uint32_t)vgf->n_resource};
        vgf->resource[vgf->n_resource++] =
            resource_of(g, val[i], is_unsigned, in ? TC_VGF_INPUT : TC_VGF_OUTPUT);
        name[i] =
            own && *own ? own : ti_text_format(&ctx->scratch, "%s_%zu", in ? "input" : "output", i);
    }
    *(in ? &vgf->in_name : &vgf->out_name) = name;
    *(in ? &vgf->n_in_name : &vgf->n_out_name) = n;
    return slots;
}

static tc_status write_graph(tc_ctx *ctx, const tc_graph *g, const tc_vgf_pool *pool,
                             const tc_vgf_code *code, tc_bytes *out)
{
    const bool *is_unsigned = ti_vgf_unsigned(ctx, g);
    tc_vgf_module module = {TC_VGF_GRAPH, TC_VGF_SPIRV, TC_VGF_ENTRY, TC_VGF_ENTRY, code->words};
    tc_vgf_set set = {.index = TC_VGF_SET_BY_PLACE};
    tc_vgf_segment segment = {
        .type = TC_VGF_GRAPH, .name = "graph_segment_0", .set = &set, .n_set = 1};
    tc_vgf vgf = {.version = {0, 4, 0},
                  .module = &module,
                  .n_module = 1,
                  .segment = &segment,
                  .n_segment = 1};
    vgf.resource = tc_new_n(&ctx->scratch, tc_vgf_resource, pool->n + g->n_in + g->n_out);
    add_constants(ctx, pool, code, &vgf);
    segment.in = vgf.in = add_ports(ctx, g, code, true, is_unsigned, &vgf);
    segment.out = vgf.out = add_ports(ctx, g, code, false, is_unsigned, &vgf);
    set.slots.n = g->n_in + g->n_out;
    set.slots.v = tc_new_n(&ctx->scratch, tc_vgf_slot, set.slots.n);
    for (size_t i = 0; i < set.slots.n; i++)
        set.slots.v[i] = i < g->n_in ? vgf.in.v[i] : vgf.out.v[i - g->n_in];
    return ti_vgf_write(ctx, g->module->file, &vgf, out);
}

/* What is still of TOSA 1.1, by the rules in target/. */
static tc_status refuse_newer(tc_ctx *ctx, const tc_module *module)
{
    tc_module older = *module;
    older.origin.tosa_minor = 0;
    TC_TRY(ti_verify_tosa_for(ctx, &older, NULL));
    return ti_error(ctx, &(tc_loc){.file = module->file}, TC_E_TYPE,
                    "the program has operators or types of TOSA 1.1, which a VGF file cannot hold");
}

static bool has_images(const tc_graph *g)
{
    for (size_t i = 1; i < g->n_val; i++)
        if (g->val[i]->image)
            return true;
    return false;
}

tc_status ti_emit_vgf(tc_ctx *ctx, const tc_module *module, tc_bytes *out)
{
    tc_vgf_code code;
    tc_vgf_pool pool;
    const tc_graph *g = ti_main(module);
    if (g->n_mutation)
        return ti_unsupported(ctx, &(tc_loc){.file = module->file}, TC_E_UNSUPPORTED,
                              "graph '%s' changes %zu buffers, which a VGF file cannot hold",
                              g->name, g->n_mutation);
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op == TC_OP_call || g->node[i]->op == TC_OP_tosa_shader)
            return ti_vgf_segments(ctx, ti_vgf_mixed(g) ? ti_vgf_cut(ctx, module) : module, out);
    if (ti_tosa_minor(module) > 0)
        return refuse_newer(ctx, module);
    if (has_images(g))
        return ti_vgf_segments(ctx, ti_vgf_cut(ctx, module), out);
    TC_TRY(ti_vgf_flatten(ctx, module, g, &g));
    ti_vgf_pool_init(&pool, &ctx->arena);
    TC_TRY(ti_vgf_graph(ctx, g, &pool, &code));
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_status status = write_graph(ctx, g, &pool, &code, out);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
