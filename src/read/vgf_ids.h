/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_ids.h -- what the files of the VGF reader share: ids of a SPIR-V module, decoded when they
 * are used. */
#ifndef TC_VGF_IDS_H
#define TC_VGF_IDS_H

#include "../ir/graph.h"
#include "../wire/spirv.h"
#include "../wire/vgf.h"

/* What is known of an id. */
typedef struct {
    tc_spv_instr instr; /* that makes it; op 0: none so far */
    const char *name;   /* OpName, or NULL */
    const tc_type *type; /* OpTypeTensorARM, once it was decoded */
    tc_val val;         /* of the graph, once it is there */
    tc_val as_shape;    /* a constant as a shape, once it is there */
    tc_node *node;      /* of several results */
    uint32_t set, binding; /* decorations of a variable */
    bool bound;
} tc_vgf_entry;

typedef struct {
    tc_ctx *ctx;
    tc_module *module;
    tc_graph *g;
    tc_vgf vgf;
    const tc_vgf_segment *segment;
    tc_bytes code;
    tc_vgf_entry *id;
    uint32_t bound;
    tc_spv_instr entry_point; /* op 0: none */
    tc_spv_instr at;          /* the instruction at hand, for messages */
    const tc_type **type;  /* of the entry point's inputs and then outputs, as the graph has them */
    const tc_type **outer; /* and as the container has them: rank 0 is known there */
    size_t n_in, n_out;
    tc_val *given; /* by input: what the caller has for it, of the type `outer` */
    tc_val *out;   /* by output: what the graph sets it to */
    tc_map constants; /* number of a graph constant (four bytes) to its tc_vgf_constant */
    tc_map quant;     /* "input 0" to the text of its quantization */
    size_t budget;    /* bytes that constants in the code may still take */
} tc_vgf_reader;

/* A message with the location of the current instruction. */
tc_status ti_vgf_bad(tc_vgf_reader *r, tc_diag_id id, const char *what);
const tc_loc *ti_vgf_loc(tc_vgf_reader *r, uint32_t id, const char *target);

/* The instruction that makes an id; one with op 0 when there is none. */
const tc_spv_instr *ti_vgf_made_by(const tc_vgf_reader *r, uint32_t id);

/* A constant of 32 bits; false when it is none. */
bool ti_vgf_u32(const tc_vgf_reader *r, uint32_t id, uint32_t *out);

TC_MUST_USE tc_status ti_vgf_tensor_type(tc_vgf_reader *r, uint32_t id, const tc_type **out);

/* A scalar constant into one element, and a tensor constant, inline or from the constants
 * section. */
TC_MUST_USE tc_status ti_vgf_scalar(tc_vgf_reader *r, uint32_t id, tc_dtype dtype, uint8_t *at);
TC_MUST_USE tc_status ti_vgf_tensor(tc_vgf_reader *r, uint32_t id, const tc_type **type,
                                    const void **data);

/* read_vgf.c: the graph of r->segment.  Open it: its types are known then.  Variable i of the entry
 * point, inputs and then outputs.  Read it: from r->given to r->out. */
TC_MUST_USE tc_status ti_vgf_open_graph(tc_vgf_reader *r);
const tc_vgf_entry *ti_vgf_variable(const tc_vgf_reader *r, size_t i);
TC_MUST_USE tc_status ti_vgf_read_graph(tc_vgf_reader *r);
/* The type with the quantization that the emitter noted of an input or output, if any. */
TC_MUST_USE tc_status ti_vgf_noted(tc_vgf_reader *r, const char *what, size_t i,
                                   const tc_type **type);
/* The same elements in another shape. */
tc_val ti_vgf_reshaped(tc_vgf_reader *r, tc_val v, const tc_type *type, const tc_loc *loc);
/* The sequence's name of an input or output; NULL for those that only count, which the emitter
 * makes up. */
const char *ti_vgf_port_name(tc_vgf_reader *r, bool in, size_t i, size_t n);

/* vgf_segments.c: a file of several segments, or of shaders, as one graph. */
TC_MUST_USE tc_status ti_vgf_read_segments(tc_vgf_reader *r);

#endif
