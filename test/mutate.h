/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.h -- the command line's main() under another name, for test/mutate.c: included before its
 * files. */
#ifndef TC_MUTATE_H
#define TC_MUTATE_H

int tosac_main(int argc, char **argv);
#define main tosac_main

#endif
