/* SPDX-License-Identifier: Apache-2.0 */
/* shader_words.h -- SPIR-V's codes of decorations, storage classes and the like. */
#ifndef TC_SHADER_WORDS_H
#define TC_SHADER_WORDS_H

enum { /* decorations */
       WORD_ROW_MAJOR = 4,
       WORD_ARRAY_STRIDE = 6,
       WORD_MATRIX_STRIDE = 7,
       WORD_BUILTIN = 11,
       WORD_BINDING = 33,
       WORD_SET = 34,
       WORD_OFFSET = 35
};
enum { /* built-in variables */
       WORD_NUM_WORKGROUPS = 24,
       WORD_WORKGROUP_SIZE = 25,
       WORD_WORKGROUP_ID = 26,
       WORD_LOCAL_INVOCATION_ID = 27,
       WORD_GLOBAL_INVOCATION_ID = 28,
       WORD_LOCAL_INVOCATION_INDEX = 29
};
enum { /* storage classes */
       WORD_UNIFORM_CONSTANT = 0,
       WORD_INPUT = 1,
       WORD_UNIFORM = 2,
       WORD_WORKGROUP = 4,
       WORD_PRIVATE = 6,
       WORD_FUNCTION = 7,
       WORD_PUSH_CONSTANT = 9,
       WORD_STORAGE_BUFFER = 12
};
enum { WORD_COMPUTE = 5 };                              /* execution model */
enum { WORD_LOCAL_SIZE = 17, WORD_LOCAL_SIZE_ID = 38 }; /* execution modes */
enum { WORD_DIM_2D = 1 };
/* Image operands: the level of detail; and those about memory or signs, which change no number:
 * NonPrivateTexel, VolatileTexel, SignExtend, ZeroExtend, Nontemporal. */
enum { WORD_OPERAND_LOD = 2, WORD_OPERAND_MEMORY = 0x7c00 };
enum { WORD_OUT_OF_BOUNDS = 2 };                            /* tensor operands */

#endif
