/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops.c -- a program as a TensorFlow Lite model for TFLM: regions as `ethos-u` operators,
 * the rest as builtins, mutable buffers as variables, and all addresses. */
#include "tflite_ops.h"


enum { NOT_PLANNED = -1 };

int64_t ti_tfw_add_tensor(tc_tfw *e, tc_tfw_tensor t)
{
    tc_tfw_model *m = &e->model;
    tc_grow(&e->ctx->arena, m->tensor, m->n_tensor, m->cap_tensor);
    m->tensor[m->n_tensor] = t;
    return (int64_t)m->n_tensor++;
}

tc_tfw_op *ti_tfw_add_op(tc_tfw *e, size_t n_in, size_t n_out)
{
    tc_tfw_model *m = &e->model;
    tc_grow(&e->ctx->arena, m->op, m->n_op, m->cap_op);
    m->op[m->n_op] = (tc_tfw_op){.in = tc_new_n(&e->ctx->arena, int64_t, n_in + 1),
                                 .out = tc_new_n(&e->ctx->arena, int64_t, n_out + 1),
                                 .n_in = n_in,
                                 .n_out = n_out,
                                 .version = 1};
    return &m->op[m->n_op++];
}

/* ---- tensors ---- */

/* The type of the elements: kind, shape, scale. */
static tc_tfw_tensor tensor_of(const tc_type *type, const tc_type *codes, const char *name)
{
    tc_tfw_tensor t = {.name = name ? name : "", .type = ti_tfl_type_of(type->dtype),
                       .rank = type->rank, .dim = type->dim, .offset = NOT_PLANNED};
    const tc_quant *q = type->quant ? type->quant : codes ? codes->quant : NULL;
    if (q && type->dtype != TC_f32) {
        t.n_scale = q->count;
        t.scale = q->scale;
        t.zero = q->zero;
        t.axis = q->axis < 0 ? 0 : q->axis;
    }
    return t;
}

int64_t ti_tfw_ints(tc_tfw *e, const int64_t *v, int64_t n, int rank, const int64_t *dim)
{
    tc_buf data;
    ti_buf_init(&data, &e->ctx->arena);
    ti_buf_u32(&data, (uint32_t)rank);
    for (int64_t i = 0; i < n; i++)
        ti_buf_u32(&data, (uint32_t)(int32_t)v[i]);
    void **slot = ti_map_at(&e->numbers, (tc_str){(const char *)data.data, data.size});
    if (*slot)
        return (int64_t)(uintptr_t)*slot - 1;
    tc_tfw_tensor t = {.name = "shape", .type = TFL_INT32, .rank = rank, .constant = true,
                       .offset = NOT_PLANNED};
    t.dim = ti_arena_copy(&e->ctx->arena, dim, (size_t)rank * sizeof *dim);
    t.data = (tc_bytes){data.data + 4, data.size - 4};
    int64_t at = ti_tfw_add_tensor(e, t);
    *slot = (void *)(uintptr_t)(at + 1);
    return at;
}

static const tc_port *port_of(const tc_port *port, size_t n, tc_val v)
{
    for (size_t i = 0; i < n; i++)
        if (port[i].val == v)
            return &port[i];
    return NULL;
}

/* As the signature, and the file that the program comes from, have it. */
static void name_port(tc_tfw *e, tc_val v, tc_tfw_tensor *t, int64_t at)
{
    const tc_module *m = e->module;
    const tc_port *in = port_of(m->signature.in, m->signature.n_in, v),
                  *out = port_of(m->signature.out, m->signature.n_out, v), *port = in ? in : out;
    if (!port)
        return;
    if (port->name && *port->name)
        t->name = port->name;
    if (port->tensor && e->source) {
        ti_tfw_as_there(e, port->tensor - 1, t);
        if (in && in->tensor)
            e->source->there[in->tensor - 1] = at + 1;
        if (out && out->tensor)
            e->source->there[out->tensor - 1] = at + 1;
    }
}

static const tc_type *codes_of(const tc_tfw *e, tc_val v)
{
    const tc_module *m = e->module;
    const tc_port *in = port_of(m->signature.in, m->signature.n_in, v),
                  *out = port_of(m->signature.out, m->signature.n_out, v);
    return in && in->codes ? in->codes : out ? out->codes : NULL;
}

static const char *name_of(tc_tfw *e, tc_val v)
{
    const tc_value *value = ti_value_of(e->g, v);
    const char *node = value->def ? value->def->loc->node : NULL;
    return value->name ? value->name
           : node      ? node
                       : ti_text_format(&e->ctx->arena, "value_%" PRIu32, v);
}

/* As the file has it that it comes from: its buffers are called GRAPH:TENSOR.  TFLM starts
 * variables of int8 at their zero point, so that they have one. */
static void describe_variable(tc_tfw *e, const tc_value *v, tc_tfw_tensor *t)
{
    static const double one = 1;
    static const int64_t zero = 0;
    const char *colon = v->name ? strchr(v->name, ':') : NULL;
    int64_t graph, tensor;
    if (e->source && colon &&
        ti_text_to_i64((tc_str){v->name, (size_t)(colon - v->name)}, &graph) &&
        ti_text_to_i64(ti_str_of(colon + 1), &tensor) && graph == e->module->origin.source_graph)
        ti_tfw_as_there(e, tensor, t);
    if (t->type == TFL_INT8 && !t->n_scale) {
        t->n_scale = 1;
        t->scale = &one;
        t->zero = &zero;
    }
}

int64_t ti_tfw_tensor(tc_tfw *e, tc_val v)
{
    if (!v)
        return -1;
    if (e->of[v])
        return e->of[v] - 1;
    const tc_value *value = ti_value_of(e->g, v);
    tc_tfw_tensor t = tensor_of(value->type, codes_of(e, v), name_of(e, v));
    t.offset = e->request->plan->offset[v];
    if (ti_is_const(e->g, v)) {
        t.constant = true;
        t.data = (tc_bytes){value->data, tc_type_bytes(value->type)};
    }
    t.variable = value->state && ti_def(e->g, v) && ti_def(e->g, v)->op == TC_OP_const;
    if (t.variable)
        describe_variable(e, value, &t);
    name_port(e, v, &t, (int64_t)e->model.n_tensor);
    e->of[v] = ti_tfw_add_tensor(e, t) + 1;
    return e->of[v] - 1;
}

/* ---- regions ---- */

static int64_t bytes_tensor(tc_tfw *e, const char *name, tc_bytes data, int64_t size,
                            int64_t offset)
{
    tc_tfw_tensor t = {.name = name, .type = TFL_UINT8, .rank = 1, .constant = data.size != 0,
                       .data = data, .offset = offset};
    t.dim = ti_arena_copy(&e->ctx->arena, &size, sizeof size);
    return ti_tfw_add_tensor(e, t);
}

/* Constants; a stream without any is given some zeros. */
static tc_bytes weights_of(const tc_npu_program *p)
{
    static const uint8_t zeros[16];
    return p->weights.size ? p->weights : (tc_bytes){zeros, sizeof zeros};
}

/* Bytes that are not a constant. */
static int64_t memory_tensor(tc_tfw *e, const char *graph, const char *what, int64_t size)
{
    return bytes_tensor(e, ti_text_format(&e->ctx->arena, "%s_%s", graph, what),
                        (tc_bytes){NULL, 0}, size, 0);
}

/* Operand i at its address in the block: itself, or a copy. */
static int64_t operand_at(tc_tfw *e, const tc_node *node, int i, int64_t offset)
{
    int64_t from = ti_tfw_tensor(e, node->in[i]);
    if (e->request->plan->offset[node->in[i]] == offset)
        return from;
    tc_tfw_tensor t = tensor_of(ti_type_of(e->g, node->in[i]), codes_of(e, node->in[i]),
                                ti_text_format(&e->ctx->arena, "%s_copy", name_of(e, node->in[i])));
    t.offset = offset;
    int64_t to = ti_tfw_add_tensor(e, t);
    ti_tfw_copy(e, from, to);
    e->model.tensor[to].shift = from + 1;
    return to;
}

static tc_status put_region(tc_tfw *e, const tc_node *node)
{
    enum { FIRST = 4 };
    static const uint8_t options[] = {1, 4, 1}; /* the integer 1 as flexbuffers have it */
    const tc_tflite_request *r = e->request;
    const tc_attr_call *call = node->attr;
    size_t k = 0;
    while (k < r->n_region && !ti_text_eq(r->region[k].graph, call->graph))
        k++;
    if (k == r->n_region)
        return ti_bug(e->ctx, node->loc, "the graph '%s' was not compiled", call->graph);
    const tc_npu_program *p = &r->region[k].program;
    if (p->n_in != (size_t)node->n_in || p->n_out != (size_t)node->n_out)
        return ti_bug(e->ctx, node->loc,
                      "'%s' has %d operands and %d results, its stream %zu and %zu", call->graph,
                      node->n_in, node->n_out, p->n_in, p->n_out);
    int64_t *in = tc_new_n(&e->ctx->arena, int64_t, p->n_in + 1);
    for (int i = 0; i < node->n_in; i++)
        in[i] = operand_at(e, node, i, p->in[i].offset);
    /* Both begin with the arena; a separate fast memory is the driver's. */
    int64_t scratch = memory_tensor(e, call->graph, "scratch", p->scratch);
    int64_t fast = p->fast ? memory_tensor(e, call->graph, "scratch_fast", p->fast) : scratch;
    tc_bytes weights = weights_of(p);
    int64_t stream =
        bytes_tensor(e, ti_text_format(&e->ctx->arena, "%s_command_stream", call->graph), p->driver,
                     (int64_t)p->driver.size, NOT_PLANNED);
    int64_t constants = bytes_tensor(e, ti_text_format(&e->ctx->arena, "%s_read_only", call->graph),
                                     weights, (int64_t)weights.size, NOT_PLANNED);
    int64_t *out = tc_new_n(&e->ctx->arena, int64_t, p->n_out + 1);
    for (int i = 0; i < node->n_out; i++)
        out[i] = ti_tfw_tensor(e, node->out[i]);
    tc_tfw_op *op = ti_tfw_add_op(e, FIRST + p->n_in, p->n_out);
    op->code = TC_TFL_CUSTOM;
    op->custom = TC_TFL_ETHOSU;
    op->custom_options = (tc_bytes){options, sizeof options};
    memcpy(op->in, (int64_t[]){stream, constants, scratch, fast}, FIRST * sizeof *in);
    memcpy(op->in + FIRST, in, p->n_in * sizeof *in);
    memcpy(op->out, out, p->n_out * sizeof *out);
    return TC_OK;
}

/* ---- the program ---- */

static tc_status put_node(tc_tfw *e, const tc_node *node)
{
    if (node->op == TC_OP_const)
        return TC_OK;
    if (node->op == TC_OP_call)
        return put_region(e, node);
    if (node->op == TC_OP_tflite_op && ((const tc_attr_tflite_op *)node->attr)->place < 0) {
        ti_tfw_shift(e, node);
        return TC_OK;
    }
    if (node->op == TC_OP_tflite_op)
        return ti_tfw_kept(e, node);
    const tc_tflm_row *row = ti_tflm_row_for(e->g, node);
    if (!row)
        return ti_bug(e->ctx, node->loc,
                      "'%s' has no builtin, and the pass `select-tflm-operators` left it",
                      tc_ops[node->op].name);
    ti_tfw_builtin(e, node, row);
    return TC_OK;
}

static tc_status put_writes(tc_tfw *e)
{
    size_t n = e->g->n_mutation;
    int64_t *variable = tc_new_n(&e->ctx->arena, int64_t, n + 1),
            *after = tc_new_n(&e->ctx->arena, int64_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        variable[i] = ti_tfw_tensor(e, e->g->mutation[i].before); /* also if it is unused here */
        after[i] = ti_tfw_tensor(e, e->g->mutation[i].after);
    }
    return ti_tfw_writes(e, variable, after);
}

static int64_t *put_ports(tc_tfw *e, const tc_port *port, size_t n_port, const tc_val *val,
                          size_t n_val, size_t *n)
{
    size_t most = n_port ? n_port : n_val;
    int64_t *at = tc_new_n(&e->ctx->arena, int64_t, most + 1);
    *n = 0;
    for (size_t i = 0; i < most; i++)
        if (!n_port || port[i].val)
            at[(*n)++] = ti_tfw_tensor(e, n_port ? port[i].val : val[i]);
    return at;
}

void ti_tfw_metadata(tc_tfw *e, const char *name, tc_bytes data)
{
    tc_tfw_model *m = &e->model;
    tc_grow(&e->ctx->arena, m->metadata, m->n_metadata, m->cap_metadata);
    m->metadata[m->n_metadata++] = (tc_tfw_metadata){name, data};
}

/* The address of each tensor. */
static void put_plan(tc_tfw *e)
{
    tc_buf b;
    ti_buf_init(&b, &e->ctx->arena);
    ti_buf_u32(&b, 0);
    ti_buf_u32(&b, 1);
    ti_buf_u32(&b, (uint32_t)e->model.n_tensor);
    for (size_t i = 0; i < e->model.n_tensor; i++)
        ti_buf_u32(&b, (uint32_t)(int32_t)e->model.tensor[i].offset);
    ti_tfw_metadata(e, TC_TFL_OFFLINE, (tc_bytes){b.data, b.size});
}

tc_status ti_write_tflite(tc_ctx *ctx, const tc_tflite_request *r, tc_bytes *out)
{
    tc_tfw e = {.ctx = ctx, .request = r, .module = r->module, .g = ti_main(r->module)};
    tc_tfw_model *m = &e.model;
    m->description = r->by;
    m->graph = "main";
    e.of = tc_new_n(&ctx->arena, int64_t, e.g->n_val);
    ti_map_init(&e.numbers, &ctx->arena);
    TC_TRY(ti_emit_check_types(e.ctx, e.g, ti_tfl_type_of, "TensorFlow Lite"));
    TC_TRY(ti_tfw_open(&e));
    m->in = put_ports(&e, e.module->signature.in, e.module->signature.n_in, e.g->in, e.g->n_in, &m->n_in);
    for (size_t k = 0; k < e.g->n_node; k++)
        TC_TRY(put_node(&e, e.g->node[k]));
    TC_TRY(put_writes(&e));
    m->out =
        put_ports(&e, e.module->signature.out, e.module->signature.n_out, e.g->out, e.g->n_out, &m->n_out);
    ti_tfw_settle_shifts(&e);
    ti_tfw_keep_rest(&e);
    put_plan(&e);
    return ti_emit_tflite(ctx, m, out);
}
