/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c -- the operator 'ethosu': a program of an Ethos-U as one node of a graph.
 *
 * Its first operand is the payload of the EthosUBackend, as bytes; the others go into the program's
 * inputs, and the results come from its outputs, byte for byte. */
#include "../num/kernels.h"
#include "npu_exec.h"

static const char *fits(const tc_npu_program *p, const tc_call *call)
{
    if (p->n_in != (size_t)call->n_in - 1 || p->n_out != (size_t)call->n_out)
        return "the program has another number of inputs or outputs";
    for (size_t i = 0; i < p->n_in; i++)
        if (!call->in[i + 1].type || (size_t)p->in[i].bytes != tc_type_bytes(call->in[i + 1].type))
            return "the program has an input of another size";
    for (size_t i = 0; i < p->n_out; i++)
        if ((size_t)p->out[i].bytes != tc_type_bytes(call->out[i].type))
            return "the program has an output of another size";
    return NULL;
}

static const char *run(const tc_npu_program *p, const tc_call *call)
{
    const char *error = fits(p, call);
    tc_npu_exec *x = error ? NULL : ti_npu_exec_new(call->scratch, p, &error);
    if (error)
        return error;
    const void **in = tc_new_n(call->scratch, const void *, p->n_in + 1);
    void **out = tc_new_n(call->scratch, void *, p->n_out + 1);
    for (size_t i = 0; i < p->n_in; i++)
        in[i] = call->in[i + 1].data;
    for (size_t i = 0; i < p->n_out; i++)
        out[i] = call->out[i].data;
    return ti_npu_exec_run(x, in, out);
}

void ti_num_ethosu(tc_call *call)
{
    const tc_tensor *payload = &call->in[0];
    tc_npu_program *program = tc_new(call->scratch, tc_npu_program);
    if (!payload->type) {
        call->error = "there is no program";
        return;
    }
    tc_bytes bytes = {payload->data, tc_type_bytes(payload->type)};
    const char *wrong = ti_npu_parse_backend(call->scratch, bytes, program);
    call->error = wrong ? wrong : run(program, call);
}
