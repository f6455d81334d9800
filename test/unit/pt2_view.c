/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_view.c -- views and changes in place, by the strides that an exported program states: what
 * shares storage is changed with it, what is a copy is not, and strides that make no sense are taken
 * for none. */
#include "check.h"

#include <string.h>

#include "num/load.h"
#include "read/read.h"
#include "run/eval.h"
#include "zipped.h"

#define INT(n) "{'as_int':" #n "}"
#define TENSOR(dtype, sizes, strides, offset)                                                      \
    "{'dtype':" dtype ",'sizes':[" sizes "],'strides':[" strides                                   \
    "],'storage_offset':" INT(offset) ",'layout':7}"
#define BARE(sizes) "{'dtype':7,'sizes':[" sizes "],'layout':7}"
#define ROWS_2_3 INT(2) "," INT(3)
#define ROWS_3_2 INT(3) "," INT(2)
#define F23 TENSOR("7", ROWS_2_3, INT(3) "," INT(1), 0)
#define ARG(name, tag, value) "{'name':'" name "','arg':{'" tag "':" value "}}"
#define OF(name) "{'name':'" name "'}"
#define SELF(name) ARG("self", "as_tensor", OF(name))
#define NODE(target, args, name)                                                                   \
    "{'target':'torch.ops.aten." target "','inputs':[" args                                        \
    "],'outputs':[{'as_tensor':{'name':'" name "'}}],'metadata':{},'name':'" name "'}"

/* Programs begin with y, a copy of x = 1 .. 6 in two rows of three. */
static tc_status load(tc_ctx *ctx, const char *nodes, const char *values, const char *output,
                      tc_module **module)
{
    char *program = ti_text_format(
        &ctx->arena,
        "{'graph_module':{'graph':{'inputs':[{'as_tensor':{'name':'x'}}],'outputs':[{'as_tensor':{'"
        "name':'%s'}}],'nodes':[" NODE("clone.default", SELF("x"), "y") ",%s],'tensor_values':{'x':"
        F23 ",'y':" F23 ",%s}},'signature':{'input_specs':[{'user_input':{'arg':{'as_tensor':{'name'"
        ":'x'}}}}],'output_specs':[{'user_output':{'arg':{'as_tensor':{'name':'%s'}}}}]}},"
        "'schema_version':{'major':8,'minor':20},'torch_version':'2.13.0'}",
        output, nodes, values, output);
    return ti_read_pt2(ctx, "m.pt2", zipped_program(&ctx->arena, program), module);
}

static bool gives(const char *nodes, const char *values, const char *output, const double *want,
                  int64_t count)
{
    float x[6] = {1, 2, 3, 4, 5, 6};
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = NULL;
    tc_tensor out = {NULL, NULL};
    bool good = load(ctx, nodes, values, output, &module) == TC_OK;
    if (good) {
        tc_graph *g = ti_main(module);
        tc_tensor in = {ti_type_of(g, g->in[0]), x};
        good = ti_eval(g, &in, &out, &ctx->arena) == TC_OK && tc_type_count(out.type) == count;
    }
    for (int64_t i = 0; good && i < count; i++)
        good = ti_load_f64(out, i) == want[i];
    for (int64_t i = 0; !good && out.data && i < tc_type_count(out.type); i++)
        fprintf(stderr, "%g ", ti_load_f64(out, i));
    if (!good)
        fprintf(stderr, "%s\n", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}
static bool warns(const char *nodes, const char *values)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = NULL;
    bool good = load(ctx, nodes, values, "y", &module) == TC_OK &&
                strstr(tc_diagnostics(ctx), "elements are written that an operand shares");
    tc_ctx_free(ctx);
    return good;
}

#define GIVES(nodes, values, output, ...)                                                          \
    CHECK(gives(nodes, values, output, (double[]){__VA_ARGS__},                                    \
                (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double))))

#define FLAT(from) NODE("reshape.default", SELF(from) "," ARG("shape", "as_ints", "[-1]"), "f")
#define ADD(to) NODE("add_.Tensor", SELF(to) "," ARG("other", "as_int", "10"), "a")
#define SIX(stride) TENSOR("7", INT(6), INT(stride), 0)
#define TURNED TENSOR("7", ROWS_3_2, INT(1) "," INT(3), 0)
#define TURN NODE("t.default", SELF("y"), "t")

static void test_reshape(void)
{
    /* rows without gaps are reshaped in place */
    GIVES(FLAT("y") "," ADD("f"), "'f':" SIX(1) ",'a':" SIX(1), "y", 11, 12, 13, 14, 15, 16);
    /* what is transposed is copied: y stays */
    GIVES(TURN "," FLAT("t") "," ADD("f"), "'t':" TURNED ",'f':" SIX(1) ",'a':" SIX(1), "y", 1, 2, 3,
          4, 5, 6);
    GIVES(TURN "," FLAT("t") "," ADD("f"), "'t':" TURNED ",'f':" SIX(1) ",'a':" SIX(1), "f", 11, 14,
          12, 15, 13, 16);
    /* a sum keeps the layout of what is transposed, so its reshape copies too */
    GIVES(TURN "," NODE("neg.default", SELF("t"), "n") "," FLAT("n") "," ADD("f"),
          "'t':" TURNED ",'n':" TURNED ",'f':" SIX(1) ",'a':" SIX(1), "n", -1, -4, -2, -5, -3, -6);
    /* made contiguous first, it does not */
    GIVES(TURN "," NODE("neg.default", SELF("t"), "n") "," FLAT("n") "," ADD("f"),
          "'t':" TURNED ",'n':" TENSOR("7", ROWS_3_2, INT(2) "," INT(1), 0) ",'f':" SIX(1)
          ",'a':" SIX(1), "n", 9, 6, 8, 5, 7, 4);
}

static void test_contiguous(void)
{
#define PACK(from) NODE("contiguous.default", SELF(from), "c")
    GIVES(PACK("y") "," ADD("c"), "'c':" F23 ",'a':" F23, "y", 11, 12, 13, 14, 15, 16);
    GIVES(TURN "," PACK("t") "," ADD("c"),
          "'t':" TURNED ",'c':" TENSOR("7", ROWS_3_2, INT(2) "," INT(1), 0)
          ",'a':" TENSOR("7", ROWS_3_2, INT(2) "," INT(1), 0), "y", 1, 2, 3, 4, 5, 6);
}

/* A view that was made before the change, of a view. */
static void test_stale(void)
{
#define ROW1 NODE("select.int", SELF("y") "," ARG("dim", "as_int", "0") "," ARG("index", "as_int", "1"), "r")
    GIVES(TURN "," ROW1 "," ADD("r"),
          "'t':" TURNED ",'r':" TENSOR("7", INT(3), INT(1), 3) ",'a':" TENSOR("7", INT(3), INT(1), 3),
          "t", 1, 14, 2, 15, 3, 16);
    /* one row of a tensor that is repeated */
    GIVES(NODE("expand.default", SELF("y") "," ARG("size", "as_ints", "[2,2,3]"), "e") ","
          NODE("select.int", SELF("e") "," ARG("dim", "as_int", "0") "," ARG("index", "as_int", "1"), "r")
          "," ADD("r"),
          "'e':" TENSOR("7", INT(2) "," ROWS_2_3, INT(0) "," INT(3) "," INT(1), 0) ",'r':" F23
          ",'a':" F23, "y", 11, 12, 13, 14, 15, 16);
    /* strides over the storage of what is transposed */
    GIVES(TURN "," NODE("as_strided.default",
                        SELF("t") "," ARG("size", "as_ints", "[2]") "," ARG("stride", "as_ints", "[4]")
                        "," ARG("storage_offset", "as_int", "1"), "s") "," ADD("s"),
          "'t':" TURNED ",'s':" TENSOR("7", INT(2), INT(4), 1) ",'a':" TENSOR("7", INT(2), INT(4), 1),
          "y", 1, 12, 3, 4, 5, 16);
}

/* add.out writes into its last operand, here a row; item() of an input is an index. */
static void test_written(void)
{
    GIVES(ROW1 "," NODE("neg.out", SELF("r") "," ARG("out", "as_tensor", OF("r")), "a"),
          "'r':" TENSOR("7", INT(3), INT(1), 3) ",'a':" TENSOR("7", INT(3), INT(1), 3), "y", 1, 2, 3,
          -4, -5, -6);
    GIVES(NODE("sum.default", SELF("x"), "s") ","
          NODE("gt.Scalar", SELF("s") "," ARG("other", "as_int", "0"), "g") ","
          NODE("to.dtype", SELF("g") "," ARG("dtype", "as_scalar_type", "5"), "n") ","
          "{'target':'torch.ops.aten.item.default','inputs':[" SELF("n") "],'outputs':[{'as_sym_int':"
          "{'as_name':'i'}}],'metadata':{}},"
          NODE("select.int", SELF("y") "," ARG("dim", "as_int", "0") ","
               ARG("index", "as_sym_int", "{'as_name':'i'}"), "r") "," ADD("r"),
          "'s':" BARE("") ",'g':{'dtype':12,'sizes':[],'layout':7},'n':{'dtype':5,'sizes':[],'layout':7},"
          "'r':" BARE(INT(3)) ",'a':" BARE(INT(3)), "y", 1, 2, 3, 14, 15, 16);
}

/* No strides, or such that no tensor has: as if it lay without gaps. */
static void test_nonsense(void)
{
#define STRIDED(strides, offset) "{'dtype':7,'sizes':[" INT(6) "],'strides':" strides                  \
        ",'storage_offset':" offset ",'layout':7}"
    GIVES(FLAT("y") "," ADD("f"), "'f':" BARE(INT(6)) ",'a':" BARE(INT(6)), "y", 11, 12, 13, 14, 15,
          16);
    static const char *const odd[] = {
        STRIDED("[" INT(-1) "]", INT(0)),      STRIDED("[" INT(9223372036854775807) "]", INT(0)),
        STRIDED("[]", INT(0)),                 STRIDED("[" INT(1) "," INT(1) "]", INT(0)),
        STRIDED("7", INT(0)),                  STRIDED("[" INT(1) "]", INT(-5)),
        STRIDED("[" INT(1) "]", "{}"),         STRIDED("[{'as_expr':{'expr_str':'u9'}}]", INT(0)),
        STRIDED("[" INT(1) "]", INT(9223372036854775807)),
    };
    for (size_t i = 0; i < TC_COUNT(odd); i++) {
        tc_ctx *ctx = tc_ctx_new();
        char *values = ti_text_format(&ctx->arena, "'f':%s,'a':%s", odd[i], odd[i]);
        GIVES(FLAT("y") "," ADD("f"), values, "y", 11, 12, 13, 14, 15, 16);
        tc_ctx_free(ctx);
    }
}

static bool refused(const char *nodes, const char *values, const char *why)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module;
    bool good = load(ctx, nodes, values, "y", &module) != TC_OK && strstr(tc_diagnostics(ctx), why);
    if (!good)
        fprintf(stderr, "%s\n", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

static void test_refused(void)
{
    /* a number that is seen twice, and changed */
    CHECK(refused(NODE("unfold.default", SELF("y") "," ARG("dimension", "as_int", "1") ","
                       ARG("size", "as_int", "2") "," ARG("step", "as_int", "1"), "u") "," ADD("u"),
                  "'u':" TENSOR("7", INT(2) "," INT(2) "," INT(2), INT(3) "," INT(1) "," INT(1), 0)
                  ",'a':" TENSOR("7", INT(2) "," INT(2) "," INT(2), INT(3) "," INT(1) "," INT(1), 0),
                  "shows a number at several places"));
    /* the storage of an input has other numbers between its own */
    CHECK(refused(NODE("neg.default", SELF("y"), "n") ","
                  NODE("as_strided.default", SELF("n") "," ARG("size", "as_ints", "[2]") ","
                       ARG("stride", "as_ints", "[1]"), "s"),
                  "'n':" TENSOR("7", ROWS_2_3, INT(6) "," INT(2), 0) ",'s':" BARE(INT(2)),
                  "whose storage has other numbers too"));
    CHECK(refused(NODE("view.dtype", SELF("y") "," ARG("dtype", "as_scalar_type", "4"), "v"),
                  "'v':{'dtype':4,'sizes':[" ROWS_2_3 "],'layout':7}", "the bits of f32 as i32"));
}

/* Elements that an operand shares with what is written are read first, and said to be; a tensor that
 * outlives the call does not take another shape in it. */
static void test_told(void)
{
#define PART(from, to, name)                                                                       \
    NODE("slice.Tensor",                                                                           \
         SELF("y") "," ARG("dim", "as_int", "1") "," ARG("start", "as_int", from) ","              \
                   ARG("end", "as_int", to), name)
#define TWO(offset) TENSOR("7", INT(2) "," INT(2), INT(3) "," INT(1), offset)
#define COPY NODE("copy_.default", SELF("p") "," ARG("src", "as_tensor", OF("q")), "a")
    GIVES(PART("1", "3", "p") "," PART("0", "2", "q") "," COPY,
          "'p':" TWO(1) ",'q':" TWO(0) ",'a':" TWO(1), "y", 1, 1, 2, 4, 4, 5);
    CHECK(warns(PART("1", "3", "p") "," PART("0", "2", "q") "," COPY,
                "'p':" TWO(1) ",'q':" TWO(0) ",'a':" TWO(1)));
    CHECK(!warns(PART("1", "3", "p") "," PART("1", "3", "q") "," COPY,
                 "'p':" TWO(1) ",'q':" TWO(1) ",'a':" TWO(1)));
#define TIMES NODE("mul_.Tensor", SELF("p") "," ARG("other", "as_tensor", OF("q")), "a")
    CHECK(warns(PART("1", "3", "p") "," PART("0", "2", "q") "," TIMES,
                "'p':" TWO(1) ",'q':" TWO(0) ",'a':" TWO(1)));
    CHECK(!warns(PART("1", "3", "p") "," PART("1", "3", "q") "," TIMES,
                 "'p':" TWO(1) ",'q':" TWO(1) ",'a':" TWO(1)));
    static const char *const shapes[] = {TOSAC_FIXTURES "/refused/shape_of_buffer.pt2",
                                         TOSAC_FIXTURES "/refused/shape_of_alias.pt2",
                                         TOSAC_FIXTURES "/refused/shape_of_atleast.pt2",
                                         TOSAC_FIXTURES "/refused/shape_of_real.pt2",
                                         TOSAC_FIXTURES "/refused/shape_of_flat.pt2"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *module = NULL;
        CHECK_ROW(shapes[i], ti_read(ctx, shapes[i], &module) != TC_OK);
        CHECK_ROW(shapes[i], strstr(tc_diagnostics(ctx),
                                    "'aten.t_.default': it changes the shape of 'b' itself"));
        tc_ctx_free(ctx);
    }
}

/* Nodes that are made for an output keep the place that they came from. */
static void test_places(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = NULL;
    CHECK(load(ctx, TURN "," ROW1 "," ADD("r"),
               "'t':" TURNED ",'r':" TENSOR("7", INT(3), INT(1), 3) ",'a':" TENSOR("7", INT(3), INT(1), 3),
               "t", &module) == TC_OK);
    tc_graph *g = module ? ti_main(module) : NULL;
    for (size_t i = 0; g && i < g->n_node; i++)
        CHECK(g->node[i]->loc && ti_text_eq(g->node[i]->loc->file, "m.pt2"));
    CHECK(g && ti_text_eq(ti_def(g, g->out[0])->loc->place, "outputs"));
    tc_ctx_free(ctx);
}

int main(void)
{
    test_reshape();
    test_contiguous();
    test_stale();
    test_written();
    test_nonsense();
    test_refused();
    test_told();
    test_places();
    return check_done();
}
