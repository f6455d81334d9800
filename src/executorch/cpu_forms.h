/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_forms.h -- what the forms of the pass `select-cpu-kernels` share.
 *
 * A form is given a node that no kernel computes and makes nodes that are nearer to having one;
 * what it makes is looked at again.  cpu_select.c has the walk and the table; the cpu_*.c files
 * have the forms. */
#ifndef TC_CPU_FORMS_H
#define TC_CPU_FORMS_H

#include "../ir/build.h"

/* false: this form of the operator has no kernels either. */
typedef bool tc_cpu_form(tc_build *m);

/* A library of kernels that a program's CPU part is made of. */
typedef struct tc_cpu_library {
    bool (*has)(const tc_graph *g, const tc_node *node); /* a kernel for the node itself */
    tc_cpu_form *(*form)(tc_op op); /* its own form of an operator; or NULL.  NULL inside: none */
    const char *kernel;             /* in messages: "CPU kernel" */
    bool only_finite;               /* its quantize is not given infinities */
    bool takes_codes;               /* nodes on quantized values stay, but for these, on real ones */
    const tc_node *const *real;     /* sorted by ti_cpu_by_address() */
    size_t n_real;
} tc_cpu_library;

int ti_cpu_by_address(const void *a, const void *b);

/* cpu_select.c: the first graph in kernels of a library, as the pass says of ExecuTorch's. */
TC_MUST_USE tc_status ti_cpu_select(tc_ctx *ctx, tc_module *module, const tc_cpu_library *library);

/* v, brought to the shape and type of the node's result i, becomes it. */
void ti_cpu_give(tc_build *m, int i, tc_val v);
/* The same for the first result, the end of most forms. */
static inline bool ti_cpu_done(tc_build *m, tc_val v)
{
    ti_cpu_give(m, 0, v);
    return true;
}

/* Operand i in a type to compute with: f64 itself, everything else as f32. */
tc_val ti_cpu_real(tc_build *m, int i);

/* cpu_codes.c: the node's product of codes with constant ones, as real values; bias: real, or
 * TC_NONE.  false: it is not of that kind. */
bool ti_cpu_on_codes(tc_build *m, tc_val bias, tc_val *out);

/* cpu_poles.c: a result of the node before it is rounded to codes of q: where it may be infinite,
 * clamped to the range of q; the codes are the same. */
tc_val ti_cpu_finite(tc_build *m, tc_val real, const tc_quant *q);
/* The same where it may be 0 / 0: NaN becomes 0 (ti_op_nan_is_zero). */
tc_val ti_cpu_no_nan(tc_build *m, tc_val real);

/* cpu_order.c: a scatter that combines elements at equal indices; false: not of that kind. */
bool ti_cpu_scatter_meeting(tc_build *m);

/* cpu_eltwise.c: the node by its operator's formula; false: it has none. */
tc_cpu_form ti_cpu_form_formula;

#define FORM(op) tc_cpu_form ti_cpu_form_##op;
#define AS(op, form)
#include "cpu_forms.def"

#endif
