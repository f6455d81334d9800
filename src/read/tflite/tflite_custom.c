/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_custom.c -- builders of custom operators: mediapipe's, and Vela's.
 *
 * mediapipe's records are those of a TfLiteTransposeConvParams and TfLitePoolParams in memory
 * order: padding (1 SAME, 2 VALID), stride of columns, stride of rows, ... */
#include "../../npu/program.h"
#include "tflite_program.h"
#include "tflite_window.h"

tc_bytes ti_tfl_record(const tc_tfl_node *n)
{
    tc_tfl *reader = n->scope->reader;
    uint64_t at = ti_fb_u64(n->op, OP_LARGE_AT, 0), size = ti_fb_u64(n->op, OP_LARGE_SIZE, 0);
    if (at <= 1)
        return ti_fb_bytes(n->op, OP_CUSTOM);
    if (at > reader->bytes.size || size > reader->bytes.size - at)
        return (tc_bytes){NULL, 0};
    return (tc_bytes){reader->bytes.data + at, (size_t)size};
}

static bool words(tc_tfl_node *n, size_t count, int64_t *out)
{
    tc_bytes r = ti_tfl_record(n);
    if (r.size < 4 * count) {
        ti_b_bad(&n->m, TC_E_FORMAT, "its options have %zu bytes, expected %zu", r.size, 4 * count);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (int32_t)ti_le32(r.data + 4 * i);
    return true;
}

void ti_tfl_build_transpose_conv_bias(tc_tfl_node *n)
{
    int64_t w[3];
    if (words(n, 3, w))
        ti_tfl_transpose_bias(n, w[0] == 2 ? 1 : 0, w[2], w[1]);
}

/* ---- Vela's ---- */

enum { MOST_PORTS = 1024 };

/* A tensor of the graph as the machine sees it: bytes in a region. */
static tc_npu_tensor port_of(const tc_tfl_tensor *t, int region, int64_t offset)
{
    tc_npu_tensor p = {.element_bytes = tc_dtypes[t->dtype].bytes, .offset = offset,
                       .region = (uint8_t)region};
    int64_t count = 1;
    for (int i = 0; i < TC_NPU_DIMS; i++) {
        int at = i - (TC_NPU_DIMS - t->rank);
        p.dim[i] = at >= 0 ? t->dim[at] : 1;
        count *= p.dim[i];
    }
    p.bytes = count * p.element_bytes;
    return p;
}

/* Where Vela put tensors. */
static bool offsets(tc_tfl_node *n, int64_t *out)
{
    tc_tfl *reader = n->scope->reader;
    tc_fb_vector list = ti_fb_list(reader->root, MODEL_METADATA, 4);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        if (!ti_str_is(ti_fb_string(t, METADATA_NAME), TC_TFL_OFFLINE))
            continue;
        tc_bytes raw = ti_tfl_buffer(reader, ti_fb_u32(t, METADATA_BUFFER, 0));
        if (raw.size < 12 || (raw.size - 12) / 4 < n->scope->n_tensor)
            break;
        for (size_t k = 0; k < n->scope->n_tensor; k++)
            out[k] = (int32_t)ti_le32(raw.data + 12 + 4 * k);
        return true;
    }
    return false;
}

enum { STREAM, WEIGHTS, SCRATCH, FAST, FIRST };

/* A variable is an input, and a result with another index at the same address; of several results
 * there the last counts. */
static void keep_variables(tc_tfl_node *n, const int64_t *at, const tc_node *node)
{
    const tc_tfl_tensor *all = n->scope->tensor;
    for (int i = FIRST; i < n->n_in && n->m.status == TC_OK; i++) {
        const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
        tc_val last = TC_NONE;
        for (int k = 0; t->variable && k < n->n_out; k++) {
            const tc_tfl_tensor *o = ti_tfl_out_tensor(n, k);
            if (o->variable && at[o - all] == at[t - all] && at[t - all] >= 0 &&
                o->dtype == t->dtype &&
                ti_dims_count(o->rank, o->dim) == ti_dims_count(t->rank, t->dim))
                last = node->out[k];
        }
        if (last)
            ti_tfl_variable_set(n, i, ti_b_reshape(&n->m, last, t->rank, t->dim));
    }
}

/* A port of the program: which value it is. */
typedef struct port {
    tc_npu_tensor at;
    tc_tfl_tensor *tensor;
    tc_val val;          /* of an input */
    const tc_type *type; /* of a result */
    bool memory;         /* not one of the graph's tensors: all of a scratch */
} port;

typedef struct ports {
    port *list;
    size_t n;
} ports;

/* All of a memory, as bytes. */
static void add_memory(tc_tfl_node *n, ports *p, tc_tfl_tensor *t, int region, bool out)
{
    int64_t size = t && t->rank == 1 ? t->dim[0] : 0;
    if (size <= 0 || (!out && !t->left))
        return;
    tc_npu_tensor at = {.element_bytes = 1, .region = (uint8_t)region, .bytes = size};
    for (int i = 0; i < TC_NPU_DIMS; i++)
        at.dim[i] = i == TC_NPU_DIMS - 1 ? size : 1;
    p->list[p->n++] =
        (port){at, t, t->left, ti_type_make(n->m.ctx, TC_u8, 1, &size), true};
}

static void add_tensor(tc_tfl_node *n, ports *p, tc_tfl_tensor *t, const int64_t *at, int i,
                       bool out)
{
    if (!t || !t->dtype || ti_dims_count(t->rank, t->dim) < 0 || t->rank > TC_NPU_DIMS) {
        ti_b_bad(&n->m, TC_E_STRUCTURE, "port %d is not a tensor of numbers", i);
        return;
    }
    p->list[p->n++] = (port){port_of(t, 1, at[t - n->scope->tensor]), t,
                             out ? TC_NONE : ti_tfl_plain(n, i),
                             ti_type_make(n->m.ctx, t->shifted ? TC_u8 : t->dtype, t->rank, t->dim),
                             false};
}

/* The indices alone. */
static tc_npu_tensor *places(tc_arena *arena, const ports *p)
{
    tc_npu_tensor *list = tc_new_n(arena, tc_npu_tensor, p->n + 1);
    for (size_t i = 0; i < p->n; i++)
        list[i] = p->list[i].at;
    return list;
}

/* The bytes of an input that holds the program or its constants. */
static tc_bytes bytes_of(tc_tfl_node *n, int input, const char *what)
{
    tc_tfl_tensor *t = ti_tfl_in_tensor(n, input);
    tc_tensor numbers;
    if (!t) {
        ti_b_bad(&n->m, TC_E_STRUCTURE, "input %d is missing, expected the %s", input, what);
        return (tc_bytes){NULL, 0};
    }
    n->m.status = ti_tfl_load(n->scope, t, n->m.loc, &numbers);
    TC_STOP_WITH(&n->m, (tc_bytes){NULL, 0});
    return (tc_bytes){numbers.data, numbers.data ? tc_type_bytes(numbers.type) : 0};
}

static bool read_program(tc_tfl_node *n, tc_npu_program *out)
{
    tc_build *m = &n->m;
    *out = (tc_npu_program){0};
    tc_bytes driver = bytes_of(n, STREAM, "commands");
    TC_STOP_WITH(m, false);
    m->status = ti_npu_read_driver(m->ctx, m->loc, driver, out);
    TC_STOP_WITH(m, false);
    out->weights = bytes_of(n, WEIGHTS, "constants");
    TC_STOP_WITH(m, false);
    const tc_tfl_tensor *scratch = ti_tfl_in_tensor(n, SCRATCH), *fast = ti_tfl_in_tensor(n, FAST);
    out->scratch = scratch && scratch->rank == 1 ? scratch->dim[0] : -1;
    bool apart = fast && fast->rank == 1 && fast->dim[0] > 0 && fast != scratch;
    out->fast = apart ? fast->dim[0] : 0;
    return true;
}

/* Whether another operator works in the same memory. */
static bool shares_memory(const tc_tfl_node *n)
{
    tc_fb_vector ops = ti_fb_list(n->scope->graph, GRAPH_OPERATORS, 4);
    int64_t own = n->n_in > SCRATCH ? ti_fb_list_i32(n->in, SCRATCH) : -1;
    size_t users = 0;
    for (size_t i = 0; i < ops.n && own >= 0; i++) {
        tc_fb_vector in = ti_fb_list(ti_fb_list_table(ops, i), OP_INPUTS, 4);
        users += in.n > SCRATCH && ti_fb_list_i32(in, SCRATCH) == own;
    }
    return users > 1;
}

/* Inputs: stream, constants, scratch, fast scratch, then the network's, as the results.  Several
 * operators may work in the same memory: what one leaves there without naming it as a result,
 * another reads. */
void ti_tfl_build_ethos_u(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_arena *arena = &m->ctx->arena;
    int64_t *at = tc_new_n(arena, int64_t, n->scope->n_tensor + 1);
    tc_npu_program program;
    bool shared = shares_memory(n);
    if (n->n_in <= FIRST || n->n_in > MOST_PORTS || n->n_out < !shared || n->n_out > MOST_PORTS) {
        ti_b_bad(m, TC_E_STRUCTURE, "%d inputs and %d results", n->n_in, n->n_out);
        return;
    }
    if (!offsets(n, at)) {
        ti_b_bad(m, TC_E_STRUCTURE, "the file does not say where its tensors are");
        return;
    }
    if (!read_program(n, &program))
        return;
    tc_tfl_tensor *scratch = ti_tfl_in_tensor(n, SCRATCH),
                  *fast = program.fast ? ti_tfl_in_tensor(n, FAST) : NULL;
    ports in = {.list = tc_new_n(arena, port, (size_t)n->n_in)},
          out = {.list = tc_new_n(arena, port, (size_t)n->n_out + 2)};
    if (shared) {
        add_memory(n, &in, scratch, 1, false);
        add_memory(n, &in, fast, 2, false);
    }
    for (int i = FIRST; i < n->n_in && m->status == TC_OK; i++)
        add_tensor(n, &in, ti_tfl_in_tensor(n, i), at, i, false);
    for (int i = 0; i < n->n_out && m->status == TC_OK; i++)
        add_tensor(n, &out, ti_tfl_out_tensor(n, i), at, i, true);
    if (shared) {
        add_memory(n, &out, scratch, 1, true);
        add_memory(n, &out, fast, 2, true);
    }
    TC_STOP(m);
    program.n_in = in.n;
    program.n_out = out.n;
    program.in = places(arena, &in);
    program.out = places(arena, &out);
    tc_bytes payload = ti_npu_backend_payload(arena, &program);
    int64_t size = (int64_t)payload.size;
    tc_val *operand = tc_new_n(arena, tc_val, in.n + 1);
    operand[0] =
        ti_graph_const(m->g, ti_type_make(m->ctx, TC_u8, 1, &size), payload.data, NULL, m->loc);
    for (size_t i = 0; i < in.n; i++)
        operand[i + 1] = in.list[i].val;
    tc_node *node = ti_graph_add(m->g, TC_OP_ethosu, NULL, operand, (int)in.n + 1, (int)out.n,
                                 m->loc);
    for (size_t i = 0; i < out.n; i++)
        ti_value_of(m->g, node->out[i])->type = out.list[i].type;
    m->status = ti_node_infer(m->g, node);
    for (size_t i = 0; i < out.n; i++) {
        tc_tfl_tensor *t = out.list[i].tensor;
        t->made &= !t->left; /* operators may each write a part of it */
        t->left = node->out[i];
        if (!out.list[i].memory)
            ti_tfl_bind_plain(n, (int)i, node->out[i]);
    }
    keep_variables(n, at, node);
}

void ti_tfl_codes_ethos_u(tc_tfl_node *n) { ti_tfl_build_ethos_u(n); }
