/* SPDX-License-Identifier: Apache-2.0 */
/* stream_check.c -- see stream_check.h.
 *
 * Where results differ, the operator is found by halving: the first operators of the TOSA program,
 * with all that is read of them later as results, are translated again and executed, until the
 * shortest such program is known that differs. */
#include "stream_check.h"

#include "../npu/npu_exec.h"
#include "../npu/npu_text.h"
#include "../npu/npu_verify.h"
#include "../num/load.h"
#include "../run/eval.h"
#include "../drive/own_backend.h"

enum { SECONDS = 60 }; /* for finding the operator that differs */

static tc_status open_program(tc_ctx *ctx, const tc_ethosu_job *job, tc_npu_program *out)
{
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = job->graph->name;
    TC_TRY(ti_npu_read_backend(ctx, loc, job->payload, out));
    out->fast = job->fast_scratch;
    return TC_OK;
}

static tc_status close(tc_ctx *ctx)
{
    ti_note(ctx, NULL, "this is a bug in tosac, and nothing is written: please report it with the "
                       "model");
    return TC_BUG;
}

/* ---- the machine's rules ---- */

static const tc_loc *where_from(void *user, size_t word)
{
    const tc_node *node = ti_own_node(user, word);
    return node ? node->loc : NULL;
}

static tc_status verify(tc_ctx *ctx, const tc_region *region, const tc_ethosu_job *job,
                        const tc_npu_program *program)
{
    tc_npu_findings found;
    ti_npu_verify(ctx, program, &found);
    if (!found.n_error)
        return TC_OK;
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = job->graph->name;
    (void)!ti_npu_tell(ctx, loc, &found, where_from, region->own);
    ti_note(ctx, NULL, "our own back end made this from a region that is valid TOSA");
    return close(ctx);
}

static size_t commands_of(const tc_npu_program *p)
{
    tc_npu_walk walk;
    tc_npu_op op;
    size_t n = 0;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op))
        n++;
    return n;
}

/* ---- the same bits ---- */

typedef struct difference {
    int64_t n, of, most;
    int64_t at; /* the first element */
    size_t output;
} difference;

static void compare(tc_tensor want, const uint8_t *got, size_t output, difference *d)
{
    tc_tensor have = {want.type, (void *)(uintptr_t)got};
    int64_t n = tc_type_count(want.type);
    d->of += n;
    for (int64_t i = 0; i < n; i++) {
        int64_t gap = ti_load_i64(have, i) - ti_load_i64(want, i);
        gap = gap < 0 ? -gap : gap;
        if (gap && !d->n) {
            d->at = i;
            d->output = output;
        }
        d->n += gap != 0;
        d->most = gap > d->most ? gap : d->most;
    }
}

/* Runs the stream on inputs and compares with what it should give.  NULL, or why it does not
 * run. */
static const char *execute(tc_arena *arena, const tc_npu_program *p, const tc_tensor *in,
                           const tc_tensor *want, difference *d)
{
    const char *error = NULL;
    tc_npu_exec *exec = ti_npu_exec_new(arena, p, &error);
    if (!exec)
        return error;
    const void **from = tc_new_n(arena, const void *, p->n_in + 1);
    void **to = tc_new_n(arena, void *, p->n_out + 1);
    for (size_t i = 0; i < p->n_in; i++)
        from[i] = in[i].data;
    for (size_t i = 0; i < p->n_out; i++)
        to[i] = tc_new_n(arena, uint8_t, (size_t)p->out[i].bytes);
    error = ti_npu_exec_run(exec, from, to);
    for (size_t i = 0; !error && i < p->n_out; i++)
        compare(want[i], to[i], i, d);
    return error;
}

/* ---- the first operator whose result differs ---- */

typedef struct search {
    tc_ctx *ctx;
    const tc_compiled *c;
    tc_graph *g;
    const tc_tensor *in; /* by input */
    tc_tensor *at;       /* by value: what it should be */
    tc_npu_op last;      /* of the stream that differed last */
    double until;        /* ti_seconds() */
} search;

/* A value that a program can end with. */
static bool can_end(const tc_graph *g, tc_val v)
{
    tc_dtype t = ti_type_of(g, v)->dtype;
    return t == TC_bool || t == TC_i8 || t == TC_i16 || t == TC_i32;
}

/* Marks which of the first n operators' results are read, by later ones or by the caller. */
static void mark_read_later(const tc_graph *g, size_t n, bool *read)
{
    for (size_t k = n; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            read[g->node[k]->in[i]] = true;
    for (size_t i = 0; i < g->n_out; i++)
        read[g->out[i]] = true;
}

/* The first n operators, with the inputs that they take (in) and what they should give (want). */
static tc_graph *cut(search *s, size_t n, const tc_tensor **in, const tc_tensor **want)
{
    tc_arena *arena = &s->ctx->arena;
    bool *read = tc_new_n(arena, bool, s->g->n_val), *needed = tc_new_n(arena, bool, s->g->n_val);
    tc_module *m = ti_module_new(s->ctx, "cut");
    tc_graph *g = tc_new(arena, tc_graph);
    tc_tensor *given = tc_new_n(arena, tc_tensor, s->g->n_in + 1),
              *made = tc_new_n(arena, tc_tensor, s->g->n_val + 1);
    *g = *s->g;
    g->module = m;
    g->node = tc_new_n(arena, tc_node *, n + 1);
    g->in = tc_new_n(arena, tc_val, s->g->n_in + 1);
    g->out = tc_new_n(arena, tc_val, s->g->n_val + 1);
    g->n_node = g->n_in = g->n_mutation = g->n_out = 0;
    g->cap_out = s->g->n_val + 1;
    mark_read_later(s->g, n, read);
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < s->g->node[k]->n_out && s->g->node[k]->op != TC_OP_const; i++) {
            tc_val v = s->g->node[k]->out[i];
            if (!read[v] || !can_end(s->g, v))
                continue;
            made[g->n_out] = s->at[v];
            g->out[g->n_out++] = v;
            needed[v] = true;
        }
    size_t first = n;
    for (size_t k = n; k-- > 0;) {
        tc_node *node = s->g->node[k];
        bool wanted = false;
        for (int i = 0; i < node->n_out; i++)
            wanted = wanted || needed[node->out[i]];
        for (int i = 0; wanted && i < node->n_in; i++)
            needed[node->in[i]] = true;
        if (wanted)
            g->node[--first] = node;
    }
    g->n_node = n - first;
    memmove(g->node, g->node + first, g->n_node * sizeof *g->node);
    for (size_t i = 0; i < s->g->n_in; i++)
        if (needed[s->g->in[i]]) {
            given[g->n_in] = s->in[i];
            g->in[g->n_in++] = s->g->in[i];
        }
    *in = given;
    *want = made;
    tc_grow(arena, m->graph, m->n_graph, m->cap_graph);
    m->graph[m->n_graph++] = g;
    return g;
}

/* Its last kernel operation. */
static void keep_last(search *s, const tc_npu_program *p)
{
    tc_npu_walk walk;
    tc_npu_op op;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op))
        if (ti_npu_is_kernel(op.kind))
            s->last = op;
}

static tc_status make(search *s, tc_ethosu_job *job)
{
    tc_codegen_result own;
    TC_TRY(ti_own_generate(s->ctx, s->c, job->graph, NULL, &own));
    return own.refused ? TC_UNSUPPORTED : ti_own_pack(s->ctx, s->c, &own, job);
}

/* Whether the first n operators by themselves give a different result. */
static bool differs(search *s, size_t n)
{
    const tc_tensor *in, *want;
    tc_graph *g = cut(s, n, &in, &want);
    tc_ethosu_job job = {.graph = g};
    tc_npu_program p;
    difference d = {0};
    tc_trial trial;
    if (!g->n_out)
        return false;
    ti_trial_begin(s->ctx, &trial);
    bool made = make(s, &job) == TC_OK && open_program(s->ctx, &job, &p) == TC_OK;
    ti_trial_end(s->ctx, &trial);
    if (!made || (!execute(&s->ctx->arena, &p, in, want, &d) && !d.n))
        return false;
    keep_last(s, &p);
    return true;
}

/* The last operator of the shortest prefix that differs; NULL: finding it takes too long. */
static const tc_node *first_different(search *s)
{
    const tc_graph *g = s->g;
    size_t good = 0, bad = g->n_node;
    while (bad - good > 1 && !ti_clock_past(s->until)) {
        size_t middle = good + (bad - good) / 2;
        if (differs(s, middle))
            bad = middle;
        else
            good = middle;
    }
    return bad - good == 1 ? g->node[bad - 1] : NULL;
}

static tc_status blame(search *s, const difference *d, const char *error, size_t sample)
{
    tc_ctx *ctx = s->ctx;
    const tc_node *node = first_different(s);
    const tc_loc *loc = node ? node->loc : NULL;
    if (error)
        ti_error(ctx, loc, TC_E_STREAM,
                 "the stream that our own back end made for '%s' does not run on sample %zu: %s",
                 s->g->name, sample, error);
    else
        ti_error(ctx, loc, TC_E_STREAM,
                 "the stream that our own back end made for '%s' differs from its TOSA program on "
                 "sample %zu: %" PRId64 " of %" PRId64 ", by up to %" PRId64,
                 s->g->name, sample, d->n, d->of, d->most);
    if (node)
        ti_note(ctx, node->loc,
                "the first operator whose result differs is '%s'; cut there, the stream's last "
                "command is %s at word %zu",
                tc_ops[node->op].name, ti_npu_op_name(&ctx->arena, &s->last), s->last.at);
    else
        ti_note(ctx, NULL, "the operator was not found in time");
    return close(ctx);
}

tc_status ti_stream_check(tc_ctx *ctx, const tc_compiled *c, tc_region *region,
                          const tc_ethosu_job *job)
{
    tc_npu_program program;
    tc_graph *g = ti_main(region->module);
    TC_TRY(open_program(ctx, job, &program));
    TC_TRY(verify(ctx, region, job, &program));
    region->commands = commands_of(&program);
    for (size_t k = 0; k < region->n_sample; k++) {
        search s = {.ctx = ctx,
                    .c = c,
                    .g = g,
                    .in = region->sample[k],
                    .at = tc_new_n(&ctx->arena, tc_tensor, g->n_val),
                    .until = ti_seconds() + SECONDS};
        difference d = {0};
        if (region->want &&
            !execute(&ctx->arena, &program, region->sample[k], region->want, &d) && !d.n) {
            region->gave[k] = region->want;
            continue;
        } /* else against the kernels that define the bits */
        d = (difference){0};
        TC_TRY(ti_eval_all(g, region->sample[k], s.at, &ctx->arena));
        tc_tensor *want = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1);
        for (size_t i = 0; i < g->n_out; i++)
            want[i] = s.at[g->out[i]];
        const char *error = execute(&ctx->arena, &program, region->sample[k], want, &d);
        if (!error && !d.n) {
            region->gave[k] = want;
            continue;
        }
        keep_last(&s, &program);
        return blame(&s, &d, error, k);
    }
    return TC_OK;
}
