/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NPU_H
#define NPU_H
#include <stddef.h>
#ifdef __cplusplus
extern "C"
#endif
/* Runs the stream; scratch holds the inputs before and the outputs behind it.  What is wrong, or NULL. */
const char *npu_run(const void *commands, size_t n_commands, const void *weights, size_t n_weights,
                    void *scratch, size_t n_scratch);
#endif
