# SPDX-License-Identifier: Apache-2.0
"""How Vela is asked here: for which system and memory mode; and a .tosa through its raw output, in a child of this process."""
import glob, os, sys

SYSTEM = {"u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"), "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
          "u85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")}


def options(accelerator, mode=None):
    """Of Vela's command line; mode: another memory mode."""
    system, usual = SYSTEM[accelerator.split("-")[1]]
    return [f"--accelerator-config={accelerator}", "--config=Arm/vela.ini", f"--system-config={system}", f"--memory-mode={mode or usual}"]


def compile(file, accelerator, folder, form="raw"):
    """Vela in a child of this process: its start is paid once, its deaths are its own.  What it says is in FOLDER/said."""
    from ethosu.vela import vela
    pid = os.fork()
    if not pid:
        try:
            said = os.open(os.path.join(folder, "said"), os.O_WRONLY | os.O_CREAT)
            os.dup2(said, 1), os.dup2(said, 2)
            vela.main([file, *options(accelerator), "--output-format=" + form, "--output-dir=" + folder])
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(pid, 0)
    made = glob.glob(os.path.join(folder, "*_vela.*"))
    return made[0] if made else None
