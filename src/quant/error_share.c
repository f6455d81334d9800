/* SPDX-License-Identifier: Apache-2.0 */
/* error_share.c -- see error_share.h.
 *
 * Up to a value such a run equals the plain one: one plan runs through the program once, and a twin
 * branches off before every value and runs to the end.  Where the work does not suffice for every
 * value on one sample, those with the most noise of their own, relative to their squares, come
 * first; the noise that reaches a value says nothing of what it adds. */
#include "error_share.h"

#include <math.h>

#include "../num/snap.h"
#include "role.h"
#include "sample_runner.h"

enum { SAMPLES = 8, LEAST = 8 /* values measured regardless of work */ };
static const double WORK = 3e10; /* multiplications */

typedef struct solo {
    const tc_graph *g;
    tc_alone **row; /* by value: its row, where it is measured */
    double *own;    /* by value: noise on its grid, in the plain run */
    tc_val now;           /* the value that the twin rounds to its grid */
    tc_plan *plan, *twin;
    tc_watch watch, twin_watch;
    void *const *state;
    tc_tensor *in, *out, *real;
} solo;

/* A trivial kernel costs as much as this many multiplications. */
static const double LEAST_WORK = 1000;

double ti_quant_work(const tc_graph *g)
{
    double work = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        double out = node->n_out ? (double)tc_type_count(ti_type_of(g, node->out[0])) : 0, each = 1;
        const tc_type *w = node->n_in > 1 ? ti_type_of(g, node->in[1]) : NULL;
        if (w && w->rank && (tc_ops[node->op].traits & T_MAC))
            each = node->op == TC_OP_matmul
                       ? (double)w->dim[w->rank > 1 ? w->rank - 2 : 0]
                       : (double)tc_type_count(w) / (double)ti_max_i64(1, w->dim[0]);
        work += node->op == TC_OP_const ? out : fmax(out * each, LEAST_WORK);
    }
    return work;
}

/* The noise that a value's own grid makes; the value stays. */
static void see_own(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    const solo *s = who;
    (void)order;
    if (!s->own || !s->row[v])
        return;
    const tc_quant *q = s->row[v]->grid;
    tc_snap grid = ti_snap_make(q->scale[0], q->zero[0], q->lo, q->hi);
    double error = 0, square = 0;
    for (int64_t i = 0; i < tc_type_count(seen.type); i++) {
        float x = ((const float *)seen.data)[i], y;
        ti_snap_f32(&grid, &x, &y, 1);
        error += ((double)y - (double)x) * ((double)y - (double)x);
        square += (double)x * (double)x;
    }
    s->own[v] = square > 0 ? error / square : 0;
}

static void see_twin(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    const solo *s = who;
    (void)order;
    if (v != s->now)
        return;
    tc_alone *row = s->row[v];
    const tc_quant *q = row->grid;
    size_t n = (size_t)tc_type_count(seen.type);
    float *x = seen.data;
    tc_snap grid = ti_snap_make(q->scale[0], q->zero[0], q->lo, q->hi);
    double lo = q->scale[0] * (double)(q->lo - q->zero[0]),
           hi = q->scale[0] * (double)(q->hi - q->zero[0]);
    for (size_t i = 0; i < n; i++) {
        float y;
        ti_snap_f32(&grid, &x[i], &y, 1);
        double real = (double)x[i], e = (double)y - real;
        row->square += real * real;
        row->error += e * e;
        row->cut += real < lo || real > hi ? e * e : 0;
        x[i] = y;
    }
}

bool ti_alone_is_cut(const tc_alone *row)
{
    const double MOSTLY = 0.5, UNSEEN = 0.1; /* of its own noise */
    return row->noise >= 0 && row->square > 0 && row->cut > MOSTLY * row->error &&
           row->noise < UNSEEN * row->error / row->square;
}

/* Over all real outputs. */
static double noise_of(const solo *s)
{
    double noise = 0, outputs = 0;
    for (size_t i = 0; i < s->g->n_out; i++) {
        const float *x = s->real[i].data, *y = s->out[i].data;
        double error = 0, square = 0;
        if (s->real[i].type->dtype != TC_f32)
            continue;
        for (int64_t k = 0; k < tc_type_count(s->real[i].type); k++) {
            double e = (double)y[k] - (double)x[k];
            error += e * e;
            square += (double)x[k] * (double)x[k];
        }
        noise += square > 0 ? error / square : error;
        outputs++;
    }
    return outputs > 0 ? noise / outputs : NAN;
}

static tc_status run_plain(solo *s)
{
    ti_plan_start(s->plan, s->in, s->state);
    TC_TRY(ti_plan_go(s->plan, TC_NONE));
    ti_plan_outputs(s->plan, s->out);
    for (size_t i = 0; i < s->g->n_out; i++)
        memcpy(s->real[i].data, s->out[i].data, tc_type_bytes(s->out[i].type));
    ti_plan_start(s->plan, s->in, s->state);
    return TC_OK;
}

/* Every value of one sample, as it is computed. */
static tc_status run_sample(solo *s, double times)
{
    TC_TRY(run_plain(s));
    for (size_t k = 0; k < s->g->n_node; k++)
        for (int i = 0; i < s->g->node[k]->n_out; i++) {
            tc_val v = s->g->node[k]->out[i];
            tc_alone *row = s->row[v];
            if (!row)
                continue;
            s->now = v;
            ti_plan_start(s->twin, s->in, s->state);
            ti_plan_follow(s->twin, s->plan);
            TC_TRY(ti_plan_go(s->twin, TC_NONE));
            ti_plan_outputs(s->twin, s->out);
            row->noise += times * noise_of(s);
            TC_TRY(ti_plan_go(s->plan, v));
        }
    return TC_OK;
}

static bool has_grid(const tc_graph *g, const tc_alone *row)
{
    return row->grid && row->grid->axis < 0 && ti_type_of(g, row->value)->dtype == TC_f32;
}

/* Which rows are measured, as many as the work allows, the noisiest first; and on how many
 * samples.  Until then all rows that have a grid are in `row`. */
static size_t choose_rows(solo *s, tc_alone *row, size_t n, size_t n_sample)
{
    double each = fmax(1, ti_quant_work(s->g) / 2), all = 0;
    for (size_t i = 0; i < n; i++) {
        all += has_grid(s->g, &row[i]);
        row[i].noise = NAN;
        s->row[row[i].value] = NULL;
    }
    double fit = fmin(SAMPLES, fmax(1, floor(WORK / (each * fmax(1, all)))));
    n_sample = (double)n_sample < fit ? n_sample : (size_t)fit;
    size_t room = (size_t)fmax(LEAST, fmin(1e6, WORK / (each * (double)n_sample)));
    for (; room; room--) {
        tc_alone *most = NULL;
        for (size_t i = 0; i < n; i++)
            if (has_grid(s->g, &row[i]) && isnan(row[i].noise) &&
                (!most || s->own[row[i].value] > s->own[most->value]))
                most = &row[i];
        if (!most)
            break;
        most->noise = 0;
        s->row[most->value] = most;
    }
    return n_sample;
}

/* Every value's own noise on the first sample. */
static tc_status look_at_own(solo *s, const tc_samples *samples, tc_alone *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (has_grid(s->g, &row[i]))
            s->row[row[i].value] = &row[i];
    if (samples->n)
        TC_TRY(samples->read(samples->from, 0, s->in));
    return samples->n ? run_plain(s) : TC_OK;
}

tc_status ti_quant_error_shares(tc_ctx *ctx, const tc_graph *g, const tc_plan *plan,
                                const bool *wanted, void *const *state, const tc_samples *samples,
                                tc_alone *row, size_t n)
{
    solo *s = tc_new(&ctx->arena, solo);
    *s = (solo){.g = g, .state = state, .row = tc_new_n(&ctx->arena, tc_alone *, g->n_val)};
    s->own = tc_new_n(&ctx->arena, double, g->n_val);
    s->watch = (tc_watch){wanted, see_own, s};
    s->twin_watch = (tc_watch){wanted, see_twin, s};
    s->plan = ti_plan_twin(plan, &s->watch);
    s->twin = ti_plan_twin(plan, &s->twin_watch);
    ti_plan_on_oom(s->plan, ctx->arena.oom);
    ti_plan_on_oom(s->twin, ctx->arena.oom);
    s->in = ti_input_buffers(ctx, g);
    s->out = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    s->real = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    for (size_t i = 0; i < g->n_out; i++)
        s->real[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->out[i]));
    tc_status status = look_at_own(s, samples, row, n);
    size_t n_sample = choose_rows(s, row, n, samples->n);
    s->own = NULL;
    for (size_t k = 0; k < n_sample && status == TC_OK; k++) {
        status = samples->read(samples->from, k * samples->n / n_sample, s->in);
        if (status == TC_OK)
            status = run_sample(s, 1 / (double)n_sample);
    }
    ti_plan_end(s->plan);
    ti_plan_end(s->twin);
    return status;
}
