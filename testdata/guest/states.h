/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of `states` share: see states.c. */
#ifndef TESTDATA_GUEST_STATES_H
#define TESTDATA_GUEST_STATES_H

/* The folder that is frozen: its writers never return. */
extern const char *freezable;

/* Ends a child whose kernel lacks what it needs; the manifest leaves it out. */
void give_up(const char *what);
/* give_up() when a call returned less than 0. */
void must(int result, const char *what);
void sleep_ms(long ms);
void make_pipe(int ends[2]);
void sleep_for_ever(void);

/* Each brings the calling process into its state and does not return. */
void enter_nanosleep(void);
void enter_signalfd(void);
void enter_sigwait(void);
void enter_timerfd(void);
void enter_posix_timer(void);
void enter_signal_pending(void);
void enter_stopped(void);
void enter_zombie(void);
void enter_pipe_read(void);
void enter_pipe_write(void);
void enter_poll(void);
void enter_select(void);
void enter_epoll(void);
void enter_eventfd(void);
void enter_inotify(void);
void enter_accept(void);
void enter_tcp_recv(void);
void enter_udp_recv(void);
void enter_unix_recv(void);
void enter_unix_accept(void);
void enter_netlink(void);
void enter_packet(void);
void enter_tcp_closed(void);
void enter_owned(void);
void enter_tun_read(void);
void enter_flock_holder(void);
void enter_flock_waiter(void);
void enter_posix_holder(void);
void enter_posix_waiter(void);
void enter_futex(void);
void enter_msgrcv(void);
void enter_semop(void);
void enter_shm(void);
void enter_vfork(void);
void enter_waitpid(void);
void enter_tracer(void);
void enter_container(void);
void enter_cgroup(void);
void enter_threads(void);
void enter_spinner(void);
void enter_fifo(void);
void enter_round_robin(void);
void enter_batch(void);
void enter_idle(void);
void enter_mapped(void);
void enter_swapped(void);
void enter_huge(void);
void enter_deleted(void);
void enter_user_fault(void);
void enter_kernel_fault(void);
void enter_perf(void);
void enter_dumped(void);
void enter_frozen_one(void);
void enter_frozen_two(void);
void enter_frozen_mkdir(void);

#endif
