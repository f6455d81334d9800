/* SPDX-License-Identifier: Apache-2.0 */
/* vgf.h -- the VGF container: modules, resources, the sequence that runs them, and constants.
 *
 * A header of 128 bytes and four sections, three of them flatbuffers, the constants raw.  Written
 * as format 0.4.0, which every reader takes, with every section and constant on a multiple of 8;
 * as 0.4.3 or 0.5.0 where the file has something of those. */
#ifndef TC_VGF_H
#define TC_VGF_H

#include "../base/diag.h"

enum { TC_VGF_COMPUTE = 0, TC_VGF_GRAPH = 1 };                            /* modules and segments */
/* Code; none: the application brings it. */
enum { TC_VGF_NO_CODE = 0, TC_VGF_SPIRV = 1, TC_VGF_GLSL = 2, TC_VGF_HLSL = 3 };
enum { TC_VGF_INPUT, TC_VGF_OUTPUT, TC_VGF_INTERMEDIATE, TC_VGF_CONSTANT }; /* resources */
/* Descriptors: Vulkan's values. */
enum {
    TC_VGF_SAMPLER = 0,
    TC_VGF_IMAGE_SAMPLER = 1,
    TC_VGF_SAMPLED_IMAGE = 2,
    TC_VGF_STORAGE_IMAGE = 3,
    TC_VGF_UNIFORM_BUFFER = 6,
    TC_VGF_STORAGE_BUFFER = 7,
    TC_VGF_TENSOR = 1000460000
};
#define TC_VGF_NO_DESCRIPTOR UINT32_MAX
#define TC_VGF_SET_BY_PLACE UINT32_MAX

typedef struct tc_vgf_module {
    uint8_t type, code_type;
    const char *name, *entry_point;
    tc_bytes code; /* SPIR-V: its words; GLSL, HLSL: the text; else empty */
} tc_vgf_module;

/* Filters, address modes and border colour: Vulkan's values. */
typedef struct tc_vgf_sampler {
    uint32_t min_filter, mag_filter, address_u, address_v, border;
} tc_vgf_sampler;

typedef struct tc_vgf_resource {
    uint32_t descriptor, format;
    uint8_t category;
    const int64_t *dim; /* -1: open */
    size_t n_dim;
    const int64_t *stride; /* in bytes; none: packed */
    size_t n_stride;
    const tc_vgf_sampler *sampler; /* or NULL */
    bool aliases;                  /* shares its bytes with all others of the same group */
    uint32_t alias;
} tc_vgf_resource;

typedef struct tc_vgf_slot {
    uint32_t binding, resource;
} tc_vgf_slot;

typedef struct tc_vgf_slots {
    tc_vgf_slot *v;
    size_t n;
} tc_vgf_slots;

typedef struct tc_vgf_set {
    tc_vgf_slots slots;
    uint32_t index; /* written as TC_VGF_SET_BY_PLACE: absent; read: then its index */
} tc_vgf_set;

typedef struct tc_vgf_push {
    uint32_t stages, offset, size;
} tc_vgf_push;

typedef struct tc_vgf_segment {
    uint8_t type;
    const char *name;
    uint32_t module;
    tc_vgf_set *set;
    size_t n_set;
    tc_vgf_slots in, out;
    /* OpGraphConstantARM's id and which constant it is; written without ids: the same. */
    uint32_t *constant_id, *constant;
    size_t n_constant;
    uint32_t dispatch[3]; /* counts of work groups; zeros for graphs */
    tc_vgf_push *push;
    size_t n_push;
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

/* The file, in the context's arena.  The format is `version`, or a later one that it needs. */
TC_MUST_USE tc_status ti_vgf_write(tc_ctx *ctx, const char *file, const tc_vgf *vgf, tc_bytes *out);

/* Every index that the file mentions is checked.  Code and constants stay where they are in
 * `bytes`. */
TC_MUST_USE tc_status ti_vgf_read(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_vgf *out);

#endif
