/* SPDX-License-Identifier: Apache-2.0 */
/* npu_device.c -- jobs one after the other: streams that were loaded are kept with their decoded
 * weights, the one that was not wanted longest goes first. */
#include "npu_device.h"

#include <stdio.h>

#include "npu_exec.h"
#include "npu_verify.h"

static const size_t most_kept = (size_t)1 << 30; /* bytes of a stream's decoded weights */

static tc_status fault(tc_npu *n, tc_npu_fault kind, int region, const char *text)
{
    n->fault = kind;
    n->region = region;
    snprintf(n->text, sizeof n->text, "%s", text);
    return TC_BAD_MODEL;
}

static void forget(tc_npu_held *h)
{
    if (h->used)
        ti_arena_free(&h->arena);
    *h = (tc_npu_held){0};
}

static void forget_all(void *npu)
{
    for (int i = 0; i < TC_NPU_HELD; i++)
        forget(&((tc_npu *)npu)->held[i]);
}

tc_status ti_npu_device_new(tc_ctx *ctx, const tc_npu_options *o, tc_npu **out)
{
    tc_npu *n = tc_new(&ctx->arena, tc_npu);
    n->ctx = ctx;
    n->machine = o->machine ? ti_npu_machine_find(o->machine) : NULL;
    if (!n->machine)
        return ti_usage(ctx, "'%s' is no Ethos-U; expected one such as ethos-u55-128",
                        o->machine ? o->machine : "");
    TC_TRY(ti_npu_system_find(ctx, n->machine, o->description, o->system_config, o->memory_mode,
                              &n->system));
    ti_ctx_defer(ctx, forget_all, n);
    *out = n;
    return TC_OK;
}

/* ---- loading ---- */

static tc_npu_held *find(tc_npu *n, tc_bytes words)
{
    for (int i = 0; i < TC_NPU_HELD; i++) {
        tc_npu_held *h = &n->held[i];
        if (h->used && h->program.words.n * 4 == words.size &&
            !memcmp(h->program.words.data, words.data, words.size))
            return h;
    }
    return NULL;
}

static tc_npu_held *oldest(tc_npu *n)
{
    tc_npu_held *h = n->held;
    for (int i = 1; i < TC_NPU_HELD; i++)
        h = n->held[i].used < h->used ? &n->held[i] : h;
    return h;
}

/* Cycles until the operations before a word are done. */
static double cycles_before(const tc_npu_stream_cost *cost, size_t word)
{
    double cycles = 0;
    for (size_t i = 0; i < cost->n_op && cost->op[i].at < word; i++)
        cycles += cost->op[i].cost.cycles;
    return cycles;
}

/* Extents and interrupts; false: a word is wrong. */
static bool scan(tc_npu *n, tc_npu_held *h)
{
    tc_npu_walk walk;
    tc_npu_op op = {0};
    size_t cap = 0;
    char text[256];
    ti_npu_walk_begin(&walk, n->machine, h->program.words);
    while (ti_npu_walk_next(&walk, &op)) {
        ti_npu_extents_add(&h->extents, &op);
        h->operations += ti_npu_is_kernel(op.kind) || op.kind == TC_NPU_KIND_DMA;
        if (op.kind != TC_NPU_KIND_IRQ)
            continue;
        tc_grow(&h->arena, h->irq, h->n_irq, cap);
        h->irq[h->n_irq++] = (tc_npu_irq){cycles_before(&h->cost, op.at), op.param};
    }
    if (!walk.error)
        return true;
    snprintf(text, sizeof text, "word %zu: %s", walk.command.at, walk.error);
    fault(n, TC_NPU_FAULT_STREAM, -1, text);
    return false;
}

static tc_status take(tc_npu *n, tc_bytes words, tc_npu_held **out)
{
    tc_npu_held *h = oldest(n);
    forget(h);
    ti_arena_init_like(&h->arena, &n->ctx->arena);
    h->used = n->loads;
    h->program = (tc_npu_program){.machine = n->machine,
                                  .id = n->machine->id,
                                  .config = n->machine->config,
                                  .words = {ti_arena_copy(&h->arena, words.data, words.size),
                                            words.size / 4}};
    const char *wrong = ti_npu_cost_stream(&h->arena, &h->program, &n->system, &h->cost);
    if (wrong)
        fault(n, TC_NPU_FAULT_STREAM, -1, wrong);
    if (wrong || !scan(n, h)) {
        forget(h);
        return TC_BAD_MODEL;
    }
    h->exec = ti_npu_exec_open(&h->arena, &h->program);
    *out = h;
    return TC_OK;
}

static tc_status below(tc_npu *n, const tc_npu_extents *e)
{
    for (int r = 0; r < TC_NPU_REGIONS; r++)
        if (e->before[r])
            return fault(n, TC_NPU_FAULT_MEMORY, r, "an address lies before its region");
    return TC_OK;
}

tc_status ti_npu_device_load(tc_npu *n, const void *words, size_t bytes, tc_npu_load_info *out)
{
    tc_bytes all = {words, bytes};
    n->fault = TC_NPU_FAULT_NONE;
    n->job = NULL;
    n->loads++;
    if (!bytes || bytes % 4)
        return fault(n, TC_NPU_FAULT_STREAM, -1, "a stream is whole words, and at least one");
    tc_npu_held *h = find(n, all);
    if (h && h->arena.used > most_kept) {
        forget(h);
        h = NULL;
    }
    if (!h)
        TC_TRY(take(n, all, &h));
    h->used = n->loads;
    TC_TRY(below(n, &h->extents));
    n->job = h;
    tc_npu_band band = ti_npu_band(&h->cost.total);
    *out = (tc_npu_load_info){.operations = h->operations,
                              .cycles = h->cost.total.cycles,
                              .cycles_low = band.low,
                              .cycles_high = band.high};
    for (int r = 0; r < TC_NPU_REGIONS; r++) {
        out->reach[r] = (uint64_t)h->extents.end[r];
        out->read[r] = h->extents.read[r];
        out->written[r] = h->extents.written[r];
        ti_npu_exec_bind(h->exec, r, (tc_npu_memory){NULL, 0});
    }
    return TC_OK;
}

static tc_status none_loaded(tc_npu *n)
{
    return ti_usage(n->ctx, "no command stream is loaded");
}

/* ---- what a machine may do otherwise ---- */

/* What the core writes before a job is not known: reads of it are no findings. */
static bool counts(const tc_npu_finding *f)
{
    return tc_npu_checks[f->check].is_error && f->check != TC_CHECK_UNWRITTEN;
}

static void first_finding(tc_npu *n, const tc_npu_findings *found, size_t *count, const char **text)
{
    for (size_t i = 0; i < found->n; i++) {
        const tc_npu_finding *f = &found->list[i];
        if (counts(f) && !(*count)++)
            snprintf(n->text, sizeof n->text, "word %zu%s%s: %s", f->at, f->operation ? ", " : "",
                     f->operation ? f->operation : "", f->text);
    }
    *text = *count ? n->text : NULL;
}

tc_status ti_npu_device_verify(tc_npu *n, size_t *count, const char **text)
{
    tc_npu_findings found;
    if (!n->job)
        return none_loaded(n);
    tc_npu_program p = n->job->program;
    const int64_t *end = n->job->extents.end;
    p.weights = (tc_bytes){NULL, (size_t)end[0]};
    p.scratch = end[1];
    p.fast = end[2];
    tc_ctx *own = tc_ctx_new(); /* findings go with it */
    if (!own)
        return TC_NO_MEMORY;
    *count = 0;
    if (setjmp(own->oom) != 0) {
        tc_ctx_free(own);
        return TC_NO_MEMORY;
    }
    own->arena.oom = own->scratch.oom = &own->oom;
    ti_npu_verify(own, &p, &found);
    first_finding(n, &found, count, text);
    tc_ctx_free(own);
    return TC_OK;
}

/* ---- running ---- */

tc_status ti_npu_device_bind(tc_npu *n, int region, void *data, uint64_t bytes)
{
    if (!n->job)
        return none_loaded(n);
    if (region < 0 || region >= TC_NPU_REGIONS || bytes > INT64_MAX || (bytes && !data))
        return ti_usage(n->ctx, "region %d: expected 0 to %d, and memory", region,
                        TC_NPU_REGIONS - 1);
    ti_npu_exec_bind(n->job->exec, region, (tc_npu_memory){data, (int64_t)bytes});
    return TC_OK;
}

tc_status ti_npu_device_run(tc_npu *n, tc_npu_run_info *out)
{
    tc_npu_op op = {0};
    *out = (tc_npu_run_info){0};
    if (!n->job)
        return none_loaded(n);
    tc_npu_exec *x = n->job->exec;
    n->job->arena.oom = n->ctx->arena.oom;
    n->fault = TC_NPU_FAULT_NONE;
    ti_npu_exec_restart(x);
    while (ti_npu_exec_step(x, &op))
        out->mask |= op.kind == TC_NPU_KIND_IRQ ? op.param : 0;
    out->at = ti_npu_exec_at(x);
    const char *error = ti_npu_exec_error(x);
    if (error) {
        int region;
        tc_npu_fault kind = ti_npu_exec_fault(x, &region);
        return fault(n, kind, region, error);
    }
    out->mask |= op.param;
    return TC_OK;
}

/* ---- meanwhile ---- */

/* Of the operation under way, the share that is done. */
static void add_share(tc_npu_progress *p, const tc_npu_cost *c, double share)
{
    p->macs += share * c->macs;
    for (int i = 0; i < TC_NPU_PORTS; i++) {
        p->read[i] += share * c->read[i];
        p->written[i] += share * c->written[i];
    }
}

tc_npu_progress ti_npu_device_progress(const tc_npu *n, double cycles)
{
    tc_npu_progress p = {0};
    const tc_npu_held *h = n->job;
    if (!h)
        return p;
    const tc_npu_stream_cost *cost = &h->cost;
    double before = 0;
    p.at = h->program.words.n * 4;
    for (size_t i = 0; i < cost->n_op; i++) {
        double own = cost->op[i].cost.cycles, share = own > 0 ? (cycles - before) / own : 1;
        if (share < 1)
            p.at = cost->op[i].at * 4;
        add_share(&p, &cost->op[i].cost, share < 0 ? 0 : share < 1 ? share : 1);
        if (share < 1)
            break;
        before += own;
    }
    for (size_t i = 0; i < h->n_irq; i++)
        if (h->irq[i].cycles <= cycles) {
            bool together = p.irqs && h->irq[i - 1].cycles >= h->irq[i].cycles;
            p.mask |= h->irq[i].mask;
            p.last_mask = (uint16_t)((together ? p.last_mask : 0) | h->irq[i].mask);
            p.irqs++;
        } else if (p.next_irq <= 0)
            p.next_irq = h->irq[i].cycles;
    return p;
}
