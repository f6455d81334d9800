#!/usr/bin/env bash
# Full disks, short writes, errors and closed pipes: a message, an exit code, nothing half-written.
#        faults.sh TOSAC FAULTS.SO
set -uo pipefail
tosac=$(realpath "$1") shim=$(realpath "$2")
cd "$(dirname "$0")"
dir=$(mktemp -d) passed=0 failed=0 faults=0
trap 'rm -rf "$dir"' EXIT
digits=fixture/digits

holds() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "does not hold: $words"; fi
}

# The command with each such call failing, one after the other, until none is left to fail.  It says so in a line of its
# own, exits with 1 or 4, leaves the old file as it was and nothing beside it.
every() { # CALL ERROR FILE ARGUMENTS...
    local call=$1 error=$2 file=$3 k status said
    shift 3
    for ((k = 1; k < 200; k++)); do
        rm -rf "$dir/out" "$dir/fired" && mkdir "$dir/out"
        echo old >"$dir/out/$file"
        LD_PRELOAD=$shim TOSAC_FAULT=$call:$k:$error TOSAC_FAULT_FIRED=$dir/fired TMPDIR=$dir/out "$tosac" "$@" >"$dir/said" 2>&1 </dev/null
        status=$?
        said=$(tr -d '\0' <"$dir/said")
        if [ ! -e "$dir/fired" ]; then
            holds "$call: without a fault it works: $said" [ $status = 0 ]
            break
        fi
        faults=$((faults + 1))
        if [ $status = 0 ]; then # another way was found; then the file is whole
            holds "$call $k $error: exit 0 and a whole file" cmp -s "$dir/out/$file" "$dir/whole/$file"
        else
            holds "$call $k $error: exit $status: $said" eval '[ $status = 1 ] || [ $status = 4 ]'
            holds "$call $k $error: a message: $said" eval '[[ $said == *error:* ]]'
            holds "$call $k $error: the old file" eval '[ "$(cat "$dir/out/$file")" = old ]'
        fi
        local there=$file
        [ $status != 0 ] || there=$(ls -A "$dir/whole")
        holds "$call $k $error: nothing else beside it: $(ls -A "$dir/out")" [ "$(ls -A "$dir/out")" = "$there" ]
    done
    holds "$call: some call failed" [ $k -gt 1 ]
}

mkdir "$dir/whole"
tosa=(compile $digits/model.pt2 -t TOSA-1.0+INT --calib $digits/calib.npz --threads 1)
"$tosac" "${tosa[@]}" -o "$dir/whole/m.tosa" >/dev/null || exit 1
for fault in write:ENOSPC write:EDQUOT write:EIO close:EIO link:EIO rename:EIO open:EACCES read:EIO; do
    every "${fault%:*}" "${fault#*:}" m.tosa "${tosa[@]}" -o "$dir/out/m.tosa"
done

# Calls that do less than they were asked for, or are interrupted, make no difference.
mkdir "$dir/short"
for fault in write:0:short read:0:short write:1:EINTR read:2:EINTR; do
    LD_PRELOAD=$shim TOSAC_FAULT=$fault "$tosac" "${tosa[@]}" -o "$dir/short/m.tosa" >/dev/null 2>&1
    holds "$fault: the same file" cmp "$dir/short/m.tosa" "$dir/whole/m.tosa"
    rm -f "$dir/short/m.tosa"
done

# What is printed: a full disk is an error, a reader that leaves early is none.
said=$("$tosac" inspect $digits/model.pt2 2>&1 >/dev/full)
status=$?
holds "standard output on a full disk: exit $status: $said" eval '[ $status = 1 ] && [[ $said == *"standard output"* ]]'
said=$( (set +o pipefail; { "$tosac" inspect $digits/model.pt2 --json; echo "exit $?" >&2; } 2>&1 1>&3 3>&- | cat) 3> >(exec true))
holds "a pipe whose reader has left: $said" eval '[[ $said == *"exit 0"* ]]'

# However the program ends, nothing of an unfinished file stays: it never had a name.
rm -rf "$dir/out" && mkdir "$dir/out"
ulimit -c 0
said=$(ulimit -f 16; "$tosac" "${tosa[@]}" -o "$dir/out/m.tosa" 2>&1)
holds "a limit on the size of files is an error: $said" eval '[[ $said == *"cannot write it"* ]]'
holds "a limit on the size of files: nothing is left: $(ls -A "$dir/out")" [ -z "$(ls -A "$dir/out")" ]

echo "$faults faults"
echo "faults: $passed passed, $failed failed"
[ $failed = 0 ]
