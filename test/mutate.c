/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.c -- files with a few bytes changed, through the verbs of the command line.
 *
 *   mutate [--first N] [--count N] [--found DIR] FILE...
 *
 * Number k of a run is always the same change of the same file.  Every verb runs in a process of
 * its own, forked, and must end within 30 seconds of work, in 2 GB, with an answer or a message: no signal,
 * no report of a sanitizer, no exit 70.  What does not is kept in DIR. */
#define _DEFAULT_SOURCE /* wait4() */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/file.h"
#include "tosac/tosac.h"

#undef main /* mutate.h */

enum { SECONDS = 30, MEGABYTES = 2048, REPORT = 99, MOST_WORDS = 24 };

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=99:detect_leaks=0:detect_stack_use_after_return=1:allocator_may_return_null=1";
}

typedef struct seed_file {
    const char *path, *ext;
    tc_bytes bytes;
    char *data[16]; /* -i FILE, one for each input; NULL: it cannot be run as it is */
    int n_data;
} seed_file;

typedef struct session {
    tc_ctx *ctx;
    seed_file *file;
    int n_file;
    const char *found;
    char folder[64];
    int passed, failed;
} session;

/* ---- numbers ---- */

static uint64_t state;

static uint32_t draw(uint32_t sides)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return sides ? (uint32_t)(state >> 33) % sides : 0;
}

/* ---- changes ---- */

/* A word that looks like a length, an index or an offset inside of the file. */
static size_t structure_word(tc_bytes b)
{
    size_t at = 0;
    for (int tries = 0; tries < 40; tries++) {
        at = 4 * (size_t)draw((uint32_t)(b.size / 4));
        uint32_t v = ti_le32(b.data + at);
        if (v && (v < 64 || at + v < b.size || at + (0 - v) < b.size))
            break;
    }
    return at;
}

static void put_word(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static void change_word(uint8_t *data, size_t size)
{
    static const uint32_t extreme[] = {0,          1,          2,      UINT32_MAX, INT32_MAX,
                                       0x80000000, 0x40000000, 0xffff, 0x7f800000, 0x7fc00000};
    uint8_t *at = data + structure_word((tc_bytes){data, size});
    uint32_t v = ti_le32(at), kind = draw(4);
    put_word(at, kind == 0   ? extreme[draw(TC_COUNT(extreme))]
                 : kind == 1 ? v + draw(9) - 4
                 : kind == 2 ? draw((uint32_t)size)
                             : draw(64));
}

static void change_byte(uint8_t *data, size_t size)
{
    static const uint8_t extreme[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t at = draw(2) ? structure_word((tc_bytes){data, size}) : draw((uint32_t)size);
    uint8_t flip = (uint8_t)(data[at] ^ (1u << draw(8)));
    data[at] = draw(2) ? extreme[draw(TC_COUNT(extreme))] : flip;
}

static void swap_blocks(uint8_t *data, size_t size)
{
    uint8_t kept[64];
    size_t n = 4u << draw(5), a = 4 * (size_t)draw((uint32_t)(size / 4)),
           b = 4 * (size_t)draw((uint32_t)(size / 4));
    if (a + n > size || b + n > size)
        return;
    memcpy(kept, data + a, n);
    memmove(data + a, data + b, n);
    if (draw(2))
        memcpy(data + b, kept, n);
}

/* A copy with one to four changes; one of sixteen is cut short. */
static tc_bytes mutated(tc_arena *arena, tc_bytes from)
{
    uint8_t *data = ti_arena_copy(arena, from.data, from.size);
    size_t size = from.size;
    for (int n = 1 + (int)draw(4); n > 0 && size >= 8; n--)
        switch (draw(8)) {
        case 0: swap_blocks(data, size); break;
        case 1:
        case 2: change_byte(data, size); break;
        default: change_word(data, size);
        }
    return (tc_bytes){data, draw(16) ? size : draw((uint32_t)size)};
}

/* ---- verbs ---- */

/* FILE: the changed one; SEED: as it was; DATA: -i for each input; OUT: a folder. */
static const char *const verbs[][MOST_WORDS] = {
    {"inspect", "FILE"},
    {"run", "FILE", "DATA"},
    {"compile", "FILE", "-t", "cpu", "-o", "OUT/m.pte"},
    {"compile", "FILE", "-t", "TOSA-1.0+INT", "-o", "OUT/m.tosa"},
    {"compile", "FILE", "-t", "ethos-u55-128", "-o", "OUT/m.tflite"},
    {"compile", "FILE", "-t", "ethos-u85-256", "-o", "OUT/m.pte"},
    {"compile", "FILE", "-t", "TOSA-1.0+FP", "-o", "OUT/m.vgf"},
    {"compile", "FILE", "-t", "cortex-m55", "-o", "OUT/m"},
    {"explain", "FILE", "-t", "ethos-u55-128"},
    {"profile", "FILE", "-t", "ethos-u85-256"},
    {"compare", "SEED", "FILE", "DATA"},
    {"verify", "FILE"},
};

static int words_of(const session *s, const seed_file *f, const char *path,
                    const char *const *verb, char **argv)
{
    int n = 0;
    argv[n++] = "tosac";
    for (int i = 0; verb[i]; i++)
        if (strcmp(verb[i], "DATA") == 0)
            for (int k = 0; k < f->n_data; k++) {
                argv[n++] = "-i";
                argv[n++] = f->data[k];
            }
        else
            argv[n++] = strcmp(verb[i], "FILE") == 0 ? (char *)(uintptr_t)path
                        : strcmp(verb[i], "SEED") == 0 ? (char *)(uintptr_t)f->path
                        : strncmp(verb[i], "OUT/", 4) == 0
                            ? ti_text_format(&s->ctx->scratch, "%s/%s", s->folder, verb[i] + 4)
                            : (char *)(uintptr_t)verb[i];
    argv[n] = NULL;
    return n;
}

static _Noreturn void child(const session *s, int argc, char **argv)
{
    const char *log = ti_text_format(&s->ctx->scratch, "%s/log", s->folder);
    int to = open(log, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(to, 1);
    dup2(to, 2);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS + 5});
    alarm(10 * SECONDS);
    _exit(tosac_main(argc, argv) | (fflush(NULL) ? 1 : 0));
}

/* NULL: it ended as it should, with an exit code. */
static const char *fault(const session *s, int argc, char **argv, int *code)
{
    int how;
    struct rusage used;
    pid_t pid = fork();
    if (pid == 0)
        child(s, argc, argv);
    if (pid < 0 || wait4(pid, &how, 0, &used) < 0)
        return "no process";
    if (WIFSIGNALED(how))
        return WTERMSIG(how) == SIGALRM || WTERMSIG(how) == SIGXCPU ? "no end in 30 s" : strsignal(WTERMSIG(how));
    *code = WEXITSTATUS(how);
    if (WEXITSTATUS(how) == REPORT || WEXITSTATUS(how) == TC_BUG)
        return WEXITSTATUS(how) == TC_BUG ? "exit 70" : "a sanitizer's report";
    return used.ru_maxrss / 1024 > MEGABYTES ? "more than 2 GB" : NULL;
}

static void keep(session *s, const seed_file *f, tc_bytes bytes, long number, char **argv,
                 const char *why)
{
    const char *name = ti_path_last(f->path),
               *path = ti_text_format(&s->ctx->scratch, "%s/%ld-%s", s->found, number, name),
               *log = ti_text_format(&s->ctx->scratch, "%s.log", path);
    tc_bytes said;
    printf("FAIL %ld of %s: %s %s %s: %s\n", number, f->path, argv[1], argv[2],
           argv[3] ? argv[4] ? argv[4] : argv[3] : "", why);
    fflush(stdout);
    if (ti_file_write(s->ctx, path, bytes) != TC_OK ||
        ti_file_read(s->ctx, ti_text_format(&s->ctx->scratch, "%s/log", s->folder), &said) !=
            TC_OK ||
        ti_file_write(s->ctx, log, said) != TC_OK)
        fputs(tc_diagnostics(s->ctx), stderr);
}

static void try_number(session *s, long number)
{
    const seed_file *f = &s->file[number % s->n_file];
    char *argv[MOST_WORDS + 34];
    tc_mark mark = ti_arena_mark(&s->ctx->scratch);
    state = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 8; i++)
        (void)draw(2);
    tc_bytes bytes = mutated(&s->ctx->scratch, f->bytes);
    const char *path = ti_text_format(&s->ctx->scratch, "%s/changed%s", s->folder, f->ext);
    if (ti_file_write(s->ctx, path, bytes) != TC_OK) {
        fputs(tc_diagnostics(s->ctx), stderr);
        exit(1);
    }
    int code = 0;
    size_t other = 1 + draw(TC_COUNT(verbs) - 1);
    bool unread = false; /* then every verb ends where the first one did: one more of them is tried */
    for (size_t v = 0; v < TC_COUNT(verbs); v++) {
        if (unread ? v != other : strcmp(verbs[v][0], "compile") == 0 && draw(4))
            continue; /* one or two targets of six */
        int argc = words_of(s, f, path, verbs[v], argv);
        const char *why = fault(s, argc, argv, &code);
        unread = unread || (v == 0 && !why && code != 0);
        s->passed += !why;
        s->failed += why != NULL;
        if (why)
            keep(s, f, bytes, number, argv, why);
    }
    ti_arena_rewind(&s->ctx->scratch, mark);
}

/* ---- files ---- */

/* Zeros of each input's type, for files that can be run. */
static void make_data(session *s, seed_file *f, int k)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model;
    tc_program *p;
    if (tc_model_open(ctx, f->path, NULL, &model) == TC_OK &&
        tc_program_new(ctx, model, NULL, &p) == TC_OK)
        for (size_t i = 0; i < tc_program_input_count(p) && i < TC_COUNT(f->data); i++) {
            tc_port_info port = {.size = sizeof port};
            tc_npy_writer *w;
            char *path = ti_text_format(&s->ctx->arena, "%s/in%d_%zu.npy", s->folder, k, i);
            tc_program_input(p, i, &port);
            tc_tensor t = {port.type, tc_program_input_buffer(p, i)};
            if (tc_npy_create(ctx, path, port.type->dtype, false, port.type->rank, port.type->dim,
                              &w) == TC_OK &&
                tc_npy_append(w, &t) == TC_OK && tc_npy_commit(w) == TC_OK)
                f->data[f->n_data++] = path;
        }
    tc_ctx_free(ctx);
}

static void read_seeds(session *s, int n, char **path)
{
    s->file = tc_new_n(&s->ctx->arena, seed_file, (size_t)n);
    for (int i = 0; i < n; i++) {
        seed_file *f = &s->file[s->n_file];
        const char *dot = strrchr(path[i], '.');
        f->path = path[i];
        f->ext = dot ? dot : "";
        if (ti_file_read(s->ctx, path[i], &f->bytes) == TC_OK && f->bytes.size >= 8)
            make_data(s, f, s->n_file++);
    }
}

int main(int argc, char **argv)
{
    session s = {.ctx = tc_ctx_new(), .found = ".", .folder = "/tmp/tosac-mutate-XXXXXX"};
    long first = 1, count = 1000;
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
        if (strcmp(argv[i], "--first") == 0)
            first = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--count") == 0)
            count = atol(argv[i + 1]);
        else
            s.found = argv[i + 1];
    if (!mkdtemp(s.folder) || i >= argc)
        return 2;
    mkdir(s.found, 0777);
    read_seeds(&s, argc - i, argv + i);
    for (long k = first; k < first + count && s.n_file; k++)
        try_number(&s, k);
    tc_ctx_free(s.ctx);
    printf("mutated files: %d passed, %d failed\n", s.passed, s.failed);
    return s.failed != 0;
}
