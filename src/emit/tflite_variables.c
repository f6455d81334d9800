/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_variables.c -- buffers that a program changes: variable tensors, which TFLM places and
 * starts. */
#include "tflite_ops.h"

#include "../num/load.h"

/* TFLM starts a variable of int8 codes at its zero point, every other at zeros. */
static bool starts_as_tflm(const tc_value *v, const tc_tfw_tensor *there)
{
    int64_t fill = there->type == TFL_INT8 ? there->zero[0] : 0;
    tc_tensor t = {v->type, (void *)(uintptr_t)v->data};
    for (int64_t i = 0; i < tc_type_count(v->type); i++)
        if (ti_is_int(v->type->dtype) || v->type->dtype == TC_bool ? ti_load_i64(t, i) != fill
                                                                   : ti_load_f64(t, i) != 0)
            return false;
    return true;
}

tc_status ti_tfw_writes(tc_tfw *e, const int64_t *variable, const int64_t *after)
{
    for (size_t i = 0; i < e->g->n_mutation; i++) {
        const tc_mutation *m = &e->g->mutation[i];
        const tc_value *v = ti_value_of(e->g, m->before);
        if (!starts_as_tflm(v, &e->model.tensor[variable[i]]))
            return ti_unsupported(e->ctx, v->def ? v->def->loc : NULL, TC_E_UNSUPPORTED,
                                  "the buffer '%s' does not start at zero, and variables of a "
                                  ".tflite do",
                                  v->name ? v->name : "?");
        if (m->before != m->after)
            ti_tfw_copy(e, after[i], variable[i]);
    }
    return TC_OK;
}
