/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c -- the distribution of a tensor's elements in the range of its type: the model's values
 * on samples, and the weights of the typed program.  A row for each channel has its range. */
#include "report.h"

#include <math.h>

#include "../data/dataset.h"
#include "../drive/model.h"
#include "../drive/road.h"
#include "../num/load.h"
#include "../run/plan.h"

enum { SAMPLES = 4, ROWS_OF_ALL = 32768, LEAST_ROWS = 8 };

/* ---- one tensor ---- */

/* Rows that the channels of a tensor get: all nodes together at most ROWS_OF_ALL, each at least
 * LEAST_ROWS. */
static int64_t most_rows(const tc_content *c)
{
    int64_t share = ROWS_OF_ALL / (int64_t)(c->n_node + 1);
    return share > TC_SPREAD_CHANNELS ? TC_SPREAD_CHANNELS
                                      : share < LEAST_ROWS ? LEAST_ROWS : share;
}

static tc_spread_of *spread_new(const tc_content *c, const tc_type *type, int axis)
{
    tc_arena *arena = &c->ctx->arena;
    tc_spread_of *s = tc_new(arena, tc_spread_of);
    int64_t most = most_rows(c);
    *s = (tc_spread_of){.lo = INFINITY, .hi = -INFINITY, .type = type, .axis = axis};
    s->channels = axis < 0 ? 1 : type->dim[axis];
    s->each = (s->channels + most - 1) / most;
    s->n_row = (size_t)((s->channels + s->each - 1) / s->each);
    s->low = tc_new_n(arena, double, s->n_row);
    s->high = tc_new_n(arena, double, s->n_row);
    for (size_t i = 0; i < s->n_row; i++) {
        s->low[i] = INFINITY;
        s->high[i] = -INFINITY;
    }
    return s;
}

/* What is rounded to the least or the greatest code is not outside. */
static void count(tc_spread_of *s, double v)
{
    double half = s->step / 2, at = (v - s->least) / (s->most - s->least) * TC_SPREAD_BINS;
    if (v < s->least - half)
        s->below++;
    else if (v > s->most + half)
        s->above++;
    else
        s->bin[at <= 0 ? 0 : at < TC_SPREAD_BINS ? (int)at : TC_SPREAD_BINS - 1]++;
}

/* Elements as stored: `outer` times all channels, each of `inner`. */
typedef struct runs {
    int64_t outer, channels, inner;
} runs;

static runs runs_of(const tc_type *stored, int axis)
{
    runs r = {1, 1, 1};
    for (int i = 0; i < stored->rank; i++)
        *(axis < 0 || i > axis ? &r.inner : i < axis ? &r.outer : &r.channels) *= stored->dim[i];
    return r;
}

/* The real value of stored element i, of channel ch. */
static double number_of(tc_tensor t, int64_t i, int64_t ch)
{
    const tc_quant *q = t.type->quant;
    double v = ti_load_f64(t, i);
    int64_t at = q && q->axis >= 0 ? ch : 0;
    return q ? q->scale[at] * (v - (double)q->zero[at]) : v;
}

static void reach(tc_spread_of *s, tc_tensor t, runs r)
{
    int64_t i = 0;
    for (int64_t a = 0; a < r.outer; a++)
        for (int64_t ch = 0; ch < r.channels; ch++) {
            double *low = &s->low[ch / s->each], *high = &s->high[ch / s->each];
            for (int64_t b = 0; b < r.inner; b++, i++) {
                double v = number_of(t, i, ch);
                *low = v < *low ? v : *low;
                *high = v > *high ? v : *high;
            }
        }
    for (size_t k = 0; k < s->n_row; k++) {
        s->lo = fmin(s->lo, s->low[k]);
        s->hi = fmax(s->hi, s->high[k]);
    }
}

static void count_all(tc_spread_of *s, tc_tensor t, runs r)
{
    int64_t i = 0;
    if (!(s->most > s->least))
        return;
    for (int64_t a = 0; a < r.outer; a++)
        for (int64_t ch = 0; ch < r.channels; ch++)
            for (int64_t b = 0; b < r.inner; b++, i++)
                count(s, number_of(t, i, ch));
}

/* ---- weights ---- */

/* The constant that a node multiplies by: at least a matrix, quantized. */
static const tc_value *weights_of(const tc_graph *g, const tc_node *node)
{
    const tc_value *v = node->n_in > 1 && node->in[1] ? ti_value_of(g, node->in[1]) : NULL;
    bool are = v && v->data && v->type && v->type->quant && v->type->rank > 1 &&
               tc_type_count(v->type) > 1;
    return are ? v : NULL;
}

static void take_weights(const tc_content *c, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_value *w = weights_of(g, g->node[k]);
        int32_t at = w ? ti_content_node(c, g->node[k]->loc->node) : -1;
        if (at < 0 || c->node[at].weights)
            continue;
        const tc_quant *q = w->type->quant;
        int axis = q->axis < 0 ? 0 : q->axis;
        tc_tensor t = {.type = w->type, .data = (void *)(uintptr_t)w->data};
        runs r = runs_of(w->type, axis);
        tc_spread_of *s = c->node[at].weights = spread_new(c, w->type, axis);
        reach(s, t, r);
        s->least = s->lo;
        s->most = s->hi;
        count_all(s, t, r);
        s->step = q->count == 1 ? q->scale[0] : 0;
        s->steps = q->count == 1 ? NULL : tc_new_n(&c->ctx->arena, double, s->n_row);
        for (int64_t i = 0; s->steps && i < s->channels; i++)
            s->steps[i / s->each] = fmax(s->steps[i / s->each], q->scale[i]);
    }
}

/* ---- values ---- */

/* Operators whose channels are PyTorch's second axis. */
static bool has_channels_second(tc_op op)
{
    static const tc_op list[] = {TC_OP_conv,          TC_OP_conv_transpose,    TC_OP_max_pool,
                                 TC_OP_avg_pool,      TC_OP_adaptive_avg_pool, TC_OP_adaptive_max_pool,
                                 TC_OP_batch_norm,    TC_OP_group_norm,        TC_OP_pixel_shuffle,
                                 TC_OP_pixel_unshuffle};
    for (size_t i = 0; i < TC_COUNT(list); i++)
        if (list[i] == op)
            return true;
    return false;
}

/* The channel axis of every node: from its operator, else its operand's, if the shape allows;
 * images have theirs second, all else last. */
static int *channel_axes(const tc_content *c)
{
    int *axis = tc_new_n(&c->ctx->scratch, int, c->n_node + 1);
    for (size_t k = 0; k < c->n_node; k++) {
        const tc_report_node *n = &c->node[k];
        const tc_type *t = n->type, *from = n->n_in ? c->node[n->in[0]].type : NULL;
        int rank = t ? t->rank : 0, before = n->n_in ? axis[n->in[0]] : -1;
        axis[k] = rank < 2 ? -1 : rank == 4 ? 1 : rank - 1;
        if (rank < 2 || !n->node)
            continue;
        if (has_channels_second(n->node->op))
            axis[k] = 1;
        else if (n->node->op == TC_OP_linear || n->node->op == TC_OP_layer_norm)
            axis[k] = rank - 1;
        else if (n->node->op == TC_OP_permute && from && from->rank == rank) {
            const tc_attr_perm *p = n->node->attr;
            for (int i = 0; i < rank; i++)
                if ((p->perm.v[i] + rank) % rank == before)
                    axis[k] = i;
        } else if (from && from->rank == rank && before >= 0 && from->dim[before] == t->dim[before])
            axis[k] = before;
    }
    return axis;
}

/* Who looks at the model's values. */
typedef struct looker {
    tc_spread_of **of; /* by value */
} looker;

static void see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    tc_spread_of *s = ((const looker *)who)->of[v];
    int axis = -1;
    for (int i = 0; i < seen.type->rank; i++)
        if (order[i] == s->axis)
            axis = i;
    runs r = runs_of(seen.type, axis);
    reach(s, seen, r);
    count_all(s, seen, r);
}

/* Codes of one scale, of at most 16 bits: wider ones are accumulators, whose range is
 * meaningless. */
static bool has_range(const tc_type *t)
{
    return t && t->quant && t->quant->count == 1 && tc_dtypes[t->dtype].bytes <= 2;
}

static tc_spread_of *value_spread(const tc_content *c, tc_report_node *n, int axis)
{
    const tc_quant *q = n->typed->quant;
    tc_spread_of *s = n->values = spread_new(c, n->type, axis);
    s->step = q->scale[0];
    s->least = s->step * ((double)q->lo - (double)q->zero[0]);
    s->most = s->step * ((double)q->hi - (double)q->zero[0]);
    return s;
}

/* The values to look at; false: none. */
static bool choose(tc_content *c, const tc_graph *g, looker *who, bool *wanted)
{
    const int *axis = channel_axes(c);
    bool any = false;
    for (size_t v = 1; v < g->n_val; v++) {
        const tc_value *value = g->val[v];
        int32_t at = value->name && value->def && value->def->op != TC_OP_const
                         ? ti_content_node(c, value->name)
                         : -1;
        tc_report_node *n = at < 0 ? NULL : &c->node[at];
        if (!n || n->values || n->other || !has_range(n->typed) || !n->type ||
            !ti_is_float(value->type->dtype) || !ti_same_dims(n->type, value->type))
            continue;
        who->of[v] = value_spread(c, n, axis[at]);
        wanted[v] = any = true;
    }
    for (size_t i = 0; i < g->n_in; i++) { /* the program's inputs are the first nodes */
        tc_report_node *n = &c->node[i];
        if (has_range(n->typed) && n->type && ti_is_float(n->type->dtype))
            who->of[g->in[i]] = value_spread(c, n, axis[i]);
        any = any || n->values;
    }
    return any;
}

static tc_status look(const tc_content *c, tc_plan *plan, const tc_graph *g, const looker *who,
                      const tc_samples *samples)
{
    static const int8_t straight[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    tc_arena *arena = &c->ctx->arena;
    tc_tensor *in = tc_new_n(arena, tc_tensor, g->n_in + 1),
              *out = tc_new_n(arena, tc_tensor, g->n_out + 1);
    for (size_t i = 0; i < g->n_in; i++)
        in[i] = ti_tensor_new(arena, ti_type_of(g, g->in[i]));
    for (size_t k = 0; k < samples->n && k < SAMPLES; k++) {
        TC_TRY(samples->read(samples->from, k, in));
        for (size_t i = 0; i < g->n_in; i++)
            if (who->of[g->in[i]])
                see((void *)(uintptr_t)who, g->in[i], in[i], straight);
        TC_TRY(ti_plan_run(plan, in, out, NULL, NULL));
    }
    return TC_OK;
}

static tc_status take_values(tc_content *c)
{
    tc_ctx *ctx = c->ctx;
    tc_module *module = ti_module_clone(c->options.model->module);
    tc_samples samples;
    TC_TRY(ti_road_run(ctx, module, TC_AT_COPY, TC_AT_AS_READ, NULL, NULL));
    TC_TRY(ti_road_run(ctx, module, TC_AT_AS_RUN, TC_AT_RUNNABLE, NULL, NULL));
    tc_graph *g = ti_main(module);
    looker who = {tc_new_n(&ctx->arena, tc_spread_of *, g->n_val)};
    bool *wanted = tc_new_n(&ctx->arena, bool, g->n_val);
    if (g->n_mutation || !choose(c, g, &who, wanted))
        return TC_OK;
    TC_TRY(ti_open_dataset(ctx, c->options.samples, g, &samples));
    tc_watch watch = {wanted, see, &who};
    tc_plan *plan = ti_plan_new(ctx, g, &watch);
    tc_status status = plan ? look(c, plan, g, &who, &samples) : TC_OK;
    if (plan)
        ti_plan_end(plan);
    return status;
}

/* A model that cannot be run leaves no spreads of values, and no message. */
static tc_status try_values(tc_content *c)
{
    tc_trial trial;
    ti_trial_begin(c->ctx, &trial);
    tc_status status = take_values(c);
    ti_trial_end(c->ctx, &trial);
    for (size_t k = 0; k < c->n_node; k++)
        if (c->node[k].values && !(c->node[k].values->lo <= c->node[k].values->hi))
            c->node[k].values = NULL;
    return status == TC_CANCELLED || status == TC_NO_MEMORY ? status : TC_OK;
}

tc_status ti_content_spreads(tc_content *c)
{
    const tc_report_options *o = &c->options;
    const tc_module *typed = o->compiled ? o->compiled->work.typed : o->typed ? o->typed->module : NULL;
    if (typed)
        take_weights(c, ti_main(typed));
    return typed && o->samples ? try_values(c) : TC_OK;
}
