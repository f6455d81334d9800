/* SPDX-License-Identifier: Apache-2.0 */
/* image.c -- pixels of Vulkan's formats, and programs whose ports are images: what goes in comes out
 * of a program that changes nothing, code for code, in every format; float and int8, channels first and
 * last; and what is refused. */
#include "graph.h"

#include "lower/images.h"

enum { H = 8, W = 33 };

/* ---- pixels ------------------------------------------------------------------------------------ */

static const tc_vk_format *named(const char *name)
{
    const tc_vk_format *f = ti_vk_format_named(name);
    CHECK_ROW(name, f != NULL);
    return f;
}

static uint32_t put(const char *format, float v)
{
    uint8_t at[16] = {0};
    uint32_t word;
    ti_pixel_put(named(format), &(tc_pixel){{v, 0, 0, 0}, {0}}, at);
    memcpy(&word, at, sizeof word);
    return word;
}

static float get(const char *format, uint32_t word)
{
    uint8_t at[16] = {0};
    memcpy(at, &word, sizeof word);
    return ti_pixel_get(named(format), at).real[0];
}

static void test_pixels(void)
{
    for (uint32_t u = 0; u < 256; u++) {
        CHECK(get("r8_unorm", u) == (float)u / 255.0f && put("r8_unorm", (float)u / 255.0f) == u);
        float s = (float)(int8_t)u / 127.0f;
        CHECK(get("r8_snorm", u) == (s < -1 ? -1 : s) &&
              put("r8_snorm", s) == (u == 128 ? 129 : u));
    }
    for (uint32_t u = 0; u < 65536; u++) {
        CHECK(put("r16_unorm", get("r16_unorm", u)) == u);
        CHECK(put("r16_snorm", get("r16_snorm", u)) == (u == 32768 ? 32769 : u));
    }
    CHECK(put("r8_unorm", NAN) == 0 && put("r8_unorm", -3) == 0 && put("r8_unorm", 3) == 255);
    CHECK(put("r8_snorm", NAN) == 0 && put("r8_snorm", -3) == 0x81 && put("r8_snorm", 3) == 127);
    CHECK(put("r8_unorm", 0.5f / 255) == 0 && put("r8_unorm", 1.5f / 255) == 2);
    CHECK(put("b8g8r8a8_unorm", 1) == 0xff0000 && get("b8g8r8a8_unorm", 0xff0000) == 1);
    CHECK(put("a2b10g10r10_unorm_pack32", 1) == 0x3ff);
    for (uint32_t u = 0; u < 0x7c0; u++) /* floats of 11 bits: 1.0 is 0x3c0 */
        CHECK(put("b10g11r11_ufloat_pack32", get("b10g11r11_ufloat_pack32", u)) == u);
    CHECK(get("b10g11r11_ufloat_pack32", 0x3c0) == 1);
    CHECK(put("b10g11r11_ufloat_pack32", 1 + 0x1p-7f) == 0x3c0);
    CHECK(put("b10g11r11_ufloat_pack32", 1 + 0x3p-7f) == 0x3c2);
    CHECK(put("b10g11r11_ufloat_pack32", -1) == 0 && put("b10g11r11_ufloat_pack32", 1e9f) == 0x7bf);
    CHECK(!ti_vk_format_named("r8") && !ti_vk_format_named("r8_unormal") && !ti_vk_format(1));
    CHECK(ti_vk_format_named("R8_UNORM") == ti_vk_format(9));
}

/* ---- programs ---------------------------------------------------------------------------------- */

static tc_module *parsed(tc_ctx *ctx, const char *text)
{
    tc_module *m;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &m) != TC_OK ||
        ti_infer_missing(ctx, m) != TC_OK || ti_verify(ctx, m) != TC_OK)
        return NULL;
    return m;
}

static size_t shaders_of(const tc_graph *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        n += g->node[k]->op == TC_OP_tosa_shader;
    return n;
}

/* "x" to "y", which is x; quantized so in between where q is not empty. */
static tc_module *program(tc_ctx *ctx, int c, bool last, const char *q)
{
    const char *dims = last ? ti_text_format(&ctx->arena, "[1,%d,%d,%d]", H, W, c)
                            : ti_text_format(&ctx->arena, "[1,%d,%d,%d]", c, H, W);
    const char *t = *q ? ti_text_format(&ctx->arena, "i8%s %s", dims, q)
                       : ti_text_format(&ctx->arena, "f32%s", dims);
    const char *first = *q ? ti_text_format(&ctx->arena, "  %%1 = rescale %%0 : %s\n", t) : "";
    const char *end =
        *q ? ti_text_format(&ctx->arena, "  %%3 \"y\" = rescale %%2 : f32%s\n  return %%3\n}\n",
                            dims)
           : "  return %2\n}\n";
    return parsed(
        ctx,
        ti_text_format(&ctx->arena,
                       "graph @main(%%0 \"x\": f32%s) {\n%s  %%2 \"%s\" = identity %%%d : %s\n%s",
                       dims, first, *q ? "z" : "y", *q ? 1 : 0, t, end));
}

static bool use(tc_ctx *ctx, tc_module *m, const char *in, const char *out)
{
    const char *const text[] = {in, out};
    tc_image_port *port;
    return ti_image_ports_read(ctx, ti_main(m), text, 2, &port) == TC_OK &&
           ti_lower_use_images(ctx, m, port, 2) == TC_OK && ti_verify(ctx, m) == TC_OK;
}

/* Every code of 8 bits, or bits that spread over all codes; no NaN and no infinity. */
static void fill(const tc_vk_format *f, uint8_t *at)
{
    uint32_t seed = 1;
    size_t bytes = ti_pixel_bytes(f);
    for (size_t i = 0; i < H * W * bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        at[i] = (uint8_t)(f->bits == 8 ? i / bytes + 37 * (i % bytes) : seed >> 24);
    }
    for (size_t i = 0; i < H * W; i++, at += bytes) {
        tc_pixel p = ti_pixel_get(f, at);
        for (unsigned k = 0; k < f->n; k++)
            if (!ti_vk_is_whole(f) && !(fabsf(p.real[k]) < 1e6f))
                p.real[k] = 0.25f;
        for (unsigned k = 0; k < f->n; k++) /* what f32 has exactly */
            p.whole[k] = f->bits == 32 ? p.whole[k] >> 8 : p.whole[k];
        ti_pixel_put(f, &p, at);
    }
}

/* Pixel for pixel, with 0, 0, 1 in the components that the tensor lacks; of SNORM the two least codes
 * are one. */
static bool same_image(const tc_vk_format *f, int c, const uint8_t *a, const uint8_t *b)
{
    for (size_t i = 0; i < H * W; i++, a += ti_pixel_bytes(f), b += ti_pixel_bytes(f)) {
        tc_pixel x = ti_pixel_get(f, a), y = ti_pixel_get(f, b);
        for (int k = 0; k < f->n; k++) {
            double want = k >= c              ? k == 3
                          : ti_vk_is_whole(f) ? (double)x.whole[k]
                                              : (double)x.real[k];
            if (want != (ti_vk_is_whole(f) ? (double)y.whole[k] : (double)y.real[k]))
                return false;
        }
    }
    return true;
}

/* x as an image, y as one: shaders beside it, and whether the pixels come out as they went in. */
static bool comes_out(const tc_vk_format *f, int c, bool last, const char *q, size_t shaders)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *layout = last ? "nhwc" : "nchw";
    tc_module *m = program(ctx, c, last, q);
    bool good = m && use(ctx, m, ti_text_format(&ctx->arena, "x=%s:%s", f->name, layout),
                         ti_text_format(&ctx->arena, "y=%s:%s", f->name, layout));
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    else {
        tc_graph *g = ti_main(m);
        tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), out;
        fill(f, in.data);
        good = shaders_of(g) == shaders && ti_value_of(g, g->in[0])->image == f->format &&
               ti_value_of(g, g->out[0])->image == f->format &&
               ti_eval(g, &in, &out, &ctx->arena) == TC_OK && same_image(f, c, in.data, out.data);
        if (!good)
            fprintf(stderr, "%zu shaders; %s", shaders_of(g), tc_diagnostics(ctx));
    }
    tc_ctx_free(ctx);
    return good;
}

static void test_float(void)
{
    for (size_t i = 0; ti_vk_format_at(i); i++) {
        const tc_vk_format *f = ti_vk_format_at(i);
        bool same = f->number == TC_VK_SFLOAT && f->bits == 32; /* the tensor's own bytes */
        if (f->number == TC_VK_UINT && f->bits == 32)
            continue;
        for (int c = 1; c <= f->n; c++) {
            CHECK_ROW(f->name, comes_out(f, c, false, "", 2));
            CHECK_ROW(f->name, comes_out(f, c, true, "", same && c == f->n ? 0 : 2));
        }
    }
}

static void test_codes(void)
{
    static const struct {
        const char *format, *q;
        size_t shaders, last; /* channels first and last */
    } rows[] = {{"r8g8b8a8_unorm", "q(0.00392156862745098:-128)", 2, 2},
                {"r8g8b8a8_snorm", "q(0.007874015748031496:0)", 2, 1}, /* y is written as it is */
                {"r8g8b8a8_sint", "q(0.05:3)", 2, 0},
                {"r8_sint", "q(0.05:3)", 2, 0},
                {"r8_snorm", "q(0.007874015748031496:0)", 2, 1}};
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        const tc_vk_format *f = named(rows[i].format);
        CHECK_ROW(rows[i].format, comes_out(f, f->n, false, rows[i].q, rows[i].shaders));
        CHECK_ROW(rows[i].format, comes_out(f, f->n, true, rows[i].q, rows[i].last));
    }
}

/* Codes of any scale are those that exact arithmetic gives. */
static void test_exact(void)
{
    static const char *const scales[] = {"0.0041:-120", "0.013:5", "0.00390625:-128", "0.001:-7"};
    for (size_t i = 0; i < TC_COUNT(scales); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *m = parsed(
            ctx, ti_text_format(&ctx->arena,
                                "graph @main(%%0 \"x\": f32[1,1,8,33]) {\n  %%1 = rescale %%0 : "
                                "i8[1,1,8,33] q(%s)\n  return %%1\n}\n",
                                scales[i]));
        const char *const text[] = {"x=r8_unorm"};
        tc_image_port *port;
        bool good = m && ti_image_ports_read(ctx, ti_main(m), text, 1, &port) == TC_OK &&
                    ti_lower_use_images(ctx, m, port, 1) == TC_OK;
        CHECK(good);
        tc_graph *g = ti_main(m);
        tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), out;
        const tc_quant *q = ti_type_of(g, g->out[0])->quant;
        fill(ti_vk_format(9), in.data);
        CHECK(ti_eval(g, &in, &out, &ctx->arena) == TC_OK);
        for (int64_t k = 0; k < H * W; k++) {
            double want =
                rint(((const uint8_t *)in.data)[k] / 255.0 / q->scale[0]) + (double)q->zero[0];
            want = want < -128 ? -128 : want > 127 ? 127 : want;
            CHECK_ROW(scales[i], ((const int8_t *)out.data)[k] == want);
        }
        tc_ctx_free(ctx);
    }
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static bool refused(const char *type, const char *image, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m =
        parsed(ctx, ti_text_format(&ctx->arena,
                                   "graph @main(%%0 \"x\": %s) {\n  %%1 = identity %%0 : %s\n"
                                   "  return %%1\n}\n",
                                   type, type));
    tc_image_port port;
    bool good = m && ti_image_port_read(ctx, ti_main(m), image, &port) == TC_USAGE &&
                strstr(tc_diagnostics(ctx), words);
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

static void test_refused(void)
{
    CHECK(refused("f32[1,5,8,8]", "x=r8g8b8a8_unorm", "at most 4 channels, this one 5"));
    CHECK(refused("f32[1,3,8,8]", "x=r8g8_unorm", "3 channels, the format has 2"));
    CHECK(refused("f32[2,3,8,8]", "x=r8g8b8a8_unorm", "one picture, not 2"));
    CHECK(refused("f32[8,8]", "x=r8_unorm", "rank 3 or 4"));
    CHECK(refused("i64[1,3,8,8]", "x=r8g8b8a8_sint", "an image has no i64"));
    CHECK(refused("i32[1,3,8,8]", "x=r8g8b8a8_unorm", "integers need a format of integers"));
    CHECK(refused("f32[1,3,8,8]", "x=r8g8b8a8_srgb", "there is no format 'r8g8b8a8_srgb'"));
    CHECK(refused("f32[1,3,8,8]", "z=r8g8b8a8_unorm",
                  "there is no input or output 'z'; there are x, output_0"));
    CHECK(refused("f32[1,3,8,8]", "x", "expected NAME=FORMAT"));
    CHECK(refused("f32[1,3,8,8]", "x=r8g8b8a8_unorm:chw", "expected :nchw or :nhwc"));
}

int main(void)
{
    test_pixels();
    test_float();
    test_codes();
    test_exact();
    test_refused();
    return check_done();
}
