/* SPDX-License-Identifier: Apache-2.0 */
/* lex.c -- see lex.h. */
#include "lex.h"

#include <stdarg.h>
#include <stdio.h>

void ti_lex_init(tc_lex *lex, tc_ctx *ctx, const char *file, tc_bytes text)
{
    const char *start = text.size ? (const char *)text.data : "";
    *lex = (tc_lex){.ctx = ctx,
                    .file = file,
                    .at = start,
                    .end = start + text.size,
                    .line_start = start,
                    .line = 1};
}

const char *ti_lex_place(tc_lex *lex)
{
    ti_lex_peek(lex);
    return ti_text_format(&lex->ctx->arena, "%s:%d:%d", lex->file, lex->line,
                          (int)(lex->at - lex->line_start) + 1);
}

void ti_lex_fail(tc_lex *lex, tc_diag_id id, const char *format, ...)
{
    TC_STOP(lex);
    tc_loc loc = {.file = ti_lex_place(lex)};
    char message[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    lex->status = ti_error(lex->ctx, &loc, id, "%s", message);
    lex->at = lex->end;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

char ti_lex_peek(tc_lex *lex)
{
    for (; lex->at < lex->end; lex->at++) {
        if (*lex->at == '#')
            while (lex->at + 1 < lex->end && lex->at[1] != '\n')
                lex->at++;
        else if (!is_space(*lex->at))
            return *lex->at ? *lex->at : '?'; /* a NUL is a character that nothing accepts */
        else if (*lex->at == '\n') {
            lex->line++;
            lex->line_start = lex->at + 1;
        }
    }
    return 0;
}

bool ti_lex_accept(tc_lex *lex, const char *mark)
{
    size_t n = strlen(mark);
    if (!ti_lex_peek(lex) || (size_t)(lex->end - lex->at) < n || memcmp(lex->at, mark, n) != 0)
        return false;
    lex->at += n;
    return true;
}

/* The next token, short enough for a message. */
static tc_str next_text(tc_lex *lex)
{
    tc_str next = {lex->at, 0};
    while (next.p + next.n < lex->end && next.n < 20 && !is_space(next.p[next.n]))
        next.n++;
    return next;
}

void ti_lex_expect(tc_lex *lex, const char *mark)
{
    if (ti_lex_accept(lex, mark))
        return;
    tc_str next = next_text(lex);
    if (next.n)
        ti_lex_fail(lex, TC_E_SYNTAX, "found '%.*s', expected '%s'", (int)next.n, next.p, mark);
    else
        ti_lex_fail(lex, TC_E_SYNTAX, "the text ends, expected '%s'", mark);
}

tc_str ti_lex_peek_word(tc_lex *lex)
{
    tc_str word = {lex->at, 0};
    if (!is_letter(ti_lex_peek(lex)))
        return word;
    word.p = lex->at;
    while (word.p + word.n < lex->end &&
           (is_letter(word.p[word.n]) || is_digit(word.p[word.n]) || word.p[word.n] == '.'))
        word.n++;
    return word;
}

tc_str ti_lex_word(tc_lex *lex)
{
    tc_str word = ti_lex_peek_word(lex);
    lex->at += word.n;
    return word;
}

static bool in_number(char c)
{
    return is_letter(c) || is_digit(c) || c == '.' || c == '+' || c == '-';
}

tc_str ti_lex_number(tc_lex *lex)
{
    ti_lex_peek(lex);
    const char *start = lex->at;
    while (lex->at < lex->end && in_number(*lex->at))
        lex->at++;
    if (lex->at < lex->end && *lex->at == '(') {
        int depth = 0; /* (nan(0x1),2) is the deepest there is */
        do {
            depth += (*lex->at == '(') - (*lex->at == ')');
            lex->at++;
        } while (lex->at < lex->end && depth && depth < 3 && !is_space(*lex->at));
    }
    return (tc_str){start, (size_t)(lex->at - start)};
}

int64_t ti_lex_int(tc_lex *lex)
{
    int64_t value = 0;
    ti_lex_peek(lex);
    const char *start = lex->at;
    if (lex->at < lex->end && *lex->at == '-')
        lex->at++;
    while (lex->at < lex->end && is_digit(*lex->at))
        lex->at++;
    tc_str text = {start, (size_t)(lex->at - start)};
    if (ti_text_to_i64(text, &value))
        return value;
    lex->at = start;
    tc_str next = next_text(lex);
    ti_lex_fail(lex, TC_E_SYNTAX, "found '%.*s', expected an integer", (int)next.n, next.p);
    return 0;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character after a backslash; -1 when there is no such escape. */
static int escaped(tc_lex *lex)
{
    static const char marks[] = "\"\\nt", meant[] = "\"\\\n\t";
    if (lex->at >= lex->end)
        return -1;
    char c = *lex->at++;
    const char *found = c ? strchr(marks, c) : NULL;
    if (found)
        return meant[found - marks];
    if (c != 'x' || lex->end - lex->at < 2)
        return -1;
    int high = hex_digit(lex->at[0]), low = hex_digit(lex->at[1]);
    lex->at += 2;
    return high < 0 || low < 0 || high + low == 0 ? -1 : high * 16 + low;
}

const char *ti_lex_string(tc_lex *lex)
{
    ti_lex_expect(lex, "\"");
    tc_mark mark = ti_arena_mark(&lex->ctx->scratch);
    tc_buf text;
    ti_buf_init(&text, &lex->ctx->scratch);
    int c = 0;
    while (lex->at < lex->end && (c = (unsigned char)*lex->at++) != '"' && c >= ' ') {
        if (c == '\\' && (c = escaped(lex)) < 0)
            break;
        ti_buf_u8(&text, (uint8_t)c);
        c = 0;
    }
    const char *result = NULL;
    if (lex->status == TC_OK && c == '"')
        result = ti_intern(lex->ctx, (tc_str){(const char *)text.data, text.size});
    else
        ti_lex_fail(lex, TC_E_SYNTAX,
                    "the quoted text has no end on its line, or an unknown escape");
    ti_arena_rewind(&lex->ctx->scratch, mark);
    return result;
}
