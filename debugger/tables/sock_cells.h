/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is shown of a struct sock, whoever found it. */
#ifndef DEBUGGER_TABLES_SOCK_CELLS_H
#define DEBUGGER_TABLES_SOCK_CELLS_H

#include "debugger/tables/table.h"

#define SOCK_ESTABLISHED  1 /* kernel include/net/tcp_states.h */
#define SOCK_TIME_WAIT	  6
#define SOCK_LISTEN	  10
#define SOCK_NEW_SYN_RECV 12

/* AF_*, SOCK_*, TCP_*; a number where there is no name. */
void sock_set_family(struct table_scan *scan, unsigned int column, uint64_t family);
void sock_set_type(struct table_scan *scan, unsigned int column, uint64_t type);
void sock_set_state(struct table_scan *scan, unsigned int column, uint64_t state);
/* "1.2.3.4:80" or "[::1]:80" of an Internet one, both ends. */
struct error *sock_set_internet(struct table_scan *scan, unsigned int local, unsigned int remote,
				const struct object *sock, int family) MUST_CHECK;
/* A UNIX one's path; "@name" of an abstract one, up to the next NUL. */
struct error *sock_set_unix(struct table_scan *scan, unsigned int column, uint64_t sock) MUST_CHECK;

#endif
