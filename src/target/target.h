/* SPDX-License-Identifier: Apache-2.0 */
/* target.h -- target strings, and what each target accepts. */
#ifndef TC_TARGET_H
#define TC_TARGET_H

#include "../ir/graph.h"
#include "../machine/machine.h"

/* Profiles and extensions of TOSA, one bit each. */
typedef enum tc_feature {
#define FEATURE(name, word, spec, base, since) TC_FEATURE_##name,
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits)
#include "tosa.def"
    TC_FEATURE_COUNT
} tc_feature;

/* Why whoever makes the machine's programs does not take a TOSA graph that the judge has let pass;
 * NULL: it does. */
typedef const char *tc_back_end(tc_ctx *ctx, const void *who, const tc_graph *g);

typedef struct tc_target {
    const char *text; /* as the user wrote it */
    const char *name; /* the same without the core: "ethos-u55-128" */
    const tc_machine *machine;
    const tc_npu_machine *npu; /* TC_PACKED_STREAM: of which size; else NULL */
    uint32_t tosa;          /* 1 << TC_FEATURE_x */
    int minor;              /* of TOSA 1.x */
    tc_back_end *back_end;  /* who is asked; NULL: TOSA's rules alone decide */
    const void *who;
    const struct tc_target *core; /* Ethos-U: who runs the rest, in integers; NULL: not said */
} tc_target;

/* What the back end says. */
const char *ti_target_refuses(tc_ctx *ctx, const tc_target *target, const tc_graph *g);

/* "TOSA-1.0+INT+FP+int16": profiles and extensions in any order, repeats ignored; "vgf",
 * "vgf:TOSA-1.0+INT"; "TOSA-1.1+FP+shape+mxfp"; "ethos-u55-128"; "ethos-u55-128+cortex-m55"; "cpu".  An unknown word or an extension without its profile
 * is a usage error. */
TC_MUST_USE tc_status ti_target_parse(tc_ctx *ctx, const char *text, tc_target *out);
/* Says that there is no such target, and which one to use instead where one runs there. */
TC_MUST_USE tc_status ti_target_unknown(tc_ctx *ctx, const char *text);

/* The part of the target that is a TOSA specification, as text: "TOSA-1.0+INT+int16". */
const char *ti_target_spec(tc_ctx *ctx, const tc_target *target);

/* tosa.c: the judge.  Level 8K and every ERROR_IF, of the target's version of TOSA or of the version
 * that the file states; with a target also its profiles and extensions.
 * Everything that is found is reported. */
TC_MUST_USE tc_status ti_verify_tosa(tc_ctx *ctx, const tc_module *module, const char *target);
/* The same for a target that has been read already; NULL: none. */
TC_MUST_USE tc_status ti_verify_tosa_for(tc_ctx *ctx, const tc_module *module,
                                         const tc_target *target);

/* The oldest version of TOSA, 1.x, that has every operator and type of a module in the TOSA form. */
int ti_tosa_minor(const tc_module *module);
/* Whether an operator, or its element types together, are of 1.1. */
bool ti_tosa_is_new(const tc_graph *g, const tc_node *node);

#endif
