/* SPDX-License-Identifier: Apache-2.0 */
/* ethosu.h -- Ethos-U command streams: options and results. */
#ifndef TC_ETHOSU_H
#define TC_ETHOSU_H

#include "../npu/mark.h"
#include "../target/target.h"

typedef struct tc_ethosu_options {
    bool products;             /* U55 and U65: weight streams made from activations */
    bool share_weights;        /* methods of a .pte share region 0 */
    const char *ini;           /* NULL: the built-in ones */
    const char *system_config; /* NULL: the target's */
    const char *memory_mode;
    const char *optimise; /* "Performance" or "Size"; NULL: Performance */
    int64_t max_scratch;  /* bytes; 0: any */
    tc_npu_marks marks;
    double call;          /* cycles that a call of the driver takes beside its job; 0: not known */
    bool few_bytes;       /* flash counts more than cycles: what is asked for is a limit of it */
    bool unmade;          /* only estimates are made of it */
} tc_ethosu_options;

static inline bool ti_ethosu_for_size(const tc_ethosu_options *o)
{
    return o->optimise && ti_text_eq(o->optimise, "Size");
}

/* One region: in, its graph (for the signature) and its TOSA file; out, what the runtime loads and
 * its expected cost. */
typedef struct tc_ethosu_job {
    const tc_graph *graph;
    int64_t times; /* that an inference runs it: cycles and MACs are of all of them */
    tc_bytes tosa;
    tc_bytes payload;
    int64_t scratch, fast_scratch, weights; /* bytes */
    double cycles, macs, sram_kib, inferences_per_second;
    double cycles_low, cycles_high; /* the band around cycles */
} tc_ethosu_job;

#endif
