/* SPDX-License-Identifier: Apache-2.0 */
/* output_files.c -- see output_files.h. */
#include "output_files.h"
#include "../drive/made_by.h"
#include "../drive/many_sizes.h"

#include "../cortexm/library_calls.h"
#include "../ir/ir_text.h"
#include "../npu/program.h"
#include "../proof/proof.h"
#include "../read/pte_needs.h"
#include "../wire/file.h"
#include "../board/board_fit.h"
#include "bundle.h"
#include "emit_c.h"
#include "emit_cortexm.h"
#include "file_ports.h"
#include "pack.h"
#include "../drive/own_backend.h"
#include "payload.h"
#include "../drive/program_file.h"
#include "region_ports.h"
#include "tflite_output.h"
#include "vgf_output.h"

static void add_file(tc_written *w, tc_bytes bytes)
{
    w->file[w->n_file++] = bytes;
    w->bytes += bytes.size;
}

/* path: for messages, or NULL. */
typedef tc_status maker(tc_ctx *ctx, tc_compiled *c, const char *path);

static tc_status nothing_to_write(tc_ctx *ctx, const tc_compiled *c, const char *path)
{
    tc_status status = ti_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_STRUCTURE,
                                "no operator goes to '%s', so there is nothing for '%s'",
                                c->target.text, path ? path : "memory");
    ti_note(ctx, NULL, "'tosac explain' says why; a .pte also holds what the CPU runs");
    return status;
}

static tc_status make_tosa(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    const tc_compiled *wide;
    TC_TRY(ti_with_all_ports(ctx, c, &wide));
    c->written.held = wide;
    for (size_t i = 0; i < c->n_region; i++) {
        tc_bytes bytes;
        TC_TRY(ti_region_tosa(ctx, &wide->region[i], &bytes));
        add_file(&c->written, ti_made_by_appended(ctx, bytes, ti_made_by(ctx, c)));
    }
    return c->n_region ? TC_OK : nothing_to_write(ctx, c, path);
}

static tc_status make_vgf(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    tc_bytes bytes;
    TC_TRY(ti_vgf_make(ctx, c, &bytes));
    add_file(&c->written, ti_made_by_appended(ctx, bytes, ti_made_by(ctx, c)));
    return TC_OK;
}

static const char raw[] = ".npz";

static bool is_raw(tc_output kind, const char *path)
{
    return kind == TC_OUTPUT_STREAM && path && ti_text_ends(path, raw);
}

/* The region's stream in the format of Vela's X_vela.npz. */
static tc_status make_raw(tc_ctx *ctx, const tc_compiled *c, size_t i, tc_bytes *out)
{
    tc_npu_program program;
    TC_TRY(ti_npu_read_backend(ctx, &(tc_loc){.file = c->module->file}, c->payload[i].bytes,
                               &program));
    program.fast = c->jobs[i].fast_scratch; /* the payload need not contain it */
    *out = ti_npu_write_npz(&ctx->arena, &program);
    return TC_OK;
}

static tc_status make_stream(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    if (c->target.machine->packing != TC_PACKED_STREAM)
        return ti_usage(ctx, "--emit stream is for Ethos-U targets, not for '%s'", c->target.text);
    const tc_compiled *same;
    TC_TRY(ti_pack_regions(ctx, c));
    TC_TRY(ti_with_all_ports(ctx, c, &same)); /* for its warnings */
    for (size_t i = 0; i < c->n_region; i++) {
        tc_bytes bytes = c->payload[i].bytes;
        if (is_raw(TC_OUTPUT_STREAM, path))
            TC_TRY(make_raw(ctx, c, i, &bytes));
        add_file(&c->written, bytes);
    }
    return c->n_region ? TC_OK : nothing_to_write(ctx, c, path);
}

/* Without each region's .tosa, where it is not asked for; with the lines of its commands, where
 * locations are kept. */
static tc_payload *payloads_of(tc_ctx *ctx, const tc_compiled *c, bool keep_tosa)
{
    tc_payload *copy = ti_arena_copy(&ctx->arena, c->payload, c->n_region * sizeof *copy);
    for (size_t i = 0; i < c->n_region; i++) {
        if (!keep_tosa)
            copy[i].tosa = (tc_bytes){NULL, 0};
        if (c->asked.places && c->jobs)
            copy[i].lines = ti_own_lines(ctx, c->region[i].own);
    }
    return copy;
}

/* Region 0 that the methods share: the last region's; none: they do not share it. */
static tc_bytes common_weights(const tc_compiled *last)
{
    for (const tc_compiled *m = last; m && m->asked.ethosu.share_weights && last->asked.beside; m = m->asked.beside)
        for (size_t i = m->n_region; i-- > 0;)
            if (m->jobs && ti_own_takes(&m->region[i]))
                return m->region[i].own->program.weights;
    return (tc_bytes){NULL, 0};
}

/* Payloads whose region 0 is a prefix of the shared one become pieces of one, with it. */
static tc_status join_weights(tc_ctx *ctx, const tc_compiled *last, tc_program_part *part, size_t n)
{
    tc_bytes common = common_weights(last);
    tc_payload **joined = NULL;
    tc_npu_program *program = NULL;
    size_t n_joined = 0, cap = 0, cap_program = 0;
    for (size_t m = 0; common.size && m < n; m++)
        for (size_t i = 0; i < part[m].n_payload; i++) {
            const tc_compiled *c = part[m].compiled;
            tc_npu_program p;
            if (!c->jobs)
                continue;
            TC_TRY(ti_npu_read_backend(ctx, &(tc_loc){.file = c->module->file},
                                       part[m].payload[i].bytes, &p));
            if (p.weights.size > common.size ||
                memcmp(p.weights.data, common.data, p.weights.size) != 0)
                continue;
            tc_grow(&ctx->arena, joined, n_joined, cap);
            tc_grow(&ctx->arena, program, n_joined, cap_program);
            joined[n_joined] = &part[m].payload[i];
            program[n_joined++] = p;
        }
    if (n_joined < 2)
        return TC_OK;
    size_t *at = tc_new_n(&ctx->arena, size_t, n_joined);
    tc_bytes all = ti_npu_backend_joined(&ctx->arena, program, n_joined, common, at);
    for (size_t i = 0; i < n_joined; i++) {
        joined[i]->bytes = (tc_bytes){all.data + at[i], all.size - at[i]};
        joined[i]->within = all;
    }
    return TC_OK;
}

static size_t method_count(const tc_compiled *c)
{
    size_t n = 0;
    for (; c; c = c->asked.beside)
        n++;
    return n;
}

static tc_status no_runtime(tc_ctx *ctx, const tc_compiled *c)
{
    tc_status status = ti_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                                      "'%s' takes C source, not a program for ExecuTorch's runtime",
                                      c->target.text);
    ti_note(ctx, NULL, "--emit c writes it; the target '%s' gives a program with float kernels for "
                       "what stays on the CPU",
            c->target.name);
    return status;
}

/* The program with all its methods, in the order in which they were compiled. */
static tc_status make_program(tc_ctx *ctx, tc_compiled *c, bool keep_tosa)
{
    size_t n = method_count(c), k = n;
    tc_program_part *part = tc_new_n(&ctx->arena, tc_program_part, n);
    tc_pte *program = tc_new_n(&ctx->arena, tc_pte, n);
    if (c->target.core)
        return no_runtime(ctx, c);
    for (tc_compiled *m = c; m; m = m->asked.beside) {
        tc_compiled *whole;
        TC_TRY(ti_vgf_delegate(ctx, m, &whole));
        m->written.whole = whole != NULL;
        if (whole) {
            part[--k] = (tc_program_part){whole, m->asked.method, whole->payload, 1};
            continue;
        }
        TC_TRY(ti_pack_regions(ctx, m));
        TC_TRY(ti_tell_idle(ctx, m));
        bool kernels = m->target.machine->packing == TC_PACKED_C; /* instead of delegates */
        tc_payload *payload = payloads_of(ctx, m, keep_tosa);
        part[--k] = (tc_program_part){m, m->asked.method, payload, kernels ? 0 : m->n_region};
    }
    TC_TRY(join_weights(ctx, c, part, n));
    TC_TRY(ti_program_join(ctx, part, n, NULL, program));
    k = n;
    for (tc_compiled *m = c; m; m = m->asked.beside) {
        k--;
        m->written.memory = program[k].memory;
        m->written.state = program[k].state;
        m->written.plan = program[k].plan;
        m->written.planned = program[k].planned;
        TC_TRY(ti_prove(ctx, m, program[k].planned->module));
    }
    add_file(&c->written, program[n - 1].pte);
    tc_pte_file file;
    TC_TRY(ti_pte_open(ctx, c->module->file, program[n - 1].pte, &file));
    c->written.needs = tc_new(&ctx->arena, tc_pte_needs);
    *c->written.needs = ti_pte_needs(ctx, &file);
    return TC_OK;
}

static tc_status make_pte(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    return make_program(ctx, c, false);
}

static tc_status make_pte_tosa(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    return make_program(ctx, c, true);
}

static tc_status make_bpte(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    tc_bytes bundle;
    tc_written *w = &c->written;
    TC_TRY(make_program(ctx, c, false));
    TC_TRY(ti_bundle_make(ctx, c, w->file[0], &bundle, &w->vectors));
    w->n_file = 0;
    w->bytes = 0;
    add_file(w, bundle);
    return TC_OK;
}

/* A Fourier transform that the core computes as a product in integers, where nothing is said of it. */
static void tell_transform(tc_ctx *ctx, const tc_compiled *c)
{
    const tc_fourier *f = c->quant.fouriers.item;
    if (c->quant.fouriers.n && !f->real && !c->target.core && !c->quant.config.transform && !c->request.settings)
        ti_note(ctx, NULL,
                "'%s' is a Fourier transform of %" PRId64 " points: with -q %s,transform=float C has a fast one, %.0f times "
                "fewer operations",
                f->node, f->points, c->request.config ? c->request.config : "int8", f->fewer);
}

/* OUT.c, OUT.h and kernels. */
static tc_status make_cortexm(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    tc_c_source source;
    tc_written *w = &c->written;
    const tc_machine *core = (c->target.core ? c->target.core : &c->target)->machine;
    TC_TRY(ti_emit_cortexm(ctx, c, path ? path : "model.c", &source));
    if (c->target.core)
        TC_TRY(ti_tell_idle(ctx, c));
    tell_transform(ctx, c);
    w->file = tc_new_n(&ctx->arena, tc_bytes, source.n_file);
    w->name = tc_new_n(&ctx->arena, const char *, source.n_file);
    for (size_t i = 0; i < source.n_file; i++) {
        w->name[i] = source.file[i].name;
        add_file(w, source.file[i].bytes);
    }
    w->bytes = source.constants + source.code; /* of flash: not the length of the text */
    w->code = source.code;
    w->outside = source.outside;
    w->floats = source.floats;
    w->memory = source.arena;
    w->ports = source.ports + source.state;
    for (size_t i = 0; i < source.n_cost; i++)
        w->core_cycles += source.cost[i].instructions * core->cycles.about;
    w->transform = source.transform;
    w->n_transform = source.n_transform;
    w->layer = source.layer;
    w->n_layer = source.n_layer;
    w->library = c->asked.cmsis_nn ? TC_CMSIS_NN : NULL;
    return TC_OK;
}

/* OUT.c and OUT.h. */
static tc_status make_c(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    tc_bytes source, header;
    if (ti_is_for_core(c))
        return make_cortexm(ctx, c, path);
    TC_TRY(make_program(ctx, c, false));
    size_t program = c->written.bytes; /* what is stored on the device: not the length of the
                                          text */
    TC_TRY(ti_emit_c(ctx, c, path ? path : "model.c", c->written.file[0], &source, &header));
    c->written.n_file = 0;
    c->written.bytes = 0;
    add_file(&c->written, source);
    add_file(&c->written, header);
    c->written.bytes = program;
    return TC_OK;
}

/* The same in one archive, for tools that install it. */
static tc_status make_archive(tc_ctx *ctx, tc_compiled *c, const char *path,
                              tc_status (*name)(tc_ctx *ctx, const char *path, tc_pack *out),
                              tc_bytes (*pack)(tc_ctx *ctx, const tc_pack *pack))
{
    tc_written *w = &c->written;
    tc_pack p = {.core = (c->target.core ? c->target.core : &c->target)->name,
                 .made_by = ti_made_by(ctx, c),
                 .npu = c->target.core && c->n_region};
    if (!ti_is_for_core(c))
        return ti_usage(ctx, "a pack has a model in C: it is for a Cortex-M, or an Ethos-U beside one, not for '%s'",
                        c->target.text);
    TC_TRY(name(ctx, path, &p));
    TC_TRY(make_cortexm(ctx, c, ti_text_format(&ctx->arena, "%s.c", p.name)));
    size_t flash = w->bytes;
    p.file = w->name;
    p.bytes = w->file;
    p.n_file = w->n_file;
    tc_bytes packed = pack(ctx, &p);
    w->n_file = 0;
    add_file(w, packed);
    w->bytes = flash;
    return TC_OK;
}

static tc_status make_pack(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    return make_archive(ctx, c, path, ti_pack_name, ti_pack_cmsis);
}

static tc_status make_library(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    return make_archive(ctx, c, path, ti_library_name, ti_pack_library);
}

static tc_status make_tflite(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    tc_tflite t;
    TC_TRY(ti_tflite_make(ctx, c, &t));
    c->written.memory = t.memory;
    c->written.plan = t.plan;
    c->written.planned = t.planned;
    c->written.moved = t.moved;
    TC_TRY(ti_prove(ctx, c, t.planned->module));
    add_file(&c->written, t.file);
    return TC_OK;
}

static tc_status make_ir(tc_ctx *ctx, tc_compiled *c, const char *path)
{
    (void)path;
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_print(c->module, &(tc_print_options){.locs = true}, &text);
    add_file(&c->written, (tc_bytes){(const uint8_t *)ti_buf_cstr(&text), text.size});
    return TC_OK;
}

static const struct {
    tc_output_kind is;
    maker *make;
} kinds[] = {
    [TC_OUTPUT_TOSA] = {{"tosa", ".tosa"}, make_tosa},
    [TC_OUTPUT_VGF] = {{"vgf", ".vgf"}, make_vgf},
    [TC_OUTPUT_PTE] = {{"pte", ".pte"}, make_pte},
    [TC_OUTPUT_PTE_TOSA] = {{"pte+tosa", ""}, make_pte_tosa},
    [TC_OUTPUT_STREAM] = {{"stream", ".bin"}, make_stream},
    [TC_OUTPUT_IR] = {{"ir", ".ir"}, make_ir},
    [TC_OUTPUT_C] = {{"c", ".c"}, make_c},
    [TC_OUTPUT_TFLITE] = {{"tflite", ".tflite"}, make_tflite},
    [TC_OUTPUT_BPTE] = {{"bpte", ".bpte"}, make_bpte},
    [TC_OUTPUT_PACK] = {{"pack", ".pack"}, make_pack},
    [TC_OUTPUT_LIBRARY] = {{"library", ".zip"}, make_library},
};

const tc_output_kind *ti_output_of(tc_output kind)
{
    return (size_t)kind < TC_COUNT(kinds) ? &kinds[kind].is : NULL;
}

/* Scalars among what the model returns cannot be in files of tensors alone. */
static void say_numbers(tc_ctx *ctx, const tc_compiled *c, tc_output kind)
{
    const tc_module *m = c->module;
    for (size_t k = 0; k < m->signature.n_out; k++) {
        const tc_port *port = &m->signature.out[k];
        if (port->val == TC_NONE && port->text && !ti_text_eq(port->text, "None"))
            ti_warning(ctx, &(tc_loc){.file = m->file, .place = "outputs"}, TC_E_STRUCTURE,
                       "output %zu is %s, not a tensor: %s cannot hold it, a .pte can", k,
                       port->text, kinds[kind].is.extension);
    }
}

/* A Fourier transform that was left in float, in a program of ExecuTorch's. */
static void say_product(tc_ctx *ctx, const tc_compiled *c)
{
    const tc_fourier *f = c->quant.fouriers.item;
    size_t i = 0;
    while (i < c->quant.fouriers.n && !f[i].real)
        i++;
    if (i < c->quant.fouriers.n)
        ti_note(ctx, NULL,
                "'%s', a Fourier transform of %" PRId64 " points, is a product in float here: C for a Cortex-M has a fast one",
                f[i].node, f[i].points);
}

/* A program for many sizes. */
static tc_status only_tosa(tc_ctx *ctx, const tc_compiled *c, tc_output kind)
{
    tc_status status = ti_usage(ctx, "a program for many sizes is a .tosa file, not %s",
                                kinds[kind].is.name);
    ti_note(ctx, NULL, "a .pte has a method for each size: --dim %s=A,B,C",
            c->work.many->size[0].word);
    return status;
}

tc_status ti_make_files(tc_ctx *ctx, tc_compiled *c, tc_output kind, const char *path)
{
    if ((size_t)kind >= TC_COUNT(kinds))
        return ti_usage(ctx, "unknown kind of file %d (see tc_output)", (int)kind);
    bool program = kind == TC_OUTPUT_PTE || kind == TC_OUTPUT_PTE_TOSA || kind == TC_OUTPUT_BPTE ||
                   (kind == TC_OUTPUT_C && !ti_is_for_core(c));
    if (c->asked.beside && !program)
        return ti_usage(ctx, "several methods (%zu) need a .pte, not %s", method_count(c),
                        kinds[kind].is.name);
    if (c->work.many && kind != TC_OUTPUT_TOSA)
        return only_tosa(ctx, c, kind);
    if (c->request.n_image && kind != TC_OUTPUT_VGF)
        return ti_usage(ctx, "--image %s: images are for a .vgf, not for %s",
                        c->request.image[0].text, kinds[kind].is.name);
    c->written = (tc_written){.file = tc_new_n(&ctx->arena, tc_bytes, c->n_region + 2)};
    if (kind == TC_OUTPUT_TOSA || kind == TC_OUTPUT_VGF || kind == TC_OUTPUT_STREAM ||
        kind == TC_OUTPUT_TFLITE)
        say_numbers(ctx, c, kind);
    if (program)
        say_product(ctx, c);
    TC_TRY(kinds[kind].make(ctx, c, path));
    if (!c->written.planned)
        TC_TRY(ti_prove(ctx, c, c->module));
    return ti_board_fit(ctx, c, kind);
}

/* File i has that name now. */
static void note_name(tc_ctx *ctx, tc_written *w, size_t i, const char *path)
{
    if (!w->written_as)
        w->written_as = tc_new_n(&ctx->arena, const char *, w->n_file);
    w->written_as[i] = ti_path_last(path);
}

/* A region's file; with a file that describes its ports. */
static tc_status write_region(tc_ctx *ctx, tc_compiled *c, size_t i, const char *path, bool borders)
{
    note_name(ctx, &c->written, i, path);
    tc_bytes bytes = c->written.file[i];
    const tc_compiled *held = c->written.held ? c->written.held : c;
    if (!borders)
        return ti_file_write(ctx, path, bytes);
    return ti_file_write_two(ctx, path, bytes, ti_text_format(&ctx->arena, "%s.json", path),
                             ti_borders_json(ctx, held, &held->region[i]));
}

/* All of them, named after the first one. */
static tc_status write_named(tc_ctx *ctx, tc_written *w, const char *path)
{
    size_t folder = (size_t)(ti_path_last(path) - path);
    w->path = path;
    for (size_t i = 0; i < w->n_file; i++) {
        note_name(ctx, w, i, w->name[i]);
        TC_TRY(ti_file_write(
            ctx, ti_text_format(&ctx->arena, "%.*s%s", (int)folder, path, w->name[i]), w->file[i]));
    }
    return TC_OK;
}

/* OUT.c and OUT.h. */
static tc_status write_c(tc_ctx *ctx, tc_written *w, const char *path)
{
    if (w->name)
        return write_named(ctx, w, path);
    size_t stem = strlen(path);
    stem -= ti_text_ends(path, ".c") ? 2 : 0;
    w->path = path;
    const char *source = ti_text_format(&ctx->arena, "%.*s.c", (int)stem, path);
    const char *header = ti_text_format(&ctx->arena, "%.*s.h", (int)stem, path);
    note_name(ctx, w, 0, source);
    note_name(ctx, w, 1, header);
    return ti_file_write_two(ctx, source, w->file[0], header, w->file[1]);
}

/* OUT for one file; OUT.0.ext, OUT.1.ext, ... for several. */
static tc_status write_all(tc_ctx *ctx, tc_compiled *c, const char *path, const char *extension,
                           bool borders)
{
    tc_written *w = &c->written;
    size_t stem = strlen(path), e = strlen(extension);
    w->path = path;
    if (w->n_file == 1)
        return write_region(ctx, c, 0, path, borders);
    if (stem > e && ti_text_eq(path + stem - e, extension))
        stem -= e;
    for (size_t i = 0; i < w->n_file; i++) {
        const char *part = ti_text_format(&ctx->arena, "%.*s.%zu%s", (int)stem, path, i, extension);
        TC_TRY(write_region(ctx, c, i, part, borders));
    }
    w->path = ti_text_format(&ctx->arena, "%.*s.0%s to %.*s.%zu%s", (int)stem, path, extension,
                             (int)stem, path, w->n_file - 1, extension);
    return TC_OK;
}

tc_status ti_write_files(tc_ctx *ctx, tc_compiled *c, tc_output kind, const char *path)
{
    path = ti_intern_text(ctx, path);
    if (kind == TC_OUTPUT_IR && !c->asked.beside) {
        c->written = (tc_written){.path = path};
        TC_TRY(ti_prove(ctx, c, c->module));
        return ti_write_text(ctx, c->module, ti_made_by(ctx, c), path);
    }
    TC_TRY(ti_make_files(ctx, c, kind, path));
    if (kind == TC_OUTPUT_C)
        return write_c(ctx, &c->written, path);
    bool borders =
        (kind == TC_OUTPUT_TOSA && ti_borders_quantized(ctx, c)) || kind == TC_OUTPUT_STREAM;
    const char *extension = is_raw(kind, path) ? raw : kinds[kind].is.extension;
    return write_all(ctx, c, path, extension, borders);
}
