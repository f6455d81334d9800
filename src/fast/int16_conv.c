/* SPDX-License-Identifier: Apache-2.0 */
/* int16_conv.c -- CONV2D of int16 by int8: windows of a copied strip against packed columns of
 * words, at once or by parts. */
#include "int16.h"

#include "int8_tile.h"

struct tc_conv16 {
    tc_windows window;
    tc_dense8 *part; /* the whole, finished in registers, or sums of 32 bits over n elements */
    size_t n_part;
    bool whole, narrows;
    tc_narrow narrow;
    size_t columns, row_bytes;
    const int64_t *bias; /* by column; with parts */
};

static int64_t bias_of(tc_tensor bias, size_t j)
{
    return ((const int64_t *)bias.data)[tc_type_count(bias.type) == 1 ? 0 : j];
}

/* Whether every column's sum over elements from .. from + n fits. */
static bool fits(tc_tensor w, tc_tensor bias, size_t columns, size_t depth, size_t from, size_t n)
{
    for (size_t j = 0; j < columns; j++)
        if (!ti_sum16_fits((const int8_t *)w.data + j * depth + from, n, 1,
                           n == depth ? bias_of(bias, j) : 0))
            return false;
    return true;
}

/* Elements of a segment that are summed at once: the most that fit everywhere. */
static size_t piece_of(const tc_conv16 *c, tc_tensor w, tc_tensor bias, size_t depth)
{
    size_t length = c->window.length;
    for (size_t cuts = 1;; cuts++) {
        size_t piece = ((length + cuts - 1) / cuts + 1) / 2 * 2;
        bool good = true;
        for (size_t s = 0; s < depth && good; s += length)
            for (size_t at = 0; at < length && good; at += piece)
                good = fits(w, bias, c->columns, depth, s + at,
                            length - at < piece ? length - at : piece);
        if (good)
            return piece;
    }
}

/* Segments of one length against columns of w from element `from` on. */
static void make_part(tc_ctx *ctx, tc_conv16 *c, const int8_t *w, size_t depth, size_t from,
                      const size_t *segment, size_t n_segment, size_t length, const int32_t *start)
{
    tc_dense8 *d = &c->part[c->n_part++];
    d->form = ti_word_form_here();
    ti_finish_init(ctx, &d->finish, c->columns, d->form.width, d->form.most_panels, start,
                   c->whole ? &c->narrow : NULL);
    d->segment = segment;
    d->n_segment = n_segment;
    ti_dense8_length(d, length);
    int8_t *packed = ti_dense8_memory(ctx, d);
    ti_dense8_pack(d, w + from, depth, 1, packed);
    d->packed = packed;
}

static void make_parts(tc_ctx *ctx, tc_conv16 *c, tc_tensor w, tc_tensor bias, size_t depth)
{
    const tc_windows *v = &c->window;
    int32_t *start = tc_new_n(&ctx->arena, int32_t, c->columns);
    if (c->whole) {
        for (size_t j = 0; j < c->columns; j++)
            start[j] = (int32_t)bias_of(bias, j);
        c->part = tc_new(&ctx->arena, tc_dense8);
        make_part(ctx, c, w.data, depth, 0, v->segment, v->n_segment, v->length, start);
        return;
    }
    int64_t *wide = tc_new_n(&ctx->arena, int64_t, c->columns);
    for (size_t j = 0; j < c->columns; j++)
        wide[j] = bias_of(bias, j);
    c->bias = wide;
    size_t piece = piece_of(c, w, bias, depth), n = (v->length + piece - 1) / piece;
    c->part = tc_new_n(&ctx->arena, tc_dense8, v->n_segment * n);
    for (size_t s = 0; s < v->n_segment; s++)
        for (size_t at = 0; at < v->length; at += piece) {
            size_t *segment = tc_new(&ctx->arena, size_t);
            *segment = v->segment[s] + 2 * at;
            make_part(ctx, c, w.data, depth, s * v->length + at, segment, 1,
                      v->length - at < piece ? v->length - at : piece, start);
        }
}

tc_conv16 *ti_conv16_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x,
                         const tc_type *y, tc_tensor w, tc_tensor bias, const tc_narrow *narrow)
{
    const int64_t *k = w.type->dim;
    tc_conv16 *c = tc_new(&ctx->arena, tc_conv16);
    size_t depth = (size_t)(k[1] * k[2] * k[3]);
    c->columns = (size_t)k[0];
    c->narrows = narrow != NULL;
    if (narrow)
        c->narrow = *narrow;
    c->row_bytes = c->columns * (narrow ? tc_dtypes[narrow->dtype].bytes : sizeof(int64_t));
    ti_windows_init(ctx, &c->window, a, x, y, k[1], k[2], TC_KEPT_i16, 0, false);
    c->whole = narrow && fits(w, bias, c->columns, depth, 0, depth);
    make_parts(ctx, c, w, bias, depth);
    return c;
}

size_t ti_conv16_scratch(const tc_conv16 *c)
{
    size_t sums = TC_BLOCK_ROWS * c->columns * (sizeof(int64_t) + sizeof(int32_t));
    return ti_windows_bytes(&c->window) + (c->whole ? 0 : sums);
}

typedef struct run {
    const tc_conv16 *conv;
    uint8_t *y;
    int64_t *sum;
} run;

static void run_block(void *who, const uint8_t *const *row, size_t rows, size_t at)
{
    const run *r = who;
    const tc_conv16 *c = r->conv;
    uint8_t *y = r->y + at * c->row_bytes;
    if (c->whole) {
        ti_dense8_run(c->part, row, rows, NULL, NULL, y);
        return;
    }
    int32_t *part = (int32_t *)(r->sum + TC_BLOCK_ROWS * c->columns);
    for (size_t i = 0; i < rows; i++)
        memcpy(r->sum + i * c->columns, c->bias, c->columns * sizeof *c->bias);
    for (size_t i = 0; i < c->n_part; i++) {
        ti_dense8_run(&c->part[i], row, rows, NULL, NULL, (uint8_t *)part);
        ti_sum48_add(r->sum, part, rows * c->columns, 0);
    }
    ti_sum48_finish(c->narrows ? &c->narrow : NULL, r->sum, rows, c->columns, y);
}

void ti_conv16_run(const tc_conv16 *c, const int16_t *x, void *y, void *scratch)
{
    uint8_t *sums = (uint8_t *)scratch + ti_windows_bytes(&c->window);
    ti_windows_walk(&c->window, x, scratch, run_block, &(run){c, y, (int64_t *)(void *)sums});
}
