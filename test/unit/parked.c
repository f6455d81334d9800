/* SPDX-License-Identifier: Apache-2.0 */
/* parked.c -- a run that waits: what it parks comes back, on a grid bit for bit, else as near as 16
 * bits are; and the sums over all windows of a layer are those of its windows. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "quant/layer_inputs.h"
#include "run/parked.h"

typedef struct program {
    tc_ctx *ctx;
    tc_graph *g;
} program;

static program parse(const char *text)
{
    tc_module *module = NULL;
    program p = {.ctx = tc_ctx_new()};
    bool good = ti_parse(p.ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                         (tc_bytes){NULL, 0}, &module) == TC_OK &&
                ti_verify(p.ctx, module) == TC_OK;
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(p.ctx));
    CHECK(good);
    p.g = ti_main(module);
    return p;
}

static tc_tensor numbers(program *p, tc_val v, double by)
{
    tc_tensor t = ti_tensor_new(&p->ctx->arena, ti_type_of(p->g, v));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ((float *)t.data)[i] = (float)(by * sin(1.7 * (double)i) * exp(-(double)(i % 9)));
    return t;
}

static const char *const waits = "graph @main(%0: f32[1,5,7,9]) {\n"
    "  %1 = quantize %0 scale=0.1 zero=3 axis=-1 qmin=-128 qmax=127 dtype=i8 divides=false : "
    "i8[1,5,7,9]\n"
    "  %2 = dequantize %1 scale=0.1 zero=3 axis=-1 qmin=-128 qmax=127 dtype=f32 divides=false : "
    "f32[1,5,7,9]\n"
    "  %3 = permute %2 perm=[0,2,3,1] : f32[1,7,9,5]\n"
    "  %4 = exp %0 : f32[1,5,7,9]\n"
    "  %5 = tanh %4 : f32[1,5,7,9]\n"
    "  %6 = abs %3 : f32[1,7,9,5]\n"
    "  return %4, %5, %6\n}\n";

static void see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)who, (void)v, (void)seen, (void)order;
}

/* A sample that waits while another one goes through the same memory. */
static void park(bool brief, double by)
{
    program p = parse(waits);
    bool *wanted = tc_new_n(&p.ctx->arena, bool, p.g->n_val);
    tc_val snapped = p.g->node[1]->out[0], grown = p.g->node[3]->out[0];
    wanted[snapped] = wanted[grown] = true;
    tc_watch watch = {wanted, see, NULL};
    tc_plan *plan = ti_plan_new(p.ctx, p.g, &watch), *twin = ti_plan_twin(plan, &watch);
    tc_tensor in = numbers(&p, p.g->in[0], by), other = numbers(&p, p.g->in[0], -2), out[3], got[3];
    tc_parked parked = {.n = 0};
    ti_arena_init_like(&parked.room, &p.ctx->arena);
    CHECK(ti_plan_run(plan, &in, out, NULL, NULL) == TC_OK);
    size_t step = ti_plan_step_of(twin, p.g->node[4]);
    ti_plan_lend(twin, ti_arena_raw(&p.ctx->arena, ti_plan_bytes(twin)));
    ti_plan_start(twin, &in, NULL);
    CHECK(ti_plan_go_to(twin, step) == TC_OK);
    ti_plan_park(twin, brief, &parked);
    ti_plan_start(twin, &other, NULL);
    CHECK(ti_plan_go(twin, TC_NONE) == TC_OK);
    tc_parked_view view;
    float some[8], x[8], y[8];
    CHECK(ti_parked_find(twin, &parked, &in, grown, &view));
    ti_parked_read(&view, 61, 8, some); /* over the end of a block */
    ti_plan_unpark(twin, &parked, &in, NULL);
    CHECK(ti_plan_go(twin, TC_NONE) == TC_OK);
    ti_plan_outputs(twin, got);
    for (int i = 0; i < 3; i++)
        for (int64_t e = 0; e < tc_type_count(out[i].type); e++) {
            float a = ((float *)out[i].data)[e], b = ((float *)got[i].data)[e];
            bool exact = i == 2 || !brief || by > 100; /* infinite numbers stay as they are */
            CHECK(exact ? a == b || (a != a && b != b) : fabsf(a - b) <= 3 * 0x1p-15f);
        }
    memcpy(x, (float *)out[0].data + 61, sizeof x);
    for (int i = 0; i < 8; i++)
        y[i] = fabsf(x[i] - some[i]);
    for (int i = 0; i < 8; i++)
        CHECK(y[i] <= (brief ? 3 * 0x1p-15f : 0) || x[i] > 1e30f);
    ti_arena_free(&parked.room);
    tc_ctx_free(p.ctx);
}

/* Sums over all positions beside the windows at all of them. */
static void sum(const char *text)
{
    program p = parse(text);
    tc_columns c;
    static const int8_t plain[] = {0, 1, 2, 3, 4}, last[] = {0, 2, 3, 1};
    const tc_node *node = p.g->node[p.g->n_node - 1];
    tc_tensor x = numbers(&p, p.g->in[0], 1);
    CHECK(ti_columns_of(p.g, node, 1, &c));
    c.each = c.position;
    c.taps_first = false;
    int64_t row = c.groups * c.k;
    float *window = tc_new_n(&p.ctx->arena, float, (size_t)(c.each * row));
    double *all = tc_new_n(&p.ctx->arena, double, (size_t)row);
    for (int turn = 0; turn < (x.type->rank == 4 ? 2 : 1); turn++) {
        const int8_t *order = turn ? last : plain;
        tc_type type = *x.type;
        for (int i = 0; i < type.rank; i++)
            type.dim[i] = x.type->dim[order[i]];
        ti_columns_take(&c, (tc_tensor){&type, x.data}, order, 0, window);
        ti_columns_sums(&c, &p.ctx->scratch, (tc_tensor){&type, x.data}, order, all);
        for (int64_t j = 0; j < row; j++) {
            double want = 0;
            for (int64_t i = 0; i < c.each; i++)
                want += (double)window[i * row + j];
            CHECK(fabs(all[j] - want) < 1e-9);
        }
    }
    tc_ctx_free(p.ctx);
}

int main(void)
{
    park(false, 2);
    park(true, 0.7);
    park(false, 300); /* exp is infinite */
    park(true, 300);
    sum("graph @main(%0: f32[2,4,9,7], %1: f32[6,2,3,2]) {\n"
        "  %2 = conv %0, %1 stride=[2,1] pad=[1,2,0,1] dilation=[1,2] groups=2 : f32[2,6,5,6]\n"
        "  return %2\n}\n");
    sum("graph @main(%0: f32[1,3,6,6], %1: f32[3,1,5,5]) {\n"
        "  %2 = conv %0, %1 stride=[3,3] pad=[2,2,2,2] dilation=[1,1] groups=3 : f32[1,3,2,2]\n"
        "  return %2\n}\n");
    sum("graph @main(%0: f32[1,2,4,3,5], %1: f32[3,2,2,3,1]) {\n"
        "  %2 = conv %0, %1 stride=[1,1,2] pad=[0,0,1,1,0,0] dilation=[1,1,1] groups=1 : "
        "f32[1,3,3,3,3]\n"
        "  return %2\n}\n");
    sum("graph @main(%0: f32[3,5,8], %1: f32[4,8]) {\n"
        "  %2 = linear %0, %1 : f32[3,5,4]\n"
        "  return %2\n}\n");
    return check_done();
}
