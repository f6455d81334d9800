/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_block.c -- products of block-scaled tensors with separate scales: MATMUL_T_BLOCK_SCALED and
 * CONV2D_BLOCK_SCALED, which TOSA 1.1 has deprecated.
 *
 * Each block's values are summed in f32, the sum is scaled, and scaled sums are added, in the
 * specification's order: bits are those of the reference model. */
#include "kernels.h"
#include "tosa.h"

/* Values as f32, and the exponents of their blocks as f32 factors. */
typedef struct operand {
    const float *value, *scale;
} operand;

static operand operand_of(tc_call *call, int at)
{
    return (operand){ti_as_f32(call->scratch, call->in[at]),
                     ti_as_f32(call->scratch, call->in[at + 1])};
}

/* sum + the products of n elements, from element a of one and b of the other on. */
static float add_blocks(float sum, operand x, int64_t a, operand y, int64_t b, int64_t n)
{
    for (int64_t k = 0; k < n; k += TC_BLOCK) {
        float dot = 0;
        for (int64_t i = 0; i < TC_BLOCK; i++)
            dot += x.value[a + k + i] * y.value[b + k + i];
        sum += dot * (x.scale[(a + k) / TC_BLOCK] * y.scale[(b + k) / TC_BLOCK]);
    }
    return sum;
}

void ti_num_tosa_matmul_t_block_scaled(tc_call *call)
{
    const int64_t *dim = call->out[0].type->dim, c = call->in[0].type->dim[2];
    operand a = operand_of(call, 0), b = operand_of(call, 2);
    int64_t step = call->in[2].type->dim[0] > 1 ? dim[2] * c : 0;
    float *out = call->out[0].data;
    for (int64_t r = 0; r < dim[0] * dim[1]; r++)
        for (int64_t w = 0; w < dim[2]; w++)
            *out++ = add_blocks(0, a, r * c, b, r / dim[1] * step + w * c, c);
}

typedef struct conv {
    const int64_t *in, *weight, *pad, *stride, *dilation;
    operand x, w;
} conv;

/* One element of the result: taps outside the input are skipped. */
static float window(const conv *g, int64_t n, int64_t oy, int64_t ox, int64_t oc)
{
    int64_t c = g->in[3];
    float sum = 0;
    for (int64_t ky = 0; ky < g->weight[1]; ky++)
        for (int64_t kx = 0; kx < g->weight[2]; kx++) {
            int64_t y = oy * g->stride[0] - g->pad[0] + ky * g->dilation[0];
            int64_t x = ox * g->stride[1] - g->pad[2] + kx * g->dilation[1];
            if (y < 0 || y >= g->in[1] || x < 0 || x >= g->in[2])
                continue;
            sum = add_blocks(sum, g->x, ((n * g->in[1] + y) * g->in[2] + x) * c, g->w,
                             ((oc * g->weight[1] + ky) * g->weight[2] + kx) * c, c);
        }
    return sum;
}

void ti_num_tosa_conv2d_block_scaled(tc_call *call)
{
    conv g = {call->in[0].type->dim,    call->in[2].type->dim, ti_shape_values(call, 5),
              ti_shape_values(call, 6), ti_shape_values(call, 7), operand_of(call, 0),
              operand_of(call, 2)};
    if (!g.pad || !g.stride || !g.dilation)
        return;
    const int64_t *dim = call->out[0].type->dim;
    int64_t bias_step = call->in[4].type->dim[0] > 1;
    float *out = call->out[0].data;
    for (int64_t n = 0; n < dim[0]; n++)
        for (int64_t oy = 0; oy < dim[1]; oy++)
            for (int64_t ox = 0; ox < dim[2]; ox++)
                for (int64_t oc = 0; oc < dim[3]; oc++)
                    *out++ = window(&g, n, oy, ox, oc) +
                             (float)ti_load_f64(call->in[4], oc * bias_step);
}
