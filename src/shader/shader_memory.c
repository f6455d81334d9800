/* SPDX-License-Identifier: Apache-2.0 */
/* shader_memory.c -- variables, access chains, loads and stores, and tensors; see shader.h.
 *
 * A pointer is constant except for one register that is added to it (`moving`). Registers are
 * counted one by one, ports and push constants in bytes, by the offsets and strides that the module
 * decorates its types with. */
#include "shader.h"

#include "shader_words.h"

/* ---- steps ----------------------------------------------------------------------------------- */

static const tc_sh_ins *stop(tc_sh_machine *m, const char *error)
{
    m->error = error;
    return NULL;
}

/* out = b + a * c, a below d; d 0: not limited here. */
static const tc_sh_ins *step_index(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t index = m->r[i->a];
    if (i->d && index >= i->d)
        return stop(m, "an index is past the end of an array");
    m->r[i->out] = m->r[i->b] + index * i->c;
    return i + 1;
}

static const tc_sh_ins *step_move(tc_sh_machine *m, const tc_sh_ins *i)
{
    for (uint32_t k = 0; k < i->n; k++)
        m->r[i->out + k] = m->r[i->a + k];
    return i + 1;
}

/* Indices have been compared with the extents, so that a moving pointer is inside its variable. */
static const tc_sh_ins *step_load_moving(tc_sh_machine *m, const tc_sh_ins *i)
{
    const uint64_t *from = m->r + i->a + m->r[i->b];
    for (uint32_t k = 0; k < i->n; k++)
        m->r[i->out + k] = from[k];
    return i + 1;
}

static const tc_sh_ins *step_store_moving(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t *to = m->r + i->out + m->r[i->b];
    for (uint32_t k = 0; k < i->n; k++)
        to[k] = m->r[i->a + k];
    return i + 1;
}

static inline uint64_t take(const uint8_t *at, uint32_t bits)
{
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (bits) {
    case 8:
        return *at;
    case 16:
        memcpy(&half, at, sizeof half);
        return half;
    case 32:
        memcpy(&word, at, sizeof word);
        return word;
    default:
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
}

static inline void give(uint8_t *at, uint32_t bits, uint64_t v)
{
    uint16_t half = (uint16_t)v;
    uint32_t word = (uint32_t)v;
    switch (bits) {
    case 8:
        *at = (uint8_t)v;
        break;
    case 16:
        memcpy(at, &half, sizeof half);
        break;
    case 32:
        memcpy(at, &word, sizeof word);
        break;
    default:
        memcpy(at, &v, sizeof v);
    }
}

/* n scalars from byte c + register b on, d bytes apart; `a`: the port, or a store's registers. */
static uint8_t *buffer_at(tc_sh_machine *m, const tc_sh_ins *i, uint32_t port)
{
    bool push = port == TC_SH_NO_PORT;
    size_t size = push ? m->interface->push.size : m->interface->port[port].bytes;
    uint64_t at = i->c + m->r[i->b], need = (uint64_t)(i->n - 1u) * i->d + i->bits / 8;
    if (at > size || need > size - at) {
        m->error = push ? "a push constant is read that is not given"
                        : "a buffer is read or written past its end";
        return NULL;
    }
    const uint8_t *data = push ? m->interface->push.data : m->interface->port[port].value.data;
    return (uint8_t *)(uintptr_t)data + at;
}

static const tc_sh_ins *step_load_bytes(tc_sh_machine *m, const tc_sh_ins *i)
{
    const uint8_t *at = buffer_at(m, i, i->a);
    for (uint32_t k = 0; at && k < i->n; k++)
        m->r[i->out + k] = take(at + (size_t)k * i->d, i->bits);
    return at ? i + 1 : NULL;
}

static const tc_sh_ins *step_store_bytes(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint8_t *at = buffer_at(m, i, i->a);
    for (uint32_t k = 0; at && k < i->n; k++)
        give(at + (size_t)k * i->d, i->bits, m->r[i->out + k]);
    return at ? i + 1 : NULL;
}

/* The element that the registers from `at` on name; n_out: elements from there to the row's end. */
static bool element_at(const tc_sh_machine *m, const tc_sh_port *p, uint32_t at, uint64_t *index,
                       uint64_t *left)
{
    uint64_t flat = 0;
    for (uint32_t k = 0; k < p->rank; k++) {
        uint64_t c = m->r[at + k];
        if (c >= (uint64_t)p->dim[k])
            return false;
        flat = flat * (uint64_t)p->dim[k] + c;
    }
    *index = flat;
    *left = (uint64_t)p->dim[p->rank - 1] - m->r[at + p->rank - 1];
    return true;
}

/* out, n: the result; a: coordinates; b: the value for elements outside, 0: none; c: port. */
static const tc_sh_ins *step_tensor_read(tc_sh_machine *m, const tc_sh_ins *i)
{
    const tc_sh_port *p = &m->interface->port[i->c];
    uint64_t index = 0, left = 0;
    bool inside = element_at(m, p, i->a, &index, &left);
    if ((!inside || left < i->n) && !i->b)
        return stop(m, "a tensor is read outside of its extents");
    const uint8_t *data = p->value.data;
    uint64_t other = m->r[i->b]; /* kept: `out` may be the same register */
    for (uint32_t k = 0; k < i->n; k++)
        m->r[i->out + k] =
            inside && k < left ? take(data + (index + k) * (i->bits / 8), i->bits) : other;
    return i + 1;
}

static const tc_sh_ins *step_tensor_write(tc_sh_machine *m, const tc_sh_ins *i)
{
    const tc_sh_port *p = &m->interface->port[i->c];
    uint64_t index = 0, left = 0;
    if (!element_at(m, p, i->a, &index, &left) || left < i->n)
        return stop(m, "a tensor is written outside of its extents");
    uint8_t *data = p->value.data;
    for (uint32_t k = 0; k < i->n; k++)
        give(data + (index + k) * (i->bits / 8), i->bits, m->r[i->b + k]);
    return i + 1;
}

void ti_sh_move(tc_sh_reader *r, uint32_t out, uint32_t from, uint32_t n)
{
    for (uint32_t k = 0; k < n; k += UINT16_MAX) {
        uint16_t part = (uint16_t)(n - k < UINT16_MAX ? n - k : UINT16_MAX);
        ti_sh_put(r, (tc_sh_ins){.step = step_move, .out = out + k, .a = from + k, .n = part});
    }
}

void ti_sh_check_written(tc_sh_reader *r, uint32_t port)
{
    if (port < r->interface->n_in)
        ti_sh_fail(r, "an operand is written, at set %" PRIu32 ", binding %" PRIu32,
                   r->interface->port[port].set, r->interface->port[port].binding);
}

/* ---- variables ------------------------------------------------------------------------------- */

static uint32_t find_port(const tc_sh_reader *r, const tc_sh_id *id)
{
    for (size_t i = r->interface->n_port; i-- > 0;) /* of an operand and a result, the result */
        if (r->interface->port[i].set == id->set && r->interface->port[i].binding == id->binding)
            return (uint32_t)i;
    return TC_SH_NO_PORT;
}

static uint32_t find_sampler(const tc_sh_reader *r, const tc_sh_id *id)
{
    for (size_t i = 0; i < r->interface->n_sampler; i++)
        if (r->interface->sampler[i].set == id->set &&
            r->interface->sampler[i].binding == id->binding)
            return (uint32_t)i + 1;
    return 0;
}

static void builtin(tc_sh_reader *r, tc_sh_id *id)
{
    static const struct {
        uint32_t number, slot, n;
    } rows[] = {{WORD_NUM_WORKGROUPS, TC_SH_NUM_GROUPS, 3},
                {WORD_WORKGROUP_SIZE, TC_SH_GROUP_SIZE, 3},
                {WORD_WORKGROUP_ID, TC_SH_GROUP, 3},
                {WORD_LOCAL_INVOCATION_ID, TC_SH_LOCAL, 3},
                {WORD_GLOBAL_INVOCATION_ID, TC_SH_GLOBAL, 3},
                {WORD_LOCAL_INVOCATION_INDEX, TC_SH_LOCAL_INDEX, 1}};
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (id->has_builtin && rows[i].number == id->builtin &&
            ti_sh_type(r, id->of)->slots == rows[i].n) {
            id->base = rows[i].slot;
            return;
        }
    ti_sh_fail(r, "an input is none of the built-in variables of compute shaders");
}

/* The invocations of a group have these registers in common; a group begins with zeros there. */
static void share(tc_sh_reader *r, uint32_t first, uint32_t n)
{
    tc_sh_program *p = r->program;
    tc_grow(r->arena, p->shared, p->n_shared, p->cap_shared);
    p->shared[p->n_shared++] = (struct tc_sh_range){first, n};
}

void ti_sh_variable(tc_sh_reader *r)
{
    tc_sh_id *id = ti_sh_id(r, ti_sh_word(r, 1));
    const tc_sh_type *pointer = ti_sh_type(r, ti_sh_word(r, 0));
    const tc_sh_type *t = ti_sh_type(r, pointer->element), *from;
    uint32_t storage = ti_sh_word(r, 2);
    if (pointer->kind != TC_SH_POINTER)
        ti_sh_fail(r, "a variable is not of a pointer's type");
    id->is = TC_SH_PLACE;
    id->of = pointer->element;
    id->space = TC_SH_REGISTERS;
    id->offset = id->moving = id->stride = 0;
    switch (storage) {
    case WORD_UNIFORM_CONSTANT:
        id->is = TC_SH_RESOURCE;
        id->base = find_port(r, id);
        id->sampler = find_sampler(r, id);
        break;
    case WORD_UNIFORM:
    case WORD_STORAGE_BUFFER:
        id->space = TC_SH_PORT;
        id->base = find_port(r, id);
        break;
    case WORD_PUSH_CONSTANT:
        id->space = TC_SH_PUSH;
        break;
    case WORD_INPUT:
        builtin(r, id);
        break;
    case WORD_WORKGROUP:
        id->base = ti_sh_registers(r, t->slots);
        share(r, id->base, t->slots);
        break;
    case WORD_PRIVATE:
    case WORD_FUNCTION:
        id->base = ti_sh_registers(r, t->slots);
        if (r->at.n > 3 && storage == WORD_FUNCTION) /* private ones: ti_shader_program */
            ti_sh_move(r, id->base, ti_sh_value(r, ti_sh_word(r, 3), &from), t->slots);
        break;
    default:
        ti_sh_fail(r, "variables of storage class %" PRIu32 " are not supported", storage);
    }
}

/* ---- pointers -------------------------------------------------------------------------------- */

/* One more index: a constant moves the offset, anything else a register. */
static void step_into(tc_sh_reader *r, tc_sh_id *p, uint32_t index, uint32_t stride, uint32_t count)
{
    uint64_t known;
    const tc_sh_type *t;
    if (ti_sh_constant(r, index, &known)) {
        if ((count && known >= count) || known * stride > UINT32_MAX / 2 - p->offset)
            ti_sh_fail(r, "a constant index is past the end");
        else
            p->offset += (uint32_t)known * stride;
        return;
    }
    uint32_t from = ti_sh_value(r, index, &t), out = ti_sh_registers(r, 1);
    if (t->kind != TC_SH_INT)
        ti_sh_fail(r, "an index is not an integer");
    ti_sh_put(r, (tc_sh_ins){.step = step_index, .out = out, .a = from, .b = p->moving, .c = stride,
                             .d = count});
    p->moving = out;
}

static void into_struct(tc_sh_reader *r, tc_sh_id *p, const tc_sh_type *t, uint32_t index)
{
    uint64_t i;
    if (!ti_sh_constant(r, index, &i) || i >= t->count) {
        ti_sh_fail(r, "a struct has no member of this number");
        return;
    }
    uint32_t before = 0;
    for (uint32_t k = 0; k < i; k++)
        before += ti_sh_type(r, t->member[k])->slots;
    bool bytes = p->space != TC_SH_REGISTERS;
    uint32_t step = bytes ? t->offset[i] : before;
    if (step > UINT32_MAX / 2 - p->offset)
        ti_sh_fail(r, "a member lies too far away");
    p->offset += step;
    p->columns = t->columns[i];
    p->by_rows = t->by_rows[i];
    p->of = t->member[i];
}

static uint32_t bytes_of(tc_sh_reader *r, const tc_sh_type *t)
{
    const tc_sh_type *scalar = ti_sh_scalar(r, t);
    return scalar ? scalar->bits / 8 : 0;
}

static void into(tc_sh_reader *r, tc_sh_id *p, uint32_t index)
{
    const tc_sh_type *t = ti_sh_type(r, p->of), *e;
    bool bytes = p->space != TC_SH_REGISTERS;
    uint32_t stride = 0;
    if (t->kind == TC_SH_STRUCT) {
        into_struct(r, p, t, index);
        return;
    }
    if (t->kind != TC_SH_VECTOR && t->kind != TC_SH_MATRIX && t->kind != TC_SH_ARRAY &&
        t->kind != TC_SH_RUNTIME_ARRAY) {
        ti_sh_fail(r, "an access chain goes into something that has no parts");
        return;
    }
    e = ti_sh_type(r, t->element);
    if (!bytes)
        stride = e->slots;
    else if (t->kind == TC_SH_VECTOR)
        stride = p->stride ? p->stride : bytes_of(r, t);
    else if (t->kind == TC_SH_MATRIX) {
        stride = p->by_rows ? bytes_of(r, t) : p->columns;
        p->stride = p->by_rows ? p->columns : 0;
    } else
        stride = t->stride;
    if (!stride)
        ti_sh_fail(r, "an array or matrix in a buffer has no stride");
    step_into(r, p, index, stride, t->kind == TC_SH_RUNTIME_ARRAY ? 0 : t->count);
    p->of = t->element;
}

static void access_chain(tc_sh_reader *r)
{
    tc_sh_id place = *ti_sh_id(r, ti_sh_word(r, 2));
    const tc_sh_type *pointer = ti_sh_type(r, ti_sh_word(r, 0));
    if (place.is != TC_SH_PLACE)
        ti_sh_fail(r, "an access chain begins at something that is not a variable");
    for (size_t i = 3; i < r->at.n && !r->error; i++)
        into(r, &place, ti_sh_word(r, i));
    if (pointer->kind != TC_SH_POINTER || pointer->element != place.of)
        ti_sh_fail(r, "an access chain ends at something that is not of its type");
    tc_sh_id *id = ti_sh_id(r, ti_sh_word(r, 1));
    *id = (tc_sh_id){.instr = id->instr, .is = TC_SH_PLACE, .of = place.of, .space = place.space,
                     .base = place.base, .offset = place.offset, .moving = place.moving,
                     .stride = place.stride, .columns = place.columns, .by_rows = place.by_rows,
                     .set = place.set, .binding = place.binding};
}

/* ---- loads and stores ------------------------------------------------------------------------ */

/* A value between registers and bytes, part by part. */
static void transfer(tc_sh_reader *r, const tc_sh_id *p, const tc_sh_type *t, uint32_t slot,
                     bool store)
{
    const tc_sh_type *scalar = ti_sh_scalar(r, t);
    tc_sh_id part = *p;
    if (r->error)
        return;
    if (p->offset > UINT32_MAX / 2) {
        ti_sh_fail(r, "a member lies too far away");
    } else if (scalar && t->kind != TC_SH_MATRIX) {
        if (scalar->kind == TC_SH_BOOL)
            ti_sh_fail(r, "a buffer holds truth values");
        uint32_t port = p->space == TC_SH_PUSH ? TC_SH_NO_PORT : p->base;
        ti_sh_put(r, (tc_sh_ins){.step = store ? step_store_bytes : step_load_bytes, .out = slot,
                                 .a = port, .b = p->moving, .c = p->offset,
                                 .d = p->stride ? p->stride : scalar->bits / 8,
                                 .n = (uint16_t)t->slots, .bits = (uint16_t)scalar->bits});
    } else if (t->kind == TC_SH_STRUCT) {
        for (uint32_t i = 0; i < t->count && !r->error; i++) {
            const tc_sh_type *member = ti_sh_type(r, t->member[i]);
            part.offset = p->offset + t->offset[i];
            part.columns = t->columns[i];
            part.by_rows = t->by_rows[i];
            part.stride = 0;
            transfer(r, &part, member, slot, store);
            slot += member->slots;
        }
    } else if (t->kind == TC_SH_ARRAY || t->kind == TC_SH_MATRIX) {
        const tc_sh_type *e = ti_sh_type(r, t->element);
        uint32_t stride = t->stride;
        if (t->kind == TC_SH_MATRIX) {
            stride = p->by_rows ? bytes_of(r, t) : p->columns;
            part.stride = p->by_rows ? p->columns : 0;
        }
        for (uint32_t i = 0; i < t->count && !r->error; i++, slot += e->slots) {
            transfer(r, &part, e, slot, store);
            part.offset += stride;
        }
    } else
        ti_sh_fail(r, "a value of this type cannot be loaded or stored");
}

/* The port of a buffer pointer exists, and a store goes to a result. */
static void check_place(tc_sh_reader *r, const tc_sh_id *p)
{
    if (p->space == TC_SH_PORT && p->base == TC_SH_NO_PORT)
        ti_sh_fail(r, "set %" PRIu32 ", binding %" PRIu32 " is neither an operand nor a result",
                   p->set, p->binding);
}

void ti_sh_load_from(tc_sh_reader *r, const tc_sh_id *p, uint32_t out, const tc_sh_type *t)
{
    check_place(r, p);
    if (p->space != TC_SH_REGISTERS)
        transfer(r, p, t, out, false);
    else if (!p->moving)
        ti_sh_move(r, out, p->base + p->offset, t->slots);
    else
        ti_sh_put(r, (tc_sh_ins){.step = step_load_moving, .out = out, .a = p->base + p->offset,
                                 .b = p->moving, .n = (uint16_t)t->slots});
}

void ti_sh_store_to(tc_sh_reader *r, const tc_sh_id *p, uint32_t from, const tc_sh_type *t)
{
    check_place(r, p);
    if (p->space == TC_SH_PORT)
        ti_sh_check_written(r, p->base);
    if (p->space == TC_SH_PUSH || (p->space == TC_SH_REGISTERS && p->base < TC_SH_FIRST_FREE))
        ti_sh_fail(r, "a store goes to something that cannot be written");
    else if (p->space == TC_SH_PORT)
        transfer(r, p, t, from, true);
    else if (!p->moving)
        ti_sh_move(r, p->base + p->offset, from, t->slots);
    else
        ti_sh_put(r, (tc_sh_ins){.step = step_store_moving, .out = p->base + p->offset, .a = from,
                                 .b = p->moving, .n = (uint16_t)t->slots});
}

static void load(tc_sh_reader *r)
{
    const tc_sh_id from = *ti_sh_id(r, ti_sh_word(r, 2));
    const tc_sh_type *t = ti_sh_type(r, ti_sh_word(r, 0));
    if (from.is == TC_SH_RESOURCE) {
        tc_sh_id *id = ti_sh_id(r, ti_sh_word(r, 1));
        id->is = TC_SH_RESOURCE;
        id->of = from.of;
        id->base = from.base;
        id->sampler = from.sampler;
        return;
    }
    if (from.is != TC_SH_PLACE || from.of != ti_sh_word(r, 0)) {
        ti_sh_fail(r, "a load is not from a place of its type");
        return;
    }
    ti_sh_load_from(r, &from, ti_sh_result(r, &t), t);
}

static void store(tc_sh_reader *r)
{
    const tc_sh_type *t;
    const tc_sh_id to = *ti_sh_id(r, ti_sh_word(r, 0));
    uint32_t from = ti_sh_value(r, ti_sh_word(r, 1), &t);
    if (to.is != TC_SH_PLACE || ti_sh_type(r, to.of) != t) {
        ti_sh_fail(r, "a store is not to a place of its type");
        return;
    }
    ti_sh_store_to(r, &to, from, t);
}

static void copy_memory(tc_sh_reader *r)
{
    const tc_sh_id to = *ti_sh_id(r, ti_sh_word(r, 0)), from = *ti_sh_id(r, ti_sh_word(r, 1));
    if (to.is != TC_SH_PLACE || from.is != TC_SH_PLACE ||
        ti_sh_type(r, to.of)->slots != ti_sh_type(r, from.of)->slots) {
        ti_sh_fail(r, "a copy is not between places of one type");
        return;
    }
    const tc_sh_type *t = ti_sh_type(r, from.of);
    uint32_t room = ti_sh_registers(r, t->slots);
    ti_sh_load_from(r, &from, room, t);
    ti_sh_store_to(r, &to, room, ti_sh_type(r, to.of));
}

/* A whole number that is known by now is a result that never changes. */
static void known_result(tc_sh_reader *r, uint64_t number)
{
    const tc_sh_type *t;
    uint32_t slot = ti_sh_result(r, &t);
    if (t->kind != TC_SH_INT || r->error)
        ti_sh_fail(r, "a size is not an integer");
    else
        r->program->start[slot] = number & UINT64_MAX >> (64 - t->bits);
}

static void array_length(tc_sh_reader *r)
{
    const tc_sh_id *p = ti_sh_id(r, ti_sh_word(r, 2));
    const tc_sh_type *t = p->is == TC_SH_PLACE ? ti_sh_type(r, p->of) : NULL;
    uint32_t i = ti_sh_word(r, 3);
    const tc_sh_type *array =
        t && t->kind == TC_SH_STRUCT && i < t->count ? ti_sh_type(r, t->member[i]) : NULL;
    if (!array || array->kind != TC_SH_RUNTIME_ARRAY || !array->stride || p->space != TC_SH_PORT ||
        p->base == TC_SH_NO_PORT) {
        ti_sh_fail(r, "the length is asked of something that is no array of a buffer");
        return;
    }
    size_t bytes = r->interface->port[p->base].bytes, before = p->offset + (size_t)t->offset[i];
    known_result(r, bytes < before ? 0 : (bytes - before) / array->stride);
}

/* ---- tensors --------------------------------------------------------------------------------- */

static const tc_sh_port *tensor_of(tc_sh_reader *r, uint32_t id, uint32_t *number,
                                   const tc_sh_type **type)
{
    const tc_sh_id *v = ti_sh_id(r, id);
    *type = v->is == TC_SH_RESOURCE ? ti_sh_type(r, v->of) : NULL;
    *number = v->base;
    if (!*type || (*type)->kind != TC_SH_TENSOR || v->base == TC_SH_NO_PORT) {
        ti_sh_fail(r, "%%%" PRIu32 " is not a tensor that is an operand or result", id);
        return NULL;
    }
    return &r->interface->port[v->base];
}

static void tensor_access(tc_sh_reader *r)
{
    bool write = r->at.op == TC_SPV_TensorWriteARM;
    size_t first = write ? 0 : 2, mask_at = first + (write ? 3 : 2);
    uint32_t port, mask = ti_sh_word(r, mask_at);
    const tc_sh_type *tensor, *coordinates, *t, *o;
    uint32_t other = 0;
    const tc_sh_port *p = tensor_of(r, ti_sh_word(r, first), &port, &tensor);
    uint32_t at = ti_sh_value(r, ti_sh_word(r, first + 1), &coordinates);
    uint32_t slot = write ? ti_sh_value(r, ti_sh_word(r, 2), &t) : ti_sh_result(r, &t);
    if (!p || r->error)
        return;
    if (write)
        ti_sh_check_written(r, port);
    const tc_sh_type *element = ti_sh_type(r, tensor->element);
    const tc_sh_type *scalar = t->kind == TC_SH_ARRAY ? ti_sh_type(r, t->element) : t;
    if (coordinates->kind != TC_SH_ARRAY || coordinates->count != p->rank ||
        coordinates->slots != p->rank || scalar != element)
        ti_sh_fail(r, "a tensor is accessed with coordinates of another rank, or another type");
    if (!write && mask & WORD_OUT_OF_BOUNDS) {
        other = ti_sh_value(r, ti_sh_word(r, mask_at + 1), &o);
        if (o != element)
            ti_sh_fail(r, "what stands for elements outside is of another type");
    }
    ti_sh_put(r, (tc_sh_ins){.step = write ? step_tensor_write : step_tensor_read,
                             .out = write ? 0 : slot, .a = at, .b = write ? slot : other, .c = port,
                             .n = (uint16_t)t->slots, .bits = (uint16_t)element->bits});
}

static void tensor_size(tc_sh_reader *r)
{
    uint32_t port;
    uint64_t axis;
    const tc_sh_type *type;
    const tc_sh_port *p = tensor_of(r, ti_sh_word(r, 2), &port, &type);
    if (!ti_sh_constant(r, ti_sh_word(r, 3), &axis) || !p || axis >= p->rank)
        ti_sh_fail(r, "a size is asked of an axis that a tensor does not have");
    else
        known_result(r, (uint64_t)p->dim[axis]);
}

bool ti_sh_memory(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        void (*read)(tc_sh_reader *);
    } rows[] = {{TC_SPV_Variable, ti_sh_variable},
                {TC_SPV_AccessChain, access_chain},
                {TC_SPV_InBoundsAccessChain, access_chain},
                {TC_SPV_Load, load},
                {TC_SPV_Store, store},
                {TC_SPV_CopyMemory, copy_memory},
                {TC_SPV_ArrayLength, array_length},
                {TC_SPV_TensorReadARM, tensor_access},
                {TC_SPV_TensorWriteARM, tensor_access},
                {TC_SPV_TensorQuerySizeARM, tensor_size}};
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == r->at.op) {
            rows[i].read(r);
            return true;
        }
    return false;
}
