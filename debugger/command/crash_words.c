// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/crash_words.h"

#include "base/array.h"
#include <string.h>

/* What stands in `` runs on any dump, unless it has a word in capitals: the tests try it. */
const struct crash_word crash_commands[] = {
	{ "*", "`struct task_struct` shows a type, `struct NAME ADDRESS` and `print *POINTER` what "
	       "lies in memory" },
	{ "apropos", "`help` has a line on each command" },
	{ "ascii", "`rd -a linux_banner 64` shows memory as text" },
	{ "btop", "`print -x ADDRESS >> 12`" },
	{ "extend", "scripts, pipes and --json take the place of extensions: `help piping`" },
	{ "fuser", "`files -R /PATH` says who has it open, `mappings -a --where \"path = "
		   "'/PATH'\"` who has it mapped" },
	{ "history", "arrows walk through the lines you typed, Ctrl-R searches them; they are kept "
		     "in ~/.local/state/btfcrash/history" },
	{ "mach", "`sys` has what is known of the machine" },
	{ "pte", "`print -x ENTRY & 0xffffffffff000` is the physical address of the page" },
	{ "ptob", "`print -x PAGE << 12`" },
	{ "repeat", "a dump does not change; `source FILE` runs the lines of a file once more" },
	{ "sbitmapq", "`print *(struct sbitmap_queue *)ADDRESS`" },
	{ "waitq", "`waits --where 'object = ADDRESS'`; `list wait_queue_entry.entry -H ADDRESS -s "
		   "private,func`" },
	{ "wr", "a dump is only read" },
	{ NULL, NULL },
};

static const struct {
	const char *command, *options, *hint; /* options: letters */
} options[] = {
	{ "bt", "fFt", "`rd -s $rsp 16` shows the words of the stack of the chosen task" },
	{ "bt", "v",
	  "`foreach PID print -x *(unsigned long *)current->stack` is 0x57ac6e9d where "
	  "no stack ran over" },
	{ "bt", "iDoO",
	  "frames are found by the kernel's own rules: there is no unwinder to choose" },
	{ "bt", "A", "`bt -a` has what ran on each CPU" },
	{ "bt", "T", "`stacks` and `bt` follow the kernel's own rules, no words are searched" },
	{ "bt", "s", "frames always have their offsets" },
	{ "bt", "erE", "exception frames are shown where they are" },
	{ "bt", "IS", "where a stack begins is found in the dump" },
	{ "bt", "R", "`foreach bt | grep NAME`, `stacks` shows equal stacks once" },
	{ "bt", "p", "`set -p` chooses the task that panicked" },
	{ "bt", "x", "addresses and return addresses are always hexadecimal" },
	{ "dis", "ls",
	  "`line FUNCTION` has the lines that the kernel keeps; the source is in no dump" },
	{ "dis", "f", "a COUNT of instructions stands behind the address" },
	{ "dis", "u", "code of processes is read by `rd -u ADDRESS COUNT`, and not disassembled" },
	{ "log", "d", "`log -T` has the times of day, `log --csv` the seconds" },
	{ "log", "a", "the audit queue: `print audit_queue`" },
	{ "log", "s",
	  "what was printed too early or in an NMI: `print safe_print_seq:CPU` before "
	  "5.15; later kernels keep all in the log" },
	{ "mod", "rgdDo", "a module's symbols and types are read from the dump" },
	{ "mod", "t", "the column TAINT" },
	{ "mappings", "P", "`userpages` has where each page is" },
	{ "mappings", "vx", "`mappings 1 | print`" },
	{ "mappings", "RM", "`mappings 1 --where \"start >= 0x400000\"`" },
	{ "mappings", "f", "`mappings 1 -o start,perms,flags`" },
	{ "netdevs", "S", "`sockets 1 | print`" },
	{ "netdevs", "N", "`routes`, `neighbours` and `socks` have addresses as text" },
	{ "ps", "C", "the column CPU" },
	{ "ps", "H", "`ps --csv | tail -n +2`" },
	{ "files", "p", "`pages --where \"mapping = ADDRESS\"` has the pages of a file" },
	{ "irqs", "d", "`rd -s idt_table 16`" },
	{ "kmem", "F", "`kmem -f`; `pages` has each page" },
	{ "kmem", "P", "`whattype ADDRESS` names the page of a physical address" },
	{ "kmem", "N", "`resources` has the spans of memory, `zones` what is in them" },
	{ "list", "l", "TYPE.MEMBER says where the links are, as in `list module.list modules`" },
	{ "list", "S", "`list module.list modules -s name,state`" },
	{ "list", "B", "a loop is found by itself" },
	{ "rd", "S", "`rd -s init_task 16` shows symbols, `whattype ADDRESS` an object" },
	{ "rd", "o", "`rd init_task+8`" },
	{ "rd", "e", "a COUNT of words stands behind the address" },
	{ "rd", "dD", "`print ((long *)&init_task)[0..3]`" },
	{ "struct", "l", "`print *container_of(POINTER, struct NAME, MEMBER)`" },
	{ "struct", "c", "a COUNT stands behind the address" },
	{ "struct", "r", "`rd ADDRESS COUNT`" },
	{ "struct", "u", "`rd -u ADDRESS COUNT` reads a process's own memory" },
	{ "sym", "n", "`sym schedule` says how far the next symbol is" },
	{ "sym", "Mp", "`sym -l` lists all, `sym -m MODULE` a module's" },
	{ "sys", "p", "a dump is only read" },
	{ "sys", "i", "`print dmi_ident`" },
	{ "sys", "c", "`rd -s sys_call_table 16`" },
	{ "sys", "t", "`print -x tainted_mask`" },
	{ "task", "a", "`foreach task` has all of them" },
	{ "task", "xd", "`print -x *current`" },
	{ "tree", "r", "ROOT is the root itself: `tree pid init_pid_ns.idr`" },
	{ "tree", "l", "items always come in their order" },
	{ "tree", "p",
	  "items come in their order, their places are not shown; `print NODE` has the "
	  "links of one" },
	{ "tree", "N",
	  "ROOT is the root; `print *container_of(NODE, struct NAME, MEMBER)` has what a "
	  "node is in" },
	{ "tree", "S", "`tree irq_desc sparse_irqs -s action->name`" },
};

static const struct {
	const char *command, *operand, *hint;
} operands[] = {
	{ "bt", "full",
	  "`bt` shows the arguments of functions, `frame 0` one frame with its "
	  "registers; local variables are in no dump" },
	{ "sys", "config",
	  "`config` has the kernel's configuration, where the kernel has it in memory" },
};

const char *crash_command_hint(const char *name, size_t length)
{
	for (size_t i = 0; crash_commands[i].name; i++)
		if (!strncmp(crash_commands[i].name, name, length) &&
		    !crash_commands[i].name[length])
			return crash_commands[i].hint;
	return NULL;
}

const char *crash_option_hint(const char *command, const char *option)
{
	for (size_t i = 0; i < ARRAY_COUNT(options) && option[1] != '-'; i++)
		if (!strcmp(options[i].command, command) && strpbrk(option, options[i].options))
			return options[i].hint;
	return NULL;
}

const char *crash_operand_hint(const char *command, const char *operand)
{
	for (size_t i = 0; i < ARRAY_COUNT(operands); i++)
		if (!strcmp(operands[i].command, command) && !strcmp(operands[i].operand, operand))
			return operands[i].hint;
	return NULL;
}
