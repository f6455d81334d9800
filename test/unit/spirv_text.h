/* SPDX-License-Identifier: Apache-2.0 */
/* spirv_text.h -- SPIR-V modules for tests, from text as ti_spv_print writes it, with names for ids:
 * "%sum = OpFAdd %f32 %a %b".  Reals have a point and become the bits of a float. */
#ifndef TC_SPIRV_TEXT_H
#define TC_SPIRV_TEXT_H

#include <ctype.h>
#include <stdlib.h>

#include "check.h"
#include "wire/spirv.h"

static const struct {
    uint32_t number;
    const char *name, *operands;
} text_rows[] = {
#define SPV(number, name, operands) {number, #name, operands},
#include "wire/spirv.def"
};

static uint32_t text_id(tc_map *ids, tc_str name)
{
    void **slot = ti_map_at(ids, name);
    if (!*slot)
        *slot = (void *)(uintptr_t)(ids->n - 1);
    return (uint32_t)(uintptr_t)*slot;
}

/* A name of GLSL.std.450, a real, or a whole number. */
static uint32_t text_number(const char *word)
{
    if (isupper((unsigned char)*word))
        for (uint32_t i = 1; i < 100; i++)
            if (ti_spv_glsl_name(i) && ti_text_eq(word, ti_spv_glsl_name(i)))
                return i;
    float real = strtof(word, NULL);
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return strchr(word, '.') ? bits : (uint32_t)strtoll(word, NULL, 0);
}

static void text_line(tc_buf *out, tc_map *ids, char *line)
{
    char *word[600], *result = NULL;
    size_t n = 0, k = 0;
    uint32_t body[600];
    size_t n_body = 0;
    for (char *p = strtok(line, " "); p && n < 600; p = strtok(NULL, " "))
        word[n++] = p;
    if (n > 2 && ti_text_eq(word[1], "=")) {
        result = word[0];
        k = 2;
    }
    if (k >= n)
        return;
    size_t row = 0;
    while (row < TC_COUNT(text_rows) && !ti_text_eq(text_rows[row].name, word[k] + 2))
        row++;
    CHECK(row < TC_COUNT(text_rows));
    if (row == TC_COUNT(text_rows))
        return;
    k++;
    for (const char *kind = text_rows[row].operands; *kind; kind += kind[1] == '*' ? 0 : 1) {
        if (*kind == 'r') {
            body[n_body++] = text_id(ids, ti_str_of(result));
            continue;
        }
        if (k == n)
            break;
        if (*kind == 's') {
            size_t length = strlen(word[k]) - 2;
            memset(body + n_body, 0, (length / 4 + 1) * 4);
            memcpy(body + n_body, word[k] + 1, length);
            n_body += length / 4 + 1;
        } else
            body[n_body++] =
                *word[k] == '%' ? text_id(ids, ti_str_of(word[k])) : text_number(word[k]);
        k++;
    }
    CHECK(k == n);
    ti_buf_u32(out, (uint32_t)(n_body + 1) << 16 | text_rows[row].number);
    for (size_t i = 0; i < n_body; i++)
        ti_buf_u32(out, body[i]);
}

/* The module of several pieces of text, one behind the other; NULL ends them. */
static tc_bytes spirv_text(tc_arena *arena, const char *const *piece)
{
    tc_map ids;
    tc_buf out;
    ti_map_init(&ids, arena);
    ti_map_at(&ids, ti_str_of("")); /* the id 0 is nobody's */
    ti_buf_init(&out, arena);
    for (int i = 0; i < 5; i++)
        ti_buf_u32(&out, i == 0 ? TC_SPV_MAGIC : i == 1 ? TC_SPV_VERSION : 0);
    for (; *piece; piece++) {
        char *text = ti_arena_copy(arena, *piece, strlen(*piece) + 1), *next;
        for (char *line = text; line; line = next) {
            next = strchr(line, '\n');
            if (next)
                *next++ = 0;
            text_line(&out, &ids, line);
        }
    }
    uint32_t bound = (uint32_t)ids.n;
    for (size_t i = 0; i < 4; i++)
        out.data[12 + i] = (uint8_t)(bound >> 8 * i);
    return (tc_bytes){out.data, out.size};
}

#endif
