/* SPDX-License-Identifier: Apache-2.0 */
/* c_transform.c -- products in float with constant matrices that are windowed Fourier transforms (dft.h): windows and
 * a fast transform instead, wherever that is fewer operations.
 *
 * Two such products of one operand, with one window, are one step: real and imaginary parts. */
#include "c_model.h"

#include <math.h>

#include "../base/real.h"
#include "../num/dft.h"

/* The windows of a product: lines of x, each `extent` elements. */
typedef struct windows {
    int64_t lines, extent, n, stride, before, length;
} windows;

struct tc_c_transform {
    tc_dft side[2];
    const tc_node *node[2]; /* the second NULL: there is one */
    windows at;
};

/* ---- which products ---- */

static bool is_one(tc_ints v, int at) { return v.v[at] == 1; }

/* Windows whose elements follow each other in memory; false: they do not. */
static bool windows_of(const tc_c_graph *cg, const tc_node *node, windows *out)
{
    const int64_t *x = ti_c_operand(cg, node, 0)->dim, *w = ti_c_operand(cg, node, 1)->dim,
                  *y = ti_type_of(cg->g, node->out[0])->dim;
    const tc_attr_tosa_conv *a = node->attr;
    bool across = w[1] == 1 && !a->pad.v[0] && !a->pad.v[1] && (is_one(a->dilation, 1) || w[2] == 1) &&
                  (is_one(a->stride, 0) || x[1] == 1);
    bool down = x[2] == 1 && w[2] == 1 && !a->pad.v[2] && !a->pad.v[3] && (is_one(a->dilation, 0) || w[1] == 1);
    if (across)
        *out = (windows){x[0] * y[1], x[2] * x[3], y[2], a->stride.v[1] * x[3], a->pad.v[2] * x[3], w[2] * x[3]};
    else if (down)
        *out = (windows){x[0], x[1] * x[3], y[1], a->stride.v[0] * x[3], a->pad.v[0] * x[3], w[1] * x[3]};
    return across || down;
}

/* Rows of the matrix, each of one result. */
static const float *matrix_of(tc_ctx *ctx, const tc_c_graph *cg, const tc_node *node, windows *at, int64_t *rows)
{
    const tc_type *x = ti_c_operand(cg, node, 0), *w = ti_c_operand(cg, node, 1);
    const float *data = ti_tensor_of(cg->g, cg->place[node->in[1]].root).data;
    if (node->op == TC_OP_tosa_conv2d) {
        *rows = w->dim[0];
        return windows_of(cg, node, at) ? data : NULL;
    }
    int64_t length = w->dim[1];
    *rows = w->dim[2];
    *at = (windows){1, x->dim[0] * x->dim[1] * length, x->dim[1], length, 0, length};
    if (w->dim[0] != 1)
        return NULL;
    float *turned = tc_new_n(&ctx->arena, float, (size_t)(*rows * length) + 1);
    for (int64_t r = 0; r < *rows; r++)
        for (int64_t n = 0; n < length; n++)
            turned[r * length + n] = data[n * *rows + r];
    return turned;
}

static bool can_be(const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    bool conv = node->op == TC_OP_tosa_conv2d;
    return (conv || node->op == TC_OP_tosa_matmul) && ti_type_of(cg->g, node->out[0])->dtype == TC_f32 &&
           ti_c_operand(cg, node, 0)->dtype == TC_f32 && ti_c_operand(cg, node, 1)->dtype == TC_f32 &&
           ti_c_is_const(cg, node->in[1]) && (!conv || ti_c_is_const(cg, node->in[2]));
}

static bool finds(tc_ctx *ctx, const tc_c_graph *cg, const tc_c_step *s, tc_c_transform *out)
{
    int64_t rows;
    if (!can_be(cg, s))
        return false;
    const float *w = matrix_of(ctx, cg, s->node, &out->at, &rows);
    out->node[0] = s->node;
    return w && ti_dft_find(&ctx->arena, w, rows, out->at.length, &out->side[0]) &&
           ti_dft_quick_operations(&out->side[0]) < ti_dft_matrix_operations(&out->side[0]);
}

/* The same windows of the same values, with the same number of points; what one leaves open the other tells. */
static bool belong(const tc_c_graph *cg, const tc_c_transform *a, const tc_c_transform *b)
{
    const tc_dft *x = &a->side[0], *y = &b->side[0];
    const tc_c_place *p = &cg->place[a->node[0]->in[0]], *q = &cg->place[b->node[0]->in[0]];
    double top = 0, apart = 0;
    if (p->root != q->root || p->offset != q->offset || x->points != y->points || x->length != y->length ||
        memcmp(&a->at, &b->at, sizeof a->at) != 0)
        return false;
    for (int64_t n = 0; n < x->length; n++) {
        top = fmax(top, fabs((double)x->window[n]));
        if (!x->open[n] && !y->open[n])
            apart = fmax(apart, fabs((double)x->window[n] - (double)y->window[n]));
    }
    return apart <= TC_DFT_BOUND * top;
}

static void join(tc_ctx *ctx, tc_c_transform *t, const tc_c_transform *other)
{
    tc_dft *x = &t->side[0];
    const tc_dft *y = &other->side[0];
    float *joined = tc_new_n(&ctx->arena, float, (size_t)x->length);
    for (int64_t n = 0; n < x->length; n++)
        joined[n] = x->open[n] ? y->window[n] : x->window[n];
    x->window = joined;
    t->side[1] = *y;
    t->node[1] = other->node[0];
}

void ti_c_transforms(tc_ctx *ctx, tc_c_graph *cg)
{
    for (size_t k = 0; k < cg->n_step; k++) {
        tc_c_transform found = {0}, *kept = NULL;
        if (!finds(ctx, cg, &cg->step[k], &found))
            continue;
        for (size_t i = 0; i < k && !kept; i++) {
            tc_c_transform *before = cg->step[i].transform;
            if (before && !before->node[1] && belong(cg, before, &found))
                kept = before;
        }
        if (kept) {
            join(ctx, kept, &found);
            cg->step[k].made = true;
            continue;
        }
        kept = tc_new(&ctx->arena, tc_c_transform);
        *kept = found;
        cg->step[k].transform = kept;
    }
}

tc_val ti_c_transform_other(const tc_c_step *s)
{
    return s->transform && s->transform->node[1] ? s->transform->node[1]->out[0] : TC_NONE;
}

static int64_t numbers_of(const tc_dft *d) { return d->points % 2 ? d->points : d->points / 2; }

int64_t ti_c_transform_scratch(const tc_c_step *s)
{
    return 4 * (int64_t)sizeof(float) * (numbers_of(&s->transform->side[0]) + 1);
}

/* ---- text ---- */

static const char *floats(tc_c_model *m, const float *x, int64_t n) { return ti_c_array(m, TC_f32, x, n); }

/* (cos, -sin)(2 pi j / n), j < count. */
static const char *circle(tc_c_model *m, int64_t n, int64_t count)
{
    float *x = tc_new_n(&m->ctx->arena, float, (size_t)(2 * count));
    for (int64_t j = 0; j < count; j++) {
        double angle = 2 * 3.14159265358979323846 * (double)j / (double)n;
        x[2 * j] = 4 * j == n || 4 * j == 3 * n ? 0 : (float)ti_cos(angle);
        x[2 * j + 1] = 2 * j == n || j == 0 ? 0 : (float)-ti_sin(angle);
    }
    return floats(m, x, 2 * count);
}

static const char *window(tc_c_model *m, const tc_dft *d)
{
    float *x = tc_new_n(&m->ctx->arena, float, (size_t)d->length);
    for (int64_t n = 0; n < d->length; n++)
        x[n] = d->points % 2 ? d->window[n] : d->window[n] / 2;
    return floats(m, x, d->length);
}

static const char *bias(tc_c_model *m, const tc_c_graph *cg, const tc_node *node, int64_t rows)
{
    if (node->op != TC_OP_tosa_conv2d)
        return "NULL";
    tc_tensor t = ti_tensor_of(cg->g, cg->place[node->in[2]].root);
    float *x = tc_new_n(&m->ctx->arena, float, (size_t)rows), most = 0;
    for (int64_t r = 0; r < rows; r++) {
        x[r] = (float)ti_load_f64(t, tc_type_count(t.type) == 1 ? 0 : r);
        most = fmaxf(most, fabsf(x[r]));
    }
    return most > 0 ? floats(m, x, rows) : "NULL";
}

static void put_side(tc_c_model *m, const tc_c_graph *cg, const tc_dft *d, const tc_node *node)
{
    int16_t *take = tc_new_n(&m->ctx->arena, int16_t, (size_t)d->rows);
    float *factor = tc_new_n(&m->ctx->arena, float, (size_t)(2 * d->rows));
    for (int64_t r = 0; r < d->rows; r++) {
        bool imag = d->imag[r] != 0;
        float sign = d->real[r] + d->imag[r];
        int place = 1 + 2 * d->bin[r] + imag;
        take[r] = (int16_t)(!d->plain ? d->bin[r] : sign > 0 ? place : sign < 0 ? -place : 0);
        factor[2 * r] = d->real[r];
        factor[2 * r + 1] = d->imag[r];
    }
    const char *at = ti_c_array(m, TC_i16, take, d->rows),
               *factors = d->plain ? "NULL" : floats(m, factor, 2 * d->rows);
    ti_buf_printf(&m->code, "{%" PRId64 ", %s, %s, %s}", d->rows, at, factors, bias(m, cg, node, d->rows));
}

tc_status ti_c_transform(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    if (s->made)
        return TC_OK;
    const tc_c_transform *t = s->transform;
    const tc_dft *d = &t->side[0];
    int64_t n = numbers_of(d);
    m->used[TC_C_TRANSFORM] = m->used[TC_C_FLOAT_LINES] = m->used[TC_C_SIMD] = true;
    const char *w = window(m, d), *root = circle(m, n, n);
    const char *turn = d->points % 2 ? "NULL" : circle(m, d->points, n / 2 + 1);
    ti_buf_printf(&m->code,
                  "        static const tosac_transform p = {\n"
                  "            .lines = %" PRId64 ", .extent = %" PRId64 ", .windows = %" PRId64 ", .stride = %" PRId64
                  ", .before = %" PRId64 ",\n"
                  "            .points = %" PRId64 ", .length = %" PRId64 ",\n"
                  "            .window = %s, .root = %s, .turn = %s,\n            .side = {",
                  t->at.lines, t->at.extent, t->at.n, t->at.stride, t->at.before, d->points, d->length, w, root, turn);
    put_side(m, cg, d, s->node);
    if (t->node[1]) {
        ti_buf_text(&m->code, ", ");
        put_side(m, cg, &t->side[1], t->node[1]);
    }
    const char *from = ti_c_pointer(m, cg, s->node->in[0]), *to = ti_c_pointer(m, cg, s->out);
    const char *other = t->node[1] ? ti_c_pointer(m, cg, t->node[1]->out[0]) : "NULL";
    ti_buf_printf(&m->code, "}};\n        tosac_transform_f32(&p, %s, %s, %s, %s);\n", from, to, other,
                  ti_c_scratch(m, TC_f32, 0));
    return TC_OK;
}

tc_c_transformed ti_c_transformed(const tc_c_step *s)
{
    const tc_c_transform *t = s->transform;
    double n = (double)(t->at.lines * t->at.n), rows = (double)(t->side[0].rows + t->side[1].rows);
    double matrix = ti_dft_matrix_operations(&t->side[0]);
    if (t->node[1])
        matrix += ti_dft_matrix_operations(&t->side[1]);
    return (tc_c_transformed){.node = s->node->loc->node ? s->node->loc->node : "",
                              .points = t->side[0].points,
                              .windows = n,
                              .elements = n * (double)t->side[0].points,
                              .results = n * rows,
                              .quick = n * ti_dft_quick_operations(&t->side[0]),
                              .matrix = n * matrix};
}
