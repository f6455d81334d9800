/* SPDX-License-Identifier: Apache-2.0 */
/* npu.c -- any bytes as an Ethos-U's program: the payload of its backend, Vela's archive, or the
 * driver's payload; read, written and read again, walked, shown, verified, taken apart and put
 * together again, and executed as far as a small budget goes. */
#include "answer.h"

#include "npu/cost.h"
#include "npu/npu_exec.h"
#include "npu/npu_text.h"
#include "npu/npu_verify.h"
#include "npu/npu_write.h"

enum { WORK = 1 << 21, STEPS = 4000, WORDS = 20000 };

static void walk(const tc_npu_program *p)
{
    tc_npu_walk w;
    tc_npu_op op;
    ti_npu_walk_begin(&w, p->machine, p->words);
    while (ti_npu_walk_next(&w, &op)) {
        int32_t h, width, c;
        must(ti_npu_kind_name(op.kind) && ti_npu_mode_name(op.kind, op.mode));
        if (!ti_npu_is_kernel(op.kind))
            continue;
        ti_npu_written(&op, &h, &width, &c);
        tc_npu_range r = ti_npu_map_range(&op.ofm, h, width, c);
        must(r.lo <= r.hi);
        r = ti_npu_map_range(&op.ifm, op.ifm.h, op.ifm.w, op.ifm.c);
        must(r.lo <= r.hi);
    }
    must(w.at <= p->words.n);
}

static void show(tc_ctx *ctx, const tc_npu_program *p)
{
    tc_npu_walk w;
    tc_npu_op op;
    tc_buf line;
    ti_buf_init(&line, &ctx->arena);
    ti_npu_walk_begin(&w, p->machine, p->words);
    for (int i = 0; i < STEPS && ti_npu_walk_next(&w, &op); i++) {
        line.size = 0;
        ti_npu_op_text(&line, p->machine, &op);
        must(line.size > 0);
    }
}

static void verify(tc_ctx *ctx, const tc_npu_program *p)
{
    tc_npu_findings found;
    ti_npu_verify(ctx, p, &found);
    must(found.n <= TC_NPU_FINDINGS && found.n <= found.n_error + found.n_doubt);
}

/* Some figure or other, and its parts are the whole. */
static void cost(tc_ctx *ctx, const tc_npu_program *p)
{
    static const char *const config[] = {[TC_U55] = "Ethos_U55_High_End_Embedded",
                                         [TC_U65] = "Ethos_U65_High_End",
                                         [TC_U85] = "Ethos_U85_SYS_DRAM_Mid"};
    tc_npu_system s;
    tc_npu_stream_cost c;
    double all = 0;
    must(ti_npu_system_find(ctx, p->machine, NULL, config[p->machine->product], "Shared_Sram",
                            &s) == TC_OK);
    (void)ti_npu_cost_stream(&ctx->arena, p, &s, &c);
    for (size_t i = 0; i < c.n_op; i++)
        all += c.op[i].cost.cycles;
    must(all >= 0 && all - c.total.cycles <= 1e-6 * (all + 1) &&
         c.total.cycles - all <= 1e-6 * (all + 1));
}

/* What can be written is read again as the same operations. */
static void rewrite(tc_ctx *ctx, const tc_npu_program *p)
{
    tc_npu_op *op, *back;
    tc_npu_words words;
    size_t n, n_back;
    if (p->words.n > WORDS || ti_npu_list(&ctx->arena, p->machine, p->words, false, &op, &n) ||
        ti_npu_write(&ctx->arena, p->machine, op, n, &words, NULL))
        return;
    must(!ti_npu_list(&ctx->arena, p->machine, words, false, &back, &n_back) && n_back >= n);
    for (size_t i = 0; i < n; i++)
        must(op[i].kind == back[i].kind && op[i].mode == back[i].mode &&
             op[i].target == back[i].target);
}

static void execute(tc_ctx *ctx, const tc_npu_program *p)
{
    const char *error;
    tc_npu_op op;
    tc_npu_exec *x = ti_npu_exec_new(&ctx->arena, p, &error);
    must((x != NULL) == (error == NULL));
    if (!x)
        return;
    ti_npu_exec_limit(x, WORK);
    ti_npu_exec_begin(x);
    for (int i = 0; i < STEPS && ti_npu_exec_step(x, &op); i++)
        ;
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    static const tc_loc loc = {.file = "fuzz.npz"};
    tc_npu_program p = {0}, again;
    bool archive = ti_npu_looks_like_npz(bytes);
    bool driver = !archive && bytes.size > 3 && memcmp(bytes.data, "COP", 3) == 0;
    tc_status status = archive  ? ti_npu_read_npz(ctx, "fuzz.npz", bytes, &p)
                       : driver ? ti_npu_read_driver(ctx, &loc, bytes, &p)
                                : ti_npu_read_backend(ctx, &loc, bytes, &p);
    if (!answered(ctx, status))
        return;
    tc_bytes written = ti_npu_backend_payload(&ctx->arena, &p);
    must(ti_npu_parse_backend(&ctx->arena, written, &again) == NULL);
    must(again.n_in == p.n_in && again.n_out == p.n_out && again.words.n == p.words.n);
    if (driver)
        p.scratch = 65536;
    walk(&p);
    show(ctx, &p);
    verify(ctx, &p);
    rewrite(ctx, &p);
    cost(ctx, &p);
    execute(ctx, &p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)512 << 20);
    return 0;
}
