/* SPDX-License-Identifier: Apache-2.0 */
/* pte_needs.c -- see pte_needs.h.
 *
 * Planned memory and the accelerator's scratch are exact.  What the runtime allocates while it
 * loads a method is bounded: every list and record of ExecuTorch 1.4's Method, at its size on 64
 * bits, each rounded up to the 16 bytes that allocations are aligned to. */
#include "pte_needs.h"

/* ---- sizes ---- */

static size_t whole(size_t bytes)
{
    return (bytes + 15) / 16 * 16 + 16;
}

/* sizeof on 64 bits: EValue 16, TensorImpl 96, a list of EValues or scalars 32, BackendDelegate 64,
 * its handle and data map 256, a CompileSpec or NamedData 48, Chain 32, OpFunction 8,
 * InstructionArgs 16, a pointer 8. */
size_t ti_pte_method_bytes(const tc_pte_method *m)
{
    size_t sum = 1024 + whole(16 * m->n_value) + whole((size_t)m->in.n) + whole(32);
    for (size_t i = 0; i < m->n_value; i++) {
        const tc_pte_value *v = &m->value[i];
        size_t items =
            (size_t)v->item.n + (size_t)(v->plain.kind == TC_CPU_INTS ? v->plain.ints.n : 0);
        if (v->tag == PTE_TENSOR)
            sum += whole(96) + 3 * whole(4 * (size_t)v->dim.n);
        else if (items)
            sum += whole(32) + 2 * whole(16 * items);
        else
            sum += whole(32);
    }
    sum += whole(64 * m->n_delegate) + m->n_delegate * (whole(256) + whole(48 * 4));
    sum += whole(8 * m->n_step) + whole(16 * m->n_step);
    for (size_t k = 0; k < m->n_step; k++)
        sum += whole(8 * ((size_t)m->step[k].arg.n + 1));
    return sum;
}

size_t ti_pte_meta_bytes(const tc_pte_method *m)
{
    size_t most = 0;
    for (size_t k = 0; k < m->n_step; k++) {
        size_t n = (size_t)m->step[k].arg.n, bytes = whole(32 * n) + n * whole(TC_MAX_RANK);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* topk keeps pairs of a value and its index, of 16 bytes, for the axis that it sorts. */
static size_t sort_bytes(tc_ctx *ctx, const tc_pte_method *m)
{
    size_t most = 0;
    for (size_t k = 0; k < m->n_step; k++) {
        const tc_pte_step *s = &m->step[k];
        if (s->tag != PTE_KERNEL_CALL || !s->arg.n ||
            !ti_text_eq(ti_pte_kernel(ctx, m, s), "aten::topk.values"))
            continue;
        tc_ints dim = m->value[s->arg.v[0]].dim;
        for (int32_t i = 0; i < dim.n; i++)
            most = dim.v[i] > 0 && whole(16 * (size_t)dim.v[i]) > most ? whole(16 * (size_t)dim.v[i])
                                                                      : most;
    }
    return most;
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void add_sizes(tc_ctx *ctx, const tc_pte_method *m, tc_pte_needs *out)
{
    size_t planned = 0, aligned = 0, inputs = 0, scratch = 0;
    for (int32_t i = 1; i < m->arena.n; i++) {
        planned += (size_t)m->arena.v[i];
        aligned += whole((size_t)m->arena.v[i]);
    }
    for (int32_t i = 0; i < m->in.n; i++) {
        const tc_pte_value *v = &m->value[m->in.v[i]];
        inputs += whole(16) + (v->stored ? whole(tc_type_bytes(v->stored)) : 0);
    }
    for (size_t k = 0; k < m->n_delegate; k++) {
        tc_ethosu_payload p;
        if (ti_ethosu_read(&ctx->arena, m->delegate[k].payload, &p))
            scratch = most_of(scratch, p.scratch);
    }
    size_t method = ti_pte_method_bytes(m);
    if (aligned + method + inputs > out->pool) {
        out->planned = planned;
        out->method = method;
        out->inputs = inputs;
        out->pool = aligned + method + inputs;
    }
    out->scratch = most_of(out->scratch, scratch);
    out->temporary = most_of(out->temporary, most_of(ti_pte_meta_bytes(m), sort_bytes(ctx, m)));
    out->temporary = most_of(out->temporary, scratch ? scratch + 16 : 0);
}

/* ---- libraries and backends ---- */

typedef struct known {
    const char *name, *library, *python;
} known;

static const known kernels[] = {
    {"aten", "portable_ops_lib", ""},
    {"dim_order_ops", "portable_ops_lib", ""},
    {"executorch_prim", "executorch", ""},
    {"quantized_decomposed", "quantized_ops_lib", "import executorch.kernels.quantized"},
    {"cortex_m", "cortex_m_ops_lib", NULL},
};

static const known backends[] = {
    {"EthosUBackend", "executorch_delegate_ethos_u", NULL},
    {"VgfBackend", "vgf_backend", ""},
    {"XnnpackBackend", "xnnpack_backend", ""},
};

static tc_pte_need need_of(const known *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (ti_text_eq(list[i].name, name))
            return (tc_pte_need){.name = list[i].name, .library = list[i].library, .python = list[i].python};
    return (tc_pte_need){.name = name};
}

static tc_pte_need *find(tc_pte_need *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (ti_text_eq(list[i].name, name))
            return &list[i];
    return NULL;
}

static void add_kernel(tc_ctx *ctx, tc_pte_needs *out, const char *op)
{
    const char *colons = strstr(op, "::");
    size_t length = colons ? (size_t)(colons - op) : strlen(op);
    const char *space = ti_intern(ctx, (tc_str){op, length});
    tc_pte_need *need = find(out->kernels, out->n_kernels, space);
    if (!need) {
        tc_grow(&ctx->arena, out->kernels, out->n_kernels, out->cap_kernels);
        need = &out->kernels[out->n_kernels++];
        *need = need_of(kernels, TC_COUNT(kernels), space);
    }
    for (size_t i = 0; i < need->n_op; i++)
        if (ti_text_eq(need->op[i], op))
            return;
    tc_grow(&ctx->arena, need->op, need->n_op, need->cap_op);
    need->op[need->n_op++] = op;
}

/* Weights among named data are looked for from 1.5 on. */
static void add_backend(tc_ctx *ctx, tc_pte_needs *out, const tc_pte_delegate *d)
{
    tc_pte_need *there = find(out->backend, out->n_backend, d->id);
    if (!there) {
        tc_grow(&ctx->arena, out->backend, out->n_backend, out->cap_backend);
        there = &out->backend[out->n_backend++];
        *there = need_of(backends, TC_COUNT(backends), d->id);
    }
    if (d->named)
        there->version = "1.5";
}

tc_pte_needs ti_pte_needs(tc_ctx *ctx, const tc_pte_file *f)
{
    tc_pte_needs out = {0};
    for (size_t i = 0; i < f->n_method; i++) {
        const tc_pte_method *m = &f->method[i];
        add_sizes(ctx, m, &out);
        for (size_t k = 0; k < m->n_op; k++)
            add_kernel(ctx, &out, ti_pte_kernel(ctx, m, &(tc_pte_step){.what = (uint32_t)k}));
        for (size_t k = 0; k < m->n_delegate; k++)
            add_backend(ctx, &out, &m->delegate[k]);
    }
    return out;
}

/* ---- said ---- */

static void put_need(tc_buf *out, const char *before, const tc_pte_need *n, const char *what)
{
    ti_buf_printf(out, "%s%s%s", before, n->name, what);
    if (!n->library) {
        ti_buf_text(out, " (not part of ExecuTorch)");
        return;
    }
    if (n->version)
        ti_buf_printf(out, " of %s or later", n->version);
    ti_buf_printf(out, " (%s", n->library);
    if (n->python && *n->python)
        ti_buf_printf(out, "; in Python: %s", n->python);
    ti_buf_text(out, ")");
}

void ti_pte_needs_line(const tc_pte_needs *n, tc_buf *out)
{
    const char *before = "  to load it, ExecuTorch needs ";
    size_t at = out->size;
    for (size_t i = 0; i < n->n_backend; i++, before = ", ")
        put_need(out, before, &n->backend[i], "");
    for (size_t i = 0; i < n->n_kernels; i++) {
        const tc_pte_need *k = &n->kernels[i];
        if (k->library && k->python && !*k->python)
            continue; /* in every runtime */
        put_need(out, before, k, "'s kernels");
        before = ", ";
    }
    if (out->size > at)
        ti_buf_text(out, "\n");
}

void ti_pte_needs_lines(const tc_pte_needs *n, size_t fast, tc_buf *out)
{
    ti_buf_printf(out, "  CONFIG_EXECUTORCH_METHOD_ALLOCATOR_POOL_SIZE=%zu\n", n->pool);
    ti_buf_printf(out, "  CONFIG_EXECUTORCH_TEMP_ALLOCATOR_POOL_SIZE=%zu\n", n->temporary);
    ti_buf_printf(out, "  -DET_ARM_BAREMETAL_METHOD_ALLOCATOR_POOL_SIZE=%zu\n", n->pool);
    ti_buf_printf(out, "  -DET_ARM_BAREMETAL_SCRATCH_TEMP_ALLOCATOR_POOL_SIZE=%zu\n", n->temporary);
    if (fast)
        ti_buf_printf(out, "  -DET_ARM_BAREMETAL_FAST_SCRATCH_TEMP_ALLOCATOR_POOL_SIZE=%zu\n", fast);
}

static void json_need(const tc_pte_need *n, bool ops, tc_json_out *out)
{
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("name", n->name), TC_J("library", n->library), TC_J("python", n->python));
    if (ops)
        tc_json_list(out, "operators", n->n_op, n->op);
    ti_json_close(out, '}');
}

void ti_pte_needs_json(const tc_pte_needs *n, size_t fast, tc_json_out *out)
{
    ti_json_open(out, "runtime", '{');
    ti_json_open(out, "kernels", '[');
    for (size_t i = 0; i < n->n_kernels; i++)
        json_need(&n->kernels[i], true, out);
    ti_json_close(out, ']');
    ti_json_open(out, "backends", '[');
    for (size_t i = 0; i < n->n_backend; i++)
        json_need(&n->backend[i], false, out);
    ti_json_close(out, ']');
    tc_json_object(out, "pools", TC_J("planned", n->planned), TC_J("method", n->method),
                   TC_J("inputs", n->inputs), TC_J("npu_scratch", n->scratch),
                   TC_J("npu_fast_scratch", fast), TC_J("method_allocator_pool", n->pool),
                   TC_J("temp_allocator_pool", n->temporary));
    ti_json_close(out, '}');
}
