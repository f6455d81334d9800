/* SPDX-License-Identifier: Apache-2.0 */
/* cli_about.c -- tosac targets, tosac ops: what there is. */
#include "cli.h"

#include <stddef.h>

#include "cli_json.h"

/* ---- targets ---- */

typedef struct targets_options {
    bool none;
} targets_options;

static const char *kind_of(const tc_target_info *t)
{
    if (!t->integers && !t->floats)
        return "ExecuTorch's kernels";
    return t->integers && t->floats ? "integers and floats" : t->integers ? "integers" : "floats";
}

static void json_target(cli_json_out *out, const tc_target_info *t)
{
    cli_json_open(out, NULL, '{');
    cli_json_put_text(out, "target", t->name);
    cli_json_put_text(out, "title", t->title);
    cli_json_put_text(out, "tosa", *t->spec ? t->spec : NULL);
    cli_json_put_bool(out, "integers", t->integers);
    cli_json_put_bool(out, "floats", t->floats);
    cli_json_put_bool(out, "takes_stream", t->takes_stream);
    cli_json_put_bool(out, "takes_c", t->takes_c);
    cli_json_close(out, '}');
}

static tc_status run_targets(cli *c, const void *record, const cli_texts *args)
{
    cli_json_out out = {0};
    tc_target_info t = {.size = sizeof t};
    (void)record, (void)args;
    if (c->common.json)
        cli_json_open(&out, NULL, '[');
    else
        printf("%-18s %-10s %-20s %s\n", "target", "is", "computes with", "takes");
    for (size_t i = 0; tc_target_at(i, &t); i++) {
        if (c->common.json)
            json_target(&out, &t);
        else
            printf("%-18s %-10s %-20s %s%s\n", t.name, t.title, kind_of(&t), t.spec,
                   t.takes_stream ? ", as a command stream" : t.takes_c ? ", as C" : "");
    }
    if (c->common.json)
        cli_json_close(&out, ']');
    else
        printf("\n"
               "TOSA's extensions follow its profiles: +int16 +int4 +bf16 +fp8e4m3 +fp8e5m2 +fft "
               "+var +cf\n"
               "+doubleround; TOSA-1.1 (draft) has +int64 +shape +mxfp too.  vgf:TOSA-1.0+INT is vgf with\n"
               "another profile.  ethos-u55-128+cortex-m55 (any Ethos-U, any Cortex-M) is for "
               "--emit c: what the\n"
               "Ethos-U does not take runs on the core, in integers.\n"
               "'tosac doctor' says which of them work on this machine.\n");
    return TC_OK;
}

static const cli_option no_options[] = {{0}};

const cli_verb cli_targets = {
    .name = "targets",
    .arguments = "",
    .summary = "list the targets",
    .least = 0,
    .most = 0,
    .option = no_options,
    .record = sizeof(targets_options),
    .run = run_targets,
};

/* ---- operators ---- */

typedef struct ops_options {
    const char *target;
} ops_options;

/* Where an operator goes on a target: to the accelerator as integers or floats, else to the CPU. */
static const char *place_of(const tc_operator_info *op, const tc_target_info *t)
{
    bool integer = op->quantized && t->integers, real = op->plain && t->floats;
    if (integer || real)
        return integer && real ? "as integers and floats" : integer ? "as integers" : "as floats";
    if (op->plain && t->integers)
        return "on integers and bools that are not quantized";
    return op->cpu ? "on the CPU" : "not at all";
}

static void json_operator(cli_json_out *out, const tc_operator_info *op, const tc_target_info *t)
{
    cli_json_open(out, NULL, '{');
    cli_json_put_text(out, "operator", op->name);
    cli_json_put_text(out, "computes", op->doc);
    cli_json_put_bool(out, "tosa", op->is_tosa);
    cli_json_put_bool(out, "quantized", op->quantized);
    cli_json_put_bool(out, "plain", op->plain);
    cli_json_put_bool(out, "cpu", op->cpu);
    if (t && !op->is_tosa)
        cli_json_put_text(out, "on_target", place_of(op, t));
    cli_json_close(out, '}');
}

static void print_operator(const tc_operator_info *op, const tc_target_info *t)
{
    if (t)
        printf("%-24s %-40s %s\n", op->name, place_of(op, t), op->doc);
    else
        printf("%-24s %-10s %-10s %-10s %s\n", op->name, op->quantized ? "yes" : "-",
               op->plain ? "yes" : "-", op->cpu ? "yes" : "-", op->doc);
}

static tc_status run_ops(cli *c, const void *record, const cli_texts *args)
{
    const ops_options *o = record;
    cli_json_out out = {0};
    tc_operator_info op = {.size = sizeof op};
    tc_target_info told = {.size = sizeof told}, *t = o->target ? &told : NULL;
    (void)args;
    if (t)
        CLI_TRY(tc_target_find(c->ctx, o->target, t));
    if (c->common.json)
        cli_json_open(&out, NULL, '[');
    else if (t)
        printf("%-24s %-40s %s\n", "operator", o->target, "computes");
    else
        printf("%-24s %-10s %-10s %-10s %s\n", "operator", "quantized", "plain", "CPU", "computes");
    for (size_t i = 0; tc_operator_at(i, &op); i++) {
        if (c->common.json)
            json_operator(&out, &op, t);
        else if (!op.is_tosa)
            print_operator(&op, t);
    }
    if (c->common.json)
        cli_json_close(&out, ']');
    else
        printf("\n"
               "It also depends on types and shapes: 'tosac explain MODEL -t %s' shows it for a "
               "model.\n",
               t ? o->target : "TARGET");
    return TC_OK;
}

static const cli_option ops_table[] = {
    {"--target", "-t", "TARGET", CLI_TEXT, offsetof(ops_options, target),
     "where each operator runs on this target"},
    {0},
};

const cli_verb cli_ops = {
    .name = "ops",
    .arguments = "[-t TARGET]",
    .summary = "list the supported operators and where they can run",
    .help = "quantized: has a TOSA form on quantized values; plain: on floats, integers and "
            "bools; CPU: ExecuTorch has a\n"
            "kernel for it.  --json also lists TOSA's operators.\n",
    .least = 0,
    .most = 0,
    .option = ops_table,
    .record = sizeof(ops_options),
    .run = run_ops,
};
