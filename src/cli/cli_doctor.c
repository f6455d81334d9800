/* SPDX-License-Identifier: Apache-2.0 */
/* cli_doctor.c -- tosac doctor: the host, and which targets work.
 *
 * Every kind of target is tried: a sum of two small tensors is quantized where it must be, compiled
 * and written to memory, in a context of its own. */
#include "cli.h"

#include <unistd.h>

#include "cli_json.h"

typedef struct doctor_options {
    bool none;
} doctor_options;

/* One row of what was found. */
typedef struct finding {
    const char *what, *state; /* "ok", "fails" */
    const char *words;
} finding;

typedef struct doctor {
    cli *c;
    finding *row;
    size_t n;
    bool broken;
} doctor;

static void add(doctor *d, const char *what, const char *state, const char *words)
{
    finding *more = cli_memory(d->n + 1, sizeof *more);
    if (d->n)
        memcpy(more, d->row, d->n * sizeof *more);
    more[d->n++] = (finding){what, state, words};
    d->row = more;
    d->broken = d->broken || cli_is(state, "fails");
}

/* x + x, of eight elements. */
static const char sum[] = "graph @main(%0 \"x\": f32[1,8]) {\n"
                          "  %1 = add %0, %0 alpha=1 : f32[1,8]\n"
                          "  return %1\n"
                          "}\n";

/* Reported in one line; "" when it worked. */
static const char *try_target(const tc_target_info *t)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model;
    tc_dataset *data;
    tc_compiled *compiled;
    size_t count;
    const char *random[] = {"random:1"}, *words = "";
    tc_compile_options o = tc_compile_options_default();
    if (!ctx)
        return "out of memory";
    o.target = t->name;
    o.strict = 1;
    tc_status status = tc_dataset_open(ctx, random, 1, &data);
    if (t->integers && !t->floats)
        o.quant.samples = data;
    tc_bytes text = {(const uint8_t *)sum, sizeof sum - 1};
    if (status == TC_OK)
        status = tc_model_read(ctx, "doctor", text, NULL, &model);
    if (status == TC_OK)
        status = tc_compile(ctx, model, &o, &compiled);
    if (status == TC_OK)
        status = tc_compiled_make(ctx, compiled, t->takes_c ? TC_OUTPUT_C : TC_OUTPUT_PTE, &count);
    if (status != TC_OK) {
        words = tc_status_text(status);
        for (size_t i = 0; i < tc_diagnostic_count(ctx); i++)
            if (tc_diagnostic_at(ctx, i)->severity == TC_SEVERITY_ERROR)
                words = tc_diagnostic_at(ctx, i)->text;
        words = cli_format("%s", words);
    }
    tc_ctx_free(ctx);
    return words;
}

/* One of every kind: the first of machines that differ in size alone. */
static void try_targets(doctor *d)
{
    tc_target_info t = {.size = sizeof t};
    const char *last = "";
    cli_text good = {0};
    for (size_t i = 0; tc_target_at(i, &t); i++) {
        if (t.takes_stream && cli_is(t.title, last))
            continue;
        last = t.title;
        cli_on_progress(d->c, "targets tried", i, 16);
        const char *words = try_target(&t);
        if (*words)
            add(d, cli_format("%s", t.name), "fails", words);
        else
            cli_put(&good, "%s%s", good.n ? ", " : "", t.name);
    }
    cli_progress_end(d->c);
    add(d, "targets", good.n ? "ok" : "fails", good.n ? good.p : "none works");
}

static void print_findings(const doctor *d)
{
    bool colour = cli_in_colour(STDOUT_FILENO);
    for (size_t i = 0; i < d->n; i++) {
        const finding *f = &d->row[i];
        const char *on = cli_is(f->state, "ok") ? "\x1b[32m" : "\x1b[1;31m";
        printf("%s%-8s%s %-18s %s\n", colour ? on : "", f->state, colour ? "\x1b[0m" : "", f->what,
               f->words);
    }
}

static void json_findings(const doctor *d)
{
    cli_json_out out = {0};
    cli_json_open(&out, NULL, '{');
    cli_json_put_text(&out, "version", tc_version());
    cli_json_put_bool(&out, "healthy", !d->broken);
    cli_json_open(&out, "findings", '[');
    for (size_t i = 0; i < d->n; i++) {
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "what", d->row[i].what);
        cli_json_put_text(&out, "state", d->row[i].state);
        cli_json_put_text(&out, "words", d->row[i].words);
        cli_json_close(&out, '}');
    }
    cli_json_close(&out, ']');
    cli_json_close(&out, '}');
}

static tc_status run_doctor(cli *c, const void *record, const cli_texts *args)
{
    doctor d = {.c = c};
    tc_machine_info m = {.size = sizeof m};
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES),
         page = sysconf(_SC_PAGESIZE);
    (void)record, (void)args;
    CLI_TRY(tc_machine_look(c->ctx, &m));
    add(&d, "tosac", "ok", tc_version());
    add(&d, "machine", "ok",
        cli_format("%ld core%s, %.1f GiB, %s", cores, cores == 1 ? "" : "s",
                   (double)pages * (double)page / 0x1p30, m.instructions));
    try_targets(&d);
    (c->common.json ? json_findings : print_findings)(&d);
    return d.broken ? TC_TOOL : TC_OK;
}

static const cli_option options[] = {{0}};

const cli_verb cli_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "check which targets work on this machine",
    .help =
        "Tries every kind of target with a small program.  Exit 0: all work; 4: something "
        "fails.\n",
    .least = 0,
    .most = 0,
    .option = options,
    .record = sizeof(doctor_options),
    .run = run_doctor,
};
