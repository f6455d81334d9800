#!/usr/bin/env bash
# Folders of src use one another in one direction only, by their headers and by their functions: CONTRIBUTING.md's table of folders says
# what each stands on.                                                  check-layers.sh [SRC [LIBRARY [CONTRIBUTING.md]]]
set -euo pipefail
src=${1:-src} library=${2:-build/libtosac.a} page=${3:-CONTRIBUTING.md}
# What looks upward all the same: FILE NAME, a header or a function.
known=(
    "num/kernels.h ../ir/op.def" # the kernels' prototypes are made from the table of operators
    "ir/op.c ti_num_ethosu" # the same table names the kernel of every operator; these two run a program of the simulator
    "ir/op.c ti_num_tosa_shader" # and of the interpreter of shaders
    "ir/op.c ti_shape_tosa_shader"
)
declare -A stands may
while IFS='|' read -r _ folder _ on _; do
    [[ $folder =~ \`src/([a-z]+)\` ]] && stands[${BASH_REMATCH[1]}]=$on
done <"$page"
# All that a folder stands on, into `found`.
descend() {
    local folder
    for folder in ${stands[$1]-}; do
        case " $found " in
        *" $folder "*) ;;
        *) found="$found $folder" && descend "$folder" ;;
        esac
    done
}
for folder in "${!stands[@]}"; do
    found=$folder
    descend "$folder"
    may[$folder]=$found
done
looked=0 wrong=0
# "FILE FOLDER-OF-THE-FILE HEADER FOLDER-OF-THE-HEADER" for every include.
includes() {
    grep -roHE --include='*.[ch]' --include='*.def' '^ *# *include "[^"]*"' "$src" |
        awk -v src="$src/" -F: '{
            file = $1; header = $2; gsub(/^[^"]*"|"$/, "", header)
            n = split(substr(file, length(src) + 1), part, "/") - 1 # the last one is the name
            m = split(header, word, "/")
            for (i = 1; i <= m; i++) { if (word[i] == "..") n--; else if (word[i] != ".") part[++n] = word[i] }
            from = substr(file, length(src) + 1); sub(/\/.*/, "", from)
            to = n < 1 ? "outside" : part[1]
            if (header ~ /^tosac\//) to = from # the public headers are for everybody
            print substr(file, length(src) + 1), from, header, to
        }'
}
# "FILE FOLDER-OF-THE-FILE FUNCTION FOLDER-OF-THE-FUNCTION" for every use of a function or constant of another folder.
uses() {
    { find "$src" -name '*.c' -printf 'file %P\n' && nm -A -P -g "$library"; } | awk '
        $1 == "file" { name = $2; sub(/.*\//, "", name); path[name] = $2; next }
        {
            name = $1; sub(/\.o\]?:$/, "", name); sub(/.*[\/:\[]/, "", name)
            if (!(name in path)) next # made from a table
            folder = path[name]; sub(/\/.*/, "", folder)
            if ($3 == "U") { n++; by[n] = path[name]; from[n] = folder; used[n] = $2 } else of[$2] = folder
        }
        END { for (i = 1; i <= n; i++) if (used[i] in of && of[used[i]] != from[i]) print by[i], from[i], used[i], of[used[i]] }'
}
declare -A met
# look HOW FILE FOLDER NAME FOLDER-OF-THE-NAME
look() {
    looked=$((looked + 1))
    case " ${may[$3]-} " in *" $5 "*) return ;; esac
    for one in "${known[@]}"; do
        [ "$one" = "$2 $4" ] && met[$one]=1 && return
    done
    echo "$src/$2: error: '$3' $1 '$4' of '$5', which is not below it [layers]" >&2
    wrong=$((wrong + 1))
}
for folder in "$src"/*/; do
    folder=$(basename "$folder")
    [ -n "${stands[$folder]+row}" ] && continue
    echo "$src/$folder: error: $page has no row for it in its table of folders [layers]" >&2
    wrong=$((wrong + 1)) looked=$((looked + 1))
done
while read -r file from header to; do look includes "$file" "$from" "$header" "$to"; done < <(includes)
skipped=0
if [ -f "$library" ]; then
    while read -r file from name to; do look uses "$file" "$from" "$name" "$to"; done < <(uses)
    for one in "${known[@]}"; do
        looked=$((looked + 1))
        [ -n "${met[$one]-}" ] && continue
        echo "$0: error: nothing uses '$one' any more: strike it from what looks upward [layers]" >&2
        wrong=$((wrong + 1))
    done
else
    echo "there is no $library: uses of functions are not looked at"
    skipped=1
fi
# Forms for Ethos-U: nothing but those includes one.
while IFS= read -r line; do
    echo "$line: error: stands on a form for one machine [rooms]" >&2
    wrong=$((wrong + 1))
    looked=$((looked + 1))
done < <(grep -rnE --include='*.[ch]' '#include ".*ethosu/' "$src" | grep -vE "^$src/lower/ethosu/.*ethosu/")
# A machine is known by its record (src/machine): nothing else asks for one by name.
while IFS= read -r line; do
    echo "$line: error: asks for a machine by name; its record has abilities and costs [machines]" >&2
    wrong=$((wrong + 1))
    looked=$((looked + 1))
done < <(grep -rnE --include='*.[ch]' 'TC_FEATURE_U55|tc_machine_(u55|u65|u85|vgf|cpu)\b' "$src" | grep -vE "^$src/(target|machine)/")
# A file is known by its name alone: no two are called the same.
while IFS= read -r name; do
    echo "$(find "$src" -name "$name" | sort | paste -sd' '): error: files of one name [names]" >&2
    wrong=$((wrong + 1))
    looked=$((looked + 1))
done < <(find "$src" \( -name '*.[ch]' -o -name '*.def' \) -printf '%f\n' | sort | uniq -d)
echo "layers: $((looked - wrong)) passed, $wrong failed, $skipped skipped"
# What is made is made in an order that the program says (check-order.py).
if command -v python3 >/dev/null; then
    python3 "$(dirname "$0")/check-order.py" "$src" || wrong=$((wrong + 1))
else
    echo "there is no python3: the order of evaluation is not looked at"
    echo "order of evaluation: 0 passed, 0 failed, 1 skipped"
fi
[ "$wrong" = 0 ] && [ "$looked" != 0 ]
