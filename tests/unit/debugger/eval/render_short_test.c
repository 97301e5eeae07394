// SPDX-License-Identifier: GPL-3.0-or-later
/* Well-known structs in a few words, flags by name; and none of it where the shape is another. */
#include "tests/unit/eval_fixture.h"

static struct fixture *fixture;
static struct btf *known, *odd; /* the kernel's shapes, and others of the same names */
static char *rendered;

static int add_struct(struct libbpf_btf *btf, const char *name, int size, const char *member,
		      int type)
{
	int id = btf__add_struct(btf, name, size);
	btf__add_field(btf, member, type, 0, 0);
	return id;
}

static void field(struct libbpf_btf *btf, const char *name, int type, int offset)
{
	btf__add_field(btf, name, type, offset * 8, 0);
}

static void add_locks(struct libbpf_btf *btf, int atomic, int atomic_long, int list)
{
	int queued = add_struct(btf, "qspinlock", 4, "val", atomic);
	int arch = btf__add_typedef(btf, "arch_spinlock_t", queued);
	int raw = add_struct(btf, "raw_spinlock", 4, "raw_lock", arch);
	int both = btf__add_union(btf, NULL, 4);
	field(btf, "rlock", raw, 0);
	int spin = btf__add_struct(btf, "spinlock", 4);
	field(btf, NULL, both, 0);
	btf__add_typedef(btf, "spinlock_t", spin);
	btf__add_struct(btf, "mutex", 32);
	field(btf, "owner", atomic_long, 0);
	field(btf, "wait_lock", raw, 8);
	field(btf, "wait_list", list, 16);
	btf__add_struct(btf, "rw_semaphore", 40);
	field(btf, "count", atomic_long, 0);
	field(btf, "owner", atomic_long, 8);
	field(btf, "wait_lock", raw, 16);
	field(btf, "wait_list", list, 24);
	int queued_rw = btf__add_struct(btf, "qrwlock", 8);
	field(btf, "cnts", atomic, 0);
	field(btf, "wait_lock", arch, 4);
	int rw = btf__add_struct(btf, NULL, 8);
	field(btf, "raw_lock", queued_rw, 0);
	btf__add_typedef(btf, "rwlock_t", rw);
}

static void add_enums(struct libbpf_btf *btf)
{
	btf__add_enum(btf, "flags", 4);
	btf__add_enum_value(btf, "NONE", 0);
	btf__add_enum_value(btf, "READ", 1);
	btf__add_enum_value(btf, "WRITE", 2);
	btf__add_enum_value(btf, "BOTH", 3);
	btf__add_enum_value(btf, "SYNC", 0x10);
	btf__add_enum(btf, "plain", 4);
	btf__add_enum_value(btf, "ZERO", 0);
	btf__add_enum_value(btf, "ONE", 1);
	btf__add_enum_value(btf, "TWO", 2);
	btf__add_enum(btf, "holes", 4);
	btf__add_enum_value(btf, "FOUR", 4);
	btf__add_enum_value(btf, "SEVEN", 7);
}

static void add_known(struct libbpf_btf *btf)
{
	int int_ = btf__add_int(btf, "int", 4, 1), uint = btf__add_int(btf, "unsigned int", 4, 0);
	int long_ = btf__add_int(btf, "long int", 8, 1);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int char_ = btf__add_int(btf, "char", 1, 1);
	int atomic = btf__add_typedef(btf, "atomic_t", add_struct(btf, NULL, 4, "counter", int_));
	int atomic64 =
		btf__add_typedef(btf, "atomic64_t", add_struct(btf, NULL, 8, "counter", long_));
	int atomic_long = btf__add_typedef(btf, "atomic_long_t", atomic64);
	int count = btf__add_typedef(btf, "refcount_t",
				     add_struct(btf, "refcount_struct", 4, "refs", atomic));
	add_struct(btf, "kref", 4, "refcount", count);
	btf__add_typedef(btf, "kuid_t", add_struct(btf, NULL, 4, "val", uint));
	int list = btf__add_struct(btf, "list_head", 16);
	int pointer = list + 1;
	field(btf, "next", pointer, 0);
	field(btf, "prev", pointer, 8);
	btf__add_ptr(btf, list);
	int node = btf__add_struct(btf, "hlist_node", 16);
	add_struct(btf, "hlist_head", 8, "first", btf__add_ptr(btf, node));
	int bits = btf__add_array(btf, uint, ulong, 2);
	btf__add_typedef(btf, "cpumask_t", add_struct(btf, "cpumask", 16, "bits", bits));
	int comm = btf__add_array(btf, uint, char_, 16);
	btf__add_struct(btf, "task_struct", 32);
	field(btf, "pid", int_, 0);
	field(btf, "comm", comm, 4);
	add_locks(btf, atomic, atomic_long, list);
	add_enums(btf);
	int seqcount = add_struct(btf, "seqcount", 4, "sequence", uint);
	int of_spinlock = add_struct(btf, "seqcount_spinlock", 4, "seqcount", seqcount);
	int seqlock = btf__add_struct(btf, NULL, 8);
	field(btf, "seqcount", of_spinlock, 0);
	field(btf, "lock", btf__find_by_name(btf, "spinlock_t"), 4);
	btf__add_typedef(btf, "seqlock_t", seqlock);
	int queue = btf__add_struct(btf, "swait_queue_head", 24);
	field(btf, "lock", btf__find_by_name(btf, "raw_spinlock"), 0);
	field(btf, "task_list", list, 8);
	btf__add_struct(btf, "completion", 32);
	field(btf, "done", uint, 0);
	field(btf, "wait", queue, 8);
	btf__add_typedef(btf, "ktime_t", btf__add_typedef(btf, "s64", long_));
}

/* The same names, other members. */
static void add_odd(struct libbpf_btf *btf)
{
	int int_ = btf__add_int(btf, "int", 4, 1);
	btf__add_typedef(btf, "atomic_t", add_struct(btf, NULL, 4, "value", int_));
	add_struct(btf, "mutex", 4, "owner", int_);
	add_struct(btf, "list_head", 4, "next", int_);
	add_struct(btf, "cpumask", 4, "bits", int_);
	add_struct(btf, "spinlock", 4, "rlock", int_);
}

static struct btf *open_types(void (*add)(struct libbpf_btf *btf), struct libbpf_btf **source)
{
	struct btf *btf;
	uint32_t size = 0;
	*source = btf__new_empty();
	add(*source);
	const void *raw = btf__raw_data(*source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &btf));
	return btf;
}

/* A type of five words at the start of the data, as text or JSON. */
static const char *show(struct btf *btf, const char *type, const uint64_t words[5],
			const struct render_options *options, bool json)
{
	size_t size = 0;
	struct value value = { .target = &fixture->target,
			       .in_memory = true,
			       .address = DATA_BASE };
	fixture->target.btf = btf;
	memcpy(fixture->page, words, 40);
	free(rendered);
	rendered = NULL;
	CHECK_OK(target_find_type(&fixture->target, NULL, type, &value.type));
	FILE *file = open_memstream(&rendered, &size);
	struct out *out = json ? out_json_create(file) : out_text_create(file);
	CHECK_OK(value_render(out, NULL, &value, options));
	out_destroy(out);
	fclose(file);
	return rendered;
}

#define TASK (DATA_BASE + 1024)
#define CHECK_SHORT(type, text, ...)                                                               \
	do {                                                                                       \
		const uint64_t words[5] = { __VA_ARGS__ };                                         \
		CHECK_STRING(show(known, type, words, &render_defaults, false), text);             \
	} while (0)

static void test_numbers(void)
{
	CHECK_SHORT("atomic_t", "{ -5 }", 0xfffffffb);
	CHECK_SHORT("atomic64_t", "{ -1 }", UINT64_MAX);
	CHECK_SHORT("atomic_long_t", "{ 4294967296 }", 1ull << 32);
	CHECK_SHORT("refcount_t", "{ 7 }", 7);
	CHECK_SHORT("refcount_t", "{ -1073741824, saturated }", 0xc0000000);
	CHECK_SHORT("struct kref", "{ 2 }", 2);
	CHECK_SHORT("kuid_t", "{ 1000 }", 1000);
	const struct render_options hexadecimal = { .base = BASE_HEXADECIMAL };
	CHECK_STRING(show(known, "atomic_t", (const uint64_t[5]){ 255 }, &hexadecimal, false),
		     "{ 0xff }");
}

static void test_lists(void)
{
	CHECK_SHORT("struct list_head", "{ empty }", DATA_BASE, DATA_BASE);
	CHECK_SHORT("struct list_head", "{ first = 0xffff888000001000, last = 0xffff888000002000 }",
		    0xffff888000001000, 0xffff888000002000);
	/* Never made a list. */
	CHECK_SHORT("struct list_head", "{\n\t.next = 0x0,\n\t.prev = 0x0,\n}", 0, 0);
	CHECK_SHORT("struct hlist_head", "{ empty }", 0);
	CHECK_SHORT("struct hlist_head", "{ first = 0xffff888000001000 }", 0xffff888000001000);
}

static void test_masks(void)
{
	CHECK_SHORT("cpumask_t", "{ no CPU }", 0, 0);
	CHECK_SHORT("cpumask_t", "{ CPUs 0-3,8,63-64,127 }", 0x800000000000010f,
		    0x8000000000000001);
	CHECK_SHORT("struct cpumask", "{ CPUs 0-127 }", UINT64_MAX, UINT64_MAX);
}

static void test_spinlocks(void)
{
	CHECK_SHORT("spinlock_t", "{ unlocked }", 0);
	CHECK_SHORT("spinlock_t", "{ locked }", 1);
	CHECK_SHORT("struct raw_spinlock", "{ locked, with waiters }", 0x101);
	CHECK_SHORT("arch_spinlock_t", "{ unlocked, with waiters }", 0x40000);
	CHECK_SHORT("rwlock_t", "{ unlocked }", 0);
	CHECK_SHORT("rwlock_t", "{ write-locked }", 0xff);
	CHECK_SHORT("rwlock_t", "{ read-locked by 2, with waiters }", 0x500);
}

static void test_owners(void)
{
	memcpy(fixture->page + 1024, &(int){ 42 }, 4);
	strcpy((char *)fixture->page + 1028, "so\n\"me");
	CHECK_SHORT("struct mutex", "{ unlocked }", 0);
	CHECK_SHORT("struct mutex", "{ locked, owner = 42 \"so\\n\\\"me\" }", TASK);
	CHECK_SHORT("struct mutex", "{ locked, owner = 42 \"so\\n\\\"me\", with waiters }",
		    TASK | 3);
	CHECK_SHORT("struct mutex", "{ unlocked, with waiters }", 1);
	CHECK_SHORT("struct mutex", "{ locked, owner = 0xffffffff82001000 <excluded> }",
		    DATA_BASE + PAGE);
	CHECK_SHORT("struct mutex", "{ locked, owner = 0x1238 <unmapped> }", 0x1238);
	CHECK_SHORT("struct rw_semaphore", "{ unlocked }", 0, TASK | 1);
	CHECK_SHORT("struct rw_semaphore", "{ write-locked, owner = 42 \"so\\n\\\"me\" }", 1, TASK);
	strcpy((char *)fixture->page + 1028, "\\x9b\x9b\\");
	CHECK_SHORT("struct mutex", "{ locked, owner = 42 \"\\\\x9b\\x9b\\\\\" }", TASK);
	CHECK_SHORT("struct rw_semaphore", "{ read-locked by 3, with waiters }", 0x302, TASK | 1);
}

static void test_sequences(void)
{
	CHECK_SHORT("struct seqcount", "{ sequence = 6 }", 6);
	CHECK_SHORT("struct seqcount_spinlock", "{ sequence = 7, being written }", 7);
	CHECK_SHORT("seqlock_t", "{ sequence = 7, being written, locked }", 7 | 1ull << 32);
}

static void test_completions(void)
{
	const uint64_t head = DATA_BASE + 16;
	CHECK_SHORT("struct completion", "{ not done }", 0, 0, head, head);
	CHECK_SHORT("struct completion", "{ not done, with waiters }", 0, 0, TASK, TASK);
	CHECK_SHORT("struct completion", "{ done = 2 }", 2, 0, head, head);
	CHECK_SHORT("struct completion", "{ done for all }", UINT32_MAX, 0, head, head);
}

static void test_times(void)
{
	CHECK_SHORT("ktime_t", "999999", 999999);
	CHECK_SHORT("ktime_t", "1234567890 <1.234567890 s>", 1234567890);
	CHECK_SHORT("ktime_t", "-1500000000 <-1.500000000 s>", (uint64_t)-1500000000ll);
	CHECK_SHORT("ktime_t", "9223372036854775807 <never>", INT64_MAX);
	CHECK_SHORT("s64", "1234567890", 1234567890);
}

/* What is an address is not shown in decimal; a small negative number is none. */
static void test_addresses(void)
{
	CHECK_SHORT("long unsigned int", "0xffff888000001000", 0xffff888000001000);
	/* With page tables of five levels, and a number that only looks large. */
	CHECK_SHORT("long unsigned int", "0xff11000000001000", 0xff11000000001000);
	CHECK_SHORT("long unsigned int", "1152921504606846976", 0x1000000000000000);
	CHECK_SHORT("long unsigned int", "18446744073709551615", UINT64_MAX);
	CHECK_SHORT("long int", "-131391639515136", 0xffff888000001000);
	const struct render_options raw = { .raw = true };
	CHECK_STRING(show(known, "long unsigned int", (const uint64_t[5]){ 0xffff888000001000 },
			  &raw, false),
		     "18446612682070036480");
}

static void test_flags(void)
{
	CHECK_SHORT("enum flags", "NONE", 0);
	CHECK_SHORT("enum flags", "BOTH", 3);
	CHECK_SHORT("enum flags", "READ | SYNC", 0x11);
	CHECK_SHORT("enum flags", "WRITE | 0x40", 0x42);
	CHECK_SHORT("enum flags", "64", 0x40);
	/* A plain count is not of flags, nor is what has sums alone. */
	CHECK_SHORT("enum plain", "3", 3);
	CHECK_SHORT("enum holes", "6", 6);
}

/* With `raw` and in JSON: the members. */
static void test_whole(void)
{
	const struct render_options raw = { .raw = true }, shallow = { .depth = 1 };
	const uint64_t words[5] = { TASK | 1, 1, DATA_BASE + 16, DATA_BASE + 16 };
	CHECK_STRING(show(known, "struct mutex", words, &raw, false),
		     "{\n\t.owner = {\n\t\t.counter = -2113928191,\n\t},\n\t.wait_lock = {\n"
		     "\t\t.raw_lock = {\n\t\t\t.val = {\n\t\t\t\t.counter = 1,\n\t\t\t},\n"
		     "\t\t},\n\t},\n\t.wait_list = {\n\t\t.next = 0xffffffff82000010,\n"
		     "\t\t.prev = 0xffffffff82000010,\n\t},\n}");
	const char *json =
		"{\"owner\": {\"counter\": \"-2113928191\"}, \"wait_lock\": {\"raw_lock\": "
		"{\"val\": {\"counter\": 1}}}, \"wait_list\": {\"next\": "
		"\"0xffffffff82000010\", \"prev\": \"0xffffffff82000010\"}}";
	CHECK_STRING(show(known, "struct mutex", words, &raw, true), json);
	CHECK_STRING(show(known, "struct mutex", words, &render_defaults, true), json);
	/* What is short in text is no deeper for JSON. */
	CHECK_STRING(show(known, "struct mutex", words, &shallow, true), json);
	CHECK_STRING(show(known, "enum flags", (const uint64_t[5]){ 0x11 }, &raw, false), "17");
}

static void test_other_shapes(void)
{
	const uint64_t words[5] = { 1 };
	static const char *const types[] = { "atomic_t", "struct mutex", "struct list_head",
					     "struct cpumask", "struct spinlock" };
	for (size_t i = 0; i < 5; i++)
		CHECK(!strncmp(show(odd, types[i], words, &render_defaults, false), "{\n\t.", 4));
}

int main(void)
{
	struct libbpf_btf *sources[2];
	fixture = fixture_create("");
	struct btf *own = fixture->target.btf;
	known = open_types(add_known, &sources[0]);
	odd = open_types(add_odd, &sources[1]);
	RUN(test_numbers);
	RUN(test_lists);
	RUN(test_masks);
	RUN(test_spinlocks);
	RUN(test_owners);
	RUN(test_sequences);
	RUN(test_completions);
	RUN(test_times);
	RUN(test_addresses);
	RUN(test_flags);
	RUN(test_whole);
	RUN(test_other_shapes);
	fixture->target.btf = own;
	fixture_destroy(fixture);
	btf_close(known);
	btf_close(odd);
	btf__free(sources[0]);
	btf__free(sources[1]);
	free(rendered);
	return test_finish();
}
