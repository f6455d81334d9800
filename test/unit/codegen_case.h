/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_case.h -- small TOSA graphs as text, and what our own Ethos-U back end makes of them: verified,
 * executed next to the reference kernels, counted. */
#ifndef TC_TEST_CODEGEN_CASE_H
#define TC_TEST_CODEGEN_CASE_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "ir/ir_text.h"
#include "npu/census.h"
#include "npu/curve.h"
#include "npu/npu_exec.h"
#include "npu/npu_verify.h"
#include "run/eval.h"

/* ---- graphs as text ---- */

typedef struct text {
    char v[1 << 20];
    size_t n;
    int value; /* the last one */
} text;

#define SAY(t, ...) ((t)->n += (size_t)snprintf((t)->v + (t)->n, sizeof(t)->v - (t)->n, __VA_ARGS__))

enum { ANY = -1000 }; /* all numbers of 8 bits, in no order */

static inline int constant(text *t, const char *type, int n, const char *shape, int kind)
{
    SAY(t, "  %%%d = const [", ++t->value);
    for (int i = 0; i < n; i++)
        SAY(t, "%s%d", i ? ", " : "",
            kind == 0     ? (i * 37 + 11) % 41 - 20
            : kind == ANY ? (int)((unsigned)i * 2654435761u >> 24) - 128
                          : kind);
    SAY(t, "] : %s[%s]\n", type, shape);
    return t->value;
}

static inline int zero(text *t, const char *type)
{
    SAY(t, "  %%%d = const [0] : %s[1]\n", ++t->value, type);
    return t->value;
}

static inline int rescale_by(text *t, int x, const char *from, const char *to, const char *shape,
                      int factor, int shift)
{
    int f = constant(t, "i32", 1, "1", factor), s = constant(t, "i8", 1, "1", shift),
        a = zero(t, from), b = zero(t, to);
    SAY(t, "  %%%d = tosa.rescale %%%d, %%%d, %%%d, %%%d, %%%d scale32=true rounding_mode=single "
           "per_channel=false input_unsigned=false output_unsigned=false : %s[%s]\n",
        t->value + 1, x, f, s, a, b, to, shape);
    return ++t->value;
}

static inline int rescale(text *t, int x, const char *from, const char *to, const char *shape, int shift)
{
    return rescale_by(t, x, from, to, shape, 1518500250, shift);
}

/* 3x3, stride 1, and back to 8 bits. */
static inline int conv_of(text *t, int x, int size, int from, int to, int shift, int kind)
{
    char shape[64], weights[64], channels[16];
    snprintf(shape, sizeof shape, "1,%d,%d,%d", size, size, to);
    snprintf(weights, sizeof weights, "%d,3,3,%d", to, from);
    snprintf(channels, sizeof channels, "%d", to);
    int w = constant(t, "i8", to * 9 * from, weights, kind),
        b = constant(t, "i32", to, channels, 0), p = zero(t, "i8"), q = zero(t, "i8");
    SAY(t, "  %%%d = tosa.conv2d %%%d, %%%d, %%%d, %%%d, %%%d pad=[1,1,1,1] stride=[1,1] "
           "dilation=[1,1] local_bound=false acc_type=i32 : i32[%s]\n",
        t->value + 1, x, w, b, p, q, shape);
    return rescale(t, ++t->value, "i32", "i8", shape, shift);
}

static inline int conv_by(text *t, int x, int size, int from, int to, int shift)
{
    return conv_of(t, x, size, from, to, shift, 0);
}

static inline int conv(text *t, int x, int size, int from, int to)
{
    return conv_by(t, x, size, from, to, 40);
}

static inline text *begin(const char *inputs, int n)
{
    text *t = calloc(1, sizeof *t);
    SAY(t, "graph @main(%s) {\n", inputs);
    t->value = n - 1;
    return t;
}

static inline void end(text *t) { SAY(t, "  return %%%d\n}\n", t->value); }

/* ---- what comes of them ---- */

typedef struct made {
    tc_codegen_result r;
    tc_npu_system system;
    tc_graph *g;
    bool equal;
    size_t chained, copied, kernels; /* operations that fill chain buffers; DMAs to memory */
    size_t pools, layers;            /* layers: convolutions, also of every channel */
    size_t sparse;                   /* convolutions that leave out two of four weights */
} made;

static inline void draw(tc_tensor t, uint32_t *state)
{
    for (size_t i = 0; i < tc_type_bytes(t.type); i++) {
        *state = *state * 1664525 + 1013904223;
        ((uint8_t *)t.data)[i] = t.type->dtype == TC_i32 && i % 4 ? 0 : (uint8_t)(*state >> 24);
    }
}

static inline bool runs_equal(tc_ctx *ctx, made *m)
{
    tc_arena *arena = &ctx->arena;
    const tc_npu_program *p = &m->r.program;
    tc_tensor in[4], want[4];
    const void *from[4];
    void *to[4];
    uint32_t state = 1;
    for (size_t i = 0; i < m->g->n_in; i++) {
        in[i] = ti_tensor_new(arena, ti_type_of(m->g, m->g->in[i]));
        draw(in[i], &state);
        from[i] = in[i].data;
    }
    const char *error = NULL;
    tc_npu_exec *exec = ti_npu_exec_new(arena, p, &error);
    for (size_t i = 0; i < m->g->n_out; i++)
        to[i] = tc_new_n(arena, uint8_t, (size_t)p->out[i].bytes + 1);
    bool good = ti_eval(m->g, in, want, arena) == TC_OK && exec && !ti_npu_exec_run(exec, from, to);
    for (size_t i = 0; good && i < m->g->n_out; i++)
        good = !memcmp(to[i], want[i].data, tc_type_bytes(want[i].type));
    return good;
}

static inline void look(made *m)
{
    tc_npu_walk walk;
    tc_npu_op op;
    ti_npu_walk_begin(&walk, m->r.program.machine, m->r.program.words);
    while (ti_npu_walk_next(&walk, &op)) {
        m->kernels += ti_npu_is_kernel(op.kind);
        m->pools += op.kind == TC_NPU_KIND_POOL;
        m->layers += op.kind == TC_NPU_KIND_CONV || op.kind == TC_NPU_KIND_DEPTHWISE;
        m->chained += ti_npu_is_kernel(op.kind) && op.ofm.storage == TC_STORE_CHAIN;
        m->sparse += op.kind == TC_NPU_KIND_CONV && op.weights.sparse;
        m->copied += op.kind == TC_NPU_KIND_DMA && !op.dma.dst_internal;
    }
}

static inline made make(tc_ctx *ctx, const text *t, const char *machine, const char *mode,
                 tc_codegen_options o)
{
    static const char *const systems[] = {"Ethos_U55_High_End_Embedded", "Ethos_U65_High_End",
                                          "Ethos_U85_SYS_DRAM_Mid"};
    made m = {0};
    tc_module *module;
    o.machine = ti_npu_machine_find(machine);
    o.system = &m.system;
    if (ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)t->v, t->n}, (tc_bytes){NULL, 0},
                 &module) != TC_OK ||
        ti_npu_system_find(ctx, o.machine, NULL, systems[o.machine->product], mode, &m.system) !=
            TC_OK ||
        ti_codegen(ctx, &o, m.g = ti_main(module), &m.r) != TC_OK) {
        fprintf(stderr, "%s: %s\n", machine, tc_diagnostics(ctx));
        return m;
    }
    if (m.r.refused)
        return m;
    tc_npu_findings found;
    tc_npu_census census;
    ti_npu_verify(ctx, &m.r.program, &found);
    ti_npu_census(&ctx->arena, &m.r.program, &census);
    CHECK_ROW(machine, found.n_error == 0);
    CHECK_ROW(machine, census.n_value == 0);
    m.equal = runs_equal(ctx, &m);
    look(&m);
    return m;
}

#endif
