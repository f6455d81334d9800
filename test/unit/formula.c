/* SPDX-License-Identifier: Apache-2.0 */
/* formula.c -- the language of formulas: what a text makes, in what order; and every text of
 * the table. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "ir/formula.h"

/* What was made, as calls: "1=exp(x) 2=add(1,3)". */
typedef struct scribe {
    char text[4000];
    uint32_t n;
} scribe;

static void put_term(char *to, size_t size, tc_term t)
{
    size_t n = strlen(to);
    if (t.known)
        snprintf(to + n, size - n, "%g", t.number);
    else if (t.made >= 1000)
        snprintf(to + n, size - n, "%c", (char)('x' + t.made - 1000));
    else
        snprintf(to + n, size - n, "#%u", t.made);
}

static tc_term write_down(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    scribe *s = f->maker;
    size_t at = strlen(s->text);
    snprintf(s->text + at, sizeof s->text - at, "%s%s(", s->n ? " " : "",
             op == TC_FORMULA_LIKE ? "like" : tc_ops[op].name);
    for (int i = 0; i < n; i++) {
        if (i)
            strncat(s->text, ",", sizeof s->text - strlen(s->text) - 1);
        put_term(s->text, sizeof s->text, in[i]);
    }
    strncat(s->text, ")", sizeof s->text - strlen(s->text) - 1);
    return (tc_term){.made = ++s->n};
}

/* What the text makes with this attribute; "wrong at ..." where it cannot be read. */
static const char *made(const char *text, tc_attr_kind kind, const void *attr)
{
    static scribe s;
    static char answer[5000];
    tc_formula f = {text, kind, attr, {1000, 1001, 1002}, write_down, &s};
    tc_term out = {0};
    const char *wrong;
    s = (scribe){0};
    if (!ti_formula_apply(&f, &out, &wrong))
        snprintf(answer, sizeof answer, "wrong at '%s'", wrong);
    else {
        snprintf(answer, sizeof answer, "%s%s", s.text, s.n ? " " : "");
        put_term(answer, sizeof answer, out);
    }
    return answer;
}

static bool makes(const char *text, const char *expected)
{
    const char *found = made(text, TC_ATTR_none, NULL);
    if (strcmp(found, expected) != 0)
        fprintf(stderr, "%s\n  found    %s\n  expected %s\n", text, found, expected);
    return strcmp(found, expected) == 0;
}

static void language(void)
{
    CHECK(makes("x", "x"));
    CHECK(makes("x * (1 + 2 * 3 - 8 / 4)", "mul(x,5) #1"));
    CHECK(makes("-x * 2 + y", "neg(x) mul(#1,2) add(#2,y) #3"));
    CHECK(makes("x - y - 1", "sub(x,y) sub(#1,1) #2"));
    CHECK(makes("!(x < 0) | x == y & x != 1",
                "lt(x,0) logical_not(#1) eq(x,y) ne(x,1) logical_and(#3,#4) logical_or(#2,#5) #6"));
    CHECK(makes("x > 0 ? x : x < -1 ? 0 : y", "gt(x,0) lt(x,-1) where(#2,0,y) where(#1,x,#3) #4"));
    CHECK(makes("a = exp(x); a = a + 1; a * a", "exp(x) add(#1,1) mul(#2,#2) #3"));
    CHECK(makes("x == 0 ? 1 : x", "eq(x,0) where(#1,1,x) #2"));
    CHECK(makes("1 < 2 ? sin(x) : cos(x)", "sin(x) #1"));
    CHECK(makes("poly(x, 3, 2, 1)", "mul(x,1) add(#1,2) mul(#2,x) add(#3,3) #4"));
    CHECK(makes("like(x, inf)", "like(x,inf) #1"));
    CHECK(makes("clamp(x, -1, pi / 2)", "clamp(x,-1,1.5708) #1"));
}

static void fields(void)
{
    tc_attr_gelu by_tanh = {TC_gelu_form_tanh};
    tc_attr_elu elu = {2, 3, 1};
    CHECK(!strcmp(made("form == tanh ? tanh(x) : erf(x)", TC_ATTR_gelu, &by_tanh), "tanh(x) #1"));
    CHECK(!strcmp(made("x * (alpha * scale)", TC_ATTR_elu, &elu), "mul(x,6) #1"));
}

static void mistakes(void)
{
    CHECK(makes("x +", "wrong at ''"));
    CHECK(makes("x + q", "wrong at ''"));
    CHECK(makes("nothing(x)", "wrong at ''"));
    CHECK(makes("(x", "wrong at ''"));
    CHECK(makes("x ? y", "wrong at ''"));
    CHECK(makes("x y", "wrong at 'y'"));
    CHECK(makes("exp(1)", "wrong at ''")); /* what is known must be folded */
    CHECK(makes("like(x, y)", "wrong at ''"));
    CHECK(makes("cat(x, y)", "wrong at ''"));
    CHECK(makes("add(x)", "wrong at ''"));
    CHECK(makes("clamp(x, y, 1)", "wrong at ''"));
    CHECK(makes("1 + 2", "wrong at ''")); /* it must depend on something */
    CHECK(makes("", "wrong at ''"));
}

/* With attributes of zeros, every text can be read. */
static void the_table(void)
{
    static const char zeros[256];
    for (int op = 0; op < TC_OP_COUNT; op++) {
        tc_op_formula f = ti_formula_of((tc_op)op, NULL);
        const char *text[] = {f.tosa, f.cpu};
        for (int i = 0; i < 2; i++) {
            bool read = !text[i] || strncmp(made(text[i], tc_ops[op].attr, zeros), "wrong", 5) != 0;
            if (!read)
                fprintf(stderr, "'%s': %s\n", tc_ops[op].name, text[i]);
            CHECK(read);
        }
        CHECK(!text[0] || (tc_ops[op].max_in <= 3 && tc_ops[op].n_out == 1));
    }
}

int main(void)
{
    language();
    fields();
    mistakes();
    the_table();
    return check_done();
}
