/* SPDX-License-Identifier: Apache-2.0 */
/* system.h -- the memories of an Ethos-U: their speed, and which region is in which. */
#ifndef TC_SYSTEM_H
#define TC_SYSTEM_H

#include "../base/diag.h"
#include "program.h"

typedef struct tc_npu_port {
    const char *name; /* "Sram", "Dram", "OffChipFlash", ...; NULL: there is none */
    double bytes_per_cycle;
    int32_t burst; /* bytes */
    int32_t read_latency, write_latency;
    int32_t max_reads, max_writes; /* unfinished at a time; 0: any number */
    int32_t ports;
} tc_npu_port;

typedef struct tc_npu_system {
    const char *config, *mode; /* their names */
    double clock;              /* of the accelerator, Hz */
    tc_npu_port memory[TC_NPU_MEMORIES];
    uint8_t of_region[TC_NPU_REGIONS]; /* which memory */
    int64_t cache;                     /* bytes of region 2, where that is apart; 0: any */
    const char *filled; /* what its description lacks, or has otherwise, and what it is here; or NULL */
} tc_npu_system;

/* The system that a pair of names means: of the built-in ones, or of a file in the form of Vela's
 * (sections [System_Config.X] and [Memory_Mode.Y] of key = value, `inherit` names a section to take
 * the rest from); a mode that the file does not have may be a built-in one.
 *
 *   ini           NULL: built-in: Arm's systems (of the machines' records), then those of known
 *                 boards (boards.ini)
 *   config, mode  NULL: those of the machine's record */
TC_MUST_USE tc_status ti_npu_system_find(tc_ctx *ctx, const tc_npu_machine *machine,
                                         const char *ini, const char *config, const char *mode,
                                         tc_npu_system *out);

/* The same as one text: "FILE:CONFIG,MODE", any of them left out: "FILE", "CONFIG", "CONFIG,MODE",
 * ",MODE"; one of the built-in modes may stand alone.  A FILE has a dot or a slash in its name. */
typedef struct tc_system_name {
    const char *ini, *config, *mode; /* NULL: not said */
} tc_system_name;
tc_system_name ti_system_name_read(tc_ctx *ctx, const char *text); /* NULL: nothing is said */
const char *ti_system_name_text(tc_ctx *ctx, const tc_system_name *name);

/* boards.ini: sections [Board.X], and [System_Config.Y] for them. */
tc_bytes ti_npu_boards(void);
/* The file has a section [kind.name]. */
bool ti_npu_ini_has(tc_bytes ini, const char *kind, const char *name);

#endif
