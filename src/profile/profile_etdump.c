/* SPDX-License-Identifier: Apache-2.0 */
/* profile_etdump.c -- the times of an ETDump, by instruction of the program that it was made with,
 * and by line, module and node.
 *
 * A delegate's time is divided among the lines of its stream in proportion to their expected
 * cycles: inside of it nothing was measured. */
#include "measured_rows.h"

#include "../read/read_etdump.h"
#include "../read/read_pte.h"
#include "../wire/file.h"

static const char EXECUTE[] = "Method::execute", LOAD[] = "Program::load_method";
static const char KERNEL[] = "OPERATOR_CALL", DELEGATE[] = "DELEGATE_CALL";

/* ---- do they belong together? ---- */

/* A kernel's own event has its whole name, or that of the wrapper which is made of its schema. */
static bool names_kernel(const char *event, const char *kernel)
{
    static const char wrapper[] = "native_call_";
    const char *colons = strstr(kernel, "::");
    if (strncmp(event, wrapper, sizeof wrapper - 1) == 0 && colons)
        return ti_text_eq(event + sizeof wrapper - 1, colons + 2);
    return ti_text_eq(event, kernel);
}

static bool looks_like_kernel(const char *event)
{
    return strncmp(event, "native_call_", 12) == 0 ||
           (strstr(event, "::") && !strstr(event, "()") && !strstr(event, "Backend"));
}

/* What an event contradicts in the method; NULL: it fits. */
static const char *misfit(tc_ctx *ctx, const tc_pte_method *m, const tc_etdump_event *e)
{
    if (e->chain < 0)
        return NULL;
    if (e->step < 0 || (size_t)e->step >= m->n_step)
        return ti_text_format(&ctx->arena, "it has instruction %d, and '%s' has %zu of them", e->step,
                              m->name, m->n_step);
    const tc_pte_step *s = &m->step[e->step];
    bool kernel = s->tag == PTE_KERNEL_CALL, delegate = s->tag == PTE_DELEGATE_CALL;
    const char *here = kernel     ? ti_pte_kernel(ctx, m, s)
                       : delegate ? m->delegate[s->what].id
                                  : "a move or a jump";
    bool wrong = (ti_text_eq(e->name, KERNEL) && !kernel) ||
                 (ti_text_eq(e->name, DELEGATE) && !delegate) ||
                 (kernel && looks_like_kernel(e->name) && !names_kernel(e->name, here));
    return wrong ? ti_text_format(&ctx->arena, "instruction %d is %s there, and %s in '%s'", e->step,
                                  e->name, here, m->name)
                 : NULL;
}

static bool has_jumps(const tc_pte_method *m)
{
    for (size_t k = 0; k < m->n_step; k++)
        if (m->step[k].tag == PTE_JUMP_FALSE_CALL)
            return true;
    return false;
}

/* A method that was run to its end has an event for each of its calls. */
static const char *missing(tc_ctx *ctx, const tc_pte_method *m, const tc_etdump_run *r)
{
    bool *seen = tc_new_n(&ctx->arena, bool, m->n_step + 1), ended = false;
    for (size_t i = 0; i < r->n_event; i++) {
        const tc_etdump_event *e = &r->event[i];
        ended = ended || ti_text_eq(e->name, EXECUTE);
        if (e->chain >= 0)
            seen[e->step] = true;
    }
    for (size_t k = 0; ended && !has_jumps(m) && k < m->n_step; k++)
        if (!seen[k] && (m->step[k].tag == PTE_KERNEL_CALL || m->step[k].tag == PTE_DELEGATE_CALL))
            return ti_text_format(&ctx->arena, "instruction %zu of '%s' was not run", k, m->name);
    return NULL;
}

static bool is_run(const tc_etdump_run *r)
{
    for (size_t i = 0; i < r->n_event; i++)
        if (r->event[i].chain >= 0)
            return true;
    return false;
}

static const char *misfit_of(tc_ctx *ctx, const tc_pte_method *m, const tc_etdump *d)
{
    const char *why = NULL;
    for (size_t i = 0; i < d->n_run && !why; i++) {
        for (size_t k = 0; k < d->run[i].n_event && !why; k++)
            why = misfit(ctx, m, &d->run[i].event[k]);
        if (!why && is_run(&d->run[i]))
            why = missing(ctx, m, &d->run[i]);
    }
    return why;
}

/* The method that it was made with: the one that is asked for, else the first that fits. */
static tc_status find_method(tc_ctx *ctx, const tc_pte_file *f, const tc_etdump *d, const char *etdump,
                             const char *asked, const tc_pte_method **out)
{
    const char *why = NULL;
    for (size_t i = 0; i < f->n_method; i++) {
        if (asked && !ti_text_eq(asked, f->method[i].name))
            continue;
        const char *one = misfit_of(ctx, &f->method[i], d);
        why = why ? why : one;
        if (!one) {
            *out = &f->method[i];
            return TC_OK;
        }
    }
    if (!why)
        return ti_usage(ctx, "%s has no method '%s'", f->name, asked);
    tc_status status = ti_error(ctx, &(tc_loc){.file = etdump}, TC_E_STRUCTURE,
                                "this ETDump was not made with %s: %s", f->name, why);
    ti_note(ctx, NULL, "compile the program again only together with a new ETDump: instructions are "
                       "known by their numbers");
    return status;
}

/* ---- times ---- */

static double ticks_of(const tc_etdump_event *e)
{
    return e->end > e->begin ? (double)(e->end - e->begin) : 0;
}

static void add_event(tc_ctx *ctx, tc_measured_step *s, const tc_etdump_event *e, double seconds)
{
    const char *id = e->id_name      ? e->id_name
                     : e->id >= 0 ? ti_text_format(&ctx->arena, "%d", e->id)
                                     : NULL;
    for (size_t i = 0; i < s->n_event; i++)
        if (ti_text_eq(s->event[i].name, e->name) &&
            (id ? s->event[i].id && ti_text_eq(s->event[i].id, id) : !s->event[i].id)) {
            s->event[i].seconds += seconds;
            return;
        }
    tc_grow(&ctx->arena, s->event, s->n_event, s->cap_event);
    s->event[s->n_event++] = (tc_measured_event){e->name, id, seconds};
}

/* Of all runs.  whole: by step, calls with their preparation; kernel: kernels alone. */
static void add_run(tc_ctx *ctx, const tc_pte_method *m, const tc_etdump_run *r, double ticks,
                    tc_measured_run *out, tc_measured_step *step, double *kernel)
{
    for (size_t i = 0; i < r->n_event; i++) {
        const tc_etdump_event *e = &r->event[i];
        double seconds = ticks_of(e) / ticks;
        if (ti_text_eq(e->name, EXECUTE)) {
            out->least = !out->runs || seconds < out->least ? seconds : out->least;
            out->seconds += seconds;
            out->runs++;
        }
        out->load += ti_text_eq(e->name, LOAD) ? seconds : 0;
        if (e->chain < 0)
            continue;
        tc_measured_step *s = &step[e->step];
        if (ti_text_eq(e->name, KERNEL) || ti_text_eq(e->name, DELEGATE))
            s->seconds += seconds;
        else if (m->step[e->step].tag == PTE_DELEGATE_CALL)
            add_event(ctx, s, e, seconds);
        else
            kernel[e->step] += seconds;
    }
}

/* Streams of the profile are those of the delegates, in their order; cycles of stream i. */
static double stream_cycles(const tc_profile *p, size_t stream)
{
    double cycles = 0;
    for (size_t i = 0; i < p->n_entry; i++)
        cycles += p->entry[i].stream == stream ? p->entry[i].cost.cycles : 0;
    return cycles;
}

/* The stream of a delegate of a method in the profile, counted from 1; 0: it has none. */
static size_t stream_of(const tc_pte_file *f, const tc_pte_method *m, size_t delegate,
                        const char *asked)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_method; i++) {
        const tc_pte_method *one = &f->method[i];
        if (asked && !ti_text_eq(asked, one->name))
            continue;
        for (size_t k = 0; k < one->n_delegate; k++) {
            bool is = ti_text_eq(one->delegate[k].id, "EthosUBackend");
            n += is;
            if (one == m && k == delegate)
                return is ? n : 0;
        }
    }
    return 0;
}

static void take_steps(tc_ctx *ctx, const tc_profile *p, const tc_pte_file *f, const tc_pte_method *m,
                       const tc_etdump *d, const char *asked, tc_measured_run *out)
{
    tc_measured_step *step = tc_new_n(&ctx->arena, tc_measured_step, m->n_step + 1);
    double *kernel = tc_new_n(&ctx->arena, double, m->n_step + 1);
    for (size_t i = 0; i < d->n_run; i++)
        add_run(ctx, m, &d->run[i], out->ticks, out, step, kernel);
    double runs = out->runs ? (double)out->runs : 1;
    out->seconds /= runs;
    out->step = step;
    for (size_t k = 0; k < m->n_step; k++) {
        tc_measured_step s = step[k];
        const tc_pte_step *from = &m->step[k];
        bool is_kernel = from->tag == PTE_KERNEL_CALL;
        s.delegate = from->tag == PTE_DELEGATE_CALL;
        s.seconds = (s.seconds > 0 ? s.seconds : kernel[k]) / runs;
        if (!(s.seconds > 0) && !s.n_event)
            continue;
        s.step = k;
        s.name = is_kernel ? ti_pte_kernel(ctx, m, from) : s.delegate ? m->delegate[from->what].id : "move or jump";
        s.frame = from->frame;
        s.n_frame = from->n_frame;
        s.stream = s.delegate ? stream_of(f, m, from->what, asked) : 0;
        s.expected = s.stream ? stream_cycles(p, s.stream - 1) / p->system.clock : 0;
        for (size_t i = 0; i < s.n_event; i++)
            s.event[i].seconds /= runs;
        for (size_t i = 0; i < s.n_frame; i++)
            out->knows_lines = out->knows_lines || s.frame[i].place;
        step[out->n_step++] = s;
    }
}

/* ---- rows ---- */

static void add_step(tc_measured_rows *r, const tc_profile *p, const tc_measured_step *s, tc_profile_by by)
{
    double all = s->stream ? stream_cycles(p, s->stream - 1) : 0;
    if (by == TC_PROFILE_BY_KIND || !s->delegate || !p->lines || !(all > 0)) {
        bool single = s->n_frame == 1 || !s->delegate;
        const char *name = by == TC_PROFILE_BY_KIND
                               ? s->name
                               : ti_measured_key(s->n_frame && single ? s->frame : NULL, by, s->name);
        ti_measured_add(r, name, s->seconds, s->expected, false);
        return;
    }
    for (size_t i = 0; i < p->n_entry; i++) {
        const tc_profile_entry *e = &p->entry[i];
        if (e->stream + 1 == s->stream)
            ti_measured_add(r, ti_measured_key(e->loc, by, s->name), s->seconds * e->cost.cycles / all,
                    e->cost.cycles / p->system.clock, true);
    }
}

static void make_rows(tc_ctx *ctx, const tc_profile *p, tc_measured_run *m, tc_profile_by by)
{
    tc_measured_rows r;
    ti_measured_begin(ctx, &r);
    for (size_t i = 0; i < m->n_step; i++)
        add_step(&r, p, &m->step[i], by);
    ti_measured_end(&r, &m->row[by], &m->n_row[by]);
}

tc_status ti_profile_measured(tc_ctx *ctx, tc_profile *p, const char *path, tc_bytes program,
                              const tc_profile_options *o)
{
    tc_pte_file f;
    tc_etdump dump;
    tc_bytes bytes;
    const tc_pte_method *method = NULL;
    tc_measured_run *m = tc_new(&ctx->arena, tc_measured_run);
    m->file = ti_intern_text(ctx, o->etdump);
    m->ticks = o->ticks > 0 ? o->ticks : 1e9;
    if (!ti_bundle_looks_like(program) && (program.size < 8 || memcmp(program.data + 4, TC_PTE_IDENTIFIER, 4) != 0))
        return ti_usage(ctx, "an ETDump belongs to a .pte, and %s is none", path);
    TC_TRY(ti_file_read(ctx, m->file, &bytes));
    TC_TRY(ti_etdump_read(ctx, m->file, bytes, &dump));
    TC_TRY(ti_pte_open(ctx, path, program, &f));
    TC_TRY(find_method(ctx, &f, &dump, m->file, o->method, &method));
    m->method = method->name;
    take_steps(ctx, p, &f, method, &dump, o->method, m);
    if (!m->runs && !m->n_step)
        return ti_error(ctx, &(tc_loc){.file = m->file}, TC_E_STRUCTURE,
                        "the ETDump has no time of any instruction: was the runtime built with its event tracer?");
    for (int by = 0; by < TC_PROFILE_BYS; by++)
        make_rows(ctx, p, m, (tc_profile_by)by);
    p->lines = p->lines || m->knows_lines;
    p->measured = m;
    return TC_OK;
}
