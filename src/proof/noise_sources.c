/* SPDX-License-Identifier: Apache-2.0 */
/* noise_sources.c -- which values cause the noise of an output.
 *
 * Values whose own noise is far above that of what they are made from are tried first, up to TRIED:
 * each is left real by itself, and they are ranked by what the output gains. */
#include <math.h>

#include "../base/attempt.h"
#include "../base/real.h"
#include "comparison.h"
#include "../drive/driver.h"
#include "inner_values.h"
#include "../drive/model.h"
#include "proof.h"

enum { TRIED = 8, FEW = 4 }; /* values; samples that are enough to rank them */

/* The least gain that is reported. */
static const double GAIN_DB = 1;

typedef struct suspect {
    tc_val v;
    double score, by;
} suspect;

static tc_status read_given(void *user, size_t k, const tc_tensor *in, size_t n)
{
    const tc_compiled *c = user;
    for (size_t i = 0; i < n; i++)
        memcpy(in[i].data, c->given.sample[k][i].data, tc_type_bytes(in[i].type));
    return TC_OK;
}

/* By value of the typed program: its noise over its signal in another form of it, as far as that
 * can be compared. */
static tc_status measure(tc_ctx *ctx, const tc_compiled *c, const tc_model *form, double *noise)
{
    tc_comparison *found;
    tc_compared_value v = {.size = sizeof v};
    tc_map by_name;
    const tc_graph *g = ti_main(c->work.typed);
    size_t n = c->proof.samples < FEW ? c->proof.samples : FEW;
    tc_dataset data = {.ctx = ctx, .n = n, .read = read_given, .user = (void *)(uintptr_t)c};
    TC_TRY(ti_compare_forms(ctx, ti_model_of(ctx, "model", c->work.real), form, &data, &found));
    ti_map_init(&by_name, &ctx->arena);
    for (size_t i = 0; ti_compared_at(found, i, &v); i++) {
        double *at = tc_new(&ctx->arena, double);
        *at = ti_pow(10, -v.sqnr_db / 10);
        *ti_map_at(&by_name, ti_str_of(v.name)) = at;
    }
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++) {
            tc_val out = g->node[k]->out[i];
            const char *name = g->val[out]->name;
            const double *own = name ? ti_map_get(&by_name, ti_str_of(name)) : NULL;
            for (int j = 0; j < g->node[k]->n_in && !own; j++)
                noise[out] = fmax(noise[out], noise[g->node[k]->in[j]]);
            noise[out] = own ? *own : noise[out];
        }
    return TC_OK;
}

/* By value: the output depends on it. */
static void mark_ancestors(const tc_graph *g, tc_val out, bool *part)
{
    part[out] = true;
    for (size_t k = g->n_node; k-- > 0;) {
        bool has = false;
        for (int i = 0; i < g->node[k]->n_out; i++)
            has = has || part[g->node[k]->out[i]];
        for (int i = 0; i < g->node[k]->n_in && has; i++)
            part[g->node[k]->in[i]] = true;
    }
}

static bool same_codes(const tc_type *a, const tc_type *b)
{
    const tc_quant *p = a->quant, *q = b->quant;
    return p && q && p->axis < 0 && q->axis < 0 && a->dtype == b->dtype &&
           p->scale[0] == q->scale[0] && p->zero[0] == q->zero[0];
}

static void insert(suspect *list, size_t *n, suspect s)
{
    size_t at = *n < TRIED ? (*n)++ : TRIED;
    if (at == TRIED && !(s.score > list[TRIED - 1].score))
        return;
    at = at == TRIED ? TRIED - 1 : at;
    for (; at && s.score > list[at - 1].score; at--)
        list[at] = list[at - 1];
    list[at] = s;
}

static size_t find_suspects(tc_ctx *ctx, const tc_compiled *c, tc_val out, const double *noise,
                            suspect *list)
{
    const tc_graph *g = ti_main(c->work.typed);
    bool *part = tc_new_n(&ctx->arena, bool, g->n_val);
    size_t n = 0;
    mark_ancestors(g, out, part);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        double in = 0;
        for (int i = 0; i < node->n_in; i++)
            in = fmax(in, noise[node->in[i]]);
        for (int i = 0; i < node->n_out; i++) {
            tc_val v = node->out[i];
            bool known = false;
            for (size_t j = 0; j < n; j++)
                known = known || (same_codes(ti_type_of(g, v), ti_type_of(g, list[j].v)) &&
                                  noise[v] - in <= list[j].score);
            if (!known && part[v] && g->val[v]->name && ti_type_of(g, v)->quant &&
                node->op != TC_OP_const)
                insert(list, &n, (suspect){.v = v, .score = noise[v] - in});
        }
    }
    return n;
}

/* The output with this value real, and those that share its codes; v 0: unchanged. */
static double without(tc_ctx *ctx, const tc_compiled *c, tc_val v, size_t output, int odd)
{
    tc_attempt attempt;
    tc_proof p;
    double by = -INFINITY;
    ti_attempt_begin(ctx, &attempt);
    tc_module *m = ti_module_clone(c->work.typed);
    const tc_graph *g = ti_main(m);
    const tc_type *of = v ? ti_type_of(g, v) : NULL;
    for (size_t k = 0; k < g->n_node && v; k++)
        for (int i = 0; i < g->node[k]->n_out && g->node[k]->op != TC_OP_const; i++) {
            tc_value *value = g->val[g->node[k]->out[i]];
            if (same_codes(value->type, of))
                value->type = ti_type_make(ctx, TC_f32, value->type->rank, value->type->dim);
        }
    if (ti_prove_typed(ctx, c, m, NULL, odd ? 0 : FEW, &p) == TC_OK && p.out[output].compared)
        by = ti_proof_measure(&p.out[output], &p.out[output].by[odd], &p.out[output].by[odd].typed);
    ti_attempt_end(ctx, &attempt);
    return by;
}

size_t ti_noise_makers(tc_ctx *ctx, const tc_compiled *c, size_t output, int odd, tc_noise *out,
                       size_t most)
{
    suspect list[TRIED] = {{0}};
    const tc_graph *g = ti_main(c->work.typed);
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    double *noise = tc_new_n(&ctx->arena, double, g->n_val);
    size_t n = 0, found = 0;
    const tc_proof_output *o = &c->proof.out[output];
    double figure = ti_proof_measure(o, &o->by[odd], &o->by[odd].typed),
           had = without(ctx, c, 0, output, odd);
    if (measure(ctx, c, ti_model_of(ctx, "typed", c->work.typed), noise) == TC_OK)
        n = find_suspects(ctx, c, g->out[output], noise, list);
    for (size_t i = 0; i < n; i++)
        list[i].score = list[i].by = without(ctx, c, list[i].v, output, odd);
    ti_attempt_end(ctx, &attempt);
    for (size_t k = 0; k < most; k++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (list[i].score >= had + GAIN_DB && (best == n || list[i].score > list[best].score))
                best = i;
        if (best == n)
            break;
        const tc_node *def = ti_def(g, list[best].v);
        out[found++] = (tc_noise){.name = g->val[list[best].v]->name,
                                  .loc = def ? def->loc : NULL,
                                  .by = isfinite(had) ? figure + list[best].by - had
                                                      : list[best].by};
        list[best].score = -INFINITY;
    }
    return found;
}

/* ---- what lowering adds ---- */

/* The output with this node on the CPU as well; NULL: unchanged. */
static double on_cpu(tc_ctx *ctx, const tc_compiled *c, const char *name, size_t output, int odd)
{
    tc_attempt attempt;
    tc_compiled with = {.asked.ethosu = c->asked.ethosu};
    tc_proof p;
    double by = -INFINITY;
    ti_attempt_begin(ctx, &attempt);
    tc_status status = name ? ti_compile_on_cpu(ctx, c, name, &with) : TC_OK;
    if (status == TC_OK)
        status = ti_prove_written(ctx, c, name ? with.module : c->module, odd ? 0 : FEW, &p);
    if (status == TC_OK && p.out[output].compared)
        by = ti_proof_measure(&p.out[output], &p.out[output].by[odd], &p.out[output].by[odd].written);
    ti_attempt_end(ctx, &attempt);
    return by;
}

/* Values whose noise grows the most from the typed program to the lowered one, the growth of their
 * operands' noise subtracted; where that is not known, any. */
static size_t find_lowered(tc_ctx *ctx, const tc_compiled *c, tc_val out, suspect *list)
{
    const tc_graph *g = ti_main(c->work.typed);
    double *typed = tc_new_n(&ctx->arena, double, g->n_val),
           *added = tc_new_n(&ctx->arena, double, g->n_val);
    tc_model *watched = ti_compiled_watched(ctx, c, NULL);
    if (!watched || measure(ctx, c, ti_model_of(ctx, "typed", c->work.typed), typed) != TC_OK ||
        measure(ctx, c, watched, added) != TC_OK)
        memset(added, 0, g->n_val * sizeof *added);
    for (size_t v = 1; v < g->n_val; v++)
        added[v] = fmax(0, added[v] - typed[v]);
    return find_suspects(ctx, c, out, added, list);
}

bool ti_noise_of_lowering(tc_ctx *ctx, const tc_compiled *c, size_t output, int odd, tc_noise *out)
{
    enum { COMPILED = 3 };
    suspect list[TRIED] = {{0}};
    const tc_graph *g = c->work.typed ? ti_main(c->work.typed) : NULL;
    tc_attempt attempt;
    if (!g)
        return false;
    ti_attempt_begin(ctx, &attempt);
    size_t n = find_lowered(ctx, c, g->out[output], list);
    ti_attempt_end(ctx, &attempt);
    double had = n ? on_cpu(ctx, c, NULL, output, odd) : 0;
    *out = (tc_noise){.by = had + 3 * GAIN_DB};
    for (size_t i = 0; i < n && i < COMPILED; i++) {
        const tc_node *def = ti_def(g, list[i].v);
        const char *name = def && def->loc && def->loc->node ? def->loc->node : g->val[list[i].v]->name;
        double by = on_cpu(ctx, c, name, output, odd);
        if (by > out->by)
            *out = (tc_noise){name, def ? def->loc : NULL, by};
    }
    return out->name != NULL;
}
