/* SPDX-License-Identifier: Apache-2.0 */
/* cli_compile.c -- tosac compile: a model becomes what a target loads. */
#include "cli_compile_options.h"
#include "cli_dump.h"
#include "cli_firmware.h"
#include "cli_report.h"

typedef struct compile_options {
    cli_asked asked;
    cli_texts input, images;
    const char *output, *emit, *dump_dir, *report, *preprocess, *etrecord, *certificate, *shaders;
    const char *labels, *kernels, *marks, *firmware;
    cli_texts goal;
    int64_t max_scratch;
    bool share_weights;
    bool check, strict, strict_fit, locations, no_execute, keep_odd, reset;
} compile_options;

static const char *kind_name(size_t i, const void *from)
{
    (void)from;
    const char *name = tc_output_name((tc_output)i);
    if (!name && i && tc_output_name((tc_output)(i - 1)))
        return "model-explorer"; /* a form of the report, not a file of the program */
    return name;
}

static const char *extension_name(size_t i, const void *from)
{
    (void)from;
    return tc_output_name((tc_output)i) ? tc_output_extension((tc_output)i) : NULL;
}

static const char *list_of(const char *(*name)(size_t i, const void *from))
{
    const char *list = "", *word;
    for (size_t i = 0; (word = name(i, NULL)); i++)
        if (*word)
            list = cli_format("%s%s%s", list, *list ? ", " : "", word);
    return list;
}

/* By name, else by the file's extension. */
static tc_status find_kind(cli *c, const compile_options *o, tc_output *out)
{
    size_t n = strlen(o->output);
    const char *name, *extension;
    for (int i = 0; (name = tc_output_name((tc_output)i)); i++) {
        extension = tc_output_extension((tc_output)i);
        *out = (tc_output)i;
        if (o->emit ? cli_is(o->emit, name)
                    : *extension && n > strlen(extension) && cli_ends(o->output, extension))
            return TC_OK;
    }
    const char *near = !o->emit                ? NULL
                       : cli_is(o->emit, "vela") ? "stream" /* its name in 0.1 */
                                                 : cli_nearest(o->emit, kind_name, NULL);
    tc_status status =
        o->emit ? cli_usage(c, "--emit %s: unknown kind of file", o->emit)
                : cli_usage(c, "the kind of file for '%s' is not known from its name: use --emit",
                            o->output);
    if (near)
        cli_note(c, "did you mean '%s'?", near);
    cli_note(c, "%s %s", o->emit ? "kinds are" : "names end in one of:",
             list_of(o->emit ? kind_name : extension_name));
    return status;
}

/* "-" is standard output, for text. */
static tc_status write_output(cli *c, tc_compiled *compiled, tc_output kind, const char *path)
{
    if (kind != TC_OUTPUT_IR || !cli_is(path, "-"))
        return tc_compiled_write(c->ctx, compiled, kind, path);
    CLI_TRY(cli_write_model(c, tc_compiled_model(compiled), path));
    CLI_TRY(tc_compiled_prove(c->ctx, compiled));
    return tc_compiled_set_name(c->ctx, compiled, path);
}

static tc_compile_options request_of(const compile_options *o, tc_dataset *data, cli_dumper *dumper)
{
    tc_compile_options r = cli_asked_options(&o->asked, data);
    r.check = o->check;
    r.strict = o->strict;
    r.locations = o->locations || o->etrecord;
    r.no_execute = o->no_execute;
    r.quant.keep_odd = o->keep_odd;
    r.quant.reset = o->reset;
    r.on_pass = o->dump_dir ? cli_dump_pass : NULL;
    r.user = dumper;
    r.ethosu.max_scratch = o->max_scratch;
    r.ethosu.share_weights = o->share_weights;
    r.ethosu.marks = o->marks;
    return r;
}

/* What holds the whole program: for an Ethos-U next to a Cortex-M it is C. */
static tc_output whole_program(const char *target)
{
    return strstr(target, "+cortex-m") ? TC_OUTPUT_C : TC_OUTPUT_PTE;
}

/* Without -o the program is made anyway, so that there is something to report. */
static tc_status write_report(cli *c, const compile_options *o, const tc_model *model,
                              tc_compiled *compiled, tc_dataset *data)
{
    tc_report_options r = tc_report_options_default();
    if (!o->output)
        CLI_TRY(tc_compiled_make(c->ctx, compiled, whole_program(o->asked.target), NULL));
    r.model = model;
    r.compiled = compiled;
    r.samples = data;
    r.config = cli_settings(o->asked.config, &o->asked.real, o->asked.rate);
    r.labels = data ? o->labels : NULL;
    return cli_write_report(c, &r, &o->asked.calib, o->report);
}

/* The graph with the result for every node, for Model Explorer. */
static tc_status write_explorer(cli *c, const char *target, const tc_model *model, tc_compiled *compiled,
                                const char *path)
{
    tc_report_options r = tc_report_options_default();
    tc_bytes json;
    CLI_TRY(tc_compiled_make(c->ctx, compiled, whole_program(target), NULL));
    r.model = model;
    r.compiled = compiled;
    CLI_TRY(tc_report_make(c->ctx, &r, TC_REPORT_FORM_MODEL_EXPLORER, &json));
    CLI_TRY(tc_write_file(c->ctx, path, json));
    return tc_compiled_set_name(c->ctx, compiled, path);
}

static tc_status write_etrecord(cli *c, const tc_compiled *compiled, const char *path)
{
    tc_bytes record;
    CLI_TRY(tc_compiled_etrecord(c->ctx, compiled, &record));
    return tc_write_file(c->ctx, path, record);
}

/* ---- methods ---- */

/* One MODEL of the command line, or NAME=MODEL. */
typedef struct method {
    const char *name, *path;
    cli_texts calib, input;
    tc_model *model;
    tc_dataset *data, *vectors;
    tc_compile_options request;
    tc_compiled *compiled;
} method;

/* "folder/prefill.pt2" is prefill. */
static const char *stem_of(const char *path)
{
    const char *base = cli_path_last(path);
    const char *dot = strrchr(base, '.');
    return cli_format("%.*s", (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base)), base);
}

static bool is_there(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f)
        fclose(f);
    return f != NULL;
}

static method method_of(const char *argument, bool only)
{
    const char *equals = strchr(argument, '=');
    method m = {.path = argument};
    if (equals && equals > argument && !is_there(argument)) {
        m.name = cli_format("%.*s", (int)(equals - argument), argument);
        m.path = equals + 1;
    } else if (!only)
        m.name = stem_of(argument);
    return m;
}

static void add_data(method *m, bool vectors, const char *path)
{
    cli_add(vectors ? &m->input : &m->calib, path);
}

/* Calibration data, or test vectors: DATA is for all methods, NAME=DATA for that one. */
static tc_status share_data(cli *c, const cli_texts *data, bool vectors, method *m, size_t n)
{
    for (size_t i = 0; i < data->n; i++) {
        const char *equals = strchr(data->v[i], '=');
        bool taken = false;
        for (size_t k = 0; k < n; k++) {
            size_t length = m[k].name ? strlen(m[k].name) : 0;
            bool own = equals && length && (size_t)(equals - data->v[i]) == length &&
                       strncmp(data->v[i], m[k].name, length) == 0;
            if (own)
                add_data(&m[k], vectors, equals + 1);
            taken = taken || own;
        }
        if (!taken && n > 1 && equals && !is_there(data->v[i]))
            return cli_usage(c, "--%s %s: no method is called '%.*s'", vectors ? "input" : "calib",
                             data->v[i], (int)(equals - data->v[i]), data->v[i]);
        for (size_t k = 0; k < n && !taken; k++)
            add_data(&m[k], vectors, data->v[i]);
    }
    return TC_OK;
}

/* "sqnr=30,cycles=200K,time=10min", or a message. */
static tc_status read_goals(cli *c, const compile_options *o, tc_compile_options *r)
{
    const struct {
        const char *name;
        double *to;
    } goals[] = {{"sqnr", &r->goal.sqnr_db},
                 {"drop", &r->goal.drop},
                 {"cycles", &r->goal.cycles},
                 {"flash", &r->goal.flash},
                 {"time", &r->goal.seconds}};
    cli_texts words = {0};
    for (size_t i = 0; i < o->goal.n; i++)
        cli_add_names(&words, o->goal.v[i]);
    for (size_t k = 0; k < words.n; k++) {
        const char *equals = strchr(words.v[k], '=');
        size_t n = equals ? (size_t)(equals - words.v[k]) : 0, i = 0;
        while (i < CLI_COUNT(goals) &&
               (strlen(goals[i].name) != n || strncmp(goals[i].name, words.v[k], n) != 0))
            i++;
        if (i == CLI_COUNT(goals))
            return cli_usage(c, "--goal %s: expected sqnr=DB, drop=POINTS, cycles=N, flash=BYTES or time=TIME",
                             words.v[k]);
        if ((*goals[i].to = cli_amount(equals + 1)) < 0)
            return cli_usage(c, "--goal %s: expected a number above 0, such as 30, 200K or 1.5M",
                             words.v[k]);
    }
    r->goal.labels = o->labels;
    return TC_OK;
}

/* C calls functions of CMSIS-NN instead of ours. */
static bool calls_library(const compile_options *o)
{
    return o->kernels && cli_is(o->kernels, "cmsis-nn");
}

static tc_status compile_method(cli *c, const compile_options *o, tc_output kind,
                                cli_dumper *dumper, method *m, tc_compiled *beside)
{
    tc_model_options open = tc_model_options_default();
    open.keep_unread = o->output && kind == TC_OUTPUT_TFLITE;
    open.open_sizes = true;
    CLI_TRY(tc_model_open(c->ctx, m->path, &open, &m->model));
    CLI_TRY(cli_data_by(c, &m->calib, o->preprocess, false, &m->data));
    CLI_TRY(cli_data_by(c, &m->input, o->preprocess, false, &m->vectors));
    tc_compile_options request = request_of(o, m->data, dumper);
    request.vectors = m->vectors;
    request.method = m->name;
    request.beside = beside;
    request.shaders = o->shaders;
    request.images = o->images.v;
    request.n_images = o->images.n;
    request.kernels = calls_library(o) ? o->kernels : NULL;
    CLI_TRY(read_goals(c, o, &request));
    m->request = request;
    CLI_TRY(tc_compile(c->ctx, m->model, &request, &m->compiled));
    cli_progress_end(c);
    return o->dump_dir ? cli_dump_end(dumper, m->compiled) : TC_OK;
}

/* What was tried, the chosen one marked. */
static void print_frontier(const tc_compiled *compiled)
{
    size_t n;
    const tc_frontier_row *row = tc_compiled_frontier(compiled, &n);
    if (n)
        printf("  %-18s %8s %10s %12s %12s\n", "", "dB", "agreement", "cycles", "flash");
    for (size_t i = 0; i < n; i++)
        printf("%s %-18s %8.2f %9.1f%% %12.0f %12.0f\n", row[i].chosen ? "*" : " ", row[i].name,
               row[i].sqnr_db, 100 * row[i].agreement, row[i].cycles, row[i].flash);
}

/* The files that run on a board: those that are asked for, or the target's usual ones. */
static tc_output kind_for_board(cli *c, const compile_options *o, tc_output kind)
{
    tc_target_info target = tc_target_info_default();
    bool runs = o->output && kind != TC_OUTPUT_TOSA && kind != TC_OUTPUT_IR;
    if (runs || tc_target_find(c->ctx, o->asked.target, &target) != TC_OK)
        return kind;
    return target.takes_c ? TC_OUTPUT_C : TC_OUTPUT_PTE;
}

/* What does not fit its board is compiled with other settings. */
static tc_status try_otherwise(cli *c, const compile_options *o, tc_output kind, const method *m)
{
    if (!o->asked.board)
        return TC_OK;
    CLI_TRY(tc_compiled_try_alternatives(c->ctx, m->model, &m->request, m->compiled,
                                         kind_for_board(c, o, kind)));
    cli_progress_end(c);
    return TC_OK;
}

static tc_status check_options(cli *c, compile_options *o, size_t n, tc_output *kind)
{
    CLI_TRY(cli_asked_target(c, &o->asked, "TOSA-1.0+INT, vgf, ethos-u85-256, cpu ..."));
    bool explorer = o->emit && cli_is(o->emit, "model-explorer");
    if (explorer && !o->output)
        return cli_usage(c, "--emit model-explorer needs a file: -o OUT.json");
    if (n > 1 && (explorer || o->report || o->dump_dir))
        return cli_usage(c, "%s takes one model, not %zu",
                         explorer ? "--emit model-explorer" : o->report ? "--report" : "--dump-dir",
                         n);
    CLI_TRY(cli_try_output(c, o->output));
    CLI_TRY(cli_try_output(c, o->report));
    if (o->output && !explorer)
        CLI_TRY(find_kind(c, o, kind));
    if (o->output && !explorer && *kind == TC_OUTPUT_C && cli_ends(o->output, ".h"))
        return cli_usage(c, "-o %s: the header gets that name; -o names the C file, %.*s.c", o->output,
                         (int)strlen(o->output) - 2, o->output);
    if (o->input.n && (!o->output || explorer || *kind != TC_OUTPUT_BPTE))
        return cli_usage(c, "--input names test vectors, which only a .bpte holds: --emit bpte");
    bool program = *kind == TC_OUTPUT_PTE || *kind == TC_OUTPUT_PTE_TOSA || *kind == TC_OUTPUT_BPTE;
    if (o->etrecord && (!o->output || explorer || !program))
        return cli_usage(c, "--etrecord goes with a .pte or .bpte: -o OUT.pte");
    CLI_TRY(cli_try_output(c, o->etrecord));
    if (o->certificate && (!o->output || explorer || *kind == TC_OUTPUT_IR))
        return cli_usage(c, "--certificate is of what a target loads: -o OUT, and not of text");
    CLI_TRY(cli_try_output(c, o->certificate));
    if (o->firmware && (!o->output || explorer))
        return cli_usage(c, "--firmware is about a file: -o OUT.tflite, OUT.pte or OUT.bin");
    if (o->strict_fit && !o->firmware && !o->asked.board)
        return cli_usage(c, "--strict-fit goes with --board or --firmware: what it is to fit");
    if (calls_library(o) && (!o->output || explorer || *kind != TC_OUTPUT_C))
        return cli_usage(c, "--kernels cmsis-nn is for C: --emit c -o OUT.c");
    if (o->kernels && cli_is(o->kernels, "reference"))
        return cli_usage(c, "--kernels reference is '--reference' now");
    if (o->kernels && !calls_library(o) && !cli_is(o->kernels, "plain"))
        return cli_usage(c, "--kernels takes 'plain' or 'cmsis-nn', not '%s'", o->kernels);
    return TC_OK;
}

/* A line for each method, or JSON: a list for several. */
static tc_status tell(cli *c, const method *m, size_t n)
{
    const char *report;
    tc_compiled_info info = tc_compiled_info_default();
    bool json = c->common.json;
    if (c->common.quiet && !json)
        return TC_OK;
    if (json && n > 1)
        fputs("[", stdout);
    for (size_t i = 0; i < n; i++) {
        if (!json)
            print_frontier(m[i].compiled);
        CLI_TRY(tc_compiled_report(c->ctx, m[i].compiled, json ? TC_REPORT_JSON : TC_REPORT_LINE,
                                   &report));
        printf("%s%s%s%s", json && i ? "," : "", n > 1 && !json ? m[i].name : "",
               n > 1 && !json ? ": " : "", report);
    }
    if (json && n > 1)
        fputs("]\n", stdout);
    tc_compiled_get_info(m[n - 1].compiled, &info);
    if (!json && info.state)
        printf("the methods share %zu bytes of state\n", info.state);
    return TC_OK;
}

/* A list of sizes has made a method for each. */
static method *each_size(method *m, size_t *n)
{
    size_t k = 0;
    for (tc_compiled *c = m->compiled; c; c = tc_compiled_beside(c))
        k++;
    if (k < 2)
        return m;
    method *all = cli_memory(k, sizeof *all);
    *n = k;
    for (tc_compiled *c = m->compiled; c; c = tc_compiled_beside(c)) {
        tc_compiled_info info = tc_compiled_info_default();
        tc_compiled_get_info(c, &info);
        all[--k] = *m;
        all[k].compiled = c;
        all[k].name = info.method;
    }
    return all;
}

/* Whether the firmware takes what was written; --strict-fit: it, and the board. */
static tc_status tell_fit(cli *c, const compile_options *o, const tc_compiled *compiled)
{
    tc_board_verdict verdict = tc_board_verdict_default();
    tc_firmware_options f = tc_firmware_options_default();
    size_t faults = 0;
    f.firmware = o->firmware;
    f.board = o->asked.board;
    if (!o->asked.board && strncmp(o->asked.target, "ethos", 5) == 0)
        f.npu = cli_format("%.*s", (int)strcspn(o->asked.target, "+"), o->asked.target);
    if (o->firmware)
        CLI_TRY(cli_tell_firmware(c, o->output, &f, false, &faults));
    if (!o->strict_fit)
        return TC_OK;
    if (tc_compiled_verdict(compiled, &verdict) && !verdict.fits)
        return cli_exceeded(c, o->output ? o->output : "the program", "it does not fit %s", verdict.board);
    return faults ? cli_exceeded(c, o->output, "%s does not take it: %zu fault%s", o->firmware, faults,
                                 faults == 1 ? "" : "s")
                  : TC_OK;
}

static tc_status run_compile(cli *c, const void *record, const cli_texts *args)
{
    compile_options own = *(const compile_options *)record, *o = &own;
    tc_output kind = TC_OUTPUT_TOSA;
    cli_dumper dumper = {.c = c, .folder = o->dump_dir};
    size_t n = args->n;
    method *m = cli_memory(n, sizeof *m);
    for (size_t i = 0; i < n; i++)
        m[i] = method_of(args->v[i], n == 1);
    CLI_TRY(check_options(c, o, n, &kind));
    CLI_TRY(share_data(c, &o->asked.calib, false, m, n));
    CLI_TRY(share_data(c, &o->input, true, m, n));
    if (o->dump_dir)
        CLI_TRY(cli_dump_begin(&dumper));
    for (size_t i = 0; i < n; i++)
        CLI_TRY(compile_method(c, o, kind, &dumper, &m[i], i ? m[i - 1].compiled : NULL));
    if (n == 1)
        m = each_size(m, &n);
    method *last = &m[n - 1];
    if (o->asked.board && kind_for_board(c, o, kind) != kind) /* for the verdict */
        CLI_TRY(tc_compiled_make(c->ctx, last->compiled, kind_for_board(c, o, kind), NULL));
    if (o->emit && cli_is(o->emit, "model-explorer"))
        CLI_TRY(write_explorer(c, o->asked.target, last->model, last->compiled, o->output));
    else if (o->output)
        CLI_TRY(write_output(c, last->compiled, kind, o->output));
    if (o->etrecord)
        CLI_TRY(write_etrecord(c, last->compiled, o->etrecord));
    if (o->certificate)
        CLI_TRY(tc_compiled_write_certificate(c->ctx, last->compiled, o->certificate));
    if (o->dump_dir)
        CLI_TRY(cli_dump_regions(&dumper, last->compiled));
    CLI_TRY(try_otherwise(c, o, kind, last));
    if (o->report)
        CLI_TRY(write_report(c, o, last->model, last->compiled, last->data));
    if (!o->output && !o->report)
        CLI_TRY(tc_compiled_prove(c->ctx, last->compiled));
    for (size_t i = 0; i + 1 < n && o->output; i++)
        CLI_TRY(tc_compiled_set_name(c->ctx, m[i].compiled, o->output));
    cli_progress_end(c);
    CLI_TRY(tell(c, m, n));
    if (!o->output && !o->report && !o->dump_dir && !c->common.quiet && !c->common.json)
        cli_note(c, "nothing was written: -o FILE does it, --report FILE.html tells more");
    return tell_fit(c, o, last->compiled);
}

#define AT(field) offsetof(compile_options, field)
static const cli_option options[] = {
    CLI_ROW_TARGET(compile_options, CLI_TARGETS_HELP),
    {"--output", "-o", "OUT", CLI_TEXT, AT(output), "the file to write; its extension says which "
                                                    "kind"},
    {"--emit", NULL, "KIND", CLI_TEXT, AT(emit),
     "what to write, whatever the extension: tosa, vgf, stream, pte, pte+tosa, c, ir, "
     "tflite, bpte, pack, library, model-explorer"},
    {"--input", "-i", "DATA", CLI_TEXTS, AT(input),
     ".bpte: its test vectors, as --calib (default: the calibration samples that the result is run on)"},
    {"--locations", NULL, NULL, CLI_FLAG, AT(locations),
     "a .pte keeps line, module and node of every step, as ExecuTorch's stack traces"},
    {"--etrecord", NULL, "FILE", CLI_TEXT, AT(etrecord),
     ".pte, .bpte: write an ETRecord for ExecuTorch's Inspector, too; implies --locations"},
    {"--report", NULL, "FILE", CLI_TEXT, AT(report), CLI_REPORT_HELP},
    {"--certificate", NULL, "FILE.json", CLI_TEXT, AT(certificate),
     "what was proved about the files, by what, and what was not; FILE.program.ir and FILE.samples.npz go with it"},
    {"--dump-dir", NULL, "DIR", CLI_TEXT, AT(dump_dir),
     "write the graph after each pass that changed it, each region's .tosa, and trace.json"},
    CLI_ROW_CALIB(compile_options, "calibration data: .npy, .npz, a folder, or random:SEED; of "
                                   "one method: NAME=DATA"),
    {"--preprocess", NULL, "RULES", CLI_TEXT, AT(preprocess), CLI_PREPROCESS_HELP},
    CLI_ROWS_SETTINGS(compile_options),
    {"--goal", NULL, "WHAT=N,...", CLI_TEXTS, AT(goal),
     "search the bits of each value and weight: sqnr=DB at least, drop=POINTS of top-1 accuracy, cycles=N "
     "or flash=BYTES at most; time=10min to search"},
    {"--labels", NULL, "FILE", CLI_TEXT, AT(labels),
     "the labels of the calibration samples: .npy, text, or by-folder; --report tells top-1 then"},
    {"--keep-odd-samples", NULL, NULL, CLI_FLAG, AT(keep_odd), "keep every sample, outliers too"},
    CLI_ROW_RESET(AT(reset)),
    CLI_ROWS_ETHOSU(compile_options),
    {"--max-scratch", NULL, "BYTES", CLI_BYTES, AT(max_scratch),
     "Ethos-U: the most memory a region may need, 512K; slower or smaller schedules are tried"},
    {"--share-weights", NULL, NULL, CLI_FLAG, AT(share_weights),
     "Ethos-U, several methods: each takes the weights of those before it, and the .pte has them "
     "once"},
    {"--marks", NULL, "HOW", CLI_TEXT, AT(marks),
     "Ethos-U: every operation ends by itself, for 'profile --pmu': irq: with an interrupt; wait: without, as "
     "Linux's driver needs it"},
    {"--kernels", NULL, "WHICH", CLI_TEXT, AT(kernels),
     "Cortex-M, --emit c: what the C calls: plain: our own kernels (default); cmsis-nn: its functions in their "
     "place"},
    {"--shaders", NULL, "WHICH", CLI_TEXT, AT(shaders),
     "vgf: auto: what no region takes becomes compute shaders in a .vgf (default); all: in a .pte too; "
     "resample: grid_sample and upsampling too; samplers: and those read images by samplers (.vgf); "
     "none: the file holds one region"},
    {"--image", NULL, "PORT=FORMAT", CLI_TEXTS, AT(images),
     "vgf: an input or output is an image of this format of Vulkan's, x=r8g8b8a8_unorm; repeat for more"},
    {"--strict", NULL, NULL, CLI_FLAG, AT(strict),
     "a part that is refused is an error; else it runs on the CPU, with a warning"},
    {"--firmware", NULL, "NAME,...", CLI_TEXT, AT(firmware), CLI_FIRMWARE_HELP},
    {"--strict-fit", NULL, NULL, CLI_FLAG, AT(strict_fit),
     "exit 1 where it does not fit the board, or the firmware does not take it"},
    {"--check", NULL, NULL, CLI_FLAG, AT(check),
     "run the program before and after every step, on samples of the calibration data"},
    {"--no-execute", NULL, NULL, CLI_FLAG, AT(no_execute),
     "do not run the result beside the float model before it is written; Ethos-U: only verify "
     "command streams"},
    {0},
};

static const cli_group groups[] = {{"--target", "Target and files"},
                                   {"--calib", "Data and quantization"},
                                   {"--system", "One kind of target"},
                                   {"--strict", "Checks"},
                                   {"--json", "Every verb"},
                                   {0}};

const cli_verb cli_compile = {
    .name = "compile",
    .arguments = "[NAME=]MODEL... (-t TARGET | --board NAME) [-o OUT]",
    .summary = "compile a model for a target or a board",
    .help = "MODEL is a .pt2, an .onnx, a .tflite, a .tosa or a text graph.  A float model for an "
            "integer target needs\n"
            "--calib; a PT2E export has its own quantization.\n"
            "Several models become the methods of one .pte, named after their files or NAME; "
            "buffers of the same name are\n"
            "shared, and --calib NAME=DATA is the data of one method.\n"
            "With --board the first line says whether it fits, in which memory, with what left, and "
            "how long it takes; where it\n"
            "does not, other settings are tried and their figures said.\n",
    .least = 1,
    .most = 16,
    .option = options,
    .group = groups,
    .record = sizeof(compile_options),
    .run = run_compile,
};
