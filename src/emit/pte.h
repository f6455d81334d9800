/* SPDX-License-Identifier: Apache-2.0 */
/* pte.h -- what the files of the .pte writer share.
 *
 * pte.c puts the file together; pte_values.c makes the table of values: tensors, numbers, lists;
 * pte_steps.c the instructions. */
#ifndef TC_EMIT_PTE_H
#define TC_EMIT_PTE_H

#include "../target/pte_schema.h"
#include "../wire/flatbuf.h"
#include "emit.h"

/* Tensors' numbers, one after the other; place 0 is nobody's. */
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
    tc_map state; /* buffers that methods share, by name: their place among the buffers */
} tc_pte_parts;

/* One method. */
typedef struct tc_pte_emitter {
    tc_ctx *ctx;
    const tc_emit_method *method;
    const tc_module *module;
    const tc_graph *g;
    const tc_memory *memory;
    const tc_payload *payload;
    size_t n_payload;
    tc_pte_parts *file;
    tc_fb_ref inputs, outputs;

    tc_fb_ref *value;
    size_t n_value, cap_value;
    int64_t *of;   /* by value of the graph: its place in the table, or -1 */
    tc_map shared; /* numbers and lists by what they are: their place + 1 */

    tc_fb_ref *op;
    size_t n_op, cap_op;
    tc_map ops; /* "name.overload" to its place + 1 */
    tc_fb_ref *step;
    const tc_node **from; /* by step: what it was made of */
    size_t n_step, cap_step, cap_from;
} tc_pte_emitter;

/* pte_values.c: places in the table. */
int64_t tc_pte_tensor(tc_pte_emitter *e, tc_val v);
int64_t tc_pte_further(tc_pte_emitter *e, const tc_type *type,
                       size_t offset); /* a result nobody reads */
int64_t tc_pte_value(tc_pte_emitter *e, const tc_cpu_value *value);
int64_t tc_pte_tensors(tc_pte_emitter *e, const int64_t *at, size_t n, bool optional);

/* Every type has a number there. */
TC_MUST_USE tc_status tc_pte_check_types(tc_pte_emitter *e);

/* pte_places.c: a list of frames for every step. */
tc_fb_ref tc_pte_places(tc_pte_emitter *e);

/* pte_steps.c: the instructions of the graph. */
TC_MUST_USE tc_status tc_pte_steps(tc_pte_emitter *e);

#endif
