/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_int8.c -- see tflite_int8.h. */
#include "tflite_int8.h"

#include <math.h>

#include "../ir/rewrite.h"

enum { NO_ACTIVATION = 0, RELU = 1, RELU_1 = 2, RELU_6 = 3 };

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

tc_tfw_op *ti_tf8_op(tc_tf8 *e, tc_tflm_name name, int version, const int64_t *in, size_t n,
                     int64_t out)
{
    const tc_tflm_builtin *b = &tc_tflm_builtins[name];
    tc_tfw_op *op = ti_tfw_add_op(&e->w, n, 1);
    op->code = b->code;
    op->version = version;
    op->options = b->options;
    memcpy(op->in, in, n * sizeof *in);
    op->out[0] = out;
    return op;
}

/* ---- what has an int8 form ---- */

bool ti_tf8_is_code(const tc_type *t)
{
    return t->quant && t->quant->axis < 0 &&
           (t->dtype == TC_i8 || (t->dtype == TC_i16 && !t->quant->zero[0]));
}

/* Results of 16 bits are written with 8: their step is so many times larger. */
static const double OF_16_BITS = 32767.0 / 127.0;

void ti_tf8_narrow(tc_tf8 *e, int64_t at)
{
    tc_tfw_tensor *t = &e->w.model.tensor[at];
    double scale = t->n_scale ? t->scale[0] * OF_16_BITS : 0;
    if (t->type != TFL_INT16 || !t->n_scale)
        return;
    t->type = TFL_INT8;
    t->scale = ti_arena_copy(&e->w.ctx->arena, &scale, sizeof scale);
    if (!t->constant)
        return;
    int8_t *code = ti_arena_raw(&e->w.ctx->arena, t->data.size / 2 + 1);
    for (size_t i = 0; i < t->data.size / 2; i++) {
        int16_t wide;
        memcpy(&wide, t->data.data + 2 * i, sizeof wide);
        code[i] = (int8_t)round(wide / OF_16_BITS);
    }
    t->data = (tc_bytes){(const uint8_t *)code, t->data.size / 2};
}

static double step_of(const tc_type *t)
{
    return (float)(t->quant->scale[0] * (t->dtype == TC_i16 ? OF_16_BITS : 1));
}

double ti_tf8_clipped(double v, double step, double zero)
{
    return fmin(fmax(zero + (isfinite(v) ? round(v / step) : v), INT8_MIN), INT8_MAX);
}

/* The activation whose codes are those between lo and hi; -1: none is. */
static int activation_of(const tc_type *t, double lo, double hi)
{
    static const struct {
        double lo, hi;
    } range[] = {[NO_ACTIVATION] = {-INFINITY, INFINITY},
                 [RELU] = {0, INFINITY},
                 [RELU_1] = {-1, 1},
                 [RELU_6] = {0, 6}};
    double s = step_of(t), z = (double)t->quant->zero[0];
    for (int i = 0; i < (int)TC_COUNT(range); i++)
        if (ti_tf8_clipped(lo, s, z) == ti_tf8_clipped(range[i].lo, s, z) &&
            ti_tf8_clipped(hi, s, z) == ti_tf8_clipped(range[i].hi, s, z))
            return i;
    return -1;
}

static void bounds_of(const tc_node *node, double *lo, double *hi)
{
    *lo = 0;
    *hi = INFINITY;
    if (node->op == TC_OP_clamp) {
        *lo = ((const tc_attr_clamp *)node->attr)->lo;
        *hi = ((const tc_attr_clamp *)node->attr)->hi;
    }
}

/* Its result is a sum, real or of 32 bits, and the one node that reads it is its activation. */
static bool is_fused(const tc_tf8 *e, const tc_node *node)
{
    bool product = node->op == TC_OP_conv || node->op == TC_OP_linear || node->op == TC_OP_add ||
                   node->op == TC_OP_mul || node->op == TC_OP_sub;
    tc_dtype sum = type_of(e, node->out[0])->dtype;
    return product && type_of(e, node->in[0])->quant && (sum == TC_f32 || sum == TC_i32) &&
           e->readers[node->out[0]] == 1;
}

static bool is_move(const tc_node *node)
{
    return node->op == TC_OP_permute || node->op == TC_OP_reshape;
}

/* The product whose sums these are, moved or not, before its activation; or NULL. */
static const tc_node *summed(const tc_tf8 *e, tc_val v)
{
    const tc_node *node = ti_def(e->w.g, v);
    while (node && is_move(node) && e->readers[node->out[0]] == 1)
        node = ti_def(e->w.g, node->in[0]);
    return node && is_fused(e, node) ? node : NULL;
}

/* ---- one operand ---- */

static const char *put_softmax(tc_tf8 *e, const tc_node *node)
{
    const tc_type *t = type_of(e, node->in[0]);
    if (((const tc_attr_axis *)node->attr)->axis != t->rank - 1)
        return "its axis is not the last";
    int64_t from = ti_tf8_plain(e, node->in[0]), to = ti_tfw_tensor(&e->w, node->out[0]);
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_SOFTMAX, 2, &from, 1, to);
    ti_tf8_set(op, 0, 'f', 1);
    ti_tf8_fixed(e, to, op, 1.0 / 256, INT8_MIN);
    return NULL;
}

/* ---- movement ---- */

static const char *put_reshape(tc_tf8 *e, const tc_node *node)
{
    const tc_type *t = type_of(e, node->out[0]);
    const tc_node *reader = NULL;
    for (size_t k = 0; k < e->w.g->n_node && !reader; k++)
        if (e->w.g->node[k]->n_in && e->w.g->node[k]->in[0] == node->out[0])
            reader = e->w.g->node[k];
    bool folds = reader && reader->op == TC_OP_linear && e->readers[node->out[0]] == 1 &&
                 ti_tf8_flattened(e, node->out[0]) && type_of(e, node->in[0])->dim[0] == 1;
    if (folds) /* into the columns of its weights */
        return NULL;
    int64_t from = ti_tf8_plain(e, node->in[0]), to = ti_tfw_tensor(&e->w, node->out[0]);
    ti_tf8_move(e, TC_TFLM_RESHAPE, from, ti_tf8_list(e, t->dim, t->rank), to);
    return NULL;
}

static const char *put_permute(tc_tf8 *e, const tc_node *node)
{
    tc_ints p = ((const tc_attr_perm *)node->attr)->perm;
    bool to_first = p.n == 4 && p.v[0] == 0 && p.v[1] == 3 && p.v[2] == 1 && p.v[3] == 2;
    bool to_last = p.n == 4 && p.v[0] == 0 && p.v[1] == 2 && p.v[2] == 3 && p.v[3] == 1;
    if (to_first && !e->last[node->in[0]]) {
        e->last[node->out[0]] = ti_tf8_plain(e, node->in[0]) + 1;
        return NULL;
    }
    if (to_last && e->last[node->in[0]] && !ti_is_const(e->w.g, node->in[0])) {
        e->w.of[node->out[0]] = e->last[node->in[0]];
        return NULL;
    }
    if (p.n > TC_TFLM_MOST_MOVED)
        return "it moves more axes than TRANSPOSE does";
    ti_tf8_move(e, TC_TFLM_TRANSPOSE, ti_tf8_plain(e, node->in[0]), ti_tf8_list(e, p.v, p.n),
                ti_tfw_tensor(&e->w, node->out[0]));
    return NULL;
}

/* Sums and what they are moved to have the codes of the activation that follows. */
static void take_codes(tc_tf8 *e, tc_val v, const tc_type *codes)
{
    const tc_type *t = type_of(e, v);
    e->w.g->val[v]->type = ti_type_with(
        e->w.ctx, ti_type_make(e->w.ctx, codes->dtype, t->rank, t->dim), codes->quant);
}

/* The product with its activation, and what moves its results after. */
static const char *put_fused(tc_tf8 *e, const tc_node *product, tc_val v, const tc_type *codes,
                             int activation)
{
    const tc_node *node = ti_def(e->w.g, v);
    take_codes(e, v, codes);
    if (node == product)
        return ti_tf8_product(e, product, v, activation);
    const char *why = put_fused(e, product, node->in[0], codes, activation);
    return why                         ? why
           : node->op == TC_OP_permute ? put_permute(e, node)
                                       : put_reshape(e, node);
}

/* RELU_1 and bounds that are no activation: codes of the result, kept between them. */
static const char *put_alone(tc_tf8 *e, const tc_node *node, int kind)
{
    int64_t from, to;
    if (!ti_tf8_is_code(type_of(e, node->in[0])))
        return "its operand is no int8";
    ti_tf8_like_operand(e, node, 0, &from, &to);
    ti_tf8_op(e, kind == RELU ? TC_TFLM_RELU : kind == RELU_6 ? TC_TFLM_RELU6 : TC_TFLM_QUANTIZE, 2,
           &from, 1, to);
    return NULL;
}

static const char *put_activation(tc_tf8 *e, const tc_node *node)
{
    const tc_type *y = type_of(e, node->out[0]);
    const tc_node *product = summed(e, node->in[0]);
    double lo, hi;
    bounds_of(node, &lo, &hi);
    if (!ti_tf8_is_code(y))
        return "its result is no int8";
    int kind = activation_of(y, lo, hi), done = kind < 0 ? NO_ACTIVATION : kind;
    bool bounds = kind < 0 || (kind == RELU_1 && !product);
    const char *why = NULL;
    if (!product) {
        why = put_alone(e, node, done);
    } else if (ti_def(e->w.g, node->in[0]) == product) {
        why = ti_tf8_product(e, product, node->out[0], done);
    } else {
        why = put_fused(e, product, node->in[0], y, done);
        e->w.of[node->out[0]] = e->w.of[node->in[0]];
        e->last[node->out[0]] = e->last[node->in[0]];
    }
    if (!why && bounds)
        ti_tf8_bounds(e, lo, hi);
    return why;
}

/* Operands in groups of as many as TFLM joins at once, until there are no more. */
static void join(tc_tf8 *e, int64_t *in, size_t n, int64_t axis, int64_t to)
{
    while (n > TC_TFLM_MOST_JOINED) {
        size_t groups = 0;
        for (size_t i = 0, some; i < n; i += some) {
            some = n - i < TC_TFLM_MOST_JOINED ? n - i : TC_TFLM_MOST_JOINED;
            tc_tfw_tensor t = e->w.model.tensor[in[i]];
            int64_t dim[TC_MAX_RANK];
            memcpy(dim, t.dim, (size_t)t.rank * sizeof *dim);
            for (size_t k = 1; k < some; k++)
                dim[axis] += e->w.model.tensor[in[i + k]].dim[axis];
            int64_t part = some > 1 ? ti_tf8_like(e, to, t.rank, dim) : in[i];
            if (some > 1)
                join(e, in + i, some, axis, part);
            in[groups++] = part;
        }
        n = groups;
    }
    ti_tf8_set(ti_tf8_op(e, TC_TFLM_CONCATENATION, 2, in, n, to), 0, 'i', (double)axis);
}

static const char *put_cat(tc_tf8 *e, const tc_node *node)
{
    static const int64_t where[] = {0, 3, 1, 2};
    const tc_type *y = type_of(e, node->out[0]);
    int64_t axis = ((const tc_attr_axis *)node->attr)->axis;
    bool last = y->rank == 4;
    const char *why = ti_tf8_other_codes(e, node, 0);
    if (why)
        return why;
    for (int i = 0; i < node->n_in; i++)
        last = last && ti_tf8_is_last(e, node->in[i]);
    int64_t *in = tc_new_n(&e->w.ctx->arena, int64_t, (size_t)node->n_in);
    int64_t to = last ? ti_tf8_new_last(e, node->out[0]) : ti_tfw_tensor(&e->w, node->out[0]);
    for (int i = 0; i < node->n_in; i++)
        in[i] = last ? ti_tf8_last(e, node->in[i]) : ti_tf8_plain(e, node->in[i]);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_tf8_with_codes(e, in[i], to);
    join(e, in, (size_t)node->n_in, last ? where[axis] : axis, to);
    return NULL;
}

/* Rows of a table of codes. */
static const char *put_rows(tc_tf8 *e, const tc_node *node)
{
    enum { MOST_AXES = 4 };
    const tc_type *index = type_of(e, node->in[1]);
    if (index->dtype != TC_i32)
        return "its indices have not 32 bits";
    if (type_of(e, node->out[0])->rank > MOST_AXES)
        return "its result has more than 4 axes";
    int64_t in[2] = {ti_tf8_plain(e, node->in[0]), ti_tf8_plain(e, node->in[1])};
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_GATHER, 2, in, 2, ti_tfw_tensor(&e->w, node->out[0]));
    const tc_attr_axis *a = node->attr;
    ti_tf8_set(op, 0, 'i', node->op == TC_OP_embedding ? 0 : (double)a->axis);
    return NULL;
}

/* Floats to codes, codes to floats, codes to others. */
static const char *put_rescale(tc_tf8 *e, const tc_node *node)
{
    const tc_type *x = type_of(e, node->in[0]), *y = type_of(e, node->out[0]);
    int64_t from, to;
    if (!(x->quant ? ti_tf8_is_code(x) : x->dtype == TC_f32) ||
        !(y->quant ? ti_tf8_is_code(y) : y->dtype == TC_f32))
        return "it converts other types than f32 and int8";
    ti_tf8_like_operand(e, node, 0, &from, &to);
    ti_tf8_op(e, y->quant ? TC_TFLM_QUANTIZE : TC_TFLM_DEQUANTIZE, 2, &from, 1, to);
    return NULL;
}

/* ---- the program ---- */

typedef const char *putter(tc_tf8 *e, const tc_node *node);

static const char *put_unfused(tc_tf8 *e, const tc_node *node)
{
    const tc_type *y = type_of(e, node->out[0]);
    return is_fused(e, node) ? NULL
           : ti_tf8_is_code(y)      ? ti_tf8_product(e, node, node->out[0], NO_ACTIVATION)
                             : "its result is no int8";
}

/* Sums are moved with their product. */
static const char *put_moved(tc_tf8 *e, const tc_node *node)
{
    return summed(e, node->in[0])      ? NULL
           : node->op == TC_OP_permute ? put_permute(e, node)
                                       : put_reshape(e, node);
}

/* On codes.  Movement that is not here, and what has no codes, goes by its row; functions of one value
 * that are not, by a table. */
static putter *const put[TC_OP_COUNT] = {
    [TC_OP_conv] = put_unfused,         [TC_OP_linear] = put_unfused,
    [TC_OP_add] = put_unfused,          [TC_OP_sub] = put_unfused,
    [TC_OP_mul] = put_unfused,          [TC_OP_relu] = put_activation,
    [TC_OP_clamp] = put_activation,     [TC_OP_softmax] = put_softmax,
    [TC_OP_sigmoid] = ti_tf8_function,  [TC_OP_tanh] = ti_tf8_function,
    [TC_OP_silu] = ti_tf8_function,     [TC_OP_hardsigmoid] = ti_tf8_function,
    [TC_OP_hardswish] = ti_tf8_function, [TC_OP_leaky_relu] = ti_tf8_function,
    [TC_OP_matmul] = ti_tf8_matmul,     [TC_OP_where] = ti_tf8_either,
    [TC_OP_maximum] = ti_tf8_larger,    [TC_OP_minimum] = ti_tf8_larger,
    [TC_OP_amax] = ti_tf8_largest,      [TC_OP_amin] = ti_tf8_largest,
    [TC_OP_argmax] = ti_tf8_place,      [TC_OP_argmin] = ti_tf8_place,
    [TC_OP_pad] = ti_tf8_pad,
    [TC_OP_slice] = ti_tf8_parts,       [TC_OP_select] = ti_tf8_parts,
    [TC_OP_split] = ti_tf8_parts,       [TC_OP_unbind] = ti_tf8_parts,
    [TC_OP_max_pool] = ti_tf8_pool,     [TC_OP_avg_pool] = ti_tf8_pool,
    [TC_OP_adaptive_avg_pool] = ti_tf8_global, [TC_OP_mean] = ti_tf8_mean,
    [TC_OP_reshape] = put_moved,        [TC_OP_permute] = put_moved,
    [TC_OP_cat] = put_cat,              [TC_OP_rescale] = put_rescale,
    [TC_OP_embedding] = put_rows,       [TC_OP_index_select] = put_rows,
};

/* Whether the operator computes on codes alone, as most do, or only moves what it is given. */
static bool on_codes(const tc_tf8 *e, const tc_node *node)
{
    bool ends = node->op == TC_OP_rescale || is_move(node) || put[node->op] == put_unfused ||
                put[node->op] == put_activation || put[node->op] == ti_tf8_place ||
                put[node->op] == put_rows || put[node->op] == ti_tf8_either;
    return ends || (node->n_in && ti_tf8_is_code(type_of(e, node->in[0])) &&
                    ti_tf8_is_code(type_of(e, node->out[0])));
}

/* NULL, or why the node has no operator. */
static const char *put_operator(tc_tf8 *e, const tc_node *node)
{
    bool sees_codes = node->op == TC_OP_quantize || node->op == TC_OP_dequantize;
    bool codes = ti_node_quantized(e->w.g, node) && !sees_codes;
    if (put[node->op] && (codes || is_move(node)))
        return on_codes(e, node) ? put[node->op](e, node) : "it computes on other types than int8";
    if (codes && !(tc_ops[node->op].traits & T_MOVES))
        return "TensorFlow Lite Micro has no int8 operator for it";
    return ti_tf8_row(e, node);
}

static bool is_read(const tc_tf8 *e, const tc_node *node)
{
    bool read = false;
    for (int i = 0; i < node->n_out; i++)
        read = read || e->readers[node->out[i]];
    return read;
}

static tc_status put_node(tc_tf8 *e, size_t k)
{
    const tc_node *node = e->w.g->node[k];
    if (node->op == TC_OP_const || !is_read(e, node))
        return TC_OK;
    size_t n_op = e->w.model.n_op;
    const char *why = put_operator(e, node);
    if (why && ti_tf8_is_table(e, node)) {
        e->w.model.n_op = n_op;
        return ti_tf8_table(e, node);
    }
    if (!why)
        return TC_OK;
    if (e->lack) {
        tc_grow(&e->w.ctx->arena, e->lack->node, e->lack->n, e->lack->cap);
        e->lack->node[e->lack->n++] = k;
        return TC_OK;
    }
    tc_status status = ti_unsupported(e->w.ctx, node->loc, TC_E_UNSUPPORTED,
                                      "'%s' has no form in an int8 .tflite: %s",
                                      tc_ops[node->op].name, why);
    ti_note(e->w.ctx, NULL,
            "--emit c has integers for it; -t cpu writes a .tflite that computes it in float");
    return status;
}

static int64_t *ports(tc_tf8 *e, const tc_val *v, size_t n, bool made)
{
    int64_t *at = tc_new_n(&e->w.ctx->arena, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        at[i] = made ? ti_tf8_plain(e, v[i]) : ti_tfw_tensor(&e->w, v[i]);
    return at;
}

/* Variables are read once, before anything is computed: whatever reads the copies reads what they
 * held. */
static const int64_t *put_reads(tc_tf8 *e)
{
    const tc_graph *g = e->w.g;
    int64_t *variable = tc_new_n(&e->w.ctx->arena, int64_t, g->n_mutation + 1);
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_val v = g->mutation[i].before;
        const tc_type *t = type_of(e, v);
        variable[i] = ti_tfw_tensor(&e->w, v);
        int64_t copy = ti_tf8_like(e, variable[i], t->rank, t->dim);
        ti_tfw_copy(&e->w, variable[i], copy);
        e->w.of[v] = copy + 1;
    }
    return variable;
}

static tc_status put_writes(tc_tf8 *e, const int64_t *variable)
{
    const tc_graph *g = e->w.g;
    int64_t *after = tc_new_n(&e->w.ctx->arena, int64_t, g->n_mutation + 1);
    for (size_t i = 0; i < g->n_mutation; i++)
        after[i] = ti_tf8_plain(e, g->mutation[i].after);
    return ti_tfw_writes(&e->w, variable, after);
}

tc_status ti_write_tflite_int8(tc_ctx *ctx, tc_module *typed, const char *by, tc_tf8_lack *lack,
                               tc_bytes *out)
{
    const tc_graph *g = ti_main(typed);
    tc_tflm_plan plan = {.offset = tc_new_n(&ctx->arena, int64_t, g->n_val)};
    const tc_tflite_request request = {typed, &plan, NULL, 0, by};
    tc_tf8 e = {.w = {.ctx = ctx, .request = &request, .module = typed, .g = g,
                      .of = tc_new_n(&ctx->arena, int64_t, g->n_val)},
                .last = tc_new_n(&ctx->arena, int64_t, g->n_val),
                .readers = ti_graph_readers(ctx, g),
                .lack = lack};
    ti_map_init(&e.w.numbers, &ctx->arena);
    e.w.model.description = by;
    e.w.model.graph = "main";
    e.w.model.in = ports(&e, g->in, g->n_in, false);
    e.w.model.n_in = g->n_in;
    const int64_t *variable = put_reads(&e);
    for (size_t k = 0; k < g->n_node; k++)
        TC_TRY(put_node(&e, k));
    if (lack && lack->n)
        return TC_OK;
    TC_TRY(put_writes(&e, variable));
    e.w.model.out = ports(&e, g->out, g->n_out, true);
    e.w.model.n_out = g->n_out;
    for (size_t i = 0; i < e.w.model.n_tensor; i++)
        ti_tf8_narrow(&e, (int64_t)i);
    return ti_emit_tflite(ctx, &e.w.model, out);
}
