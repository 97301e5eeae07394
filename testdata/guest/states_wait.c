// SPDX-License-Identifier: GPL-3.0-or-later
/* States of waiting: time, signals, pipes, sockets, locks. */
#define _GNU_SOURCE
#include "states.h"

#include <arpa/inet.h>
#include <linux/futex.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>

#define SIDE_PORT 7002

/* Time and signals */

void enter_nanosleep(void)
{
	sleep_ms(100000000);
}

void enter_signalfd(void)
{
	sigset_t set;
	struct signalfd_siginfo info;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, 0);
	must(fd, "signalfd");
	must(read(fd, &info, sizeof(info)), "read of a signalfd");
}

void enter_sigwait(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwaitinfo(&set, NULL);
}

void enter_timerfd(void)
{
	struct itimerspec spec = { .it_value.tv_sec = 1000000 };
	uint64_t expirations;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	must(fd, "timerfd_create");
	must(timerfd_settime(fd, 0, &spec, NULL), "timerfd_settime");
	must(read(fd, &expirations, sizeof(expirations)), "read of a timerfd");
}

void enter_posix_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec spec = { .it_value.tv_sec = 1000000 };
	timer_t timer;
	must(timer_create(CLOCK_REALTIME, &event, &timer), "timer_create");
	must(timer_settime(timer, 0, &spec, NULL), "timer_settime");
	sleep_for_ever();
}

/* A signal that is blocked stays pending. */
void enter_signal_pending(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	sleep_for_ever();
}

void enter_stopped(void)
{
	raise(SIGSTOP);
}

void enter_zombie(void)
{
	_exit(7);
}

/* Pipes and what waits for many files */

void make_pipe(int ends[2])
{
	must(pipe(ends), "pipe");
}

void enter_pipe_read(void)
{
	int ends[2];
	char byte;
	make_pipe(ends);
	must(read(ends[0], &byte, 1), "read of a pipe");
}

void enter_pipe_write(void)
{
	static const char block[4096];
	int ends[2];
	make_pipe(ends);
	for (;;)
		must(write(ends[1], block, sizeof(block)), "write to a pipe");
}

void enter_poll(void)
{
	int ends[2];
	make_pipe(ends);
	struct pollfd wanted = { .fd = ends[0], .events = POLLIN };
	poll(&wanted, 1, -1);
}

void enter_select(void)
{
	int ends[2];
	fd_set set;
	make_pipe(ends);
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	select(ends[0] + 1, &set, NULL, NULL, NULL);
}

void enter_epoll(void)
{
	int ends[2];
	make_pipe(ends);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = ends[0] };
	int epoll = epoll_create1(0);
	must(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");
	must(epoll_wait(epoll, &event, 1, -1), "epoll_wait");
}

void enter_eventfd(void)
{
	uint64_t value;
	int fd = eventfd(0, 0);
	must(read(fd, &value, sizeof(value)), "read of an eventfd");
}

void enter_inotify(void)
{
	char buffer[4096];
	int fd = inotify_init1(0);
	must(inotify_add_watch(fd, "/mnt/image", IN_CREATE), "inotify_add_watch");
	must(read(fd, buffer, sizeof(buffer)), "read of an inotify");
}

/* Sockets */

static struct sockaddr_in local_address(int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static int listen_on(int port)
{
	struct sockaddr_in address = local_address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(listen(fd, 5), "listen");
	return fd;
}

void enter_accept(void)
{
	must(accept(listen_on(7001), NULL, NULL), "accept");
}

/* Both ends of an established connection, with unread data in one of them. */
void enter_tcp_recv(void)
{
	struct sockaddr_in address = local_address(SIDE_PORT);
	char byte;
	int listening = listen_on(SIDE_PORT);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(client, (void *)&address, sizeof(address)), "connect");
	int server = accept(listening, NULL, NULL);
	must(server, "accept");
	must(write(client, "unread", 6), "write to a socket");
	must(recv(client, &byte, 1, 0), "recv of a tcp socket");
}

void enter_udp_recv(void)
{
	struct sockaddr_in address = local_address(7003);
	char byte;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(recv(fd, &byte, 1, 0), "recv of a udp socket");
}

void enter_unix_recv(void)
{
	int ends[2];
	char byte;
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	must(recv(ends[0], &byte, 1, 0), "recv of a unix socket");
}

void enter_unix_accept(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/tmp/socket" };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(listen(fd, 1), "listen");
	must(accept(fd, NULL, NULL), "accept");
}

void enter_netlink(void)
{
	/* A group in which nothing ever happens here. */
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1 << (RTNLGRP_ND_USEROPT - 1),
	};
	char buffer[4096];
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(recv(fd, buffer, sizeof(buffer), 0), "recv of a netlink socket");
}

/* A protocol of which nothing comes. */
void enter_packet(void)
{
	char buffer[4096];
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_X25));
	must(fd, "socket of AF_PACKET");
	must(recv(fd, buffer, sizeof(buffer), 0), "recv of a packet socket");
}

/* Connections that no task holds: one end in FIN_WAIT2, and one in TIME_WAIT. */
void enter_tcp_closed(void)
{
	struct sockaddr_in address = local_address(7004);
	int listening = listen_on(7004);
	for (int i = 0; i < 2; i++) {
		int client = socket(AF_INET, SOCK_STREAM, 0);
		must(connect(client, (void *)&address, sizeof(address)), "connect");
		int server = accept(listening, NULL, NULL);
		must(server, "accept");
		close(client);
		sleep_ms(50);
		if (i)
			close(server);
	}
	sleep_for_ever();
}

static int socket_of(uid_t user, int family, int type, int protocol)
{
	must(seteuid(user), "seteuid");
	int fd = socket(family, type, protocol);
	must(seteuid(0), "seteuid");
	must(fd, "socket of a user");
	return fd;
}

static void bind_to(int fd, const void *address, size_t size)
{
	must(bind(fd, address, size), "bind of a user's socket");
}

/* Sockets of several users and protocols, of a task that is neither root's. */
void enter_owned(void)
{
	struct sockaddr_in local = local_address(7005);
	struct sockaddr_in6 local6 = { .sin6_family = AF_INET6,
				       .sin6_port = htons(7006),
				       .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0owned" };
	struct sockaddr_nl netlink = { .nl_family = AF_NETLINK, .nl_pid = 1000000 };
	int listening = socket_of(1000, AF_INET, SOCK_STREAM, 0);
	bind_to(listening, &local, sizeof(local));
	must(listen(listening, 5), "listen");
	bind_to(socket_of(4000000000, AF_INET, SOCK_DGRAM, 0), &local, sizeof(local));
	bind_to(socket_of(1001, AF_INET6, SOCK_DGRAM, 0), &local6, sizeof(local6));
	bind_to(socket_of(1002, AF_UNIX, SOCK_DGRAM, 0), &name, sizeof(name));
	bind_to(socket_of(1003, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), &netlink, sizeof(netlink));
	socket_of(0, AF_INET, SOCK_RAW, IPPROTO_ICMP);
	socket_of(0, AF_INET6, SOCK_RAW, 89);
	must(setresgid(1004, 1005, 1006), "setresgid");
	must(setresuid(1000, 1001, 1002), "setresuid");
	sleep_for_ever();
}

void enter_tun_read(void)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	char buffer[4096];
	strcpy(request.ifr_name, "tun-states");
	int fd = open("/dev/net/tun", O_RDWR);
	must(fd, "open /dev/net/tun");
	must(ioctl(fd, TUNSETIFF, &request), "TUNSETIFF");
	must(read(fd, buffer, sizeof(buffer)), "read of a tun device");
}

/* Locks */

static void lock_with_flock(void)
{
	int fd = open("/tmp/flock", O_RDWR | O_CREAT, 0600);
	must(flock(fd, LOCK_EX), "flock");
}

void enter_flock_holder(void)
{
	lock_with_flock();
	sleep_for_ever();
}

void enter_flock_waiter(void)
{
	sleep_ms(300);
	lock_with_flock();
}

static void lock_with_fcntl(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 100, .l_len = 50 };
	int fd = open("/tmp/posix-lock", O_RDWR | O_CREAT, 0600);
	must(fcntl(fd, F_SETLKW, &lock), "F_SETLKW");
}

void enter_posix_holder(void)
{
	lock_with_fcntl();
	sleep_for_ever();
}

void enter_posix_waiter(void)
{
	sleep_ms(300);
	lock_with_fcntl();
}

void enter_futex(void)
{
	static int word;
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

void enter_msgrcv(void)
{
	struct {
		long type;
		char text[16];
	} message;
	int queue = msgget(0xb7f1, IPC_CREAT | 0600);
	must(queue, "msgget");
	/* Of a type that nobody wants. */
	message.type = 2;
	strcpy(message.text, "kept");
	must(msgsnd(queue, &message, 5, 0), "msgsnd");
	must(msgrcv(queue, &message, sizeof(message.text), 1, 0), "msgrcv");
}

void enter_semop(void)
{
	struct sembuf operation = { .sem_op = -1 };
	int set = semget(0xb7f2, 2, IPC_CREAT | 0600);
	must(set, "semget");
	must(semop(set, &operation, 1), "semop");
}

void enter_shm(void)
{
	int segment = shmget(0xb7f3, 3 * 4096, IPC_CREAT | 0600);
	must(segment, "shmget");
	strcpy(shmat(segment, NULL, 0), "btfcrash shared memory");
	sleep_for_ever();
}
