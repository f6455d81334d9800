/* SPDX-License-Identifier: Apache-2.0 */
/* spirv.h -- SPIR-V words: written section by section, read instruction by instruction.
 *
 * Writing.  A module's sections are filled independently and joined at the end.  Types and
 * constants are looked up by content and written once.
 *
 * Reading.  A malformed stream ends early, with the reason. */
#ifndef TC_SPIRV_H
#define TC_SPIRV_H

#include "../base/bytes.h"
#include "../base/map.h"

typedef enum tc_spv_op {
#define SPV(number, name, operands) TC_SPV_##name = number,
#include "spirv.def"
} tc_spv_op;

enum { TC_SPV_MAGIC = 0x07230203, TC_SPV_VERSION = 0x00010500, TC_SPV_HEADER_WORDS = 5 };

/* Numbers that instructions mention. */
enum {
    TC_SPV_CAP_MATRIX = 0,
    TC_SPV_CAP_SHADER = 1,
    TC_SPV_CAP_FLOAT16 = 9,
    TC_SPV_CAP_INT64 = 11,
    TC_SPV_CAP_INT16 = 22,
    TC_SPV_CAP_INT8 = 39,
    TC_SPV_CAP_STORAGE_IMAGE_EXTENDED_FORMATS = 49,
    TC_SPV_CAP_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT = 56,
    TC_SPV_CAP_TENSORS = 4174,
    TC_SPV_CAP_GRAPH = 4191,
    TC_SPV_CAP_FLOAT8 = 4212,
    TC_SPV_CAP_BFLOAT16 = 5116,
    TC_SPV_CAP_VULKAN_MEMORY_MODEL = 5345
};
enum { TC_SPV_LOGICAL = 0, TC_SPV_MEMORY_VULKAN = 3 };
enum { TC_SPV_BINDING = 33, TC_SPV_DESCRIPTOR_SET = 34 };
enum { TC_SPV_UNIFORM_CONSTANT = 0 };
/* Encodings of OpTypeFloat; IEEE's has no code. */
enum { TC_SPV_IEEE = -1, TC_SPV_BFLOAT16 = 0, TC_SPV_E4M3 = 4214, TC_SPV_E5M2 = 4215 };

/* ---- writing --------------------------------------------------------------------------------- */

/* In the order of the module. */
typedef enum tc_spv_part {
    TC_SPV_HEAD, /* capabilities, extensions, imports, memory model */
    TC_SPV_NAMES,
    TC_SPV_NOTES, /* OpModuleProcessed */
    TC_SPV_DECORATIONS,
    TC_SPV_GLOBALS, /* types, constants, variables */
    TC_SPV_ENTRIES,
    TC_SPV_BODY,
    TC_SPV_PARTS
} tc_spv_part;

typedef struct tc_spv_writer {
    tc_arena *arena;
    tc_buf part[TC_SPV_PARTS];
    uint32_t bound; /* the next id */
    tc_map unique;  /* content of a type or constant to its id */
    uint32_t needs; /* capabilities of numeric and image types, a bit each */
    bool too_long;  /* an instruction had more than 65535 words: what follows is not kept */
} tc_spv_writer;

void ti_spv_write(tc_spv_writer *w, tc_arena *arena);
uint32_t ti_spv_id(tc_spv_writer *w); /* a fresh one */
void ti_spv_put(tc_spv_writer *w, tc_spv_part part, tc_spv_op op, const uint32_t *word, size_t n);
/* Words, a text, and more words. */
void ti_spv_put_text(tc_spv_writer *w, tc_spv_part part, tc_spv_op op, const uint32_t *before,
                     size_t n_before, const char *text, const uint32_t *after, size_t n_after);
/* The type (type == 0) or constant of this content, in the globals. */
uint32_t ti_spv_unique(tc_spv_writer *w, tc_spv_op op, uint32_t type, const uint32_t *word,
                       size_t n);
#define TC_SPV_UNIQUE(w, op, type, ...)                                                            \
    ti_spv_unique(w, op, type, (const uint32_t[]){__VA_ARGS__},                                    \
                  sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

/* Numeric types; the writer notes the capabilities they need. */
uint32_t ti_spv_bool(tc_spv_writer *w);
uint32_t ti_spv_int(tc_spv_writer *w, uint32_t bits);
uint32_t ti_spv_float(tc_spv_writer *w, uint32_t bits, int encoding);
void ti_spv_need(tc_spv_writer *w, uint32_t capability); /* of a type, without one */
/* At the head: these, then what the types need. */
void ti_spv_put_capabilities(tc_spv_writer *w, const uint32_t *also, size_t n);
void ti_spv_put_extensions(tc_spv_writer *w, const char *const *also, size_t n);

/* The finished module in the writer's arena; none when it is too_long. */
tc_bytes ti_spv_finish(tc_spv_writer *w);

#define TC_SPV_PUT(w, part, op, ...)                                                               \
    ti_spv_put(w, part, op, (const uint32_t[]){__VA_ARGS__},                                       \
               sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct tc_spv_reader {
    const uint8_t *data;
    size_t size, at;   /* bytes */
    uint32_t bound;    /* ids are below it; no more than there are words */
    const char *error; /* what is wrong; NULL: nothing so far */
} tc_spv_reader;

typedef struct tc_spv_instr {
    const uint8_t *word; /* its operands */
    size_t n;            /* and how many words they have */
    size_t at;           /* where it begins, in bytes */
    uint32_t op;
} tc_spv_instr;

void ti_spv_read(tc_spv_reader *r, tc_bytes bytes);
bool ti_spv_next(tc_spv_reader *r, tc_spv_instr *out); /* false: the end, or an error */

/* An operand; 0 past the last one. */
static inline uint32_t ti_spv_word(const tc_spv_instr *instr, size_t i)
{
    return i < instr->n ? ti_le32(instr->word + 4 * i) : 0;
}
/* The text that begins at operand i, and the operand after it; p == NULL when it does not end. */
tc_str ti_spv_text(const tc_spv_instr *instr, size_t i, size_t *next);
/* Which operand is the instruction's result; -1: none, or an instruction that is not in the table.
 */
int ti_spv_result(uint32_t op);

/* The instruction's name without "Op", and that of an instruction of GLSL.std.450; NULL: neither. */
const char *ti_spv_name(uint32_t op);
const char *ti_spv_glsl_name(uint32_t number);

#define TC_SPV_GLSL_SET "GLSL.std.450"
/* The id of a module's import of it; 0: none. */
uint32_t ti_spv_glsl_set(tc_bytes code);

/* How the instructions of extended sets are called: the set of id `glsl`, and any other. */
typedef struct tc_spv_names {
    uint32_t glsl;
    const char *(*tosa)(tc_arena *, uint32_t); /* or NULL as the name */
} tc_spv_names;

/* One line of text, "%7 = OpTypeInt 32 0". */
void ti_spv_print(const tc_spv_instr *instr, const tc_spv_names *names, tc_buf *out);

#endif
