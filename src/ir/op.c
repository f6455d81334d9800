/* SPDX-License-Identifier: Apache-2.0 */
/* op.c -- the operator table. */
#include "op.h"

/* Kernels and shape functions are found by name; a missing one is a link error. */
#define ANY TC_ANY
#define OP(name, in0, in1, out, attr, shape, ...)                                                  \
    extern tc_shape_fn ti_shape_##shape;                                                           \
    extern tc_kernel ti_num_##name;
#include "op.def"

/* Operators that need more than their operands have no kernel: eval.c runs them. */
#define ti_num_const NULL
#define ti_num_cond NULL
#define ti_num_while_loop NULL
#define ti_num_tflite_op NULL
#define ti_num_call NULL
#define ti_num_call_times NULL
#define ti_num_tosa_custom NULL
#define ti_num_tosa_cond_if NULL
#define ti_num_tosa_while_loop NULL
#define ti_num_tosa_variable NULL
#define ti_num_tosa_variable_write NULL
#define ti_num_tosa_variable_read NULL

const tc_op_info tc_ops[TC_OP_COUNT] = {
#define OP(name_, in0_, in1_, out_, attr_, shape_, traits_, role_, axes_, places_, range_, tosa_,  \
           doc_)                                                                                   \
    [TC_OP_##name_] = {.name = #name_,                                                             \
                       .min_in = in0_,                                                             \
                       .max_in = in1_,                                                             \
                       .n_out = out_,                                                              \
                       .attr = TC_ATTR_##attr_,                                                    \
                       .shape = ti_shape_##shape_,                                                 \
                       .kernel = ti_num_##name_,                                                   \
                       .traits = traits_,                                                          \
                       .role = TC_ROLE_##role_,                                                    \
                       .axes = TC_AXES_##axes_,                                                    \
                       .places = TC_SOME_##places_,                                                \
                       .range = TC_RANGE_##range_,                                                 \
                       .tosa = tosa_,                                                              \
                       .doc = doc_},
#include "op.def"
};

const tc_role tc_roles[TC_ROLE_COUNT] = {
#define ROLE(name_, carries_, carried_, weight_, channel_, bias_, flows_, range_, is_, doc_)       \
    [TC_ROLE_##name_] = {                                                                          \
        TC_SOME_##carries_, TC_SOME_##carried_, TC_SOME_##weight_, channel_, bias_, flows_,        \
        TC_RESULT_##range_, TC_IS_##is_},
#include "role.def"
};

/* "tosa.add" in text is tosa_add in the table. */
static bool spelled(const char *row, tc_str name)
{
    size_t n = strlen(row);
    return n == name.n && memcmp(row, name.p, 4) == 0 &&
           (row[4] == name.p[4] || (row[4] == '_' && name.p[4] == '.')) &&
           memcmp(row + 5, name.p + 5, n - 5) == 0;
}

tc_op ti_op_named(tc_str name)
{
    bool tosa = name.n > 5 && memcmp(name.p, "tosa.", 5) == 0;
    for (int op = 0; op < TC_OP_COUNT; op++) {
        const char *row = tc_ops[op].name;
        if (!name.n || *row != *name.p)
            continue;
        bool is_tosa = ti_text_starts(row, "tosa_");
        if (tosa == is_tosa && (tosa ? spelled(row, name) : ti_str_is(name, row)))
            return (tc_op)op;
    }
    return TC_OP_COUNT;
}

tc_op ti_op_from_tosa(uint32_t number)
{
    /* Up to RESCALE the table has the schema's order. */
    uint32_t near = TC_OP_tosa_argmax + number - 1;
    if (near >= TC_OP_tosa_argmax && near <= TC_OP_tosa_rescale && tc_ops[near].tosa == number)
        return (tc_op)near;
    for (int op = 0; op < TC_OP_COUNT; op++) /* of two forms of one operator the plain one is first */
        if (number && tc_ops[op].tosa == number)
            return (tc_op)op;
    return TC_OP_COUNT;
}
