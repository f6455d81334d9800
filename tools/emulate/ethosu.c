/*
 * Arm Ethos-U NPU: registers, command queue, interrupt, counters; and the timing adapters of a
 * Corstone-300.  What a command stream computes, and how many cycles it is expected to take, comes
 * from libtosac (tosac/npu.h), opened when the device is made.
 *
 * One source for two uses: with ETHOSU_PLUGIN an object that a stock QEMU loads by -plugin, without
 * it a file of QEMU's tree.
 *
 * Properties: model      "ethos-u55-128" and so on
 *             library    libtosac.so
 *             system, memory-mode   names of a system and of a memory mode for the estimate
 *             clock-frequency       Hz, of the NPU in the guest's time
 *             base, irq  where the registers are, and the interrupt
 *             tcm        whether it reaches the core's tightly coupled memories
 *             report     one line on stderr for every job
 *             verify     tells what the machine could do otherwise: missing waits, blocks that do not fit
 *             cache      tells what a data cache of the core would spoil (cache.h); as a plugin
 *
 * Not modelled: cycles without a job, a register block that refuses accesses.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <dlfcn.h>
#include <math.h>
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "exec/address-spaces.h"
#include "hw/core/cpu.h"
#include "sysemu/reset.h"
#ifdef ETHOSU_PLUGIN
#include "qemu/qemu-plugin.h"
#endif
#include "tosac/npu.h"
#include "cache.h"

#define TYPE_ETHOSU "arm-ethos-u"
OBJECT_DECLARE_SIMPLE_TYPE(EthosU, ETHOSU)

enum {
    R_ID = 0x00, R_STATUS = 0x04, R_CMD = 0x08, R_RESET = 0x0c, R_QBASE = 0x10, R_QBASE_HI = 0x14,
    R_QREAD = 0x18, R_QCONFIG = 0x1c, R_QSIZE = 0x20, R_PROT = 0x24, R_CONFIG = 0x28,
    R_REGIONCFG = 0x3c, R_BASEP = 0x80, R_BASEP_END = 0xc0,
    /* From the beginning of the counters, which are elsewhere on a U85. */
    P_CR = 0x00, P_CNTENSET = 0x04, P_CNTENCLR = 0x08, P_OVSSET = 0x0c, P_OVSCLR = 0x10,
    P_INTSET = 0x14, P_INTCLR = 0x18, P_CCNTR = 0x20, P_CCNTR_HI = 0x24, P_CCNTR_CFG = 0x28,
    P_EVCNTR = 0x180, P_EVTYPER = 0x200, P_END = 0x280,
    SIZE = 0x2000, MAX_COUNTERS = 8,
    /* Timing adapters: two of 0x200 bytes, one behind each port. */
    TA_AT = 0x1000, TA_SIZE = 0x400, TA_VERSION = 0x38, TA_IS = 0x1117,
    RESET_NS = 1000
};

enum { /* STATUS */
    ST_RUNNING = 1 << 0, ST_IRQ = 1 << 1, ST_BUS = 1 << 2, ST_PARSE = 1 << 4, ST_END = 1 << 5,
    ST_PMU_IRQ = 1 << 6, ST_RESET = 1 << 3, ST_CHANNEL = 12, ST_HISTORY = 16, ST_FAULTS = ST_BUS | ST_PARSE
};
enum { CMD_RUN = 1, CMD_CLEAR_IRQ = 2, CMD_KEPT = 0xc };
enum { CH_CMD = 0, CH_IFM = 1, CH_WEIGHTS = 2, CH_OFM = 4 };
#define CYCLE_COUNTER (1u << 31)

struct EthosU {
    DeviceState parent_obj;
    MemoryRegion iomem;
    QEMUTimer *timer;
    qemu_irq irq;
    char *model_name, *library, *system, *mode;
    uint32_t clock;
    bool tcm, report, verify, cache;
    uint32_t base, line;

    tc_ctx *ctx;
    tc_npu *npu;
#define CALLS(X) \
    X(tc_ctx_new) X(tc_diagnostics) X(tc_npu_new) X(tc_npu_get_info) X(tc_npu_get_fault) X(tc_npu_load) \
    X(tc_npu_verify) X(tc_npu_bind) X(tc_npu_run) X(tc_npu_get_progress)
#define CALL(name) __typeof__(name) *name;
    struct {
        CALLS(CALL)
    } call;

    uint32_t id, config, status, cmd, prot, qread, qsize;
    uint64_t qbase, basep[TC_NPU_BASES];
    uint32_t plain[SIZE / 4]; /* registers that only keep what is written */
    uint32_t pmcr, enabled, overflow, pm_irq, ccfg, type[MAX_COUNTERS];
    uint64_t cycles;
    uint32_t count[MAX_COUNTERS];

    MemoryRegion adapters, maintenance;
    uint32_t adapter[TA_SIZE / 4];
    int64_t reset_until;

    uint8_t *stream; /* of the job that runs; NULL: none does */
    uint32_t stream_bytes;
    int64_t started;         /* ns */
    tc_npu_load_info job;
    tc_npu_progress counted; /* what the counters have of it, */
    double counted_cycles;   /* until this cycle */
    int64_t jobs;
};

static bool is_u85(const EthosU *s) { return s->config >> 28 == 2; }
static hwaddr counters_at(const EthosU *s) { return is_u85(s) ? 0x1180 : 0x180; }
static int n_counters(const EthosU *s) { return is_u85(s) ? 8 : 4; }

static void update_irq(EthosU *s) { qemu_set_irq(s->irq, !!(s->status & (ST_IRQ | ST_PMU_IRQ))); }

static void drop_job(EthosU *s)
{
    timer_del(s->timer);
    g_free(s->stream);
    s->stream = NULL;
}

static void soft_reset(EthosU *s, uint32_t prot)
{
    drop_job(s);
    s->prot = prot & 3;
    s->status = s->qread = s->qsize = s->cmd = 0;
    s->qbase = s->cycles = 0;
    s->pmcr = s->enabled = s->overflow = s->pm_irq = s->ccfg = 0;
    memset(s->basep, 0, sizeof s->basep);
    memset(s->plain, 0, sizeof s->plain);
    memset(s->count, 0, sizeof s->count);
    memset(s->type, 0, sizeof s->type);
    s->cmd = CMD_KEPT; /* clock and power may be taken away */
    update_irq(s);
}

/* ---- the queue ---- */

static MemTxAttrs attrs_of(const EthosU *s)
{
    return (MemTxAttrs){.secure = !(s->prot & 2), .user = !(s->prot & 1)};
}

/* Memory as the core sees it. */
static AddressSpace *memory_of(const EthosU *s)
{
    return cpu_get_address_space(first_cpu, cpu_asidx_from_attrs(first_cpu, attrs_of(s)));
}

/* Both views of the tightly coupled memories, which lie behind the core. */
static bool out_of_reach(const EthosU *s, uint64_t addr)
{
    return !s->tcm && ((addr & 0xef000000) == 0 || (addr & 0xef000000) == 0x20000000);
}

/* The guest's bytes; NULL where not all of them are memory that this security level reaches.  A
 * device, or nothing at all, would be mapped as a copy. */
static void *map_memory(EthosU *s, uint64_t addr, hwaddr bytes, bool write)
{
    AddressSpace *as = memory_of(s);
    hwaddr inside, length = 1;
    if (out_of_reach(s, addr)) {
        return NULL;
    }
    WITH_RCU_READ_LOCK_GUARD() {
        MemoryRegion *mr = address_space_translate(as, addr, &inside, &length, write, attrs_of(s));
        if (!memory_access_is_direct(mr, write)) {
            return NULL;
        }
    }
    length = bytes;
    void *data = address_space_map(as, addr, &length, write, attrs_of(s));
    if (data && length < bytes) {
        address_space_unmap(as, data, length, write, 0);
        return NULL;
    }
    return data;
}

static void stop(EthosU *s, uint32_t status, const char *why)
{
    if (why) {
        qemu_log_mask(LOG_GUEST_ERROR, "ethos-u: %s\n", why);
        if (s->report) {
            error_report("ethos-u: %s", why);
        }
    }
    s->status = (s->status & ~(ST_RUNNING | 0xf000)) | status | ST_IRQ;
    drop_job(s);
    update_irq(s);
}

static void bus_fault(EthosU *s, int channel, int region, uint64_t addr, uint64_t bytes)
{
    g_autofree char *what = region < 0 ? g_strdup("the stream") : g_strdup_printf("region %d", region);
    g_autofree char *why = g_strdup_printf("%s: no memory for an NPU that is %s at 0x%" PRIx64 ", %" PRIu64 " bytes",
                                           what, s->prot & 2 ? "non-secure" : "secure", addr, bytes);
    stop(s, ST_BUS | channel << ST_CHANNEL, why);
}

/* ---- counters: they follow the job as it is expected to go ---- */

static double cycles_so_far(const EthosU *s)
{
    double cycles = (qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - s->started) * 1e-9 * s->clock;
    return cycles < s->job.cycles ? cycles : s->job.cycles;
}

static double event_of(const EthosU *s, uint32_t type, double cycles, const tc_npu_progress *p)
{
    int macs = 1 << (s->config & 15), beat = s->config >> 28 ? 16 : 8;
    switch (type) {
    case 17: case 35: return floor(cycles); /* CYCLE, NPU_ACTIVE */
    case 48: return floor(p->macs / macs);  /* MAC_ACTIVE, at least */
    case 130: return floor(p->read[0] / beat);
    case 135: return floor(p->written[0] / beat);
    case 386: return floor(p->read[1] / beat);
    case 391: return floor(p->written[1] / beat);
    default: return 0;
    }
}

static void overflow(EthosU *s, uint32_t bit)
{
    s->overflow |= bit;
    if (s->pm_irq & bit) {
        s->status |= ST_PMU_IRQ;
    }
}

/* Counters, QREAD and the history of interrupts up to a cycle of the job, at most one interrupt ahead. */
static void count_step(EthosU *s, double cycles)
{
    tc_npu_progress p = tc_npu_progress_default();
    s->call.tc_npu_get_progress(s->npu, cycles, &p);
    if (s->pmcr & 1 && s->enabled & CYCLE_COUNTER) {
        uint64_t to = s->cycles + (uint64_t)(floor(cycles) - floor(s->counted_cycles));
        s->cycles = to & 0xffffffffffff;
        if (to >> 48) {
            overflow(s, CYCLE_COUNTER);
        }
    }
    for (int i = 0; s->pmcr & 1 && i < n_counters(s); i++) {
        if (s->enabled & 1u << i) {
            uint64_t to = s->count[i] + (uint64_t)(event_of(s, s->type[i], cycles, &p) -
                                                   event_of(s, s->type[i], s->counted_cycles, &s->counted));
            s->count[i] = (uint32_t)to;
            if (to >> 32) {
                overflow(s, 1u << i);
            }
        }
    }
    if (p.irqs > s->counted.irqs) {
        s->status |= (uint32_t)p.last_mask << ST_HISTORY | ST_IRQ;
    }
    s->qread = p.at;
    s->counted = p;
    s->counted_cycles = cycles;
    update_irq(s);
}

static void count_to(EthosU *s, double cycles)
{
    while (s->counted.next_irq > 0 && s->counted.next_irq < cycles) {
        count_step(s, s->counted.next_irq);
    }
    count_step(s, cycles);
}

static void catch_up(EthosU *s)
{
    if (s->stream && cycles_so_far(s) > s->counted_cycles) {
        count_to(s, cycles_so_far(s));
    }
}

/* Cycles until the counters or a command next raise an interrupt, at the latest the end. */
static double next_event(EthosU *s)
{
    double to = s->counted.next_irq > s->counted_cycles ? s->counted.next_irq : s->job.cycles;
    if (s->pmcr & 1 && s->enabled & s->pm_irq & CYCLE_COUNTER) {
        double left = (double)(0x1000000000000 - s->cycles);
        to = MIN(to, floor(s->counted_cycles) + left);
    }
    for (int i = 0; s->pmcr & 1 && i < n_counters(s); i++) {
        if (s->enabled & s->pm_irq & 1u << i) {
            tc_npu_progress p = tc_npu_progress_default();
            double low = s->counted_cycles, high = to;
            double wanted = event_of(s, s->type[i], low, &s->counted) + (0x100000000 - s->count[i]);
            s->call.tc_npu_get_progress(s->npu, high, &p);
            while (event_of(s, s->type[i], high, &p) >= wanted && high - low > 1) {
                double middle = (low + high) / 2;
                s->call.tc_npu_get_progress(s->npu, middle, &p);
                if (event_of(s, s->type[i], middle, &p) >= wanted) {
                    high = middle;
                } else {
                    low = middle;
                    s->call.tc_npu_get_progress(s->npu, high, &p);
                }
            }
            to = MIN(to, high);
        }
    }
    return to;
}

static void arm_timer(EthosU *s)
{
    timer_mod(s->timer, s->started + (int64_t)(next_event(s) * 1e9 / s->clock) + 1);
}

/* ---- a job ---- */

/* A fault of the library's, as the machine tells it. */
static void stop_by_fault(EthosU *s)
{
    tc_npu_fault_info f = tc_npu_fault_info_default();
    s->call.tc_npu_get_fault(s->npu, &f);
    if (f.fault == TC_NPU_FAULT_MEMORY) {
        stop(s, ST_BUS | (s->job.written[f.region] ? CH_OFM : CH_IFM) << ST_CHANNEL, f.text);
    } else {
        stop(s, ST_PARSE, f.text ? f.text : "no memory left on the host");
    }
}

static bool read_stream(EthosU *s)
{
    hwaddr length = s->stream_bytes;
    void *words = length && length <= (64u << 20) ? map_memory(s, s->qbase, length, false) : NULL;
    if (words) {
        memcpy(s->stream, words, length);
        address_space_unmap(memory_of(s), words, length, false, length);
    }
    return words;
}

static void tell_findings(EthosU *s)
{
    const char *text = NULL;
    size_t n = 0;
    if (s->verify && s->call.tc_npu_verify(s->npu, &n, &text) == TC_OK && n) {
        error_report("ethos-u: %s (%zu findings)", text, n);
    }
}

/* ---- the core's cache ---- */

static void tell_cache(const char *what, uint64_t address)
{
    error_report("ethos-u: cache: %s, 0x%" PRIx64, what, address);
}

static void tell_dirty(const char *what, uint64_t address, uint64_t bytes)
{
    uint64_t first = 0;
    size_t n = cache_is_on() ? cache_dirty(address, bytes, &first) : 0;
    if (n) {
        error_report("ethos-u: cache: %s: %zu lines from 0x%" PRIx64 " are written by the core and not cleaned", what, n, first);
    }
}

/* Of the job's regions and its stream. */
static void tell_all_dirty(const EthosU *s)
{
    tell_dirty("the stream", s->qbase, s->stream_bytes);
    for (int r = 0; r < TC_NPU_BASES; r++) {
        g_autofree char *what = g_strdup_printf("region %d", r);
        tell_dirty(what, s->basep[r], s->job.reach[r]);
    }
}

/* Lines that differ from their copy. */
static void note_changes(uint64_t address, const uint8_t *now, const uint8_t *before, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes;) {
        uint64_t n = MIN(bytes - at, CACHE_LINE - (address + at) % CACHE_LINE);
        if (memcmp(now + at, before + at, n) != 0) {
            cache_changed(address + at, n);
        }
        at += n;
    }
}

static uint64_t maintenance_read(void *opaque, hwaddr a, unsigned size)
{
    return 0;
}

static void maintenance_write(void *opaque, hwaddr a, uint64_t v, unsigned size)
{
    cache_maintain(a, v);
}

static const MemoryRegionOps maintenance_ops = {
    .read = maintenance_read, .write = maintenance_write, .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 4, .max_access_size = 4},
};

static void begin_job(EthosU *s)
{
    s->status = (s->status & ~ST_END) | ST_RUNNING;
    s->qread = 0;
    s->stream_bytes = s->qsize & ~3u;
    s->stream = g_malloc(s->stream_bytes + 4);
    s->job = tc_npu_load_info_default();
    if (!read_stream(s)) {
        bus_fault(s, CH_CMD, -1, s->qbase, s->stream_bytes);
        return;
    }
    if (s->call.tc_npu_load(s->npu, s->stream, s->stream_bytes, &s->job) != TC_OK) {
        stop_by_fault(s);
        return;
    }
    tell_findings(s);
    tell_all_dirty(s);
    s->started = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    s->counted = tc_npu_progress_default();
    s->counted_cycles = 0;
    s->call.tc_npu_get_progress(s->npu, 0, &s->counted);
    arm_timer(s);
}

/* The regions' memory in the guest; the first that has none, or -1. */
static int map_regions(EthosU *s, uint8_t *data[])
{
    for (int r = 0; r < TC_NPU_BASES; r++) {
        if (!s->job.reach[r]) {
            continue;
        }
        data[r] = map_memory(s, s->basep[r], s->job.reach[r], s->job.written[r]);
        if (!data[r] || s->call.tc_npu_bind(s->npu, r, data[r], s->job.reach[r]) != TC_OK) {
            return r;
        }
    }
    return -1;
}

static void report_job(EthosU *s, int64_t us)
{
    s->jobs++;
    if (s->report) {
        fprintf(stderr, "ethos-u: job %" PRId64 ": %zu operations, %.0f cycles, %" PRId64 " us on the host\n",
                s->jobs, s->job.operations, s->job.cycles, us);
    }
}

static void end_job(EthosU *s)
{
    uint8_t *data[TC_NPU_BASES] = {0}, *before[TC_NPU_BASES] = {0};
    tc_npu_run_info ran = tc_npu_run_info_default();
    tc_status status = TC_OK;
    int bad = map_regions(s, data);
    for (int r = 0; cache_is_on() && bad < 0 && r < TC_NPU_BASES; r++) {
        before[r] = data[r] && s->job.written[r] ? g_memdup2(data[r], s->job.reach[r]) : NULL;
    }
    if (bad < 0) {
        int64_t start = g_get_monotonic_time();
        status = s->call.tc_npu_run(s->npu, &ran);
        report_job(s, g_get_monotonic_time() - start);
    }
    for (int r = 0; r < TC_NPU_BASES; r++) {
        if (before[r]) {
            note_changes(s->basep[r], data[r], before[r], s->job.reach[r]);
            g_free(before[r]);
        }
        if (data[r]) {
            address_space_unmap(memory_of(s), data[r], s->job.reach[r], s->job.written[r],
                                bad < 0 ? s->job.reach[r] : 0);
        }
    }
    if (bad >= 0) {
        bus_fault(s, s->job.written[bad] ? CH_OFM : CH_IFM, bad, s->basep[bad], s->job.reach[bad]);
        return;
    }
    s->qread = ran.at;
    if (status != TC_OK) {
        stop_by_fault(s);
        return;
    }
    s->status |= (uint32_t)ran.mask << ST_HISTORY;
    stop(s, ST_END, NULL);
}

static void on_timer(void *opaque)
{
    EthosU *s = opaque;
    double cycles = cycles_so_far(s);
    if (!s->stream) {
        return;
    }
    count_to(s, cycles);
    if (cycles >= s->job.cycles) {
        end_job(s);
    } else {
        arm_timer(s);
    }
}

/* ---- registers ---- */

static void command(EthosU *s, uint32_t v)
{
    s->cmd = v & CMD_KEPT;
    s->status &= ~(v & 0xffff0000);
    if (v & CMD_CLEAR_IRQ) {
        s->status &= ~(ST_IRQ | ST_PMU_IRQ);
        update_irq(s);
    }
    if (v & CMD_RUN && !(s->status & (ST_RUNNING | ST_FAULTS))) {
        begin_job(s);
    }
}

static uint32_t read_counter(EthosU *s, hwaddr p)
{
    if (p >= P_EVCNTR && p < P_EVCNTR + 4u * n_counters(s)) {
        return s->count[(p - P_EVCNTR) / 4];
    }
    if (p >= P_EVTYPER && p < P_EVTYPER + 4u * n_counters(s)) {
        return s->type[(p - P_EVTYPER) / 4];
    }
    switch (p) {
    case P_CR: return s->pmcr | n_counters(s) << 11;
    case P_CNTENSET: case P_CNTENCLR: return s->enabled;
    case P_OVSSET: case P_OVSCLR: return s->overflow;
    case P_INTSET: case P_INTCLR: return s->pm_irq;
    case P_CCNTR: return s->cycles;
    case P_CCNTR_HI: return s->cycles >> 32;
    case P_CCNTR_CFG: return s->ccfg;
    default: return 0;
    }
}

static void write_counter(EthosU *s, hwaddr p, uint32_t v)
{
    if (p >= P_EVCNTR && p < P_EVCNTR + 4u * n_counters(s)) {
        s->count[(p - P_EVCNTR) / 4] = v;
    } else if (p >= P_EVTYPER && p < P_EVTYPER + 4u * n_counters(s)) {
        s->type[(p - P_EVTYPER) / 4] = v & 0x3ff;
    }
    switch (p) {
    case P_CR:
        s->pmcr = v & 9;
        if (v & 2) {
            memset(s->count, 0, sizeof s->count);
        }
        if (v & 4) {
            s->cycles = 0;
        }
        break;
    case P_CNTENSET: s->enabled |= v; break;
    case P_CNTENCLR: s->enabled &= ~v; break;
    case P_OVSSET: s->overflow |= v; break;
    case P_OVSCLR: s->overflow &= ~v; break;
    case P_INTSET: s->pm_irq |= v; break;
    case P_INTCLR: s->pm_irq &= ~v; break;
    case P_CCNTR: s->cycles = deposit64(s->cycles, 0, 32, v); break;
    case P_CCNTR_HI: s->cycles = deposit64(s->cycles, 32, 16, v); break;
    case P_CCNTR_CFG: s->ccfg = v; break;
    }
}

static uint64_t ethosu_read(void *opaque, hwaddr a, unsigned size)
{
    EthosU *s = opaque;
    catch_up(s);
    if (a >= counters_at(s) && a < counters_at(s) + P_END && (a - counters_at(s) < 0x30 || a - counters_at(s) >= P_EVCNTR)) {
        return read_counter(s, a - counters_at(s));
    }
    if (a >= R_BASEP && a < R_BASEP_END) {
        return s->basep[(a - R_BASEP) / 8] >> (a & 4 ? 32 : 0) & 0xffffffff;
    }
    switch (a) {
    case R_ID: return s->id;
    case R_STATUS: return s->status | (qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) < s->reset_until ? ST_RESET : 0);
    case R_CMD: return s->cmd;
    case R_RESET: return 0;
    case R_QBASE: return s->qbase & 0xffffffff;
    case R_QBASE_HI: return s->qbase >> 32;
    case R_QREAD: return s->qread;
    case R_QSIZE: return s->qsize;
    case R_PROT: return s->prot;
    case R_CONFIG: return s->config;
    default: return s->plain[a / 4];
    }
}

/* No more privilege and no more security than the access has. */
static void reset_by(EthosU *s, uint32_t wanted, MemTxAttrs by)
{
    soft_reset(s, (wanted & !by.user) | (wanted & 2) | (by.secure ? 0 : 2));
    s->reset_until = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + RESET_NS;
}

static void write_register(EthosU *s, hwaddr a, uint64_t v, MemTxAttrs by)
{
    bool running = s->status & ST_RUNNING;
    catch_up(s);
    if (a >= counters_at(s) && a < counters_at(s) + P_END && (a - counters_at(s) < 0x30 || a - counters_at(s) >= P_EVCNTR)) {
        write_counter(s, a - counters_at(s), v);
        if (s->stream) {
            arm_timer(s);
        }
        return;
    }
    if (a >= R_BASEP && a < R_BASEP_END) {
        uint64_t *b = &s->basep[(a - R_BASEP) / 8];
        *b = deposit64(*b, a & 4 ? 32 : 0, 32, v);
        return;
    }
    switch (a) {
    case R_CMD: command(s, v); break;
    case R_RESET: reset_by(s, v, by); break;
    case R_QBASE:
    case R_QBASE_HI:
        s->qbase = deposit64(s->qbase, a & 4 ? 32 : 0, 32, v);
        s->status &= running ? ~0u : ~ST_END;
        break;
    case R_QSIZE:
        s->qsize = v;
        s->status &= running ? ~0u : ~ST_END;
        break;
    case R_ID: case R_STATUS: case R_QREAD: case R_PROT: case R_CONFIG: break; /* read only */
    default: s->plain[a / 4] = v;
    }
}

static MemTxResult ethosu_write(void *opaque, hwaddr a, uint64_t v, unsigned size, MemTxAttrs by)
{
    write_register(opaque, a, v, by);
    return MEMTX_OK;
}

static MemTxResult ethosu_read_attrs(void *opaque, hwaddr a, uint64_t *v, unsigned size, MemTxAttrs by)
{
    *v = ethosu_read(opaque, a, size);
    return MEMTX_OK;
}

static const MemoryRegionOps ethosu_ops = {
    .read_with_attrs = ethosu_read_attrs, .write_with_attrs = ethosu_write, .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 4, .max_access_size = 4},
};

/* ---- timing adapters: what is written is kept ---- */

static uint64_t adapter_read(void *opaque, hwaddr a, unsigned size)
{
    return a % (TA_SIZE / 2) == TA_VERSION ? TA_IS : ((EthosU *)opaque)->adapter[a / 4];
}

static void adapter_write(void *opaque, hwaddr a, uint64_t v, unsigned size)
{
    ((EthosU *)opaque)->adapter[a / 4] = v;
}

static const MemoryRegionOps adapter_ops = {
    .read = adapter_read, .write = adapter_write, .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 4, .max_access_size = 4},
};

/* ---- the device ---- */

static void reset_device(void *opaque)
{
    soft_reset(opaque, 1); /* secure, privileged */
}

static bool open_library(EthosU *s, Error **errp)
{
    void *library = dlopen(s->library ? s->library : "libtosac.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        error_setg(errp, "ethos-u: %s", dlerror());
        return false;
    }
#define FIND(name) \
    s->call.name = dlsym(library, #name); \
    if (!s->call.name) { \
        error_setg(errp, "ethos-u: the library has no " #name); \
        return false; \
    }
    CALLS(FIND)
    return true;
}

static bool make_npu(EthosU *s, Error **errp)
{
    tc_npu_options o = tc_npu_options_default();
    tc_npu_info info = tc_npu_info_default();
    o.machine = s->model_name ? s->model_name : "ethos-u55-128";
    o.system_config = s->system;
    o.memory_mode = s->mode;
    s->ctx = s->call.tc_ctx_new();
    if (!s->ctx || s->call.tc_npu_new(s->ctx, &o, &s->npu) != TC_OK) {
        error_setg(errp, "ethos-u: %s", s->ctx ? s->call.tc_diagnostics(s->ctx) : "no memory left");
        return false;
    }
    s->call.tc_npu_get_info(s->npu, &info);
    s->id = info.id;
    s->config = info.config;
    return true;
}

/* The core's maintenance registers, and what it reads and writes (below). */
static bool watch_cache(EthosU *s, Error **errp)
{
#ifdef ETHOSU_PLUGIN
    cache_tell = tell_cache;
    memory_region_init_io(&s->maintenance, OBJECT(s), &maintenance_ops, s, "ethos-u-cache", CACHE_REGISTER_BYTES);
    memory_region_add_subregion_overlap(first_cpu->memory, CACHE_REGISTERS, &s->maintenance, 20);
    if (cache_begin()) {
        return true;
    }
#endif
    error_setg(errp, "ethos-u: cache=on is for the plugin, and takes 48 MB");
    return false;
}

static void ethosu_realize(DeviceState *dev, Error **errp)
{
    EthosU *s = ETHOSU(dev);
    if (!open_library(s, errp) || !make_npu(s, errp) || (s->cache && !watch_cache(s, errp))) {
        return;
    }
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_timer, s);
    memory_region_init_io(&s->iomem, OBJECT(s), &ethosu_ops, s, TYPE_ETHOSU, is_u85(s) ? SIZE : SIZE / 2);
    memory_region_add_subregion_overlap(get_system_memory(), s->base, &s->iomem, 1);
    if (!is_u85(s)) { /* whose own registers are there */
        memory_region_init_io(&s->adapters, OBJECT(s), &adapter_ops, s, "ethos-u-adapters", TA_SIZE);
        memory_region_add_subregion_overlap(get_system_memory(), s->base + TA_AT, &s->adapters, 1);
    }
    Object *sse = object_resolve_path_type("", "sse-300", NULL);
    if (!sse) {
        error_setg(errp, "ethos-u: the machine has no SSE-300");
        return;
    }
    s->irq = qdev_get_gpio_in_named(DEVICE(sse), "EXP_IRQ", s->line - 32);
    qemu_register_reset(reset_device, s);
    soft_reset(s, 1);
    /* Not before: the board's core is made before its memory, and its first reset reads what is not there. */
    qemu_set_log(qemu_loglevel | LOG_GUEST_ERROR, errp);
}

static Property ethosu_properties[] = {
    DEFINE_PROP_UINT32("base", EthosU, base, 0x48102000),
    DEFINE_PROP_UINT32("irq", EthosU, line, 56),
    DEFINE_PROP_STRING("model", EthosU, model_name),
    DEFINE_PROP_STRING("library", EthosU, library),
    DEFINE_PROP_STRING("system", EthosU, system),
    DEFINE_PROP_STRING("memory-mode", EthosU, mode),
    DEFINE_PROP_UINT32("clock-frequency", EthosU, clock, 32000000),
    DEFINE_PROP_BOOL("tcm", EthosU, tcm, false),
    DEFINE_PROP_BOOL("report", EthosU, report, false),
    DEFINE_PROP_BOOL("verify", EthosU, verify, false),
    DEFINE_PROP_BOOL("cache", EthosU, cache, false),
    DEFINE_PROP_END_OF_LIST(),
};

static void ethosu_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    dc->realize = ethosu_realize;
    dc->user_creatable = true;
    dc->desc = "Arm Ethos-U NPU";
    device_class_set_props(dc, ethosu_properties);
}

static const TypeInfo ethosu_info = {
    .name = TYPE_ETHOSU,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(EthosU),
    .class_init = ethosu_class_init,
};

#ifdef ETHOSU_PLUGIN
QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *opaque)
{
    (qemu_plugin_mem_is_store(info) ? cache_written : cache_read)(address, 1u << qemu_plugin_mem_size_shift(info));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    for (size_t i = 0; cache_is_on() && i < qemu_plugin_tb_n_insns(tb); i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
}

/* Not a use that plugins are meant for: it brings a device, and watches accesses where that asks for it. */
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    if (object_type_get_instance_size(TYPE_DEVICE) != sizeof(DeviceState) ||
        object_type_get_instance_size(TYPE_MEMORY_REGION) != sizeof(MemoryRegion)) {
        error_report("ethos-u: this is not the QEMU that the plugin was made for");
        return 1;
    }
    type_register_static(&ethosu_info);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
#else
static void ethosu_register(void)
{
    type_register_static(&ethosu_info);
}
type_init(ethosu_register)
#endif
