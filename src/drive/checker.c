/* SPDX-License-Identifier: Apache-2.0 */
/* checker.c -- see checker.h.
 *
 * Evaluated with the kernels that define the bits, so that EXACT means equal. */
#include "checker.h"

#include <math.h>

#include "nudge.h"

#include "../num/half.h"
#include "../num/load.h"
#include "../num/quant.h"
#include "../run/eval.h"

void ti_check_begin_with(tc_checker *c, tc_ctx *ctx, tc_tensor *const *in, size_t n)
{
    *c = (tc_checker){.ctx = ctx, .n = n};
    for (size_t k = 0; k < n; k++)
        c->in[k] = in[k];
    for (int i = 0; i < 2; i++) {
        ti_arena_init_like(&c->arena[i], &ctx->arena);
    }
}

tc_status ti_check_begin(tc_checker *c, tc_ctx *ctx, const tc_graph *g, const tc_samples *samples)
{
    tc_tensor *in[TC_CHECK_SAMPLES];
    size_t n = samples->n < TC_CHECK_SAMPLES ? samples->n : TC_CHECK_SAMPLES;
    for (size_t k = 0; k < n; k++) {
        in[k] = tc_new_n(&ctx->arena, tc_tensor, g->n_in);
        for (size_t i = 0; i < g->n_in; i++)
            in[k][i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        TC_TRY(samples->read(samples->from, k, in[k]));
    }
    ti_check_begin_with(c, ctx, in, n);
    return TC_OK;
}

void ti_check_end(tc_checker *c)
{
    ti_arena_free(&c->arena[0]);
    ti_arena_free(&c->arena[1]);
}

tc_tensor ti_check_value(const tc_checker *c, size_t k, tc_val v) { return c->last[k].at[v]; }

/* ---- comparing ---- */

int64_t ti_check_count(tc_tensor t)
{
    return tc_type_count(t.type) * (tc_dtypes[t.type->dtype].kind == TC_COMPLEX ? 2 : 1);
}

double ti_check_real(tc_tensor t, int64_t i)
{
    const tc_quant *q = t.type->quant;
    if (tc_dtypes[t.type->dtype].kind == TC_COMPLEX)
        return (double)((const float *)t.data)[i];
    double stored = ti_load_f64(t, i);
    if (!q)
        return stored;
    int64_t inner = 1;
    for (int k = q->axis + 1; q->axis >= 0 && k < t.type->rank; k++)
        inner *= t.type->dim[k];
    return ti_real(t.type, q->axis >= 0 ? i / inner % q->count : 0, (int64_t)stored);
}

/* The step between neighbouring codes, the coarsest of a tensor by channels; 0: not quantized. */
static double step_of(const tc_type *t)
{
    double step = 0;
    for (int k = 0; t->quant && k < t->quant->count; k++)
        step = fmax(step, t->quant->scale[k]);
    return step;
}

/* How far two tensors are apart, in real values: the maximum, and the root of the mean square. */
typedef struct gap {
    double most, mean, top, size; /* top, size: the same of the values themselves */
    int64_t at;
    bool lost; /* a finite value became NaN or infinite */
} gap;

static bool comparable(tc_tensor a, tc_tensor b)
{
    bool complex = tc_dtypes[a.type->dtype].kind == TC_COMPLEX;
    bool there = (a.data && b.data) || !tc_type_count(a.type);
    return there && ti_same_dims(a.type, b.type) &&
           complex == (tc_dtypes[b.type->dtype].kind == TC_COMPLEX);
}

/* Codes for which only one of the two types says what they stand for are compared as codes. */
static gap gap_between(tc_tensor a, tc_tensor b)
{
    gap g = {.at = -1};
    int64_t n = ti_check_count(a);
    bool codes = a.type->dtype == b.type->dtype && !a.type->quant != !b.type->quant;
    for (int64_t i = 0; i < n; i++) {
        double x = codes ? ti_load_f64(a, i) : ti_check_real(a, i);
        double y = codes ? ti_load_f64(b, i) : ti_check_real(b, i), off = fabs(x - y);
        g.top = isfinite(x) && fabs(x) > g.top ? fabs(x) : g.top;
        g.size += isfinite(x) ? x * x : 0;
        if (x == y || (isnan(x) && isnan(y)))
            continue;
        g.lost = g.lost || (isnan(y) && !isnan(x));
        g.mean += isnan(off) ? INFINITY : off * off;
        if (off <= g.most)
            continue;
        g.most = isnan(off) ? INFINITY : off;
        g.at = i;
    }
    g.mean = n ? sqrt(g.mean / (double)n) : 0;
    g.size = n ? sqrt(g.size / (double)n) : 0;
    return g;
}

/* What CLOSE means, here and wherever a pass is tried: for floats, at most a ten thousandth of the
 * largest value plus two roundings to their format.  Between quantized values a last bit may flip a
 * rounding, and that the next one: there the average counts, half a step or 4 % of the values. */
static bool is_close(tc_tensor before, gap g, bool rounds)
{
    tc_dtype t = before.type->dtype;
    double unit = t == TC_f32 || t == TC_f64 ? 0 : 2 * ti_float_unit(t);
    return rounds ? g.mean <= fmax(step_of(before.type) / 2, g.size / 25)
                  : g.most <= fmax(g.top, 1e-3) * (1e-4 + unit);
}

/* Tensors of one shape. */
static bool keeps(tc_numbers numbers, bool rounds, tc_tensor before, tc_tensor after, gap *g)
{
    *g = gap_between(before, after);
    return numbers == TC_EXACT   ? g->most == 0
           : numbers == TC_CLOSE ? is_close(before, *g, rounds)
                                 : !g->lost;
}

bool ti_check_kept(tc_numbers numbers, bool rounds, tc_tensor before, tc_tensor after)
{
    gap g;
    return comparable(before, after) && keeps(numbers, rounds, before, after, &g);
}

static const char *name_at(const tc_graph *g, tc_val v)
{
    return g->val[v]->name ? g->val[v]->name : "?";
}

static tc_status broken(const tc_checker *c, const tc_pass *pass, const tc_seen *now, tc_val v,
                        tc_tensor before, gap g)
{
    static const tc_loc nowhere = {0};
    const tc_node *def = ti_def(&now->graph, v);
    double step = step_of(before.type);
    ti_error(c->ctx, def ? def->loc : &nowhere, TC_E_PROMISE,
             "the pass '%s' changed '%s' by %.3g at element %" PRId64
             " (%.9g, before %.9g), %.3g on the average",
             pass->name, name_at(&now->graph, v), g.most, g.at, ti_check_real(now->at[v], g.at),
             ti_check_real(before, g.at), g.mean);
    if (step > 0)
        ti_note(c->ctx, def ? def->loc : &nowhere, "that is %.1f steps of %.6g", g.most / step,
                step);
    return TC_BUG;
}

/* Values by their names; a name that several values have maps to value 0, which is none. */
static void values_by_name(const tc_seen *seen, tc_map *out)
{
    for (size_t v = 1; v < seen->graph.n_val; v++)
        if (seen->graph.val[v]->name) {
            void **slot = ti_map_at(out, ti_str_of(seen->graph.val[v]->name));
            *slot = *slot ? &seen->at[0] : &seen->at[v];
        }
}

/* The value of that table with the same name as v; NULL: there is none. */
static const tc_tensor *named_in(tc_map *by_name, const tc_graph *g, tc_val v)
{
    const char *name = g->val[v]->name;
    return name ? *ti_map_at(by_name, ti_str_of(name)) : NULL;
}

static bool is_real(const tc_type *t)
{
    return ti_is_float(t->dtype) || tc_dtypes[t->dtype].kind == TC_COMPLEX;
}

/* By value: indices, bools and integers that follow from inexact values, however far back: an
 * argmax, and what wraps, shifts or counts it. */
static const bool *choices_in(tc_arena *arena, const tc_graph *g)
{
    bool *choice = tc_new_n(arena, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool by_reals = false;
        for (int i = 0; i < node->n_in; i++) {
            const tc_type *in = node->in[i] ? ti_type_of(g, node->in[i]) : NULL;
            by_reals = by_reals || (in && (in->quant || is_real(in) || choice[node->in[i]]));
        }
        for (int i = 0; i < node->n_out; i++) {
            const tc_type *type = ti_type_of(g, node->out[i]);
            choice[node->out[i]] = by_reals && !type->quant && !is_real(type);
        }
    }
    return choice;
}

/* The largest value of a tensor. */
static double top_of(tc_tensor t)
{
    double top = 0;
    for (int64_t e = 0; t.data && e < ti_check_count(t); e++)
        top = isfinite(ti_check_real(t, e)) ? fmax(top, fabs(ti_check_real(t, e))) : top;
    return top;
}

/* The largest magnitude that the terms of a Fourier transform add up to, where v is part of one; 0:
 * it is not. */
static double transformed_top(const tc_seen *seen, tc_val v)
{
    const tc_node *def = ti_def(&seen->graph, v);
    if (def && (def->op == TC_OP_real || def->op == TC_OP_imag))
        def = ti_def(&seen->graph, def->in[0]);
    if (!def || def->op != TC_OP_fft)
        return 0;
    const tc_attr_fft *a = def->attr;
    tc_tensor x = seen->at[def->in[0]];
    double top = top_of(x);
    for (int i = 0; a->norm == TC_fft_norm_none && i < a->axes.n; i++)
        top *= (double)x.type->dim[a->axes.v[i]];
    return top;
}

/* A sum or difference is no more precise than its terms: two that are equal but for rounding leave
 * a few of their last bits, by one formula or another.  log p - log(1 - p) has those of p, over 1 -
 * p; a transform those of the sum of its terms. */
static bool cancels(const tc_seen *seen, tc_val v, gap g)
{
    const tc_node *def = ti_def(&seen->graph, v);
    double top = transformed_top(seen, v);
    tc_dtype t = seen->at[v].type->dtype;
    if (!def || (t != TC_f32 && t != TC_c64) || seen->at[v].type->quant)
        return false;
    if (def->op == TC_OP_add || def->op == TC_OP_sub)
        for (int i = 0; i < def->n_in; i++)
            top = fmax(top, top_of(seen->at[def->in[i]]));
    if (def->op == TC_OP_logit && g.at >= 0 && seen->at[def->in[0]].data)
        top = 1 / fabs(1 - ti_check_real(seen->at[def->in[0]], g.at));
    return g.most <= 4 * ti_float_unit(TC_f32) * top;
}

/* Whether a value that a pass must keep CLOSE suffers from cancellation, before the pass or after
 * it. */
static bool cancelled(const tc_pass *pass, const tc_seen *last, tc_val before, const tc_seen *now,
                      tc_val after, gap g)
{
    return pass->numbers == TC_CLOSE && (cancels(last, before, g) || cancels(now, after, g));
}

/* Of candidates that are equal within the pass's promise another may be the largest now: whatever
 * depends on it may differ too. */
static tc_status turned(const tc_checker *c, const tc_pass *pass, const tc_seen *now, tc_val v)
{
    ti_warning(c->ctx, ti_def(&now->graph, v)->loc, TC_E_PROMISE,
               "after the pass '%s' '%s' chooses differently because of allowed differences: what "
               "depends on it was not compared",
               pass->name, name_at(&now->graph, v));
    return TC_OK;
}

/* Whether `to` depends on v. */
static bool follows(tc_arena *arena, const tc_graph *g, tc_val v, tc_val to)
{
    bool *after = tc_new_n(arena, bool, g->n_val);
    after[v] = true;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_in; i++)
            any = any || after[node->in[i]];
        for (int i = 0; i < node->n_out; i++)
            after[node->out[i]] = after[node->out[i]] || any;
    }
    return after[to];
}

/* The next node from *k on that chooses; NULL: none. */
static const tc_node *next_choice(const tc_graph *g, const bool *choice, size_t *k)
{
    while (*k < g->n_node && !(g->node[*k]->n_out && choice[g->node[*k]->out[0]]))
        ++*k;
    return *k < g->n_node ? g->node[(*k)++] : NULL;
}

/* A choice (an argmax, say) without a name that changed and changed the output: the first, in the
 * order that both graphs share, whose results differ; 0 where its operands break the promise, or
 * where there is none. */
static tc_val unnamed_choice(const tc_checker *c, const tc_pass *pass, bool rounds,
                             const tc_seen *last, const tc_seen *now, tc_val out)
{
    const bool *is_choice[] = {choices_in(&c->ctx->scratch, &last->graph),
                               choices_in(&c->ctx->scratch, &now->graph)};
    size_t at[2] = {0, 0};
    for (;;) {
        const tc_node *a = next_choice(&last->graph, is_choice[0], &at[0]),
                      *b = next_choice(&now->graph, is_choice[1], &at[1]);
        if (!a || !b || a->op != b->op || a->n_in != b->n_in ||
            !comparable(last->at[a->out[0]], now->at[b->out[0]]))
            return TC_NONE;
        if (gap_between(last->at[a->out[0]], now->at[b->out[0]]).most == 0)
            continue;
        for (int i = 0; i < a->n_in; i++)
            if (a->in[i] && b->in[i] && !ti_check_kept(pass->numbers, rounds, last->at[a->in[i]],
                                           now->at[b->in[i]]))
                return TC_NONE;
        return follows(&c->ctx->scratch, &now->graph, b->out[0], out) ? b->out[0] : TC_NONE;
    }
}

/* Whether the new result is as good as the old one, value `before` of the last graph: changing
 * every value on the way by a millionth moves it as far.  Never so for a choice. */
static bool is_unsettled(const tc_checker *c, const tc_pass *pass, bool rounds, size_t k,
                         tc_val before, tc_tensor after, gap g)
{
    const tc_seen *last = &c->last[k];
    return pass->numbers == TC_CLOSE && !rounds &&
           ti_nudge_explains(c->ctx, &last->graph, c->in[k], before, last->at[before], after,
                             fmax(g.top, 1e-3) * 1e-4);
}

static tc_status unsettled(const tc_checker *c, const tc_pass *pass, const tc_seen *now, tc_val out,
                           gap g)
{
    static const tc_loc nowhere = {0};
    const tc_node *def = ti_def(&now->graph, out);
    ti_warning(c->ctx, def ? def->loc : &nowhere, TC_E_PROMISE,
               "after the pass '%s' '%s' differs by %.3g, no more than when each value on its way "
               "is a millionth off",
               pass->name, name_at(&now->graph, out), g.most);
    return TC_OK;
}

/* A value that breaks the promise: in the graph before, in the graph after, and by how much. */
typedef struct breach {
    tc_val before, after; /* 0: none */
    gap by;
} breach;

/* The first value with a name in both graphs that breaks the promise. */
static breach first_breach(const tc_checker *c, const tc_pass *pass, bool rounds,
                           const tc_seen *last, const tc_seen *now)
{
    tc_map by_name;
    ti_map_init(&by_name, &c->ctx->scratch);
    values_by_name(last, &by_name);
    for (size_t k = 0; k < now->graph.n_node; k++)
        for (int i = 0; i < now->graph.node[k]->n_out; i++) {
            tc_val v = now->graph.node[k]->out[i];
            const tc_tensor *before = named_in(&by_name, &now->graph, v);
            gap g;
            if (!before || !before->type || !now->at[v].type || !comparable(*before, now->at[v]) ||
                keeps(pass->numbers, rounds, *before, now->at[v], &g) ||
                cancelled(pass, last, (tc_val)(before - last->at), now, v, g))
                continue;
            return (breach){(tc_val)(before - last->at), v, g};
        }
    return (breach){0};
}

/* ---- roundings that turn ---- */

/* The share of a value's codes that another order of its sums may move, by one step each. */
static const double TURNED = 0.01;

/* Whether two results computed from the same operands differ by turned roundings at most. */
static bool only_turns(tc_tensor before, tc_tensor after)
{
    gap g = gap_between(before, after);
    double step = step_of(before.type);
    return g.most == 0 || (step > 0 ? g.most <= 1.001 * step && g.mean <= step * sqrt(TURNED)
                                    : is_real(before.type) && is_close(before, g, false));
}

/* Whether each value that has a name in both graphs, computed from the former run's values instead
 * of this run's, is what it was but for turned roundings: then the pass is right, and the roundings
 * add up on the way to an output. */
static bool turns_add_up(const tc_checker *c, size_t k, const tc_seen *last, const tc_seen *now)
{
    tc_arena arena;
    ti_arena_init_like(&arena, &c->ctx->arena);
    tc_graph g = now->graph;
    tc_map by_name;
    ti_map_init(&by_name, &arena);
    values_by_name(last, &by_name);
    tc_tensor *at = tc_new_n(&arena, tc_tensor, g.n_val);
    const tc_tensor *in = ti_check_taken(&g, c->in[k], &arena);
    bool fine = true;
    for (size_t v = 1; v < g.n_val; v++)
        at[v] = (tc_tensor){g.val[v]->type, (void *)(uintptr_t)g.val[v]->data};
    for (size_t i = 0; i < g.n_in; i++)
        at[g.in[i]] = in[i];
    for (size_t n = 0; n < g.n_node && fine; n++) {
        const tc_node *node = g.node[n];
        if (node->op == TC_OP_const)
            continue;
        tc_tensor *operand = tc_new_n(&arena, tc_tensor, (size_t)node->n_in);
        tc_tensor *result = tc_new_n(&arena, tc_tensor, (size_t)node->n_out);
        for (int i = 0; i < node->n_in; i++)
            operand[i] = at[node->in[i]];
        fine = ti_eval_node(&g, node, operand, result, &arena) == TC_OK;
        for (int i = 0; i < node->n_out && fine; i++) {
            const tc_tensor *before = named_in(&by_name, &g, node->out[i]);
            bool same = before && before->type && comparable(*before, result[i]);
            fine = !same || only_turns(*before, result[i]);
            at[node->out[i]] = same && before->type == result[i].type ? *before : result[i];
        }
    }
    for (size_t i = 0; i < g.n_out && i < last->graph.n_out && fine; i++)
        fine = only_turns(last->at[last->graph.out[i]], at[g.out[i]]);
    ti_arena_free(&arena);
    return fine;
}

static tc_status turns(const tc_checker *c, const tc_pass *pass, const tc_seen *now, breach b)
{
    static const tc_loc nowhere = {0};
    const tc_node *def = ti_def(&now->graph, b.after);
    ti_warning(c->ctx, def ? def->loc : &nowhere, TC_E_PROMISE,
               "after the pass '%s' '%s' differs by %.3g: roundings that turn add up, each value by "
               "itself is at most a step off",
               pass->name, name_at(&now->graph, b.after), b.by.most);
    return TC_OK;
}

/* An output breaks the promise: the first named value that breaks it is to blame, else the output
 * itself.  Not to blame are a choice whose operands keep the promise, and a value that was
 * sensitive to rounding before. */
static tc_status blame(const tc_checker *c, const tc_pass *pass, bool rounds, size_t k,
                       const tc_seen *now, breach out)
{
    const tc_seen *last = &c->last[k];
    const bool *choice = choices_in(&c->ctx->scratch, &now->graph);
    bool close = pass->numbers == TC_CLOSE;
    breach first = first_breach(c, pass, rounds, last, now);
    if (first.after && close && choice[first.after])
        return turned(c, pass, now, first.after);
    if (close && rounds && turns_add_up(c, k, last, now))
        return turns(c, pass, now, first.after ? first : out);
    if (first.after && !is_unsettled(c, pass, rounds, k, first.before, now->at[first.after], first.by))
        return broken(c, pass, now, first.after, last->at[first.before], first.by);
    if (close) {
        tc_val by = choice[out.after] ? out.after
                                      : unnamed_choice(c, pass, rounds, last, now, out.after);
        if (by)
            return turned(c, pass, now, by);
    }
    return is_unsettled(c, pass, rounds, k, out.before, now->at[out.after], out.by)
               ? unsettled(c, pass, now, out.after, out.by)
               : broken(c, pass, now, out.after, last->at[out.before], out.by);
}

/* An output that does not exist any more, or has another shape. */
static tc_status reshaped(const tc_checker *c, const tc_pass *pass, const tc_seen *last,
                          const tc_seen *now, size_t i)
{
    static const tc_loc nowhere = {0};
    bool there = i < now->graph.n_out && i < last->graph.n_out;
    ti_error(c->ctx, &nowhere, TC_E_PROMISE, "the pass '%s' made output %zu %s, before %s",
             pass->name, i,
             there ? ti_type_text(&c->ctx->scratch, ti_type_of(&now->graph, now->graph.out[i]))
                   : "nothing",
             i < last->graph.n_out
                 ? ti_type_text(&c->ctx->scratch, ti_type_of(&last->graph, last->graph.out[i]))
                 : "nothing");
    return TC_BUG;
}

static tc_status compare(const tc_checker *c, const tc_pass *pass, bool rounds, size_t k,
                         const tc_seen *now)
{
    const tc_seen *last = &c->last[k];
    if (c->count && pass) {
        c->count->passes[pass->numbers] += k == 0;
        c->count->samples = c->n;
    }
    for (size_t i = 0; i < now->graph.n_out || i < last->graph.n_out; i++) {
        bool there = i < now->graph.n_out && i < last->graph.n_out;
        tc_tensor before = there ? last->at[last->graph.out[i]] : (tc_tensor){0},
                  after = there ? now->at[now->graph.out[i]] : (tc_tensor){0};
        gap g;
        if (!there || !comparable(before, after))
            return reshaped(c, pass, last, now, i);
        if (c->count)
            c->count->elements += ti_check_count(after);
        if (!keeps(pass->numbers, rounds, before, after, &g) &&
            !cancelled(pass, last, last->graph.out[i], now, now->graph.out[i], g))
            TC_TRY(blame(c, pass, rounds, k, now, (breach){last->graph.out[i], now->graph.out[i], g}));
    }
    return TC_OK;
}

const tc_tensor *ti_check_taken(const tc_graph *g, const tc_tensor *in, tc_arena *arena)
{
    tc_tensor *taken = tc_new_n(arena, tc_tensor, g->n_in);
    for (size_t i = 0; i < g->n_in; i++) {
        const tc_type *type = ti_type_of(g, g->in[i]);
        taken[i] = in[i];
        bool whole = ti_is_int(type->dtype) && ti_is_int(in[i].type->dtype) && !type->quant;
        if (whole && !in[i].type->quant && type->dtype != in[i].type->dtype) {
            taken[i] = ti_tensor_new(arena, type);
            for (int64_t k = 0; k < tc_type_count(type); k++)
                ti_store_i64(taken[i], k, ti_load_i64(in[i], k));
            continue;
        }
        if (!type->quant || in[i].type->quant || !ti_is_float(in[i].type->dtype))
            continue;
        taken[i] = ti_tensor_new(arena, type);
        ti_quantize_into(in[i], taken[i]);
    }
    return taken;
}

/* Constants and types as they were when the values were found. */
static bool same_values(const tc_graph *g, const tc_tensor *at)
{
    for (tc_val v = 1; v < g->n_val; v++)
        if (at[v].type && (at[v].type != g->val[v]->type ||
                           (g->val[v]->data && at[v].data != g->val[v]->data)))
            return false;
    return true;
}

/* The module that ran last, as it was: a pass has left it alone, and it gives the same again. */
static bool is_last(const tc_checker *c, const tc_module *module)
{
    const tc_graph *now = ti_main(module), *last = &c->last[0].graph;
    return c->n && c->last[0].at && module->changed == c->changed && now->module == last->module &&
           now->node == last->node && now->n_node == last->n_node && now->n_val == last->n_val &&
           same_values(now, c->last[0].at);
}

/* The samples through the module, and against the last run. */
static tc_status run_and_compare(tc_checker *c, const tc_module *module, const tc_pass *pass)
{
    tc_arena *arena = &c->arena[c->turn ^= 1];
    bool rounds = ti_quant_is_typed(module);
    tc_status status = TC_OK;
    ti_arena_rewind(arena, (tc_mark){NULL, 0, 0});
    for (size_t k = 0; k < c->n && status == TC_OK; k++) {
        tc_seen now = {*ti_main(module), tc_new_n(arena, tc_tensor, ti_main(module)->n_val)};
        ti_state_drop((tc_module *)(uintptr_t)module);
        status = ti_eval_all(ti_main(module), ti_check_taken(ti_main(module), c->in[k], arena),
                             now.at, arena);
        if (status == TC_OK && c->last[k].at)
            status = compare(c, pass, rounds, k, &now);
        c->last[k] = now;
    }
    c->changed = module->changed;
    return status;
}

tc_status ti_check_pass(void *checker, const tc_module *module, const tc_pass *pass)
{
    tc_checker *c = checker;
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    tc_status status = TC_OK;
    if (!is_last(c, module))
        status = run_and_compare(c, module, pass);
    else
        for (size_t k = 0; k < c->n && status == TC_OK; k++)
            status = compare(c, pass, false, k, &c->last[k]);
    ti_arena_rewind(&c->ctx->scratch, mark);
    if (status == TC_OK && c->then)
        status = c->then->after(c->then->user, module, pass);
    return status;
}
