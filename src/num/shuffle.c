/* SPDX-License-Identifier: Apache-2.0 */
/* shuffle.c -- channels to space and back, channels between groups.
 *
 * Elements are copied as stored, whatever their type. */
#include "kernels.h"

/* x: [outer, c f f, h, w]  <->  y: [outer, c, h f, w f];  channel (c, i, j) is pixel (i, j) of a
 * tile. */
static void tiles(tc_call *call, bool to_space)
{
    int64_t f = ((const tc_attr_factor *)call->attr)->factor;
    const tc_type *deep = call->in[0].type, *flat = call->out[0].type;
    if (!to_space) {
        deep = call->out[0].type;
        flat = call->in[0].type;
    }
    size_t size = tc_dtypes[deep->dtype].bytes;
    const char *in = call->in[0].data;
    char *out = call->out[0].data;
    int64_t h = deep->dim[deep->rank - 2], w = deep->dim[deep->rank - 1];
    int64_t plane = h * w * f * f, planes = plane ? tc_type_count(flat) / plane : 0, at = 0;
    for (int64_t p = 0; p < planes; p++)
        for (int64_t i = 0; i < f; i++)
            for (int64_t j = 0; j < f; j++)
                for (int64_t y = 0; y < h; y++)
                    for (int64_t x = 0; x < w; x++, at++) {
                        int64_t place = (p * h * f + y * f + i) * w * f + x * f + j;
                        memcpy(out + (size_t)(to_space ? place : at) * size,
                               in + (size_t)(to_space ? at : place) * size, size);
                    }
}

void ti_num_pixel_shuffle(tc_call *call) { tiles(call, true); }
void ti_num_pixel_unshuffle(tc_call *call) { tiles(call, false); }

/* x: [n, groups, c / groups, ...]  ->  [n, c / groups, groups, ...] */
void ti_num_channel_shuffle(tc_call *call)
{
    int64_t groups = ((const tc_attr_factor *)call->attr)->factor;
    const tc_type *t = call->in[0].type;
    int64_t each = t->dim[1] / groups, inner = 1;
    for (int i = 2; i < t->rank; i++)
        inner *= t->dim[i];
    size_t size = (size_t)inner * tc_dtypes[t->dtype].bytes;
    const char *in = call->in[0].data;
    char *out = call->out[0].data;
    for (int64_t n = 0; n < t->dim[0]; n++)
        for (int64_t c = 0; c < each; c++)
            for (int64_t g = 0; g < groups; g++, out += size)
                memcpy(out, in + (size_t)((n * groups + g) * each + c) * size, size);
}
