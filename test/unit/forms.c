/* SPDX-License-Identifier: Apache-2.0 */
/* forms.c -- other forms of an operation (codegen/form.def): taken where they cost less, with
 * the right numbers, left where not. */
#include "codegen_case.h"

typedef struct shape {
    int h, w, c;
} shape;

/* A convolution, and back to 8 bits; gives its value. */
static int layer(text *t, int x, shape in, int taps, int stride, int before, int channels)
{
    char weights[64], to[64], n[16];
    int h = (in.h - 1 + before - (taps - 1)) / stride + 1,
        w = (in.w - 1 + before - (taps - 1)) / stride + 1;
    snprintf(weights, sizeof weights, "%d,%d,%d,%d", channels, taps, taps, in.c);
    snprintf(to, sizeof to, "1,%d,%d,%d", h, w, channels);
    snprintf(n, sizeof n, "%d", channels);
    int k = constant(t, "i8", channels * taps * taps * in.c, weights, 0),
        b = constant(t, "i32", channels, n, 0), p = constant(t, "i8", 1, "1", 3), q = zero(t, "i8");
    SAY(t, "  %%%d = tosa.conv2d %%%d, %%%d, %%%d, %%%d, %%%d pad=[%d,0,%d,0] stride=[%d,%d] "
           "dilation=[1,1] local_bound=false acc_type=i32 : i32[%s]\n",
        t->value + 1, x, k, b, p, q, before, before, stride, stride, to);
    return rescale(t, ++t->value, "i32", "i8", to, 40);
}

static int image(text *t)
{
    SAY(t, "  %%%d = tosa.transpose %%0 perms=[0,2,3,1] : i8[1,64,64,3]\n", t->value + 1);
    return ++t->value;
}

static text *planes(void)
{
    text *t = begin("%0: i8[1,3,64,64]", 1);
    layer(t, image(t), (shape){64, 64, 3}, 3, 2, 1, 16);
    return t;
}

static text *planes_alone(void)
{
    text *t = begin("%0: i8[1,3,64,64]", 1);
    int x = image(t);
    SAY(t, "  %%%d = tosa.clamp %%%d min_val=-4 max_val=100 nan_mode=propagate : i8[1,64,64,3]\n",
        t->value + 1, x);
    t->value++;
    return t;
}

/* From 32 channels to n. */
static text *pairs(int n)
{
    text *t = begin("%0: i8[1,64,64,32]", 1);
    layer(t, 0, (shape){64, 64, 32}, 1, 1, 0, n);
    return t;
}

static text *pairs_to_16(void)
{
    return pairs(16);
}

static text *pairs_to_8(void)
{
    return pairs(8);
}

/* Scores of a few queries, over keys as they are stored. */
static text *product(int rows)
{
    char inputs[64], to[64];
    snprintf(inputs, sizeof inputs, "%%0: i8[4,%d,32], %%1: i8[4,128,32]", rows);
    snprintf(to, sizeof to, "4,%d,128", rows);
    text *t = begin(inputs, 2);
    SAY(t, "  %%2 = tosa.transpose %%1 perms=[0,2,1] : i8[4,32,128]\n");
    t->value++;
    int p = constant(t, "i8", 1, "1", 3), q = constant(t, "i8", 1, "1", -5);
    SAY(t, "  %%%d = tosa.matmul %%0, %%2, %%%d, %%%d : i32[%s]\n", t->value + 1, p, q, to);
    t->value++;
    rescale(t, t->value, "i32", "i8", to, 40);
    return t;
}

static text *one_row(void)
{
    return product(1);
}

static text *three_rows(void)
{
    return product(3);
}

/* A graph of one value of 8 bits. */
static text *begin_of(const char *of)
{
    char input[64];
    snprintf(input, sizeof input, "%%0: i8[%s]", of);
    return begin(input, 1);
}

static text *largest(const char *of, const char *to)
{
    text *t = begin_of(of);
    SAY(t, "  %%1 = tosa.reduce_max %%0 axis=3 nan_mode=propagate : i8[%s]\n", to);
    t->value++;
    return t;
}

static text *largest_of_21(void)
{
    return largest("1,48,48,21", "1,48,48,1");
}

static text *largest_of_few(void)
{
    return largest("1,1,1,4", "1,1,1,1");
}

static text *largest_of_200(void)
{
    return largest("1,8,24,200", "1,8,24,1");
}

/* Squares of channels are added up. */
static text *squares(const char *of, const char *to)
{
    text *t = begin_of(of);
    int shift = zero(t, "i8");
    SAY(t, "  %%%d = tosa.mul %%0, %%0, %%%d : i32[%s]\n", t->value + 1, shift, of);
    t->value++;
    SAY(t, "  %%%d = tosa.reduce_sum %%%d axis=3 : i32[%s]\n", t->value + 1, t->value, to);
    t->value++;
    return t;
}

static text *squares_of_12_rows(void)
{
    return squares("1,12,12,64", "1,12,12,1");
}

static text *squares_of_few(void)
{
    return squares("1,12,12,8", "1,12,12,1");
}

static text *squares_of_many_rows(void)
{
    return squares("1,96,12,80", "1,96,12,1");
}

/* Rows are added up. */
static text *row_sums(void)
{
    text *t = begin("%0: i8[1,12,40]", 1);
    int x = rescale_by(t, 0, "i8", "i32", "1,12,40", 1 << 30, 30);
    SAY(t, "  %%%d = tosa.reduce_sum %%%d axis=1 : i32[1,1,40]\n", t->value + 1, x);
    t->value++;
    rescale(t, t->value, "i32", "i8", "1,1,40", 34);
    return t;
}

/* Twice as large; the last row and column repeat the border. */
static text *enlarged(void)
{
    text *t = begin("%0: i8[1,24,24,16]", 1);
    SAY(t, "  %%1 = const [2, 1, 2, 1] : shape[4]\n  %%2 = const [0, 0] : shape[2]\n"
           "  %%3 = const [1, 1] : shape[2]\n"
           "  %%4 = tosa.resize %%0, %%1, %%2, %%3 mode=bilinear : i32[1,48,48,16]\n");
    t->value = 4;
    rescale(t, 4, "i32", "i8", "1,48,48,16", 33);
    return t;
}

/* k times as large, as the runtime of TensorFlow Lite rounds: halves away from zero. */
static text *enlarged_as_mean(int k)
{
    char to[32];
    text *t = begin("%0: i8[1,12,12,16]", 1);
    snprintf(to, sizeof to, "1,%d,%d,16", 12 * k, 12 * k);
    SAY(t, "  %%1 = const [%d, 1, %d, 1] : shape[4]\n  %%2 = const [0, 0] : shape[2]\n"
           "  %%3 = const [%d, %d] : shape[2]\n"
           "  %%4 = tosa.resize %%0, %%1, %%2, %%3 mode=bilinear : i32[%s]\n", k, k, k - 1, k - 1, to);
    t->value = 4;
    rescale_by(t, 4, "i32", "i8", to, (1 << 30) + 1, k == 2 ? 32 : 34);
    return t;
}

static text *twice_as_mean(void)
{
    return enlarged_as_mean(2);
}

static text *four_times_as_mean(void)
{
    return enlarged_as_mean(4);
}

/* From corner to corner, the nearest pixel. */
static text *nearest_corners(void)
{
    text *t = begin("%0: i8[1,4,4,8]", 1);
    SAY(t, "  %%1 = const [8, 2, 8, 2] : shape[4]\n  %%2 = const [0, 0] : shape[2]\n"
           "  %%3 = tosa.resize %%0, %%1, %%2, %%2 mode=nearest : i8[1,13,13,8]\n");
    t->value = 3;
    return t;
}

/* A transposed convolution of stride 2 x 2. */
static text *transposed(void)
{
    text *t = begin("%0: i8[1,8,8,8]", 1);
    int k = constant(t, "i8", 16 * 9 * 8, "16,3,3,8", 0), b = constant(t, "i32", 16, "16", 0),
        p = constant(t, "i8", 1, "1", 3), q = zero(t, "i8");
    SAY(t, "  %%%d = tosa.transpose_conv2d %%0, %%%d, %%%d, %%%d, %%%d out_pad=[0,-1,0,-1] "
           "stride=[2,2] local_bound=false acc_type=i32 : i32[1,16,16,16]\n",
        t->value + 1, k, b, p, q);
    rescale(t, ++t->value, "i32", "i8", "1,16,16,16", 40);
    return t;
}

static text *parts(void)
{
    text *t = begin("%0: i8[1,2], %1: i8[1,2], %2: i8[1,3], %3: i8[1,2]", 4);
    SAY(t, "  %%4 = tosa.concat %%0, %%1, %%2, %%3, %%0, %%1, %%2, %%3, %%0, %%1 axis=1 : "
           "i8[1,22]\n");
    t->value++;
    return t;
}

typedef enum wanted { NONE, LEFT, TAKEN } wanted;

static const struct {
    const char *name, *form;
    text *(*graph)(void);
    const char *machine, *mode;
    wanted wanted;
} rows[] = {
    {"planes", "image-planes", planes, "ethos-u85-256", "Sram_Only", TAKEN},
    {"planes, much", "image-planes", planes, "ethos-u85-2048", "Sram_Only", TAKEN},
    {"planes alone", "image-planes", planes_alone, "ethos-u85-256", "Sram_Only", TAKEN},
    {"pairs", "pixel-pairs", pairs_to_8, "ethos-u85-256", "Sram_Only", TAKEN},
    {"pairs, more channels", "pixel-pairs", pairs_to_16, "ethos-u85-256", "Sram_Only", LEFT},
    {"pairs, U55", "pixel-pairs", pairs_to_16, "ethos-u55-128", "Shared_Sram", LEFT},
    {"one row", "swapped-operands", one_row, "ethos-u85-256", "Sram_Only", TAKEN},
    {"three rows", "swapped-operands", three_rows, "ethos-u85-256", "Sram_Only", LEFT},
    {"rows, U55", "swapped-operands", one_row, "ethos-u55-128", "Shared_Sram", NONE},
    {"parts", "elementwise-copies", parts, "ethos-u85-256", "Sram_Only", LEFT},
    {"parts, U55", "elementwise-copies", parts, "ethos-u55-128", "Shared_Sram", TAKEN},
    {"largest", "halves", largest_of_21, "ethos-u55-128", "Sram_Only", TAKEN},
    {"largest, many", "sixteen-columns", largest_of_200, "ethos-u85-256", "Sram_Only", TAKEN},
    {"largest, many, U55", "sixteen-columns", largest_of_200, "ethos-u55-128", "Sram_Only", LEFT},
    {"largest, not many", "sixteen-columns", largest_of_21, "ethos-u55-128", "Sram_Only", NONE},
    {"squares", "pixel-products", squares_of_12_rows, "ethos-u85-256", "Sram_Only", TAKEN},
    {"squares, few", "pixel-products", squares_of_few, "ethos-u85-256", "Sram_Only", LEFT},
    {"squares, many rows", "pixel-products", squares_of_many_rows, "ethos-u85-256", "Sram_Only", NONE},
    {"squares, U55", "pixel-products", squares_of_12_rows, "ethos-u55-128", "Sram_Only", NONE},
    {"largest, few", "halves", largest_of_few, "ethos-u55-128", "Sram_Only", LEFT},
    {"sums of rows", "window-of-ones", row_sums, "ethos-u55-128", "Sram_Only", TAKEN},
    {"enlarged", "border-apart", enlarged, "ethos-u55-128", "Sram_Only", TAKEN},
    {"enlarged, from DRAM", "border-apart", enlarged, "ethos-u65-256", "Dedicated_Sram", LEFT},
    {"twice as means", "upscaled", twice_as_mean, "ethos-u65-256", "Dedicated_Sram", TAKEN},
    {"4 times as means, U55", "upscaled", four_times_as_mean, "ethos-u55-128", "Sram_Only", LEFT},
    {"other means", "upscaled", enlarged, "ethos-u65-256", "Dedicated_Sram", NONE},
    {"corners", "upscaled", nearest_corners, "ethos-u65-256", "Dedicated_Sram", TAKEN},
    {"transposed, from DRAM", "zeros-between", transposed, "ethos-u65-256", "Dedicated_Sram", TAKEN},
    {"transposed", "zeros-between", transposed, "ethos-u55-128", "Sram_Only", LEFT},
    {"transposed, U85", "zeros-between", transposed, "ethos-u85-256", "Sram_Only", NONE},
    {"parts, two memories", "elementwise-copies", parts, "ethos-u65-256", "Dedicated_Sram", TAKEN},
};

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        text *t = rows[i].graph();
        end(t);
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, rows[i].machine, rows[i].mode, (tc_codegen_options){0});
        wanted found = NONE;
        CHECK_ROW(rows[i].name, m.equal);
        for (size_t k = 0; k < m.r.n_form; k++) {
            const tc_codegen_form *f = &m.r.form[k];
            if (!strcmp(f->name, rows[i].form))
                found = f->taken ? TAKEN : found > LEFT ? found : LEFT;
            CHECK_ROW(rows[i].name, f->without > 0 && f->with > 0 && f->places > 0);
            CHECK_ROW(rows[i].name, !f->taken || f->with < f->without);
        }
        CHECK_ROW(rows[i].name, found == rows[i].wanted);
        tc_ctx_free(ctx);
        free(t);
    }
    return check_done();
}
