/* SPDX-License-Identifier: Apache-2.0 */
/* npu-weights.c -- the weights of every convolution of a stream, decoded, and encoded by us.
 *
 *    npu-weights STREAM DIR       writes DIR/N.npy, int16[o, kh, kw, i], for the N-th CONV or
 *                                 DEPTHWISE with a weight stream
 *    npu-weights --encode STREAM  how many bytes each is there, how many by our encoder in the same
 *                                 form, and in the smaller one; values a second of processor
 *                                 time.  1 where one is larger or does not come back
 *
 * STREAM: X_vela.npz, or what `tosac compile --emit stream` writes.  It is run (on whatever stands in
 * memory, so that weights that a DMA brings are there); there is a line for each. */
#include <stdio.h>
#include <time.h>

#include "npu/npu_exec.h"
#include "npu/npu_weights.h"
#include "npu/weight_encode.h"
#include "wire/file.h"
#include "wire/npy.h"

static tc_status write_array(tc_ctx *ctx, const char *path, const tc_npu_weight_shape *s,
                             const int16_t *v)
{
    int64_t dim[] = {s->o, s->kh, s->kw, s->i};
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_npy_header(&out, "<i2", 4, dim);
    ti_buf_put(&out, v, (size_t)(dim[0] * dim[1] * dim[2] * dim[3]) * sizeof *v);
    return ti_file_write(ctx, path, (tc_bytes){out.data, out.size});
}

/* One operation's weights, as the stream has them. */
typedef struct layer {
    const tc_npu_machine *machine;
    const tc_npu_op *op;
    tc_npu_weight_shape shape;
    int16_t *w;
    size_t n, bytes;
    tc_bytes stream[TC_NPU_CORES];
} layer;

static tc_status decode(tc_ctx *ctx, tc_npu_exec *x, const tc_npu_program *p, const tc_npu_op *op,
                        layer *out)
{
    tc_npu_weight_shape s = ti_npu_weight_shape_of(op);
    tc_npu_memory m = ti_npu_exec_memory(x, op->weights.region);
    size_t n = (size_t)s.o * (size_t)s.kh * (size_t)s.kw * (size_t)s.i;
    *out = (layer){.machine = p->machine, .op = op, .shape = s, .n = n};
    out->w = ti_arena_raw(&ctx->arena, n * sizeof *out->w);
    for (int c = 0; c < op->cores; c++) {
        out->stream[c] = (tc_bytes){m.data + op->weights.base[c], (size_t)op->weights.bytes[c]};
        out->bytes += out->stream[c].size;
    }
    const char *wrong = ti_npu_weights_decode(&ctx->arena, p->machine, op, out->stream, out->w);
    return wrong ? ti_error(ctx, NULL, TC_E_FORMAT, "word %zu: %s", op->at, wrong) : TC_OK;
}

static void print(const layer *l, const char *name)
{
    const tc_npu_weight_shape *s = &l->shape;
    const tc_npu_op *op = l->op;
    printf("%s %d %d %d %d %s %s%s %zu bytes", name, s->o, s->kh, s->kw, s->i,
           s->depthwise             ? "depthwise"
           : op->window.part_kernel ? "part-kernel"
                                    : "depth-first",
           op->weights.fast ? "fixed" : "standard", op->weights.sparse ? " sparse" : "", l->bytes);
}

static tc_status dump(tc_ctx *ctx, const layer *l, const char *path)
{
    print(l, path);
    printf("\n");
    return write_array(ctx, path, &l->shape, l->w);
}

/* ---- encoded again ---- */

/* By form: standard, fixed. */
typedef struct sums {
    size_t layers, equal, larger, there, same, smaller, values;
    double seconds;
} sums;

static bool comes_back(tc_ctx *ctx, const layer *l, const tc_npu_encoded *e)
{
    tc_npu_op op = *l->op;
    int16_t *w = ti_arena_raw(&ctx->arena, l->n * sizeof *w);
    op.weights.fast = e->fixed;
    return !ti_npu_weights_decode(&ctx->arena, l->machine, &op, e->stream, w) &&
           !memcmp(w, l->w, l->n * sizeof *w);
}

static bool same_bytes(const layer *l, const tc_npu_encoded *e)
{
    for (int c = 0; c < TC_NPU_CORES; c++)
        if (l->stream[c].size != e->stream[c].size ||
            (e->stream[c].size &&
             memcmp(l->stream[c].data, e->stream[c].data, e->stream[c].size) != 0))
            return false;
    return true;
}

static tc_status encode(tc_ctx *ctx, const layer *l, sums *sum)
{
    bool fixed = l->op->weights.fast;
    tc_npu_encoded same, small;
    clock_t begin = clock();
    const char *wrong =
        ti_npu_weights_encode(&ctx->arena, &ctx->scratch, l->machine, l->op, l->w,
                              fixed ? TC_WEIGHTS_FIXED : TC_WEIGHTS_STANDARD, &same);
    sum[fixed].seconds += (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (!wrong)
        wrong = ti_npu_weights_encode(&ctx->arena, &ctx->scratch, l->machine, l->op, l->w,
                                      TC_WEIGHTS_SMALLEST, &small);
    if (!wrong && !(comes_back(ctx, l, &same) && comes_back(ctx, l, &small)))
        wrong = "the weights come back differently";
    if (wrong)
        return ti_error(ctx, NULL, TC_E_FORMAT, "word %zu: %s", l->op->at, wrong);
    printf(", ours %zu, smallest %zu, %zu values%s\n", same.bytes, small.bytes, same.values,
           same.bytes > l->bytes ? ", larger" : "");
    sum[fixed].layers++;
    sum[fixed].equal += same_bytes(l, &same);
    sum[fixed].larger += same.bytes > l->bytes;
    sum[fixed].there += l->bytes;
    sum[fixed].same += same.bytes;
    sum[fixed].smaller += small.bytes;
    sum[fixed].values += same.values;
    return TC_OK;
}

static tc_status print_sums(const sums *sum)
{
    static const char *const names[] = {"standard", "fixed"};
    for (int f = 0; f < 2; f++)
        if (sum[f].layers)
            printf("%s: %zu layers, %zu equal, %zu larger; %zu bytes, ours %zu (%+.2f %%), "
                   "smallest %zu (%+.2f %%); %zu values, %.1f M a second\n",
                   names[f], sum[f].layers, sum[f].equal, sum[f].larger, sum[f].there, sum[f].same,
                   100.0 * (double)sum[f].same / (double)sum[f].there - 100, sum[f].smaller,
                   100.0 * (double)sum[f].smaller / (double)sum[f].there - 100, sum[f].values,
                   1e-6 * (double)sum[f].values / sum[f].seconds);
    return sum[0].larger || sum[1].larger ? TC_BAD_MODEL : TC_OK;
}

/* folder NULL: encode. */
static tc_status all(tc_ctx *ctx, const char *file, const char *folder)
{
    tc_bytes bytes;
    tc_npu_program p;
    tc_npu_op op;
    const char *error;
    layer l;
    sums sum[2] = {{0}};
    int n = 0;
    TC_TRY(ti_file_read(ctx, file, &bytes));
    if (ti_npu_looks_like_backend(bytes))
        TC_TRY(ti_npu_read_backend(ctx, NULL, bytes, &p));
    else
        TC_TRY(ti_npu_read_npz(ctx, file, bytes, &p));
    tc_npu_exec *x = ti_npu_exec_new(&ctx->arena, &p, &error);
    if (!x)
        return ti_error(ctx, NULL, TC_E_TOO_LARGE, "%s", error);
    ti_npu_exec_begin(x);
    while (ti_npu_exec_step(x, &op)) {
        bool weighs =
            op.kind == TC_NPU_KIND_DEPTHWISE || (op.kind == TC_NPU_KIND_CONV && !op.weights_ifm2);
        if (!weighs)
            continue;
        TC_TRY(decode(ctx, x, &p, &op, &l));
        if (folder)
            TC_TRY(dump(ctx, &l, ti_text_format(&ctx->arena, "%s/%d.npy", folder, n++)));
        else {
            print(&l, ti_text_format(&ctx->arena, "%d", n++));
            TC_TRY(encode(ctx, &l, sum));
        }
    }
    error = ti_npu_exec_error(x);
    if (error)
        return ti_error(ctx, NULL, TC_E_FORMAT, "%s", error);
    return folder ? TC_OK : print_sums(sum);
}

int main(int n, char **arg)
{
    if (n != 3) {
        fprintf(stderr, "npu-weights STREAM DIR, npu-weights --encode STREAM\n");
        return TC_USAGE;
    }
    tc_ctx *ctx = tc_ctx_new();
    bool again = strcmp(arg[1], "--encode") == 0;
    tc_status status = again ? all(ctx, arg[2], NULL) : all(ctx, arg[1], arg[2]);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return (int)status;
}
