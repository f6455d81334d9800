/* SPDX-License-Identifier: Apache-2.0 */
/* cli_text.c -- texts that grow, lists of them, models and data by name. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void no_memory(void)
{
    fputs("tosac: error: out of memory [memory]\n", stderr);
    exit(TC_BAD_MODEL);
}

/* ---- memory that is freed at the end ---- */

static void **kept; /* every block of the command line's own */
static size_t n_kept, cap_kept;

/* The block, or a new one, resized; its index among the kept blocks is found from the end. */
static void *grown(void *old, size_t size)
{
    size_t i = n_kept;
    while (old && i > 0 && kept[i - 1] != old)
        i--;
    if (!old && n_kept == cap_kept) {
        cap_kept = cap_kept ? 2 * cap_kept : 64;
        void **more = realloc(kept, cap_kept * sizeof *more);
        if (!more)
            no_memory();
        kept = more;
    }
    void *p = realloc(old, size);
    if (!p)
        no_memory();
    if (!old)
        i = ++n_kept;
    kept[i - 1] = p;
    return p;
}

void *cli_memory(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        no_memory();
    size_t bytes = count && size ? count * size : 1;
    return memset(grown(NULL, bytes), 0, bytes);
}

void cli_give_back(void)
{
    while (n_kept)
        free(kept[--n_kept]);
    free(kept);
    kept = NULL;
    cap_kept = 0;
}

void cli_put_list(cli_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    size_t n = length > 0 ? (size_t)length : 0;
    if (text->cap - text->n < n + 1) {
        size_t cap = 2 * (text->n + n + 1);
        text->p = grown(text->p, cap);
        text->cap = cap;
    }
    vsnprintf(text->p + text->n, n + 1, format, again);
    va_end(again);
    text->n += n;
}

void cli_put(cli_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_put_list(text, format, args);
    va_end(args);
}

char *cli_format(const char *format, ...)
{
    cli_text text = {0};
    va_list args;
    va_start(args, format);
    cli_put_list(&text, format, args);
    va_end(args);
    return text.p;
}

void cli_add(cli_texts *list, const char *text)
{
    if (list->n == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 8;
        list->v = grown((void *)list->v, list->cap * sizeof *list->v);
    }
    list->v[list->n++] = text;
}

void cli_add_names(cli_texts *list, const char *text)
{
    while (text && *text) {
        size_t n = strcspn(text, ",");
        if (n)
            cli_add(list, cli_format("%.*s", (int)n, text));
        text += n + (text[n] == ',');
    }
}

bool cli_is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

bool cli_ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

tc_status cli_print_all(cli *c, tc_bytes text)
{
    if (fwrite(text.data, 1, text.size, stdout) == text.size && fflush(stdout) == 0)
        return TC_OK;
    int why = errno;
    if (why == EPIPE) /* its reader has left */
        return TC_OK;
    clearerr(stdout);
    return cli_bad_file(c, "<stdout>", "cannot be written: %s", strerror(why));
}

tc_status cli_write_model(cli *c, const tc_model *model, const char *path)
{
    tc_bytes text;
    if (!cli_is(path, "-"))
        return tc_model_write(c->ctx, model, path);
    CLI_TRY(tc_model_text(c->ctx, model, 1, &text));
    return cli_print_all(c, text);
}

tc_status cli_data(cli *c, const cli_texts *files, bool always, tc_dataset **out)
{
    *out = NULL;
    return files->n || always ? tc_dataset_open(c->ctx, files->v, files->n, out) : TC_OK;
}

const char *cli_path_last(const char *path)
{
#ifdef _WIN32
    static const char between[] = "/\\:";
#else
    static const char between[] = "/";
#endif
    for (const char *next; (next = strpbrk(path, between));)
        path = next + 1;
    return path;
}

/* An existing folder in which a file can be made, and no folder of that name. */
tc_status cli_try_output(cli *c, const char *path)
{
    struct stat st;
    if (!path || cli_is(path, "-"))
        return TC_OK;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return cli_bad_file(c, path, "cannot be written: it is a folder");
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return TC_OK; /* a device: whatever it takes */
    int n = (int)(cli_path_last(path) - path);
    const char *folder = n ? cli_format("%.*s", n > 1 ? n - 1 : 1, path) : ".";
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || access(folder, W_OK | X_OK) != 0) {
        tc_status status = cli_bad_file(c, path, "cannot be written: %s",
                                        errno ? strerror(errno) : "no folder");
        if (stat(folder, &st) != 0)
            cli_note(c, "there is no folder '%s'; nothing has been computed", folder);
        return status;
    }
    return TC_OK;
}

const char *cli_input_types(const tc_model *model)
{
    cli_text text = {0};
    tc_port_info port = {.size = sizeof port};
    for (size_t i = 0; tc_model_input(model, i, &port); i++) {
        cli_put(&text, "%s%s %s[", i ? ", " : "", port.name ? port.name : "input",
                tc_dtype_name(port.type->dtype));
        for (int k = 0; k < port.type->rank; k++)
            cli_put(&text, "%s%" PRId64, k ? "," : "", port.type->dim[k]);
        cli_put(&text, "]");
    }
    return text.p ? text.p : "";
}

tc_status cli_data_by(cli *c, const cli_texts *files, const char *rules, bool always,
                      tc_dataset **out)
{
    CLI_TRY(cli_data(c, files, always, out));
    return rules && *out ? tc_dataset_preprocess(c->ctx, *out, rules) : TC_OK;
}

double cli_amount(const char *text)
{
    static const struct {
        const char *unit;
        double times;
    } units[] = {{"", 1},    {"K", 1024},  {"KiB", 1024},       {"k", 1e3}, {"M", 1048576},
                 {"MiB", 1048576}, {"s", 1}, {"min", 60}, {"h", 3600}, {"dB", 1}};
    char *end;
    double x = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units && end > text; i++)
        if (cli_is(end, units[i].unit) && x > 0 && x < 1e18)
            return x * units[i].times;
    return -1;
}
