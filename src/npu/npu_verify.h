/* SPDX-License-Identifier: Apache-2.0 */
/* npu_verify.h -- whether a stream is one that the machine takes, and does not read or write where
 * it must not.
 *
 * Any bytes may come in.  What is found names its command; nothing is executed. */
#ifndef TC_NPU_VERIFY_H
#define TC_NPU_VERIFY_H

#include "program.h"

typedef enum tc_npu_check {
#define FINDING(name, kind, doc) TC_CHECK_##name,
#include "verify.def"
    TC_CHECK_COUNT
} tc_npu_check;

typedef struct tc_npu_check_info {
    const char *name; /* "BOUNDS" */
    bool is_error;
    const char *doc;
} tc_npu_check_info;
extern const tc_npu_check_info tc_npu_checks[TC_CHECK_COUNT];

typedef struct tc_npu_finding {
    tc_npu_check check;
    size_t at;     /* word of the stream; SIZE_MAX: the program as a whole */
    size_t number; /* of the operation */
    const char *operation; /* "POOL MAX" */
    const char *text;
} tc_npu_finding;

enum { TC_NPU_FINDINGS = 64 }; /* that are kept */

typedef struct tc_npu_findings {
    tc_npu_finding *list;
    size_t n, n_error, n_doubt; /* kept; found */
    size_t n_operation;
} tc_npu_findings;

/* Memory of the findings is the context's. */
void ti_npu_verify(tc_ctx *ctx, const tc_npu_program *program, tc_npu_findings *out);

/* Where in the model a command comes from, or NULL. */
typedef const tc_loc *tc_npu_where(void *user, size_t word);

/* The findings as messages: errors and warnings; TC_OK when there is no error. */
TC_MUST_USE tc_status ti_npu_tell(tc_ctx *ctx, const tc_loc *loc, const tc_npu_findings *found,
                                  tc_npu_where *where, void *user);

#endif
