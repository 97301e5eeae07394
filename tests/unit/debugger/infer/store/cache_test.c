// SPDX-License-Identifier: GPL-3.0-or-later
/* The cache of results: what was kept comes back, and nothing that is wrong is believed. */
#include "tests/unit/eval_fixture.h"

#include "debugger/infer/store/cache.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct kept {
	struct fixture *fixture;
	struct target *target;
	struct cache_key key;
	struct subjects subjects;
	struct answer *answers, *found;
	uint8_t identity[40];
	struct cache_dump dump;
	struct cache_place place;
	char home[64], folder[128], path[512];
};

static size_t number_of(const struct kept *kept, const char *name)
{
	for (size_t i = 0; i < kept->subjects.count; i++) {
		struct symbol symbol;
		symtab_get(kept->target->symbols, kept->subjects.items[i].symbol, &symbol);
		if (!strcmp(symbol.name, name))
			return i;
	}
	abort();
}

static void set_answer(struct kept *kept, const char *name, const char *type, uint32_t count)
{
	struct answer *answer = &kept->answers[number_of(kept, name)];
	*answer = (struct answer){ .confidence = CONFIDENCE_INFERRED,
				   .score = -12,
				   .margin = 7,
				   .sources = 5,
				   .count = count,
				   .row = 1,
				   .count_is_proved = count == 4 };
	CHECK_OK(declare_parse_type(kept->target, NULL, type, NULL, &answer->spelled));
}

/* The only file in the folder. */
static void find_path(struct kept *kept)
{
	struct dirent *entry;
	DIR *listing = opendir(kept->folder);
	while (listing && (entry = readdir(listing)))
		if (entry->d_name[0] != '.')
			snprintf(kept->path, sizeof(kept->path), "%s/%s", kept->folder,
				 entry->d_name);
	CHECK(listing && *kept->path);
	if (listing)
		closedir(listing);
}

static struct kept *create(void)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	if (!kept)
		abort();
	kept->fixture = fixture_create("");
	kept->target = &kept->fixture->target;
	snprintf(kept->home, sizeof(kept->home), "/tmp/btfcrash-cache-XXXXXX");
	CHECK(mkdtemp(kept->home));
	setenv("XDG_CACHE_HOME", kept->home, 1);
	cache_key_init(&kept->key);
	cache_key_add(&kept->key, "this", 4);
	CHECK_OK(subjects_init(&kept->subjects, kept->target));
	kept->answers = calloc(kept->subjects.count, sizeof(*kept->answers));
	kept->found = calloc(kept->subjects.count, sizeof(*kept->found));
	if (!kept->answers || !kept->found)
		abort();
	set_answer(kept, "thing", "struct thing", 0);
	set_answer(kept, "untyped", "unsigned int", 4);
	/* Made in the scratch level: kept as text. */
	set_answer(kept, "pointer", "struct thing *const", 0);
	set_answer(kept, "matrix", "int [3]", 6);
	kept->answers[number_of(kept, "matrix")].row = 3;
	snprintf(kept->folder, sizeof(kept->folder), "%s/btfcrash", kept->home);
	kept->dump = (struct cache_dump){ kept->identity, sizeof(kept->identity) };
	kept->place =
		(struct cache_place){ .folder = cache_folder_open(true), .dump = &kept->dump };
	CHECK(kept->place.folder >= 0);
	kept->target->cache_place = &kept->place;
	cache_keep(kept->target, &kept->key, &kept->subjects, kept->answers);
	find_path(kept);
	return kept;
}

static void remove_all(const char *folder)
{
	char path[600];
	struct dirent *entry;
	DIR *listing = opendir(folder);
	while (listing && (entry = readdir(listing))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
		rmdir(path);
	}
	if (listing)
		closedir(listing);
	rmdir(folder);
}

static void destroy(struct kept *kept)
{
	close(kept->place.folder);
	remove_all(kept->folder);
	rmdir(kept->home);
	subjects_deinit(&kept->subjects);
	free(kept->answers);
	free(kept->found);
	fixture_destroy(kept->fixture);
	free(kept);
}

/* What the file at hand gives; false: no cache, or one that is not believed. */
static bool take_all(struct kept *kept)
{
	struct cache *cache = cache_open(kept->target, &kept->key);
	bool good = cache && cache_take_all(cache, &kept->subjects, kept->found);
	cache_close(cache);
	return good;
}

static bool find(struct kept *kept, const char *name, struct answer *ret)
{
	const struct subject *subject = &kept->subjects.items[number_of(kept, name)];
	struct symbol symbol;
	struct cache *cache = cache_open(kept->target, &kept->key);
	symtab_get(kept->target->symbols, subject->symbol, &symbol);
	bool good = cache && cache_find(cache, subject, &symbol, ret);
	cache_close(cache);
	return good;
}

static void test_round_trip(void)
{
	struct kept *kept = create();
	struct stat status;
	struct answer answer;
	CHECK(!stat(kept->path, &status));
	CHECK_U64(status.st_mode & 0777, 0600);
	CHECK(kept->subjects.count > 6);
	CHECK(take_all(kept));
	for (size_t i = 0; i < kept->subjects.count; i++) {
		const struct answer *a = &kept->answers[i], *b = &kept->found[i];
		CHECK_U64(b->confidence, a->confidence);
		CHECK_U64(b->count, a->count);
		CHECK_U64(b->score, a->score);
		CHECK_U64(b->margin, a->margin);
		CHECK_U64(b->sources, a->sources);
		CHECK_U64(b->count_is_proved, a->count_is_proved);
		CHECK(a->spelled.btf ? type_equal(a->spelled, b->spelled) : !b->spelled.btf);
	}
	CHECK(find(kept, "untyped", &answer));
	CHECK_U64(answer.count, 4);
	CHECK(find(kept, "halves", &answer));
	CHECK_U64(answer.confidence, CONFIDENCE_UNKNOWN);
	destroy(kept);
}

static void test_other_key(void)
{
	struct kept *kept = create();
	struct cache_key other = kept->key;
	char path[512];
	memcpy(path, kept->path, sizeof(path));
	cache_key_add(&other, "", 0);
	CHECK(memcmp(&other, &kept->key, sizeof(other)));
	CHECK(!cache_open(kept->target, &other));
	/* Also where the file was renamed: the key is in it. */
	cache_keep(kept->target, &other, &kept->subjects, kept->answers);
	CHECK(!unlink(kept->path));
	find_path(kept);
	CHECK(strcmp(kept->path, path));
	CHECK(!rename(kept->path, path));
	CHECK(!take_all(kept));
	CHECK(!cache_open(kept->target, &other));
	destroy(kept);
}

/* Another dump under the same key, be it that its file has this one's name. */
static void test_other_dump(void)
{
	struct kept *kept = create();
	char path[512];
	memcpy(path, kept->path, sizeof(path));
	for (size_t i = 0; i < sizeof(kept->identity); i++) {
		kept->identity[i] ^= 1;
		CHECK(!take_all(kept));
		kept->identity[i] ^= 1;
	}
	CHECK(take_all(kept));
	kept->identity[0] ^= 1;
	cache_keep(kept->target, &kept->key, &kept->subjects, kept->answers);
	CHECK(!unlink(path));
	find_path(kept);
	CHECK(take_all(kept));
	CHECK(!rename(kept->path, path));
	kept->identity[0] ^= 1;
	CHECK(!take_all(kept));
	kept->dump.size--;
	CHECK(!take_all(kept));
	destroy(kept);
}

static void touch(const char *path, const char *bytes)
{
	FILE *file = fopen(path, "w");
	CHECK(file && fputs(bytes, file) >= 0);
	if (file)
		fclose(file);
}

/* Whatever is done to a file, and by whomever, makes it another one; so does a copy. */
static void test_identity(void)
{
	struct kept *kept = create();
	struct cache_dump now, before;
	char dump[200], folder[200];
	const char *const paths[] = { dump, dump }, *const odd[] = { folder, "/dev/zero" };
	snprintf(dump, sizeof(dump), "%s/dump", kept->folder);
	snprintf(folder, sizeof(folder), "%s", kept->folder);
	/* Its next change might not be seen: a moment, which a busy machine may sleep through. */
	bool is_taken = true;
	for (unsigned int i = 0; is_taken && i < 100; i++) {
		touch(dump, "a dump");
		is_taken = cache_dump_init(&before, paths, 1);
		cache_dump_deinit(&before);
	}
	CHECK(!is_taken);
	usleep(100000);
	CHECK(cache_dump_init(&before, paths, 1));
	CHECK(cache_dump_init(&now, paths, 1));
	CHECK(cache_dump_equal(&before, &now));
	cache_dump_deinit(&now);
	CHECK(cache_dump_init(&now, paths, 2));
	CHECK(!cache_dump_equal(&before, &now));
	cache_dump_deinit(&now);
	struct stat status;
	CHECK(!stat(dump, &status));
	touch(dump, "a bump");
	/* Who puts the time back does not put this one back. */
	const struct timespec times[] = { status.st_atim, status.st_mtim };
	CHECK(!utimensat(AT_FDCWD, dump, times, 0));
	usleep(100000);
	CHECK(cache_dump_init(&now, paths, 1));
	CHECK(!cache_dump_equal(&before, &now));
	cache_dump_deinit(&now);
	cache_dump_deinit(&before);
	CHECK(!cache_dump_init(&now, odd, 1));
	CHECK(!cache_dump_init(&now, odd + 1, 1));
	CHECK(!cache_dump_init(&now, odd, 0));
	destroy(kept);
}

static void test_other_bytes(void)
{
	struct kept *kept = create();
	struct answer answer;
	kept->fixture->contents->thing.number++;
	CHECK(!take_all(kept));
	CHECK(!find(kept, "thing", &answer));
	CHECK(find(kept, "untyped", &answer));
	destroy(kept);
}

static void test_other_modules(void)
{
	struct kept *kept = create();
	struct module module = { .name = "one", .base = 0xffffffffc0000000, .size = PAGE };
	kept->target->modules = &module;
	kept->target->module_count = 1;
	CHECK(!take_all(kept));
	cache_keep(kept->target, &kept->key, &kept->subjects, kept->answers);
	CHECK(take_all(kept));
	module.base += PAGE;
	CHECK(!take_all(kept));
	kept->target->modules = NULL;
	kept->target->module_count = 0;
	CHECK(!take_all(kept));
	destroy(kept);
}

/* --- damage ------------------------------------------------------------------------------ */

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	static uint8_t buffer[65536];
	FILE *file = fopen(path, "rb");
	*ret_size = file ? fread(buffer, 1, sizeof(buffer), file) : 0;
	if (file)
		fclose(file);
	CHECK(*ret_size > 40 && *ret_size < sizeof(buffer));
	return buffer;
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "wb");
	CHECK(file && fwrite(data, 1, size, file) == size);
	if (file)
		fclose(file);
}

static void test_damaged_file(void)
{
	struct kept *kept = create();
	size_t size;
	uint8_t *data = read_file(kept->path, &size);
	for (size_t i = 0; i < size; i++) {
		for (int bit = 1; bit < 256; bit = bit * 16 + 15) {
			data[i] ^= (uint8_t)bit;
			write_file(kept->path, data, size);
			CHECK(!cache_open(kept->target, &kept->key));
			data[i] ^= (uint8_t)bit;
		}
		write_file(kept->path, data, i);
		CHECK(!cache_open(kept->target, &kept->key));
	}
	write_file(kept->path, data, size);
	CHECK(take_all(kept));
	data[size] = 0;
	write_file(kept->path, data, size + 1);
	CHECK(!cache_open(kept->target, &kept->key));
	/* The next whole pass writes it anew. */
	cache_keep(kept->target, &kept->key, &kept->subjects, kept->answers);
	CHECK(take_all(kept));
	destroy(kept);
}

/* Is every answer one that may be shown? */
static void check_answers(struct kept *kept)
{
	for (size_t i = 0; i < kept->subjects.count; i++) {
		const struct answer *answer = &kept->found[i];
		uint64_t size = 0;
		CHECK(answer->confidence <= CONFIDENCE_CERTAIN);
		if (answer->confidence == CONFIDENCE_UNKNOWN)
			continue;
		CHECK(answer->row && type_size(answer->spelled, &size));
		CHECK(size * (answer->count ? answer->count / answer->row : 1) <=
		      kept->subjects.items[i].room);
	}
}

/* Bytes that somebody wrote on purpose, with a right checksum. */
static void test_forged_rows(void)
{
	struct kept *kept = create();
	size_t size;
	uint8_t *data =
		cache_file_read(cache_file_find(&kept->place, &kept->key), &kept->key, &size);
	uint64_t state = 1;
	struct answer answer;
	CHECK(data != NULL);
	for (size_t i = 0; data && i < size; i++) {
		for (int turn = 0; turn < 4; turn++) {
			uint8_t before = data[i];
			data[i] = turn ? (uint8_t)next_random(&state) : (uint8_t)~before;
			CHECK(cache_file_write(&kept->place, &kept->key, data, size));
			if (take_all(kept))
				check_answers(kept);
			(void)find(kept, "thing", &answer);
			(void)find(kept, "pointer", &answer);
			data[i] = before;
		}
		if (i && i % 16 == 0) {
			CHECK(cache_file_write(&kept->place, &kept->key, data, i));
			CHECK(!take_all(kept));
		}
	}
	free(data);
	destroy(kept);
}

/* A file with one type and the rows of all symbols, of which only `thing` has it. */
static void forge(struct kept *kept, const struct cache_type *type)
{
	struct cache_rows rows;
	struct cache_row row;
	struct cache_writer writer = { 0 };
	size_t size = 0;
	uint8_t *before =
		cache_file_read(cache_file_find(&kept->place, &kept->key), &kept->key, &size);
	CHECK(before && cache_rows_open(&rows, before, size));
	cache_write_type(&writer, type);
	for (uint32_t i = 0; i < rows.row_count; i++) {
		CHECK(cache_rows_row(&rows, i, &row));
		row.type = CACHE_NO_TYPE;
		row.confidence = CONFIDENCE_UNKNOWN;
		row.count = 0;
		if (i == number_of(kept, "thing")) {
			row.type = 0;
			row.confidence = CONFIDENCE_CERTAIN;
			row.row = 1;
		}
		cache_write_row(&writer, &row);
	}
	cache_rows_close(&rows);
	uint8_t *data = cache_writer_finish(&writer, &size);
	CHECK(data && cache_file_write(&kept->place, &kept->key, data, size));
	free(data);
	cache_writer_deinit(&writer);
}

static void test_forged_types(void)
{
	struct kept *kept = create();
	const struct cache_type right = { .id = (uint32_t)kept->fixture->ids.thing,
					  .kind = BTF_STRUCT,
					  .size = sizeof(struct thing),
					  .text = "thing" };
	struct cache_type wrong = right;
	forge(kept, &right);
	CHECK(take_all(kept));
	wrong.id = (uint32_t)kept->fixture->ids.point;
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	wrong = right;
	wrong.id = btf_end_id(kept->target->btf);
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	wrong = right;
	wrong.size++;
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	wrong = right;
	wrong.text = "thinx";
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	wrong = right;
	wrong.kind = BTF_UNION;
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	wrong = right;
	wrong.view = 1;
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	wrong = (struct cache_type){ .size = 8, .text = "struct thing *" };
	forge(kept, &wrong);
	CHECK(take_all(kept));
	wrong.text = "struct nothing *)(";
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	/* Larger than the symbol's room. */
	wrong = (struct cache_type){ .size = sizeof(struct thing) * 1000,
				     .text = "struct thing [1000]" };
	forge(kept, &wrong);
	CHECK(!take_all(kept));
	destroy(kept);
}

/* --- places ------------------------------------------------------------------------------ */

static bool has_folder(bool create)
{
	int folder = cache_folder_open(create);
	if (folder >= 0)
		close(folder);
	return folder >= 0;
}

static void test_folders(void)
{
	struct kept *kept = create();
	char inner[200];
	snprintf(inner, sizeof(inner), "%s/.cache", kept->home);
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", kept->home, 1);
	CHECK(!has_folder(false));
	CHECK(has_folder(true));
	CHECK(has_folder(false));
	/* Others may write there. */
	CHECK(!chmod(inner, 0770));
	CHECK(!has_folder(true));
	CHECK(!chmod(inner, 0702));
	CHECK(!has_folder(true));
	CHECK(!chmod(inner, 0755));
	CHECK(has_folder(false));
	CHECK(!chmod(kept->home, 0777));
	CHECK(!has_folder(false));
	CHECK(!chmod(kept->home, 0700));
	/* Another's, as with sudo and his HOME. */
	if (!geteuid()) {
		CHECK(!chown(inner, 12345, 12345));
		CHECK(!has_folder(true));
		CHECK(!chown(inner, 0, 0));
	}
	remove_all(inner);
	CHECK(!symlink(kept->folder, inner));
	CHECK(!has_folder(true));
	CHECK(!unlink(inner));
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	CHECK(!has_folder(true));
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	CHECK(!has_folder(true));
	kept->target->cache_place = NULL;
	cache_keep(kept->target, &kept->key, &kept->subjects, kept->answers);
	CHECK(!cache_open(kept->target, &kept->key));
	destroy(kept);
}

static void test_odd_files(void)
{
	struct kept *kept = create();
	char aside[600];
	snprintf(aside, sizeof(aside), "%s.aside", kept->path);
	CHECK(!rename(kept->path, aside));
	CHECK(!symlink(aside, kept->path));
	CHECK(!take_all(kept));
	CHECK(!unlink(kept->path));
	CHECK(!mkfifo(kept->path, 0600));
	CHECK(!take_all(kept));
	CHECK(!unlink(kept->path));
	CHECK(!mkdir(kept->path, 0700));
	CHECK(!take_all(kept));
	cache_keep(kept->target, &kept->key, &kept->subjects, kept->answers);
	CHECK(!take_all(kept));
	CHECK(!rmdir(kept->path));
	CHECK(!rename(aside, kept->path));
	CHECK(take_all(kept));
	destroy(kept);
}

static size_t count_files(const char *folder)
{
	size_t count = 0;
	struct dirent *entry;
	DIR *listing = opendir(folder);
	while (listing && (entry = readdir(listing)))
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	if (listing)
		closedir(listing);
	return count;
}

static void test_many_files(void)
{
	struct kept *kept = create();
	struct cache_key key = kept->key;
	for (int i = 0; i < 100; i++) {
		cache_key_add(&key, &i, sizeof(i));
		CHECK(cache_file_write(&kept->place, &key, "bytes", 5));
	}
	CHECK_U64(count_files(kept->folder), 32);
	destroy(kept);
}

/* What another process writes stays, and goes once nobody can still be writing it. */
static void test_abandoned(void)
{
	static const char *const names[] = { ".new-0123456789abcdef.types", ".new-0.types" };
	static const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct kept *kept = create();
	struct cache_key key = kept->key;
	char paths[2][256];
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", kept->folder, names[i]);
		FILE *file = fopen(paths[i], "w");
		CHECK(file && !fclose(file));
	}
	CHECK(!utimensat(AT_FDCWD, paths[1], old, 0));
	for (int i = 0; i < 40; i++) {
		cache_key_add(&key, &i, sizeof(i));
		CHECK(cache_file_write(&kept->place, &key, "bytes", 5));
	}
	CHECK(!access(paths[0], F_OK));
	CHECK(access(paths[1], F_OK));
	CHECK_U64(count_files(kept->folder), 32);
	destroy(kept);
}

/* --- the key ----------------------------------------------------------------------------- */

static struct cache_key key_now(struct kept *kept, const struct infer_options *options)
{
	struct cache_key key;
	CHECK(cache_key_of(kept->target, options, &key));
	return key;
}

static bool differ(struct cache_key a, struct cache_key b)
{
	return memcmp(&a, &b, sizeof(a)) != 0;
}

static void test_key(void)
{
	static const char text[] = "OSRELEASE=6.1\nBUILD-ID=1234\n";
	static const char other[] = "OSRELEASE=6.1\nBUILD-ID=1235\n";
	struct kept *kept = create();
	struct vmcoreinfo *info, *other_info;
	struct infer_options options = { .no_hints = false }, without = { .no_hints = true };
	struct cache_key key;
	uint8_t types[20] = { 1, 2, 3 };
	CHECK(!cache_key_of(kept->target, &options, &key));
	CHECK_OK(vmcoreinfo_parse(text, sizeof(text) - 1, &info));
	CHECK_OK(vmcoreinfo_parse(other, sizeof(other) - 1, &other_info));
	kept->target->vmcoreinfo = info;
	CHECK(!cache_key_of(kept->target, &options, &key));
	kept->target->btf_data = types;
	kept->target->btf_size = sizeof(types);
	key = key_now(kept, &options);
	CHECK(!differ(key, key_now(kept, &options)));
	CHECK(differ(key, key_now(kept, &without)));
	kept->target->vmcoreinfo = other_info;
	CHECK(differ(key, key_now(kept, &options)));
	kept->target->vmcoreinfo = info;
	kept->fixture->facts.file_size++;
	CHECK(differ(key, key_now(kept, &options)));
	kept->fixture->facts.file_size--;
	kept->fixture->facts.crash_time++;
	CHECK(differ(key, key_now(kept, &options)));
	kept->fixture->facts.crash_time--;
	types[19] = 1;
	CHECK(differ(key, key_now(kept, &options)));
	types[19] = 0;
	CHECK(!differ(key, key_now(kept, &options)));
	kept->target->btf_data = NULL;
	kept->target->vmcoreinfo = NULL;
	vmcoreinfo_free(info);
	vmcoreinfo_free(other_info);
	destroy(kept);
}

int main(void)
{
	RUN(test_round_trip);
	RUN(test_other_key);
	RUN(test_other_dump);
	RUN(test_identity);
	RUN(test_other_bytes);
	RUN(test_other_modules);
	RUN(test_damaged_file);
	RUN(test_forged_rows);
	RUN(test_forged_types);
	RUN(test_folders);
	RUN(test_odd_files);
	RUN(test_many_files);
	RUN(test_abandoned);
	RUN(test_key);
	return test_finish();
}
