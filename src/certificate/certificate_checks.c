/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_checks.c -- each check that has run with what it covers and what it promises, and what none covers. */
#include "certificate.h"

#include <math.h>

#include "../proof/proof.h"
#include "value_ranges.h"

static size_t operators_of(const tc_compiled *c)
{
    size_t n = 0;
    for (size_t r = 0; r < c->n_region; r++)
        n += ti_border_of(&c->region[r]).n_tosa;
    return n;
}

static size_t borders_of(const tc_compiled *c)
{
    size_t n = 0;
    for (size_t r = 0; r < c->n_region; r++)
        n += ti_main(c->region[r].module)->n_in + ti_main(c->region[r].module)->n_out;
    return n;
}

static void begin(tc_json_out *out, const char *check, const char *promise)
{
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("check", check), TC_J("promise", promise));
}

/* The structure of the graph: types, shapes, and the facts that passes promise. */
static void put_verified(const tc_compiled *c, tc_json_out *out)
{
    size_t n = c->module->verified;
    for (size_t r = 0; r < c->n_region; r++)
        n += c->region[r].module != c->module ? c->region[r].module->verified : 0;
    begin(out, "the graph is verified after every pass", "types, shapes and the facts of passes hold");
    ti_json_put_int(out, "passes", (int64_t)n);
    ti_json_close(out, '}');
}

static void put_compared(const tc_compiled *c, tc_json_out *out)
{
    static const struct {
        const char *check, *promise;
    } row[] = {[TC_EXACT] = {"the program before and after each exact pass", "bit-exact"},
               [TC_CLOSE] = {"the program before and after each close pass", "within rounding"},
               [TC_APPROX] = {"the program before and after each approximate pass", "finite where it was"}};
    const tc_checked *n = &c->work.checked;
    for (size_t i = 0; i < TC_COUNT(row); i++)
        if (n->passes[i]) {
            begin(out, row[i].check, row[i].promise);
            tc_json_put(out, TC_J("passes", n->passes[i]), TC_J("samples", n->samples));
            ti_json_close(out, '}');
        }
    if (n->elements) {
        begin(out, "outputs compared by those", "as each pass promises");
        tc_json_put(out, TC_J("elements", n->elements));
        ti_json_close(out, '}');
    }
}

static int64_t elements_of(const tc_region *region)
{
    const tc_graph *g = ti_main(region->module);
    int64_t n = 0;
    for (size_t i = 0; i < g->n_out; i++)
        n += tc_type_count(ti_type_of(g, g->out[i]));
    return n;
}

/* Streams: the machine's rules, then their numbers. */
static void put_streams(const tc_compiled *c, tc_json_out *out)
{
    size_t commands = 0, samples = 0;
    int64_t elements = 0;
    for (size_t r = 0; r < c->n_region; r++) {
        commands += c->region[r].commands;
        for (size_t k = 0; k < TC_CHECK_SAMPLES; k++) {
            samples += c->region[r].gave[k] != NULL;
            elements += c->region[r].gave[k] ? elements_of(&c->region[r]) : 0;
        }
    }
    if (!commands)
        return;
    begin(out, "command streams against the machine's rules", "registers, bounds, waits, bytes read after they are written");
    tc_json_put(out, TC_J("regions", c->n_region), TC_J("commands", commands));
    ti_json_close(out, '}');
    if (!samples)
        return;
    begin(out, "command streams executed beside their TOSA programs", "bit-exact");
    tc_json_put(out, TC_J("samples", samples), TC_J("operators", operators_of(c)),
                TC_J("borders", borders_of(c)), TC_J("elements", elements));
    ti_json_close(out, '}');
}

/* Figures that hang on the order of a float sum are not kept to their last digits. */
static double rounded(double x)
{
    return isfinite(x) ? rint(x * 100) / 100 : x;
}

static void put_output(const tc_proof *p, const tc_proof_output *o, tc_json_out *out)
{
    const tc_proof_sums *s = &o->by[0];
    bool exact = o->exact || (s->n && s->written.same == s->n);
    begin(out, "the written program beside the model", exact ? "bit-exact" : o->real ? "within dB" : "agreement");
    tc_json_put(out, TC_J("output", o->name), TC_J("samples", p->ran - p->odd), TC_J("elements", s->n));
    if (!o->real)
        ti_json_put_real(out, "agreement", rint(1e6 * ti_proof_agreement(s, &s->written)) / 1e6);
    if (o->real && !exact)
        ti_json_put_real(out, "sqnr_db", rounded(ti_proof_db(s, &s->written)));
    if (o->real && !exact && o->step > 0)
        ti_json_put_real(out, "steps", rounded(s->written.most / o->step));
    if (p->quantized)
        tc_json_put(out, TC_J("differ_from_typed", s->unlike));
    ti_json_close(out, '}');
}

static void put_proof(const tc_compiled *c, tc_json_out *out)
{
    const tc_proof *p = &c->proof;
    for (size_t i = 0; p->of && i < p->n_out; i++)
        if (p->out[i].compared)
            put_output(p, &p->out[i], out);
}

/* ---- what no check covers ---- */

static bool any_executed(const tc_compiled *c)
{
    for (size_t r = 0; r < c->n_region; r++)
        if (c->region[r].gave[0])
            return true;
    return false;
}

static bool all_compared(const tc_proof *p)
{
    for (size_t i = 0; i < p->n_out; i++)
        if (!p->out[i].compared)
            return false;
    return true;
}

static void put_gaps(const tc_compiled *c, size_t ranges, tc_json_out *out)
{
    const tc_proof *p = &c->proof;
    tc_packing packing = c->target.machine->packing;
    const struct {
        bool holds;
        const char *words;
    } gap[] = {
        {true, "hardware: nothing was run on a device"},
        {true, "the runtime and the drivers that load the files"},
        {true, "inputs other than the samples that are counted here"},
        {!c->work.checked.elements, "single passes: compile --check compares the program before and after each"},
        {packing == TC_PACKED_STREAM && c->n_region && !any_executed(c), "numbers of command streams: they were not executed"},
        {!p->of, "accuracy: the written program was not run beside the model"},
        {p->of && !all_compared(p), "outputs that the written program does not have in the model's shape"},
        {p->of && p->invented, "accuracy on real data: samples were invented"},
        {p->of && p->quantized && !p->held_out && !p->invented, "accuracy on data that calibration has not seen"},
        {p->of && c->split.n_left && !p->kernels, "the operators left to the CPU as that runtime's kernels"},
        {packing == TC_PACKED_C || c->target.core, "the C source: it was not compiled and not run, what was run is the program that it was written from"},
        {packing == TC_PACKED_VGF, "the SPIR-V of regions: what was run is the TOSA program that it was written from"},
        {!ranges, "ranges of values at run time"},
        {c->asked.beside != NULL, "the other methods of the file"},
    };
    ti_json_open(out, "not_checked", '[');
    for (size_t i = 0; i < TC_COUNT(gap); i++)
        if (gap[i].holds)
            ti_json_put_text(out, NULL, gap[i].words);
    ti_json_close(out, ']');
}

static void put_ranges(const tc_value_range *r, size_t n, size_t samples, tc_json_out *out)
{
    ti_json_open(out, "ranges", '{');
    ti_json_put_int(out, "samples", (int64_t)samples);
    ti_json_open(out, "values", '[');
    for (size_t i = 0; i < n; i++) {
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", r[i].name), TC_J("least", r[i].least), TC_J("most", r[i].most));
        if (r[i].n)
            tc_json_put(out, TC_J("elements", r[i].n),
                        TC_J("outside", rint(1e6 * (double)r[i].outside / (double)r[i].n) / 1e6));
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

tc_status ti_certificate_checks(tc_ctx *ctx, const tc_compiled *c, const tc_sample_count *drawn, tc_json_out *out)
{
    tc_value_range *range;
    size_t n, samples;
    TC_TRY(ti_value_ranges(ctx, c, &range, &n, &samples));
    ti_json_open(out, "checks", '[');
    put_verified(c, out);
    put_compared(c, out);
    put_streams(c, out);
    if (drawn->drawn) {
        begin(out, "drawn inputs for a second program", "what TOSA's program gives");
        tc_json_put(out, TC_J("samples", drawn->drawn), TC_J("elements", drawn->elements));
        ti_json_close(out, '}');
    }
    put_proof(c, out);
    ti_json_close(out, ']');
    put_gaps(c, samples, out);
    put_ranges(range, n, samples, out);
    return TC_OK;
}
