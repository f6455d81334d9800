/* SPDX-License-Identifier: Apache-2.0 */
/* table.c -- models from the operator table: which numbers an operator takes, with what attributes,
 * and a specimen of every operator, so that none is forgotten. */
#include "models.h"

#include "ir/ir_text.h"
#include "run/eval.h"
#include "wire/file.h"

/* ---- elementwise operators ---- */

const uint8_t defined_on[TC_OP_COUNT] = {
#define OP(...)
#define FUNCTION(name, attr, role, defined, ...) [TC_OP_##name] = ON_##defined,
#include "ir/op.def"
};

/* Records of numbers that make sense; integers where integers must have them. */
const void *some_attr(garden *d, tc_attr_kind kind, bool whole, bool *fine)
{
    static const char *const formulas[] = {
        "x * sigmoid(x)", "a = clamp(x, -2, 2); a > 0 ? a * a : 1 - exp(a)",
        "x * 0.5 * (tanh(x * (x * x * 0.044715 + 1) * 0.79788456) + 1)"};
    double a = whole ? (double)draw(5) - 2 : (double)draw(9) / 4 - 1;
    double b = whole ? 1 + (double)draw(3) : 0.25 + (double)draw(6) / 4;
    *fine = true;
    switch (kind) {
#define RECORD(name, ...)                                                                          \
    case TC_ATTR_##name:                                                                           \
        return ti_arena_copy(&d->ctx->arena, &(tc_attr_##name){__VA_ARGS__},                       \
                             sizeof(tc_attr_##name));
        RECORD(alpha, draw(4) ? 1 : b)
        RECORD(div, whole ? (tc_field_div_mode)(1 + draw(2)) : (tc_field_div_mode)draw(3))
        RECORD(round, draw(3) ? 0 : (int64_t)draw(4) - 1)
        RECORD(clamp, draw(6) ? a : -1.0 / 0.0, a + b)
        RECORD(gelu, (tc_field_gelu_form)draw(2))
        RECORD(softplus, 1 + (double)draw(3), 20)
        RECORD(elu, b, draw(2) ? 1 : b, draw(2) ? 1 : 0.5)
        RECORD(slope, (double)draw(5) / 10)
        RECORD(threshold, a, b)
        RECORD(lambda, b)
        RECORD(logit, 1e-3)
        RECORD(nan_to_num, 0, 100, -100)
        RECORD(scale, b)
        RECORD(cast, TC_f32)
        RECORD(function, formulas[draw(TC_COUNT(formulas))])
    case TC_ATTR_none:
        return NULL;
    default:
        *fine = false;
        return NULL;
    }
}

enum { SOME_TYPES = 10 };
static const tc_dtype some_type[SOME_TYPES] = {TC_f32, TC_f16, TC_bf16, TC_f64, TC_i8,
                                               TC_i16, TC_i32, TC_i64,  TC_u8,  TC_bool};

/* Its last operand should not be near 0, or not below. */
bool divides(tc_op op)
{
    return op == TC_OP_div || op == TC_OP_pow || op == TC_OP_remainder || op == TC_OP_fmod ||
           op == TC_OP_addcdiv || op == TC_OP_xlogy;
}

/* Operands of one type and shape; those of a choice behind its condition. */
static tc_val on_inputs(garden *d, tc_op op, tc_dtype type)
{
    const tc_type *t = ti_type_make(d->ctx, type, 2, (int64_t[]){3, 8});
    tc_val in[3];
    bool fine;
    for (int i = 0; i < tc_ops[op].max_in && i < 3; i++)
        in[i] = ti_graph_input(d->g, op == TC_OP_where && !i
                                         ? ti_type_make(d->ctx, TC_bool, 2, (int64_t[]){3, 8})
                                         : t, NULL);
    if (ti_is_float(type)) {
        in[0] = brought(d, in[0], op == TC_OP_pow ? ON_positive : defined_on[op]);
        int last = tc_ops[op].max_in - 1;
        in[last] = divides(op) ? brought(d, in[last], ON_positive) : in[last];
    } else if (divides(op))
        in[tc_ops[op].max_in - 1] = constant(d, type, 0, NULL, 3, 3);
    const void *attr = some_attr(d, tc_ops[op].attr, !ti_is_float(type), &fine);
    return fine ? put(d, op, attr, tc_attrs[tc_ops[op].attr].size, tc_ops[op].max_in, in) : TC_NONE;
}

/* The shape rule and the kernel take numbers of the type. */
static bool takes(tc_op op, tc_dtype type)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = ti_module_new(ctx, "model");
    garden d = {.ctx = ctx, .g = ti_graph_new(module, "main")};
    bool good = on_inputs(&d, op, type) && !d.broken;
    if (good) {
        tc_tensor in[4], out[1];
        ti_graph_output(d.g, d.g->node[d.g->n_node - 1]->out[0]);
        for (size_t i = 0; i < d.g->n_in; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(d.g, d.g->in[i]));
            memset(in[i].data, 0, tc_type_bytes(in[i].type));
        }
        good = ti_eval(d.g, in, out, &ctx->arena) == TC_OK;
    }
    tc_ctx_free(ctx);
    return good;
}

/* Asked for the first time it throws dice of its own: a model follows from its number alone. */
bool op_takes(tc_op op, tc_dtype type)
{
    static uint8_t known[TC_OP_COUNT][TC_DTYPE_COUNT]; /* 1: no, 2: yes */
    if (!known[op][type]) {
        uint64_t before = draw_state();
        draw_from((uint64_t)op);
        known[op][type] = (uint8_t)(1 + takes(op, type));
        draw_on(before);
    }
    return known[op][type] == 2;
}

tc_op drawn_op(uint32_t trait, int operands)
{
    tc_op op;
    do
        op = (tc_op)draw(TC_OP_tosa_argmax);
    while (!(tc_ops[op].traits & trait) || tc_ops[op].max_in != operands);
    return op;
}

/* ---- a specimen of every operator ---- */

/* One node for every type that it takes. */
static tc_buf all_types(tc_ctx *ctx, tc_op op)
{
    tc_buf text;
    tc_module *module = ti_module_new(ctx, "model");
    garden d = {.ctx = ctx, .g = ti_graph_new(module, "main")};
    ti_buf_init(&text, &ctx->arena);
    draw_from((uint64_t)op);
    for (int i = 0; i < SOME_TYPES; i++)
        if (op_takes(op, some_type[i]))
            ti_graph_output(d.g, on_inputs(&d, op, some_type[i]));
    if (d.g->n_out && !d.broken)
        ti_print(module, &(tc_print_options){.locs = false}, &text);
    return text;
}

/* What a golden file compiles: between the empty line behind its command and the dashes. */
static tc_buf golden_model(tc_ctx *ctx, const char *folder, const char *name, const char *kind)
{
    tc_buf text;
    tc_bytes bytes;
    const char *path = ti_text_format(&ctx->arena, "%s/%s-%s.ir", folder, name, kind);
    ti_buf_init(&text, &ctx->arena);
    if (ti_file_read(ctx, path, &bytes) != TC_OK)
        return text;
    char *from = ti_text_copy(&ctx->arena, (tc_str){(const char *)bytes.data, bytes.size});
    from = strstr(from, "\n\n");
    char *to = from ? strstr(from, "\n----\n") : NULL;
    if (to)
        ti_buf_put(&text, from + 2, (size_t)(to - from - 1));
    return text;
}

/* Those that never become TOSA have no golden file there. */
static const struct {
    tc_op op;
    const char *text;
} bare[] = {
    {TC_OP_complex, "graph @main(%0: f32[2,3], %1: f32[2,3]) {\n"
                    "  %2 = complex %0, %1\n  %3 = real %2\n  return %3\n}\n"},
    {TC_OP_fake_quantize,
     "graph @main(%0: f32[2,3,4]) {\n"
     "  %1 = fake_quantize %0 scale=0.03 zero=5 axis=-1 qmin=-100 qmax=100 dtype=f32\n"
     "  return %1\n}\n"},
    {TC_OP_choose_qparams,
     "graph @main(%0: f32[2,3]) {\n"
     "  %1, %2 = choose_qparams %0 qmin=-128 qmax=127 eps=0.001 symmetric=false zero=0 "
     "by_row=false\n"
     "  return %1, %2\n}\n"},
};

/* What passes make of a model; a reader never does. */
bool has_no_specimen(tc_op op)
{
    return op == TC_OP_const || op == TC_OP_call || op == TC_OP_call_times || op == TC_OP_ethosu || op == TC_OP_tflite_op ||
           op == TC_OP_block_round; /* settings alone make it, where the target has block-scaled types */
}

size_t specimens(tc_ctx *ctx, tc_op op, const char *folder, tc_buf *out)
{
    static const char *const kind[] = {"fp", "plain", "int"};
    size_t n = 0;
    if (tc_ops[op].traits & T_ELTWISE)
        out[n] = all_types(ctx, op), n += out[n].size > 0;
    bool typed = n > 0;
    for (size_t i = 0; i < TC_COUNT(kind) && !typed; i++)
        out[n] = golden_model(ctx, folder, tc_ops[op].name, kind[i]), n += out[n].size > 0;
    for (size_t i = 0; i < TC_COUNT(bare); i++)
        if (bare[i].op == op) {
            ti_buf_init(&out[n], &ctx->arena);
            ti_buf_put(&out[n++], bare[i].text, strlen(bare[i].text));
        }
    return n;
}
