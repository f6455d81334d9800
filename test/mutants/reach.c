/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c -- which blocks of a program ran: a byte for each place that was compiled with -fsanitize-coverage=trace-pc, in the file
 * that TOSAC_REACH names, by all processes that write there. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 1 << 26 }; /* addresses of a program that is linked to one place */

static uint8_t unread[1], *ran = unread;
static size_t n = 0;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    size_t at = (size_t)__builtin_return_address(0);
    if (at < n)
        ran[at] = 1;
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("TOSAC_REACH");
    int file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
    if (file < 0)
        return;
    void *at = ftruncate(file, PLACES) == 0 ? mmap(NULL, PLACES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (at != MAP_FAILED) {
        ran = at;
        n = PLACES;
    }
}
