/* SPDX-License-Identifier: Apache-2.0 */
/* value_ranges.c -- see value_ranges.h.  Values are the same where their names are. */
#include "value_ranges.h"

#include "../base/attempt.h"
#include "../drive/checker.h"
#include "../drive/road.h"
#include "../run/plan.h"

typedef struct course {
    tc_value_range **of; /* by value of the model */
} course;

static void see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    const course *s = who;
    tc_value_range *r = s->of[v];
    double half = r->type->quant->scale[0] / 2;
    int64_t n = tc_type_count(seen.type);
    (void)order;
    const float *x = seen.data, least = (float)(r->least - half), most = (float)(r->most + half);
    int64_t outside = 0;
    for (int64_t i = 0; i < n; i++)
        outside += x[i] < least || x[i] > most;
    r->outside += outside;
    r->n += n;
}

static bool has_range(const tc_value *v)
{
    return v->name && v->type && v->type->quant && v->type->quant->axis < 0 && !v->data;
}

static tc_value_range range_of(const tc_value *v)
{
    const tc_quant *q = v->type->quant;
    return (tc_value_range){.name = v->name,
                            .type = v->type,
                            .least = q->scale[0] * (double)(q->lo - q->zero[0]),
                            .most = q->scale[0] * (double)(q->hi - q->zero[0])};
}

/* The typed program's ranges, in its order; of names that stand twice the last. */
static size_t take_ranges(tc_ctx *ctx, const tc_graph *typed, tc_map *by_name, tc_value_range **out)
{
    size_t n = 0;
    tc_value_range *r = tc_new_n(&ctx->arena, tc_value_range, typed->n_val + 1);
    for (size_t v = 1; v < typed->n_val; v++)
        if (has_range(typed->val[v])) {
            r[n] = range_of(typed->val[v]);
            *ti_map_at(by_name, ti_str_of(r[n].name)) = &r[n];
            n++;
        }
    *out = r;
    return n;
}

static tc_status run(tc_ctx *ctx, const tc_compiled *c, tc_graph *g, const tc_watch *watch,
                     size_t *samples)
{
    tc_plan *plan = ti_plan_new(ctx, g, watch);
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1),
              *after = tc_new_n(&ctx->arena, tc_tensor, g->n_mutation + 1);
    void **state = tc_new_n(&ctx->arena, void *, g->n_mutation + 1);
    for (size_t i = 0; i < g->n_mutation; i++)
        state[i] = (void *)(uintptr_t)g->val[g->mutation[i].before]->data;
    for (size_t k = 0; plan && k < c->given.n && *samples < TC_RANGE_SAMPLES; k++) {
        if (c->given.odd[k] || (c->proof.of && c->proof.refused[k]))
            continue;
        TC_TRY(ti_plan_run(plan, ti_check_taken(g, c->given.sample[k], &ctx->arena), out, state, after));
        ++*samples;
    }
    return TC_OK;
}

tc_status ti_value_ranges(tc_ctx *ctx, const tc_compiled *c, tc_value_range **out, size_t *n,
                          size_t *samples)
{
    *n = *samples = 0;
    if (!c->work.real || !c->work.typed || c->given.invented || !ti_quant_is_typed(c->work.typed))
        return TC_OK;
    tc_map by_name;
    ti_map_init(&by_name, &ctx->arena);
    *n = take_ranges(ctx, ti_main(c->work.typed), &by_name, out);
    tc_module *m = ti_module_clone(c->work.real);
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    tc_status status = ti_road_run(ctx, m, TC_AT_COPY, TC_AT_AS_READ, NULL, NULL);
    if (status == TC_OK) {
        tc_graph *g = ti_main(m);
        bool *wanted = tc_new_n(&ctx->arena, bool, g->n_val + 1);
        course s = {tc_new_n(&ctx->arena, tc_value_range *, g->n_val + 1)};
        for (size_t v = 1; v < g->n_val; v++) {
            const tc_value *value = g->val[v];
            s.of[v] = value->name ? ti_map_get(&by_name, ti_str_of(value->name)) : NULL;
            wanted[v] = s.of[v] && value->def && value->def->op != TC_OP_const &&
                        value->type->dtype == TC_f32;
        }
        status = run(ctx, c, g, &(tc_watch){wanted, see, &s}, samples);
    }
    ti_attempt_end(ctx, &attempt);
    return status == TC_CANCELLED || status == TC_NO_MEMORY ? status : TC_OK;
}
