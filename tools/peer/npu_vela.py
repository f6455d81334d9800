# SPDX-License-Identifier: Apache-2.0
"""A .tosa through Vela's raw output, in a child of this process."""
import glob, os

SYSTEM = {"u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"), "u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
          "u85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")}


def compile(file, accelerator, folder):
    """Vela in a child of this process: its start is paid once, its deaths are its own."""
    from ethosu.vela import vela
    pid = os.fork()
    if not pid:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1), os.dup2(null, 2)
            system, memory = SYSTEM[accelerator.split("-")[1]]
            vela.main([file, "--accelerator-config=" + accelerator, "--config=Arm/vela.ini", "--system-config=" + system,
                       "--memory-mode=" + memory, "--output-format=raw", "--output-dir=" + folder])
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    made = glob.glob(os.path.join(folder, "*_vela.npz"))
    return made[0] if made else None
