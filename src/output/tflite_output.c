/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_output.c -- what the CPU runs becomes builtins of TensorFlow Lite Micro, the arena is
 * planned, and the file is written. */
#include "tflite_output.h"

#include "../drive/model.h"
#include "payload.h"
#include "../drive/program_file.h"
#include "../drive/road.h"

#include "../drive/made_by.h"
#include "../emit/tflite_int8.h"
#include "../ir/verify.h"
#include "../num/load.h"
#include "../quant/quantizer.h"
#include "../read/read.h"
#include "../run/eval.h"
#include "../tflm/tflm_select.h"

/* ---- regions ---- */

/* What a region's stream needs of the arena. */
static tc_status block_of(tc_ctx *ctx, const tc_compiled *c, size_t i, tc_npu_program *p,
                          tc_tflm_block *block)
{
    const tc_loc loc = {.file = c->module->file};
    TC_TRY(ti_npu_read_backend(ctx, &loc, c->payload[i].bytes, p));
    p->fast = c->jobs[i].fast_scratch; /* the payload need not contain it */
    *block = (tc_tflm_block){.graph = c->payload[i].graph,
                             .bytes = p->scratch,
                             .in = tc_new_n(&ctx->arena, int64_t, p->n_in + 1),
                             .out = tc_new_n(&ctx->arena, int64_t, p->n_out + 1)};
    for (size_t k = 0; k < p->n_in + p->n_out; k++) {
        const tc_npu_tensor *t = k < p->n_in ? &p->in[k] : &p->out[k - p->n_in];
        if (t->region != 1)
            return ti_bug(ctx, &loc, "a tensor of '%s' lies in region %d", block->graph, t->region);
        *(k < p->n_in ? &block->in[k] : &block->out[k - p->n_in]) = t->offset;
    }
    return TC_OK;
}

static tc_status move_block(tc_ctx *ctx, int64_t base, tc_npu_program *p, tc_npu_moved *moved)
{
    const char *error = base ? ti_npu_move_scratch(&ctx->arena, p, base, moved) : NULL;
    return error ? ti_bug(ctx, NULL, "a command stream cannot be moved: %s", error) : TC_OK;
}

/* ---- operators that stay whole ---- */

static bool is_free(const tc_node *node)
{
    return node->op == TC_OP_const || node->op == TC_OP_call || node->op == TC_OP_tflite_op ||
           node->op == TC_OP_reshape || node->op == TC_OP_identity;
}

/* The operators of the file that stay on the CPU, or parts of them: names + the earlier ones. */
static const char **left_on_cpu(tc_ctx *ctx, const tc_compiled *c, size_t *n)
{
    const tc_read_options *o = ti_reading(ctx);
    const tc_graph *g = ti_main(c->module);
    const char **list = tc_new_n(&ctx->arena, const char *, o->n_keep + g->n_node + 1);
    tc_map seen;
    ti_map_init(&seen, &ctx->arena);
    for (*n = 0; *n < o->n_keep; (*n)++)
        list[*n] = o->keep[*n];
    for (size_t k = 0; k < g->n_node; k++) {
        const char *name = is_free(g->node[k]) ? NULL : g->node[k]->loc->node;
        void **slot = name ? ti_map_at(&seen, ti_str_of(name)) : NULL;
        if (!slot || *slot)
            continue;
        *slot = (void *)(uintptr_t)name;
        list[(*n)++] = name;
    }
    return list;
}

/* The same model again, with those operators whole. */
static tc_status compile_keeping(tc_ctx *ctx, tc_compiled *c, const char *const *name, size_t n)
{
    tc_read_options *o = ti_reading(ctx);
    tc_compile_request r = c->request;
    tc_compiled next = {.asked.ethosu = c->asked.ethosu};
    r.trace = r.faults; /* the hook of the first time is gone */
    o->keep_unread = true;
    o->keep = name;
    o->n_keep = n;
    TC_TRY(ti_read_tflite(ctx, c->module->file, c->module->origin.source, &r.module));
    TC_TRY(ti_verify(ctx, r.module));
    TC_TRY(ti_compile_stages(ctx, &r, &next));
    next.asked.method = c->asked.method;
    next.asked.places = c->asked.places;
    next.asked.board = c->asked.board;
    next.quant.frontier = c->quant.frontier;
    next.quant.n_frontier = c->quant.n_frontier;
    next.written = c->written;
    next.model = ti_model_of(ctx, c->model->name, next.module);
    *c = next;
    return ti_pack_regions(ctx, c);
}

/* A TFLite file that is not quantized here computes on the CPU by its own operators. */
static tc_status keep_operators(tc_ctx *ctx, tc_compiled *c)
{
    enum { ROUNDS = 16 };
    tc_read_options *o = ti_reading(ctx);
    const tc_read_options before = *o;
    tc_status status = TC_OK;
    bool more = c->work.typed && c->module->origin.source.size && !ti_quant_is_typed(c->work.typed);
    for (int round = 0; round < ROUNDS && more && status == TC_OK; round++) {
        size_t n;
        const char **name = left_on_cpu(ctx, c, &n);
        more = n > o->n_keep;
        if (more)
            status = compile_keeping(ctx, c, name, n);
    }
    *o = before;
    return status;
}

/* ---- the file ---- */

static tc_memory memory_of(tc_ctx *ctx, const tc_graph *g, const tc_tflm_plan *plan)
{
    tc_memory m = {.offset = tc_new_n(&ctx->arena, size_t, g->n_val), .bytes = (size_t)plan->bytes};
    for (tc_val v = 1; v < g->n_val; v++)
        m.offset[v] = plan->offset[v] < 0 ? 0 : (size_t)plan->offset[v];
    return m;
}

static tc_status write_file(tc_ctx *ctx, const tc_compiled *c, tc_module *m, tc_tflite *out)
{
    const tc_graph *g = ti_main(m);
    tc_tflite_region *region = tc_new_n(&ctx->arena, tc_tflite_region, c->n_region + 1);
    tc_tflm_block *block = tc_new_n(&ctx->arena, tc_tflm_block, c->n_region + 1);
    for (size_t i = 0; i < c->n_region; i++) {
        TC_TRY(block_of(ctx, c, i, &region[i].program, &block[i]));
        region[i].graph = block[i].graph;
    }
    tc_tflm_plan plan = ti_tflm_plan(ctx, g, block, c->n_region);
    tc_npu_moved *moved = tc_new_n(&ctx->arena, tc_npu_moved, c->n_region + 1);
    for (size_t i = 0; i < c->n_region; i++)
        TC_TRY(move_block(ctx, plan.base[i], &region[i].program, &moved[i]));
    *out = (tc_tflite){.plan = memory_of(ctx, g, &plan),
                       .memory = (size_t)plan.bytes,
                       .planned = g,
                       .moved = moved};
    return ti_write_tflite(ctx,
                           &(tc_tflite_request){m, &plan, region, c->n_region,
                                                ti_made_by(ctx, c)},
                           &out->file);
}

/* ---- what was written, read back ---- */

static bool same_numbers(const tc_tensor *a, const tc_tensor *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!ti_same_dims(a[i].type, b[i].type) || a[i].type->dtype != b[i].type->dtype ||
            memcmp(a[i].data, b[i].data, tc_type_bytes(a[i].type)) != 0)
            return false;
    return true;
}

/* Whether every reading gives the same bits: no sum or function of floats is on the CPU. */
static bool is_exact(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool plain = ti_op_sees_storage(node->op) && !tc_ops[node->op].tosa;
        if (!plain && node->op != TC_OP_const && !(tc_ops[node->op].traits & T_MOVES))
            return false;
    }
    return true;
}

/* The same codes in the file's types, which hold scales as f32. */
static tc_tensor *as_written(tc_arena *arena, const tc_graph *back, const tc_tensor *in)
{
    tc_tensor *out = tc_new_n(arena, tc_tensor, back->n_in + 1);
    for (size_t i = 0; i < back->n_in; i++)
        out[i] = (tc_tensor){ti_type_of(back, back->in[i]), in[i].data};
    return out;
}

/* The file computes the same as the program that it was made from, on the first sample. */
static tc_status check_written(tc_ctx *ctx, const tc_compiled *c, const tc_tflite *made)
{
    tc_read_options *o = ti_reading(ctx);
    const tc_read_options before = *o;
    tc_graph *g = ti_main(made->planned->module);
    tc_module *back = NULL;
    if (!c->work.real || !c->given.n || !is_exact(g))
        return TC_OK;
    *o = (tc_read_options){0};
    tc_status status = ti_read_tflite(ctx, c->module->file, made->file, &back);
    *o = before;
    TC_TRY(status);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_tensor *want = tc_new_n(&ctx->scratch, tc_tensor, g->n_out + 1),
              *got = tc_new_n(&ctx->scratch, tc_tensor, g->n_out + 1);
    bool fits = ti_main(back)->n_in == g->n_in && ti_main(back)->n_out == g->n_out;
    for (size_t i = 0; fits && i < g->n_in; i++)
        fits = tc_type_bytes(ti_type_of(g, g->in[i])) ==
               tc_type_bytes(ti_type_of(ti_main(back), ti_main(back)->in[i]));
    const tc_tensor *in = ti_check_taken(g, c->given.sample[0], &ctx->scratch);
    status = ti_eval(g, in, want, &ctx->scratch);
    if (status == TC_OK && fits)
        status = ti_eval(ti_main(back), as_written(&ctx->scratch, ti_main(back), in), got,
                         &ctx->scratch);
    if (status == TC_OK && (!fits || !same_numbers(want, got, g->n_out)))
        status = ti_bug(ctx, NULL, "the .tflite, read back, computes something else");
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

/* Of the data: what the file's narrower integers hold; invented samples are made to fit. */
static tc_status check_fits(tc_ctx *ctx, const tc_compiled *c, const tc_graph *g)
{
    for (size_t k = 0; k < c->given.n; k++)
        for (size_t i = 0; i < g->n_in; i++) {
            const tc_type *type = ti_type_of(g, g->in[i]);
            tc_tensor t = c->given.sample[k][i];
            bool narrower = type->dtype == TC_i32 && !type->quant && t.type->dtype == TC_i64;
            for (int64_t e = 0; narrower && e < tc_type_count(t.type); e++) {
                int64_t x = ti_load_i64(t, e);
                if (x >= INT32_MIN && x <= INT32_MAX)
                    continue;
                if (!c->given.invented)
                    return ti_error(ctx, NULL, TC_E_DATA,
                                    "sample %zu: element %" PRId64 " of input %zu (%" PRId64
                                    ") does not fit i32, which that input is in a .tflite", k, e, i, x);
                ti_store_i64(t, e, x < 0 ? INT32_MIN : INT32_MAX);
            }
        }
    return TC_OK;
}

static bool is_core(const tc_compiled *c)
{
    return c->target.machine->packing == TC_PACKED_C && !c->target.core;
}

static tc_status check_target(tc_ctx *ctx, const tc_compiled *c)
{
    tc_packing packing = c->target.machine->packing;
    if ((packing == TC_PACKED_STREAM && !c->target.core) || packing == TC_PACKED_NOT || is_core(c))
        return TC_OK;
    return ti_usage(ctx, "--emit tflite is for Ethos-U, Cortex-M and 'cpu', not for '%s'",
                    c->target.text);
}

/* ---- a Cortex-M: int8 operators ---- */

/* What has no operator is computed on real numbers in a second writing. */
static tc_status write_int8(tc_ctx *ctx, tc_module *m, const char *by, tc_bytes *out)
{
    tc_tf8_lack lack = {0};
    TC_TRY(ti_tflm_narrow_places(m));
    ti_tflm_start_state(m);
    TC_TRY(ti_write_tflite_int8(ctx, ti_module_clone(m), by, &lack, out));
    if (!lack.n)
        return TC_OK;
    TC_TRY(ti_tflm_select_around_codes(ctx, m, lack.node, lack.n));
    return ti_write_tflite_int8(ctx, m, by, NULL, out);
}

/* The program as a .tflite that says all its integers: the model's own file, or made of the typed
 * program. */
static tc_status int8_file(tc_ctx *ctx, const tc_compiled *c, tc_bytes *out)
{
    const tc_module *typed = c->work.typed ? c->work.typed : c->module;
    if (ti_quant_is_typed(typed)) {
        tc_module *m = ti_module_clone(typed);
        TC_TRY(ti_road_run(ctx, m, TC_AT_WIDE_INPUTS, TC_AT_NARROW_INPUTS, NULL, NULL));
        return write_int8(ctx, m, ti_made_by(ctx, c), out);
    }
    *out = c->module->origin.source;
    if (out->size && ti_quant_is_lowered(typed))
        return TC_OK;
    tc_status status = ti_usage(ctx, "an int8 .tflite for '%s' wants a quantized model, or --calib",
                                c->target.text);
    ti_note(ctx, NULL, "-t cpu writes a .tflite that computes in float");
    return status;
}

/* The same file compiled for the CPU, which keeps its operators, also those that it cannot read. */
static tc_status compile_int8(tc_ctx *ctx, tc_compiled *c)
{
    tc_compile_request r = c->request;
    tc_compiled next = {0};
    tc_bytes file;
    tc_read_options *o = ti_reading(ctx);
    const tc_read_options before = *o;
    TC_TRY(int8_file(ctx, c, &file));
    r.trace = r.faults;
    r.target = "cpu";
    r.settings = NULL;
    r.config = NULL;
    r.data.only_if_needed = true;
    o->keep_unread = true;
    tc_status status = ti_read_tflite(ctx, c->module->file, file, &r.module);
    status = status ? status : ti_verify(ctx, r.module);
    status = status ? status : ti_compile_stages(ctx, &r, &next);
    *o = before;
    TC_TRY(status);
    next.asked = c->asked;
    next.quant = c->quant;
    next.written = c->written;
    next.model = ti_model_of(ctx, c->model->name, next.module);
    *c = next;
    return TC_OK;
}

/* A model that was quantized for the CPU's float builtins. */
static void tell_floats(tc_ctx *ctx, const tc_compiled *c)
{
    if (c->target.machine->packing != TC_PACKED_NOT || !ti_quant_is_typed(c->module))
        return;
    ti_warning(ctx, NULL, TC_E_NO_EFFECT,
               "the .tflite computes in float, on the values that quantization gives");
    ti_note(ctx, NULL, "-t cortex-m4, or another Cortex-M, writes int8 operators");
}

tc_status ti_tflite_make(tc_ctx *ctx, tc_compiled *c, tc_tflite *out)
{
    TC_TRY(check_target(ctx, c));
    const tc_compiled asked = *c;
    bool core = is_core(c);
    tell_floats(ctx, c);
    if (core)
        TC_TRY(compile_int8(ctx, c));
    TC_TRY(ti_pack_regions(ctx, c));
    TC_TRY(keep_operators(ctx, c));
    if (core && c->work.real) { /* it is proved against the model, not against the int8 file that was made of it */
        c->work.real = asked.work.real;
        c->given = asked.given;
    }
    TC_TRY(ti_tell_idle(ctx, c));
    tc_module *m = ti_program_of(ctx, c);
    TC_TRY(
        ti_road_run(ctx, m, TC_AT_HANDED, TC_AT_BUILTINS, &(tc_job){.target = &c->target}, NULL));
    TC_TRY(check_fits(ctx, c, ti_main(m)));
    TC_TRY(write_file(ctx, c, m, out));
    return check_written(ctx, c, out);
}
