// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * audits: rules of the audit subsystem of each kind, and what the kernel says of them and of
 * itself.
 *
 *   audits FOLDER
 *
 * Writes to FOLDER `rules`, a line "LIST|ACTION|SYSCALLS|FIELDS" of each rule in the kernel's
 * order: SYSCALLS "all" or numbers with commas, FIELDS "NUMBER OPERATOR VALUE" with semicolons, a
 * path or a key as VALUE; and `status`, lines "NAME VALUE" of struct audit_status. A kernel without
 * audit: neither.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCHED	 "/tmp/audited"
#define TEXT_MAX 512

struct request {
	struct nlmsghdr header;
	struct audit_rule_data rule;
	char text[TEXT_MAX];
};

static int audit;

static void fail(const char *what)
{
	printf("guest: failed: audits: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void send_message(struct request *request, unsigned short type, unsigned int flags,
			 size_t size)
{
	request->header = (struct nlmsghdr){ .nlmsg_len = (unsigned int)(NLMSG_HDRLEN + size),
					     .nlmsg_type = type,
					     .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags),
					     .nlmsg_seq = 1 };
	if (send(audit, request, request->header.nlmsg_len, 0) < 0)
		fail("send");
}

/* The next message, in `buffer`. An error number in it ends the program; 0 says that all is well.
 */
static const struct nlmsghdr *receive(char *buffer, size_t size)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)buffer;
	ssize_t got = recv(audit, buffer, size, 0);
	if (got < (ssize_t)sizeof(*header))
		fail("recv");
	if (header->nlmsg_type == NLMSG_ERROR) {
		errno = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
		if (errno)
			fail("answer");
	}
	return header;
}

static void add_field(struct request *request, unsigned int type, unsigned int comparison,
		      unsigned int value)
{
	struct audit_rule_data *rule = &request->rule;
	rule->fields[rule->field_count] = type;
	rule->fieldflags[rule->field_count] = comparison;
	rule->values[rule->field_count++] = value;
}

static void add_text(struct request *request, unsigned int type, const char *text)
{
	struct audit_rule_data *rule = &request->rule;
	add_field(request, type, AUDIT_EQUAL, (unsigned int)strlen(text));
	memcpy(rule->buf + rule->buflen, text, strlen(text));
	rule->buflen += (unsigned int)strlen(text);
}

static void add_syscall(struct request *request, unsigned int number)
{
	request->rule.mask[number / 32] |= 1u << number % 32;
}

static struct request *new_rule(unsigned int list, unsigned int action)
{
	static struct request request;
	memset(&request, 0, sizeof(request));
	request.rule.flags = list;
	request.rule.action = action;
	return &request;
}

static void all_syscalls(struct request *request)
{
	memset(request->rule.mask, 0xff, sizeof(request->rule.mask));
}

static void add_rule(struct request *request)
{
	char answer[8192];
	send_message(request, AUDIT_ADD_RULE, NLM_F_ACK,
		     sizeof(request->rule) + request->rule.buflen);
	receive(answer, sizeof(answer));
}

static void add_rules(void)
{
	struct request *rule = new_rule(AUDIT_FILTER_EXIT, AUDIT_ALWAYS);
	add_field(rule, AUDIT_ARCH, AUDIT_EQUAL, AUDIT_ARCH_X86_64);
	add_syscall(rule, SYS_openat);
	add_syscall(rule, SYS_unlink);
	add_field(rule, AUDIT_UID, AUDIT_GREATER_THAN_OR_EQUAL, 1000);
	add_field(rule, AUDIT_EXIT, AUDIT_EQUAL, (unsigned int)-EACCES);
	add_text(rule, AUDIT_FILTERKEY, "btfcrash");
	add_rule(rule);

	rule = new_rule(AUDIT_FILTER_EXIT, AUDIT_NEVER);
	add_syscall(rule, SYS_mount);
	add_field(rule, AUDIT_SUCCESS, AUDIT_NOT_EQUAL, 1);
	add_rule(rule);

	rule = new_rule(AUDIT_FILTER_TASK, AUDIT_NEVER);
	all_syscalls(rule);
	add_field(rule, AUDIT_GID, AUDIT_LESS_THAN, 10);
	add_rule(rule);

	rule = new_rule(AUDIT_FILTER_TYPE, AUDIT_NEVER);
	all_syscalls(rule);
	add_field(rule, AUDIT_MSGTYPE, AUDIT_EQUAL, AUDIT_CWD);
	add_rule(rule);

	rule = new_rule(AUDIT_FILTER_EXIT, AUDIT_ALWAYS);
	all_syscalls(rule);
	add_text(rule, AUDIT_WATCH, WATCHED);
	add_field(rule, AUDIT_PERM, AUDIT_EQUAL, AUDIT_PERM_WRITE | AUDIT_PERM_ATTR);
	add_text(rule, AUDIT_FILTERKEY, "watch");
	add_rule(rule);

	/* The kernel keeps the first one as another field, and says it as it was told. */
	rule = new_rule(AUDIT_FILTER_EXIT, AUDIT_ALWAYS);
	add_syscall(rule, SYS_chmod);
	add_field(rule, AUDIT_LOGINUID, AUDIT_NOT_EQUAL, (unsigned int)-1);
	add_field(rule, AUDIT_FILETYPE, AUDIT_EQUAL, S_IFREG);
	add_rule(rule);

	rule = new_rule(AUDIT_FILTER_EXIT, AUDIT_ALWAYS);
	all_syscalls(rule);
	add_text(rule, AUDIT_DIR, "/tmp");
	add_field(rule, AUDIT_PERM, AUDIT_EQUAL, AUDIT_PERM_READ);
	add_rule(rule);
}

static void write_rule(FILE *file, const struct audit_rule_data *rule)
{
	const char *text = rule->buf, *separator = "";
	unsigned int set = 0;
	fprintf(file, "%u|%u|", rule->flags & ~AUDIT_FILTER_PREPEND, rule->action);
	for (unsigned int i = 0; i < AUDIT_BITMASK_SIZE; i++)
		set += rule->mask[i] == UINT32_MAX;
	if (set >= AUDIT_BITMASK_SIZE - 1)
		fprintf(file, "all");
	for (unsigned int i = 0; set < AUDIT_BITMASK_SIZE - 1 && i < 32 * AUDIT_BITMASK_SIZE; i++)
		if (rule->mask[i / 32] >> i % 32 & 1) {
			fprintf(file, "%s%u", separator, i);
			separator = ",";
		}
	fputc('|', file);
	for (unsigned int i = 0; i < rule->field_count; i++) {
		unsigned int type = rule->fields[i];
		fprintf(file, "%s%u %#x ", i ? ";" : "", type, rule->fieldflags[i]);
		if (type == AUDIT_WATCH || type == AUDIT_DIR || type == AUDIT_FILTERKEY) {
			fprintf(file, "%.*s", (int)rule->values[i], text);
			text += rule->values[i];
		} else {
			fprintf(file, "%u", rule->values[i]);
		}
	}
	fputc('\n', file);
}

static void list_rules(FILE *file)
{
	static char buffer[16384];
	const struct nlmsghdr *header;
	struct request request;
	send_message(&request, AUDIT_LIST_RULES, 0, 0);
	while ((header = receive(buffer, sizeof(buffer)))->nlmsg_type == AUDIT_LIST_RULES)
		write_rule(file, NLMSG_DATA(header));
}

static void list_status(FILE *file)
{
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
		{ "enabled", offsetof(struct audit_status, enabled) },
		{ "failure", offsetof(struct audit_status, failure) },
		{ "pid", offsetof(struct audit_status, pid) },
		{ "rate_limit", offsetof(struct audit_status, rate_limit) },
		{ "backlog_limit", offsetof(struct audit_status, backlog_limit) },
		{ "lost", offsetof(struct audit_status, lost) },
		{ "backlog", offsetof(struct audit_status, backlog) },
		{ "backlog_wait_time", offsetof(struct audit_status, backlog_wait_time) },
	};
	static char buffer[16384];
	struct request request;
	send_message(&request, AUDIT_GET, 0, 0);
	const struct nlmsghdr *header = receive(buffer, sizeof(buffer));
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		unsigned int value;
		memcpy(&value, (const char *)NLMSG_DATA(header) + members[i].offset, sizeof(value));
		fprintf(file, "%s %u\n", members[i].name, value);
	}
}

static FILE *open_output(const char *folder, const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "we");
	if (!file)
		fail(path);
	return file;
}

int main(int count, char **arguments)
{
	if (count != 2)
		fail("usage: audits FOLDER");
	audit = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	if (audit < 0 && (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT))
		return 0;
	if (audit < 0)
		fail("socket");
	mkdir(arguments[1], 0700);
	fclose(open_output("/tmp", "audited"));
	add_rules();
	FILE *file = open_output(arguments[1], "rules");
	list_rules(file);
	fclose(file);
	file = open_output(arguments[1], "status");
	list_status(file);
	fclose(file);
	return 0;
}
