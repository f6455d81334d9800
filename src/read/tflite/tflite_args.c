/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_args.c -- an operator's inputs, options and results. */
#include "../../num/load.h"
#include "tflite_program.h"

static int64_t index_of(tc_fb_vector list, int n, int i)
{
    return i >= 0 && i < n ? ti_fb_list_i32(list, (size_t)i) : -1;
}

static tc_tfl_tensor *tensor_of(const tc_tfl_node *n, int64_t i)
{
    return i >= 0 && (size_t)i < n->scope->n_tensor ? &n->scope->tensor[i] : NULL;
}

bool ti_tfl_has(const tc_tfl_node *n, int i)
{
    return index_of(n->in, n->n_in, i) >= 0;
}

tc_tfl_tensor *ti_tfl_in_tensor(const tc_tfl_node *n, int i)
{
    return tensor_of(n, index_of(n->in, n->n_in, i));
}

tc_tfl_tensor *ti_tfl_out_tensor(const tc_tfl_node *n, int i)
{
    return tensor_of(n, index_of(n->out, n->n_out, i));
}

tc_val ti_tfl_in(tc_tfl_node *n, int i)
{
    int64_t at = index_of(n->in, n->n_in, i);
    if (at < 0 || n->m.status != TC_OK)
        return TC_NONE;
    return ti_tfl_value(n->scope, at, n->m.loc, &n->m.status);
}

tc_val ti_tfl_need(tc_tfl_node *n, int i)
{
    tc_val v = ti_tfl_in(n, i);
    if (!v)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "input %d is left out", i);
    return v;
}

tc_val ti_tfl_plain_of(tc_build *m, const tc_tfl_tensor *t, tc_val x)
{
    return t->plain ? t->plain : ti_tfl_up(m, x);
}

tc_val ti_tfl_plain(tc_tfl_node *n, int i)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    tc_val x = ti_tfl_need(n, i);
    return t && t->shifted ? ti_tfl_plain_of(&n->m, t, x) : x;
}

void ti_tfl_bind(tc_tfl_node *n, int i, tc_val value)
{
    tc_tfl_tensor *t = ti_tfl_out_tensor(n, i);
    if (n->m.status != TC_OK || !t)
        return;
    if (t->made) {
        ti_b_bad(&n->m, TC_E_ORDER, "tensor '%s' is defined twice", t->name);
        return;
    }
    tc_dtype dtype = ti_b_dtype(&n->m, value);
    if (t->dtype && dtype != t->dtype) {
        ti_b_bad(&n->m, TC_E_TYPE, "result '%s' is declared %s, and is of type %s", t->name,
                 ti_tfl_type_name(t->code), tc_dtypes[dtype].name);
        return;
    }
    t->made = true;
    t->val = value;
    tc_value *v = ti_value_of(n->m.g, value);
    if (!v->name && v->def && !v->data)
        v->name = ti_intern_text(n->m.ctx, t->name);
}

void ti_tfl_bind_plain(tc_tfl_node *n, int i, tc_val value)
{
    tc_tfl_tensor *t = ti_tfl_out_tensor(n, i);
    if (t && t->shifted)
        t->plain = value;
    ti_tfl_bind(n, i, t && t->shifted ? ti_tfl_down(&n->m, value) : value);
}

/* ---- options ---- */

int64_t ti_tfl_int(const tc_tfl_node *n, uint32_t field, int64_t missing)
{
    return ti_fb_i32(n->opt, field, (int32_t)missing);
}

bool ti_tfl_bool(const tc_tfl_node *n, uint32_t field, bool missing)
{
    return ti_fb_u8(n->opt, field, missing) != 0;
}

int ti_tfl_enum(const tc_tfl_node *n, uint32_t field)
{
    return ti_fb_u8(n->opt, field, 0);
}

double ti_tfl_float(const tc_tfl_node *n, uint32_t field, double missing)
{
    float v = (float)missing;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = ti_fb_u32(n->opt, field, bits);
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

tc_ints ti_tfl_ints(const tc_tfl_node *n, uint32_t field)
{
    tc_fb_vector list = ti_fb_list(n->opt, field, 4);
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, list.n);
    for (size_t i = 0; i < list.n; i++)
        v[i] = ti_fb_list_i32(list, i);
    return (tc_ints){(int32_t)list.n, v};
}

/* ---- what shapes follow from ---- */

bool ti_tfl_settled_tensor(tc_tfl_node *n, int i, tc_tensor *out)
{
    tc_val v = ti_tfl_need(n, i);
    TC_STOP_WITH(&n->m, false);
    if (ti_b_settled(&n->m, v, out))
        return true;
    ti_b_bad(&n->m, TC_E_DYNAMIC,
             "input %d ('%s') determines a shape and is not constant", i,
             ti_tfl_in_tensor(n, i)->name);
    return false;
}

tc_ints ti_tfl_settled(tc_tfl_node *n, int i)
{
    tc_tensor t;
    if (!ti_tfl_settled_tensor(n, i, &t))
        return (tc_ints){0, NULL};
    int64_t count = tc_type_count(t.type);
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)count);
    for (int64_t k = 0; k < count; k++)
        v[k] = ti_load_i64(t, k);
    return (tc_ints){(int32_t)count, v};
}

/* The file declares the extents of the axes in `need` of result y, and y has an axis for each entry
 * of its shape: an empty shape is unknown. */
static bool is_stated(const tc_tfl_tensor *y, int64_t count, int first, uint32_t need)
{
    bool stated = y && first + count <= y->rank && (first || count == y->rank);
    for (int k = 0; stated && k < y->rank; k++)
        if (need >> k & 1)
            stated = y->dim[k] >= 0 && !(y->open >> k & 1);
    return stated;
}

tc_ints ti_tfl_shape(tc_tfl_node *n, int i, int first, uint32_t need, bool *stated)
{
    tc_tensor t;
    tc_val v = ti_tfl_need(n, i);
    const tc_tfl_tensor *y = ti_tfl_out_tensor(n, 0);
    TC_STOP_WITH(&n->m, ((tc_ints){0, NULL}));
    int64_t count = tc_type_count(ti_b_type(&n->m, v));
    bool taken = !ti_b_settled(&n->m, v, &t) && is_stated(y, count, first, need);
    if (stated)
        *stated = taken;
    if (!taken)
        return ti_tfl_settled(n, i);
    int64_t *dim = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)count + 1);
    for (int64_t k = 0; k < count; k++)
        dim[k] = y->open >> (first + k) & 1 ? -1 : y->dim[first + k];
    ti_warning(n->m.ctx, n->m.loc, TC_E_DYNAMIC,
               "input %d ('%s') determines the shape of '%s' and is not constant: it is taken to "
               "be %s, as the file states",
               i, ti_tfl_in_tensor(n, i)->name, y->name,
               ti_dims_text(&n->m.ctx->arena, (int32_t)count, dim));
    return (tc_ints){(int32_t)count, dim};
}

int64_t ti_tfl_settled_int(tc_tfl_node *n, int i)
{
    tc_ints list = ti_tfl_settled(n, i);
    if (n->m.status == TC_OK && list.n < 1)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "input %d has no number", i);
    return n->m.status == TC_OK ? list.v[0] : 0;
}

/* ---- what many share ---- */

tc_val ti_tfl_activate(tc_build *m, tc_val x, int activation)
{
    switch (activation) {
    case TFL_NONE:
        return x;
    case TFL_RELU:
        return ti_b_relu(m, x);
    case TFL_RELU_N1_TO_1:
        return ti_b_clamp(m, x, -1, 1);
    case TFL_RELU6:
        return ti_b_clamp(m, x, 0, 6);
    case TFL_TANH:
        return ti_b_tanh(m, x);
    default:
        ti_b_unsupported(m, "activation %d (%s) is not supported", activation,
                         activation == TFL_SIGN_BIT ? "SIGN_BIT" : "unknown");
        return TC_NONE;
    }
}

bool ti_tfl_window_of(tc_tfl_node *n, int padding, tc_tfl_window *w)
{
    int64_t most = INT32_MAX;
    if (w->stride < 1 || w->dilation < 1 || w->kernel < 1 || w->stride > most ||
        w->dilation > most || w->kernel > most) {
        ti_b_bad(&n->m, TC_E_ARGUMENT,
                 "a window of %" PRId64 " with stride %" PRId64 " and dilation %" PRId64, w->kernel,
                 w->stride, w->dilation);
        return false;
    }
    int64_t reach = (w->kernel - 1) * w->dilation + 1;
    w->out = padding == 0 ? (w->in + w->stride - 1) / w->stride
                          : (w->in + w->stride - reach) / w->stride;
    if (w->out < 1 || (padding && w->in < reach)) {
        ti_b_bad(&n->m, TC_E_SHAPE, "a window of %" PRId64 " does not fit %" PRId64 " places",
                 reach, w->in);
        return false;
    }
    int64_t total = (w->out - 1) * w->stride + reach - w->in;
    w->used = total < 0 ? w->in + total : w->in;
    total = padding == 0 && total > 0 ? total : 0;
    w->before = total / 2;
    w->after = total - w->before;
    return true;
}
