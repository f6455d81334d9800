/* SPDX-License-Identifier: Apache-2.0 */
/* cli_profile.c -- tosac profile: which lines of a model cost what on an Ethos-U or a Cortex-M. */
#include "cli_compile_options.h"

enum { SHOWN = 20 };

typedef struct profile_options {
    cli_asked asked;
    const char *by, *etdump, *pmu, *overlay, *into, *ticks, *method, *config, *mode;
    int64_t top;
    bool estimate;
} profile_options;

static const char *const by_name[] = {"line", "module", "node", "kind"};

static const char *by_at(size_t i, const void *from)
{
    (void)from;
    return i < CLI_COUNT(by_name) ? by_name[i] : NULL;
}

static tc_status find_by(cli *c, const char *text, tc_profile_by *out)
{
    *out = TC_PROFILE_BY_LINE;
    for (size_t i = 0; text && i < CLI_COUNT(by_name); i++)
        if (cli_is(text, by_name[i])) {
            *out = (tc_profile_by)i;
            return TC_OK;
        }
    if (!text)
        return TC_OK;
    tc_status status = cli_usage(c, "--by %s: expected line, module, node or kind", text);
    const char *near = cli_nearest(text, by_at, NULL);
    if (near)
        cli_note(c, "did you mean '%s'?", near);
    return status;
}

/* A .tflite is a model where a target is named. */
static bool has_streams(const profile_options *o, const char *path)
{
    return cli_ends(path, ".pte") || cli_ends(path, ".bpte") || cli_ends(path, "_vela.npz") ||
           (cli_ends(path, ".tflite") && !o->asked.target && !o->asked.board);
}

/* An existing program. */
static tc_status of_file(cli *c, const profile_options *o, const char *path, tc_profile **out)
{
    tc_profile_options p = tc_profile_options_default();
    const cli_asked *a = &o->asked;
    if (a->target || a->calib.n || a->config || a->cpu.n || a->optimise || o->estimate)
        return cli_usage(c,
                         "%s is compiled already: -t, --calib, -q, --cpu, --optimise and --estimate "
                         "are for models",
                         path);
    p.board = a->board;
    p.system = a->system;
    p.method = o->method;
    p.etdump = o->etdump;
    p.pmu = o->pmu;
    if (o->etdump && o->pmu)
        return cli_usage(c, "--etdump and --pmu: one measurement at a time");
    if (o->ticks && (p.ticks = cli_amount(o->ticks)) <= 0)
        return cli_usage(c, "--ticks '%s': expected a number above 0", o->ticks);
    return tc_profile_open(c->ctx, path, &p, out);
}

static tc_status of_model(cli *c, profile_options *o, const char *path, tc_profile **out)
{
    tc_compiled *compiled;
    if (o->etdump || o->pmu || o->method)
        return cli_usage(c, "%s goes with a compiled program: tosac profile FILE.pte",
                         o->etdump ? "--etdump" : o->pmu ? "--pmu" : "--method");
    CLI_TRY(cli_asked_target(c, &o->asked, "ethos-u55-128, ethos-u85-256, cortex-m55 ..."));
    CLI_TRY(cli_compile_anyhow(c, &o->asked, path, &compiled));
    return o->estimate ? tc_profile_estimate(c->ctx, compiled, out)
                       : tc_profile_new(c->ctx, compiled, out);
}

static tc_status run_profile(cli *c, const void *record, const cli_texts *args)
{
    profile_options own = *(const profile_options *)record, *o = &own;
    tc_profile *profile;
    tc_profile_by by;
    const char *text;
    CLI_TRY(find_by(c, o->by, &by));
    if (o->config || o->mode)
        o->asked.system = cli_format("%s%s%s%s%s", o->asked.system ? o->asked.system : "",
                                     o->asked.system ? ":" : "", o->config ? o->config : "",
                                     o->mode ? "," : "", o->mode ? o->mode : "");
    CLI_TRY(has_streams(o, args->v[0]) ? of_file(c, o, args->v[0], &profile)
                                       : of_model(c, o, args->v[0], &profile));
    cli_progress_end(c);
    tc_profile_info info = tc_profile_info_default();
    tc_profile_get_info(profile, &info);
    if (!o->by && !info.knows_lines)
        by = TC_PROFILE_BY_KIND;
    if (o->overlay) {
        CLI_TRY(tc_profile_overlay(c->ctx, profile, &text));
        CLI_TRY(tc_write_file(c->ctx, o->overlay, (tc_bytes){(const uint8_t *)text, strlen(text)}));
    }
    if (o->into)
        CLI_TRY(tc_profile_into_page(c->ctx, profile, o->into));
    CLI_TRY(tc_profile_report(c->ctx, profile, by, o->top ? (size_t)o->top : SHOWN,
                              c->common.json ? TC_FORM_JSON : TC_FORM_TEXT, &text));
    fputs(text, stdout);
    return TC_OK;
}

#define AT(field) offsetof(profile_options, field)
static const cli_option options[] = {
    CLI_ROW_TARGET(profile_options, "ethos-u55-128, ethos-u65-256, ethos-u85-256, cortex-m55, ..."),
    {"--by", NULL, "WHAT", CLI_TEXT, AT(by),
     "group operations by line (of Python), module, node or kind"},
    {"--top", NULL, "N", CLI_NUMBER, AT(top), "how many rows to show, the most expensive first "
                                              "(default: 20)"},
    {"--estimate", NULL, NULL, CLI_FLAG, AT(estimate),
     "estimate operations from the TOSA operators: faster and less exact"},
    {"--etdump", NULL, "FILE", CLI_TEXT, AT(etdump),
     "FILE.pte: what ExecuTorch's runtime measured while it ran it, beside what is expected"},
    {"--pmu", NULL, "LOG", CLI_TEXT, AT(pmu),
     "what the NPU's cycle counter took, beside what is expected: a log of examples/pmu, of a program compiled with "
     "--marks"},
    {"--overlay", NULL, "FILE.json", CLI_TEXT, AT(overlay),
     "--pmu: the measured cycles by node as data for Model Explorer"},
    {"--into", NULL, "REPORT.html", CLI_TEXT, AT(into),
     "--pmu: the measured cycles into the page that compile --report wrote"},
    {"--ticks", NULL, "HZ", CLI_TEXT, AT(ticks),
     "ticks of the ETDump's clock in a second (default: 1e9; cycles of a core at 400 MHz: 400e6)"},
    {"--method", NULL, "NAME", CLI_TEXT, AT(method), "FILE.pte: the method (default: all)"},
    CLI_ROW_CALIB(profile_options,
                  "calibration data (default: random data; 16-bit values and forms may then "
                  "differ)"),
    CLI_ROWS_SETTINGS(profile_options),
    CLI_ROWS_ETHOSU(profile_options),
    {"--system-config", NULL, "NAME", CLI_TEXT, AT(config), NULL}, /* parts of --system, under */
    {"--memory-mode", NULL, "NAME", CLI_TEXT, AT(mode), NULL},     /* the names that Vela has */
    {0},
};

const cli_verb cli_profile = {
    .name = "profile",
    .arguments = "MODEL (-t TARGET | --board NAME) | FILE.pte [--etdump FILE | --pmu LOG] | FILE.tflite | FILE_vela.npz",
    .summary = "show what each line of a model costs on an Ethos-U or a Cortex-M",
    .help = "Compiles the model and counts the cycles of every operation of its command streams "
            "with a model of the machine\n"
            "fitted to measurements (doc/timing.md): the most expensive Python lines with their share, "
            "MACs and MAC utilisation, bytes read\n"
            "and written in each memory, and a hint for known reasons.  A .pte, a .tflite "
            "with 'ethos-u' operators\n"
            "or Vela's X_vela.npz is profiled directly; lines are known where a .pte was compiled with --locations.\n"
            "For a Cortex-M it counts the instructions of the C that --emit c writes, and says flash and RAM.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(profile_options),
    .run = run_profile,
};
