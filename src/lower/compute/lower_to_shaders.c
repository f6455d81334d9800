/* SPDX-License-Identifier: Apache-2.0 */
/* lower_to_shaders.c -- nodes outside of regions become compute shaders.
 *
 * A node of the program becomes a tosa_shader, or one for each of its results, with the nodes fused
 * into it (compute_fuse.c).  Calls of regions and constants stay, and so do nodes without a shader.
 * An output that is an input, a constant or another output is copied, so that every output is
 * written. */
#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../shaders.h"
#include "compute.h"

enum { DESCRIPTOR_TENSOR = 1000460000 };

typedef struct shader_ports {
    tc_val in[TC_CS_PORTS];
    int out[TC_CS_PORTS]; /* which results */
    int n_in, n_out;
    int64_t set[TC_CS_PORTS], binding[TC_CS_PORTS], descriptor[TC_CS_PORTS], format[TC_CS_PORTS];
} shader_ports;

static shader_ports ports_of(const tc_graph *g, const tc_node *node, const tc_cs_code *code)
{
    shader_ports p = {0};
    for (int i = 0; i < code->n_port; i++) {
        tc_val v = code->val[i];
        if (i < code->n_in)
            p.in[p.n_in++] = v;
        for (int k = 0; i >= code->n_in && k < node->n_out; k++)
            if (node->out[k] == v)
                p.out[p.n_out++] = k;
        p.binding[i] = i;
        p.descriptor[i] = DESCRIPTOR_TENSOR;
        p.format[i] = ti_cs_format(ti_type_of(g, v));
    }
    return p;
}

static void put_names(const tc_graph *g, const tc_node *node, const bool *fused, tc_buf *to)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && fused[node->in[i]])
            put_names(g, ti_def(g, node->in[i]), fused, to);
    ti_buf_printf(to, "%s%s", to->size ? "-" : "", tc_ops[node->op].name);
}

/* The operators that it computes, in order: "mul-add-relu"; of many the last, and how many. */
static const char *name_of(tc_ctx *ctx, const tc_graph *g, const tc_node *node, const bool *fused)
{
    enum { LONGEST = 40 };
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    put_names(g, node, fused, &text);
    if (text.size <= LONGEST)
        return ti_intern_text(ctx, ti_buf_cstr(&text));
    size_t n = 1;
    for (size_t i = 0; i < text.size; i++)
        n += text.data[i] == '-';
    return ti_intern_text(ctx, ti_text_format(&ctx->arena, "%zu-operators-%s", n,
                                              tc_ops[node->op].name));
}

static void put_shader(tc_rewrite *rw, const tc_graph *g, const tc_node *node,
                       const tc_cs_code *code, const tc_val *now)
{
    tc_arena *arena = &rw->ctx->arena;
    shader_ports p = ports_of(g, node, code);
    int n = code->n_port;
    tc_attr_tosa_shader *a = tc_new(arena, tc_attr_tosa_shader);
    a->name = name_of(rw->ctx, g, node, rw->user);
    a->entry_point = ti_intern_text(rw->ctx, "main");
    a->language = TC_shader_code_spirv;
    a->code = (tc_field_bytes){code->words.data, code->words.size};
    a->dispatch = ti_ints_copy(arena, code->groups, 3);
    a->set = ti_ints_copy(arena, p.set, n);
    a->binding = ti_ints_copy(arena, p.binding, n);
    a->descriptor = ti_ints_copy(arena, p.descriptor, n);
    a->format = ti_ints_copy(arena, p.format, n);
    for (int i = 0; i < p.n_in; i++)
        p.in[i] = now ? now[p.in[i]] : p.in[i];
    tc_node *shader =
        ti_graph_add(rw->to, TC_OP_tosa_shader, a, p.in, p.n_in, p.n_out, node->loc);
    for (int i = 0; i < p.n_out; i++) {
        tc_val old = node->out[p.out[i]];
        ti_value_of(rw->to, shader->out[i])->type = ti_type_of(g, old);
        ti_rewrite_bind(rw, old, shader->out[i]);
    }
}

static bool is_left(const tc_node *node)
{
    return node->op == TC_OP_const || node->op == TC_OP_call || node->op == TC_OP_tosa_shader ||
           tc_ops[node->op].traits & (T_CONTROL | T_STATE);
}

/* Every result that is read has its code. */
static const char *codes_of(tc_ctx *ctx, const tc_graph *g, const tc_node *node,
                            const uint32_t *readers, const bool *fused, tc_cs_code *code, int *n)
{
    const tc_cs_family *family = ti_cs_family(node->op);
    int each = family && family->per == TC_CS_EACH ? node->n_out : 1;
    *n = 0;
    for (int i = 0; i < each; i++) {
        if (each > 1 && readers && !readers[node->out[i]])
            continue;
        const char *why = ti_cs_node(ctx, g, node, i, fused, &code[(*n)++]);
        if (why)
            return why;
    }
    return NULL;
}

static tc_status to_shader(tc_rewrite *rw, const tc_node *node, bool *done)
{
    int n;
    const bool *fused = rw->user;
    if (is_left(node) || rw->from != ti_main(rw->from->module))
        return TC_OK;
    tc_cs_code *code = tc_new_n(&rw->ctx->arena, tc_cs_code, (size_t)node->n_out + 1);
    if (node->n_out == 1 && fused[node->out[0]]) {
        *done = true; /* in the shader of its reader */
        return TC_OK;
    }
    if (codes_of(rw->ctx, rw->from, node, rw->readers, fused, code, &n))
        return TC_OK;
    for (int i = 0; i < n; i++)
        put_shader(rw, rw->from, node, &code[i], rw->now);
    *done = true;
    return TC_OK;
}

/* The port of the i-th output, if the signature has ports: the first of the same value that is not
 * another output's. */
static void move_port(const tc_graph *g, size_t i, tc_val to)
{
    tc_module *m = g->module;
    size_t others = 0;
    for (size_t k = 0; k < i; k++)
        others += g->out[k] == g->out[i];
    for (size_t k = 0; k < m->signature.n_out; k++) {
        if (m->signature.out[k].val != g->out[i] || others-- > 0)
            continue;
        m->signature.out[k].val = to;
        return;
    }
}

/* Outputs that nothing writes, or that are written once for two, become copies. */
static void copy_outputs(tc_ctx *ctx, tc_graph *g)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *taken = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t i = 0; i < g->n_in; i++)
        taken[g->in[i]] = true;
    for (size_t i = 0; i < g->n_out; i++) {
        tc_val v = g->out[i];
        bool copies = taken[v] || ti_is_const(g, v);
        taken[v] = true;
        if (!copies)
            continue;
        tc_node *copy = ti_graph_add(g, TC_OP_identity, NULL, &v, 1, 1, NULL);
        ti_value_of(g, copy->out[0])->type = ti_type_of(g, v);
        move_port(g, i, copy->out[0]);
        g->out[i] = copy->out[0];
    }
    ti_arena_rewind(&ctx->scratch, mark);
}

tc_status ti_lower_lower_to_shaders(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {to_shader};
    copy_outputs(ctx, ti_main(module));
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *fused = ti_cs_fuse(ctx, ti_main(module));
    tc_status status = ti_rewrite_graph(ti_main(module), rewriters, 1, fused);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

static const char *const words[] = {[TC_SHADERS_AUTO] = "auto",
                                    [TC_SHADERS_ALL] = "all",
                                    [TC_SHADERS_RESAMPLE] = "resample",
                                    [TC_SHADERS_SAMPLERS] = "samplers",
                                    [TC_SHADERS_NONE] = "none"};

const char *ti_shaders_word(tc_shaders shaders)
{
    return words[shaders];
}

bool ti_shaders_named(const char *word, tc_shaders *out)
{
    *out = TC_SHADERS_AUTO;
    for (size_t i = 0; word && i < TC_COUNT(words); i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (tc_shaders)i;
            return true;
        }
    return !word;
}

bool ti_shader_resamples(tc_op op)
{
    return op == TC_OP_grid_sample || op == TC_OP_upsample_nearest ||
           op == TC_OP_upsample_nearest_exact || op == TC_OP_upsample_linear ||
           op == TC_OP_upsample_cubic;
}

const char *ti_shader_refuses(tc_ctx *ctx, const tc_graph *g, const tc_node *node)
{
    int n;
    if (node->op == TC_OP_const || node->op == TC_OP_call || node->op == TC_OP_tosa_shader)
        return NULL;
    if (is_left(node))
        return "it is control flow or keeps state";
    tc_cs_code *code = tc_new_n(&ctx->arena, tc_cs_code, (size_t)node->n_out + 1);
    return codes_of(ctx, g, node, NULL, NULL, code, &n);
}
