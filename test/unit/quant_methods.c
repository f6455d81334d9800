/* SPDX-License-Identifier: Apache-2.0 */
/* quant_methods.c -- each method is seen to act where it gains, and to be left out where it does
 * not; the result is the same on however many threads. */
#include "tosac/tosac.h"

#include <string.h>

#include "run/eval.h"
#include "ir/rewrite.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "quant/layer_inputs.h"
#include "quant/gram_matrix.h"
#include "quant/weight_grid.h"
#include "quant/replace_weights.h"
#include "quant/row_scales.h"
#include "quant/sample_runner.h"
#include "check.h"

/* ---- a row of codes ---- */

/* Two inputs that always agree: the error of one weight is made up for by the other.
 * 0.4 + 0.4 = 0.8 is 1 + 0, not 0 + 0. */
static void test_descent(void)
{
    const float want[] = {0.4f, 0.4f}, h[] = {1.01f, 1, 1, 1.01f};
    float code[] = {0, 0}, slope[2], room[6];
    tc_gram_rows r = {.n = 1,
                      .k = 2,
                      .want = want,
                      .code = code,
                      .lo = -7,
                      .hi = 7,
                      .h = h,
                      .c = h,
                      .reach = 1,
                      .slope = slope,
                      .room = room};
    CHECK(ti_gram_descend(&r, 4) > 0.5 && code[0] + code[1] == 1);
    /* Inputs that have nothing to do with each other: the nearest codes are the best. */
    const float apart[] = {1, 0, 0, 1};
    code[0] = code[1] = 0;
    r.h = r.c = apart;
    CHECK(ti_gram_descend(&r, 4) == 0 && code[0] == 0 && code[1] == 0);
    /* An input that comes out a quarter too small is made up for, within reach. */
    const float larger[] = {1.25f, 0, 0, 1.25f}, three[] = {3.4f, 0};
    code[0] = 3;
    r.want = three;
    r.c = larger;
    ti_gram_descend(&r, 4);
    CHECK(code[0] == 4 && code[1] == 0);
    /* Steps of 4 and an end at 7 steps. */
    const int64_t step[] = {4, 1};
    const float far[] = {6, 7.4f};
    code[0] = 4, code[1] = 7;
    r.want = far;
    r.step = step;
    ti_gram_descend(&r, 4);
    CHECK(code[0] == 8 && code[1] == 7);
    /* Steps of -4 go as far the other way: 31 is -8 of them, and -31 no more than 7. */
    const int64_t down[] = {-4, -4};
    const float ends[] = {31, -31};
    code[0] = 28, code[1] = -28;
    r.want = ends;
    r.step = down;
    r.c = apart;
    r.lo = -8;
    ti_gram_descend(&r, 4);
    CHECK(code[0] == 32 && code[1] == -28);
}

/* Of two rows the first lies on its grid, the second on one a quarter coarser, where its own cuts off
 * an end. */
static void test_row_scales(void)
{
    enum { N = 2, K = 3 };
    const float want[N * K] = {3, -7, 1, 2.48f, -8.68f, 4.96f}, unit[K * K] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    float code[N * K], slope[N * K], room[(2 * N + 1) * K];
    double scale[N] = {0.5, 0.25};
    tc_ctx *ctx = tc_ctx_new();
    tc_gram_rows r = {.n = N,
                      .k = K,
                      .want = want,
                      .code = code,
                      .lo = -7,
                      .hi = 7,
                      .h = unit,
                      .c = unit,
                      .reach = 1,
                      .slope = slope,
                      .room = room};
    ti_row_scales_descend(&r, 4, 0, &ctx->arena, scale);
    CHECK(scale[0] == 0.5 && code[0] == 3 && code[1] == -7 && code[2] == 1);
    CHECK(scale[1] == (double)(float)(0.25 * 1.24) && code[3] == 2 && code[4] == -7 && code[5] == 4);
    /* Both lie on a finer grid, which has too small a scale in the second row. */
    const float small[N * K] = {0.76f, -0.76f, 1.52f, 0.76f, -0.76f, 1.52f};
    scale[0] = 0.5, scale[1] = 0.25;
    r.want = small;
    ti_row_scales_descend(&r, 4, 0.2, &ctx->arena, scale);
    CHECK(scale[0] == (double)(float)(0.5 * 0.76) && scale[1] > 0.2 && code[0] == 1 && code[2] == 2);
    tc_ctx_free(ctx);
}

/* A group of 120 and 9 in steps of one channel: alike, the large number decides about the step;
 * where the small one counts for more, it does. */
static void test_importance(void)
{
    static const float numbers[] = {120, 9};
    double scale = 1;
    int64_t zero = 0;
    tc_quant q = {0, 1, -120, 120, &scale, &zero};
    tc_type type = {.dtype = TC_f32, .rank = 2, .dim = {1, 2}};
    tc_tensor w = {&type, (void *)(uintptr_t)numbers};
    tc_setting s = {.dtype = TC_i4, .qmin = -8, .qmax = 7, .group = 2};
    tc_ctx *ctx = tc_ctx_new();
    tc_lattice l = ti_lattice_of(ctx, &ctx->arena, w, &q, &s, (tc_importance){NULL, 1});
    CHECK(l.n_group == 1 && l.step[0] == -15 && ti_lattice_top(&s) == 120);
    const float small[] = {1e-6f, 1};
    l = ti_lattice_of(ctx, &ctx->arena, w, &q, &s, (tc_importance){small, 1});
    CHECK(9 % l.step[0] == 0 && l.step[0] == -9); /* -8 of -9 are nearer to 120 than 7 of 9 */
    tc_ctx_free(ctx);
}

/* ---- windows ---- */

/* Windows of a convolution, multiplied by rows, are what the convolution adds; both orders in
 * memory. */
static void test_windows(void)
{
    static const char text[] = "graph @main(%0: f32[1,2,3,3]) {\n"
                               "  %1 = const [1,2,3,4,5,6,7,8] : f32[1,2,2,2]\n"
                               "  %2 = conv %0, %1 stride=[1,1] pad=[1,0,0,1] dilation=[1,1] "
                               "groups=1\n  return %2\n}\n";
    static const int8_t plain[TC_MAX_RANK] = {0, 1, 2, 3}, last[TC_MAX_RANK] = {0, 2, 3, 1};
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    CHECK(ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &m) == TC_OK &&
          ti_infer_missing(ctx, m) == TC_OK && ti_verify(ctx, m) == TC_OK);
    const tc_graph *g = ti_main(m);
    const tc_node *conv = g->node[g->n_node - 1];
    tc_columns c;
    CHECK(ti_columns_of(g, conv, 1, &c) && c.k == 8 && c.position == 9 && c.each == 9);
    float x[18], moved[18], window[72], y[9] = {0}, want[9];
    for (int i = 0; i < 18; i++) {
        x[i] = (float)(i * 7 % 11);
        moved[i % 9 * 2 + i / 9] = x[i];
    }
    tc_tensor in = {ti_type_of(g, g->in[0]), x}, out;
    CHECK(ti_eval_node((tc_graph *)(uintptr_t)g, conv,
                       (tc_tensor[]){in, ti_tensor_of(g, conv->in[1])}, &out,
                       &ctx->arena) == TC_OK);
    memcpy(want, out.data, sizeof want);
    ti_columns_multiply(&c, &ctx->scratch, in, plain,
                        (tc_some_rows){0, 1, ti_tensor_of(g, conv->in[1]).data},
                        (tc_tensor){out.type, y}, plain);
    CHECK(memcmp(y, want, sizeof y) == 0);
    int64_t dim[] = {1, 3, 3, 2};
    tc_tensor turned = {ti_type_make(ctx, TC_f32, 4, dim), moved};
    memset(y, 0, sizeof y);
    ti_columns_multiply(&c, &ctx->scratch, turned, last,
                        (tc_some_rows){0, 1, ti_tensor_of(g, conv->in[1]).data},
                        (tc_tensor){out.type, y}, plain);
    CHECK(memcmp(y, want, sizeof y) == 0);
    ti_columns_take(&c, in, plain, 0, window);
    CHECK(window[0] == 0 && window[2] == x[0] && window[3] == x[1] && window[6] == x[9]);
    tc_ctx_free(ctx);
}

/* Rows a few at a time add what all of them do at once, to the bit; one of zeros adds nothing. */
static void test_some_rows(void)
{
    enum { ROWS = 37, K = 300, POSITIONS = 5 };
    static const int8_t plain[TC_MAX_RANK] = {0, 1};
    static float x[POSITIONS * K], by[ROWS * K], whole[POSITIONS * ROWS], parts[POSITIONS * ROWS];
    tc_ctx *ctx = tc_ctx_new();
    tc_columns c = {.rows = ROWS, .groups = 1, .k = K, .each = POSITIONS, .position = POSITIONS};
    int64_t in[] = {POSITIONS, K}, out[] = {POSITIONS, ROWS};
    tc_tensor from = {ti_type_make(ctx, TC_f32, 2, in), x},
              to = {ti_type_make(ctx, TC_f32, 2, out), whole};
    for (int i = 0; i < POSITIONS * K; i++)
        x[i] = (float)(i * 37 % 101) / 7 - 6;
    for (int i = 0; i < ROWS * K; i++)
        by[i] = i / K == 11 ? 0 : (float)(i * 53 % 97) / 9 - 5;
    for (int i = 0; i < POSITIONS * ROWS; i++)
        whole[i] = parts[i] = (float)i / 3;
    ti_columns_multiply(&c, &ctx->scratch, from, plain, (tc_some_rows){0, ROWS, by}, to, plain);
    CHECK(whole[11] == 11 / 3.0F && whole[12] != 12 / 3.0F);
    to.data = parts;
    for (int64_t first = 0, n; first < ROWS; first += n) {
        n = ti_min_i64(first + 1, ROWS - first);
        ti_columns_multiply(&c, &ctx->scratch, from, plain,
                            (tc_some_rows){first, n, by + first * K}, to, plain);
    }
    CHECK(memcmp(whole, parts, sizeof whole) == 0);
    tc_ctx_free(ctx);
}

/* ---- new constants ---- */

static size_t unread_constants(tc_ctx *ctx, const tc_graph *g)
{
    const uint32_t *readers = ti_graph_readers(ctx, g);
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        n += g->node[i]->op == TC_OP_const && !readers[g->node[i]->out[0]];
    return n;
}

/* New weights and biases stand in place of the old ones, which go, unless others read them; the last
 * one's have twice the scale. */
static void test_renewal(void)
{
    static const char text[] =
        "graph @main(%0: i8[1,2] q(0.5:0)) {\n"
        "  %1 = const [1,2,3,4] : i8[2,2] q(0.25:0)\n"
        "  %2 = const [10,20] : i32[2] q(0.125:0)\n"
        "  %3 = linear %0, %1, %2 : i8[1,2] q(1:0)\n"
        "  %4 = linear %3, %1, %2 : i8[1,2] q(1:0)\n"
        "  %5 = const [5,6,7,8] : i8[2,2] q(0.25:0)\n"
        "  %6 = const [30,40] : i32[2] q(0.25:0)\n"
        "  %7 = linear %4, %5, %6 : i8[1,2] q(1:0)\n  return %7\n}\n";
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    CHECK(ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                   (tc_bytes){NULL, 0}, &m) == TC_OK);
    tc_graph *g = ti_main(m);
    int8_t codes[] = {-1, -2, -3, -4};
    int64_t move[] = {1, -1};
    tc_replaced of[2] = {0};
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op == TC_OP_linear && n++ != 1) /* the first and the last of three */
            of[n > 1] = (tc_replaced){.typed = g->node[i],
                                     .n = 2,
                                     .move = move,
                                     .codes = {ti_type_of(g, g->node[i]->in[1]), codes}};
    tc_quant coarse = *of[1].codes.type->quant;
    tc_type type = *of[1].codes.type;
    coarse.scale = (const double[]){0.5};
    type.quant = &coarse;
    of[1].codes.type = &type;
    tc_replacement all = {.of = of, .n = 2};
    CHECK(ti_replace_constants(g, &all) == TC_OK && ti_verify(ctx, m) == TC_OK);
    CHECK(unread_constants(ctx, g) == 0);
    const tc_node *node[3];
    n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op == TC_OP_linear)
            node[n++] = g->node[i];
    static const int8_t first[] = {-1, 1, -1};
    static const int32_t bias[] = {11, 10, 16};
    static const double scale[] = {0.25, 0.25, 0.5};
    for (size_t i = 0; i < 3; i++) {
        CHECK(*(const int8_t *)ti_tensor_of(g, node[i]->in[1]).data == first[i]);
        CHECK(*(const int32_t *)ti_tensor_of(g, node[i]->in[2]).data == bias[i]);
        CHECK(ti_type_of(g, node[i]->in[1])->quant->scale[0] == scale[i]);
    }
    tc_ctx_free(ctx);
}

/* ---- the table of methods ---- */

static double work; /* that rounding may take; 0: the usual */

/* ---- samples ---- */

/* Sample k is k times a number: its hash follows from its content. */
static tc_status read_counted(void *from, size_t k, const tc_tensor *in)
{
    ++*(size_t *)from;
    for (int64_t i = 0; i < tc_type_count(in[0].type); i++)
        ((float *)in[0].data)[i] = (float)(k + 1) * 0.37f;
    return TC_OK;
}

static float first_of(const tc_samples *s, size_t k)
{
    return ((const float *)ti_picked_inputs(s, k)[0].data)[0];
}

/* What was chosen is not read again: while it is used, or where it is little. */
static void test_shelf(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *text = "graph @main(%0: f32[4]) {\n  %1 = relu %0 : f32[4]\n  return %1\n}\n";
    tc_module *m;
    CHECK(ti_parse(ctx, "a.ir", (tc_bytes){(const uint8_t *)text, strlen(text)}, (tc_bytes){NULL, 0}, &m) == TC_OK);
    size_t n_read = 0;
    tc_domains none = {0}, odd = {0};
    tc_samples all = {.n = 9, .read = read_counted, .from = &n_read, .shelf = ti_shelf_new(ctx)},
               apart = all, five, two, other, plain;
    apart.shelf = NULL;
    const tc_graph *g = ti_main(m);
    CHECK(ti_choose_samples(ctx, g, &all, &none, 5, &five) == TC_OK && n_read == 9 && five.n == 5);
    CHECK(ti_choose_samples(ctx, g, &all, &none, 2, &two) == TC_OK && n_read == 9 && two.n == 2);
    CHECK(ti_choose_samples(ctx, g, &apart, &none, 5, &plain) == TC_OK && n_read == 18);
    for (size_t k = 0; k < 5; k++)
        CHECK(first_of(&five, k) == first_of(&plain, k));
    CHECK(first_of(&two, 1) == first_of(&plain, 1));
    ti_picked_skip(ctx, &five, 2);
    CHECK(five.n == 3 && first_of(&five, 0) == first_of(&plain, 2) &&
          first_of(&two, 0) == first_of(&plain, 0));
    ti_chosen_end(&five);
    ti_chosen_end(&two);
    CHECK(ti_choose_samples(ctx, g, &all, &none, 5, &five) == TC_OK && n_read == 18); /* few bytes */
    CHECK(ti_choose_samples(ctx, g, &all, &none, 6, &other) == TC_OK && n_read == 27 && other.n == 6);
    odd.odd = &(tc_outlier){.hash = ti_sample_hash(ti_picked_inputs(&plain, 0), 1)};
    odd.n_odd = 1;
    CHECK(ti_choose_samples(ctx, g, &all, &odd, 2, &two) == TC_OK && n_read == 36);
    CHECK(first_of(&two, 0) == first_of(&plain, 1)); /* without the odd one */
    ti_shelf_clear(all.shelf);
    tc_ctx_free(ctx);
}

static tc_bytes quantized_within(tc_ctx *ctx, const char *preset, int threads, double seconds,
                                 tc_quantize_report *report)
{
    tc_model *model = NULL, *typed = NULL;
    tc_dataset *data = NULL;
    tc_config *config = NULL;
    tc_bytes text = {0};
    const char *path = TOSAC_FIXTURES "/digits/calib.npz";
    tc_quantize_options o = tc_quantize_options_default();
    tc_ctx_set_threads(ctx, threads);
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &model) == TC_OK);
    CHECK(tc_dataset_open(ctx, &path, 1, &data) == TC_OK);
    CHECK(tc_config_open(ctx, preset, &config) == TC_OK);
    config->rounding_work = work;
    o.config = config;
    o.samples = data;
    o.budget_seconds = seconds;
    CHECK(tc_quantize_model(ctx, model, &o, &typed, report) == TC_OK);
    CHECK(tc_model_text(ctx, typed, 1, &text) == TC_OK);
    return text;
}

static tc_bytes quantized(tc_ctx *ctx, const char *preset, int threads, tc_quantize_report *report)
{
    return quantized_within(ctx, preset, threads, 0, report);
}

static const tc_method_gain *method(const tc_quantize_report *r, const char *name)
{
    for (size_t i = 0; i < r->n_method; i++)
        if (!strcmp(r->method[i].name, name))
            return &r->method[i];
    return NULL;
}

static void test_methods(void)
{
    tc_ctx *one = tc_ctx_new(), *three = tc_ctx_new();
    tc_quantize_report r = {.size = sizeof r}, s = r;
    tc_bytes a = quantized(one, "a8w4", 1, &r), b = quantized(three, "a8w4", 3, &s);
    const tc_method_gain *bias = method(&r, "bias"), *rounding = method(&r, "rounding");
    CHECK(a.size == b.size && !memcmp(a.data, b.data, a.size));
    CHECK(rounding && rounding->taken && bias && rounding->sqnr_db > bias->sqnr_db + 1);
    /* What is said is the lesser of calibration's samples and of those held out. */
    CHECK(r.sqnr_db <= rounding->sqnr_db && r.sqnr_db > rounding->sqnr_db - 1);
    CHECK(r.plain_sqnr_db < r.sqnr_db && r.agreement > 0.9);
    quantized(one, "anchor", 1, &r); /* the anchor's choices are left alone */
    CHECK(r.n_method == 0);
    quantized(one, "a16w8", 1, &r);
    for (size_t i = 0; i < r.n_method; i++) /* what is taken is never worse */
        CHECK(!r.method[i].taken || r.method[i].sqnr_db >= r.plain_sqnr_db - 0.05);
    CHECK(r.measured_on && r.kept_back > 0 && strstr(r.measured_on, "held-out"));
    CHECK(!method(&r, "equalizing"));
    tc_ctx_free(one);
    tc_ctx_free(three);
}

/* Asked to take its time, the quantizer tries channels of like ranges, too, and keeps the better
 * one. */
static void test_best(void)
{
    tc_ctx *one = tc_ctx_new(), *three = tc_ctx_new();
    tc_quantize_report r = {.size = sizeof r}, s = r, plain = r;
    tc_bytes a = quantized(one, "best", 1, &r), b = quantized(three, "best", 3, &s);
    CHECK(a.size == b.size && !memcmp(a.data, b.data, a.size));
    const tc_method_gain *even = method(&r, "equalizing");
    quantized(one, "int8", 1, &plain);
    CHECK(even && r.sqnr_db >= plain.sqnr_db);
    CHECK(even && (!even->taken || even->sqnr_db > r.plain_sqnr_db));
    quantized_within(one, "best", 1, 1e-6, &s); /* no time: what is always done, and no more */
    CHECK(s.n_method == 1 && method(&s, "bias"));
    tc_ctx_free(one);
    tc_ctx_free(three);
}

/* Work that is not enough for all products: the cheapest are rounded, and the others are told. */
static void test_limit(void)
{
    tc_ctx *one = tc_ctx_new(), *three = tc_ctx_new();
    tc_quantize_report all = {.size = sizeof all}, some = all, none = all, again = all;
    quantized(one, "a8w4", 1, &all);
    work = 4e7;
    tc_bytes a = quantized(one, "a8w4", 1, &some), b = quantized(three, "a8w4", 3, &again);
    CHECK(a.size == b.size && !memcmp(a.data, b.data, a.size));
    work = 1;
    quantized(one, "a8w4", 1, &none);
    work = 0;
    const char *words = "layers keep the nearest codes";
    CHECK(!strstr(method(&all, "rounding")->what, words));
    CHECK(strstr(method(&some, "rounding")->what, words));
    CHECK(strstr(method(&none, "rounding")->what, words));
    CHECK(method(&none, "rounding")->sqnr_db == method(&none, "bias")->sqnr_db);
    CHECK(method(&some, "rounding")->sqnr_db > method(&none, "rounding")->sqnr_db + 1);
    CHECK(strcmp(method(&some, "rounding")->what, method(&none, "rounding")->what)); /* how many */
    tc_ctx_free(one);
    tc_ctx_free(three);
}

/* Half of 64 samples is kept back; of more, 32 are; with few codes, none. */
static void test_learned(void)
{
    static const size_t table[][3] = {{1, 32, 32},  {48, 32, 48}, {64, 32, 64},
                                      {80, 48, 64}, {96, 64, 64}, {5000, 64, 64}};
    for (size_t i = 0; i < TC_COUNT(table); i++)
        for (int few = 0; few < 2; few++)
            CHECK(ti_learned_of(table[i][0], few) == table[i][1 + few]);
}

int main(void)
{
    test_learned();
    test_descent();
    test_row_scales();
    test_shelf();
    test_importance();
    test_windows();
    test_some_rows();
    test_renewal();
    test_methods();
    test_limit();
    test_best();
    return check_done();
}
