/* SPDX-License-Identifier: Apache-2.0 */
/* qparams.c -- the parameters of a typed program as JSON, by PyTorch's node names.
 *
 *   {"conv2d": {"scale": 0.05, "zero_point": -3, "qmin": -128, "qmax": 127,
 *               "dtype": "torch.int8", "axis": null}}
 *
 * Constants are there under their own names; with a channel axis, scale and zero_point are lists.
 */
#include "quantizer.h"

static const char *torch_name(tc_dtype dtype)
{
    static const struct {
        tc_dtype dtype;
        const char *name;
    } known[] = {{TC_i4, "int4"},         {TC_i8, "torch.int8"},   {TC_u8, "torch.uint8"},
                 {TC_i16, "torch.int16"}, {TC_i32, "torch.int32"}, {TC_i48, "int48"}};
    for (size_t i = 0; i < TC_COUNT(known); i++)
        if (known[i].dtype == dtype)
            return known[i].name;
    return tc_dtypes[dtype].name;
}

/* PyTorch's name for a value, or NULL */
static const char *key_of(const tc_graph *g, tc_val v)
{
    const tc_value *value = g->val[v];
    const tc_node *def = value->def;
    bool own = def && def->op != TC_OP_rescale && def->op != TC_OP_const && def->n_out == 1 &&
               def->loc && def->loc->node;
    return own ? def->loc->node : value->name;
}

static void put_text(tc_buf *out, const char *text)
{
    ti_buf_text(out, "\"");
    for (const char *p = text; *p; p++)
        if (*p == '"' || *p == '\\')
            ti_buf_printf(out, "\\%c", *p);
        else if ((unsigned char)*p < 0x20)
            ti_buf_printf(out, "\\u%04x", (unsigned)*p);
        else
            ti_buf_u8(out, (uint8_t)*p);
    ti_buf_text(out, "\"");
}

static void put_scale(tc_buf *out, const tc_quant *q)
{
    char digits[32];
    for (int32_t i = 0; i < q->count; i++) {
        tc_text_f64(q->scale[i], digits);
        ti_buf_printf(out, "%s%s", i ? ", " : q->axis >= 0 ? "[" : "", digits);
    }
    ti_buf_text(out, q->axis >= 0 ? "]" : "");
}

static void put_zero(tc_buf *out, const tc_quant *q)
{
    for (int32_t i = 0; i < q->count; i++)
        ti_buf_printf(out, "%s%" PRId64, i ? ", " : q->axis >= 0 ? "[" : "", q->zero[i]);
    ti_buf_text(out, q->axis >= 0 ? "]" : "");
}

static void put_value(tc_buf *out, const char *key, const tc_type *type)
{
    const tc_quant *q = type->quant;
    ti_buf_text(out, "  ");
    put_text(out, key);
    ti_buf_text(out, ": {\"scale\": ");
    put_scale(out, q);
    ti_buf_text(out, ", \"zero_point\": ");
    put_zero(out, q);
    ti_buf_printf(
        out, ", \"qmin\": %" PRId64 ", \"qmax\": %" PRId64 ", \"dtype\": \"%s\", \"axis\": ", q->lo,
        q->hi, torch_name(type->dtype));
    if (q->axis >= 0)
        ti_buf_printf(out, "%d}", q->axis);
    else
        ti_buf_text(out, "null}");
}

tc_bytes ti_qparams_json(tc_ctx *ctx, const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    tc_buf out;
    tc_map seen;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    ti_buf_init(&out, &ctx->arena);
    ti_map_init(&seen, &ctx->scratch);
    ti_buf_text(&out, "{\n");
    for (tc_val v = 1; v < g->n_val; v++) {
        const tc_type *type = ti_type_of(g, v);
        const char *key = type && type->quant ? key_of(g, v) : NULL;
        void **slot = key ? ti_map_at(&seen, ti_str_of(key)) : NULL;
        if (!slot || *slot)
            continue;
        if (seen.n > 1)
            ti_buf_text(&out, ",\n");
        put_value(&out, key, type);
        *slot = (void *)(uintptr_t)key;
    }
    ti_buf_text(&out, "\n}\n");
    ti_arena_rewind(&ctx->scratch, mark);
    return (tc_bytes){(const uint8_t *)ti_buf_cstr(&out), out.size};
}
