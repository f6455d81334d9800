/* SPDX-License-Identifier: Apache-2.0 */
/* emit_pte.h -- what the files of the .pte writer share.
 *
 * emit_pte.c puts the file together; pte_values.c makes the table of values: tensors, scalars,
 * lists; pte_steps.c the instructions, emit_pte_loop.c those of loops. */
#ifndef TC_EMIT_PTE_H
#define TC_EMIT_PTE_H

#include "../target/cortexm_call.h"
#include "../target/pte_schema.h"
#include "../wire/flatbuf.h"
#include "emit.h"

/* Contiguous data of tensors; index 0 is unused. */
typedef struct tc_pte_data {
    tc_map seen; /* by digest */
    const void **data;
    uint64_t *offset, *size;
    size_t n, cap, cap_offset, cap_size;
    uint64_t bytes;
} tc_pte_data;

/* What the methods of a program share. */
typedef struct tc_pte_parts {
    tc_fb_writer w;
    tc_pte_data constants, buffers;
    tc_map state; /* buffers that methods share, by name: their index among the buffers */
} tc_pte_parts;

/* The graph whose nodes become instructions: the program's, or a loop's inside it. */
typedef struct tc_pte_scope {
    const tc_graph *g;
    const tc_memory *memory;
    size_t base;                /* where its block begins */
    int64_t *of;                /* by value of the graph: its index in the table, or -1 */
    const tc_val *given;        /* by input: the value outside that it is; of a loop only */
    struct tc_pte_scope *outer; /* NULL: the program */
} tc_pte_scope;

/* One method. */
typedef struct tc_pte_emitter {
    tc_ctx *ctx;
    const tc_emit_method *method;
    const tc_module *module;
    tc_pte_scope *scope;
    const tc_payload *payload;
    size_t n_payload;
    tc_pte_parts *file;
    tc_fb_ref inputs, outputs;

    tc_fb_ref *value;
    size_t n_value, cap_value;
    tc_map shared; /* scalars and lists by content: their index + 1 */

    tc_fb_ref *op;
    size_t n_op, cap_op;
    tc_map ops; /* "name.overload" to its index + 1 */
    tc_fb_ref *step;
    const tc_node **from; /* by step: what it was made of */
    size_t n_step, cap_step, cap_from;
} tc_pte_emitter;

/* pte_values.c: indices in the table. */
int64_t ti_pte_tensor(tc_pte_emitter *e, tc_val v);
int64_t ti_pte_further(tc_pte_emitter *e, const tc_type *type,
                       size_t offset); /* an unused result, in the scope's block */
/* The tensor of a value, with the shape of the view; its axes in memory do not change. */
int64_t ti_pte_shown(tc_pte_emitter *e, tc_val v, const tc_cm_view *view);
int64_t ti_pte_numbers_of(tc_pte_emitter *e, tc_tensor t); /* constant */
int64_t ti_pte_bytes_at(tc_pte_emitter *e, size_t n, size_t offset); /* u8, in the scope's block */
int64_t ti_pte_add_value(tc_pte_emitter *e, const tc_cpu_value *value);
int64_t ti_pte_tensors(tc_pte_emitter *e, const int64_t *at, size_t n, bool optional);

/* Every type has a number there. */
TC_MUST_USE tc_status ti_pte_check_types(tc_pte_emitter *e);

/* pte_places.c: a list of frames for every step. */
tc_fb_ref ti_pte_places(tc_pte_emitter *e);

/* A scope without values yet; of the program, or of a graph of node k of another. */
tc_pte_scope *ti_pte_scope_new(tc_pte_emitter *e, const tc_graph *g, const tc_memory *memory);

/* pte_steps.c: the instructions of the program. */
TC_MUST_USE tc_status ti_pte_steps(tc_pte_emitter *e);
/* Those of the scope's nodes. */
TC_MUST_USE tc_status ti_pte_nodes(tc_pte_emitter *e);
/* Copies tensor `from` to `to`; indices in the table. */
void ti_pte_copy(tc_pte_emitter *e, const tc_node *node, int64_t to, int64_t from);
/* Room for an instruction that is not known yet; a jump to instruction `to` where the value is
 * false. */
size_t ti_pte_step_later(tc_pte_emitter *e, const tc_node *node);
void ti_pte_jump(tc_pte_emitter *e, size_t at, int64_t value, size_t to);

/* emit_pte_loop.c */
TC_MUST_USE tc_status ti_pte_loop(tc_pte_emitter *e, size_t k);

#endif
