/* SPDX-License-Identifier: Apache-2.0 */
/* emit_tosa.c -- a module in the TOSA form to a TOSA flatbuffer, of version 1.0 if that has
 * everything in it, else of 1.1.
 *
 * A graph becomes a region with one block, both of its name; the program is "main", as runtimes
 * look for it.  Values keep their author's names, made unique within the block; the others are
 * called t<id>.  Variables are written as Arm's tools write them: a tensor marked as one, read and
 * written by IDENTITY with its own attribute tag.  An output that is an input unchanged goes
 * through an IDENTITY: Vela requires it. */
#include "emit.h"

#include "../target/target.h"
#include "../target/tosa_schema.h"
#include "../wire/flatbuf.h"

typedef struct {
    tc_ctx *ctx;
    const tc_module *module;
    tc_fb_writer w;
    const tc_graph *g;
    tc_map taken;        /* names of the block */
    const char **name;   /* by value */
    const char **passed; /* by output: its own name, where it is an input as it came */
    bool *silent;      /* by value: it has no tensor (find_silent) */
    tc_map variables;  /* of the module: name to tc_value of the declaration */
    tc_map var_tensor; /* of the block: variable's name to its tensor's name */
    bool block_scaled; /* some tensor is */
    tc_fb_ref *tensor, *shape, *op;
    size_t n_tensor, n_shape, n_op, cap_tensor, cap_shape, cap_op;
} emitter;

#define ADD(e, list, ref)                                                                          \
    (tc_grow(&(e)->ctx->arena, (e)->list, (e)->n_##list, (e)->cap_##list),                         \
     (void)((e)->list[(e)->n_##list++] = (ref)))

/* ---- names ----------------------------------------------------------------------------------- */

/* `wish`, or `wish_1`, `wish_2`, ... when it is taken. */
static const char *unique(emitter *e, const char *wish)
{
    const char *name = wish;
    for (int i = 1; ti_map_get(&e->taken, ti_str_of(name)); i++)
        name = ti_text_format(&e->ctx->arena, "%s_%d", wish, i);
    *ti_map_at(&e->taken, ti_str_of(name)) = e;
    return name;
}

static bool is_variable(const tc_value *v)
{
    return v->def && v->def->op == TC_OP_tosa_variable;
}

/* Initial values of variables used for nothing else, and inputs that the graph has dropped: the
 * reference model rejects a file with a tensor that is neither made nor an input. */
static void find_silent(emitter *e)
{
    const tc_graph *g = e->g;
    for (size_t i = 1; i < g->n_val; i++)
        e->silent[i] = !g->val[i]->def && !g->val[i]->data;
    for (size_t i = 0; i < g->n_in; i++)
        e->silent[g->in[i]] = false;
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op == TC_OP_tosa_variable)
            for (int k = 0; k < g->node[i]->n_in; k++)
                e->silent[g->node[i]->in[k]] = true;
    for (size_t i = 0; i < g->n_node; i++)
        for (int k = 0; k < g->node[i]->n_in && g->node[i]->op != TC_OP_tosa_variable; k++)
            e->silent[g->node[i]->in[k]] = false;
    for (size_t i = 0; i < g->n_out; i++)
        e->silent[g->out[i]] = false;
}

static void name_values(emitter *e)
{
    const tc_graph *g = e->g;
    for (size_t i = 1; i < g->n_val; i++)
        if (g->val[i]->name && *g->val[i]->name && !e->silent[i])
            e->name[i] = unique(e, g->val[i]->name);
    bool nested = g != ti_main(e->module);
    for (size_t i = 1; i < g->n_val; i++)
        if (!e->name[i] && !e->silent[i])
            e->name[i] = unique(e, ti_text_format(&e->ctx->arena, "%s%st%zu", nested ? g->name : "",
                                                  nested ? "." : "", i));
}

static tc_fb_ref put_text(emitter *e, const char *text)
{
    return ti_fb_put_string(&e->w, ti_str_of(text));
}

static tc_fb_ref put_names(emitter *e, const tc_val *val, size_t n)
{
    tc_fb_ref *ref = tc_new_n(&e->ctx->scratch, tc_fb_ref, n);
    for (size_t i = 0; i < n; i++)
        ref[i] = put_text(e, e->name[val[i]]);
    return ti_fb_put_refs(&e->w, ref, n);
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Constants are written with an alignment of 8, packed as the schema has them. */
static tc_fb_ref put_data(emitter *e, const tc_type *type, const void *data)
{
    size_t n = (size_t)tc_type_count(type), size = ti_tosa_packed_bytes(type->dtype, n);
    if (ti_tosa_stored_plain(type->dtype))
        return ti_fb_put_bytes(&e->w, data, size, 8);
    uint8_t *packed = ti_arena_raw(&e->ctx->scratch, size);
    ti_tosa_pack(type->dtype, n, data, packed);
    return ti_fb_put_bytes(&e->w, packed, size, 8);
}

static tc_fb_ref put_scales(emitter *e, const tc_type *type, const void *data)
{
    size_t n = (size_t)tc_type_count(type);
    uint8_t *scale = ti_arena_raw(&e->ctx->scratch, n / TC_BLOCK + 1);
    ti_tosa_pack_scales(n, data, scale);
    return ti_fb_put_bytes(&e->w, scale, n / TC_BLOCK, 8);
}

static tc_fb_ref put_tensor(emitter *e, const char *name, const tc_type *type, const void *data,
                            const char *variable)
{
    bool block = ti_is_block(type->dtype);
    tc_fb_ref data_ref = data ? put_data(e, type, data) : 0;
    tc_fb_ref scale_ref = data && block ? put_scales(e, type, data) : 0;
    tc_fb_ref variable_ref = variable ? put_text(e, variable) : 0;
    tc_fb_ref dims = ti_fb_put_i32s(&e->w, type->dim, (size_t)type->rank);
    tc_fb_ref name_ref = put_text(e, name);
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, TOSA_TENSOR_NAME, name_ref);
    ti_fb_set_ref(&e->w, TOSA_TENSOR_SHAPE, dims);
    ti_fb_set_u32(&e->w, TOSA_TENSOR_TYPE, (uint32_t)tc_dtypes[type->dtype].tosa, 0);
    ti_fb_set_ref(&e->w, TOSA_TENSOR_DATA, data_ref);
    ti_fb_set_u8(&e->w, TOSA_TENSOR_VARIABLE, variable != NULL, 0);
    ti_fb_set_ref(&e->w, TOSA_TENSOR_VARIABLE_NAME, variable_ref);
    ti_fb_set_u32(&e->w, TOSA_TENSOR_SCALE_TYPE, block ? (uint32_t)tc_dtypes[TC_ue8m0].tosa : 0, 0);
    ti_fb_set_ref(&e->w, TOSA_TENSOR_SCALE_DATA, scale_ref);
    ti_fb_set_u32(&e->w, TOSA_TENSOR_BLOCK_SHAPE, block ? TC_TOSA_BLOCK_SHAPE_32 : 0, 0);
    e->block_scaled = e->block_scaled || block;
    return ti_fb_end(&e->w);
}

static tc_fb_ref put_shape(emitter *e, const char *name, const tc_value *v)
{
    tc_fb_ref data = v->data ? put_data(e, v->type, v->data) : 0;
    tc_fb_ref name_ref = put_text(e, name);
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, TOSA_SHAPE_NAME, name_ref);
    ti_fb_set_u32(&e->w, TOSA_SHAPE_RANK, (uint32_t)tc_type_count(v->type), 0);
    ti_fb_set_ref(&e->w, TOSA_SHAPE_DATA, data);
    return ti_fb_end(&e->w);
}

static tc_status check_type(emitter *e, size_t i)
{
    const tc_value *v = e->g->val[i];
    const tc_loc *loc = v->def ? v->def->loc : &(tc_loc){.file = e->module->file, .node = v->name};
    if (!v->type)
        return ti_bug(e->ctx, loc, "value %zu of graph '%s' has no type", i, e->g->name);
    if (!ti_tosa_has_1_1(v->type->dtype))
        return ti_error(e->ctx, loc, TC_E_TYPE, "a tensor has type %s, which TOSA does not have",
                        tc_dtypes[v->type->dtype].name);
    return TC_OK;
}

static tc_status put_values(emitter *e)
{
    for (size_t i = 1; i < e->g->n_val; i++) {
        const tc_value *v = e->g->val[i];
        if (e->silent[i] || is_variable(v))
            continue;
        TC_TRY(check_type(e, i));
        if (v->type->dtype == TC_shape)
            ADD(e, shape, put_shape(e, e->name[i], v));
        else
            ADD(e, tensor, put_tensor(e, e->name[i], v->type, v->data, NULL));
    }
    return TC_OK;
}

/* Separate tensors for outputs that are inputs unchanged, or repeated outputs: Arm's converter
 * drops the first of two that have one name. */
static void put_passed(emitter *e)
{
    const tc_graph *g = e->g;
    bool *given = tc_new_n(&e->ctx->scratch, bool, g->n_val);
    for (size_t i = 0; i < g->n_out; i++) {
        const tc_value *v = ti_value_of(g, g->out[i]);
        bool again = given[g->out[i]] && v->type->dtype != TC_shape;
        given[g->out[i]] = true;
        if (v->def && !again)
            continue;
        e->passed[i] = unique(e, ti_text_format(&e->ctx->arena, "%s_out", e->name[g->out[i]]));
        ADD(e, tensor, put_tensor(e, e->passed[i], v->type, NULL, NULL));
    }
}

/* ---- variables ------------------------------------------------------------------------------- */

static void collect_variables(emitter *e)
{
    ti_map_init(&e->variables, &e->ctx->arena);
    for (size_t i = 0; i < e->module->n_graph; i++) {
        const tc_graph *g = e->module->graph[i];
        for (size_t k = 1; k < g->n_val; k++)
            if (is_variable(g->val[k])) {
                const tc_attr_tosa_variable *a = g->val[k]->def->attr;
                void **slot = ti_map_at(&e->variables, ti_str_of(a->name));
                *slot = *slot ? *slot : g->val[k];
            }
    }
}

/* The initial value of a declared variable; NULL: none. */
static const void *initial_value(const emitter *e, const tc_value *declared)
{
    for (size_t i = 0; i < e->module->n_graph; i++) {
        const tc_graph *g = e->module->graph[i];
        tc_val out = declared->def->out[0];
        if (out < g->n_val && g->val[out] == declared)
            return declared->def->n_in ? g->val[declared->def->in[0]]->data : NULL;
    }
    return NULL;
}

/* The tensors of variables in this block, in the order of their first use. */
static tc_status put_variables(emitter *e)
{
    for (size_t i = 0; i < e->g->n_node; i++) {
        const tc_node *node = e->g->node[i];
        if (tc_ops[node->op].attr != TC_ATTR_tosa_variable)
            continue;
        const tc_attr_tosa_variable *a = node->attr;
        void **slot = ti_map_at(&e->var_tensor, ti_str_of(a->name));
        if (*slot)
            continue;
        const tc_value *declared = ti_map_get(&e->variables, ti_str_of(a->name));
        if (!declared || !declared->type)
            return ti_error(e->ctx, node->loc, TC_E_STRUCTURE, "there is no variable '%s'",
                            a->name);
        bool here = node->op == TC_OP_tosa_variable;
        const char *name =
            here ? e->name[node->out[0]] : unique(e, declared->name ? declared->name : a->name);
        ADD(e, tensor, put_tensor(e, name, declared->type, initial_value(e, declared), a->name));
        *slot = (void *)(uintptr_t)name;
    }
    return TC_OK;
}

/* ---- operators ------------------------------------------------------------------------------- */

/* Integers have 32 bits in a file. */
static tc_status check_i32(emitter *e, const tc_node *node, const tc_field *field,
                           const int64_t *v, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (v[i] < INT32_MIN || v[i] > INT32_MAX)
            return ti_error(e->ctx, node->loc, TC_E_TOO_LARGE,
                            "%s is %" PRId64 ", which the file format cannot hold", field->name,
                            v[i]);
    return TC_OK;
}

/* What a field refers to, written before its table; 0 for scalars. */
static tc_status put_field(emitter *e, const tc_node *node, const tc_field *field, const void *at,
                           tc_fb_ref *ref)
{
    *ref = 0;
    switch (field->kind) {
    case TC_FIELD_i64:
        return check_i32(e, node, field, at, 1);
    case TC_FIELD_ints: {
        const tc_ints *list = at;
        TC_TRY(check_i32(e, node, field, list->v, list->n));
        *ref = ti_fb_put_i32s(&e->w, list->v, (size_t)list->n);
        return TC_OK;
    }
    case TC_FIELD_text:
        *ref = put_text(e, *(const char *const *)at);
        return TC_OK;
    case TC_FIELD_bytes:
        *ref =
            ti_fb_put_bytes(&e->w, ((const tc_bytes *)at)->data, ((const tc_bytes *)at)->size, 4);
        return TC_OK;
    case TC_FIELD_f64: { /* one element of the operand's type */
        uint8_t packed[8] = {0};
        tc_dtype element = ti_type_of(e->g, node->in[0])->dtype;
        ti_tosa_put_number(element, *(const double *)at, packed);
        *ref = ti_fb_put_bytes(&e->w, packed, ti_tosa_packed_bytes(element, 1), 8);
        return TC_OK;
    }
    default:
        return TC_OK;
    }
}

static void set_field(emitter *e, uint32_t id, const tc_field *field, const void *at, tc_fb_ref ref)
{
    int64_t whole;
    int choice;
    switch (field->kind) {
    case TC_FIELD_i64:
        memcpy(&whole, at, sizeof whole);
        ti_fb_set_u32(&e->w, id, (uint32_t)whole, 0);
        break;
    case TC_FIELD_bool:
        ti_fb_set_u8(&e->w, id, *(const bool *)at, 0);
        break;
    case TC_FIELD_dtype: {
        tc_dtype type = *(const tc_dtype *)at;
        ti_fb_set_u32(&e->w, id, type == TC_none ? 0 : (uint32_t)tc_dtypes[type].tosa, 0);
        break;
    }
    case TC_FIELD_ints:
    case TC_FIELD_text:
    case TC_FIELD_bytes:
    case TC_FIELD_f64:
        ti_fb_set_ref(&e->w, id, ref);
        break;
    default:
        memcpy(&choice, at, sizeof choice);
        ti_fb_set_u32(&e->w, id, (uint32_t)choice, 0);
    }
}

/* The attribute table; one without fields for operators that have none. */
static tc_status put_attr(emitter *e, const tc_node *node, tc_fb_ref *out)
{
    enum { MOST_FIELDS = 8 };
    tc_fb_ref ref[MOST_FIELDS];
    const tc_attr_info *info = &tc_attrs[tc_ops[node->op].attr];
    int n = tc_ops[node->op].attr == TC_ATTR_tosa_variable ? 0 : info->n_field;
    assert(n <= MOST_FIELDS);
    for (int i = 0; i < n; i++)
        TC_TRY(put_field(e, node, &info->field[i], (const char *)node->attr + info->field[i].at,
                         &ref[i]));
    ti_fb_begin(&e->w);
    if (node->op == TC_OP_tosa_cast_unsigned)
        ti_fb_set_u8(&e->w, TOSA_CAST_INPUT_UNSIGNED, true, false);
    for (int i = 0; i < n; i++)
        set_field(e, (uint32_t)i, &info->field[i], (const char *)node->attr + info->field[i].at,
                  ref[i]);
    *out = ti_fb_end(&e->w);
    return TC_OK;
}

static tc_fb_ref put_location(emitter *e, const tc_loc *loc)
{
    if (!loc->place)
        return 0;
    tc_fb_ref text = put_text(e, loc->place);
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, TOSA_LOCATION_TEXT, text);
    return ti_fb_end(&e->w);
}

static tc_status put_operator(emitter *e, const tc_node *node, uint32_t number, uint32_t tag,
                              tc_fb_ref in, tc_fb_ref out)
{
    tc_fb_ref attr, location = put_location(e, node->loc);
    TC_TRY(put_attr(e, node, &attr));
    ti_fb_begin(&e->w);
    ti_fb_set_u32(&e->w, TOSA_OPERATOR_OP, number, 0);
    ti_fb_set_ref(&e->w, TOSA_OPERATOR_ATTRIBUTE, attr);
    ti_fb_set_ref(&e->w, TOSA_OPERATOR_INPUTS, in);
    ti_fb_set_ref(&e->w, TOSA_OPERATOR_OUTPUTS, out);
    ti_fb_set_ref(&e->w, TOSA_OPERATOR_LOCATION, location);
    ti_fb_set_u8(&e->w, TOSA_OPERATOR_ATTRIBUTE_TYPE, (uint8_t)tag, 0);
    ADD(e, op, ti_fb_end(&e->w));
    return TC_OK;
}

static tc_status put_variable_op(emitter *e, const tc_node *node)
{
    const tc_attr_tosa_variable *a = node->attr;
    const char *tensor = ti_map_get(&e->var_tensor, ti_str_of(a->name));
    if (node->op == TC_OP_tosa_variable)
        return TC_OK;
    tc_fb_ref text = put_text(e, tensor), variable = ti_fb_put_refs(&e->w, &text, 1);
    bool reads = node->op == TC_OP_tosa_variable_read;
    tc_fb_ref value = put_names(e, reads ? node->out : node->in, 1);
    return put_operator(e, node, tc_ops[TC_OP_tosa_identity].tosa, tc_ops[node->op].tosa,
                        reads ? variable : value, reads ? value : variable);
}

static tc_status put_node(emitter *e, const tc_node *node)
{
    const tc_op_info *info = &tc_ops[node->op];
    if (!info->tosa)
        return ti_error(e->ctx, node->loc, TC_E_STRUCTURE, "'%s' has no TOSA form",
                        info->name);
    for (int i = 0; i < node->n_in; i++)
        if (!node->in[i])
            return ti_error(e->ctx, node->loc, TC_E_STRUCTURE, "operand %d of '%s' is missing", i,
                            info->name);
    if (info->attr == TC_ATTR_tosa_variable)
        return put_variable_op(e, node);
    tc_node shader = *node;
    if (node->op == TC_OP_tosa_shader) {
        tc_attr_tosa_custom *custom = tc_new(&e->ctx->arena, tc_attr_tosa_custom);
        const char *why = ti_emit_custom_shader(e->ctx, node, custom);
        if (why)
            return ti_unsupported(e->ctx, node->loc, TC_E_UNSUPPORTED,
                                  "a shader cannot be a custom operator of TOSA: %s", why);
        shader.op = TC_OP_tosa_custom;
        shader.attr = custom;
        node = &shader;
    }
    if (node->op == TC_OP_const && e->silent[node->out[0]])
        return TC_OK;
    bool shape = node->op == TC_OP_const && ti_type_of(e->g, node->out[0])->dtype == TC_shape;
    uint32_t number = shape ? TC_TOSA_CONST_SHAPE : info->tosa;
    tc_fb_ref results = put_names(e, node->out, (size_t)node->n_out);
    tc_fb_ref operands = put_names(e, node->in, (size_t)node->n_in);
    return put_operator(e, node, number, number, operands, results);
}

/* The IDENTITYs that make those tensors, and the names of all outputs. */
static tc_status put_outputs(emitter *e, tc_fb_ref *out)
{
    const tc_graph *g = e->g;
    static const tc_loc nowhere;
    const tc_node pass = {.op = TC_OP_tosa_identity, .loc = &nowhere};
    const uint32_t number = tc_ops[pass.op].tosa;
    tc_fb_ref *ref = tc_new_n(&e->ctx->scratch, tc_fb_ref, g->n_out);
    for (size_t i = 0; i < g->n_out; i++) {
        ref[i] = put_text(e, e->passed[i] ? e->passed[i] : e->name[g->out[i]]);
        if (e->passed[i]) {
            tc_fb_ref result = ti_fb_put_refs(&e->w, &ref[i], 1);
            tc_fb_ref operand = put_names(e, &g->out[i], 1);
            TC_TRY(put_operator(e, &pass, number, number, operand, result));
        }
    }
    *out = ti_fb_put_refs(&e->w, ref, g->n_out);
    return TC_OK;
}

/* ---- blocks, regions, the file --------------------------------------------------------------- */

static tc_fb_ref put_block(emitter *e, tc_fb_ref name, tc_fb_ref out)
{
    tc_fb_ref in = put_names(e, e->g->in, e->g->n_in);
    tc_fb_ref op = ti_fb_put_refs(&e->w, e->op, e->n_op);
    tc_fb_ref tensor = ti_fb_put_refs(&e->w, e->tensor, e->n_tensor);
    tc_fb_ref shape = ti_fb_put_refs(&e->w, e->shape, e->n_shape);
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, TOSA_BLOCK_NAME, name);
    ti_fb_set_ref(&e->w, TOSA_BLOCK_OPERATORS, op);
    ti_fb_set_ref(&e->w, TOSA_BLOCK_TENSORS, tensor);
    ti_fb_set_ref(&e->w, TOSA_BLOCK_INPUTS, in);
    ti_fb_set_ref(&e->w, TOSA_BLOCK_OUTPUTS, out);
    ti_fb_set_ref(&e->w, TOSA_BLOCK_SHAPES, shape);
    return ti_fb_end(&e->w);
}

static tc_status put_region(emitter *e, const tc_graph *g, tc_fb_ref *out)
{
    tc_arena *arena = &e->ctx->arena;
    e->g = g;
    e->n_tensor = e->n_shape = e->n_op = 0;
    e->name = tc_new_n(arena, const char *, g->n_val);
    e->passed = tc_new_n(arena, const char *, g->n_out);
    e->silent = tc_new_n(arena, bool, g->n_val);
    ti_map_init(&e->taken, arena);
    ti_map_init(&e->var_tensor, arena);
    if (g->n_mutation)
        return ti_unsupported(e->ctx, &(tc_loc){.file = e->module->file}, TC_E_UNSUPPORTED,
                              "graph '%s' changes %zu buffers, which a TOSA file cannot hold",
                              g->name, g->n_mutation);
    find_silent(e);
    name_values(e);
    TC_TRY(put_values(e));
    put_passed(e);
    TC_TRY(put_variables(e));
    for (size_t i = 0; i < g->n_node; i++)
        TC_TRY(put_node(e, g->node[i]));
    tc_fb_ref outputs;
    TC_TRY(put_outputs(e, &outputs));
    tc_fb_ref name = put_text(e, g == ti_main(e->module) ? "main" : g->name);
    tc_fb_ref block = put_block(e, name, outputs);
    tc_fb_ref blocks = ti_fb_put_refs(&e->w, &block, 1);
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, TOSA_REGION_NAME, name);
    ti_fb_set_ref(&e->w, TOSA_REGION_BLOCKS, blocks);
    *out = ti_fb_end(&e->w);
    return TC_OK;
}

/* 1.0.0, no draft: what every reader of TOSA accepts.  1.1.0 is a draft still. */
static tc_fb_ref put_version(emitter *e, int minor)
{
    const uint32_t missing = (uint32_t)-1;
    ti_fb_begin(&e->w);
    ti_fb_set_u32(&e->w, TOSA_VERSION_MAJOR, 1, missing);
    ti_fb_set_u32(&e->w, TOSA_VERSION_MINOR, (uint32_t)minor, missing);
    ti_fb_set_u32(&e->w, TOSA_VERSION_PATCH, 0, missing);
    ti_fb_set_u8(&e->w, TOSA_VERSION_DRAFT, minor > 0, 1);
    return ti_fb_end(&e->w);
}

/* Readers that do not know block-scaled tensors would take them for plain ones: this stops those
 * that look. */
static tc_fb_ref put_compatibility(emitter *e)
{
    if (!e->block_scaled)
        return 0;
    ti_fb_begin(&e->w);
    ti_fb_set_u64(&e->w, TOSA_COMPATIBILITY_FEATURES, UINT64_C(1) << TC_TOSA_FEATURE_MXFP, 0);
    return ti_fb_end(&e->w);
}

/* A guess at the file's size: the constants, and something for each node. */
static size_t expected_size(const tc_module *module)
{
    enum { PER_NODE = 256 };
    size_t size = 4096;
    for (size_t i = 0; i < module->n_graph; i++) {
        const tc_graph *g = module->graph[i];
        size += g->n_node * PER_NODE;
        for (size_t k = 1; k < g->n_val; k++)
            if (g->val[k]->data)
                size += tc_type_bytes(g->val[k]->type);
    }
    return size;
}

tc_status ti_emit_tosa(tc_ctx *ctx, const tc_module *module, tc_bytes *out)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    emitter e = {.ctx = ctx, .module = module};
    ti_fb_write(&e.w, &ctx->arena, expected_size(module));
    collect_variables(&e);
    tc_fb_ref *region = tc_new_n(&ctx->scratch, tc_fb_ref, module->n_graph);
    for (size_t i = 0; i < module->n_graph; i++)
        TC_TRY(put_region(&e, module->graph[i], &region[i]));
    tc_fb_ref regions = ti_fb_put_refs(&e.w, region, module->n_graph);
    tc_fb_ref version = put_version(&e, ti_tosa_minor(module));
    tc_fb_ref compatibility = put_compatibility(&e);
    ti_fb_begin(&e.w);
    ti_fb_set_ref(&e.w, TOSA_GRAPH_VERSION, version);
    ti_fb_set_ref(&e.w, TOSA_GRAPH_REGIONS, regions);
    ti_fb_set_ref(&e.w, TOSA_GRAPH_COMPATIBILITY, compatibility);
    tc_bytes bytes = ti_fb_finish(&e.w, ti_fb_end(&e.w), TC_TOSA_IDENTIFIER);
    ti_arena_rewind(&ctx->scratch, mark);
    if (!bytes.data)
        return ti_error(ctx, &(tc_loc){.file = module->file}, TC_E_TOO_LARGE,
                        "the file would be larger than 2 GiB, the most that a flatbuffer can hold");
    *out = bytes;
    return TC_OK;
}
