/* SPDX-License-Identifier: Apache-2.0 */
/* comparison.h -- two forms of a program on the same data, value by value. */
#ifndef TC_COMPARISON_H
#define TC_COMPARISON_H

#include "../data/dataset.h"
#include "../drive/model.h"

TC_MUST_USE tc_status ti_compare_forms(tc_ctx *ctx, const tc_model *a, const tc_model *b,
                                       tc_dataset *data, tc_comparison **out);
size_t ti_compared_samples(const tc_comparison *c);
/* Value i, in the order of what each contributes to the error of the outputs; false: there are no
 * more. */
bool ti_compared_at(const tc_comparison *c, size_t i, tc_compared_value *out);

#endif
