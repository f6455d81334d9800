/* SPDX-License-Identifier: Apache-2.0 */
/* dataflow.h -- the def-use graph of a float program, and which values are quantized; shared by
 * domains.c and apply.c. */
#ifndef TC_DATAFLOW_H
#define TC_DATAFLOW_H

#include "role.h"

typedef struct tc_use {
    const tc_node *node;
    int operand;
} tc_use;

/* Arrays by value id, in ctx->scratch. */
typedef struct tc_dataflow {
    const tc_graph *g;
    const tc_config *config;
    const tc_use *use; /* of value v: use[first[v]] .. use[first[v + 1] - 1] */
    const uint32_t *first;
    bool *leaves;      /* read by the signature or kept from run to run */
    bool *state;       /* a mutable buffer before it is changed */
    bool *typed_state; /* by mutation: the buffer holds codes; what is read and what is written back
                          share a domain */
    bool *clock;       /* derived from such buffers and constants alone: counters, positions */
    bool *fixed;       /* known at compile time */
    bool *huge;        /* holds infinities, or values that stand for them */
    bool *real;        /* stays in float: a power spectrum that is left there, and a logarithm or root
                          of what is */
    const struct tc_spectra *spectra; /* with such a spectrum: what is left of it; or NULL */
    bool *asked;       /* stays in float: a code loses too much of it (precision_needs.c) */
    bool *mask;        /* would be huge, but is only added to scores, and clamped there */
    bool *cut;         /* would be huge, but its readers use the order only: it is clamped */
    bool *score;       /* on the way from a product to a softmax */
    bool *waits;       /* a product or sum that its only reader clamps, and permutes before it */
    bool *born;        /* made by a quantized operator, or moved from there */
    bool *need_typed;  /* read by a quantized operator, maybe after movement */
    bool *need_real;   /* read by others */
    tc_scheme *scheme; /* of the node that makes it */
    tc_level *level;
} tc_dataflow;

/* never: as in tc_domains. */
tc_dataflow ti_dataflow_of(tc_ctx *ctx, const tc_graph *g, const tc_config *config,
                           const float *never);

/* precision_needs.c: fills `asked`. */
void ti_dataflow_find_asked(tc_ctx *ctx, tc_dataflow *f);

/* A buffer whose new contents are a sum over its old ones: errors accumulate. */
bool ti_dataflow_accumulates(const tc_dataflow *f, size_t mutation);
/* Its node is quantized. */
bool ti_dataflow_quantizes(const tc_dataflow *f, const tc_node *node);
/* The value has a domain. */
bool ti_dataflow_wants_domain(const tc_dataflow *f, tc_val v);
/* The only reader of v; or NULL. */
const tc_node *ti_dataflow_reader(const tc_dataflow *f, tc_val v);

/* The constant factor of a multiplication or division by a scalar; 0: none. *x: the other
 * operand. */
double ti_dataflow_factor(const tc_dataflow *f, const tc_node *node, tc_val *x);

/* anchor.c: operators whose operands and result share one domain for the anchor, beyond movement.
 */
bool ti_anchor_shares(tc_op op);
/* Movement of an operand that stays outside of the result's domain there. */
bool ti_anchor_parts(const tc_node *node, int operand);
/* PyTorch's name of the node's operator, where one of ours covers several. */
typedef enum tc_spelling {
    TC_SPELLED_MATMUL,
    TC_SPELLED_HARDTANH,
    TC_SPELLED_CONTIGUOUS,
    TC_SPELLED_MAX_POOL1D
} tc_spelling;
bool ti_anchor_spelled(const tc_node *node, tc_spelling as);
/* The anchor looks at every value, and again at each step by which an operand of matmul becomes one
 * of bmm: expand and view, or expand, clone and view. */
uint8_t ti_anchor_looks(const tc_dataflow *f, tc_val v);

static inline bool ti_dataflow_is_f32(const tc_dataflow *f, tc_val v)
{
    const tc_type *type = ti_type_of(f->g, v);
    return type && type->dtype == TC_f32;
}

#endif
