/* SPDX-License-Identifier: Apache-2.0 */
/* int8_conv.c -- CONV2D of int8: windows of a copied strip against packed columns.
 *
 *   sum (x - zx) w  =  sum (x + 128) w  -  (zx + 128) sum w
 *
 * for unsigned elements; without the 128 for signed ones. */
#include "int8_tile.h"

struct tc_conv8 {
    tc_windows window;
    tc_dense8 dense;
};

/* Initial value of each channel: bias, and the correction for zero points. */
static const int32_t *starts(tc_ctx *ctx, tc_tensor w, tc_tensor bias, size_t n, size_t depth,
                             int32_t zero)
{
    int32_t *start = tc_new_n(&ctx->arena, int32_t, n);
    const int32_t *b = bias.data;
    for (size_t j = 0; j < n; j++) {
        int64_t sum = 0;
        for (size_t i = 0; i < depth; i++)
            sum += ((const int8_t *)w.data)[j * depth + i];
        uint32_t from = (uint32_t)b[bias.type->dim[0] == 1 ? 0 : j];
        start[j] = (int32_t)(from - (uint32_t)zero * (uint32_t)(uint64_t)sum);
    }
    return start;
}

tc_conv8 *ti_conv8_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x, const tc_type *y,
                       tc_tensor w, tc_tensor bias, int32_t x_zero, const tc_narrow *narrow)
{
    const int64_t *k = w.type->dim;
    tc_conv8 *c = tc_new(&ctx->arena, tc_conv8);
    tc_dense8 *d = &c->dense;
    size_t n = (size_t)k[0], depth = (size_t)(k[1] * k[2] * k[3]);
    d->form = ti_tile_form_here();
    ti_windows_init(ctx, &c->window, a, x, y, k[1], k[2], d->form.kept, x_zero, false);
    const int32_t *start =
        starts(ctx, w, bias, n, depth, x_zero + (d->form.kept == TC_KEPT_u8 ? 128 : 0));
    ti_finish_init(ctx, &d->finish, n, d->form.width, d->form.most_panels, start, narrow);
    d->segment = c->window.segment;
    d->n_segment = c->window.n_segment;
    ti_dense8_length(d, c->window.length);
    int8_t *packed = ti_dense8_memory(ctx, d);
    ti_dense8_pack(d, w.data, depth, 1, packed);
    d->packed = packed;
    return c;
}

size_t ti_conv8_scratch(const tc_conv8 *c)
{
    size_t apart = (size_t)(c->window.stride_x * c->window.ic);
    return ti_windows_bytes(&c->window) + ti_dense8_overread(&c->dense, apart);
}

typedef struct run {
    const tc_conv8 *conv;
    uint8_t *y;
} run;

static void run_block(void *who, const uint8_t *const *row, size_t rows, size_t at)
{
    const run *r = who;
    const tc_dense8 *d = &r->conv->dense;
    ti_dense8_run(d, row, rows, NULL, NULL, r->y + at * d->finish.row_bytes);
}

void ti_conv8_run(const tc_conv8 *c, const int8_t *x, void *y, void *scratch)
{
    ti_dense8_begin(&c->dense);
    ti_windows_walk(&c->window, x, scratch, run_block, &(run){c, y});
    ti_dense8_end(&c->dense);
}
