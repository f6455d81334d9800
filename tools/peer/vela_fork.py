# SPDX-License-Identifier: Apache-2.0
"""Vela without its start: imported once, a child of this process for every graph.

    compiled(data, accelerator)     the bytes of _vela.npz; may end the process, so call it in a child
    forked(function, seconds)       what function returns, from a child; None when it died or took longer
    Server()                        a program that is called like `vela` and answered by children of this process: server.path

    vela_fork.py COMMAND...         the command with such a `vela` in its PATH: scripts that call Vela a thousand times
"""
import os
import pickle
import resource
import select
import signal
import stat
import sys
import tempfile
import traceback

import npu_vela

settings = {}


def argv_of(file, accelerator, folder):
    return [file, *npu_vela.options(accelerator), "--output-format", "raw", "--output-dir", folder]


def learn(accelerator):
    """What Vela's command line hands to its compiler for an accelerator; asked of Vela itself, once."""
    from ethosu.vela import vela
    if accelerator not in settings:
        kept = vela.process_regor

        def note(_arch, _input, name, system, options, *_):
            settings[accelerator] = name, system, options

        vela.process_regor = note
        try:
            with tempfile.NamedTemporaryFile(suffix=".tosa") as f:
                vela.main(argv_of(f.name, accelerator, tempfile.gettempdir()))
        finally:
            vela.process_regor = kept


def compiled(data, accelerator):
    from ethosu import regor
    from ethosu.vela import rawdata_writer
    name, system, options = settings[accelerator]
    made = regor.compile(name, data, "TOSA", system, options=options, verbose=False)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as d:
        rawdata_writer.write_rawdata_output_from_model(d + "/x", made)
        return open(d + "/x_vela.npz", "rb").read()


def mute():
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


def forked(function, seconds=60):
    """(result, "") or (None, how it ended)."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(read)
            signal.alarm(seconds)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            mute()
            said = pickle.dumps(function())
            while said:
                said = said[os.write(write, said):]
            os._exit(0)
        except BaseException:  # noqa: BLE001
            os._exit(1)
    os.close(write)
    parts = []
    while part := os.read(read, 1 << 20):
        parts.append(part)
    os.close(read)
    status = os.waitpid(pid, 0)[1]
    if status:
        return None, f"exit {status >> 8}" if status >> 8 else f"signal {status & 127}"
    return pickle.loads(b"".join(parts)), ""


SHIM = """#!/bin/sh
# Handed to a process that has Vela loaded: where it writes, where it works, the arguments, one a line; answered by the exit status.
exec 3>&1 4>&2
mkfifo "{folder}/$$"
{{ echo "$PWD"; for a in "$@"; do printf '%s\\n' "$a"; done; echo; }} > "{folder}/$$.ask"
echo $$ > "{folder}/ask"
read rc < "{folder}/$$"
rm -f "{folder}/$$" "{folder}/$$.ask"
exit "$rc"
"""


class Server:
    """Until this process ends."""

    def __init__(self):
        from ethosu.vela import vela
        self.folder = tempfile.mkdtemp(dir="/dev/shm")
        self.path = self.folder + "/vela"
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(SHIM.format(folder=self.folder))
        os.chmod(self.path, os.stat(self.path).st_mode | stat.S_IXUSR)
        os.mkfifo(self.folder + "/ask")
        parent = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            try:
                self.serve(vela, parent)
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
            os._exit(0)

    def serve(self, vela, parent):
        ask = os.open(self.folder + "/ask", os.O_RDWR)
        children, waiting = {}, b""
        while os.getppid() == parent:
            if select.select([ask], [], [], 0.002 if children else 1)[0]:
                waiting += os.read(ask, 4096)
            *whole, waiting = waiting.split(b"\n")
            for client in whole:
                children[self.answer(vela, client.decode())] = client.decode()
            while children:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                code = os.waitstatus_to_exitcode(status)
                with open(f"{self.folder}/{children.pop(pid)}", "w", encoding="utf-8") as f:
                    f.write(f"{code if code >= 0 else 128 - code}\n")

    def answer(self, vela, client):
        folder, *argv = open(f"{self.folder}/{client}.ask", encoding="utf-8").read().split("\n")
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            os.chdir(folder)
            for fd in (1, 2):
                os.dup2(os.open(f"/proc/{client}/fd/{fd + 2}", os.O_WRONLY | os.O_APPEND), fd)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            vela.main(argv[:argv.index("")] if "" in argv else argv)
            code = 0
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else int(bool(e.code))
        except BaseException as e:  # noqa: BLE001
            print(e, file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def close(self):
        import shutil
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    """vela_fork.py COMMAND...: the command, with such a `vela` in front of its PATH."""
    import subprocess
    server = Server()
    try:
        return subprocess.run(sys.argv[1:], env={**os.environ, "PATH": server.folder + ":" + os.environ["PATH"]}, check=False).returncode
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
