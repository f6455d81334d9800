/* SPDX-License-Identifier: Apache-2.0 */
/* comparison.c -- two forms of a program on the same data, value by value, in the order of what
 * each contributes to the error of the outputs.
 *
 * Values are matched by name and shape.  Quantized ones count as the real values they stand for; a
 * typed program is run as float arithmetic on its grids. */
#include "comparison.h"

#include <math.h>
#include <stdlib.h>

#include "../base/real.h"
#include "../ir/verify.h"
#include "../num/load.h"
#include "../num/quant.h"
#include "../quant/error_share.h"
#include "../quant/quantizer.h"
#include "../run/plan.h"
#include "../run/parallel_samples.h"
#include "../drive/image_check.h"
#include "../drive/road.h"

/* The comparison of two sequences of values. */
typedef struct sums {
    double aa, bb, ab, ee, max;
    int64_t n, saturated;
} sums;

enum { AS_IS = 0, CHANNELS_MOVED = 1, ORDERS = 2 };

/* A value that both programs have.  A region computes with its channels last, where PyTorch has
 * them second, and its values keep their names: such a one is read in both orders, where its shape
 * allows both, and the order that agrees better is taken. */
typedef struct pair {
    const char *name;
    const tc_type *type;   /* of the first, f32 */
    const tc_type *domain; /* its type in the second: quantized, or real */
    const tc_loc *loc;
    bool may[ORDERS];
    int8_t axis[TC_MAX_RANK]; /* CHANNELS_MOVED: the first's axis for each of the second's */
    sums by[ORDERS];
    int way; /* of the orders, the one that was taken */
    double sqnr, cosine;
    tc_val first; /* in the first program */
    double alone; /* dB of the outputs with it alone on the second's grid; NaN: not known */
    bool cut;
} pair;

/* One of the programs. */
typedef struct side {
    tc_module *module;
    tc_graph *g;
    pair **of; /* by value */
    bool *wanted;
    tc_plan *plan;
    void **state;
} side;

/* A pair in the current sample. */
typedef struct held {
    float *first; /* the values in the first program */
    sums by[ORDERS];
} held;

/* One of the programs as a worker runs it. */
typedef struct stand {
    struct seat *seat;
    const side *side;
    tc_watch watch;
    tc_plan *plan;
    tc_tensor *in, *out, *after;
} stand;

/* A worker: runs a sample through both programs, and has sums of its own. */
typedef struct seat {
    struct tc_comparison *c;
    stand a, b;
    held *held; /* by pair */
    const tc_plan *failed;
} seat;

struct tc_comparison {
    tc_ctx *ctx;
    side a, b;
    pair *pair;
    size_t n_pair;
    tc_samples samples;
    seat *seat;
};

/* ---- elements in logical order ---- */

/* The distance in memory between neighbours along each logical axis. */
static void strides_of(tc_tensor t, const int8_t *order, int64_t *stride)
{
    int64_t step = 1;
    for (int i = t.type->rank - 1; i >= 0; i--) {
        stride[order[i]] = step;
        step *= t.type->dim[i];
    }
}

/* Where elements go: those of the first program are kept, those of the second compared with
 * them. */
typedef struct sink {
    float *first;
    sums *by;
    const tc_quant *domain; /* one scale for all; else NULL */
} sink;

/* The real values of a stored tensor, in logical order. */
static void each_number(tc_tensor t, const int8_t *order, const tc_type *logical, const sink *to,
                        void (*take)(const sink *to, int64_t i, double v))
{
    int64_t stride[TC_MAX_RANK] = {0}, at[TC_MAX_RANK] = {0}, n = tc_type_count(logical), place = 0;
    int rank = logical->rank;
    const tc_quant *q = t.type->quant;
    strides_of(t, order, stride);
    for (int64_t i = 0; i < n; i++) {
        double v = ti_load_f64(t, place);
        if (q) {
            int64_t c = q->axis >= 0 ? at[order[q->axis]] : 0;
            v = q->scale[c] * (v - (double)q->zero[c]);
        }
        take(to, i, v);
        for (int k = rank - 1; k >= 0; k--) {
            place += stride[k];
            if (++at[k] < logical->dim[k])
                break;
            place -= stride[k] * at[k];
            at[k] = 0;
        }
    }
}

static void keep_first(const sink *to, int64_t i, double v)
{
    to->first[i] = (float)v;
}

static void add_second(const sink *to, int64_t i, double b)
{
    double a = (double)to->first[i], e = fabs(a - b);
    const tc_quant *q = to->domain;
    sums *s = to->by;
    s->aa += a * a;
    s->bb += b * b;
    s->ab += a * b;
    s->ee += e * e;
    s->max = e > s->max ? e : s->max;
    s->n++;
    if (q) {
        double code = rint(b / q->scale[0]) + (double)q->zero[0];
        s->saturated += code <= (double)q->lo || code >= (double)q->hi;
    }
}

static void see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    const stand *s = who;
    const tc_comparison *c = s->seat->c;
    const pair *p = s->side->of[v];
    held *h = &s->seat->held[p - c->pair];
    const tc_quant *q = p->domain->quant;
    sink to = {h->first, NULL, q && q->axis < 0 ? q : NULL};
    if (s->side == &c->a) {
        each_number(seen, order, p->type, &to, keep_first);
        return;
    }
    for (int o = 0; o < ORDERS; o++) {
        int8_t moved[TC_MAX_RANK];
        for (int i = 0; i < seen.type->rank; i++)
            moved[i] = o == AS_IS ? order[i] : p->axis[order[i]];
        h->by[o] = (sums){0};
        to.by = &h->by[o];
        if (p->may[o])
            each_number(seen, moved, p->type, &to, add_second);
    }
}

/* ---- which values match ---- */

static bool is_real(const tc_type *t)
{
    return t && (t->quant || ti_is_float(t->dtype));
}

/* Codes whose scale the file does not give, of the same type in both: compared as they are. */
static bool are_codes(const tc_type *a, const tc_type *b)
{
    return a && b && a->dtype == b->dtype && ti_is_int(a->dtype) && tc_dtypes[a->dtype].bytes <= 2;
}

/* Values by name; of several with one name the last counts. */
static void by_name(const tc_graph *g, tc_map *map)
{
    for (size_t v = 1; v < g->n_val; v++) {
        const tc_value *value = g->val[v];
        if (value->name && value->def && value->def->op != TC_OP_const && is_real(value->type))
            *ti_map_at(map, ti_str_of(value->name)) = (void *)(uintptr_t)v;
    }
}

static tc_val named(const tc_map *map, const char *name)
{
    return (tc_val)(uintptr_t)ti_map_get(map, ti_str_of(name));
}

static bool is_tosa(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (ti_text_starts(tc_ops[g->node[k]->op].name, "tosa_"))
            return true;
    return false;
}

/* Whether the second's value is an image, which has its channels last and perhaps more of them. */
static bool is_image(const tc_comparison *c, tc_val b)
{
    const tc_value *value = ti_value_of(c->b.g, b);
    const tc_vk_format *f = ti_vk_format(value->image);
    return f && f->order == TC_VK_APART && value->type->rank == 4;
}

static bool same_size(const tc_comparison *c, const tc_type *a, tc_val b)
{
    const tc_type *t = ti_type_of(c->b.g, b);
    bool same = a->rank == t->rank;
    for (int j = 0; same && j < t->rank; j++)
        same = a->dim[j] == t->dim[j] || (is_image(c, b) && j == 3 && a->dim[j] < t->dim[j]);
    return same;
}

/* Whether the second's value can be the first's with its channels at another axis, and where each
 * of its axes is then.  An output of a program has the order that the program gives. */
static bool channels_moved(const tc_comparison *c, const tc_type *a, tc_val b, int8_t *axis)
{
    const tc_type *t = ti_type_of(c->b.g, b);
    bool last = is_tosa(c->b.g) && !is_tosa(c->a.g), first = is_tosa(c->a.g) && !is_tosa(c->b.g),
         image = is_image(c, b);
    bool same = a->rank == t->rank && a->rank >= 3 && (last || first) &&
                (image || !ti_graph_gives(c->b.g, b));
    for (int j = 0; same && j < t->rank; j++) {
        int last_axis = t->rank - 1;
        axis[j] = (int8_t)(j == 0 ? 0 : last ? (j == last_axis ? 1 : j + 1)
                                       : j == 1 ? last_axis : j - 1);
        same = t->dim[j] == a->dim[axis[j]] ||
               (image && j == last_axis && t->dim[j] > a->dim[axis[j]]);
    }
    return same;
}

/* a of the first and b of the second are the same value; domain: how the second has it. */
static void add_pair(tc_comparison *c, const char *name, tc_val a, tc_val b, const tc_type *domain)
{
    const tc_value *value = c->a.g->val[a];
    pair found = {.name = name, .type = value->type, .domain = domain, .first = a, .alone = NAN};
    if (!value->def || !tc_type_count(value->type))
        return;
    found.loc = value->def->loc;
    found.may[AS_IS] = same_size(c, value->type, b);
    found.may[CHANNELS_MOVED] = channels_moved(c, value->type, b, found.axis);
    if (!found.may[AS_IS] && !found.may[CHANNELS_MOVED])
        return;
    pair *p = &c->pair[c->n_pair++];
    *p = found;
    c->a.of[a] = c->b.of[b] = p;
}

/* The output of this name, else the one at this position: a .tosa has its own order. */
static tc_val output_of(const tc_graph *g, const char *name, size_t place)
{
    for (size_t i = 0; name && i < g->n_out; i++) {
        const char *other = g->val[g->out[i]]->name;
        if (other && !strcmp(other, name))
            return g->out[i];
    }
    return g->out[place];
}

/* By name; outputs else by position.  typed: the second program before it became float
 * arithmetic. */
static void match(tc_comparison *c, const tc_graph *typed)
{
    tc_arena *arena = &c->ctx->arena;
    tc_map in_a, in_b, in_typed;
    ti_map_init(&in_a, arena);
    ti_map_init(&in_b, arena);
    ti_map_init(&in_typed, arena);
    by_name(c->a.g, &in_a);
    by_name(c->b.g, &in_b);
    by_name(typed, &in_typed);
    c->pair = tc_new_n(arena, pair, in_a.n + c->a.g->n_out);
    for (size_t i = 0; i < in_a.n; i++) {
        tc_val a = (tc_val)(uintptr_t)in_a.entry[i].value;
        const char *name = c->a.g->val[a]->name;
        tc_val b = named(&in_b, name), t = named(&in_typed, name);
        if (b)
            add_pair(c, name, a, b,
                     t && ti_type_of(typed, t)->quant ? ti_type_of(typed, t)
                                                      : ti_type_of(c->b.g, b));
    }
    for (size_t i = 0; i < c->a.g->n_out && i < c->b.g->n_out; i++) {
        tc_val a = c->a.g->out[i], b = output_of(c->b.g, c->a.g->val[a]->name, i);
        bool free = !c->a.of[a] && !c->b.of[b] && ti_def(c->b.g, b);
        const tc_type *s = ti_type_of(c->a.g, a), *t = ti_type_of(c->b.g, b);
        if (free && ((is_real(s) && is_real(t)) || are_codes(s, t)))
            add_pair(c, ti_text_format(arena, "output %zu", i), a, b, t);
    }
}

/* ---- running ---- */

/* The program as it is run; typed: as it was before it became float arithmetic. */
static tc_status take_program(tc_ctx *ctx, const tc_model *model, tc_module **out, tc_graph **typed)
{
    *out = ti_module_clone(model->module);
    *typed = ti_main(ti_module_copy(*out));
    TC_TRY(ti_road_run(ctx, *out, TC_AT_COPY, TC_AT_AS_READ, NULL, NULL));
    return ti_road_run(ctx, *out, TC_AT_AS_RUN, TC_AT_RUNNABLE, NULL, NULL);
}

static void prepare(const tc_comparison *c, side *s)
{
    tc_arena *arena = &c->ctx->arena;
    s->wanted = tc_new_n(arena, bool, s->g->n_val);
    for (size_t v = 1; v < s->g->n_val; v++)
        s->wanted[v] = s->of[v] != NULL;
    s->state = tc_new_n(arena, void *, s->g->n_mutation);
    for (size_t i = 0; i < s->g->n_mutation; i++)
        s->state[i] = (void *)(uintptr_t)s->g->val[s->g->mutation[i].before]->data;
}

/* The first worker's plan is the side's own. */
static tc_status take_stand(tc_comparison *c, seat *by, side *of, stand *s)
{
    tc_arena *arena = &c->ctx->arena;
    const tc_graph *g = of->g;
    *s = (stand){.seat = by, .side = of};
    s->watch = (tc_watch){of->wanted, see, s};
    s->in = tc_new_n(arena, tc_tensor, g->n_in);
    s->out = tc_new_n(arena, tc_tensor, g->n_out);
    s->after = tc_new_n(arena, tc_tensor, g->n_mutation);
    for (size_t i = 0; i < g->n_in; i++)
        s->in[i] = ti_tensor_new(arena, ti_type_of(g, g->in[i]));
    if (of->plan)
        s->plan = ti_plan_twin(of->plan, &s->watch);
    else
        s->plan = of->plan = ti_plan_new(c->ctx, of->g, &s->watch);
    return s->plan
               ? TC_OK
               : ti_unsupported(c->ctx, NULL, TC_E_UNSUPPORTED,
                                "%s keeps state of its own and cannot be compared value by value",
                                of->module->file);
}

static tc_status take_seat(tc_comparison *c, seat *s)
{
    tc_arena *arena = &c->ctx->arena;
    s->c = c;
    s->held = tc_new_n(arena, held, c->n_pair);
    for (size_t i = 0; i < c->n_pair; i++)
        s->held[i].first =
            ti_arena_raw(arena, (size_t)tc_type_count(c->pair[i].type) * sizeof(float));
    TC_TRY(take_stand(c, s, &c->a, &s->a));
    return take_stand(c, s, &c->b, &s->b);
}

/* Tokens of i64 in one program, of i32 in the other. */
static bool both_whole(const tc_type *a, const tc_type *b)
{
    return ti_is_int(a->dtype) && ti_is_int(b->dtype) && !a->quant && !b->quant;
}

/* "f32[1,3], i64[]". */
static const char *inputs_text(tc_ctx *ctx, const tc_graph *g)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    for (size_t i = 0; i < g->n_in; i++)
        ti_buf_printf(&text, "%s%s", i ? ", " : "",
                      ti_type_text(&ctx->arena, ti_type_of(g, g->in[i])));
    return g->n_in ? ti_buf_cstr(&text) : "none";
}

static tc_status check_inputs(const tc_comparison *c)
{
    bool same = c->a.g->n_in == c->b.g->n_in;
    for (size_t i = 0; same && i < c->a.g->n_in; i++) {
        const tc_type *a = ti_type_of(c->a.g, c->a.g->in[i]),
                      *b = ti_type_of(c->b.g, c->b.g->in[i]);
        same = ti_same_dims(a, b) && (a->dtype == b->dtype || both_whole(a, b) ||
                                      (a->dtype == TC_f32 && b->quant));
        same = same || ti_image_is_of(ti_value_of(c->b.g, c->b.g->in[i]), a);
    }
    return same ? TC_OK
                : ti_error(c->ctx, NULL, TC_E_MISMATCH,
                           "%s and %s do not have the same inputs: %s, and %s", c->a.module->file,
                           c->b.module->file, inputs_text(c->ctx, c->a.g),
                           inputs_text(c->ctx, c->b.g));
}

/* The second program's inputs: the same values, quantized where it takes codes. */
static void hand_on(const seat *s)
{
    for (size_t i = 0; i < s->c->a.g->n_in; i++) {
        tc_tensor a = s->a.in[i], b = s->b.in[i];
        const tc_value *to = ti_value_of(s->c->b.g, s->c->b.g->in[i]);
        if (to->image && !ti_value_of(s->c->a.g, s->c->a.g->in[i])->image)
            ti_image_fill(to, a, b);
        else if (a.type->dtype == TC_f32 && b.type->quant)
            ti_quantize_into(a, b);
        else if (a.type->dtype != b.type->dtype)
            for (int64_t k = 0; k < tc_type_count(a.type); k++)
                ti_store_i64(b, k, ti_load_i64(a, k));
        else
            memcpy(b.data, a.data, tc_type_bytes(a.type));
    }
}

static tc_status read_sample(void *who, size_t worker, size_t k)
{
    const tc_comparison *c = who;
    return c->samples.read(c->samples.from, k, c->seat[worker].a.in);
}

static tc_status run_stand(seat *by, const stand *s)
{
    by->failed = s->plan;
    return ti_plan_try(s->plan, s->in, s->out, s->side->state, s->after);
}

static tc_status run_sample(void *who, size_t worker, size_t k)
{
    seat *s = &((const tc_comparison *)who)->seat[worker];
    (void)k;
    TC_TRY(run_stand(s, &s->a));
    hand_on(s);
    return run_stand(s, &s->b);
}

static tc_status explain(void *who, size_t worker, size_t k)
{
    const seat *s = &((const tc_comparison *)who)->seat[worker];
    (void)k;
    return ti_plan_explain(s->failed == s->a.plan ? s->a.plan : s->b.plan);
}

static void add_sums(sums *to, const sums *s)
{
    to->aa += s->aa;
    to->bb += s->bb;
    to->ab += s->ab;
    to->ee += s->ee;
    to->max = fmax(to->max, s->max);
    to->n += s->n;
    to->saturated += s->saturated;
}

/* Sums of samples are added in the order of the samples. */
static tc_status take_sums(void *who, size_t worker, size_t k)
{
    const tc_comparison *c = who;
    for (size_t i = 0; i < c->n_pair; i++)
        for (int o = 0; o < ORDERS; o++)
            add_sums(&c->pair[i].by[o], &c->seat[worker].held[i].by[o]);
    return ti_tell_progress(c->ctx, "samples", k + 1, c->samples.n);
}

static tc_status run_samples(tc_comparison *c)
{
    size_t n = ti_each_threads(c->ctx, c->samples.n);
    c->seat = tc_new_n(&c->ctx->arena, seat, n);
    TC_TRY(take_seat(c, &c->seat[0]));
    n = ti_plan_parallel(c->a.plan) && ti_plan_parallel(c->b.plan) ? n : 1;
    tc_spread_run *threads = ti_spread_new(c->ctx, n);
    for (size_t i = 0; i < n; i++) {
        if (i)
            TC_TRY(take_seat(c, &c->seat[i]));
        ti_plan_on_oom(c->seat[i].a.plan, ti_spread_oom(threads, i));
        ti_plan_on_oom(c->seat[i].b.plan, ti_spread_oom(threads, i));
    }
    tc_spread all = {.ctx = c->ctx,
                     .n = c->samples.n,
                     .who = c,
                     .read = read_sample,
                     .work = run_sample,
                     .explain = explain,
                     .take = take_sums};
    return ti_spread_samples(threads, &all, n);
}

/* ---- reporting ---- */

static int by_error(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->sqnr != y->sqnr)
        return x->sqnr < y->sqnr ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_contribution(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (isnan(x->alone) != isnan(y->alone))
        return isnan(x->alone) ? 1 : -1;
    if (!isnan(x->alone) && x->alone != y->alone)
        return x->alone < y->alone ? -1 : 1;
    return by_error(a, b);
}

static void sum_up(tc_comparison *c)
{
    for (size_t i = 0; i < c->n_pair; i++) {
        pair *p = &c->pair[i];
        p->way = p->may[AS_IS] ? AS_IS : CHANNELS_MOVED;
        if (p->may[AS_IS] && p->may[CHANNELS_MOVED] && p->by[CHANNELS_MOVED].ee < p->by[AS_IS].ee)
            p->way = CHANNELS_MOVED;
        const sums *s = &p->by[p->way];
        p->sqnr = s->ee > 0 ? 10 * ti_log10(s->aa / s->ee) : INFINITY;
        p->cosine = s->aa > 0 && s->bb > 0 ? s->ab / sqrt(s->aa * s->bb) : s->aa == s->bb ? 1 : 0;
    }
    if (c->n_pair)
        qsort(c->pair, c->n_pair, sizeof *c->pair, by_error);
}

/* What each value contributes to the outputs' error, by itself. */
static tc_status find_shares(tc_comparison *c)
{
    size_t n = 0;
    tc_alone *row = tc_new_n(&c->ctx->arena, tc_alone, c->n_pair);
    for (size_t i = 0; i < c->n_pair; i++) {
        row[i] = (tc_alone){.value = c->pair[i].first, .grid = c->pair[i].domain->quant};
        n += row[i].grid != NULL;
    }
    if (!n)
        return TC_OK;
    TC_TRY(ti_quant_error_shares(c->ctx, c->a.g, c->a.plan, c->a.wanted, c->a.state, &c->samples,
                                 row, c->n_pair));
    for (size_t i = 0; i < c->n_pair; i++) {
        c->pair[i].alone = row[i].noise == 0 ? INFINITY : -10 * ti_log10(row[i].noise);
        c->pair[i].cut = ti_alone_is_cut(&row[i]);
    }
    qsort(c->pair, c->n_pair, sizeof *c->pair, by_contribution);
    return TC_OK;
}

/* The largest error in steps of the domain; NaN: it has none. */
static double in_steps(const pair *p)
{
    const tc_quant *q = p->domain->quant;
    return q && q->axis < 0 ? p->by[p->way].max / q->scale[0] : NAN;
}

/* For a program with regions only outputs are known by name. */
static void say_inside(const tc_comparison *c)
{
    size_t inside = 0, named_in_a = 0;
    for (size_t i = 0; i < c->n_pair; i++)
        inside += !ti_graph_gives(c->a.g, c->pair[i].first);
    for (size_t v = 1; v < c->a.g->n_val; v++)
        named_in_a += c->a.g->val[v]->name && c->a.g->val[v]->def && is_real(c->a.g->val[v]->type);
    if (!inside && named_in_a > c->n_pair && !ti_quant_is_typed(c->b.module))
        ti_note(c->ctx, NULL,
                "only outputs are compared: %s does not name what is inside; the typed program "
                "(tosac quantize ... -o typed.ir) shows every value",
                c->b.module->file);
}

tc_status ti_compare_forms(tc_ctx *ctx, const tc_model *a, const tc_model *b, tc_dataset *data,
                         tc_comparison **out)
{
    tc_comparison *c = tc_new(&ctx->arena, tc_comparison);
    tc_graph *typed;
    c->ctx = ctx;
    TC_TRY(take_program(ctx, a, &c->a.module, &typed));
    TC_TRY(take_program(ctx, b, &c->b.module, &typed));
    c->a.g = ti_main(c->a.module);
    c->b.g = ti_main(c->b.module);
    c->a.of = tc_new_n(&ctx->arena, pair *, c->a.g->n_val);
    c->b.of = tc_new_n(&ctx->arena, pair *, c->b.g->n_val);
    TC_TRY(check_inputs(c));
    TC_TRY(ti_open_dataset(ctx, data, c->a.g, &c->samples));
    match(c, typed);
    if (!c->n_pair)
        return ti_error(ctx, NULL, TC_E_MISMATCH,
                        "%s and %s have no value in common: names or shapes differ",
                        c->a.module->file, c->b.module->file);
    prepare(c, &c->a);
    prepare(c, &c->b);
    TC_TRY(run_samples(c));
    sum_up(c);
    TC_TRY(find_shares(c));
    say_inside(c);
    *out = c;
    return TC_OK;
}

size_t ti_compared_samples(const tc_comparison *c)
{
    return c->samples.n;
}

bool ti_compared_at(const tc_comparison *c, size_t i, tc_compared_value *out)
{
    if (i >= c->n_pair)
        return false;
    const pair *p = &c->pair[i];
    const sums *s = &p->by[p->way];
    bool steps = !isnan(in_steps(p));
    *out = (tc_compared_value){
        .name = p->name,
        .type = p->domain,
        .loc = p->loc,
        .sqnr_db = p->sqnr,
        .cosine = p->cosine,
        .max_error = s->max,
        .max_steps = in_steps(p),
        .saturated = !steps ? NAN : s->n ? (double)s->saturated / (double)s->n : 0,
        .alone_db = p->alone,
        .cut = p->cut,
    };
    return true;
}
