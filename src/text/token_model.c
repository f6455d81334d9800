/* SPDX-License-Identifier: Apache-2.0 */
/* token_model.c -- the models of tokenizer.json: a word becomes tokens.
 *
 *   BPE        pairs of symbols become one, the lowest rank first, while one has a rank
 *   WordPiece  the longest token that begins the rest of the word, again and again
 *   Unigram    the tokens whose scores add up to the most
 *   WordLevel  the word itself */
#include "token.h"

typedef enum model_kind { BPE, WORD_PIECE, UNIGRAM, WORD_LEVEL } model_kind;

struct tc_token_model {
    model_kind kind;
    tc_map id;           /* text of a token: its number + 1 */
    tc_map rank, merged; /* two ids: the rank of their pair + 1, its id + 1 */
    bool byte_fallback;  /* characters without a symbol become <0x..> */
    bool whole_words;    /* a word that is a token is that token, whatever its pairs */
    bool fuse_unknown;
    tc_str prefix, suffix; /* of symbols inside of a word; of its last */
    int64_t unknown;       /* -1: none */
    int64_t byte[256];     /* the token <0x..> of each, or -1 */
    size_t longest;        /* bytes of a token; WordPiece: characters of a word */
    double *score;         /* Unigram: by number */
    int64_t n_score;
    double least;
};

static int64_t find(const tc_token_model *m, tc_str text)
{
    return (int64_t)(intptr_t)ti_map_get(&m->id, text) - 1;
}

static void put(tc_ctx *ctx, tc_token_ids *list, int64_t id)
{
    tc_grow(&ctx->arena, list->v, list->n, list->cap);
    list->v[list->n++] = id;
}

static tc_str joined(tc_arena *arena, tc_str a, tc_str b, tc_str c)
{
    tc_buf buf;
    ti_buf_init(&buf, arena);
    ti_buf_put(&buf, a.p ? a.p : "", a.n);
    ti_buf_put(&buf, b.p ? b.p : "", b.n);
    ti_buf_put(&buf, c.p ? c.p : "", c.n);
    return (tc_str){(const char *)buf.data, buf.size};
}

/* The bytes' own tokens; false: one has none. */
static bool put_bytes(const tc_token_model *m, tc_ctx *ctx, tc_str text, tc_token_ids *out)
{
    for (size_t i = 0; i < text.n; i++)
        if (m->byte[(uint8_t)text.p[i]] < 0)
            return false;
    for (size_t i = 0; i < text.n; i++)
        put(ctx, out, m->byte[(uint8_t)text.p[i]]);
    return true;
}

static tc_status no_token(tc_ctx *ctx, const tc_loc *loc, tc_str text)
{
    return ti_error(ctx, loc, TC_E_DATA, "there is no token for '%.*s'",
                    text.n > 60 ? 60 : (int)text.n, text.p);
}

/* ---- BPE ---- */

static tc_str pair_key(const int64_t pair[2])
{
    return (tc_str){(const char *)pair, 2 * sizeof *pair};
}

static size_t rank_of(const tc_token_model *m, const int64_t *pair)
{
    size_t rank = (size_t)(uintptr_t)ti_map_get(&m->rank, pair_key(pair));
    return rank ? rank - 1 : SIZE_MAX;
}

/* Symbols from `first` on: the pair of the lowest rank becomes one, the first of equal ones. */
static void merge(const tc_token_model *m, tc_ctx *ctx, tc_token_ids *list, size_t first)
{
    size_t n = list->n - first;
    int64_t *v = list->v + first;
    size_t *rank = tc_new_n(&ctx->scratch, size_t, n + 1);
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = rank_of(m, v + i);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best])
                best = i;
        if (rank[best] == SIZE_MAX)
            break;
        v[best] = (int64_t)(intptr_t)ti_map_get(&m->merged, pair_key(v + best)) - 1;
        memmove(v + best + 1, v + best + 2, (n - best - 2) * sizeof *v);
        memmove(rank + best + 1, rank + best + 2, (n - best - 2) * sizeof *rank);
        n--;
        if (best)
            rank[best - 1] = rank_of(m, v + best - 1);
        if (best + 1 < n)
            rank[best] = rank_of(m, v + best);
    }
    list->n = first + n;
}

static tc_status run_pairs(const tc_token_model *m, tc_ctx *ctx, const tc_loc *loc, tc_str word,
                           tc_token_ids *out)
{
    size_t first = out->n, size;
    int64_t whole = m->whole_words ? find(m, word) : -1;
    bool unknown = false; /* one is due */
    if (whole >= 0) {
        put(ctx, out, whole);
        return TC_OK;
    }
    for (size_t i = 0; i < word.n; i += size) {
        ti_utf8_next(word, i, &size);
        tc_str none = {NULL, 0}, one = {word.p + i, size};
        if ((m->prefix.n && i) || (m->suffix.n && i + size == word.n))
            one = joined(&ctx->scratch, i ? m->prefix : none, one,
                         i + size == word.n ? m->suffix : none);
        int64_t id = find(m, one);
        if (id < 0 && m->byte_fallback && put_bytes(m, ctx, one, out))
            continue;
        if (id < 0 && m->unknown < 0)
            return no_token(ctx, loc, one);
        if (unknown && (id >= 0 || !m->fuse_unknown))
            put(ctx, out, m->unknown);
        unknown = id < 0;
        if (id >= 0)
            put(ctx, out, id);
    }
    if (unknown)
        put(ctx, out, m->unknown);
    merge(m, ctx, out, first);
    return TC_OK;
}

/* ---- WordPiece ---- */

static tc_status run_pieces(const tc_token_model *m, tc_ctx *ctx, const tc_loc *loc, tc_str word,
                            tc_token_ids *out)
{
    size_t first = out->n, start = 0, size, count = 0;
    for (size_t i = 0; i < word.n; i += size, count++)
        ti_utf8_next(word, i, &size);
    bool bad = count > m->longest;
    while (start < word.n && !bad) {
        size_t end = word.n;
        int64_t id = -1;
        while (start < end) {
            tc_mark mark = ti_arena_mark(&ctx->scratch);
            tc_str one = {word.p + start, end - start};
            id = find(m, start ? joined(&ctx->scratch, m->prefix, one, (tc_str){NULL, 0}) : one);
            ti_arena_rewind(&ctx->scratch, mark);
            if (id >= 0)
                break;
            do
                end--;
            while (end > start && ((uint8_t)word.p[end] & 0xc0) == 0x80);
        }
        bad = id < 0;
        if (!bad)
            put(ctx, out, id);
        start = end;
    }
    if (!bad)
        return TC_OK;
    out->n = first;
    if (m->unknown < 0)
        return no_token(ctx, loc, word);
    put(ctx, out, m->unknown);
    return TC_OK;
}

/* ---- Unigram ---- */

typedef struct path {
    int64_t id;
    double score;
    size_t from; /* SIZE_MAX: nothing ends here */
} path;

static void better(path *to, int64_t id, double score, size_t from)
{
    if (to->from == SIZE_MAX || score > to->score)
        *to = (path){id, score, from};
}

static tc_status put_known(const tc_token_model *m, tc_ctx *ctx, const tc_loc *loc, tc_str text,
                           tc_token_ids *out)
{
    int64_t id = find(m, text);
    if (id < 0 && m->byte_fallback && put_bytes(m, ctx, text, out))
        return TC_OK;
    id = id >= 0 ? id : m->unknown;
    if (id < 0)
        return no_token(ctx, loc, text);
    put(ctx, out, id);
    return TC_OK;
}

static tc_status run_scores(const tc_token_model *m, tc_ctx *ctx, const tc_loc *loc, tc_str word,
                            tc_token_ids *out)
{
    enum { PENALTY = 10 };
    path *ends = tc_new_n(&ctx->scratch, path, word.n + 1);
    size_t *cut = tc_new_n(&ctx->scratch, size_t, word.n + 1), n = 0, size;
    for (size_t i = 0; i <= word.n; i++)
        ends[i].from = i ? SIZE_MAX : 0;
    for (size_t at = 0; at < word.n; at += size) {
        bool single = false;
        ti_utf8_next(word, at, &size);
        for (size_t k = 1; k <= m->longest && at + k <= word.n; k++) {
            int64_t id = find(m, (tc_str){word.p + at, k});
            if (id < 0 || id >= m->n_score)
                continue;
            better(&ends[at + k], id, m->score[id] + ends[at].score, at);
            single = single || k == size;
        }
        if (!single && m->unknown < 0)
            return no_token(ctx, loc, (tc_str){word.p + at, size});
        if (!single)
            better(&ends[at + size], m->unknown, m->least - PENALTY + ends[at].score, at);
    }
    /* from the end; unknown ones that follow each other are one */
    bool behind = false;
    for (size_t at = word.n; at > 0; at = ends[at].from) {
        bool unknown = ends[at].id == m->unknown;
        if (!(unknown && behind))
            cut[n++] = at;
        behind = unknown;
    }
    size_t from = 0;
    while (n-- > 0) {
        TC_TRY(put_known(m, ctx, loc, (tc_str){word.p + from, cut[n] - from}, out));
        from = cut[n];
    }
    return TC_OK;
}

/* ---- reading ---- */

static tc_status take_token(struct tc_tokenizer *t, tc_token_model *m, tc_str text, int64_t id)
{
    enum { MOST = 1 << 24 };
    if (id < 0 || id >= MOST)
        return ti_token_broken(t, "a token id is out of range");
    *ti_map_at(&m->id, text) = (void *)(intptr_t)(id + 1);
    if (m->kind != WORD_PIECE && text.n > m->longest)
        m->longest = text.n;
    return TC_OK;
}

/* "vocab": {text: number}, or of Unigram [[text, score], ...]. */
static tc_status read_vocabulary(struct tc_tokenizer *t, const tc_json *json, tc_token_model *m)
{
    const tc_json *vocab = ti_json_get(json, "vocab");
    bool list = m->kind == UNIGRAM;
    int64_t id = 0;
    if (!ti_json_is(vocab, list ? TC_JSON_LIST : TC_JSON_OBJECT))
        return ti_token_broken(t, "'model' has no 'vocab'");
    if (list) {
        m->score = tc_new_n(ti_token_arena(t), double, vocab->n);
        m->n_score = (int64_t)vocab->n;
    }
    for (const tc_json *row = list ? ti_json_first(vocab) : NULL; row; row = row->next, id++) {
        const tc_json *text = ti_json_first(row);
        if (!text || !text->next || !ti_json_f64(text->next, &m->score[id]))
            return ti_token_broken(t, "a token of 'vocab' has no score");
        m->least = !id || m->score[id] < m->least ? m->score[id] : m->least;
        TC_TRY(take_token(t, m, ti_json_text(ti_token_arena(t), text), id));
    }
    for (const tc_json *key = list ? NULL : vocab->as.child; key; key = key->next->next) {
        if (!ti_json_i64(key->next, &id))
            return ti_token_broken(t, "a token of 'vocab' has no id");
        TC_TRY(take_token(t, m, ti_json_text(ti_token_arena(t), key), id));
    }
    return TC_OK;
}

/* "a b", or ["a", "b"]. */
static tc_status read_merge(struct tc_tokenizer *t, tc_token_model *m, const tc_json *merge,
                            size_t rank)
{
    tc_arena *arena = ti_token_arena(t);
    tc_str left, right;
    if (ti_json_is(merge, TC_JSON_LIST) && merge->n == 2) {
        left = ti_json_text(arena, merge->as.child);
        right = ti_json_text(arena, merge->as.child->next);
    } else {
        tc_str both = ti_json_text(arena, merge);
        const char *gap = both.n ? memchr(both.p + 1, ' ', both.n - 1) : NULL;
        if (!gap)
            return ti_token_broken(t, "a pair of 'merges' is not two strings");
        left = (tc_str){both.p, (size_t)(gap - both.p)};
        right = (tc_str){gap + 1, both.n - left.n - 1};
    }
    bool inside = m->prefix.n && right.n >= m->prefix.n &&
                  memcmp(right.p, m->prefix.p, m->prefix.n) == 0;
    tc_str rest = {right.p + (inside ? m->prefix.n : 0), right.n - (inside ? m->prefix.n : 0)};
    int64_t pair[2] = {find(m, left), find(m, right)},
            whole = find(m, joined(arena, left, rest, (tc_str){NULL, 0}));
    if (pair[0] < 0 || pair[1] < 0 || whole < 0)
        return ti_token_broken(t, "a pair of 'merges' is not in 'vocab'");
    void **slot = ti_map_at(&m->rank, pair_key(pair));
    if (!*slot) {
        *slot = (void *)(uintptr_t)(rank + 1);
        *ti_map_at(&m->merged, pair_key(pair)) = (void *)(intptr_t)(whole + 1);
    }
    return TC_OK;
}

static tc_status read_kind(struct tc_tokenizer *t, const tc_json *json, model_kind *out)
{
    static const char *const name[] = {[BPE] = "BPE", [WORD_PIECE] = "WordPiece",
                                       [UNIGRAM] = "Unigram", [WORD_LEVEL] = "WordLevel"};
    tc_str type = ti_token_text(t, json, "type");
    const tc_json *vocab = ti_json_get(json, "vocab");
    for (size_t i = 0; i < TC_COUNT(name); i++)
        if (ti_str_is(type, name[i])) {
            *out = (model_kind)i;
            return TC_OK;
        }
    *out = ti_json_get(json, "merges")            ? BPE
           : ti_json_is(vocab, TC_JSON_LIST)      ? UNIGRAM
           : ti_json_get(json, "max_input_chars_per_word") ? WORD_PIECE
                                                  : BPE;
    return type.p ? ti_token_beyond(t, "a model of the type", type) : TC_OK;
}

tc_status ti_token_model_read(struct tc_tokenizer *t, const tc_json *json, tc_map *id,
                              tc_token_model **out)
{
    tc_arena *arena = ti_token_arena(t);
    tc_token_model *m = tc_new(arena, tc_token_model);
    int64_t number = -1;
    ti_map_init(&m->id, arena);
    ti_map_init(&m->rank, arena);
    ti_map_init(&m->merged, arena);
    TC_TRY(read_kind(t, json, &m->kind));
    if (m->kind == WORD_PIECE) {
        m->longest = 100;
        if (ti_json_i64(ti_json_get(json, "max_input_chars_per_word"), &number) && number >= 0)
            m->longest = (size_t)number;
    }
    TC_TRY(read_vocabulary(t, json, m));
    m->prefix = ti_token_text(t, json, "continuing_subword_prefix");
    m->suffix = ti_token_text(t, json, "end_of_word_suffix");
    size_t rank = 0;
    for (const tc_json *p = ti_json_first(ti_json_get(json, "merges")); p; p = p->next)
        TC_TRY(read_merge(t, m, p, rank++));
    tc_str unknown = ti_token_text(t, json, "unk_token");
    m->unknown = unknown.n ? find(m, unknown) : -1;
    if (m->kind == UNIGRAM)
        m->unknown = ti_json_i64(ti_json_get(json, "unk_id"), &number) ? number : -1;
    m->byte_fallback = ti_token_flag(json, "byte_fallback", false);
    m->whole_words = ti_token_flag(json, "ignore_merges", false);
    m->fuse_unknown = ti_token_flag(json, "fuse_unk", false);
    for (int b = 0; b < 256; b++)
        m->byte[b] = find(m, ti_str_of(ti_text_format(arena, "<0x%02X>", b)));
    for (size_t i = 0; i < m->id.n; i++)
        *ti_map_at(id, m->id.entry[i].key) = m->id.entry[i].value;
    *out = m;
    return TC_OK;
}

tc_status ti_token_model_run(const tc_token_model *m, tc_ctx *ctx, const tc_loc *loc, tc_str word,
                             tc_token_ids *out)
{
    switch (m->kind) {
    case BPE:
        return run_pairs(m, ctx, loc, word, out);
    case WORD_PIECE:
        return run_pieces(m, ctx, loc, word, out);
    case UNIGRAM:
        return run_scores(m, ctx, loc, word, out);
    default:
        return put_known(m, ctx, loc, word, out);
    }
}
