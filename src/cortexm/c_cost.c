/* SPDX-License-Identifier: Apache-2.0 */
/* c_cost.c -- how often the kernels of kernels/ do what, by the shapes that they are called with; loops
 * over elements count themselves (c_loops.c), and so do moves (c_moves.c). */
#include "c_model.h"

static const struct {
    const char *kernel, *what;
    double price[TC_PACES];
} works[] = {
#define PRICE(kernel, what, v6, v7, dsp, mve) {#kernel, #what, {v6, v7, dsp, mve}},
#include "prices.def"
};

const char *ti_c_work_kernel(tc_c_work work) { return works[work].kernel; }
const char *ti_c_work_what(tc_c_work work) { return works[work].what; }

void ti_c_work(tc_c_cost *c, const tc_machine *machine, tc_c_work work, double times)
{
    size_t i = 0;
    while (i < c->n_work && c->work[i] != work)
        i++;
    if (i == TC_C_WORKS || times <= 0)
        return;
    if (i == c->n_work) {
        c->work[c->n_work++] = work;
        c->times[i] = 0;
    }
    c->times[i] += times;
    c->instructions += times * works[work].price[machine->pace];
}

/* One step that is being counted. */
typedef struct counter {
    const tc_c_model *m;
    const tc_c_graph *cg;
    const tc_c_step *s;
    tc_c_cost *cost;
} counter;

#define COUNT(k, work, times)                                                                      \
    ti_c_work((k)->cost, (k)->m->request->machine, TC_C_WORK_##work, (double)(times))

/* The same kernel for int16 has prices of its own. */
#define COUNT_BY(k, kernel, work, times)                                                           \
    ti_c_work((k)->cost, (k)->m->request->machine,                                                 \
              is_wide(k) ? TC_C_WORK_##kernel##16_##work : TC_C_WORK_##kernel##_##work,            \
              (double)(times))

static const tc_type *operand(const counter *k, int i)
{
    return ti_type_of(k->cg->g, k->s->node->in[i]);
}

static const tc_type *result(const counter *k)
{
    return ti_type_of(k->cg->g, k->s->node->out[0]);
}

static bool is_real(const counter *k) { return operand(k, 0)->dtype == TC_f32; }

static bool is_wide(const counter *k) { return operand(k, 0)->dtype == TC_i16; }

static int64_t over(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- CONV2D ---- */

/* `calls` times n columns of k bytes by `oc` rows. */
static void multiply(const counter *c, int64_t calls, int64_t n, int64_t k, int64_t oc)
{
    int64_t even = calls * (n & ~1), odd = calls * (n & 1);
    switch (c->m->request->core) {
    case TC_CORE_MVE:
        COUNT_BY(c, conv2d, row, calls * over(oc, 4));
        COUNT_BY(c, conv2d, result, calls * n * over(oc, 4));
        COUNT_BY(c, conv2d, step, calls * n * over(oc, 4) * over(k, is_wide(c) ? 8 : 16));
        break;
    case TC_CORE_DSP:
        COUNT_BY(c, conv2d, row, even ? calls * over(oc, 2) : 0);
        COUNT_BY(c, conv2d, row, odd * over(oc, 4));
        COUNT_BY(c, conv2d, result, calls * n * oc);
        COUNT_BY(c, conv2d, step, even / 2 * (oc / 2) * (k / 4));
        COUNT_BY(c, conv2d, fan, odd * (oc / 4) * (k / 4));
        COUNT_BY(c, conv2d, fan, 0.4 * (double)((even * (oc % 2) + odd * (oc % 4)) * (k / 4)));
        COUNT_BY(c, conv2d, tail, (even * oc + odd * oc) * (k % 4));
        break;
    default:
        COUNT_BY(c, conv2d, row, calls * over(oc, 2));
        COUNT_BY(c, conv2d, result, calls * n * oc);
        COUNT_BY(c, conv2d, step, calls * n * (oc / 2) * k);
        COUNT_BY(c, conv2d, fan, calls * n * (oc % 2) * k);
        break;
    }
}

static void conv2d(const counter *c, int64_t oc)
{
    const int64_t *x = operand(c, 0)->dim, *out = result(c)->dim;
    const tc_c_windows p = ti_c_windows(c->cg, c->s->node);
    int64_t k = p.kernel[0] * p.kernel[1] * x[3], windows = out[0] * p.out[0] * p.out[1];
    int64_t together = ti_c_column_count(c->m->request->core);
    if (!ti_c_has_columns(c->cg, c->s->node)) {
        bool once = p.stride[0] == 1 && p.in[1] == p.out[1];
        multiply(c, once ? out[0] : out[0] * p.out[0], once ? p.out[0] * p.out[1] : p.out[1], k, oc);
        return;
    }
    COUNT_BY(c, conv2d, piece, windows * p.kernel[0] * (p.dilation[1] == 1 ? 1 : p.kernel[1]));
    COUNT_BY(c, conv2d, byte, windows * k);
    multiply(c, windows / together, together, k, oc);
    if (windows % together)
        multiply(c, 1, windows % together, k, oc);
}

/* ---- DEPTHWISE_CONV2D ---- */

/* Taps of all windows along an axis that are inside. */
static int64_t inside(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t before,
                      int64_t dilation)
{
    int64_t n = 0;
    for (int64_t o = 0; o < out; o++)
        for (int64_t k = 0; k < kernel; k++) {
            int64_t at = o * stride - before + k * dilation;
            n += at >= 0 && at < in;
        }
    return n;
}

/* How often the taps that are inside change from one window to the next along an axis. */
static int64_t kinds(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t before,
                     int64_t dilation)
{
    int64_t n = 0, last = -1;
    for (int64_t o = 0; o < out; o++) {
        int64_t at = o * stride - before, first = at < 0 ? (-at + dilation - 1) / dilation : 0;
        int64_t past = (kernel - 1) * dilation + at - (in - 1);
        int64_t kind = first * (kernel + 1) + (past > 0 ? (past + dilation - 1) / dilation : 0);
        n += kind != last;
        last = kind;
    }
    return n;
}

/* Windows along an axis that are inside altogether. */
static int64_t whole(const tc_c_windows *p, int axis)
{
    int64_t n = 0;
    for (int64_t o = 0; o < p->out[axis]; o++) {
        int64_t at = o * p->stride[axis] - p->before[axis];
        n += at >= 0 && at + (p->kernel[axis] - 1) * p->dilation[axis] < p->in[axis];
    }
    return n;
}

/* Blocks of channels whose taps are taken two at a time. */
static int64_t paired_blocks(const counter *c, const tc_c_windows *p, int64_t lanes)
{
    const int64_t *x = operand(c, 0)->dim;
    tc_core core = c->m->request->core;
    bool pairs = core == TC_CORE_DSP || (core == TC_CORE_MVE && !is_wide(c));
    return pairs && p->kernel[0] * p->kernel[1] <= 2 * TC_C_PAIRS && p->out[0] * p->out[1] >= TC_C_FEW
               ? x[0] * (x[3] / lanes)
               : 0;
}

static void depthwise(const counter *c)
{
    const int64_t *x = operand(c, 0)->dim;
    const tc_c_windows p = ti_c_windows(c->cg, c->s->node);
    bool mve = c->m->request->core == TC_CORE_MVE;
    int64_t lanes = !mve ? 4 : is_wide(c) ? 8 : 16, blocks = x[0] * over(x[3], lanes);
    int64_t whole_blocks = x[0] * (x[3] / lanes);
    int64_t rows = inside(p.in[0], p.out[0], p.kernel[0], p.stride[0], p.before[0], p.dilation[0]);
    int64_t columns = inside(p.in[1], p.out[1], p.kernel[1], p.stride[1], p.before[1], p.dilation[1]);
    int64_t taps = p.kernel[0] * p.kernel[1], starts = 1, paired = paired_blocks(c, &p, lanes);
    int64_t full = whole(&p, 0) * whole(&p, 1);
    for (int i = 0; i < 2; i++)
        starts *= kinds(p.in[i], p.out[i], p.kernel[i], p.stride[i], p.before[i], p.dilation[i]);
    COUNT_BY(c, depthwise, block, blocks);
    COUNT_BY(c, depthwise, start, blocks * starts * taps);
    COUNT_BY(c, depthwise, pack, paired * taps);
    COUNT_BY(c, depthwise, row, blocks * p.out[0]);
    COUNT_BY(c, depthwise, edge, blocks * p.out[0] * (p.out[1] - whole(&p, 1)));
    COUNT_BY(c, depthwise, window, blocks * p.out[0] * p.out[1]);
    COUNT_BY(c, depthwise, pair, paired * full * over(taps, 2));
    COUNT_BY(c, depthwise, line, blocks * rows * p.out[1] - paired * full * p.kernel[0]);
    COUNT_BY(c, depthwise, tap, whole_blocks * rows * columns - paired * full * taps);
    COUNT_BY(c, depthwise, some, (blocks - whole_blocks) * rows * columns);
}

/* ---- products ---- */

static double macs_of(const counter *k)
{
    const tc_type *w = operand(k, 1), *x = operand(k, 0);
    double results = (double)tc_type_count(result(k));
    switch (k->s->node->op) {
    case TC_OP_tosa_matmul:
        return results * (double)x->dim[2];
    case TC_OP_tosa_depthwise_conv2d:
        return results * (double)(w->dim[0] * w->dim[1]);
    case TC_OP_tosa_transpose_conv2d:
        return (double)tc_type_count(x) * (double)(w->dim[0] * w->dim[1] * w->dim[2]);
    default:
        return results * (double)(tc_type_count(w) / w->dim[0]);
    }
}

static void any_conv(const counter *k)
{
    const tc_type *w = operand(k, 1), *x = operand(k, 0);
    double results = (double)tc_type_count(result(k)), macs = k->cost->macs;
    if (is_real(k)) {
        COUNT(k, real_result, results);
        COUNT(k, real_mac, macs);
        return;
    }
    bool depthwise = k->s->node->op == TC_OP_tosa_depthwise_conv2d;
    COUNT(k, conv_any_call, 1);
    COUNT(k, conv_any_result, results);
    if (depthwise) {
        COUNT(k, conv_any_deep, macs);
        return;
    }
    COUNT(k, conv_any_tap, results * (double)(tc_type_count(w) / (w->dim[0] * w->dim[w->rank - 1])));
    if (x->dtype == TC_i16)
        COUNT(k, conv_any_mac16, macs);
    else if (w->dtype == TC_i4)
        COUNT(k, conv_any_mac4, macs);
    else
        COUNT(k, conv_any_mac8, macs);
}

static void conv(const counter *k)
{
    const tc_type *w = operand(k, 1);
    k->cost->macs = macs_of(k);
    tc_c_sums sums;
    if (ti_c_sums(k->cg, k->s, &sums)) {
        COUNT(k, sums_call, sums.outer);
        COUNT(k, sums_result, sums.outer * sums.inner);
        COUNT(k, sums_element, sums.outer * sums.n * sums.inner);
        return;
    }
    if (!ti_c_is_quick(k->cg, k->s)) {
        any_conv(k);
        return;
    }
    bool deep = k->s->node->op == TC_OP_tosa_depthwise_conv2d;
    int bits = ti_c_weight_bits(k->cg, k->s);
    if (bits == 4)
        COUNT(k, unpack_four, tc_type_count(w));
    else if (bits < 8)
        COUNT(k, unpack_some, tc_type_count(w));
    if (deep) {
        COUNT_BY(k, depthwise, call, 1);
        depthwise(k);
        return;
    }
    if (ti_c_is_wide(k->cg, k->s))
        COUNT(k, conv2d16_wide, tc_type_count(result(k)));
    COUNT_BY(k, conv2d, call, 1);
    for (int64_t oc = 0, n = bits < 8 ? ti_c_unpacked_rows(k->cg, k->s) : w->dim[0]; oc < w->dim[0]; oc += n)
        conv2d(k, ti_min_i64(n, w->dim[0] - oc));
}

static void matmul(const counter *k)
{
    const int64_t *a = operand(k, 0)->dim, w = operand(k, 1)->dim[2];
    int64_t rows = a[0] * a[1], wide = k->m->request->core == TC_CORE_MVE ? 16 : 4;
    k->cost->macs = macs_of(k);
    if (is_real(k)) {
        any_conv(k);
        return;
    }
    COUNT(k, matmul_call, 1);
    if (operand(k, 0)->dtype == TC_i16) {
        COUNT(k, matmul_result16, rows * w);
        COUNT(k, matmul_mac16, rows * w * a[2]);
        return;
    }
    bool fours = k->m->request->core == TC_CORE_MVE && result(k)->dtype == TC_i8;
    COUNT(k, matmul_result, fours ? 0 : rows * w);
    if (k->m->request->core == TC_CORE_C)
        wide = 1;
    int64_t few = k->m->request->core == TC_CORE_MVE ? over(w % wide, 4) : w % wide;
    COUNT(k, matmul_block, rows * (w / wide + few));
    COUNT(k, matmul_step, rows * (w / wide) * a[2]);
    COUNT(k, matmul_few, rows * few * a[2]);
}

static void transform(const counter *k)
{
    tc_c_transformed t = ti_c_transformed(k->s);
    k->cost->macs = t.quick / 2;
    COUNT(k, transform_window, t.windows);
    COUNT(k, transform_element, t.elements);
    COUNT(k, transform_operation, t.quick);
    COUNT(k, transform_result, t.results);
}

/* ---- the rest ---- */

static void pool(const counter *k)
{
    const tc_node *node = k->s->node;
    bool mean = node->op == TC_OP_tosa_avg_pool2d;
    const tc_attr_tosa_avg_pool *a = node->attr;
    const tc_attr_tosa_max_pool *b = node->attr;
    tc_ints kernel = mean ? a->kernel : b->kernel, stride = mean ? a->stride : b->stride;
    tc_ints pad = mean ? a->pad : b->pad;
    const int64_t *x = operand(k, 0)->dim, *out = result(k)->dim;
    int64_t taps = x[0] * x[3] * inside(x[1], out[1], kernel.v[0], stride.v[0], pad.v[0], 1) *
                   inside(x[2], out[2], kernel.v[1], stride.v[1], pad.v[2], 1);
    if (is_real(k)) {
        COUNT(k, real_result, tc_type_count(result(k)));
        COUNT(k, real_line, taps);
        return;
    }
    COUNT(k, pool_call, 1);
    COUNT(k, pool_tap, taps);
    if (mean)
        COUNT(k, pool_mean, tc_type_count(result(k)));
    else
        COUNT(k, pool_max, tc_type_count(result(k)));
}

static void reduce(const counter *k)
{
    if (is_real(k)) {
        COUNT(k, real_result, tc_type_count(result(k)));
        COUNT(k, real_mac, tc_type_count(operand(k, 0)));
        return;
    }
    COUNT(k, reduce_call, 1);
    COUNT(k, reduce_result, tc_type_count(result(k)));
    const tc_type *x = operand(k, 0);
    int axis = (int)((const tc_attr_tosa_axis *)k->s->node->attr)->axis;
    bool fours = k->m->request->core == TC_CORE_MVE && tc_type_count(x) / tc_type_count(result(k)) >= 8;
    for (int i = axis + 1; i < x->rank; i++)
        fours = fours && x->dim[i] == 1;
    if (fours)
        COUNT(k, reduce_four, (tc_type_count(x) + 3) / 4);
    else
        COUNT(k, reduce_element, tc_type_count(x));
}

static void argmax(const counter *k)
{
    COUNT(k, argmax_call, 1);
    COUNT(k, argmax_result, tc_type_count(result(k)));
    COUNT(k, argmax_element, tc_type_count(operand(k, 0)));
}

static void gather(const counter *k)
{
    const tc_type *out = result(k), *indices = operand(k, 1);
    bool scatters = k->s->node->op == TC_OP_tosa_scatter;
    const tc_type *rows = scatters ? operand(k, 2) : out;
    COUNT(k, gather_call, 1);
    COUNT(k, gather_row, tc_type_count(indices));
    COUNT(k, gather_byte, tc_type_bytes(rows) + (scatters ? tc_type_bytes(out) : 0));
}

static void resize(const counter *k)
{
    const tc_type *out = result(k);
    COUNT(k, resize_call, 1);
    COUNT(k, resize_pixel, out->dim[0] * out->dim[1] * out->dim[2]);
    if (((const tc_attr_tosa_resize *)k->s->node->attr)->mode == TC_resize_mode_bilinear)
        COUNT(k, resize_bilinear, tc_type_count(out));
    else
        COUNT(k, resize_nearest, tc_type_count(out));
}

static double instructions_of(const tc_c_graph *cg)
{
    double all = 0;
    for (size_t i = 0; cg && i < cg->n_step; i++)
        all += cg->cost[i].instructions;
    return all;
}

static const tc_c_graph *callee(const counter *k, int which)
{
    const tc_graph *g = ti_node_callee(k->m->module, k->s->node, which);
    for (size_t i = 0; i < k->m->module->n_graph; i++)
        if (k->m->module->graph[i] == g)
            return k->m->graph[i];
    return NULL;
}

/* The longer way; a loop's once around. */
static void control(const counter *k)
{
    double a = instructions_of(callee(k, 0)), b = instructions_of(callee(k, 1));
    COUNT(k, control_call, 1);
    k->cost->instructions += k->s->node->op == TC_OP_tosa_cond_if ? (a > b ? a : b) : a + b;
}

/* What a core copies for a region that it runs several times. */
static void repeated(const counter *k)
{
    const tc_node *node = k->s->node;
    const tc_attr_call_times *a = node->attr;
    double bytes = 0;
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        bool result = i >= node->n_in;
        tc_val v = result ? node->out[i - node->n_in] : node->in[i];
        bool parts = result ? a->gives.v[i - node->n_in] != 0 : a->moves.v[i] != 0;
        bytes += (double)tc_type_bytes(ti_type_of(k->cg->g, v)) * (parts ? 1 : (double)a->times);
    }
    COUNT(k, control_call, (double)a->times);
    COUNT(k, control_byte, bytes);
}

static void variable(const counter *k)
{
    const tc_node *node = k->s->node;
    COUNT(k, control_call, 1);
    COUNT(k, control_byte,
          tc_type_bytes(ti_type_of(k->cg->g, node->n_out ? node->out[0] : node->in[0])));
}

static const struct {
    tc_op op;
    void (*count)(const counter *k);
} counters[] = {
    {TC_OP_tosa_conv2d, conv},
    {TC_OP_tosa_conv3d, conv},
    {TC_OP_tosa_depthwise_conv2d, conv},
    {TC_OP_tosa_transpose_conv2d, conv},
    {TC_OP_tosa_matmul, matmul},
    {TC_OP_tosa_avg_pool2d, pool},
    {TC_OP_tosa_max_pool2d, pool},
    {TC_OP_tosa_reduce_sum, reduce},
    {TC_OP_tosa_reduce_max, reduce},
    {TC_OP_tosa_reduce_min, reduce},
    {TC_OP_tosa_reduce_all, reduce},
    {TC_OP_tosa_reduce_any, reduce},
    {TC_OP_tosa_reduce_product, reduce},
    {TC_OP_tosa_argmax, argmax},
    {TC_OP_tosa_gather, gather},
    {TC_OP_tosa_scatter, gather},
    {TC_OP_tosa_resize, resize},
    {TC_OP_tosa_cond_if, control},
    {TC_OP_tosa_while_loop, control},
    {TC_OP_call_times, repeated},
    {TC_OP_tosa_variable_read, variable},
    {TC_OP_tosa_variable_write, variable},
};

void ti_c_count(const tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    counter k = {m, cg, s, &cg->cost[s - cg->step]};
    if (!m->request->machine)
        return;
    k.cost->node = s->node;
    if (s->transform)
        transform(&k);
    if (s->transform || s->made)
        return;
    for (size_t i = 0; i < TC_COUNT(counters) && !s->n_chain; i++)
        if (counters[i].op == s->node->op)
            counters[i].count(&k);
}
