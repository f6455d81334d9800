/* SPDX-License-Identifier: Apache-2.0 */
/* sys/resource.h -- the most memory that the process had, in KiB as Linux counts. */
#ifndef TC_WINDOWS_SYS_RESOURCE_H
#define TC_WINDOWS_SYS_RESOURCE_H


struct rusage {
    long ru_maxrss;
};
enum { RUSAGE_SELF };
int ti_win_getrusage(int whose, struct rusage *out);
#define getrusage ti_win_getrusage

#endif
