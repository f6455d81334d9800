/* SPDX-License-Identifier: Apache-2.0 */
/* cli_compile_options.h -- options that compile, explain and profile share: target, settings, and
 * command streams. */
#ifndef TOSAC_CLI_COMPILE_OPTIONS_H
#define TOSAC_CLI_COMPILE_OPTIONS_H

#include <stddef.h>

#include "cli.h"

/* A verb's record has one of these, named `asked`. */
typedef struct cli_asked {
    const char *target, *board, *config;
    cli_texts cpu, real;
    const char *system, *optimise, *rate;
    cli_texts calib;
} cli_asked;

#define CLI_FLOAT_HELP \
    "nodes, operators or modules left in float, comma-separated or given again; front-end: power spectra up to " \
    "their logarithms"

#define CLI_RATE_HELP \
    "Ethos-U: a step for each layer's weights, coarser where that costs little: fewer bytes, for at most so many " \
    "dB (0.3dB)"

/* The settings with what is left in float, and what coarser weights may lose:
 * "int8,float=front-end,rate=0.3dB". */
const char *cli_settings(const char *config, const cli_texts *real, const char *rate);

/* Rows of their tables. */
/* clang-format off */
#define CLI_ASKED(record, field) offsetof(record, asked.field)
#define CLI_ROW_TARGET(record, help) \
    {"--target", "-t", "TARGET", CLI_TEXT, CLI_ASKED(record, target), help}, \
    {"--board", NULL, "NAME|FILE", CLI_TEXT, CLI_ASKED(record, board), \
     "a board of 'tosac boards', or a file: target, system, clocks, sizes of memories"}
#define CLI_ROW_CALIB(record, help) \
    {"--calib", NULL, "DATA", CLI_TEXTS, CLI_ASKED(record, calib), help}
#define CLI_ROWS_SETTINGS(record) \
    {"--quant", "-q", "CONFIG", CLI_TEXT, CLI_ASKED(record, config), CLI_QUANT_HELP}, \
    {"--cpu", NULL, "NODES", CLI_TEXTS, CLI_ASKED(record, cpu), \
     "names or operators that stay on the CPU, comma-separated or given again"}, \
    {"--float", NULL, "NODES", CLI_TEXTS, CLI_ASKED(record, real), CLI_FLOAT_HELP}, \
    {"--rate", NULL, "DB", CLI_TEXT, CLI_ASKED(record, rate), CLI_RATE_HELP}
#define CLI_ROWS_ETHOSU(record) \
    {"--system", NULL, "NAME", CLI_TEXT, CLI_ASKED(record, system), \
     "Ethos-U: the system around it, [FILE:]CONFIG[,MODE] or MODE: clocks and memories, and what is in " \
     "which; FILE is a description of your own (doc/compile.md)"}, \
    {"--optimise", NULL, "WHAT", CLI_TEXT, CLI_ASKED(record, optimise), \
     "Ethos-U: Performance or Size (the least SRAM, and weights as --rate 0.3dB); with ,products on U55 and U65 products " \
     "of two activations as convolutions, not tried on silicon"}
/* clang-format on */

#define CLI_TARGETS_HELP "TOSA-1.0+INT, TOSA-1.0+FP, vgf, ethos-u85-256, cortex-m55, cpu, ..."

/* The target of a board, where none was given: its NPU, else its core. */
TC_MUST_USE tc_status cli_board_target(cli *c, const char *board, const char **target);

/* A board replaces -t: asked->target is then the board's, where it was not given. */
TC_MUST_USE tc_status cli_asked_target(cli *c, cli_asked *asked, const char *examples);

/* The library's record of it, with these samples. */
tc_compile_options cli_asked_options(const cli_asked *asked, tc_dataset *data);

/* Compiles the model where its ranges do not matter: without data, samples are invented. */
TC_MUST_USE tc_status cli_compile_anyhow(cli *c, const cli_asked *asked, const char *path,
                                         tc_compiled **out);

#endif
