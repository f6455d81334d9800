#!/usr/bin/env bash
# The device for Debian's own qemu-system-arm: headers from the source package of the installed version, no QEMU is built.
#
#   make.sh FOLDER      FOLDER/libqemu-ethosu.so; what was fetched stays in FOLDER for the next time
#
# Needs libglib2.0-dev, gcc, python3, dpkg-dev and a Debian mirror (tools/setup.sh emulate).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for include in "$here/../../include" "$here/../../../include" /usr/include; do # of a source tree; installed
    [ ! -d "$include/tosac" ] || break
done
mkdir -p "$1/gen" "$1/lists/partial" && cd "$1"
version=$(dpkg-query -W -f='${source:Version}' qemu-system-arm)

if [ "$(cat version 2>/dev/null)" != "$version" ]; then
    rm -rf qemu
    list=$PWD/sources.list
    {
        [ ! -e /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list
        for f in /etc/apt/sources.list.d/*.sources; do
            [ ! -e "$f" ] || awk '/^URIs:/ {u = $2} /^Suites:/ {for (i = 2; i <= NF; i++) print "deb-src", u, $i, "main"}' "$f"
        done
    } >"$list"
    options=(-q -o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=- -o Dir::State::Lists="$PWD/lists" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >/dev/null
    apt-get "${options[@]}" source --download-only "qemu=$version" >/dev/null 2>&1
    dpkg-source --no-check -x qemu_*.dsc qemu >/dev/null 2>&1
    (cd qemu && python3 scripts/qapi-gen.py -b -o ../gen/qapi qapi/qapi-schema.json)
    echo "$version" >version
fi
# What QEMU's configure would find, as far as its headers ask.
for word in CONFIG_POSIX CONFIG_LINUX CONFIG_TCG CONFIG_PLUGIN CONFIG_IOVEC CONFIG_SENDFILE CONFIG_INT128 CONFIG_MADVISE \
    CONFIG_THREAD_SETNAME_BYTHREAD HAVE_STRCHRNUL HAVE_OPENPTY "HOST_$(uname -m | tr a-z A-Z)"; do
    echo "#define $word 1"
done >gen/config-host.h
: >gen/config-poison.h
# shellcheck disable=SC2046
gcc -O2 -Wall -fPIC -shared -DETHOSU_PLUGIN -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -std=gnu11 -iquote qemu -iquote qemu/include -Igen -Igen/qapi \
    -Iqemu/include -isystem qemu/linux-headers -I"$include" $(pkg-config --cflags glib-2.0) "$here/ethosu.c" "$here/cache.c" -o libqemu-ethosu.so.new
mv libqemu-ethosu.so.new libqemu-ethosu.so
