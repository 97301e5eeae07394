// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/topics.h"

#include "base/array.h"
#include <string.h>

static const char piping[] =
	"COMMAND | PROGRAM ARGUMENTS   the output into a program; all behind it is the shell's\n"
	"COMMAND > FILE                the output into a file, >> adds to it\n"
	"COMMAND | COMMAND             what the first finds, one by one, into the second\n"
	"! PROGRAM ARGUMENTS           runs a program\n"
	"\n"
	"ps, list, tree, mod, sym and others hand on addresses, and types where they know\n"
	"them. The second command runs once for each:\n"
	"\n"
	"  bt, rd, struct NAME, ...    take the address as their last operand\n"
	"  print                       shows the object; it is $_, a typed pointer\n"
	"  print comm, print ->comm    are short for print $_->comm\n"
	"  print {comm, mm{pgd, brk}}  makes a table of members\n"
	"  print {pid, prio - 100, $_} ... and of what is computed from them\n"
	"  print (struct foo){a, b}    the same of what you know to be a struct foo\n"
	"  rd $_ 4                     $_ puts the address elsewhere\n"
	"\n"
	"What is C's and what the shell's:\n"
	"\n"
	"Within (), [], {} and quotes, or without blanks around (a|b, a>>2, a->b), all is C's.\n"
	"Commands without expressions (ps, bt, log...) have no C: | and > are the shell's.\n"
	"After print and its like, ` | x` is a pipe if x is a command or a program, ` > x` and\n"
	"` >> x` write a file if x ends the line and is no number. If x is a variable, you are\n"
	"asked to say which: (a > x) or > ./x. `| !x` is a program even if x is a command.\n";
static const char *const piping_examples[] = { "ps | grep kworker | head -3",
					       "ps -s I | print {pid, comm}",
					       "ps -u | print {comm, mm->total_vm * 4}",
					       "list -t struct.task_struct.tasks init_task | "
					       "print (struct task_struct){comm, pid}",
					       "ps 1 kthreadd | bt",
					       "ps 1 | rd $_ 2",
					       "print (1 | 2)",
					       "print 1 | 2",
					       "log | tail -3",
					       NULL };

static const char expressions[] =
	"C's, on the dump's own types: variables, members, [], * and &, casts to any C type,\n"
	"sizeof, integers, characters, enumerators and all operators but assignment.\n"
	"\n"
	"  task.comm, task->comm       the same: a pointer is followed\n"
	"  NAME:0, NAME:a              a per-CPU variable on CPU 0, on all CPUs\n"
	"  MODULE:NAME                 a module's\n"
	"  NAME@ADDRESS                of several symbols of a name, the one there\n"
	"  (struct foo *)0xffff...     what you know better\n"
	"  $name                       what `set $name = ...` said; $_ what came through a pipe\n"
	"\n"
	"TAB completes variables, types behind struct, and members behind . and ->.\n"
	"`help print` has the options that say how values look.\n";
static const char *const expressions_examples[] = { "print init_task.comm",
						    "print &init_task",
						    "print runqueues:a.nr_running",
						    "print sizeof(struct task_struct)",
						    "print ((struct task_struct *)&init_task)->pid",
						    NULL };

static const char rc[] =
	"At the prompt, the lines of ~/.config/btfcrash/rc run first "
	"($XDG_CONFIG_HOME/btfcrash/rc\n"
	"if that is set), unless the program was started with --no-rc. Scripts and -c do without,\n"
	"so that they mean the same everywhere; they can `source` it.\n"
	"\n"
	"  # comments are allowed, here and at the end of lines\n"
	"  alias bta = bt -a\n"
	"  alias stuck = ps -s D | bt\n"
	"\n"
	"`alias` lists what there is, `set` the settings. The lines you typed are kept in\n"
	"~/.local/state/btfcrash/history; Ctrl-R searches them, the arrows walk through them.\n";
static const char *const rc_examples[] = { "alias", "source /dev/null", NULL };

static const char output[] =
	"Every command takes, before its operands:\n"
	"\n"
	"  --json           one line of JSON: {\"command\", \"ok\", \"result\"} or \"error\"\n"
	"  --csv            comma-separated values with a heading; members of members are a.b.\n"
	"                   A text that a spreadsheet would run (= + - @ first) gets a ' before "
	"it,\n"
	"                   as does one that begins with '; numbers are left as they are\n"
	"  --columns LIST   only these columns, in this order: --columns pid,comm\n"
	"\n"
	"Many readers of JSON (jq, JavaScript) round numbers from 2^53 on. So an integer whose C\n"
	"type is wider than 32 bits (long, u64, size_t, a bit-field of 40 bits) is a string of\n"
	"decimal digits in JSON, \"4096\", one of 32 bits or fewer is a number, and addresses are\n"
	"\"0x...\": the type decides, never the value. Counts, sizes in bytes and times that the\n"
	"program itself says are numbers; keys of trees and indices of slices are strings. With\n"
	"the program's option --json-integers=exact all integers are numbers, for readers that\n"
	"keep them (Python).\n"
	"\n"
	"Of what a dump holds, a control character or a byte that is no UTF-8 is shown as \\x1b, "
	"a\n"
	"character that nobody would see as \\u{200b}; in JSON that is \\u200b.\n"
	"\n"
	"In a pipe they hold for the line, whichever command has them; of several the last.\n"
	"Stacks are tables of frames: `bt -a --columns pid,comm,frame,symbol,arguments`.\n"
	"\n"
	"The same options of the program hold for all commands. Output that is longer than the\n"
	"screen goes through $PAGER, at the prompt and on a terminal; `less` without it, and no\n"
	"pager if it is empty. Colours are for terminals; $NO_COLOR and --color=never switch them\n"
	"off. Ctrl-C ends a command; what it has found until then stays.\n";
static const char *const output_examples[] = { "ps --csv",
					       "ps --columns pid,comm",
					       "bt --csv",
					       "sym --csv -q init_task",
					       "ps --json > /dev/null",
					       NULL };

static const char crash[] =
	"Called as in crash: alias, bpf, bt, dis, foreach, gcore, help, kmem, list, log, mod, p, "
	"ps, "
	"ptov,\n"
	"rd, search, set, struct, sym, sys, task, tree, union, vtop, whatis, q; also hex and dec, "
	"pd\n"
	"and px, sf and sn, for, size, eval, gdb and g.\n"
	"TYPE.MEMBER ADDRESS is `struct` here, too, and ps -ku is ps -k -u. An option of crash's\n"
	"that is not here says what does the same. A vmlinux beside the dump is left aside.\n";
static const char *const crash_examples[] = { "bt -a", "task_struct.pid,comm init_task",
					      "px jiffies", NULL };

const struct topic topics[] = {
	{ "crash", "where crash's commands are", crash, crash_examples, crash_commands },
	{ "piping", "| and >, and the addresses that commands hand on", piping, piping_examples,
	  NULL },
	{ "expressions", "what print and others evaluate", expressions, expressions_examples,
	  NULL },
	{ "output", "JSON, CSV, columns, the pager and colours", output, output_examples, NULL },
	{ "rc", "what runs at the start of a prompt", rc, rc_examples, NULL },
};
const size_t topic_count = ARRAY_COUNT(topics);

const struct topic *topic_find(const char *name)
{
	for (size_t i = 0; i < topic_count; i++)
		if (!strcmp(topics[i].name, name))
			return &topics[i];
	return NULL;
}
