/* SPDX-License-Identifier: Apache-2.0 */
/* select_values.c -- where the values of a region are: roots, views, and where results are
 * written. */
#include "select.h"

#include <stdarg.h>
#include <stdio.h>

#include "../base/text.h"
#include "../num/load.h"

/* ---- records ---- */

int32_t ti_hw_root(tc_hw *hw, const char *name, tc_root_kind kind, uint8_t bytes, int64_t count)
{
    tc_grow(hw->arena, hw->root, hw->n_root, hw->cap_root);
    hw->root[hw->n_root] = (tc_root){.name = name, .kind = kind, .bytes = bytes, .count = count};
    return (int32_t)hw->n_root++;
}

int32_t ti_hw_table(tc_hw *hw, const uint8_t *data, int32_t bytes)
{
    for (size_t i = 0; i < hw->n_table; i++)
        if (hw->table[i].data && hw->table[i].bytes == bytes &&
            !memcmp(hw->table[i].data, data, (size_t)bytes))
            return (int32_t)i;
    int32_t root = ti_hw_root(hw, "table", TC_ROOT_CONSTANT, 1, bytes);
    hw->root[root].data = data;
    return ti_hw_table_from(hw, root, data, bytes);
}

int32_t ti_hw_table_from(tc_hw *hw, int32_t root, const uint8_t *data, int32_t bytes)
{
    tc_grow(hw->arena, hw->table, hw->n_table, hw->cap_table);
    hw->table[hw->n_table] = (tc_hw_table){data, bytes, root};
    return (int32_t)hw->n_table++;
}

void ti_hw_refuse(tc_hw *hw, const tc_node *node, const char *format, ...)
{
    if (hw->refused)
        return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hw->refused = ti_text_format(&hw->ctx->arena, "%s", text);
    hw->refused_node = node;
}

/* ---- values ---- */

tc_dtype ti_sel_dtype(const tc_sel *s, tc_val v)
{
    return ti_type_of(s->g, v)->dtype;
}

uint8_t ti_sel_bytes(const tc_sel *s, tc_val v)
{
    tc_dtype t = ti_sel_dtype(s, v);
    return t == TC_i48 ? 8 : t == TC_i4 ? 1 : tc_dtypes[t].bytes;
}

const int64_t *ti_sel_numbers(tc_sel *s, tc_val v, int64_t *n)
{
    tc_tensor t = ti_tensor_of(s->g, v);
    if (!t.data || !ti_is_const(s->g, v))
        return NULL;
    int64_t count = tc_type_count(t.type);
    if (n)
        *n = count;
    if (s->value[v].numbers)
        return s->value[v].numbers;
    int64_t *out = tc_new_n(s->hw->arena, int64_t, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++)
        out[i] = ti_load_i64(t, i);
    return s->value[v].numbers = out;
}

int64_t ti_sel_number(tc_sel *s, tc_val v)
{
    if (ti_is_const(s->g, v))
        return ti_load_i64(ti_tensor_of(s->g, v), 0);
    ti_hw_refuse(s->hw, ti_def(s->g, v), "a number that must be constant is not");
    return 0;
}

const tc_node *ti_sel_only_reader(const tc_sel *s, tc_val v)
{
    return s->value[v].readers == 1 ? s->value[v].reader : NULL;
}

/* The frame that bricks are cut from: channels, columns, and everything before them as rows. */
static void set_frame(tc_root *r, int32_t rank, const int64_t *dim)
{
    int64_t c = rank > 0 ? dim[rank - 1] : 1, w = rank > 1 ? dim[rank - 2] : 1;
    if (!r->count || c > TC_HW_EXTENT || w > TC_HW_EXTENT || r->count / (c * w) > INT32_MAX)
        return;
    r->c = (int32_t)c;
    r->w = (int32_t)w;
    r->h = (int32_t)(r->count / (c * w));
}

tc_view ti_sel_working(tc_sel *s, const char *name, uint8_t bytes, int32_t rank, const int64_t *dim)
{
    tc_view v = ti_view_dense(0, rank, dim);
    v.root = ti_hw_root(s->hw, name, TC_ROOT_VALUE, bytes, ti_view_count(&v));
    set_frame(&s->hw->root[v.root], rank, dim);
    return v;
}

tc_view ti_sel_constant(tc_sel *s, const char *name, uint8_t bytes, int32_t rank,
                        const int64_t *dim, const void *data)
{
    tc_view v = ti_view_dense(0, rank, dim);
    v.root = ti_hw_root(s->hw, name, TC_ROOT_CONSTANT, bytes, ti_view_count(&v));
    s->hw->root[v.root].data = data;
    return v;
}

void ti_sel_is(tc_sel *s, tc_val v, tc_view view)
{
    s->value[v].view = view;
    s->value[v].placed = s->value[v].made = true;
}

static bool is_output(const tc_sel *s, tc_val v)
{
    for (size_t i = 0; i < s->g->n_out; i++)
        if (s->g->out[i] == v)
            return true;
    return false;
}

const char *ti_sel_name(const tc_sel *s, tc_val v)
{
    const tc_value *value = ti_value_of(s->g, v);
    const tc_node *def = value->def;
    return value->name                   ? value->name
           : def && def->loc && def->loc->node ? def->loc->node
           : def                         ? tc_ops[def->op].name
                                         : "value";
}

/* Stored integers of a constant in region 0, as the machine reads them. */
static tc_view place_constant(tc_sel *s, tc_val v)
{
    const tc_type *t = ti_type_of(s->g, v);
    uint8_t bytes = ti_sel_bytes(s, v);
    int64_t n;
    const int64_t *x = ti_sel_numbers(s, v, &n);
    uint8_t *data = tc_new_n(s->hw->arena, uint8_t, (size_t)n * bytes + 1);
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < bytes; b++)
            data[i * bytes + b] = (uint8_t)((uint64_t)x[i] >> 8 * b);
    return ti_sel_constant(s, ti_sel_name(s, v), bytes, t->rank, t->dim, data);
}

tc_view ti_sel_any_view(tc_sel *s, tc_val v)
{
    return s->value[v].lazy ? s->value[v].view : ti_sel_view(s, v);
}

tc_view ti_sel_view(tc_sel *s, tc_val v)
{
    tc_sel_value *value = &s->value[v];
    if (value->made)
        return value->view;
    if (value->lazy) {
        tc_view from = value->view;
        value->lazy = false;
        tc_view to = ti_sel_result(s, v);
        ti_sel_copy_moved(s, ti_def(s->g, v), &from, &to);
        return to;
    }
    if (ti_is_const(s->g, v)) {
        ti_sel_is(s, v, place_constant(s, v));
        return value->view;
    }
    if (value->put_off && value->put_off->out[0] != v) { /* in another shape */
        const tc_type *t = ti_type_of(s->g, v);
        tc_view whole = ti_sel_view(s, value->put_off->out[0]), view = whole;
        value->put_off = NULL;
        if (!s->hw->refused && !ti_view_reshape(&whole, t->rank, t->dim, &view)) {
            view = ti_sel_result(s, v);
            tc_view place;
            if (ti_view_reshape(&view, whole.rank, whole.dim, &place))
                ti_sel_copy(s, ti_def(s->g, v), &whole, &place);
            else
                ti_hw_refuse(s->hw, ti_def(s->g, v), "its result has no place in one piece");
        }
        ti_sel_is(s, v, view);
        return view;
    }
    if (value->put_off) {
        const tc_node *node = value->put_off;
        value->put_off = NULL;
        value->asked = true;
        ti_npu_select_rescale_alone(s, node);
        return value->view;
    }
    if (value->pad) {
        const tc_node *node = value->pad;
        value->pad = NULL;
        ti_npu_select_pad_made(s, node);
        return value->view;
    }
    ti_hw_refuse(s->hw, ti_def(s->g, v), "'%s' is read before it is made", ti_sel_name(s, v));
    return (tc_view){.root = TC_NO_ROOT};
}

/* The part of a CONCAT's result that its operand i is. */
static bool part_of_concat(tc_sel *s, const tc_node *concat, tc_val v, tc_view *out)
{
    const tc_attr_tosa_axis *a = concat->attr;
    tc_sel_value *whole = &s->value[concat->out[0]];
    if (!whole->placed) {
        tc_view place = ti_sel_result(s, concat->out[0]);
        whole->view = place;
        whole->placed = true;
        whole->made = false;
    }
    *out = ti_view_slice(&whole->view, (int32_t)a->axis, s->value[v].part,
                         ti_type_of(s->g, v)->dim[a->axis]);
    return true;
}

/* Where the value's only reader wants it to be: in a CONCAT, through RESHAPEs. */
static bool wanted_place(tc_sel *s, tc_val v, tc_view *out)
{
    const tc_node *reader = ti_sel_only_reader(s, v);
    const tc_type *t = ti_type_of(s->g, v);
    if (!reader || is_output(s, v))
        return false;
    if (reader->op == TC_OP_tosa_concat)
        return part_of_concat(s, reader, v, out);
    if (reader->op != TC_OP_tosa_reshape && reader->op != TC_OP_tosa_identity)
        return false;
    tc_sel_value *next = &s->value[reader->out[0]];
    if (is_output(s, reader->out[0])) {
        /* Dense, so any shape will do. */
        if (!next->placed) {
            next->view = ti_sel_result(s, reader->out[0]);
            next->placed = true;
            next->made = false;
        }
        return ti_view_reshape(&next->view, t->rank, t->dim, out);
    }
    tc_view place;
    if (!wanted_place(s, reader->out[0], &place))
        return false;
    return ti_view_reshape(&place, t->rank, t->dim, out) && t->rank > 0 &&
           (out->dim[t->rank - 1] == 1 || out->stride[t->rank - 1] == 1);
}

tc_view ti_sel_result(tc_sel *s, tc_val v)
{
    tc_sel_value *value = &s->value[v];
    const tc_type *t = ti_type_of(s->g, v);
    if (!value->placed && !wanted_place(s, v, &value->view)) {
        value->view = ti_sel_working(s, ti_sel_name(s, v), ti_sel_bytes(s, v), t->rank, t->dim);
        for (size_t i = 0; i < s->g->n_out && !s->inner; i++)
            if (s->g->out[i] == v && s->hw->out[i] < 0) {
                s->hw->out[i] = value->view.root;
                s->hw->root[value->view.root].kind = TC_ROOT_OUTPUT;
                break;
            }
    }
    value->placed = value->made = true;
    return value->view;
}
