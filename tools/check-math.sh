#!/usr/bin/env bash
# No function of the C library decides a byte: what rounds in its own way in every library (exp, log, sin, ...) is our own (base/real.h,
# num/math.h).  Of the library of mathematics only functions whose result C or IEEE 754 fixes to the bit are called; nowhere is a product
# fused with a sum, and floats are kept in their own width.        check-math.sh [LIBTOSAC.A [OBJDUMP]]
set -uo pipefail
cd "$(dirname "$0")/.."
library=${1:-build/libtosac.a} objdump=${2:-objdump}
exact='ceil|fabs|floor|fma|fmax|fmin|fmod|frexp|ilogb|ldexp|llrint|llround|lrint|lround|nearbyint|nextafter|rint|round|scalbn|sqrt|trunc|copysign'
# All that such a library has, by the headers' own list where there is no file to ask.
names='a?(cos|sin|tan)h?|atan2|sincos|exp(2|10|m1)?|pow(10)?|log(2|10|1p|b)?|cbrt|hypot|erfc?|[lt]?gamma|[jy][01n]|remainder|remquo|drem|modf|fdim|significand|scalb'
good=0 bad=0
result() { # WORDS FOUND: nothing is to be found
    [ -z "$2" ] && good=$((good + 1)) && return
    bad=$((bad + 1)) && printf '%s:\n%s\n' "$1" "$2"
}
objects=$(ar t "$library" | wc -l)
[ "$objects" -gt 500 ] && good=1 || { bad=1 && echo "$library has $objects objects"; }
called=$(nm -u "$library" 2>/dev/null | awk '$1 == "U" {print $2}' | grep -vE '^(ti|tc)_' | sort -u)
mathematics=$(for f in $(cc -print-file-name=libm.so.6) /lib/*/libm.so.6; do [ -e "$f" ] && nm -D --defined-only "$f" && break; done 2>/dev/null | awk '{sub(/@.*/, "", $3); print $3}')
inexact() { grep -vxE "($exact)[fl]?" | sort -u; }
result "functions of the C library that round in its own way" "$({ grep -xE "(__)?($names)[fl]?(_finite)?" <<<"$called" && true; grep -xF "$mathematics" <<<"$called"; } | inexact)"
result "a product is fused with a sum" "$("$objdump" -d "$library" | awk '/^[^ ]+\.o(bj)?:/ {object = $1} /[ \t](vfn?m(add|sub)[a-z0-9]*|fn?m(add|sub|la|ls))[ \t]/ {n[object]++} END {for (o in n) print o, n[o]}')"
result "sums of long double, or of another width by the compiler's own way" "$("$objdump" -d "$library" | awk '/^[^ ]+\.o(bj)?:/ {object = $1} /[ \t](fadd|fmul|fdiv|fsub)p?[ \t]+%st/ {n[object]++} END {for (o in n) print o, n[o]}')"
echo "$good passed, $bad failed"
[ $bad = 0 ]
