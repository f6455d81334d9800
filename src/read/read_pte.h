/* SPDX-License-Identifier: Apache-2.0 */
/* read_pte.h -- an ExecuTorch program as its file has it, for those who inspect it and those who
 * run it.
 */
#ifndef TC_READ_PTE_H
#define TC_READ_PTE_H

#include "../target/pte_bundle.h"
#include "../target/cpu.h"
#include "../target/pte_schema.h"
#include "../wire/flatbuf.h"

/* A value of a method. */
typedef struct tc_pte_value {
    uint8_t tag;        /* PTE_TENSOR and so on */
    tc_cpu_value plain; /* scalars, texts, and lists of them */
    tc_ints item;       /* lists of tensors: their values, -1 for None */
    /* Tensors. */
    int dtype; /* ScalarType's number */
    tc_ints dim;
    const tc_type *type; /* NULL: a type, or an order in memory, that we do not have */
    const tc_type *stored; /* the same with its axes in memory order; NULL: not supported */
    bool dynamic;        /* extents are upper bounds */
    bool placed, external;
    uint32_t memory;
    uint64_t offset;
    const char *name; /* its buffer's, or NULL */
    uint32_t data; /* its index among the constants, or, when placed, among the initial values; 0:
                      none */
} tc_pte_value;

typedef struct tc_pte_operator {
    tc_str name, overload;
} tc_pte_operator;

typedef struct tc_pte_delegate {
    const char *id;
    tc_bytes payload; /* with its weights, wherever those are in the file */
    size_t named;     /* bytes of weights that are among the file's named data; 0: none */
    bool common;      /* some of the payload's bytes are another's, too */
    tc_bytes tosa; /* named data "tosac.tosa.N"; no bytes: there is none */
    tc_bytes lines; /* named data "tosac.lines.N", likewise: where commands come from (emit.h) */
    const char *vela; /* the version of Vela that made it, from its compile specs; or NULL */
    const char *own;  /* of our own back end, the same; or NULL */
} tc_pte_delegate;

typedef struct tc_pte_step {
    uint8_t tag;   /* PTE_KERNEL_CALL and so on */
    tc_loc *frame; /* its location (compile --locations): file, node, target, module */
    size_t n_frame;
    uint32_t what; /* operator or delegate; of a move: from */
    tc_ints arg;   /* of a move: to */
} tc_pte_step;

typedef struct tc_pte_method {
    const char *name;
    tc_pte_value *value;
    size_t n_value;
    tc_ints in, out;
    tc_pte_operator *op;
    size_t n_op;
    tc_pte_delegate *delegate;
    size_t n_delegate;
    tc_pte_step *step;
    size_t n_step;
    tc_ints arena; /* bytes, by memory */
} tc_pte_method;

typedef struct tc_pte_file {
    tc_ctx *ctx;
    const char *name;
    tc_bytes bytes;
    tc_bundle *bundle; /* the file that `bytes` are inside of, with its test vectors; NULL: none */
    tc_fb fb;
    uint64_t base; /* where segments begin */
    struct {
        uint64_t offset, size;
    } * segment;
    size_t n_segment;
    uint32_t constant_segment, buffer_segment;
    uint64_t *constant, *buffer; /* where each begins, within its segment */
    size_t n_constant, n_buffer;
    struct {
        const char *key;
        uint32_t segment;
    } * named;
    size_t n_named;
    tc_pte_method *method;
    size_t n_method;
} tc_pte_file;

/* The contents of the file, checked to be inside it; value indices are within the list.  A bundled
 * program (.bpte) is one as well. */
TC_MUST_USE tc_status ti_pte_open(tc_ctx *ctx, const char *name, tc_bytes bytes, tc_pte_file *out);

/* read_bundle.c: a program with test vectors; tensors are used in place where aligned. */
bool ti_bundle_looks_like(tc_bytes bytes);
TC_MUST_USE tc_status ti_bundle_open(tc_ctx *ctx, const char *name, tc_bytes bytes, tc_bundle *out);

/* The operator of a kernel call: "aten::add.out". */
const char *ti_pte_kernel(tc_ctx *ctx, const tc_pte_method *m, const tc_pte_step *step);

/* The data of a tensor that has some in the file; a message when it is incomplete. */
TC_MUST_USE tc_status ti_pte_numbers(tc_pte_file *f, const tc_pte_value *tensor, const void **out);

/* Bytes of a segment; none when it is outside the file. */
tc_bytes ti_pte_segment(const tc_pte_file *f, uint32_t index);

/* ---- borders ---- */

/* An argument of a delegate call. */
typedef struct tc_pte_border {
    bool is_input;
    int64_t value;
    bool known; /* a quantize before it, or a dequantize after it, gives its scale */
    double scale;
    int64_t zero, qmin, qmax;
    int64_t axis; /* -1: one scale for all; else a scale for each of the axis, and `scale` is the
                     first of them */
} tc_pte_border;

/* The arguments of step k, a delegate call; in its own order, in the arena. */
tc_pte_border *ti_pte_borders(tc_pte_file *f, const tc_pte_method *m, size_t k);

/* ---- tensors of an Ethos-U payload ---- */

typedef struct tc_ethosu_tensor {
    int32_t dim[6]; /* leading ones */
    int32_t element_bytes, offset, region;
} tc_ethosu_tensor;

typedef struct tc_ethosu_payload {
    tc_ethosu_tensor *in, *out;
    size_t n_in, n_out;
    size_t commands, weights; /* bytes */
    uint32_t scratch;
} tc_ethosu_payload;

/* false: not such a payload. */
bool ti_ethosu_read(tc_arena *arena, tc_bytes payload, tc_ethosu_payload *out);

#endif
