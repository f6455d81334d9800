/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c -- tosac verify: a TOSA file before the judge. */
#include "cli.h"

#include "../read/read.h"
#include "../target/target.h"
#include "json.h"

#include <stdio.h>

typedef struct verify_options {
    const char *target;
} verify_options;

static tc_status verify(tc_ctx *ctx, const tc_common *common, const void *record,
                        const tc_texts *args)
{
    const verify_options *o = record;
    const char *path = args->v[0];
    tc_module *module;
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
    .arguments = "FILE.tosa [-t TARGET]",
    .summary = "check every rule of TOSA 1.0, and say where one is broken",
    .help = "Level 8K and every ERROR_IF always; with -t also what the target's profiles and "
            "extensions allow.\n"
            "Exit 0: it keeps them; 1: it does not, and everything that was found is reported.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(verify_options),
    .run = verify,
};
