/* SPDX-License-Identifier: Apache-2.0 */
/* c_values.c -- types, numbers, constants and places as C text. */
#include "c_model.h"

static const struct {
    const char *type, *word;
} types[TC_DTYPE_COUNT] = {
    [TC_bool] = {"uint8_t", "TOSAC_I8"},  [TC_i4] = {"int8_t", "TOSAC_I8"},
    [TC_i8] = {"int8_t", "TOSAC_I8"},     [TC_i16] = {"int16_t", "TOSAC_I16"},
    [TC_i32] = {"int32_t", "TOSAC_I32"},  [TC_i48] = {"int64_t", "TOSAC_I48"},
};

const char *ti_c_type(tc_dtype dtype) { return types[dtype].type; }
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

/* Twenty numbers a line. */
static void put_numbers(tc_c_model *m, tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 0; i < n; i++)
        ti_buf_printf(&m->constants, "%s%s,", i % 20 ? " " : "\n    ",
                      ti_c_number(m, ti_load_i64(t, i)));
}

const char *ti_c_array(tc_c_model *m, tc_dtype dtype, const void *data, int64_t n)
{
    tc_dtype stored = dtype == TC_bool ? TC_u8 : dtype;
    tc_type type = {.dtype = stored, .rank = 1, .dim = {n}};
    size_t bytes = tc_type_bytes(&type);
    char *key = ti_arena_raw(&m->ctx->arena, bytes + 1);
    key[0] = (char)dtype;
    memcpy(key + 1, data, bytes);
    void **slot = ti_map_at(&m->known, (tc_str){key, bytes + 1});
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

const char *ti_c_pointer(tc_c_model *m, const tc_c_graph *cg, tc_val v)
{
    const tc_c_place *p = &cg->place[cg->place[v].root];
    const tc_type *t = ti_type_of(cg->g, v);
    tc_arena *arena = &m->ctx->arena;
    switch (p->home) {
    case TC_C_INPUT:
        return ti_text_format(arena, "input_%zu", p->at);
    case TC_C_OUTPUT:
        return ti_text_format(arena, "output_%zu", p->at);
    case TC_C_CONST:
        return ti_c_array(m, t->dtype, ti_value_of(cg->g, p->root)->data, tc_type_count(t));
    default:
        return ti_text_format(arena, "(%s *)(void *)(arena + %zu)", ti_c_type(t->dtype), p->at);
    }
}

bool ti_c_is_const(const tc_c_graph *cg, tc_val v)
{
    return cg->place[cg->place[v].root].home == TC_C_CONST;
}

int64_t ti_c_const_at(const tc_c_graph *cg, tc_val v, int64_t i)
{
    return ti_load_i64(ti_tensor_of(cg->g, cg->place[v].root), i);
}

const char *ti_c_zero(tc_c_model *m, const tc_c_graph *cg, tc_val v)
{
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
