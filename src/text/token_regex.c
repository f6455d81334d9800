/* SPDX-License-Identifier: Apache-2.0 */
/* token_regex.c -- the patterns that tokenizers come with, as Oniguruma reads them: characters,
 * sets, \s \d \w \p{..}, groups, (?i:..), looking ahead, repeats that are greedy, lazy or
 * possessive.
 *
 * A pattern becomes a list of steps; matching tries them in order and backtracks. */
#include "token.h"

typedef enum step_kind {
    CHAR,   /* one character of set `x` */
    SPLIT,  /* go on at x, or else at y */
    JUMP,   /* go on at x */
    LOOK,   /* steps from here match (y 0) or do not (y 1); go on at x */
    ATOMIC, /* steps from here match, once and for all; go on at x */
    BEGIN,
    END,
    DONE
} step_kind;

typedef struct step {
    step_kind kind;
    size_t x, y;
} step;

/* A set of characters: ranges and kinds, any of them, or none. */
typedef struct range {
    uint32_t first, last;
    int kind; /* tc_chars, or -1: the range */
    bool not_kind;
} range;
typedef struct set {
    range *v;
    size_t n, cap;
    bool negated, any_case;
} set;

struct tc_regex {
    step *step;
    size_t n, cap;
    set *set;
    size_t n_set, cap_set;
};

/* ---- reading ---- */

typedef struct parser {
    tc_arena *arena;
    tc_regex *r;
    tc_str text;
    size_t at;
    bool any_case;
    const char *why;
    int depth;
} parser;

static void fail(parser *p, const char *why)
{
    if (!p->why)
        p->why = why;
    p->at = p->text.n;
}

static bool more(const parser *p) { return p->at < p->text.n; }
static char peek(const parser *p) { return more(p) ? p->text.p[p->at] : 0; }

static bool eat(parser *p, const char *word)
{
    size_t n = strlen(word);
    if (p->text.n - p->at < n || memcmp(p->text.p + p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

static size_t emit(parser *p, step_kind kind, size_t x, size_t y)
{
    enum { MOST = 1 << 14 };
    if (p->r->n >= MOST)
        fail(p, "a pattern that is too long");
    tc_grow(p->arena, p->r->step, p->r->n, p->r->cap);
    p->r->step[p->r->n] = (step){kind, x, y};
    return p->r->n++;
}

static void add_range(parser *p, set *s, range one)
{
    tc_grow(p->arena, s->v, s->n, s->cap);
    s->v[s->n++] = one;
}

static void add_kind(parser *p, set *s, tc_chars kind, bool not_kind)
{
    add_range(p, s, (range){0, 0, (int)kind, not_kind});
}

/* \p{L}, \p{^L}, \P{L} */
static void property(parser *p, set *s, bool inverted)
{
    static const struct {
        const char *name;
        tc_chars kind;
    } known[] = {{"L", TC_LETTER},      {"Letter", TC_LETTER}, {"Lu", TC_UPPER},
                 {"Ll", TC_LOWER},      {"Lt", TC_TITLE},      {"Lm", TC_MODIFIER},
                 {"Lo", TC_OTHER_LETTER}, {"N", TC_NUMBER},    {"Nd", TC_DIGIT},
                 {"M", TC_MARK},        {"P", TC_PUNCTUATION}, {"S", TC_SYMBOL}};
    const char *close = memchr(p->text.p + p->at, '}', p->text.n - p->at);
    if (!eat(p, "{") || !close) {
        fail(p, "a property without braces");
        return;
    }
    inverted ^= eat(p, "^");
    tc_str name = {p->text.p + p->at, (size_t)(close - p->text.p) - p->at};
    p->at += name.n + 1;
    for (size_t i = 0; i < TC_COUNT(known); i++)
        if (ti_str_is(name, known[i].name)) {
            add_kind(p, s, known[i].kind, inverted);
            return;
        }
    fail(p, "an unknown property");
}

static uint32_t hex(parser *p, size_t digits, char close)
{
    uint32_t c = 0;
    for (size_t k = 0; k < digits && more(p) && peek(p) != close; k++, p->at++) {
        char d = peek(p);
        c = c * 16 + (uint32_t)(d >= 'a' ? d - 'a' + 10 : d >= 'A' ? d - 'A' + 10 : d - '0');
    }
    if (close && !eat(p, (char[]){close, 0}))
        fail(p, "a character code that does not end");
    return c;
}

/* Behind a backslash: a kind goes into the set, a single character is returned. */
static bool escaped(parser *p, set *s, uint32_t *c)
{
    size_t size = 1;
    uint32_t what = more(p) ? ti_utf8_next(p->text, p->at, &size) : 0;
    p->at += size;
    switch (what) {
    case 's':
    case 'S':
        add_kind(p, s, TC_SPACE, what == 'S');
        return false;
    case 'd':
    case 'D':
        add_kind(p, s, TC_DIGIT, what == 'D');
        return false;
    case 'w':
    case 'W':
        add_kind(p, s, TC_WORD, what == 'W');
        return false;
    case 'p':
    case 'P':
        property(p, s, what == 'P');
        return false;
    case 'n':
        *c = '\n';
        return true;
    case 'r':
        *c = '\r';
        return true;
    case 't':
        *c = '\t';
        return true;
    case 'f':
        *c = '\f';
        return true;
    case 'v':
        *c = '\v';
        return true;
    case 'x':
        *c = eat(p, "{") ? hex(p, 8, '}') : hex(p, 2, 0);
        return true;
    case 'u':
        *c = hex(p, 4, 0);
        return true;
    default:
        if (what < 0x80 && ti_char_is(TC_WORD, what))
            fail(p, "an unknown escape");
        *c = what;
        return true;
    }
}

static void put_char(parser *p, set *s)
{
    tc_grow(p->arena, p->r->set, p->r->n_set, p->r->cap_set);
    s->any_case = p->any_case;
    p->r->set[p->r->n_set] = *s;
    emit(p, CHAR, p->r->n_set++, 0);
}

/* Between brackets. */
static void bracket(parser *p)
{
    set s = {0};
    s.negated = eat(p, "^");
    for (bool first = true; more(p) && (first || peek(p) != ']'); first = false) {
        uint32_t from = 0, to;
        size_t size;
        bool both = p->text.n - p->at > 1 && memcmp(p->text.p + p->at, "&&", 2) == 0;
        if (peek(p) == '[' || both) {
            fail(p, "nested sets");
            return;
        }
        if (eat(p, "\\")) {
            if (!escaped(p, &s, &from))
                continue;
        } else {
            from = ti_utf8_next(p->text, p->at, &size);
            p->at += size;
        }
        to = from;
        if (p->at + 1 < p->text.n && peek(p) == '-' && p->text.p[p->at + 1] != ']') {
            p->at++;
            if (eat(p, "\\")) {
                if (!escaped(p, &s, &to))
                    fail(p, "a range that ends in a character class");
            } else {
                to = ti_utf8_next(p->text, p->at, &size);
                p->at += size;
            }
        }
        add_range(p, &s, (range){from, to, -1, false});
    }
    if (!eat(p, "]"))
        fail(p, "a set that does not end");
    put_char(p, &s);
}

static void alternatives(parser *p);

static void group(parser *p)
{
    bool before = p->any_case;
    step_kind kind = JUMP;
    size_t not_here = 0;
    if (eat(p, "?:"))
        kind = JUMP;
    else if (eat(p, "?i:"))
        p->any_case = true;
    else if (eat(p, "?!")) {
        kind = LOOK;
        not_here = 1;
    } else if (eat(p, "?="))
        kind = LOOK;
    else if (eat(p, "?>"))
        kind = ATOMIC;
    else if (peek(p) == '?')
        fail(p, "an unsupported kind of group");
    size_t at = kind == JUMP ? 0 : emit(p, kind, 0, not_here);
    if (++p->depth > 64)
        fail(p, "groups nested too deep");
    alternatives(p);
    p->depth--;
    if (!eat(p, ")"))
        fail(p, "a group that does not end");
    if (kind != JUMP) {
        emit(p, DONE, 0, 0);
        p->r->step[at].x = p->r->n;
    }
    p->any_case = before;
}

static void atom(parser *p)
{
    set s = {0};
    size_t size;
    uint32_t c;
    if (eat(p, "("))
        group(p);
    else if (eat(p, "["))
        bracket(p);
    else if (eat(p, "."))
        add_range(p, &s, (range){'\n', '\n', -1, false}), s.negated = true, put_char(p, &s);
    else if (eat(p, "^"))
        emit(p, BEGIN, 0, 0);
    else if (eat(p, "$"))
        emit(p, END, 0, 0);
    else if (eat(p, "\\")) {
        if (escaped(p, &s, &c))
            add_range(p, &s, (range){c, c, -1, false});
        put_char(p, &s);
    } else {
        c = ti_utf8_next(p->text, p->at, &size);
        p->at += size;
        if (c == '*' || c == '+' || c == '?')
            fail(p, "a repeat without operand");
        add_range(p, &s, (range){c, c, -1, false});
        put_char(p, &s);
    }
}

/* A copy of the steps from..to, at the end. */
static void again(parser *p, size_t from, size_t to)
{
    size_t shift = p->r->n - from;
    for (size_t i = from; i < to && !p->why; i++) {
        step s = p->r->step[i];
        bool jumps = s.kind == SPLIT || s.kind == JUMP || s.kind == LOOK || s.kind == ATOMIC;
        emit(p, s.kind, jumps ? s.x + shift : s.x, s.kind == SPLIT ? s.y + shift : s.y);
    }
}

/* Room for one step in front of `from`. */
static void insert(parser *p, size_t from)
{
    emit(p, JUMP, 0, 0);
    for (size_t i = p->r->n - 1; i > from; i--) {
        step s = p->r->step[i - 1];
        bool jumps = s.kind == SPLIT || s.kind == JUMP || s.kind == LOOK || s.kind == ATOMIC;
        if (jumps && s.x >= from)
            s.x++;
        if (s.kind == SPLIT && s.y >= from)
            s.y++;
        p->r->step[i] = s;
    }
}

static void choose(parser *p, size_t at, size_t in, size_t out, bool lazy)
{
    p->r->step[at] = (step){SPLIT, lazy ? out : in, lazy ? in : out};
}

/* At most `most` more times, SIZE_MAX: any number; the steps from..to are there once. */
static void optional(parser *p, size_t from, size_t to, size_t most, bool lazy)
{
    if (most == SIZE_MAX) {
        size_t head = emit(p, SPLIT, 0, 0);
        again(p, from, to);
        emit(p, JUMP, head, 0);
        choose(p, head, head + 1, p->r->n, lazy);
        return;
    }
    for (size_t k = 0; k < most && !p->why; k++) {
        size_t head = emit(p, SPLIT, 0, 0);
        again(p, from, to);
        choose(p, head, head + 1, p->r->n, lazy); /* each is optional together with those after
                                                   * it */
    }
}

static bool counts(parser *p, size_t *least, size_t *most)
{
    if (eat(p, "*"))
        *least = 0, *most = SIZE_MAX;
    else if (eat(p, "+"))
        *least = 1, *most = SIZE_MAX;
    else if (eat(p, "?"))
        *least = 0, *most = 1;
    else if (eat(p, "{")) {
        size_t v[2] = {0, 0};
        bool has[2] = {false, false}, comma = false;
        for (; more(p) && peek(p) != '}'; p->at++)
            if (peek(p) == ',')
                comma = true;
            else if (peek(p) >= '0' && peek(p) <= '9' && v[comma] < 1000) {
                v[comma] = v[comma] * 10 + (size_t)(peek(p) - '0');
                has[comma] = true;
            } else
                fail(p, "a count that is not a number");
        if (!eat(p, "}"))
            fail(p, "a count that does not end");
        *least = v[0];
        *most = !comma ? v[0] : has[1] ? v[1] : SIZE_MAX;
    } else
        return false;
    return true;
}

static void repeated(parser *p)
{
    size_t from = p->r->n, least, most;
    atom(p);
    size_t to = p->r->n;
    if (p->why || !counts(p, &least, &most))
        return;
    bool lazy = eat(p, "?"), possessive = !lazy && eat(p, "+");
    size_t at = from;
    if (possessive) {
        insert(p, from);
        from++;
        to++;
    }
    for (size_t k = 1; k < least; k++)
        again(p, from, to);
    if (least == 0 && most) { /* what is there is the first optional one */
        insert(p, from);
        size_t head = from;
        from++;
        to++;
        if (most == SIZE_MAX) {
            emit(p, JUMP, head, 0);
            choose(p, head, from, p->r->n, lazy);
        } else {
            optional(p, from, to, most - 1, lazy);
            choose(p, head, from, p->r->n, lazy);
        }
    } else if (most > least && most)
        optional(p, from, to, most == SIZE_MAX ? SIZE_MAX : most - least, lazy);
    if (possessive) {
        emit(p, DONE, 0, 0);
        p->r->step[at] = (step){ATOMIC, p->r->n, 0};
    }
}

static void alternatives(parser *p)
{
    size_t from = p->r->n;
    while (more(p) && peek(p) != '|' && peek(p) != ')')
        repeated(p);
    if (p->why || !eat(p, "|"))
        return;
    insert(p, from);
    size_t jump = emit(p, JUMP, 0, 0);
    p->r->step[from] = (step){SPLIT, from + 1, p->r->n};
    alternatives(p);
    p->r->step[jump].x = p->r->n;
}

tc_regex *ti_regex_new(tc_arena *arena, tc_str pattern, const char **why)
{
    parser p = {.arena = arena, .r = tc_new(arena, tc_regex), .text = pattern};
    alternatives(&p);
    if (!p.why && more(&p))
        p.why = "a closing parenthesis without an opening one";
    emit(&p, DONE, 0, 0);
    *why = p.why;
    return p.why ? NULL : p.r;
}

/* ---- matching ---- */

static bool in_set(const set *s, uint32_t c)
{
    for (size_t i = 0; i < s->n; i++) {
        const range *r = &s->v[i];
        if (r->kind >= 0 ? ti_char_is((tc_chars)r->kind, c) != r->not_kind
                         : c >= r->first && c <= r->last)
            return true;
    }
    return false;
}

static uint32_t other_case(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c ^ 0x20
           : c == 0x17f                                     ? 's'
           : c == 0x212a                                    ? 'k'
                                                            : c;
}

static bool holds(const set *s, uint32_t c)
{
    bool in = in_set(s, c) || (s->any_case && in_set(s, other_case(c)));
    return in != s->negated && c != UINT32_MAX;
}

typedef struct state {
    size_t step, at;
} state;

/* Whether steps from `from` on match at `at`, up to *end. */
static bool match(const tc_regex *r, tc_arena *scratch, tc_str text, size_t from, size_t at,
                  size_t *end)
{
    enum { MOST = 1 << 24 };
    tc_mark mark = ti_arena_mark(scratch);
    state *stack = NULL;
    size_t n = 0, cap = 0, size;
    bool found = false;
    tc_grow(scratch, stack, n, cap);
    stack[n++] = (state){from, at};
    for (size_t work = 0; n && !found && work < MOST; work++) {
        state s = stack[--n];
        for (bool on = true; on && work < MOST; work++) {
            const step *p = &r->step[s.step];
            size_t inner;
            switch (p->kind) {
            case CHAR:
                on = s.at < text.n && holds(&r->set[p->x], ti_utf8_next(text, s.at, &size));
                s.at += on ? size : 0;
                s.step++;
                break;
            case SPLIT:
                tc_grow(scratch, stack, n, cap);
                stack[n++] = (state){p->y, s.at};
                s.step = p->x;
                break;
            case JUMP:
                s.step = p->x;
                break;
            case LOOK:
                on = match(r, scratch, text, s.step + 1, s.at, &inner) != (p->y != 0);
                s.step = p->x;
                break;
            case ATOMIC:
                on = match(r, scratch, text, s.step + 1, s.at, &inner);
                s.at = on ? inner : s.at;
                s.step = p->x;
                break;
            case BEGIN:
                on = s.at == 0 || text.p[s.at - 1] == '\n';
                s.step++;
                break;
            case END:
                on = s.at == text.n || text.p[s.at] == '\n';
                s.step++;
                break;
            case DONE:
                *end = s.at;
                found = true;
                on = false;
                break;
            }
        }
    }
    ti_arena_rewind(scratch, mark);
    return found;
}

bool ti_regex_find(const tc_regex *r, tc_arena *scratch, tc_str text, size_t at, size_t *begin,
                   size_t *end)
{
    size_t size;
    for (; at < text.n; at += size) {
        ti_utf8_next(text, at, &size);
        if (match(r, scratch, text, 0, at, end) && *end > at) {
            *begin = at;
            return true;
        }
    }
    return false;
}
