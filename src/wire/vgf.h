/* SPDX-License-Identifier: Apache-2.0 */
/* vgf.h -- the VGF container: modules, resources, the sequence that runs them, and constants.
 *
 * A header of 128 bytes and four sections, three of them flatbuffers, the constants raw.  Written
 * as format 0.4.0, which every reader takes, with every section and constant on a multiple of 8. */
#ifndef TC_VGF_H
#define TC_VGF_H

#include "../base/diag.h"

enum { TC_VGF_COMPUTE = 0, TC_VGF_GRAPH = 1 };                            /* modules and segments */
enum { TC_VGF_SPIRV = 1, TC_VGF_GLSL = 2, TC_VGF_HLSL = 3 };              /* code */
enum { TC_VGF_INPUT, TC_VGF_OUTPUT, TC_VGF_INTERMEDIATE, TC_VGF_CONSTANT }; /* resources */
enum { TC_VGF_TENSOR = 1000460000 }; /* VK_DESCRIPTOR_TYPE_TENSOR_ARM */
#define TC_VGF_NO_DESCRIPTOR UINT32_MAX

typedef struct tc_vgf_module {
    uint8_t type, code_type;
    const char *name, *entry_point;
    tc_bytes code; /* SPIR-V: its words */
} tc_vgf_module;

typedef struct tc_vgf_resource {
    uint32_t descriptor, format;
    uint8_t category;
    const int64_t *dim;
    size_t n_dim;
} tc_vgf_resource;

typedef struct tc_vgf_slot {
    uint32_t binding, resource;
} tc_vgf_slot;

typedef struct tc_vgf_slots {
    tc_vgf_slot *v;
    size_t n;
} tc_vgf_slots;

typedef struct tc_vgf_segment {
    uint8_t type;
    const char *name;
    uint32_t module;
    tc_vgf_slots *set; /* one per descriptor set */
    size_t n_set;
    tc_vgf_slots in, out;
    uint32_t *constant_id, *constant; /* OpGraphConstantARM's number and which constant it is */
    size_t n_constant;
    uint32_t dispatch[3];
} tc_vgf_segment;

typedef struct tc_vgf_constant {
    uint32_t resource;
    int32_t sparsity; /* the sparse dimension, or -1 */
    tc_bytes data;
} tc_vgf_constant;

typedef struct tc_vgf {
    uint8_t version[3];
    tc_vgf_module *module;
    tc_vgf_resource *resource;
    tc_vgf_segment *segment;
    tc_vgf_constant *constant;
    size_t n_module, n_resource, n_segment, n_constant;
    tc_vgf_slots in, out; /* of the whole sequence */
    const char **in_name, **out_name;
    size_t n_in_name, n_out_name;
} tc_vgf;

/* The file, in the context's arena. */
TC_MUST_USE tc_status ti_vgf_write(tc_ctx *ctx, const char *file, const tc_vgf *vgf, tc_bytes *out);

/* Every index that the file mentions is checked.  Code and constants stay where they are in
 * `bytes`. */
TC_MUST_USE tc_status ti_vgf_read(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_vgf *out);

#endif
