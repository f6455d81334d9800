/* SPDX-License-Identifier: Apache-2.0 */
/* firmware.h -- whether a firmware takes a compiled file: firmware.def has what each asks. */
#ifndef TC_FIRMWARE_H
#define TC_FIRMWARE_H

#include "board.h"
#include "tosac/board.h"

typedef struct tc_firmware_rule {
    const char *id, *firmwares, *asks, *source;
} tc_firmware_rule;

struct tc_firmware_report {
    const char *firmware, *title;
    tc_firmware_finding *list;
    size_t n, cap, faults;
};

TC_MUST_USE tc_status ti_firmware_check(tc_ctx *ctx, const char *path,
                                        const tc_firmware_options *options,
                                        tc_firmware_report **out);

#endif
