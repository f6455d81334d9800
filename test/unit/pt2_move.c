/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_move.c -- single nodes of exported programs that move, pick, reduce, make and quantize:
 * arguments as PyTorch writes them, negative and past the end, and what is said of those that make
 * no sense. */
#include "check.h"

#include <math.h>

#include "run/eval.h"
#include "num/load.h"
#include "read/read.h"
#include "zipped.h"

/* x: f32[2,3] = 1..6, i: i64[2] = 2, -1; one node makes `y`. */
typedef struct node {
    const char *target, *args; /* after self; single quotes for double ones */
    const char *dtype, *sizes; /* of y, as the file states them */
    const char *front;         /* axes of x in front of those, or NULL */
    double off;                /* how far the numbers may be from those expected */
} node;

static tc_status read_node(tc_ctx *ctx, node c, tc_module **module)
{
    char *program =
        ti_text_format(&ctx->arena,
                       "{'graph_module':{'graph':{'inputs':[{'as_tensor':{'name':'x'}},{'as_tensor'"
                       ":{'name':'i'}}],'outputs':[{'as_tensor':{'name':'y'}}],"
                       "'nodes':[{'target':'torch.ops.%s','inputs':[%s],'outputs':[{'as_tensor':{'"
                       "name':'y'}}],'metadata':{},'name':'y'}],"
                       "'tensor_values':{'x':{'dtype':7,'sizes':[%s{'as_int':2},{'as_int':3}],'"
                       "layout':7},'i':{'dtype':5,'sizes':[{'as_int':2}],'layout':7},"
                       "'y':{'dtype':%s,'sizes':[%s],'layout':7}}},'signature':{'input_specs':[{'"
                       "user_input':{'arg':{'as_tensor':{'name':'x'}}}},"
                       "{'user_input':{'arg':{'as_tensor':{'name':'i'}}}}],'output_specs':[{'user_"
                       "output':{'arg':{'as_tensor':{'name':'y'}}}}]}},"
                       "'schema_version':{'major':8,'minor':20},'torch_version':'2.13.0'}",
                       c.target, c.args, c.front ? c.front : "", c.dtype, c.sizes);
    return ti_read_pt2(ctx, "m.pt2", zipped_program(&ctx->arena, program), module);
}

/* The node on x and i, once it is read. */
static tc_status run_node(tc_ctx *ctx, node c, tc_tensor *out)
{
    float x[6] = {1, 2, 3, 4, 5, 6};
    int64_t index[2] = {2, -1};
    tc_module *module = NULL;
    TC_TRY(read_node(ctx, c, &module));
    tc_graph *g = ti_main(module);
    tc_tensor in[2] = {{ti_type_of(g, g->in[0]), x}, {ti_type_of(g, g->in[1]), index}};
    return ti_eval(g, in, out, &ctx->arena);
}

static bool computes(node c, const double *expected, int64_t count)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_tensor out = {NULL, NULL};
    bool good = run_node(ctx, c, &out) == TC_OK && tc_type_count(out.type) == count;
    for (int64_t k = 0; good && k < count; k++)
        good = ti_load_f64(out, k) == expected[k] ||
               fabs(ti_load_f64(out, k) - expected[k]) < c.off;
    if (!good)
        fprintf(stderr, "%s: %s\n", c.target, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

/* It is read, and has no result on these numbers. */
static bool fails(node c, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_tensor out;
    bool good = run_node(ctx, c, &out) == TC_BAD_MODEL && strstr(tc_diagnostics(ctx), words);
    tc_ctx_free(ctx);
    return good;
}

static bool refused(node c, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = NULL;
    bool good = read_node(ctx, c, &module) != TC_OK && strstr(tc_diagnostics(ctx), words);
    if (!good)
        fprintf(stderr, "%s: expected \"%s\", got %s\n", c.target, words, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

#define ARG(name, tag, value) "{'name':'" name "','arg':{'" tag "':" value "}}"
#define X ARG("self", "as_tensor", "{'name':'x'}")
#define N(n) "{'as_int':" #n "}"
#define F32 "7"
#define I64 "5"
#define GIVES(target, args, dtype, sizes, ...)                                                     \
    CHECK(computes((node){target, args, dtype, sizes, NULL, 0}, (double[]){__VA_ARGS__},                    \
                   (int64_t)(sizeof(double[]){__VA_ARGS__} / sizeof(double))))
#define REFUSED(target, args, dtype, sizes, words)                                                 \
    CHECK(refused((node){target, args, dtype, sizes, NULL, 0}, words))

static void test_move(void)
{
    GIVES("aten.view.default", X "," ARG("size", "as_ints", "[-1]"), F32, N(6), 1, 2, 3, 4, 5, 6);
    GIVES("aten.slice.Tensor",
          X "," ARG("dim", "as_int", "-1") "," ARG("start", "as_int", "-2") "," ARG(
              "end", "as_int", "9223372036854775807"),
          F32, N(2) "," N(2), 2, 3, 5, 6);
    GIVES("aten.select.int", X "," ARG("dim", "as_int", "1") "," ARG("index", "as_int", "-1"), F32,
          N(2), 3, 6);
    GIVES("aten.transpose.int", X "," ARG("dim0", "as_int", "0") "," ARG("dim1", "as_int", "-1"),
          F32, N(3) "," N(2), 1, 4, 2, 5, 3, 6);
    GIVES("aten.roll.default", X "," ARG("shifts", "as_ints", "[1]"), F32, N(2) "," N(3), 6, 1, 2,
          3, 4, 5);
    GIVES("aten.tile.default", X "," ARG("dims", "as_ints", "[2]"), F32, N(2) "," N(6), 1, 2, 3, 1,
          2, 3, 4, 5, 6, 4, 5, 6);
    GIVES("aten.pad.default",
          X "," ARG("pad", "as_ints", "[1,-1,0,1]") "," ARG("value", "as_float", "9.0"), F32,
          N(3) "," N(3), 9, 1, 2, 9, 4, 5, 9, 9, 9);
    GIVES("aten.diag_embed.default", X "," ARG("offset", "as_int", "-1"), F32,
          N(2) "," N(4) "," N(4), 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 0,
          0, 0, 0, 5, 0, 0, 0, 0, 6, 0);
    REFUSED("aten.select.int", X "," ARG("dim", "as_int", "2") "," ARG("index", "as_int", "0"), F32,
            N(2), "axis 2 of a tensor of rank 2");
    REFUSED("aten.view.default", X, F32, N(5), "[2,3] has 6 elements, the shape [5] does not");
    REFUSED("aten.pad.default", X "," ARG("pad", "as_ints", "[1]"), F32, N(2) "," N(4),
            "does not fit the tensor's rank");
}

/* Numbers as PyTorch 2.13 gives them. */
static void test_resample(void)
{
#define PICTURE ARG("self", "as_tensor", "{'name':'x'}") "," ARG("align_corners", "as_bool", "false")
#define RESAMPLED(name, size, sizes, ...)                                                          \
    CHECK(computes((node){"aten._upsample_" name "2d_aa.default",                                  \
                          PICTURE "," ARG("output_size", "as_ints", size), F32, sizes,             \
                          "{'as_int':1},{'as_int':1},", 1e-6},                                     \
                   (double[]){__VA_ARGS__},                                                        \
                   (int64_t)(sizeof(double[]){__VA_ARGS__} / sizeof(double))))
#define PLACES(h, w) N(1) "," N(1) "," N(h) "," N(w)
    RESAMPLED("bilinear", "[2,1]", PLACES(2, 1), 2, 5);
    RESAMPLED("bilinear", "[2,2]", PLACES(2, 2), 1.375, 2.625, 4.375, 5.625);
    RESAMPLED("bilinear", "[1,3]", PLACES(1, 3), 2.5, 3.5, 4.5);
    RESAMPLED("bicubic", "[2,2]", PLACES(2, 2), 1.3097913322632424, 2.6902086677367576,
              4.309791332263242, 5.690208667736758);
    RESAMPLED("lanczos", "[2,2]", PLACES(2, 2), 1.2739505721330373, 2.7260494278669625,
              4.273950572133038, 5.726049427866962);
}

static void test_pick(void)
{
    GIVES("aten.histc.default",
          X "," ARG("bins", "as_int", "3") "," ARG("min", "as_float", "1.0") "," ARG(
              "max", "as_float", "4.0"),
          F32, N(3), 1, 1, 2);
    REFUSED("aten.histc.default", X "," ARG("bins", "as_int", "3"), F32, N(3), "give min and max");
    REFUSED("transformers.grouped_mm_fallback.default",
            ARG("input", "as_tensor", "{'name':'x'}") "," ARG(
                "weight", "as_tensor", "{'name':'x'}") "," ARG("offs", "as_tensor", "{'name':'i'}"),
            F32, N(2) "," N(3), "only rows in groups");
    GIVES("aten.index.Tensor",
          X "," ARG("indices", "as_optional_tensors",
                    "[{'as_none':true},{'as_tensor':{'name':'i'}}]"),
          F32, N(2) "," N(2), 3, 3, 6, 6);
    CHECK(fails((node){"aten.index_select.default", /* which counts from the front only */
                       X "," ARG("dim", "as_int", "1") "," ARG("index", "as_tensor",
                                                               "{'name':'i'}"),
                       F32, N(2) "," N(2), NULL, 0},
                "index -1 is outside an axis of extent 3"));
    GIVES("aten.index_fill.int_Scalar",
          X "," ARG("dim", "as_int", "-1") "," ARG("index", "as_tensor",
                                                   "{'name':'i'}") "," ARG("value", "as_int", "0"),
          F32, N(2) "," N(3), 1, 2, 0, 4, 5, 0);
    GIVES("aten.one_hot.default",
          ARG("self", "as_tensor", "{'name':'i'}") "," ARG("num_classes", "as_int", "3"), I64,
          N(2) "," N(3), 0, 0, 1, 0, 0, 0);
    REFUSED("aten.gather.default",
            X "," ARG("dim", "as_int", "1") "," ARG("index", "as_tensor", "{'name':'i'}"), F32,
            N(2), "does not fit [2,3]");
}

static void test_reduce(void)
{
    GIVES("aten.sum.dim_IntList",
          X "," ARG("dim", "as_ints", "[-1]") "," ARG("keepdim", "as_bool", "true"), F32,
          N(2) "," N(1), 6, 15);
    GIVES("aten.sum.default", X "," ARG("dtype", "as_scalar_type", "5"), I64, "", 21);
    GIVES("aten.amax.default", X, F32, "", 6);
    GIVES("aten.argmax.default", X, I64, "", 5);
    GIVES("aten.var.correction",
          X "," ARG("dim", "as_ints", "[1]") "," ARG("correction", "as_int",
                                                     "0") "," ARG("keepdim", "as_bool", "false"),
          F32, N(2), (double)(float)(2.0 / 3), (double)(float)(2.0 / 3));
    REFUSED("aten.sum.dim_IntList", X "," ARG("dim", "as_ints", "[0,1,0]"), F32, "",
            "3 axes of a tensor of rank 2");
    REFUSED("aten.mean.dim", X "," ARG("dim", "as_ints", "[0,0]"), F32, N(3), "axis 0 is named twice");
}

/* torchao's blocks: ranges and codes of two rows of three, and of columns. */
static void test_blocks(void)
{
#define BLOCKS(size) ARG("input", "as_tensor", "{'name':'x'}") "," ARG("block_size", "as_ints", size)
#define ALIKE(count)                                                                               \
    ARG("scale", "as_tensor", "{'name':'" count "'}") "," ARG("zero_point", "as_none", "true") "," \
    ARG("output_dtype", "as_scalar_type", "2") "," ARG("quant_min", "as_int", "-4") ","            \
    ARG("quant_max", "as_int", "3")
    GIVES("torchao.quantize_affine.default", BLOCKS("[1,3]") "," ALIKE("i"), "2", N(2) "," N(3), 0,
          1, 2, -4, -4, -4);
    REFUSED("torchao.quantize_affine.default", BLOCKS("[2,1]") "," ALIKE("i"), "2", N(2) "," N(3),
            "not one scale and zero for every block");
    REFUSED("torchao.quantize_affine.default", BLOCKS("[1,2]") "," ALIKE("i"), "2", N(2) "," N(3),
            "does not fall into blocks");
    REFUSED("torchao.quantize_affine.default", BLOCKS("[3]") "," ALIKE("i"), "2", N(2) "," N(3),
            "not have a number for every axis");
    REFUSED("torchao.dequantize_affine.default",
            BLOCKS("[1,3]") "," ARG("scale", "as_tensor", "{'name':'i'}") "," ARG(
                "input_dtype", "as_scalar_type", "2"),
            F32, N(2) "," N(3), "the codes are not integers");
    REFUSED("torchao.choose_qparams_affine.default",
            BLOCKS("[1,3]") "," ARG("mapping_type", "as_string", "'ODD'") "," ARG(
                "target_dtype", "as_scalar_type", "2"),
            F32, N(2), "this mapping_type is not supported");
}

static void test_make(void)
{
    GIVES("aten.full.default",
          ARG("size", "as_ints", "[2]") "," ARG("fill_value", "as_float", "'-Infinity'"), F32, N(2),
          -1.0 / 0.0, -1.0 / 0.0);
    GIVES("aten.arange.start_step",
          ARG("start", "as_int", "7") "," ARG("end", "as_int", "1") "," ARG("step", "as_int", "-3"),
          I64, N(2), 7, 4);
    GIVES("quantized_decomposed.quantize_per_tensor.default",
          ARG("input", "as_tensor", "{'name':'x'}") "," ARG("scale", "as_float", "2.0") "," ARG(
              "zero_point", "as_int",
              "1") "," ARG("quant_min", "as_int",
                           "-128") "," ARG("quant_max", "as_int",
                                           "3") "," ARG("dtype", "as_scalar_type", "2"),
          "2", N(2) "," N(3), 1, 2, 3, 3, 3, 3);
    REFUSED("aten.nonzero.default", X, I64, N(6) "," N(2),
            "the size of its result depends on the data");
    REFUSED("aten.rand.default", ARG("size", "as_ints", "[2]"), F32, N(2), "random numbers");
}

int main(void)
{
    test_move();
    test_resample();
    test_pick();
    test_reduce();
    test_blocks();
    test_make();
    return check_done();
}
