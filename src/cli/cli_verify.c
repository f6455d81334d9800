/* SPDX-License-Identifier: Apache-2.0 */
/* cli_verify.c -- tosac verify: a TOSA file against TOSA's rules, command streams against the
 * machine's. */
#include "cli.h"

#include <stddef.h>

#include "cli_firmware.h"
#include "cli_json.h"

typedef struct verify_options {
    const char *target, *board, *firmware;
    bool strict_fit;
} verify_options;

static size_t count_nodes(const tc_model *model)
{
    size_t n = 0;
    for (size_t i = 0; i < tc_model_graph_count(model); i++)
        n += tc_model_node_count(model, i);
    return n;
}

static tc_status tell_streams(cli *c, const char *path, const tc_streams_report *r)
{
    if (!r->streams) {
        tc_status status = cli_usage(c, "%s has no Ethos-U command stream", path);
        cli_note(c, "regions that are TOSA were verified as they were compiled; 'tosac compile ... -o X.tosa' "
                    "writes them as files that verify takes");
        return status;
    }
    if (c->common.json) {
        cli_json_out out = {0};
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "file", path);
        cli_json_put_bool(&out, "valid", true);
        cli_json_put_int(&out, "streams", (int64_t)r->streams);
        cli_json_put_int(&out, "operations", (int64_t)r->operations);
        cli_json_close(&out, '}');
    } else
        printf("%s: %zu operations in %zu command stream%s for %s follow the machine's rules\n",
               path,
               r->operations, r->streams, r->streams == 1 ? "" : "s", r->machine);
    return TC_OK;
}

/* Its streams, where there are some, and its results on its test vectors. */
static tc_status verify_bundle(cli *c, const char *path)
{
    tc_streams_report streams = {.size = sizeof streams};
    tc_vectors_report r = {.size = sizeof r};
    CLI_TRY(tc_verify_streams(c->ctx, path, &streams));
    CLI_TRY(tc_verify_vectors(c->ctx, path, &r));
    cli_progress_end(c);
    if (!r.holds_vectors)
        return cli_bad_file(c, path, "this is no bundled program (.bpte)");
    if (c->common.json) {
        cli_json_out out = {0};
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "file", path);
        cli_json_put_bool(&out, "valid", true);
        cli_json_put_int(&out, "streams", (int64_t)streams.streams);
        cli_json_put_int(&out, "operations", (int64_t)streams.operations);
        cli_json_put_int(&out, "vectors", (int64_t)r.vectors);
        cli_json_put_int(&out, "exact", (int64_t)r.exact);
        cli_json_close(&out, '}');
        return TC_OK;
    }
    if (streams.streams)
        CLI_TRY(tell_streams(c, path, &streams));
    printf("%s: %zu test vector%s of %zu method%s: %zu with the expected outputs bit for bit", path,
           r.vectors, r.vectors == 1 ? "" : "s", r.methods, r.methods == 1 ? "" : "s", r.exact);
    if (r.exact + r.without_outputs < r.vectors)
        printf(", %zu within ExecuTorch's tolerance for floats",
               r.vectors - r.exact - r.without_outputs);
    if (r.without_outputs)
        printf(", %zu without outputs", r.without_outputs);
    printf("\n");
    return TC_OK;
}

/* Which rules were checked: the target's, else those of the version that the file states. */
static int newer(const tc_model *model, const char *target)
{
    const char *states = tc_model_producer(model);
    return target ? strncmp(target, "TOSA-1.1", 8) == 0
                  : states && strncmp(states, "TOSA 1.1", 8) == 0;
}

/* Whether a firmware takes the file. */
static tc_status verify_firmware(cli *c, const verify_options *o, const char *path)
{
    tc_firmware_options f = tc_firmware_options_default();
    size_t faults;
    f.firmware = o->firmware;
    f.board = o->board;
    f.npu = o->target;
    CLI_TRY(cli_tell_firmware(c, path, &f, true, &faults));
    return faults && o->strict_fit ? TC_BAD_MODEL : TC_OK;
}

static tc_status run_verify(cli *c, const void *record, const cli_texts *args)
{
    const verify_options *o = record;
    const char *path = args->v[0];
    if (o->firmware)
        return verify_firmware(c, o, path);
    if (o->board || o->strict_fit)
        return cli_usage(c, "--board and --strict-fit are for --firmware");
    tc_model *model;
    tc_streams_report streams = {.size = sizeof streams};
    tc_model_options reading = tc_model_options_default();
    if (cli_ends(path, ".bpte"))
        return verify_bundle(c, path);
    if (cli_ends(path, ".pte") || cli_ends(path, ".npz") || cli_ends(path, ".bin") ||
        cli_ends(path, ".tflite"))
        CLI_TRY(tc_verify_streams(c->ctx, path, &streams));
    if (streams.holds_streams)
        return tell_streams(c, path, &streams);
    if (cli_ends(path, ".pt2") || cli_ends(path, ".onnx") || cli_ends(path, ".tflite")) {
        tc_status status =
            cli_usage(c, "%s is a model: rules are for TOSA and command streams", path);
        cli_note(c, "'tosac compile %s -t TARGET -o OUT' makes them, and verifies them itself", path);
        return status;
    }
    reading.unchecked = 1; /* all rules are checked */
    CLI_TRY(tc_model_open(c->ctx, path, &reading, &model));
    CLI_TRY(tc_verify_model(c->ctx, model, o->target));
    cli_progress_end(c);
    size_t n = count_nodes(model);
    if (c->common.json) {
        cli_json_out out = {0};
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "file", path);
        cli_json_put_text(&out, "target", o->target);
        cli_json_put_bool(&out, "valid", true);
        cli_json_put_int(&out, "operators", (int64_t)n);
        cli_json_close(&out, '}');
    } else
        printf("%s: %zu operators follow every rule of TOSA 1.%d%s%s\n", path, n,
               newer(model, o->target), o->target ? " and of " : "", o->target ? o->target : "");
    return TC_OK;
}

static const cli_option options[] = {
    {"--target", "-t", "TARGET", CLI_TEXT, offsetof(verify_options, target),
     "also check the target's profiles and extensions, such as TOSA-1.0+INT+int16; with --firmware the NPU that is there"},
    {"--firmware", NULL, "NAME,...", CLI_TEXT, offsetof(verify_options, firmware), CLI_FIRMWARE_HELP},
    {"--board", NULL, "NAME|FILE", CLI_TEXT, offsetof(verify_options, board),
     "with --firmware: the board that it is on"},
    {"--strict-fit", NULL, NULL, CLI_FLAG, offsetof(verify_options, strict_fit),
     "with --firmware: exit 1 where it does not fit"},
    {0},
};

const cli_verb cli_verify = {
    .name = "verify",
    .arguments = "FILE.tosa|FILE.pte|FILE.bpte|FILE.tflite|FILE_vela.npz [-t TARGET] [--firmware NAME --board NAME]",
    .summary = "check every rule of TOSA 1.0 and 1.1 or of an Ethos-U, or test vectors",
    .help = "Level 8K and every ERROR_IF, of the version that the file states or -t names; with -t "
            "also the target's profiles and extensions.  For "
            "an Ethos-U .pte or\n"
            "Vela's output the command streams: accesses inside their memory, no reads before "
            "writes, hazards waited for,\n"
            "blocks that fit, tables that are loaded, Vela's known defects.  A .bpte is also run on its test "
            "vectors.\n"
            "With --firmware: what a firmware that loads it asks, rule by rule, each with where that is written (--json).\n"
            "Exit 0: the file is valid; 1: it is not, and all errors are reported.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(verify_options),
    .run = run_verify,
};
