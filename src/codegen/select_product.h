/* SPDX-License-Identifier: Apache-2.0 */
/* select_product.h -- U55, U65: products of computed matrices as convolutions (select_product.c). */
#ifndef TC_SELECT_PRODUCT_H
#define TC_SELECT_PRODUCT_H

#include "select.h"

typedef struct tc_sel_made {
    tc_hw_op op;    /* a convolution with its output stage: bias, factor and shift a column of b */
    tc_view a, b;   /* [n][h][c], [n][w][c]: bytes, c contiguous */
    tc_view to;     /* [n][h][w] */
    int64_t zero;   /* of b */
} tc_sel_made;

bool ti_sel_product_fits(const tc_hw *hw, const tc_sel_made *p);
/* false: too large; what was emitted is of no use then. */
bool ti_sel_emit_product(tc_sel *s, const tc_sel_made *p);

#endif
