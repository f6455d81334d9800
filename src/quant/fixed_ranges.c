/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_ranges.c -- domains with a natural range (softmax, sigmoid, tanh): whether they keep it, or
 * take the observed one.
 *
 * Observed ranges get a margin.  For an output f(x), f a sigmoid or tanh, x may reach MARGIN times
 * as far: the ends are f(MARGIN f^-1(seen)), which stays within the range.
 *
 * The largest probability of a softmax grows with e^x: a logit slightly above all observed ones has
 * a probability several times theirs.  16 bits have room for that: the odds p / (1 - p) of the
 * largest may be ODDS_MARGIN times the observed ones. */
#include <math.h>

#include "../base/real.h"
#include "observing.h"

static double logit(double y) { return ti_log(y / (1 - y)); }

/* x, MARGIN times as far from 0; towards a negative end's 0 it is as much nearer. */
static double farther(double x) { return x > 0 ? x * TC_NATURAL_MARGIN : x / TC_NATURAL_MARGIN; }

static double beyond(tc_op op, double y)
{
    double to = op == TC_OP_tanh ? ti_tanh(TC_NATURAL_MARGIN * ti_atanh(y))
                                 : 1 / (1 + ti_exp(-farther(logit(y))));
    return (double)(float)to;
}

/* The one curve that makes all of an output domain's values; TC_OP_COUNT: none. */
static tc_op curve_of(const tc_graph *g, const tc_domain *domain)
{
    tc_op op = TC_OP_COUNT;
    for (size_t i = 0; i < domain->n_val && domain->output; i++) {
        const tc_node *maker = ti_def(g, domain->val[i]);
        tc_op own = maker ? maker->op : TC_OP_COUNT;
        if ((own != TC_OP_sigmoid && own != TC_OP_tanh) || (i && own != op))
            return TC_OP_COUNT;
        op = own;
    }
    return op;
}

double ti_wide_end(const tc_domain *domain, double seen)
{
    return !domain->shares ? TC_WIDE_MARGIN * seen
           : seen < 1      ? TC_ODDS_MARGIN * seen / (1 - seen + TC_ODDS_MARGIN * seen)
                           : 1;
}

void ti_natural_range(const tc_graph *g, const tc_domain *domain, tc_ends seen, double *lo,
                      double *hi)
{
    tc_op op = curve_of(g, domain);
    *lo = TC_NATURAL_MARGIN * (double)seen.lo;
    *hi = domain->shares && ti_setting_wide(&domain->setting)
              ? ti_wide_end(domain, (double)seen.hi)
              : TC_NATURAL_MARGIN * (double)seen.hi;
    if (op == TC_OP_COUNT)
        return;
    *hi = (double)seen.hi >= domain->hi ? domain->hi : beyond(op, (double)seen.hi);
    *lo = op == TC_OP_sigmoid                 ? 0
          : (double)seen.lo <= domain->lo     ? domain->lo
                                              : beyond(op, (double)seen.lo);
}

/* Whether a product of two values reads any of the domain's: attention's probabilities. */
static bool read_by_product(const tc_graph *g, const tc_domains *domains, size_t d)
{
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; g->node[k]->op == TC_OP_matmul && i < g->node[k]->n_in; i++)
            if (domains->of[g->node[k]->in[i]] == (int32_t)d)
                return true;
    return false;
}

/* A natural range this much wider than the observed one, with its margin, is replaced by it: rows
 * of a flat softmax are far below 1.  A softmax with finer steps takes more operations, so inside
 * of attention the gain must be larger. */
static double too_wide(const tc_graph *g, const tc_domains *domains, size_t d)
{
    const tc_node *maker = ti_def(g, domains->domain[d].val[0]);
    return maker && maker->op == TC_OP_softmax && read_by_product(g, domains, d) ? 3 : 1.5;
}

/* The greatest code of a natural range is one step below its end, which curves reach. */
static bool cuts(const tc_domain *domain, double hi)
{
    double top = domain->scale * (double)(domain->setting.qmax - domain->zero);
    return hi > top + domain->scale / 2;
}

bool ti_natural_kept(const tc_graph *g, const tc_domains *domains, size_t d, tc_ends seen)
{
    const tc_domain *domain = &domains->domain[d];
    double most = fmax(-domain->lo, domain->hi), lo, hi;
    if (!domain->fixed_range)
        return false;
    if (seen.lo > seen.hi || !(fmaxf(-seen.lo, seen.hi) > 0))
        return true;
    ti_natural_range(g, domain, seen, &lo, &hi);
    if (curve_of(g, domain) != TC_OP_COUNT && cuts(domain, (double)seen.hi))
        return false;
    return too_wide(g, domains, d) * fmax(-lo, hi) > most;
}
