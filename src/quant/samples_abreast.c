/* SPDX-License-Identifier: Apache-2.0 */
/* samples_abreast.c -- samples run through the real and the typed program in lockstep, layer by
 * layer.
 *
 * Each thread has one buffer for the values of a program; a sample stops before the next layer,
 * where its live values are parked (run/parked.h).  A layer's weights are packed only while samples
 * pass it. */
#include "correct.h"

#include "../base/mapped.h"
#include "../ir/rewrite.h"
#include "../num/load.h"
#include "../num/quant.h"
#include "observations.h"
#include "sample_runner.h"
#include "gram_matrix.h"

enum {
    ROWS_BYTES = 4 << 20, /* of what is added to rows of weights at a time */
    MUCH = 16 << 20 /* of real values in all samples: 16 bits are enough where codes have 8 */
};
static const size_t MOST_BYTES = (size_t)3 << 27; /* of activations that would be alive at once */

/* ---- results of a layer ---- */

/* The tensor as stored, seen from logical axis `axis`: outer blocks of n rows of `inner` elements.
 */
static void extents(const tc_type *t, const int8_t *order, int axis, int64_t *outer,
                    int64_t *inner)
{
    int at = 0;
    *outer = *inner = 1;
    while (order[at] != axis)
        at++;
    for (int i = 0; i < at; i++)
        *outer *= t->dim[i];
    for (int i = at + 1; i < t->rank; i++)
        *inner *= t->dim[i];
}

static void sum_channels(const tc_side *s, const tc_layer *l, double *sum)
{
    int64_t outer, inner;
    extents(s->seen.type, s->order, l->axis, &outer, &inner);
    ti_channel_sums(s->seen.data, outer, l->n, inner, sum);
}

/* By channel: the sum of x - y, and of its square. */
static void add_errors(const tc_side *s, const tc_layer *l, const float *x, double *sum,
                       double *square)
{
    int64_t outer, inner;
    const float *y = s->seen.data;
    extents(s->seen.type, s->order, l->axis, &outer, &inner);
    for (int64_t o = 0; o < outer; o++) {
        if (inner == 1) {
            ti_gram_errors(x, y, l->n, sum, square);
            x += l->n;
            y += l->n;
            continue;
        }
        for (int64_t k = 0; k < l->n; k++, x += inner, y += inner)
            for (int64_t i = 0; i < inner; i++) {
                double e = (double)x[i] - (double)y[i];
                sum[k] += e;
                square[k] += e * e;
            }
    }
}

static double weight_step(const tc_type *w, int64_t c)
{
    return w->quant->scale[w->quant->axis >= 0 ? c : 0];
}

/* What the new codes add to the old ones' weights, in n rows. */
static void changes_of(const tc_abreast *a, const tc_layer *l, int64_t first, int64_t n, float *by)
{
    tc_tensor old = ti_tensor_of(a->typed, l->pair.typed->in[1]), new = l->out->codes;
    int64_t k = l->shape.k;
    for (int64_t i = 0; i < n * k; i++) {
        int64_t at = first * k + i;
        by[i] = (float)((double)ti_load_i64(new, at) * weight_step(new.type, at / k) -
                        (double)ti_load_i64(old, at) * weight_step(old.type, at / k));
    }
}

/* Updates the current results for the new codes instead of the old ones, some rows at a time:
 * dequantized, all of them are many times the codes. */
static void add_new_codes(const tc_guide *g, const tc_layer *l)
{
    tc_abreast *a = g->all;
    const tc_side *s = &g->side[TC_TYPED];
    tc_mark mark = ti_arena_mark(g->room);
    int64_t k = l->shape.k, fit = ti_max_i64(1, ROWS_BYTES / (ti_max_i64(1, k) * 4)),
            each = l->shape.groups > 1 ? l->n : ti_min_i64(fit, l->n);
    const int8_t *order;
    tc_tensor x = ti_abreast_input(a, g->sample, TC_TYPED, (tc_some_channels){0}, g->room, &order);
    float *some = a->changes ? NULL : ti_arena_raw(g->room, (size_t)(each * k) * sizeof *some);
    for (int64_t first = 0; first < l->n; first += each) {
        int64_t n = ti_min_i64(each, l->n - first);
        const float *by = a->changes ? a->changes + first * k : some;
        if (some)
            changes_of(a, l, first, n, some);
        ti_columns_multiply(&l->shape, g->room, x, order, (tc_some_rows){first, n, by}, s->seen,
                            s->order);
    }
    ti_arena_rewind(g->room, mark);
}

/* Biases of the layer just passed. */
static void move_channels(const tc_guide *g, const tc_layer *l)
{
    const tc_side *s = &g->side[TC_TYPED];
    int64_t outer, inner;
    tc_mark mark = ti_arena_mark(g->room);
    float *by = ti_arena_raw(g->room, (size_t)l->n * sizeof *by);
    for (int64_t k = 0; k < l->n; k++)
        by[k] = (float)((double)l->out->move[k] *
                        ti_replace_bias_step(g->all->typed, l->out, k));
    extents(s->seen.type, s->order, l->axis, &outer, &inner);
    ti_channel_move(s->seen.data, outer, l->n, inner, by);
    ti_arena_rewind(g->room, mark);
}

static void see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    tc_side *s = who;
    const tc_abreast *a = s->guide->all;
    const tc_layer *l = a->passing ? a->passing : a->now;
    if (v != ti_layer_node(l, s->which)->out[0])
        return;
    s->seen = seen;
    s->order = order;
    if (!a->passing || s->which == TC_REAL)
        return;
    if (l->out->codes.data && !l->loads)
        add_new_codes(s->guide, l);
    move_channels(s->guide, l);
}

/* ---- samples ---- */

/* The current sample in one of the programs, resumed. */
static void enter(tc_guide *g, int which)
{
    const tc_abreast *a = g->all;
    tc_traveller *t = &a->traveller[g->sample];
    tc_side *s = &g->side[which];
    const tc_tensor *in = t->in;
    if (which == TC_TYPED) {
        for (size_t i = 0; i < a->graph[TC_TYPED]->n_in; i++)
            if (s->in[i].type->quant)
                ti_quantize_into(t->in[i], s->in[i]);
            else
                s->in[i].data = t->in[i].data;
        in = s->in;
    }
    ti_plan_on_oom(s->plan, g->room->oom);
    t->parked[which].room.oom = g->room->oom;
    t->failed = which;
    if (t->started)
        ti_plan_unpark(s->plan, &t->parked[which], in, t->state);
    else
        ti_plan_start(s->plan, in, t->state);
}

static tc_guide *guide_of(const tc_abreast *a, size_t i, size_t sample, tc_arena *room)
{
    tc_guide *g = &a->guide[i % a->n_thread];
    g->sample = sample;
    g->room = room;
    return g;
}

static void advance(void *what, size_t i, tc_arena *room)
{
    const tc_abreast *a = what;
    tc_guide *g = guide_of(a, i, i, room);
    tc_traveller *t = &a->traveller[i];
    for (int k = a->first; k < 2 && !t->status; k++) {
        enter(g, k);
        t->status = ti_plan_go_to(g->side[k].plan, a->now->step[k]);
        ti_plan_park(g->side[k].plan, a->brief, &t->parked[k]);
    }
    t->started = true;
}

/* A failed sample is run again by the first thread's plan, for its message. */
static tc_status explain(const tc_abreast *a)
{
    for (size_t i = 0; i < a->picked.n; i++) {
        const tc_traveller *t = &a->traveller[i];
        if (t->status)
            return ti_plan_explain(a->guide[i % a->n_thread].side[t->failed].plan);
    }
    return TC_OK;
}

static void clear_guides(const tc_abreast *a)
{
    for (size_t i = 0; i < a->n_thread; i++)
        for (int k = a->first; k < 2; k++)
            ti_plan_clear(a->guide[i].side[k].plan);
}

tc_status ti_abreast_go(tc_abreast *a)
{
    ti_each(a->ctx, a->picked.n, a->n_thread, advance, a);
    clear_guides(a);
    ti_memory_trim(a->ctx);
    return explain(a);
}

/* ---- weights ---- */

/* The typed program's weights as float arithmetic, from codes. */
static void fill_weights(const tc_abreast *a, tc_tensor codes)
{
    tc_mark mark = ti_arena_mark(&a->ctx->scratch);
    tc_tensor to = ti_tensor_of(a->graph[TC_TYPED], a->now->pair.sim->in[1]),
              real = ti_dequantized(a->ctx, &a->ctx->scratch, codes);
    memcpy(to.data, real.data, tc_type_bytes(to.type));
    ti_arena_rewind(&a->ctx->scratch, mark);
}

void ti_abreast_unload(tc_abreast *a)
{
    const tc_layer *l = a->passing ? a->passing : a->now;
    for (int k = a->first; k < 2; k++) {
        ti_plan_unload(a->guide->side[k].plan, ti_layer_node(l, k));
        ti_arena_free(&a->packed[k]);
    }
    if (l->loads) {
        tc_tensor w = ti_tensor_of(a->graph[TC_TYPED], l->pair.sim->in[1]);
        ti_pages_drop(a->ctx, w.data, tc_type_bytes(w.type));
    }
}

void ti_abreast_load(tc_abreast *a, tc_tensor codes)
{
    ti_abreast_unload(a);
    if (a->now->loads)
        fill_weights(a, codes);
    for (int k = a->first; k < 2; k++)
        ti_plan_load(a->guide->side[k].plan, ti_layer_node(a->now, k), &a->packed[k]);
}

/* ---- inputs ---- */

static bool find_input(const tc_abreast *a, size_t sample, int program, tc_parked_view *view)
{
    const tc_traveller *t = &a->traveller[sample];
    const tc_layer *l = a->passing ? a->passing : a->now;
    return ti_parked_find(a->guide->side[program].plan, &t->parked[program], t->in,
                          ti_layer_node(l, program)->in[0], view);
}

bool ti_abreast_has_input(const tc_abreast *a)
{
    tc_parked_view view;
    return (a->first == TC_TYPED || find_input(a, 0, TC_REAL, &view)) && find_input(a, 0, TC_TYPED, &view);
}

tc_tensor ti_abreast_input(void *who, size_t sample, int program, tc_some_channels some,
                           tc_arena *room, const int8_t **order)
{
    tc_parked_view view;
    find_input(who, sample, program, &view);
    tc_type *type = ti_arena_copy(room, view.type, sizeof *type);
    int64_t outer = 1, inner = tc_type_count(type), n = 1, first = 0, all = 1;
    *order = view.order;
    if (some.n) {
        extents(type, view.order, 1, &outer, &inner);
        for (int i = 0; i < type->rank; i++)
            if (view.order[i] == 1) {
                all = type->dim[i];
                type->dim[i] = some.n;
            }
        n = some.n;
        first = some.first;
    }
    float *to = ti_arena_raw(room, (size_t)(outer * n * inner) * sizeof *to);
    for (int64_t o = 0; o < outer; o++)
        ti_parked_read(&view, (o * all + first) * inner, n * inner, to + o * n * inner);
    return (tc_tensor){type, to};
}

typedef struct averaging {
    tc_abreast *a;
    size_t first;
    double *part; /* by current sample and program */
} averaging;

static void sum_windows(void *what, size_t i, tc_arena *room)
{
    const averaging *v = what;
    const tc_columns *s = &v->a->now->shape;
    for (int p = v->a->first; p < 2; p++) {
        const int8_t *order;
        tc_mark mark = ti_arena_mark(room);
        tc_tensor x = ti_abreast_input(v->a, v->first + i, p, (tc_some_channels){0}, room, &order);
        ti_columns_sums(s, room, x, order, v->part + (2 * (int64_t)i + p) * s->groups * s->k);
        ti_arena_rewind(room, mark);
    }
}

void ti_abreast_means(tc_abreast *a, double *mean[2])
{
    const tc_columns *s = &a->now->shape;
    size_t row = (size_t)(s->groups * s->k), most = a->n_part;
    tc_mark mark = ti_arena_mark(&a->ctx->scratch);
    averaging v = {.a = a, .part = tc_new_n(&a->ctx->scratch, double, 2 * most * row)};
    double n = a->now->positions * (double)a->picked.n;
    for (; v.first < a->picked.n; v.first += most) {
        size_t some = a->picked.n - v.first < most ? a->picked.n - v.first : most;
        ti_each(a->ctx, some, a->n_part, sum_windows, &v);
        for (size_t i = 0; i < 2 * some; i++)
            for (size_t j = 0; j < row; j++)
                mean[i % 2][j] += v.part[i * row + j] / n;
    }
    ti_arena_rewind(&a->ctx->scratch, mark);
}

/* ---- results, looked at ---- */

/* One sample through the layer, and not parked. */
static tc_status look(tc_guide *g, int which)
{
    enter(g, which);
    return ti_plan_go(g->side[which].plan, ti_layer_node(g->all->now, which)->out[0]);
}

static void sum_sample(void *what, size_t i, tc_arena *room)
{
    const tc_abreast *a = what;
    const tc_layer *l = a->now;
    tc_guide *g = guide_of(a, i, i, room);
    tc_status *status = &a->traveller[i].status;
    for (int k = 0; k < 2 && !*status; k++) {
        *status = look(g, k);
        if (!*status)
            sum_channels(&g->side[k], l, a->sums + (2 * (int64_t)i + k) * l->n);
    }
}

tc_status ti_abreast_differences(tc_abreast *a, double *mean)
{
    int64_t n = a->now->n;
    tc_mark mark = ti_arena_mark(&a->ctx->scratch);
    a->sums = tc_new_n(&a->ctx->scratch, double, 2 * a->picked.n * (size_t)n);
    ti_each(a->ctx, a->picked.n, a->n_thread, sum_sample, a);
    clear_guides(a);
    for (int64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < a->picked.n; i++) {
            const double *sum = a->sums + 2 * (int64_t)i * n + k;
            mean[k] += sum[0] - sum[n];
        }
        mean[k] /= a->now->positions * (double)a->picked.n;
    }
    ti_arena_rewind(&a->ctx->scratch, mark);
    return explain(a);
}

/* Sums and squares of the errors by channel: with the old codes, and with the new ones. */
static void try_sample(void *what, size_t i, tc_arena *room)
{
    const tc_abreast *a = what;
    const tc_layer *l = a->now;
    tc_guide *g = guide_of(a, i, i * TC_TRY_EVERY, room);
    tc_side *typed = &g->side[TC_TYPED];
    tc_status *status = &a->traveller[g->sample].status;
    double *sum = a->sums + 4 * (int64_t)i * l->n;
    if (*status || (*status = look(g, TC_REAL)))
        return;
    tc_tensor real = g->side[TC_REAL].seen;
    const int8_t *order = g->side[TC_REAL].order;
    const float *x = ti_arena_copy(room, real.data, tc_type_bytes(real.type));
    if ((*status = look(g, TC_TYPED)))
        return;
    a->differs[i] = memcmp(order, typed->order, (size_t)typed->seen.type->rank) != 0;
    if (a->differs[i])
        return;
    add_errors(typed, l, x, sum, sum + l->n);
    add_new_codes(g, l);
    add_errors(typed, l, x, sum + 2 * l->n, sum + 3 * l->n);
}

tc_status ti_abreast_try(tc_abreast *a, tc_tensor old, double *before, double *after,
                         bool *comparable)
{
    const tc_layer *l = a->now;
    size_t tried = (a->picked.n + TC_TRY_EVERY - 1) / TC_TRY_EVERY;
    tc_mark mark = ti_arena_mark(&a->ctx->scratch);
    a->sums = tc_new_n(&a->ctx->scratch, double, 4 * tried * (size_t)l->n);
    a->differs = tc_new_n(&a->ctx->scratch, bool, tried);
    if (l->n * l->shape.k * (int64_t)sizeof(float) <= ROWS_BYTES) { /* the same in every sample */
        a->changes = ti_arena_raw(&a->ctx->scratch, (size_t)(l->n * l->shape.k) * sizeof(float));
        changes_of(a, l, 0, l->n, a->changes);
    }
    ti_abreast_load(a, old);
    ti_each(a->ctx, tried, a->n_thread, try_sample, a);
    a->changes = NULL;
    clear_guides(a);
    *comparable = true;
    for (int64_t k = 0; k < l->n; k++) {
        double sum[4] = {0}, n = l->positions * (double)tried;
        for (size_t i = 0; i < tried; i++)
            for (int j = 0; j < 4; j++)
                sum[j] += a->sums[(4 * (int64_t)i + j) * l->n + k];
        before[k] = sum[1] - sum[0] * sum[0] / n;
        after[k] = sum[3] - sum[2] * sum[2] / n;
    }
    for (size_t i = 0; i < tried; i++)
        *comparable = *comparable && !a->differs[i];
    ti_arena_rewind(&a->ctx->scratch, mark);
    return explain(a);
}

/* ---- getting ready ---- */

static void forget(void *what)
{
    tc_abreast *a = what;
    for (size_t i = 0; i < a->picked.n; i++)
        for (int k = 0; k < 2; k++)
            ti_arena_free(&a->traveller[i].parked[k].room);
    for (int k = 0; k < 2; k++)
        ti_arena_free(&a->packed[k]);
}

/* By value of a program: weights of layers that are loaded late, without other readers. */
static bool *late_weights(const tc_abreast *a, tc_layer *layer, size_t n, int which)
{
    const tc_graph *g = a->graph[which];
    bool *late = tc_new_n(&a->ctx->arena, bool, g->n_val);
    tc_mark mark = ti_arena_mark(&a->ctx->scratch);
    const uint32_t *readers = ti_graph_readers(a->ctx, g);
    for (size_t i = 0; i < n; i++) {
        tc_val w = ti_layer_node(&layer[i], which)->in[1];
        tc_tensor t = ti_tensor_of(g, w);
        bool own = t.data && t.type->dtype == TC_f32 && readers[w] == 1 && ti_is_const(g, w);
        late[w] = own;
        if (which == TC_TYPED)
            layer[i].loads = own;
    }
    ti_arena_rewind(&a->ctx->scratch, mark);
    return late;
}

/* Weights freed by the plans are recomputed, layer by layer. */
static void drop_weights(const tc_abreast *a, const tc_layer *layer, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tc_tensor w = ti_tensor_of(a->graph[TC_TYPED], layer[i].pair.sim->in[1]);
        if (layer[i].loads)
            ti_pages_drop(a->ctx, w.data, tc_type_bytes(w.type));
    }
}

static tc_status plan_both(tc_abreast *a, tc_layer *layer, size_t n)
{
    tc_side *s = a->guide->side;
    for (int k = a->first; k < 2; k++) {
        bool *wanted = tc_new_n(&a->ctx->arena, bool, a->graph[k]->n_val);
        for (size_t i = 0; i < n; i++) {
            wanted[ti_layer_node(&layer[i], k)->out[0]] = true;
            wanted[ti_layer_node(&layer[i], k)->in[0]] = true;
        }
        s[k] = (tc_side){.guide = a->guide, .which = k, .watch = {wanted, see, &s[k]}};
        s[k].plan = ti_plan_late(a->ctx, a->graph[k], &s[k].watch, late_weights(a, layer, n, k));
        if (!s[k].plan)
            return ti_unsupported(a->ctx, NULL, TC_E_UNSUPPORTED,
                                  "the program has operators whose biases cannot be corrected");
        for (size_t i = 0; i < n; i++)
            layer[i].step[k] = ti_plan_step_of(s[k].plan, ti_layer_node(&layer[i], k));
    }
    return TC_OK;
}

/* Both programs of a thread share one buffer for their values. */
static void make_guides(tc_abreast *a)
{
    const tc_side *first = a->guide->side;
    size_t most = 0;
    for (int k = a->first; k < 2; k++)
        most = ti_plan_bytes(first[k].plan) > most ? ti_plan_bytes(first[k].plan) : most;
    for (size_t i = 0; i < a->n_thread; i++) {
        tc_guide *g = &a->guide[i];
        g->all = a;
        for (int k = a->first; k < 2; k++) {
            tc_side *s = &g->side[k];
            if (i) {
                *s = (tc_side){.guide = g, .which = k, .watch = {first[k].watch.wanted, see, s}};
                s->plan = ti_plan_twin(first[k].plan, &s->watch);
            }
        }
        void *memory = ti_arena_raw(&a->ctx->arena, most);
        for (int k = a->first; k < 2; k++)
            ti_plan_lend(g->side[k].plan, memory);
        g->side[TC_TYPED].in = ti_input_buffers(a->ctx, a->graph[TC_TYPED]);
    }
}

/* How many samples memory allows, and how their values are parked. */
static void find_room(tc_abreast *a, const tc_layer *layer, size_t n, size_t most, tc_real_means *means)
{
    const tc_side *s = a->guide->side;
    if (a->first == TC_TYPED)
        return;
    size_t fit = MOST_BYTES / (1 + ti_plan_bytes(s[0].plan) + ti_plan_bytes(s[1].plan));
    means->fit = fit < TC_ABREAST_LEAST ? TC_ABREAST_LEAST : fit < most ? fit : most;
    means->brief = true;
    for (size_t i = 0; i < n; i++) {
        const tc_type *x = ti_type_of(a->typed, layer[i].pair.typed->in[0]);
        means->brief = means->brief && tc_dtypes[x->dtype].bits <= 8;
    }
}

tc_status ti_abreast_prepare(tc_abreast *a, tc_layer *layer, size_t n, const tc_samples *samples,
                             size_t most, const tc_domains *domains, tc_real_means *means)
{
    a->n_part = ti_each_threads(a->ctx, most);
    a->guide = tc_new_n(&a->ctx->arena, tc_guide, a->n_part);
    TC_TRY(plan_both(a, layer, n));
    const tc_side *s = a->guide->side;
    find_room(a, layer, n, most, means);
    TC_TRY(ti_choose_samples(a->ctx, a->graph[TC_REAL], samples, domains, means->fit, &a->picked));
    if (a->first == TC_REAL)
        means->brief = means->brief && a->picked.n * ti_plan_bytes(s[TC_REAL].plan) > MUCH;
    a->brief = means->brief;
    a->n_thread = 1;
    if ((a->first == TC_TYPED || ti_plan_parallel(s[TC_REAL].plan)) && ti_plan_parallel(s[TC_TYPED].plan))
        a->n_thread = ti_each_threads(a->ctx, a->picked.n);
    make_guides(a);
    drop_weights(a, layer, n);
    a->traveller = tc_new_n(&a->ctx->arena, tc_traveller, a->picked.n);
    for (size_t i = 0; i < a->picked.n; i++) {
        tc_traveller *t = &a->traveller[i];
        t->in = ti_picked_inputs(&a->picked, i);
        t->state = a->picked.state(a->picked.from, i);
        for (int k = 0; k < 2; k++)
            ti_arena_init_like(&t->parked[k].room, &a->ctx->arena);
    }
    for (int k = 0; k < 2; k++)
        ti_arena_init_like(&a->packed[k], &a->ctx->arena);
    ti_ctx_defer(a->ctx, forget, a);
    return TC_OK;
}
