#!/usr/bin/env bash
# No function of the C library decides a byte: what rounds in its own way in every library (exp, log, sin, ...) is our own (base/real.h,
# num/math.h).  fma is exact by its definition, and shaders ask for it.  Neither is a product fused with a sum where floats are
# added up.        check-math.sh [LIBTOSAC.A]
set -uo pipefail
cd "$(dirname "$0")/.."
library=${1:-build/libtosac.a}
inexact='(exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|hypot|cbrt|lgamma|tgamma)(f|l)?'
good=0 bad=0
objects=$(ar t "$library" | wc -l)
found=$(nm -A -u "$library" 2>/dev/null | grep -E " U $inexact\$" | sed 's/^[^:]*://')
[ "$objects" -gt 500 ] && [ -z "$found" ] && good=1 || { bad=1 && echo "functions of the C library, of $objects objects:" && echo "$found"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for object in float.c.o float_tile.c.o gemm.c.o conv.c.o outer.c.o real.c.o math.c.o; do
    if ar p "$library" "$object" >"$work/o" && ! objdump -d "$work/o" | grep -qE '\b(vfn?m(add|sub)|fn?m(add|sub|la|ls)\b)'; then
        good=$((good + 1))
    else
        bad=$((bad + 1)) && echo "$object: a product is fused with a sum, or it is missing"
    fi
done
echo "$good passed, $bad failed"
[ $bad = 0 ]
