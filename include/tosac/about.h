/* SPDX-License-Identifier: Apache-2.0 */
/* about.h -- lists of targets and operators, and what this machine has. */
#ifndef TOSAC_ABOUT_H
#define TOSAC_ABOUT_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- targets ---- */

typedef struct tc_target_info {
    size_t size;       /* of this record: set by the caller */
    char name[64];     /* as the user writes it: "ethos-u85-256", "vgf", "TOSA-1.0+INT" */
    const char *title; /* "Ethos-U85" */
    char spec[96];     /* what it accepts: a TOSA profile with extensions; "" for cpu */
    bool integers;     /* it computes on quantized values */
    bool floats;       /* on floats */
    bool takes_stream; /* an Ethos-U: programs have command streams */
    bool takes_c;      /* a Cortex-M, also beside an Ethos-U: programs are C source (TC_OUTPUT_C) */
} tc_target_info;
TC_SIZED_RECORD(tc_target_info)

/* Target i; of TOSA its profiles.  false: there are no more. */
TC_API bool tc_target_at(size_t i, tc_target_info *out);

/* The same for any string that tc_target_check() accepts. */
TC_API TC_MUST_USE tc_status tc_target_find(tc_ctx *ctx, const char *target, tc_target_info *out);

/* ---- operators ---- */

typedef struct tc_operator_info {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* "conv", "tosa_conv2d" */
    const char *doc;  /* what it computes, in a few words */
    bool is_tosa;     /* a TOSA operator; false: one of PyTorch's */
    bool quantized;   /* PyTorch's: has a TOSA form on quantized values */
    bool plain;       /* has a TOSA form on floats, integers and bools */
    bool cpu;         /* ExecuTorch has kernels for it */
} tc_operator_info;
TC_SIZED_RECORD(tc_operator_info)

/* Operator i, in the order of doc/ops.md.  Whether a target accepts it with a model's types and
 * shapes is decided by tc_compile().  false: there are no more. */
TC_API bool tc_operator_at(size_t i, tc_operator_info *out);

/* ---- this machine ---- */

typedef struct tc_machine_info {
    size_t size;              /* of this record: set by the caller */
    const char *instructions; /* the vector instructions in use: "avx2", "neon", "plain" */
} tc_machine_info;
TC_SIZED_RECORD(tc_machine_info)

/* The texts live as long as the context. */
TC_API TC_MUST_USE tc_status tc_machine_look(tc_ctx *ctx, tc_machine_info *out);

#ifdef __cplusplus
}
#endif
#endif
