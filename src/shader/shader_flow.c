/* SPDX-License-Identifier: Apache-2.0 */
/* shader_flow.c -- functions, blocks and branches of a shader as one list of instructions; see
 * shader.h.
 *
 * A call inlines the function's code.  A branch to a block with phis moves what they take from here
 * into their registers first, all of them at once. */
#include "shader.h"

#include "shader_words.h"

enum { MOST_INS = 1 << 20, MOST_WORK = 1 << 24, DEEPEST = 32 };

/* ---- steps ----------------------------------------------------------------------------------- */

/* Every jump pays for the instructions that led to it. */
static bool paid(tc_sh_machine *m, const tc_sh_ins *i)
{
    m->budget -= i->n;
    if (m->budget < 0)
        m->error = "the shader takes too many steps; does a loop not end?";
    return m->budget >= 0;
}

static const tc_sh_ins *step_jump(tc_sh_machine *m, const tc_sh_ins *i)
{
    return paid(m, i) ? m->ins + i->b : NULL;
}

static const tc_sh_ins *step_branch(tc_sh_machine *m, const tc_sh_ins *i)
{
    return paid(m, i) ? m->ins + (m->r[i->a] ? i->b : i->c) : NULL;
}

/* To b when a is c and d, low and high. */
static const tc_sh_ins *step_case(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t wanted = i->c | (uint64_t)i->d << 32;
    return !paid(m, i) ? NULL : m->r[i->a] == wanted ? m->ins + i->b : i + 1;
}

static const tc_sh_ins *step_end(tc_sh_machine *m, const tc_sh_ins *i)
{
    paid(m, i);
    return NULL;
}

/* Waits for the other invocations of the group. */
static const tc_sh_ins *step_barrier(tc_sh_machine *m, const tc_sh_ins *i)
{
    m->resume = i + 1;
    return NULL;
}

static const tc_sh_ins *step_unreachable(tc_sh_machine *m, const tc_sh_ins *i)
{
    (void)i;
    m->error = "the shader comes to a place that it says cannot be reached";
    return NULL;
}

void ti_sh_put(tc_sh_reader *r, tc_sh_ins ins)
{
    tc_sh_program *p = r->program;
    if (r->error)
        return;
    if (p->n_ins == MOST_INS) {
        ti_sh_fail(r, "the shader is too long with its calls written out");
        return;
    }
    tc_grow(r->arena, p->ins, p->n_ins, p->cap_ins);
    p->ins[p->n_ins++] = ins;
}

/* ---- the function at hand --------------------------------------------------------------------- */

typedef struct {
    size_t at;    /* where its instructions begin in the module, and in the program */
    size_t begin;
    bool met;
} block;

/* A jump whose target is a block that may not be there yet. */
typedef struct {
    size_t ins;
    uint32_t block; /* its number; n_block: the end of the function */
    bool second;    /* field c instead of b */
} patch;

typedef struct tc_sh_body {
    block *block;
    uint32_t n_block, label; /* the label of the block at hand */
    patch *patch;
    size_t n_patch, cap_patch;
    size_t begin;    /* of the block at hand, in the program */
    bool outermost;  /* the entry point itself */
    bool open;       /* inside a block */
    uint32_t result; /* registers of what the function returns */
    const tc_sh_type *type;
} body;

static uint16_t cost(const tc_sh_reader *r)
{
    size_t n = r->program->n_ins - r->body->begin + 1;
    return n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
}

static void target(tc_sh_reader *r, size_t ins, uint32_t number, bool second)
{
    body *b = r->body;
    tc_grow(r->arena, b->patch, b->n_patch, b->cap_patch);
    b->patch[b->n_patch++] = (patch){ins, number, second};
}

static uint32_t block_of(tc_sh_reader *r, uint32_t label)
{
    const tc_sh_id *id = ti_sh_id(r, label);
    if (!id->block || id->block > r->body->n_block) {
        ti_sh_fail(r, "a branch goes to something that is not a block");
        return 0;
    }
    return id->block - 1;
}

static bool is_phi(const tc_sh_reader *r, size_t at, tc_spv_instr *instr, size_t *next)
{
    tc_spv_reader words;
    ti_spv_read(&words, r->code);
    words.at = at;
    while (ti_spv_next(&words, instr) && (instr->op == TC_SPV_Line || instr->op == TC_SPV_NoLine))
        continue;
    *next = words.at;
    return !words.error && instr->op == TC_SPV_Phi;
}

static bool has_phis(const tc_sh_reader *r, uint32_t number)
{
    tc_spv_instr instr = {0};
    size_t next;
    return is_phi(r, r->body->block[number].at, &instr, &next);
}

/* What the phi takes when it is reached from the block at hand. */
static uint32_t taken(tc_sh_reader *r, const tc_spv_instr *phi, const tc_sh_type **type)
{
    for (size_t i = 2; i + 1 < phi->n; i += 2)
        if (ti_spv_word(phi, i + 1) == r->body->label)
            return ti_sh_value(r, ti_spv_word(phi, i), type);
    ti_sh_fail(r, "a phi has nothing for a block that leads to it");
    return 0;
}

/* Moves for all phis of a block: into fresh registers, and from there, for one may take what another
 * one holds. */
static void put_phis(tc_sh_reader *r, uint32_t number)
{
    tc_spv_instr phi;
    size_t at = r->body->block[number].at, next;
    bool single = is_phi(r, at, &phi, &next) && !is_phi(r, next, &phi, &next);
    size_t n = 0, cap = 0;
    struct move {
        uint32_t to, from, n;
    } *move = NULL;
    while (!r->error && is_phi(r, at, &phi, &next)) {
        const tc_sh_type *t, *own;
        uint32_t from = taken(r, &phi, &t), to = ti_sh_value(r, ti_spv_word(&phi, 1), &own);
        if (r->error || t != own) {
            ti_sh_fail(r, "a phi takes a value of another type");
            return;
        }
        uint32_t room = single ? to : ti_sh_registers(r, t->slots);
        ti_sh_move(r, room, from, t->slots);
        tc_grow(r->arena, move, n, cap);
        move[n++] = (struct move){to, room, t->slots};
        at = next;
    }
    for (size_t i = 0; i < n && !single; i++)
        ti_sh_move(r, move[i].to, move[i].from, move[i].n);
}

static void jump(tc_sh_reader *r, uint32_t number)
{
    ti_sh_put(r, (tc_sh_ins){.step = step_jump, .n = cost(r)});
    if (!r->error)
        target(r, r->program->n_ins - 1, number, false);
}

static void jump_with_phis(tc_sh_reader *r, uint32_t number)
{
    put_phis(r, number);
    jump(r, number);
}

/* The instruction `ins` goes to a block: straight, or by way of what its phis need. */
static void lead(tc_sh_reader *r, size_t ins, uint32_t number, bool second)
{
    if (r->error)
        return;
    if (!has_phis(r, number)) {
        target(r, ins, number, second);
        return;
    }
    uint32_t here = (uint32_t)r->program->n_ins;
    *(second ? &r->program->ins[ins].c : &r->program->ins[ins].b) = here;
    jump_with_phis(r, number);
}

/* ---- ends of blocks -------------------------------------------------------------------------- */

static void branch(tc_sh_reader *r)
{
    uint32_t number = block_of(r, ti_sh_word(r, 0));
    if (!r->error)
        jump_with_phis(r, number);
}

static void branch_conditional(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t truth = ti_sh_value(r, ti_sh_word(r, 0), &t);
    uint32_t yes = block_of(r, ti_sh_word(r, 1)), no = block_of(r, ti_sh_word(r, 2));
    if (t->kind != TC_SH_BOOL)
        ti_sh_fail(r, "a branch does not ask for a truth value");
    size_t ins = r->program->n_ins;
    ti_sh_put(r, (tc_sh_ins){.step = step_branch, .a = truth, .n = cost(r)});
    lead(r, ins, yes, false);
    lead(r, ins, no, true);
}

static void branch_switch(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t selector = ti_sh_value(r, ti_sh_word(r, 0), &t), other = block_of(r, ti_sh_word(r, 1));
    size_t wide = t->bits == 64, each = 2 + wide, first = r->program->n_ins;
    uint64_t mask = t->kind == TC_SH_INT ? UINT64_MAX >> (64 - t->bits) : 0;
    if (t->kind != TC_SH_INT || (r->at.n - 2) % each) {
        ti_sh_fail(r, "a switch does not ask for an integer");
        return;
    }
    for (size_t i = 2; i < r->at.n; i += each) {
        uint64_t literal = ti_sh_word(r, i) | (wide ? (uint64_t)ti_sh_word(r, i + 1) << 32 : 0);
        literal &= mask;
        ti_sh_put(r, (tc_sh_ins){.step = step_case, .a = selector, .c = (uint32_t)literal,
                                 .d = (uint32_t)(literal >> 32), .n = i == 2 ? cost(r) : 1});
    }
    jump_with_phis(r, other);
    for (size_t i = 2; i < r->at.n && !r->error; i += each)
        lead(r, first + (i - 2) / each, block_of(r, ti_sh_word(r, i + 1 + wide)), false);
}

static void leave(tc_sh_reader *r)
{
    if (r->body->outermost)
        ti_sh_put(r, (tc_sh_ins){.step = step_end, .n = cost(r)});
    else
        jump(r, r->body->n_block);
}

static void leave_with(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t from = ti_sh_value(r, ti_sh_word(r, 0), &t);
    if (t != r->body->type)
        ti_sh_fail(r, "a function returns a value of another type");
    else
        ti_sh_move(r, r->body->result, from, t->slots);
    leave(r);
}

static void unreachable(tc_sh_reader *r)
{
    ti_sh_put(r, (tc_sh_ins){.step = step_unreachable});
}

static bool ends(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        void (*read)(tc_sh_reader *);
    } rows[] = {{TC_SPV_Branch, branch},
                {TC_SPV_BranchConditional, branch_conditional},
                {TC_SPV_Switch, branch_switch},
                {TC_SPV_Return, leave},
                {TC_SPV_ReturnValue, leave_with},
                {TC_SPV_Unreachable, unreachable}};
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == r->at.op) {
            rows[i].read(r);
            r->body->open = false;
            return true;
        }
    return false;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Numbers the blocks, and gives phis their registers: branches to them may come first. */
static void survey(tc_sh_reader *r, size_t at)
{
    tc_spv_reader words;
    body *b = r->body;
    size_t cap = 0, n = 0;
    const tc_sh_type *t;
    ti_spv_read(&words, r->code);
    words.at = at;
    while (!r->error && ti_spv_next(&words, &r->at) && r->at.op != TC_SPV_FunctionEnd) {
        if (++r->work > MOST_WORK)
            ti_sh_fail(r, "the shader is too long with its calls written out");
        if (r->at.op == TC_SPV_Phi)
            ti_sh_result(r, &t);
        if (r->at.op != TC_SPV_Label)
            continue;
        tc_grow(r->arena, b->block, n, cap);
        b->block[n] = (block){.at = words.at};
        ti_sh_id(r, ti_sh_word(r, 0))->block = (uint32_t)++n;
    }
    b->n_block = (uint32_t)n;
    if (words.error || r->at.op != TC_SPV_FunctionEnd)
        ti_sh_fail(r, "%s", words.error ? words.error : "a function has no end");
}

static void resolve(tc_sh_reader *r)
{
    const body *b = r->body;
    for (size_t i = 0; i < b->n_patch && !r->error; i++) {
        const patch *p = &b->patch[i];
        bool end = p->block == b->n_block;
        if (!end && !b->block[p->block].met)
            ti_sh_fail(r, "a branch goes to a block that is not there");
        size_t to = end ? r->program->n_ins : b->block[p->block].begin;
        tc_sh_ins *ins = &r->program->ins[p->ins];
        *(p->second ? &ins->c : &ins->b) = (uint32_t)to;
    }
}

static void write_function(tc_sh_reader *r, uint32_t id, const tc_sh_id *argument, size_t n_argument,
                           uint32_t result);

static void call(tc_sh_reader *r)
{
    const tc_sh_type *t = ti_sh_type(r, ti_sh_word(r, 0));
    size_t n = r->at.n < 3 ? 0 : r->at.n - 3;
    tc_sh_id *argument = tc_new_n(r->arena, tc_sh_id, n + 1);
    for (size_t i = 0; i < n; i++)
        argument[i] = *ti_sh_id(r, ti_sh_word(r, 3 + i));
    const tc_spv_instr here = r->at;
    uint32_t result = t->kind == TC_SH_VOID ? 0 : ti_sh_result(r, &t);
    write_function(r, ti_sh_word(r, 2), argument, n, result);
    r->at = here;
}

/* Extended instructions without an effect on values. */
static bool is_remark(tc_sh_reader *r)
{
    size_t next;
    const tc_spv_instr *set = &ti_sh_id(r, ti_sh_word(r, 2))->instr;
    tc_str name = set->op == TC_SPV_ExtInstImport ? ti_spv_text(set, 1, &next) : (tc_str){NULL, 0};
    return name.p && ti_text_starts(name.p, "NonSemantic.");
}

static void instruction(tc_sh_reader *r)
{
    const tc_sh_type *t;
    switch (r->at.op) {
    case TC_SPV_Nop:
    case TC_SPV_Line:
    case TC_SPV_NoLine:
    case TC_SPV_Phi:
    case TC_SPV_LoopMerge:
    case TC_SPV_SelectionMerge:
    case TC_SPV_MemoryBarrier: /* invocations run in sequence */
        return;
    case TC_SPV_ControlBarrier:
        r->program->waits = true;
        ti_sh_put(r, (tc_sh_ins){.step = step_barrier});
        return;
    case TC_SPV_Undef:
        ti_sh_result(r, &t);
        return;
    case TC_SPV_FunctionCall:
        call(r);
        return;
    case TC_SPV_ExtInst:
        if (ti_sh_word(r, 2) == r->glsl && r->glsl)
            ti_sh_glsl(r);
        else if (!is_remark(r))
            ti_sh_refuse(r);
        return;
    default:
        if (!ends(r) && !ti_sh_arith(r) && !ti_sh_memory(r) && !ti_sh_atomic(r) && !ti_sh_composite(r) &&
            !ti_sh_image(r))
            ti_sh_refuse(r);
    }
}

static void write_block(tc_sh_reader *r)
{
    body *b = r->body;
    block *at = &b->block[block_of(r, ti_sh_word(r, 0))];
    if (b->open)
        ti_sh_fail(r, "a block has no end");
    b->open = true;
    b->label = ti_sh_word(r, 0);
    at->met = true;
    at->begin = b->begin = r->program->n_ins;
}

static void write_function(tc_sh_reader *r, uint32_t id, const tc_sh_id *argument, size_t n_argument,
                           uint32_t result)
{
    tc_sh_id *function = ti_sh_id(r, id);
    tc_spv_reader words;
    body own = {.outermost = !r->body, .result = result}, *outer = r->body;
    size_t parameter = 0;
    if (r->depth == DEEPEST)
        ti_sh_fail(r, "functions call each other %d deep", DEEPEST);
    else if (function->instr.op != TC_SPV_Function)
        ti_sh_fail(r, "a call goes to something that is not a function");
    if (r->error)
        return;
    ti_spv_read(&words, r->code);
    words.at = function->instr.at + 4 * (1 + function->instr.n);
    r->body = &own;
    r->depth++;
    own.type = ti_sh_type(r, ti_spv_word(&function->instr, 0));
    survey(r, words.at);
    while (!r->error && ti_spv_next(&words, &r->at) && r->at.op != TC_SPV_FunctionEnd) {
        if (++r->work > MOST_WORK)
            ti_sh_fail(r, "the shader is too long with its calls written out");
        if (r->at.op == TC_SPV_FunctionParameter) {
            tc_sh_id *to = ti_sh_id(r, ti_sh_word(r, 1));
            if (parameter == n_argument)
                ti_sh_fail(r, "a function is called with too few arguments");
            else
                *to = argument[parameter++];
            to->instr = (tc_spv_instr){.op = 0};
            to->type = NULL;
        } else if (r->at.op == TC_SPV_Label)
            write_block(r);
        else if (own.open)
            instruction(r);
        else if (r->at.op != TC_SPV_Line && r->at.op != TC_SPV_NoLine)
            ti_sh_fail(r, "an instruction stands outside of a block");
    }
    if (own.open || !own.n_block)
        ti_sh_fail(r, "a function does not end as it should");
    resolve(r);
    r->depth--;
    r->body = outer;
    if (outer) /* what follows pays for itself */
        outer->begin = r->program->n_ins;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void find_functions(tc_sh_reader *r)
{
    tc_spv_reader words;
    ti_spv_read(&words, r->code);
    words.at = r->functions;
    while (!r->error && ti_spv_next(&words, &r->at)) {
        if (r->at.op != TC_SPV_Function)
            continue;
        tc_sh_id *id = ti_sh_id(r, ti_sh_word(r, 1));
        if (id->instr.op)
            ti_sh_fail(r, "an id is defined twice");
        id->instr = r->at;
    }
    if (words.error)
        ti_sh_fail(r, "%s", words.error);
}

/* Variables of the module have their initial values in every invocation. */
static void begin_variables(tc_sh_reader *r)
{
    for (uint32_t i = 1; i < r->bound && !r->error; i++) {
        const tc_sh_id *id = &r->id[i];
        const tc_sh_type *t, *from;
        if (id->instr.op != TC_SPV_Variable || id->is != TC_SH_PLACE || id->instr.n < 4 ||
            ti_spv_word(&id->instr, 2) != WORD_PRIVATE)
            continue;
        r->at = id->instr;
        t = ti_sh_type(r, id->of);
        uint32_t slot = ti_sh_value(r, ti_spv_word(&id->instr, 3), &from);
        if (from != t)
            ti_sh_fail(r, "a variable begins with a value of another type");
        ti_sh_move(r, id->base, slot, t->slots);
    }
}

void ti_shader_program(tc_sh_reader *r)
{
    find_functions(r);
    begin_variables(r);
    if (!r->error)
        write_function(r, ti_spv_word(&r->entry, 1), NULL, 0, 0);
}
