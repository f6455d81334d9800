/* SPDX-License-Identifier: Apache-2.0 */
/* door_evaluate.c -- accuracy, agreement and intervals of programs on the same samples. */
#include <math.h>
#include <stdlib.h>

#include "../data/dataset.h"
#include "../base/enter.h"
#include "../base/real.h"
#include "../data/labels.h"
#include "../drive/model.h"
#include "../text/scores.h"

/* The answers of one program. */
typedef struct verdict {
    const char *name;
    size_t *said; /* by sample: the class of the highest score */
    size_t right, right5, agree;
    size_t won, lost; /* right where the reference is wrong, and vice versa */
    double signal, noise, seconds;
    double surprise; /* of all tokens that were predicted, */
    size_t predicted; /* and how many */
    size_t *order; /* pairs of classes (label * classes + answer), the most frequent mistake
                      first */
    size_t n_order;
} verdict;

struct tc_evaluation {
    tc_ctx *ctx;
    verdict *program;
    size_t n_program, reference;
    size_t n, classes; /* rows of scores, of samples of all sizes */
    const tc_sized_model *sized; /* by size and program */
    size_t n_sized;
    size_t **first;    /* by size and sample: its first row */
    tc_labels labels;
    size_t *of_class; /* samples by label */
    float *scores;    /* the reference's */
    uint32_t *counts; /* of the current program: [label, answer] */
    bool tokens;      /* samples are tokens, and scores predict the next one */
};

typedef struct runner {
    tc_evaluation *e;
    verdict *v;
    bool reference;
    tc_program *program;
    const tc_tensor *in; /* of the current sample */
    const tc_type *tokens; /* of the first input; NULL: there is none */
    float *score;
    size_t n_in, samples, rows; /* rows of scores in one sample */
    const size_t *first; /* by sample: its first row among those of all sizes */
    float *held; /* one token at a time: the scores after the last one, */
    double place; /* and its position; less than 0: there was none */
} runner;

static tc_status differs(const tc_evaluation *e, const tc_model *model, size_t n, size_t classes)
{
    return ti_error(e->ctx, &(tc_loc){.file = tc_model_file(model)}, TC_E_MISMATCH,
                    "%zu scores of %zu classes, the reference has %zu of %zu", n, e->classes, e->n,
                    classes);
}

static tc_status prepare(tc_evaluation *e, const tc_model *model, tc_dataset *data, runner *r)
{
    tc_port_info port = {.size = sizeof port};
    TC_TRY(tc_program_new(e->ctx, model, NULL, &r->program));
    TC_TRY(tc_program_bind_data(r->program, data, &r->samples, NULL, NULL));
    r->n_in = tc_program_input_count(r->program);
    r->tokens = tc_program_input(r->program, 0, &port) ? port.type : NULL;
    if (!tc_program_output(r->program, 0, &port) || port.type->rank < 1 ||
        port.type->dim[port.type->rank - 1] < 2)
        return ti_error(e->ctx, &(tc_loc){.file = tc_model_file(model)}, TC_E_DATA,
                        "its first output is not a list of scores for two or more classes");
    size_t classes = (size_t)port.type->dim[port.type->rank - 1];
    r->rows = (size_t)tc_type_count(port.type) / classes;
    e->classes = classes;
    return TC_OK;
}

/* The rank of the label's score among all; the earlier of equal ones counts as higher. */
static size_t rank_of(const float *v, size_t n, size_t label)
{
    size_t rank = 0;
    for (size_t i = 0; i < n; i++)
        rank += v[i] > v[label] || (v[i] == v[label] && i < label);
    return rank;
}

static void count_in(tc_evaluation *e, verdict *v, size_t k, const float *score, bool reference)
{
    size_t c = e->classes, best = ti_best_score(score, c);
    v->said[k] = best;
    float *own = e->scores + k * c;
    if (reference)
        memcpy(own, score, c * sizeof *own);
    for (size_t i = 0; i < c; i++) {
        double a = (double)own[i], d = a - (double)score[i];
        v->signal += a * a;
        v->noise += d * d;
    }
    size_t theirs = e->program[e->reference].said[k];
    v->agree += best == theirs;
    if (!e->labels.of)
        return;
    size_t label = (size_t)e->labels.of[k];
    v->right += best == label;
    v->right5 += rank_of(score, c, label) < 5;
    v->won += best == label && theirs != label;
    v->lost += best != label && theirs == label;
    e->counts[label * c + best] += best != label;
}

/* ---- tokens ---- */

static double number_at(tc_tensor t, int64_t i)
{
    double v = 0;
    tc_tensor_get_f64(&t, i, 1, &v);
    return v;
}

static tc_status check_tokens(tc_evaluation *e, const tc_model *model, runner *r)
{
    size_t n = r->tokens ? (size_t)tc_type_count(r->tokens) : 0;
    tc_dtype dtype = n ? r->tokens->dtype : TC_none;
    if (!n || (dtype != TC_i64 && dtype != TC_i32) || r->rows != n)
        return ti_error(e->ctx, &(tc_loc){.file = tc_model_file(model)}, TC_E_DATA,
                        "its first output does not have scores for each token of its first input");
    r->place = -1;
    r->held = tc_new_n(&e->ctx->arena, float, e->classes);
    return TC_OK;
}

static tc_status predict(tc_evaluation *e, verdict *v, const float *score, double token)
{
    if (token < 0 || token >= (double)e->classes)
        return ti_error(e->ctx, &(tc_loc){.file = v->name}, TC_E_DATA,
                        "token %.0f is out of range: the model has %zu tokens", token, e->classes);
    v->surprise += ti_surprise(score, e->classes, (size_t)token);
    v->predicted++;
    return TC_OK;
}

/* Each token of a sample is followed by its label, the next token.  Programs that take one at a
 * time have it in the next sample, if its position follows. */
static tc_status predict_row(tc_evaluation *e, verdict *v, runner *r, size_t i, const float *score)
{
    if (i + 1 < r->rows)
        return predict(e, v, score, number_at(r->in[0], (int64_t)i + 1));
    if (r->rows > 1)
        return TC_OK;
    memcpy(r->held, score, e->classes * sizeof *score);
    r->place = r->n_in > 1 ? number_at(r->in[1], 0) : r->place + 1;
    return TC_OK;
}

static tc_status predict_sample(tc_evaluation *e, verdict *v, const runner *r)
{
    bool follows = r->place >= 0 && (r->n_in < 2 || number_at(r->in[1], 0) == r->place + 1);
    return r->rows == 1 && follows ? predict(e, v, r->held, number_at(r->in[0], 0)) : TC_OK;
}

/* ---- mistakes ---- */

static int more_first(const void *a, const void *b, const uint32_t *counts)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (counts[x] != counts[y])
        return counts[x] > counts[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The most frequent mistakes: an insertion into a short list. */
static void keep_mistakes(tc_evaluation *e, verdict *v)
{
    enum { MOST = 20 };
    size_t n = e->classes * e->classes;
    v->order = tc_new_n(&e->ctx->arena, size_t, MOST + 1);
    for (size_t i = 0; e->labels.of && i < n; i++) {
        if (!e->counts[i])
            continue;
        size_t at = v->n_order < MOST ? v->n_order++ : MOST;
        v->order[at] = i;
        for (; at && more_first(&v->order[at], &v->order[at - 1], e->counts) < 0; at--) {
            size_t other = v->order[at - 1];
            v->order[at - 1] = v->order[at];
            v->order[at] = other;
        }
    }
}

/* ---- the samples ---- */

static tc_status judge(void *user, const tc_sample_result *result)
{
    runner *r = user;
    tc_evaluation *e = r->e;
    verdict *v = r->v;
    r->in = result->in;
    if (e->tokens)
        TC_TRY(predict_sample(e, v, r));
    v->seconds += result->seconds;
    for (size_t i = 0; i < r->rows; i++) {
        ti_real_scores(result->out[0], i * e->classes, e->classes, r->score);
        count_in(e, v, r->first[result->index] + i, r->score, r->reference);
        if (e->tokens)
            TC_TRY(predict_row(e, v, r, i, r->score));
    }
    return TC_OK;
}

/* Rows of scores in the order of the samples' indices. */
static void lay_out(tc_evaluation *e, const runner *r)
{
    tc_arena *arena = &e->ctx->arena;
    size_t n = 0;
    for (size_t p = 0; p < e->n_sized; p++)
        n += r[p].samples;
    size_t *rows = tc_new_n(arena, size_t, n + 1), *before = tc_new_n(arena, size_t, n + 1);
    e->first = tc_new_n(arena, size_t *, e->n_sized);
    for (size_t p = 0; p < e->n_sized; p++) {
        const size_t *number = e->sized[p * e->n_program].number;
        for (size_t k = 0; k < r[p].samples; k++)
            rows[number ? number[k] : k] = r[p].rows;
    }
    for (size_t k = 0; k < n; k++)
        before[k + 1] = before[k] + rows[k];
    for (size_t p = 0; p < e->n_sized; p++) {
        const size_t *number = e->sized[p * e->n_program].number;
        e->first[p] = tc_new_n(arena, size_t, r[p].samples + 1);
        for (size_t k = 0; k < r[p].samples; k++)
            e->first[p][k] = before[number ? number[k] : k];
    }
    e->n = before[n];
}

/* The program at every size; all have the rows that the reference has. */
static tc_status prepare_sizes(tc_evaluation *e, size_t which, runner *r)
{
    size_t n = 0;
    for (size_t p = 0; p < e->n_sized; p++) {
        const tc_sized_model *at = &e->sized[p * e->n_program + which];
        size_t classes = e->classes;
        TC_TRY(prepare(e, at->model, at->data, &r[p]));
        r[p].e = e;
        r[p].v = &e->program[which];
        r[p].reference = which == e->reference;
        r[p].score = tc_new_n(&e->ctx->arena, float, e->classes);
        n += r[p].samples * r[p].rows;
        if ((classes && classes != e->classes) || (!r[p].reference && n > e->n))
            return differs(e, at->model, n, classes ? classes : e->classes);
        if (e->tokens)
            TC_TRY(check_tokens(e, at->model, &r[p]));
    }
    if (which == e->reference)
        lay_out(e, r);
    else if (n != e->n)
        return differs(e, e->sized[which].model, n, e->classes);
    for (size_t p = 0; p < e->n_sized; p++)
        r[p].first = e->first[p];
    return TC_OK;
}

static tc_status begin_reference(tc_evaluation *e, const char *labels)
{
    size_t c = e->classes;
    TC_TRY(ti_read_labels(e->ctx, labels, e->sized[e->reference].data, e->n, c, &e->labels));
    e->scores = tc_new_n(&e->ctx->arena, float, e->n * c + 1);
    e->counts = tc_new_n(&e->ctx->arena, uint32_t, e->labels.of ? c * c : 1);
    e->of_class = tc_new_n(&e->ctx->arena, size_t, c);
    for (size_t k = 0; e->labels.of && k < e->n; k++)
        e->of_class[e->labels.of[k]]++;
    return TC_OK;
}

static tc_status run_one(tc_evaluation *e, const char *labels, size_t which)
{
    runner *r = tc_new_n(&e->ctx->arena, runner, e->n_sized);
    verdict *v = &e->program[which];
    size_t samples = 0;
    TC_TRY(prepare_sizes(e, which, r));
    v->name = tc_model_file(e->sized[which].model);
    v->said = tc_new_n(&e->ctx->arena, size_t, e->n + 1);
    if (which == e->reference)
        TC_TRY(begin_reference(e, labels));
    memset(e->counts, 0, (e->labels.of ? e->classes * e->classes : 1) * sizeof *e->counts);
    for (size_t p = 0; p < e->n_sized; p++) {
        tc_run_data_options o = tc_run_data_options_default();
        o.on_result = judge;
        o.user = &r[p];
        TC_TRY(tc_program_run_data(r[p].program, e->sized[p * e->n_program + which].data, &o));
        samples += r[p].samples;
    }
    v->seconds /= (double)(samples ? samples : 1);
    keep_mistakes(e, v);
    if (v->n_order) { /* counts are needed later: they become part of the order */
        size_t *kept = tc_new_n(&e->ctx->arena, size_t, 2 * v->n_order);
        for (size_t i = 0; i < v->n_order; i++) {
            kept[2 * i] = v->order[i];
            kept[2 * i + 1] = e->counts[v->order[i]];
        }
        v->order = kept;
    }
    return TC_OK;
}

static const tc_sized_model *one_size(tc_ctx *ctx, const tc_evaluate_options *o)
{
    tc_sized_model *all = tc_new_n(&ctx->arena, tc_sized_model, o->n_program);
    for (size_t i = 0; i < o->n_program; i++)
        all[i] = (tc_sized_model){.size = sizeof *all, .model = o->program[i], .data = o->data};
    return all;
}

static tc_status evaluate(tc_ctx *ctx, const tc_evaluate_options *options, tc_evaluation **out)
{
    tc_evaluate_options o = TC_TAKE(tc_evaluate_options, options);
    tc_evaluation *e = tc_new(&ctx->arena, tc_evaluation);
    if (!o.n_program || !(o.data || o.n_sized))
        return ti_usage(ctx, "evaluating needs a program and data");
    if (o.perplexity && o.labels)
        return ti_usage(ctx, "perplexity takes no labels: the tokens are the labels");
    *e = (tc_evaluation){.ctx = ctx, .n_program = o.n_program, .tokens = o.perplexity != 0};
    e->program = tc_new_n(&ctx->arena, verdict, o.n_program);
    e->sized = o.n_sized ? o.sized : one_size(ctx, &o);
    e->n_sized = o.n_sized ? o.n_sized : 1;
    for (size_t i = o.n_program; i-- > 0;)
        if (tc_model_get_stage(e->sized[i].model) == TC_STAGE_FLOAT)
            e->reference = i;
    const char *labels = ti_intern_text(ctx, o.labels);
    TC_TRY(run_one(e, labels, e->reference));
    for (size_t i = 0; i < o.n_program; i++)
        if (i != e->reference)
            TC_TRY(run_one(e, labels, i));
    *out = e;
    return TC_OK;
}

tc_status tc_evaluate(tc_ctx *ctx, const tc_evaluate_options *options, tc_evaluation **out)
{
    TC_ENTER(ctx, evaluate(ctx, options, out));
}

size_t tc_evaluation_reference(const tc_evaluation *e)
{
    return e->reference;
}

bool tc_evaluation_has_labels(const tc_evaluation *e)
{
    return e->labels.of != NULL;
}

/* ---- how sure ---- */

static const double z = 1.959963984540054; /* 95 % of a normal distribution are within */

/* Wilson: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) */
static void wilson(size_t right, size_t n, double *low, double *high)
{
    double m = (double)n, p = (double)right / m, s = z * z / m;
    double middle = p + s / 2, reach = z * sqrt(p * (1 - p) / m + s / (4 * m));
    *low = fmax(0, (middle - reach) / (1 + s));
    *high = fmin(1, (middle + reach) / (1 + s));
}

bool tc_evaluation_program(const tc_evaluation *e, size_t i, tc_evaluated *out)
{
    if (i >= e->n_program)
        return 0;
    const verdict *v = &e->program[i];
    double n = (double)e->n, won = (double)v->won, lost = (double)v->lost;
    tc_evaluated r = {.name = v->name,
                      .n = e->n,
                      .classes = e->classes,
                      .right = v->right,
                      .right5 = v->right5,
                      .agree = v->agree,
                      .sqnr_db = v->noise > 0 ? 10 * ti_log10(v->signal / v->noise) : INFINITY,
                      .seconds = v->seconds,
                      .predicted = v->predicted,
                      .perplexity = v->predicted ? ti_exp(v->surprise / (double)v->predicted) : 0};
    if (e->labels.of && e->n) {
        wilson(v->right, e->n, &r.low, &r.high);
        double reach = z * sqrt(won + lost - (won - lost) * (won - lost) / n) / n;
        r.gain = (won - lost) / n;
        r.gain_low = r.gain - reach;
        r.gain_high = r.gain + reach;
    }
    ti_fill_record(out, &r, sizeof r);
    return 1;
}

bool tc_evaluation_confusion(const tc_evaluation *e, size_t program, size_t i, tc_confusion *out)
{
    if (program >= e->n_program || i >= e->program[program].n_order)
        return 0;
    const size_t *at = &e->program[program].order[2 * i];
    size_t label = at[0] / e->classes, said = at[0] % e->classes;
    tc_confusion c = {.label = label, .said = said, .count = at[1], .of = e->of_class[label]};
    c.label_name = label < e->labels.n_name ? e->labels.name[label] : NULL;
    c.said_name = said < e->labels.n_name ? e->labels.name[said] : NULL;
    ti_fill_record(out, &c, sizeof c);
    return 1;
}
