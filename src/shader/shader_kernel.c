/* SPDX-License-Identifier: Apache-2.0 */
/* shader_kernel.c -- the operator tosa_shader: its shape function and its kernel; see shader.h. */
#include "shader.h"

#include "../num/kernels.h"

/* Steps of all invocations before a shader is given up: some minutes. */
#define BUDGET (INT64_C(1) << 35)

extern tc_shape_fn ti_shape_tosa_shader; /* the table of operators names it */

tc_status ti_shape_tosa_shader(tc_infer *c)
{
    const tc_attr_tosa_shader *a = c->attr;
    tc_sh_interface interface;
    tc_sh_program program;
    tc_sh_reader r;
    for (int i = 0; i < c->n_out; i++)
        if (c->out[i].dtype == TC_none)
            return ti_error(c->ctx, c->loc, TC_E_STRUCTURE,
                            "'%s': the type of result %d must be declared", c->op, i);
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    tc_tensor *out = tc_new_n(&c->ctx->scratch, tc_tensor, (size_t)c->n_out + 1);
    for (int i = 0; i < c->n_out; i++)
        out[i].type = &c->out[i];
    const char *wrong =
        ti_shader_interface(&c->ctx->scratch, a, c->in, c->n_in, out, c->n_out, &interface);
    if (!wrong && a->language == TC_shader_code_spirv) {
        ti_shader_declarations(&r, &c->ctx->scratch, a->code, a->entry_point, &interface, &program);
        if (!r.error)
            ti_shader_check(&r);
        wrong = r.error;
    }
    tc_status status = TC_OK;
    if (wrong)
        status = ti_error(c->ctx, c->loc, TC_E_MISMATCH, "'%s' (%s): %s", c->op,
                          a->name ? a->name : "", wrong);
    ti_arena_rewind(&c->ctx->scratch, mark);
    return status;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* A result is zeros, or what the operand of its set and binding holds. */
static const char *begin_results(const tc_sh_interface *to)
{
    for (size_t i = to->n_in; i < to->n_port; i++) {
        const tc_sh_port *p = &to->port[i];
        memset(p->value.data, 0, p->bytes);
        for (size_t k = 0; k < to->n_in; k++) {
            const tc_sh_port *from = &to->port[k];
            if (from->set != p->set || from->binding != p->binding)
                continue;
            if (from->bytes != p->bytes)
                return "an operand and a result of one binding are not of one size";
            memcpy(p->value.data, from->value.data, p->bytes);
        }
    }
    return NULL;
}

void ti_num_tosa_shader(tc_call *call)
{
    const tc_attr_tosa_shader *a = call->attr;
    tc_sh_interface interface;
    tc_sh_program program;
    tc_sh_reader r;
    if (a->language != TC_shader_code_spirv) {
        call->error = a->language == TC_shader_code_none
                          ? "its code is not in the file; the application brings it"
                          : "its code is GLSL or HLSL; only SPIR-V can be run";
        return;
    }
    call->error = ti_shader_interface(call->scratch, a, call->in, call->n_in, call->out, call->n_out,
                                      &interface);
    if (call->error)
        return;
    ti_shader_declarations(&r, call->scratch, a->code, a->entry_point, &interface, &program);
    if (!r.error)
        ti_shader_check(&r);
    if (!r.error)
        ti_shader_program(&r);
    call->error = r.error ? r.error : begin_results(&interface);
    if (!call->error)
        call->error = ti_shader_run(&program, &interface, call->scratch, BUDGET);
}
