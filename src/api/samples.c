/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c -- calibration data: files, or numbers invented on demand ("random:SEED"). */
#include <stdlib.h>

#include "compile.h"
#include "../num/load.h"
#include "../read/data.h"

enum { INVENTED = 32 }; /* samples of random data */

static tc_status read_file(void *from, size_t k, const tc_tensor *in)
{
    return tc_data_sample(from, k, in);
}

typedef struct invention {
    const tc_graph *g;
    uint64_t seed;
} invention;

/* A well-mixed number of (seed, sample, input, element): the same whatever is asked first. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Floats from -1 to 1; integers 0 and 1, which are good for most indices. */
static tc_status invent(void *from, size_t k, const tc_tensor *in)
{
    const invention *v = from;
    for (size_t i = 0; i < v->g->n_in; i++) {
        int64_t n = tc_type_count(in[i].type);
        bool real = tc_is_float(in[i].type->dtype);
        for (int64_t e = 0; e < n; e++) {
            uint64_t bits = mix(mix(mix(v->seed + k) + i) + (uint64_t)e);
            if (real)
                tc_store_f64(in[i], e, (double)(bits >> 11) * 0x1p-52 - 1);
            else
                tc_store_i64(in[i], e, (int64_t)(bits & 1));
        }
    }
    return TC_OK;
}

tc_status tc_open_samples(tc_ctx *ctx, const tc_graph *g, const char *const *path, size_t n_path,
                          tc_samples *out)
{
    if (n_path == 1 && tc_text_starts(path[0], "random:")) {
        char *end;
        invention *v = tc_new(&ctx->arena, invention);
        *v = (invention){g, strtoull(path[0] + 7, &end, 10)};
        if (!path[0][7] || *end)
            return tc_usage(ctx, "--calib=%s: a number is expected after 'random:'", path[0]);
        *out = (tc_samples){.n = INVENTED, .read = invent, .from = v};
        return TC_OK;
    }
    tc_data *data;
    TC_TRY(tc_read_data(ctx, g, path, n_path, &data));
    *out = (tc_samples){.n = tc_data_samples(data), .read = read_file, .from = data};
    return TC_OK;
}
