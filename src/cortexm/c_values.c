/* SPDX-License-Identifier: Apache-2.0 */
/* c_values.c -- types, literals, constants and addresses as C text. */
#include "c_model.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *type, *word;
} types[TC_DTYPE_COUNT] = {
    [TC_bool] = {"uint8_t", "TOSAC_I8"},  [TC_i4] = {"int8_t", "TOSAC_I8"},
    [TC_i8] = {"int8_t", "TOSAC_I8"},     [TC_i16] = {"int16_t", "TOSAC_I16"},
    [TC_i32] = {"int32_t", "TOSAC_I32"},  [TC_i48] = {"int64_t", "TOSAC_I48"},
    [TC_f32] = {"float", "TOSAC_F32"},    [TC_u8] = {"uint8_t", NULL},
    [TC_i64] = {"int64_t", NULL},         [TC_f64] = {"double", NULL},
    [TC_f16] = {"uint16_t", NULL},        [TC_bf16] = {"uint16_t", NULL},
};

const char *ti_c_type(tc_dtype dtype) { return types[dtype].type ? types[dtype].type : "uint8_t"; }
const char *ti_c_type_word(tc_dtype dtype) { return types[dtype].word; }

const char *ti_c_number(const tc_c_model *m, int64_t v)
{
    if (v == INT64_MIN)
        return "INT64_MIN";
    if (v == INT32_MIN)
        return "INT32_MIN";
    bool wide = v > INT32_MAX || v < INT32_MIN;
    return ti_text_format(&m->ctx->arena, wide ? "INT64_C(%" PRId64 ")" : "%" PRId64, v);
}

const char *ti_c_real(tc_c_model *m, double v)
{
    char number[32];
    m->used[TC_C_FLOAT_LINES] = true;
    v = (double)(float)v;
    if (isnan(v))
        return "NAN";
    if (isinf(v))
        return v > 0 ? "INFINITY" : "-INFINITY";
    snprintf(number, sizeof number, "%.9g", v);
    return ti_text_format(&m->ctx->arena, strpbrk(number, ".e") ? "%sf" : "%s.0f", number);
}

static const char *literal(tc_c_model *m, tc_tensor t, int64_t i)
{
    return t.type->dtype == TC_f32 ? ti_c_real(m, ti_load_f64(t, i))
                                   : ti_c_number(m, ti_load_i64(t, i));
}

/* Twenty literals a line; ordinary integers without a separate text in the arena. */
static void put_numbers(tc_c_model *m, tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    bool real = t.type->dtype == TC_f32;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = real ? 0 : ti_load_i64(t, i);
        const char *before = i % 20 ? " " : "\n    ";
        if (!real && v > INT32_MIN && v <= INT32_MAX)
            ti_buf_printf(&m->constants, "%s%" PRId64 ",", before, v);
        else
            ti_buf_printf(&m->constants, "%s%s,", before, literal(m, t, i));
    }
}

const char *ti_c_array(tc_c_model *m, tc_dtype dtype, const void *data, int64_t n)
{
    tc_dtype stored = dtype == TC_bool ? TC_u8 : dtype;
    tc_type type = {.dtype = stored, .rank = 1, .dim = {n}};
    size_t bytes = tc_type_bytes(&type);
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    char *key = ti_arena_raw(&m->ctx->scratch, bytes + 1);
    key[0] = (char)dtype;
    memcpy(key + 1, data, bytes);
    void **slot = ti_map_at(&m->known, (tc_str){key, bytes + 1});
    ti_arena_rewind(&m->ctx->scratch, mark);
    if (!*slot) {
        const char *name =
            ti_text_format(&m->ctx->arena, "%s_c%zu", m->request->name, m->n_constant++);
        *slot = (void *)(uintptr_t)name;
        ti_buf_printf(&m->constants, "static const %s %s[%" PRId64 "] = {", ti_c_type(dtype), name,
                      n);
        put_numbers(m, (tc_tensor){&type, (void *)(uintptr_t)data});
        ti_buf_text(&m->constants, "\n};\n");
        m->constant_bytes += bytes;
    }
    return *slot;
}

/* The step's hole for an address: an existing one, or a new one. */
static const char *hole_of(tc_c_model *m, tc_c_hole hole)
{
    size_t i = 0;
    while (i < m->n_hole && (m->hole[i].root != hole.root || m->hole[i].dtype != hole.dtype ||
                             m->hole[i].offset != hole.offset))
        i++;
    if (i == m->cap_hole) {
        tc_c_hole *more = tc_new_n(&m->ctx->arena, tc_c_hole, m->cap_hole = 2 * i + 16);
        if (i)
            memcpy(more, m->hole, i * sizeof *more);
        m->hole = more;
    }
    if (i == m->n_hole)
        m->hole[m->n_hole++] = hole;
    return ti_text_format(&m->ctx->arena, TC_C_HOLE "%zu" TC_C_END, i);
}

static bool is_result(const tc_c_graph *cg, const tc_c_step *s, tc_val root)
{
    tc_val other = ti_c_transform_other(s);
    bool made = (s->out && cg->place[s->out].root == root) || (other && cg->place[other].root == root);
    for (int i = 0; i < s->node->n_out && !made; i++)
        made = cg->place[s->node->out[i]].root == root;
    return made;
}

const char *ti_c_pointer_at(tc_c_model *m, const tc_c_graph *cg, tc_val v, int64_t element)
{
    const tc_type *t = ti_type_of(cg->g, v);
    tc_val root = cg->place[v].root;
    if (!ti_c_is_const(cg, v))
        return hole_of(m, (tc_c_hole){root, t->dtype, is_result(cg, m->now, root),
                                      cg->place[v].offset +
                                          element * (int64_t)tc_dtypes[t->dtype].bytes});
    const char *name = ti_c_array(m, t->dtype, ti_value_of(cg->g, root)->data, tc_type_count(t));
    return element ? ti_text_format(&m->ctx->arena, "(%s + %" PRId64 ")", name, element) : name;
}

const char *ti_c_pointer(tc_c_model *m, const tc_c_graph *cg, tc_val v)
{
    return ti_c_pointer_at(m, cg, v, 0);
}

const char *ti_c_scratch(tc_c_model *m, tc_dtype dtype, int64_t byte)
{
    return hole_of(m, (tc_c_hole){TC_NONE, dtype, true, byte});
}

bool ti_c_is_const(const tc_c_graph *cg, tc_val v)
{
    return cg->place[cg->place[v].root].home == TC_C_CONST;
}

int64_t ti_c_const_at(const tc_c_graph *cg, tc_val v, int64_t i)
{
    return ti_load_i64(ti_tensor_of(cg->g, cg->place[v].root), i);
}

const char *ti_c_literal(tc_c_model *m, const tc_c_graph *cg, tc_val v)
{
    return literal(m, ti_tensor_of(cg->g, cg->place[v].root), 0);
}

const char *ti_c_zero(tc_c_model *m, const tc_c_graph *cg, tc_val v)
{
    if (ti_type_of(cg->g, v)->dtype == TC_f32)
        return "0"; /* floats have none */
    return ti_c_is_const(cg, v) ? ti_c_number(m, ti_c_const_at(cg, v, 0))
                                : ti_text_format(&m->ctx->arena, "*(%s)", ti_c_pointer(m, cg, v));
}

const char *ti_c_storage(const tc_c_graph *cg, const tc_node *node, int first)
{
    return ti_c_is_const(cg, node->in[first]) && ti_c_is_const(cg, node->in[first + 1]) ? "static "
                                                                                        : "";
}

size_t ti_c_variable_of(const tc_c_model *m, const char *name)
{
    size_t i = 0;
    while (i < m->n_variable && !ti_text_eq(m->variable[i].name, name))
        i++;
    return i;
}
