/* SPDX-License-Identifier: Apache-2.0 */
/* about.h -- what there is: targets, operators, and what of this machine is used. */
#ifndef TOSAC_ABOUT_H
#define TOSAC_ABOUT_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- targets ---- */

typedef struct tc_target_info {
    size_t size;       /* of this record: set by the caller */
    char name[64];     /* as it is asked for: "ethos-u85-256", "vgf", "TOSA-1.0+INT" */
    const char *title; /* "Ethos-U85" */
    char spec[64];     /* what it takes, as a profile of TOSA with extensions; "" for cpu */
    int integers;      /* not 0: it computes on quantized values */
    int floats;        /* not 0: on floats */
    int needs_vela;    /* not 0: Vela makes its command streams */
} tc_target_info;
TC_SIZED_RECORD(tc_target_info)

/* The targets by name, of TOSA its profiles.  0: there is no i-th. */
TC_API int tc_target_at(size_t i, tc_target_info *out);

/* The same of any string that tc_target_check() takes. */
TC_API TC_MUST_USE tc_status tc_target_find(tc_ctx *ctx, const char *target, tc_target_info *out);

/* ---- operators ---- */

typedef struct tc_operator_info {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* "conv", "tosa_conv2d" */
    const char *doc;  /* what it computes, in a few words */
    int is_tosa;      /* not 0: an operator of TOSA's; 0: one of PyTorch's */
    int quantized;    /* PyTorch's: becomes TOSA on quantized values */
    int plain;        /* becomes TOSA on floats, integers and bools */
    int cpu;          /* ExecuTorch's kernels compute it */
} tc_operator_info;
TC_SIZED_RECORD(tc_operator_info)

/* Every operator that is read, in the order of doc/ops.md.  Whether a target takes it with the
 * types and shapes of a model at hand is what tc_compile() finds out.  0: there is no i-th. */
TC_API int tc_operator_at(size_t i, tc_operator_info *out);

/* ---- this machine ---- */

typedef struct tc_machine_info {
    size_t size;              /* of this record: set by the caller */
    const char *instructions; /* the vector instructions in use: "avx2", "neon", "plain" */
    int onednn;               /* not 0: float products go through oneDNN */
    const char *vela;         /* the Vela that would be run: a path, or NULL when there is none */
    const char *vela_version; /* what it says of itself; NULL: no answer */
    const char *vela_wanted;  /* the version that this library was tried with */
} tc_machine_info;
TC_SIZED_RECORD(tc_machine_info)

/* Looks around: TOSAC_VELA, else vela on the PATH, is asked for its version.  What is not there is
 * no failure.  The texts live as long as the context. */
TC_API TC_MUST_USE tc_status tc_machine_look(tc_ctx *ctx, tc_machine_info *out);

#ifdef __cplusplus
}
#endif
#endif
