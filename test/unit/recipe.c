/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c -- every recipe that a row of the readers' tables has: its operators, fields and words
 * are ours, its arguments are those of the format's operator.  Recipes that are not are refused. */
#include "check.h"

#include "read/pt2/pt2.h"
#include "read/recipe.h"

/* The arguments of every target that aten.def names. */
static const struct {
    const char *target, *arguments;
} aten[] = {
#include "aten_schema.h"
};

static bool among(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = n ? strstr(list, word) : NULL; p; p = strstr(p + 1, word))
        if ((p == list || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
            return true;
    return false;
}

static const char *schema_of(const char *target)
{
    for (size_t i = 0; i < TC_COUNT(aten); i++)
        if (ti_text_eq(aten[i].target, target))
            return aten[i].arguments;
    return NULL;
}

/* The next of the row's targets, in full; NULL: there are no more. */
static const char *next_target(const char *p, char target[200])
{
    int n = (int)strcspn(p, " "), dots = 0;
    if (!n)
        return NULL;
    for (int i = 0; i < n; i++)
        dots += p[i] == '.';
    snprintf(target, 200, "%s%.*s%s", dots < 2 ? "aten." : "", n, p, dots ? "" : ".default");
    return p + n + strspn(p + n, " ");
}

/* One of the row's targets has the argument. */
static bool known_to_aten(const void *names, const char *argument)
{
    char target[200];
    for (const char *p = names; (p = next_target(p, target));) {
        const char *arguments = schema_of(target);
        if (arguments && among(arguments, argument))
            return true;
    }
    return false;
}

/* Every target of a row is one of aten_schema.h. */
static bool has_schemas(const char *names)
{
    char target[200];
    bool all = true;
    for (const char *p = names; (p = next_target(p, target));)
        if (!schema_of(target)) {
            printf("test/unit/aten_schema.h has no row {\"%s\", \"its arguments\"}: write it, or have "
                   "tools/peer/aten_schema.py write them all (it needs torch)\n",
                   target);
            all = false;
        }
    return all;
}

/* Rows of onnx.def and tflite.def that have recipes. */
static const struct {
    const char *name, *text;
} onnx[] = {
#define ONNX(...)
#define ONNX_MS(...)
#define ONNX_IS(name, first, last, recipe, note) {#name, recipe},
#define ONNX_MS_IS ONNX_IS
#include "read/onnx/onnx.def"
}, tflite[] = {
#define TFL(...)
#define TFL_IS(code, name, last, recipe, codes, op, extra, note) {#name, recipe},
#define TFL_ACTIVATED TFL_IS
#include "read/tflite/tflite.def"
};

/* The attributes that ONNX's operators have, of those whose recipes name any; and options of
 * TensorFlow Lite's that are read by number. */
static const struct {
    const char *name, *attributes;
} named[] = {
    {"Mod", "fmod"},
    {"Gelu", "approximate"},
    {"Elu", "alpha"},
    {"Selu", "alpha gamma"},
    {"Celu", "alpha"},
    {"LeakyRelu", "alpha"},
    {"ThresholdedRelu", "alpha"},
    {"Swish", "alpha"},
    {"SwiGLU", "alpha"},
    {"IsInf", "detect_negative detect_positive"},
    {"TopK", "k axis largest sorted"},
    {"InstanceNormalization", "epsilon"},
    {"Trilu", "upper"},
    {"GridSample", "align_corners mode padding_mode"},
    {"SOFTMAX", "option0"},    /* SoftmaxOptions: beta */
    {"GELU", "option0"},       /* GeluOptions: approximate */
    {"LEAKY_RELU", "option0"}, /* LeakyReluOptions: alpha */
};

static bool known_by_name(const void *name, const char *argument)
{
    for (size_t i = 0; i < TC_COUNT(named); i++)
        if (ti_text_eq(named[i].name, name) && among(named[i].attributes, argument))
            return true;
    return among("in0 in1 in2", argument);
}

static bool good(tc_arena *arena, const char *names, const char *text,
                 bool (*known)(const void *, const char *))
{
    const char *wrong = ti_recipe_check(arena, text, known, names);
    if (wrong)
        printf("%s: %s: %s\n", names, text, wrong);
    return !wrong;
}

static bool any_name(const void *names, const char *argument)
{
    return among(names, argument);
}

/* What must not pass, and why. */
static const struct {
    const char *text, *why;
} refused[] = {
    {"elo(self, alpha:1)", "'elo' is not an operator"},
    {"elu(self, alpha:1, scale:1)", "'elu' needs 'input_scale'"},
    {"elu(self, alpha:1, alpha:1, scale=1, input_scale=1)", "given twice"},
    {"leaky_relu(self, alpha:1)", "no field 'alpha'"},
    {"leaky_relu(selv, slope=0.1)", "the operator has no 'selv'"},
    {"leaky_relu(self, slope=slop:1)", "the operator has no 'slop'"},
    {"leaky_relu(self, slope=)", "a name is expected"},
    {"leaky_relu(self, slope=1", "',' is expected"},
    {"leaky_relu(self, slope=1) self", "the end is expected"},
    {"add(self, alpha=1)", "'add' does not take 1 operands"},
    {"gelu(self, form=alpha{none:erf, tan})", "'tan' is not a word of 'gelu_form'"},
    {"gelu(self, form='tan')", "'tan' is not a word of 'gelu_form'"},
    {"sort(self, axis=0, descending=false)[2]", "'sort' has no result 2"},
    {"full(shape=self.shape, value=0, dtype=other.dtype)", "the operator has no 'other'"},
    {"full(shape=self.size, value=0, dtype=f32)", "',' is expected"},
    {"if(is_odd(self), self, self)", "the operator has no 'is_odd'"},
    {"if(alpha:1 = 1, self)", "',' is expected"},
    {"if(has(beta), self, self)", "the operator has no 'beta'"},
    {"leaky_relu(self, slope=1) unless train: never", "the operator has no 'train'"},
};

int main(void)
{
    tc_arena arena;
    ti_arena_init(&arena);
    static check_state state[TC_COUNT(refused)]; /* a case each */
    for (const tc_pt2_row *r = tc_pt2_recipes; r->targets; r++)
        CHECK(has_schemas(r->targets) && good(&arena, r->targets, r->recipe, known_to_aten));
    for (size_t i = 0; i < TC_COUNT(onnx); i++)
        CHECK(good(&arena, onnx[i].name, onnx[i].text, known_by_name));
    for (size_t i = 0; i < TC_COUNT(tflite); i++)
        CHECK(good(&arena, tflite[i].name, tflite[i].text, known_by_name));
    for (size_t i = 0; i < TC_COUNT(refused); i++) {
        const char *wrong = ti_recipe_check(&arena, refused[i].text, any_name, "self alpha scale");
        check_once(&state[i], wrong && strstr(wrong, refused[i].why), __FILE__, __LINE__,
                   wrong ? wrong : refused[i].text);
    }
    ti_arena_free(&arena);
    return check_done();
}
