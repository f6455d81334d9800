/* SPDX-License-Identifier: Apache-2.0 */
/* spirv.c -- SPIR-V words; see spirv.h. */
#include "spirv.h"

typedef struct {
    uint32_t number;
    const char *name, *operands;
} instruction_row;

static const instruction_row table[] = {
#define SPV(number, name, operands) {number, #name, operands},
#include "spirv.def"
};

static const instruction_row *row_of(uint32_t op)
{
    size_t lo = 0, hi = TC_COUNT(table); /* the table is sorted by code */
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if (table[middle].number < op)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < TC_COUNT(table) && table[lo].number == op ? &table[lo] : NULL;
}

const char *ti_spv_name(uint32_t op)
{
    const instruction_row *row = row_of(op);
    return row ? row->name : NULL;
}

const char *ti_spv_glsl_name(uint32_t number)
{
    static const struct {
        uint32_t number;
        const char *name;
    } names[] = {
#define GLSL(number, name) {number, #name},
#include "glsl.def"
    };
    for (size_t i = 0; i < TC_COUNT(names); i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { MOST_WORDS = 0xffff }; /* of an instruction, its first one included */

void ti_spv_write(tc_spv_writer *w, tc_arena *arena)
{
    *w = (tc_spv_writer){.arena = arena, .bound = 1};
    for (int i = 0; i < TC_SPV_PARTS; i++)
        ti_buf_init(&w->part[i], arena);
    ti_map_init(&w->unique, arena);
}

uint32_t ti_spv_id(tc_spv_writer *w)
{
    return w->bound++;
}

/* The word that begins an instruction; false when it would be too long. */
static bool begin(tc_spv_writer *w, tc_spv_part part, tc_spv_op op, size_t n)
{
    w->too_long |= n >= MOST_WORDS;
    if (w->too_long)
        return false;
    ti_buf_u32(&w->part[part], (uint32_t)(n + 1) << 16 | (uint32_t)op);
    return true;
}

static void put_words(tc_buf *buf, const uint32_t *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ti_buf_u32(buf, word[i]);
}

void ti_spv_put(tc_spv_writer *w, tc_spv_part part, tc_spv_op op, const uint32_t *word, size_t n)
{
    if (begin(w, part, op, n))
        put_words(&w->part[part], word, n);
}

void ti_spv_put_text(tc_spv_writer *w, tc_spv_part part, tc_spv_op op, const uint32_t *before,
                     size_t n_before, const char *text, const uint32_t *after, size_t n_after)
{
    size_t length = strlen(text), text_words = length / 4 + 1;
    if (!begin(w, part, op, n_before + text_words + n_after))
        return;
    tc_buf *buf = &w->part[part];
    put_words(buf, before, n_before);
    ti_buf_put(buf, text, length);
    ti_buf_zeros(buf, 4 * text_words - length);
    put_words(buf, after, n_after);
}

uint32_t ti_spv_unique(tc_spv_writer *w, tc_spv_op op, uint32_t type, const uint32_t *word,
                       size_t n)
{
    enum { NEAR = 16 };
    uint32_t near[NEAR], *key = near; /* op, type, result (0 in the key), operands */
    if (n + 3 > NEAR)
        key = ti_arena_raw(w->arena, (n + 3) * sizeof *key);
    key[0] = (uint32_t)op;
    key[1] = type;
    key[2] = 0;
    if (n)
        memcpy(key + 3, word, n * sizeof *word);
    void **slot = ti_map_at(&w->unique, (tc_str){(const char *)key, (n + 3) * sizeof *key});
    if (*slot)
        return (uint32_t)(uintptr_t)*slot;
    uint32_t id = ti_spv_id(w);
    *slot = (void *)(uintptr_t)id;
    key[2] = id;
    ti_spv_put(w, TC_SPV_GLOBALS, op, type ? key + 1 : key + 2, type ? n + 2 : n + 1);
    return id;
}

/* Capabilities of some numeric and image types, in the order of the header. */
static const struct {
    uint32_t capability;
    const char *extension;
} needs[] = {
    {TC_SPV_CAP_INT8, NULL},
    {TC_SPV_CAP_INT16, NULL},
    {TC_SPV_CAP_INT64, NULL},
    {TC_SPV_CAP_FLOAT16, NULL},
    {TC_SPV_CAP_BFLOAT16, "SPV_KHR_bfloat16"},
    {TC_SPV_CAP_FLOAT8, "SPV_EXT_float8"},
    {TC_SPV_CAP_STORAGE_IMAGE_EXTENDED_FORMATS, NULL},
    {TC_SPV_CAP_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT, NULL},
};

void ti_spv_need(tc_spv_writer *w, uint32_t capability)
{
    for (size_t i = 0; i < TC_COUNT(needs); i++)
        if (needs[i].capability == capability)
            w->needs |= 1u << i;
}

uint32_t ti_spv_bool(tc_spv_writer *w)
{
    return ti_spv_unique(w, TC_SPV_TypeBool, 0, NULL, 0);
}

uint32_t ti_spv_int(tc_spv_writer *w, uint32_t bits)
{
    if (bits != 32)
        ti_spv_need(w, bits == 8    ? TC_SPV_CAP_INT8
                       : bits == 16 ? TC_SPV_CAP_INT16
                                    : TC_SPV_CAP_INT64);
    return TC_SPV_UNIQUE(w, TC_SPV_TypeInt, 0, bits, 0);
}

uint32_t ti_spv_float(tc_spv_writer *w, uint32_t bits, int encoding)
{
    if (bits != 32)
        ti_spv_need(w, bits == 8                      ? TC_SPV_CAP_FLOAT8
                       : encoding == TC_SPV_BFLOAT16 ? TC_SPV_CAP_BFLOAT16
                                                     : TC_SPV_CAP_FLOAT16);
    return ti_spv_unique(w, TC_SPV_TypeFloat, 0, (const uint32_t[]){bits, (uint32_t)encoding},
                         encoding == TC_SPV_IEEE ? 1 : 2);
}

void ti_spv_put_capabilities(tc_spv_writer *w, const uint32_t *also, size_t n)
{
    for (size_t i = 0; i < n; i++)
        TC_SPV_PUT(w, TC_SPV_HEAD, TC_SPV_Capability, also[i]);
    for (size_t i = 0; i < TC_COUNT(needs); i++)
        if (w->needs & 1u << i)
            TC_SPV_PUT(w, TC_SPV_HEAD, TC_SPV_Capability, needs[i].capability);
}

static void put_extension(tc_spv_writer *w, const char *name)
{
    ti_spv_put_text(w, TC_SPV_HEAD, TC_SPV_Extension, NULL, 0, name, NULL, 0);
}

void ti_spv_put_extensions(tc_spv_writer *w, const char *const *also, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_extension(w, also[i]);
    for (size_t i = 0; i < TC_COUNT(needs); i++)
        if (w->needs & 1u << i && needs[i].extension)
            put_extension(w, needs[i].extension);
}

tc_bytes ti_spv_finish(tc_spv_writer *w)
{
    if (w->too_long)
        return (tc_bytes){NULL, 0};
    tc_buf all;
    ti_buf_init(&all, w->arena);
    put_words(&all, (const uint32_t[]){TC_SPV_MAGIC, TC_SPV_VERSION, 0, w->bound, 0},
              TC_SPV_HEADER_WORDS);
    for (int i = 0; i < TC_SPV_PARTS; i++)
        ti_buf_put(&all, w->part[i].data, w->part[i].size);
    return (tc_bytes){all.data, all.size};
}

/* ---- reading --------------------------------------------------------------------------------- */

void ti_spv_read(tc_spv_reader *r, tc_bytes bytes)
{
    *r = (tc_spv_reader){.data = bytes.data, .size = bytes.size, .at = 4 * TC_SPV_HEADER_WORDS};
    if (bytes.size < r->at || bytes.size % 4)
        r->error = "the module is too short, or not a multiple of four bytes";
    else if (ti_le32(bytes.data) != TC_SPV_MAGIC)
        r->error = "the module does not begin as SPIR-V does";
    else if ((r->bound = ti_le32(bytes.data + 12)) > bytes.size / 4)
        r->error = "the module says that it has more ids than words";
}

bool ti_spv_next(tc_spv_reader *r, tc_spv_instr *out)
{
    if (r->error || r->at == r->size)
        return false;
    uint32_t first = ti_le32(r->data + r->at);
    size_t n = first >> 16;
    if (!n || n > (r->size - r->at) / 4) {
        r->error = "an instruction has no length, or runs past the end";
        return false;
    }
    *out =
        (tc_spv_instr){.word = r->data + r->at + 4, .n = n - 1, .at = r->at, .op = first & 0xffff};
    r->at += 4 * n;
    return true;
}

tc_str ti_spv_text(const tc_spv_instr *instr, size_t i, size_t *next)
{
    const uint8_t *text = instr->word + 4 * i;
    size_t room = i < instr->n ? 4 * (instr->n - i) : 0;
    const uint8_t *end = room ? memchr(text, 0, room) : NULL;
    size_t length = end ? (size_t)(end - text) : 0;
    *next = end ? i + length / 4 + 1 : instr->n;
    return (tc_str){end ? (const char *)text : NULL, length};
}

int ti_spv_result(uint32_t op)
{
    const instruction_row *row = row_of(op);
    const char *at = row ? strchr(row->operands, 'r') : NULL;
    return at ? (int)(at - row->operands) : -1;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_operand(const tc_spv_instr *instr, char kind, size_t *i, tc_buf *out)
{
    size_t next = *i + 1;
    if (kind == 's') {
        tc_str text = ti_spv_text(instr, *i, &next);
        ti_buf_printf(out, " \"%.*s\"", (int)text.n, text.p ? text.p : "");
    } else if (kind == 'p') {
        ti_buf_printf(out, " %" PRIu32 " %%%" PRIu32, ti_spv_word(instr, *i),
                      ti_spv_word(instr, *i + 1));
        next = *i + 2;
    } else
        ti_buf_printf(out, kind == 'n' ? " %" PRIu32 : " %%%" PRIu32, ti_spv_word(instr, *i));
    *i = next;
}

void ti_spv_print(const tc_spv_instr *instr, const tc_spv_names *names, tc_buf *out)
{
    static const instruction_row unknown = {0, NULL, "n*"};
    const instruction_row *row = row_of(instr->op);
    row = row ? row : &unknown;
    int result = ti_spv_result(instr->op);
    if (result >= 0)
        ti_buf_printf(out, "%%%" PRIu32 " = ", ti_spv_word(instr, (size_t)result));
    if (row->name)
        ti_buf_printf(out, "Op%s", row->name);
    else
        ti_buf_printf(out, "Op(%" PRIu32 ")", instr->op);
    const char *kind = row->operands;
    for (size_t i = 0; i < instr->n && *kind;) {
        const char *name = NULL;
        if (instr->op == TC_SPV_ExtInst && i == 3)
            name = ti_spv_word(instr, 2) == names->glsl
                       ? ti_spv_glsl_name(ti_spv_word(instr, i))
                       : names->tosa(out->arena, ti_spv_word(instr, i));
        if (name)
            ti_buf_printf(out, " %s", name), i++;
        else if (*kind == 'r')
            i++;
        else
            print_operand(instr, *kind, &i, out);
        kind += kind[1] == '*' ? 0 : 1;
    }
}

uint32_t ti_spv_glsl_set(tc_bytes code)
{
    tc_spv_reader words;
    tc_spv_instr instr;
    size_t next;
    ti_spv_read(&words, code);
    while (ti_spv_next(&words, &instr) && instr.op != TC_SPV_MemoryModel)
        if (instr.op == TC_SPV_ExtInstImport &&
            ti_str_is(ti_spv_text(&instr, 1, &next), TC_SPV_GLSL_SET))
            return ti_spv_word(&instr, 0);
    return 0;
}
