/* SPDX-License-Identifier: Apache-2.0 */
/* lower_plain.c -- elementwise operators on plain numbers as TOSA: floats within 1e-6 of the
 * largest, integers and bools equal. */
#include "lower_check.h"

static const char FP[] = "TOSA-1.0+FP", INT[] = "TOSA-1.0+INT";

/* y = op(x) on f32 between lo and hi, and on a narrow interval around lo + (hi - lo) / 3. */
static void real_function(const char *op, double lo, double hi)
{
    char text[512];
    snprintf(text, sizeof text,
             "graph @t(%%0: f32[400]) {\n  %%1 = %s : f32[400]\n  return %%1\n}\n", op);
    lower_plain.float_lo = lo;
    lower_plain.float_hi = hi;
    LOWERS(FP, 1e-6, text);
    double middle = lo + (hi - lo) / 3;
    lower_plain.float_lo = middle - (hi - lo) / 1000;
    lower_plain.float_hi = middle + (hi - lo) / 1000;
    LOWERS(FP, 2e-6, text);
}

static void functions(void)
{
    static const struct {
        const char *op;
        double lo, hi;
    } list[] = {
        {"exp %0", -20, 20},
        {"exp2 %0", -20, 100},
        {"expm1 %0", -3, 3},
        {"expm1 %0", -1e-4, 1e-4},
        {"log %0", 0.01, 100},
        {"log2 %0", 0.01, 100},
        {"log10 %0", 0.01, 100},
        {"log1p %0", -0.99, 50},
        {"log1p %0", -1e-4, 1e-4},
        {"sqrt %0", 0, 9},
        {"rsqrt %0", 0.1, 9},
        {"reciprocal %0", 0.1, 9},
        {"sin %0", -9, 9},
        {"cos %0", -9, 9},
        {"tan %0", -1.4, 1.4},
        {"asin %0", -1, 1},
        {"acos %0", -1, 1},
        {"acos %0", 0.999, 1},
        {"atan %0", -20, 20},
        {"sinh %0", -89, 89},
        {"sinh %0", -1e-3, 1e-3},
        {"cosh %0", -89, 89},
        {"tanh %0", -4, 4},
        {"asinh %0", -1e7, 1e7},
        {"asinh %0", -1e-3, 1e-3},
        {"acosh %0", 1, 1.001},
        {"acosh %0", 1, 1e8},
        {"atanh %0", -1, 1},
        {"erf %0", -4, 4},
        {"erfc %0", -4, 8},
        {"erfc %0", 3, 5},
        {"erfinv %0", -0.9999, 0.9999},
        {"sigmoid %0", -9, 9},
        {"log_sigmoid %0", -50, 9},
        {"silu %0", -9, 9},
        {"mish %0", -30, 30},
        {"hardswish %0", -4, 4},
        {"hardsigmoid %0", -4, 4},
        {"softsign %0", -4, 4},
        {"round %0 decimals=0", -4, 4},
        {"gelu %0 form=erf", -4, 4},
        {"gelu %0 form=tanh", -4, 4},
        {"softplus %0 beta=2 threshold=20", -20, 20},
        {"elu %0 alpha=1.5 scale=1.1 input_scale=0.7", -9, 4},
        {"leaky_relu %0 slope=0.1", -4, 4},
        {"leaky_relu %0 slope=-2", -4, 4},
        {"logit %0 eps=1e-05", 0, 1},
        {"hardshrink %0 lambda=0.5", -4, 4},
        {"softshrink %0 lambda=0.5", -4, 4},
        {"threshold %0 threshold=1 value=7", -4, 4},
        {"relu %0", -4, 4},
        {"clamp %0 lo=-1 hi=2", -4, 4},
        {"clamp %0 lo=3 hi=2", -4, 4},
        {"sign %0", -4, 4},
        {"trunc %0", -4, 4},
        {"frac %0", -4, 4},
        {"neg %0", -4, 4},
        {"abs %0", -4, 4},
        {"square %0", -4, 4},
        {"floor %0", -4, 4},
        {"ceil %0", -4, 4},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        real_function(list[i].op, list[i].lo, list[i].hi);
}

/* Numbers that are none, and ends of the domains. */
static void odd_numbers(void)
{
    static const char *const op[] = {"erfinv", "atanh",    "asin", "acos",  "acosh",
                                     "log1p",  "expm1",    "sinh", "cosh",  "log_sigmoid",
                                     "mish",   "asinh",    "atan", "trunc", "isnan",
                                     "isinf",  "isfinite", "sqrt", "erfc"};
    for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
        char text[512];
        bool truth = strncmp(op[i], "is", 2) == 0;
        snprintf(text, sizeof text,
                 "graph @t(%%0: f32[9]) {\n  %%1 = const [1, -1, 0, inf, -inf, nan, 2, -2, 90] : "
                 "f32[9]\n"
                 "  %%2 = mul %%0, %%1 : f32[9]\n  %%3 = %s %%2 : %s[9]\n  return %%3\n}\n",
                 op[i], truth ? "bool" : "f32");
        lower_plain.float_lo = lower_plain.float_hi = 1;
        LOWERS(FP, 1e-6, text);
    }
}

static void pairs(void)
{
    static const char *const op[] = {
        "add %0, %1 alpha=1",    "sub %0, %1 alpha=0.5",  "mul %0, %1",
        "div %0, %1 mode=exact", "div %0, %1 mode=floor", "div %0, %1 mode=trunc",
        "remainder %0, %1",      "fmod %0, %1",           "maximum %0, %1",
        "fmin %0, %1",           "atan2 %0, %1",          "hypot %0, %1",
        "copysign %0, %1",       "logaddexp %0, %1"};
    lower_plain.float_lo = -5;
    lower_plain.float_hi = 4;
    for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "graph @t(%%0: f32[2,40], %%1: f32[40]) {\n  %%2 = %s : f32[2,40]\n  return %%2\n}\n",
            op[i]);
        LOWERS(FP, 1e-6, text);
    }
    static const char *const of_ints[] = {
        "add %0, %1 alpha=3", "sub %0, %1 alpha=1", "mul %0, %1",        "maximum %0, %1",
        "bitwise_and %0, %1", "bitwise_or %0, %1",  "bitwise_xor %0, %1"};
    lower_plain.int_lo = -100;
    lower_plain.int_hi = 100;
    for (size_t i = 0; i < sizeof of_ints / sizeof *of_ints; i++)
        for (int k = 0; k < 3; k++) {
            char text[512];
            const char *type = k == 0 ? "i32" : k == 1 ? "i16" : "i8";
            snprintf(
                text, sizeof text,
                "graph @t(%%0: %s[2,40], %%1: %s[40]) {\n  %%2 = %s : %s[2,40]\n  return %%2\n}\n",
                type, type, of_ints[i], type);
            LOWERS(INT, 0, text);
        }
}

/* Divisors from a list without zero, shifts from 0 to 7; both profiles. */
static void quotients(void)
{
    static const char *const op[] = {"div %0, %1 mode=floor", "div %0, %1 mode=trunc",
                                     "remainder %0, %1",      "fmod %0, %1",
                                     "shift_left %0, %2",     "shift_right %0, %2"};
    for (size_t i = 0; i < sizeof op / sizeof *op; i++)
        for (int k = 0; k < 4; k++) {
            char text[512];
            const char *type = k & 1 ? "i32" : "i8";
            snprintf(text, sizeof text,
                     "graph @t(%%0: %s[64]) {\n"
                     "  %%1 = const "
                     "[3,-3,7,-7,1,-1,100,-100,3,-3,7,-7,5,-5,11,-11,3,-3,7,-7,1,-1,100,-100,3,-3,"
                     "7,-7,5,-5,11,-11,"
                     "3,-3,7,-7,1,-1,99,-100,3,-3,7,-7,5,-5,11,-11,3,-3,7,-7,1,-1,100,-100,3,-3,7,-"
                     "7,5,-5,11,-11] : %s[64]\n"
                     "  %%2 = const [2] : %s[1]\n  %%3 = %s : %s[64]\n  return %%3\n}\n",
                     type, type, type, op[i], type);
            lower_plain.int_lo = k & 1 ? -2000000000 : -120;
            lower_plain.int_hi = k & 1 ? 2000000000 : 120;
            LOWERS(k & 2 ? FP : INT, 0, text);
        }
    lower_plain.int_lo = -20;
    lower_plain.int_hi = 20;
}

static void truth(void)
{
    static const char *const op[] = {
        "eq %0, %1",          "ne %0, %1",     "lt %0, %1",          "le %0, %1",
        "gt %0, %1",          "ge %0, %1",     "logical_and %0, %1", "logical_or %0, %1",
        "logical_xor %0, %1", "logical_not %0"};
    static const char *const type[] = {"i32", "f32", "bool", "i8"};
    for (size_t i = 0; i < sizeof op / sizeof *op; i++)
        for (int k = 0; k < 4; k++) {
            char text[512];
            snprintf(
                text, sizeof text,
                "graph @t(%%0: %s[200], %%1: %s[200]) {\n  %%2 = %s : bool[200]\n  return %%2\n}\n",
                type[k], type[k], op[i]);
            LOWERS("TOSA-1.0+INT+FP", 0, text);
        }
    LOWERS(FP, 0,
           "graph @t(%0: bool[2,3], %1: f32[3], %2: f32[1]) {\n  %3 = where %0, %1, %2 : "
           "f32[2,3]\n  return %3\n}\n");
    LOWERS(INT, 0,
           "graph @t(%0: bool[2,3], %1: i8[3], %2: i8[1]) {\n  %3 = where %0, %1, %2 : i8[2,3]\n  "
           "return %3\n}\n");
}

static void powers(void)
{
    static const char *const n[] = {"0", "1", "2", "3", "-2", "0.5", "-0.5", "1.7", "7"};
    lower_plain.float_lo = 0.1;
    lower_plain.float_hi = 3;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "graph @t(%%0: f32[90]) {\n  %%1 = const [%s] : f32[1]\n  %%2 = pow %%0, %%1 : "
                 "f32[90]\n"
                 "  return %%2\n}\n",
                 n[i]);
        LOWERS(FP, 1e-6, text);
    }
    lower_plain.float_lo = -3;
    LOWERS(FP, 1e-6,
           "graph @t(%0: f32[5]) {\n  %1 = const [2, 3, -1, 4.5, 0] : f32[5]\n  %2 = pow %0, %1 : "
           "f32[5]\n"
           "  return %2\n}\n");
}

static void casts(void)
{
    static const char *const type[] = {"f32", "f16", "i32", "i16", "i8", "bool"};
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            char text[512];
            snprintf(
                text, sizeof text,
                "graph @t(%%0: %s[100]) {\n  %%1 = cast %%0 dtype=%s : %s[100]\n  return %%1\n}\n",
                type[a], type[b], type[b]);
            LOWERS("TOSA-1.0+INT+FP", 0, text);
        }
}

static void products(void)
{
    LOWERS(FP, 1e-6,
           "graph @t(%0: f32[5], %1: f32[4,6], %2: f32[6,5]) {\n  %3 = addmm %0, %1, %2 beta=0.5 "
           "alpha=2 : f32[4,5]\n"
           "  return %3\n}\n");
    LOWERS(FP, 1e-6,
           "graph @t(%0: f32[2,4,5], %1: f32[2,4,6], %2: f32[2,6,5]) {\n  %3 = addmm %0, %1, %2 "
           "beta=1 alpha=1 : "
           "f32[2,4,5]\n  return %3\n}\n");
    REFUSES(FP, "graph @t(%0: f32[0,4]) {\n  %1 = exp %0 : f32[0,4]\n  return %1\n}\n",
            "without elements");
    REFUSES(
        FP,
        "graph @t(%0: f32[1,1,1,1,1,1,2]) {\n  %1 = exp %0 : f32[1,1,1,1,1,1,2]\n  return %1\n}\n",
        "rank 7");
}

static void transforms(void)
{
    static const char text[] =
        "graph @t(%0: f32[3,4,8]) {\n"
        "  %1 = fft %0 axes=[1,2] kind=real_to_complex norm=by_sqrt_n last=0 : c64[3,4,5]\n"
        "  %2 = real %1 : f32[3,4,5]\n  %3 = imag %1 : f32[3,4,5]\n  return %2, %3\n}\n";
    LOWERS("TOSA-1.0+FP+fft", 2e-6, text);
    REFUSES(FP, text, "no Fourier transform");
}

static void control(void)
{
    static const char cond[] =
        "graph @t(%0: f32[1], %1: f32[3], %2: f32[3]) {\n  %3 = const [0.5] : f32[1]\n"
        "  %4 = gt %0, %3 : bool[1]\n"
        "  %5, %6 = cond %4, %1, %2 then_graph=\"a\" else_graph=\"b\" : f32[3], f32[3]\n  return "
        "%5, %6\n}\n"
        "graph @a(%0: f32[3], %1: f32[3]) {\n  %2 = add %0, %1 alpha=1 : f32[3]\n  return %2, "
        "%0\n}\n"
        "graph @b(%0: f32[3], %1: f32[3]) {\n  %2 = mul %0, %1 : f32[3]\n  return %2, %1\n}\n";
    static const char loop[] =
        "graph @t(%0: f32[3]) {\n  %1 = const [0.1, 0.2, 0.7] : f32[3]\n"
        "  %2 = while_loop %0, %1 cond_graph=\"c\" body_graph=\"b\" : f32[3]\n  return %2\n}\n"
        "graph @c(%0: f32[3], %1: f32[3]) {\n  %2 = sum %0 axes=[0] keepdim=false : f32[]\n"
        "  %3 = const 20 : f32[]\n  %4 = lt %2, %3 : bool[]\n  return %4\n}\n"
        "graph @b(%0: f32[3], %1: f32[3]) {\n  %2 = add %0, %1 alpha=1 : f32[3]\n  return %2\n}\n";
    LOWERS("TOSA-1.0+FP+cf", 1e-6, cond);
    LOWERS("TOSA-1.0+FP+cf", 1e-6, loop);
    REFUSES(FP, cond, "no control flow");
}

int main(void)
{
    control();
    transforms();
    products();
    functions();
    odd_numbers();
    pairs();
    quotients();
    truth();
    powers();
    casts();
    return check_done();
}
