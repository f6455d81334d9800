/* SPDX-License-Identifier: Apache-2.0 */
/* time_memory.c -- how long memories take for a job: SRAM by words and requests in flight, memories
 * outside by latency, requests in flight and bandwidth. */
#include "time.h"

enum { BURST = 128 }; /* bytes of a request outside (MAXR 1: 130 B a latency, 4: 506) */

static double word_of(const tc_npu_machine *m)
{
    return m->product == TC_U55 ? 8 : 16;
}

/* Requests that may be in flight. */
static double requests_of(int32_t most)
{
    return most > 0 ? most : 1e6;
}

double ti_npu_latency(const tc_npu_machine *m, const tc_npu_system *s, int memory)
{
    return s->memory[memory].read_latency +
           (ti_is_outside(s, memory) ? m->timing->refused : 0);
}

/* Bytes outside that weights, or copies, have in flight: the buffer's, or what requests carry. */
static double flight(const tc_npu_machine *m, const tc_npu_port *p, double words, double share)
{
    double all = requests_of(p->max_reads) * BURST;
    if (m->product != TC_U85)
        return all * m->timing->flight * share;
    return words > 0 ? ti_fewest(16.0 * words * share, all) : all;
}

double ti_npu_copy_rate(const tc_npu_machine *m, const tc_npu_system *s, int from)
{
    const tc_npu_port *p = &s->memory[from];
    double latency = ti_most(ti_npu_latency(m, s, from), 1);
    if (!ti_is_outside(s, from))
        return p->bytes_per_cycle / 2;
    return ti_fewest(p->bytes_per_cycle,
                     flight(m, p, m->copy_words, m->timing->copy_share) / latency);
}

/* ---- bytes ---- */

/* Of h x w x c elements of a map, in whole words by row. */
static double bytes_of(const tc_npu_machine *m, const tc_npu_job_map *map, double h, double w,
                       double c)
{
    double word = word_of(m), wide = map->bits / 8.0;
    if (map->format == TC_NHCWB16)
        return word * h * ti_up(c, 16) * ti_up(w * 16 * wide, word);
    return word * (c >= map->c ? h * ti_up(w * c * wide, word) : h * w * ti_up(c * wide, word));
}

static bool is_scalar(const tc_npu_job_map *m)
{
    return m->h == 1 && m->w == 1 && m->c == 1;
}

typedef struct traffic {
    double read[TC_NPU_MEMORIES], written[TC_NPU_MEMORIES];
    double waits;  /* inputs from outside: requests, over how many are in flight */
    double again;  /* of those: what is read again for lack of room, and is not hidden */
    double pieces; /* requests of results that go outside */
    bool input;    /* there are any */
} traffic;

/* Requests for contiguous runs of `run` bytes each. */
static double requests(double runs, double run)
{
    return runs * ti_up(run, BURST);
}

/* A request for inputs: the shorter it is, the more of them fill the buffer; outside there may be
 * fewer. */
static void ask(const tc_npu_machine *m, const tc_npu_port *p, double runs, double run, traffic *t)
{
    const tc_npu_timing *k = m->timing;
    double under_way = requests_of(p->max_reads);
    if (m->ifm_words > 0)
        under_way = ti_fewest(under_way,
                              k->input_share * 16 * m->ifm_words / ti_fewest(ti_most(run, 16), BURST));
    else
        under_way = ti_fewest(under_way, k->input_reads);
    t->input = true;
    t->waits += requests(runs, run) / under_way;
}

/* U85 keeps inputs over the blocks of channels as far as its memory for them reaches (ad 276 -> 240:
 * 26,699 beats, 25,460 so); U55 and U65 read them again for each. */
static double again(const tc_npu_machine *m, const tc_npu_job *j, double in_h, double in_w)
{
    double depth = ti_npu_cut_of(j).depth;
    if (j->work != TC_WORK_CONV && j->work != TC_WORK_MATMUL && j->work != TC_WORK_REDUCE_SUM)
        return 1;
    if (m->product != TC_U85)
        return depth;
    double whole = in_h * in_w * ti_up(j->ifm.c, 16) * 16 * j->ifm.bits / 8;
    return 1 + (depth - 1) * ti_most(0, 1 - m->ifm_ram / whole);
}

/* Rows, or columns, that `blocks` blocks read: a window is cut into parts of at most 8, and each part
 * reads only what is under it (an average of 25 x 5 reads its input once). */
static double under_parts(double all, double blocks, int32_t taps)
{
    double windows = ti_fewest(blocks * taps, all);
    return ti_up(taps, 8) * (all - windows) + windows;
}

static void window_reads(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                         traffic *t)
{
    const tc_npu_job_map *i = &j->ifm;
    if (!i->counted)
        return;
    int32_t side = j->block.h > 0 ? j->block.h : 1;
    double times = again(m, j, j->in_h, j->in_w), wide = i->bits / 8.0,
           across = j->all_w / ti_most(j->in_w, 1), w = under_parts(j->in_w, 1, j->kw),
           rows = under_parts(j->all_h, ti_up(j->ofm.h, side), j->kh) * across * times;
    t->read[i->memory] += bytes_of(m, i, rows, w, i->c);
    if (!ti_is_outside(s, i->memory))
        return;
    bool by_channel = j->work == TC_WORK_DEPTHWISE || j->work == TC_WORK_POOL;
    double before = t->waits;
    if (i->format == TC_NHCWB16)
        ask(m, &s->memory[i->memory], rows * ti_up(i->c, 16), w * 16 * wide, t);
    else if (by_channel && j->block.depth < i->c) /* pieces of every pixel */
        ask(m, &s->memory[i->memory], rows * w * ti_up(i->c, j->block.depth), j->block.depth * wide,
            t);
    else
        ask(m, &s->memory[i->memory], rows, w * i->c * wide, t);
    if (m->product == TC_U85)
        t->again += (t->waits - before) * (1 - 1 / times);
}

/* U55 and U65 read a smaller operand again and again; from outside in whole bursts, however few of
 * their bytes are used (anti-spoofing network on silicon: 5.3 M cycles, 4.8 M so, else 1.7 M). */
static void operand_read(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                         const tc_npu_job_map *i, traffic *t)
{
    if (!i->h || !i->counted || (is_scalar(i) && m->product != TC_U85 && i->bits <= 8))
        return;
    bool repeated = m->product != TC_U85 && !is_scalar(i);
    double bytes, wide = i->bits / 8.0;
    if (repeated && (i->h < j->ofm.h || i->w < j->ofm.w || i->c < j->ofm.c)) {
        tc_npu_job_map whole = *i;
        whole.c = j->ofm.c;
        bytes = bytes_of(m, &whole, j->ofm.h, j->ofm.w, j->ofm.c);
        double burst = s->memory[i->memory].burst, run = ti_most(i->c * wide, 1);
        if (ti_is_outside(s, i->memory) && burst > run)
            bytes *= burst / run;
    } else
        bytes = bytes_of(m, i, i->h, i->w, i->c);
    t->read[i->memory] += bytes;
    if (ti_is_outside(s, i->memory))
        ask(m, &s->memory[i->memory], 1, (double)i->h * i->w * i->c * wide, t);
}

/* Results: bricks as rows, else 16 channels of a pixel at a time (single layers in DRAM, 36 pixels:
 * 5,909 cycles whatever their shape). */
static void write_map(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job_map *o,
                      traffic *t)
{
    double wide = o->bits / 8.0;
    t->written[o->memory] += bytes_of(m, o, o->h, o->w, o->c);
    if (!ti_is_outside(s, o->memory))
        return;
    t->pieces += o->format == TC_NHCWB16
                     ? requests((double)o->h * ti_up(o->c, 16), o->w * 16 * wide)
                     : (double)o->h * o->w * ti_up(o->c * wide, 16);
}

static void map_flow(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                     traffic *t)
{
    if (j->work == TC_WORK_ELEMENTWISE || j->work == TC_WORK_RESIZE)
        operand_read(m, s, j, &j->ifm, t);
    else
        window_reads(m, s, j, t);
    operand_read(m, s, j, &j->ifm2, t);
    if (j->ofm.counted)
        write_map(m, s, &j->ofm, t);
    for (int32_t i = 0; i < j->n_more; i++)
        if (j->more_written[i])
            write_map(m, s, &j->more[i], t);
        else
            operand_read(m, s, j, &j->more[i], t);
}

/* ---- SRAM ---- */

/* Beats a cycle.  U85: 8 requests of 4 beats a port, reads and writes apart (conv 96x96x8 -> 4: 14 k
 * on 512 and 10 k on 256).  U55, U65: one word a cycle for both (half the bandwidth: ad from 674 to
 * 1,108 k = 508 k beats * 2 + 92 k). */
static double sram_cycles(const tc_npu_machine *m, const tc_npu_port *p, double read,
                          double written)
{
    const tc_npu_timing *k = m->timing;
    double word = word_of(m);
    if (m->product != TC_U85)
        return (read + written) / (p->bytes_per_cycle * k->sram_share);
    double most = k->sram_most * p->bytes_per_cycle / (2 * word);
    if (p->read_latency > 0)
        most = ti_fewest(most, k->sram_reads * requests_of(p->max_reads) * 4 * p->ports /
                                   p->read_latency);
    return ti_most(read, written) / (most * word);
}

/* ---- outside ---- */

/* Weights cost latencies in series and what their buffer lets through; inputs likewise, by channels
 * of their own; all of them share the bandwidth. */
static double outside_cycles(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                             const traffic *f, int memory, tc_npu_time *part)
{
    const tc_npu_timing *k = m->timing;
    const tc_npu_port *p = &s->memory[memory];
    tc_npu_cut cut = ti_npu_cut_of(j);
    double latency = ti_npu_latency(m, s, memory), t, *lead = &part->lead;
    if (j->weight_memory == memory || (j->scale_memory == memory && j->scale_bytes > 0))
        *lead = ti_most(*lead, latency * k->weight_begin);
    if (j->weight_memory == memory)
        part->streamed = latency * k->weight_block * (cut.depth * cut.plane - 1) +
                         (j->weight_bytes + j->scale_bytes) * cut.plane * latency /
                             flight(m, p, m->weight_words, k->buffer_share);
    t = *lead + part->streamed;
    if (f->input) {
        double begin = latency * (j->work == TC_WORK_ELEMENTWISE ? 1 : k->input_begin);
        *lead = ti_most(*lead, begin + f->again * latency);
        t = ti_most(t, begin + f->waits * latency);
    }
    t = ti_most(t, f->read[memory] / p->bytes_per_cycle);
    part->ahead = ti_most(part->ahead, ti_fewest(*lead + latency, t));
    *lead += k->first * ti_most(t - *lead, 0) / (cut.depth * cut.plane);
    if (f->written[memory] > 0) { /* results go from the first block on */
        t = ti_most(t, t / (cut.depth * cut.plane) + f->pieces * p->write_latency * k->write_pulse /
                                                         requests_of(p->max_writes));
    }
    return ti_most(t, (f->read[memory] + f->written[memory]) / p->bytes_per_cycle);
}

void ti_npu_time_memory(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                        tc_npu_time *t)
{
    traffic f = {.input = false};
    double plane = ti_npu_cut_of(j).plane, word = word_of(m);
    map_flow(m, s, j, &f);
    if (j->weight_memory >= 0) /* once for every block of the plane */
        f.read[j->weight_memory] += word * ti_up(j->weight_bytes, word) * plane;
    if (j->scale_memory >= 0)
        f.read[j->scale_memory] += word * ti_up(j->scale_bytes, word) * plane;
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        if (f.read[i] + f.written[i] <= 0)
            continue;
        t->read[i] = f.read[i];
        t->written[i] = f.written[i];
        bool out = ti_is_outside(s, i);
        t->busy[i] = out ? outside_cycles(m, s, j, &f, i, t)
                         : sram_cycles(m, &s->memory[i], f.read[i], f.written[i]);
        double *to = out ? &t->outside : &t->sram;
        *to = ti_most(*to, t->busy[i]);
    }
}
