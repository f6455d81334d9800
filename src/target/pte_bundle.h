/* SPDX-License-Identifier: Apache-2.0 */
/* pte_bundle.h -- an ExecuTorch program with test vectors (.bpte, schema "BP08"): its tables, and what they
 * hold for those who write and those who read it. */
#ifndef TC_PTE_BUNDLE_H
#define TC_PTE_BUNDLE_H

#include "cpu.h"

#define TC_BUNDLE_IDENTIFIER "BP08"

enum { TC_BUNDLE_VERSION = 2, TC_BUNDLE_PROGRAM_ALIGN = 32, TC_BUNDLE_DATA_ALIGN = 16 };

enum {
    BP_VERSION = 0,
    BP_SUITES = 1,
    BP_PROGRAM = 2,

    BP_SUITE_METHOD = 0,
    BP_SUITE_CASES = 1,

    BP_CASE_INPUTS = 0,
    BP_CASE_OUTPUTS = 1,

    BP_VALUE_TYPE = 0,
    BP_VALUE = 1,

    BP_TENSOR_DTYPE = 0,
    BP_TENSOR_SIZES = 1,
    BP_TENSOR_DATA = 2,
    BP_TENSOR_ORDER = 3,

    BP_SCALAR = 0 /* the one field of Int, Bool and Double */
};

/* Tags of values. */
enum { BP_TENSOR = 1, BP_INT, BP_BOOL, BP_DOUBLE };

/* An input or an expected output: a tensor, or a number (its type is NULL then). */
typedef struct tc_bundle_value {
    tc_tensor tensor;
    tc_cpu_value number; /* TC_CPU_INT, TC_CPU_BOOL, TC_CPU_REAL */
} tc_bundle_value;

typedef struct tc_bundle_case {
    tc_bundle_value *in, *out;
    size_t n_in, n_out;
} tc_bundle_case;

typedef struct tc_bundle_suite {
    const char *method;
    tc_bundle_case *test;
    size_t n_test;
} tc_bundle_suite;

typedef struct tc_bundle {
    tc_bytes program; /* a whole .pte */
    tc_bundle_suite *suite;
    size_t n_suite;
} tc_bundle;

#endif
