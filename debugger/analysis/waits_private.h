/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of waits_find() share: what is known of the machine, and of one task that sleeps.
 */
#ifndef DEBUGGER_ANALYSIS_WAITS_PRIVATE_H
#define DEBUGGER_ANALYSIS_WAITS_PRIVATE_H

#include "base/strbuf.h"
#include "debugger/analysis/wait_ring.h"
#include "debugger/analysis/waits.h"
#include "debugger/arguments/arguments.h"
#include "debugger/kernel/bio_place.h"
#include "debugger/target/object.h"

/* Of struct task_struct.flags: a kernel thread. */
#define PF_KTHREAD 0x00200000u

/* A worker of the kernel's workqueues, and what it works on. */
struct wait_worker {
	uint64_t task, work, scheduled; /* addresses; `scheduled`: of its list */
	uint64_t link, queue;		/* struct pool_workqueue, workqueue_struct of it; 0: none */
	uint64_t color;			/* works of one color are flushed together */
};

/* A completion that somebody's end completes (task_struct.vfork_done). */
struct wait_end {
	uint64_t completion, task;
	bool is_kthread;
};

/* A task in the code of a file of kernfs: who takes that file away waits for it. */
struct wait_kernfs_user {
	uint64_t node; /* address of the struct kernfs_node; 0: of a file that is not known */
	uint64_t task;
};

/* An open file, once for each table of open files that has it. */
struct wait_file {
	uint64_t data; /* its private_data: what it leads to */
	uint64_t file, table, task;
	uint32_t mode;
};

struct wait_world {
	struct target *target;
	struct waits *waits;
	struct task *tasks; /* all, by address */
	size_t task_count, task_capacity;
	uint64_t stack_size; /* of each */
	uint64_t now;	     /* ns, of the scheduler's clock; 0: not known */
	uint64_t died;	     /* ns since the machine was started, at the same time; 0: not known */
	struct wait_rings rings;
	struct wait_worker *workers;
	size_t worker_count, worker_capacity;
	struct wait_kernfs_user *kernfs_users;
	size_t kernfs_user_count, kernfs_user_capacity;
	struct wait_end *ends;
	size_t end_count, end_capacity;
	struct wait_file *files; /* of all tasks, by what they lead to */
	size_t file_count, file_capacity, file_steps;
	bool workers_loaded, ends_loaded, files_loaded, kernfs_loaded, super_blocks_loaded;
	bool workers_unread;	    /* of some it is not known what they run */
	bool files_cut;		    /* there are more of them than are looked at */
	bool files_unread;	    /* what some tasks have open could not be read */
	const struct task **by_pid; /* all; NULL: nobody asked yet */
	uint64_t *super_blocks;	    /* addresses of all, sorted */
	size_t super_block_count, super_block_capacity;
	uint64_t super_block_size; /* bytes, of each */
	uint64_t bios_left;	   /* that may still be looked at, for all who wait for one */
	uint64_t members_left;	   /* the same of tasks, for all who wait for others to end */
};

struct sleeper;

/* What a kind of lock is made of, by the kernel's own names. */
struct wait_class {
	const char *kind, *type;
	const char *record, *record_task,
		*record_node; /* on the stack of who waits, and its list */
	const char *head;     /* of the list, in the lock */
	const char *first;    /* where newer kernels have no head: the pointer to a record */
	struct error *(*find_owner)(struct sleeper *sleeper); /* NULL: there is none */
};

struct sleeper {
	struct wait_world *world;
	const struct task *task;
	struct stack_trace *trace;
	struct frame_arguments *arguments; /* of the frames; NULL: not asked for, or not known */
	bool arguments_asked;
	size_t frame; /* the innermost one outside of the scheduler */
	uint8_t *stack;
	uint64_t stack_start;
	size_t stack_size; /* of what was read of it */
	struct wait *wait;
};

/* --- reading: false for what cannot be had, whatever the reason ------------------------- */

bool wait_offset(const struct wait_world *world, const char *type, const char *path, uint64_t *ret);
bool wait_read(const struct wait_world *world, const char *type, uint64_t address, const char *path,
	       uint64_t *ret);
/* Whether a function of that name begins at an address. NULL: any function. */
bool wait_is_function(const struct wait_world *world, uint64_t address, const char *name);
/* NULL: no task is at the address. */
const struct task *wait_task_at(const struct wait_world *world, uint64_t address);
bool wait_is_on_stack(const struct wait_world *world, const struct task *task, uint64_t address);

/* --- one task (wait_find.c) ---------------------------------------------------------------------
 */

/* Fills in sleeper->wait; its kind stays NULL where nothing is found. Errors are fatal ones. */
struct error *wait_find(struct sleeper *sleeper) MUST_CHECK;
/* Whether a frame's function has that name, but for what the compiler adds to it. */
bool wait_frame_is(const struct frame *frame, const char *name);
/* Whether it is the scheduler that a task sleeps in, and not who called it. */
bool wait_is_scheduler(const struct frame *frame);
/*
 * The value of the first argument of a type ("struct mutex *") in the frames [from, to). False:
 * none is proved.
 */
bool wait_argument(struct sleeper *sleeper, size_t from, size_t to, const char *type,
		   uint64_t *ret);
/* What it points to, with its type as the function's own BTF has it, which may be a module's. */
bool wait_argument_object(struct sleeper *sleeper, size_t from, size_t to, const char *type,
			  struct object *ret);

/* --- records on the stack (wait_record.c) ----------------------------------------------- */

#define WAIT_RECORDS_MAX 8

/* Where the records that name the task lie, innermost first, of those that are linked. */
size_t wait_records(struct sleeper *sleeper, const char *type, const char *task_member,
		    const char *node_member, size_t frames, uint64_t ret[WAIT_RECORDS_MAX]);
/* Where the first frames name the task, whatever it is a part of. */
size_t wait_places_of_task(struct sleeper *sleeper, size_t frames, uint64_t ret[WAIT_RECORDS_MAX]);
/* The lock that the record of a class is linked to; 0: none. */
struct error *wait_lock_by_list(struct sleeper *sleeper, const struct wait_class *class,
				const uint64_t *candidates, size_t count, uint64_t *ret) MUST_CHECK;
/* The head of the wait queue that an entry is in; 0: none. */
struct error *wait_queue_head_of(struct wait_world *world, uint64_t entry,
				 uint64_t *ret) MUST_CHECK;

/* --- kinds of waits ------------------------------------------------------------------------------
 */

/* What a wait queue is of, by its entry (wait_queue.c). */
struct error *wait_find_queue(struct sleeper *sleeper) MUST_CHECK;
struct error *wait_find_poll(struct sleeper *sleeper) MUST_CHECK;
struct error *wait_find_futex(struct sleeper *sleeper) MUST_CHECK;
struct error *wait_find_file_lock(struct sleeper *sleeper) MUST_CHECK;
/* The answer of a FUSE filesystem's server (wait_peer.c). */
struct error *wait_find_fuse(struct sleeper *sleeper) MUST_CHECK;
/* Of who takes a file of kernfs away: its users (wait_kernfs.c). The kind stays NULL of others. */
struct error *wait_find_kernfs(struct sleeper *sleeper) MUST_CHECK;
/*
 * Of a queue whose head is at `head`: a journal's, which a thread commits (wait_journal.c); a
 * program's that decides who may open a file, one's that mounts what is asked for (wait_peer.c).
 * The kind stays NULL where it is none.
 */
struct error *wait_find_journal(struct sleeper *sleeper, uint64_t head) MUST_CHECK;
struct error *wait_find_fanotify(struct sleeper *sleeper, uint64_t head) MUST_CHECK;
struct error *wait_find_userfault(struct sleeper *sleeper, uint64_t head) MUST_CHECK;
struct error *wait_find_autofs(struct sleeper *sleeper, uint64_t head) MUST_CHECK;
/* Of a task that ends, and waits for others to do so (wait_exit.c). The kind stays NULL of others.
 */
struct error *wait_find_exit(struct sleeper *sleeper) MUST_CHECK;
/* Makes of a bit that it waits for the answer that the bit stands for (wait_rpc.c). */
void wait_find_rpc(struct sleeper *sleeper);
/* "GETATTR of nfs, asked of server fs1". */
void wait_put_rpc(struct target *target, uint64_t call, struct strbuf *ret);
/* By the entry of a queue that child_wait_callback() wakes (wait_child.c); false: it says nothing.
 */
bool wait_find_child(struct sleeper *sleeper, uint64_t entry);
/*
 * Of who takes a network device away: the device, whose references have to go (wait_netdev.c). The
 * kind stays NULL of others.
 */
struct error *wait_find_netdev(struct sleeper *sleeper) MUST_CHECK;
/* The path of a program that the kernel starts. */
void wait_put_program(struct target *target, uint64_t info, struct strbuf *ret);
/* "eth0 [e1000], usage count 2". */
void wait_put_netdev(struct target *target, uint64_t device, struct strbuf *ret);
/*
 * A task that an rt_mutex blocks, or a lock that is made of one: the kind stays NULL where none
 * does (wait_rt.c).
 */
struct error *wait_find_rt_mutex(struct sleeper *sleeper) MUST_CHECK;
/* One that has such a lock of readers and writers already, but for the readers in it. */
bool wait_find_rt_writer(struct sleeper *sleeper);
/* Whether it waits for such a lock, and nothing else, on its caller's behalf. */
bool wait_is_rt_lock(const struct frame *frame);

/* --- owners (wait_owner.c, wait_completer.c) -------------------------------------------- */

/*
 * "its owner has ended; the last task there was 212 "comm"", of waits->ended, of what is at an
 * address that is no task of the dump. `*ret` NULL: nothing says so. Errors are fatal ones.
 */
struct error *wait_name_ended(const struct sleeper *sleeper, uint64_t address,
			      const char **ret) MUST_CHECK;
/* What is said of a task that is younger than a sleep for what it seems to have. */
extern const char wait_not_its_own[];
bool wait_is_younger(const struct sleeper *sleeper, uint64_t owner);
struct error *wait_mutex_owner(struct sleeper *sleeper) MUST_CHECK;
struct error *wait_rwsem_owner(struct sleeper *sleeper) MUST_CHECK;
struct error *wait_semaphore_owner(struct sleeper *sleeper) MUST_CHECK;
struct error *wait_percpu_owner(struct sleeper *sleeper) MUST_CHECK;
/* What one waiter knows of an owner's end, the others of the same lock have to be told. */
void wait_distrust_owners(struct waits *waits);
/* Fills in within and within_type of a lock that is a super block's (wait_super.c). */
struct error *wait_find_super_block(struct sleeper *sleeper) MUST_CHECK;
/* Who completes it, by what it lies in; the wait may turn out to be for a work or a grace period.
 */
struct error *wait_completer(struct sleeper *sleeper) MUST_CHECK;
/*
 * Whether a completion is that of a task that waits for one work, for all works of a queue
 * (wait_work.c): fills in sleeper->wait.
 */
struct error *wait_flush_of_work(struct sleeper *sleeper, bool *ret) MUST_CHECK;
struct error *wait_flush_of_queue(struct sleeper *sleeper, bool *ret) MUST_CHECK;
/* What is said of the owner, by how many workers run what is waited for. */
struct runner_texts {
	const char *none, *one, *several;
};
/* Who runs a work of a queue: fills in the owner (wait_work.c). */
struct error *wait_runner_of_queue(struct sleeper *sleeper, uint64_t queue,
				   const struct runner_texts *texts) MUST_CHECK;
/* The task of the worker that runs the work at an address; 0: none is known to. */
struct error *wait_worker_of_work(struct sleeper *sleeper, uint64_t work, uint64_t *ret) MUST_CHECK;
/* Whether a completion is that of a program which the kernel started (wait_child.c): fills in
 * sleeper->wait. */
struct error *wait_find_program(struct sleeper *sleeper, bool *ret) MUST_CHECK;
/* Whether a completion is that of one bio (wait_disk.c): fills in sleeper->wait. */
struct error *wait_find_bio(struct sleeper *sleeper, bool *ret) MUST_CHECK;
/*
 * Of who waits for what was asked of a disk: says why that has not ended, and fills in the owner if
 * a task answers for the disk (wait_disk.c). `device`: of the struct block_device; 0: not known.
 */
struct error *wait_say_disk(struct sleeper *sleeper, uint64_t device,
			    const struct bio_sought *sought) MUST_CHECK;
/*
 * Who waits for a disk to take what is asked of it: its queue (wait_disk.c). The kind stays NULL of
 * others.
 */
void wait_find_disk_queue(struct sleeper *sleeper);
/* Fills world->files, once (wait_files.c). */
struct error *wait_load_files(struct wait_world *world) MUST_CHECK;
/* Who has the other end of a pipe open (wait_peer.c). */
struct error *wait_pipe_peer(struct sleeper *sleeper) MUST_CHECK;
/* Who has the other end of a socket of this machine (wait_peer.c). */
struct error *wait_socket_peer(struct sleeper *sleeper) MUST_CHECK;

#endif
