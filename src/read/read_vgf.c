/* SPDX-License-Identifier: Apache-2.0 */
/* read_vgf.c -- a VGF file, back into the TOSA form; vgf_segments.c has files of several segments.
 *
 * The SPIR-V module is walked once; every id remembers its instruction and is decoded when it is
 * used. Element types are those of SPIR-V: i4 as i8, 64 bits as i48; a tensor of rank 0 is [1].
 * Quantization that the emitter noted is restored in the types of inputs and outputs. */
#include "read.h"

#include "../ir/parse.h"
#include "../num/load.h"
#include "../target/vgf_schema.h"
#include "vgf_ids.h"

/* ---- operands -------------------------------------------------------------------------------- */

static tc_status use(tc_vgf_reader *r, uint32_t id, tc_val *out)
{
    const tc_type *type;
    const void *data;
    if (id >= r->bound)
        return ti_vgf_bad(r, TC_E_FORMAT, "an id is past the bound");
    if (!r->id[id].val) {
        TC_TRY(ti_vgf_tensor(r, id, &type, &data));
        r->id[id].val = ti_graph_const(r->g, type, data, r->id[id].name, ti_vgf_loc(r, id, NULL));
    }
    *out = r->id[id].val;
    return TC_OK;
}

/* An operand that TOSA calls a shape: an i32 tensor here, a constant. */
static tc_status use_shape(tc_vgf_reader *r, uint32_t id, tc_val *out)
{
    const tc_type *type;
    const void *data;
    if (id >= r->bound)
        return ti_vgf_bad(r, TC_E_FORMAT, "an id is past the bound");
    if (!r->id[id].as_shape) {
        TC_TRY(ti_vgf_tensor(r, id, &type, &data));
        if (type->dtype != TC_i32 || type->rank != 1)
            return ti_vgf_bad(r, TC_E_TYPE, "a shape is not a constant of 32-bit integers");
        int64_t *v = tc_new_n(&r->ctx->arena, int64_t, (size_t)type->dim[0]);
        for (int64_t i = 0; i < type->dim[0]; i++)
            v[i] = ((const int32_t *)data)[i];
        r->id[id].as_shape = ti_graph_const(r->g, ti_type_make(r->ctx, TC_shape, 1, type->dim), v,
                                            r->id[id].name, ti_vgf_loc(r, id, NULL));
    }
    *out = r->id[id].as_shape;
    return TC_OK;
}

static tc_status list_field(tc_vgf_reader *r, uint32_t id, tc_ints *out)
{
    const tc_type *type;
    const void *data;
    TC_TRY(ti_vgf_tensor(r, id, &type, &data));
    if (type->dtype != TC_i32 || type->rank != 1)
        return ti_vgf_bad(r, TC_E_TYPE, "an attribute is not a list of 32-bit integers");
    int64_t *v = tc_new_n(&r->ctx->arena, int64_t, (size_t)type->dim[0]);
    for (int64_t i = 0; i < type->dim[0]; i++)
        v[i] = ((const int32_t *)data)[i];
    *out = (tc_ints){(int32_t)type->dim[0], v};
    return TC_OK;
}

/* `element`: the type of clamp's bounds. */
static tc_status read_field(tc_vgf_reader *r, const tc_field *field, uint32_t id, tc_dtype element,
                            void *at)
{
    uint32_t number = 0;
    int64_t room = 0;
    switch (field->kind) {
    case TC_FIELD_bool: {
        uint8_t truth = 0;
        TC_TRY(ti_vgf_scalar(r, id, TC_bool, &truth));
        *(bool *)at = truth != 0;
        return TC_OK;
    }
    case TC_FIELD_ints:
        return list_field(r, id, at);
    case TC_FIELD_f64:
        TC_TRY(ti_vgf_scalar(r, id, element, (uint8_t *)&room));
        *(double *)at = ti_load_f64((tc_tensor){&(tc_type){.dtype = element}, &room}, 0);
        return TC_OK;
    default:
        break;
    }
    if (!ti_vgf_u32(r, id, &number))
        return ti_vgf_bad(r, TC_E_TYPE, "an attribute is not a constant of 32 bits");
    if (field->kind == TC_FIELD_i64)
        *(int64_t *)at = (int32_t)number;
    else if (field->kind == TC_FIELD_dtype) {
        *(tc_dtype *)at = ti_vgf_acc_dtype(number);
    } else if (number >= (uint32_t)tc_choices[field->kind - TC_FIELD_CHOICES].count)
        return ti_vgf_bad(r, TC_E_FORMAT, "an attribute is a choice that is not known");
    else
        memcpy(at, &(int){(int)number}, sizeof(int));
    return TC_OK;
}

static tc_status read_attr(tc_vgf_reader *r, const tc_attr_info *info, tc_dtype element, void **out)
{
    *out =
        info->n_field ? ti_arena_array(&r->ctx->arena, 1, info->size, _Alignof(max_align_t)) : NULL;
    for (int i = 0; i < info->n_field; i++) {
        const tc_field *field = &info->field[ti_vgf_field(info, i)];
        TC_TRY(read_field(r, field, ti_spv_word(&r->at, 4 + (size_t)i), element,
                          (char *)*out + field->at));
    }
    return TC_OK;
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* Tensors of rank 0 are [1] in SPIR-V; the container and ARGMAX have the true rank. */
static tc_node *reshape(tc_vgf_reader *r, tc_val v, const tc_type *type, const tc_loc *loc)
{
    int64_t n = type->rank;
    const int64_t *dim = ti_arena_copy(&r->ctx->arena, type->dim, sizeof type->dim);
    tc_val shape = ti_graph_const(r->g, ti_type_make(r->ctx, TC_shape, 1, &n), dim, NULL, loc);
    tc_node *node = ti_graph_add(r->g, TC_OP_tosa_reshape, NULL, (tc_val[]){v, shape}, 2, 1, loc);
    ti_value_of(r->g, node->out[0])->type = type;
    return node;
}

tc_val ti_vgf_reshaped(tc_vgf_reader *r, tc_val v, const tc_type *type, const tc_loc *loc)
{
    return reshape(r, v, type, loc)->out[0];
}

/* Types of the results: one tensor, or a struct of several. */
static tc_status result_types(tc_vgf_reader *r, uint32_t type_id, const tc_type **type, int *n)
{
    enum { MOST = 2 };
    const tc_spv_instr *t = ti_vgf_made_by(r, type_id);
    bool several = t->op == TC_SPV_TypeStruct;
    if (several && t->n != 1 + MOST)
        return ti_vgf_bad(r, TC_E_FORMAT, "an instruction does not have two results in its struct");
    *n = several ? MOST : 1;
    for (int i = 0; i < *n; i++)
        TC_TRY(ti_vgf_tensor_type(r, several ? ti_spv_word(t, 1 + (size_t)i) : type_id, &type[i]));
    return TC_OK;
}

static tc_status read_operands(tc_vgf_reader *r, tc_op op, size_t first, tc_val *operand, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t id = ti_spv_word(&r->at, first + (size_t)i);
        TC_TRY(ti_vgf_shape_operand(op, i) ? use_shape(r, id, &operand[i])
                                           : use(r, id, &operand[i]));
    }
    return TC_OK;
}

static bool is_tosa_set(const tc_vgf_reader *r, uint32_t id)
{
    size_t next;
    const tc_spv_instr *set = ti_vgf_made_by(r, id);
    return set->op == TC_SPV_ExtInstImport &&
           ti_str_is(ti_spv_text(set, 1, &next), TC_VGF_TOSA_SET);
}

static tc_status read_instruction(tc_vgf_reader *r)
{
    uint32_t id = ti_spv_word(&r->at, 1), number = ti_spv_word(&r->at, 3);
    tc_op op = ti_vgf_operator(number);
    if (!is_tosa_set(r, ti_spv_word(&r->at, 2)) || op == TC_OP_COUNT)
        return ti_vgf_bad(r, TC_E_UNKNOWN_OP, "an instruction is none of " TC_VGF_TOSA_SET);
    const tc_attr_info *info = &tc_attrs[tc_ops[op].attr];
    size_t first = 4 + (size_t)info->n_field;
    if (r->at.n < first || r->at.n - first > UINT16_MAX)
        return ti_vgf_bad(r, TC_E_FORMAT, "an instruction has too few operands");
    int n_in = (int)(r->at.n - first), n_out = 0;
    const tc_type *type[2];
    TC_TRY(result_types(r, ti_spv_word(&r->at, 0), type, &n_out));
    tc_val *operand = tc_new_n(&r->ctx->arena, tc_val, (size_t)n_in);
    TC_TRY(read_operands(r, op, first, operand, n_in));
    void *attr;
    TC_TRY(read_attr(r, info, n_in ? ti_type_of(r->g, operand[0])->dtype : TC_i8, &attr));
    tc_node *node =
        ti_graph_add(r->g, op, attr, operand, n_in, n_out, ti_vgf_loc(r, id, tc_ops[op].name));
    for (int i = 0; i < n_out; i++)
        ti_value_of(r->g, node->out[i])->type = type[i];
    if (op == TC_OP_tosa_argmax && n_in == 1 && ti_type_of(r->g, operand[0])->rank == 1) {
        ti_value_of(r->g, node->out[0])->type = ti_type_make(r->ctx, type[0]->dtype, 0, NULL);
        node = reshape(r, node->out[0], type[0], node->loc);
    }
    r->id[id].node = node;
    if (n_out == 1) {
        r->id[id].val = node->out[0];
        ti_value_of(r->g, node->out[0])->name = r->id[id].name;
    }
    return TC_OK;
}

static tc_status read_extract(tc_vgf_reader *r)
{
    uint32_t id = ti_spv_word(&r->at, 1), from = ti_spv_word(&r->at, 2), i = ti_spv_word(&r->at, 3);
    const tc_node *node = from < r->bound ? r->id[from].node : NULL;
    if (r->at.n != 4 || !node || i >= (uint32_t)node->n_out)
        return ti_vgf_bad(r, TC_E_FORMAT, "a result is taken from something that is not a struct");
    r->id[id].val = node->out[i];
    ti_value_of(r->g, node->out[i])->name = r->id[id].name;
    return TC_OK;
}

static tc_status read_input(tc_vgf_reader *r)
{
    uint32_t id = ti_spv_word(&r->at, 1), i;
    if (!ti_vgf_u32(r, ti_spv_word(&r->at, 2), &i) || i >= r->n_in || r->at.n > 3)
        return ti_vgf_bad(r, TC_E_FORMAT, "an input is none of the entry point's");
    r->id[id].val = r->given[i];
    if (r->outer[i]->rank != r->type[i]->rank)
        r->id[id].val = ti_vgf_reshaped(r, r->given[i], r->type[i], ti_vgf_loc(r, id, NULL));
    return TC_OK;
}

static tc_status read_output(tc_vgf_reader *r)
{
    uint32_t i;
    if (!ti_vgf_u32(r, ti_spv_word(&r->at, 1), &i) || i >= r->n_out || r->at.n > 2)
        return ti_vgf_bad(r, TC_E_FORMAT, "an output is none of the entry point's");
    if (r->out[i])
        return ti_vgf_bad(r, TC_E_ORDER, "an output is set twice");
    return use(r, ti_spv_word(&r->at, 0), &r->out[i]);
}

static tc_status read_body(tc_vgf_reader *r, tc_spv_reader *words)
{
    while (ti_spv_next(words, &r->at)) {
        int result = ti_spv_result(r->at.op);
        uint32_t id = result < 0 ? 0 : ti_spv_word(&r->at, (size_t)result);
        if (id >= r->bound)
            return ti_vgf_bad(r, TC_E_FORMAT, "an id is past the bound");
        switch (r->at.op) {
        case TC_SPV_GraphInputARM:
            TC_TRY(read_input(r));
            break;
        case TC_SPV_ExtInst:
            TC_TRY(read_instruction(r));
            break;
        case TC_SPV_CompositeExtract:
            TC_TRY(read_extract(r));
            break;
        case TC_SPV_GraphSetOutputARM:
            TC_TRY(read_output(r));
            break;
        case TC_SPV_Line:
            break;
        case TC_SPV_GraphEndARM:
            return TC_OK;
        default:
            return ti_vgf_bad(r, TC_E_UNKNOWN_OP, "an instruction is none that a graph may hold");
        }
    }
    return ti_vgf_bad(r, TC_E_TRUNCATED, words->error ? words->error : "the graph has no end");
}

/* ---- the module ------------------------------------------------------------------------------ */

/* OpModuleProcessed "tosac.quant input 0 q(0.05:-3)". */
static void collect_note(tc_vgf_reader *r)
{
    size_t next;
    tc_str text = ti_spv_text(&r->at, 0, &next);
    const char *begin = TC_VGF_QUANT " ", *q = text.p ? strstr(text.p, " q(") : NULL;
    if (!q || !ti_text_starts(text.p, begin) || q < text.p + strlen(begin))
        return;
    const char *key = text.p + strlen(begin);
    *ti_map_at(&r->quant, (tc_str){key, (size_t)(q - key)}) =
        ti_text_copy(&r->ctx->arena, ti_str_of(q + 1));
}

static void collect_constants(tc_vgf_reader *r)
{
    const tc_vgf_segment *s = r->segment;
    for (size_t i = 0; i < s->n_constant; i++)
        *ti_map_at(&r->constants, (tc_str){(const char *)&s->constant_id[i], sizeof(uint32_t)}) =
            &r->vgf.constant[s->constant[i]];
}

/* Names, notes and the instruction of each id; results inside graphs are handled when the graph is
 * read. */
static tc_status collect(tc_vgf_reader *r, tc_spv_reader *words)
{
    bool inside = false;
    size_t next;
    while (ti_spv_next(words, &r->at)) {
        int result = ti_spv_result(r->at.op);
        uint32_t id = ti_spv_word(&r->at, result < 0 ? 0 : (size_t)result);
        inside |= r->at.op == TC_SPV_GraphARM;
        if (result >= 0 && (!id || id >= r->bound || r->id[id].instr.op))
            return ti_vgf_bad(r, TC_E_FORMAT, "a result has no id of its own");
        if (result >= 0 && (!inside || r->at.op == TC_SPV_GraphARM))
            r->id[id].instr = r->at;
        if (r->at.op == TC_SPV_Name && id < r->bound) {
            tc_str name = ti_spv_text(&r->at, 1, &next);
            r->id[id].name = name.n ? ti_intern(r->ctx, name) : NULL;
        }
        if (r->at.op == TC_SPV_ModuleProcessed)
            collect_note(r);
        if (r->at.op == TC_SPV_Decorate && id < r->bound) {
            r->id[id].bound |= ti_spv_word(&r->at, 1) == TC_SPV_BINDING;
            if (ti_spv_word(&r->at, 1) == TC_SPV_BINDING)
                r->id[id].binding = ti_spv_word(&r->at, 2);
            if (ti_spv_word(&r->at, 1) == TC_SPV_DESCRIPTOR_SET)
                r->id[id].set = ti_spv_word(&r->at, 2);
        }
        if (r->at.op == TC_SPV_GraphEntryPointARM &&
            ti_str_is(ti_spv_text(&r->at, 1, &next), r->vgf.module[r->segment->module].entry_point))
            r->entry_point = r->at;
        inside &= r->at.op != TC_SPV_GraphEndARM;
    }
    return words->error ? ti_vgf_bad(r, TC_E_FORMAT, words->error) : TC_OK;
}

tc_status ti_vgf_noted(tc_vgf_reader *r, const char *what, size_t i, const tc_type **type)
{
    tc_arena *arena = &r->ctx->arena;
    const char *q = ti_map_get(&r->quant, ti_str_of(ti_text_format(arena, "%s %zu", what, i)));
    if (!q)
        return TC_OK;
    const char *text = ti_text_format(arena, "%s %s", ti_type_text(arena, *type), q);
    tc_lex lex;
    ti_lex_init(&lex, r->ctx, r->module->file, (tc_bytes){(const uint8_t *)text, strlen(text)});
    const tc_type *quantized = ti_parse_type(&lex);
    *type = quantized ? quantized : *type;
    return lex.status;
}

/* The types of the entry point's inputs and outputs. */
static tc_status signature(tc_vgf_reader *r, const tc_spv_instr *graph)
{
    const tc_spv_instr *t = ti_vgf_made_by(r, ti_spv_word(graph, 0));
    size_t n = t->n < 2 ? 0 : t->n - 2;
    r->n_in = ti_spv_word(t, 1);
    if (t->op != TC_SPV_TypeGraphARM || r->n_in > n)
        return ti_vgf_bad(r, TC_E_FORMAT, "the entry point is not a graph");
    r->n_out = n - r->n_in;
    r->out = tc_new_n(&r->ctx->arena, tc_val, r->n_out);
    r->given = tc_new_n(&r->ctx->arena, tc_val, r->n_in);
    r->type = tc_new_n(&r->ctx->arena, const tc_type *, n);
    r->outer = tc_new_n(&r->ctx->arena, const tc_type *, n);
    for (size_t i = 0; i < n; i++) {
        TC_TRY(ti_vgf_tensor_type(r, ti_spv_word(t, 2 + i), &r->type[i]));
        r->outer[i] = r->type[i];
    }
    return TC_OK;
}

/* A resource has the type that the graph declares; with one element its rank may be 0. (i48, which
 * no RESHAPE takes, stays [1].) */
static tc_status check_slots(tc_vgf_reader *r, const tc_vgf_slots *slots)
{
    for (size_t i = 0; i < slots->n; i++) {
        size_t k = slots->v[i].binding;
        const tc_vgf_resource *res = &r->vgf.resource[slots->v[i].resource];
        if (k >= r->n_in + r->n_out)
            return ti_vgf_bad(r, TC_E_FORMAT, "a binding is none of the graph's");
        const tc_type *type = r->type[k];
        bool one = !res->n_dim && type->rank == 1 && type->dim[0] == 1;
        bool same = ti_vgf_format_dtype(res->format) == type->dtype &&
                    (one || res->n_dim == (size_t)type->rank);
        for (size_t d = 0; d < res->n_dim && same; d++)
            same = res->dim[d] == type->dim[d];
        if (!same)
            return ti_vgf_bad(r, TC_E_MISMATCH, "a resource is not what the graph binds to it");
        r->outer[k] =
            one && type->dtype != TC_i48 ? ti_type_make(r->ctx, type->dtype, 0, NULL) : type;
    }
    return TC_OK;
}

const char *ti_vgf_port_name(tc_vgf_reader *r, bool in, size_t i, size_t n)
{
    if (n != (in ? r->vgf.n_in_name : r->vgf.n_out_name))
        return NULL;
    const char *name = (in ? r->vgf.in_name : r->vgf.out_name)[i];
    const char *made_up = ti_text_format(&r->ctx->arena, "%s_%zu", in ? "input" : "output", i);
    return ti_text_eq(name, made_up) ? NULL : name;
}

static tc_status add_inputs(tc_vgf_reader *r)
{
    for (size_t i = 0; i < r->n_in; i++) {
        const tc_type *type = r->outer[i];
        TC_TRY(ti_vgf_noted(r, "input", i, &type));
        r->given[i] = ti_graph_input(r->g, type, ti_vgf_port_name(r, true, i, r->n_in));
    }
    return TC_OK;
}

static tc_status add_outputs(tc_vgf_reader *r)
{
    for (size_t i = 0; i < r->n_out; i++) {
        const tc_type *outer = r->outer[r->n_in + i], *type = r->type[r->n_in + i];
        tc_value *v = ti_value_of(r->g, r->out[i]);
        if (outer->rank != type->rank) {
            r->out[i] = reshape(r, r->out[i], outer, ti_vgf_loc(r, 0, NULL))->out[0];
            v = ti_value_of(r->g, r->out[i]);
        }
        if (!v->type->quant)
            TC_TRY(ti_vgf_noted(r, "output", i, &v->type));
        if (!v->name)
            v->name = ti_vgf_port_name(r, false, i, r->n_out);
        ti_graph_output(r->g, r->out[i]);
    }
    return TC_OK;
}

/* Every output is set, and is of its type. */
static tc_status check_outputs(tc_vgf_reader *r)
{
    for (size_t i = 0; i < r->n_out; i++) {
        if (!r->out[i])
            return ti_vgf_bad(r, TC_E_STRUCTURE, "an output is never set");
        const tc_type *is = ti_type_of(r->g, r->out[i]), *type = r->type[r->n_in + i];
        if (is->dtype != type->dtype || !ti_same_dims(is, type))
            return ti_vgf_bad(r, TC_E_MISMATCH, "an output is not of its declared type");
    }
    return TC_OK;
}

tc_status ti_vgf_open_graph(tc_vgf_reader *r)
{
    tc_spv_reader words;
    const tc_vgf_module *module = &r->vgf.module[r->segment->module];
    r->code = module->code;
    r->entry_point = (tc_spv_instr){.op = 0};
    r->at = (tc_spv_instr){.op = 0};
    if (module->code_type != TC_VGF_SPIRV || !r->code.size)
        return ti_unsupported(r->ctx, &(tc_loc){.file = r->module->file}, TC_E_UNSUPPORTED,
                              "the file's module is not in SPIR-V");
    ti_spv_read(&words, r->code);
    if (words.error)
        return ti_vgf_bad(r, TC_E_FORMAT, words.error);
    r->bound = words.bound;
    r->id = tc_new_n(&r->ctx->arena, tc_vgf_entry, r->bound);
    r->budget = ((size_t)16 << 20) + 16 * r->code.size;
    ti_map_init(&r->constants, &r->ctx->arena);
    ti_map_init(&r->quant, &r->ctx->arena);
    collect_constants(r);
    TC_TRY(collect(r, &words));
    const tc_spv_instr *graph = ti_vgf_made_by(r, ti_spv_word(&r->entry_point, 0));
    if (!r->entry_point.op || graph->op != TC_SPV_GraphARM)
        return ti_vgf_bad(r, TC_E_STRUCTURE, "the module has no graph of the entry point's name");
    r->at = *graph;
    return signature(r, graph);
}

const tc_vgf_entry *ti_vgf_variable(const tc_vgf_reader *r, size_t i)
{
    size_t next;
    ti_spv_text(&r->entry_point, 1, &next);
    uint32_t id = ti_spv_word(&r->entry_point, next + i);
    return id && id < r->bound && r->id[id].bound ? &r->id[id] : NULL;
}

tc_status ti_vgf_read_graph(tc_vgf_reader *r)
{
    tc_spv_reader words;
    const tc_spv_instr *graph = ti_vgf_made_by(r, ti_spv_word(&r->entry_point, 0));
    ti_spv_read(&words, r->code);
    words.at = graph->at + 4 * (1 + graph->n);
    TC_TRY(read_body(r, &words));
    return check_outputs(r);
}

/* One graph: its inputs and outputs are the file's. */
static tc_status read_single(tc_vgf_reader *r)
{
    r->segment = &r->vgf.segment[0];
    TC_TRY(ti_vgf_open_graph(r));
    TC_TRY(check_slots(r, &r->vgf.in));
    TC_TRY(check_slots(r, &r->vgf.out));
    TC_TRY(add_inputs(r));
    TC_TRY(ti_vgf_read_graph(r));
    return add_outputs(r);
}

/* Tensors whose bindings count on from `first`: the graph's own ports, in its order.  Ports that are
 * images are tensors of the graph in another view. */
static bool are_own(const tc_vgf *vgf, const tc_vgf_slots *slots, size_t first)
{
    for (size_t i = 0; i < slots->n; i++)
        if (vgf->resource[slots->v[i].resource].descriptor != TC_VGF_TENSOR ||
            slots->v[i].binding != first + i)
            return false;
    return true;
}

tc_status ti_read_vgf(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    tc_vgf_reader r = {.ctx = ctx, .module = ti_module_new(ctx, file)};
    r.module->origin.bytes = bytes.size;
    r.g = ti_graph_new(r.module, "main");
    TC_TRY(ti_vgf_read(ctx, file, bytes, &r.vgf));
    r.module->origin.producer = ti_text_format(&ctx->arena, "VGF %d.%d.%d", r.vgf.version[0],
                                        r.vgf.version[1], r.vgf.version[2]);
    bool single = r.vgf.n_segment == 1 && r.vgf.segment[0].type == TC_VGF_GRAPH &&
                  are_own(&r.vgf, &r.vgf.in, 0) && are_own(&r.vgf, &r.vgf.out, r.vgf.in.n);
    TC_TRY(single ? read_single(&r) : ti_vgf_read_segments(&r));
    *out = r.module;
    return TC_OK;
}
