/* SPDX-License-Identifier: Apache-2.0 */
/* float.h -- f32 convolution and matrix product, prepared once and run many times.
 *
 * Image operands and results are channels last in memory ([n, spatial..., c]); matrices may have any
 * strides.  The bits are num/'s: every result is one sum, its terms in order (those of a convolution
 * by tap, then by channel), in blocks of 256 whose totals are added to the bias; multiply, then
 * add. */
#ifndef TC_FLOAT_H
#define TC_FLOAT_H

#include "../num/attr.h"

typedef struct tc_product tc_product;

/* Operations on the result before it is stored, in order. */
typedef enum tc_then_kind {
    TC_THEN_add, /* + the extra operand, in the result's layout; only as the first */
    TC_THEN_relu,
    TC_THEN_clip, /* to [a, b] */
    TC_THEN_hardswish,
    TC_THEN_sigmoid,
    TC_THEN_silu,
    TC_THEN_tanh,
    TC_THEN_gelu_erf,
    TC_THEN_gelu_tanh,
} tc_then_kind;

typedef struct tc_then {
    tc_then_kind kind;
    float a, b;
} tc_then;

enum { TC_MAX_THEN = 4 };

/* A matrix operand: logical extents and the stride of each. */
typedef struct tc_strided {
    int32_t rank;
    int64_t dim[TC_MAX_RANK], stride[TC_MAX_RANK];
} tc_strided;

/* Whether products created from now on use weights in place: no packed copy. */
void ti_product_keep_plain(tc_ctx *ctx, bool plain);

/* Whether products created from now on wait for their weights: ti_product_load() packs them, from
 * the data of that time, and they may be freed. */
void ti_product_wait(tc_ctx *ctx, bool wait);
void ti_product_load(tc_product *product, tc_arena *room);
void ti_product_unload(tc_product *product);

/* x, y: logical types, channels first.  w, bias: constants in PyTorch's layout (bias.type may be
 * NULL); what is packed of them lives until the context goes. */
tc_product *ti_product_conv(tc_ctx *ctx, const tc_attr_conv *a, const tc_type *x, const tc_type *y,
                            tc_tensor w, tc_tensor bias, const tc_then *then, int n_then);
tc_product *ti_product_deconv(tc_ctx *ctx, const tc_attr_conv_transpose *a, const tc_type *x,
                              const tc_type *y, tc_tensor w, tc_tensor bias, const tc_then *then,
                              int n_then);

/* y = a b + bias over equal ranks; batch axes of a and b are equal to y's or 1.  b_data: its
 * elements when constant, else NULL.  bias: a constant of y's last extent, or type NULL. */
tc_product *ti_product_matmul(tc_ctx *ctx, const tc_strided *a, const tc_strided *b,
                              const tc_strided *y, const void *b_data, tc_tensor bias,
                              const tc_then *then, int n_then);

/* Whether b was copied into a packed form: the original is not read any more. */
bool ti_product_packed(const tc_product *product);

/* Bytes of scratch for a run, 64-byte aligned. */
size_t ti_product_scratch(const tc_product *product);

/* b: NULL when it was packed.  extra: the operand of TC_THEN_add, or NULL.
 * May be called from several threads at once, each with its own scratch. */
void ti_product_run(const tc_product *product, const void *a, const void *b, const void *extra,
                    void *y, void *scratch);

#endif
