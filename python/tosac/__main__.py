# SPDX-License-Identifier: Apache-2.0
"""`python -m tosac`: the command line, which comes with the package."""
import os
import subprocess
import sys
from typing import NoReturn


def main() -> NoReturn:
    from ._library import HERE

    if os.name == "nt":  # there execv() returns to the shell at once
        sys.exit(subprocess.run([str(HERE / "_lib" / "tosac.exe"), *sys.argv[1:]]).returncode)
    os.execv(str(HERE / "_lib" / "tosac"), ["tosac", *sys.argv[1:]])


if __name__ == "__main__":
    main()
