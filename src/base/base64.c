/* SPDX-License-Identifier: Apache-2.0 */
/* base64.c -- see base64.h. */
#include "base64.h"

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

tc_bytes ti_base64_read(tc_arena *arena, tc_str text)
{
    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    uint8_t *out = ti_arena_raw(arena, text.n + 4);
    size_t n = 0;
    uint32_t held = 0;
    int bits = 0;
    for (size_t i = 0; i < text.n; i++) {
        int digit = digit_of(text.p[i]);
        if (digit < 0)
            return (tc_bytes){NULL, 0};
        held = held << 6 | (uint32_t)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[n++] = (uint8_t)(held >> bits);
        }
    }
    return (tc_bytes){out, n};
}

void ti_base64_write(tc_bytes bytes, tc_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t n = bytes.size - i < 3 ? bytes.size - i : 3;
        uint32_t held = 0;
        for (size_t k = 0; k < 3; k++)
            held = held << 8 | (k < n ? bytes.data[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            ti_buf_u8(out, k <= n ? (uint8_t)digits[held >> (18 - 6 * k) & 63] : '=');
    }
}
