/* SPDX-License-Identifier: Apache-2.0 */
/* sys/mman.h -- files as memory, to be read. */
#ifndef TC_WINDOWS_SYS_MMAN_H
#define TC_WINDOWS_SYS_MMAN_H

#include <stddef.h>
#include <stdint.h>

enum { PROT_READ = 1, MAP_PRIVATE = 1, MADV_DONTNEED = 1 };
#define MAP_FAILED ((void *)-1)
void *ti_win_mmap(void *at, size_t size, int protection, int flags, int fd, int64_t from);
int ti_win_munmap(void *at, size_t size);
int ti_win_madvise(void *at, size_t size, int advice);
#define mmap ti_win_mmap
#define munmap ti_win_munmap
#define madvise ti_win_madvise

#endif
