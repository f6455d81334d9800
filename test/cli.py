#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: exit codes, messages, files.

    cli.py [--bless] [--quick] [-j JOBS] [-k WORD] TOSAC

A case is a file of test/cli/SUBJECT:

    # What it shows, in a sentence.

    $ tosac run branch.ir --set flag -i row.npy      a command of bash; more lines of it begin with '> '
    exit 2                                           what it returns, unless that is 0
    ~ --set takes INPUT=VALUE                        a piece of one line of what it says (standard output and error)
    = f32[1,3]                                       or all of what it says, line by line

The commands of a case run one after the other, by one shell, in a folder of its own, with 'fixture' and 'golden' of this folder
next to them, and the files of test/cli/files whose names the case has.  "uses decoder" before the first command also gives it
what the case test/cli/made/decoder.txt has left, which runs once, before all that use it; "needs PROGRAM" skips the case where there is none;
"slow" there is a case of several seconds, which --quick leaves out.

A failure is shown as a difference of the case's file: --bless writes it.  A lost piece becomes the line that is most like it."""
import argparse, concurrent.futures, contextlib, difflib, os, pathlib, re, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cli"
MOST_SECONDS = 1200  # of a case, with sanitizers on a machine that is busy


class Command:
    def __init__(self, line):
        self.source, self.words, self.status, self.pieces, self.whole = [line], [line[2:]], 0, [], None

    def expect(self, line):
        """Takes a line after the command; False where it is none of a command's."""
        if line.startswith("> ") or line == ">":
            self.words.append(line[2:])
        elif re.fullmatch(r"exit \d+", line):
            self.status = int(line[5:])
        elif line.startswith("~ "):
            self.pieces.append(line[2:])
        elif line.startswith("= ") or line == "=":
            self.whole = (self.whole or []) + [line[2:]]
        else:
            return False
        self.source.append(line)
        return True

    def checks(self):
        return max(1, len(self.pieces))

    def blessed(self, status, said):
        """What the case would have to say, and how many checks have failed."""
        lines = said.splitlines()
        lost = [piece for piece in self.pieces if not any(piece in line for line in lines)]
        bad = status != self.status or (self.whole is not None and self.whole != lines) or bool(lost)
        if not bad:
            return self.source, 0
        out = [("> " if k else "$ ") + words if words or not k else ">" for k, words in enumerate(self.words)]
        out += [f"exit {status}"] * (status != 0)
        for piece in self.pieces:
            near = difflib.get_close_matches(piece, lines, 1, 0) if piece in lost else [piece]
            out += ["~ " + near[0]] if near else []
        if self.whole is not None:
            out += [("= " + line).rstrip() if not line else "= " + line for line in lines]
        return out, max(1, len(lost))


def read_case(path):
    """The file as commands and the lines between them."""
    parts, command = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("$ "):
            command = Command(line)
            parts.append(command)
        elif line.startswith("#") or not line or (not command and (line == "slow" or line.startswith(("uses ", "needs ")))):
            command = None
            parts.append(line)
        elif not command or not command.expect(line):
            sys.exit(f"{path}:{number}: neither a command nor what is expected of one: {line}")
    return parts


def words_of(parts, key):
    """What follows 'uses' or 'needs'."""
    return [word for part in parts if isinstance(part, str) and part.startswith(key + " ") for word in part.split()[1:]]


def copy(files, folder):
    for file in files:
        (shutil.copytree if file.is_dir() else shutil.copy2)(file, folder / file.name)


class Result:
    def __init__(self, path, parts):
        self.path, self.parts, self.lines, self.said = path, parts, [], []
        self.checks = self.failed = self.skipped = self.seconds = 0


def run_case(path, tosac, made, folder):
    """Runs the commands of a case in a folder, which stays; made: the names of the cases that others use, with their results to come."""
    since, parts = time.monotonic(), read_case(path)
    result, commands = Result(path, parts), [part for part in parts if isinstance(part, Command)]
    if any(not shutil.which(program) for program in words_of(parts, "needs")):
        result.skipped = sum(command.checks() for command in commands)
        return result
    folder.mkdir()
    text = path.read_text()
    copy([file for file in (CASES / "files").iterdir() if file.name in text], folder)
    for name in words_of(parts, "uses"):
        made[name].result()
        copy([file for file in (folder.parent / f"made+{name}").iterdir() if not file.is_symlink() and not (folder / file.name).exists()], folder)
    for name in ("fixture", "golden"):
        (folder / name).symlink_to(HERE / name)
    with tempfile.TemporaryDirectory() as notes:
        script = ["set -uo pipefail"]
        for k, command in enumerate(commands):
            pathlib.Path(notes, f"{k}.sh").write_text("\n".join(command.words) + "\n")
            script.append(f". {notes}/{k}.sh >{notes}/{k}.said 2>&1 </dev/null; echo $? >{notes}/{k}.status")
        os.symlink(tosac, f"{notes}/tosac")
        environment = dict(os.environ, PATH=f"{notes}:{os.environ['PATH']}", ROOT=str(HERE.parent), TOSAC=str(tosac))
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environment, timeout=MOST_SECONDS, stdin=subprocess.DEVNULL)
        for part in parts:
            if not isinstance(part, Command):
                result.lines.append(part)
                continue
            k = commands.index(part)
            status, said = (pathlib.Path(notes, f"{k}.{name}") for name in ("status", "said"))
            said = said.read_text(errors="replace") if said.exists() else ""
            lines, lost = part.blessed(int(status.read_text()) if status.exists() else 124, said)
            result.lines += lines
            result.checks += part.checks()
            result.failed += lost
            if lost:
                result.said += ["$ " + part.words[0]] + said.splitlines()[-20:]
    result.seconds = time.monotonic() - since
    return result


def show(result):
    """A failure as a difference of its file."""
    name = str(result.path.relative_to(HERE))
    was = result.path.read_text().splitlines()
    print(*difflib.unified_diff(was, result.lines, name, name + ", as it is now", n=1, lineterm=""), sep="\n")
    print("  what was said:", *("    " + line for line in result.said), sep="\n", flush=True)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--bless", action="store_true")
    ask.add_argument("-j", type=int, default=os.cpu_count())
    ask.add_argument("-k", default="", help="cases whose names contain it")
    ask.add_argument("--quick", action="store_true", help="without the slow ones")
    ask.add_argument("-v", action="store_true", help="the seconds of every case")
    ask.add_argument("tosac", type=pathlib.Path)
    arguments = ask.parse_args()
    every = {str(path.relative_to(CASES).with_suffix("")): path for path in sorted(CASES.rglob("*.txt"))}
    wanted = {name for name in every if arguments.k in name and not (arguments.quick and "slow" in read_case(every[name]))}
    first = sorted({"made/" + word for name in wanted for word in words_of(read_case(every[name]), "uses")} | {name for name in wanted if name.startswith("made/")})
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        made, begun = {}, []
        for name in first + sorted(wanted - set(first), key=lambda name: -every[name].stat().st_size):
            begun.append(pool.submit(run_case, every[name], arguments.tosac.resolve(), made, pathlib.Path(work, name.replace("/", "+"))))
            made[name.removeprefix("made/")] = begun[-1]
        for done in concurrent.futures.as_completed(begun):
            result = done.result()
            failed, skipped, passed = failed + result.failed, skipped + result.skipped, passed + result.checks - result.failed
            if arguments.v:
                print(f"{result.seconds:7.1f} s  {result.path.relative_to(CASES)}", flush=True)
            if result.failed and arguments.bless:
                result.path.write_text("\n".join(result.lines) + "\n")
                print("blessed", result.path.relative_to(HERE), flush=True)
            elif result.failed:
                show(result)
    print(f"command line: {passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed != 0 and not arguments.bless


sys.exit(main())
