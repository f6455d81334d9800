#!/usr/bin/env bash
# What grows with the model, as ratios in one run: time over the number of inputs, outputs, readers and concatenations;
# a chain of 50,000 nodes; calibration's peak beside the file; large pictures; inspecting weights that are larger than memory.
# Fails nothing.        large.sh [TOSAC]
set -uo pipefail
cd "$(dirname "$0")/.."
tosac=$(realpath "${1:-build/tosac}") shared=$(realpath "${TOSAC_SHARED:-../shared}")
work=$(mktemp -d "${TMPDIR:-/tmp}/tosac-large.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# spent COMMAND...: processor seconds and megabytes, or nothing where it fails
spent() { /usr/bin/time -o time -f '%U %S %M' "$tosac" "$@" >/dev/null 2>&1 && awk 'END { print $1 + $2, $3 / 1024 }' time; }
row() { # WORDS VALUE UNIT AIM: less is better
    awk -v w="$1" -v v="${2:-nan}" -v u="$3" -v a="$4" 'BEGIN { printf "%-64s %9.2f %-3s <= %7s %-3s %s\n", w, v, u, a, u,
        v == "nan" ? "-" : v + 0 <= a + 0 ? "yes" : "no" }'
}

# graph KIND N TYPE: TYPE has @ for the number of channels
graph() {
    awk -v kind="$1" -v n="$2" -v type="$3" '
    function t(c, s) { s = type; sub(/@/, c, s); return s }
    BEGIN {
        split("relu neg abs tanh", op, " ")
        if (kind == "inputs") { # added up two by two
            printf "graph @main("
            for (i = 0; i < n; i++) printf "%s%%%d: %s", i ? ", " : "", i, t(8)
            print ") {"
            for (i = 0; i < n - 1; i++) printf "  %%%d = add %%%d, %%%d alpha=1 : %s\n", n + i, 2 * i, 2 * i + 1, t(8)
            printf "  return %%%d\n}\n", 2 * n - 2
            exit
        }
        printf "graph @main(%%0: %s) {\n", t(8)
        if (kind == "chain") {
            for (i = 0; i < n; i++)
                if (i % 5 == 4) printf "  %%%d = add %%%d, %%0 alpha=1 : %s\n", i + 1, i, t(8)
                else printf "  %%%d = %s %%%d : %s\n", i + 1, op[i % 5 + 1], i, t(8)
            printf "  return %%%d\n}\n", n
        } else if (kind == "outputs") {
            for (i = 0; i < n; i++) printf "  %%%d = %s %%%d : %s\n", i + 1, op[i % 4 + 1], i, t(8)
            printf "  return %%1"
            for (i = 1; i < n; i++) printf ", %%%d", i + 1
            print "\n}"
        } else if (kind == "readers") {
            for (i = 0; i < n; i++) printf "  %%%d = %s %%0 : %s\n", i + 1, op[i % 4 + 1], t(8)
            printf "  %%%d = cat %%1", n + 1
            for (i = 1; i < n; i++) printf ", %%%d", i + 1
            printf " axis=1 : %s\n  return %%%d\n}\n", t(8 * n), n + 1
        } else { # blocks of 20 layers, each of which concatenates all before it
            for (i = 0; k + 3 <= n; i = (i + 1) % 20) {
                if (!i) { first = k; c = 8 }
                from[i] = k
                if (i) {
                    printf "  %%%d = cat %%%d", ++k, from[0]
                    for (j = 1; j <= i; j++) printf ", %%%d", from[j]
                    printf " axis=1 : %s\n", t(8 * (i + 1))
                }
                printf "  %%%d = slice %%%d axis=1 start=%d end=%d step=1 : %s\n", k + 1, k, 8 * i, 8 * i + 8, t(8)
                printf "  %%%d = tanh %%%d : %s\n", k + 2, k + 1, t(8)
                k += 2
            }
            printf "  return %%%d\n}\n", k
        }
    }'
}

printf '%-64s %13s %14s %s\n' what measured aim met
typed='i8[1,@] q(0.05:-3)' float='f32[1,@]'
for kind in inputs outputs readers dense; do
    for n in 5000 20000; do
        graph $kind $n "$typed" >q.$n.ir
        graph $kind $n "$float" >f.$n.ir
    done
    for how in 'TOSA-1.0+INT q' 'cpu f'; do
        read -r target file <<<"$how"
        suffix=$([ "$target" = cpu ] && echo pte || echo tosa)
        read -r few _ < <(spent compile $file.5000.ir -t "$target" -o o.$suffix)
        read -r many mb < <(spent compile $file.20000.ir -t "$target" -o o.$suffix)
        row "$kind, 20,000 beside 5,000 nodes, $target: ${many:--} s, ${mb:--} MB" \
            "$(awk -v a="${many:-}" -v b="${few:-0}" 'BEGIN { if (b + 0 > 0) print a / b }')" x 6
    done
done
graph chain 50000 "$typed" >chain.ir
for target in TOSA-1.0+INT ethos-u85-256; do
    read -r s mb < <(spent compile chain.ir -t $target --emit tosa -o o.tosa)
    row "a chain of 50,000 nodes, $target: time" "${s:-}" s 3
    row "a chain of 50,000 nodes, $target: memory" "${mb:-}" MB 500
done

for folder in "$shared"/zoo/*/; do
    calib=$folder/calib.npz model=$folder/model.pt2
    [ -e "$calib" ] && [ -e "$model" ] || continue
    read -r s mb < <(spent compile "$model" --calib "$calib" -t TOSA-1.0+INT -o o.tosa)
    row "calibration's peak beside the file: $(basename "$folder"), $s s" \
        "$(awk -v mb="${mb:-}" -v f="$(stat -c %s "$model")" 'BEGIN { if (mb != "") print mb * 1048576 / f }')" x 6
done

# Windows of 169 numbers in each of 1,000 channels
python3 - <<'P' 2>/dev/null
w = [((i * 37 % 64) - 32) / 160 for i in range(169000)]
print("graph @main(%0: f32[1,1000,24,24]) {", f"  %1 = const {w} : f32[1000,1,13,13]", f"  %2 = const {w[:1000]} : f32[1000]",
      "  %3 = conv %0, %1, %2 stride=[1,1] pad=[6,6,6,6] dilation=[1,1] groups=1000 : f32[1,1000,24,24]",
      "  return %3", "}", sep="\n", file=open("depthwise.ir", "w"))
P
read -r s mb < <(spent compile depthwise.ir --calib random:1 -t TOSA-1.0+INT -o o.tosa)
row "a depthwise convolution of 13x13 over 1,000 channels, ${s:--} s" "${mb:-}" MB 400

# A picture of 2048x2048 through two convolutions of stride 2
awk 'function c(n, i) { s = "0.1"; for (i = 1; i < n; i++) s = s ", " ((i * 37 % 64) - 32) / 160; return "const [" s "]" }
BEGIN { print "graph @main(%0: f32[1,3,2048,2048]) {"
    print "  %1 = " c(432) " : f32[16,3,3,3]"; print "  %2 = " c(16) " : f32[16]"
    print "  %3 = conv %0, %1, %2 stride=[2,2] pad=[1,1,1,1] dilation=[1,1] groups=1 : f32[1,16,1024,1024]"
    print "  %4 = relu %3 : f32[1,16,1024,1024]"
    print "  %5 = " c(4608) " : f32[32,16,3,3]"; print "  %6 = " c(32) " : f32[32]"
    print "  %7 = conv %4, %5, %6 stride=[2,2] pad=[1,1,1,1] dilation=[1,1] groups=1 : f32[1,32,512,512]"
    print "  return %7\n}" }' >picture.ir
for target in TOSA-1.0+INT ethos-u85-256 vgf:TOSA-1.0+INT; do
    suffix=$(case $target in vgf*) echo vgf ;; ethos*) echo pte ;; *) echo tosa ;; esac)
    read -r _ mb < <(spent compile picture.ir --calib random:1 -t $target -o o.$suffix)
    row "a picture of 2048x2048, $target" "${mb:-}" MB 1536
done

# 4.7 GB of weights that are a hole in a file, beside a model of 300 bytes
python3 - <<'P' 2>/dev/null
rows = 73400320
def number(n):
    return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])
def field(n, data):
    data = data.encode() if isinstance(data, str) else data
    return number(n << 3 | 2) + number(len(data)) + data
def integer(n, v):
    return number(n << 3) + number(v)
def weight(name, dims, at):
    where = (("location", "weights"), ("offset", str(at)), ("length", str(32 * rows)))
    return (b"".join(integer(1, d) for d in dims) + integer(2, 1) + field(8, name)
            + b"".join(field(13, field(1, k) + field(2, v)) for k, v in where) + integer(14, 1))
def node(op, a, b, y):
    return field(1, node_of(op, a, b, y))
def node_of(op, a, b, y):
    return field(1, a) + field(1, b) + field(2, y) + field(4, op)
def port(name):
    return field(1, name) + field(2, field(1, integer(1, 1) + field(2, field(1, integer(1, 1)) + field(1, integer(1, 8)))))
graph = (node("MatMul", "x", "w", "y") + node("MatMul", "y", "v", "z") + field(2, "g") + field(5, weight("w", (8, rows), 0))
         + field(5, weight("v", (rows, 8), 32 * rows)) + field(11, port("x")) + field(12, port("z")))
open("large.onnx", "wb").write(integer(1, 8) + field(7, graph) + field(8, field(1, "") + integer(2, 17)))
open("weights", "wb").truncate(64 * rows)
P
read -r s mb < <(spent inspect large.onnx)
row 'inspect 4.7 GB of weights beside an ONNX file: memory' "${mb:-}" MB 50
row 'inspect 4.7 GB of weights beside an ONNX file: time' "${s:-}" s 1
exit 0
