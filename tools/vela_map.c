/* SPDX-License-Identifier: Apache-2.0 */
/* vela_map.c -- see vela_map.h. */
#include "vela_map.h"

enum { COLUMNS = 24, MOST_ID = 1 << 24 };

/* Rows of a table: whole numbers, and words as where they begin. */
typedef struct row {
    int64_t number[COLUMNS];
    tc_str word[COLUMNS];
} row;

typedef struct table {
    row *row;
    size_t n, cap;
    tc_str name[COLUMNS];
    int columns;
} table;

struct tc_vela_map {
    tc_arena *arena;
    struct entry {
        size_t word;
        int64_t id;    /* of the scheduled operation; -1 */
        size_t scheduled;
    } * entry; /* by word */
    size_t n;
    tc_vela_cost *cost;
    size_t n_cost;
};

static const char *find(const char *at, const char *end, const char *what)
{
    size_t n = strlen(what);
    for (; (size_t)(end - at) >= n; at++)
        if (*at == *what && memcmp(at, what, n) == 0)
            return at;
    return NULL;
}

/* One field, up to a comma or the end of the line. */
static const char *field(const char *at, const char *end, tc_str *out)
{
    if (at < end && *at == '"') {
        const char *from = ++at;
        while (at < end && *at != '"')
            at++;
        *out = (tc_str){from, (size_t)(at - from)};
        return at < end ? at + 1 : at;
    }
    const char *from = at;
    while (at < end && *at != ',' && *at != '\n')
        at++;
    *out = (tc_str){from, (size_t)(at - from)};
    return at;
}

static int64_t whole(tc_str s)
{
    int64_t v = 0;
    size_t i = 0;
    bool minus = s.n && s.p[0] == '-';
    for (i = minus; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && v < INT64_MAX / 16; i++)
        v = 10 * v + (s.p[i] - '0');
    return minus ? -v : v;
}

static table read_table(tc_arena *arena, tc_bytes xml, const char *name)
{
    table t = {0};
    const char *begin = (const char *)xml.data, *end = begin + xml.size;
    const char *head = ti_text_format(arena, "<table name=\"%s\">", name);
    const char *at = find(begin, end, head);
    at = at ? find(at, end, "<![CDATA[") : NULL;
    const char *stop = at ? find(at, end, "]]>") : NULL;
    if (!stop)
        return t;
    at += strlen("<![CDATA[");
    for (bool first = true; at < stop;) {
        while (at < stop && (*at == '\n' || *at == '\r'))
            at++;
        if (at >= stop)
            break;
        row r = {0};
        int n = 0;
        while (at < stop && *at != '\n') {
            tc_str s;
            at = field(at, stop, &s);
            if (n < COLUMNS) {
                r.word[n] = s;
                r.number[n] = whole(s);
                n++;
            }
            if (at < stop && *at == ',')
                at++;
            else
                while (at < stop && *at != '\n')
                    at++;
        }
        if (first) {
            memcpy(t.name, r.word, sizeof t.name);
            t.columns = n;
            first = false;
            continue;
        }
        tc_grow(arena, t.row, t.n, t.cap);
        t.row[t.n++] = r;
    }
    return t;
}

static int column(const table *t, const char *name)
{
    for (int i = 0; i < t->columns; i++)
        if (ti_str_is(t->name[i], name))
            return i;
    return -1;
}

/* The row whose first column is this number; rows are in order of it, or nearly. */
static const row *row_of(const table *t, int64_t id)
{
    if (id > 0 && (size_t)id <= t->n && t->row[id - 1].number[0] == id)
        return &t->row[id - 1];
    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].number[0] == id)
            return &t->row[i];
    return NULL;
}

/* Rows by the number in one of their columns; SIZE_MAX: none has it. */
static size_t *rows_by(tc_arena *arena, const table *t, int column, size_t *n)
{
    int64_t most = 0;
    for (size_t i = 0; i < t->n; i++)
        most = t->row[i].number[column] > most && t->row[i].number[column] < MOST_ID
                   ? t->row[i].number[column]
                   : most;
    *n = (size_t)most + 1;
    size_t *of = tc_new_n(arena, size_t, *n);
    memset(of, 0xff, *n * sizeof *of);
    for (size_t i = t->n; i-- > 0;)
        if (t->row[i].number[column] >= 0 && t->row[i].number[column] <= most)
            of[t->row[i].number[column]] = i;
    return of;
}

static int64_t number_at(const row *r, int at) { return r && at >= 0 ? r->number[at] : 0; }

static void read_costs(tc_vela_map *m, const table *queue, const table *source, tc_bytes xml)
{
    table perf = read_table(m->arena, xml, "perf");
    int cycles = column(&perf, "op_cycles"), npu = column(&perf, "npu_cycles"),
        kind = column(&perf, "operator"), scheduled = column(queue, "scheduled_id"),
        macs = column(&perf, "mac_count"), sram = column(&perf, "Sram_ac"),
        dram = column(&perf, "Dram_ac"), flash = column(&perf, "OffChipFlash_ac"),
        key = column(source, "ext_key"), from = column(&perf, "source_id");
    if (cycles < 0 || npu < 0 || kind < 0 || scheduled < 0)
        return;
    size_t n_queue, n_perf, *in_queue = rows_by(m->arena, queue, scheduled, &n_queue),
                            *in_perf = rows_by(m->arena, &perf, 0, &n_perf);
    m->cost = tc_new_n(m->arena, tc_vela_cost, perf.n);
    for (size_t i = 0; i < perf.n; i++) {
        int64_t id = perf.row[i].number[0];
        size_t at = id >= 0 && (size_t)id < n_queue ? in_queue[id] : SIZE_MAX;
        const row *r = &perf.row[i], *origin = from >= 0 ? row_of(source, r->number[from]) : NULL;
        m->cost[m->n_cost++] =
            (tc_vela_cost){.word = at == SIZE_MAX ? SIZE_MAX : (size_t)queue->row[at].number[0] / 4,
                           .cycles = r->number[cycles],
                           .npu_cycles = r->number[npu],
                           .macs = number_at(r, macs),
                           .kind = ti_text_copy(m->arena, r->word[kind]),
                           .sram_cycles = number_at(r, sram),
                           .other_cycles = number_at(r, dram) + number_at(r, flash),
                           .place = origin && key >= 0 ? origin->number[key] : -1};
    }
    for (size_t i = 0; i < m->n; i++) {
        int64_t id = m->entry[i].id;
        m->entry[i].scheduled = id >= 0 && (size_t)id < n_perf ? in_perf[id] : SIZE_MAX;
    }
}

tc_vela_map *ti_vela_map_read(tc_arena *arena, tc_bytes xml)
{
    table queue = read_table(arena, xml, "queue"), optimised = read_table(arena, xml, "optimised"),
          source = read_table(arena, xml, "source");
    int op = column(&queue, "optimised_id"), from = column(&optimised, "source_id"),
        kind = column(&source, "operator"), key = column(&source, "ext_key"),
        scheduled = column(&queue, "scheduled_id");
    if (!queue.n || op < 0 || from < 0 || kind < 0 || key < 0)
        return NULL;
    tc_vela_map *m = tc_new(arena, tc_vela_map);
    m->arena = arena;
    m->entry = tc_new_n(arena, struct entry, queue.n);
    for (size_t i = 0; i < queue.n; i++) {
        const row *o = row_of(&optimised, queue.row[i].number[op]),
                  *s = o ? row_of(&source, o->number[from]) : NULL;
        if (!s || queue.row[i].number[0] < 0)
            continue;
        struct entry *e = &m->entry[m->n++];
        e->word = (size_t)queue.row[i].number[0] / 4;
        e->id = scheduled < 0 ? -1 : queue.row[i].number[scheduled];
        e->scheduled = SIZE_MAX;
    }
    read_costs(m, &queue, &source, xml);
    return m;
}

/* Vela notes where the commands of an operation end: the first note from there on is its own. */
static const struct entry *entry_at(const tc_vela_map *m, size_t word)
{
    size_t lo = 0, hi = m->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (m->entry[mid].word < word)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->n ? &m->entry[lo] : NULL;
}

const tc_vela_cost *ti_vela_map_costs(const tc_vela_map *m, size_t *n)
{
    *n = m->n_cost;
    return m->cost;
}

size_t ti_vela_map_scheduled(const tc_vela_map *m, size_t word)
{
    const struct entry *e = entry_at(m, word);
    return e ? e->scheduled : SIZE_MAX;
}
