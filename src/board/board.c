/* SPDX-License-Identifier: Apache-2.0 */
/* board.c -- see board.h. */
#include "board.h"

#include <ctype.h>
#include <stdlib.h>

#include "../npu/system.h"
#include "../target/target.h"
#include "../wire/file.h"

const char *const tc_board_keys[TC_BOARD_KINDS] = {"sram", "flash", "dram"};
static const char *const unnamed[TC_BOARD_KINDS] = {"SRAM", "flash", "DRAM"};

/* ---- lines ---- */

static tc_str trimmed(const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return (tc_str){from, (size_t)(to - from)};
}

/* A file while it is read. */
typedef struct reader {
    tc_ctx *ctx;
    const char *path;
    const char *at, *end;
    size_t line; /* of `text`, from 1 */
    tc_str text;
} reader;

static reader reader_of(tc_ctx *ctx, const char *path, tc_bytes bytes)
{
    const char *at = (const char *)bytes.data;
    return (reader){.ctx = ctx, .path = path, .at = at, .end = bytes.size ? at + bytes.size : at};
}

/* The next line that is neither empty nor a comment. */
static bool next_line(reader *r)
{
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        stop = stop ? stop : r->end;
        r->text = trimmed(r->at, stop);
        r->at = stop < r->end ? stop + 1 : r->end;
        r->line++;
        if (r->text.n && r->text.p[0] != ';' && r->text.p[0] != '#')
            return true;
    }
    return false;
}

/* "[Board.NAME]" begins it; the name, or nothing. */
static tc_str section_name(tc_str line, const char *kind)
{
    size_t n = strlen(kind);
    const char *close = line.p[0] == '[' ? memchr(line.p, ']', line.n) : NULL;
    if (!close || (size_t)(close - line.p) < n + 2 || memcmp(line.p + 1, kind, n) != 0)
        return (tc_str){NULL, 0};
    return (tc_str){line.p + 1 + n, (size_t)(close - line.p) - n - 1};
}

static tc_status wrong_at(const reader *r, const char *what)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = ti_text_format(&r->ctx->arena, "%s:%zu", r->path, r->line);
    return ti_error(r->ctx, loc, TC_E_CONFIG, "%s", what);
}

static tc_status wrong(const reader *r, const char *key, const char *value, const char *expected)
{
    return wrong_at(r, ti_text_format(&r->ctx->arena, "%s = '%s': expected %s", key, value, expected));
}

/* ---- values ---- */

/* A number and its unit: 1 where there is none; 0: neither. */
static double amount(const char *text, const char *const *unit, const double *times, size_t n,
                     const char **rest)
{
    char *end;
    double v = strtod(text, &end);
    size_t word;
    if (end == text || !(v > 0) || !(v <= 4e9))
        return 0;
    while (*end == ' ')
        end++;
    word = strcspn(end, " ");
    *rest = end + word + strspn(end + word, " ");
    for (size_t i = 0; i < n; i++)
        if (strlen(unit[i]) == word && strncmp(end, unit[i], word) == 0)
            return v * times[i];
    return 0;
}

static double clock_of(const char *text)
{
    static const char *const unit[] = {"", "Hz", "kHz", "MHz", "GHz"};
    static const double times[] = {1, 1, 1e3, 1e6, 1e9};
    const char *rest;
    double hz = amount(text, unit, times, TC_COUNT(unit), &rest);
    return hz > 0 && !*rest ? hz : 0;
}

/* Sizes of chips are powers of two, whatever their unit is called; a name may follow. */
static double bytes_of(const char *text, const char **name)
{
    static const char *const unit[] = {"", "K", "KB", "KiB", "M", "MB", "MiB", "G", "GB", "GiB"};
    static const double k = 1024, times[] = {1,     k,     k,         k,         k * k,
                                             k * k, k * k, k * k * k, k * k * k, k * k * k};
    return amount(text, unit, times, TC_COUNT(unit), name);
}

/* ---- keys ---- */

typedef enum field_kind { TEXT, CLOCK, SIZE, COUNT, TARGET, SIZES, PATH } field_kind;

#define FIELD(key, kind, member) {key, kind, offsetof(tc_board, member)}
#define MEMORY(key, kind) FIELD(key, SIZE, memory[kind]), FIELD("source_" key, TEXT, memory[kind].source)
static const struct field {
    const char *key;
    field_kind kind;
    size_t at;
} fields[] = {
    FIELD("title", TEXT, title),
    FIELD("npu", TARGET, npu),
    FIELD("npu_sizes", SIZES, any_size),
    FIELD("npu_clock", CLOCK, npu_clock),
    FIELD("npu_call", COUNT, npu_call),
    FIELD("core", TARGET, core),
    FIELD("core_clock", CLOCK, core_clock),
    FIELD("vela_ini", PATH, ini),
    FIELD("system_config", TEXT, system_config),
    FIELD("memory_mode", TEXT, memory_mode),
    MEMORY("sram", TC_BOARD_SRAM),
    MEMORY("flash", TC_BOARD_FLASH),
    MEMORY("dram", TC_BOARD_DRAM),
    FIELD("source_npu", TEXT, source_npu),
    FIELD("source_clock", TEXT, source_clock),
    FIELD("source_system", TEXT, source_system),
    FIELD("source_mode", TEXT, source_mode),
};

static tc_status unknown_key(const reader *r, const char *key)
{
    size_t least = ti_text_far(key);
    const char *best = NULL;
    tc_status status =
        wrong_at(r, ti_text_format(&r->ctx->arena, "a board has no key '%s'", key));
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        ti_text_nearer(key, fields[i].key, &least, &best);
    if (best)
        ti_note(r->ctx, NULL, "did you mean '%s'?", best);
    else
        ti_note(r->ctx, NULL, "doc/boards.md has the keys; 'tosac boards NAME' prints a board to "
                              "begin with");
    return status;
}

/* A path in the file is relative to the file's folder. */
static const char *beside(const reader *r, const char *path)
{
    int folder = (int)(ti_path_last(r->path) - r->path);
    return ti_path_is_absolute(path) || !folder
               ? path
               : ti_text_format(&r->ctx->arena, "%.*s%s", folder, r->path, path);
}

static tc_status set_field(const reader *r, const struct field *f, const char *value, tc_board *out)
{
    void *to = (char *)out + f->at;
    tc_board_memory *memory = to;
    switch (f->kind) {
    case TEXT:
        *(const char **)to = value;
        return TC_OK;
    case PATH:
        *(const char **)to = beside(r, value);
        return TC_OK;
    case SIZES:
        *(bool *)to = ti_text_eq(value, "any");
        return *(bool *)to ? TC_OK : wrong(r, f->key, value, "any");
    case CLOCK:
        *(double *)to = clock_of(value);
        return *(double *)to > 0 ? TC_OK : wrong(r, f->key, value, "a clock, as 400 MHz");
    case COUNT: {
        char *end;
        *(double *)to = strtod(value, &end);
        return end != value && !*end && *(double *)to >= 0 && *(double *)to < 1e9
                   ? TC_OK
                   : wrong(r, f->key, value, "cycles, as 1200");
    }
    case SIZE:
        memory->name = "";
        memory->bytes = (int64_t)bytes_of(value, &memory->name);
        return memory->bytes ? TC_OK : wrong(r, f->key, value, "a size, as 512 KiB or 4 MiB MRAM");
    default:
        break;
    }
    tc_target target;
    tc_trial trial;
    bool npu = f->at == offsetof(tc_board, npu);
    *(const char **)to = value;
    ti_trial_begin(r->ctx, &trial);
    tc_status known = ti_target_parse(r->ctx, value, &target);
    ti_trial_end(r->ctx, &trial);
    if (known == TC_OK && target.machine->packing == (npu ? TC_PACKED_STREAM : TC_PACKED_C) &&
        !target.core)
        return TC_OK;
    return wrong(r, f->key, value, npu ? "an Ethos-U, as ethos-u55-128" : "a Cortex-M, as cortex-m55");
}

static tc_status read_line(const reader *r, tc_board *out)
{
    const char *is = memchr(r->text.p, '=', r->text.n);
    if (!is)
        return wrong_at(r, "expected 'key = value'");
    const char *key = ti_text_copy(&r->ctx->arena, trimmed(r->text.p, is)),
               *value = ti_text_copy(&r->ctx->arena, trimmed(is + 1, r->text.p + r->text.n));
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        if (ti_text_eq(fields[i].key, key))
            return *value ? set_field(r, &fields[i], value, out)
                          : wrong_at(r, ti_text_format(&r->ctx->arena, "'%s' has no value", key));
    return unknown_key(r, key);
}

/* ---- a section ---- */

/* The section's lines, as they are in the file, up to the next one. */
static void copy_section(tc_buf *to, tc_ctx *ctx, tc_bytes file, const char *kind, const char *name)
{
    reader r = reader_of(ctx, "", file);
    bool inside = false;
    while (next_line(&r)) {
        if (r.text.p[0] == '[')
            inside = ti_str_is(section_name(r.text, kind), name);
        if (inside)
            ti_buf_printf(to, "%s%.*s\n", r.text.p[0] == '[' && to->size ? "\n" : "", (int)r.text.n,
                          r.text.p);
    }
}

static tc_status check(const reader *r, const tc_board *b)
{
    if (!b->npu && !b->core)
        return wrong_at(r, "the board has neither an npu nor a core: 'npu = ethos-u55-128', 'core = "
                           "cortex-m55'");
    if (!b->memory[TC_BOARD_SRAM].bytes && !b->memory[TC_BOARD_DRAM].bytes)
        return wrong_at(r, "the board has no memory to work in: 'sram = 512 KiB'");
    if (!b->npu && (b->system_config || b->memory_mode))
        return wrong_at(r, "a system description and a memory mode are an npu's, and the board has "
                           "none");
    return TC_OK;
}

/* The lines after [Board.NAME], which r is at; r is left at the next section, or at the end. *more:
 * there is one. */
static tc_status read_board(reader *r, tc_bytes file, tc_str name, tc_board *out, bool *more)
{
    tc_buf text;
    *out = (tc_board){.name = ti_text_copy(&r->ctx->arena, name)};
    while ((*more = next_line(r)) && r->text.p[0] != '[')
        TC_TRY(read_line(r, out));
    TC_TRY(check(r, out));
    out->title = out->title ? out->title : out->name;
    for (int i = 0; i < TC_BOARD_KINDS; i++)
        if (!out->memory[i].name || !*out->memory[i].name)
            out->memory[i].name = unnamed[i];
    ti_buf_init(&text, &r->ctx->arena);
    copy_section(&text, r->ctx, file, "Board.", out->name);
    if (out->system_config)
        copy_section(&text, r->ctx, file, "System_Config.", out->system_config);
    out->text = ti_buf_cstr(&text);
    return TC_OK;
}

/* Every board of a file. */
static tc_status read_boards(tc_ctx *ctx, const char *path, tc_bytes file, tc_board **out, size_t *n)
{
    reader r = reader_of(ctx, path, file);
    size_t cap = 0;
    bool more = next_line(&r);
    *out = NULL;
    *n = 0;
    while (more) {
        tc_str name = section_name(r.text, "Board.");
        if (!name.n) {
            more = next_line(&r);
            continue;
        }
        tc_grow(&ctx->arena, *out, *n, cap);
        TC_TRY(read_board(&r, file, name, &(*out)[(*n)++], &more));
    }
    return TC_OK;
}

tc_status ti_board_list(tc_ctx *ctx, const tc_board **out, size_t *n)
{
    tc_board *list;
    TC_TRY(read_boards(ctx, "boards.ini", ti_npu_boards(), &list, n));
    *out = list;
    return TC_OK;
}

/* ---- by name ---- */

/* "grove" is in "Seeed's Grove Vision AI V2". */
static bool mentions(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; n && *text; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static bool is_target(tc_ctx *ctx, const char *name)
{
    tc_target target;
    tc_trial trial;
    ti_trial_begin(ctx, &trial);
    tc_status status = ti_target_parse(ctx, name, &target);
    ti_trial_end(ctx, &trial);
    return status == TC_OK;
}

static tc_status unknown_board(tc_ctx *ctx, const char *name, const tc_board *list, size_t n)
{
    size_t least = ti_text_far(name);
    const char *best = NULL;
    tc_status status = ti_usage(ctx, "--board %s: neither a known board nor a file", name);
    if (is_target(ctx, name))
        ti_note(ctx, NULL, "'%s' is a target: -t %s", name, name);
    for (size_t i = 0; i < n; i++)
        ti_text_nearer(name, list[i].name, &least, &best);
    for (size_t i = 0; i < n && !best; i++)
        if (mentions(list[i].name, name) || mentions(list[i].title, name))
            best = list[i].name;
    if (best)
        ti_note(ctx, NULL, "did you mean '%s'?", best);
    ti_note(ctx, NULL, "'tosac boards' lists them; doc/boards.md says how to write one");
    return status;
}

tc_status ti_board_read(tc_ctx *ctx, const char *path, tc_bytes file, tc_board *out)
{
    tc_board *list;
    size_t n = 0;
    for (reader r = reader_of(ctx, path, file); next_line(&r);)
        n += section_name(r.text, "Board.").n > 0;
    if (n != 1)
        return ti_error(ctx, &(tc_loc){.file = path}, TC_E_CONFIG,
                        "the file has %zu sections [Board.NAME], expected one", n);
    TC_TRY(read_boards(ctx, path, file, &list, &n));
    *out = *list;
    if (!out->ini && out->system_config && ti_npu_ini_has(file, "System_Config", out->system_config))
        out->ini = ti_intern_text(ctx, path);
    return TC_OK;
}

tc_status ti_board_find(tc_ctx *ctx, const char *name, tc_board *out)
{
    const tc_board *list;
    tc_bytes file;
    size_t n;
    TC_TRY(ti_board_list(ctx, &list, &n));
    for (size_t i = 0; i < n; i++)
        if (ti_text_eq(list[i].name, name)) {
            *out = list[i];
            return TC_OK;
        }
    if (!strpbrk(name, "/."))
        return unknown_board(ctx, name, list, n);
    TC_TRY(ti_file_read(ctx, name, &file));
    return ti_board_read(ctx, name, file, out);
}

/* ---- the target ---- */

/* "ethos-u55-64" instead of "ethos-u55-128", where the number of MACs is open. */
static bool is_npu(const tc_board *b, const char *name)
{
    size_t n = b->npu ? (size_t)(strrchr(b->npu, '-') + 1 - b->npu) : 0;
    return b->npu && (ti_text_eq(b->npu, name) || (b->any_size && strncmp(b->npu, name, n) == 0));
}

static bool is_core(const tc_board *b, const char *name)
{
    return b->core && ti_text_eq(b->core, name);
}

tc_status ti_board_target(tc_ctx *ctx, const tc_board *board, const char *asked, const char **out)
{
    tc_target target;
    *out = asked ? asked : board->npu ? board->npu : board->core;
    if (!asked)
        return TC_OK;
    TC_TRY(ti_target_parse(ctx, asked, &target));
    if (is_core(board, target.name) ||
        (is_npu(board, target.name) && (!target.core || is_core(board, target.core->name))))
        return TC_OK;
    tc_status status =
        ti_usage(ctx, "-t %s: the board %s has %s%s%s", asked, board->name,
                 board->npu ? board->npu : board->core,
                 board->npu && board->core ? " and " : "", board->npu && board->core ? board->core : "");
    ti_note(ctx, NULL, "leave -t away, or --board; -t may choose one of the board's machines, or both: "
                       "%s",
            board->npu && board->core ? ti_text_format(&ctx->arena, "%s+%s", board->npu, board->core)
            : board->npu              ? board->npu
                                      : board->core);
    return status;
}
