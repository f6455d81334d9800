/* SPDX-License-Identifier: Apache-2.0 */
/* parse_attr.c -- attributes, name=value, by the field tables of attr.def. */
#include "parse.h"

static void parse_ints(tc_lex *lex, tc_ints *list)
{
    int64_t *v = NULL;
    size_t n = 0, cap = 0;
    tc_mark mark = ti_arena_mark(&lex->ctx->scratch);
    ti_lex_expect(lex, "[");
    while (!FAILED(lex) && !ti_lex_accept(lex, "]")) {
        if (n)
            ti_lex_expect(lex, ",");
        tc_grow(&lex->ctx->scratch, v, n, cap);
        v[n++] = ti_lex_int(lex);
    }
    *list = ti_ints_copy(&lex->ctx->arena, v, (int32_t)ti_min_i64((int64_t)n, INT32_MAX));
    ti_arena_rewind(&lex->ctx->scratch, mark);
}

static void parse_floats(tc_lex *lex, tc_floats *list)
{
    double *v = NULL;
    size_t n = 0, cap = 0;
    tc_mark mark = ti_arena_mark(&lex->ctx->scratch);
    ti_lex_expect(lex, "[");
    while (!FAILED(lex) && !ti_lex_accept(lex, "]")) {
        if (n)
            ti_lex_expect(lex, ",");
        tc_grow(&lex->ctx->scratch, v, n, cap);
        v[n++] = ti_parse_f64(lex);
    }
    *list = (tc_floats){(int32_t)ti_min_i64((int64_t)n, INT32_MAX),
                        ti_arena_copy(&lex->ctx->arena, v, n * sizeof *v)};
    ti_arena_rewind(&lex->ctx->scratch, mark);
}

static void parse_hex(tc_lex *lex, tc_bytes *bytes)
{
    tc_str text = ti_lex_number(lex);
    bool good = text.n >= 2 && text.n % 2 == 0 && memcmp(text.p, "0x", 2) == 0;
    uint8_t *data = tc_new_n(&lex->ctx->arena, uint8_t, text.n / 2);
    for (size_t i = 2; i < text.n && good; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = text.p[i] ? strchr(digits, text.p[i]) : NULL;
        good = digit != NULL;
        if (good)
            data[i / 2 - 1] = (uint8_t)(data[i / 2 - 1] << 4 | (digit - digits));
    }
    if (!good)
        ti_lex_fail(lex, TC_E_SYNTAX, "expected bytes such as 0x00ff");
    *bytes = (tc_bytes){data, good ? text.n / 2 - 1 : 0};
}

/* One of the choice's words, as its number. */
static void parse_word(tc_lex *lex, const tc_choice *choice, void *at)
{
    tc_str word = ti_lex_peek_word(lex);
    for (int i = 0; i < choice->count; i++)
        if (ti_str_is(word, choice->word[i])) {
            tc_dtype number = (tc_dtype)i; /* enumerations are all alike in memory */
            memcpy(at, &number, sizeof number);
            ti_lex_word(lex);
            return;
        }
    ti_lex_fail(lex, TC_E_ARGUMENT, "'%.*s' is not a %s; '%s' is one",
                (int)ti_min_i64((int64_t)word.n, 40), word.p, choice->name, choice->word[0]);
}

static void parse_dtype(tc_lex *lex, tc_dtype *dtype)
{
    tc_str word = ti_lex_peek_word(lex);
    *dtype = ti_dtype_named(word);
    if (*dtype == TC_none && !ti_str_is(word, "none"))
        ti_lex_fail(lex, TC_E_SYNTAX, "expected an element type such as f32");
    ti_lex_word(lex);
}

void ti_parse_text(tc_lex *lex, const char **text)
{
    *text = NULL;
    if (ti_str_is(ti_lex_peek_word(lex), "none"))
        ti_lex_word(lex);
    else
        *text = ti_lex_string(lex);
}

static void parse_field(tc_lex *lex, const tc_field *field, void *record)
{
    void *at = (char *)record + field->at;
    switch (field->kind) {
    case TC_FIELD_i64:
        *(int64_t *)at = ti_lex_int(lex);
        break;
    case TC_FIELD_f64:
        *(double *)at = ti_parse_f64(lex);
        break;
    case TC_FIELD_bool:
    case TC_FIELD_flag: {
        tc_str word = ti_lex_word(lex);
        *(bool *)at = ti_str_is(word, "true");
        if (!*(bool *)at && !ti_str_is(word, "false"))
            ti_lex_fail(lex, TC_E_SYNTAX, "expected 'true' or 'false'");
        break;
    }
    case TC_FIELD_ints:
        parse_ints(lex, at);
        break;
    case TC_FIELD_floats:
        parse_floats(lex, at);
        break;
    case TC_FIELD_text:
        ti_parse_text(lex, at);
        break;
    case TC_FIELD_bytes:
        parse_hex(lex, at);
        break;
    case TC_FIELD_dtype:
        parse_dtype(lex, at);
        break;
    default:
        parse_word(lex, &tc_choices[field->kind - TC_FIELD_CHOICES], at);
    }
}

static int find_field(const tc_attr_info *info, tc_str name)
{
    for (int i = 0; i < info->n_field; i++)
        if (ti_str_is(name, info->field[i].name))
            return i;
    return -1;
}

/* The next word, if "=" follows it. */
static bool at_attribute(tc_lex *lex, tc_str *name)
{
    *name = ti_lex_peek_word(lex);
    return name->n && name->p + name->n < lex->end && name->p[name->n] == '=';
}

/* name=value ..., in any order, each once, all of them but flags that are not set. */
const void *ti_parse_attrs(tc_lex *lex, tc_op op)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[op].attr];
    void *record = info->n_field ? ti_arena_array(&lex->ctx->arena, 1, info->size, 16) : NULL;
    uint32_t seen = 0;
    tc_str name;
    while (!FAILED(lex) && at_attribute(lex, &name)) {
        int i = find_field(info, name);
        if (i < 0 || seen & 1u << i) {
            ti_lex_fail(lex, TC_E_ARGUMENT,
                        i < 0 ? "'%s' has no attribute '%.*s'" : "'%s' is given '%.*s' twice",
                        tc_ops[op].name, (int)ti_min_i64((int64_t)name.n, 40), name.p);
            return NULL;
        }
        seen |= 1u << i;
        ti_lex_word(lex);
        ti_lex_expect(lex, "=");
        parse_field(lex, &info->field[i], record);
    }
    for (int i = 0; i < info->n_field; i++)
        if (!(seen & 1u << i) && info->field[i].kind != TC_FIELD_flag)
            ti_lex_fail(lex, TC_E_ARGUMENT, "the attribute '%s' of '%s' is missing",
                        info->field[i].name, tc_ops[op].name);
    return record;
}
