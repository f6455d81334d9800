/* SPDX-License-Identifier: Apache-2.0 */
/* tflm_forms.h -- expansions of the pass `select-tflm-operators` in other files. */
#ifndef TC_TFLM_FORMS_H
#define TC_TFLM_FORMS_H

#include "../executorch/cpu_forms.h"

/* tflm_window.c */
tc_cpu_form ti_tflm_form_conv, ti_tflm_form_max_pool, ti_tflm_form_avg_pool,
    ti_tflm_form_adaptive, ti_tflm_form_conv_transpose, ti_tflm_form_upsample;

/* tflm_whole.c */
tc_cpu_form ti_tflm_form_sum, ti_tflm_form_all, ti_tflm_form_any, ti_tflm_form_prod,
    ti_tflm_form_arg, ti_tflm_form_cast, ti_tflm_form_where, ti_tflm_form_extreme,
    ti_tflm_form_isnan;
/* The cast of i32 to i64 has no reader but the results of the program. */
bool ti_tflm_is_result_alone(const tc_graph *g, const tc_node *node);
/* Results that are such casts become what is cast, with a warning each. */
void ti_tflm_narrow_results(tc_ctx *ctx, tc_module *module);


#endif
