/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_graph.c -- a graph in the TOSA form to a SPIR-V graph module (SPV_ARM_graph,
 * SPV_ARM_tensors).
 *
 * Dead code is dropped, inputs stay.  Small constants are inline, larger ones are
 * OpGraphConstantARM, numbered in the order of the graph.  IDENTITY, and a RESHAPE, PAD, SLICE or
 * TILE that moves nothing, is the value itself.  Names of values (vgf_names.c) are OpName,
 * quantization of inputs and outputs is OpModuleProcessed: debug information, which readers may
 * ignore. */
#include "vgf_graph.h"

#include "../num/load.h"
#include "../target/vgf_schema.h"
#include "../wire/spirv.h"

typedef struct {
    tc_ctx *ctx;
    const tc_graph *g;
    tc_vgf_code *code;
    tc_spv_writer w;
    uint32_t *id; /* by value; 0: not there */
    bool *live;   /* by value: an output needs it */
    tc_map types;     /* a tc_type's address to its id */
    uint32_t small[64]; /* ids of small integers, once created */
    tc_map constants; /* ids of the large ones that are there, by number */
    tc_vgf_pool *pool;
    const bool *is_unsigned; /* by value */
    tc_map inlined;   /* the small ones, by type and bytes */
    uint32_t element[TC_DTYPE_COUNT]; /* ids of element types, once they are there */
    uint32_t set; /* the TOSA instructions; 0: none used so far */
} emitter;

/* ---- types ----------------------------------------------------------------------------------- */

#define UNIQUE(e, op, type, ...) TC_SPV_UNIQUE(&(e)->w, op, type, __VA_ARGS__)

static uint32_t new_element_type(emitter *e, tc_dtype dtype)
{
    switch (dtype) {
    case TC_bool:
        return ti_spv_bool(&e->w);
    case TC_f32:
        return ti_spv_float(&e->w, 32, TC_SPV_IEEE);
    case TC_f16:
        return ti_spv_float(&e->w, 16, TC_SPV_IEEE);
    case TC_bf16:
        return ti_spv_float(&e->w, 16, TC_SPV_BFLOAT16);
    case TC_e4m3:
        return ti_spv_float(&e->w, 8, TC_SPV_E4M3);
    case TC_e5m2:
        return ti_spv_float(&e->w, 8, TC_SPV_E5M2);
    case TC_shape:
        return ti_spv_int(&e->w, 32);
    default: /* i4 takes a byte, i48 eight */
        return ti_spv_int(&e->w, 8u * tc_dtypes[dtype].bytes);
    }
}

static uint32_t element_type(emitter *e, tc_dtype dtype)
{
    uint32_t *id = &e->element[dtype];
    if (!*id)
        *id = new_element_type(e, dtype);
    return *id;
}

static uint32_t u32_constant(emitter *e, uint32_t v)
{
    uint32_t *known = v < TC_COUNT(e->small) ? &e->small[v] : NULL;
    if (known && *known)
        return *known;
    uint32_t id = UNIQUE(e, TC_SPV_Constant, element_type(e, TC_i32), v);
    if (known)
        *known = id;
    return id;
}

static uint32_t tensor_type(emitter *e, tc_dtype dtype, int32_t rank, const int64_t *dim)
{
    uint32_t extent[TC_MAX_RANK], u32 = element_type(e, TC_i32), n = (uint32_t)rank;
    for (int32_t i = 0; i < rank; i++)
        extent[i] = u32_constant(e, (uint32_t)dim[i]);
    uint32_t list = UNIQUE(e, TC_SPV_TypeArray, 0, u32, u32_constant(e, n));
    uint32_t shape = ti_spv_unique(&e->w, TC_SPV_ConstantComposite, list, extent, n);
    uint32_t element = element_type(e, dtype), axes = u32_constant(e, n);
    return UNIQUE(e, TC_SPV_TypeTensorARM, 0, element, axes, shape);
}

static uint32_t value_type(emitter *e, tc_val v)
{
    const int64_t *dim;
    const tc_type *type = ti_type_of(e->g, v);
    void **known = ti_map_at(&e->types, (tc_str){(const char *)&type, sizeof type});
    if (!*known) {
        int32_t rank = ti_vgf_dims(type, &dim);
        *known = (void *)(uintptr_t)tensor_type(e, type->dtype, rank, dim);
    }
    return (uint32_t)(uintptr_t)*known;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* One element; narrow ones are padded with zeros, wide ones have their low word first. */
static uint32_t scalar(emitter *e, tc_dtype dtype, const uint8_t *at)
{
    uint32_t type = element_type(e, dtype), low = 0;
    size_t bytes = tc_dtypes[dtype].bytes;
    if (dtype == TC_bool)
        return ti_spv_unique(&e->w, *at ? TC_SPV_ConstantTrue : TC_SPV_ConstantFalse, type, NULL,
                             0);
    memcpy(&low, at, bytes < 4 ? bytes : 4);
    if (bytes < 8 || dtype == TC_shape)
        return UNIQUE(e, TC_SPV_Constant, type, low);
    uint32_t high;
    memcpy(&high, at + 4, 4);
    return UNIQUE(e, TC_SPV_Constant, type, low, high);
}

static bool all_zero(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i])
            return false;
    return true;
}

/* A composite of the slices along the first axis. */
static uint32_t slices(emitter *e, tc_dtype dtype, int32_t rank, const int64_t *dim,
                       const uint8_t *at)
{
    enum { MOST = TC_VGF_INLINE > TC_VGF_INLINE_SHAPE ? TC_VGF_INLINE : TC_VGF_INLINE_SHAPE };
    uint32_t part[MOST], type = tensor_type(e, dtype, rank, dim);
    size_t bytes = (size_t)ti_dims_count(rank, dim) * tc_dtypes[dtype].bytes, n = (size_t)dim[0];
    assert(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *slice = at + i * (bytes / n);
        part[i] = rank == 1 ? scalar(e, dtype, slice) : slices(e, dtype, rank - 1, dim + 1, slice);
    }
    return ti_spv_unique(&e->w, TC_SPV_ConstantComposite, type, part, n);
}

/* A tensor of few elements.  Null is used for a whole tensor only: Arm's emulation layer does not
 * accept it inside another constant. */
static uint32_t composite(emitter *e, tc_dtype dtype, int32_t rank, const int64_t *dim,
                          const uint8_t *at)
{
    if (all_zero(at, (size_t)ti_dims_count(rank, dim) * tc_dtypes[dtype].bytes))
        return ti_spv_unique(&e->w, TC_SPV_ConstantNull, tensor_type(e, dtype, rank, dim), NULL, 0);
    return slices(e, dtype, rank, dim, at);
}

static tc_status outside(emitter *e, const tc_loc *loc, const char *what)
{
    return ti_error(e->ctx, loc, TC_E_TOSA_PROFILE, "a VGF file cannot hold %s", what);
}

/* The index of a large constant: with others of its type that begin with the same bytes. */
static void **constant_slot(tc_vgf_pool *pool, const tc_value *v)
{
    enum { LOOK = 64 };
    struct {
        const tc_type *type;
        uint8_t first[LOOK];
    } key = {.type = v->type};
    memcpy(key.first, v->data, tc_type_bytes(v->type) < LOOK ? tc_type_bytes(v->type) : LOOK);
    return ti_map_at(&pool->by_start, (tc_str){(const char *)&key, sizeof key});
}

typedef struct same_start {
    uint32_t number;
    struct same_start *next;
} same_start;

/* The number of a constant in the file; equal ones are one. */
static uint32_t pool_number(tc_vgf_pool *pool, const tc_value *value, bool is_unsigned)
{
    void **slot = constant_slot(pool, value);
    for (const same_start *s = *slot; s; s = s->next)
        if (memcmp(pool->v[s->number].value->data, value->data, tc_type_bytes(value->type)) == 0 &&
            pool->v[s->number].is_unsigned == is_unsigned)
            return s->number;
    same_start *own = tc_new(pool->arena, same_start);
    *own = (same_start){(uint32_t)pool->n, *slot};
    *slot = own;
    tc_grow(pool->arena, pool->v, pool->n, pool->cap);
    pool->v[pool->n++] = (struct tc_vgf_pooled){value, is_unsigned};
    return own->number;
}

void ti_vgf_pool_init(tc_vgf_pool *pool, tc_arena *arena)
{
    *pool = (tc_vgf_pool){.arena = arena};
    ti_map_init(&pool->by_start, arena);
}

static uint32_t graph_constant(emitter *e, tc_val v)
{
    tc_vgf_code *code = e->code;
    uint32_t number = pool_number(e->pool, ti_value_of(e->g, v), e->is_unsigned[v]);
    void **known = ti_map_at(&e->constants, (tc_str){(const char *)&number, sizeof number});
    if (*known)
        return (uint32_t)(uintptr_t)*known;
    uint32_t type = value_type(e, v), id = ti_spv_id(&e->w);
    TC_SPV_PUT(&e->w, TC_SPV_GLOBALS, TC_SPV_GraphConstantARM, type, id, number);
    tc_grow(&e->ctx->arena, code->constant, code->n_constant, code->cap_constant);
    code->constant[code->n_constant++] = number;
    *known = (void *)(uintptr_t)id;
    return id;
}

/* A small constant of the graph: the same bytes of the same type are one. */
static uint32_t inline_constant(emitter *e, const tc_type *type, const void *data)
{
    enum { MOST = 8 * (TC_VGF_INLINE > TC_VGF_INLINE_SHAPE ? TC_VGF_INLINE : TC_VGF_INLINE_SHAPE) };
    uint8_t key[sizeof type + MOST];
    const int64_t *dim;
    size_t bytes = tc_type_bytes(type);
    assert(bytes <= MOST);
    memcpy(key, &type, sizeof type);
    memcpy(key + sizeof type, data, bytes);
    void **known = ti_map_at(&e->inlined, (tc_str){(const char *)key, sizeof type + bytes});
    if (!*known) {
        int32_t rank = ti_vgf_dims(type, &dim);
        *known = (void *)(uintptr_t)composite(e, type->dtype, rank, dim, data);
    }
    return (uint32_t)(uintptr_t)*known;
}

static tc_status put_const(emitter *e, const tc_node *node)
{
    tc_val v = node->out[0];
    const tc_type *type = ti_type_of(e->g, v);
    const void *data = ti_value_of(e->g, v)->data;
    int64_t n = tc_type_count(type);
    if (type->dtype == TC_shape && !n) { /* the shape of one element */
        e->id[v] = composite(e, TC_shape, 1, &(int64_t){1}, (const uint8_t *)&(int64_t){1});
        return TC_OK;
    }
    if (type->dtype == TC_shape && n > TC_VGF_INLINE_SHAPE)
        return outside(e, node->loc, "a shape of more than 32 numbers");
    bool small = n <= (type->dtype == TC_shape ? TC_VGF_INLINE_SHAPE : TC_VGF_INLINE);
    e->id[v] = small ? inline_constant(e, type, data) : graph_constant(e, v);
    return TC_OK;
}

/* ---- operators ------------------------------------------------------------------------------- */

/* IDENTITY, and what moves nothing: RESHAPE, PAD, SLICE and TILE to the same shape. */
static bool is_forwarded(const emitter *e, const tc_node *node)
{
    const int64_t *from, *to;
    if (node->op != TC_OP_tosa_reshape && node->op != TC_OP_tosa_pad &&
        node->op != TC_OP_tosa_slice && node->op != TC_OP_tosa_tile)
        return node->op == TC_OP_tosa_identity && node->n_in == 1;
    if (!node->n_in || !ti_type_of(e->g, node->in[0]) || !ti_type_of(e->g, node->out[0]))
        return false;
    int32_t rank = ti_vgf_dims(ti_type_of(e->g, node->in[0]), &from);
    return rank == ti_vgf_dims(ti_type_of(e->g, node->out[0]), &to) &&
           memcmp(from, to, (size_t)rank * sizeof *from) == 0;
}

static uint32_t list_operand(emitter *e, const tc_ints *list)
{
    int64_t n = list->n;
    return composite(e, TC_shape, 1, &n, (const uint8_t *)list->v);
}

/* A field of the attribute record as an operand. */
static uint32_t field_operand(emitter *e, const tc_node *node, const tc_field *field)
{
    const void *at = (const char *)node->attr + field->at;
    switch (field->kind) {
    case TC_FIELD_i64:
        return u32_constant(e, (uint32_t)*(const int64_t *)at);
    case TC_FIELD_bool:
        return scalar(e, TC_bool, at);
    case TC_FIELD_ints:
        return list_operand(e, at);
    case TC_FIELD_dtype:
        return u32_constant(e, ti_vgf_acc_type(*(const tc_dtype *)at));
    case TC_FIELD_f64: { /* one element of the operand's type */
        int64_t room = 0;
        tc_dtype element = ti_type_of(e->g, node->in[0])->dtype;
        ti_store_f64((tc_tensor){&(tc_type){.dtype = element}, &room}, 0, *(const double *)at);
        return scalar(e, element, (const uint8_t *)&room);
    }
    default: { /* a choice */
        int choice;
        memcpy(&choice, at, sizeof choice);
        return u32_constant(e, (uint32_t)choice);
    }
    }
}

/* Lists that the file could not hold: a broken graph, which the judge would refuse. */
static tc_status check_lists(emitter *e, const tc_node *node, const tc_attr_info *attr)
{
    for (int i = 0; i < attr->n_field; i++) {
        const tc_ints *list = (const void *)((const char *)node->attr + attr->field[i].at);
        if (attr->field[i].kind == TC_FIELD_ints && (list->n < 1 || list->n > TC_VGF_INLINE_SHAPE))
            return ti_error(e->ctx, node->loc, TC_E_ARGUMENT, "%s has %d numbers, expected 1 to %d",
                            attr->field[i].name, list->n, TC_VGF_INLINE_SHAPE);
    }
    return TC_OK;
}

static void name_id(emitter *e, uint32_t id, tc_val v)
{
    if (e->code->name[v])
        ti_spv_put_text(&e->w, TC_SPV_NAMES, TC_SPV_Name, &id, 1, e->code->name[v], NULL, 0);
}

/* Several results come as a struct and are taken out of it. */
static void put_results(emitter *e, const tc_node *node, uint32_t struct_id)
{
    for (int i = 0; i < node->n_out; i++) {
        uint32_t id = ti_spv_id(&e->w);
        TC_SPV_PUT(&e->w, TC_SPV_BODY, TC_SPV_CompositeExtract, value_type(e, node->out[i]), id,
                   struct_id, (uint32_t)i);
        e->id[node->out[i]] = id;
        name_id(e, id, node->out[i]);
    }
}

static uint32_t result_type(emitter *e, const tc_node *node)
{
    uint32_t part[2];
    if (node->n_out == 1)
        return value_type(e, node->out[0]);
    assert(node->n_out == 2);
    for (int i = 0; i < 2; i++)
        part[i] = value_type(e, node->out[i]);
    return ti_spv_unique(&e->w, TC_SPV_TypeStruct, 0, part, 2);
}

static tc_status put_node(emitter *e, const tc_node *node)
{
    const tc_attr_info *attr = &tc_attrs[tc_ops[node->op].attr];
    int instruction = ti_vgf_instruction(node->op);
    if (instruction < 0)
        return outside(e, node->loc, tc_ops[node->op].name);
    TC_TRY(check_lists(e, node, attr));
    e->set = e->set ? e->set : ti_spv_id(&e->w);
    size_t n = 0;
    uint32_t *word = tc_new_n(&e->ctx->scratch, uint32_t, (size_t)(4 + attr->n_field + node->n_in));
    word[n++] = result_type(e, node);
    uint32_t id = word[n++] = ti_spv_id(&e->w);
    word[n++] = e->set;
    word[n++] = (uint32_t)instruction;
    for (int i = 0; i < attr->n_field; i++)
        word[n++] = field_operand(e, node, &attr->field[ti_vgf_field(attr, i)]);
    for (int i = 0; i < node->n_in; i++)
        word[n++] = e->id[node->in[i]];
    ti_spv_put(&e->w, TC_SPV_BODY, TC_SPV_ExtInst, word, n);
    if (node->n_out > 1) {
        put_results(e, node, id);
        return TC_OK;
    }
    e->id[node->out[0]] = id;
    name_id(e, id, node->out[0]);
    return TC_OK;
}

static tc_status put_nodes(emitter *e)
{
    for (size_t i = 0; i < e->g->n_node; i++) {
        const tc_node *node = e->g->node[i];
        bool live = false;
        for (int k = 0; k < node->n_out; k++)
            live |= e->live[node->out[k]];
        if (!live && !(tc_ops[node->op].traits & T_STATE))
            continue;
        if (node->op == TC_OP_const)
            TC_TRY(put_const(e, node));
        else if (is_forwarded(e, node))
            e->id[node->out[0]] = e->id[node->in[0]];
        else
            TC_TRY(put_node(e, node));
    }
    return TC_OK;
}

/* ---- the module ------------------------------------------------------------------------------ */

static void mark_live(emitter *e)
{
    const tc_graph *g = e->g;
    for (size_t i = 0; i < g->n_out; i++)
        e->live[g->out[i]] = true;
    for (size_t i = g->n_node; i-- > 0;) {
        const tc_node *node = g->node[i];
        bool live = false;
        for (int k = 0; k < node->n_out; k++)
            live |= e->live[node->out[k]];
        int n_in = is_forwarded(e, node) ? 1 : node->n_in;
        for (int k = 0; k < n_in && live; k++)
            e->live[node->in[k]] = true;
    }
}

static tc_status check_type(emitter *e, tc_val v)
{
    const tc_value *value = ti_value_of(e->g, v);
    const tc_loc *loc =
        value->def ? value->def->loc : &(tc_loc){.file = e->g->module->file, .node = value->name};
    if (!value->type)
        return ti_bug(e->ctx, loc, "value %" PRIu32 " of graph '%s' has no type", v, e->g->name);
    tc_dtype dtype = value->type->dtype;
    if (dtype == TC_shape ? !value->data : !ti_vgf_format(dtype, false))
        return outside(
            e, loc, dtype == TC_shape ? "a shape that is not a constant" : tc_dtypes[dtype].name);
    for (int32_t i = 0; i < value->type->rank; i++)
        if (value->type->dim[i] < (dtype != TC_shape) || value->type->dim[i] > INT32_MAX)
            return ti_error(e->ctx, loc, TC_E_SHAPE, "a tensor has the shape %s",
                            ti_dims_text(&e->ctx->arena, value->type->rank, value->type->dim));
    return TC_OK;
}

/* Types of what is written, and no operand left out. */
static tc_status check(emitter *e)
{
    const tc_graph *g = e->g;
    for (size_t i = 0; i < g->n_in; i++)
        TC_TRY(check_type(e, g->in[i]));
    for (size_t i = 1; i < g->n_val; i++)
        if (e->live[i])
            TC_TRY(check_type(e, (tc_val)i));
    for (size_t i = 0; i < g->n_node; i++)
        for (int k = 0; k < g->node[i]->n_in; k++)
            if (!g->node[i]->in[k])
                return ti_error(e->ctx, g->node[i]->loc, TC_E_STRUCTURE,
                                "operand %d of '%s' is missing", k, tc_ops[g->node[i]->op].name);
    if (!g->n_out)
        return ti_error(e->ctx, &(tc_loc){.file = g->module->file}, TC_E_STRUCTURE,
                        "the graph has no output");
    return TC_OK;
}

/* The variable that a binding fills or takes. */
static uint32_t interface(emitter *e, uint32_t type, uint32_t binding)
{
    uint32_t pointer = UNIQUE(e, TC_SPV_TypePointer, 0, TC_SPV_UNIFORM_CONSTANT, type),
             id = ti_spv_id(&e->w);
    TC_SPV_PUT(&e->w, TC_SPV_GLOBALS, TC_SPV_Variable, pointer, id, TC_SPV_UNIFORM_CONSTANT);
    TC_SPV_PUT(&e->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, id, TC_SPV_DESCRIPTOR_SET, 0);
    TC_SPV_PUT(&e->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, id, TC_SPV_BINDING, binding);
    return id;
}

static void put_quant(emitter *e, const char *what, size_t i, tc_val v)
{
    const tc_type *type = ti_type_of(e->g, v);
    if (!type->quant)
        return;
    const char *text = ti_type_text(&e->ctx->arena, type), *q = strstr(text, "q(");
    const char *note =
        ti_text_format(&e->ctx->arena, TC_VGF_QUANT " %s %zu %s", what, i, q ? q : "");
    ti_spv_put_text(&e->w, TC_SPV_NOTES, TC_SPV_ModuleProcessed, NULL, 0, note, NULL, 0);
}

/* The graph's type and its interface, inputs and then outputs. */
static void put_signature(emitter *e, uint32_t graph)
{
    const tc_graph *g = e->g;
    size_t n = g->n_in + g->n_out;
    uint32_t *variable = tc_new_n(&e->ctx->scratch, uint32_t, n),
             *type = tc_new_n(&e->ctx->scratch, uint32_t, n + 1);
    type[0] = (uint32_t)g->n_in;
    for (size_t i = 0; i < n; i++) {
        bool in = i < g->n_in;
        tc_val v = in ? g->in[i] : g->out[i - g->n_in];
        type[i + 1] = value_type(e, v);
        variable[i] = interface(e, type[i + 1], (uint32_t)i);
        name_id(e, variable[i], v);
        put_quant(e, in ? "input" : "output", in ? i : i - g->n_in, v);
    }
    uint32_t graph_type = ti_spv_unique(&e->w, TC_SPV_TypeGraphARM, 0, type, n + 1);
    ti_spv_put_text(&e->w, TC_SPV_ENTRIES, TC_SPV_GraphEntryPointARM, &graph, 1, TC_VGF_ENTRY,
                    variable, n);
    TC_SPV_PUT(&e->w, TC_SPV_BODY, TC_SPV_GraphARM, graph_type, graph);
    for (size_t i = 0; i < g->n_in; i++) {
        e->id[g->in[i]] = ti_spv_id(&e->w);
        TC_SPV_PUT(&e->w, TC_SPV_BODY, TC_SPV_GraphInputARM, type[i + 1], e->id[g->in[i]],
                   u32_constant(e, (uint32_t)i));
    }
}

/* Capabilities and extensions, now that it is known what is used. */
static void put_head(emitter *e)
{
    static const uint32_t always[] = {TC_SPV_CAP_TENSORS, TC_SPV_CAP_GRAPH,
                                      TC_SPV_CAP_VULKAN_MEMORY_MODEL, TC_SPV_CAP_SHADER,
                                      TC_SPV_CAP_MATRIX};
    static const char *const extension[] = {"SPV_ARM_tensors", "SPV_ARM_graph",
                                            "SPV_KHR_vulkan_memory_model"};
    ti_spv_need(&e->w, TC_SPV_CAP_INT8);
    ti_spv_put_capabilities(&e->w, always, TC_COUNT(always));
    ti_spv_put_extensions(&e->w, extension, TC_COUNT(extension));
    if (e->set)
        ti_spv_put_text(&e->w, TC_SPV_HEAD, TC_SPV_ExtInstImport, &e->set, 1, TC_VGF_TOSA_SET, NULL,
                        0);
    TC_SPV_PUT(&e->w, TC_SPV_HEAD, TC_SPV_MemoryModel, TC_SPV_LOGICAL, TC_SPV_MEMORY_VULKAN);
}

/* A second id for a value that is an output twice: Arm's emulation layer writes only one of two
 * outputs that share an id.  (i48 has no identity operator.) */
static uint32_t second_id(emitter *e, tc_val v, uint32_t id)
{
    const int64_t *dim;
    const tc_type *type = ti_type_of(e->g, v);
    int64_t rank = ti_vgf_dims(type, &dim);
    if (type->dtype == TC_i48)
        return id;
    e->set = e->set ? e->set : ti_spv_id(&e->w);
    uint32_t shape = composite(e, TC_shape, 1, &rank, (const uint8_t *)dim),
             copy = ti_spv_id(&e->w);
    TC_SPV_PUT(&e->w, TC_SPV_BODY, TC_SPV_ExtInst, value_type(e, v), copy, e->set,
               (uint32_t)ti_vgf_instruction(TC_OP_tosa_reshape), id, shape);
    return copy;
}

static void put_outputs(emitter *e)
{
    const tc_graph *g = e->g;
    uint32_t *id = tc_new_n(&e->ctx->scratch, uint32_t, g->n_out);
    tc_map seen;
    ti_map_init(&seen, &e->ctx->scratch);
    for (size_t i = 0; i < g->n_out; i++) {
        id[i] = e->id[g->out[i]];
        void **slot = ti_map_at(&seen, (tc_str){(const char *)&id[i], sizeof id[i]});
        if (*slot)
            id[i] = second_id(e, g->out[i], id[i]);
        *slot = e;
    }
    for (size_t i = 0; i < g->n_out; i++)
        TC_SPV_PUT(&e->w, TC_SPV_BODY, TC_SPV_GraphSetOutputARM, id[i],
                   u32_constant(e, (uint32_t)i));
}

static tc_status put_module(emitter *e)
{
    mark_live(e);
    TC_TRY(check(e));
    put_signature(e, ti_spv_id(&e->w));
    TC_TRY(put_nodes(e));
    put_outputs(e);
    ti_spv_put(&e->w, TC_SPV_BODY, TC_SPV_GraphEndARM, NULL, 0);
    put_head(e);
    e->code->words = ti_spv_finish(&e->w);
    if (!e->code->words.data)
        return ti_error(e->ctx, &(tc_loc){.file = e->g->module->file}, TC_E_TOO_LARGE,
                        "a list or name is longer than a SPIR-V instruction can be");
    return TC_OK;
}

tc_status ti_vgf_graph(tc_ctx *ctx, const tc_graph *g, tc_vgf_pool *pool, tc_vgf_code *out)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    emitter e = {.ctx = ctx, .g = g, .code = out, .pool = pool};
    *out = (tc_vgf_code){.name = ti_vgf_names(ctx, g)};
    ti_spv_write(&e.w, &ctx->arena);
    ti_map_init(&e.inlined, &ctx->scratch);
    ti_map_init(&e.constants, &ctx->scratch);
    ti_map_init(&e.types, &ctx->scratch);
    e.id = tc_new_n(&ctx->scratch, uint32_t, g->n_val);
    e.live = tc_new_n(&ctx->scratch, bool, g->n_val);
    e.is_unsigned = ti_vgf_unsigned(ctx, g);
    tc_status status = put_module(&e);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
