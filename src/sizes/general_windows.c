/* SPDX-License-Identifier: Apache-2.0 */
/* general_windows.c -- convolutions and pools whose paddings and kernels differ between sizes: a PAD
 * before the convolution; *_POOL2D_ADAPTIVE for pools. */
#include "general.h"

static tc_ints ints_of(const tc_node *node, const char *field)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[node->op].attr];
    for (int i = 0; i < info->n_field; i++)
        if (ti_text_eq(info->field[i].name, field))
            return *(const tc_ints *)((const char *)node->attr + info->field[i].at);
    return (tc_ints){0};
}

/* The field at every point; whether it differs. */
static bool list_series(const tc_aligned *a, const tc_row *row, const char *field, tc_series *s,
                        int *n)
{
    bool differs = false;
    *n = ints_of(row->any, field).n;
    for (int i = 0; i < *n; i++) {
        for (size_t p = 0; p < a->n_point; p++)
            s[i].at[p] = ints_of(row->node[p], field).v[i];
        differs = differs || !ti_series_constant(a, &s[i]);
    }
    return differs;
}

/* A convolution whose padding differs: PAD by what the input's zero is, then one without padding. */
tc_status ti_put_padded_conv(tc_general *m, tc_val *in, const void **attr)
{
    tc_aligned *a = m->a;
    const tc_row *row = m->row;
    tc_series pad[TC_MAX_RANK], all[TC_MAX_RANK * 2] = {0};
    tc_ctx *ctx = a->ctx;
    int n;
    if (!list_series(a, row, "pad", pad, &n))
        return TC_OK;
    /* [top, bottom, left, right] of the axes between batch and channels */
    for (int i = 0; i < n; i++)
        all[i + 2] = pad[i];
    tc_type t = *ti_open_type(m, row->in[0]);
    for (int i = 0; i < n; i++)
        if (!ti_series_constant(a, &pad[i]) || pad[i].at[0])
            t.dim[1 + i / 2] = TC_OPEN;
    tc_val operand[3] = {in[0], TC_NONE, in[3]};
    TC_TRY(ti_put_shape(m, all, n + 4, row->in[0], "the padding", &operand[1]));
    in[0] = ti_general_add(m, TC_OP_tosa_pad, NULL, operand, 3, ti_type_intern(ctx, &t));
    tc_attr_tosa_conv *none = ti_arena_copy(&ctx->arena, row->any->attr, sizeof *none);
    none->pad.v = tc_new_n(&ctx->arena, int64_t, (size_t)n);
    *attr = none;
    return TC_OK;
}

/* A pool whose window differs has it as shapes. */
tc_status ti_put_pool(tc_general *m, const tc_val *in, const tc_type *type, tc_val *out)
{
    static const char *const fields[] = {"kernel", "stride", "pad"};
    tc_aligned *a = m->a;
    const tc_row *row = m->row;
    bool average = row->any->op == TC_OP_tosa_avg_pool2d, differs = false;
    tc_series s[TC_COUNT(fields)][4];
    int n[TC_COUNT(fields)], given = average ? 3 : 1;
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        differs = list_series(a, row, fields[i], s[i], &n[i]) || differs;
    *out = TC_NONE;
    if (!differs)
        return TC_OK;
    tc_val operand[6];
    memcpy(operand, in, (size_t)given * sizeof *in);
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        TC_TRY(ti_put_shape(m, s[i], n[i], row->in[0], "the window", &operand[given + (int)i]));
    const void *attr;
    if (average) {
        tc_attr_tosa_acc *acc = tc_new(&a->ctx->arena, tc_attr_tosa_acc);
        acc->acc_type = ((const tc_attr_tosa_avg_pool *)row->any->attr)->acc_type;
        attr = acc;
    } else {
        tc_attr_tosa_nan *nan = tc_new(&a->ctx->arena, tc_attr_tosa_nan);
        nan->nan_mode = ((const tc_attr_tosa_max_pool *)row->any->attr)->nan_mode;
        attr = nan;
    }
    *out =
        ti_general_add(m, average ? TC_OP_tosa_avg_pool2d_adaptive : TC_OP_tosa_max_pool2d_adaptive,
                       attr, operand, given + 3, type);
    return TC_OK;
}
