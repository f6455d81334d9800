/* SPDX-License-Identifier: Apache-2.0 */
/* file_ports.h -- the inputs and outputs of a file that holds one region. */
#ifndef TC_FILE_PORTS_H
#define TC_FILE_PORTS_H

#include "../drive/driver.h"

/* What the program does besides calling regions and converting its ports. */
size_t ti_work_outside(const tc_graph *g);

/* A program that is one region but for conversions of its ports: `c` with a region that has all
 * inputs and outputs of the program, each at its position: inputs that nothing reads, outputs that
 * are inputs or constants, one output twice.  A warning names those that it cannot have: the
 * target's TOSA lacks their type, or a command stream neither reads nor writes them.  Other
 * programs are left as they are. */
TC_MUST_USE tc_status ti_with_all_ports(tc_ctx *ctx, const tc_compiled *c, const tc_compiled **out);

#endif
