/* SPDX-License-Identifier: Apache-2.0 */
/* door_compare.c -- two forms of a program on the same data. */
#include "../base/enter.h"
#include "../proof/comparison.h"

tc_status tc_compare_models(tc_ctx *ctx, const tc_model *a, const tc_model *b, tc_dataset *data,
                            tc_comparison **out)
{
    TC_ENTER(ctx, ti_compare_forms(ctx, a, b, data, out));
}

size_t tc_comparison_count(const tc_comparison *comparison)
{
    size_t n = 0;
    for (tc_compared_value value; ti_compared_at(comparison, n, &value);)
        n++;
    return n;
}

size_t tc_comparison_samples(const tc_comparison *comparison)
{
    return ti_compared_samples(comparison);
}

bool tc_comparison_value(const tc_comparison *comparison, size_t i, tc_compared_value *out)
{
    tc_compared_value value;
    bool found = ti_compared_at(comparison, i, &value);
    if (found)
        ti_fill_record(out, &value, sizeof value);
    return found;
}
