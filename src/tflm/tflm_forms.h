/* SPDX-License-Identifier: Apache-2.0 */
/* tflm_forms.h -- forms of the pass `select-tflm-operators` that have files of their own. */
#ifndef TC_TFLM_FORMS_H
#define TC_TFLM_FORMS_H

#include "../executorch/cpu_forms.h"

/* tflm_window.c */
tc_cpu_form ti_tflm_form_conv, ti_tflm_form_max_pool, ti_tflm_form_avg_pool,
    ti_tflm_form_adaptive, ti_tflm_form_conv_transpose, ti_tflm_form_upsample;

/* start_state.c: buffers of the first graph start as TFLM starts its variables. */
void ti_tflm_start_state(tc_module *module);

#endif
