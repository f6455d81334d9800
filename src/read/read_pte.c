/* SPDX-License-Identifier: Apache-2.0 */
/* read_pte.c -- an ExecuTorch program, back into a graph.
 *
 * Kernels become operators by the rows of target/cpu.def, delegates that carry TOSA (or VGF) become
 * calls of graphs of the module.  A program writes to memory; a graph has values.  What a tensor
 * holds is what was written last at its address: by itself, or by another of which it is a view. */
#include "pte_reader.h"

#include "../npu/program.h"
#include "../num/load.h"
#include "read.h"

typedef tc_pte_reader reader;

/* ---- memory ---------------------------------------------------------------------------------- */

static void **address(reader *r, const tc_pte_value *t)
{
    uint64_t key[2] = {t->memory, t->offset};
    return ti_map_at(&r->in->written, (tc_str){(const char *)key, sizeof key});
}

static bool is_buffer(const tc_pte_value *t) { return t->placed && t->data; }

/* Its data is at its address; an empty one needs none. */
static bool has_address(const tc_pte_value *t)
{
    return t->placed && t->stored && tc_type_bytes(t->stored) > 0;
}

static tc_status need_tensor(reader *r, const tc_pte_value *t, const tc_type *type)
{
    if (t->tag != PTE_TENSOR)
        return ti_error(r->ctx, r->loc, TC_E_FORMAT,
                        "an argument is not a tensor, where one is expected");
    if (t->dynamic)
        return ti_unsupported(r->ctx, r->loc, TC_E_DYNAMIC, "a tensor with a dynamic shape");
    if (!type)
        return ti_unsupported(
            r->ctx, r->loc, TC_E_UNSUPPORTED,
            "a tensor of type %d and rank %d, or with its axes in another order in memory",
            t->dtype, t->dim.n);
    return TC_OK;
}

static tc_status need_type(reader *r, const tc_pte_value *t) { return need_tensor(r, t, t->type); }

void ti_pte_write(reader *r, int64_t at, tc_val v)
{
    const tc_pte_value *t = &r->m->value[at];
    r->in->val[at] = v;
    if (has_address(t))
        *address(r, t) = (void *)(uintptr_t)(at + 1);
}

/* A constant, or a buffer's initial value. */
static tc_status begin_with(reader *r, int64_t at, const tc_type *type)
{
    const void *data;
    const tc_pte_value *t = &r->m->value[at];
    TC_TRY(need_tensor(r, t, type));
    TC_TRY(ti_pte_numbers(&r->file, t, &data));
    const char *name = t->name ? ti_intern_text(r->ctx, t->name) : NULL;
    r->in->val[at] = ti_graph_const(r->in->g, type, data, name, r->loc);
    if (is_buffer(t)) {
        r->before[at] = r->in->val[at];
        ti_pte_write(r, at, r->in->val[at]);
    }
    return TC_OK;
}

static tc_status view(reader *r, tc_val x, const tc_type *type, tc_val *out)
{
    tc_attr_shape *attr = tc_new(&r->ctx->arena, tc_attr_shape);
    attr->shape = ti_ints_copy(&r->ctx->arena, type->dim, type->rank);
    if (ti_type_of(r->in->g, x) == type) {
        *out = x;
        return TC_OK;
    }
    tc_node *node = ti_graph_add(r->in->g, TC_OP_reshape, attr, &x, 1, 1, r->loc);
    ti_value_of(r->in->g, node->out[0])->type = type;
    *out = node->out[0];
    return ti_node_infer(r->in->g, node);
}

static tc_status use_as(reader *r, int64_t at, const tc_type *type, tc_val *out)
{
    const tc_pte_value *t = &r->m->value[at];
    TC_TRY(need_tensor(r, t, type));
    if (t->data && !t->placed && !r->in->val[at])
        TC_TRY(begin_with(r, at, type));
    if (!tc_type_bytes(type) && !r->in->val[at])
        r->in->val[at] = ti_graph_const(r->in->g, type, "", NULL, r->loc);
    size_t last = has_address(t) ? (size_t)(uintptr_t)*address(r, t) : (size_t)at + 1;
    *out = last ? r->in->val[last - 1] : TC_NONE;
    if (!*out && r->in->outer && (!last || !has_address(t)))
        TC_TRY(ti_pte_take_in(r, at, type, out));
    if (!*out)
        return ti_error(r->ctx, r->loc, TC_E_ORDER,
                        "value %" PRId64 " is read before it is written", at);
    return view(r, *out, type, out);
}

tc_status ti_pte_use(reader *r, int64_t at, tc_val *out)
{
    return use_as(r, at, r->m->value[at].type, out);
}

tc_status ti_pte_use_stored(reader *r, int64_t at, tc_val *out)
{
    return use_as(r, at, r->m->value[at].stored, out);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A kernel call while it is being understood as an operator. */
typedef struct attempt {
    const tc_cpu_kernel *row;
    tc_ints arg;   /* without what it hands back */
    tc_val in[64]; /* more operands than this come as a list */
    tc_val *operand;
    int n_in;
    int64_t *result; /* values that it writes */
    int n_out;
    void *attr;
    const char *wrong;
} attempt;

static bool makes_places(const tc_cpu_arg *arg) { return ti_str_is(arg->field, "places"); }

/* How the arguments divide: those of the row, then the results, of which the last ones may be
 * unwanted. */
static bool divide(reader *r, attempt *a)
{
    int32_t n_arg = 0, unwanted = 0;
    bool one_list = false, in_place = ti_text_ends(a->row->name, "_");
    tc_cpu_arg arg;
    for (const char *rest = a->row->args; ti_cpu_next(&rest, &arg);) {
        one_list = one_list || arg.kind == TC_CPU_LISTS;
        unwanted += arg.kind == TC_CPU_MORE && !makes_places(&arg);
        n_arg += arg.kind != TC_CPU_FOLLOWS && arg.kind != TC_CPU_MORE && arg.kind != TC_CPU_LISTS;
    }
    a->n_out = in_place ? 1 : a->arg.n - n_arg - unwanted;
    const int64_t *out = in_place ? a->arg.v : a->arg.v + n_arg;
    a->wrong = "has an unexpected number of arguments";
    if (a->n_out < 1 || a->arg.n < n_arg + (in_place ? 0 : 1) || (one_list && a->n_out != 1))
        return false;
    tc_ints list = {a->n_out, out};
    if (one_list)
        list = r->m->value[out[0]].item;
    a->n_out = list.n;
    a->result = (int64_t *)(uintptr_t)list.v;
    for (int i = 0; i < a->n_out; i++)
        if (a->result[i] < 0 || r->m->value[a->result[i]].tag != PTE_TENSOR)
            return false;
    a->wrong = NULL;
    return true;
}

static tc_status put_operand(reader *r, attempt *a, int i, tc_val v)
{
    if (i >= (int)TC_COUNT(a->in))
        return ti_error(r->ctx, r->loc, TC_E_FORMAT, "an operator has too many operands");
    a->operand[i] = v;
    a->n_in = i >= a->n_in ? i + 1 : a->n_in;
    return TC_OK;
}

static tc_status take_list(reader *r, attempt *a, const tc_cpu_arg *arg, const tc_pte_value *list)
{
    if (list->tag != PTE_TENSOR_LIST && list->tag != PTE_OPTIONAL_TENSOR_LIST) {
        a->wrong = "has another argument where a list of tensors is expected";
        return TC_OK;
    }
    a->operand =
        tc_new_n(&r->ctx->arena, tc_val, (size_t)(arg->index + list->item.n) + TC_COUNT(a->in));
    memcpy(a->operand, a->in, sizeof a->in);
    for (int32_t i = 0; i < list->item.n; i++) {
        tc_val v = TC_NONE;
        if (list->item.v[i] >= 0)
            TC_TRY(ti_pte_use(r, list->item.v[i], &v));
        a->operand[arg->index + i] = v;
    }
    a->n_in = arg->index + list->item.n > a->n_in ? arg->index + list->item.n : a->n_in;
    return TC_OK;
}

/* A scalar instead of an operand: of the result's kind, as PyTorch promotes it. */
static tc_status take_scalar(reader *r, attempt *a, const tc_cpu_arg *arg, const tc_cpu_value *v)
{
    if (v->kind != TC_CPU_INT && v->kind != TC_CPU_REAL && v->kind != TC_CPU_BOOL) {
        a->wrong = "has another argument where a number is expected";
        return TC_OK;
    }
    tc_dtype dtype = v->kind == TC_CPU_REAL ? TC_f32 : v->kind == TC_CPU_INT ? TC_i64 : TC_bool;
    double number = v->kind == TC_CPU_REAL ? v->r : (double)v->i;
    return put_operand(r, a, arg->index, ti_graph_scalar(r->in->g, dtype, number, r->loc));
}

static tc_status take_operand(reader *r, attempt *a, const tc_cpu_arg *arg, int64_t at)
{
    const tc_pte_value *v = &r->m->value[at];
    tc_val x = TC_NONE;
    switch (arg->kind) {
    case TC_CPU_IN:
    case TC_CPU_MAYBE:
        if (v->tag == PTE_TENSOR)
            TC_TRY(ti_pte_use(r, at, &x));
        else if (arg->kind == TC_CPU_IN || v->tag != PTE_NULL)
            a->wrong = "has another argument where a tensor is expected";
        return put_operand(r, a, arg->index, x);
    case TC_CPU_LIST:
    case TC_CPU_SOME:
        return take_list(r, a, arg, v);
    case TC_CPU_SCALAR:
        return take_scalar(r, a, arg, &v->plain);
    default:
        return TC_OK;
    }
}

static tc_status take_operands(reader *r, attempt *a)
{
    tc_cpu_arg arg;
    int32_t i = 0;
    for (const char *rest = a->row->args; ti_cpu_next(&rest, &arg) && !a->wrong;)
        if (arg.kind != TC_CPU_FOLLOWS && arg.kind != TC_CPU_MORE && arg.kind != TC_CPU_LISTS)
            TC_TRY(take_operand(r, a, &arg, a->arg.v[i++]));
    return TC_OK;
}

/* The attributes, from the other arguments and the types. */
static tc_status take_attributes(reader *r, attempt *a)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[a->row->op].attr];
    const tc_type **type = tc_new_n(&r->ctx->arena, const tc_type *, (size_t)(a->n_in + a->n_out));
    for (int i = 0; i < a->n_in; i++)
        type[i] = ti_type_of(r->in->g, a->operand[i]);
    for (int i = 0; i < a->n_out; i++) {
        TC_TRY(need_type(r, &r->m->value[a->result[i]]));
        type[a->n_in + i] = r->m->value[a->result[i]].type;
    }
    a->attr =
        info->size ? ti_arena_array(&r->ctx->arena, 1, info->size, _Alignof(max_align_t)) : NULL;
    tc_cpu_site site = {r->ctx, a->row->op, a->n_in, a->n_out, type, type + a->n_in, a->attr};
    tc_cpu_arg arg;
    int32_t i = 0;
    for (const char *rest = a->row->args; ti_cpu_next(&rest, &arg) && !a->wrong;) {
        if (arg.kind == TC_CPU_FOLLOWS)
            a->wrong = ti_cpu_set(&site, &arg, NULL);
        else if (arg.kind == TC_CPU_VALUE)
            a->wrong = ti_cpu_set(&site, &arg, &r->m->value[a->arg.v[i]].plain);
        i += arg.kind != TC_CPU_FOLLOWS && arg.kind != TC_CPU_MORE && arg.kind != TC_CPU_LISTS;
    }
    return TC_OK;
}

static tc_status add_node(reader *r, const attempt *a)
{
    tc_node *node = ti_graph_add(r->in->g, a->row->op, a->attr, a->operand, a->n_in, a->n_out, r->loc);
    for (int i = 0; i < a->n_out; i++)
        ti_value_of(r->in->g, node->out[i])->type = r->m->value[a->result[i]].type;
    TC_TRY(ti_node_infer(r->in->g, node));
    for (int i = 0; i < a->n_out; i++)
        ti_pte_write(r, a->result[i], node->out[i]);
    return TC_OK;
}

/* A step by one of the rows with its name; *a: why the last did not match. */
static tc_status try_row(reader *r, const tc_pte_step *s, const tc_cpu_kernel *row, attempt *a)
{
    bool prim = ti_text_starts(row->name, "executorch_prim::");
    *a = (attempt){.row = row, .arg = {s->arg.n - !prim, s->arg.v}};
    a->operand = a->in;
    if (s->arg.n < 1 || !divide(r, a))
        return TC_OK;
    TC_TRY(take_operands(r, a));
    if (!a->wrong)
        TC_TRY(take_attributes(r, a));
    return a->wrong ? TC_OK : add_node(r, a);
}

static tc_status run_kernel(reader *r, const tc_pte_step *s)
{
    const tc_pte_operator *op = &r->m->op[s->what];
    attempt a = {.wrong = "is unknown"};
    tc_cm_op which = ti_cm_find(op->name);
    if (which != TC_CM_COUNT && ti_str_is(op->overload, "out"))
        return ti_pte_read_cortexm(r, s, which);
    for (size_t i = 0; i < tc_cpu_n_kernel; i++) {
        const tc_cpu_kernel *row = &tc_cpu_kernels[i];
        if (!ti_str_is(op->name, row->name) || !ti_str_is(op->overload, row->overload))
            continue;
        TC_TRY(try_row(r, s, row, &a));
        if (!a.wrong)
            return TC_OK;
    }
    return ti_unsupported(r->ctx, r->loc, a.row ? TC_E_UNSUPPORTED : TC_E_UNKNOWN_OP,
                          "the kernel '%s' %s", r->loc->target, a.wrong);
}

/* ---- delegates ------------------------------------------------------------------------------- */

/* Graphs that the nodes of a called graph run are called by longer names here. */
static void rename_calls(reader *r, tc_graph *g, const char *prefix)
{
    for (size_t k = 0; k < g->n_node; k++) {
        tc_node *node = g->node[k];
        const tc_attr_info *info = &tc_attrs[tc_ops[node->op].attr];
        char *attr =
            ti_node_calls(node) ? ti_arena_copy(&r->ctx->arena, node->attr, info->size) : NULL;
        for (int i = 0; i < ti_node_calls(node); i++) {
            const char **name = (const char **)(void *)(attr + info->field[i].at);
            *name = ti_intern_text(
                r->ctx, ti_text_format(&r->ctx->arena, "%s.%s", prefix, *name ? *name : ""));
        }
        if (attr)
            node->attr = attr;
    }
}

static void take_graphs(reader *r, const tc_module *from, const char *name)
{
    for (size_t i = 0; i < from->n_graph; i++) {
        tc_graph *g = from->graph[i];
        g->name = i ? ti_intern_text(r->ctx, ti_text_format(&r->ctx->arena, "%s.%s", name, g->name))
                    : name;
        g->module = r->module;
        rename_calls(r, g, name);
        tc_grow(&r->ctx->arena, r->module->graph, r->module->n_graph, r->module->cap_graph);
        r->module->graph[r->module->n_graph++] = g;
    }
}

/* A VGF file notes how its integers are meant; here they are what the program's tensors are. */
static void forget_quantization(tc_ctx *ctx, const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t i = 1; i < g->n_val; i++)
        g->val[i]->type = ti_type_with(ctx, g->val[i]->type, NULL);
}

/* The graph of a delegate: its TOSA, its VGF, or the TOSA stored with it. */
static tc_status read_delegate(reader *r, uint32_t which)
{
    const tc_pte_delegate *d = &r->m->delegate[which];
    const char *name =
        ti_text_format(&r->ctx->arena, "%s (delegate %" PRIu32 ")", r->file.name, which);
    tc_module *inner;
    if (ti_text_eq(d->id, "TOSABackend"))
        TC_TRY(ti_read_tosa(r->ctx, name, d->payload, &inner));
    else if (d->tosa.size)
        TC_TRY(ti_read_tosa(r->ctx, name, d->tosa, &inner));
    else if (ti_text_eq(d->id, "VgfBackend")) {
        TC_TRY(ti_read_vgf(r->ctx, name, d->payload, &inner));
        forget_quantization(r->ctx, inner);
    } else {
        tc_status status = ti_unsupported(r->ctx, r->loc, TC_E_UNSUPPORTED,
                                          "the payload of a '%s' cannot be run here", d->id);
        ti_note(r->ctx, r->loc, "'tosac compile --emit pte+tosa' stores TOSA beside it, which "
                                "can be run");
        return status;
    }
    r->graph[which] =
        ti_intern_text(r->ctx, ti_text_format(&r->ctx->arena, "delegate.%" PRIu32, which));
    take_graphs(r, inner, r->graph[which]);
    return TC_OK;
}

/* The node's results go to the arguments after the first n. */
static tc_status take_results(reader *r, const tc_pte_step *s, size_t n, tc_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        int64_t at = s->arg.v[n + (size_t)i];
        TC_TRY(need_type(r, &r->m->value[at]));
        ti_value_of(r->in->g, node->out[i])->type = r->m->value[at].type;
    }
    TC_TRY(ti_node_infer(r->in->g, node));
    for (int i = 0; i < node->n_out; i++)
        ti_pte_write(r, s->arg.v[n + (size_t)i], node->out[i]);
    return TC_OK;
}

/* An Ethos-U's program is a node that executes its stream; counts of tensors and their sizes are
 * compared when it runs. */
static tc_status run_stream(reader *r, const tc_pte_step *s)
{
    const tc_pte_delegate *d = &r->m->delegate[s->what];
    tc_npu_program program;
    TC_TRY(ti_npu_read_backend(r->ctx, r->loc, d->payload, &program));
    if ((size_t)s->arg.n != program.n_in + program.n_out)
        return ti_error(r->ctx, r->loc, TC_E_STRUCTURE,
                        "delegate %" PRIu32
                        " is given %d tensors, and has %zu inputs and %zu outputs",
                        s->what, s->arg.n, program.n_in, program.n_out);
    int64_t size = (int64_t)d->payload.size;
    tc_val *in = tc_new_n(&r->ctx->arena, tc_val, program.n_in + 1);
    in[0] = ti_graph_const(r->in->g, ti_type_make(r->ctx, TC_u8, 1, &size), d->payload.data, NULL,
                           r->loc);
    for (size_t i = 0; i < program.n_in; i++)
        TC_TRY(ti_pte_use(r, s->arg.v[i], &in[i + 1]));
    tc_node *node = ti_graph_add(r->in->g, TC_OP_ethosu, NULL, in, (int)program.n_in + 1,
                                 (int)program.n_out, r->loc);
    return take_results(r, s, program.n_in, node);
}

/* Elements of 4 and 48 bits take one and eight bytes outside their region, which knows. */
static void take_odd_bits(reader *r, int64_t at, const tc_type *in_region)
{
    tc_pte_value *t = &r->m->value[at];
    tc_dtype inside = in_region->dtype, outside = t->type ? t->type->dtype : TC_none;
    if (!(inside == TC_i48 && outside == TC_i64) && !(inside == TC_i4 && outside == TC_i8))
        return;
    t->type = ti_type_make(r->ctx, inside, t->type->rank, t->type->dim);
    if (r->in->val[at])
        ti_value_of(r->in->g, r->in->val[at])->type = t->type;
}

static tc_status run_delegate(reader *r, const tc_pte_step *s)
{
    const tc_pte_delegate *d = &r->m->delegate[s->what];
    if (ti_text_eq(d->id, "EthosUBackend") && !(d->tosa.size && ti_reading(r->ctx)->prefer_tosa))
        return run_stream(r, s);
    if (!r->graph[s->what])
        TC_TRY(read_delegate(r, s->what));
    const tc_graph *callee = ti_module_find(r->module, r->graph[s->what]);
    if ((size_t)s->arg.n != callee->n_in + callee->n_out)
        return ti_error(r->ctx, r->loc, TC_E_STRUCTURE,
                        "delegate %" PRIu32
                        " is given %d tensors, and has %zu inputs and %zu outputs",
                        s->what, s->arg.n, callee->n_in, callee->n_out);
    for (int i = 0; i < s->arg.n; i++) {
        size_t k = (size_t)i;
        take_odd_bits(
            r, s->arg.v[i],
            ti_type_of(callee, k < callee->n_in ? callee->in[k] : callee->out[k - callee->n_in]));
    }
    tc_attr_call *attr = tc_new(&r->ctx->arena, tc_attr_call);
    *attr = (tc_attr_call){callee->name, r->m->delegate[s->what].id};
    tc_val *in = tc_new_n(&r->ctx->arena, tc_val, callee->n_in);
    for (size_t i = 0; i < callee->n_in; i++)
        TC_TRY(ti_pte_use(r, s->arg.v[i], &in[i]));
    tc_node *node =
        ti_graph_add(r->in->g, TC_OP_call, attr, in, (int)callee->n_in, (int)callee->n_out, r->loc);
    return take_results(r, s, callee->n_in, node);
}

/* ---- the program ----------------------------------------------------------------------------- */

static tc_status run_step(reader *r, size_t k)
{
    const tc_pte_step *s = &r->m->step[k];
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = r->file.name;
    loc->place = ti_text_format(&r->ctx->arena, "instruction %zu", k);
    r->loc = loc;
    if (s->tag == PTE_KERNEL_CALL) {
        const tc_pte_operator *op = &r->m->op[s->what];
        loc->target =
            ti_text_format(&r->ctx->arena, "%.*s%s%.*s", (int)op->name.n, op->name.p,
                           op->overload.n ? "." : "", (int)op->overload.n, op->overload.p);
        return run_kernel(r, s);
    }
    if (s->tag == PTE_DELEGATE_CALL)
        return run_delegate(r, s);
    return s->tag == PTE_FREE_CALL
               ? TC_OK
               : ti_unsupported(r->ctx, loc, TC_E_UNSUPPORTED,
                                "control flow that is not a loop as tosac writes it");
}

tc_status ti_pte_run(reader *r, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        size_t end = r->n_jump ? ti_pte_loop_end(r, k, to) : 0;
        if (end)
            TC_TRY(ti_pte_read_loop(r, k, end));
        else
            TC_TRY(run_step(r, k));
        k = end ? end : k;
    }
    return TC_OK;
}

/* A signature entry that is not a tensor, as text. */
static const char *plain_text(tc_arena *arena, const tc_cpu_value *v)
{
    char number[32];
    switch (v->kind) {
    case TC_CPU_INT:
        return ti_text_format(arena, "%" PRId64, v->i);
    case TC_CPU_BOOL:
        return v->i ? "True" : "False";
    case TC_CPU_REAL:
        tc_text_f64(v->r, number);
        return ti_text_format(arena, "%s", number);
    case TC_CPU_TEXT:
        return v->text;
    default:
        return "None";
    }
}

static tc_status read_inputs(reader *r)
{
    const tc_pte_method *m = r->m;
    r->module->signature.in = tc_new_n(&r->ctx->arena, tc_port, (size_t)m->in.n);
    r->module->signature.n_in = (size_t)m->in.n;
    for (int32_t i = 0; i < m->in.n; i++) {
        const tc_pte_value *v = &m->value[m->in.v[i]];
        tc_port *port = &r->module->signature.in[i];
        if (v->tag != PTE_TENSOR) {
            port->text = ti_intern_text(r->ctx, plain_text(&r->ctx->arena, &v->plain));
            continue;
        }
        TC_TRY(need_type(r, v));
        port->val = ti_graph_input(r->in->g, v->type, NULL);
        ti_pte_write(r, m->in.v[i], port->val);
    }
    return TC_OK;
}

static tc_status read_outputs(reader *r)
{
    const tc_pte_method *m = r->m;
    r->module->signature.out = tc_new_n(&r->ctx->arena, tc_port, (size_t)m->out.n);
    r->module->signature.n_out = (size_t)m->out.n;
    for (int32_t i = 0; i < m->out.n; i++) {
        const tc_pte_value *v = &m->value[m->out.v[i]];
        tc_port *port = &r->module->signature.out[i];
        if (v->tag != PTE_TENSOR) {
            port->text = ti_intern_text(r->ctx, plain_text(&r->ctx->arena, &v->plain));
            continue;
        }
        TC_TRY(ti_pte_use(r, m->out.v[i], &port->val));
        ti_graph_output(r->in->g, port->val);
    }
    return TC_OK;
}

/* What the buffers hold when everything is done. */
static tc_status read_buffers(reader *r)
{
    tc_graph *g = r->in->g;
    for (size_t i = 0; i < r->m->n_value; i++) {
        tc_val after;
        if (!r->before[i])
            continue;
        TC_TRY(ti_pte_use(r, (int64_t)i, &after));
        if (after == r->before[i] && !r->m->value[i].name) /* else another method changes it */
            continue;
        ti_graph_mutate(g, r->before[i], after);
    }
    return TC_OK;
}

static tc_status read_program(reader *r)
{
    for (size_t i = 0; i < r->m->n_value; i++)
        if (r->m->value[i].tag == PTE_TENSOR && is_buffer(&r->m->value[i]))
            TC_TRY(begin_with(r, (int64_t)i, r->m->value[i].type));
    TC_TRY(read_inputs(r));
    for (size_t k = 0; k < r->m->n_step; k++)
        if (r->m->step[k].tag == PTE_JUMP_FALSE_CALL) {
            tc_grow(&r->ctx->arena, r->jump, r->n_jump, r->cap_jump);
            r->jump[r->n_jump++] = k;
        }
    TC_TRY(ti_pte_run(r, 0, r->m->n_step));
    r->loc = ti_arena_copy(&r->ctx->arena, &(tc_loc){.file = r->file.name, .place = "the results"},
                           sizeof(tc_loc));
    TC_TRY(read_outputs(r));
    return read_buffers(r);
}

/* Whether every array that is given is a sample, or several, of the method's inputs. */
static tc_status takes_data(reader *r, const tc_pte_method *m, bool *out)
{
    size_t n = (size_t)m->in.n;
    *out = n > 0;
    for (size_t k = 0; k < n && *out; k++) {
        if (m->in.v[k] < 0 || (size_t)m->in.v[k] >= m->n_value) {
            *out = false;
            break;
        }
        const tc_pte_value *v = &m->value[m->in.v[k]];
        tc_npy *array;
        TC_TRY(ti_sample_given_for(r->ctx, k, n, &array));
        int more = array ? (int)array->rank - v->dim.n : -1;
        *out = array && (more == 0 || more == 1);
        for (int i = 0; i < v->dim.n && *out; i++)
            *out = array->dim[i + more] == v->dim.v[i] ||
                   (!more && !i && v->dim.v[0] && array->dim[0] % v->dim.v[0] == 0);
    }
    return TC_OK;
}

/* Of methods for several sizes, the one that the data has the size of; the first stays where none is. */
static tc_status choose_by_data(reader *r)
{
    for (size_t i = 0; i < r->file.n_method; i++) {
        bool takes;
        TC_TRY(takes_data(r, &r->file.method[i], &takes));
        if (!takes)
            continue;
        r->m = &r->file.method[i];
        return TC_OK;
    }
    return TC_OK;
}

/* The requested method; else forward; else the one that data is for; else the first. */
static tc_status choose_method(reader *r)
{
    const char *asked = ti_reading(r->ctx)->method, *want = asked ? asked : "forward";
    r->m = asked ? NULL : &r->file.method[0];
    r->module->origin.method = tc_new_n(&r->ctx->arena, const char *, r->file.n_method);
    r->module->origin.n_method = r->file.n_method;
    for (size_t i = r->file.n_method; i-- > 0;) {
        r->module->origin.method[i] = r->file.method[i].name;
        if (ti_text_eq(r->file.method[i].name, want))
            r->m = &r->file.method[i];
    }
    if (!asked && r->file.n_method > 1 && !ti_text_eq(r->m->name, want) &&
        ti_reading(r->ctx)->n_sample)
        return choose_by_data(r);
    if (r->m)
        return TC_OK;
    tc_status status = ti_error(r->ctx, &(tc_loc){.file = r->file.name}, TC_E_STRUCTURE,
                                "there is no method '%s'", want);
    for (size_t i = 0; i < r->file.n_method; i++)
        ti_note(r->ctx, NULL, "there is '%s'", r->file.method[i].name);
    return status;
}

tc_status ti_read_pte(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    reader *r = tc_new(&ctx->arena, reader);
    r->ctx = ctx;
    TC_TRY(ti_pte_open(ctx, file, bytes, &r->file));
    r->module = ti_module_new(ctx, file);
    TC_TRY(choose_method(r));
    r->module->shared = r->file.n_method > 1;
    r->module->origin.bytes = bytes.size;
    r->in = ti_pte_inside_new(r, ti_graph_new(r->module, "main"), NULL);
    r->before = tc_new_n(&ctx->arena, tc_val, r->m->n_value);
    r->graph = tc_new_n(&ctx->arena, const char *, r->m->n_delegate);
    r->loc = ti_arena_copy(&ctx->arena, &(tc_loc){.file = file}, sizeof(tc_loc));
    TC_TRY(read_program(r));
    *out = r->module;
    return TC_OK;
}
