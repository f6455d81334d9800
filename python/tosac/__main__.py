# SPDX-License-Identifier: Apache-2.0
"""`python -m tosac`: the command line, which comes with the package."""
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    from ._library import HERE, find_vela

    find_vela()
    program = str(HERE / "_lib" / "tosac")
    os.execv(program, ["tosac", *sys.argv[1:]])


if __name__ == "__main__":
    main()
