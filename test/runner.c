/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c -- golden tests: a sentence, a command, text in, text out.
 *
 *   golden [--bless] [--tosac PROGRAM] [--every N] FILE-OR-FOLDER...
 *
 * A case is a file:
 *
 *   # What it shows, in a sentence.
 *   $ tosac opt --pass=tidy -
 *   limit: arena 16 KiB                     (if it has one)
 *
 *   what the command reads
 *   ----
 *   what it prints: its output, then its messages, then "exit N" unless it is 0
 *
 * Of what it prints, constants of many numbers are shown by their ends, how many there are and a
 * hash; those that TABLE looks up by the name of the operator that the case is about; of how far a
 * compiled program is from its model, what every machine agrees on: steps of quantized outputs.
 * Of more than LONG lines, the first and the last, and between them how many others there are, their
 * operators and a hash.
 *
 * Commands run in the folder of the case.  --bless writes what comes out today. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/file.h"

enum { MOST_WORDS = 32, MOST_SECONDS = 20, CONTEXT = 2 };

typedef struct runner {
    const char *program; /* an absolute path */
    bool bless;
    int every, seen; /* every N-th case is run */
    int passed, failed, blessed;
} runner;

typedef struct golden {
    const char *path;
    tc_str head;   /* up to the input */
    char *command; /* behind "$ " */
    char *limit;   /* behind "limit: ", or NULL */
    tc_str input;
    tc_str expected; /* behind "----" */
} golden;

/* ---- the file ---- */

static tc_str take_line(tc_str *rest)
{
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    size_t n = end ? (size_t)(end - rest->p) + 1 : rest->n;
    tc_str line = {rest->p, n};
    rest->p += n;
    rest->n -= n;
    return line;
}

static bool line_starts(tc_str line, const char *mark)
{
    size_t n = strlen(mark);
    return line.n >= n && memcmp(line.p, mark, n) == 0;
}

/* The line behind its mark, without its end. */
static char *behind(tc_ctx *ctx, tc_str line, const char *mark)
{
    size_t skip = strlen(mark);
    tc_str text = {line.p + skip, line.n - skip};
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == ' '))
        text.n--;
    return ti_text_copy(&ctx->arena, text);
}

/* NULL, or what is wrong with the file. */
static const char *split(tc_ctx *ctx, tc_bytes bytes, golden *g)
{
    tc_str rest = {(const char *)bytes.data, bytes.size}, all = rest;
    while (rest.n) {
        tc_str line = take_line(&rest);
        if (line_starts(line, "$ tosac"))
            g->command = behind(ctx, line, "$ tosac");
        else if (line_starts(line, "limit: "))
            g->limit = behind(ctx, line, "limit: ");
        else if (line_starts(line, "# ") || line_starts(line, "#\n"))
            continue;
        else
            break; /* the empty line */
    }
    if (!g->command)
        return "there is no '$ tosac' line";
    g->head = (tc_str){all.p, (size_t)(rest.p - all.p)};
    g->input = (tc_str){rest.p, 0};
    while (rest.n) {
        tc_str line = take_line(&rest);
        if (line_starts(line, "----")) {
            g->expected = rest;
            return NULL;
        }
        g->input.n += line.n;
    }
    return "there is no '----' line";
}

/* "arena 4 KiB" as an option of the command. */
static const char *limit_option(tc_ctx *ctx, const char *limit)
{
    long n;
    char unit[8] = "";
    if (!limit || sscanf(limit, "arena %ld %7s", &n, unit) != 2)
        return NULL;
    long scale = ti_text_eq(unit, "KiB") ? 1024 : ti_text_eq(unit, "MiB") ? 1024 * 1024 : 1;
    return ti_text_format(&ctx->arena, "--arena-limit=%ld", n * scale);
}

/* ---- the command ---- */

static FILE *temporary(tc_str content)
{
    FILE *file = tmpfile();
    if (!file || fwrite(content.p, 1, content.n, file) != content.n || fflush(file) != 0) {
        perror("golden: temporary file");
        exit(TC_BUG);
    }
    rewind(file);
    return file;
}

static void append_file(tc_buf *out, FILE *file)
{
    char part[4096];
    size_t n;
    rewind(file);
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        ti_buf_put(out, part, n);
    fclose(file);
}

static void become(const runner *r, const golden *g, char **argv, FILE *in, FILE *out, FILE *err)
{
    const char *slash = strrchr(g->path, '/');
    char *folder = slash ? strndup(g->path, (size_t)(slash - g->path)) : NULL;
    dup2(fileno(in), STDIN_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    alarm(MOST_SECONDS);
    if (!folder || chdir(folder) == 0)
        execv(r->program, argv);
    _exit(127);
}

static void put_status(tc_buf *out, int status)
{
    if (WIFSIGNALED(status))
        ti_buf_printf(out, "signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        ti_buf_printf(out, "exit %d\n", WEXITSTATUS(status));
}

static void run_command(tc_ctx *ctx, const runner *r, const golden *g, tc_buf *out)
{
    char *argv[MOST_WORDS + 2] = {(char *)(uintptr_t)r->program};
    int n = 1;
    char *rest = NULL;
    for (char *word = strtok_r(g->command, " ", &rest); word && n < MOST_WORDS;
         word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    argv[n] = (char *)(uintptr_t)limit_option(ctx, g->limit);
    FILE *in = temporary(g->input), *text = temporary((tc_str){"", 0}),
         *messages = temporary((tc_str){"", 0});
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        become(r, g, argv, in, text, messages);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    fclose(in);
    append_file(out, text);
    append_file(out, messages);
    put_status(out, status);
}

/* ---- what a reader is shown ---- */

enum { MANY = 48, ENDS = 4 }; /* numbers of a constant; those that are shown at each end */

/* "[a, b, c, ...]": the numbers between its brackets, or none. */
static tc_str list_in(tc_str line)
{
    static const char mark[] = " = const [";
    for (size_t i = 0; i + sizeof mark <= line.n; i++)
        if (memcmp(line.p + i, mark, sizeof mark - 1) == 0) {
            const char *from = line.p + i + sizeof mark - 1;
            const char *end = memchr(from, ']', line.n - (size_t)(from - line.p));
            return end ? (tc_str){from, (size_t)(end - from)} : (tc_str){NULL, 0};
        }
    return (tc_str){NULL, 0};
}

/* Where number k of a list begins; its end: past the last. */
static size_t number_at(tc_str list, size_t k)
{
    size_t i = 0;
    for (; k && i < list.n; i++)
        k -= list.p[i] == ',';
    return i;
}

static bool is_word(tc_str text, size_t at, const char *word)
{
    size_t n = strlen(word);
    return text.n >= at + n && memcmp(text.p + at, word, n) == 0;
}

/* The operator of a line "%1 = gelu %0 ..."; none: it is no such line. */
static tc_str operator_in(tc_str line)
{
    for (size_t i = 0; i + 3 < line.n; i++)
        if (is_word(line, i, " = ")) {
            tc_str op = {line.p + i + 3, 0};
            while (op.p + op.n < line.p + line.n && op.p[op.n] != ' ' && op.p[op.n] != '\n')
                op.n++;
            return op;
        }
    return (tc_str){NULL, 0};
}

/* The one operator of the input that is no constant; none: there are more. */
static tc_str operator_of(tc_str input)
{
    tc_str one = {NULL, 0};
    while (input.n) {
        tc_str op = operator_in(take_line(&input));
        if (!op.n || ti_str_is(op, "const"))
            continue;
        if (one.n)
            return (tc_str){NULL, 0};
        one = op;
    }
    return one;
}

/* Whether a constant is what a TABLE behind it, in the same graph, looks up. */
static bool is_table(tc_str constant, tc_str behind)
{
    const char *end = memchr(constant.p, '=', constant.n);
    const char *name = memchr(constant.p, '%', constant.n);
    if (!name || !end || name > end)
        return false;
    tc_str value = {name, (size_t)(end - name)}; /* with the space behind it */
    while (behind.n && behind.p[0] != '}') {
        tc_str line = take_line(&behind);
        const char *second = memchr(line.p, ',', line.n);
        if (ti_str_is(operator_in(line), "tosa.table") && second &&
            (size_t)(line.p + line.n - second) > value.n + 2 &&
            memcmp(second + 2, value.p, value.n) == 0)
            return true;
    }
    return false;
}

static void put_constant(tc_buf *out, tc_str line, tc_str list, tc_str behind, tc_str op)
{
    size_t n = 1;
    for (size_t i = 0; i < list.n; i++)
        n += list.p[i] == ',';
    if (n <= MANY) {
        ti_buf_put(out, line.p, line.n);
        return;
    }
    size_t front = number_at(list, ENDS), back = number_at(list, n - ENDS);
    ti_buf_put(out, line.p, (size_t)(list.p - line.p) + front);
    ti_buf_printf(out, " ..%.*s; ", (int)(list.n - back), list.p + back);
    if (op.n && is_table(line, behind))
        ti_buf_printf(out, "table of %.*s, ", (int)op.n, op.p);
    ti_buf_printf(out, "%zu numbers, %08x", n,
                  (unsigned)(ti_hash(list.p, list.n, 0) & UINT32_MAX));
    ti_buf_put(out, list.p + list.n, (size_t)(line.p + line.n - (list.p + list.n)));
}

/* "...; against the model: 38.1 dB, at most 1 step off on 1 random sample": without decibels, which
 * depend on the machine's floats. */
static void put_summary(tc_buf *out, char *line, char *against)
{
    static const char model[] = "; against the model: ";
    char *rest = NULL, *end = strstr(against, " on ");
    int said = 0;
    ti_buf_put(out, line, (size_t)(against - line));
    if (end && strncmp(against, model, sizeof model - 1) == 0) {
        *end = 0;
        for (char *part = strtok_r(against + sizeof model - 1, ",", &rest); part;
             part = strtok_r(NULL, ",", &rest))
            if (!strstr(part, " dB"))
                ti_buf_printf(out, "%s%s", said++ ? "," : part[0] == ' ' ? ";" : "; ", part);
        if (!said)
            ti_buf_text(out, "; less than a step off");
    }
    ti_buf_text(out, "\n");
}

enum { LONG = 120, FIRST = 56, LAST = 20, MOST_KINDS = 64 }; /* lines; kinds of operators */

/* "... 240 lines: 96 rescale, 12 table, 3 other; 5ad4e17c", the operators in the order in which they
 * come. */
static void put_elided(tc_buf *out, tc_str text, size_t lines)
{
    tc_str kinds[MOST_KINDS], rest = text;
    size_t counts[MOST_KINDS], n = 0, other = lines;
    while (rest.n) {
        tc_str op = operator_in(take_line(&rest));
        if (is_word(op, 0, "tosa."))
            op = (tc_str){op.p + 5, op.n - 5};
        size_t k = 0;
        while (k < n && (kinds[k].n != op.n || memcmp(kinds[k].p, op.p, op.n) != 0))
            k++;
        if (!op.n || k == MOST_KINDS)
            continue;
        if (k == n) {
            kinds[n] = op;
            counts[n++] = 0;
        }
        counts[k]++;
        other--;
    }
    ti_buf_printf(out, "... %zu lines:", lines);
    for (size_t k = 0; k < n; k++)
        ti_buf_printf(out, " %zu %.*s,", counts[k], (int)kinds[k].n, kinds[k].p);
    ti_buf_printf(out, " %zu other; %08x\n", other,
                  (unsigned)(ti_hash(text.p, text.n, 0) & UINT32_MAX));
}

/* The first and the last lines of a long text. */
static tc_str ends_of(tc_ctx *ctx, tc_str text)
{
    tc_str rest = text;
    size_t lines = 0, first = 0, last = 0;
    while (rest.n && take_line(&rest).n)
        lines++;
    if (lines <= LONG)
        return text;
    rest = text;
    for (size_t k = 0; k < lines - LAST; k++) {
        last += take_line(&rest).n;
        first = k + 1 == FIRST ? last : first;
    }
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_put(&out, text.p, first);
    put_elided(&out, (tc_str){text.p + first, last - first}, lines - FIRST - LAST);
    ti_buf_put(&out, text.p + last, text.n - last);
    return (tc_str){ti_buf_cstr(&out), out.size};
}

static tc_str shown(tc_ctx *ctx, tc_str text, tc_str input)
{
    tc_str op = operator_of(input);
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    while (text.n) {
        tc_str line = take_line(&text), list = list_in(line);
        char *copy = ti_arena_array(&ctx->arena, line.n + 1, 1, 1);
        memcpy(copy, line.p, line.n);
        char *against = strstr(copy, "; against ");
        if (list.n)
            put_constant(&out, line, list, text, op);
        else if (against)
            put_summary(&out, copy, against);
        else
            ti_buf_put(&out, line.p, line.n);
    }
    return ends_of(ctx, (tc_str){ti_buf_cstr(&out), out.size});
}

/* ---- the difference ---- */

typedef struct lines {
    tc_str *v;
    size_t n, cap;
} lines;

static lines to_lines(tc_ctx *ctx, tc_str text)
{
    lines l = {0};
    while (text.n) {
        tc_grow(&ctx->arena, l.v, l.n, l.cap);
        l.v[l.n++] = take_line(&text);
    }
    return l;
}

static void show_line(char sign, tc_str line)
{
    bool ended = line.n && line.p[line.n - 1] == '\n';
    printf("  %c %.*s%s", sign, (int)line.n, line.p, ended ? "" : "\n");
}

/* Lines in common at both ends are left out; between them, what was expected and what came. */
static void show_difference(tc_ctx *ctx, tc_str expected, tc_str actual)
{
    lines a = to_lines(ctx, expected), b = to_lines(ctx, actual);
    size_t head = 0, tail = 0;
    while (head < a.n && head < b.n && ti_str_eq(a.v[head], b.v[head]))
        head++;
    while (tail < a.n - head && tail < b.n - head &&
           ti_str_eq(a.v[a.n - 1 - tail], b.v[b.n - 1 - tail]))
        tail++;
    for (size_t i = head > CONTEXT ? head - CONTEXT : 0; i < head; i++)
        show_line(' ', a.v[i]);
    for (size_t i = head; i < a.n - tail; i++)
        show_line('-', a.v[i]);
    for (size_t i = head; i < b.n - tail; i++)
        show_line('+', b.v[i]);
    for (size_t i = 0; i < tail && i < CONTEXT; i++)
        show_line(' ', b.v[b.n - tail + i]);
}

static tc_status write_case(tc_ctx *ctx, const golden *g, tc_str actual)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_put(&out, g->head.p, g->head.n);
    ti_buf_put(&out, g->input.p, g->input.n);
    ti_buf_text(&out, "----\n");
    ti_buf_put(&out, actual.p, actual.n);
    tc_ctx *writer = tc_ctx_new(); /* this one has read the file, and would not write over it */
    tc_status status = ti_file_write(writer, g->path, (tc_bytes){out.data, out.size});
    fputs(tc_diagnostics(writer), stderr);
    tc_ctx_free(writer);
    return status;
}

static tc_status run_case(tc_ctx *ctx, runner *r, const char *path)
{
    golden g = {.path = path};
    tc_bytes bytes;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    const char *wrong = split(ctx, bytes, &g);
    if (wrong) {
        printf("FAIL %s: %s\n", path, wrong);
        r->failed++;
        return TC_OK;
    }
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    run_command(ctx, r, &g, &out);
    tc_str actual = shown(ctx, (tc_str){ti_buf_cstr(&out), out.size}, g.input);
    if (ti_str_eq(actual, g.expected)) {
        r->passed++;
        return TC_OK;
    }
    if (r->bless) {
        r->blessed++;
        return write_case(ctx, &g, actual);
    }
    r->failed++;
    printf("FAIL %s\n", path);
    show_difference(ctx, g.expected, actual);
    return TC_OK;
}

static tc_status walk(tc_ctx *ctx, runner *r, const char *path)
{
    const char **name;
    size_t n;
    if (!ti_is_folder(path))
        return r->seen++ % r->every ? TC_OK : run_case(ctx, r, path);
    TC_TRY(ti_folder_list(ctx, path, &name, &n));
    for (size_t i = 0; i < n; i++) {
        const char *inside = ti_text_format(&ctx->arena, "%s/%s", path, name[i]);
        if (ti_is_folder(inside) || ti_text_ends(inside, ".ir"))
            TC_TRY(walk(ctx, r, inside));
    }
    return TC_OK;
}

/* The program beside this one, unless another was named. */
static const char *find_program(tc_ctx *ctx, const char *self, const char *named)
{
    const char *slash = strrchr(self, '/');
    const char *beside = ti_text_format(&ctx->arena, "%.*s/tosac", slash ? (int)(slash - self) : 1,
                                        slash ? self : ".");
    const char *path = named ? named : beside;
    char here[4096];
    if (access(path, X_OK) != 0 || !getcwd(here, sizeof here))
        return NULL;
    return path[0] == '/' ? path : ti_text_format(&ctx->arena, "%s/%s", here, path);
}

int main(int argc, char **argv)
{
    tc_ctx *ctx = tc_ctx_new();
    runner r = {.every = 1};
    const char *named = NULL;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        r.bless = r.bless || ti_text_eq(argv[i], "--bless");
        if (ti_text_eq(argv[i], "--tosac") && i + 1 < argc)
            named = argv[++i];
        else if (ti_text_eq(argv[i], "--every") && i + 1 < argc)
            r.every = atoi(argv[++i]);
    }
    r.program = find_program(ctx, argv[0], named);
    tc_status status = TC_OK;
    if (!r.program || i == argc || r.every < 1)
        status =
            ti_usage(ctx, "golden [--bless] [--tosac PROGRAM] [--every N] FILE-OR-FOLDER...");
    for (; i < argc && status == TC_OK; i++)
        status = walk(ctx, &r, argv[i]);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    if (r.bless)
        printf("%d unchanged, %d written\n", r.passed, r.blessed);
    else
        printf("%d passed, %d failed\n", r.passed, r.failed);
    return status != TC_OK || r.failed > 0;
}
