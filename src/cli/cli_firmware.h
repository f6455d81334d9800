/* SPDX-License-Identifier: Apache-2.0 */
/* cli_firmware.h -- whether a firmware takes a file, of verify and compile. */
#ifndef TOSAC_CLI_FIRMWARE_H
#define TOSAC_CLI_FIRMWARE_H

#include "cli.h"

#define CLI_FIRMWARE_HELP                                                                                              \
    "whether a firmware takes it: tflm, executorch-1.4, executorch-1.5 or linux-6.19, and what is known of it: "       \
    "driver=0.16, arena=BYTES, method=BYTES, temporary=BYTES, resolver=main.cc, kernels=A+B, sram=BYTES (doc/firmware.md)"

/* Tells every rule, or what is at fault or open, and a line for all; with --json all of it as a document, or
 * nothing.  *faults: how many. */
TC_MUST_USE tc_status cli_tell_firmware(cli *c, const char *path, const tc_firmware_options *firmware, bool all,
                                        size_t *faults);

#endif
