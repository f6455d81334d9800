/* SPDX-License-Identifier: Apache-2.0 */
/* input_grids.c -- the grid of a program's input, by the noise at its outputs.
 *
 * The range with the least squared error may cut the ends of a picture off: its white and black areas, whose
 * errors lie next to each other, so that no window averages them away as it does those of rounding.  Where
 * something is cut off, another grid is tried: the whole range; of one that is even around 0, the same
 * number of steps on both sides, which keeps apart the levels of a picture in [-1, 1], all but two. */
#include "observations.h"
#include "quantizer.h"

#include <math.h>

static const double CUT = 0.99, /* of the range: less than that is cut off */
    ALIKE = 0.05;               /* of the range: its ends differ by less */

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

static tc_grid whole(const tc_domain *d)
{
    tc_setting s = d->setting;
    s.symmetric = s.symmetric || fabs(d->hi + d->lo) < ALIKE * (d->hi - d->lo);
    return ti_grid_of(&s, d->lo, d->hi);
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

static tc_status noise_with(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                            tc_domains *domains, size_t at, tc_grid grid, double *noise)
{
    bool *only = tc_new_n(&ctx->arena, bool, domains->n);
    double *each = tc_new_n(&ctx->arena, double, domains->n);
    only[at] = true;
    set_grid(&domains->domain[at], grid);
    TC_TRY(ti_quant_noise(ctx, module, request, domains, only, each));
    *noise = each[at];
    return TC_OK;
}

tc_status ti_quant_input_grids(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                               tc_domains *domains, double least, bool *found)
{
    const tc_graph *g = ti_main(module);
    *found = false;
    for (size_t i = 0; i < g->n_in; i++) {
        int32_t at = domains->of[g->in[i]];
        double before, after;
        if (!may_choose(domains, at) || !is_cut(&domains->domain[at]))
            continue;
        tc_domain *d = &domains->domain[at];
        tc_grid was = {d->scale, d->zero};
        TC_TRY(noise_with(ctx, module, request, domains, (size_t)at, was, &before));
        TC_TRY(noise_with(ctx, module, request, domains, (size_t)at, whole(d), &after));
        if (after < before - least)
            *found = request->whole_inputs[i] = true;
        else
            set_grid(d, was);
    }
    return TC_OK;
}

void ti_quant_set_inputs(const tc_graph *g, const tc_quant_request *request, tc_domains *domains)
{
    for (size_t i = 0; i < g->n_in && request->whole_inputs; i++) {
        int32_t at = domains->of[g->in[i]];
        if (request->whole_inputs[i] && may_choose(domains, at))
            set_grid(&domains->domain[at], whole(&domains->domain[at]));
    }
}
