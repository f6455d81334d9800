/* SPDX-License-Identifier: Apache-2.0 */
/* time_line.c -- a stream in time: the command parser goes on until it waits, copies follow each
 * other, kernels follow each other, and the fetches from outside of a kernel begin ahead of it
 * where it does not depend on the one before. */
#include "time_line.h"

#include "npu_text.h"

const char *ti_npu_wait_name(tc_npu_wait wait)
{
    static const char *const name[TC_WAIT_COUNT] = {
        [TC_WAIT_COMPUTE] = "multipliers", [TC_WAIT_OUTPUT] = "output stage",
        [TC_WAIT_DECODE] = "weight decoder", [TC_WAIT_SRAM] = "SRAM",
        [TC_WAIT_OUTSIDE] = "external memory", [TC_WAIT_DMA] = "DMA",
        [TC_WAIT_BEFORE] = "operation before"};
    return name[wait];
}

/* ---- one job ---- */

void ti_npu_time_job(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                     tc_npu_time *t)
{
    const tc_npu_timing *k = m->timing;
    *t = (tc_npu_time){0};
    ti_npu_time_ops(m, j, t);
    ti_npu_time_memory(m, s, j, t);
    tc_npu_cut cut = ti_npu_cut_of(j);
    t->blocks = cut.plane * cut.depth;
    const double part[] = {[TC_WAIT_COMPUTE] = t->mac, [TC_WAIT_OUTPUT] = t->out,
                           [TC_WAIT_DECODE] = t->decode, [TC_WAIT_SRAM] = t->sram};
    for (int i = 0; i <= TC_WAIT_SRAM; i++)
        if (part[i] > part[t->slowest])
            t->slowest = (tc_npu_wait)i;
    /* The second slowest of three is not hidden altogether. */
    double second = ti_most(ti_fewest(t->mac, t->out),
                            ti_fewest(ti_most(t->mac, t->out), t->sram));
    t->body = part[t->slowest] + k->soft * second;
    t->edge = k->edge * (t->out > t->mac ? t->mac : t->out) / t->blocks + k->fixed;
    for (int i = 0; i < TC_NPU_MEMORIES; i++)
        if (t->read[i] > 0 && !ti_is_outside(s, i))
            t->edge += k->sram_begin * s->memory[i].read_latency;
}

static void count(const tc_npu_machine *m, const tc_npu_job *j, const tc_npu_time *t, double cycles,
                  tc_npu_wait wait, tc_npu_cost *out)
{
    *out = (tc_npu_cost){.cycles = cycles, .macs = t->macs};
    out->compute = ti_fewest(ti_most(ti_most(t->mac, t->out), t->decode) + t->edge, cycles);
    out->waiting = cycles - out->compute;
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        out->access[i] = t->busy[i];
        out->read[i] = t->read[i];
        out->written[i] = t->written[i];
    }
    ti_npu_doubt(m, j, wait, out);
}

/* One of the operations that slices of channels are: each reads the input again. */
static tc_npu_job slice_of(const tc_npu_job *j, int32_t channels)
{
    tc_npu_job one = *j;
    double share = (double)channels / j->ofm.c;
    one.ofm.c = channels;
    one.block.depth = one.block.depth < one.ofm.c ? one.block.depth : one.ofm.c;
    one.ifm.c = j->work == TC_WORK_DEPTHWISE ? one.ofm.c : one.ifm.c;
    one.weight_bytes *= share;
    one.scale_bytes *= share;
    return one;
}

static void add(tc_npu_time *t, const tc_npu_time *one)
{
    t->mac += one->mac;
    t->out += one->out;
    t->decode += one->decode;
    t->macs += one->macs;
    t->body += one->body;
    t->edge += one->edge;
    t->outside += one->outside;
    t->lead += one->lead;
    t->ahead += one->ahead;
    t->streamed += one->streamed;
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        t->read[i] += one->read[i];
        t->written[i] += one->written[i];
        t->busy[i] += one->busy[i];
    }
}

/* Of all slices: the sum, and the share of each of those that grow. */
static void slice_times(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                        tc_npu_time *t)
{
    tc_npu_time each = {0};
    int32_t size = 0;
    *t = (tc_npu_time){0};
    for (int32_t k = 0; k < j->slices; k++) {
        int32_t now = ti_npu_slice(j->ofm.c, j->slice_depth, j->slice_more, k);
        if (now != size) {
            tc_npu_job one = slice_of(j, now);
            ti_npu_time_job(m, s, &one, &each);
        }
        size = now;
        add(t, &each);
        if (j->slice_more)
            t->part[k] = each.body + each.edge;
    }
    t->slowest = each.slowest;
}

static void times(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                  tc_npu_time *t)
{
    if (j->slices > 1)
        slice_times(m, s, j, t);
    else
        ti_npu_time_job(m, s, j, t);
}

/* All but the first slice comes while those before are computed.  They alternate between two
 * places: the copy of a slice begins when the one two before it has ended, so that two of them
 * take a copy, its latency and a slice at least. */
static double with_copies(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                          double slices, double cycles, double slack)
{
    double rate = ti_npu_copy_rate(m, s, j->copied_from),
           latency = ti_npu_latency(m, s, j->copied_from), bytes = j->weight_bytes + j->scale_bytes,
           each = m->max_dmas > 1 ? 1 : slices, /* that are not under way at a time */
           all = bytes / rate + latency * each, one = cycles / slices,
           first = ti_fewest(j->first_bytes / rate + latency, all),
           begin = ti_most(first - slack, 0), rest = ti_most(all - slack, begin),
           turn = ti_most(one, (bytes / slices / rate + latency + one) / 2);
    double in_turns = slices > 2 ? begin + 2 * one + (slices - 2) * turn : 0;
    return ti_most(ti_most(begin + cycles, rest + one), in_turns);
}

/* The same of slices that grow, one after the other. */
static double with_grown_copies(const tc_npu_machine *m, const tc_npu_system *s,
                                const tc_npu_job *j, const tc_npu_time *t, double cycles,
                                double slack)
{
    double rate = ti_npu_copy_rate(m, s, j->copied_from),
           latency = ti_npu_latency(m, s, j->copied_from), bytes = j->weight_bytes + j->scale_bytes,
           copied = -slack, end = 0, before = -slack;
    for (int32_t k = 0; k < j->slices; k++) {
        int32_t channels = ti_npu_slice(j->ofm.c, j->slice_depth, j->slice_more, k);
        bool waits = k == 0 || m->max_dmas == 1 || before > copied;
        copied = ti_most(copied, before) + channels * bytes / j->ofm.c / rate + (waits ? latency : 0);
        before = k ? end : before; /* the place of the next but one is free */
        end = ti_most(end, copied) + t->part[k] / (t->body + t->edge) * cycles;
    }
    return end;
}

tc_npu_time *ti_npu_times(tc_arena *arena, const tc_npu_machine *m, const tc_npu_system *s,
                          const tc_npu_job *j)
{
    tc_npu_time *t = tc_new(arena, tc_npu_time);
    times(m, s, j, t);
    return t;
}

void ti_npu_cost_times(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                       const tc_npu_time *t, double *slack, tc_npu_cost *out)
{
    bool copied = j->copied_from >= 0 && j->weight_memory >= 0;
    bool grown = j->slices > 1 && j->slice_more;
    double slices = j->slices > 1 ? j->slices : 1, own = t->body + t->edge,
           ahead = j->ahead ? ti_fewest(*slack, t->ahead) : 0, cycles = own;
    if (t->outside > 0)
        cycles = ti_most(own, ti_most(t->lead - ahead + t->body, t->outside - ahead) + t->edge +
                                  m->timing->stall * ti_fewest(t->body, t->streamed));
    if (copied)
        cycles = grown ? with_grown_copies(m, s, j, t, cycles, *slack)
                       : with_copies(m, s, j, slices, cycles, *slack);
    /* The next operation's copies have what this one leaves of the memory's bandwidth. */
    int from = s->of_region[0];
    double left = cycles - (t->read[from] + t->written[from]) / s->memory[from].bytes_per_cycle;
    double last = grown ? t->part[j->slices - 1] : own / slices;
    *slack = ti_fewest(last, ti_is_outside(s, from) ? ti_most(left, 0) : own);
    count(m, j, t, cycles, cycles > own ? copied ? TC_WAIT_DMA : TC_WAIT_OUTSIDE : t->slowest, out);
    if (copied) {
        double bytes = j->weight_bytes + j->scale_bytes;
        out->read[j->copied_from] += bytes;
        out->written[j->weight_memory] += bytes;
    }
}

void ti_npu_cost_job(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                     double *slack, tc_npu_cost *out)
{
    tc_npu_time t;
    times(m, s, j, &t);
    ti_npu_cost_times(m, s, j, &t, slack, out);
}

/* ---- a stream ---- */

static bool overlap(tc_npu_range a, tc_npu_range b)
{
    return a.lo < b.hi && b.lo < a.hi;
}

static tc_npu_range range_of(uint64_t at, uint64_t bytes)
{
    return (tc_npu_range){(int64_t)at, (int64_t)(at + bytes)};
}

static bool touches(const tc_npu_op *op, uint8_t region, tc_npu_range bytes)
{
    const tc_npu_map *map[] = {&op->ifm, &op->ifm2, &op->ofm};
    for (size_t i = 0; i < TC_COUNT(map); i++)
        if (map[i]->used && map[i]->region == region && map[i]->storage != TC_STORE_CHAIN &&
            overlap(ti_npu_map_range(map[i], map[i]->h, map[i]->w, map[i]->c), bytes))
            return true;
    for (int i = 0; i < op->cores && i < TC_NPU_CORES; i++)
        if (op->weights.region == region && op->weights.bytes[i] &&
            overlap(range_of(op->weights.base[i], op->weights.bytes[i]), bytes))
            return true;
    return false;
}

void ti_line_begin(tc_npu_line *l, const tc_npu_machine *m, const tc_npu_system *s, bool made)
{
    *l = (tc_npu_line){.m = m, .s = s, .made = made};
    l->now = m->timing->stream_begin * ti_npu_latency(m, s, s->of_region[0]);
}

/* A wait: at most op->param copies, or kernels, are unfinished after it. */
void ti_line_wait(tc_npu_line *l, const tc_npu_op *op)
{
    size_t n = op->param;
    if (op->kind == TC_NPU_KIND_DMA_WAIT && n < l->n_dma && n < LINE_DMAS)
        l->now = ti_most(l->now, l->dma[(l->n_dma - 1 - n) % LINE_DMAS].end);
    if (op->kind == TC_NPU_KIND_KERNEL_WAIT && n < l->n_kernel && n < LINE_KERNELS)
        l->now = ti_most(l->now, l->kernel[(l->n_kernel - 1 - n) % LINE_KERNELS].end);
}

void ti_line_dma(tc_npu_line *l, const tc_npu_op *op)
{
    const tc_npu_dma *d = &op->dma;
    const tc_npu_system *s = l->s;
    int from = s->of_region[d->src_internal ? 1 : d->src_region];
    size_t most = (size_t)l->m->max_dmas;
    if (l->n_dma >= most) /* its registers have room when an earlier one has ended */
        l->now = ti_most(l->now, l->dma[(l->n_dma - most) % LINE_DMAS].end);
    if (l->made && !d->dst_internal) /* a wait for who uses its bytes stops all that follows */
        for (size_t i = 0; i < LINE_KERNELS && i < l->n_kernel; i++)
            if (touches(&l->kernel[i].op, d->dst_region, range_of(d->dst, d->bytes)))
                l->now = ti_most(l->now, l->kernel[i].end);
    double bytes = (double)d->bytes * (double)d->rows * (double)d->planes,
           rate = ti_npu_copy_rate(l->m, s, from), begin = ti_most(l->now, l->copied);
    l->copied = begin + bytes / rate;
    l->copying = from;
    struct tc_line_dma *now = &l->dma[l->n_dma++ % LINE_DMAS];
    *now = (struct tc_line_dma){
        .end = l->copied + ti_npu_latency(l->m, s, from) *
                               (ti_is_outside(s, from) ? l->m->timing->copy_end : 1),
        .region = d->dst_internal ? UINT8_MAX : d->dst_region,
        .bytes = range_of(d->dst, d->bytes)};
    l->last = ti_most(l->last, now->end);
}

/* The copies that bring its weights, of a list without waits. */
static double copies_for(const tc_npu_line *l, const tc_npu_op *op)
{
    double end = 0;
    for (size_t i = 0; i < LINE_DMAS && i < l->n_dma; i++)
        if (l->dma[i].end > l->now &&
            (l->dma[i].region == UINT8_MAX ? op->function != 0
                                           : touches(op, l->dma[i].region, l->dma[i].bytes)))
            end = ti_most(end, l->dma[i].end);
    return end;
}

/* A copy under way and what the kernel fetches share the memory's bandwidth: what both need
 * beyond it delays both. */
static double share_outside(tc_npu_line *l, const tc_npu_time *t, double from)
{
    const tc_npu_port *p = &l->s->memory[l->copying];
    double bytes = t->read[l->copying] + t->written[l->copying], left = l->copied - from;
    if (left <= 0 || bytes <= 0 || !ti_is_outside(l->s, l->copying) || t->outside <= 0)
        return 0;
    double over = ti_npu_copy_rate(l->m, l->s, l->copying) + bytes / t->outside -
                  p->bytes_per_cycle;
    if (over <= 0)
        return 0;
    double delay = over * ti_fewest(left, t->outside) / p->bytes_per_cycle;
    for (size_t i = 0; i < LINE_DMAS && i < l->n_dma; i++) {
        l->dma[i].end += l->dma[i].end > from ? delay : 0;
        l->last = ti_most(l->last, l->dma[i].end);
    }
    l->copied += delay;
    return delay;
}

void ti_line_kernel(tc_npu_line *l, const tc_npu_op *op, const tc_npu_job *j, tc_npu_op_cost *out)
{
    tc_npu_time t;
    ti_npu_time_job(l->m, l->s, j, &t);
    size_t most = (size_t)l->m->max_kernels;
    if (l->made)
        l->now = ti_most(l->now, copies_for(l, op));
    double waited = l->now;
    if (l->n_kernel >= most) /* its registers have room when the one before the last has ended */
        l->now = ti_most(l->now, l->kernel[(l->n_kernel - most) % LINE_KERNELS].end);
    double before = l->n_kernel ? l->kernel[(l->n_kernel - 1) % LINE_KERNELS].end : 0,
           begin = ti_most(l->now, before), end = begin + t.body + t.edge, fetched = 0, alone = 0;
    if (t.outside > 0) {
        const tc_npu_timing *k = l->m->timing;
        alone = ti_most(l->now, l->fetched) + t.outside;
        double from = ti_most(j->ahead ? l->now : begin, l->fetched);
        /* Ahead are the latencies in series, and what the buffers hold. */
        from = ti_most(from, begin - t.ahead);
        l->fetched = from + t.outside + share_outside(l, &t, from);
        fetched = ti_most(from + t.lead + t.body, l->fetched) + t.edge +
                  k->stall * ti_fewest(t.body, t.streamed);
        end = ti_most(end, fetched);
    }
    tc_npu_wait wait = t.slowest;
    if (fetched >= end)
        wait = !j->ahead && alone + t.edge < begin + t.body + t.edge ? TC_WAIT_BEFORE
                                                                     : TC_WAIT_OUTSIDE;
    if (waited > before && waited - before > end - begin)
        wait = TC_WAIT_DMA;
    l->kernel[l->n_kernel++ % LINE_KERNELS] = (struct tc_line_kernel){end, *op};
    count(l->m, j, &t, end - ti_fewest(l->last_kernel, end), wait, &out->cost);
    out->wait = wait;
    l->last_kernel = end;
    l->last = ti_most(l->last, end);
}
