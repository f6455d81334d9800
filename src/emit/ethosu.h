/* SPDX-License-Identifier: Apache-2.0 */
/* ethosu.h -- Ethos-U command streams: how they are asked for and what comes of it, whoever makes
 * them; and Vela, which makes them. */
#ifndef TC_ETHOSU_H
#define TC_ETHOSU_H

#include "../target/target.h"

/* Who makes the streams. */
typedef enum tc_backend {
    TC_BACKEND_AUTO, /* our own where it takes the region, else Vela where it is installed */
    TC_BACKEND_OWN,
    TC_BACKEND_VELA
} tc_backend;

typedef struct tc_ethosu_options {
    tc_backend backend;
    bool products;             /* our own, U55 and U65: weight streams made from activations */
    bool share_weights;        /* methods of a .pte have region 0 in common */
    const char *ini;           /* NULL: the built-in ones */
    const char *system_config; /* NULL: the target's */
    const char *memory_mode;
    const char *optimise; /* "Performance" or "Size"; NULL: the maker's choice */
    double timeout;       /* of Vela: seconds; 0: ten minutes */
    double search;        /* seconds for finding what is refused; 0: a minute */
    const char *version;  /* of Vela, where it was asked before; NULL: it is asked */
    int64_t max_scratch;  /* bytes; 0: any */
    int64_t arena;        /* bytes that Vela aims at; 0: the memory mode's */
    bool notes;           /* of Vela: which operator each command comes from: slow, and long */
    bool unmade;          /* only estimates are made of it */
} tc_ethosu_options;

/* One region: in, its graph (for the signature) and its TOSA file; out, what the runtime loads and
 * what its maker expects of it. */
typedef struct tc_ethosu_job {
    const tc_graph *graph;
    tc_bytes tosa;
    bool own; /* our own back end made it, or refused it and nobody else is there; else Vela */
    tc_bytes payload;
    int64_t scratch, fast_scratch, weights; /* bytes */
    double cycles, macs, sram_kib, inferences_per_second;
    double cycles_low, cycles_high; /* the band; 0: the maker gave no more than cycles */
    tc_bytes notes;      /* Vela's debug database, where it was asked for */
    const char *version; /* of its maker: "5.2.0"; NULL: it does not say */
    bool refused;        /* the maker did not take the region, or died of it */
    bool differs;        /* executed, its stream gave other numbers than the region */
    const char *blamed;  /* the model's node that a refusal or a wrong stream comes from; NULL: not
                            known */
    const char *why;     /* our own: why it is refused */
} tc_ethosu_job;

/* The Vela that is tried with every test, and the one before it, which has more faults. */
#define TC_VELA_VERSION "5.2.0"
#define TC_VELA_BEFORE "5.1.0"

/* Runs Vela on every region, as many at a time as there are threads.  What it wrote is checked
 * against the region's signature.  On failure a message has been given, and nothing is left behind.
 */
TC_MUST_USE tc_status ti_emit_ethosu(tc_ctx *ctx, const tc_target *target,
                                     const tc_ethosu_options *options, tc_ethosu_job *job, size_t n);

/* Whether Vela, told the same, takes a program that every machine runs; else why not, in an error:
 * what it refuses is then no fault of a region. */
TC_MUST_USE tc_status ti_vela_works(tc_ctx *ctx, const tc_target *target, const tc_ethosu_options *o,
                                    const tc_ethosu_job *sum);

/* The program that is run: TOSAC_VELA, else "vela"; and what it says its version is, or NULL. */
const char *ti_vela_program(void);
TC_MUST_USE tc_status ti_vela_here(tc_ctx *ctx); /* an error that says how to install it */
bool ti_vela_is_here(tc_ctx *ctx);               /* the same, and nothing is said */
TC_MUST_USE tc_status ti_vela_version(tc_ctx *ctx, const char **out);

#endif
