/* SPDX-License-Identifier: Apache-2.0 */
/* size_choices.c -- a model compiled for several sizes: a method for each, quantized once. */
#include "many_sizes.h"

#include "../ir/verify.h"
#include "../read/read.h"

/* "forward_seq64_batch2": only letters and digits of a size's name are used. */
static const char *method_name(tc_ctx *ctx, const tc_module *m, const char *method,
                               const int64_t *value)
{
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    ti_buf_printf(&b, "%s", method ? method : "forward");
    for (size_t i = 0; i < m->open.n; i++) {
        ti_buf_printf(&b, "_");
        for (const char *p = m->open.size[i].word; *p; p++)
            if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))
                ti_buf_u8(&b, (uint8_t)*p);
        ti_buf_printf(&b, "%" PRId64, value[i]);
    }
    return ti_intern_text(ctx, ti_buf_cstr(&b));
}

/* Choice k of all: the first size changes slowest. */
static void choose(const tc_module *m, size_t k, int64_t *value)
{
    for (size_t i = m->open.n; i-- > 0;) {
        value[i] = m->open.size[i].list[k % m->open.size[i].n_list];
        k /= m->open.size[i].n_list;
    }
}

/* The first to be compiled is one that has data, else the largest of all; its data is the first
 * part then. */
static size_t first_choice(const tc_size_choice *choice, size_t n, size_t n_size,
                           tc_sized_data *part, size_t n_part)
{
    size_t best = 0;
    double most = 0;
    for (size_t p = 0; p < n_part; p++)
        for (size_t k = 0; k < n; k++) {
            if (memcmp(choice[k].value, part[p].value, n_size * sizeof *part->value))
                continue;
            tc_sized_data base = part[p];
            part[p] = part[0];
            part[0] = base;
            return k;
        }
    for (size_t k = 0; k < n; k++) {
        double all = 1;
        for (size_t i = 0; i < n_size; i++)
            all *= (double)choice[k].value[i];
        best = all > most ? k : best;
        most = all > most ? all : most;
    }
    return best;
}

tc_status ti_size_choices(tc_ctx *ctx, const tc_module *m, const char *method,
                          tc_sized_data *part, size_t n_part, tc_size_choice **out, size_t *n)
{
    enum { MOST = 64 };
    *n = 1;
    for (size_t i = 0; i < m->open.n; i++) {
        if (!m->open.size[i].list)
            return ti_usage(ctx, "--dim %s: the sizes of a program with a method for each are lists "
                                 "or values; this one is open", m->open.size[i].word);
        *n *= m->open.size[i].n_list;
        if (*n > MOST)
            return ti_usage(ctx, "the sizes make more than %d methods", MOST);
    }
    tc_size_choice *choice = *out = tc_new_n(&ctx->arena, tc_size_choice, *n);
    for (size_t k = 0; k < *n; k++) {
        choice[k].value = tc_new_n(&ctx->arena, int64_t, m->open.n);
        choose(m, k, choice[k].value);
        choice[k].method = method_name(ctx, m, method, choice[k].value);
        for (size_t p = 0; p < n_part; p++)
            if (!memcmp(choice[k].value, part[p].value, m->open.n * sizeof *part->value))
                choice[k].data = part[p].data;
    }
    size_t first = first_choice(choice, *n, m->open.n, part, n_part);
    tc_size_choice base = choice[first];
    memmove(choice + 1, choice, first * sizeof *choice);
    choice[0] = base;
    return TC_OK;
}

tc_status ti_request_at(tc_ctx *ctx, const tc_module *m, const tc_size_choice *choice,
                        tc_compile_request *r)
{
    TC_TRY(ti_read_at(ctx, m, choice->value, &r->module));
    r->method = choice->method;
    return ti_verify(ctx, r->module);
}

const tc_module *ti_ready_at(tc_ctx *ctx, const tc_compile_request *request,
                             const tc_module *m, const int64_t *value)
{
    tc_compile_request r = *request;
    tc_module *ready = NULL;
    r.data.only_if_needed = false;
    tc_hold hold = ti_hold_begin(ctx); /* messages are given at the first size */
    tc_status status = ti_read_at(ctx, m, value, &r.module);
    if (status == TC_OK)
        status = ti_compile_ready(ctx, &r, &ready);
    ti_hold_drop(ctx, hold);
    return status == TC_OK ? ready : NULL;
}
