/* SPDX-License-Identifier: Apache-2.0 */
/* board.c -- a board of one's own: read, then its target and its system. */
#include "fuzz.h"

#include "board/board.h"
#include "npu/system.h"

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_board board;
    tc_npu_system system;
    const char *target;
    if (ti_board_read(ctx, "fuzz.board", bytes, &board) != TC_OK ||
        ti_board_target(ctx, &board, NULL, &target) != TC_OK || !board.npu || board.ini)
        return;
    (void)(ti_npu_system_find(ctx, ti_npu_machine_find(board.npu), NULL,
                              board.system_config ? board.system_config : "",
                              board.memory_mode ? board.memory_mode : "", &system) == TC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, 64u << 20);
    return 0;
}
