/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_args.c -- a node's inputs, attributes and results. */
#include "../../num/load.h"
#include "onnx_program.h"

/* ---- inputs and results ---- */

bool ti_onnx_has_in(const tc_onnx_node *n, int i)
{
    return i < n->n_in && *n->proto->input[i];
}

tc_val ti_onnx_in(tc_onnx_node *n, int i)
{
    if (n->m.status != TC_OK || !ti_onnx_has_in(n, i))
        return TC_NONE;
    return ti_onnx_value(n->scope, n->proto->input[i], n->m.loc, &n->m.status);
}

tc_val ti_onnx_need(tc_onnx_node *n, int i)
{
    tc_val v = ti_onnx_in(n, i);
    if (!v)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "input %d is missing", i);
    return v;
}

bool ti_onnx_wants(const tc_onnx_node *n, int i)
{
    return i < n->n_out && *n->proto->output[i];
}

void ti_onnx_bind(tc_onnx_node *n, int i, tc_val value)
{
    if (n->m.status != TC_OK || !ti_onnx_wants(n, i) || !value)
        return;
    tc_value *v = ti_value_of(n->m.g, value);
    if (!v->name)
        v->name = ti_intern_text(n->m.ctx, n->proto->output[i]);
    ti_onnx_name_value(n->scope, n->proto->output[i], value);
}

/* ---- attributes ---- */

static const TcOnnxPb__Attribute *among(TcOnnxPb__Attribute *const *list, size_t n,
                                        const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (list[i]->name && ti_text_eq(list[i]->name, name))
            return list[i];
    return NULL;
}

/* Inside a function an attribute may be one of the call's. */
static const TcOnnxPb__Attribute *resolve(const tc_onnx_scope *scope, const TcOnnxPb__Attribute *a)
{
    while (a && a->ref_attr_name && *a->ref_attr_name) {
        const char *name = a->ref_attr_name;
        while (scope && !scope->call)
            scope = scope->outer;
        if (!scope)
            return NULL;
        a = among(scope->call->attribute, scope->call->n_attribute, name);
        if (!a) {
            a = among(scope->function->attribute_proto, scope->function->n_attribute_proto, name);
            return a;
        }
        scope = scope->caller;
    }
    return a;
}

static const TcOnnxPb__Attribute *attribute_of(tc_onnx_node *n, const char *name)
{
    return resolve(n->scope, among(n->proto->attribute, n->proto->n_attribute, name));
}

/* ONNX's codes of attribute kinds; 0 in files that omit it. */
static const char *const kinds[] = {"",        "a float",  "an integer", "text",
                                    "a tensor", "a graph", "floats",     "integers", "texts"};
enum { FLOAT = 1, INT, STRING, FLOATS = 6, INTS, STRINGS };

/* The attribute if it is of the requested kind; else NULL, with a message. */
static const TcOnnxPb__Attribute *of_kind(tc_onnx_node *n, const char *name, int kind)
{
    const TcOnnxPb__Attribute *a = attribute_of(n, name);
    if (!a || !a->has_type || !a->type || (int)a->type == kind)
        return a;
    bool known = a->type > 0 && (size_t)a->type < TC_COUNT(kinds);
    ti_b_bad(&n->m, TC_E_ARGUMENT, "attribute '%s' is %s, expected %s", name,
             known ? kinds[a->type] : "of another kind", kinds[kind]);
    return NULL;
}

bool ti_onnx_has(tc_onnx_node *n, const char *name)
{
    return attribute_of(n, name) != NULL;
}

int64_t ti_onnx_int(tc_onnx_node *n, const char *name, int64_t missing)
{
    const TcOnnxPb__Attribute *a = of_kind(n, name, INT);
    return a ? a->i : missing;
}

double ti_onnx_float(tc_onnx_node *n, const char *name, double missing)
{
    const TcOnnxPb__Attribute *a = of_kind(n, name, FLOAT);
    return a ? (double)a->f : missing;
}

tc_ints ti_onnx_ints(tc_onnx_node *n, const char *name)
{
    const TcOnnxPb__Attribute *a = of_kind(n, name, INTS);
    if (!a)
        return (tc_ints){0, NULL};
    if (a->n_ints > INT32_MAX / 2) {
        ti_b_bad(&n->m, TC_E_TOO_LARGE, "'%s' has %zu numbers", name, a->n_ints);
        return (tc_ints){0, NULL};
    }
    return ti_ints_copy(&n->m.ctx->arena, a->ints, (int32_t)a->n_ints);
}

tc_floats ti_onnx_floats(tc_onnx_node *n, const char *name)
{
    const TcOnnxPb__Attribute *a = of_kind(n, name, FLOATS);
    size_t count = a ? a->n_floats : 0;
    if (count > INT32_MAX / 2)
        count = 0;
    double *v = tc_new_n(&n->m.ctx->arena, double, count);
    for (size_t i = 0; i < count; i++)
        v[i] = (double)a->floats[i];
    return (tc_floats){(int32_t)count, v};
}

static const char *text_of(tc_onnx_node *n, ProtobufCBinaryData s)
{
    return ti_text_copy(&n->m.ctx->arena, (tc_str){(const char *)s.data, s.len});
}

const char *ti_onnx_text(tc_onnx_node *n, const char *name, const char *missing)
{
    const TcOnnxPb__Attribute *a = of_kind(n, name, STRING);
    return a && a->has_s ? text_of(n, a->s) : missing;
}

const char *ti_onnx_text_at(tc_onnx_node *n, const char *name, int i, const char *missing)
{
    const TcOnnxPb__Attribute *a = of_kind(n, name, STRINGS);
    return a && (size_t)i < a->n_strings ? text_of(n, a->strings[i]) : missing;
}

const TcOnnxPb__Graph *ti_onnx_graph(tc_onnx_node *n, const char *name)
{
    const TcOnnxPb__Attribute *a = attribute_of(n, name);
    if (!a || !a->g)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the graph '%s' is missing", name);
    return a ? a->g : NULL;
}

tc_val ti_onnx_tensor(tc_onnx_node *n, const char *name)
{
    const TcOnnxPb__Attribute *a = attribute_of(n, name);
    tc_tensor t;
    if (!a || !a->t || n->m.status != TC_OK)
        return TC_NONE;
    n->m.status = ti_onnx_load(n->scope->reader, a->t, n->m.loc, &t);
    return n->m.status == TC_OK ? ti_b_const(&n->m, t, NULL) : TC_NONE;
}

/* ---- values that shapes depend on ---- */

bool ti_onnx_settled_tensor(tc_onnx_node *n, int i, tc_tensor *out)
{
    tc_val v = ti_onnx_need(n, i);
    TC_STOP_WITH(&n->m, false);
    if (ti_b_settled(&n->m, v, out))
        return true;
    TC_STOP_WITH(&n->m, false);
    n->m.status = ti_error(n->m.ctx, n->m.loc, TC_E_DYNAMIC,
                           "the shape of the result depends on the numbers of '%s', which are "
                           "not constant", n->proto->input[i]);
    ti_note(n->m.ctx, n->m.loc,
            "make it a constant of the model; `tosac run` takes it from the data it is given");
    return false;
}

tc_ints ti_onnx_settled(tc_onnx_node *n, int i)
{
    tc_tensor t;
    if (!ti_onnx_settled_tensor(n, i, &t))
        return (tc_ints){0, NULL};
    int64_t count = tc_type_count(t.type);
    if (count > 1 << 20) {
        ti_b_bad(&n->m, TC_E_TOO_LARGE, "a list of %" PRId64 " numbers", count);
        return (tc_ints){0, NULL};
    }
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)count);
    for (int64_t k = 0; k < count; k++)
        v[k] = ti_load_i64(t, k);
    return (tc_ints){(int32_t)count, v};
}

tc_floats ti_onnx_settled_floats(tc_onnx_node *n, int i)
{
    tc_tensor t;
    if (!ti_onnx_settled_tensor(n, i, &t))
        return (tc_floats){0, NULL};
    int64_t count = ti_min_i64(tc_type_count(t.type), 1 << 20);
    double *v = tc_new_n(&n->m.ctx->arena, double, (size_t)count);
    for (int64_t k = 0; k < count; k++)
        v[k] = ti_load_f64(t, k);
    return (tc_floats){(int32_t)count, v};
}

int64_t ti_onnx_settled_int(tc_onnx_node *n, int i, int64_t missing)
{
    if (i >= n->n_in || !*n->proto->input[i])
        return missing;
    tc_ints list = ti_onnx_settled(n, i);
    if (n->m.status == TC_OK && list.n != 1)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "input %d has %d numbers, expected one", i, list.n);
    return list.n == 1 ? list.v[0] : missing;
}

tc_ints ti_onnx_list(tc_onnx_node *n, const char *name, int i)
{
    if (i < n->n_in && *n->proto->input[i])
        return ti_onnx_settled(n, i);
    return ti_onnx_ints(n, name);
}

tc_dtype ti_onnx_need_dtype(tc_onnx_node *n, int64_t code)
{
    tc_dtype t = ti_onnx_dtype(code);
    if (t == TC_none)
        ti_b_unsupported(&n->m, "element type %" PRId64 " (%s) is not supported", code,
                         ti_onnx_dtype_name(code));
    return t;
}

