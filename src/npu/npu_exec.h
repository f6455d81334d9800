/* SPDX-License-Identifier: Apache-2.0 */
/* npu_exec.h -- runs a stream on a PC, one operation after the other, bit for bit as the machine
 * defines it. */
#ifndef TC_NPU_EXEC_H
#define TC_NPU_EXEC_H

#include "program.h"
#include "tosac/npu.h"

typedef struct tc_npu_exec tc_npu_exec;

/* Memories of the program's sizes, in the arena; bytes never written hold `fill`. NULL: they are
 * too large, and a message has been put into *error. */
tc_npu_exec *ti_npu_exec_new(tc_arena *arena, const tc_npu_program *program, const char **error);

/* One without memories, but for that of tables: regions are the caller's, by ti_npu_exec_bind(). */
tc_npu_exec *ti_npu_exec_open(tc_arena *arena, const tc_npu_program *program);

/* Bounds what a run may do, counted in products and elements moved; for streams from anywhere. */
void ti_npu_exec_limit(tc_npu_exec *exec, int64_t work);

/* From the beginning: memories except region 0 filled again (0xA5), region 0 as in the file. */
void ti_npu_exec_begin(tc_npu_exec *exec);

/* The same without a change to any memory but that of tables: for regions that are the caller's. */
void ti_npu_exec_restart(tc_npu_exec *exec);

/* The bytes of region r, or of the memory of tables (TC_NPU_INTERNAL). */
enum { TC_NPU_INTERNAL = TC_NPU_REGIONS };
typedef struct tc_npu_memory {
    uint8_t *data;
    int64_t bytes;
} tc_npu_memory;
tc_npu_memory ti_npu_exec_memory(tc_npu_exec *exec, int region);
void ti_npu_exec_bind(tc_npu_exec *exec, int region, tc_npu_memory memory);

/* A tensor's bytes in and out; false: it is out of bounds, see ti_npu_exec_error(). */
bool ti_npu_exec_put(tc_npu_exec *exec, const tc_npu_tensor *tensor, const void *data);
bool ti_npu_exec_get(tc_npu_exec *exec, const tc_npu_tensor *tensor, void *data);

/* Executes the next operation and shows it; false at the end, or on an error. */
bool ti_npu_exec_step(tc_npu_exec *exec, tc_npu_op *op);

/* What went wrong, in words that name the command; NULL: nothing. */
const char *ti_npu_exec_error(const tc_npu_exec *exec);
/* Its kind; *region: which one it is an access outside of, -1: it is another kind. */
tc_npu_fault ti_npu_exec_fault(const tc_npu_exec *exec, int *region);
/* The byte of the stream after the last command that was read. */
size_t ti_npu_exec_at(const tc_npu_exec *exec);

/* begin, put, step to the end, get.  The error, or NULL. */
const char *ti_npu_exec_run(tc_npu_exec *exec, const void *const *in, void *const *out);

#endif
