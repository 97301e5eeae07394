// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stuck: threads that wait for ever, each in another way and for somebody who is known.
 *
 * Writing to /sys/module/stuck/parameters/start starts those of threads[]; the write returns when
 * all wait. /sys/module/stuck/parameters/listing then says for each "PID COMM KIND ADDRESS PID":
 * what it waits for, where that lies, and which task has it, with 0 for what nobody has.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/percpu-rwsem.h>
#include <linux/rcupdate.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/version.h>
#include <linux/wait.h>
#include <linux/wait_bit.h>

#include "stuck.h"

#define STUCK_DAY_MS 86400000
#define STUCK_BIT    3
#define DISK_SECTORS 2048

/* The three of them lie in memory of their own. */
struct stuck_queue {
	char name[16];
	u32 depth;
	struct mutex lock;
	struct list_head items;
};

/* All that is to be held is held; what follows is never had. */
noinline void stuck_arrive(struct stuck_thread *self, const char *kind, const void *what)
{
	self->kind = kind;
	self->what = what;
	complete(&self->arrived);
	wait_for_completion(&self->released);
}

noinline int stuck_sleep(struct stuck_thread *self)
{
	stuck_arrive(self, "sleep", NULL);
	msleep(STUCK_DAY_MS);
	return 0;
}

/* Two that take two mutexes in different order, and one that had no part in it */

static DEFINE_MUTEX(abba_first);
static DEFINE_MUTEX(abba_second);

static int abba_one(struct stuck_thread *self)
{
	mutex_lock(&abba_first);
	stuck_arrive(self, "mutex", &abba_second);
	mutex_lock(&abba_second);
	return 1;
}

static int abba_two(struct stuck_thread *self)
{
	mutex_lock(&abba_second);
	stuck_arrive(self, "mutex", &abba_first);
	mutex_lock(&abba_first);
	return 1;
}

static int abba_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "mutex", &abba_first);
	mutex_lock(&abba_first);
	return 1;
}

/* Three in a ring */

static struct stuck_queue *three_queues[3];

static noinline int three_take(struct stuck_thread *self, int mine, int next)
{
	mutex_lock(&three_queues[mine]->lock);
	stuck_arrive(self, "mutex", &three_queues[next]->lock);
	mutex_lock(&three_queues[next]->lock);
	return three_queues[next]->depth;
}

static int three_a(struct stuck_thread *self)
{
	return three_take(self, 0, 1) + 1;
}

static int three_b(struct stuck_thread *self)
{
	return three_take(self, 1, 2) + 1;
}

static int three_c(struct stuck_thread *self)
{
	return three_take(self, 2, 0) + 1;
}

/* A writer waits for a reader, which waits for the writer's mutex; one more is behind the writer */

static DECLARE_RWSEM(rw_table);
static DEFINE_MUTEX(rw_journal);

static int rw_reader(struct stuck_thread *self)
{
	down_read(&rw_table);
	stuck_arrive(self, "mutex", &rw_journal);
	mutex_lock(&rw_journal);
	return 1;
}

static int rw_writer(struct stuck_thread *self)
{
	mutex_lock(&rw_journal);
	stuck_arrive(self, "rwsem-write", &rw_table);
	down_write(&rw_table);
	return 1;
}

static int rw_late(struct stuck_thread *self)
{
	stuck_arrive(self, "rwsem-read", &rw_table);
	down_read(&rw_table);
	return 1;
}

/* Who has it sleeps */

static DEFINE_MUTEX(asleep_lock);
static DECLARE_RWSEM(held_rwsem);
static DEFINE_RT_MUTEX(held_rt_mutex);
static struct semaphore held_semaphore;
static struct inode *held_inode;
static struct page *held_page;
static struct buffer_head *held_buffer;

static int owner_asleep(struct stuck_thread *self)
{
	mutex_lock(&asleep_lock);
	return stuck_sleep(self) + 1;
}

static int asleep_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "mutex", &asleep_lock);
	mutex_lock(&asleep_lock);
	return 1;
}

static int rwsem_owner(struct stuck_thread *self)
{
	down_write(&held_rwsem);
	return stuck_sleep(self) + 1;
}

static int rwsem_read(struct stuck_thread *self)
{
	stuck_arrive(self, "rwsem-read", &held_rwsem);
	down_read(&held_rwsem);
	return 1;
}

static int rwsem_write(struct stuck_thread *self)
{
	stuck_arrive(self, "rwsem-write", &held_rwsem);
	down_write(&held_rwsem);
	return 1;
}

static int rt_owner(struct stuck_thread *self)
{
	rt_mutex_lock(&held_rt_mutex);
	return stuck_sleep(self) + 1;
}

static int rt_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "rt-mutex", &held_rt_mutex);
	rt_mutex_lock(&held_rt_mutex);
	return 1;
}

static int sem_owner(struct stuck_thread *self)
{
	down(&held_semaphore);
	return stuck_sleep(self) + 1;
}

static int sem_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "semaphore", &held_semaphore);
	down(&held_semaphore);
	return 1;
}

static int inode_owner(struct stuck_thread *self)
{
	inode_lock(held_inode);
	return stuck_sleep(self) + 1;
}

static int inode_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "rwsem-write", &held_inode->i_rwsem);
	inode_lock(held_inode);
	return 1;
}

static int page_owner(struct stuck_thread *self)
{
	lock_page(held_page);
	return stuck_sleep(self) + 1;
}

static int page_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "page", held_page);
	lock_page(held_page);
	return 1;
}

static int buffer_owner(struct stuck_thread *self)
{
	lock_buffer(held_buffer);
	return stuck_sleep(self) + 1;
}

static int buffer_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "buffer", held_buffer);
	lock_buffer(held_buffer);
	return 1;
}

/* Readers that are counted for each CPU, and ones of SRCU */

DEFINE_STATIC_PERCPU_RWSEM(percpu_written);
DEFINE_STATIC_PERCPU_RWSEM(percpu_read_lock);
DEFINE_STATIC_SRCU(stuck_srcu);

static int percpu_owner(struct stuck_thread *self)
{
	percpu_down_write(&percpu_written);
	return stuck_sleep(self) + 1;
}

static int percpu_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "percpu-rwsem-read", &percpu_written);
	percpu_down_read(&percpu_written);
	return 1;
}

static int percpu_reader(struct stuck_thread *self)
{
	percpu_down_read(&percpu_read_lock);
	return stuck_sleep(self) + 1;
}

static int percpu_drains(struct stuck_thread *self)
{
	stuck_arrive(self, "percpu-rwsem-write", &percpu_read_lock);
	percpu_down_write(&percpu_read_lock);
	return 1;
}

static int srcu_reader(struct stuck_thread *self)
{
	int index = srcu_read_lock(&stuck_srcu);

	return stuck_sleep(self) + index;
}

static int srcu_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "srcu", &stuck_srcu);
	synchronize_srcu(&stuck_srcu);
	return 1;
}

/*
 * Locks that sleep only where all of the kernel can be preempted. Each is a read side of RCU, too,
 * which who has one leaves before it sleeps: the kernel would warn.
 */
#ifdef CONFIG_PREEMPT_RT
static DEFINE_SPINLOCK(held_spinlock);
static DEFINE_RWLOCK(written_rwlock);
static DEFINE_RWLOCK(read_rwlock);

static int spin_owner(struct stuck_thread *self)
{
	spin_lock(&held_spinlock);
	rcu_read_unlock();
	return stuck_sleep(self) + 1;
}

static int spin_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "spinlock", &held_spinlock);
	spin_lock(&held_spinlock);
	return 1;
}

static int rwlock_writer(struct stuck_thread *self)
{
	write_lock(&written_rwlock);
	rcu_read_unlock();
	return stuck_sleep(self) + 1;
}

static int rwlock_reads(struct stuck_thread *self)
{
	stuck_arrive(self, "rwlock-read", &written_rwlock);
	read_lock(&written_rwlock);
	return 1;
}

static int rwlock_writes(struct stuck_thread *self)
{
	stuck_arrive(self, "rwlock-write", &written_rwlock);
	write_lock(&written_rwlock);
	return 1;
}

static int rwlock_reader(struct stuck_thread *self)
{
	read_lock(&read_rwlock);
	rcu_read_unlock();
	return stuck_sleep(self) + 1;
}

static int rwlock_drains(struct stuck_thread *self)
{
	stuck_arrive(self, "rwlock-write", &read_rwlock);
	write_lock(&read_rwlock);
	return 1;
}
#endif

/* Nobody comes */

static DEFINE_MUTEX(lost_lock);
static DECLARE_COMPLETION(lost_done);
static DECLARE_WAIT_QUEUE_HEAD(lost_queue);
static bool lost_event;
static unsigned long lost_word = BIT(STUCK_BIT);
static int lost_variable;

static int lost_owner(struct stuck_thread *self)
{
	mutex_lock(&lost_lock);
	stuck_arrive(self, "completion", &lost_done);
	wait_for_completion(&lost_done);
	return 1;
}

static int lost_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "mutex", &lost_lock);
	mutex_lock(&lost_lock);
	return 1;
}

static int queue_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "wait-queue", &lost_queue);
	wait_event(lost_queue, READ_ONCE(lost_event));
	return 1;
}

static int bit_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "bit", &lost_word);
	return wait_on_bit(&lost_word, STUCK_BIT, TASK_UNINTERRUPTIBLE) + 1;
}

static int variable_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "variable", &lost_variable);
	wait_var_event(&lost_variable, READ_ONCE(lost_variable));
	return 1;
}

static int stop_waits(struct stuck_thread *self)
{
	struct task_struct *task = stuck_find("stop-ignores")->task;

	stuck_arrive(self, "kthread-stop", task);
	return kthread_stop(task) + 1;
}

/* A disk that takes what it is asked for and never answers, and who asked with a mutex in hand */

static DEFINE_MUTEX(disk_lock);
static struct gendisk *dead_disk;
static struct bio_list dead_bios;

static void dead_submit_bio(struct bio *bio)
{
	bio_start_io_acct(bio);
	bio_list_add(&dead_bios, bio);
}

static const struct block_device_operations dead_operations = {
	.owner = THIS_MODULE,
	.submit_bio = dead_submit_bio,
};

static int disk_owner(struct stuck_thread *self)
{
	struct bio *bio = bio_alloc(dead_disk->part0, 1, REQ_OP_READ, GFP_KERNEL);

	bio->bi_iter.bi_sector = 64;
	if (!bio_add_page(bio, alloc_page(GFP_KERNEL), PAGE_SIZE, 0))
		return 0;
	mutex_lock(&disk_lock);
	stuck_arrive(self, "bio", bio);
	return submit_bio_wait(bio) + 1;
}

static int disk_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "mutex", &disk_lock);
	mutex_lock(&disk_lock);
	return 1;
}

static int disk_reader(struct stuck_thread *self)
{
	struct file *file = filp_open("/dev/deaddisk", O_RDONLY, 0);
	loff_t position = 0;
	char buffer[64];

	stuck_arrive(self, "read", IS_ERR(file) ? NULL : file);
	return kernel_read(file, buffer, sizeof(buffer), &position) + 1;
}

static int __init dead_disk_init(void)
{
	int major = register_blkdev(0, "deaddisk");

	if (major < 0)
		return major;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
	dead_disk = blk_alloc_disk(NUMA_NO_NODE);
	if (!dead_disk)
		return -ENOMEM;
#else
	dead_disk = blk_alloc_disk(NULL, NUMA_NO_NODE);
	if (IS_ERR(dead_disk))
		return PTR_ERR(dead_disk);
#endif
	dead_disk->major = major;
	dead_disk->minors = 1;
	dead_disk->flags |= GENHD_FL_NO_PART;
	dead_disk->fops = &dead_operations;
	strscpy(dead_disk->disk_name, "deaddisk", sizeof(dead_disk->disk_name));
	set_capacity(dead_disk, DISK_SECTORS);
	return add_disk(dead_disk);
}

/* All of them, in the order in which they begin to wait */

static struct stuck_thread threads[] = {
	{ "abba-one", abba_one, "abba-two" },
	{ "abba-two", abba_two, "abba-one" },
	{ "abba-waits", abba_waits, "abba-one" },
	{ "three-a", three_a, "three-b" },
	{ "three-b", three_b, "three-c" },
	{ "three-c", three_c, "three-a" },
	{ "rw-reader", rw_reader, "rw-writer" },
	{ "rw-writer", rw_writer, "rw-reader" },
	{ "rw-late", rw_late, "rw-reader" },
	{ "owner-asleep", owner_asleep },
	{ "asleep-waits1", asleep_waits, "owner-asleep" },
	{ "asleep-waits2", asleep_waits, "owner-asleep" },
	{ "rwsem-owner", rwsem_owner },
	{ "rwsem-read", rwsem_read, "rwsem-owner" },
	{ "rwsem-write", rwsem_write, "rwsem-owner" },
	{ "rt-owner", rt_owner },
	{ "rt-waits", rt_waits, "rt-owner" },
	{ "sem-owner", sem_owner },
	{ "sem-waits", sem_waits, "sem-owner" },
	{ "inode-owner", inode_owner },
	{ "inode-waits", inode_waits, "inode-owner" },
	{ "page-owner", page_owner },
	{ "page-waits", page_waits, "page-owner" },
	{ "buffer-owner", buffer_owner },
	{ "buffer-waits", buffer_waits, "buffer-owner" },
	{ "percpu-owner", percpu_owner },
	{ "percpu-waits", percpu_waits, "percpu-owner" },
	{ "percpu-reader", percpu_reader },
	{ "percpu-drains", percpu_drains, "percpu-reader" },
	{ "srcu-reader", srcu_reader },
	{ "srcu-waits", srcu_waits, "srcu-reader" },
#ifdef CONFIG_PREEMPT_RT
	{ "spin-owner", spin_owner },
	{ "spin-waits1", spin_waits, "spin-owner" },
	{ "spin-waits2", spin_waits, "spin-owner" },
	{ "rwlock-writer", rwlock_writer },
	{ "rwlock-reads", rwlock_reads, "rwlock-writer" },
	{ "rwlock-writes", rwlock_writes, "rwlock-writer" },
	{ "rwlock-reader", rwlock_reader },
	{ "rwlock-drains", rwlock_drains, "rwlock-reader" },
#endif
	{ "lost-owner", lost_owner },
	{ "lost-waits", lost_waits, "lost-owner" },
	{ "queue-waits", queue_waits },
	{ "bit-waits", bit_waits },
	{ "variable-waits", variable_waits },
	{ "stop-ignores", stuck_sleep },
	{ "stop-waits", stop_waits, "stop-ignores" },
	{ "disk-owner", disk_owner },
	{ "disk-waits", disk_waits, "disk-owner" },
	{ "disk-reader", disk_reader },
	{ "flush-owner", flush_owner, "work-locks" },
	{ "work-locks", NULL, "flush-owner", .is_worker = true },
	{ "flush-sleeper", flush_sleeper, "work-sleeps" },
	{ "work-sleeps", NULL, .is_worker = true },
	{ "flush-queue", flush_queue, "work-sleeps" },
	{ "flush-behind", flush_behind, "work-first" },
	{ "work-first", NULL, .is_worker = true },
	{ "attr-writes", attribute_writes },
	{ "attr-waits", attribute_waits, "attr-writes" },
	{ "netdev-waits", netdev_waits },
	{ "program-waits", program_waits },
};

#define for_each_thread_of(thread)                                                                 \
	for (thread = threads; thread < threads + ARRAY_SIZE(threads); thread++)

struct stuck_thread *stuck_find(const char *comm)
{
	struct stuck_thread *thread;

	for_each_thread_of(thread) if (!strcmp(thread->comm, comm)) return thread;
	return NULL;
}

static int stuck_run(void *thread)
{
	struct stuck_thread *self = thread;

	return self->run(self) & 1;
}

static int stuck_start(const char *value, const struct kernel_param *parameter)
{
	struct stuck_thread *thread;

	for_each_thread_of(thread)
	{
		init_completion(&thread->arrived);
		init_completion(&thread->released);
	}
	for_each_thread_of(thread)
	{
		if (!thread->is_worker) {
			thread->task = kthread_run(stuck_run, thread, "%s", thread->comm);
			if (IS_ERR(thread->task))
				return PTR_ERR(thread->task);
		}
	}
	for_each_thread_of(thread) wait_for_completion(&thread->arrived);
	for_each_thread_of(thread)
	{
		complete(&thread->released);
		msleep(20);
	}
	return 0;
}

static int stuck_listing(char *buffer, const struct kernel_param *parameter)
{
	struct stuck_thread *thread, *owner;
	int size = 0;

	for_each_thread_of(thread)
	{
		owner = thread->owner ? stuck_find(thread->owner) : NULL;
		size += scnprintf(buffer + size, PAGE_SIZE - size, "%d %s %s %px %d\n",
				  thread->task ? thread->task->pid : 0, thread->comm,
				  thread->kind ?: "-", thread->what,
				  owner && owner->task ? owner->task->pid : 0);
	}
	return size;
}

static const struct kernel_param_ops stuck_start_ops = { .set = stuck_start };
module_param_cb(start, &stuck_start_ops, NULL, 0200);
static const struct kernel_param_ops stuck_listing_ops = { .get = stuck_listing };
module_param_cb(listing, &stuck_listing_ops, NULL, 0400);

static int __init stuck_init(void)
{
	struct file *file = filp_open("/tmp/held-inode", O_CREAT | O_RDWR, 0600);
	int i;

	if (IS_ERR(file))
		return PTR_ERR(file);
	held_inode = file_inode(file);
	held_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	held_buffer = alloc_buffer_head(GFP_KERNEL);
	sema_init(&held_semaphore, 1);
	if (!held_page || !held_buffer || works_init() || attributes_init() || devices_init())
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(three_queues); i++) {
		three_queues[i] = kzalloc(sizeof(*three_queues[i]), GFP_KERNEL);
		if (!three_queues[i])
			return -ENOMEM;
		snprintf(three_queues[i]->name, sizeof(three_queues[i]->name), "queue-%c", 'a' + i);
		three_queues[i]->depth = i + 1;
		mutex_init(&three_queues[i]->lock);
		INIT_LIST_HEAD(&three_queues[i]->items);
	}
	return dead_disk_init();
}
module_init(stuck_init);

/* Threads that stay need the module: there is no way out. */
MODULE_DESCRIPTION("threads that wait for ever, for tests of what a dump says of them");
MODULE_LICENSE("GPL");
