// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Behind the ELF file, where no tool looks: the dump's identity, the key (two u64), the identity's
 * size (u32), a magic word. It is written last.
 */
#include "debugger/with/kept.h"

#include "base/bytes.h"
#include "base/own_folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENDING	  ".vmlinux"
#define TIERS	  ".tiers"
#define MAGIC	  "BTFWITH1"
#define TAIL_SIZE 28
#define FILES_MAX 8
#define BYTES_MAX (UINT64_C(1) << 30) /* on disk, of all of them */
#define NEW	  ".new-"
/* Seconds that another process may still write a file, and that its tool takes to open it. */
#define WRITE_SECONDS 3600
#define OPEN_SECONDS  60

/* Whether somebody may need it, though it is the oldest: they are not told apart by who uses them.
 */
static bool is_in_use(const char *name, const struct stat *status)
{
	time_t age = time(NULL) - status->st_mtime;
	bool is_new = !strncmp(name, NEW, strlen(NEW));
	return age >= 0 && age < (is_new ? WRITE_SECONDS : OPEN_SECONDS);
}

static const struct folder_limits limits = { ENDING, TIERS, FILES_MAX, BYTES_MAX, is_in_use };

/* --- places -------------------------------------------------------------------------------- */

static void name_file(struct kept *kept)
{
	struct cache_key both = kept->key;
	if (kept->is_temporary) {
		strcpy(kept->name, "dump" ENDING);
		return;
	}
	cache_key_add(&both, kept->dump.bytes, kept->dump.size);
	snprintf(kept->name, sizeof(kept->name), "%016llx%016llx" ENDING,
		 (unsigned long long)both.words[0], (unsigned long long)both.words[1]);
}

static struct error *make_folder(struct kept *kept)
{
	const char *base = getenv("TMPDIR");
	if (asprintf(&kept->place, "%s/btfcrash-XXXXXX", base && *base == '/' ? base : "/tmp") <
	    0) {
		kept->place = NULL;
		return error_no_memory();
	}
	if (!mkdtemp(kept->place)) {
		struct error *error = error_system("%s", kept->place);
		free(kept->place);
		kept->place = NULL;
		return error;
	}
	kept->is_temporary = true;
	kept->folder = open(kept->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return kept->folder < 0 ? error_system("%s", kept->place) : NULL;
}

/* The path of the open folder, which a tool needs. NULL: it has none that can be told. */
static char *path_of(int folder)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || *path != '/')
		return NULL;
	path[length] = 0;
	return strdup(path);
}

static bool open_cache(struct kept *kept, const char *const *dumps, size_t count)
{
	if (!cache_dump_init(&kept->dump, dumps, count))
		return false;
	kept->folder = cache_folder_open(true);
	kept->place = kept->folder < 0 ? NULL : path_of(kept->folder);
	if (kept->place)
		return true;
	if (kept->folder >= 0)
		close(kept->folder);
	cache_dump_deinit(&kept->dump);
	return false;
}

struct error *kept_open(struct kept *kept, const struct cache_key *key, bool keep,
			const char *const *dumps, size_t count)
{
	*kept = (struct kept){ .folder = -1, .key = *key };
	if (!keep || !open_cache(kept, dumps, count))
		TRY(make_folder(kept));
	name_file(kept);
	if (asprintf(&kept->vmlinux, "%s/%s", kept->place, kept->name) < 0)
		kept->vmlinux = NULL;
	if (asprintf(&kept->tiers, "%s/%s" TIERS, kept->place, kept->name) < 0)
		kept->tiers = NULL;
	return kept->vmlinux && kept->tiers ? NULL : error_no_memory();
}

/* Of a folder that holds nothing but what was put there. */
static void empty(int folder)
{
	struct dirent *entry;
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = again < 0 ? NULL : fdopendir(again);
	while (listing && (entry = readdir(listing)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			(void)unlinkat(folder, entry->d_name, 0);
	if (listing)
		closedir(listing);
}

void kept_close(struct kept *kept)
{
	if (kept->is_temporary && kept->folder >= 0)
		empty(kept->folder);
	if (kept->is_temporary && kept->place)
		(void)rmdir(kept->place);
	if (kept->folder >= 0)
		close(kept->folder);
	cache_dump_deinit(&kept->dump);
	free(kept->place);
	free(kept->vmlinux);
	free(kept->tiers);
	*kept = (struct kept){ .folder = -1 };
}

/* --- what is there ---------------------------------------------------------------------------- */

/* Nobody but the user may have written it. */
static bool is_own(int file, uint64_t *ret_size)
{
	struct stat status;
	if (fstat(file, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_size < TAIL_SIZE)
		return false;
	*ret_size = (uint64_t)status.st_size;
	return true;
}

static bool has_tail(const struct kept *kept, int file, uint64_t size)
{
	uint8_t tail[TAIL_SIZE];
	off_t at = (off_t)size - TAIL_SIZE, start = at - (off_t)kept->dump.size;
	if (start < 0 || pread(file, tail, sizeof(tail), at) != TAIL_SIZE ||
	    memcmp(tail + 20, MAGIC, 8) != 0 || load_u64(tail, false) != kept->key.words[0] ||
	    load_u64(tail + 8, false) != kept->key.words[1] ||
	    load_u32(tail + 16, false) != kept->dump.size)
		return false;
	uint8_t *bytes = malloc(kept->dump.size + 1);
	bool same = bytes &&
		    pread(file, bytes, kept->dump.size, start) == (ssize_t)kept->dump.size &&
		    !memcmp(bytes, kept->dump.bytes, kept->dump.size);
	free(bytes);
	return same;
}

bool kept_find(struct kept *kept)
{
	uint64_t size;
	if (kept->is_temporary)
		return false;
	/* A FIFO must not block, a link not lead elsewhere. */
	int file = openat(kept->folder, kept->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	bool found = is_own(file, &size) && has_tail(kept, file, size);
	if (found)
		(void)futimens(file, NULL);
	close(file);
	return found;
}

/* --- what is made ----------------------------------------------------------------------------- */

/* A process' number is no name of its own: other machines and containers have the same. */
static bool choose_new_name(struct kept *kept)
{
	uint64_t number;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return false;
	snprintf(kept->new_name, sizeof(kept->new_name), NEW "%016" PRIx64 ENDING, number);
	return true;
}

static void new_tiers_name(const struct kept *kept, char name[KEPT_NAME_SIZE + sizeof(TIERS)])
{
	snprintf(name, KEPT_NAME_SIZE + sizeof(TIERS), "%s" TIERS, kept->new_name);
}

static FILE *create_file(const struct kept *kept, const char *name)
{
	int file = openat(kept->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0600);
	FILE *ret = file < 0 ? NULL : fdopen(file, "w+");
	if (file >= 0 && !ret)
		close(file);
	return ret;
}

struct error *kept_create(struct kept *kept, FILE **ret_vmlinux, FILE **ret_tiers)
{
	char name[KEPT_NAME_SIZE + sizeof(TIERS)];
	FILE *vmlinux = choose_new_name(kept) ? create_file(kept, kept->new_name) : NULL;
	new_tiers_name(kept, name);
	FILE *tiers = vmlinux ? create_file(kept, name) : NULL;
	if (!tiers) {
		struct error *error = error_system("a file in %s", kept->place);
		if (vmlinux)
			fclose(vmlinux);
		(void)unlinkat(kept->folder, kept->new_name, 0);
		return error;
	}
	*ret_vmlinux = vmlinux;
	*ret_tiers = tiers;
	return NULL;
}

static void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static bool write_tail(const struct kept *kept, FILE *file)
{
	uint8_t tail[TAIL_SIZE];
	store(tail, kept->key.words[0], 8);
	store(tail + 8, kept->key.words[1], 8);
	store(tail + 16, kept->dump.size, 4);
	memcpy(tail + 20, MAGIC, 8);
	return !fseeko(file, 0, SEEK_END) &&
	       fwrite(kept->dump.bytes, 1, kept->dump.size, file) == kept->dump.size &&
	       fwrite(tail, sizeof(tail), 1, file) == 1 && !fflush(file) &&
	       !fdatasync(fileno(file));
}

/* The list first: whoever finds the file finds its list. */
static bool rename_both(const struct kept *kept)
{
	char made[KEPT_NAME_SIZE + sizeof(TIERS)], tiers[KEPT_NAME_SIZE + sizeof(TIERS)];
	new_tiers_name(kept, made);
	snprintf(tiers, sizeof(tiers), "%s" TIERS, kept->name);
	return !renameat(kept->folder, made, kept->folder, tiers) &&
	       !renameat(kept->folder, kept->new_name, kept->folder, kept->name);
}

struct error *kept_keep(struct kept *kept, FILE *vmlinux, FILE *tiers)
{
	bool good = (kept->is_temporary || write_tail(kept, vmlinux)) && rename_both(kept);
	struct error *error = good ? NULL : error_system("%s", kept->vmlinux);
	if (!good) {
		kept_drop(kept, vmlinux, tiers);
		return error;
	}
	fclose(vmlinux);
	fclose(tiers);
	if (!kept->is_temporary)
		own_folder_prune(kept->folder, &limits, kept->name);
	return NULL;
}

void kept_drop(struct kept *kept, FILE *vmlinux, FILE *tiers)
{
	char name[KEPT_NAME_SIZE + sizeof(TIERS)];
	new_tiers_name(kept, name);
	fclose(vmlinux);
	fclose(tiers);
	(void)unlinkat(kept->folder, kept->new_name, 0);
	(void)unlinkat(kept->folder, name, 0);
}

struct error *kept_text(struct kept *kept, const char *name, const char *text, char **ret_path)
{
	char *path;
	if (asprintf(&path, "%s/%s", kept->place, name) < 0)
		return error_no_memory();
	FILE *file = choose_new_name(kept) ? create_file(kept, kept->new_name) : NULL;
	bool good = file && fputs(text, file) >= 0;
	good &= file && !fclose(file);
	if (!good || renameat(kept->folder, kept->new_name, kept->folder, name)) {
		struct error *error = error_system("%s", path);
		(void)unlinkat(kept->folder, kept->new_name, 0);
		free(path);
		return error;
	}
	*ret_path = path;
	return NULL;
}
