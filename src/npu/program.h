/* SPDX-License-Identifier: Apache-2.0 */
/* program.h -- what is loaded into an Ethos-U: stream, constants, sizes of memories, addresses of
 * tensors.
 *
 * It is read from Vela's raw output (X_vela.npz), or from the payload of ExecuTorch's
 * EthosUBackend. */
#ifndef TC_PROGRAM_H
#define TC_PROGRAM_H

#include "../base/diag.h"
#include "npu_op.h"

enum { TC_NPU_DIMS = 6, TC_NPU_REGIONS = 8 };

/* A tensor that the caller fills or reads: dense, channels last. */
typedef struct tc_npu_tensor {
    int64_t dim[TC_NPU_DIMS]; /* leading ones */
    int64_t element_bytes;    /* 1, 2, 4, 8 */
    int64_t offset;
    int64_t bytes;
    uint8_t region;
} tc_npu_tensor;

typedef struct tc_npu_program {
    const tc_npu_machine *machine;
    uint32_t config, id; /* words of the driver payload */
    tc_bytes driver;
    tc_npu_words words;    /* of the driver payload */
    size_t words_at;       /* byte of the driver payload where the stream begins */
    tc_bytes weights;      /* region 0 */
    int64_t scratch, fast; /* bytes of regions 1 and 2; fast 0: region 2 is region 1; -1: the file
                              does not say */
    tc_npu_tensor *in, *out;
    size_t n_in, n_out;
    size_t
        n_state; /* the last of both: addresses whose contents persist between runs */
} tc_npu_program;

/* COP1 or COP2: machine, config, id, words, words_at of *out; of COP2 also fast. */
TC_MUST_USE tc_status ti_npu_read_driver(tc_ctx *ctx, const tc_loc *loc, tc_bytes driver,
                                         tc_npu_program *out);

/* The other way: of a program whose machine, words, weights, sizes and tensors (all but their
 * `bytes`) are set, the driver payload COP1 and what follows from it.  NULL, or what is wrong. */
const char *ti_npu_make_driver(tc_arena *arena, tc_npu_program *program);

/* The same program with its scratch `by` bytes further on: every address in region 1, also those of
 * its tensors there; region 2 too where that is region 1.  Words, driver payload and tensors are new
 * ones, its n commands, which stood at the words `from`, stand at `to`.  NULL, or what is wrong. */
typedef struct tc_npu_moved {
    const size_t *from, *to;
    size_t n;
} tc_npu_moved;

const char *ti_npu_move_scratch(tc_arena *arena, tc_npu_program *program, int64_t by, tc_npu_moved *moved);

/* X_vela.npz of such a program. */
tc_bytes ti_npu_write_npz(tc_arena *arena, const tc_npu_program *program);

/* The bytes of the tensors; what is wrong with them or with a size, or NULL. */
const char *ti_npu_settle_tensors(tc_npu_program *program);

/* The payload of an EthosUBackend: blocks of a name, a size and bytes, or the name of the bytes
 * elsewhere in its file; those must have been put in (ti_npu_backend_whole). */
TC_MUST_USE tc_status ti_npu_read_backend(tc_ctx *ctx, const tc_loc *loc, tc_bytes payload,
                                          tc_npu_program *out);

/* The same without a context: what is wrong with it, or NULL; lists go into the arena. */
const char *ti_npu_parse_backend(tc_arena *arena, tc_bytes payload, tc_npu_program *out);

/* The name of region 0, where it is not in the payload; else empty. */
tc_str ti_npu_backend_key(tc_bytes payload);
/* Such a payload with region 0 in it. */
tc_bytes ti_npu_backend_whole(tc_arena *arena, tc_bytes payload, tc_bytes weights);

/* A program as such a payload; if the size of region 2 is known there is a block for it,
 * "fast_size", which ExecuTorch lacks. */
tc_bytes ti_npu_backend_payload(tc_arena *arena, const tc_npu_program *program);

/* Programs that share region 0, as bytes of which each one's payload is a suffix: that of i begins
 * at at[i].  Parts of others are inside of blocks that are skipped, and region 0 is stored once. */
tc_bytes ti_npu_backend_joined(tc_arena *arena, const tc_npu_program *program, size_t n,
                               tc_bytes weights, size_t *at);

/* X_vela.npz. */
TC_MUST_USE tc_status ti_npu_read_npz(tc_ctx *ctx, const char *file, tc_bytes bytes,
                                      tc_npu_program *out);

/* Whether the archive looks like Vela's. */
bool ti_npu_looks_like_npz(tc_bytes bytes);

/* Is it the payload of an EthosUBackend? */
bool ti_npu_looks_like_backend(tc_bytes bytes);

/* Bytes of region r, from the file or by the accesses of the stream (-1 sizes are found by a
 * walk). */
int64_t ti_npu_region_bytes(const tc_npu_program *program, int region);

/* upper_bound: how many of n records, `stride` bytes apart and sorted by the word (size_t) of their
 * command at their beginning, have a word <= `word`.  The last of them is the one it belongs to. */
size_t ti_npu_records_upto(const void *record, size_t n, size_t stride, size_t word);

#endif
