/* SPDX-License-Identifier: Apache-2.0 */
/* known_weights.c -- weights that another program has quantized: methods of one file store equal
 * codes once, whatever data each was calibrated on. */
#include "quantizer.h"

#include <math.h>

#include "../num/load.h"

/* Whether codes represent these values: rounded up or down, or at an end of their range.  A value
 * half way between two codes is, in float32, slightly to one side. */
static const double farthest = 1.5001;

static bool stand_for(tc_tensor codes, tc_tensor real)
{
    const tc_quant *q = codes.type->quant;
    int64_t n = tc_type_count(codes.type), inner = 1;
    for (int i = q->axis + 1; q->axis >= 0 && i < codes.type->rank; i++)
        inner *= codes.type->dim[i];
    for (int64_t i = 0; i < n; i++) {
        int64_t code = ti_load_i64(codes, i), c = q->axis >= 0 ? i / inner % q->count : 0;
        double away = fabs(ti_load_f64(real, i) / q->scale[c] - (double)(code - q->zero[c]));
        if (!(away <= farthest) && code != q->lo && code != q->hi)
            return false;
    }
    return true;
}

static bool same_kind(const tc_type *a, const tc_type *b)
{
    return a->dtype == b->dtype && ti_same_dims(a, b) && a->quant && b->quant &&
           a->quant->axis == b->quant->axis && a->quant->count == b->quant->count &&
           a->quant->lo == b->quant->lo && a->quant->hi == b->quant->hi;
}

tc_tensor ti_known_weights(const tc_config *config, const char *name, tc_tensor real,
                           const tc_type *type)
{
    const tc_known_weights *known = config->known;
    for (size_t i = 0; known && name && i < known->n; i++) {
        const tc_graph *g = known->graph[i];
        for (tc_val v = 1; v < g->n_val; v++) {
            tc_tensor t = ti_tensor_of(g, v);
            const char *its = ti_value_of(g, v)->name;
            if (t.data && its && ti_text_eq(its, name) && same_kind(t.type, type) &&
                stand_for(t, real))
                return t;
        }
    }
    return (tc_tensor){NULL, NULL};
}

bool ti_weights_are_known(const tc_config *config, const void *codes)
{
    const tc_known_weights *known = config->known;
    for (size_t i = 0; known && codes && i < known->n; i++)
        for (tc_val v = 1; v < known->graph[i]->n_val; v++)
            if (ti_tensor_of(known->graph[i], v).data == codes)
                return true;
    return false;
}
