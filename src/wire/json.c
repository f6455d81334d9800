/* SPDX-License-Identifier: Apache-2.0 */
/* json.c -- see json.h.  One pass over the text; long strings are stepped over eight bytes at a
 * time. */
#include "json.h"

#include <math.h>

#include "../base/bytes.h"

typedef struct parser {
    tc_arena *arena;
    const char *begin, *at, *end;
    const char *error;
} parser;

static tc_json *fail(parser *p, const char *reason)
{
    if (!p->error)
        p->error = reason;
    return NULL;
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static tc_json *make(parser *p, tc_json_kind kind)
{
    tc_json *json = tc_new(p->arena, tc_json);
    json->kind = (uint8_t)kind;
    return json;
}

/* Step over plain characters: to a quote, a backslash, a control character or the end.  In a word
 * of eight bytes the lowest marked one is always right, so the first of them in memory is found at
 * once. */
static const char *skip_plain(const char *at, const char *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    for (; end - at >= 8; at += 8) {
        uint64_t w = ti_le64((const uint8_t *)at);
        uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');
        uint64_t found =
            (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((w - ones * ' ') & ~w)) &
            tops;
        if (found)
            return at + __builtin_ctzll(found) / 8;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
        at++;
    return at;
}

static int hex4(const char *at)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* p->at is at a backslash. */
static bool skip_escape(parser *p)
{
    static const bool known[128] = {['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
                                    ['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true};
    size_t left = (size_t)(p->end - p->at);
    unsigned char c = left < 2 ? 0 : (unsigned char)p->at[1];
    if (c == 'u' && left >= 6 && hex4(p->at + 2) > 0) {
        p->at += 6;
        return true;
    }
    p->at += 2 * (size_t)(c < 128 && known[c]);
    return c < 128 && known[c];
}

/* p->at is at the opening quote. */
static tc_json *parse_text(parser *p)
{
    tc_json *json = make(p, TC_JSON_TEXT);
    const char *begin = json->as.text = ++p->at;
    for (;;) {
        p->at = skip_plain(p->at, p->end);
        if (p->at == p->end)
            return fail(p, "text without its closing quote");
        if (*p->at == '"')
            break;
        if (*p->at != '\\')
            return fail(p, "a control character inside text");
        json->escaped = true;
        if (!skip_escape(p))
            return fail(p, "a wrong escape, or one for NUL");
    }
    json->n = (uint32_t)(p->at++ - begin);
    return json;
}

static bool word(parser *p, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool number_part(char c)
{
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E';
}

/* Also the three words that torch 2.6 wrote for non-finite values. */
static tc_json *parse_number(parser *p)
{
    const char *begin = p->at;
    tc_json_kind kind = TC_JSON_INT;
    if (word(p, "Infinity") || word(p, "-Infinity") || word(p, "NaN"))
        kind = TC_JSON_REAL;
    else {
        p->at += *p->at == '-';
        if (p->at == p->end || *p->at < '0' || *p->at > '9')
            return fail(p, "not a JSON value");
        for (; p->at < p->end && number_part(*p->at); p->at++)
            if (*p->at < '0' || *p->at > '9')
                kind = TC_JSON_REAL;
    }
    tc_json *json = make(p, kind);
    json->as.text = begin;
    json->n = (uint32_t)(p->at - begin);
    return json;
}

static tc_json *parse_value(parser *p, int depth);

/* A list ends in ']' and holds values; an object ends in '}' and holds keys before its values. */
static tc_json *parse_group(parser *p, char close, int depth)
{
    if (depth >= TC_JSON_DEPTH)
        return fail(p, "lists and objects nested too deep");
    tc_json *group = make(p, close == ']' ? TC_JSON_LIST : TC_JSON_OBJECT);
    const tc_json **tail = &group->as.child;
    group->as.child = NULL;
    p->at++;
    skip_space(p);
    if (p->at < p->end && *p->at == close) {
        p->at++;
        return group;
    }
    for (;; p->at++) {
        skip_space(p);
        if (close == '}') {
            if (p->at == p->end || *p->at != '"')
                return fail(p, "an object member without its key");
            tc_json *key = parse_text(p);
            skip_space(p);
            if (!key || p->at == p->end || *p->at != ':')
                return fail(p, "an object key without its colon");
            p->at++;
            *tail = key;
            tail = &key->next;
        }
        tc_json *value = parse_value(p, depth + 1);
        if (!value)
            return NULL;
        *tail = value;
        tail = &value->next;
        group->n++;
        skip_space(p);
        if (p->at < p->end && *p->at == close) {
            p->at++;
            return group;
        }
        if (p->at == p->end || *p->at != ',')
            return fail(p, "a list or object that is not closed");
    }
}

static tc_json *parse_value(parser *p, int depth)
{
    skip_space(p);
    if (p->at == p->end)
        return fail(p, "the text ends where a value should be");
    switch (*p->at) {
    case '"': return parse_text(p);
    case '[': return parse_group(p, ']', depth);
    case '{': return parse_group(p, '}', depth);
    case 'n':
        return word(p, "null") ? make(p, TC_JSON_NULL) : fail(p, "not a JSON value");
    case 't':
        return word(p, "true") ? make(p, TC_JSON_TRUE) : fail(p, "not a JSON value");
    case 'f':
        return word(p, "false") ? make(p, TC_JSON_FALSE)
                                : fail(p, "not a JSON value");
    default: return parse_number(p);
    }
}

const tc_json *ti_json_parse(tc_arena *arena, tc_bytes text, const char **reason, size_t *at)
{
    const char *begin = (const char *)text.data;
    parser p = {arena, begin, begin, begin + text.size, NULL};
    *reason = NULL;
    *at = 0;
    if (text.size > UINT32_MAX) {
        *reason = "more than 4 GiB of JSON";
        return NULL;
    }
    tc_json *json = text.size ? parse_value(&p, 0) : fail(&p, "an empty text");
    skip_space(&p);
    if (json && p.at != p.end)
        json = fail(&p, "more text after the value");
    *reason = p.error;
    *at = (size_t)(p.at - begin);
    return json;
}

const tc_json *ti_json_get(const tc_json *object, const char *key)
{
    if (!ti_json_is(object, TC_JSON_OBJECT))
        return NULL;
    size_t n = strlen(key);
    for (const tc_json *k = object->as.child; k; k = k->next->next)
        if (k->n == n && (!n || (k->as.text[0] == key[0] && memcmp(k->as.text, key, n) == 0)))
            return k->next;
    return NULL;
}

const tc_json *ti_json_only(const tc_json *object, tc_str *key)
{
    if (!ti_json_is(object, TC_JSON_OBJECT) || object->n != 1) {
        *key = (tc_str){"", 0};
        return NULL;
    }
    *key = (tc_str){object->as.child->as.text, object->as.child->n};
    return object->as.child->next;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80)
        *out++ = (char)c;
    else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        if (c < 0x10000)
            *out++ = (char)(0xe0 | c >> 12);
        else {
            *out++ = (char)(0xf0 | c >> 18);
            *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* The character after \u at `at`, two of them when they are a surrogate pair. */
static uint32_t take_unicode(const char **at, const char *end)
{
    uint32_t c = (uint32_t)hex4(*at);
    *at += 4;
    if (c >= 0xd800 && c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = (uint32_t)hex4(*at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return c >= 0xd800 && c < 0xe000 ? 0xfffd : c; /* half a surrogate pair is not a character */
}

tc_str ti_json_text(tc_arena *arena, const tc_json *json)
{
    if (!ti_json_is(json, TC_JSON_TEXT))
        return (tc_str){NULL, 0};
    if (!json->escaped)
        return (tc_str){json->as.text, json->n};
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char *text = tc_new_n(arena, char, (size_t)json->n + 1), *out = text;
    for (const char *at = json->as.text, *end = at + json->n; at < end;) {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        char c = at[1];
        at += 2;
        if (c == 'u')
            out = put_utf8(out, take_unicode(&at, end));
        else {
            const char *known = strchr(from, c);
            *out++ = known ? to[known - from] : c;
        }
    }
    return (tc_str){text, (size_t)(out - text)};
}

bool ti_json_i64(const tc_json *json, int64_t *out)
{
    return ti_json_is(json, TC_JSON_INT) && ti_text_to_i64((tc_str){json->as.text, json->n}, out);
}

bool ti_json_f64(const tc_json *json, double *out)
{
    static const struct {
        const char *word;
        double value;
    } special[] = {{"Infinity", INFINITY}, {"-Infinity", -INFINITY}, {"NaN", NAN}};
    if (!json || json->kind < TC_JSON_INT || json->kind > TC_JSON_TEXT)
        return false;
    tc_str text = {json->as.text, json->n};
    for (size_t i = 0; i < TC_COUNT(special); i++)
        if (ti_str_is(text, special[i].word)) {
            *out = special[i].value;
            return true;
        }
    return json->kind != TC_JSON_TEXT && ti_text_to_f64(text, out);
}

bool ti_json_bool(const tc_json *json, bool *out)
{
    *out = ti_json_is(json, TC_JSON_TRUE);
    return *out || ti_json_is(json, TC_JSON_FALSE);
}
