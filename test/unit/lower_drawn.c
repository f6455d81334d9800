/* SPDX-License-Identifier: Apache-2.0 */
/* lower_drawn.c -- convolutions, pools, reductions and resampling of drawn shapes and attributes as TOSA, beside the
 * typed form: extents, kernels and strides that no model asks for. */
#include "lower_check.h"

/* What is drawn for, and the element types that it takes.  Of 16 bits an Ethos-U has forms between here and its
 * streams that are no TOSA yet. */
static const struct {
    const char *name;
    bool wide, real; /* i16; f32, and nothing else */
} targets[] = {{"TOSA-1.0+INT", false, false},  {"TOSA-1.0+INT+int16", true, false},
               {"ethos-u55-128", false, false}, {"ethos-u85-256", false, false},
               {"TOSA-1.0+FP", false, true}};

typedef struct drawn {
    const char *target;
    const char *x, *w, *y; /* element types */
    double within;
} drawn;

static uint32_t seed = 1;

static int64_t number(int64_t least, int64_t most)
{
    return least + (int64_t)lower_dice(&seed, (uint32_t)(most - least + 1));
}
static bool chance(uint32_t n) { return lower_dice(&seed, n) == 0; }

static drawn draw_types(void)
{
    size_t i = lower_dice(&seed, TC_COUNT(targets));
    bool wide = targets[i].wide && chance(3);
    const char *type = targets[i].real ? "f32" : wide ? "i16" : "i8";
    return (drawn){targets[i].name, type, targets[i].real ? "f32" : "i8", type, targets[i].real ? 2e-5 : wide ? 2 : 1};
}

/* "i8[2,3] q(0.05:-3)": the zero point is 0 of i16. */
static const char *typed(char *out, size_t room, const char *type, int rank, const int64_t *dim, double scale, int zero)
{
    size_t n = (size_t)snprintf(out, room, "%s[", type);
    for (int i = 0; i < rank; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%" PRId64, i ? "," : "", dim[i]);
    n += (size_t)snprintf(out + n, room - n, "]");
    if (type[0] == 'i')
        snprintf(out + n, room - n, " q(%.9g:%d)", strcmp(type, "i16") == 0 ? scale / 256 : scale,
                 strcmp(type, "i16") == 0 ? 0 : zero);
    return out;
}

static const char *listed(char *out, size_t room, int n, const int64_t *v)
{
    size_t at = (size_t)snprintf(out, room, "[");
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, room - at, "%s%" PRId64, i ? "," : "", v[i]);
    snprintf(out + at, room - at, "]");
    return out;
}

static void check_drawn(const drawn *d, const char *text)
{
    bool good = lower_agrees(d->target, d->within, text);
    if (!good)
        fprintf(stderr, "for %s:\n%s", d->target, text);
    CHECK(good);
}

typedef struct windows {
    int axes;
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[6];
    char lists[4][64]; /* kernel, stride, pad, dilation */
} windows;

/* most: of a kernel's extent. */
static windows draw_windows(int axes, int64_t most, bool dilates)
{
    windows w = {.axes = axes};
    for (int i = 0; i < axes; i++) {
        w.kernel[i] = chance(6) ? number(1, 2 * most) : number(1, most);
        w.stride[i] = chance(6) ? number(1, 9) : number(1, 4);
        w.dilation[i] = dilates && chance(4) ? number(1, 3) : 1;
        int64_t span = (w.kernel[i] - 1) * w.dilation[i] + 1;
        for (int k = 0; k < 2; k++)
            w.pad[2 * i + k] = chance(2) ? 0 : number(0, span / 2);
        int64_t least = span - w.pad[2 * i] - w.pad[2 * i + 1];
        w.in[i] = number(least > 1 ? least : 1, least + 4 * w.stride[i] + 3);
        w.out[i] = (w.in[i] + w.pad[2 * i] + w.pad[2 * i + 1] - span) / w.stride[i] + 1;
    }
    listed(w.lists[0], sizeof w.lists[0], axes, w.kernel);
    listed(w.lists[1], sizeof w.lists[1], axes, w.stride);
    listed(w.lists[2], sizeof w.lists[2], 2 * axes, w.pad);
    listed(w.lists[3], sizeof w.lists[3], axes, w.dilation);
    return w;
}

static void convolution(void)
{
    drawn d = draw_types();
    int axes = chance(4) ? (int)number(1, 3) : 2;
    windows w = draw_windows(axes, axes == 3 ? 3 : 7, true);
    int64_t channels = number(1, 6), groups = chance(3) ? channels : channels % 2 == 0 && chance(3) ? 2 : 1;
    int64_t outputs = groups * number(1, 3), terms = channels / groups;
    int64_t x[5] = {number(1, 2), channels}, k[5] = {outputs, channels / groups}, y[5] = {x[0], outputs};
    for (int i = 0; i < axes; i++) {
        x[2 + i] = w.in[i];
        k[2 + i] = w.kernel[i];
        y[2 + i] = w.out[i];
        terms *= w.kernel[i];
    }
    char a[128], b[128], c[128], text[1200], bias[64] = "";
    if (chance(2))
        snprintf(bias, sizeof bias, "  %%2 = const ? : f32[%" PRId64 "]\n", outputs);
    snprintf(text, sizeof text,
             "graph @t(%%0: %s) {\n  %%1 = const ? : %s\n%s  %%3 = conv %%0, %%1, %s stride=%s pad=%s dilation=%s groups=%" PRId64
             " : %s\n  return %%3\n}\n",
             typed(a, sizeof a, d.x, axes + 2, x, 0.05, (int)number(-128, 127)),
             typed(b, sizeof b, d.w, axes + 2, k, 0.02, chance(4) ? (int)number(-20, 20) : 0), bias, *bias ? "%2" : "none",
             w.lists[1], w.lists[2], w.lists[3], groups, typed(c, sizeof c, d.y, axes + 2, y, 0.05 * sqrt((double)terms), (int)number(-128, 127)));
    check_drawn(&d, text);
}

static void pool(void)
{
    drawn d = draw_types();
    windows w = draw_windows(chance(4) ? 1 : 2, 5, false);
    bool largest = chance(2), same = true;
    int64_t x[4] = {number(1, 2), number(1, 5)}, y[4] = {x[0], x[1]};
    int zero = (int)number(-128, 127);
    for (int i = 0; i < w.axes; i++) {
        int64_t half = w.kernel[i] / 2; /* of both sides, as PyTorch has it */
        w.pad[i] = chance(2) ? 0 : number(0, half);
        w.in[i] = w.in[i] > w.kernel[i] ? w.in[i] : w.kernel[i];
        x[2 + i] = w.in[i];
        y[2 + i] = (w.in[i] + 2 * w.pad[i] - w.kernel[i]) / w.stride[i] + 1;
        same = same && w.pad[i] == 0;
    }
    listed(w.lists[2], sizeof w.lists[2], w.axes, w.pad);
    char a[128], c[128], more[128], text[1200];
    if (largest)
        snprintf(more, sizeof more, "dilation=%s ceil=false", w.lists[3]);
    else
        snprintf(more, sizeof more, "ceil=false include_pad=%s divisor=%d", chance(2) ? "true" : "false", chance(4) ? 3 : 0);
    bool moved = !largest && chance(2);
    snprintf(text, sizeof text, "graph @t(%%0: %s) {\n  %%1 = %s %%0 kernel=%s stride=%s pad=%s %s : %s\n  return %%1\n}\n",
             typed(a, sizeof a, d.x, w.axes + 2, x, 0.05, zero), largest ? "max_pool" : "avg_pool", w.lists[0], w.lists[1], w.lists[2],
             more, typed(c, sizeof c, d.y, w.axes + 2, y, moved ? 0.04 : 0.05, moved ? 7 : zero));
    check_drawn(&d, text);
}

static void reduction(void)
{
    static const char *const op[] = {"sum", "mean", "amax", "amin"};
    static const int64_t long_ones[] = {63, 64, 65, 129, 255, 256, 257, 513};
    drawn d = draw_types();
    int rank = (int)number(1, 5), n = 0;
    int64_t x[5], y[5], axes[5], reduced = 1;
    bool keep = chance(2);
    int kept = 0, lengthened = chance(3) ? (int)number(0, rank - 1) : -1;
    for (int i = 0; i < rank; i++) {
        x[i] = i == lengthened ? long_ones[lower_dice(&seed, TC_COUNT(long_ones))] : number(1, 6);
        if (chance(2) || (i == rank - 1 && !n)) {
            axes[n++] = i;
            reduced *= x[i];
            if (keep)
                y[kept++] = 1;
        } else
            y[kept++] = x[i];
    }
    char a[128], c[128], list[64], text[1200];
    size_t which = lower_dice(&seed, TC_COUNT(op));
    double scale = 0.05 * (which == 0 ? sqrt((double)reduced) : 1);
    lower_any_size = d.x[1] == '8' && chance(3) ? 4096 : 0;
    snprintf(text, sizeof text, "graph @t(%%0: %s) {\n  %%1 = %s %%0 axes=%s keepdim=%s : %s\n  return %%1\n}\n",
             typed(a, sizeof a, d.x, rank, x, 0.05, (int)number(-128, 127)), op[which], listed(list, sizeof list, n, axes),
             keep ? "true" : "false", typed(c, sizeof c, d.y, kept, y, scale, (int)number(-128, 127)));
    check_drawn(&d, text);
    lower_any_size = 0;
}

static void resampling(void)
{
    static const char *const op[] = {"upsample_nearest", "upsample_nearest_exact", "upsample_linear", "upsample_cubic"};
    drawn d = draw_types();
    size_t which = lower_dice(&seed, TC_COUNT(op));
    int axes = which < 3 && chance(4) ? 1 : 2;
    int64_t x[4] = {1, number(1, 4)}, y[4] = {1, x[1]};
    int zero = (int)number(-128, 127);
    for (int i = 2; i < 2 + axes; i++) {
        x[i] = number(1, 9);
        y[i] = chance(2) ? x[i] * number(1, 4) : number(1, 20);
    }
    char a[128], c[128], list[64], text[1200];
    snprintf(text, sizeof text, "graph @t(%%0: %s) {\n  %%1 = %s %%0 size=%s scale=[] align_corners=%s : %s\n  return %%1\n}\n",
             typed(a, sizeof a, d.x, 2 + axes, x, 0.05, zero), op[which], listed(list, sizeof list, axes, y + 2),
             which >= 2 && chance(3) ? "true" : "false", typed(c, sizeof c, d.y, 2 + axes, y, which >= 2 ? 0.06 : 0.05, which >= 2 ? 5 : zero));
    check_drawn(&d, text);
}

int main(void)
{
    for (int i = 0; i < 300; i++)
        convolution();
    for (int i = 0; i < 150; i++)
        pool();
    for (int i = 0; i < 250; i++)
        reduction();
    for (int i = 0; i < 300; i++)
        resampling();
    return check_done();
}
