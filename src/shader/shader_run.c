/* SPDX-License-Identifier: Apache-2.0 */
/* shader_run.c -- the invocations of a shader, group by group; see shader.h.
 *
 * One invocation runs at a time.  Without shared memory and barriers all of them use one set of
 * registers in sequence; else each of a group has its own, runs up to a barrier or its end, and
 * passes shared registers to the next. */
#include "shader.h"

enum { MOST_STEPS = 1 << 27 };           /* of one invocation: about a second */
enum { MOST_GROUP_REGISTERS = 1 << 25 }; /* of all invocations of a group: 256 MB */

typedef struct runner {
    const tc_sh_program *p;
    tc_sh_machine m;
    int64_t budget;  /* steps that are left to all invocations */
    uint64_t n;      /* invocations of a group */
    uint64_t *file;  /* their registers, contiguous sets; or one for all */
    uint64_t *common; /* shared registers, contiguous ranges */
    const tc_sh_ins **next; /* by invocation: where it continues; NULL: it has ended */
} runner;

static void set_places(const runner *w, uint64_t *reg, const uint64_t *group, uint64_t k)
{
    const uint32_t *size = w->p->group_size;
    const uint64_t local[3] = {k % size[0], k / size[0] % size[1], k / size[0] / size[1]};
    for (size_t i = 0; i < 3; i++) {
        reg[TC_SH_NUM_GROUPS + i] = w->m.interface->groups[i];
        reg[TC_SH_GROUP_SIZE + i] = size[i];
        reg[TC_SH_GROUP + i] = group[i];
        reg[TC_SH_LOCAL + i] = local[i];
        reg[TC_SH_GLOBAL + i] = (uint32_t)(group[i] * size[i] + local[i]);
    }
    reg[TC_SH_LOCAL_INDEX] = k;
}

/* From an instruction on, up to a barrier or the end. */
static void run_from(runner *w, uint64_t *reg, const tc_sh_ins *i)
{
    int64_t given = w->budget < MOST_STEPS ? w->budget : MOST_STEPS;
    w->m.r = reg;
    w->m.budget = given;
    w->m.resume = NULL;
    while (i)
        i = i->step(&w->m, i);
    w->budget -= given - w->m.budget;
}

static void copy_shared(const runner *w, uint64_t *reg, bool out)
{
    uint64_t *at = w->common;
    for (size_t i = 0; i < w->p->n_shared; at += w->p->shared[i++].n) {
        uint64_t *own = reg + w->p->shared[i].first;
        size_t bytes = w->p->shared[i].n * sizeof *own;
        memcpy(out ? at : own, out ? own : at, bytes);
    }
}

/* Runs every invocation up to the next barrier; *waiting: how many have reached one. */
static void run_part(runner *w, uint64_t *waiting)
{
    *waiting = 0;
    for (uint64_t k = 0; k < w->n && !w->m.error; k++) {
        if (!w->next[k])
            continue;
        uint64_t *reg = w->file + k * w->p->n_register;
        copy_shared(w, reg, false);
        run_from(w, reg, w->next[k]);
        copy_shared(w, reg, true);
        w->next[k] = w->m.resume;
        *waiting += w->next[k] != NULL;
    }
}

static void run_together(runner *w, const uint64_t *group)
{
    uint64_t waiting = w->n;
    size_t shared = 0;
    for (size_t i = 0; i < w->p->n_shared; i++)
        shared += w->p->shared[i].n;
    if (shared)
        memset(w->common, 0, shared * sizeof *w->common);
    for (uint64_t k = 0; k < w->n; k++) {
        uint64_t *reg = w->file + k * w->p->n_register;
        memcpy(reg, w->p->start, w->p->n_register * sizeof *reg);
        set_places(w, reg, group, k);
        w->next[k] = w->p->ins;
    }
    while (waiting && !w->m.error) {
        run_part(w, &waiting);
        if (waiting && waiting < w->n && !w->m.error)
            w->m.error = "some invocations of a work group end where others wait at a barrier";
    }
}

static void run_apart(runner *w, const uint64_t *group)
{
    for (uint64_t k = 0; k < w->n && !w->m.error; k++) {
        set_places(w, w->file, group, k);
        run_from(w, w->file, w->p->ins);
    }
}

/* NULL, or what it has not room for. */
static const char *make_room(runner *w, tc_arena *arena, bool together)
{
    size_t shared = 0;
    const tc_sh_program *p = w->p;
    if (!together) {
        w->file = ti_arena_copy(arena, p->start, p->n_register * sizeof *p->start);
        return NULL;
    }
    if (w->n > MOST_GROUP_REGISTERS / (p->n_register + 1))
        return "a work group with barriers or shared memory has too many invocations";
    for (size_t i = 0; i < p->n_shared; i++)
        shared += p->shared[i].n;
    w->file = tc_new_n(arena, uint64_t, (size_t)w->n * p->n_register);
    w->common = tc_new_n(arena, uint64_t, shared + 1);
    w->next = tc_new_n(arena, const tc_sh_ins *, (size_t)w->n + 1);
    return NULL;
}

const char *ti_shader_run(const tc_sh_program *p, const tc_sh_interface *interface, tc_arena *arena,
                          int64_t budget)
{
    const uint32_t *size = p->group_size, *groups = interface->groups;
    bool together = p->waits || p->n_shared;
    runner w = {.p = p, .m = {.ins = p->ins, .interface = interface}, .budget = budget};
    uint64_t all = (uint64_t)groups[0] * groups[1];
    w.n = (uint64_t)size[0] * size[1] * size[2];
    if ((groups[2] && all > UINT64_MAX / groups[2]) || all * groups[2] > (uint64_t)budget)
        return "the shader is dispatched in too many work groups";
    all *= groups[2];
    w.m.error = make_room(&w, arena, together);
    for (uint64_t g = 0; g < all && !w.m.error; g++) {
        const uint64_t group[3] = {g % groups[0], g / groups[0] % groups[1],
                                   g / groups[0] / groups[1]};
        (together ? run_together : run_apart)(&w, group);
    }
    return w.m.error;
}
