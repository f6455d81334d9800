/* SPDX-License-Identifier: Apache-2.0 */
/* lazy_library.h -- functions of a shared library that is loaded when the first of them is wanted,
 * so that a program which never calls them starts without it.
 *
 *     #define ZIP(F) F(zip_, fread) F(zip_, fclose)
 *     static struct { TC_LATE_POINTERS(ZIP) } zip;
 *     if (ti_late_load("libzip.so.4", (const char *const[]){TC_LATE_NAMES(ZIP)}, &zip))
 *         zip.fread(file, out, n);
 *
 * Whoever loads does it under pthread_once; what is loaded stays. */
#ifndef TC_LAZY_LIBRARY_H
#define TC_LAZY_LIBRARY_H

#include "base.h"

#define TC_LATE_POINTER(prefix, name) __typeof__(prefix##name) *name;
#define TC_LATE_NAME(prefix, name) #prefix #name,
#define TC_LATE_POINTERS(list) list(TC_LATE_POINTER)
#define TC_LATE_NAMES(list) list(TC_LATE_NAME) NULL

/* Every function of the list (NULL ends it) into the array of pointers at `functions`; false, and
 * nothing written, where the library or one of them is not there.  A bundled copy under its own
 * name ("libzip-tosac.so.4") is preferred to the system's. */
bool ti_late_load(const char *library, const char *const *name, void *functions);

#endif
