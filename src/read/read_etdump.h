/* SPDX-License-Identifier: Apache-2.0 */
/* read_etdump.h -- what ExecuTorch's runtime noted while it ran a program (ETDump, schema "ED00"). */
#ifndef TC_READ_ETDUMP_H
#define TC_READ_ETDUMP_H

#include "../base/diag.h"

/* A time that was taken, in ticks of the device's clock. */
typedef struct tc_etdump_event {
    const char *name; /* "OPERATOR_CALL", "aten::add.out", "Method::execute", a delegate's own */
    int32_t chain;    /* -1: none */
    int32_t step;     /* instruction; where chain is not -1 */
    int32_t id;       /* of something inside a delegate; -1: none, or it has a name: */
    const char *id_name; /* or NULL */
    uint64_t begin, end;
} tc_etdump_event;

typedef struct tc_etdump_run {
    const char *name;
    int32_t vector; /* the test vector that it was run on; -1: not known */
    tc_etdump_event *event;
    size_t n_event;
} tc_etdump_run;

typedef struct tc_etdump {
    tc_etdump_run *run;
    size_t n_run;
} tc_etdump;

/* With or without its size before it, as runners write it. */
TC_MUST_USE tc_status ti_etdump_read(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_etdump *out);

#endif
