/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c -- random graphs, seeded, through every pass: the interpreter before and after agree as
 * the pass promises; the verifier sees what is wrong. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "run/eval.h"
#include "drive/checker.h"
#include "ir/ir_text.h"

static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

typedef struct maker {
    tc_ctx *ctx;
    tc_graph *g;
    tc_val pool[256]; /* f32 and i32 values to choose from */
    size_t n_pool;
} maker;

#define ATTR_OF(m, record, ...)                                                                    \
    ti_arena_copy(&(m)->ctx->arena, &(tc_attr_##record){__VA_ARGS__}, sizeof(tc_attr_##record))

static tc_ints ints(maker *m, const int64_t *v, int n)
{
    return ti_ints_copy(&m->ctx->arena, v, n);
}

static void keep(maker *m, tc_val val)
{
    if (m->n_pool < TC_COUNT(m->pool))
        m->pool[m->n_pool++] = val;
}

/* Results join the pool; a node that the rules turn down is a mistake of this test. */
static tc_val emit(maker *m, tc_op op, const void *attr, const tc_val *in, int n_in, int n_out)
{
    tc_node *node;
    tc_status status = ti_graph_emit(m->g, op, attr, in, n_in, n_out, NULL, &node);
    CHECK(status == TC_OK);
    if (status != TC_OK) {
        fputs(tc_diagnostics(m->ctx), stderr);
        exit(1);
    }
    for (int i = 0; i < n_out; i++)
        keep(m, node->out[i]);
    return node->out[0];
}

static tc_val some(maker *m)
{
    return m->pool[dice((uint32_t)m->n_pool)];
}

static tc_val constant(maker *m, int32_t rank, const int64_t *dim)
{
    const tc_type *type = ti_type_make(m->ctx, TC_f32, rank, dim);
    float *data = ti_arena_raw(&m->ctx->arena, tc_type_bytes(type));
    for (int64_t i = 0; i < tc_type_count(type); i++)
        data[i] = (float)dice(64) / 8 - 3;
    return ti_graph_const(m->g, type, data, NULL, NULL);
}

static void add_permute(maker *m, tc_val x)
{
    int64_t perm[TC_MAX_RANK];
    int rank = ti_type_of(m->g, x)->rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    for (int i = rank - 1; i > 0; i--) {
        int k = (int)dice((uint32_t)i + 1);
        int64_t swap = perm[i];
        perm[i] = perm[k];
        perm[k] = swap;
    }
    emit(m, TC_OP_permute, ATTR_OF(m, perm, ints(m, perm, rank)), &x, 1, 1);
}

/* Axes of extent 1 come and go, neighbours are joined. */
static void add_reshape(maker *m, tc_val x)
{
    const tc_type *t = ti_type_of(m->g, x);
    int64_t dim[TC_MAX_RANK];
    int n = 0;
    for (int i = 0; i < t->rank; i++) {
        if (n && dice(3) == 0)
            dim[n - 1] *= t->dim[i];
        else if (t->dim[i] != 1 || dice(2))
            dim[n++] = t->dim[i];
        if (n < 5 && dice(4) == 0)
            dim[n++] = 1;
    }
    emit(m, TC_OP_reshape, ATTR_OF(m, shape, ints(m, dim, n)), &x, 1, 1);
}

static void add_slice(maker *m, tc_val x)
{
    const tc_type *t = ti_type_of(m->g, x);
    if (!t->rank)
        return;
    int axis = (int)dice((uint32_t)t->rank);
    int64_t start = dice(3) ? 0 : dice((uint32_t)t->dim[axis]);
    emit(m, TC_OP_slice, ATTR_OF(m, slice, axis, start, t->dim[axis], 1 + dice(2)), &x, 1, 1);
}

static void add_cast(maker *m, tc_val x)
{
    static const tc_dtype to[] = {TC_f32, TC_f64, TC_f16, TC_i32, TC_i8, TC_i64, TC_bool, TC_u8};
    emit(m, TC_OP_cast, ATTR_OF(m, cast, to[dice(TC_COUNT(to))]), &x, 1, 1);
}

static void add_pair(maker *m, tc_val x)
{
    tc_val in[] = {x, x};
    if (ti_type_of(m->g, x)->dtype == TC_bool)
        return;
    emit(m, dice(2) ? TC_OP_mul : TC_OP_maximum, NULL, in, 2, 1);
}

static void add_still(maker *m, tc_val x)
{
    const tc_type *t = ti_type_of(m->g, x);
    switch (dice(3)) {
    case 0:
        emit(m, TC_OP_identity, NULL, &x, 1, 1);
        break;
    case 1:
        emit(m, TC_OP_expand, ATTR_OF(m, shape, ints(m, t->dim, t->rank)), &x, 1, 1);
        break;
    default:
        emit(m, TC_OP_pad,
             ATTR_OF(m, pad, ti_ints_fill(&m->ctx->arena, 0, 2 * t->rank), TC_pad_mode_constant, 0),
             &x, 1, 1);
    }
}

/* batch_norm(conv(image)) with constants all around. */
static void add_norm(maker *m, tc_val image)
{
    int64_t channels = ti_type_of(m->g, image)->dim[1], out = 1 + dice(4);
    int64_t one[] = {1, 1}, none[] = {0, 0, 0, 0};
    tc_val conv_in[] = {image, constant(m, 4, (int64_t[]){out, channels, 1, 1}),
                        dice(2) ? constant(m, 1, &out) : TC_NONE};
    tc_val y =
        emit(m, TC_OP_conv, ATTR_OF(m, conv, ints(m, one, 2), ints(m, none, 4), ints(m, one, 2), 1),
             conv_in, 3, 1);
    tc_val var = constant(m, 1, &out);
    float *v = (float *)(uintptr_t)m->g->val[var]->data;
    for (int64_t i = 0; i < out; i++)
        v[i] = fabsf(v[i]) + 0.5f;
    tc_val norm_in[] = {y, dice(2) ? constant(m, 1, &out) : TC_NONE,
                        dice(2) ? constant(m, 1, &out) : TC_NONE, constant(m, 1, &out), var};
    emit(m, TC_OP_batch_norm, ATTR_OF(m, eps, 1e-5), norm_in, 5, 1);
}

static tc_module *any_module(tc_ctx *ctx, uint64_t start)
{
    static void (*const add[])(maker *, tc_val) = {add_permute, add_permute, add_reshape,
                                                   add_reshape, add_slice,   add_cast,
                                                   add_pair,    add_still};
    seed = start;
    tc_module *module = ti_module_new(ctx, "random.ir");
    maker m = {.ctx = ctx, .g = ti_graph_new(module, "main")};
    tc_val image =
        ti_graph_input(m.g, ti_type_make(ctx, TC_f32, 4, (int64_t[]){1, 3, 4, 2}), "image");
    keep(&m, image);
    keep(&m, ti_graph_input(m.g, ti_type_make(ctx, TC_i32, 2, (int64_t[]){3, 2}), "codes"));
    keep(&m, constant(&m, 3, (int64_t[]){2, 1, 3}));
    add_norm(&m, image);
    for (int i = 0; i < 25; i++)
        add[dice(TC_COUNT(add))](&m, some(&m));
    for (int i = 0; i < 6; i++)
        ti_graph_output(m.g, some(&m));
    return module;
}

/* The outputs, from inputs that depend on nothing. */
static tc_tensor *outputs(tc_ctx *ctx, tc_module *module)
{
    tc_graph *g = ti_main(module);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in);
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++)
            if (in[i].type->dtype == TC_f32)
                ((float *)in[i].data)[k] = (float)(k % 7) / 4 - 1;
            else
                ((int32_t *)in[i].data)[k] = (int32_t)k * 1000 - 2500;
    }
    return ti_eval(g, in, out, &ctx->arena) == TC_OK ? out : NULL;
}

static void test_pass(uint64_t start, const tc_pass *pass)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = any_module(ctx, start);
    const tc_tensor *before = outputs(ctx, module);
    tc_target target;
    CHECK(ti_target_parse(ctx, "TOSA-1.0+INT+FP", &target) == TC_OK);
    tc_status status = ti_run_stages(ctx, module, pass->name, &(tc_job){.target = &target}, NULL);
    if (status == TC_UNSUPPORTED && strcmp(pass->name, "select-tflm-operators") == 0) {
        tc_ctx_free(ctx); /* TFLM has fewer operators than any_module() */
        return;
    }
    const tc_tensor *after = status == TC_OK ? outputs(ctx, module) : NULL;
    bool same = before && after;
    for (size_t i = 0; same && i < ti_main(module)->n_out; i++)
        same = before[i].type == after[i].type &&
               ti_check_kept(pass->numbers, false, before[i], after[i]);
    CHECK(same);
    if (!same)
        fprintf(stderr, "seed %d, pass %s\n%s", (int)start, pass->name, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
}

/* What EXACT, CLOSE and APPROX mean. */
static void test_kept(void)
{
    tc_ctx *ctx = tc_ctx_new();
    int64_t four[] = {4}, two[] = {2, 2};
    const tc_type *t = ti_type_make(ctx, TC_f32, 1, four),
                  *other = ti_type_make(ctx, TC_f32, 2, two),
                  *half = ti_type_make(ctx, TC_bf16, 1, four);
    float x[] = {1, 2, 3, 4}, off[] = {1, 2, 3, 4.0003f}, far[] = {1, 2, 3, 4.001f},
          lost[] = {1, 2, 3, NAN};
    uint16_t b[] = {0x3f80, 0x4000, 0x4040, 0x4080}, near[] = {0x3f80, 0x4000, 0x4041, 0x4080},
             away[] = {0x3f80, 0x4000, 0x4044,
                       0x4080}; /* of bf16: 1, 2, 3 or 3.0156 or 3.0625, 4 */
    CHECK(ti_check_kept(TC_EXACT, false, (tc_tensor){t, x}, (tc_tensor){t, x}));
    CHECK(!ti_check_kept(TC_EXACT, false, (tc_tensor){t, x}, (tc_tensor){t, off}));
    CHECK(ti_check_kept(TC_CLOSE, false, (tc_tensor){t, x}, (tc_tensor){t, off}));
    CHECK(!ti_check_kept(TC_CLOSE, false, (tc_tensor){t, x}, (tc_tensor){t, far}));
    CHECK(!ti_check_kept(TC_CLOSE, false, (tc_tensor){t, x}, (tc_tensor){other, x}));
    CHECK(!ti_check_kept(TC_APPROX, false, (tc_tensor){t, x}, (tc_tensor){other, x}));
    CHECK(ti_check_kept(TC_APPROX, false, (tc_tensor){t, x}, (tc_tensor){t, far}));
    CHECK(!ti_check_kept(TC_APPROX, false, (tc_tensor){t, x}, (tc_tensor){t, lost}));
    CHECK(ti_check_kept(TC_CLOSE, false, (tc_tensor){half, b}, (tc_tensor){half, near}));
    CHECK(!ti_check_kept(TC_CLOSE, false, (tc_tensor){half, b}, (tc_tensor){half, away}));
    tc_ctx_free(ctx);
}

/* A pass that is not told what it wants, or does not find what it needs, says so. */
static void test_turned_down(const char *pass, const char *said)
{
    tc_ctx *ctx = tc_ctx_new();
    CHECK(ti_run_passes(ctx, any_module(ctx, 1), pass, NULL) == TC_USAGE);
    CHECK(strstr(tc_diagnostics(ctx), said));
    tc_ctx_free(ctx);
}

/* tidy makes graphs smaller, and tidying again changes nothing. */
static void test_tidy(uint64_t start, size_t *nodes_before, size_t *nodes_after)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = any_module(ctx, start);
    *nodes_before += ti_main(module)->n_node;
    CHECK(ti_run_passes(ctx, module, "tidy", NULL) == TC_OK);
    *nodes_after += ti_main(module)->n_node;
    tc_ctx_free(ctx);
}

/* A pass that finds nothing to do leaves the nodes where they are, and no memory behind. */
static void test_nothing_to_do(uint64_t start)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = any_module(ctx, start);
    CHECK(ti_run_passes(ctx, module, "tidy,tidy,tidy", NULL) == TC_OK);
    size_t used = ctx->arena.used;
    tc_node **node = ti_main(module)->node;
    CHECK(ti_run_passes(ctx, module, "remove-identities,fold-constants,remove-dead-code", NULL) == TC_OK);
    CHECK(ctx->arena.used == used && ti_main(module)->node == node);
    tc_ctx_free(ctx);
}

/* One graph spoiled in one way, and a word of the message that says so. */
static void test_spoiled(void (*spoil)(tc_module *), const char *message)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = any_module(ctx, 1);
    CHECK(ti_verify(ctx, module) == TC_OK);
    spoil(module);
    CHECK(ti_verify(ctx, module) != TC_OK);
    CHECK(strstr(tc_diagnostics(ctx), message));
    if (!strstr(tc_diagnostics(ctx), message))
        fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
}

static void spoil_order(tc_module *m)
{
    tc_graph *g = ti_main(m);
    tc_node *first = g->node[1];
    memmove(&g->node[1], &g->node[2], (g->n_node - 2) * sizeof *g->node);
    g->node[g->n_node - 1] = first;
}
static void spoil_output(tc_module *m)
{
    ti_main(m)->out[0] = 100000;
}
static void spoil_operand(tc_module *m)
{
    tc_graph *g = ti_main(m);
    g->node[g->n_node - 1]->in[0] = 100000;
}
static void spoil_result(tc_module *m)
{
    tc_graph *g = ti_main(m);
    g->node[g->n_node - 1]->out[0] = g->node[0]->out[0];
}
static void spoil_type(tc_module *m)
{
    tc_graph *g = ti_main(m);
    g->val[g->node[g->n_node - 1]->out[0]]->type = ti_type_make(m->ctx, TC_e5m2, 0, NULL);
}
static void spoil_missing_type(tc_module *m)
{
    tc_graph *g = ti_main(m);
    g->facts = TC_FACT_TYPED;
    g->val[g->node[g->n_node - 1]->out[0]]->type = NULL;
}
static void spoil_fact(tc_module *m)
{
    ti_main(m)->facts |= TC_FACT_TOSA_ONLY;
}
static void spoil_const(tc_module *m)
{
    tc_graph *g = ti_main(m);
    g->val[g->node[0]->out[0]]->data = NULL;
}
static void spoil_port(tc_module *m)
{
    m->signature.in = tc_new(&m->ctx->arena, tc_port);
    m->signature.n_in = 1;
    m->signature.in->val = ti_main(m)->node[0]->out[0];
}
static void spoil_calls(tc_module *m)
{
    tc_graph *g = ti_main(m);
    tc_val go = ti_graph_scalar(g, TC_bool, 1, NULL);
    tc_val in[] = {go, g->in[0], g->in[1]};
    const tc_attr_cond *attr =
        ti_arena_copy(&m->ctx->arena, &(tc_attr_cond){"main", "main"}, sizeof *attr);
    tc_node *node = ti_graph_add(g, TC_OP_cond, attr, in, 3, (int)g->n_out, NULL);
    for (size_t i = 0; i < g->n_out; i++)
        g->val[node->out[i]]->type = ti_type_of(g, g->out[i]);
}

int main(void)
{
    size_t before = 0, after = 0;
    for (uint64_t s = 1; s <= 100; s++) {
        for (const tc_pass *pass = tc_passes; pass->name; pass++)
            if (!(pass->needs & TC_FACT_TOSA_ONLY) && !(pass->gives & TC_FACT_TOSA_ONLY) &&
                !(pass->wants & (TC_WANTS_SAMPLES | TC_WANTS_CONFIG)))
                test_pass(s, pass);
        test_tidy(s, &before, &after);
        test_nothing_to_do(s);
    }
    CHECK(after * 2 < before);
    test_kept();
    test_turned_down("lower-to-tosa", "the pass 'lower-to-tosa' needs a target");
    test_turned_down("quantize-model", "the pass 'quantize-model' needs calibration data");
    test_turned_down("sink-transposes", "the pass 'sink-transposes' needs TOSA_ONLY");
    test_spoiled(spoil_order, "is used before it is defined [order]");
    test_spoiled(spoil_output, "output 0 of 'main' is never made [structure]");
    test_spoiled(spoil_operand, "is not a value of this graph [structure]");
    test_spoiled(spoil_result, "belongs to another node, or is defined twice [structure]");
    test_spoiled(spoil_type, "is declared e5m2[], and is");
    test_spoiled(spoil_missing_type, "has no type [type]");
    test_spoiled(spoil_fact, "has no TOSA form [promise]");
    test_spoiled(spoil_const, "[structure]");
    test_spoiled(spoil_port, "of the signature is not an input [structure]");
    test_spoiled(spoil_calls, "a graph runs itself [structure]");
    return check_done();
}
