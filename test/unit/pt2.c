/* SPDX-License-Identifier: Apache-2.0 */
/* pt2.c -- exported programs built by hand: what they mean, and what is said of those that are
 * broken. */
#include "check.h"

#include <stdlib.h>

#include "run/eval.h"
#include "read/read.h"
#include "wire/archive.h"
#include "wire/json.h"
#include "zipped.h"

/* JSON is written with single quotes here. */
static const char *json(tc_ctx *ctx, const char *text)
{
    char *copy = ti_text_copy(&ctx->arena, ti_str_of(text));
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

/* A model under construction: what differs from "one input x, returned as it is". */
typedef struct model {
    const char *inputs, *input_specs, *nodes, *values, *outputs, *output_specs, *config, *version;
    const void *weight;
    size_t weight_size;
} model;

#define F32(sizes) "{'dtype':7,'sizes':[" sizes "],'layout':7}"
#define INT(n) "{'as_int':" #n "}"
#define STORED(dtype, sizes, strides, offset)                                                      \
    "{'config':{'w':{'path_name':'weight_0','is_param':true,'use_pickle':false,'tensor_meta':{'"   \
    "dtype':" #dtype ",'sizes':[" sizes "],'strides':[" strides                                    \
    "],'storage_offset':" INT(offset) ",'layout':7}}}}"

static tc_bytes build(tc_ctx *ctx, model m)
{
#define OR(field, text) (m.field ? m.field : (text))
    const char *program = ti_text_format(
        &ctx->arena,
        "{'graph_module':{'graph':{'inputs':[%s],'outputs':[%s],'nodes':[%s],'tensor_values':{%s}},"
        "'signature':{'input_specs':[%s],'output_specs':[%s]},'module_call_graph':[{'fqn':'','"
        "signature':{'in_spec':'I'}}]},"
        "'range_constraints':{'s1':{'min_val':4,'max_val':4},'s2':{'min_val':2,'max_val':null}},"
        "'schema_version':%s,'torch_version':'2.13.0'}",
        OR(inputs, "{'as_tensor':{'name':'x'}}"), OR(outputs, "{'as_tensor':{'name':'x'}}"),
        OR(nodes, ""), OR(values, "'x':" F32(INT(2) "," INT(3))),
        OR(input_specs, "{'user_input':{'arg':{'as_tensor':{'name':'x'}}}}"),
        OR(output_specs, "{'user_output':{'arg':{'as_tensor':{'name':'x'}}}}"),
        OR(version, "{'major':8,'minor':20}"));
    zipped z;
    zipped_begin(&z, &ctx->arena);
    if (m.weight)
        zipped_add(&z, "m/data/weights/weight_0", m.weight, m.weight_size);
    zipped_text(&z, "m/data/weights/model_weights_config.json",
                json(ctx, OR(config, "{'config':{}}")));
    zipped_text(&z, "m/models/model.json", json(ctx, program));
    zipped_text(&z, "m/archive_format", "pt2");
    zipped_text(&z, "m/archive_version", "0");
    zipped_text(&z, "m/byteorder", "little");
    return zipped_end(&z);
}

/* The module, or NULL; *status and the messages in ctx say why. */
static tc_module *load(tc_ctx *ctx, model m, tc_status *status)
{
    tc_module *module = NULL;
    *status = ti_read_pt2(ctx, "m.pt2", build(ctx, m), &module);
    return *status == TC_OK ? module : NULL;
}

/* Turned down with this status and these words. */
static bool refused(model m, tc_status expected, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_status status;
    bool module = load(ctx, m, &status);
    bool good = !module && status == expected && strstr(tc_diagnostics(ctx), words);
    if (!good)
        fprintf(stderr, "status %d, messages: %s", status, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

static const tc_json *parse(tc_ctx *ctx, const char *text)
{
    const char *reason;
    size_t at;
    return ti_json_parse(&ctx->arena, (tc_bytes){(const uint8_t *)text, strlen(text)}, &reason,
                         &at);
}

static void test_json(tc_ctx *ctx)
{
    const tc_json *j =
        parse(ctx, " { \"a\" : [1, -9223372036854775808, 1e-05, \"NaN\", Infinity], \"b\": {}} ");
    int64_t i;
    double f;
    const tc_json *item = ti_json_first(ti_json_get(j, "a"));
    CHECK(ti_json_i64(item, &i) && i == 1);
    CHECK(ti_json_i64(item->next, &i) && i == INT64_MIN);
    CHECK(ti_json_f64(item->next->next, &f) && f == 1e-05 && !ti_json_i64(item->next->next, &i));
    CHECK(ti_json_f64(item->next->next->next, &f) && f != f);
    CHECK(ti_json_f64(item->next->next->next->next, &f) && f > 1e308);
    CHECK(ti_json_get(j, "b") && !ti_json_get(j, "c") && !ti_json_get(NULL, "c"));
    CHECK(
        ti_str_is(ti_json_text(&ctx->arena, parse(ctx, "\"a\\n\\u00e9\\ud83d\\ude00\\/\\ud800\"")),
                  "a\n\xc3\xa9\xf0\x9f\x98\x80/\xef\xbf\xbd"));
    CHECK(!ti_json_i64(parse(ctx, "9223372036854775808"), &i));
    static const char *const bad[] = {
        "",      "{",       "[1,]",   "{\"a\"}",     "{a:1}",   "\"a",   "nul",  "01x",
        "[1 2]", "\"\\x\"", "\"\n\"", "\"\\u0000\"", "\"\\u12", "{} {}", "[1]]", "-"};
    for (size_t k = 0; k < TC_COUNT(bad); k++)
        CHECK(!parse(ctx, bad[k]));
    char *deep = tc_new_n(&ctx->arena, char, 20001);
    memset(deep, '[', 10000);
    memset(deep + 10000, ']', 10000);
    CHECK(!parse(ctx, deep));
    deep[10000 + 100] = 0;
    CHECK(parse(ctx, deep + 10000 - 100));
}

/* Inputs, constants and nothing, returned as they are. */
static void test_ports(void)
{
    tc_ctx *ctx = tc_ctx_new();
    static const float w[6] = {1, 2, 3, 4, 5, 6};
    model m = {.inputs = "{'as_tensor':{'name':'p'}},{'as_tensor':{'name':'q'}},{'as_tensor':{'"
                         "name':'x'}},{'as_int':5},{'as_none':true}",
               .input_specs = "{'parameter':{'arg':{'name':'p'},'parameter_name':'w'}},"
                              "{'buffer':{'arg':{'name':'q'},'buffer_name':'w','persistent':true}},"
                              "{'user_input':{'arg':{'as_tensor':{'name':'x'}}}},"
                              "{'constant_input':{'name':'k','value':{'as_int':5}}},"
                              "{'constant_input':{'name':'z','value':{'as_none':true}}}",
               .outputs = "{'as_tensor':{'name':'x'}},{'as_tensor':{'name':'p'}},{'as_tensor':{'"
                          "name':'q'}},{'as_int':7},{'as_none':true}",
               .output_specs = "{'user_output':{'arg':{'as_tensor':{'name':'x'}}}},{'user_output':{"
                               "'arg':{'as_tensor':{'name':'p'}}}},"
                               "{'user_output':{'arg':{'as_tensor':{'name':'q'}}}},{'user_output':{"
                               "'arg':{'as_int':7}}},"
                               "{'user_output':{'arg':{'as_none':true}}}",
               .config = STORED(7, INT(2) "," INT(3), INT(1) "," INT(2), 0),
               .weight = w,
               .weight_size = sizeof w};
    tc_status status;
    tc_module *module = load(ctx, m, &status);
    CHECK(module);
    if (module) {
        tc_graph *g = ti_main(module);
        CHECK(g->n_in == 1 && g->n_out == 3 && g->n_node == 1 && module->signature.n_in == 3 &&
              module->signature.n_out == 5);
        CHECK(ti_text_eq(module->signature.in[0].name, "x") &&
              ti_text_eq(module->signature.in[1].text, "5") &&
              ti_text_eq(module->signature.in[2].text, "None"));
        CHECK(ti_text_eq(module->signature.out[3].text, "7") &&
              ti_text_eq(module->signature.out[4].text, "None"));
        CHECK(g->out[1] == g->out[2] && g->out[0] == g->in[0]); /* tied weights are one value */
        const float *data = ti_value_of(g, g->out[1])->data;
        static const float transposed[6] = {1, 3, 5, 2, 4, 6};
        CHECK(memcmp(data, transposed, sizeof transposed) == 0);
        CHECK(ti_text_eq(module->origin.producer, "torch 2.13.0") && ti_text_eq(module->signature.in_tree, "I") &&
              !module->signature.out_tree);
    }
    tc_ctx_free(ctx);
}

#define OF_W(config_, weight_)                                                                     \
    (model)                                                                                        \
    {                                                                                              \
        .inputs = "{'as_tensor':{'name':'p'}}",                                                    \
        .input_specs = "{'parameter':{'arg':{'name':'p'},'parameter_name':'w'}}",                  \
        .outputs = "{'as_tensor':{'name':'p'}}",                                                   \
        .output_specs = "{'user_output':{'arg':{'as_tensor':{'name':'p'}}}}",                      \
        .values = "'y':" F32(""), .config = (config_), .weight = (weight_),                        \
        .weight_size = sizeof(weight_)                                                             \
    }

/* The stored numbers as row-major f32. */
static bool stored_as(model m, const float *expected, size_t n, const char *type)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_status status;
    tc_module *module = load(ctx, m, &status);
    bool good = false;
    if (module) {
        const tc_value *v = ti_value_of(ti_main(module), ti_main(module)->out[0]);
        good = ti_text_eq(ti_type_text(&ctx->arena, v->type), type) &&
               (!n || memcmp(v->data, expected, n * 4) == 0);
    } else
        fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return good;
}

static void test_weights(void)
{
    static const float w[6] = {1, 2, 3, 4, 5, 6};
    CHECK(stored_as(OF_W(STORED(7, INT(2) "," INT(3), INT(3) "," INT(1), 0), w), w, 6, "f32[2,3]"));
    CHECK(stored_as(OF_W(STORED(7, INT(2), INT(2), 1), w), (float[]){2, 4}, 2, "f32[2]"));
    CHECK(stored_as(OF_W(STORED(7, INT(3) "," INT(2), INT(0) "," INT(1), 4), w),
                    (float[]){5, 6, 5, 6, 5, 6}, 6, "f32[3,2]"));
    CHECK(stored_as(OF_W(STORED(7, "", "", 5), w), (float[]){6}, 1, "f32[]"));
    CHECK(stored_as(OF_W(STORED(7, INT(0) "," INT(9), INT(9) "," INT(1), 100), w), NULL, 0,
                    "f32[0,9]"));
    CHECK(stored_as(OF_W(STORED(4, "{'as_expr':{'expr_str':'Integer(6)'}}", INT(1), 0), w), w, 6,
                    "i32[6]"));

    CHECK(refused(OF_W(STORED(7, INT(2) "," INT(4), INT(4) "," INT(1), 0), w), TC_BAD_MODEL,
                  "reach past its 6 stored elements [truncated]"));
    CHECK(refused(OF_W(STORED(7, INT(-1), INT(1), 0), w), TC_BAD_MODEL, "[too-large]"));
    CHECK(refused(OF_W(STORED(7, INT(9223372036854775807), INT(0), 0), w), TC_BAD_MODEL,
                  "[too-large]"));
    CHECK(refused(OF_W(STORED(7, INT(1000000000) "," INT(1000), INT(0) "," INT(0), 0), w),
                  TC_BAD_MODEL, "[too-large]"));
    CHECK(refused(OF_W(STORED(7, INT(2), INT(9223372036854775807), 5), w), TC_BAD_MODEL,
                  "[truncated]"));
    CHECK(refused(OF_W(STORED(7, INT(2), INT(-1), 1), w), TC_BAD_MODEL, "[truncated]"));
    CHECK(refused(OF_W(STORED(7, INT(2), INT(1), -1), w), TC_BAD_MODEL, "[truncated]"));
    CHECK(refused(OF_W(STORED(99, INT(2), INT(1), 0), w), TC_UNSUPPORTED, "element type 99"));
    CHECK(refused(OF_W(STORED(7, INT(2), INT(1) "," INT(1), 0), w), TC_BAD_MODEL, "[format]"));
    CHECK(refused(OF_W("{'config':{}}", w), TC_BAD_MODEL, "does not hold this parameter"));
    CHECK(refused(OF_W("{'config':{'w':{'path_name':'weight_9','tensor_meta':null}}}", w),
                  TC_BAD_MODEL, "no member 'm/data/weights/weight_9'"));
    CHECK(refused(OF_W("{'config':[", w), TC_BAD_MODEL, "[format]"));
    model fake = OF_W(STORED(7, INT(2), INT(1), 0), w);
    fake.weight_size = 0;
    CHECK(refused(fake, TC_BAD_MODEL, "exported from a model without weights"));
    model other = OF_W(STORED(7, INT(2), INT(1), 0), w);
    other.values = "'p':" F32(INT(3));
    CHECK(
        refused(other, TC_BAD_MODEL, "'w' is stored as f32[2], the graph says f32[3] [mismatch]"));
}

static void test_programs(void)
{
    CHECK(refused((model){.version = "{'major':9,'minor':0}"}, TC_UNSUPPORTED,
                  "schema version 9.0, expected 8.x [version]"));
    CHECK(refused((model){.version = "null"}, TC_BAD_MODEL, "no schema version"));
    CHECK(refused((model){.inputs = "{'as_tensor':{'name':'x'}},{'as_tensor':{'name':'x'}}",
                          .input_specs = "{'user_input':{'arg':{'as_tensor':{'name':'x'}}}},"
                                         "{'user_input':{'arg':{'as_tensor':{'name':'x'}}}}"},
                  TC_BAD_MODEL, "two inputs are named 'x'"));
    CHECK(refused(
        (model){.values = "'x':" F32(
                    INT(2) ",{'as_expr':{'expr_str':'Symbol(s2)','hint':{'as_int':4}}}")},
        TC_BAD_MODEL,
        "m.pt2: input 'x': error: dimension 1 of 'x' is not fixed: Symbol(s2) [dynamic-shape]\n"
        "m.pt2: input 'x': note: export the model without dynamic_shapes for 'x'"));
    CHECK(refused((model){.values = "'x':" F32(INT(2) ",{'as_int':99999999999}")}, TC_BAD_MODEL,
                  "[too-large]"));
    CHECK(refused((model){.values = ""}, TC_BAD_MODEL, "does not say what 'x' is"));
    CHECK(refused((model){.outputs = "{'as_tensor':{'name':'y'}}",
                          .output_specs = "{'user_output':{'arg':{'as_tensor':{'name':'y'}}}}"},
                  TC_BAD_MODEL, "returns 'y', which is not defined"));
    CHECK(refused((model){.output_specs = ""}, TC_BAD_MODEL, "does not list the outputs"));
    CHECK(
        refused((model){.input_specs = "{'strange':{}}"}, TC_BAD_MODEL, "unknown kind 'strange'"));
    static const char unknown[] =
        "{'target':'torch.ops.aten.frobnicate.default','inputs':[],'outputs':[{'as_tensor':{'name':"
        "'f'}}],'metadata':{'stack_trace':"
        "'  File \\\\\"/home/me/net.py\\\\\", line 41, in forward\\\\n    f()\\\\n  File "
        "\\\\\"/x/torch/nn/act.py\\\\\", line 3, in g'},'name':'f'},"
        "{'target':'torch.ops.mine.op.default','inputs':[{'name':'x','arg':{'as_tensor':{'name':'f'"
        "}}}],'outputs':[],'metadata':{},'name':'o'}";
    char *nodes = strdup(unknown);
    for (char *c = nodes; *c; c++) /* one backslash too many for C and JSON together */
        if (c[0] == '\\' && c[1] == '\\')
            memmove(c, c + 1, strlen(c));
    CHECK(refused(
        (model){.nodes = nodes}, TC_UNSUPPORTED,
        "m.pt2: net.py:41: error: operator 'aten.frobnicate', overload default is not known"));
    CHECK(refused((model){.nodes = nodes}, TC_UNSUPPORTED, "node 'o': error: operator 'mine.op'"));
    free(nodes);
}

/* Sizes and the arithmetic on them. */
static void test_sizes(void)
{
    tc_ctx *ctx = tc_ctx_new();
#define SYM(target, args, name)                                                                    \
    "{'target':'" target "','inputs':[" args "],'outputs':[{'as_sym_int':{'as_name':'" name        \
    "'}}],'metadata':{}}"
#define NAMED(n) "{'name':'','arg':{'as_sym_int':{'as_name':'" n "'}}}"
#define NUMBER(n) "{'name':'','arg':{'as_int':" #n "}}"
    model m = {
        .values = "'x':" F32(INT(2) ",{'as_expr':{'expr_str':'FloorDiv(Add(Mul(Integer(2), "
                                    "Symbol(s1, integer=True)), Integer(1)), Integer(2))'}}"),
        .nodes = SYM(
            "torch.ops.aten.sym_size.int",
            "{'name':'self','arg':{'as_tensor':{'name':'x'}}},{'name':'dim','arg':{'as_int':-1}}",
            "n") "," SYM("_operator.mul", NAMED("n") "," NUMBER(-7),
                         "m") "," SYM("_operator.floordiv", NAMED("m") "," NUMBER(3),
                                      "d") "," SYM("_operator.mod", NAMED("m") "," NUMBER(3), "r"),
        .outputs = "{'as_sym_int':{'as_name':'d'}},{'as_sym_int':{'as_name':'r'}}",
        .output_specs = "{'user_output':{'arg':{'as_sym_int':{'as_name':'d'}}}},{'user_output':{'"
                        "arg':{'as_sym_int':{'as_name':'r'}}}}"};
    tc_status status;
    tc_module *module = load(ctx, m, &status);
    CHECK(module && ti_text_eq(module->signature.out[0].text, "-10") &&
          ti_text_eq(module->signature.out[1].text, "2"));
    if (!module)
        fputs(tc_diagnostics(ctx), stderr);
    m.nodes = SYM("_operator.floordiv", NUMBER(3) "," NUMBER(0), "d");
    tc_ctx_free(ctx);
    CHECK(refused(m, TC_UNSUPPORTED, "a size that is not known [dynamic-shape]"));
}

/* Python's arithmetic on numbers that are known. */
static void test_arithmetic(void)
{
#define INTEGER(n) "{'name':'','arg':{'as_int':" n "}}"
#define REAL(n) "{'name':'','arg':{'as_float':" n "}}"
    static const struct {
        const char *target, *args, *result; /* NULL: it is not known */
    } row[] = {
        {"_operator.add", INTEGER("5") "," INTEGER("-7"), "-2"},
        {"_operator.sub", INTEGER("5") "," INTEGER("7"), "-2"},
        {"_operator.sub", INTEGER("-9223372036854775807") "," INTEGER("7"), NULL},
        {"_operator.mul", INTEGER("4611686018427387904") "," INTEGER("4"), NULL},
        {"_operator.mod", INTEGER("-5") "," INTEGER("3"), "1"},
        {"_operator.mod", INTEGER("5") "," INTEGER("0"), NULL},
        {"_operator.pow", INTEGER("2") "," INTEGER("10"), "1024"},
        {"_operator.pow", INTEGER("-1") "," INTEGER("99"), "-1"},
        {"_operator.pow", INTEGER("1") "," INTEGER("9999999"), "1"},
        {"_operator.pow", INTEGER("10") "," INTEGER("99"), NULL},
        {"_operator.lshift", INTEGER("3") "," INTEGER("4"), "48"},
        {"_operator.rshift", INTEGER("-5") "," INTEGER("1"), "-3"},
        {"_operator.lshift", INTEGER("3") "," INTEGER("63"), NULL},
        {"_operator.neg", INTEGER("4"), "-4"},
        {"_operator.pos", INTEGER("4"), "4"},
        {"_operator.abs", INTEGER("-4"), "4"},
        {"_operator.and_", INTEGER("12") "," INTEGER("10"), "8"},
        {"_operator.or_", INTEGER("12") "," INTEGER("10"), "14"},
        {"math.trunc", REAL("-2.5"), "-2"},
        {"math.floor", REAL("-2.5"), "-3"},
        {"math.ceil", REAL("-2.5"), "-2"},
        {"math.floor", INTEGER("7"), "7"},
        {"math.floor", REAL("1e300"), NULL},
        {"builtins.round", REAL("2.5"), "2"},
        {"builtins.max", INTEGER("3") "," INTEGER("9"), "9"},
        {"torch.sym_min", REAL("3.5") "," INTEGER("3"), "3"},
        {"torch.sym_sum", INTEGER("3") "," INTEGER("9"), "12"},
        {"torch.sym_int", REAL("3.99"), "3"},
        {"torch.sym_ite", INTEGER("0") "," INTEGER("1") "," INTEGER("2"), "2"},
        {"torch.sym_ite", INTEGER("1") "," INTEGER("1") "," INTEGER("2"), "1"},
        {"_operator.floordiv", INTEGER("3") "," INTEGER("0"), NULL},
    };
    for (size_t k = 0; k < TC_COUNT(row); k++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_status status;
        model m = {.nodes = ti_text_format(&ctx->arena,
                                           "{'target':'%s','inputs':[%s],'outputs':[{'as_sym_int':{"
                                           "'as_name':'d'}}],'metadata':{}}",
                                           row[k].target, row[k].args),
                   .outputs = "{'as_sym_int':{'as_name':'d'}}",
                   .output_specs = "{'user_output':{'arg':{'as_sym_int':{'as_name':'d'}}}}"};
        tc_module *module = load(ctx, m, &status);
        bool good = row[k].result ? module && ti_text_eq(module->signature.out[0].text, row[k].result)
                                  : !module && strstr(tc_diagnostics(ctx), "a size that is not");
        if (!good)
            fprintf(stderr, "%s(%s): %s %s\n", row[k].target, row[k].args,
                    module ? module->signature.out[0].text : "", tc_diagnostics(ctx));
        CHECK(good);
        tc_ctx_free(ctx);
    }
    /* Comparisons, chosen from. */
    static const struct {
        const char *target, *a, *b;
        bool holds;
    } order[] = {{"lt", "1", "2", true},  {"le", "2", "2", true},  {"gt", "1", "2", false},
                 {"ge", "2", "2", true},  {"eq", "1", "2", false}, {"ne", "1", "2", true},
                 {"lt", "2", "1", false}, {"eq", "7", "7", true}};
    for (size_t k = 0; k < TC_COUNT(order); k++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_status status;
        model m = {
            .nodes = ti_text_format(
                &ctx->arena,
                "{'target':'_operator.%s','inputs':[{'name':'','arg':{'as_int':%s}},{'name':'','"
                "arg'"
                ":{'as_float':%s.0}}],'outputs':[{'as_sym_bool':{'as_name':'c'}}],'metadata':{}},"
                "{'target':'torch.sym_not','inputs':[{'name':'','arg':{'as_sym_bool':{'as_name':'c'"
                "}}}],'outputs':[{'as_sym_bool':{'as_name':'n'}}],'metadata':{}},"
                "{'target':'torch.sym_ite','inputs':[{'name':'','arg':{'as_sym_bool':{'as_name':'n'"
                "}}},{'name':'','arg':{'as_int':0}},{'name':'','arg':{'as_int':1}}],'outputs':[{'"
                "as_sym_int':{'as_name':'d'}}],'metadata':{}}",
                order[k].target, order[k].a, order[k].b),
            .outputs = "{'as_sym_int':{'as_name':'d'}}",
            .output_specs = "{'user_output':{'arg':{'as_sym_int':{'as_name':'d'}}}}"};
        tc_module *module = load(ctx, m, &status);
        CHECK(module && ti_text_eq(module->signature.out[0].text, order[k].holds ? "1" : "0"));
        if (!module)
            fprintf(stderr, "%s: %s\n", order[k].target, tc_diagnostics(ctx));
        tc_ctx_free(ctx);
    }
}

#define NODE(target, args, name)                                                                   \
    "{'target':'torch.ops.aten." target "','inputs':[" args                                        \
    "],'outputs':[{'as_tensor':{'name':'" name "'}}],'metadata':{},'name':'" name "'}"
#define SELF(name) "{'name':'self','arg':{'as_tensor':{'name':'" name "'}}}"
#define ARG(name, tag, value) "{'name':'" name "','arg':{'" tag "':" value "}}"

/* An optional argument that both branches of a recipe name: instance_norm with a weight and a bias. */
static void test_optional(void)
{
    tc_ctx *ctx = tc_ctx_new();
    model m = {
        /* clang-format off */
        .inputs = "{'as_tensor':{'name':'x'}},{'as_tensor':{'name':'w'}}",
        .input_specs = "{'user_input':{'arg':{'as_tensor':{'name':'x'}}}},{'user_input':{'arg':{'as_tensor':{'name':'w'}}}}",
        .values = "'x':" F32(INT(1) "," INT(2) "," INT(2)) ",'w':" F32(INT(2)) ",'y':" F32(INT(1) "," INT(2) "," INT(2)),
        .nodes = NODE("instance_norm.default",
                      ARG("input", "as_tensor", "{'name':'x'}") "," ARG("weight", "as_tensor", "{'name':'w'}") ","
                      ARG("bias", "as_tensor", "{'name':'w'}") "," ARG("running_mean", "as_none", "true") ","
                      ARG("running_var", "as_none", "true") "," ARG("use_input_stats", "as_bool", "true") ","
                      ARG("momentum", "as_float", "0.1") "," ARG("eps", "as_float", "0.0") ","
                      ARG("cudnn_enabled", "as_bool", "false"), "y"),
        /* clang-format on */
        .outputs = "{'as_tensor':{'name':'y'}}",
        .output_specs = "{'user_output':{'arg':{'as_tensor':{'name':'y'}}}}"};
    tc_status status;
    tc_module *module = load(ctx, m, &status);
    CHECK(module && !ctx->n_error);
    if (module) {
        tc_graph *g = ti_main(module);
        float x[4] = {1, 3, 10, 20}, w[2] = {2, 4};
        tc_tensor in[2] = {{ti_type_of(g, g->in[0]), x}, {ti_type_of(g, g->in[1]), w}}, out;
        CHECK(ti_eval(g, in, &out, &ctx->arena) == TC_OK);
        CHECK(memcmp(out.data, (float[]){0, 4, 0, 8}, 16) == 0);
    } else
        fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
}

/* y = clone(x); s = y[0:1]; q = s^T; q += 10; r = y[:, 1]; y *= 2; returns y, r, q */
static void test_views(void)
{
    tc_ctx *ctx = tc_ctx_new();
    model m = {
        /* clang-format off */
        .values = "'x':" F32(INT(2) "," INT(3)) ","
                  "'y':" F32(INT(2) "," INT(3)) ","
                  "'s':" F32(INT(1) "," INT(3)) ","
                  "'q':" F32(INT(3) "," INT(1)) ","
                  "'q2':" F32(INT(3) "," INT(1)) ","
                  "'r':" F32(INT(2)) ","
                  "'y2':" F32(INT(2) "," INT(3)),
        /* clang-format on */
        .nodes = NODE("clone.default", SELF("x"), "y") "," NODE(
            "slice.Tensor",
            SELF("y") "," ARG("dim", "as_int", "0") "," ARG("start", "as_int",
                                                            "0") "," ARG("end", "as_int", "1"),
            "s") "," NODE("permute.default", SELF("s") "," ARG("dims", "as_ints", "[1,0]"),
                          "q") "," NODE("add_.Tensor", SELF("q") "," ARG("other", "as_int", "10"),
                                        "q2") "," NODE("select.int",
                                                       SELF("y") "," ARG(
                                                           "dim", "as_int",
                                                           "1") "," ARG("index", "as_int", "1"),
                                                       "r") "," NODE("mul_.Tensor",
                                                                     SELF("y") "," ARG("other",
                                                                                       "as_float",
                                                                                       "2.0"),
                                                                     "y2"),
        .outputs =
            "{'as_tensor':{'name':'y'}},{'as_tensor':{'name':'r'}},{'as_tensor':{'name':'q'}}",
        .output_specs = "{'user_output':{'arg':{'as_tensor':{'name':'y'}}}},{'user_output':{'arg':{"
                        "'as_tensor':{'name':'r'}}}},"
                        "{'user_output':{'arg':{'as_tensor':{'name':'q'}}}}"};
    tc_status status;
    tc_module *module = load(ctx, m, &status);
    CHECK(module && !ctx->n_error && !ctx->n_warning);
    if (module) {
        tc_graph *g = ti_main(module);
        float x[6] = {1, 2, 3, 4, 5, 6};
        tc_tensor in = {ti_type_of(g, g->in[0]), x}, out[3];
        CHECK(ti_eval(g, &in, out, &ctx->arena) == TC_OK);
        CHECK(memcmp(out[0].data, (float[]){22, 24, 26, 8, 10, 12}, 24) == 0);
        CHECK(memcmp(out[1].data, (float[]){24, 10}, 8) == 0);
        CHECK(memcmp(out[2].data, (float[]){22, 24, 26}, 12) == 0);
    } else
        fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    m.values = "'x':" F32(INT(2) "," INT(3)) ",'y':" F32(INT(3) "," INT(2));
    CHECK(refused(m, TC_BAD_MODEL,
                  "node 'y' ('aten.clone.default'): the file declares 'y' as f32[3,2], inferred "
                  "is f32[2,3] [mismatch]"));
    m.values = "'x':" F32(INT(2) "," INT(3));
    m.nodes = NODE("add_.Tensor", SELF("x"), "y");
    CHECK(refused(m, TC_BAD_MODEL, "argument 'other' of 'aten.add_.Tensor' is missing"));
    m.nodes = NODE("neg.default", SELF("nobody"), "y");
    CHECK(refused(m, TC_BAD_MODEL, "uses 'nobody', which is not defined before it [order]"));
}

/* A buffer that an in-place operator changes keeps its number from run to run. */
static void test_mutation(void)
{
    tc_ctx *ctx = tc_ctx_new();
    static const float w[1] = {5};
    model m = OF_W(STORED(7, "", "", 0), w);
    m.values = "'p':" F32("") ",'n':" F32("");
    m.nodes = NODE("add_.Tensor", SELF("p") "," ARG("other", "as_int", "1"), "n");
    m.outputs = "{'as_tensor':{'name':'n'}}";
    m.output_specs = "{'user_output':{'arg':{'as_tensor':{'name':'n'}}}}";
    tc_status status;
    tc_module *module = load(ctx, m, &status);
    CHECK(module && ti_main(module)->n_mutation == 1);
    if (module) {
        tc_graph *g = ti_main(module);
        CHECK(g->val[g->mutation[0].before]->state && !ti_is_const(g, g->mutation[0].before) &&
              g->mutation[0].after == g->out[0]);
    }
    tc_ctx_free(ctx);
    m.nodes = SYM("torch.ops.aten.item.default", SELF("p"),
                  "i") "," NODE("add_.Tensor", SELF("p") "," ARG("other", "as_int", "1"),
                                "k") "," NODE("round.decimals", SELF("k") "," ARG("decimals",
                                "as_sym_int", "{'as_name':'i'}"), "n");
    m.values = "'p':" F32("") ",'k':" F32("") ",'n':" F32("");
    CHECK(refused(m, TC_UNSUPPORTED, "or on state [dynamic-shape]"));
    /* what only an assertion asks for need not be known */
    /* clang-format off */
    m.nodes = SYM("torch.ops.aten.item.default", SELF("p"), "i") ","
              SYM("_operator.le", NAMED("i") "," NUMBER(24), "b") ","
              "{'target':'torch.ops.aten._assert_scalar.default','inputs':["
              ARG("self", "as_sym_bool", "{'as_name':'b'}") "],'outputs':[],'metadata':{}},"
              NODE("add_.Tensor", SELF("p") "," ARG("other", "as_int", "1"), "n");
    /* clang-format on */
    ctx = tc_ctx_new();
    CHECK(load(ctx, m, &status));
    tc_ctx_free(ctx);
}

/* Every prefix and every flipped bit of an archive: an answer or a message. */
static void test_damage(void)
{
    static const float w[6] = {1, 2, 3, 4, 5, 6};
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes whole = build(ctx, OF_W(STORED(7, INT(2) "," INT(3), INT(1) "," INT(2), 0), w));
    size_t read = 0, silent = 0;
    for (size_t k = 0; k < whole.size * 2; k++) {
        tc_ctx *one = tc_ctx_new();
        tc_module *module;
        uint8_t *copy = malloc(whole.size);
        memcpy(copy, whole.data, whole.size);
        size_t size = k < whole.size ? k : whole.size;
        if (k >= whole.size)
            copy[k - whole.size] ^= (uint8_t)(1u << k % 8);
        tc_status status = ti_read_pt2(one, "m.pt2", (tc_bytes){copy, size}, &module);
        read += status == TC_OK;
        silent += status != TC_OK && !one->n_error;
        tc_ctx_free(one);
        free(copy);
    }
    CHECK(silent == 0 && read > 0 && read < whole.size);
    tc_ctx_free(ctx);
}

/* A torch 2.6 file whose state is this pickle. */
static tc_status read_pickle(tc_ctx *ctx, const char *pickle, size_t n, tc_module **module)
{
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    zipped inner, z;
    zipped_begin(&inner, &ctx->arena);
    zipped_add(&inner, "archive/data.pkl", pickle, n);
    zipped_add(&inner, "archive/data/0", numbers, sizeof numbers);
    tc_bytes saved = zipped_end(&inner);
    zipped_begin(&z, &ctx->arena);
    zipped_text(&z, "serialized_exported_program.json",
                json(ctx, "{'schema_version':{'major':8,'minor':2},'graph_module':{'graph':{'"
                          "inputs':[{'as_tensor':{'name':'p'}}],'outputs':[{"
                          "'as_tensor':{'name':'p'}}],'nodes':[],'tensor_values':{}},'signature':{'"
                          "input_specs':[{'parameter':{'arg':{'name':"
                          "'p'},'parameter_name':'w'}}],'output_specs':[{'user_output':{'arg':{'as_"
                          "tensor':{'name':'p'}}}}]}}}"));
    zipped_add(&z, "serialized_state_dict.pt", saved.data, saved.size);
    tc_bytes bytes = zipped_end(&z);
    return ti_read_pt2(ctx, "old.pt2", bytes, module);
}

static bool pickle_says(const char *pickle, size_t n, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module;
    tc_status status = read_pickle(ctx, pickle, n, &module);
    bool good =
        words ? status == TC_BAD_MODEL && strstr(tc_diagnostics(ctx), words) : status == TC_OK;
    if (!good)
        fprintf(stderr, "status %d: %s", status, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

#define PICKLE(text) text, sizeof(text) - 1
#define STORAGE "(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0000X\x03\0\0\0cpuK\x06tQ"
#define TENSOR(storage, tail) "ctorch._utils\n_rebuild_tensor_v2\n(" storage tail "tR"

static void test_pickles(void)
{
    static const char good[] =
        "\x80\x02}X\x01\0\0\0w" TENSOR(STORAGE, "K\0K\x02K\x03\x86K\x03K\x01\x86\x89)") "s.";
    CHECK(pickle_says(PICKLE(good), NULL));
    CHECK(pickle_says(PICKLE("\x80\x02"
                             "cos\nsystem\n(X\x02\0\0\0lstR."),
                      "asks for 'os.system', which is not a plain tensor"));
    CHECK(pickle_says(PICKLE("\x80\x02" "cbuiltins\neval\n)R."), "'builtins.eval'"));
    CHECK(pickle_says(PICKLE("\x80\x02}X\x01\0\0\0w" TENSOR(
                          STORAGE, "K\0K\x04K\x03\x86K\x03K\x01\x86\x89)") "s."),
                      "[truncated]"));
    CHECK(pickle_says(
        PICKLE("\x80\x02}X\x01\0\0\0w" TENSOR("N", "K\0K\x04K\x03\x86K\x03K\x01\x86\x89)") "s."),
        "without its storage"));
    CHECK(pickle_says(PICKLE("\x80\x02N."), "no dictionary of tensors"));
    CHECK(pickle_says(PICKLE("\x80\x02}."), "does not hold this parameter"));
    CHECK(pickle_says(PICKLE("\x80\x02("), "[truncated]"));
    CHECK(pickle_says(PICKLE("\x80\x02."), "without its operand"));
    CHECK(pickle_says(PICKLE("t."), "without its mark"));
    CHECK(pickle_says(PICKLE("\x86."), "without its elements"));
    CHECK(pickle_says(PICKLE("R."), "without its operand"));
    CHECK(pickle_says(PICKLE("}e."), "without its mark"));
    CHECK(pickle_says(PICKLE("}(Ku."), "[format]"));
    CHECK(pickle_says(PICKLE("Nr\xff\xff\xff\x7f."), "numbered in order"));
    CHECK(pickle_says(PICKLE("h\x05."), "never written"));
    CHECK(pickle_says(PICKLE("X\xff\xff\xff\xff" "ab"), "[truncated]"));
    CHECK(pickle_says(PICKLE("\x8a\xff."), "[truncated]"));
    CHECK(pickle_says(PICKLE("I1\n."), "instruction 0x49"));
    CHECK(pickle_says(
        PICKLE("(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0009X\x03\0\0\0cpuK\x06tQ."),
        "no member 'archive/data/9'"));
}

/* Compressed members inflate, and bombs do not. */
static void test_archives(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module;
    CHECK(ti_read_pt2(ctx, "z", (tc_bytes){(const uint8_t *)"PK\5\6", 4}, &module) == TC_BAD_MODEL);
    zipped z;
    zipped_begin(&z, &ctx->arena);
    zipped_text(&z, "archive/data.pkl", "x");
    CHECK(ti_read_pt2(ctx, "z", zipped_end(&z), &module) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "it looks like torch.save's"));
    zipped_begin(&z, &ctx->arena);
    zipped_text(&z, "a/../b", "x");
    CHECK(ti_read_pt2(ctx, "z", zipped_end(&z), &module) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "not a path inside the archive"));
    zipped_begin(&z, &ctx->arena);
    zipped_text(&z, "a", "x");
    zipped_text(&z, "a", "y");
    CHECK(ti_read_pt2(ctx, "z", zipped_end(&z), &module) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "two members of one name, 'a'"));
    /* A gigabyte that is said to stand in one byte. */
    zipped_begin(&z, &ctx->arena);
    zipped_text(&z, "a", "x");
    z.directory.data[10] = 8;
    z.directory.data[24 + 3] = 0x40;
    tc_archive archive;
    tc_bytes content, bytes = zipped_end(&z);
    CHECK(ti_archive_open(ctx, &ctx->arena, "z", NULL, bytes, &archive) == TC_OK);
    CHECK(ti_archive_read(&archive, ti_archive_find(&archive, "a"), &content) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "claim to inflate to 1073741825 [too-large]"));
    tc_ctx_free(ctx);
}

/* The same small model as torch 2.6 and torch 2.8 lay it out. */
static void test_layout(const char *path)
{
    static const float turned[6] = {0, 3, 1, 4, 2, 5};
    static const int16_t part[6] = {4, 5, 6, 7, 8, 9};
    static const uint16_t words[2] = {1, 65535};
    static const uint8_t kept_out[2] = {1, 0};
    static const struct {
        const char *type;
        const void *data;
        size_t size;
    } expected[5] = {{"f32[2,3]", NULL, 0},
                     {"f32[3,2]", turned, sizeof turned},
                     {"i16[6]", part, sizeof part},
                     {"u16[2]", words, sizeof words},
                     {"bool[2]", kept_out, sizeof kept_out}};
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = NULL;
    CHECK(ti_read(ctx, path, &module) == TC_OK);
    fputs(tc_diagnostics(ctx), stderr);
    bool whole = module && ti_main(module)->n_out == TC_COUNT(expected);
    CHECK(whole);
    if (whole) {
        tc_graph *g = ti_main(module);
        for (size_t i = 0; i < TC_COUNT(expected); i++) {
            const tc_value *v = ti_value_of(g, g->out[i]);
            CHECK(ti_text_eq(ti_type_text(&ctx->arena, v->type), expected[i].type));
            CHECK(!expected[i].size ||
                  (v->data && memcmp(v->data, expected[i].data, expected[i].size) == 0));
        }
        const tc_node *linear = g->node[1], *matmul = g->node[2];
        CHECK(linear->op == TC_OP_linear && matmul->op == TC_OP_matmul &&
              linear->in[1] == matmul->in[1]);
        CHECK(ti_text_eq(linear->loc->place, "old_pt2.py:27") &&
              ti_text_eq(linear->loc->node, "linear"));
    }
    tc_ctx_free(ctx);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_json(ctx);
    tc_ctx_free(ctx);
    test_ports();
    test_weights();
    test_programs();
    test_sizes();
    test_arithmetic();
    test_optional();
    test_views();
    test_mutation();
    test_damage();
    test_pickles();
    test_archives();
    test_layout(TOSAC_FIXTURES "/pt2-2.6/model.pt2");
    test_layout(TOSAC_FIXTURES "/pt2-2.8/model.pt2");
    test_layout(TOSAC_FIXTURES "/pt2-2.9/model.pt2");
    test_layout(TOSAC_FIXTURES "/pt2-2.11/model.pt2");
    test_layout(TOSAC_FIXTURES "/pt2-2.15/model.pt2");
    return check_done();
}
