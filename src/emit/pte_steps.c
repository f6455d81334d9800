/* SPDX-License-Identifier: Apache-2.0 */
/* pte_steps.c -- nodes to instructions: kernels by their rows in target/cpu.def, calls to
 * delegates. */
#include "emit_pte.h"

/* Arguments of one instruction. */
typedef struct args {
    int64_t *at;
    size_t n, cap;
} args;

static void put(tc_pte_emitter *e, args *a, int64_t at)
{
    tc_grow(&e->ctx->scratch, a->at, a->n, a->cap);
    a->at[a->n++] = at;
}

size_t ti_pte_step_later(tc_pte_emitter *e, const tc_node *node)
{
    tc_grow(&e->ctx->arena, e->step, e->n_step, e->cap_step);
    tc_grow(&e->ctx->arena, e->from, e->n_step, e->cap_from);
    e->from[e->n_step] = node;
    return e->n_step++;
}

/* Instruction `at` does this; content: its table. */
static void set_step(tc_pte_emitter *e, size_t at, uint8_t tag, tc_fb_ref content)
{
    ti_fb_begin(&e->file->w);
    ti_fb_set_u8(&e->file->w, PTE_UNION_TYPE, tag, 0);
    ti_fb_set_ref(&e->file->w, PTE_UNION_VALUE, content);
    e->step[at] = ti_fb_end(&e->file->w);
}

void ti_pte_jump(tc_pte_emitter *e, size_t at, int64_t value, size_t to)
{
    ti_fb_begin(&e->file->w);
    ti_fb_set_u32(&e->file->w, PTE_CALL_WHAT, (uint32_t)value, 0);
    ti_fb_set_u32(&e->file->w, PTE_CALL_ARGS, (uint32_t)to, 0);
    tc_fb_ref jump = ti_fb_end(&e->file->w);
    set_step(e, at, PTE_JUMP_FALSE_CALL, jump);
}

static void add_step(tc_pte_emitter *e, const tc_node *from, uint8_t tag, uint32_t what,
                     const args *a)
{
    tc_fb_ref list = ti_fb_put_i32s(&e->file->w, a->at, a->n);
    ti_fb_begin(&e->file->w);
    ti_fb_set_u32(&e->file->w, PTE_CALL_WHAT, what, 0);
    ti_fb_set_ref(&e->file->w, PTE_CALL_ARGS, list);
    tc_fb_ref call = ti_fb_end(&e->file->w);
    set_step(e, ti_pte_step_later(e, from), tag, call);
}

/* The index of an operator in the list of used ones. */
static uint32_t operator_at(tc_pte_emitter *e, const char *name, const char *overload)
{
    tc_mark mark = ti_arena_mark(&e->ctx->scratch);
    void **slot =
        ti_map_at(&e->ops, ti_str_of(ti_text_format(&e->ctx->scratch, "%s.%s", name, overload)));
    ti_arena_rewind(&e->ctx->scratch, mark);
    if (*slot)
        return (uint32_t)((uintptr_t)*slot - 1);
    tc_fb_ref name_ref = ti_fb_put_string(&e->file->w, ti_str_of(name));
    tc_fb_ref overload_ref = ti_fb_put_string(&e->file->w, ti_str_of(overload));
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_OPERATOR_NAME, name_ref);
    ti_fb_set_ref(&e->file->w, PTE_OPERATOR_OVERLOAD, overload_ref);
    tc_fb_ref ref = ti_fb_end(&e->file->w);
    tc_grow(&e->ctx->arena, e->op, e->n_op, e->cap_op);
    e->op[e->n_op++] = ref;
    *slot = (void *)(uintptr_t)e->n_op;
    return (uint32_t)(e->n_op - 1);
}

static int64_t null_value(tc_pte_emitter *e)
{
    return ti_pte_add_value(e, &(tc_cpu_value){.kind = TC_CPU_NULL});
}

static int64_t operands_from(tc_pte_emitter *e, const tc_node *node, int first, bool optional)
{
    int64_t *at = tc_new_n(&e->ctx->scratch, int64_t, (size_t)node->n_in);
    for (int i = first; i < node->n_in; i++)
        at[i] = node->in[i] ? ti_pte_tensor(e, node->in[i]) : -1;
    return ti_pte_tensors(e, at + first, (size_t)(node->n_in - first), optional);
}

static void put_argument(tc_pte_emitter *e, args *a, const tc_node *node, const tc_cpu_site *site,
                         const tc_cpu_arg *arg)
{
    tc_val in = arg->index < node->n_in ? node->in[arg->index] : TC_NONE;
    switch (arg->kind) {
    case TC_CPU_IN:
    case TC_CPU_MAYBE:
        put(e, a, in ? ti_pte_tensor(e, in) : null_value(e));
        break;
    case TC_CPU_LIST:
    case TC_CPU_SOME:
        put(e, a, operands_from(e, node, arg->index, arg->kind == TC_CPU_SOME));
        break;
    case TC_CPU_VALUE: {
        tc_cpu_value value = ti_cpu_get(site, arg);
        put(e, a, ti_pte_add_value(e, &value));
        break;
    }
    default:
        break;
    }
}

/* The results, and all of them again: the kernel returns them. */
static void put_results(tc_pte_emitter *e, args *a, size_t k, const tc_cpu_kernel *kernel,
                        const tc_cpu_site *site)
{
    const tc_node *node = e->scope->g->node[k];
    args out = {0};
    tc_cpu_arg arg;
    bool one_list = false;
    size_t n_more = 0;
    for (int i = 0; i < node->n_out; i++)
        put(e, &out, ti_pte_tensor(e, node->out[i]));
    for (const char *rest = kernel->args; ti_cpu_next(&rest, &arg);) {
        one_list = one_list || arg.kind == TC_CPU_LISTS;
        const tc_type *type = arg.kind == TC_CPU_MORE ? ti_cpu_more(site, &arg) : NULL;
        if (type)
            put(e, &out, ti_pte_further(e, type, e->scope->memory->more[k][n_more++]));
    }
    for (size_t i = 0; i < out.n && !one_list; i++)
        put(e, a, out.at[i]);
    if (one_list)
        put(e, a, ti_pte_tensors(e, out.at, out.n, false));
    put(e, a, out.n == 1 && !one_list ? out.at[0] : ti_pte_tensors(e, out.at, out.n, false));
}

static void put_kernel(tc_pte_emitter *e, size_t k, const tc_cpu_kernel *kernel)
{
    const tc_node *node = e->scope->g->node[k];
    tc_cpu_site site = ti_cpu_site_of(e->ctx, e->scope->g, node);
    tc_cpu_arg arg;
    args a = {0};
    for (const char *rest = kernel->args; ti_cpu_next(&rest, &arg);)
        put_argument(e, &a, node, &site, &arg);
    put_results(e, &a, k, kernel, &site);
    add_step(e, node, PTE_KERNEL_CALL, operator_at(e, kernel->name, kernel->overload), &a);
}

/* Whether the node's result is made in the buffer that it is written back to. */
static bool is_in_place(const tc_pte_emitter *e, const tc_node *node)
{
    for (size_t i = 0; i < e->scope->g->n_mutation; i++)
        if (e->scope->memory->in_place[i] && e->scope->g->mutation[i].after == node->out[0])
            return true;
    return false;
}

/* index_put over its first operand, which it returns; readers of the result read that. */
static void put_over(tc_pte_emitter *e, const tc_node *node, const tc_cpu_kernel *kernel)
{
    tc_cpu_site site = ti_cpu_site_of(e->ctx, e->scope->g, node);
    tc_cpu_arg arg;
    args a = {0};
    for (const char *rest = kernel->args; ti_cpu_next(&rest, &arg);)
        put_argument(e, &a, node, &site, &arg);
    put(e, &a, ti_pte_tensor(e, node->in[0]));
    add_step(e, node, PTE_KERNEL_CALL, operator_at(e, "aten::index_put_", ""), &a);
}

/* A kernel for a Cortex-M, as target/cortexm_call.h describes it. */
static tc_status put_cortexm(tc_pte_emitter *e, size_t k, tc_cm_op op, tc_core core)
{
    const tc_node *node = e->scope->g->node[k];
    tc_cm_call call;
    args a = {0};
    size_t scratch = 0;
    const char *why =
        ti_cm_describe(e->ctx, ti_node_callee(e->module, node, 0), op, core, TC_CM_EXECUTORCH, &call);
    if (why)
        return ti_bug(e->ctx, node->loc, "'%s' is not that operator: %s",
                      ((const tc_attr_call *)node->attr)->target, why);
    for (int i = 0; i < call.n_arg; i++) {
        const tc_cm_arg *arg = &call.arg[i];
        if (arg->kind == TC_CM_TENSOR)
            put(e, &a, ti_pte_shown(e, node->in[arg->index], &arg->view));
        else if (arg->kind == TC_CM_DATA)
            put(e, &a, ti_pte_numbers_of(e, arg->data));
        else if (arg->kind == TC_CM_SCRATCH)
            put(e, &a, ti_pte_bytes_at(e, arg->bytes, e->scope->memory->more[k][scratch++]));
        else
            put(e, &a, ti_pte_add_value(e, &arg->value));
    }
    int64_t out = ti_pte_shown(e, node->out[0], &call.out);
    put(e, &a, out);
    put(e, &a, out);
    const char *name = ti_text_format(&e->ctx->arena, "cortex_m::%s", tc_cm_ops[op].name);
    add_step(e, node, PTE_KERNEL_CALL, operator_at(e, name, "out"), &a);
    return TC_OK;
}

static tc_status put_call(tc_pte_emitter *e, size_t k)
{
    const tc_node *node = e->scope->g->node[k];
    tc_cm_op op;
    tc_core core;
    if (ti_cm_of(node, &op, &core))
        return put_cortexm(e, k, op, core);
    const tc_attr_call *call = node->attr;
    size_t i = 0;
    while (i < e->n_payload && !ti_text_eq(e->payload[i].graph, call->graph))
        i++;
    if (i == e->n_payload)
        return ti_bug(e->ctx, node->loc, "the graph '%s' was not compiled", call->graph);
    args a = {0};
    for (int n = 0; n < node->n_in; n++)
        put(e, &a, ti_pte_tensor(e, node->in[n]));
    for (int n = 0; n < node->n_out; n++)
        put(e, &a, ti_pte_tensor(e, node->out[n]));
    add_step(e, node, PTE_DELEGATE_CALL, (uint32_t)i, &a);
    return TC_OK;
}

void ti_pte_copy(tc_pte_emitter *e, const tc_node *node, int64_t to, int64_t from)
{
    args a = {0};
    put(e, &a, to);
    put(e, &a, from);
    put(e, &a, ti_pte_add_value(e, &(tc_cpu_value){.kind = TC_CPU_BOOL}));
    put(e, &a, to);
    add_step(e, node, PTE_KERNEL_CALL, operator_at(e, "aten::copy_", ""), &a);
}

/* What the buffers hold from now on. */
static void put_writes(tc_pte_emitter *e)
{
    for (size_t i = 0; i < e->scope->g->n_mutation; i++) {
        const tc_mutation *change = &e->scope->g->mutation[i];
        int64_t self = ti_pte_tensor(e, change->before); /* also if it is unused here */
        if (change->before == change->after || e->scope->memory->in_place[i])
            continue;
        ti_pte_copy(e, ti_def(e->scope->g, change->after), self, ti_pte_tensor(e, change->after));
    }
}

static tc_status put_node(tc_pte_emitter *e, size_t k)
{
    const tc_node *node = e->scope->g->node[k];
    if (node->op == TC_OP_const || ti_cpu_is_view(node))
        return TC_OK;
    if (node->op == TC_OP_call)
        return put_call(e, k);
    if (node->op == TC_OP_while_loop)
        return ti_pte_loop(e, k);
    const tc_cpu_kernel *kernel = e->method->cortexm ? ti_cm_codes(e->scope->g, node) : NULL;
    kernel = kernel ? kernel : ti_cpu_kernel_for(e->scope->g, node);
    if (!kernel)
        return ti_bug(e->ctx, node->loc,
                      "'%s' has no CPU kernel, and the pass `select-cpu-kernels` left it",
                      tc_ops[node->op].name);
    if (node->op == TC_OP_index_put && is_in_place(e, node))
        put_over(e, node, kernel);
    else
        put_kernel(e, k, kernel);
    return TC_OK;
}

tc_status ti_pte_nodes(tc_pte_emitter *e)
{
    tc_mark mark = ti_arena_mark(&e->ctx->scratch);
    tc_status status = TC_OK;
    for (size_t k = 0; k < e->scope->g->n_node && status == TC_OK;
         k++, ti_arena_rewind(&e->ctx->scratch, mark))
        status = put_node(e, k);
    ti_arena_rewind(&e->ctx->scratch, mark);
    return status;
}

tc_status ti_pte_steps(tc_pte_emitter *e)
{
    tc_mark mark = ti_arena_mark(&e->ctx->scratch);
    TC_TRY(ti_pte_nodes(e));
    put_writes(e);
    ti_arena_rewind(&e->ctx->scratch, mark);
    return TC_OK;
}
