/* SPDX-License-Identifier: Apache-2.0 */
/* ir_text.h -- graphs as text, and back.  doc/ir.md has the grammar.
 *
 * Printing a module and parsing the text gives an equal module; parsing printed text and
 * printing it again gives the same text. */
#ifndef TC_IR_TEXT_H
#define TC_IR_TEXT_H

#include "graph.h"

/* Constants of up to this many elements are written in place. */
enum { TC_INLINE_MOST = 64 };

/* The larger ones, to be written into a side file: contiguous, each once, 64-byte aligned.  The
 * data is not copied. */
typedef struct tc_side {
    tc_arena *arena;
    tc_bytes *part;
    size_t n_part, cap_part;
    size_t size; /* of all parts */
    tc_map seen;
} tc_side;
void ti_side_init(tc_side *side, tc_arena *arena);

/* The line `bin "SIZE:HASH"` says which file belongs to a text.  FNV-1a over consecutive bytes;
 * TC_SIDE_HASH is the initial value. */
#define TC_SIDE_HASH UINT64_C(0xcbf29ce484222325)
uint64_t ti_side_hash(uint64_t hash, tc_bytes more);
const char *ti_side_word(tc_arena *arena, size_t size, uint64_t hash);

typedef struct tc_print_options {
    bool locs;     /* loc(...) after every node with a location */
    tc_side *side; /* receives larger constants; NULL: all are written in place */
    const char *file_as; /* how the module's file is named; NULL: as it is */
} tc_print_options;

/* `out` lives in an arena other than the context's scratch, which is used on the way. */
void ti_print(const tc_module *module, const tc_print_options *options, tc_buf *out);

/* Text to a module.  `side` holds the constants of the side file, or nothing; it must live as long
 * as the context.  Types that the text leaves out are inferred where the operands' types are known.
 * The module has not been verified. */
TC_MUST_USE tc_status ti_parse(tc_ctx *ctx, const char *file, tc_bytes text, tc_bytes side,
                               tc_module **out);

/* The same graphs, signature and locations. */
bool ti_module_equal(const tc_module *a, const tc_module *b);

#endif
