/* SPDX-License-Identifier: Apache-2.0 */
/* measured_rows.c -- see measured_rows.h. */
#include "measured_rows.h"

#include <stdlib.h>

void ti_measured_begin(tc_ctx *ctx, tc_measured_rows *r)
{
    *r = (tc_measured_rows){.ctx = ctx};
    ti_map_init(&r->map, &ctx->arena);
}

void ti_measured_add(tc_measured_rows *r, const char *name, double measured, double expected,
                     bool shared)
{
    void **slot = ti_map_at(&r->map, ti_str_of(name));
    if (!*slot) {
        tc_grow(&r->ctx->arena, r->row, r->n, r->cap);
        *slot = r->row[r->n++] = tc_new(&r->ctx->arena, tc_measured_row);
        r->row[r->n - 1]->name = name;
    }
    tc_measured_row *row = *slot;
    row->measured += measured;
    row->expected += expected;
    row->shared = row->shared || shared;
}

static int longest_first(const void *a, const void *b)
{
    const tc_measured_row *x = *(tc_measured_row *const *)a, *y = *(tc_measured_row *const *)b;
    return x->measured != y->measured ? (x->measured < y->measured ? 1 : -1) : strcmp(x->name, y->name);
}

void ti_measured_end(tc_measured_rows *r, tc_measured_row **out, size_t *n)
{
    if (r->n)
        qsort(r->row, r->n, sizeof *r->row, longest_first);
    *out = tc_new_n(&r->ctx->arena, tc_measured_row, r->n + 1);
    *n = r->n;
    for (size_t i = 0; i < r->n; i++)
        (*out)[i] = *r->row[i];
}

const char *ti_measured_key(const tc_loc *loc, tc_profile_by by, const char *otherwise)
{
    const char *key = !loc                          ? NULL
                      : by == TC_PROFILE_BY_LINE   ? loc->place
                      : by == TC_PROFILE_BY_MODULE ? loc->module
                                                   : loc->node;
    return key ? key : loc && loc->node ? loc->node : otherwise;
}
