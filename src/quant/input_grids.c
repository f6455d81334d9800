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
    LESS = 0.8,                 /* of the noise, for another grid */
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

static tc_status choose(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                        tc_domains *domains, size_t at, int *chosen)
{
    tc_domain *d = &domains->domain[at];
    bool *only = tc_new_n(&ctx->arena, bool, domains->n);
    double *noise = tc_new_n(&ctx->arena, double, domains->n), least = 0;
    tc_grid found = grid_of(d, FOUND);
    only[at] = true;
    *chosen = FOUND;
    for (int way = FOUND; way < WAYS && is_cut(d); way++) {
        if (way == EVEN && fabs(d->hi + d->lo) > LIKE * (d->hi - d->lo))
            continue;
        tc_domain was = *d;
        set_grid(d, grid_of(&was, way));
        TC_TRY(ti_quant_noise(ctx, module, request, domains, only, noise));
        set_grid(d, found);
        if (way == FOUND)
            least = LESS * noise[at];
        if (way != FOUND && noise[at] < least) {
            least = noise[at];
            *chosen = way;
        }
    }
    return TC_OK;
}

tc_status ti_quant_input_grids(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                               tc_domains *domains)
{
    const tc_graph *g = ti_main(module);
    if (request->config->anchor || request->n_merge || !request->samples.n)
        return TC_OK;
    for (size_t i = 0; i < g->n_in; i++) {
        int32_t at = domains->of[g->in[i]];
        tc_input_grid own = {0}, *chosen = request->input_grids ? &request->input_grids[i] : &own;
        if (!may_choose(domains, at))
            continue;
        tc_domain *d = &domains->domain[at];
        if (chosen->lo != d->lo || chosen->hi != d->hi || chosen->scale != d->scale) {
            *chosen = (tc_input_grid){d->lo, d->hi, d->scale, FOUND};
            TC_TRY(choose(ctx, module, request, domains, (size_t)at, &chosen->way));
        }
        set_grid(d, grid_of(d, chosen->way));
    }
    return TC_OK;
}
