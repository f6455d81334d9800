/* SPDX-License-Identifier: Apache-2.0 */
/* sound.c -- WAV files of every kind that is read, as numbers from -1 to 1; and files that are
 * neither sounds nor pictures, or only begin as one. */
#include "check.h"

#include "wire/picture.h"

/* kind: 1 PCM, 3 float, 0xfffe: the kind stands in a longer header. */
static tc_bytes wav(tc_arena *arena, uint16_t kind, uint16_t channels, uint16_t bits,
                    const void *data, size_t size)
{
    tc_buf b;
    ti_buf_init(&b, arena);
    uint32_t n = kind == 0xfffe ? 40 : 16;
    ti_buf_text(&b, "RIFF");
    ti_buf_u32(&b, 0);
    ti_buf_text(&b, "WAVEjunk");
    ti_buf_u32(&b, 3); /* chunks of other people, odd ones with a byte behind */
    ti_buf_text(&b, "abc");
    ti_buf_u8(&b, 0);
    ti_buf_text(&b, "fmt ");
    ti_buf_u32(&b, n);
    ti_buf_u16(&b, kind);
    ti_buf_u16(&b, channels);
    ti_buf_u32(&b, 16000);
    ti_buf_zeros(&b, 6);
    ti_buf_u16(&b, bits);
    if (n == 40) {
        ti_buf_zeros(&b, 8);
        ti_buf_u16(&b, 1);
        ti_buf_zeros(&b, 14);
    }
    ti_buf_text(&b, "data");
    ti_buf_u32(&b, (uint32_t)size);
    ti_buf_put(&b, data, size);
    return (tc_bytes){b.data, b.size};
}

static const tc_loc here = {.file = "t.wav"};

static bool hears(tc_ctx *ctx, tc_bytes file, float first, float second)
{
    tc_sound s;
    return ti_sound_decode(ctx, &ctx->arena, &here, file, &s) == TC_OK && s.n == 2 &&
           s.rate == 16000 && s.value[0] == first && s.value[1] == second;
}

static void test_kinds(tc_ctx *ctx)
{
    static const float floats[] = {0.25f, -1};
    tc_arena *a = &ctx->arena;
    CHECK(hears(ctx, wav(a, 1, 1, 8, "\xc0\x00", 2), 0.5f, -1));
    CHECK(hears(ctx, wav(a, 1, 1, 16, "\x00\x40\x00\x80", 4), 0.5f, -1));
    CHECK(hears(ctx, wav(a, 1, 1, 24, "\x00\x00\x40\x00\x00\x80", 6), 0.5f, -1));
    CHECK(hears(ctx, wav(a, 1, 1, 32, "\x00\x00\x00\x40\x00\x00\x00\x80", 8), 0.5f, -1));
    CHECK(hears(ctx, wav(a, 3, 1, 32, floats, sizeof floats), 0.25f, -1));
    CHECK(hears(ctx, wav(a, 0xfffe, 1, 16, "\x00\x40\x00\x80", 4), 0.5f, -1));
    /* two channels are their mean; half a moment at the end is none */
    CHECK(hears(ctx, wav(a, 1, 2, 8, "\xc0\x80\x00\x00\x12", 5), 0.25f, -1));
}

static bool refused(tc_ctx *ctx, tc_status status, const char *words)
{
    const char *said = tc_diagnostics(ctx);
    return status == TC_BAD_MODEL && strstr(said, words);
}

static void test_broken(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_arena *a = &ctx->arena;
    tc_sound s;
    tc_picture p;
    CHECK(refused(ctx, ti_sound_decode(ctx, a, &here, (tc_bytes){(const uint8_t *)"RIFX", 4}, &s),
                  "it is not a WAV file"));
    CHECK(refused(ctx, ti_sound_decode(ctx, a, &here, wav(a, 1, 1, 12, "", 0), &s),
                  "neither PCM of 8, 16, 24 or 32 bits"));
    CHECK(refused(ctx, ti_sound_decode(ctx, a, &here, wav(a, 1, 0, 16, "", 0), &s),
                  "neither PCM of 8, 16, 24 or 32 bits"));
    CHECK(refused(ctx,
                  ti_picture_decode(ctx, a, &here, (tc_bytes){(const uint8_t *)"GIF89a", 6}, &p),
                  "neither PNG nor JPEG"));
    static const uint8_t jpeg[] = {0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 2};
    CHECK(refused(ctx, ti_picture_decode(ctx, a, &here, (tc_bytes){jpeg, sizeof jpeg}, &p),
                  "the image cannot be read"));
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13};
    CHECK(refused(ctx, ti_picture_decode(ctx, a, &here, (tc_bytes){png, sizeof png}, &p),
                  "the file ends too early"));
    tc_ctx_free(ctx);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_kinds(ctx);
    tc_ctx_free(ctx);
    test_broken();
    return check_done();
}
