/* SPDX-License-Identifier: Apache-2.0 */
/* cli_compile_options.c -- see cli_compile_options.h. */
#include "cli_compile_options.h"

#include <stdlib.h>

/* "Size", "Size,products", "products". */
static void read_optimise(const char *text, tc_compile_ethosu *out)
{
    static const char products[] = "products";
    if (!text)
        return;
    size_t n = strlen(text), m = sizeof products - 1;
    out->u55_products = cli_ends(text, products) && (n == m || text[n - m - 1] == ',');
    size_t rest = !out->u55_products ? n : n == m ? 0 : n - m - 1;
    out->optimise = rest ? cli_format("%.*s", (int)rest, text) : NULL;
}

const char *cli_settings(const char *config, const cli_texts *real, const char *rate)
{
    cli_texts names = {0};
    for (size_t i = 0; i < real->n; i++)
        cli_add_names(&names, real->v[i]);
    for (size_t i = 0; i < names.n; i++)
        config = cli_format("%s,float=%s", config ? config : "int8", names.v[i]);
    if (rate)
        config = cli_format("%s,rate=%s%s", config ? config : "int8", rate,
                            cli_ends(rate, "dB") ? "" : "dB");
    return config;
}

tc_compile_options cli_asked_options(const cli_asked *asked, tc_dataset *data)
{
    tc_compile_options r = tc_compile_options_default();
    cli_texts cpu = {0};
    for (size_t i = 0; i < asked->cpu.n; i++)
        cli_add_names(&cpu, asked->cpu.v[i]);
    r.target = asked->target;
    r.board = asked->board;
    r.quant.config = cli_settings(asked->config, &asked->real, asked->rate);
    r.quant.samples = data;
    r.cpu = cpu.v;
    r.n_cpu = cpu.n;
    r.ethosu.system = asked->system;
    read_optimise(asked->optimise, &r.ethosu);
    return r;
}

tc_status cli_board_target(cli *c, const char *name, const char **target)
{
    tc_board_info board = tc_board_info_default();
    CLI_TRY(tc_board_find(c->ctx, name, &board));
    if (!*target)
        *target = board.npu ? board.npu : board.core;
    return TC_OK;
}

tc_status cli_asked_target(cli *c, cli_asked *asked, const char *examples)
{
    if (asked->board)
        CLI_TRY(cli_board_target(c, asked->board, &asked->target));
    return asked->target ? tc_target_check(c->ctx, asked->target)
                         : cli_usage(c, "-t TARGET is missing: %s", examples);
}

tc_status cli_compile_anyhow(cli *c, const cli_asked *asked, const char *path, tc_compiled **out)
{
    cli_texts files = asked->calib;
    tc_dataset *data;
    tc_model *model;
    if (!files.n)
        cli_add(&files, "random:1");
    CLI_TRY(tc_model_open(c->ctx, path, NULL, &model));
    CLI_TRY(cli_data(c, &files, false, &data));
    tc_compile_options r = cli_asked_options(asked, data);
    r.quant.only_if_needed = !asked->calib.n;
    r.no_execute = true; /* nothing is written */
    CLI_TRY(tc_compile(c->ctx, model, &r, out));
    cli_progress_end(c);
    return TC_OK;
}
