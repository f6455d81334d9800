/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_samples.c -- what regions are given, and what they must give: the samples that their streams were executed on, and drawn
 * ones, so that a second program sees more than one input. */
#include "certificate.h"

#include "../base/attempt.h"
#include "../num/load.h"
#include "../run/exec.h"
#include "../wire/archive.h"
#include "../wire/npy.h"

/* How many inputs are drawn for a region of up to so many multiplications; none for larger ones. */
static const struct {
    double macs;
    size_t n;
} room[] = {{1e5, 31}, {2e7, 7}, {1e9, 1}};

static size_t drawn_of(const tc_compiled *c, size_t r)
{
    if (!c->jobs || ti_module_has_state(c->region[r].module))
        return 0;
    for (size_t i = 0; i < TC_COUNT(room); i++)
        if (c->jobs[r].macs <= room[i].macs)
            return room[i].n;
    return 0;
}

static uint32_t next(uint64_t *dice)
{
    *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*dice >> 33);
}

/* How an input is drawn, by turns: any codes, the least and the greatest alone, one code everywhere.  The last two bring sums to their ends,
 * which any codes seldom do. */
typedef enum way { ANY, ENDS, ONE, WAYS } way;

/* Codes that the caller can give: all of a quantized input's, else those between the least and the greatest of its sample. */
static void draw(uint64_t *dice, way how, tc_tensor sample, tc_tensor out)
{
    const tc_quant *q = sample.type->quant;
    int64_t n = tc_type_count(sample.type), lo = q ? q->lo : INT64_MAX, hi = q ? q->hi : INT64_MIN;
    for (int64_t i = 0; !q && i < n; i++) {
        lo = ti_min_i64(lo, ti_load_i64(sample, i));
        hi = ti_max_i64(hi, ti_load_i64(sample, i));
    }
    uint64_t span = n ? (uint64_t)hi - (uint64_t)lo + 1 : 1, more = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t both = (uint64_t)next(dice) << 31 ^ next(dice);
        if (how == ENDS)
            more = both >> 31 & 1 ? span - 1 : 0;
        else if (how == ANY || i == 0)
            more = span ? both % span : both;
        ti_store_i64(out, i, (int64_t)((uint64_t)lo + more));
    }
}

typedef struct writer {
    tc_ctx *ctx;
    tc_zip zip;
    tc_sample_count count;
} writer;

static void add(writer *w, const char *region, size_t k, const char *side, const tc_tensor *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tc_buf b;
        ti_buf_init(&b, &w->ctx->arena);
        ti_npy_header(&b, tc_dtypes[t[i].type->dtype].npy, t[i].type->rank, t[i].type->dim);
        if (tc_type_bytes(t[i].type))
            ti_buf_put(&b, t[i].data, tc_type_bytes(t[i].type));
        ti_zip_add(&w->zip, ti_text_format(&w->ctx->arena, "%s.%zu.%s%zu.npy", region, k, side, i),
                   (tc_bytes){b.data, b.size});
    }
}

/* One drawn input after the other, and what TOSA's program gives: k samples are there already. */
static tc_status add_drawn(writer *w, const tc_compiled *c, size_t r, size_t k)
{
    const tc_region *region = &c->region[r];
    tc_graph *g = ti_main(region->module);
    size_t n = drawn_of(c, r);
    uint64_t dice = r + 1;
    if (!n)
        return TC_OK;
    tc_exec *exec = ti_exec_new(w->ctx, ti_module_clone(region->module));
    tc_tensor *in = tc_new_n(&w->ctx->arena, tc_tensor, g->n_in + 1),
              *out = tc_new_n(&w->ctx->arena, tc_tensor, g->n_out + 1);
    for (size_t i = 0; i < g->n_in; i++)
        in[i] = ti_tensor_new(&w->ctx->arena, ti_type_of(g, g->in[i]));
    for (size_t d = 0; d < n; d++) {
        for (size_t i = 0; i < g->n_in; i++)
            draw(&dice, (way)(d % WAYS), region->sample[0][i], in[i]);
        TC_TRY(ti_exec_run(exec, in, out));
        add(w, region->name, k + d, "in", in, g->n_in);
        add(w, region->name, k + d, "out", out, g->n_out);
        w->count.drawn++;
        for (size_t i = 0; i < g->n_out; i++)
            w->count.elements += tc_type_count(out[i].type);
    }
    return TC_OK;
}

tc_status ti_certificate_samples(tc_ctx *ctx, const tc_compiled *c, tc_bytes *out, tc_sample_count *count)
{
    writer w = {.ctx = ctx};
    ti_zip_begin(&w.zip, &ctx->arena);
    for (size_t r = 0; r < c->n_region; r++) {
        const tc_region *region = &c->region[r];
        const tc_graph *g = ti_main(region->module);
        size_t k = 0;
        for (; k < TC_CHECK_SAMPLES && region->gave[k]; k++) {
            add(&w, region->name, k, "in", region->sample[k], g->n_in);
            add(&w, region->name, k, "out", region->gave[k], g->n_out);
        }
        if (k)
            TC_TRY(add_drawn(&w, c, r, k));
    }
    *out = ti_zip_end(&w.zip);
    *count = w.count;
    return TC_OK;
}
