/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c -- tosac verify: a TOSA file before the judge, command streams before the verifier. */
#include "cli.h"

#include "../api/stream.h"
#include "../read/read.h"
#include "../target/target.h"
#include "../wire/file.h"
#include "json.h"

#include <stdio.h>

typedef struct verify_options {
    const char *target;
} verify_options;

static tc_status verify_streams(tc_ctx *ctx, const tc_common *common, const char *path,
                                tc_bytes bytes)
{
    tc_stream *stream;
    size_t n, operations;
    TC_TRY(tc_streams_read(ctx, path, bytes, &stream, &n));
    if (!n)
        return tc_usage(ctx, "%s has no command stream of an Ethos-U", path);
    TC_TRY(tc_streams_verify(ctx, stream, n, &operations));
    if (common->json) {
        tc_json_out out = {0};
        tc_json_open(&out, NULL, '{');
        tc_json_put_text(&out, "file", path);
        tc_json_put_bool(&out, "valid", true);
        tc_json_put_int(&out, "streams", (int64_t)n);
        tc_json_put_int(&out, "operations", (int64_t)operations);
        tc_json_close(&out, '}');
    } else
        printf("%s: %zu operations in %zu command stream%s for %s keep the machine's rules\n", path,
               operations, n, n == 1 ? "" : "s", stream->program.machine->name);
    return TC_OK;
}

static tc_status verify(tc_ctx *ctx, const tc_common *common, const void *record,
                        const tc_texts *args)
{
    const verify_options *o = record;
    const char *path = args->v[0];
    tc_module *module;
    tc_bytes bytes;
    if (tc_text_ends(path, ".pte") || tc_text_ends(path, ".npz")) {
        TC_TRY(tc_file_read(ctx, path, &bytes));
        if (tc_streams_in(bytes))
            return verify_streams(ctx, common, path, bytes);
    }
    TC_TRY(tc_read(ctx, path, &module));
    TC_TRY(tc_verify_tosa(ctx, module, o->target));
    size_t n = 0;
    for (size_t i = 0; i < module->n_graph; i++)
        n += module->graph[i]->n_node;
    if (common->json) {
        tc_json_out out = {0};
        tc_json_open(&out, NULL, '{');
        tc_json_put_text(&out, "file", path);
        tc_json_put_text(&out, "target", o->target);
        tc_json_put_bool(&out, "valid", true);
        tc_json_put_int(&out, "operators", (int64_t)n);
        tc_json_close(&out, '}');
    } else
        printf("%s: %zu operators keep every rule of TOSA 1.0%s%s\n", path, n,
               o->target ? " and of " : "", o->target ? o->target : "");
    return TC_OK;
}

static const tc_option options[] = {
    {"--target", "-t", "TARGET", TC_OPTION_TEXT, offsetof(verify_options, target),
     "also its profiles and extensions, TOSA-1.0+INT+int16 say"},
    {0},
};

const tc_verb tc_cli_verify = {
    .name = "verify",
    .arguments = "FILE.tosa|FILE.pte|FILE_vela.npz [-t TARGET]",
    .summary = "check every rule of TOSA 1.0, or of an Ethos-U, and say where one is broken",
    .help = "Level 8K and every ERROR_IF always; with -t also what the target's profiles and "
            "extensions allow.\n"
            "Of a .pte for Ethos-U, or Vela's own answer, the command streams: every access inside its "
            "memory,\nwritten before it is read and waited for, blocks that fit, tables that are loaded, "
            "Vela's known faults.\n"
            "Exit 0: it keeps them; 1: it does not, and everything that was found is reported.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(verify_options),
    .run = verify,
};
