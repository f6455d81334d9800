/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.h -- results into a buffer, as JSON or as text.
 *
 * JSON: commas, quotes and indentation are looked after here.  Text: a record has its members and a
 * line that shows them (tc_show); brackets and members without a line show nothing. */
#ifndef TC_JSON_OUT_H
#define TC_JSON_OUT_H

#include "diag.h"

typedef struct tc_json_out {
    tc_buf *to;
    int depth;
    bool first; /* nothing yet since the last bracket */
    bool compact; /* all in one line */
    bool text;    /* for people: only tc_say() and tc_show() write */
} tc_json_out;

/* name NULL: inside a list, or the outermost value. */
void ti_json_open(tc_json_out *out, const char *name, char bracket); /* '{' or '[' */
void ti_json_close(tc_json_out *out, char bracket);
void ti_json_put_text(tc_json_out *out, const char *name, const char *text); /* NULL: null */
void ti_json_put_int(tc_json_out *out, const char *name, int64_t value);
void ti_json_put_real(tc_json_out *out, const char *name, double value); /* not finite: null */
void ti_json_put_bool(tc_json_out *out, const char *name, bool value);

/* A member: its name and a text, a number or a bool; TC_J_IF leaves out NULL, "" and 0. */
typedef struct tc_json_member {
    const char *name; /* NULL: left out; "": it has none, in a list */
    char kind;        /* 't', 'i', 'r', 'b' */
    const char *text;
    int64_t whole;
    double real;
} tc_json_member;
#define TC_J_MAKE(suffix, type, ...)                                                               \
    static inline tc_json_member ti_j_##suffix(const char *name, type v)                           \
    {                                                                                              \
        return (tc_json_member){__VA_ARGS__};                                                      \
    }
TC_J_MAKE(text, const char *, name, 't', .text = v)
TC_J_MAKE(int, int64_t, name, 'i', .whole = v)
TC_J_MAKE(size, uint64_t, name, 'i', .whole = (int64_t)v)
TC_J_MAKE(real, double, name, 'r', .real = v)
TC_J_MAKE(bool, bool, name, 'b', .whole = v)
TC_J_MAKE(text_if, const char *, v && *v ? name : NULL, 't', .text = v)
TC_J_MAKE(size_if, uint64_t, v ? name : NULL, 'i', .whole = (int64_t)v)
TC_J_MAKE(real_if, double, v != 0 ? name : NULL, 'r', .real = v)
#define TC_J(name, v)                                                                              \
    _Generic((v), char *: ti_j_text, const char *: ti_j_text, bool: ti_j_bool, float: ti_j_real,   \
             double: ti_j_real, unsigned long: ti_j_size, unsigned long long: ti_j_size,           \
             default: ti_j_int)(name, v)
#define TC_J_IF(name, v)                                                                           \
    _Generic((v), double: ti_j_real_if, size_t: ti_j_size_if, default: ti_j_text_if)(name, v)

/* Members of what is open: tc_json_put(out, TC_J("name", name), TC_J("bytes", n)). */
void ti_json_members(tc_json_out *out, const tc_json_member *member, size_t n);
#define tc_json_put(out, ...)                                                                      \
    ti_json_members(out, (const tc_json_member[]){__VA_ARGS__},                                    \
                    sizeof((const tc_json_member[]){__VA_ARGS__}) / sizeof(tc_json_member))
/* Members of what is open; as text the line, in which {name} is a member.  {name:-20} is 20 wide,
 * {name:.2f} as printf() has it; a text that is not there is "-".  [, scale {scale}] is left out
 * where one of its members is: by TC_J_IF, a text that is NULL or a bool that is false, which shows
 * nothing itself. */
void ti_show(tc_json_out *out, const char *line, const tc_json_member *member, size_t n);
#define tc_show(out, line, ...)                                                                    \
    ti_show(out, line, (const tc_json_member[]){__VA_ARGS__},                                      \
            sizeof((const tc_json_member[]){__VA_ARGS__}) / sizeof(tc_json_member))
#define tc_show_object(out, name, line, ...)                                                       \
    do {                                                                                           \
        ti_json_open(out, name, '{');                                                              \
        tc_show(out, line, __VA_ARGS__);                                                           \
        ti_json_close(out, '}');                                                                   \
    } while (0)
/* Words for people; nothing in JSON. */
#define tc_say(out, ...)                                                                           \
    do {                                                                                           \
        if ((out)->text)                                                                           \
            ti_buf_printf((out)->to, __VA_ARGS__);                                                 \
    } while (0)

/* An object, or a list of n numbers or strings. */
#define tc_json_object(out, name, ...)                                                             \
    do {                                                                                           \
        ti_json_open(out, name, '{');                                                              \
        tc_json_put(out, __VA_ARGS__);                                                             \
        ti_json_close(out, '}');                                                                   \
    } while (0)
#define tc_json_list(out, name, n, v)                                                              \
    do {                                                                                           \
        ti_json_open(out, name, '[');                                                              \
        for (size_t i_ = 0; i_ < (size_t)(n); i_++)                                                \
            tc_json_put(out, TC_J("", (v)[i_]));                                                   \
        ti_json_close(out, ']');                                                                   \
    } while (0)

#endif
