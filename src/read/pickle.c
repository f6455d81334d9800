/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.c -- the machine that pickles are programs for, with just the instructions that
 * dictionaries of tensors need, and just the functions that rebuild them.  A pickle that needs more
 * is rejected. */
#include "pickle.h"

#include "../wire/archive.h"

typedef enum kind {
    MARK,
    NONE,
    BOOL,
    INT,
    FLOAT,
    TEXT,
    LIST,   /* also tuples */
    DICT,   /* keys and values alternate */
    GLOBAL, /* a function or class, by name */
    STORAGE,
    TENSOR
} kind;

typedef struct value {
    kind kind;
    uint32_t n; /* TEXT: bytes */
    union {
        int64_t i;                /* BOOL, INT */
        const char *text;         /* TEXT */
        struct group *group;      /* LIST, DICT */
        const struct global *global;
        struct storage *storage;
        tc_stored *tensor;
    } as;
} value;

typedef struct group {
    value *item;
    size_t n, cap;
} group;

typedef struct storage {
    tc_dtype dtype; /* none: bytes of any type */
    tc_bytes bytes;
} storage;

typedef struct machine {
    tc_ctx *ctx;
    tc_arena *arena;
    tc_archive archive;
    const char *root;
    const uint8_t *begin, *at, *end;
    bool swapped;
    value *stack;
    size_t n_stack, cap_stack;
    value *memo;
    size_t n_memo, cap_memo;
    tc_status status; /* the first failure */
} machine;

typedef enum role {
    IS_TENSOR_V2,
    IS_TENSOR_V3,
    IS_PARAMETER,
    IS_ORDERED_DICT,
    IS_SIZE,
    IS_STORAGE,
    IS_DTYPE
} role;

/* Everything that a pickle may name. */
static const struct global {
    const char *module, *name;
    role role;
    tc_dtype dtype;
} globals[] = {
    {"torch._utils", "_rebuild_tensor_v2", IS_TENSOR_V2, TC_none},
    {"torch._utils", "_rebuild_tensor_v3", IS_TENSOR_V3, TC_none},
    {"torch._utils", "_rebuild_parameter", IS_PARAMETER, TC_none},
    {"collections", "OrderedDict", IS_ORDERED_DICT, TC_none},
    {"torch", "Size", IS_SIZE, TC_none},
    {"torch", "FloatStorage", IS_STORAGE, TC_f32},
    {"torch", "DoubleStorage", IS_STORAGE, TC_f64},
    {"torch", "HalfStorage", IS_STORAGE, TC_f16},
    {"torch", "BFloat16Storage", IS_STORAGE, TC_bf16},
    {"torch", "LongStorage", IS_STORAGE, TC_i64},
    {"torch", "IntStorage", IS_STORAGE, TC_i32},
    {"torch", "ShortStorage", IS_STORAGE, TC_i16},
    {"torch", "CharStorage", IS_STORAGE, TC_i8},
    {"torch", "ByteStorage", IS_STORAGE, TC_u8},
    {"torch", "BoolStorage", IS_STORAGE, TC_bool},
    {"torch", "ComplexFloatStorage", IS_STORAGE, TC_c64},
    {"torch.storage", "UntypedStorage", IS_STORAGE, TC_none},
    {"torch", "UntypedStorage", IS_STORAGE, TC_none},
    {"torch", "float32", IS_DTYPE, TC_f32},
    {"torch", "float64", IS_DTYPE, TC_f64},
    {"torch", "float16", IS_DTYPE, TC_f16},
    {"torch", "bfloat16", IS_DTYPE, TC_bf16},
    {"torch", "int64", IS_DTYPE, TC_i64},
    {"torch", "int32", IS_DTYPE, TC_i32},
    {"torch", "int16", IS_DTYPE, TC_i16},
    {"torch", "int8", IS_DTYPE, TC_i8},
    {"torch", "uint8", IS_DTYPE, TC_u8},
    {"torch", "uint16", IS_DTYPE, TC_u16},
    {"torch", "uint32", IS_DTYPE, TC_u32},
    {"torch", "uint64", IS_DTYPE, TC_u64},
    {"torch", "bool", IS_DTYPE, TC_bool},
    {"torch", "complex64", IS_DTYPE, TC_c64},
    {"torch", "float8_e4m3fn", IS_DTYPE, TC_e4m3},
    {"torch", "float8_e5m2", IS_DTYPE, TC_e5m2},
};

static tc_loc *here(machine *m)
{
    return ti_archive_loc(&m->archive, ti_text_format(&m->ctx->arena, "data.pkl: byte %zu",
                                                      (size_t)(m->at - m->begin)));
}

static void fail(machine *m, tc_diag_id id, const char *reason)
{
    if (m->status == TC_OK)
        m->status = ti_error(m->ctx, here(m), id, "%s", reason);
}

static const uint8_t *take(machine *m, size_t n)
{
    static const uint8_t zeros[8];
    if (n <= (size_t)(m->end - m->at))
        return (m->at += n) - n;
    fail(m, TC_E_TRUNCATED, "the pickle ends inside an instruction");
    m->at = m->end;
    return zeros;
}

/* A line of text, as GLOBAL has two of. */
static tc_str take_line(machine *m)
{
    const uint8_t *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end) {
        fail(m, TC_E_TRUNCATED, "the pickle ends inside a name");
        return (tc_str){"", 0};
    }
    tc_str line = {(const char *)m->at, (size_t)(end - m->at)};
    m->at = end + 1;
    return line;
}

static void push(machine *m, value v)
{
    tc_grow(m->arena, m->stack, m->n_stack, m->cap_stack);
    m->stack[m->n_stack++] = v;
}

static value pop(machine *m)
{
    if (m->n_stack && m->stack[m->n_stack - 1].kind != MARK)
        return m->stack[--m->n_stack];
    fail(m, TC_E_FORMAT, "an instruction without its operand");
    return (value){.kind = NONE};
}

/* Where the values above the last mark begin; the mark goes. */
static size_t pop_mark(machine *m)
{
    for (size_t i = m->n_stack; i-- > 0;)
        if (m->stack[i].kind == MARK)
            return i;
    fail(m, TC_E_FORMAT, "an instruction without its mark");
    return m->n_stack;
}

static value *top(machine *m)
{
    if (m->n_stack && m->stack[m->n_stack - 1].kind != MARK)
        return &m->stack[m->n_stack - 1];
    fail(m, TC_E_FORMAT, "an instruction without its operand");
    return NULL;
}

static value new_group(machine *m, kind k)
{
    return (value){.kind = k, .as.group = tc_new(m->arena, group)};
}

static void put(machine *m, value into, value v)
{
    group *g = into.as.group;
    tc_grow(m->arena, g->item, g->n, g->cap);
    g->item[g->n++] = v;
}

/* The last n values as a tuple. */
static void make_tuple(machine *m, size_t n)
{
    if (n > m->n_stack) {
        fail(m, TC_E_FORMAT, "a tuple without its elements");
        return;
    }
    value tuple = new_group(m, LIST);
    for (size_t i = m->n_stack - n; i < m->n_stack; i++) {
        if (m->stack[i].kind == MARK)
            fail(m, TC_E_FORMAT, "a tuple without its elements");
        put(m, tuple, m->stack[i]);
    }
    m->n_stack -= n;
    push(m, tuple);
}

static void make_tuple_from_mark(machine *m)
{
    size_t mark = pop_mark(m);
    TC_STOP(m);
    make_tuple(m, m->n_stack - mark - 1);
    if (m->status == TC_OK) { /* the tuple replaces the mark */
        m->stack[m->n_stack - 2] = m->stack[m->n_stack - 1];
        m->n_stack--;
    }
}

/* Values above the mark into the list or dictionary below it. */
static void put_all(machine *m, kind k)
{
    size_t mark = pop_mark(m);
    TC_STOP(m);
    if (mark == 0 || m->stack[mark - 1].kind != k || (k == DICT && (m->n_stack - mark - 1) % 2)) {
        fail(m, TC_E_FORMAT, "elements without their list or dictionary");
        return;
    }
    for (size_t i = mark + 1; i < m->n_stack; i++)
        put(m, m->stack[mark - 1], m->stack[i]);
    m->n_stack = mark;
}

static void put_last(machine *m, kind k, size_t n)
{
    if (m->n_stack < n + 1 || m->stack[m->n_stack - n - 1].kind != k) {
        fail(m, TC_E_FORMAT, "an element without its list or dictionary");
        return;
    }
    for (size_t i = m->n_stack - n; i < m->n_stack; i++)
        put(m, m->stack[m->n_stack - n - 1], m->stack[i]);
    m->n_stack -= n;
}

static void remember(machine *m, size_t index)
{
    value *v = top(m);
    if (!v)
        return;
    if (index > m->n_memo) {
        fail(m, TC_E_FORMAT, "a memo that is not numbered in order");
        return;
    }
    if (index == m->n_memo) {
        tc_grow(m->arena, m->memo, m->n_memo, m->cap_memo);
        m->n_memo++;
    }
    m->memo[index] = *v;
}

static void recall(machine *m, size_t index)
{
    if (index < m->n_memo)
        push(m, m->memo[index]);
    else
        fail(m, TC_E_FORMAT, "a memo that was never written");
}

static void push_int(machine *m, int64_t i)
{
    push(m, (value){.kind = INT, .as.i = i});
}

/* An integer of n little-endian bytes. */
static void push_long(machine *m, size_t n)
{
    const uint8_t *p = take(m, n);
    uint64_t bits = 0;
    if (n > 8)
        fail(m, TC_E_TOO_LARGE, "an integer of more than 64 bits");
    else {
        for (size_t i = 0; i < n; i++)
            bits |= (uint64_t)p[i] << 8 * i;
        if (n && n < 8 && p[n - 1] & 0x80)
            bits |= UINT64_MAX << 8 * n;
    }
    push_int(m, (int64_t)bits);
}

static void push_text(machine *m)
{
    size_t n = ti_le32(take(m, 4));
    const uint8_t *text = take(m, n);
    push(m, (value){.kind = TEXT,
                    .n = m->status == TC_OK ? (uint32_t)n : 0,
                    .as.text = (const char *)text});
}

static void push_global(machine *m)
{
    tc_str module = take_line(m), name = take_line(m);
    for (size_t i = 0; i < TC_COUNT(globals); i++)
        if (ti_str_is(module, globals[i].module) && ti_str_is(name, globals[i].name)) {
            push(m, (value){.kind = GLOBAL, .as.global = &globals[i]});
            return;
        }
    if (m->status == TC_OK) {
        m->status = ti_error(m->ctx, here(m), TC_E_FORMAT,
                             "the pickle asks for '%.*s.%.*s', which is not a plain tensor",
                             module.n > 80 ? 80 : (int)module.n, module.p,
                             name.n > 80 ? 80 : (int)name.n, name.p);
        ti_note(m->ctx, here(m),
                "pickles are read as data, never executed; export the model again with torch 2.9 "
                "or later");
    }
}

/* ('storage', class, key, device, elements) -> the bytes of data/<key> */
static void load_storage(machine *m)
{
    value id = pop(m);
    group *g = id.kind == LIST ? id.as.group : NULL;
    if (!g || g->n < 3 || g->item[0].kind != TEXT || g->item[1].kind != GLOBAL ||
        g->item[2].kind != TEXT || g->item[1].as.global->role != IS_STORAGE) {
        fail(m, TC_E_FORMAT, "a reference to something that is not a storage");
        return;
    }
    tc_str key = {g->item[2].as.text, g->item[2].n};
    const char *name =
        ti_text_format(m->arena, "%sdata/%.*s", m->root, key.n > 200 ? 200 : (int)key.n, key.p);
    tc_member *member = ti_archive_find(&m->archive, name);
    storage *s = tc_new(m->arena, storage);
    s->dtype = g->item[1].as.global->dtype;
    if (!member) {
        if (m->status == TC_OK)
            m->status = ti_error(m->ctx, here(m), TC_E_FORMAT, "there is no member '%s'", name);
        return;
    }
    m->status = ti_archive_read(&m->archive, member, &s->bytes);
    push(m, (value){.kind = STORAGE, .as.storage = s});
}

static int32_t read_dims(machine *m, value v, int64_t out[TC_MAX_RANK])
{
    group *g = v.kind == LIST ? v.as.group : NULL;
    if (!g || g->n > TC_MAX_RANK) {
        fail(m, TC_E_FORMAT, "a tensor with a wrong shape, or with more than eight axes");
        return 0;
    }
    for (size_t i = 0; i < g->n; i++) {
        out[i] = g->item[i].as.i;
        if (g->item[i].kind != INT)
            fail(m, TC_E_FORMAT, "a tensor whose shape is not made of integers");
    }
    return (int32_t)g->n;
}

/* (storage, offset, shape, strides, requires_grad, hooks[, dtype]) */
static void rebuild_tensor(machine *m, const group *args, bool v3)
{
    if (args->n < (v3 ? 7u : 4u) || args->item[0].kind != STORAGE || args->item[1].kind != INT) {
        fail(m, TC_E_FORMAT, "a tensor without its storage");
        return;
    }
    tc_stored *t = tc_new(m->arena, tc_stored);
    const storage *s = args->item[0].as.storage;
    t->dtype = s->dtype;
    if (v3 && args->item[6].kind == GLOBAL && args->item[6].as.global->role == IS_DTYPE)
        t->dtype = args->item[6].as.global->dtype;
    t->offset = args->item[1].as.i;
    t->rank = read_dims(m, args->item[2], t->dim);
    if (read_dims(m, args->item[3], t->stride) != t->rank || t->dtype == TC_none)
        fail(m, TC_E_FORMAT, "a tensor without its strides or its element type");
    t->storage = s->bytes;
    t->swapped = m->swapped;
    push(m, (value){.kind = TENSOR, .as.tensor = t});
}

static void reduce(machine *m)
{
    value args = pop(m), function = pop(m);
    if (args.kind != LIST || function.kind != GLOBAL) {
        fail(m, TC_E_FORMAT, "a call of something that is not a function");
        return;
    }
    const group *g = args.as.group;
    switch (function.as.global->role) {
    case IS_TENSOR_V2:
    case IS_TENSOR_V3:
        rebuild_tensor(m, g, function.as.global->role == IS_TENSOR_V3);
        return;
    case IS_PARAMETER:
        if (g->n && g->item[0].kind == TENSOR) {
            push(m, g->item[0]);
            return;
        }
        break;
    case IS_ORDERED_DICT:
        if (!g->n) {
            push(m, new_group(m, DICT));
            return;
        }
        break;
    case IS_SIZE:
        if (g->n == 1 && g->item[0].kind == LIST) {
            push(m, g->item[0]);
            return;
        }
        break;
    default:
        break;
    }
    fail(m, TC_E_FORMAT, "a call without a tensor result");
}

/* Attributes of a dictionary say nothing about its tensors. */
static void build(machine *m)
{
    value state = pop(m), *object = top(m);
    if (m->status == TC_OK && (object->kind != DICT || (state.kind != DICT && state.kind != LIST)))
        fail(m, TC_E_FORMAT, "attributes of something that is not a dictionary");
}

/* One instruction; false after the last. */
static bool step(machine *m)
{
    uint8_t op = *take(m, 1);
    switch (op) {
    case 0x80: take(m, 1); break;                                  /* PROTO */
    case '(': push(m, (value){.kind = MARK}); break;               /* MARK */
    case 'c': push_global(m); break;                               /* GLOBAL */
    case 'q': remember(m, *take(m, 1)); break;                     /* BINPUT */
    case 'r': remember(m, ti_le32(take(m, 4))); break;             /* LONG_BINPUT */
    case 'h': recall(m, *take(m, 1)); break;                       /* BINGET */
    case 'j': recall(m, ti_le32(take(m, 4))); break;               /* LONG_BINGET */
    case 'X': push_text(m); break;                                 /* BINUNICODE */
    case ')': push(m, new_group(m, LIST)); break;                  /* EMPTY_TUPLE */
    case 't': make_tuple_from_mark(m); break;                      /* TUPLE */
    case 0x85: make_tuple(m, 1); break;                            /* TUPLE1 */
    case 0x86: make_tuple(m, 2); break;                            /* TUPLE2 */
    case 0x87: make_tuple(m, 3); break;                            /* TUPLE3 */
    case ']': push(m, new_group(m, LIST)); break;                  /* EMPTY_LIST */
    case 'a': put_last(m, LIST, 1); break;                         /* APPEND */
    case 'e': put_all(m, LIST); break;                             /* APPENDS */
    case '}': push(m, new_group(m, DICT)); break;                  /* EMPTY_DICT */
    case 's': put_last(m, DICT, 2); break;                         /* SETITEM */
    case 'u': put_all(m, DICT); break;                             /* SETITEMS */
    case 'N': push(m, (value){.kind = NONE}); break;               /* NONE */
    case 0x88: push(m, (value){.kind = BOOL, .as.i = 1}); break;   /* NEWTRUE */
    case 0x89: push(m, (value){.kind = BOOL}); break;              /* NEWFALSE */
    case 'K': push_int(m, *take(m, 1)); break;                     /* BININT1 */
    case 'M': push_int(m, ti_le16(take(m, 2))); break;             /* BININT2 */
    case 'J': push_int(m, (int32_t)ti_le32(take(m, 4))); break;    /* BININT */
    case 0x8a: push_long(m, *take(m, 1)); break;                   /* LONG1 */
    case 'G': take(m, 8); push(m, (value){.kind = FLOAT}); break;  /* BINFLOAT */
    case 'Q': load_storage(m); break;                              /* BINPERSID */
    case 'R': reduce(m); break;                                    /* REDUCE */
    case 'b': build(m); break;                                     /* BUILD */
    case '.': return false;                                        /* STOP */
    default:
        if (m->status == TC_OK)
            m->status = ti_error(m->ctx, here(m), TC_E_FORMAT,
                                 "instruction 0x%02x, which no dictionary of tensors needs", op);
    }
    return m->status == TC_OK;
}

/* The tensors of what the program left: a dictionary by their keys, a lone one by "". */
static void collect(machine *m, tc_map *out)
{
    value result = pop(m);
    if (m->status == TC_OK && result.kind == TENSOR) {
        *ti_map_at(out, ti_str_of("")) = result.as.tensor;
        return;
    }
    if (m->status == TC_OK && result.kind != DICT)
        fail(m, TC_E_FORMAT, "the pickle holds no dictionary of tensors");
    for (size_t i = 0; m->status == TC_OK && i + 1 < result.as.group->n; i += 2) {
        value key = result.as.group->item[i], tensor = result.as.group->item[i + 1];
        if (key.kind == TEXT && tensor.kind == TENSOR)
            *ti_map_at(out, (tc_str){key.as.text, key.n}) = tensor.as.tensor;
    }
}

/* What all names in the archive begin with: "archive/". */
static const char *root_of(const tc_archive *a, tc_arena *arena)
{
    const char *first = a->n_member ? a->member[0].name : "", *slash = strchr(first, '/');
    return ti_text_copy(arena, (tc_str){first, slash ? (size_t)(slash + 1 - first) : 0});
}

static tc_status read_order(machine *m)
{
    tc_member *member =
        ti_archive_find(&m->archive, ti_text_format(m->arena, "%sbyteorder", m->root));
    tc_bytes order;
    if (!member)
        return TC_OK;
    TC_TRY(ti_archive_read(&m->archive, member, &order));
    m->swapped = order.size == 3 && memcmp(order.data, "big", 3) == 0;
    return TC_OK;
}

tc_status ti_pickle_read(tc_ctx *ctx, tc_arena *arena, const char *file, const char *inside,
                         tc_bytes bytes, tc_map *out)
{
    machine m = {.ctx = ctx, .arena = arena};
    if (!bytes.size)
        return TC_OK;
    TC_TRY(ti_archive_open(ctx, arena, file, inside, bytes, &m.archive));
    m.root = root_of(&m.archive, arena);
    tc_member *program = ti_archive_find(&m.archive, ti_text_format(arena, "%sdata.pkl", m.root));
    if (!program)
        return ti_error(ctx, ti_archive_loc(&m.archive, "data.pkl"), TC_E_FORMAT,
                        "no such member: not a torch.save file");
    tc_bytes code;
    TC_TRY(ti_archive_read(&m.archive, program, &code));
    TC_TRY(read_order(&m));
    m.begin = m.at = code.data;
    m.end = code.data + code.size;
    while (step(&m))
        continue;
    if (m.status == TC_OK)
        collect(&m, out);
    return m.status;
}
