/* SPDX-License-Identifier: Apache-2.0 */
/* cli_emulate.c -- tosac emulate: a firmware on a board with an Ethos-U, in the QEMU that is installed.
 *
 * The work is tools/emulate/run.sh's: it makes the device for that QEMU at first use, and starts it. */
#include "cli.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct emulate_options {
    const char *target;
    int64_t clock;
    bool report, verify, cache;
    cli_texts qemu;
} emulate_options;

#ifndef _WIN32
/* The script: of TOSAC_EMULATE_TOOLS, beside a build, or installed; NULL: there is none. */
static const char *script(void)
{
    static const char *const place[] = {"/../tools/emulate/run.sh", "/../share/tosac/emulate/run.sh"};
    const char *given = getenv("TOSAC_EMULATE_TOOLS");
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (given)
        return cli_format("%s/run.sh", given);
    self[n > 0 ? n : 0] = 0;
    char *last = strrchr(self, '/');
    for (size_t i = 0; last && i < CLI_COUNT(place); i++) {
        const char *path = cli_format("%.*s%s", (int)(last - self), self, place[i]);
        if (access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

/* The library that this command itself is a client of, where it is a file of its own. */
static void name_library(void)
{
    static const char *const place[] = {"libtosac.so", "../lib/libtosac.so"};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *last = strrchr(self, '/');
    for (size_t i = 0; last && i < CLI_COUNT(place); i++) {
        const char *path = cli_format("%.*s/%s", (int)(last - self), self, place[i]);
        if (access(path, R_OK) == 0)
            setenv("TOSAC_LIBRARY", path, 0);
    }
}

static tc_status start(cli *c, const emulate_options *o, const char *machine, const char *firmware)
{
    cli_texts args = {0};
    const char *run = script();
    if (!run) {
        tc_status status = cli_usage(c, "run.sh of tools/emulate is not where this command looks for it");
        cli_note(c, "TOSAC_EMULATE_TOOLS names its folder");
        return status;
    }
    name_library();
    cli_add(&args, run);
    cli_add(&args, firmware);
    cli_add(&args, "-t");
    cli_add(&args, machine);
    if (o->report)
        cli_add(&args, "--report");
    if (o->verify)
        cli_add(&args, "--verify");
    if (o->cache)
        cli_add(&args, "--cache");
    if (o->clock) {
        cli_add(&args, "--clock");
        cli_add(&args, cli_format("%" PRId64, o->clock));
    }
    for (size_t i = 0; i < o->qemu.n; i++) {
        cli_add(&args, "--qemu");
        cli_add(&args, o->qemu.v[i]);
    }
    cli_add(&args, NULL);
    cli_progress_end(c);
    fflush(NULL);
    execv(run, (char *const *)(uintptr_t)args.v);
    return cli_bad_file(c, run, "it cannot be started: %s", strerror(errno));
}
#else
static tc_status start(cli *c, const emulate_options *o, const char *machine, const char *firmware)
{
    (void)o, (void)machine, (void)firmware;
    return cli_usage(c, "emulate needs Debian's QEMU, which Windows has not");
}
#endif

static tc_status run_emulate(cli *c, const void *record, const cli_texts *args)
{
    const emulate_options *o = record;
    tc_npu_options npu = tc_npu_options_default();
    tc_npu *made;
    npu.machine = o->target ? o->target : "ethos-u55-128";
    CLI_TRY(tc_npu_new(c->ctx, &npu, &made));
    if (access(args->v[0], R_OK) != 0)
        return cli_bad_file(c, args->v[0], "it cannot be read: %s", strerror(errno));
    return start(c, o, npu.machine, args->v[0]);
}

#define AT(field) offsetof(emulate_options, field)
static const cli_option options[] = {
    {"--target", "-t", "MACHINE", CLI_TEXT, AT(target), "the Ethos-U; default ethos-u55-128"},
    {"--report", NULL, NULL, CLI_FLAG, AT(report), "a line on standard error for every job"},
    {"--verify", NULL, NULL, CLI_FLAG, AT(verify),
     "tell what a machine may do otherwise: missing waits, blocks that do not fit"},
    {"--cache", NULL, NULL, CLI_FLAG, AT(cache),
     "tell what a data cache of the core would spoil: lines that were not cleaned, or not invalidated"},
    {"--clock", NULL, "HZ", CLI_NUMBER, AT(clock), "of the Ethos-U, in the firmware's time; default 32000000"},
    {"--qemu", NULL, "OPTION", CLI_TEXTS, AT(qemu), "an argument for qemu-system-arm"},
    {0},
};

const cli_verb cli_emulate = {
    .name = "emulate",
    .arguments = "FIRMWARE.elf [-t MACHINE]",
    .summary = "run a firmware on a Corstone-300 with an Ethos-U, in QEMU",
    .help = "The board is QEMU's mps3-an547: an Ethos-U at 0x48102000 (secure: 0x58102000), interrupt 56.  Command\n"
            "streams are executed bit for bit, the interrupt comes after the cycles that are expected of them.  The\n"
            "device is made for Debian's qemu-system-arm at first use (doc/emulate.md); the exit code is the\n"
            "firmware's.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(emulate_options),
    .run = run_emulate,
};
