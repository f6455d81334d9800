/* SPDX-License-Identifier: Apache-2.0 */
/* input_grids.c -- the grid of a program's input, by the noise at its outputs.
 *
 * The range with the least squared error cuts the ends of a picture off: its white and black areas, whose
 * errors lie next to each other, so that no window averages them away as it does those of rounding.  Where
 * something is cut off, two more grids are tried: the whole range, and one that is even around 0. */
#include "observations.h"
#include "quantizer.h"

#include <math.h>

enum { FOUND, WHOLE, EVEN, WAYS };
static const double CUT = 0.99, /* of the range: less than that is cut off */
    LIKE = 0.05;                /* of the range: its ends are alike */

/* 8 bits by search, with codes that no other domain derives its own from. */
static bool may_choose(const tc_domains *domains, int32_t d)
{
    const tc_domain *domain = d < 0 ? NULL : &domains->domain[d];
    if (!domain || domain->setting.dtype != TC_i8 || domain->setting.observer != TC_OBSERVER_mse ||
        domain->named || domain->output || domain->fixed_range || domain->base >= 0 ||
        domain->joined >= 0 || !(domain->scale > 0))
        return false;
    for (size_t k = 0; k < domains->n; k++)
        if (domains->domain[k].base == d || domains->domain[k].joined == d)
            return false;
    return true;
}

static bool is_cut(const tc_domain *d)
{
    double codes = (double)(d->setting.qmax - d->setting.qmin);
    return d->scale * codes < CUT * (d->hi - d->lo);
}

static tc_grid grid_of(const tc_domain *d, int way)
{
    tc_setting even = d->setting;
    even.symmetric = true;
    return way == FOUND ? (tc_grid){d->scale, d->zero}
           : way == WHOLE ? ti_grid_of(&d->setting, d->lo, d->hi)
                          : ti_grid_of(&even, d->lo, d->hi);
}

static void set_grid(tc_domain *d, tc_grid grid)
{
    d->scale = grid.scale;
    d->zero = grid.zero;
}

bool ti_quant_input_cut(const tc_graph *g, const tc_domains *domains)
{
    bool any = false;
    for (size_t i = 0; i < g->n_in; i++) {
        int32_t d = domains->of[g->in[i]];
        any = any || (may_choose(domains, d) && is_cut(&domains->domain[d]));
    }
    return any;
}

/* The way with the least noise, if it is so much less. */
static tc_status choose(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                        tc_domains *domains, size_t at, double least, int *chosen)
{
    tc_domain *d = &domains->domain[at];
    tc_grid found = grid_of(d, FOUND);
    bool *only = tc_new_n(&ctx->arena, bool, domains->n);
    double *noise = tc_new_n(&ctx->arena, double, domains->n), limit = 0;
    only[at] = true;
    *chosen = FOUND;
    for (int way = FOUND; way < WAYS; way++) {
        if (way == EVEN && fabs(d->hi + d->lo) > LIKE * (d->hi - d->lo))
            continue;
        set_grid(d, grid_of(d, way));
        TC_TRY(ti_quant_noise(ctx, module, request, domains, only, noise));
        set_grid(d, found);
        if (way == FOUND)
            limit = noise[at] - least;
        if (way != FOUND && noise[at] < limit) {
            limit = noise[at];
            *chosen = way;
        }
    }
    return TC_OK;
}

tc_status ti_quant_input_grids(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                               tc_domains *domains, double least, bool *found)
{
    const tc_graph *g = ti_main(module);
    *found = false;
    for (size_t i = 0; i < g->n_in; i++) {
        int32_t at = domains->of[g->in[i]];
        int way;
        if (!may_choose(domains, at) || !is_cut(&domains->domain[at]))
            continue;
        TC_TRY(choose(ctx, module, request, domains, (size_t)at, least, &way));
        set_grid(&domains->domain[at], grid_of(&domains->domain[at], way));
        request->input_grids[i] = (int8_t)way;
        *found = *found || way != FOUND;
    }
    return TC_OK;
}

void ti_quant_set_inputs(const tc_graph *g, const tc_quant_request *request, tc_domains *domains)
{
    for (size_t i = 0; i < g->n_in && request->input_grids; i++) {
        int32_t at = domains->of[g->in[i]];
        if (request->input_grids[i] != FOUND && may_choose(domains, at))
            set_grid(&domains->domain[at], grid_of(&domains->domain[at], request->input_grids[i]));
    }
}
