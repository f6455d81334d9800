#!/usr/bin/env bash
# Calibration on engines that people run, each a real cluster of two workers on this machine: Ray and Dask through the Python
# package, GNU parallel and Slurm through the command line.  What comes out has the bytes of one run, also after a worker
# was killed.        check-cluster.sh [BUILD]
#
# TOSAC_CLUSTER names a Python that has ray, distributed and pytest; without it a fresh environment is made.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}") here=$PWD dir=$(mktemp -d)
passed=0 failed=0 skipped=0 daemons=()
finish() {
    local pid
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
    [ ${#daemons[@]} = 0 ] || sleep 1
    rm -rf "$dir"
}
trap finish EXIT
holds() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "does not hold: $words"; fi
}
skip() { skipped=$((skipped + 1)) && echo "not tried: $1"; }

# ---- Ray and Dask ----

python=${TOSAC_CLUSTER:-}
if [ -z "$python" ] && python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q ray distributed pytest numpy >"$dir/pip" 2>&1; then
    python=$dir/venv/bin/python
fi
if [ -n "$python" ] && tools/wheel.sh "$dir" "$build" >"$dir/wheel" 2>&1; then
    "$python" -m venv --system-site-packages "$dir/tosac" >/dev/null
    "$python" -c 'import site; print(site.getsitepackages()[0])' >"$("$dir/tosac/bin/python" -c 'import site; print(site.getsitepackages()[0])')/other.pth"
    "$dir/tosac/bin/pip" install -q --no-deps "$dir"/tosac-*.whl >/dev/null 2>&1
    (cd python/tests && "$dir/tosac/bin/python" -m pytest -q -p no:cacheprovider --basetemp="$dir/t" test_distributed.py) >"$dir/log" 2>&1
    holds "workers of Ray and of Dask" [ $? = 0 ]
    grep -q ' 0 skipped\|skipped' "$dir/log" && skip "ray or distributed is not installed"
    [ $failed = 0 ] || tail -40 "$dir/log"
else
    skip "Ray and Dask: there is no Python with them (TOSAC_CLUSTER), and none could be made"
fi

# ---- the data in three parts, and one run over all of it ----

digits=$here/test/fixture/digits
export TOSAC=$build/tosac
python3 - "$digits/calib.npz" "$dir" <<'END'
# A stored .npz is cut by hand: no numpy is wanted here.
import ast, io, struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    name = z.namelist()[0]
    raw = z.read(name)
n = struct.unpack("<H", raw[8:10])[0]
head, body = ast.literal_eval(raw[10:10 + n].decode()), raw[10 + n:]
count, step = head["shape"][0], len(body) // head["shape"][0]
for i, (a, b) in enumerate(((0, 10), (10, 30), (30, count))):
    words = repr({**head, "shape": (b - a, *head["shape"][1:])}).encode()
    words += b" " * (-(len(words) + 11) % 64) + b"\n"
    with zipfile.ZipFile(f"{sys.argv[2]}/part{i}.npz", "w") as z:
        z.writestr(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words + body[a * step:b * step])
END
parts=("$dir"/part*.npz)
"$TOSAC" quantize "$digits/model.pt2" --calib "$digits/calib.npz" -o "$dir/one.ir" >/dev/null
same() { sed "s/$1/one/g" "$dir/$1.ir" | cmp -s - "$dir/one.ir" && cmp -s "$dir/$1.ir.bin" "$dir/one.ir.bin"; }

# A command that kills itself the first time it is asked for the second part: a worker that is lost.
cat >"$dir/losing" <<END
#!/usr/bin/env bash
case " \$* " in *part1.npz*--observe-only*) [ -e "$dir/lost" ] || { touch "$dir/lost"; kill -9 \$\$; } ;; esac
echo "\$*" >>"$dir/runs"
exec "$TOSAC" "\$@"
END
chmod +x "$dir/losing"
runs() { grep -c -- "$1.*--observe-only" "$dir/runs"; }

# ---- GNU parallel ----

if command -v parallel >/dev/null; then
    (export PARALLEL=-j2 TOSAC=$dir/losing WORK=$dir/parallel.d && mkdir "$WORK" && examples/cluster/parallel.sh "$digits/model.pt2" "$dir/parallel.ir" "${parts[@]}" >"$dir/log" 2>&1)
    holds "GNU parallel gives the bytes of one run" same parallel
    holds "a worker was lost" [ -e "$dir/lost" ]
    holds "its part alone was begun again" [ "$(runs part0)$(runs part1)$(runs part2)" = 222 ]
    holds "how far it is, is seen" [ "$(wc -l <"$dir/parallel.d/second.log")" = 4 ]
else
    skip "GNU parallel is not installed"
fi

# ---- Slurm: a controller and two nodes ----

slurm() {
    local name
    name=$(hostname -s)
    export SLURM_CONF=$dir/slurm.conf
    mkdir "$dir/spool" "$dir/state"
    head -c 1024 /dev/urandom >"$dir/munge.key"
    chmod 600 "$dir/munge.key"
    cat >"$SLURM_CONF" <<END
ClusterName=tosac
SlurmctldHost=$name
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.sock
CryptoType=crypto/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
SlurmctldPort=17100
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmdSpoolDir=$dir/spool/%n
StateSaveLocation=$dir/state
NodeName=w0 NodeHostname=$name NodeAddr=127.0.0.1 Port=17101 CPUs=1 State=UNKNOWN
NodeName=w1 NodeHostname=$name NodeAddr=127.0.0.1 Port=17102 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=w0,w1 Default=YES MaxTime=INFINITE State=UP
END
    chmod 755 "$dir"
    munged --foreground --force --socket="$dir/munge.sock" --key-file="$dir/munge.key" --pid-file="$dir/munge.pid" \
        --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" >/dev/null 2>&1 &
    daemons+=($!)
    sleep 1
    slurmctld -D >"$dir/ctld.log" 2>&1 &
    daemons+=($!)
    slurmd -D -N w0 >"$dir/w0.log" 2>&1 &
    daemons+=($!)
    slurmd -D -N w1 >"$dir/w1.log" 2>&1 &
    daemons+=($!)
    for _ in $(seq 30); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return 0
        sleep 1
    done
    return 1
}
if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null && [ "$(id -u)" = 0 ]; then
    if slurm; then
        rm -f "$dir/lost" "$dir/runs"
        (cd "$dir" && export TOSAC=$dir/losing WORK=$dir/slurm.d && "$here/examples/cluster/slurm.sh" "$digits/model.pt2" "$dir/slurm.ir" "${parts[@]}" >"$dir/job" 2>&1)
        seen=0
        for _ in $(seq 120); do
            squeue -h -r -o '%K %T' 2>/dev/null | grep -qE '^[0-2] (PENDING|RUNNING)' && seen=1
            [ -e "$dir/slurm.ir" ] && [ -z "$(squeue -h 2>/dev/null)" ] && break
            sleep 0.5
        done
        holds "Slurm's arrays give the bytes of one run" same slurm
        holds "a worker was lost there too" [ -e "$dir/lost" ]
        holds "its part alone was begun again there too" [ "$(runs part0)$(runs part1)$(runs part2)" = 222 ]
        holds "squeue shows how far it is" [ $seen = 1 ]
        [ $failed = 0 ] || { cat "$dir/job" && squeue && tail -n 5 "$dir/ctld.log" "$dir/slurm.d"/*.log; }
    else
        skip "a cluster of Slurm's does not start here: $(tail -1 "$dir/ctld.log")"
    fi
else
    skip "Slurm is not installed, or we are not root"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
