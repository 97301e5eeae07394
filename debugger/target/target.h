/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target: the dead machine. Memory, symbols, types, processor and what is known of its
 * CPUs and modules, put together from one dump. Parts that a damaged dump cannot give are NULL or
 * empty, and target_problems() says why; what does not need them goes on working.
 */
#ifndef DEBUGGER_TARGET_TARGET_H
#define DEBUGGER_TARGET_TARGET_H

#include "base/budget.h"
#include "base/memory.h"
#include "btf/btf.h"
#include "debugger/target/arch.h"
#include "symbols/symtab.h"
#include "vmcore/vmcore.h"

struct members;

/* Who says that a symbol or a value has its type. */
enum type_origin {
	ORIGIN_NONE,	 /* nobody: raw bytes */
	ORIGIN_KERNEL,	 /* the kernel's own BTF */
	ORIGIN_MODULE,	 /* a module's BTF */
	ORIGIN_FILE,	 /* a BTF file given by the user */
	ORIGIN_DECLARED, /* the program's own list of C declarations */
	ORIGIN_USER,	 /* a C declaration of the user's (--declare) */
	ORIGIN_CERTAIN,	 /* a table of the kernel, or inference and the table of other kernels */
	ORIGIN_INFERRED, /* from code and data */
	ORIGIN_GUESSED,	 /* the same, but weak */
	ORIGIN_CAST	 /* the user's expression */
};
/* "BTF", "BTF of module", "declared", ... as JSON's "origin" has it. */
const char *type_origin_name(enum type_origin origin);

struct cpu {
	uint32_t number;
	uint64_t per_cpu_offset; /* add to a per-CPU address */
	bool online;
	uint64_t current_task; /* 0 unknown */
	uint64_t rival_task;   /* what the run queue says where that differs, else 0 */
	uint64_t idle_task;    /* runqueues.idle; 0 unknown */
	bool has_registers;
	bool is_stopped;	    /* the panic took it offline; the scheduler still counts it */
	bool is_silent;		    /* it did not answer the kernel that died through kexec */
	struct registers registers; /* at the crash, from the dump's notes */
	const char *registers_from; /* "PRSTATUS", "QEMU", "crash_notes"; NULL */
};

/* Loaded at once; more are damage. Distributions build 5,000, and machines load 300 of them. */
#define MODULES_MAX 8192

/* A loaded module: what every part needs; more is read from `address` through BTF. */
struct module {
	char name[64];
	uint64_t address;    /* of its struct module */
	uint64_t base, size; /* text start, and sum of its core regions, bytes */
	uint32_t state;
	struct btf *btf;     /* its split BTF, NULL: none (yet) */
	bool btf_asked;	     /* an attempt to load it was made */
	bool btf_is_of_file; /* borrowed of target->btf_files */
	uint64_t percpu, percpu_size;
	uint64_t orc_ip, orc; /* arch.orc_unwind_ip, arch.orc_unwind */
	uint32_t orc_count;
	struct {
		uint64_t start, size;
	} regions[8];
	size_t region_count;
	struct error *problem; /* why symbols or BTF are missing, NULL */
	void *btf_data;	       /* bytes that `btf` borrows */
	size_t btf_size;
};

/* Code that the kernel wrote at run time. */
enum generated_kind {
	GENERATED_BPF_PROGRAM, /* a function of one; owner: struct bpf_prog_aux */
	GENERATED_BPF_IMAGE,   /* trampoline, dispatcher, struct_ops; owner: struct bpf_ksym */
	GENERATED_FTRACE,      /* trampoline; owner: struct ftrace_ops */
	GENERATED_KPROBE       /* page of slots; owner: struct kprobe_insn_page */
};
struct generated_code {
	enum generated_kind kind;
	uint64_t start, end;
	uint64_t owner; /* address */
};

/* What a problem is the reason of that something is not there, or not whole. */
enum target_part { PART_NONE, PART_SYMBOLS, PART_TYPES, PART_MODULES, PART_CPUS };

struct target_problem {
	struct target_problem *next;
	struct error *error; /* its advice: what works all the same, and what the user can do */
	unsigned int parts;  /* that are not whole for it: bits, 1 << PART_... */
};

struct attached;
struct btf_files;
struct module_index;
struct cache_place;
struct helper_link;

struct target {
	struct vmcore *vmcore;
	const struct vmcore_facts *facts;
	const struct vmcoreinfo *vmcoreinfo; /* NULL: none found */
	const struct arch *arch;
	struct memory *physical;
	struct memory *memory;	/* kernel virtual; NULL when it cannot be translated */
	struct symtab *symbols; /* never NULL, may be empty */
	struct btf *btf;	/* the kernel's; NULL: none */
	char release[128];
	struct budget kept; /* for what is kept of the dump while a question is answered */

	/* Below: loaded when first asked for, through the functions. */
	struct cpu *cpus;
	size_t cpu_count;
	bool cpus_loaded;
	struct module *modules;
	size_t module_count;
	struct module_index *module_index;
	size_t module_btf_size; /* of those that were read, bytes */
	bool modules_loaded;
	uint64_t text_start;		  /* target_text_start(); 0: not known */
	struct generated_code *generated; /* with the modules, in the order of /proc/kallsyms */
	size_t generated_count;
	struct target_problem *problems;
	unsigned int parts_without_problem; /* bits: there was no memory to note it */
	struct translator *translator;
	const void *btf_data; /* the bytes of `btf` */
	void *btf_copy;	      /* the same, to be freed; NULL: memory lends them */
	size_t btf_size;
	/* Of a running kernel: why its types are not /sys/kernel/btf's but memory's; NULL: they
	 * are.
	 */
	struct error *live_lack;
	struct members *members;     /* where the kernel's types have them; NULL: not remembered */
	bool btf_is_of_file;	     /* borrowed of them: the dump has none */
	struct btf_files *btf_files; /* given by the user, NULL: none */
	/* For debugger/infer: without the shipped table; without the results of earlier sessions,
	 * which know nothing of what the user declared. */
	bool no_hints, no_cache;
	const struct cache_place *cache_place; /* of these; borrowed. NULL: there is none */
	struct helper_link *helper;	       /* opens files for us, borrowed; NULL: we do */
	struct attached *attached;	       /* what rooms above keep here: attached.h */
};

struct target_options {
	const char *vmcoreinfo_path;
	struct helper_link *helper; /* see struct target */
	struct progress *progress;  /* vmcore_options.progress */
	bool raw;		    /* vmcore_options.raw */
};

/* Fails only when nothing at all could be served (exit status 2). */
struct error *target_open(const char *const *paths, size_t count,
			  const struct target_options *options, struct target **ret) MUST_CHECK;
void target_close(struct target *target);
/*
 * Bytes of memory from which anything can be read: what the dump says it has, but no more than its
 * file can hold; where it does not say, what the file can hold. 0: nothing is known of it.
 */
uint64_t target_memory_size(const struct target *target);
/* Not a dump but the machine that we run on, which changes while it is read. */
static inline bool target_is_live(const struct target *target)
{
	return target->facts && target->facts->is_live;
}
/*
 * Between two questions to a running machine: what it did meanwhile is seen, CPUs are read anew.
 * Of a dump: nothing. Modules stay those that were there when first asked for.
 */
void target_refresh(struct target *target);
/* Remembers a problem for `sys` and the banner; takes `error`, NULL: none. Equal ones once. */
void target_add_problem(struct target *target, struct error *error);
/* The same of what is the reason that a part is not there, or not whole. */
void target_add_missing(struct target *target, enum target_part part, struct error *error);
/* Why a part is not whole; NULL: nothing is known to be wrong. */
struct error *target_part_problem(const struct target *target, enum target_part part) MUST_CHECK;
/* What the user can do about memory that the dump does not have; NULL: nothing. */
const char *target_advice(const struct target *target, enum error_kind kind);
/* The same of an error, also of one that a problem of the target is the reason of. */
const char *target_error_advice(const struct target *target, const struct error *error);
/* What is missing and why, when `part` is needed and not there. */
struct error *target_need_memory(const struct target *target) MUST_CHECK;
struct error *target_need_symbols(const struct target *target) MUST_CHECK;
struct error *target_need_btf(const struct target *target) MUST_CHECK;
/* Loads them. */
struct error *target_need_cpus(struct target *target) MUST_CHECK;

/* --- CPUs (cpus.c) ------------------------------------------------------- */
/* Possible CPUs, in ascending order; empty with a problem noted when they cannot be read. */
size_t target_cpus(struct target *target, const struct cpu **ret);
/* Bytes of a task's stack; those of IRQs are as large, and BTF has a type of the latter alone. */
uint64_t target_stack_size(struct target *target);
/* NULL when there is no such CPU. */
const struct cpu *target_cpu(struct target *target, uint32_t number);
/* The same; that it is not there is an error, that nothing is known of CPUs is another one. */
struct error *target_find_cpu(struct target *target, uint32_t number,
			      const struct cpu **ret) MUST_CHECK;

/* --- modules (modules.c) -------------------------------------------------- */
/* The module list; loads the modules' symbols too. */
size_t target_modules(struct target *target, const struct module **ret);
/* By name or by an address inside; NULL: none. */
const struct module *target_module(struct target *target, const char *name);
const struct module *target_module_at(struct target *target, uint64_t address);
/* Its split BTF, loaded when first asked for; NULL: none, see module->problem. */
const struct btf *target_module_btf(struct target *target, const struct module *module);
/* That which describes a symbol: its module's, or the kernel's; NULL: there is none. */
const struct btf *target_symbol_btf(struct target *target, const struct symbol *symbol);

/* --- generated code (generated.c): its symbols belong to "bpf" and the like ---- */
/* Fills target->generated and the symbols; what is broken becomes a problem of the target. */
void generated_load(struct target *target);
/* NULL: none there. */
const struct generated_code *target_generated_at(struct target *target, uint64_t address);

/* --- symbols: the kernel's first, the modules' loaded only when needed ---- */
/* As symtab_find(): kernel, then modules. `module` NULL: anywhere. */
bool target_find_symbol(struct target *target, const char *module, const char *name,
			uint64_t *cursor, struct symbol *ret);
/* Where there are no kallsyms: the few that VMCOREINFO names. */
bool target_find_noted(const struct target *target, const char *name, struct symbol *ret);
bool target_symbol_at(struct target *target, uint64_t address, struct symbol *ret,
		      uint64_t *ret_offset);
/* The same with the name in the caller's buffer, as of symtab_get_into(). */
bool target_symbol_at_into(struct target *target, uint64_t address, char name[SYMBOL_NAME_SIZE],
			   struct symbol *ret, uint64_t *ret_offset);
/*
 * Where the kernel image ends: _end, or, where the table lacks it, behind the last symbol that is
 * known. False without symbols.
 */
bool target_image_end(const struct target *target, uint64_t *ret);
/* _text; 0: it is not known. */
uint64_t target_text_start(struct target *target);
/* "name+0x12 [module]"; false: nothing near. */
bool target_describe(struct target *target, uint64_t address, char *buffer, size_t size);

/* --- types ---------------------------------------------------------------- */
/*
 * A type by a C type name without declarator: "struct task_struct", "union x", "enum y",
 * "unsigned long", "pid_t". The complete one of several. `near` (NULL) is a BTF to search first.
 */
struct error *target_find_type(struct target *target, const struct btf *near, const char *name,
			       struct type *ret) MUST_CHECK;
/*
 * The type that BTF gives a variable: VARs of the kernel or of the symbol's module, per-CPU and
 * others, then those of files. ORIGIN_NONE with `ret_type` { NULL, 0 } when it says nothing.
 */
struct error *target_symbol_type(struct target *target, const struct symbol *symbol,
				 struct type *ret_type, enum type_origin *ret_origin) MUST_CHECK;

/* A value that can be an address of the kernel's half, and no small negative number. */
static inline bool is_kernel_pointer(uint64_t value)
{
	return value >> 56 == 0xff && value >> 47 != 0 && value < (uint64_t)-4096;
}

#endif
