/* SPDX-License-Identifier: Apache-2.0 */
/* door_generate.c -- generates tokens: the prompt through windows and steps, then step by step.
 *
 * The methods of a program share their state: it is handed from the window to the step, and back,
 * when the one is called after the other. */
#include <math.h>
#include <stdlib.h>

#include "../base/enter.h"
#include "../drive/model.h"
#include "../num/math.h"
#include "../text/scores.h"

/* A method and its buffers. */
typedef struct caller {
    tc_program *program;
    tc_tensor token, place; /* its inputs; place.type NULL: it has none */
    size_t window;          /* tokens that it takes */
    size_t rows, words;     /* scores that it gives, and of how many tokens each */
    size_t calls;
    double seconds;
} caller;

typedef struct writer {
    tc_ctx *ctx;
    tc_generate_options o;
    caller step, window; /* program NULL: there is none */
    caller *last;        /* the method with the latest state; NULL: none yet */
    size_t context;      /* 0: not known */
    int64_t *text;       /* the prompt and the generated tokens */
    size_t n;
    float *score;
    uint64_t random;
} writer;

/* ---- methods ---- */

static bool is_whole(const tc_type *type)
{
    return type->dtype == TC_i64 || type->dtype == TC_i32;
}

static tc_status unfit(writer *w, const tc_model *model, const char *why)
{
    const char *file = tc_model_file(model);
    return ti_error(w->ctx, &(tc_loc){.file = file}, TC_E_DATA,
                    "it is not a language model that can generate: %s", why);
}

static tc_status open_method(writer *w, const tc_model *model, caller *c)
{
    tc_port_info port = {.size = sizeof port};
    TC_TRY(tc_program_new(w->ctx, model, NULL, &c->program));
    size_t n_in = tc_program_input_count(c->program);
    if (n_in < 1 || n_in > 2)
        return unfit(w, model, "it must take tokens and at most their position");
    for (size_t i = 0; i < n_in; i++) {
        tc_program_input(c->program, i, &port);
        tc_tensor in = {port.type, tc_program_input_buffer(c->program, i)};
        if (!in.data)
            return TC_NO_MEMORY;
        if (!is_whole(port.type))
            return unfit(w, model, "its inputs must be integers");
        *(i ? &c->place : &c->token) = in;
    }
    c->window = (size_t)tc_type_count(c->token.type);
    if (!tc_program_output(c->program, 0, &port) || port.type->rank < 1)
        return unfit(w, model, "its first output must have a score for every token");
    c->words = (size_t)port.type->dim[port.type->rank - 1];
    c->rows = c->words ? (size_t)tc_type_count(port.type) / c->words : 0;
    if (c->words < 2 || !c->window || (c->rows != 1 && c->rows != c->window))
        return unfit(w, model, "its first output must have a score for every token");
    return TC_OK;
}

/* Caches are [.., positions, width]. */
static size_t context_of(const tc_model *model)
{
    const tc_graph *g = ti_main(model->module);
    size_t most = 0;
    for (size_t i = 0; i < g->n_mutation; i++) {
        const tc_type *type = ti_type_of(g, g->mutation[i].before);
        size_t places = type->rank >= 3 ? (size_t)type->dim[type->rank - 2] : 0;
        most = places > most ? places : most;
    }
    return most;
}

static tc_status open_methods(writer *w)
{
    for (size_t i = 0; i < w->o.n_method; i++) {
        caller c = {0};
        TC_TRY(open_method(w, w->o.method[i], &c));
        caller *to = c.window == 1 ? &w->step : &w->window;
        if (to->program)
            return unfit(w, w->o.method[i], "two of its methods take the same number of tokens");
        *to = c;
        size_t places = context_of(w->o.method[i]);
        w->context = c.window == 1 && places ? places : w->context;
    }
    if (w->o.context)
        w->context = w->o.context;
    if (!w->step.program && w->window.program && w->window.rows != w->window.window)
        return unfit(w, w->o.method[0], "its prefill method gives scores for the last token only");
    if (w->step.program && w->window.program && w->step.words != w->window.words)
        return unfit(w, w->o.method[0], "its methods have different vocabulary sizes");
    return TC_OK;
}

/* ---- calling them ---- */

static void put_numbers(tc_tensor to, const int64_t *from, size_t n)
{
    for (size_t i = 0; i < (size_t)tc_type_count(to.type); i++) {
        double v = i < n ? (double)from[i] : 0;
        tc_tensor_put_f64(&to, (int64_t)i, 1, &v);
    }
}

static void put_places(tc_tensor to, size_t first)
{
    for (int64_t i = 0; to.type && i < tc_type_count(to.type); i++) {
        double v = (double)first + (double)i;
        tc_tensor_put_f64(&to, i, 1, &v);
    }
}

/* Runs a method on n tokens at positions from `at` on; gives the scores after the last of them. */
static tc_status call(writer *w, caller *c, const int64_t *token, size_t n, size_t at)
{
    if (w->last && w->last != c)
        TC_TRY(tc_program_take_state(c->program, w->last->program, NULL));
    put_numbers(c->token, token, n);
    put_places(c->place, at);
    double begin = ti_seconds();
    TC_TRY(tc_program_run(c->program));
    c->seconds += ti_seconds() - begin;
    c->calls++;
    w->last = c;
    size_t row = c->rows > 1 ? n - 1 : 0;
    ti_real_scores(tc_program_result(c->program, 0), row * c->words, c->words, w->score);
    return TC_OK;
}

/* How many tokens the window takes at a position; 0: it does not reach there. */
static size_t by_window(const writer *w, size_t at, size_t left)
{
    const caller *c = &w->window;
    if (!c->program || (at && !c->place.type) || (w->context && at + c->window > w->context))
        return 0;
    if (left < c->window)
        return c->rows > 1 ? left : 0;
    return c->window;
}

/* The scores after the whole text; `done` tokens of it have been run. */
static tc_status read_on(writer *w, size_t *done)
{
    if (!w->step.program) { /* all of it again, or as much as the window takes */
        size_t n = w->n < w->window.window ? w->n : w->window.window;
        *done = w->n;
        tc_program_reset(w->window.program);
        w->last = NULL;
        return call(w, &w->window, w->text + w->n - n, n, 0);
    }
    while (*done < w->n) {
        size_t left = w->n - *done, n = left > 1 ? by_window(w, *done, left) : 0;
        caller *c = n ? &w->window : &w->step;
        TC_TRY(call(w, c, w->text + *done, n ? n : 1, *done));
        *done += n ? n : 1;
    }
    return TC_OK;
}

/* ---- choosing ---- */

/* 0 .. 1, the same on every machine. */
static double random_number(writer *w)
{
    uint64_t x = w->random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static int higher_first(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* The score that k of them reach. */
static float kth_score(writer *w, size_t words, size_t k)
{
    float *sorted = ti_arena_copy(&w->ctx->scratch, w->score, words * sizeof *sorted);
    qsort(sorted, words, sizeof *sorted, higher_first);
    return sorted[k - 1];
}

/* e^(score / temperature); scores are relative to the best. */
static double share_of(const writer *w, float score)
{
    return (double)ti_expf((float)((double)score / w->o.temperature));
}

static int64_t choose(writer *w, size_t words)
{
    const float *v = w->score;
    size_t best = ti_best_score(v, words), last = best;
    if (!(w->o.temperature > 0))
        return (int64_t)best;
    tc_mark mark = ti_arena_mark(&w->ctx->scratch);
    float least = w->o.top_k && w->o.top_k < words ? kth_score(w, words, w->o.top_k) : -INFINITY;
    double sum = 0, at = random_number(w);
    for (size_t i = 0; i < words; i++)
        sum += v[i] >= least ? share_of(w, v[i] - v[best]) : 0;
    at *= sum;
    for (size_t i = 0; i < words; i++) {
        if (v[i] < least)
            continue;
        last = i;
        at -= share_of(w, v[i] - v[best]);
        if (at < 0)
            break;
    }
    ti_arena_rewind(&w->ctx->scratch, mark);
    return (int64_t)last;
}

/* ---- all of it ---- */

static tc_status check_prompt(writer *w, size_t words)
{
    for (size_t i = 0; i < w->o.n_prompt; i++)
        if (w->o.prompt[i] < 0 || (size_t)w->o.prompt[i] >= words)
            return ti_usage(w->ctx, "token %lld of the prompt is out of range: the model has %zu "
                                    "tokens",
                            (long long)w->o.prompt[i], words);
    if (w->context && w->o.n_prompt > w->context)
        return ti_usage(w->ctx, "the prompt has %zu tokens, but the context holds only %zu",
                        w->o.n_prompt, w->context);
    return TC_OK;
}

static tc_status generate(tc_ctx *ctx, const tc_generate_options *options, tc_generated *out)
{
    writer w = {.ctx = ctx, .o = TC_TAKE(tc_generate_options, options)};
    size_t done = 0;
    if (!w.o.n_method || !w.o.n_prompt)
        return ti_usage(ctx, "generating needs a program and a prompt");
    TC_TRY(open_methods(&w));
    const caller *c = w.step.program ? &w.step : &w.window;
    TC_TRY(check_prompt(&w, c->words));
    w.random = w.o.seed;
    w.score = tc_new_n(&ctx->arena, float, c->words);
    w.text = tc_new_n(&ctx->arena, int64_t, w.o.n_prompt + w.o.n);
    memcpy(w.text, w.o.prompt, w.o.n_prompt * sizeof *w.text);
    w.n = w.o.n_prompt;
    for (size_t i = 0; i < w.o.n && !(w.context && w.n > w.context); i++) {
        TC_TRY(read_on(&w, &done));
        int64_t token = choose(&w, c->words);
        if (token == w.o.stop && w.o.stop >= 0)
            break;
        w.text[w.n++] = token;
        if (w.o.on_token)
            TC_TRY(w.o.on_token(w.o.user, token));
    }
    ti_fill_record(out,
                   &(tc_generated){.token = w.text + w.o.n_prompt,
                                   .n = w.n - w.o.n_prompt,
                                   .context = w.context,
                                   .windows = w.window.calls,
                                   .steps = w.step.calls,
                                   .window_seconds = w.window.seconds,
                                   .step_seconds = w.step.seconds},
                   sizeof *out);
    return TC_OK;
}

tc_status tc_generate(tc_ctx *ctx, const tc_generate_options *options, tc_generated *out)
{
    TC_ENTER(ctx, generate(ctx, options, out));
}
