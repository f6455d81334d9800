/* SPDX-License-Identifier: Apache-2.0 */
/* quant_apply.c -- float programs become typed: verified, near the float result, with the types
 * they should have. */
#include "check.h"

#include <math.h>

#include "run/eval.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/load.h"
#include "num/quant.h"
#include "quant/quantizer.h"

enum { SAMPLES = 40 };

typedef struct program {
    tc_ctx *ctx;
    tc_module *module;
    tc_graph *g;
} program;

/* Numbers from -1 to 1 (whole ones: 0 and 1), the same for the same sample. */
static tc_status sample(void *from, size_t k, const tc_tensor *in)
{
    const tc_graph *g = from;
    for (size_t i = 0; i < g->n_in; i++)
        for (int64_t e = 0; e < tc_type_count(in[i].type); e++) {
            uint64_t h = (k * 131 + i * 31 + (uint64_t)e + 1) * UINT64_C(0x9e3779b97f4a7c15);
            h = (h ^ (h >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
            if (in[i].type->dtype == TC_f32)
                ti_store_f64(in[i], e, (double)(h >> 11) * 0x1p-52 - 1);
            else
                ti_store_i64(in[i], e, (int64_t)(h >> 63));
        }
    return TC_OK;
}

static program parse(const char *inputs, const char *body)
{
    program p = {.ctx = tc_ctx_new()};
    const char *text = ti_text_format(&p.ctx->arena, "graph @main(%s) {\n%s}\n", inputs, body);
    bool good = ti_parse(p.ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                         (tc_bytes){NULL, 0}, &p.module) == TC_OK &&
                ti_infer_missing(p.ctx, p.module) == TC_OK && ti_verify(p.ctx, p.module) == TC_OK;
    if (!good)
        fprintf(stderr, "%s%s", text, tc_diagnostics(p.ctx));
    CHECK(good);
    p.g = ti_main(p.module);
    return p;
}

static bool quantize(program *p, const tc_config *config)
{
    tc_quant_request request = {.config = config,
                                .samples = {.n = SAMPLES, .read = sample, .from = p->g}};
    bool good =
        ti_quantize(p->ctx, p->module, &request) == TC_OK && ti_verify(p->ctx, p->module) == TC_OK;
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(p->ctx));
    return good;
}

static tc_tensor *evaluate(program *p, const tc_tensor *in)
{
    tc_tensor *out = tc_new_n(&p->ctx->arena, tc_tensor, p->g->n_out);
    CHECK(ti_eval(p->g, in, out, &p->ctx->arena) == TC_OK);
    return out;
}

static tc_config preset(const char *name)
{
    tc_config c;
    CHECK(ti_config_preset(name, &c));
    c.correct_bias = false;
    return c;
}

/* Quantized, the program gives what it gave within `within` of the largest magnitude. */
static program near(const char *inputs, const char *body, const tc_config *config, double within)
{
    program p = parse(inputs, body);
    tc_tensor *in = tc_new_n(&p.ctx->arena, tc_tensor, p.g->n_in + 1);
    for (size_t i = 0; i < p.g->n_in; i++)
        in[i] = ti_tensor_new(&p.ctx->arena, ti_type_of(p.g, p.g->in[i]));
    CHECK(sample(p.g, 3, in) == TC_OK);
    tc_tensor *before = evaluate(&p, in);
    bool good = quantize(&p, config);
    tc_tensor *after = good ? evaluate(&p, in) : before;
    for (size_t k = 0; k < p.g->n_out && good; k++) {
        double most = 0, worst = 0;
        good = before[k].type == after[k].type;
        for (int64_t i = 0; good && i < tc_type_count(before[k].type); i++) {
            double x = ti_load_f64(before[k], i), y = ti_load_f64(after[k], i);
            most = fmax(most, fabs(x));
            worst = fmax(worst, fabs(x - y));
        }
        good = good && worst <= within * most;
        if (!good)
            fprintf(stderr, "output %zu: off by %g of %g\n", k, worst, most);
    }
    if (!good)
        fprintf(stderr, "%s\n", body);
    CHECK(good);
    return p;
}

static const tc_type *type_of(const program *p, const char *name)
{
    for (tc_val v = 1; v < p->g->n_val; v++) /* of two forms of one value the quantized one */
        if (p->g->val[v]->name && ti_text_eq(p->g->val[v]->name, name) && p->g->val[v]->type->quant)
            return p->g->val[v]->type;
    return NULL;
}

static size_t count_ops(const program *p, tc_op op)
{
    size_t n = 0;
    for (size_t k = 0; k < p->g->n_node; k++)
        n += p->g->node[k]->op == op;
    return n;
}

/* Codes of the constant "w". */
static const int8_t *codes_of(const program *p)
{
    const tc_graph *g = ti_main(p->module);
    for (tc_val v = 1; v < g->n_val; v++)
        if (g->val[v]->name && ti_text_eq(g->val[v]->name, "w"))
            return g->val[v]->data;
    return NULL;
}

/* Input channels 0 and 1 are large, 2 and 3 small: with groups of 2 each has steps of its own; with
 * one scale for all four the small ones are nearly lost.  Next to 16 bits they are written as i8.
 * The first group is stepped downwards: 7 is -8 steps of -15, and the other row's 7 too.  What
 * leaves the program has 8 bits unless an entry says otherwise. */
static void four_bits_in_groups(void)
{
    static const char body[] =
        "  %1 \"w\" = const [7,-6,0.07,0.05,-5,7,0.03,-0.07] : f32[2,4]\n  %2 \"y\" = linear %0, "
        "%1\n  return %2\n";
    tc_config c = preset("a16w4:2");
    c.head8 = false;
    program p = near("%0 \"x\": f32[3,4]", body, &c, 0.3);
    const tc_type *w = type_of(&p, "w");
    const int8_t *code = codes_of(&p);
    CHECK(w->dtype == TC_i8 && w->quant->hi == 120 && w->quant->lo == -120);
    CHECK(w->quant->count == 2 && w->quant->scale[0] == (double)(7.0f / 120));
    CHECK(code && code[0] == 120 && code[1] == -105 && code[2] == 1 && code[3] == 1);
    CHECK(code && code[5] == 120 && code[4] % 15 == 0);
    tc_ctx_free(p.ctx);
    c = preset("a16w4:2");
    p = near("%0 \"x\": f32[3,4]", body, &c, 0.3);
    CHECK(type_of(&p, "w")->quant->hi == 127 && codes_of(&p)[1] == -109);
    tc_ctx_free(p.ctx);
    c = preset("a16w4:0");
    c.head8 = false;
    p = near("%0 \"x\": f32[3,4]", body, &c, 0.3);
    w = type_of(&p, "w");
    code = codes_of(&p);
    CHECK(w->dtype == TC_i8 && w->quant->hi == 7 && code && code[0] == 7 && code[2] == 0);
    tc_ctx_free(p.ctx);
}

/* Scales 4 times as coarse, half way between each channel's own and the layer's, with the same type; and at least
 * so coarse that the largest code holds a channel. */
static void coarser_steps(void)
{
    static const char body[] =
        "  %1 \"w\" = const [1,-2,0.5,0.25,1,1,1,-1] : f32[2,4]\n  %2 \"b\" = const [0.5,-3] : "
        "f32[2]\n  %3 \"y\" = linear %0, %1, %2\n  return %3\n",
                      wide[] = "  %1 \"w\" = const [16,-2,0.5,0.25,1,1,1,-1] : f32[2,4]\n"
                               "  %2 \"y\" = linear %0, %1\n  return %2\n";
    tc_config c = preset("int8");
    c.global.weight.step = 4;
    program p = near("%0 \"x\": f32[3,4]", body, &c, 0.06);
    const tc_type *x = type_of(&p, "x"), *w = type_of(&p, "w"), *b = type_of(&p, "b");
    const int8_t *code = codes_of(&p);
    CHECK(w->dtype == TC_i8 && w->quant->hi == 127);
    CHECK(w->quant->scale[0] == (double)(4 * sqrtf(2 * 1.5f) / 127));
    CHECK(w->quant->scale[1] == (double)(4 * sqrtf(1 * 1.5f) / 127));
    CHECK(b->quant->scale[0] == (double)(float)(x->quant->scale[0] * w->quant->scale[0]));
    for (int i = 0; i < 8; i++)
        CHECK(code && code[i] <= 37 && code[i] >= -37);
    CHECK(code && code[1] == -37 && code[4] == 26);
    tc_ctx_free(p.ctx);
    c.global.weight.step = 1.25;
    p = near("%0 \"x\": f32[3,4]", wide, &c, 0.3);
    CHECK(type_of(&p, "w")->quant->scale[0] == (double)(16.0f / 127) && codes_of(&p)[0] == 127);
    tc_ctx_free(p.ctx);
}

/* ---- products ---- */

static void weights_and_bias(void)
{
    tc_config c = preset("int8");
    program p = near("%0 \"x\": f32[3,4]",
                     "  %1 \"w\" = const [1,-2,0.5,0.25, 0,0,0,0] : f32[2,4]\n  %2 \"b\" = const "
                     "[0.5,-3] : f32[2]\n"
                     "  %3 \"y\" = linear %0, %1, %2\n  return %3\n",
                     &c, 0.02);
    const tc_type *x = type_of(&p, "x"), *w = type_of(&p, "w"), *b = type_of(&p, "b"),
                  *y = type_of(&p, "y");
    CHECK(x && x->dtype == TC_i8 && y && y->dtype == TC_i16); /* y leaves as real numbers */
    CHECK(w && w->quant->axis == 0 && w->quant->lo == -127 &&
          w->quant->scale[0] == (double)(2.0f / 127));
    CHECK(w && w->quant->scale[1] == w->quant->scale[0]); /* a row of zeros */
    CHECK(b && b->dtype == TC_i32 && b->quant->axis == 0 && x &&
          b->quant->scale[0] == (double)(float)(x->quant->scale[0] * w->quant->scale[0]));
    CHECK(count_ops(&p, TC_OP_rescale) == 2); /* in and out */
    tc_ctx_free(p.ctx);
    c = preset("a16w8");
    p = near("%0 \"x\": f32[3,4]",
             "  %1 \"w\" = const [1,-2,0.5,0.25,1,1,1,1] : f32[2,4]\n  %2 \"b\" = const [0.5,-3] : "
             "f32[2]\n"
             "  %3 \"y\" = linear %0, %1, %2\n  return %3\n",
             &c, 0.01);
    CHECK(type_of(&p, "b")->dtype == TC_i48 && type_of(&p, "y")->dtype == TC_i16 &&
          type_of(&p, "y")->quant->zero[0] == 0);
    tc_ctx_free(p.ctx);
    c = preset("a8w4");
    p = near("%0 \"x\": f32[3,4]",
             "  %1 \"w\" = const [1,-2,0.5,0.25,1,1,1,1] : f32[2,4]\n  %2 \"y\" = linear %0, %1\n  "
             "return %2\n",
             &c, 0.15);
    CHECK(type_of(&p, "w")->dtype == TC_i4 && type_of(&p, "w")->quant->hi == 7);
    tc_ctx_free(p.ctx);
    four_bits_in_groups();
    coarser_steps();
}

/* An input that is always 0 has the least scale; the bias still fits. */
static void dead_input(void)
{
    tc_config c = preset("int8");
    tc_ctx_free(
        near("%0 \"x\": f32[3,2]",
             "  %1 = const 0 : f32[]\n  %2 \"z\" = mul %0, %1\n  %3 \"w\" = const "
             "[1e-3,2e-3,3e-3,4e-3] : f32[2,2]\n"
             "  %4 \"b\" = const [5,-7] : f32[2]\n  %5 \"y\" = linear %2, %3, %4\n  return %5\n",
             &c, 0.01)
            .ctx);
}

static void products(void)
{
    tc_config c = preset("int8"), per_tensor = c;
    per_tensor.global.weight.per_channel = false;
    program p = near("%0 \"x\": f32[1,2,4,4]",
                     "  %1 \"w\" = linspace start=-1 end=2 steps=24 dtype=f32\n  %2 \"wr\" = "
                     "reshape %1 shape=[2,3,2,2]\n"
                     "  %3 \"y\" = conv_transpose %0, %2 stride=[2,2] pad=[0,0] out_pad=[0,0] "
                     "dilation=[1,1] groups=1\n  return %3\n",
                     &c, 0.02);
    const tc_type *w = type_of(&p, "wr");
    CHECK(w && w->quant->axis == 1 && w->quant->count == 3);
    tc_ctx_free(p.ctx);
    p = near("%0 \"x\": f32[1,2,4,4]",
             "  %1 \"w\" = const [1,2,3,4,5,6,7,8] : f32[2,1,2,2]\n"
             "  %3 \"y\" = conv_transpose %0, %1 stride=[2,2] pad=[0,0] out_pad=[0,0] "
             "dilation=[1,1] groups=2\n  return %3\n",
             &c, 0.02);
    tc_ctx_free(p.ctx);
    p = near(
        "%0 \"x\": f32[3,2]",
        "  %1 \"w\" = const [1,2,3,4,5,60] : f32[2,3]\n  %2 \"y\" = matmul %0, %1\n  return %2\n",
        &c, 0.02);
    CHECK(type_of(&p, "w")->quant->axis == -1 && type_of(&p, "w")->quant->zero[0] == 0);
    tc_ctx_free(p.ctx);
    p = near(
        "%0 \"x\": f32[3,2]",
        "  %1 \"w\" = const [1,2,3,4,5,60] : f32[3,2]\n  %2 \"y\" = linear %0, %1\n  return %2\n",
        &per_tensor, 0.03);
    CHECK(type_of(&p, "w")->quant->axis == -1);
    tc_ctx_free(p.ctx);
    p = near("%0 \"x\": f32[3,2], %1 \"w\": f32[4,2]",
             "  %2 \"b\" = const [1,2,3,4] : f32[4]\n  %3 \"y\" = linear %0, %1, %2\n  return %3\n",
             &c, 0.02);
    CHECK(type_of(&p, "b")->dtype == TC_i32 &&
          type_of(&p, "w")->dtype == TC_i8); /* weights that are computed */
    tc_ctx_free(p.ctx);
    p = near("%0 \"x\": f32[2,2], %1 \"y\": f32[2,2]",
             "  %2 \"w\" = const [1,2,3,4] : f32[2,2]\n  %3 = linear %0, %2\n  %4 = linear %1, "
             "%2\n  %5 = add %3, %4 alpha=1\n  return %5\n",
             &c, 0.03);
    CHECK(count_ops(&p, TC_OP_const) == 1); /* stored once */
    tc_ctx_free(p.ctx);
}

/* ---- other operands ---- */

static void constants(void)
{
    tc_config c = preset("int8");
    program p = near(
        "%0 \"x\": f32[4]",
        "  %1 \"k\" = const 0.3 : f32[]\n  %2 \"y\" = mul %0, %1\n  %3 = exp %2\n  return %3\n", &c,
        0.02);
    const tc_type *x = type_of(&p, "x"), *y = type_of(&p, "y");
    CHECK(x && y && x->quant->zero[0] == y->quant->zero[0] &&
          fabs(y->quant->scale[0] / x->quant->scale[0] - 0.3) < 1e-6);
    tc_ctx_free(p.ctx);
    tc_ctx_free(
        near("%0 \"x\": f32[2,2]",
             "  %1 \"k\" = const [100,-3,0,1] : f32[2,2]\n  %2 = add %0, %1 alpha=1\n  return %2\n",
             &c, 0.01)
            .ctx);
    p = near("%0 \"x\": f32[4]",
             "  %1 = full shape=[4] value=2 dtype=f32\n  %2 \"c\" = cat %0, %1 axis=0\n  %3 = exp "
             "%2\n  return %3, %1\n",
             &c, 0.02);
    CHECK(type_of(&p, "c")->quant->scale[0] * 255 >=
          2.9); /* the constant is in range; the output is still real */
    CHECK(ti_type_of(p.g, p.g->out[1])->dtype == TC_f32);
    tc_ctx_free(p.ctx);
    p = near("%0 \"i\": i64[3]",
             "  %1 \"table\" = const [1,2,3,4] : f32[2,2]\n  %2 \"e\" = embedding %1, %0\n  %3 = "
             "exp %2\n  return %3\n",
             &c, 0.02);
    CHECK(type_of(&p, "table") &&
          type_of(&p, "table")->quant->scale[0] == type_of(&p, "e")->quant->scale[0]);
    tc_ctx_free(p.ctx);
    tc_ctx_free(near("%0 \"x\": f32[2,4]",
                     "  %1 = const [1,2,3,4] : f32[4]\n  %2 = const [0,0,1,0] : f32[4]\n"
                     "  %3 = layer_norm %0, %1, %2 n_axes=1 eps=1e-05\n  return %3\n",
                     &c, 0.03)
                    .ctx);
}

/* Very large and very small constants are numbers too. */
static void far_constants(void)
{
    tc_config c = preset("int8");
    tc_ctx_free(near("%0 \"x\": f32[4,4]",
                     "  %1 = const 1e+30 : f32[]\n  %2 = mul %0, %1\n  %3 = const 1e-30 : f32[]\n"
                     "  %4 = mul %2, %3\n  %5 = add %4, %3 alpha=1\n  return %5\n",
                     &c, 0.02)
                    .ctx);
}

/* A split hands on codes in all of its parts, or real numbers; those that nobody reads too. */
static void parts(void)
{
    tc_config c = preset("int8");
    static const char *const reader[] = {
        "  %4 = exp %1\n  %5 = exp %3\n  return %4, %5\n", /* the middle is unread */
        "  %4 = exp %3\n  return %4\n",                    /* the first two are */
        "  %4 = exp %1\n  return %4, %2\n",                /* one is read as it is */
    };
    tc_ctx *text = tc_ctx_new();
    for (size_t r = 0; r < TC_COUNT(reader); r++) {
        program p =
            near("%0 \"x\": f32[2,6]",
                 ti_text_format(&text->arena,
                                "  %%1, %%2, %%3 = split %%0 axis=1 sizes=[2,2,2]\n%s", reader[r]),
                 &c, 0.02);
        for (size_t k = 0; k < p.g->n_node; k++)
            for (int i = 0; p.g->node[k]->op == TC_OP_split && i < 3; i++)
                CHECK(ti_type_of(p.g, p.g->node[k]->out[i])->dtype ==
                      ti_type_of(p.g, p.g->node[k]->in[0])->dtype);
        tc_ctx_free(p.ctx);
    }
    tc_ctx_free(text);
}

/* A row that is small beside the others, in front of a norm: 16 bits there, 8 for the product. */
static void noisy(void)
{
    tc_config c = preset("int8");
    static const char body[] =
        "  %2 = const [0.01,0.02,-0.01,0.015] : f32[1,4]\n  %3 \"t\" = mul %1, %2\n"
        "  %4 \"c\" = cat %0, %3 axis=0\n  %5 \"s\" = add %4, %4 alpha=1\n"
        "  %6 \"n\" = layer_norm %5, none, none n_axes=1 eps=1e-09\n"
        "  %7 \"w\" = const [1,2,3,4,4,3,2,1] : f32[2,4]\n  %8 \"y\" = linear %5, %7\n"
        "  %9 \"q\" = slice %6 axis=0 start=3 end=4 step=1\n  return %9, %8\n";
    program p = near("%0 \"x\": f32[3,4], %1 \"z\": f32[1,4]", body, &c, 0.1);
    CHECK(type_of(&p, "s")->dtype == TC_i16);
    for (size_t k = 0; k < p.g->n_node; k++)
        if (p.g->node[k]->op == TC_OP_linear)
            CHECK(ti_type_of(p.g, p.g->node[k]->in[0])->dtype == TC_i8);
    tc_ctx_free(p.ctx);
    c.widen_noisy = false;
    p = parse("%0 \"x\": f32[3,4], %1 \"z\": f32[1,4]", body);
    CHECK(quantize(&p, &c) && type_of(&p, "s")->dtype == TC_i8);
    tc_ctx_free(p.ctx);
}

/* Powers in front of a root, whose small numbers are all the same code of 8 bits; and scores whose
 * peaks are what is handed on.  A curve that loses nothing stays at 8 bits. */
static void ruined(void)
{
    tc_config c = preset("int8");
    program p = parse("%0 \"x\": f32[64,8], %1 \"z\": f32[64,8]",
                      "  %2 = const 8 : f32[]\n  %3 = const 0.125 : f32[]\n"
                      "  %4 \"b\" = pow %0, %2\n  %5 \"s\" = add %4, %4 alpha=1\n"
                      "  %6 = pow %5, %3\n  %7 \"g\" = add %0, %1 alpha=1\n"
                      "  %8 \"t\" = tanh %7\n  return %6, %8\n");
    CHECK(quantize(&p, &c));
    CHECK(type_of(&p, "b")->dtype == TC_i16 && type_of(&p, "s")->dtype == TC_i16);
    CHECK(type_of(&p, "g")->dtype == TC_i8 && type_of(&p, "t")->dtype == TC_i8);
    for (size_t k = 0; k < p.g->n_node; k++)
        if (p.g->node[k]->op == TC_OP_tanh)
            CHECK(ti_type_of(p.g, p.g->node[k]->in[0])->dtype == TC_i8);
    tc_ctx_free(p.ctx);
    p = parse("%0 \"x\": f32[1,1,24,24]",
              "  %1 \"s\" = sigmoid %0\n  %2 = max_pool %1 kernel=[3,3] stride=[1,1] pad=[1,1] "
              "dilation=[1,1] ceil=false\n  %3 = eq %2, %1\n  %4 = cast %3 dtype=f32\n"
              "  %5 = mul %1, %4\n  return %5\n");
    CHECK(quantize(&p, &c) && type_of(&p, "s")->dtype == TC_i16);
    tc_ctx_free(p.ctx);
}

/* Terms that cancel leave less than their own steps: the sum's are no finer than a 1024th of
 * them. */
static void cancelled(void)
{
    tc_config c = preset("int8");
    program p = parse("%0 \"x\": f32[4,4]",
                      "  %1 \"a\" = exp %0\n  %2 \"b\" = log %1\n"
                      "  %3 \"d\" = sub %0, %2 alpha=1\n  %4 = sin %3\n  return %4\n");
    CHECK(quantize(&p, &c));
    CHECK(type_of(&p, "d")->quant->scale[0] >= type_of(&p, "b")->quant->scale[0] / 1025);
    tc_ctx_free(p.ctx);
}

/* A softmax whose rows are flat uses its codes; one that is not keeps [0, 1]. */
static void flat(void)
{
    tc_config c = preset("int8");
    program p = parse("%0 \"x\": f32[4,64]",
                      "  %1 \"p\" = softmax %0 axis=1\n  %2 = exp %1\n  return %2\n");
    CHECK(quantize(&p, &c) && type_of(&p, "p")->quant->scale[0] < 1.0 / 1024);
    tc_ctx_free(p.ctx);
    p = parse("%0 \"x\": f32[4,2]", "  %1 \"p\" = softmax %0 axis=1\n  %2 = exp %1\n  return %2\n");
    CHECK(quantize(&p, &c) && type_of(&p, "p")->quant->scale[0] == 1.0 / 256);
    tc_ctx_free(p.ctx);
}

/* Shares of hundreds that leave the program: most are below the steps that 256 codes have for the
 * largest, so that they have 16 bits; attention's, which a product reads, keep 8. */
static void many_shares(void)
{
    tc_config c = preset("int8");
    program p = near("%0 \"x\": f32[12,5000]",
                     "  %1 = sum %0 axes=[0] keepdim=true\n"
                     "  %2 \"p\" = softmax %1 axis=1\n  return %2\n",
                     &c, 0.1);
    CHECK(type_of(&p, "p")->dtype == TC_i16);
    tc_ctx_free(p.ctx);
    p = parse("%0 \"x\": f32[1,3]", "  %1 \"p\" = softmax %0 axis=1\n  return %1\n");
    CHECK(quantize(&p, &c) && type_of(&p, "p")->dtype == TC_i8);
    tc_ctx_free(p.ctx);
    p = parse("%0 \"x\": f32[4,4], %1 \"y\": f32[4,4]",
              "  %2 \"p\" = softmax %0 axis=1\n  %3 = matmul %2, %1\n  return %3\n");
    CHECK(quantize(&p, &c) && type_of(&p, "p")->quant->scale[0] == 1.0 / 256);
    tc_ctx_free(p.ctx);
}

/* A unit of length is nobody's business: numbers of 1e-7 and 1e-15 have as many codes as others. */
static void small_numbers(void)
{
    static const char *const unit[] = {"1", "1e-7", "1e-15"};
    tc_config c = preset("int8");
    tc_ctx *text = tc_ctx_new();
    for (size_t i = 0; i < TC_COUNT(unit); i++)
        tc_ctx_free(near("%0 \"x\": f32[4,8]",
                         ti_text_format(&text->arena,
                                        "  %%1 = const %s : f32[]\n  %%2 \"s\" = mul %%0, %%1\n"
                                        "  %%3 = abs %%2\n  %%4 = mean %%3 axes=[1] keepdim=true\n"
                                        "  %%5 = div %%2, %%4 mode=exact\n  return %%5\n",
                                        unit[i]),
                         &c, 0.02)
                        .ctx);
    tc_ctx_free(text);
}

/* A large factor, or what is taken off numbers as large, is no mask. */
static void large_constants(void)
{
    tc_config c = preset("int8");
    tc_ctx_free(near("%0 \"x\": f32[4,8]",
                     "  %1 = const 0.001 : f32[]\n  %2 = mul %0, %1\n  %3 = tanh %2\n"
                     "  %4 = const 1000 : f32[]\n  %5 = mul %3, %4\n  %6 = tanh %5\n"
                     "  %7 = mul %0, %0\n  %8 = mul %7, %4\n  %9 = sub %8, %4 alpha=1\n"
                     "  %10 = sin %9\n  return %6, %9\n",
                     &c, 0.02)
                    .ctx);
}

/* Infinite masks: real where nothing is quantized, saturated where the scores are; the
 * probabilities stay. */
static void masks(void)
{
    tc_config c = preset("int8");
    tc_ctx_free(near("%0 \"q\": f32[2,2], %1 \"k\": f32[2,2]",
                     "  %2 = matmul %0, %1\n  %3 = const [0,-inf,0,0] : f32[2,2]\n  %4 = add %2, "
                     "%3 alpha=1\n"
                     "  %5 = softmax %4 axis=1\n  return %5\n",
                     &c, 0.01)
                    .ctx);
    static const char *const far[] = {"-inf", "-3.4e38", "-10000", "-100"};
    tc_ctx *text = tc_ctx_new();
    for (size_t i = 0; i < TC_COUNT(far); i++) {
        tc_ctx_free(
            near("%0 \"q\": f32[2,2], %1 \"k\": f32[2,2]",
                 ti_text_format(
                     &text->arena,
                     "  %%2 = matmul %%0, %%1\n  %%3 = const %s : f32[]\n  %%4 = const "
                     "[true,false,false,false] : bool[2,2]\n"
                     "  %%5 = where %%4, %%3, %%2\n  %%6 = softmax %%5 axis=1\n  return %%6\n",
                     far[i]),
                 &c, 0.01)
                .ctx);
        tc_ctx_free(
            near("%0 \"q\": f32[2,2], %1 \"k\": f32[2,2]",
                 ti_text_format(
                     &text->arena,
                     "  %%2 = matmul %%0, %%1\n  %%3 = const [0.5,%s,-0.25,0] : f32[2,2]\n  %%4 = "
                     "add %%2, %%3 alpha=1\n"
                     "  %%5 = reshape %%4 shape=[2,2]\n  %%6 = softmax %%5 axis=1\n  return %%6\n",
                     far[i]),
                 &c, 0.01)
                .ctx);
    }
    tc_ctx_free(text);
}

/* Two of four by their probabilities: what is chosen by has 16 bits, what is made of the chosen
 * numbers eight. */
static void chosen_by(void)
{
    tc_config c = preset("int8");
    program p =
        near("%0 \"x\": f32[3,4]",
             "  %1 = const [0.9,0.1,0,0, 0,0.8,0.1,0, 0.2,0,0.7,0, 0,0.1,0,0.9] : f32[4,4]\n"
             "  %2 \"gate\" = linear %0, %1\n  %3 \"p\" = softmax %2 axis=1\n"
             "  %4 \"v\", %5 \"i\" = topk %3 k=2 axis=1 largest=true\n"
             "  %6 = const [0,0,0,0,0,0,0,0,0,0,0,0] : f32[3,4]\n"
             "  %7 \"w\" = scatter %6, %5, %4 axis=1 combine=set include_self=true\n"
             "  return %7\n",
             &c, 0.02);
    CHECK(type_of(&p, "gate")->dtype == TC_i16 && type_of(&p, "p")->dtype == TC_i16);
    tc_ctx_free(p.ctx);
}

/* ---- settings ---- */

static void left_in_float(void)
{
    tc_config c = preset("int8");
    tc_ctx *own = tc_ctx_new();
    tc_setting none = c.global.act;
    none.dtype = TC_none;
    ti_config_add(
        own, &c,
        (tc_config_entry){.level = TC_LEVEL_node, .name = "y", .act = ti_patch_all(&none)});
    program p = near("%0 \"x\": f32[4]",
                     "  %1 \"z\" = exp %0\n  %2 \"y\" = sin %1\n  %3 \"u\" = exp %2\n  return %3\n",
                     &c, 0.02);
    CHECK(type_of(&p, "y") && p.g->n_node >= 5); /* real, then rescaled for its reader */
    for (size_t k = 0; k < p.g->n_node; k++)
        if (p.g->node[k]->op == TC_OP_sin)
            CHECK(ti_type_of(p.g, p.g->node[k]->in[0])->dtype == TC_f32 &&
                  ti_type_of(p.g, p.g->node[k]->out[0])->dtype == TC_f32);
    tc_ctx_free(p.ctx);
    tc_ctx_free(own);
}

static void fixed_scale(void)
{
    tc_config c = preset("int8");
    tc_ctx *own = tc_ctx_new();
    tc_setting fixed = c.global.act;
    fixed.observer = TC_OBSERVER_fixed;
    fixed.scale = 0.0625;
    fixed.zero = -3;
    ti_config_add(
        own, &c,
        (tc_config_entry){.level = TC_LEVEL_node, .name = "y", .act = {TC_HAS_FIXED, fixed}});
    program p = near(
        "%0 \"x\": f32[4]",
        "  %1 \"y\" = exp %0\n  %2 \"z\" = reshape %1 shape=[2,2]\n  %3 = abs %2\n  return %3\n",
        &c, 0.05);
    CHECK(type_of(&p, "y")->quant->scale[0] == 0.0625 && type_of(&p, "z")->quant->zero[0] == -3);
    tc_ctx_free(p.ctx);
    tc_ctx_free(own);
}

/* Integers at the program's own borders. */
static void borders(void)
{
    tc_config c = preset("int8");
    c.in = c.out = (tc_patch){TC_HAS_DTYPE, {.dtype = TC_i8}};
    program p =
        parse("%0 \"x\": f32[4]",
              "  %1 \"y\" = exp %0\n  %2 = full shape=[3] value=2 dtype=f32\n  return %1, %2\n");
    CHECK(quantize(&p, &c) && ti_type_of(p.g, p.g->in[0])->dtype == TC_i8 &&
          ti_type_of(p.g, p.g->out[0])->dtype == TC_i8);
    const tc_type *two = ti_type_of(p.g, p.g->out[1]);
    CHECK(two->dtype == TC_i8 &&
          ti_real(two, 0, ((const int8_t *)ti_tensor_of(p.g, p.g->out[1]).data)[0]) - 2 < 1e-6);
    CHECK(count_ops(&p, TC_OP_rescale) == 0);
    tc_ctx_free(p.ctx);
    c.in.to.dtype = c.out.to.dtype = TC_u8;
    p = parse("%0 \"x\": f32[4]", "  %1 \"y\" = exp %0\n  return %1\n");
    CHECK(quantize(&p, &c) && ti_type_of(p.g, p.g->in[0])->dtype == TC_u8 &&
          ti_type_of(p.g, p.g->out[0])->dtype == TC_u8);
    CHECK(type_of(&p, "y")->dtype == TC_i8 && count_ops(&p, TC_OP_rescale) == 2);
    tc_ctx_free(p.ctx);
}

/* Integer inputs while biases are corrected: the samples are real, the program's inputs are not. */
static void corrected_borders(void)
{
    tc_config c = preset("int8");
    c.correct_bias = true;
    c.in = (tc_patch){TC_HAS_DTYPE, {.dtype = TC_i8}};
    program p =
        parse("%0 \"x\": f32[3,4]",
              "  %1 = const [1,-2,0.5,0.25,1,1,1,1] : f32[2,4]\n  %2 = const [0.5,-3] : f32[2]\n"
              "  %3 = linear %0, %1, %2\n  return %3\n");
    tc_tensor real = ti_tensor_new(&p.ctx->arena, ti_type_of(p.g, p.g->in[0]));
    CHECK(sample(p.g, 3, &real) == TC_OK);
    tc_tensor before = *evaluate(&p, &real);
    CHECK(quantize(&p, &c));
    tc_tensor codes = ti_tensor_new(&p.ctx->arena, ti_type_of(p.g, p.g->in[0]));
    CHECK(codes.type->dtype == TC_i8);
    ti_quantize_into(real, codes);
    tc_tensor after = *evaluate(&p, &codes);
    for (int64_t i = 0; i < tc_type_count(before.type); i++)
        CHECK(fabs(ti_load_f64(before, i) - ti_load_f64(after, i)) < 0.1);
    tc_ctx_free(p.ctx);
}

/* A cat of 1 and 20 whose small part is read elsewhere keeps its own scale there. */
static void ranges_apart(void)
{
    tc_config c = preset("int8");
    program p = near("%0 \"a\": f32[4], %1 \"b\": f32[4]",
                     "  %2 = const 20 : f32[]\n  %3 \"x\" = sin %0\n  %4 \"y\" = sin %1\n  %5 "
                     "\"big\" = mul %4, %2\n"
                     "  %6 \"c\" = cat %3, %5 axis=0\n  %7 \"s\" = exp %3\n  return %6, %7\n",
                     &c, 0.02);
    CHECK(type_of(&p, "x")->quant->scale[0] < 1.5 / 127 && type_of(&p, "c")->dtype == TC_i16);
    tc_ctx_free(p.ctx);
    p = near("%0 \"a\": f32[4], %1 \"b\": f32[4]", /* scores beside boxes, two levels of them */
             "  %2 = const 500 : f32[]\n  %3 \"x\" = sigmoid %0\n  %4 = mul %0, %1\n"
             "  %5 \"big\" = mul %4, %2\n  %6 \"c\" = stack %3, %5 axis=0\n"
             "  %7 \"y\" = sigmoid %1\n  %8 = mul %1, %1\n  %9 \"large\" = mul %8, %2\n"
             "  %10 \"d\" = stack %7, %9 axis=0\n  %11 \"o\" = cat %6, %10 axis=1\n"
             "  return %11\n",
             &c, 0.02);
    CHECK(type_of(&p, "c")->dtype == TC_i32 && type_of(&p, "o")->dtype == TC_i32 &&
          type_of(&p, "c")->quant->scale[0] == type_of(&p, "o")->quant->scale[0]);
    tc_ctx_free(near("%0 \"a\": f32[4], %1 \"b\": f32[4]", /* a multiple of a cat of 16 bits */
                     "  %2 = const 50 : f32[]\n  %3 = tanh %0\n  %4 = mul %0, %1\n"
                     "  %5 = mul %4, %2\n  %6 \"c\" = cat %3, %5 axis=0\n"
                     "  %7 = const 0.5 : f32[]\n  %8 \"h\" = mul %6, %7\n"
                     "  %9 = sub %6, %8 alpha=1\n  return %9\n",
                     &c, 0.02)
                    .ctx);
    CHECK(type_of(&p, "x")->quant->scale[0] <= 1.0 / 255);
    tc_ctx_free(p.ctx);
    p = near("%0 \"a\": f32[1,8]", /* boxes written over scores, in place */
             "  %1 \"s\" = sigmoid %0\n  %2 = slice %1 axis=1 start=0 end=4 step=1\n"
             "  %3 = const 500 : f32[]\n  %4 = mul %2, %2\n  %5 \"b\" = mul %4, %3\n"
             "  %6 \"o\" = slice_scatter %1, %5 axis=1 start=0 end=4 step=1\n  return %6\n",
             &c, 0.02);
    CHECK(type_of(&p, "s")->quant->scale[0] <= 1.0 / 255 && type_of(&p, "o")->dtype == TC_i32);
    CHECK(type_of(&p, "o")->quant->scale[0] < 1e-4);
    tc_ctx_free(p.ctx);
}

int main(void)
{
    weights_and_bias();
    dead_input();
    products();
    constants();
    far_constants();
    parts();
    noisy();
    ruined();
    cancelled();
    flat();
    many_shares();
    large_constants();
    small_numbers();
    masks();
    chosen_by();
    left_in_float();
    fixed_scale();
    borders();
    corrected_borders();
    ranges_apart();
    return check_done();
}
