/* SPDX-License-Identifier: Apache-2.0 */
/* wav.c -- RIFF audio files: "fmt " has the encoding, "data" the samples. */
#include "picture.h"

typedef struct form {
    uint16_t kind, channels, bits; /* kind: 1 PCM, 3 float */
    uint32_t rate;
} form;

static tc_status broken(tc_ctx *ctx, const tc_loc *loc, const char *why)
{
    return ti_error(ctx, loc, TC_E_DATA, "the audio cannot be read: %s", why);
}

static float number(const uint8_t *p, const form *f)
{
    if (f->kind == 3) {
        float v;
        uint32_t bits = ti_le32(p);
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    switch (f->bits) {
    case 8:
        return (float)(p[0] - 128) / 128;
    case 16:
        return (float)(int16_t)ti_le16(p) / 32768;
    case 24:
        return (float)((int32_t)((uint32_t)p[0] << 8 | (uint32_t)p[1] << 16 |
                                 (uint32_t)p[2] << 24) /
                       256) /
               8388608;
    default:
        return (float)((double)(int32_t)ti_le32(p) / 2147483648.0);
    }
}

tc_status ti_sound_decode(tc_ctx *ctx, tc_arena *arena, const tc_loc *loc, tc_bytes file,
                          tc_sound *out)
{
    form f = {0};
    tc_bytes data = {0};
    if (file.size < 12 || memcmp(file.data, "RIFF", 4) != 0 ||
        memcmp(file.data + 8, "WAVE", 4) != 0)
        return broken(ctx, loc, "it is not a WAV file");
    for (size_t at = 12; file.size - at >= 8;) {
        const uint8_t *p = file.data + at;
        size_t n = ti_le32(p + 4), left = file.size - at - 8;
        n = n < left ? n : left;
        if (memcmp(p, "fmt ", 4) == 0 && n >= 16) {
            f = (form){ti_le16(p + 8), ti_le16(p + 10), ti_le16(p + 22), ti_le32(p + 12)};
            if (f.kind == 0xfffe && n >= 26) /* extensible: the kind begins its last field */
                f.kind = ti_le16(p + 8 + 24);
        } else if (memcmp(p, "data", 4) == 0)
            data = (tc_bytes){p + 8, n};
        at += 8 + n + (n & 1);
        if (at > file.size)
            break;
    }
    bool known = (f.kind == 1 && (f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32)) ||
                 (f.kind == 3 && f.bits == 32);
    if (!known || !f.channels || !f.rate || f.rate > INT32_MAX)
        return broken(ctx, loc, "it is neither PCM of 8, 16, 24 or 32 bits nor 32-bit floats");
    size_t step = (size_t)f.bits / 8;
    out->n = (int64_t)(data.size / (step * f.channels));
    out->rate = (int32_t)f.rate;
    out->value = ti_arena_raw(arena, (size_t)out->n * sizeof *out->value + 1);
    for (int64_t i = 0; i < out->n; i++) {
        float sum = 0;
        for (uint16_t k = 0; k < f.channels; k++)
            sum += number(data.data + ((size_t)i * f.channels + k) * step, &f);
        out->value[i] = f.channels == 1 ? sum : sum / (float)f.channels;
    }
    return TC_OK;
}
