// SPDX-License-Identifier: GPL-3.0-or-later
/* Paths and open files in a made-up machine: mounts upon mounts, removed names, loops, damage. */
#include "debugger/kernel/path.h"

#include "base/array.h"
#include "debugger/kernel/open_files.h"
#include "tests/unit/infer_machine.h"

struct raw_dentry {
	uint64_t pprev, parent, name, inode, super, op_data, alias;
	uint32_t length, unused;
};
struct raw_mount {
	uint64_t parent, mountpoint;
	uint64_t root, super; /* struct vfsmount */
};
struct raw_table {
	uint32_t max, unused;
	uint64_t fd, open_fds, close_on_exec;
};

enum { ROOT, USR, LIB, GONE, INNER, LEAF, PIPE, SHARED, DENTRIES };
enum { BASE, UPON, HIDDEN, MOUNTS };

/* The machine's memory. */
struct contents {
	struct raw_dentry dentries[DENTRIES];
	struct raw_mount mounts[MOUNTS];
	uint64_t supers[2], kinds[2]; /* s_type; name */
	uint64_t inode, names_of;     /* i_ino; i_dentry.first */
	uint64_t file[3];	      /* mnt, dentry, f_inode */
	uint64_t task, task_flags;    /* files */
	uint64_t files;		      /* fdt */
	struct raw_table table;
	uint64_t open[2], close[2], fds[128];
	char names[512];
};
#define AT(member) (DATA + offsetof(struct contents, member))

static struct contents contents;
static struct machine machine;

/* A pointer to a struct that is declared later is one to a name: so they come from the leaves up.
 */
static int add_struct(const char *name, size_t size)
{
	return btf__add_struct(machine.source, name, (uint32_t)size);
}

static void add_types(void)
{
	struct libbpf_btf *btf = machine.source;
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int character = btf__add_ptr(btf, btf__add_int(btf, "char", 1, 1));
	int kind = add_struct("file_system_type", 8);
	add_member(machine.source, "name", character, 0);
	int kind_pointer = btf__add_ptr(btf, kind), super = add_struct("super_block", 8);
	add_member(machine.source, "s_type", kind_pointer, 0);
	int list = add_struct("hlist_head", 8);
	add_member(machine.source, "first", ulong, 0);
	int inode = add_struct("inode", 16);
	add_member(machine.source, "i_ino", ulong, 0);
	add_member(machine.source, "i_dentry", list, 8);
	int super_pointer = btf__add_ptr(btf, super), inode_pointer = btf__add_ptr(btf, inode);
	int hash = add_struct("hlist_bl_node", 8);
	add_member(machine.source, "pprev", ulong, 0);
	int name = add_struct("qstr", 48);
	add_member(machine.source, "name", character, 0);
	add_member(machine.source, "len", uint,
		   offsetof(struct raw_dentry, length) - offsetof(struct raw_dentry, name));
	/* To what comes right behind. */
	int dentry_pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	add_struct("dentry", sizeof(struct raw_dentry));
	add_member(machine.source, "d_hash", hash, offsetof(struct raw_dentry, pprev));
	add_member(machine.source, "d_parent", dentry_pointer, offsetof(struct raw_dentry, parent));
	add_member(machine.source, "d_name", name, offsetof(struct raw_dentry, name));
	add_member(machine.source, "d_inode", inode_pointer, offsetof(struct raw_dentry, inode));
	add_member(machine.source, "d_sb", super_pointer, offsetof(struct raw_dentry, super));
	add_member(machine.source, "d_fsdata", ulong, offsetof(struct raw_dentry, op_data));
	add_member(machine.source, "d_alias", ulong, offsetof(struct raw_dentry, alias));
	int vfsmount = add_struct("vfsmount", 16);
	add_member(machine.source, "mnt_root", dentry_pointer, 0);
	int vfsmount_pointer = btf__add_ptr(btf, vfsmount);
	int mount_pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	add_struct("mount", sizeof(struct raw_mount));
	add_member(machine.source, "mnt_parent", mount_pointer, offsetof(struct raw_mount, parent));
	add_member(machine.source, "mnt_mountpoint", dentry_pointer,
		   offsetof(struct raw_mount, mountpoint));
	add_member(machine.source, "mnt", vfsmount, offsetof(struct raw_mount, root));
	int path = add_struct("path", 16);
	add_member(machine.source, "mnt", vfsmount_pointer, 0);
	add_member(machine.source, "dentry", dentry_pointer, 8);
	add_struct("file", 24);
	add_member(machine.source, "f_path", path, 0);
	add_member(machine.source, "f_inode", inode_pointer, 16);
	int table = add_struct("fdtable", sizeof(struct raw_table));
	add_member(machine.source, "max_fds", uint, offsetof(struct raw_table, max));
	add_member(machine.source, "fd", ulong, offsetof(struct raw_table, fd));
	add_member(machine.source, "open_fds", ulong, offsetof(struct raw_table, open_fds));
	add_member(machine.source, "close_on_exec", ulong,
		   offsetof(struct raw_table, close_on_exec));
	int table_pointer = btf__add_ptr(btf, table);
	int files = add_struct("files_struct", 8);
	add_member(machine.source, "fdt", table_pointer, 0);
	int files_pointer = btf__add_ptr(btf, files);
	add_struct("task_struct", 16);
	add_member(machine.source, "files", files_pointer, 0);
	add_member(machine.source, "flags", uint, 8);
}

static void name_dentry(unsigned int index, unsigned int parent, const char *name)
{
	size_t at = 32 * index;
	memcpy(contents.names + at, name, strlen(name) + 1);
	contents.dentries[index] = (struct raw_dentry){ .pprev = 1,
							.parent = AT(dentries[parent]),
							.name = AT(names) + at,
							.inode = AT(inode),
							.super = AT(supers[0]),
							.length = (uint32_t)strlen(name) };
}

/* / has usr/lib, upon which a filesystem with leaf is mounted; usr/gone was removed. */
static void fill(void)
{
	contents = (struct contents){ .inode = 77 };
	name_dentry(ROOT, ROOT, "/");
	name_dentry(USR, ROOT, "usr");
	name_dentry(LIB, USR, "lib");
	name_dentry(GONE, USR, "gone");
	contents.dentries[GONE].pprev = 0;
	name_dentry(INNER, INNER, "/");
	name_dentry(LEAF, INNER, "leaf");
	name_dentry(PIPE, PIPE, "");
	contents.dentries[PIPE].super = AT(supers[1]);
	name_dentry(SHARED, SHARED, "memfd:x");
	contents.mounts[BASE] = (struct raw_mount){ .parent = AT(mounts[BASE]),
						    .mountpoint = AT(dentries[ROOT]),
						    .root = AT(dentries[ROOT]) };
	contents.mounts[UPON] = (struct raw_mount){ .parent = AT(mounts[BASE]),
						    .mountpoint = AT(dentries[LIB]),
						    .root = AT(dentries[INNER]) };
	contents.mounts[HIDDEN] = (struct raw_mount){ .parent = AT(mounts[HIDDEN]),
						      .mountpoint = AT(dentries[INNER]),
						      .root = AT(dentries[INNER]) };
	memcpy(contents.names + 480, "ext4", 5);
	memcpy(contents.names + 488, "pipefs", 7);
	contents.kinds[0] = AT(names) + 480;
	contents.kinds[1] = AT(names) + 488;
	contents.supers[0] = AT(kinds[0]);
	contents.supers[1] = AT(kinds[1]);
	contents.task = AT(files);
	contents.files = AT(table);
	contents.table = (struct raw_table){ 128, 0, AT(fds), AT(open), AT(close) };
	contents.open[0] = 0x8000000000000005;
	contents.open[1] = 2;
	contents.close[0] = 4;
	for (size_t i = 0; i < ARRAY_COUNT(contents.fds); i++)
		contents.fds[i] = AT(file);
	contents.fds[2] = AT(fds);
}

static uint64_t mount_at(unsigned int index)
{
	return AT(mounts) + index * sizeof(struct raw_mount) + offsetof(struct raw_mount, root);
}

static uint64_t dentry_at(unsigned int index)
{
	return AT(dentries) + index * sizeof(struct raw_dentry);
}

static struct error *file_path_with(struct path_folder *folder, unsigned int mount,
				    unsigned int dentry, char *buffer)
{
	struct object file;
	contents.file[0] = mount_at(mount);
	contents.file[1] = dentry_at(dentry);
	contents.file[2] = AT(inode);
	CHECK_OK(object_at(&machine.target, "struct file", AT(file), &file));
	return path_of_file(&file, folder, buffer);
}

static struct error *file_path(unsigned int mount, unsigned int dentry, char *buffer)
{
	return file_path_with(NULL, mount, dentry, buffer);
}

static const struct {
	unsigned int mount, dentry;
	const char *path;
} wanted[] = {
	{ BASE, ROOT, "/" },
	{ BASE, LIB, "/usr/lib" },
	{ UPON, LEAF, "/usr/lib/leaf" },
	{ UPON, INNER, "/usr/lib" },
	{ BASE, GONE, "/usr/gone (deleted)" },
	{ HIDDEN, PIPE, "pipe:[77]" },
	{ HIDDEN, SHARED, "/memfd:x (deleted)" },
};

static void test_paths(void)
{
	char path[PATH_SIZE];
	fill();
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		CHECK_OK(file_path(wanted[i].mount, wanted[i].dentry, path));
		CHECK_STRING(path, wanted[i].path);
	}
}

/* What is remembered of the last file is not taken for the next one's. */
static void test_folder(void)
{
	char path[PATH_SIZE];
	fill();
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
		for (size_t k = 0; k < ARRAY_COUNT(wanted); k++) {
			struct path_folder folder = { .super = 0 };
			CHECK_OK(file_path_with(&folder, wanted[i].mount, wanted[i].dentry, path));
			CHECK_OK(file_path_with(&folder, wanted[k].mount, wanted[k].dentry, path));
			CHECK_STRING(path, wanted[k].path);
		}
}

static void check_fails(unsigned int mount, unsigned int dentry, const char *message)
{
	char path[PATH_SIZE];
	struct error *error = file_path(mount, dentry, path);
	CHECK(error && strstr(error->message, message));
	if (error && !strstr(error->message, message))
		puts(error->message);
	error_free(error);
}

/* Every way up has an end. */
static void test_loops(void)
{
	fill();
	contents.dentries[USR].parent = dentry_at(LIB);
	check_fails(BASE, LIB, "longer than 4096 bytes");
	fill();
	contents.mounts[BASE].parent = AT(mounts[UPON]);
	contents.mounts[BASE].mountpoint = dentry_at(INNER);
	contents.mounts[UPON].mountpoint = dentry_at(ROOT);
	check_fails(UPON, LEAF, "more than 8192 parts");
	fill();
	contents.dentries[USR].length = 256;
	check_fails(BASE, LIB, "has 256 bytes");
	contents.dentries[USR].length = 6;
	check_fails(BASE, LIB, "has a NUL");
}

static struct error *inode_path(unsigned int dentry, char *buffer)
{
	struct object inode;
	contents.names_of = dentry_at(dentry) + offsetof(struct raw_dentry, alias);
	CHECK_OK(object_at(&machine.target, "struct inode", AT(inode), &inode));
	return path_of_inode(&inode, buffer);
}

/* An inode is on no mount: a way up that ends nowhere is not where one begins. */
static void test_inodes(void)
{
	char path[PATH_SIZE];
	fill();
	CHECK_OK(inode_path(LIB, path));
	CHECK_STRING(path, "/usr/lib");
	contents.dentries[USR].parent = 0;
	struct error *error = inode_path(LIB, path);
	CHECK(error && strstr(error->message, "nothing at 0x8"));
	error_free(error);
}

struct seen {
	struct open_file files[8];
	size_t count;
};

static struct error *see(void *context, const struct open_file *file)
{
	struct seen *seen = context;
	if (seen->count == ARRAY_COUNT(seen->files))
		return error_create(ERROR_OTHER, "too many");
	seen->files[seen->count++] = *file;
	return NULL;
}

static void test_open_files(void)
{
	static const uint32_t numbers[] = { 0, 2, 63, 65 };
	struct seen seen = { .count = 0 };
	fill();
	CHECK_OK(open_files_for_each(&machine.target, AT(task), see, &seen));
	CHECK_U64(seen.count, ARRAY_COUNT(numbers));
	for (size_t i = 0; i < seen.count; i++) {
		CHECK_U64(seen.files[i].fd, numbers[i]);
		CHECK_U64(seen.files[i].file, numbers[i] == 2 ? AT(fds) : AT(file));
		CHECK_U64(seen.files[i].close_on_exec, numbers[i] == 2);
	}
	/* Taken, not yet open. */
	contents.fds[63] = 0;
	seen.count = 0;
	CHECK_OK(open_files_for_each(&machine.target, AT(task), see, &seen));
	CHECK_U64(seen.count, ARRAY_COUNT(numbers) - 1);
	contents.table.max = 1u << 30;
	seen.count = 0;
	struct error *error = open_files_for_each(&machine.target, AT(task), see, &seen);
	CHECK(error && strstr(error->message, "1073741824 entries") && !seen.count);
	error_free(error);
	/* As many as there never are. */
	contents.table.max = 0;
	CHECK_FAILS(open_files_for_each(&machine.target, AT(task), see, &seen), "has 0 entries");
	/* One that is exiting has none. */
	contents.task = 0;
	CHECK_FAILS(open_files_for_each(&machine.target, AT(task), see, &seen), "not exiting");
	contents.task_flags = 4;
	CHECK_OK(open_files_for_each(&machine.target, AT(task), see, &seen));
	CHECK_U64(seen.count, 0);
}

static struct error *ignore(void *context, const struct open_file *file)
{
	(void)context;
	(void)file;
	return NULL;
}

static void test_damage(void)
{
	uint64_t state = 1;
	char path[PATH_SIZE];
	for (unsigned int i = 0; i < 3000; i++) {
		fill();
		size_t size = machine.parts[0].size;
		machine_damage_part(&machine, &machine.parts[0], &state);
		error_free(file_path(i % MOUNTS, i % DENTRIES, path));
		error_free(inode_path(i % DENTRIES, path));
		error_free(open_files_for_each(&machine.target, AT(task), ignore, NULL));
		machine.parts[0].size = size;
	}
}

int main(void)
{
	machine_init(&machine);
	add_types();
	machine_set_types(&machine);
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	RUN(test_paths);
	RUN(test_folder);
	RUN(test_loops);
	RUN(test_inodes);
	RUN(test_open_files);
	RUN(test_damage);
	machine_deinit(&machine);
	return test_finish();
}
