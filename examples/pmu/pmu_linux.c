/* SPDX-License-Identifier: Apache-2.0 */
/* pmu_linux.c -- the log of pmu.h on Linux, beside whatever runs the job: watches QREAD and the cycle counter
 * of the NPU's registers through /dev/mem, as root.  Streams are those of `tosac compile --marks wait`: an
 * interrupt ends a job of the kernel's driver.
 *
 *   cc -O2 pmu_linux.c pmu.c -o pmu
 *   ./pmu 0x4a900000 10 model.pte > model.log & tosac run model.pte -i data.npz --device first
 *
 *   pmu ADDRESS [JOBS [PROGRAM [DEVICE]]]     the registers' address is that of the device tree; DEVICE: /dev/mem */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmu.h"

enum { BYTES = 0x2000 };

static void print(const char *text)
{
    fputs(text, stdout);
}

/* A job from its first command to its end. */
static void watch(pmu *p)
{
    uint32_t seen = 0;
    while (!pmu_running(p))
        ;
    pmu_begin(p);
    while (pmu_running(p)) {
        uint32_t at = pmu_qread(p);
        if (at != seen)
            pmu_note(p, 0, at);
        seen = at;
    }
    pmu_end(p, NULL, 0);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static pmu log;
    if (argc < 2) {
        fprintf(stderr, "pmu ADDRESS [JOBS [PROGRAM [DEVICE]]]\n");
        return 2;
    }
    const char *device = argc > 4 ? argv[4] : "/dev/mem";
    int file = open(device, O_RDWR | O_SYNC);
    void *at = file < 0 ? MAP_FAILED
                        : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, strtol(argv[1], NULL, 0));
    if (at == MAP_FAILED) {
        fprintf(stderr, "%s: %s\n", device, strerror(errno));
        return 1;
    }
    log = (pmu){.npu = at, .program = argc > 3 ? argv[3] : NULL, .print = print};
    for (long jobs = argc > 2 ? strtol(argv[2], NULL, 10) : 1; jobs > 0; jobs--)
        watch(&log);
    munmap(at, BYTES);
    close(file);
    return 0;
}
