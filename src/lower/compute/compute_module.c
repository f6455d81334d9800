/* SPDX-License-Identifier: Apache-2.0 */
/* compute_module.c -- the builder of compute shaders: the module around an operator. */
#include "compute_build.h"
#include "compute_family.h"

enum { LOCAL = 64, MOST_GROUPS = 65535 };
enum { STORAGE_INPUT = 1, DECORATION_BUILTIN = 11, GLOBAL_INVOCATION_ID = 28 };

/* Work groups of 64, in rows where there are too many for one. */
static void put_groups(const tc_cs *s, int64_t *groups)
{
    int64_t n = (s->count + LOCAL - 1) / LOCAL;
    groups[0] = n > MOST_GROUPS ? 4096 : n;
    groups[1] = groups[0] ? (n + groups[0] - 1) / groups[0] : 1;
    groups[2] = 1;
}

/* The index of this invocation. */
static tc_cs_val invocation(tc_cs *s, const int64_t *groups)
{
    uint32_t u32 = ti_spv_int(&s->w, 32), vector = UNIQUE(s, TC_SPV_TypeVector, 0, u32, 3),
             pointer = UNIQUE(s, TC_SPV_TypePointer, 0, STORAGE_INPUT, vector);
    s->global = ti_spv_id(&s->w);
    TC_SPV_PUT(&s->w, TC_SPV_GLOBALS, TC_SPV_Variable, pointer, s->global, STORAGE_INPUT);
    TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, s->global, DECORATION_BUILTIN,
               GLOBAL_INVOCATION_ID);
    uint32_t all = ti_spv_id(&s->w), x = ti_spv_id(&s->w), y = ti_spv_id(&s->w);
    PUT(s, TC_SPV_Load, vector, all, s->global);
    PUT(s, TC_SPV_CompositeExtract, u32, x, all, 0);
    tc_cs_val place = {x, TC_CS_I32};
    if (groups[1] == 1)
        return place;
    PUT(s, TC_SPV_CompositeExtract, u32, y, all, 1);
    return ti_cs_add(s, place,
                     ti_cs_mul(s, (tc_cs_val){y, TC_CS_I32}, ti_cs_i32(s, groups[0] * LOCAL)));
}

/* Capabilities, the entry point and its interface, now that it is known what is used. */
static void put_head(tc_cs *s, uint32_t function, const uint32_t *tensor, int n_tensor)
{
    static const uint32_t always[] = {TC_SPV_CAP_SHADER, TC_SPV_CAP_TENSORS};
    uint32_t interface[TC_CS_PORTS + 2] = {0}, n = 0, before[2] = {5, function};
    ti_spv_put_capabilities(&s->w, always, TC_COUNT(always));
    ti_spv_put_extensions(&s->w, (const char *const[]){"SPV_ARM_tensors"}, 1);
    if (s->glsl)
        ti_spv_put_text(&s->w, TC_SPV_HEAD, TC_SPV_ExtInstImport, &s->glsl, 1, "GLSL.std.450", NULL,
                        0);
    TC_SPV_PUT(&s->w, TC_SPV_HEAD, TC_SPV_MemoryModel, TC_SPV_LOGICAL, 1);
    interface[n++] = s->global;
    for (int i = 0; i < n_tensor; i++) {
        uint32_t variable = interface[n++] = tensor[i];
        TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, variable, TC_SPV_DESCRIPTOR_SET, 0);
        TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, variable, TC_SPV_BINDING, (uint32_t)i);
    }
    ti_spv_put_text(&s->w, TC_SPV_HEAD, TC_SPV_EntryPoint, before, 2, "main", interface, n);
    TC_SPV_PUT(&s->w, TC_SPV_HEAD, TC_SPV_ExecutionMode, function, 17, LOCAL, 1, 1);
}

const tc_cs_family *ti_cs_family(tc_op op)
{
#define FAMILY(name, each, moves) static const tc_cs_family name = {#name, ti_cs_##name, each, moves};
#define SHADER(op, family)
#include "compute.def"
    static const tc_cs_family *const of[TC_OP_COUNT] = {
#define FAMILY(name, each, moves)
#define SHADER(op, family) [TC_OP_##op] = &family,
#include "compute.def"
    };
    if (!of[op] && tc_ops[op].traits & T_ELTWISE && op < TC_OP_tosa_argmax)
        return &elementwise;
    return of[op];
}

/* All quantized ports have one grid: codes may be copied. */
static bool one_grid(const tc_cs_port *port, int n)
{
    const tc_quant *first = NULL;
    for (int i = 0; i < n; i++) {
        const tc_quant *q = port[i].value.type ? port[i].value.type->quant : NULL;
        if (!q)
            continue;
        if (q->axis >= 0 || (first && (q->scale[0] != first->scale[0] || q->zero[0] != first->zero[0])))
            return false;
        first = q;
    }
    return true;
}

/* Why no shader can have these values, or NULL. */
static const char *refused(tc_ctx *ctx, const tc_cs_port *port, int n)
{
    for (int i = 0; i < n; i++) {
        const tc_type *t = port[i].value.type;
        if (!t)
            continue;
        if (!ti_cs_holds(t->dtype))
            return ti_text_format(&ctx->arena, "a shader has no %s", tc_dtypes[t->dtype].name);
        if (ti_type_open(t) || tc_type_count(t) < 1 || tc_type_count(t) > INT32_MAX)
            return ti_text_format(&ctx->arena, "a tensor has the shape %s",
                                  ti_dims_text(&ctx->arena, t->rank, t->dim));
    }
    return NULL;
}

/* The ports of a node, and of those nodes that are computed where their results are read. */
static const char *set_ports(tc_ctx *ctx, const tc_graph *g, const tc_node *node, const bool *fused,
                             tc_cs_port *port)
{
    const tc_cs_family *family = ti_cs_family(node->op);
    int n = node->n_in + node->n_out;
    for (int i = 0; i < n; i++) {
        tc_val v = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        port[i].val = v;
        if (v)
            port[i].value = (tc_tensor){ti_type_of(g, v), NULL};
        if (v && i < node->n_in && ti_is_const(g, v))
            port[i].value = ti_tensor_of(g, v);
        if (!v || i >= node->n_in || !fused || !fused[v])
            continue;
        const tc_node *def = ti_def(g, v);
        tc_cs_made *made = port[i].made = tc_new(&ctx->scratch, tc_cs_made);
        made->node = def;
        made->family = ti_cs_family(def->op);
        made->n_in = def->n_in;
        made->n_port = def->n_in + def->n_out;
        const char *why = set_ports(ctx, g, def, fused, made->port);
        if (why)
            return why;
    }
    bool stored = family->moves && (ti_op_sees_storage(node->op) || one_grid(port, n));
    for (int i = 0; i < n; i++)
        port[i].stored = stored;
    return refused(ctx, port, n);
}

/* The tensors among ports, each once; fused results have none. */
static int collect(const tc_cs_port *port, int n, tc_cs_code *out, uint32_t *tensor, int have)
{
    for (int i = 0; i < n; i++) {
        if (port[i].made)
            have = collect(port[i].made->port, port[i].made->n_in, out, tensor, have);
        bool there = !port[i].variable || port[i].value.data;
        for (int k = 0; k < have; k++)
            there = there || tensor[k] == port[i].variable;
        if (there || have == TC_CS_PORTS)
            continue;
        tensor[have] = port[i].variable;
        out->val[have++] = port[i].val;
    }
    return have;
}

static void put_function(tc_cs *s, const tc_node *node, const tc_cs_family *family, tc_cs_code *out)
{
    uint32_t none = ti_spv_unique(&s->w, TC_SPV_TypeVoid, 0, NULL, 0);
    uint32_t type = UNIQUE(s, TC_SPV_TypeFunction, 0, none), function = ti_spv_id(&s->w),
             start = ti_spv_id(&s->w);
    TC_SPV_PUT(&s->w, TC_SPV_ENTRIES, TC_SPV_Function, none, function, 0, type);
    TC_SPV_PUT(&s->w, TC_SPV_ENTRIES, TC_SPV_Label, start);
    put_groups(s, out->groups);
    tc_cs_val at = invocation(s, out->groups);
    tc_cs_if inside = ti_cs_if(s, ti_cs_less(s, at, ti_cs_i32(s, s->count)));
    family->make(s, node, at);
    ti_cs_end(s, inside);
    ti_spv_put(&s->w, TC_SPV_BODY, TC_SPV_Return, NULL, 0);
    ti_spv_put(&s->w, TC_SPV_BODY, TC_SPV_FunctionEnd, NULL, 0);
    uint32_t tensor[TC_CS_PORTS];
    out->n_in = collect(s->port, s->n_in, out, tensor, 0);
    out->n_port = collect(s->port + s->n_in, s->n_port - s->n_in, out, tensor, out->n_in);
    put_head(s, function, tensor, out->n_port);
}

const char *ti_cs_code_of(tc_ctx *ctx, tc_cs *s, const tc_cs_family *family, const tc_node *node,
                          tc_cs_code *out)
{
    *out = (tc_cs_code){.n_port = 0};
    s->ctx = ctx;
    const char *why = refused(ctx, s->port, s->n_port);
    if (why)
        return why;
    int port = family->per == TC_CS_OPERAND ? 0 : s->n_in + s->result;
    ti_spv_write(&s->w, &ctx->arena);
    s->count = s->count ? s->count : tc_type_count(ti_cs_type(s, port));
    put_function(s, node, family, out);
    out->words = ti_spv_finish(&s->w);
    return s->why ? s->why : out->words.data ? NULL : "its code is too long";
}

const char *ti_cs_node(tc_ctx *ctx, const tc_graph *g, const tc_node *node, int result,
                       const bool *fused, tc_cs_code *out)
{
    const tc_cs_family *family = ti_cs_family(node->op);
    *out = (tc_cs_code){.n_port = 0};
    if (!family)
        return ti_text_format(&ctx->arena, "'%s' has no shader", tc_ops[node->op].name);
    if (node->n_in + node->n_out > TC_CS_PORTS)
        return "it has too many operands for one shader";
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_cs *s = tc_new(&ctx->scratch, tc_cs);
    s->result = result;
    s->n_in = node->n_in;
    s->n_port = node->n_in + node->n_out;
    const char *why = set_ports(ctx, g, node, fused, s->port);
    if (!why)
        why = ti_cs_code_of(ctx, s, family, node, out);
    ti_arena_rewind(&ctx->scratch, mark);
    return why;
}
