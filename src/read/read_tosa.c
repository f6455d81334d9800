/* SPDX-License-Identifier: Apache-2.0 */
/* read_tosa.c -- a TOSA flatbuffer, back into a graph.
 *
 * Each region becomes a graph, the first one the program.  Types are the declared ones: nothing is
 * inferred here but ranks that are not declared, so that the judge can hold the declarations against
 * what the operators compute.
 * A variable is declared once, by a tosa_variable node before its graph; files name it by a
 * tensor that is marked as one, read through VARIABLE_READ or IDENTITY and written by
 * VARIABLE_WRITE or IDENTITY. */
#include "read.h"

#include "../ir/settle.h"
#include "../target/tosa_schema.h"
#include "../wire/flatbuf.h"
#include "read_options.h"
#include "tosa_shader.h"

/* A tensor or shape of the block being read. */
typedef struct {
    tc_fb_table table;
    const char *name;
    const char *variable; /* its variable's name; NULL: not one */
    bool is_shape;
    tc_val val; /* TC_NONE until an operator makes it */
} entry;

typedef struct {
    tc_ctx *ctx;
    tc_module *module;
    tc_bytes bytes;
    tc_fb fb;
    tc_map regions; /* names seen so far */
    tc_graph *g;
    tc_map names; /* of the block, to entry */
    tc_val *unranked; /* the graph's values without a rank */
    size_t n_unranked, cap_unranked;
} reader;

/* The location of a record, for messages. */
static const tc_loc *at_byte(reader *r, size_t at)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = r->module->file;
    loc->place = ti_text_format(&r->ctx->arena, "byte %zu", at);
    return loc;
}

/* A broken buffer becomes a message. */
static tc_status broken(reader *r)
{
    if (!r->fb.error)
        return TC_OK;
    return ti_error(r->ctx, at_byte(r, r->fb.error_at), TC_E_FORMAT, "%s", r->fb.error);
}

static tc_status read_version(reader *r, tc_fb_table root)
{
    tc_fb_table v = ti_fb_child(root, TOSA_GRAPH_VERSION);
    TC_TRY(broken(r));
    if (!v.at)
        return ti_error(r->ctx, at_byte(r, root.at), TC_E_FORMAT, "the file has no version");
    int32_t major = ti_fb_i32(v, TOSA_VERSION_MAJOR, -1),
            minor = ti_fb_i32(v, TOSA_VERSION_MINOR, -1);
    int32_t patch = ti_fb_i32(v, TOSA_VERSION_PATCH, -1);
    bool draft = ti_fb_u8(v, TOSA_VERSION_DRAFT, 1) != 0;
    TC_TRY(broken(r));
    if (major != 1 || minor < 0 || minor > 1)
        return ti_unsupported(r->ctx, at_byte(r, v.at), TC_E_VERSION,
                              "the file is of TOSA %d.%d.%d%s; TOSA 1.0 and 1.1 are supported",
                              major, minor, patch, draft ? " draft" : "");
    r->module->origin.tosa_minor = minor;
    r->module->origin.producer = ti_text_format(&r->ctx->arena, "TOSA %d.%d.%d%s", major, minor, patch,
                                         draft ? " draft" : "");
    return TC_OK;
}

/* Features that a reader must know, one bit each. */
static tc_status read_features(reader *r, tc_fb_table root)
{
    tc_fb_table c = ti_fb_child(root, TOSA_GRAPH_COMPATIBILITY);
    uint64_t features = c.at ? ti_fb_u64(c, TOSA_COMPATIBILITY_FEATURES, 0) : 0;
    TC_TRY(broken(r));
    if (features & ~(UINT64_C(1) << TC_TOSA_FEATURE_MXFP))
        return ti_unsupported(r->ctx, at_byte(r, c.at), TC_E_VERSION,
                              "the file has features 0x%" PRIx64 ", of which bit %d is known",
                              features, TC_TOSA_FEATURE_MXFP);
    return TC_OK;
}

static tc_status dtype_of(reader *r, size_t at, uint32_t number, tc_dtype *out)
{
    *out = ti_dtype_from_tosa(number);
    if (number && *out == TC_none)
        return ti_error(r->ctx, at_byte(r, at), TC_E_FORMAT, "element type %" PRIu32 " is unknown",
                        number);
    return TC_OK;
}

/* The type of a shape of n values: shape[n]. */
static tc_status shape_type(reader *r, const entry *e, const tc_type **out)
{
    int64_t n = ti_fb_u32(e->table, TOSA_SHAPE_RANK, 0);
    TC_TRY(broken(r));
    if (ti_dims_count(1, &n) < 0)
        return ti_error(r->ctx, at_byte(r, e->table.at), TC_E_TOO_LARGE,
                        "shape '%s' has %" PRId64 " values", e->name, n);
    *out = ti_type_make(r->ctx, TC_shape, 1, &n);
    return TC_OK;
}

static tc_status dims_of(reader *r, const entry *e, tc_type *type)
{
    size_t at = e->table.at;
    tc_fb_vector shape = ti_fb_list(e->table, TOSA_TENSOR_SHAPE, 4);
    if (ti_fb_u8(e->table, TOSA_TENSOR_IS_UNRANKED, 0))
        return broken(r); /* of rank 0, until its operator decides */
    if (shape.n > TC_MAX_RANK)
        return ti_error(r->ctx, at_byte(r, at), TC_E_TOSA_LEVEL,
                        "tensor '%s' has rank %zu, at most 6 is allowed", e->name, shape.n);
    type->rank = (int32_t)shape.n;
    for (size_t i = 0; i < shape.n; i++)
        type->dim[i] = ti_fb_list_i32(shape, i);
    if (ti_dims_count(type->rank, type->dim) < 0 && !ti_dims_open(type->rank, type->dim))
        return ti_error(r->ctx, at_byte(r, at), TC_E_TOO_LARGE, "tensor '%s' has the shape %s",
                        e->name, ti_dims_text(&r->ctx->arena, type->rank, type->dim));
    return broken(r);
}

/* A tensor with a scale type is block scaled: there is one kind of scale, and one size of block. */
static tc_status scaled_type(reader *r, const entry *e, tc_type *type)
{
    uint32_t scale = ti_fb_u32(e->table, TOSA_TENSOR_SCALE_TYPE, 0),
             block = ti_fb_u32(e->table, TOSA_TENSOR_BLOCK_SHAPE, 0);
    TC_TRY(broken(r));
    if (!scale && !block)
        return TC_OK;
    tc_dtype scaled = ti_block_of(type->dtype);
    bool unranked = ti_fb_u8(e->table, TOSA_TENSOR_IS_UNRANKED, 0) != 0;
    if (scale != (uint32_t)tc_dtypes[TC_ue8m0].tosa || block != TC_TOSA_BLOCK_SHAPE_32 ||
        scaled == TC_none || (!unranked && (type->rank < 1 || type->dim[type->rank - 1] % TC_BLOCK)))
        return ti_error(r->ctx, at_byte(r, e->table.at), TC_E_TYPE,
                        "tensor '%s' has %s in blocks of shape %" PRIu32 " with scales of type %" PRIu32
                        ", expected whole blocks of 32 with scales of type %d",
                        e->name, ti_type_text(&r->ctx->arena, type), block, scale,
                        tc_dtypes[TC_ue8m0].tosa);
    type->dtype = scaled;
    return TC_OK;
}

/* What the file declares of a tensor or shape. */
static tc_status type_of(reader *r, const entry *e, const tc_type **out)
{
    if (e->is_shape)
        return shape_type(r, e, out);
    tc_type type = {.dtype = TC_none};
    TC_TRY(dims_of(r, e, &type));
    TC_TRY(dtype_of(r, e->table.at, ti_fb_u32(e->table, TOSA_TENSOR_TYPE, 0), &type.dtype));
    TC_TRY(broken(r));
    if (type.dtype == TC_none)
        return ti_error(r->ctx, at_byte(r, e->table.at), TC_E_FORMAT,
                        "tensor '%s' has no element type", e->name);
    TC_TRY(scaled_type(r, e, &type));
    *out = ti_type_intern(r->ctx, &type);
    return TC_OK;
}

/* Bytes inside the flatbuffer, or after it if offset says so. */
static tc_bytes bytes_at(reader *r, const entry *e, uint32_t data, uint32_t offset_at,
                         uint32_t size_at)
{
    uint64_t offset = ti_fb_u64(e->table, offset_at, 0), size = ti_fb_u64(e->table, size_at, 0);
    if (offset <= 1)
        return ti_fb_bytes(e->table, data);
    if (offset > r->bytes.size || size > r->bytes.size - offset) {
        ti_fb_fail(&r->fb, e->table.at, "a tensor's data lies past the end of the file");
        return (tc_bytes){NULL, 0};
    }
    return (tc_bytes){r->bytes.data + offset, (size_t)size};
}

/* A constant's bytes. */
static tc_bytes raw_data(reader *r, const entry *e)
{
    return e->is_shape ? ti_fb_bytes(e->table, TOSA_SHAPE_DATA)
                       : bytes_at(r, e, TOSA_TENSOR_DATA, TOSA_TENSOR_OFFSET, TOSA_TENSOR_SIZE);
}

static tc_status too_short(reader *r, const entry *e, const char *what, const tc_type *type,
                           size_t size, size_t need)
{
    return ti_error(r->ctx, at_byte(r, e->table.at), TC_E_TRUNCATED,
                    "'%s' has %zu bytes of %s, its type %s needs %zu", e->name, size, what,
                    ti_type_text(&r->ctx->arena, type), need);
}

/* The scales of a block-scaled constant, into its elements. */
static tc_status scales_into(reader *r, const entry *e, const tc_type *type, void *data)
{
    size_t n = (size_t)tc_type_count(type);
    tc_bytes raw = bytes_at(r, e, TOSA_TENSOR_SCALE_DATA, TOSA_TENSOR_SCALE_OFFSET,
                            TOSA_TENSOR_SCALE_SIZE);
    TC_TRY(broken(r));
    if (raw.size < n / TC_BLOCK)
        return too_short(r, e, "scales", type, raw.size, n / TC_BLOCK);
    ti_tosa_unpack_scales(n, raw.data, data);
    return TC_OK;
}

/* A constant's elements in our form: the file's own bytes where possible. */
static tc_status data_of(reader *r, const entry *e, const tc_type *type, const void **out)
{
    tc_bytes raw = raw_data(r, e);
    TC_TRY(broken(r));
    if (ti_type_open(type))
        return ti_error(r->ctx, at_byte(r, e->table.at), TC_E_DYNAMIC,
                        "the constant '%s' has the open shape %s", e->name,
                        ti_type_text(&r->ctx->arena, type));
    size_t n = (size_t)tc_type_count(type), need = ti_tosa_packed_bytes(type->dtype, n);
    if (raw.size < need)
        return too_short(r, e, "data", type, raw.size, need);
    if (n && ti_tosa_stored_plain(type->dtype) &&
        (uintptr_t)raw.data % tc_dtypes[type->dtype].bytes == 0) {
        *out = raw.data;
        return TC_OK;
    }
    void *data = ti_arena_raw(&r->ctx->arena, tc_type_bytes(type));
    ti_tosa_unpack(type->dtype, n, raw.data, data);
    *out = data;
    return ti_is_block(type->dtype) ? scales_into(r, e, type, data) : TC_OK;
}

static tc_status add_names(reader *r, tc_fb_vector list, bool is_shape)
{
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        tc_str name = ti_fb_string(t, TOSA_TENSOR_NAME);
        TC_TRY(broken(r));
        if (!name.p)
            return ti_error(r->ctx, at_byte(r, t.at), TC_E_FORMAT, "a tensor has no name");
        void **slot = ti_map_at(&r->names, name);
        if (*slot)
            return ti_error(r->ctx, at_byte(r, t.at), TC_E_ORDER, "two tensors are called '%s'",
                            ti_intern(r->ctx, name));
        entry *e = *slot = tc_new(&r->ctx->arena, entry);
        *e = (entry){.table = t, .name = ti_map_key(slot), .is_shape = is_shape};
        if (is_shape || !ti_fb_u8(t, TOSA_TENSOR_VARIABLE, 0))
            continue;
        tc_str variable = ti_fb_string(t, TOSA_TENSOR_VARIABLE_NAME);
        e->variable = variable.n ? ti_intern(r->ctx, variable) : e->name;
    }
    return broken(r);
}

static tc_status find(reader *r, tc_fb_vector list, size_t i, entry **out)
{
    tc_str name = ti_fb_list_string(list, i);
    TC_TRY(broken(r));
    *out = ti_map_get(&r->names, name);
    if (!*out)
        return ti_error(r->ctx, at_byte(r, list.at + 4 * i), TC_E_STRUCTURE,
                        "'%s' is not in the list of tensors", ti_intern(r->ctx, name));
    return TC_OK;
}

/* A value that has been made. */
static tc_status use(reader *r, tc_fb_vector list, size_t i, tc_val *out)
{
    entry *e;
    TC_TRY(find(r, list, i, &e));
    *out = e->val;
    if (e->val)
        return TC_OK;
    const tc_loc *loc = at_byte(r, list.at + 4 * i);
    tc_status status = ti_error(r->ctx, loc, TC_E_ORDER, "'%s' is used before it is defined",
                                e->name);
    if (raw_data(r, e).size)
        ti_note(r->ctx, loc, "a constant needs a CONST operator in front of its first use");
    return status;
}

static tc_status bind(reader *r, entry *e, tc_val val)
{
    if (e->val)
        return ti_error(r->ctx, at_byte(r, e->table.at), TC_E_ORDER, "'%s' is defined twice",
                        e->name);
    e->val = val;
    tc_value *value = ti_value_of(r->g, val);
    value->name = e->name;
    if (!e->is_shape && ti_fb_u8(e->table, TOSA_TENSOR_IS_UNRANKED, 0)) {
        tc_grow(&r->ctx->arena, r->unranked, r->n_unranked, r->cap_unranked);
        r->unranked[r->n_unranked++] = val;
    }
    return type_of(r, e, &value->type);
}

static tc_status field_from(reader *r, tc_fb_table t, uint32_t id, const tc_field *field,
                            tc_dtype element, void *at)
{
    tc_arena *arena = &r->ctx->arena;
    switch (field->kind) {
    case TC_FIELD_i64:
        *(int64_t *)at = ti_fb_i32(t, id, 0);
        return TC_OK;
    case TC_FIELD_bool:
        *(bool *)at = ti_fb_u8(t, id, 0) != 0;
        return TC_OK;
    case TC_FIELD_ints: {
        tc_fb_vector list = ti_fb_list(t, id, 4);
        int64_t *v = tc_new_n(arena, int64_t, list.n);
        for (size_t i = 0; i < list.n; i++)
            v[i] = ti_fb_list_i32(list, i);
        *(tc_ints *)at = (tc_ints){(int32_t)list.n, v};
        return TC_OK;
    }
    case TC_FIELD_text:
        *(const char **)at = ti_intern(r->ctx, ti_fb_string(t, id));
        return TC_OK;
    case TC_FIELD_bytes:
        *(tc_bytes *)at = ti_fb_bytes(t, id);
        return TC_OK;
    case TC_FIELD_dtype:
        return dtype_of(r, t.at, ti_fb_u32(t, id, 0), at);
    case TC_FIELD_f64: {
        tc_bytes raw = ti_fb_bytes(t, id);
        if (raw.size < ti_tosa_packed_bytes(element, 1) && !r->fb.error)
            return ti_error(r->ctx, at_byte(r, t.at), TC_E_FORMAT,
                            "attribute '%s' has %zu bytes, expected %zu", field->name, raw.size,
                            ti_tosa_packed_bytes(element, 1));
        *(double *)at = raw.data ? ti_tosa_number(element, raw.data) : 0;
        return TC_OK;
    }
    default: { /* a choice */
        const tc_choice *choice = &tc_choices[field->kind - TC_FIELD_CHOICES];
        uint32_t v = ti_fb_u32(t, id, 0);
        if (v >= (uint32_t)choice->count)
            return ti_error(r->ctx, at_byte(r, t.at), TC_E_FORMAT,
                            "attribute '%s' is %" PRIu32 ", at most %d is known", field->name, v,
                            choice->count - 1);
        memcpy(at, &(int){(int)v}, sizeof(int));
        return TC_OK;
    }
    }
}

/* The attribute record of an operator; `element` is its first operand's type, which clamp's bounds
 * have. */
static tc_status read_attr(reader *r, tc_fb_table op, tc_attr_kind kind, tc_dtype element,
                           void **out)
{
    const tc_attr_info *info = &tc_attrs[kind];
    *out = NULL;
    if (kind == TC_ATTR_none)
        return TC_OK;
    uint32_t number = ti_fb_u32(op, TOSA_OPERATOR_OP, 0),
             tag = ti_fb_u8(op, TOSA_OPERATOR_ATTRIBUTE_TYPE, 0);
    tc_fb_table t = ti_fb_child(op, TOSA_OPERATOR_ATTRIBUTE);
    TC_TRY(broken(r));
    if (tag != number || !t.at)
        return ti_error(r->ctx, at_byte(r, op.at), TC_E_FORMAT,
                        "operator %" PRIu32 " has the attributes of operator %" PRIu32, number,
                        tag);
    *out = ti_arena_array(&r->ctx->arena, 1, info->size, _Alignof(max_align_t));
    for (int i = 0; i < info->n_field; i++)
        TC_TRY(field_from(r, t, (uint32_t)i, &info->field[i], element,
                          (char *)*out + info->field[i].at));
    return broken(r);
}

/* The declaration of a variable, before its uses; its initial value if the file has one. */
static tc_status declare(reader *r, entry *e)
{
    tc_attr_tosa_variable *attr = tc_new(&r->ctx->arena, tc_attr_tosa_variable);
    attr->name = e->variable;
    const tc_loc *loc = at_byte(r, e->table.at);
    const tc_type *type;
    TC_TRY(type_of(r, e, &type));
    tc_val initial = TC_NONE;
    if (raw_data(r, e).size) {
        const void *data;
        TC_TRY(data_of(r, e, type, &data));
        initial = ti_graph_const(r->g, type, data, NULL, loc);
    }
    tc_node *node =
        ti_graph_add(r->g, TC_OP_tosa_variable, attr, &initial, initial != TC_NONE, 1, loc);
    return bind(r, e, node->out[0]);
}

static tc_status declare_variables(reader *r)
{
    for (size_t i = 0; i < r->names.n; i++) {
        entry *e = r->names.entry[i].value;
        if (e->variable)
            TC_TRY(declare(r, e));
    }
    return broken(r);
}

/* The operator of a record.  Variables are read and written by IDENTITY too: by the kind of
 * tensor. */
static tc_op operator_of(reader *r, tc_fb_table t, uint32_t number, tc_fb_vector in,
                         tc_fb_vector out)
{
    if (number == tc_ops[TC_OP_tosa_cast].tosa &&
        ti_fb_u8(ti_fb_child(t, TOSA_OPERATOR_ATTRIBUTE), TOSA_CAST_INPUT_UNSIGNED, 0))
        return TC_OP_tosa_cast_unsigned;
    if (number == tc_ops[TC_OP_tosa_identity].tosa && in.n == 1 && out.n == 1) {
        const entry *from = ti_map_get(&r->names, ti_fb_list_string(in, 0));
        const entry *to = ti_map_get(&r->names, ti_fb_list_string(out, 0));
        if (to && to->variable)
            return TC_OP_tosa_variable_write;
        if (from && from->variable)
            return TC_OP_tosa_variable_read;
    }
    return ti_op_from_tosa(number);
}

/* VARIABLE, VARIABLE_READ and VARIABLE_WRITE: the variable is among the operands or results. */
static tc_status read_variable_op(reader *r, tc_op op, tc_fb_vector in, tc_fb_vector out,
                                  const tc_loc *loc)
{
    tc_attr_tosa_variable *attr = tc_new(&r->ctx->arena, tc_attr_tosa_variable);
    entry *e = NULL, *result = NULL;
    tc_val operand = TC_NONE;
    for (size_t i = 0; i < in.n; i++) {
        TC_TRY(find(r, in, i, &e));
        attr->name = e->variable ? e->variable : attr->name;
        if (!e->variable)
            TC_TRY(use(r, in, i, &operand));
    }
    for (size_t i = 0; i < out.n; i++) {
        TC_TRY(find(r, out, i, &e));
        attr->name = e->variable ? e->variable : attr->name;
        result = e->variable ? result : e;
    }
    if (op == TC_OP_tosa_variable)
        return TC_OK; /* declared already */
    bool reads = op == TC_OP_tosa_variable_read;
    if (!attr->name || reads != (result != NULL) || reads != (operand == TC_NONE))
        return ti_error(r->ctx, loc, TC_E_STRUCTURE,
                        "'%s' does not name a variable, or has the wrong operands",
                        tc_ops[op].name);
    tc_node *node = ti_graph_add(r->g, op, attr, &operand, !reads, reads, loc);
    return reads ? bind(r, result, node->out[0]) : TC_OK;
}

static tc_status read_const(reader *r, tc_fb_vector out, bool is_shape, const tc_loc *loc)
{
    entry *e;
    const tc_type *type;
    const void *data;
    if (out.n != 1)
        return ti_error(r->ctx, loc, TC_E_TOSA_RULE, "a constant has %zu results, expected 1",
                        out.n);
    TC_TRY(find(r, out, 0, &e));
    if (e->is_shape != is_shape)
        return ti_error(r->ctx, loc, TC_E_TYPE, "'%s' is %s shape", e->name, is_shape ? "no" : "a");
    TC_TRY(type_of(r, e, &type));
    if (!is_shape && ti_fb_u8(e->table, TOSA_TENSOR_IS_UNRANKED, 0))
        return ti_error(r->ctx, loc, TC_E_DYNAMIC, "the constant '%s' has no rank", e->name);
    TC_TRY(data_of(r, e, type, &data));
    return bind(r, e, ti_graph_const(r->g, type, data, e->name, loc));
}

/* The location of an operator: from the file, else its result's or operand's name. */
static const tc_loc *location(reader *r, tc_fb_table op, tc_fb_vector in, tc_fb_vector out,
                              uint32_t number)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = r->module->file;
    tc_str text = ti_fb_string(ti_fb_child(op, TOSA_OPERATOR_LOCATION), TOSA_LOCATION_TEXT);
    if (text.n)
        loc->place = ti_intern(r->ctx, text);
    if (out.n || in.n) {
        tc_str name = ti_fb_list_string(out.n ? out : in, 0);
        const entry *e = ti_map_get(&r->names, name);
        loc->node = e ? e->name : ti_intern(r->ctx, name);
    }
    tc_op known = ti_op_from_tosa(number);
    loc->target = known < TC_OP_COUNT ? tc_ops[known].name : NULL;
    return loc;
}

/* A custom operator that is a shader; one that is not understood stays what it is. */
static tc_op take_shader(reader *r, int n_in, int n_out, const tc_loc *loc, void **attr)
{
    tc_attr_tosa_shader *shader;
    const char *why = ti_read_custom_shader(r->ctx, *attr, n_in, n_out, &shader);
    if (why)
        ti_warning(r->ctx, loc, TC_E_NO_EFFECT, "a custom operator is not taken as a shader: %s",
                   why);
    if (!shader)
        return TC_OP_tosa_custom;
    *attr = shader;
    return TC_OP_tosa_shader;
}

static tc_status read_plain(reader *r, tc_fb_table t, tc_op op, tc_fb_vector in, tc_fb_vector out,
                            const tc_loc *loc)
{
    tc_val *operand = tc_new_n(&r->ctx->arena, tc_val, in.n);
    for (size_t i = 0; i < in.n; i++)
        TC_TRY(use(r, in, i, &operand[i]));
    tc_dtype element = in.n ? ti_type_of(r->g, operand[0])->dtype : TC_i8;
    void *attr;
    TC_TRY(read_attr(r, t, tc_ops[op].attr, element, &attr));
    if (op == TC_OP_tosa_custom)
        op = take_shader(r, (int)in.n, (int)out.n, loc, &attr);
    tc_node *node = ti_graph_add(r->g, op, attr, operand, (int)in.n, (int)out.n, loc);
    for (size_t i = 0; i < out.n; i++) {
        entry *e;
        TC_TRY(find(r, out, i, &e));
        TC_TRY(bind(r, e, node->out[i]));
    }
    return TC_OK;
}

static tc_status read_operator(reader *r, tc_fb_table t)
{
    uint32_t number = ti_fb_u32(t, TOSA_OPERATOR_OP, 0);
    tc_fb_vector in = ti_fb_list(t, TOSA_OPERATOR_INPUTS, 4),
                 out = ti_fb_list(t, TOSA_OPERATOR_OUTPUTS, 4);
    const tc_loc *loc = location(r, t, in, out, number);
    TC_TRY(broken(r));
    if (number == TC_TOSA_CONST_SHAPE || number == tc_ops[TC_OP_const].tosa)
        return read_const(r, out, number == TC_TOSA_CONST_SHAPE, loc);
    tc_op op = operator_of(r, t, number, in, out);
    if (op == TC_OP_COUNT)
        return ti_error(r->ctx, at_byte(r, t.at), TC_E_UNKNOWN_OP,
                        "operator %" PRIu32 " is unknown", number);
    if (tc_ops[op].attr == TC_ATTR_tosa_variable)
        return read_variable_op(r, op, in, out, loc);
    return read_plain(r, t, op, in, out, loc);
}

static tc_status read_block(reader *r, tc_fb_table block)
{
    ti_map_init(&r->names, &r->ctx->arena);
    TC_TRY(add_names(r, ti_fb_list(block, TOSA_BLOCK_TENSORS, 4), false));
    TC_TRY(add_names(r, ti_fb_list(block, TOSA_BLOCK_SHAPES, 4), true));
    tc_fb_vector in = ti_fb_list(block, TOSA_BLOCK_INPUTS, 4),
                 out = ti_fb_list(block, TOSA_BLOCK_OUTPUTS, 4);
    for (size_t i = 0; i < in.n; i++) {
        entry *e;
        TC_TRY(find(r, in, i, &e));
        TC_TRY(bind(r, e, ti_graph_input(r->g, NULL, e->name)));
    }
    TC_TRY(declare_variables(r));
    tc_fb_vector ops = ti_fb_list(block, TOSA_BLOCK_OPERATORS, 4);
    for (size_t i = 0; i < ops.n; i++)
        TC_TRY(read_operator(r, ti_fb_list_table(ops, i)));
    for (size_t i = 0; i < out.n; i++) {
        tc_val val;
        TC_TRY(use(r, out, i, &val));
        ti_graph_output(r->g, val);
    }
    return broken(r);
}

static tc_status read_region(reader *r, tc_fb_table region)
{
    tc_str text = ti_fb_string(region, TOSA_REGION_NAME);
    tc_fb_vector blocks = ti_fb_list(region, TOSA_REGION_BLOCKS, 4);
    TC_TRY(broken(r));
    const char *name = ti_intern(r->ctx, text);
    if (blocks.n != 1)
        return ti_unsupported(r->ctx, at_byte(r, region.at), TC_E_STRUCTURE,
                              "region '%s' has %zu blocks, expected 1", name, blocks.n);
    void **slot = ti_map_at(&r->regions, text);
    if (*slot)
        return ti_error(r->ctx, at_byte(r, region.at), TC_E_STRUCTURE,
                        "two regions are called '%s'", name);
    *slot = r->g = ti_graph_new(r->module, name);
    r->n_unranked = 0;
    TC_TRY(read_block(r, ti_fb_list_table(blocks, 0)));
    return ti_settle_ranks(r->g, r->unranked, r->n_unranked);
}

tc_status ti_read_tosa(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    reader r = {.ctx = ctx, .module = ti_module_new(ctx, file), .bytes = bytes};
    r.module->origin.bytes = bytes.size;
    ti_map_init(&r.regions, &ctx->arena);
    ti_fb_init(&r.fb, bytes, TC_TOSA_IDENTIFIER);
    tc_fb_table root = ti_fb_root(&r.fb);
    TC_TRY(broken(&r));
    TC_TRY(read_version(&r, root));
    TC_TRY(read_features(&r, root));
    tc_fb_vector regions = ti_fb_list(root, TOSA_GRAPH_REGIONS, 4);
    TC_TRY(broken(&r));
    if (!regions.n)
        return ti_error(ctx, at_byte(&r, root.at), TC_E_FORMAT, "the file has no region");
    for (size_t i = 0; i < regions.n; i++)
        TC_TRY(read_region(&r, ti_fb_list_table(regions, i)));
    *out = r.module;
    return ti_read_sizes(r.module);
}
