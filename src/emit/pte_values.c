/* SPDX-License-Identifier: Apache-2.0 */
/* pte_values.c -- a program's table of values.  Scalars and lists are written once, however often
 * they are used; so are constants with the same bytes. */
#include "emit_pte.h"
#include "../num/half.h"

static int64_t add(tc_pte_emitter *e, uint8_t tag, tc_fb_ref content)
{
    ti_fb_begin(&e->file->w);
    ti_fb_set_u8(&e->file->w, PTE_UNION_TYPE, tag, 0);
    ti_fb_set_ref(&e->file->w, PTE_UNION_VALUE, content);
    tc_fb_ref ref = ti_fb_end(&e->file->w);
    tc_grow(&e->ctx->arena, e->value, e->n_value, e->cap_value);
    e->value[e->n_value] = ref;
    return (int64_t)e->n_value++;
}

static tc_fb_ref table_of_ref(tc_pte_emitter *e, tc_fb_ref ref)
{
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_SCALAR, ref);
    return ti_fb_end(&e->file->w);
}

static tc_fb_ref table_of_u64(tc_pte_emitter *e, uint64_t v)
{
    ti_fb_begin(&e->file->w);
    ti_fb_set_u64(&e->file->w, PTE_SCALAR, v, 0);
    return ti_fb_end(&e->file->w);
}

static tc_fb_ref table_of_bool(tc_pte_emitter *e, bool v)
{
    ti_fb_begin(&e->file->w);
    ti_fb_set_u8(&e->file->w, PTE_SCALAR, v, 0);
    return ti_fb_end(&e->file->w);
}

/* ---- scalars and lists ----------------------------------------------------------------------- */

/* The same text for the same value. */
static tc_str key_of(tc_pte_emitter *e, const tc_cpu_value *v)
{
    tc_buf buf;
    ti_buf_init(&buf, &e->ctx->scratch);
    ti_buf_u8(&buf, (uint8_t)v->kind);
    ti_buf_u64(&buf, v->kind == TC_CPU_INT || v->kind == TC_CPU_BOOL ? (uint64_t)v->i : 0);
    ti_buf_u64(&buf, v->kind == TC_CPU_REAL ? ti_f64_bits(v->r) : 0);
    if (v->kind == TC_CPU_TEXT)
        ti_buf_text(&buf, v->text);
    for (int32_t i = 0; v->kind == TC_CPU_INTS && i < v->ints.n; i++)
        ti_buf_u64(&buf, (uint64_t)v->ints.v[i]);
    for (int32_t i = 0; v->kind == TC_CPU_REALS && i < v->reals.n; i++)
        ti_buf_u64(&buf, ti_f64_bits(v->reals.v[i]));
    return (tc_str){(const char *)buf.data, buf.size};
}

/* A list of integers is a list of values that are integers. */
static tc_fb_ref int_list(tc_pte_emitter *e, tc_ints v)
{
    uint64_t *at = tc_new_n(&e->ctx->scratch, uint64_t, (size_t)v.n);
    for (int32_t i = 0; i < v.n; i++)
        at[i] = (uint64_t)ti_pte_add_value(e, &(tc_cpu_value){.kind = TC_CPU_INT, .i = v.v[i]});
    return table_of_ref(e, ti_fb_put_u64s(&e->file->w, at, (size_t)v.n));
}

static tc_fb_ref real_list(tc_pte_emitter *e, tc_floats v)
{
    uint64_t *at = tc_new_n(&e->ctx->scratch, uint64_t, (size_t)v.n);
    for (int32_t i = 0; i < v.n; i++)
        at[i] = ti_f64_bits(v.v[i]);
    return table_of_ref(e, ti_fb_put_u64s(&e->file->w, at, (size_t)v.n));
}

static int64_t put_value(tc_pte_emitter *e, const tc_cpu_value *v)
{
    switch (v->kind) {
    case TC_CPU_INT:
        return add(e, PTE_INT, table_of_u64(e, (uint64_t)v->i));
    case TC_CPU_REAL:
        return add(e, PTE_DOUBLE, table_of_u64(e, ti_f64_bits(v->r)));
    case TC_CPU_BOOL:
        return add(e, PTE_BOOL, table_of_bool(e, v->i != 0));
    case TC_CPU_TEXT:
        return add(e, PTE_STRING,
                   table_of_ref(e, ti_fb_put_string(&e->file->w, ti_str_of(v->text))));
    case TC_CPU_INTS:
        return add(e, PTE_INT_LIST, int_list(e, v->ints));
    case TC_CPU_REALS:
        return add(e, PTE_DOUBLE_LIST, real_list(e, v->reals));
    default:
        ti_fb_begin(&e->file->w);
        return add(e, PTE_NULL, ti_fb_end(&e->file->w));
    }
}

int64_t ti_pte_add_value(tc_pte_emitter *e, const tc_cpu_value *value)
{
    tc_mark mark = ti_arena_mark(&e->ctx->scratch);
    tc_str key = key_of(e, value);
    void *there = ti_map_get(&e->shared, key);
    int64_t at = there ? (int64_t)(intptr_t)there - 1 : put_value(e, value);
    if (!there)
        *ti_map_at(&e->shared, key) = (void *)(intptr_t)(at + 1);
    ti_arena_rewind(&e->ctx->scratch, mark);
    return at;
}

int64_t ti_pte_tensors(tc_pte_emitter *e, const int64_t *at, size_t n, bool optional)
{
    tc_fb_ref list = table_of_ref(e, ti_fb_put_i32s(&e->file->w, at, n));
    return add(e, optional ? PTE_OPTIONAL_TENSOR_LIST : PTE_TENSOR_LIST, list);
}

/* Blocks of memory by index: 0 is unused. */
enum { MEMORY_VALUES = 1, MEMORY_STATE = 2 };

/* ---- tensors --------------------------------------------------------------------------------- */

/* The index of this data: an equal one, or a new one. */
static uint32_t data_place(tc_pte_emitter *e, tc_pte_data *d, const void *data, size_t size,
                           bool share)
{
    uint64_t digest[2] = {ti_hash(data, size, 0), size};
    void **slot = ti_map_at(&d->seen, (tc_str){(const char *)digest, sizeof digest});
    size_t old = (size_t)(uintptr_t)*slot;
    if (share && old && memcmp(d->data[old - 1], data, size) == 0)
        return (uint32_t)old;
    tc_arena *arena = &e->ctx->arena;
    tc_grow(arena, d->data, d->n, d->cap);
    tc_grow(arena, d->offset, d->n, d->cap_offset);
    tc_grow(arena, d->size, d->n, d->cap_size);
    d->bytes = (d->bytes + TC_PTE_DATA_ALIGN - 1) / TC_PTE_DATA_ALIGN * TC_PTE_DATA_ALIGN;
    d->data[d->n] = data;
    d->offset[d->n] = d->bytes;
    d->size[d->n] = size;
    d->bytes += size;
    *slot = (void *)(uintptr_t)++d->n;
    return (uint32_t)d->n;
}

static tc_fb_ref put_place(tc_pte_emitter *e, size_t offset, uint32_t block)
{
    ti_fb_begin(&e->file->w);
    ti_fb_set_u32(&e->file->w, PTE_PLACE_MEMORY, block, 0);
    ti_fb_set_u32(&e->file->w, PTE_PLACE_LOW, (uint32_t)offset, 0);
    ti_fb_set_u32(&e->file->w, PTE_PLACE_HIGH, (uint32_t)((uint64_t)offset >> 32), 0);
    return ti_fb_end(&e->file->w);
}

/* ExecuTorch's code of an element type, -1: none.  Elements of 4 and 48 bits, which only regions
 * have, take one and eight bytes at their borders. */
static int element_type(tc_dtype dtype)
{
    return tc_dtypes[dtype == TC_i48 ? TC_i64 : dtype == TC_i4 ? TC_i8 : dtype].et;
}

static tc_fb_ref put_extra(tc_pte_emitter *e, const char *name)
{
    tc_fb_ref text = ti_fb_put_string(&e->file->w, ti_str_of(name));
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_EXTRA_NAME, text);
    return ti_fb_end(&e->file->w);
}

/* name: by which the runtime knows it; or NULL.  order: of its axes in memory. */
static int64_t put_ordered(tc_pte_emitter *e, const tc_type *type, const uint8_t *order,
                           uint32_t data, tc_fb_ref place, const char *name)
{
    tc_fb_ref sizes = ti_fb_put_i32s(&e->file->w, type->dim, (size_t)type->rank);
    tc_fb_ref order_ref = ti_fb_put_bytes(&e->file->w, order, (size_t)type->rank, 1);
    tc_fb_ref extra = name ? put_extra(e, name) : 0;
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_TENSOR_SIZES, sizes);
    ti_fb_set_ref(&e->file->w, PTE_TENSOR_ORDER, order_ref);
    ti_fb_set_ref(&e->file->w, PTE_TENSOR_PLACE, place);
    ti_fb_set_ref(&e->file->w, PTE_TENSOR_EXTRA, extra);
    ti_fb_set_u32(&e->file->w, PTE_TENSOR_DATA, data, 0);
    ti_fb_set_u8(&e->file->w, PTE_TENSOR_DTYPE, (uint8_t)element_type(type->dtype), 0);
    return add(e, PTE_TENSOR, ti_fb_end(&e->file->w));
}

static int64_t put_tensor(tc_pte_emitter *e, const tc_type *type, uint32_t data, tc_fb_ref place,
                          const char *name)
{
    uint8_t order[TC_MAX_RANK];
    for (int i = 0; i < type->rank; i++)
        order[i] = (uint8_t)i;
    return put_ordered(e, type, order, data, place, name);
}

int64_t ti_pte_numbers_of(tc_pte_emitter *e, tc_tensor t)
{
    size_t size = tc_type_bytes(t.type);
    return put_tensor(e, t.type, data_place(e, &e->file->constants, t.data, size, true), 0, NULL);
}

int64_t ti_pte_bytes_at(tc_pte_emitter *e, size_t n, size_t offset)
{
    return ti_pte_further(e, ti_type_make(e->ctx, TC_u8, 1, &(int64_t){(int64_t)n}), offset);
}

int64_t ti_pte_further(tc_pte_emitter *e, const tc_type *type, size_t offset)
{
    return put_tensor(e, type, 0, put_place(e, e->scope->base + offset, MEMORY_VALUES), NULL);
}

tc_pte_scope *ti_pte_scope_new(tc_pte_emitter *e, const tc_graph *g, const tc_memory *memory)
{
    tc_pte_scope *s = tc_new(&e->ctx->arena, tc_pte_scope);
    *s = (tc_pte_scope){.g = g, .memory = memory};
    s->of = tc_new_n(&e->ctx->arena, int64_t, g->n_val);
    memset(s->of, 0xff, g->n_val * sizeof *s->of);
    return s;
}

/* The address of value v. */
static tc_fb_ref place_of(tc_pte_emitter *e, const tc_pte_scope *s, tc_val v)
{
    bool state = s->memory->in_state && s->memory->in_state[v];
    return put_place(e, s->base + s->memory->offset[v], state ? MEMORY_STATE : MEMORY_VALUES);
}

/* What a buffer starts with; of one that several methods have it is stored once. */
static uint32_t buffer_data(tc_pte_emitter *e, const tc_pte_scope *s, tc_val v, size_t size)
{
    const tc_value *value = s->g->val[v];
    void **slot = s->memory->in_state ? ti_map_at(&e->file->state, ti_str_of(value->name)) : NULL;
    if (slot && *slot)
        return (uint32_t)(uintptr_t)*slot;
    uint32_t at = data_place(e, &e->file->buffers, value->data, size, false);
    if (slot)
        *slot = (void *)(uintptr_t)at;
    return at;
}

/* The value of an outer scope that v, an input of a loop's graph, is; TC_NONE: it is none. */
static tc_val given(const tc_pte_scope *s, tc_val v)
{
    for (size_t i = 0; s->given && i < s->g->n_in; i++)
        if (s->g->in[i] == v)
            return s->given[i];
    return TC_NONE;
}

static int64_t tensor_in(tc_pte_emitter *e, tc_pte_scope *s, tc_val v)
{
    if (s->of[v] >= 0)
        return s->of[v];
    if (given(s, v))
        return s->of[v] = tensor_in(e, s->outer, given(s, v));
    const tc_type *type = ti_type_of(s->g, v);
    const tc_pte_scope *home = s;
    tc_val root = ti_cpu_root(s->g, v);
    for (tc_val outside; (outside = given(home, root)); root = ti_cpu_root(home->g, outside))
        home = home->outer;
    bool whole = root == v && home == s;
    const void *data = home->g->val[root]->data;
    size_t size = tc_type_bytes(type);
    if (ti_cpu_buffer(home->g, root) >= 0) {
        uint32_t at = whole ? buffer_data(e, home, v, size) : 0;
        const char *name = whole && home->memory->in_state ? home->g->val[v]->name : NULL;
        s->of[v] = put_tensor(e, type, at, place_of(e, home, root), name);
    } else if (data)
        s->of[v] =
            put_tensor(e, type, data_place(e, &e->file->constants, data, size, true), 0, NULL);
    else
        s->of[v] = put_tensor(e, type, 0, place_of(e, home, root), NULL);
    return s->of[v];
}

int64_t ti_pte_shown(tc_pte_emitter *e, tc_val v, const tc_cm_view *view)
{
    const tc_pte_scope *s = e->scope;
    tc_val root = ti_cpu_root(s->g, v);
    const void *data = s->g->val[root]->data;
    const tc_type *type =
        ti_type_make(e->ctx, ti_type_of(s->g, v)->dtype, view->rank, view->dim);
    bool constant = data && ti_cpu_buffer(s->g, root) < 0;
    uint32_t at =
        constant ? data_place(e, &e->file->constants, data, tc_type_bytes(type), true) : 0;
    return put_ordered(e, type, view->order, at, constant ? 0 : place_of(e, s, root), NULL);
}

int64_t ti_pte_tensor(tc_pte_emitter *e, tc_val v)
{
    return tensor_in(e, e->scope, v);
}

tc_status ti_pte_check_types(tc_pte_emitter *e)
{
    return ti_emit_check_types(e->ctx, e->scope->g, element_type, "ExecuTorch");
}
