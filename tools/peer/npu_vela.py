# SPDX-License-Identifier: Apache-2.0
"""How Vela is asked here: for which system and memory mode; and a .tosa through its raw output, in a child of this process."""
import glob, os

SYSTEM = {"u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"), "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
          "u85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")}


def options(accelerator, mode=None):
    """Of Vela's command line; mode: another memory mode."""
    system, usual = SYSTEM[accelerator.split("-")[1]]
    return [f"--accelerator-config={accelerator}", "--config=Arm/vela.ini", f"--system-config={system}", f"--memory-mode={mode or usual}"]


def compile(file, accelerator, folder):
    """Vela in a child of this process: its start is paid once, its deaths are its own."""
    from ethosu.vela import vela
    pid = os.fork()
    if not pid:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1), os.dup2(null, 2)
            vela.main([file, *options(accelerator), "--output-format=raw", "--output-dir=" + folder])
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    made = glob.glob(os.path.join(folder, "*_vela.npz"))
    return made[0] if made else None
