// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * faults: a driver of a device that there is not, with a mistake for every way to die.
 *
 * Writing a name of faults[] to /sys/module/faults/parameters/start makes that mistake, in the task
 * that writes unless the name says where: in a timer, in a tasklet, in a work item. Tests know the
 * functions, the types and their members by their names.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define LAB_REQUESTS	 16
#define LAB_FREED	 7 /* of the requests */
#define LAB_LEAKED	 100000
#define LAB_LEAKED_BYTES (24 << 20)
#define LAB_PATH_SIZE	 200
#define LAB_HIGH_ORDER	 10
#define LAB_LOW_ORDER	 6
#define LAB_KEPT	 16 /* of so many pages of a block one is kept */

struct lab_device;

struct lab_ops {
	int (*stop)(struct lab_device *device);
	int (*start)(struct lab_device *device);
	const char *name;
};

struct lab_config {
	u64 rate;
	u32 mode;
};

struct lab_device {
	const char *name;
	u32 id;
	u32 mode;
	const struct lab_ops *ops;
	struct lab_device *parent;
	struct lab_request *current_request;
	struct list_head requests;
	void (*notify)(struct lab_device *device, u32 mode);
	u64 bytes;
	u64 interval; /* in which they came */
	int users;
	refcount_t references;
	struct timer_list timer;
	struct tasklet_struct tasklet;
	struct work_struct work;
};

enum lab_state { LAB_NEW = 1, LAB_DONE };

/* A request that is free keeps its list: the allocator's pointer lies in the middle of it. */
struct lab_request {
	u64 sector;
	struct list_head list;
	u32 state;
	u8 payload[92];
};

struct lab_record {
	u64 number;
	struct list_head list;
	struct lab_device *device;
	u8 data[24];
};

static struct kmem_cache *lab_request_cache, *lab_leak_cache;
static struct lab_device *lab_device;
static LIST_HEAD(lab_records);

/* Calls through pointers that are NULL, or that are none */

static noinline int lab_device_start(struct lab_device *device)
{
	return device->ops->start(device) + 1;
}

static noinline int lab_device_open(struct lab_device *device, u32 mode)
{
	device->mode = mode;
	device->users++;
	return lab_device_start(device) + device->users;
}

static noinline int lab_fault_null(struct lab_device *device)
{
	device->ops = NULL;
	return lab_device_open(device, 3) + 1;
}

static noinline int lab_device_set_mode(struct lab_device *device, u32 mode)
{
	device->mode = mode;
	device->notify(device, mode);
	return device->users;
}

static noinline int lab_fault_jump(struct lab_device *device)
{
	device->notify = NULL;
	return lab_device_set_mode(device, 5) + 1;
}

static noinline u32 lab_device_depth(struct lab_device *device)
{
	u32 depth = 0;

	for (; device->id; device = device->parent)
		depth++;
	return depth;
}

static noinline int lab_fault_wild(struct lab_device *device)
{
	device->parent = (struct lab_device *)0x0bad1dea0bad1deaul;
	return lab_device_depth(device) + 1;
}

/* Who has no device has an error instead. */
static noinline struct lab_device *lab_device_find(const char *name)
{
	return sysfs_streq(lab_device->name, name) ? lab_device : ERR_PTR(-ENOMEM);
}

static noinline int lab_fault_errptr(struct lab_device *device)
{
	struct lab_device *other = lab_device_find("lab1");

	return other->id + device->id;
}

/* A pointer that the user gave, and that is followed as if it were the kernel's. */
static noinline int lab_device_configure(struct lab_device *device, const struct lab_config *config)
{
	device->interval = config->rate;
	device->mode = config->mode;
	return device->mode & 1;
}

static noinline int lab_fault_user(struct lab_device *device)
{
	return lab_device_configure(device, (void *)ALIGN_DOWN(current->mm->arg_start, 8)) + 1;
}

/* Lists */

static struct lab_request *lab_request_add(struct lab_device *device, u64 sector)
{
	struct lab_request *request = kmem_cache_zalloc(lab_request_cache, GFP_KERNEL);

	if (!request)
		return NULL;
	request->sector = sector;
	request->state = LAB_NEW;
	list_add_tail(&request->list, &device->requests);
	return request;
}

static struct lab_request *lab_request_find(struct lab_device *device, u64 sector)
{
	struct lab_request *request;

	list_for_each_entry(request, &device->requests,
			    list) if (request->sector == sector) return request;
	return NULL;
}

/* It forgets to take the request off the list. */
static noinline void lab_request_cancel(struct lab_request *request)
{
	kmem_cache_free(lab_request_cache, request);
}

/* The next one to be allocated is the one that was freed last; it is written to, and freed. */
static noinline void lab_request_reuse(void)
{
	struct lab_request *request = kmem_cache_alloc(lab_request_cache, GFP_ATOMIC);

	if (!request)
		return;
	memset(request, 0x47, sizeof(*request));
	kmem_cache_free(lab_request_cache, request);
}

static noinline u32 lab_device_finish_all(struct lab_device *device)
{
	struct lab_request *request;
	u32 count = 0;

	list_for_each_entry(request, &device->requests, list)
	{
		request->state = LAB_DONE;
		barrier(); /* first the write: the next one is looked for when this one is done */
		count++;
	}
	return count;
}

static noinline int lab_fault_free(struct lab_device *device)
{
	preempt_disable();
	lab_request_cancel(lab_request_find(device, LAB_FREED));
	lab_request_reuse();
	preempt_enable();
	return lab_device_finish_all(device) + 1;
}

static noinline u64 lab_request_next_sector(struct lab_request *request)
{
	return list_next_entry(request, list)->sector;
}

static noinline int lab_fault_poison(struct lab_device *device)
{
	struct lab_request *request = lab_request_find(device, LAB_FREED);

	list_del(&request->list);
	return lab_request_next_sector(request) + 1;
}

static noinline int lab_request_remove(struct lab_request *request)
{
	list_del(&request->list);
	return request->state;
}

/* The kernel checks its lists, and says so with a BUG. */
static noinline int lab_fault_twice(struct lab_device *device)
{
	struct lab_request *request = lab_request_find(device, LAB_FREED);

	return lab_request_remove(request) + lab_request_remove(request);
}

/* What the code itself says is wrong */

static noinline int lab_device_put(struct lab_device *device)
{
	BUG_ON(device->users <= 0);
	return --device->users;
}

static noinline int lab_fault_bug(struct lab_device *device)
{
	device->users = 0;
	return lab_device_put(device) + 1;
}

static noinline int lab_device_check(struct lab_device *device)
{
	WARN_ON(device->users > 100);
	return device->users;
}

static noinline int lab_fault_warn(struct lab_device *device)
{
	device->users = 1000;
	return lab_device_check(device) + 1;
}

/* The kernel counts for us, and warns of a count that cannot be. */
static noinline int lab_device_release(struct lab_device *device)
{
	return refcount_dec_and_test(&device->references) ? device->users : -1;
}

static noinline int lab_fault_refcount(struct lab_device *device)
{
	refcount_set(&device->references, 1);
	return lab_device_release(device) + lab_device_release(device);
}

static noinline int lab_device_reset(struct lab_device *device)
{
	if (device->mode)
		panic("%s: the controller does not answer (mode %u)\n", device->name, device->mode);
	return device->users;
}

static noinline int lab_fault_panic(struct lab_device *device)
{
	device->mode = 7;
	return lab_device_reset(device) + 1;
}

static noinline u64 lab_device_rate(struct lab_device *device)
{
	return device->bytes / device->interval;
}

/* The interval is 0 from the beginning: a compiler that saw it here would make a trap of it. */
static noinline int lab_fault_divide(struct lab_device *device)
{
	device->bytes = 4096;
	return lab_device_rate(device) & 1;
}

/* A device that is its own parent has a path without an end. */
static noinline size_t lab_device_path(struct lab_device *device, size_t length)
{
	char path[LAB_PATH_SIZE];

	memset(path, 'a' + length % 26, sizeof(path));
	barrier_data(path);
	if (device->parent)
		length = lab_device_path(device->parent, length + 1);
	return length + path[length % sizeof(path)];
}

static noinline int lab_fault_overflow(struct lab_device *device)
{
	device->parent = device;
	return lab_device_path(device, 0) & 1;
}

/* Elsewhere than in the task that began it */

static void lab_device_timeout(struct timer_list *timer)
{
	struct lab_device *device = container_of(timer, struct lab_device, timer);

	device->mode = lab_device_start(device);
}

static noinline int lab_fault_timer(struct lab_device *device)
{
	device->ops = NULL;
	mod_timer(&device->timer, jiffies + HZ / 20);
	return 0;
}

static noinline void lab_request_complete(struct lab_request *request)
{
	request->state = LAB_DONE;
}

static void lab_device_tasklet(struct tasklet_struct *tasklet)
{
	struct lab_device *device = from_tasklet(device, tasklet, tasklet);

	lab_request_complete(device->current_request);
	device->users--;
}

static noinline int lab_fault_softirq(struct lab_device *device)
{
	device->current_request = NULL;
	tasklet_schedule(&device->tasklet);
	return 0;
}

static noinline u32 lab_device_parent_id(struct lab_device *device)
{
	return device->parent->id + 1;
}

static void lab_device_work(struct work_struct *work)
{
	struct lab_device *device = container_of(work, struct lab_device, work);

	device->mode = lab_device_parent_id(device);
}

static noinline int lab_fault_work(struct lab_device *device)
{
	device->parent = NULL;
	schedule_work(&device->work);
	return 0;
}

/* CPUs that do nothing else */

static noinline void lab_device_poll(struct lab_device *device)
{
	while (!READ_ONCE(device->mode))
		cpu_relax();
}

static int lab_spin(void *device)
{
	preempt_disable();
	lab_device_poll(device);
	preempt_enable();
	return 0;
}

static int lab_spin_deaf(void *device)
{
	local_irq_disable();
	lab_device_poll(device);
	local_irq_enable();
	return 0;
}

static int lab_read(void *device)
{
	rcu_read_lock();
	lab_device_poll(device);
	rcu_read_unlock();
	return 0;
}

static int lab_wait_for_readers(void *unused)
{
	for (;;) {
		synchronize_rcu();
		msleep(20);
	}
	return 0;
}

static int lab_start_thread_on(int (*run)(void *), struct lab_device *device, const char *name,
			       unsigned int cpu)
{
	struct task_struct *task = kthread_create(run, device, "%s", name);

	if (IS_ERR(task))
		return PTR_ERR(task);
	if (device)
		kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

static int lab_start_thread(int (*run)(void *), struct lab_device *device, const char *name)
{
	return lab_start_thread_on(run, device, name, num_online_cpus() - 1);
}

static noinline int lab_fault_soft(struct lab_device *device)
{
	device->mode = 0;
	return lab_start_thread(lab_spin, device, "lab-spinner");
}

static noinline int lab_fault_irqoff(struct lab_device *device)
{
	device->mode = 0;
	return lab_start_thread(lab_spin_deaf, device, "lab-deaf");
}

static noinline int lab_fault_rcu(struct lab_device *device)
{
	int error;

	device->mode = 0;
	error = lab_start_thread(lab_read, device, "lab-reader");
	return error ?: lab_start_thread(lab_wait_for_readers, NULL, "lab-synchronize");
}

static void lab_device_sync(void *device)
{
	((struct lab_device *)device)->users++;
}

/* The other CPU is to run a function, and does not take the interrupt that asks it to. */
static int lab_call(void *device)
{
	msleep(500); /* until it is deaf */
	smp_call_function_single(num_online_cpus() - 1, lab_device_sync, device, 1);
	return 0;
}

static noinline int lab_fault_ipi(struct lab_device *device)
{
	int error = lab_fault_irqoff(device);

	return error ?: lab_start_thread_on(lab_call, device, "lab-caller", 0);
}

/* It gives the CPU away to nobody who is not more important. */
static int lab_hog(void *device)
{
	struct lab_device *busy = device;

	sched_set_fifo(current);
	while (!READ_ONCE(busy->mode))
		cond_resched();
	return 0;
}

static int lab_starve(void *device)
{
	sched_set_fifo_low(current);
	for (;;)
		msleep(20);
	return 0;
}

static noinline int lab_fault_hog(struct lab_device *device)
{
	int error = lab_start_thread(lab_starve, device, "lab-starved");

	device->mode = 0;
	msleep(100);
	return error ?: lab_start_thread(lab_hog, device, "lab-hog");
}

/* Only this thread dies of it. */
static int lab_open(void *device)
{
	return lab_fault_null(device);
}

static noinline int lab_fault_oops(struct lab_device *device)
{
	int error = lab_start_thread(lab_open, device, "lab-opener");

	msleep(500);
	return error;
}

/* Memory */

/* Of each big block that there is a few pages are kept: the rest is free, and of no use. */
static noinline int lab_fragment_memory(struct lab_device *device)
{
	LIST_HEAD(blocks);
	struct page *page, *next;
	unsigned int order, i;

	for (order = LAB_HIGH_ORDER; order >= LAB_LOW_ORDER; order--)
		while ((page = alloc_pages(GFP_KERNEL, order))) {
			set_page_private(page, order);
			list_add(&page->lru, &blocks);
		}
	list_for_each_entry_safe(page, next, &blocks, lru)
	{
		order = page_private(page);
		list_del(&page->lru);
		set_page_private(page, 0);
		split_page(page, order);
		for (i = 0; i < 1u << order; i++)
			if (i % LAB_KEPT)
				__free_page(page + i);
	}
	return 0;
}

static noinline int lab_leak_records(struct lab_device *device)
{
	struct lab_record *record;
	u64 number;

	for (number = 0; number < LAB_LEAKED; number++) {
		record = kmem_cache_zalloc(lab_leak_cache, GFP_KERNEL);
		if (!record)
			return -ENOMEM;
		record->number = number;
		record->device = device;
		list_add_tail(&record->list, &lab_records);
	}
	return 0;
}

/* The same in a cache that everybody uses. */
static noinline int lab_leak_buffers(struct lab_device *device)
{
	struct lab_record *record;
	u64 number;

	for (number = 0; number < LAB_LEAKED; number++) {
		record = kzalloc(sizeof(*record) + 16, GFP_KERNEL);
		if (!record)
			return -ENOMEM;
		record->number = number;
		record->device = device;
		list_add(&record->list, &lab_records);
	}
	return 0;
}

static noinline int lab_leak_pages(struct lab_device *device)
{
	size_t size;

	for (size = 0; size < LAB_LEAKED_BYTES; size += PAGE_SIZE)
		if (!__get_free_page(GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

static noinline int lab_leak_vmalloc(struct lab_device *device)
{
	size_t size;

	for (size = 0; size < LAB_LEAKED_BYTES; size += 16 * PAGE_SIZE)
		if (!vmalloc(16 * PAGE_SIZE))
			return -ENOMEM;
	return 0;
}

static const struct fault {
	const char *name;
	int (*make)(struct lab_device *device);
} faults[] = {
	{ "null", lab_fault_null },	    { "jump", lab_fault_jump },
	{ "wild", lab_fault_wild },	    { "errptr", lab_fault_errptr },
	{ "user", lab_fault_user },	    { "free", lab_fault_free },
	{ "poison", lab_fault_poison },	    { "twice", lab_fault_twice },
	{ "bug", lab_fault_bug },	    { "warn", lab_fault_warn },
	{ "divide", lab_fault_divide },	    { "overflow", lab_fault_overflow },
	{ "timer", lab_fault_timer },	    { "softirq", lab_fault_softirq },
	{ "work", lab_fault_work },	    { "soft", lab_fault_soft },
	{ "rcu", lab_fault_rcu },	    { "irqoff", lab_fault_irqoff },
	{ "refcount", lab_fault_refcount }, { "panic", lab_fault_panic },
	{ "ipi", lab_fault_ipi },	    { "hog", lab_fault_hog },
	{ "oops", lab_fault_oops },	    { "order", lab_fragment_memory },
	{ "leak", lab_leak_records },	    { "leakpages", lab_leak_pages },
	{ "leakvm", lab_leak_vmalloc },	    { "leakbuffers", lab_leak_buffers },
};

static int faults_start(const char *value, const struct kernel_param *parameter)
{
	int i, result;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!sysfs_streq(value, faults[i].name))
			continue;
		result = faults[i].make(lab_device);
		return result < 0 ? result : 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops faults_start_ops = { .set = faults_start };
module_param_cb(start, &faults_start_ops, NULL, 0200);

static int lab_null_start(struct lab_device *device)
{
	return device->users;
}

static void lab_null_notify(struct lab_device *device, u32 mode)
{
	device->bytes += mode;
}

static const struct lab_ops lab_null_ops = {
	.start = lab_null_start,
	.stop = lab_null_start,
	.name = "null",
};

/* A cache of which user space may be given parts is merged with none that is like it. */
static struct kmem_cache *lab_cache(const char *name, size_t size)
{
	return kmem_cache_create_usercopy(name, size, 8, 0, 0, size, NULL);
}

static int __init faults_init(void)
{
	u64 i;

	lab_request_cache = lab_cache("lab_request", sizeof(struct lab_request));
	lab_leak_cache = lab_cache("lab_leak", sizeof(struct lab_record));
	lab_device = kzalloc(sizeof(*lab_device), GFP_KERNEL);
	if (!lab_request_cache || !lab_leak_cache || !lab_device)
		return -ENOMEM;
	lab_device->name = "lab0";
	lab_device->id = 42;
	lab_device->ops = &lab_null_ops;
	lab_device->notify = lab_null_notify;
	INIT_LIST_HEAD(&lab_device->requests);
	timer_setup(&lab_device->timer, lab_device_timeout, 0);
	tasklet_setup(&lab_device->tasklet, lab_device_tasklet);
	INIT_WORK(&lab_device->work, lab_device_work);
	for (i = 0; i < LAB_REQUESTS; i++)
		if (!lab_request_add(lab_device, i))
			return -ENOMEM;
	return 0;
}
module_init(faults_init);

/* What it breaks cannot be mended: there is no way out. */
MODULE_DESCRIPTION("mistakes of a driver, for tests of what a dump says of them");
MODULE_LICENSE("GPL");
