/* SPDX-License-Identifier: Apache-2.0 */
/* cli_inspect.c -- tosac inspect: what a file holds, as a page for people or as JSON. */
#include "cli.h"

#include <stddef.h>

typedef struct inspect_options {
    bool disassemble;
} inspect_options;

static tc_status run_inspect(cli *c, const void *record, const cli_texts *args)
{
    const inspect_options *o = record;
    const char *text = NULL;
    tc_form form = c->common.json ? TC_FORM_JSON : TC_FORM_TEXT;
    tc_status status = o->disassemble ? tc_disassemble_file(c->ctx, args->v[0], form, &text)
                                      : tc_inspect_file(c->ctx, args->v[0], form, &text);
    cli_progress_end(c);
    if (text)
        fputs(text, stdout);
    return status;
}

static const cli_option options[] = {
    {"--disassemble", NULL, NULL, CLI_FLAG, offsetof(inspect_options, disassemble),
     "disassemble the command streams of an Ethos-U .pte or of Vela's _vela.npz, one operation a "
     "line; or the SPIR-V of a .vgf"},
    {0},
};

const cli_verb cli_inspect = {
    .name = "inspect",
    .arguments = "FILE [--disassemble] [--json]",
    .summary = "show what a file holds: inputs, outputs, operators, sizes",
    .help =
        "FILE is a .pt2, .onnx, .tflite, .tosa, .vgf, .pte, .ir, .npy or .npz.  For a .pt2 it "
        "also shows unsupported operators\n"
        "with their Python lines; for a .vgf segments, resources, bindings, constants and the "
        "disassembled graphs;\n"
        "for a .pte memory, kernels, and every tensor that is passed to a delegate, with its "
        "scale.\n"
        "With --disassemble the command streams: what each operation reads and writes, its "
        "registers and, where\n"
        "the .pte was compiled with --locations, the node it comes from; of a .vgf the code of graphs and "
        "shaders.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(inspect_options),
    .run = run_inspect,
};
