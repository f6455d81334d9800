/* SPDX-License-Identifier: Apache-2.0 */
/* read_vela.c -- Vela's raw answer (X_vela.npz), or the payload made of it, as a graph of one node
 * that executes the stream.
 *
 * Vela notes six extents, leading ones, and the bytes of an element; how many axes a tensor had,
 * and whether its elements are signed, is not in the file.  Tensors are of signed integers here,
 * with as many axes as it takes; the data that the program is run on may say otherwise
 * (module->any_rank).  Its variables are state of the graph. */
#include "../npu/program.h"
#include "../num/load.h"
#include "read.h"

static const tc_type *type_of(tc_ctx *ctx, const tc_npu_tensor *t)
{
    tc_dtype dtype = t->element_bytes == 1   ? TC_i8
                     : t->element_bytes == 2 ? TC_i16
                     : t->element_bytes == 4 ? TC_i32
                                             : TC_i64;
    int first = 0;
    while (first < TC_NPU_DIMS && t->dim[first] == 1)
        first++;
    return ti_type_make(ctx, dtype, TC_NPU_DIMS - first, t->dim + first);
}

/* The zero point that the first operation that reads the address subtracts: the code of zero, which
 * state begins as. */
static int64_t zero_of(const tc_npu_program *p, const tc_npu_tensor *t)
{
    tc_npu_walk walk;
    tc_npu_op op;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op)) {
        const tc_npu_map *read[] = {&op.ifm, &op.ifm2};
        for (size_t i = 0; i < TC_COUNT(read) && ti_npu_is_kernel(op.kind); i++)
            if (read[i]->used && read[i]->storage <= TC_STORE_TILES_3X1 &&
                read[i]->region == t->region && (int64_t)read[i]->base[0] == t->offset &&
                read[i]->bytes == t->element_bytes)
                return read[i]->zero;
    }
    return 0;
}

static tc_val state_of(tc_graph *g, const tc_npu_program *p, const tc_npu_tensor *t,
                       const tc_loc *loc)
{
    const tc_type *type = type_of(g->module->ctx, t);
    tc_tensor start = ti_tensor_new(&g->module->ctx->arena, type);
    int64_t zero = zero_of(p, t);
    for (int64_t i = 0; i < tc_type_count(type); i++)
        ti_store_i64(start, i, zero);
    tc_val v = ti_graph_const(g, type, start.data, NULL, loc);
    ti_value_of(g, v)->state = true;
    return v;
}

tc_status ti_read_vela(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    tc_npu_program program;
    const tc_loc here = {.file = file};
    TC_TRY(ti_npu_looks_like_backend(bytes) ? ti_npu_read_backend(ctx, &here, bytes, &program)
                                            : ti_npu_read_npz(ctx, file, bytes, &program));
    tc_module *m = ti_module_new(ctx, file);
    tc_graph *g = ti_graph_new(m, "main");
    const tc_loc *loc = ti_arena_copy(&ctx->arena, &(tc_loc){.file = file}, sizeof(tc_loc));
    size_t n_in = program.n_in - program.n_state, n_out = program.n_out - program.n_state;
    tc_bytes payload = ti_npu_backend_payload(&ctx->arena, &program);
    tc_val *in = tc_new_n(&ctx->arena, tc_val, program.n_in + 1);
    m->origin.bytes = bytes.size;
    m->origin.producer = "Vela";
    m->origin.any_rank = true;
    for (size_t i = 0; i < n_in; i++)
        in[i + 1] = ti_graph_input(g, type_of(ctx, &program.in[i]), NULL);
    for (size_t i = n_in; i < program.n_in; i++)
        in[i + 1] = state_of(g, &program, &program.in[i], loc);
    int64_t size = (int64_t)payload.size;
    in[0] = ti_graph_const(g, ti_type_make(ctx, TC_u8, 1, &size), payload.data, NULL, loc);
    tc_node *node =
        ti_graph_add(g, TC_OP_ethosu, NULL, in, (int)program.n_in + 1, (int)program.n_out, loc);
    for (size_t i = 0; i < program.n_out; i++) {
        ti_value_of(g, node->out[i])->type = type_of(ctx, &program.out[i]);
        if (i < n_out)
            ti_graph_output(g, node->out[i]);
        else
            ti_graph_mutate(g, in[1 + n_in + i - n_out], node->out[i]);
    }
    *out = m;
    return ti_node_infer(g, node);
}
