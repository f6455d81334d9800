/* SPDX-License-Identifier: Apache-2.0 */
/* process.c -- see process.h: by POSIX.  windows/windows_process.c is the other. */
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char ti_path_between[2] = ":";

/* In the child: a new process group, so that what it starts can be ended with it. */
static _Noreturn void become(const char *const *argv, const char *folder, const char *log)
{
    sigset_t none_waits;
    setpgid(0, 0);
    sigemptyset(&none_waits);
    sigprocmask(SIG_SETMASK, &none_waits, NULL);
    int out = chdir(folder) == 0 ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    int none = open("/dev/null", O_RDONLY);
    if (out >= 0 && none >= 0) {
        dup2(none, 0);
        dup2(out, 1);
        dup2(out, 2);
        /* The program only reads its arguments. */
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    }
    _exit(127);
}

intptr_t ti_process_start(const char *const *argv, const char *folder, const char *log)
{
    pid_t pid = fork();
    if (pid == 0)
        become(argv, folder, log);
    if (pid > 0)
        setpgid(pid, pid); /* whichever comes first */
    return pid;
}

static bool ended(intptr_t process, int *exit, int flags)
{
    int status;
    pid_t got = waitpid((pid_t)process, &status, flags);
    if (got == 0)
        return false;
    kill(-(pid_t)process, SIGKILL); /* its remaining children */
    *exit = got < 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

bool ti_process_ended(intptr_t process, int *exit)
{
    return ended(process, exit, WNOHANG);
}

void ti_process_end(intptr_t process, int *exit)
{
    kill(-(pid_t)process, SIGKILL);
    ended(process, exit, 0);
}

bool ti_process_can_run(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}
