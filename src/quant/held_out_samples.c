/* SPDX-License-Identifier: Apache-2.0 */
/* held_out_samples.c -- samples that a first quantization does not see, to measure it on.
 *
 * Neighbours in the data are often similar, such as frames of a recording: held-out samples are
 * contiguous.  Data may be ordered by class: they are the last of each half. */
#include "quantizer.h"

enum { LEAST_DATA = 16, WANTED = 8, SHARE = 16, MOST = 32 };

size_t ti_held_out_count(size_t n)
{
    size_t quarter = n / 4, share = n / SHARE, some = quarter < WANTED ? quarter : WANTED;
    if (n < LEAST_DATA)
        return 0;
    return share < some ? some : share < MOST ? share : MOST;
}

/* Whether sample k is among `held` of n. */
static bool is_among(size_t n, size_t held, size_t k)
{
    size_t half = n / 2;
    return k < half ? k >= half - held / 2 : k >= n - (held - held / 2);
}

bool ti_is_held_out(size_t n, size_t k) { return is_among(n, ti_held_out_count(n), k); }

typedef struct part {
    tc_samples all;
    size_t *number;
} part;

static tc_status read_part(void *from, size_t k, const tc_tensor *in)
{
    const part *p = from;
    return p->all.read(p->all.from, p->number[k], in);
}

static const char *name_part(void *from, size_t number)
{
    const part *p = from;
    return p->all.name ? p->all.name(p->all.from, number) : NULL;
}

tc_samples ti_samples_split(tc_ctx *ctx, const tc_samples *all, size_t n_held, bool held)
{
    part *p = tc_new(&ctx->arena, part);
    *p = (part){*all, tc_new_n(&ctx->arena, size_t, all->n + 1)};
    tc_samples out = *all;
    out.n = 0;
    out.read = read_part;
    out.name = name_part;
    out.from = p;
    out.number = p->number;
    out.shelf = NULL;
    for (size_t k = 0; k < all->n; k++)
        if (is_among(all->n, n_held, k) == held)
            p->number[out.n++] = k;
    return out;
}

tc_samples ti_samples_part(tc_ctx *ctx, const tc_samples *all, bool held)
{
    return ti_samples_split(ctx, all, ti_held_out_count(all->n), held);
}
