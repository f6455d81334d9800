/* SPDX-License-Identifier: Apache-2.0 */
/* cli_boards.c -- tosac boards: what is known of boards, and where it comes from. */
#include "cli.h"

#include <stddef.h>

#include "cli_json.h"

typedef struct boards_options {
    bool none;
} boards_options;

/* ---- a list ---- */

static const char *machine_of(const char *name, double clock)
{
    if (!name)
        return "";
    return clock > 0 ? cli_format("%s at %.0f MHz", name, clock / 1e6) : name;
}

/* "SRAM 2048, DDR 32768" */
static tc_status memories_of(cli *c, const tc_board_info *b, const char **out)
{
    tc_board_memory_info m = tc_board_memory_info_default();
    *out = "";
    for (size_t i = 0; i < b->n_memory; i++) {
        CLI_TRY(tc_board_memory_at(c->ctx, b->name, i, &m));
        *out = cli_format("%s%s%s %lld", *out, i ? ", " : "", m.name, (long long)(m.bytes / 1024));
    }
    return TC_OK;
}

static tc_status print_list(cli *c)
{
    tc_board_info b = tc_board_info_default();
    bool more;
    printf("%-22s %-24s %-25s %s\n", "board", "NPU", "core", "KiB of memory");
    for (size_t i = 0;; i++) {
        const char *memories;
        CLI_TRY(tc_board_at(c->ctx, i, &more, &b));
        if (!more)
            break;
        CLI_TRY(memories_of(c, &b, &memories));
        printf("%-22s %-24s %-25s %s\n", b.name, machine_of(b.npu, b.npu_clock),
               machine_of(b.core, b.core_clock), memories);
    }
    printf("\n"
           "'tosac boards NAME' says where each figure comes from; saved as a file it is a board of "
           "your own\n"
           "(--board FILE, doc/boards.md).\n");
    return TC_OK;
}

/* ---- JSON ---- */

static tc_status json_memories(cli *c, cli_json_out *out, const char *board, size_t n)
{
    tc_board_memory_info m = tc_board_memory_info_default();
    cli_json_open(out, "memories", '[');
    for (size_t i = 0; i < n; i++) {
        CLI_TRY(tc_board_memory_at(c->ctx, board, i, &m));
        cli_json_open(out, NULL, '{');
        cli_json_put_text(out, "kind", m.kind);
        cli_json_put_text(out, "name", m.name);
        cli_json_put_int(out, "size", m.bytes);
        cli_json_put_text(out, "source", m.source);
        cli_json_close(out, '}');
    }
    cli_json_close(out, ']');
    return TC_OK;
}

static void json_clock(cli_json_out *out, const char *name, double hz)
{
    if (hz > 0)
        cli_json_put_real(out, name, hz);
    else
        cli_json_put_text(out, name, NULL);
}

/* path: the name or file by which its memories are queried. */
static tc_status json_board(cli *c, cli_json_out *out, const tc_board_info *b, const char *path)
{
    cli_json_open(out, NULL, '{');
    cli_json_put_text(out, "board", b->name);
    cli_json_put_text(out, "title", b->title);
    cli_json_put_text(out, "npu", b->npu);
    cli_json_put_bool(out, "any_size", b->any_size);
    json_clock(out, "npu_clock_hz", b->npu_clock);
    cli_json_put_text(out, "core", b->core);
    json_clock(out, "core_clock_hz", b->core_clock);
    cli_json_put_text(out, "system_config", b->system_config);
    cli_json_put_text(out, "memory_mode", b->memory_mode);
    CLI_TRY(json_memories(c, out, path, b->n_memory));
    cli_json_open(out, "sources", '{');
    cli_json_put_text(out, "npu", b->source_npu);
    cli_json_put_text(out, "clock", b->source_clock);
    cli_json_put_text(out, "system", b->source_system);
    cli_json_put_text(out, "mode", b->source_mode);
    cli_json_close(out, '}');
    cli_json_close(out, '}');
    return TC_OK;
}

static tc_status json_list(cli *c, cli_json_out *out)
{
    tc_board_info b = tc_board_info_default();
    bool more;
    for (size_t i = 0;; i++) {
        CLI_TRY(tc_board_at(c->ctx, i, &more, &b));
        if (!more)
            return TC_OK;
        CLI_TRY(json_board(c, out, &b, b.name));
    }
}

static tc_status run_boards(cli *c, const void *record, const cli_texts *args)
{
    cli_json_out out = {0};
    tc_board_info b = tc_board_info_default();
    (void)record;
    if (args->n)
        CLI_TRY(tc_board_find(c->ctx, args->v[0], &b));
    if (!c->common.json) {
        if (!args->n)
            return print_list(c);
        fputs(b.text, stdout);
        return TC_OK;
    }
    cli_json_open(&out, NULL, '[');
    CLI_TRY(args->n ? json_board(c, &out, &b, args->v[0]) : json_list(c, &out));
    cli_json_close(&out, ']');
    return TC_OK;
}

static const cli_option no_options[] = {{0}};

const cli_verb cli_boards = {
    .name = "boards",
    .arguments = "[NAME]",
    .summary = "list boards: their machines, clocks and memories, and where each fact comes from",
    .help = "NAME alone prints what --board FILE reads.\n",
    .least = 0,
    .most = 1,
    .option = no_options,
    .record = sizeof(boards_options),
    .run = run_boards,
};
