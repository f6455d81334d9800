"""A copy of the tree with something added, built and tried: what new_operator.py and new_target.py share."""
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent


class Copy:
    def __init__(self, where):
        self.where = pathlib.Path(where).resolve()
        self.passed = self.failed = 0
        shutil.rmtree(self.where / "src", ignore_errors=True)
        skip = shutil.ignore_patterns("suites", "fixture", "kept", "corpus")
        for part in ["src", "include", "test", "tools", "python", "fuzz", "bench", "cmake", "share", "packaging"]:
            if (HERE / part).is_dir():
                shutil.copytree(HERE / part, self.where / part, dirs_exist_ok=True, ignore=skip)
        shutil.copy(HERE / "CMakeLists.txt", self.where)

    def tell(self, good, words):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(words)

    def run(self, *command):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=self.where)

    def build(self, *programs):
        more = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        more += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
        made = self.run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DTOSAC_WERROR=ON", "-DCMAKE_BUILD_TYPE=Dev",
                        "-DCMAKE_C_FLAGS_DEV=-O0", *more)
        made = made if made.returncode else self.run("ninja", "-C", "build", *programs)
        self.tell(made.returncode == 0, made.stdout[-4000:] + made.stderr[-1000:])
        return made.returncode == 0

    def done(self):
        """The closing line, and the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return self.failed != 0
