// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/crash_views.h"

#include "base/ascii.h"
#include "base/strbuf.h"
#include <string.h>

/* The columns of crash's `ps`, as far as a table has them. */
#define PS "tasks -o pid,ppid,cpu,task,state,rss,vsz,comm"

const struct crash_view crash_views[] = {
	{ "files", "-R", "PATH", "files -a --where \"path LIKE '%%%q%%'\"" },
	{ "files", "-c", "[PID...]",
	  "sql SELECT f.pid, f.fd, f.inode, i.cached, i.size, f.path FROM files f JOIN inodes i ON "
	  "i.inode = f.inode WHERE i.cached > 0[ AND f.pid IN (%,)] ORDER BY i.cached DESC" },
	{ "files", "-d", "DENTRY",
	  "dentries -o dentry,inode,superblock,type,path --where 'dentry = %s'" },
	{ "ipcs", "-s", NULL, "ipcs --where \"kind = 'sem'\"" },
	{ "ipcs", "-m", NULL, "ipcs --where \"kind = 'shm'\"" },
	{ "ipcs", "-M", NULL, "ipcs --where \"kind = 'shm'\"" },
	{ "ipcs", "-q", NULL, "ipcs --where \"kind = 'msg'\"" },
	{ "irqs", "-a", NULL, "irqs -o irq,affinity,effective,name" },
	{ "irqs", "-b", NULL, "softirqs" },
	{ "irqs", "-s", NULL, "irqcounts --where 'count > 0'" },
	{ "irqs", "-u", NULL, "irqs --where 'handler IS NOT NULL'" },
	{ "kmem", "-f", NULL, "freelists --where 'blocks > 0'" },
	{ "kmem", "-h", NULL, "hugepages" },
	{ "kmem", "-n", NULL, "zones -o node,zone,name,present,managed,free" },
	{ "kmem", "-o", NULL, "print -x __per_cpu_offset" },
	{ "kmem", "-S", "[NAME...]", "objects[ %s]" },
	{ "kmem", "-V", NULL, "print vm_node_stat" },
	{ "kmem", "-g", NULL, "enum pageflags" },
	{ "majors", "-d", NULL, "disks -o disk,queue,in_flight,reads,writes,name" },
	{ "majors", "-D", NULL, "requests" },
	{ "majors", "-i", NULL, "resources" },
	{ "majors", "-p", NULL, "devices --where \"bus = 'pci'\"" },
	{ "mappings", "-m", "[PID]", "[foreach %s ]print *current->mm" },
	{ "mappings", "-p", "[PID...]", "userpages[ %s]" },
	/* Scripts begin so: symbols and types are there already. */
	{ "mod", "-S", NULL, "mod" },
	{ "mod", "-s", "MODULE", "mod %s" },
	{ "mounts", "-f", NULL, "files -a --where \"type = 'REG'\" --sort path" },
	{ "mounts", "-i", NULL, "inodes --where \"state LIKE '%%dirty%%'\"" },
	{ "netdevs", "-a", NULL, "neighbours" },
	{ "netdevs", "-s", "[PID...]", "sockets[ %s]" },
	{ "ps", "-a", "[PID...]", "tasks -o pid,comm,args,env[ --where 'pid IN (%,)']" },
	{ "ps", "-A", NULL, PS " --where 'running = 1'" },
	{ "ps", "-c", "[PID...]", PS "[ --where 'ppid IN (%,)'] --sort ppid" },
	{ "ps", "-g", "[PID...]",
	  "tasks -o tgid,pid,task,cpu,state,comm[ --where 'tgid IN (%,)'] --sort tgid" },
	{ "ps", "-G", "[PID...]", PS "[ --where 'pid = tgid AND pid IN (%,)']" },
	{ "ps", "-l", "[PID...]",
	  "tasks -o last,state,pid,task,cpu,comm[ --where 'pid IN (%,)'] --sort -last" },
	{ "ps", "-m", "[PID...]",
	  "tasks -o last,state,pid,task,cpu,comm[ --where 'pid IN (%,)'] --sort -last" },
	{ "ps", "-p", "PID...",
	  "sql WITH RECURSIVE one AS (SELECT pid, ppid, cpu, task, comm FROM tasks WHERE pid > 0 "
	  "OR cpu = 0), up AS (SELECT * FROM one WHERE pid IN (%,) UNION SELECT t.* FROM one t "
	  "JOIN up ON t.pid = up.ppid WHERE up.pid > 0) SELECT pid, ppid, cpu, task, comm FROM "
	  "(SELECT *, row_number() OVER () AS n FROM up) ORDER BY n DESC" },
	{ "ps", "-r", "[PID...]", "limits[ %s]" },
	{ "ps", "-S", NULL,
	  "sql SELECT state, count(*) AS tasks FROM tasks GROUP BY state ORDER BY tasks DESC" },
	{ "ps", "-t", "[PID...]",
	  "tasks -o pid,task,cpu,start,utime,stime,comm[ --where 'pid IN (%,)']" },
	{ "ps", "-y", "POLICY", PS " --where \"policy = '%q'\"" },
	{ "task", "-R", "MEMBERS", "print current{%s}" },
	{ "timers", "-r", NULL, "hrtimers" },
	{ "timers", "-C", "CPU", "timers --where 'cpu IN (%,)'" },
	{ NULL, NULL, NULL, NULL },
};

#define VIEW_WORDS_MAX 64

struct words {
	const char *at[VIEW_WORDS_MAX];
	size_t length[VIEW_WORDS_MAX], count;
};

static bool split(const char *text, struct words *ret)
{
	static const char blanks[] = " \t\n";
	ret->count = 0;
	for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
		if (ret->count == VIEW_WORDS_MAX)
			return false;
		ret->at[ret->count] = text;
		ret->length[ret->count++] = strcspn(text, blanks);
		text += strcspn(text, blanks);
	}
	return true;
}

/* Numbers go into SQL as they are: nothing else is let through. */
static bool is_number(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!ascii_is_alnum(text[i]))
			return false;
	return length && *text >= '0' && *text <= '9';
}

static void put_quoted(const char *text, size_t length, struct strbuf *out)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\'')
			strbuf_char(out, '\'');
		strbuf_char(out, text[i]);
	}
}

static struct error *put_words(const struct words *words, char form, struct strbuf *out)
{
	if (form == 'q' && words->count != 1)
		return error_create(ERROR_USAGE, "one word is asked for, without blanks");
	for (size_t i = 0; i < words->count; i++) {
		const char *at = words->at[i];
		size_t length = words->length[i];
		if (form == ',' && !is_number(at, length))
			return error_create(ERROR_USAGE, "\"%.*s\" is no number", (int)length, at);
		/* What ends the quotes around all of it. */
		if (form == 'q' && (memchr(at, '"', length) || memchr(at, '\\', length)))
			return error_create(ERROR_USAGE, "no \" and no \\ can stand here");
		if (i)
			strbuf_put(out, form == ',' ? ", " : " ");
		if (form == 'q')
			put_quoted(at, length, out);
		else
			strbuf_bytes(out, at, length);
	}
	return NULL;
}

static struct error *fill(const char *line, const struct words *words, struct strbuf *out)
{
	bool is_left_out = false;
	for (const char *at = line; *at; at++) {
		if (*at == '[' || *at == ']') {
			is_left_out = *at == '[' && !words->count;
		} else if (!is_left_out && *at == '%' && at[1] == '%') {
			strbuf_char(out, *++at);
		} else if (!is_left_out && *at == '%') {
			TRY(put_words(words, *++at, out));
		} else if (!is_left_out) {
			strbuf_char(out, *at);
		}
	}
	strbuf_bytes(out, "", 1);
	return out->failed ? error_no_memory() : NULL;
}

static struct error *make_line(const struct crash_view *view, const char *rest, char **ret)
{
	struct words words;
	struct strbuf out = { 0 };
	if (!split(rest, &words))
		return error_create(ERROR_USAGE, "more than %d words", VIEW_WORDS_MAX);
	if (words.count && !view->operand)
		return error_create(ERROR_USAGE, "nothing stands behind %s: it is `%s`",
				    view->option, view->line);
	if (!words.count && view->operand && *view->operand != '[')
		return error_create(ERROR_USAGE, "%s needs %s", view->option, view->operand);
	struct error *error = fill(view->line, &words, &out);
	if (error)
		strbuf_deinit(&out);
	else
		*ret = out.data;
	return error;
}

struct error *crash_view_line(const char *command, const char *rest, char **ret)
{
	static const char blanks[] = " \t\n";
	*ret = NULL;
	rest += strspn(rest, blanks);
	size_t length = strcspn(rest, blanks);
	for (const struct crash_view *view = crash_views; view->command; view++)
		if (!strcmp(view->command, command) && strlen(view->option) == length &&
		    !memcmp(view->option, rest, length))
			return make_line(view, rest + length, ret);
	return NULL;
}
