/* SPDX-License-Identifier: Apache-2.0 */
/* c_places.c -- pools, reductions, ARGMAX, GATHER, SCATTER, RESIZE: calls of their kernels. */
#include "c_model.h"

/* "(..., x, out);" */
static void put_call(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s, const char *begin)
{
    ti_buf_printf(&m->code, "        %s", begin);
    for (int i = 0; i < s->node->n_in; i++)
        ti_buf_printf(&m->code, ", %s", ti_c_pointer(m, cg, s->node->in[i]));
    ti_buf_printf(&m->code, ", %s);\n", ti_c_pointer(m, cg, s->out));
}

static bool is_real(const tc_c_graph *cg, const tc_node *node)
{
    return ti_c_operand(cg, node, 0)->dtype == TC_f32;
}

/* Kernels of floats are in a separate file; "_f32", or "". */
static const char *use(tc_c_model *m, const tc_c_graph *cg, const tc_node *node, tc_c_kernel kernel)
{
    bool real = is_real(cg, node);
    m->used[real ? TC_C_FLOAT : kernel] = true;
    m->used[TC_C_FLOAT_LINES] = m->used[TC_C_FLOAT_LINES] || real;
    return real ? "_f32" : "";
}

static int ignores(tc_field_nan_mode mode) { return mode == TC_nan_mode_ignore; }

tc_status ti_c_pool(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    bool mean = node->op == TC_OP_tosa_avg_pool2d;
    const tc_attr_tosa_avg_pool *a = node->attr;
    const tc_attr_tosa_max_pool *b = node->attr;
    tc_ints kernel = mean ? a->kernel : b->kernel, stride = mean ? a->stride : b->stride;
    tc_ints pad = mean ? a->pad : b->pad;
    const int64_t *x = ti_c_operand(cg, node, 0)->dim, *out = ti_type_of(cg->g, s->out)->dim;
    const char *kind = use(m, cg, node, TC_C_POOL);
    const char *zero = mean ? ti_c_zero(m, cg, node->in[1]) : "0";
    const char *out_zero = mean ? ti_c_zero(m, cg, node->in[2]) : "0";
    const char *from = ti_c_pointer(m, cg, node->in[0]);
    ti_buf_printf(&m->code,
                  "        %sconst tosac_pool p = {\n"
                  "            .batches = %" PRId64 ", .in_h = %" PRId64 ", .in_w = %" PRId64
                  ", .channels = %" PRId64 ", .out_h = %" PRId64 ", .out_w = %" PRId64 ",\n",
                  mean ? ti_c_storage(cg, node, 1) : "static ", x[0], x[1], x[2], x[3], out[1],
                  out[2]);
    ti_buf_printf(&m->code,
                  "            .kernel_h = %" PRId64 ", .kernel_w = %" PRId64
                  ", .stride_h = %" PRId64 ", .stride_w = %" PRId64 ", .top = %" PRId64
                  ", .left = %" PRId64 ",\n",
                  kernel.v[0], kernel.v[1], stride.v[0], stride.v[1], pad.v[0], pad.v[2]);
    ti_buf_printf(&m->code,
                  "            .x_zero = %s, .out_zero = %s, .type = %s};\n",
                  zero, out_zero,
                  ti_c_type_word(ti_c_operand(cg, node, 0)->dtype));
    ti_buf_printf(&m->code, "        tosac_%s_pool%s(&p, ", mean ? "avg" : "max", kind);
    if (*kind && !mean)
        ti_buf_printf(&m->code, "%d, ", ignores(b->nan_mode));
    ti_buf_printf(&m->code, "%s, %s);\n", from, ti_c_pointer(m, cg, s->out));
    return TC_OK;
}

/* "type, outer, n, inner" of an axis; of floats "ignore, outer, n, inner". */
static const char *axis_view(const tc_c_model *m, const tc_type *t, int64_t axis, int ignore)
{
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; i++)
        outer *= t->dim[i];
    for (int i = (int)axis + 1; i < t->rank; i++)
        inner *= t->dim[i];
    const char *first = t->dtype != TC_f32 ? ti_c_type_word(t->dtype) : ignore ? "1" : "0";
    return ti_text_format(&m->ctx->arena, "%s, %" PRId64 ", %" PRId64 ", %" PRId64, first, outer,
                          t->dim[axis], inner);
}

tc_status ti_c_reduce(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    static const struct {
        tc_op op;
        const char *word;
    } kinds[] = {{TC_OP_tosa_reduce_sum, "TOSAC_SUM"}, {TC_OP_tosa_reduce_max, "TOSAC_MAX"},
                 {TC_OP_tosa_reduce_min, "TOSAC_MIN"}, {TC_OP_tosa_reduce_all, "TOSAC_ALL"},
                 {TC_OP_tosa_reduce_any, "TOSAC_ANY"}, {TC_OP_tosa_reduce_product, "TOSAC_PRODUCT"}};
    const tc_attr_tosa_axis_nan *a = s->node->attr; /* the axis is the first field of all */
    bool extreme = s->node->op == TC_OP_tosa_reduce_max || s->node->op == TC_OP_tosa_reduce_min;
    size_t i = 0;
    while (kinds[i].op != s->node->op)
        i++;
    const char *kind = use(m, cg, s->node, TC_C_REDUCE);
    m->used[TC_C_SIMD] = m->used[TC_C_VECTOR] = true;
    put_call(m, cg, s,
             ti_text_format(&m->ctx->arena, "tosac_reduce%s(%s, %s", kind, kinds[i].word,
                            axis_view(m, ti_c_operand(cg, s->node, 0), a->axis,
                                      extreme && ignores(a->nan_mode))));
    return TC_OK;
}

tc_status ti_c_argmax(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_attr_tosa_argmax *a = s->node->attr;
    const char *kind = use(m, cg, s->node, TC_C_ARGMAX);
    put_call(m, cg, s,
             ti_text_format(&m->ctx->arena, "tosac_argmax%s(%s", kind,
                            axis_view(m, ti_c_operand(cg, s->node, 0), a->axis, ignores(a->nan_mode))));
    return TC_OK;
}

static tc_status rows(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s, const char *name)
{
    const tc_type *values = ti_c_operand(cg, s->node, 0), *indices = ti_c_operand(cg, s->node, 1);
    m->used[TC_C_GATHER] = true;
    put_call(m, cg, s,
             ti_text_format(&m->ctx->arena, "%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64,
                            name, values->dim[0], values->dim[1], indices->dim[1],
                            values->dim[2] * tc_dtypes[values->dtype].bytes));
    return TC_OK;
}

tc_status ti_c_gather(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    return rows(m, cg, s, "tosac_gather");
}

tc_status ti_c_scatter(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    return rows(m, cg, s, "tosac_scatter");
}

tc_status ti_c_resize(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    const tc_attr_tosa_resize *a = node->attr;
    const tc_type *x = ti_c_operand(cg, node, 0), *out = ti_type_of(cg->g, s->out);
    if (!ti_c_is_const(cg, node->in[1]) || !ti_c_is_const(cg, node->in[2]))
        return ti_c_refuse(m, node, "its scale is not constant");
    bool between = a->mode == TC_resize_mode_bilinear, real = between && is_real(cg, node);
    if (real)
        (void)use(m, cg, node, TC_C_RESIZE);
    else
        m->used[TC_C_RESIZE] = true;
    const char *type = ti_c_type_word(between || !is_real(cg, node) ? x->dtype : TC_i32); /* nearest: moved */
    ti_buf_printf(&m->code,
                  "        static const tosac_resize p = {\n"
                  "            .batches = %" PRId64 ", .in_h = %" PRId64 ", .in_w = %" PRId64
                  ", .channels = %" PRId64 ", .out_h = %" PRId64 ", .out_w = %" PRId64 ",\n",
                  x->dim[0], x->dim[1], x->dim[2], x->dim[3], out->dim[1], out->dim[2]);
    ti_buf_printf(&m->code,
                  "            .y_n = %" PRId64 ", .y_d = %" PRId64 ", .y_offset = %" PRId64
                  ", .x_n = %" PRId64 ", .x_d = %" PRId64 ", .x_offset = %" PRId64 ",\n",
                  ti_c_const_at(cg, node->in[1], 0), ti_c_const_at(cg, node->in[1], 1),
                  ti_c_const_at(cg, node->in[2], 0), ti_c_const_at(cg, node->in[1], 2),
                  ti_c_const_at(cg, node->in[1], 3), ti_c_const_at(cg, node->in[2], 1));
    ti_buf_printf(&m->code, "            .type = %s, .result = %s};\n", type,
                  ti_c_type_word(out->dtype));
    const char *from = ti_c_pointer(m, cg, node->in[0]);
    ti_buf_printf(&m->code, "        tosac_resize_%s(&p, %s, %s);\n",
                  real ? "f32" : between ? "bilinear" : "nearest", from, ti_c_pointer(m, cg, s->out));
    return TC_OK;
}
