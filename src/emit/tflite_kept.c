/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_kept.c -- what a TensorFlow Lite file brings into the one that is written: operators that
 * stay whole, names and scales of tensors, signatures and metadata. */
#include "tflite_ops.h"

/* The reader has checked what it needed of the file; what is copied is more. */
static tc_status broken(const tc_tfw *e, const tc_loc *loc)
{
    const char *error = e->source->fb.error;
    return error ? ti_error(e->ctx, loc, TC_E_FORMAT, "%s", error) : TC_OK;
}

tc_status ti_tfw_open(tc_tfw *e)
{
    tc_bytes bytes = e->module->origin.source;
    if (!bytes.size)
        return TC_OK;
    tc_tfw_source *s = e->source = tc_new(&e->ctx->arena, tc_tfw_source);
    s->bytes = bytes;
    ti_fb_init(&s->fb, bytes, TC_TFL_IDENTIFIER);
    s->root = ti_fb_root(&s->fb);
    tc_fb_vector graphs = ti_fb_list(s->root, MODEL_GRAPHS, 4);
    if (e->module->origin.source_graph < 0 || (uint64_t)e->module->origin.source_graph >= graphs.n)
        return ti_bug(e->ctx, NULL, "the file has no graph %" PRId64, e->module->origin.source_graph);
    s->graph = ti_fb_list_table(graphs, (size_t)e->module->origin.source_graph);
    s->codes = ti_fb_list(s->root, MODEL_CODES, 4);
    s->buffers = ti_fb_list(s->root, MODEL_BUFFERS, 4);
    s->tensors = ti_fb_list(s->graph, GRAPH_TENSORS, 4);
    s->ops = ti_fb_list(s->graph, GRAPH_OPERATORS, 4);
    s->there = tc_new_n(&e->ctx->arena, int64_t, s->tensors.n + 1);
    return broken(e, NULL);
}

static tc_bytes buffer_at(tc_tfw_source *s, uint32_t i)
{
    if (i >= s->buffers.n)
        return (tc_bytes){NULL, 0};
    tc_fb_table b = ti_fb_list_table(s->buffers, i);
    uint64_t at = ti_fb_u64(b, BUFFER_AT, 0), size = ti_fb_u64(b, BUFFER_SIZE, 0);
    if (at <= 1)
        return ti_fb_bytes(b, BUFFER_DATA);
    bool inside = at <= s->bytes.size && size <= s->bytes.size - at;
    return inside ? (tc_bytes){s->bytes.data + at, (size_t)size} : (tc_bytes){NULL, 0};
}

static bool has_numbers(tc_tfw_source *s, uint32_t i)
{
    if (i >= s->buffers.n)
        return false;
    tc_fb_table b = ti_fb_list_table(s->buffers, i);
    return ti_fb_u64(b, BUFFER_AT, 0) > 1 ? ti_fb_u64(b, BUFFER_SIZE, 0) != 0
                                          : ti_fb_count(b, BUFFER_DATA) != 0;
}

static int64_t *ints_of(tc_tfw *e, tc_fb_vector v)
{
    int64_t *list = tc_new_n(&e->ctx->arena, int64_t, v.n + 1);
    for (size_t i = 0; i < v.n; i++)
        list[i] = ti_fb_list_i32(v, i);
    return list;
}

static void scales_there(tc_tfw *e, tc_fb_table table, tc_tfw_tensor *t)
{
    tc_fb_table q = ti_fb_child(table, TENSOR_QUANT);
    tc_fb_vector scale = ti_fb_list(q, QUANT_SCALE, 4), zero = ti_fb_list(q, QUANT_ZERO, 8);
    double *s = tc_new_n(&e->ctx->arena, double, scale.n + 1);
    int64_t *z = tc_new_n(&e->ctx->arena, int64_t, scale.n + 1);
    for (size_t i = 0; i < scale.n; i++) {
        uint32_t bits = (uint32_t)ti_fb_list_i32(scale, i);
        float v;
        memcpy(&v, &bits, sizeof v);
        s[i] = (double)v;
        z[i] = zero.n ? (int64_t)ti_fb_list_u64(zero, zero.n == scale.n ? i : 0) : 0;
    }
    t->n_scale = (int)scale.n;
    t->scale = s;
    t->zero = z;
    t->axis = ti_fb_i32(q, QUANT_AXIS, 0);
}

void ti_tfw_as_there(tc_tfw *e, int64_t i, tc_tfw_tensor *t)
{
    tc_tfw_source *s = e->source;
    if (!s || i < 0 || (size_t)i >= s->tensors.n)
        return;
    tc_fb_table table = ti_fb_list_table(s->tensors, (size_t)i);
    tc_str name = ti_fb_string(table, TENSOR_NAME);
    if (name.n)
        t->name = ti_text_copy(&e->ctx->arena, name);
    if ((int8_t)ti_fb_u8(table, TENSOR_TYPE, 0) == t->type)
        scales_there(e, table, t);
}

/* A constant or a variable of the file. */
static int64_t own_tensor(tc_tfw *e, int64_t i)
{
    tc_tfw_source *s = e->source;
    if (s->there[i])
        return s->there[i] - 1;
    tc_fb_table table = ti_fb_list_table(s->tensors, (size_t)i);
    tc_fb_vector shape = ti_fb_list(table, TENSOR_SHAPE, 4);
    tc_tfw_tensor t = {.name = "", .type = (int8_t)ti_fb_u8(table, TENSOR_TYPE, 0),
                       .rank = (int)shape.n, .dim = ints_of(e, shape), .offset = -1};
    t.data = buffer_at(s, ti_fb_u32(table, TENSOR_BUFFER, 0));
    t.constant = t.data.size != 0;
    t.variable = ti_fb_u8(table, TENSOR_VARIABLE, 0) != 0;
    ti_tfw_as_there(e, i, &t);
    s->there[i] = ti_tfw_add_tensor(e, t) + 1;
    return s->there[i] - 1;
}

/* The tensor of a value, called as the file's tensor i. */
static int64_t known_tensor(tc_tfw *e, tc_val v, int64_t i)
{
    int64_t at = ti_tfw_tensor(e, v);
    tc_tfw_tensor *t = &e->model.tensor[at];
    if (!t->constant || !t->n_scale) /* codes that were folded have lost theirs */
        ti_tfw_as_there(e, i, t);
    e->source->there[i] = at + 1;
    return at;
}

/* Whether the operator's node has an operand for the file's tensor i. */
static bool is_operand(tc_tfw_source *s, int64_t i)
{
    if (i < 0 || (size_t)i >= s->tensors.n)
        return false;
    tc_fb_table t = ti_fb_list_table(s->tensors, (size_t)i);
    return !has_numbers(s, ti_fb_u32(t, TENSOR_BUFFER, 0)) && !ti_fb_u8(t, TENSOR_VARIABLE, 0);
}

static tc_bytes record_of(tc_tfw_source *s, tc_fb_table op)
{
    uint64_t at = ti_fb_u64(op, OP_LARGE_AT, 0), size = ti_fb_u64(op, OP_LARGE_SIZE, 0);
    if (at <= 1)
        return ti_fb_bytes(op, OP_CUSTOM);
    bool inside = at <= s->bytes.size && size <= s->bytes.size - at;
    return inside ? (tc_bytes){s->bytes.data + at, (size_t)size} : (tc_bytes){NULL, 0};
}

/* Code, name, version and options unchanged. */
static void keep_identity(tc_tfw *e, tc_fb_table from, tc_tfw_op *op)
{
    tc_tfw_source *s = e->source;
    tc_fb_table code = ti_fb_list_table(s->codes, ti_fb_u32(from, OP_CODE, 0));
    int old = ti_fb_u8(code, CODE_OLD, 0), now = ti_fb_i32(code, CODE_NEW, 0);
    tc_str name = ti_fb_string(code, CODE_CUSTOM);
    op->code = now > old ? now : old;
    op->version = ti_fb_i32(code, CODE_VERSION, 1);
    op->custom = name.n ? ti_text_copy(&e->ctx->arena, name) : NULL;
    int second = ti_fb_u8(from, OP_OPTIONS_2_TYPE, 0);
    op->options = second ? TC_TFW_SECOND | second : ti_fb_u8(from, OP_OPTIONS_TYPE, 0);
    op->copied = ti_fb_child(from, second ? OP_OPTIONS_2 : OP_OPTIONS);
    op->options = op->copied.at ? op->options : 0;
    op->custom_options = record_of(s, from);
}

/* What the firmware must provide itself. */
static void say_missing(tc_tfw *e, const tc_node *node, int code)
{
    const tc_attr_tflite_op *a = node->attr;
    if (code != TC_TFL_CUSTOM && !ti_tflm_builtin_of(code))
        ti_warning(e->ctx, node->loc, TC_E_UNSUPPORTED,
                   "'%s' stays as it is, and TensorFlow Lite Micro has no kernel for it", a->name);
}

/* Every tensor that a list names is one of the file; inputs may be left out, -1. */
static tc_status check_named(const tc_tfw *e, const tc_node *node, tc_fb_vector list, int64_t least)
{
    for (size_t i = 0; i < list.n; i++) {
        int64_t t = ti_fb_list_i32(list, i);
        if (t < least || t >= (int64_t)e->source->tensors.n)
            return ti_error(e->ctx, node->loc, TC_E_FORMAT,
                            "the operator names tensor %" PRId64 ", and there are %zu", t,
                            e->source->tensors.n);
    }
    return TC_OK;
}

tc_status ti_tfw_kept(tc_tfw *e, const tc_node *node)
{
    const tc_attr_tflite_op *a = node->attr;
    tc_tfw_source *s = e->source;
    if (!s || a->place < 0 || (size_t)a->place >= s->ops.n)
        return ti_bug(e->ctx, node->loc, "'%s' is not an operator of the file", a->name);
    tc_fb_table from = ti_fb_list_table(s->ops, (size_t)a->place);
    if (ti_tfw_names_graph(TC_TFW_SECOND | ti_fb_u8(from, OP_OPTIONS_2_TYPE, 0)))
        return ti_unsupported(e->ctx, node->loc, TC_E_UNSUPPORTED,
                              "'%s' stays on the CPU, and its options name another graph of the file, which is not "
                              "copied", a->name);
    tc_fb_vector in = ti_fb_list(from, OP_INPUTS, 4), out = ti_fb_list(from, OP_OUTPUTS, 4),
                 between = ti_fb_list(from, OP_INTERMEDIATES, 4);
    TC_TRY(check_named(e, node, in, -1));
    TC_TRY(check_named(e, node, out, 0));
    TC_TRY(check_named(e, node, between, -1));
    int64_t *at = tc_new_n(&e->ctx->arena, int64_t, in.n + out.n + between.n + 1);
    int next = 0;
    for (size_t i = 0; i < in.n; i++) {
        int64_t t = ti_fb_list_i32(in, i);
        bool operand = is_operand(s, t);
        if (operand && next >= node->n_in)
            return ti_bug(e->ctx, node->loc, "'%s' has too few operands", a->name);
        at[i] = t < 0 ? -1 : operand ? known_tensor(e, node->in[next++], t) : own_tensor(e, t);
    }
    for (size_t i = 0; i < out.n && i < (size_t)node->n_out; i++)
        at[in.n + i] = known_tensor(e, node->out[i], ti_fb_list_i32(out, i));
    for (size_t i = 0; i < between.n; i++)
        at[in.n + out.n + i] = ti_fb_list_i32(between, i) < 0
                                   ? -1
                                   : own_tensor(e, ti_fb_list_i32(between, i));
    tc_tfw_op *op = ti_tfw_add_op(e, in.n, out.n);
    memcpy(op->in, at, in.n * sizeof *at);
    memcpy(op->out, at + in.n, out.n * sizeof *at);
    op->between = at + in.n + out.n;
    op->n_between = between.n;
    keep_identity(e, from, op);
    say_missing(e, node, op->code);
    return broken(e, node->loc);
}

/* ---- signatures and metadata ---- */

static tc_tfw_name *names_of(tc_tfw *e, tc_fb_vector maps, size_t *n)
{
    tc_tfw_name *name = tc_new_n(&e->ctx->arena, tc_tfw_name, maps.n + 1);
    *n = 0;
    for (size_t i = 0; i < maps.n; i++) {
        tc_fb_table map = ti_fb_list_table(maps, i);
        uint32_t t = ti_fb_u32(map, 1, 0);
        if (t < e->source->tensors.n && e->source->there[t])
            name[(*n)++] = (tc_tfw_name){
                ti_text_copy(&e->ctx->arena, ti_fb_string(map, 0)), e->source->there[t] - 1};
    }
    return name;
}

static void keep_signatures(tc_tfw *e)
{
    tc_tfw_source *s = e->source;
    tc_tfw_model *m = &e->model;
    tc_fb_vector all = ti_fb_list(s->root, MODEL_SIGNATURES, 4);
    m->signature = tc_new_n(&e->ctx->arena, tc_tfw_signature, all.n + 1);
    for (size_t i = 0; i < all.n; i++) {
        tc_fb_table from = ti_fb_list_table(all, i);
        if (ti_fb_u32(from, SIGNATURE_GRAPH, 0) != e->module->origin.source_graph)
            continue;
        tc_tfw_signature *to = &m->signature[m->n_signature++];
        to->key = ti_text_copy(&e->ctx->arena, ti_fb_string(from, SIGNATURE_KEY));
        to->in = names_of(e, ti_fb_list(from, SIGNATURE_INPUTS, 4), &to->n_in);
        to->out = names_of(e, ti_fb_list(from, SIGNATURE_OUTPUTS, 4), &to->n_out);
    }
}

void ti_tfw_keep_rest(tc_tfw *e)
{
    tc_tfw_source *s = e->source;
    if (!s)
        return;
    keep_signatures(e);
    tc_str graph = ti_fb_string(s->graph, GRAPH_NAME);
    if (graph.n)
        e->model.graph = ti_text_copy(&e->ctx->arena, graph);
    tc_fb_vector list = ti_fb_list(s->root, MODEL_METADATA, 4);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        tc_str name = ti_fb_string(t, METADATA_NAME);
        if (name.n && !ti_str_is(name, TC_TFL_OFFLINE))
            ti_tfw_metadata(e, ti_text_copy(&e->ctx->arena, name),
                            buffer_at(s, ti_fb_u32(t, METADATA_BUFFER, 0)));
    }
}
