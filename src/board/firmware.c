/* SPDX-License-Identifier: Apache-2.0 */
/* firmware.c -- see firmware.h.  What is known of the file, of the firmware and of the board is gathered
 * first; then a function looks at it for each rule. */
#include "firmware.h"

#include <ctype.h>
#include <stdio.h>

#include "../cost/stream.h"
#include "../npu/linux_rules.h"
#include "../npu/npu_extent.h"
#include "../read/pte_needs.h"
#include "../target/tflite_schema.h"
#include "../target/tflm.h"
#include "../wire/file.h"
#include "../wire/flatbuf.h"

typedef struct names {
    const char **v;
    size_t n, cap;
} names;

typedef enum file_kind { KIND_TFLITE, KIND_PTE, KIND_STREAM } file_kind;

typedef struct facts {
    tc_ctx *ctx;
    const char *path;
    char letter; /* of the firmware */
    tc_bytes bytes;
    file_kind kind;
    tc_stream *stream;
    size_t n_stream;
    /* .tflite: what the resolver adds, the arena by the file's plan (-1: none), and the place of the
     * first buffer that is not on 16 bytes (0: there is none). */
    names adds;
    int64_t planned;
    size_t askew;
    tc_pte_needs needs; /* .pte */
    /* What is said of the firmware; NULL: nothing. */
    const char *driver, *arena, *method, *temporary, *resolver, *kernels, *sram;
    const tc_npu_machine *npu; /* NULL: not known */
    tc_board board;
    bool has_board;
    tc_firmware_report *report;
} facts;

static const tc_firmware_rule rules[] = {
#define RULE(id, firmwares, asks, source) {#id, firmwares, asks, source},
#include "firmware.def"
};
enum {
#define RULE(id, firmwares, asks, source) RULE_##id,
#include "firmware.def"
};
static const struct {
    char letter;
    const char *name, *title;
} firmwares[] = {
#define FIRMWARE(id, letter, name, title) {letter, name, title},
#include "firmware.def"
};

/* ---- findings ---- */

static void found(facts *f, int rule, tc_firmware_verdict verdict, const char *text)
{
    tc_firmware_report *r = f->report;
    tc_grow(&f->ctx->arena, r->list, r->n, r->cap);
    r->list[r->n++] = (tc_firmware_finding){.verdict = verdict,
                                            .rule = rules[rule].id,
                                            .asks = rules[rule].asks,
                                            .text = text,
                                            .source = rules[rule].source};
    r->faults += verdict == TC_FIRMWARE_FAULT;
}

#define SAY(f, rule, verdict, ...)                                                                 \
    found(f, RULE_##rule, TC_FIRMWARE_##verdict, ti_text_format(&(f)->ctx->arena, __VA_ARGS__))

/* ---- the file ---- */

static void add_name(facts *f, names *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (ti_text_eq(list->v[i], name))
            return;
    tc_grow(&f->ctx->arena, list->v, list->n, list->cap);
    list->v[list->n++] = name;
}

/* TFLM's name of a builtin: DEPTHWISE_CONV_2D is DepthwiseConv2D. */
static const char *resolver_name(tc_ctx *ctx, const char *builtin)
{
    static const char *const other[][2] = {{"BATCH_MATMUL", "BatchMatMul"},
                                           {"CUMSUM", "CumSum"},
                                           {"PADV2", "PadV2"},
                                           {"UNIDIRECTIONAL_SEQUENCE_LSTM", "UnidirectionalSequenceLSTM"}};
    for (size_t i = 0; i < TC_COUNT(other); i++)
        if (ti_text_eq(builtin, other[i][0]))
            return other[i][1];
    char *out = ti_arena_copy(&ctx->arena, builtin, strlen(builtin) + 1), *to = out;
    bool first = true;
    for (const char *c = builtin; *c; c++) {
        if (*c != '_')
            *to++ = (char)(first || isdigit((unsigned char)c[-1]) ? *c : tolower((unsigned char)*c));
        first = *c == '_';
    }
    *to = 0;
    return out;
}

static void read_operators(facts *f, tc_fb_table model)
{
    tc_fb_vector codes = ti_fb_list(model, MODEL_CODES, 4);
    for (size_t i = 0; i < codes.n; i++) {
        tc_fb_table code = ti_fb_list_table(codes, i);
        int32_t old = ti_fb_u8(code, CODE_OLD, 0), new = ti_fb_i32(code, CODE_NEW, 0);
        int32_t number = new > old ? new : old;
        tc_str custom = ti_fb_string(code, CODE_CUSTOM);
        const tc_tflm_builtin *b = ti_tflm_builtin_of(number);
        if (number == TC_TFL_CUSTOM && ti_str_is(custom, TC_TFL_ETHOSU))
            add_name(f, &f->adds, "EthosU");
        else if (number == TC_TFL_CUSTOM)
            add_name(f, &f->adds, ti_text_format(&f->ctx->arena, "Custom(\"%.*s\")", (int)custom.n,
                                                 custom.n ? custom.p : ""));
        else
            add_name(f, &f->adds, b ? resolver_name(f->ctx, b->name)
                                    : ti_text_format(&f->ctx->arena, "?%d", number));
    }
}

static int64_t tensor_bytes(tc_fb_table tensor)
{
    tc_fb_vector shape = ti_fb_list(tensor, TENSOR_SHAPE, 4);
    tc_dtype dtype = ti_tfl_dtype_of(ti_fb_u8(tensor, TENSOR_TYPE, 0));
    int64_t bytes = dtype ? tc_dtypes[dtype].bytes : 1;
    for (size_t i = 0; i < shape.n; i++)
        if (__builtin_mul_overflow(bytes, (int64_t)ti_fb_list_i32(shape, i), &bytes))
            return INT64_MAX / 2;
    return bytes;
}

/* The arena's end by the plan that is in the file. */
static void read_plan(facts *f, tc_fb_table model)
{
    tc_fb_vector list = ti_fb_list(model, MODEL_METADATA, 4), buffers = ti_fb_list(model, MODEL_BUFFERS, 4);
    tc_fb_vector graphs = ti_fb_list(model, MODEL_GRAPHS, 4);
    f->planned = -1;
    for (size_t i = 0; i < list.n && graphs.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        uint32_t at = ti_fb_u32(t, METADATA_BUFFER, 0);
        if (!ti_str_is(ti_fb_string(t, METADATA_NAME), TC_TFL_OFFLINE) || at >= buffers.n)
            continue;
        tc_bytes raw = ti_fb_bytes(ti_fb_list_table(buffers, at), BUFFER_DATA);
        tc_fb_vector tensors = ti_fb_list(ti_fb_list_table(graphs, 0), GRAPH_TENSORS, 4);
        for (size_t k = 0; k < tensors.n && raw.size >= 16 + 4 * k; k++) {
            int64_t offset = (int32_t)ti_le32(raw.data + 12 + 4 * k);
            int64_t end = offset + tensor_bytes(ti_fb_list_table(tensors, k));
            f->planned = offset >= 0 && end > f->planned ? end : f->planned;
        }
    }
}

static void look_at_place(facts *f, tc_bytes b)
{
    size_t at = b.size ? (size_t)(b.data - f->bytes.data) : 0;
    f->askew = f->askew ? f->askew : at % 16 ? at : 0;
}

/* The stream and the constants of each ethos-u operator, which the driver wants on 16 bytes. */
static void read_buffers(facts *f, tc_fb_table model)
{
    tc_fb_vector buffers = ti_fb_list(model, MODEL_BUFFERS, 4), codes = ti_fb_list(model, MODEL_CODES, 4),
                 graphs = ti_fb_list(model, MODEL_GRAPHS, 4);
    tc_fb_table graph = graphs.n ? ti_fb_list_table(graphs, 0) : (tc_fb_table){0};
    tc_fb_vector ops = ti_fb_list(graph, GRAPH_OPERATORS, 4), tensors = ti_fb_list(graph, GRAPH_TENSORS, 4);
    for (size_t i = 0; graphs.n && i < ops.n; i++) {
        tc_fb_table op = ti_fb_list_table(ops, i);
        uint32_t code = ti_fb_u32(op, OP_CODE, 0);
        tc_fb_vector in = ti_fb_list(op, OP_INPUTS, 4);
        if (code >= codes.n || !ti_str_is(ti_fb_string(ti_fb_list_table(codes, code), CODE_CUSTOM), TC_TFL_ETHOSU))
            continue;
        for (size_t k = 0; k < in.n && k < 2; k++) {
            int32_t t = ti_fb_list_i32(in, k);
            if (t < 0 || (size_t)t >= tensors.n)
                continue;
            uint32_t buffer = ti_fb_u32(ti_fb_list_table(tensors, (size_t)t), TENSOR_BUFFER, 0);
            if (buffer < buffers.n)
                look_at_place(f, ti_fb_bytes(ti_fb_list_table(buffers, buffer), BUFFER_DATA));
        }
    }
}

static tc_status read_tflite(facts *f)
{
    tc_fb fb;
    ti_fb_init(&fb, f->bytes, TC_TFL_IDENTIFIER);
    tc_fb_table model = ti_fb_root(&fb);
    read_operators(f, model);
    read_plan(f, model);
    read_buffers(f, model);
    if (fb.error)
        return ti_error(f->ctx, &(tc_loc){.file = f->path}, TC_E_FORMAT, "byte %zu: %s", fb.error_at,
                        fb.error);
    return TC_OK;
}

static tc_status read_file(facts *f)
{
    TC_TRY(ti_file_read(f->ctx, f->path, &f->bytes));
    bool tflite = f->bytes.size > 8 && !memcmp(f->bytes.data + 4, TC_TFL_IDENTIFIER, 4);
    bool pte = f->bytes.size > 8 && !memcmp(f->bytes.data + 4, "ET", 2);
    f->kind = tflite ? KIND_TFLITE : pte ? KIND_PTE : KIND_STREAM;
    if (ti_streams_in(f->bytes))
        TC_TRY(ti_streams_read(f->ctx, f->path, f->bytes, &f->stream, &f->n_stream));
    else if (f->kind == KIND_STREAM)
        return ti_error(f->ctx, &(tc_loc){.file = f->path}, TC_E_FORMAT,
                        "this is no .tflite, .pte or command stream");
    if (f->kind == KIND_TFLITE)
        TC_TRY(read_tflite(f));
    if (f->kind == KIND_PTE) {
        tc_pte_file file;
        TC_TRY(ti_pte_open(f->ctx, f->path, f->bytes, &file));
        f->needs = ti_pte_needs(f->ctx, &file);
    }
    return TC_OK;
}

/* ---- what is said of the firmware ---- */

static tc_status read_words(facts *f, const char *words)
{
    static const struct {
        const char *key;
        size_t at;
    } row[] = {
#define KEY(name) {#name, offsetof(facts, name)}
        KEY(driver), KEY(arena), KEY(method), KEY(temporary), KEY(resolver), KEY(kernels), KEY(sram),
#undef KEY
    };
    char *copy = ti_arena_copy(&f->ctx->arena, words, strlen(words) + 1);
    for (char *word = copy, *next; word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        char *is = strchr(word, '=');
        if (word == copy) {
            for (size_t i = 0; i < TC_COUNT(firmwares); i++)
                if (ti_text_eq(word, firmwares[i].name)) {
                    f->letter = firmwares[i].letter;
                    f->report->firmware = firmwares[i].name;
                    f->report->title = firmwares[i].title;
                }
            if (!f->letter)
                return ti_usage(f->ctx, "'%s' is no firmware that is known: tflm, executorch-1.4, executorch-1.5, "
                                        "linux-6.19", word);
            continue;
        }
        size_t k = 0;
        if (is)
            *is = 0;
        while (is && k < TC_COUNT(row) && !ti_text_eq(word, row[k].key))
            k++;
        if (!is || k == TC_COUNT(row))
            return ti_usage(f->ctx, "'%s': of a firmware driver=, arena=, method=, temporary=, resolver=, kernels= "
                                    "and sram= can be said", word);
        memcpy((uint8_t *)f + row[k].at, &(const char *){is + 1}, sizeof(char *));
    }
    return TC_OK;
}

/* "200000", "200K", "2M"; -1: it is none. */
static int64_t bytes_of(const char *text)
{
    int64_t n = 0;
    size_t i = 0;
    for (; isdigit((unsigned char)text[i]) && n < INT64_MAX >> 24; i++)
        n = n * 10 + (text[i] - '0');
    int shift = text[i] == 'K' ? 10 : text[i] == 'M' ? 20 : 0;
    return i && !text[i + (shift != 0)] ? n << shift : -1;
}

static tc_status check_sizes(facts *f)
{
    const char *const size[] = {f->arena, f->method, f->temporary, f->sram};
    for (size_t i = 0; i < TC_COUNT(size); i++)
        if (size[i] && bytes_of(size[i]) < 0)
            return ti_usage(f->ctx, "'%s' is not a number of bytes: 200000, 200K, 2M", size[i]);
    return TC_OK;
}

static tc_status read_board(facts *f, const tc_firmware_options *o)
{
    const char *npu = o->npu;
    if (o->board) {
        TC_TRY(ti_board_find(f->ctx, o->board, &f->board));
        f->has_board = true;
        npu = npu ? npu : f->board.npu;
    }
    if (npu) {
        f->npu = ti_npu_machine_find(npu);
        if (!f->npu)
            return ti_usage(f->ctx, "'%s' is no Ethos-U; expected one such as ethos-u55-128", npu);
    }
    return TC_OK;
}

/* ---- rules ---- */

static void rule_file(facts *f)
{
    static const char *const kind[] = {"a .tflite", "an ExecuTorch program", "a command stream"};
    bool takes = f->letter == 't' ? f->kind == KIND_TFLITE : f->letter == 'l' ? f->n_stream > 0 : f->kind == KIND_PTE;
    if (takes)
        SAY(f, file, FITS, "%s", kind[f->kind]);
    else
        SAY(f, file, FAULT, "this is %s%s, which %s does not load", kind[f->kind],
            f->n_stream || f->letter != 'l' ? "" : " without a command stream", f->report->title);
}

static const char *product_name(tc_npu_product p)
{
    return p == TC_U55 ? "Ethos-U55" : p == TC_U65 ? "Ethos-U65" : "Ethos-U85";
}

static void rule_product(facts *f)
{
    for (size_t i = 0; i < f->n_stream; i++) {
        const tc_npu_machine *m = f->stream[i].program.machine;
        if (f->letter == 'l' && m->product == TC_U55)
            SAY(f, product, FAULT, "%s is for an Ethos-U55, which the driver does not know", f->stream[i].name);
        else if (!f->npu && !f->has_board)
            SAY(f, product, OPEN, "%s is for an %s: --board or -t says what is there", f->stream[i].name,
                product_name(m->product));
        else if (!f->npu)
            SAY(f, product, FAULT, "%s is for an %s, and %s has no Ethos-U", f->stream[i].name,
                product_name(m->product), f->board.name);
        else if (m->product != f->npu->product)
            SAY(f, product, FAULT, "%s is for an %s, and there is an %s: compile with -t %s",
                f->stream[i].name, product_name(m->product), product_name(f->npu->product), f->npu->name);
        else
            SAY(f, product, FITS, "%s is for an %s", f->stream[i].name, product_name(m->product));
    }
}

static void rule_macs(facts *f)
{
    for (size_t i = 0; i < f->n_stream && f->npu; i++) {
        const tc_npu_machine *m = f->stream[i].program.machine;
        if (m->product != f->npu->product)
            continue;
        if (m->macs != f->npu->macs)
            SAY(f, macs, FAULT, "%s is for %d multiplications a cycle, and there are %d: the driver says "
                                "'npu.macs_per_cc', and invoke fails; compile with -t %s",
                f->stream[i].name, m->macs, f->npu->macs, f->npu->name);
        else
            SAY(f, macs, FITS, "%s is for %d multiplications a cycle", f->stream[i].name, m->macs);
    }
}

static void rule_architecture(facts *f)
{
    for (size_t i = 0; i < f->n_stream && f->npu; i++) {
        uint32_t asks = f->stream[i].program.id, has = f->npu->id;
        bool fits = asks >> 28 == has >> 28 && (asks >> 20 & 255) <= (has >> 20 & 255);
        const char *text = ti_text_format(&f->ctx->arena, "%s asks for architecture %d.%d, the %s has %d.%d",
                                          f->stream[i].name, (int)(asks >> 28), (int)(asks >> 20 & 255),
                                          f->npu->name, (int)(has >> 28), (int)(has >> 20 & 255));
        found(f, RULE_architecture, fits ? TC_FIRMWARE_FITS : TC_FIRMWARE_FAULT, text);
    }
}

/* "0.16" is 16, "1.0" is 1000; -1: no number. */
static int64_t version_of(const char *text)
{
    int64_t part[2] = {0, 0};
    int k = 0;
    for (const char *c = text; *c && k < 2; c++) {
        if (isdigit((unsigned char)*c) && part[k] < 100000)
            part[k] = part[k] * 10 + (*c - '0');
        else if (*c == '.')
            k++;
        else
            return -1;
    }
    return part[0] * 1000 + part[1];
}

/* Version 0.16 stayed when U85 came. */
static void rule_driver(facts *f)
{
    enum { SINCE = 16 };
    for (size_t i = 0; i < f->n_stream; i++) {
        const tc_npu_program *p = &f->stream[i].program;
        bool u85 = p->machine->product == TC_U85;
        if (p->driver.size >= 4 && !memcmp(p->driver.data, "COP2", 4))
            SAY(f, driver, FAULT, "%s has the header COP2: version 0.16 reads COP1", f->stream[i].name);
        else if (!f->driver)
            SAY(f, driver, OPEN, "%s asks for ethos-u-core-driver %s: driver=0.16 says which there is",
                f->stream[i].name, u85 ? "0.16 with ethosu_device_u85.c" : "0.16");
        else if (version_of(f->driver) < SINCE)
            SAY(f, driver, FAULT, "driver %s is older than 0.16: it %s", f->driver,
                u85 ? "does not know U85" : "compares the size of SHRAM in another way, and has no ethosu_reserve_driver()");
        else if (u85)
            SAY(f, driver, OPEN, "driver %s knows U85 if it has ethosu_device_u85.c: its number stayed", f->driver);
        else
            SAY(f, driver, FITS, "driver %s reads it", f->driver);
    }
}

static void rule_alignment(facts *f)
{
    bool fits = true;
    for (size_t i = 0; i < f->n_stream; i++)
        if (f->stream[i].program.words_at % 16) {
            SAY(f, alignment, FAULT, "%s: the stream begins at byte %zu of its payload: 'not aligned to 16 bytes'",
                f->stream[i].name, f->stream[i].program.words_at);
            fits = false;
        }
    if (f->askew) {
        SAY(f, alignment, FAULT, "byte %zu of the file: a stream or constants, not on 16 bytes", f->askew);
        fits = false;
    }
    if (fits && f->n_stream)
        SAY(f, alignment, FITS, "inside of the file; the file itself: alignas(16)");
}

/* Whether a C++ source calls Add<name>(. */
static bool calls(tc_bytes text, const char *name)
{
    char want[96];
    int n = snprintf(want, sizeof want, ".Add%s", name);
    char *end = strchr(want, '(');
    size_t length = end ? (size_t)(end - want) : (size_t)n;
    for (size_t i = 0; i + length < text.size; i++)
        if (!memcmp(text.data + i, want, length) && !isalnum(text.data[i + length]))
            return true;
    return false;
}

/* The lines to paste. */
static const char *resolver_lines(facts *f)
{
    tc_buf out;
    ti_buf_init(&out, &f->ctx->arena);
    ti_buf_printf(&out, "tflite::MicroMutableOpResolver<%zu> resolver;", f->adds.n);
    for (size_t i = 0; i < f->adds.n; i++)
        ti_buf_printf(&out, " resolver.Add%s%s;", f->adds.v[i], strchr(f->adds.v[i], '(') ? "" : "()");
    ti_buf_zeros(&out, 1);
    return (const char *)out.data;
}

static void rule_resolver(facts *f)
{
    tc_bytes text;
    size_t missing = 0;
    if (f->kind != KIND_TFLITE)
        return;
    for (size_t i = 0; i < f->adds.n; i++)
        if (f->adds.v[i][0] == '?') {
            SAY(f, resolver, FAULT, "TensorFlow Lite Micro has no operator for builtin %s", f->adds.v[i] + 1);
            missing++;
        }
    if (!f->resolver) {
        SAY(f, resolver, OPEN, "%s", resolver_lines(f));
        return;
    }
    if (ti_file_read(f->ctx, f->resolver, &text) != TC_OK) {
        SAY(f, resolver, OPEN, "%s cannot be read", f->resolver);
        return;
    }
    for (size_t i = 0; i < f->adds.n; i++)
        if (f->adds.v[i][0] != '?' && !calls(text, f->adds.v[i])) {
            SAY(f, resolver, FAULT, "%s does not call Add%s%s: %s", f->resolver, f->adds.v[i],
                strchr(f->adds.v[i], '(') ? "" : "()", resolver_lines(f));
            missing++;
        }
    if (!missing)
        SAY(f, resolver, FITS, "%s has all %zu", f->resolver, f->adds.n);
}

static void size_rule(facts *f, int rule, const char *what, const char *key, const char *given, int64_t needs)
{
    tc_firmware_verdict v = !given                    ? TC_FIRMWARE_OPEN
                            : bytes_of(given) < needs ? TC_FIRMWARE_FAULT
                                                      : TC_FIRMWARE_FITS;
    found(f, rule, v, given ? ti_text_format(&f->ctx->arena, "%s: %" PRId64 " bytes are needed, %" PRId64 " are there",
                                             what, needs, bytes_of(given))
                            : ti_text_format(&f->ctx->arena, "%s: %" PRId64 " bytes are needed; %s= says how many there are",
                                             what, needs, key));
}

static void rule_arena(facts *f)
{
    if (f->kind != KIND_TFLITE)
        return;
    if (f->planned < 0)
        SAY(f, arena, OPEN, "the file has no plan: TensorFlow Lite Micro makes its own, arena_used_bytes() says how large");
    else
        size_rule(f, RULE_arena, "arena, besides TensorFlow Lite Micro's own records", "arena", f->arena, f->planned);
}

static void kernel_rule(facts *f, const tc_pte_need *need, const char *what)
{
    const char *library = need->library ? need->library : need->name;
    if (!f->kernels)
        SAY(f, kernels, OPEN, "%s %s: link %s", what, need->name, library);
    else if (strstr(f->kernels, need->name) || strstr(f->kernels, library))
        SAY(f, kernels, FITS, "%s %s", what, need->name);
    else
        SAY(f, kernels, FAULT, "%s %s is not among kernels=%s: link %s", what, need->name, f->kernels, library);
}

static void rule_kernels(facts *f)
{
    for (size_t i = 0; i < f->needs.n_kernels; i++)
        kernel_rule(f, &f->needs.kernels[i], "kernels of");
    for (size_t i = 0; i < f->needs.n_backend; i++)
        kernel_rule(f, &f->needs.backend[i], "the backend");
}

static void rule_pools(facts *f)
{
    if (f->kind != KIND_PTE)
        return;
    size_rule(f, RULE_pools, "the method allocator's pool", "method", f->method, (int64_t)f->needs.pool);
    size_rule(f, RULE_pools, "the temporary pool", "temporary", f->temporary, (int64_t)f->needs.temporary);
}

static void rule_version(facts *f)
{
    for (size_t i = 0; i < f->needs.n_backend; i++)
        if (f->needs.backend[i].version)
            SAY(f, version, FAULT, "%s asks for ExecuTorch %s: weights are among the file's named data", f->needs.backend[i].name,
                f->needs.backend[i].version);
}

static void rule_memory(facts *f)
{
    int64_t work = f->kind == KIND_TFLITE ? f->planned : 0, flash = (int64_t)f->bytes.size;
    if (!f->has_board)
        return;
    if (f->kind == KIND_PTE)
        work = (int64_t)(f->needs.pool + f->needs.temporary);
    int64_t sram = f->board.memory[TC_BOARD_SRAM].bytes + f->board.memory[TC_BOARD_DRAM].bytes;
    int64_t rom = f->board.memory[TC_BOARD_FLASH].bytes + f->board.memory[TC_BOARD_DRAM].bytes;
    if (work >= 0 && sram)
        found(f, RULE_memory, work > sram ? TC_FIRMWARE_FAULT : TC_FIRMWARE_FITS,
              ti_text_format(&f->ctx->arena, "%" PRId64 " bytes of working memory, %s has %" PRId64, work, f->board.name, sram));
    if (rom)
        found(f, RULE_memory, flash > rom ? TC_FIRMWARE_FAULT : TC_FIRMWARE_FITS,
              ti_text_format(&f->ctx->arena, "%" PRId64 " bytes of the file, %s has %" PRId64, flash, f->board.name, rom));
}

static void rule_cache(facts *f)
{
    const char *core = f->has_board ? f->board.core : NULL;
    bool cached = core && (strstr(core, "m55") || strstr(core, "m85") || strstr(core, "m7"));
    if (f->n_stream && cached)
        SAY(f, cache, OPEN, "a %s has a data cache: define ethosu_flush_dcache() and ethosu_invalidate_dcache(), and align "
                            "the arena to 32", core);
}

static tc_linux_extent extent_of(const tc_npu_program *p)
{
    tc_linux_extent e;
    ti_linux_validate(p->words.data, p->words.n, &e);
    return e;
}

static void rule_registers(facts *f)
{
    for (size_t i = 0; i < f->n_stream; i++) {
        tc_linux_extent e = extent_of(&f->stream[i].program);
        if (e.refused)
            SAY(f, registers, FAULT, "%s, word %zu: %s: EINVAL", f->stream[i].name, e.at, e.refused);
        else if (e.warned)
            SAY(f, registers, OPEN, "%s, word %zu: %s", f->stream[i].name, e.at, e.warned);
        else
            SAY(f, registers, FITS, "%s is taken", f->stream[i].name);
    }
}

/* Region 2 is used, and not only named where a chain buffer has to have an address. */
static bool uses_fast(const tc_npu_program *p)
{
    tc_npu_extents extents = {0};
    tc_npu_walk walk;
    tc_npu_op op;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op))
        ti_npu_extents_add(&extents, &op);
    return extents.end[TC_LINUX_SRAM] > 0;
}

static void rule_regions(facts *f)
{
    const uint64_t most = UINT64_C(1) << 32;
    for (size_t i = 0; i < f->n_stream; i++) {
        const tc_npu_program *p = &f->stream[i].program;
        tc_linux_extent e = extent_of(p);
        bool fits = !e.refused;
        if (e.bytes[TC_LINUX_SRAM] && p->fast == 0 && uses_fast(p)) {
            SAY(f, regions, FAULT, "%s: regions 1 and 2 are one memory: EALREADY; compile with --system Dedicated_Sram",
                f->stream[i].name);
            fits = false;
        }
        for (int r = 0; r < TC_LINUX_REGIONS && !e.refused; r++)
            if (e.bytes[r] >= most) {
                SAY(f, regions, FAULT, "%s: region %d is taken to be of %" PRIu64 " bytes (a negative stride): EOVERFLOW",
                    f->stream[i].name, r, e.bytes[r]);
                fits = false;
            } else if (r == TC_LINUX_SRAM && f->sram && (int64_t)e.bytes[r] > bytes_of(f->sram))
                SAY(f, regions, OPEN, "%s: %" PRIu64 " bytes of region 2 do not fit the SRAM, %" PRId64
                                      ": they go to a buffer in DRAM, or --system has a smaller cache",
                    f->stream[i].name, e.bytes[r], bytes_of(f->sram));
        if (fits)
            SAY(f, regions, FITS, "%s: %" PRIu64 ", %" PRIu64 " and %" PRIu64 " bytes of regions 0, 1 and 2", f->stream[i].name,
                e.bytes[0], e.bytes[1], e.bytes[2]);
    }
}

static void rule_hang(facts *f)
{
    enum { MILLISECONDS = 500 };
    for (size_t i = 0; i < f->n_stream; i++) {
        tc_npu_stream_cost cost;
        tc_npu_system system;
        double most = 0;
        if (ti_stream_cost(f->ctx, &f->stream[i], f->has_board ? f->board.ini : NULL,
                           f->has_board ? f->board.system_config : NULL,
                           f->has_board ? f->board.memory_mode : NULL, &system, &cost) != TC_OK)
            continue;
        for (size_t k = 0; k < cost.n_op; k++)
            most = cost.op[k].cost.cycles > most ? cost.op[k].cost.cycles : most;
        double ms = 1e3 * most / (f->has_board && f->board.npu_clock > 0 ? f->board.npu_clock : system.clock);
        found(f, RULE_hang, ms > MILLISECONDS ? TC_FIRMWARE_FAULT : TC_FIRMWARE_FITS,
              ti_text_format(&f->ctx->arena, "%s: the longest command is expected to take %.3g ms", f->stream[i].name, ms));
    }
}

/* ---- all of it ---- */

tc_status ti_firmware_check(tc_ctx *ctx, const char *path, const tc_firmware_options *o,
                            tc_firmware_report **out)
{
    static void (*const look[])(facts *) = {
#define RULE(id, firmwares, asks, source) rule_##id,
#include "firmware.def"
    };
    facts *f = tc_new(&ctx->arena, facts);
    *f = (facts){.ctx = ctx, .path = ti_intern_text(ctx, path), .planned = -1};
    f->report = tc_new(&ctx->arena, tc_firmware_report);
    if (!o->firmware)
        return ti_usage(ctx, "which firmware? tflm, executorch-1.4, executorch-1.5, linux-6.19");
    TC_TRY(read_words(f, o->firmware));
    TC_TRY(check_sizes(f));
    TC_TRY(read_board(f, o));
    TC_TRY(read_file(f));
    for (size_t i = 0; i < TC_COUNT(rules); i++)
        if (strchr(rules[i].firmwares, f->letter))
            look[i](f);
    *out = f->report;
    return TC_OK;
}
