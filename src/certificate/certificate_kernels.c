/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_kernels.c -- which kernels of the runtime a .pte calls, and in how many places: what a device must have, and what a second
 * program can count again. */
#include "certificate.h"

#include "../read/read_pte.h"
#include "../read/survey.h"

static bool is_pte(tc_bytes file)
{
    enum { AT = 4 };
    return file.size > AT + strlen(TC_PTE_IDENTIFIER) && !memcmp(file.data + AT, TC_PTE_IDENTIFIER, strlen(TC_PTE_IDENTIFIER));
}

static void count(tc_ctx *ctx, const tc_pte_file *f, tc_survey *all)
{
    for (size_t i = 0; i < f->n_method; i++)
        for (size_t k = 0; k < f->method[i].n_step; k++)
            if (f->method[i].step[k].tag == PTE_KERNEL_CALL)
                ti_survey_count(ctx, all, ti_pte_kernel(ctx, &f->method[i], &f->method[i].step[k]));
}

tc_status ti_certificate_kernels(tc_ctx *ctx, const tc_compiled *c, tc_json_out *out)
{
    tc_survey all = {0};
    bool any = false;
    for (size_t i = 0; i < c->written.n_file; i++)
        if (is_pte(c->written.file[i])) {
            tc_pte_file *f = tc_new(&ctx->arena, tc_pte_file);
            TC_TRY(ti_pte_open(ctx, "the program", c->written.file[i], f));
            count(ctx, f, &all);
            any = true;
        }
    if (!any)
        return TC_OK;
    ti_survey_sort(&all);
    ti_json_open(out, "kernels", '[');
    for (size_t i = 0; i < all.n_op; i++)
        tc_json_object(out, NULL, TC_J("name", all.op[i].name), TC_J("calls", all.op[i].count));
    ti_json_close(out, ']');
    return TC_OK;
}
