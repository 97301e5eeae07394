// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/mkdump.h"

#include "tests/mkdump_image.h"

#define WORDS_MAX 64

/* --- the description ------------------------------------------------------------------------ */

static uint64_t number(struct mkdump *mk, const char *word)
{
	char *end;
	uint64_t value = word ? strtoull(word, &end, 0) : 0;
	if (!word || !*word || *end)
		fail(mk, "a number is missing");
	return value;
}

static void parse_vmcoreinfo_at(struct mkdump *mk, struct region *region, const char *rest)
{
	struct buffer text = { 0 }, note = { 0 };
	for (const char *at = rest; *at; at++)
		put_bytes(mk, &text, text.size, *at == ';' ? "\n" : at, 1);
	add_note(mk, &note, "VMCOREINFO", 0, text.data, text.size);
	free(text.data);
	region->content = TEXT;
	region->text = (char *)note.data;
	region->text_size = note.size;
	region->size = (note.size + mk->page_size - 1) / mk->page_size * mk->page_size;
}

static struct region *new_region(struct mkdump *mk, const char *start, const char *size)
{
	if (mk->region_count == sizeof(mk->regions) / sizeof(mk->regions[0])) {
		fail(mk, "too many statements of memory");
		return NULL;
	}
	struct region *region = &mk->regions[mk->region_count++];
	region->start = number(mk, start);
	region->size = number(mk, size);
	region->compress = mk->compress;
	if (region->size > IMAGE_MAX)
		fail(mk, "memory of %s bytes is too large", size);
	return region;
}

static void parse_memory(struct mkdump *mk, char **words, const char *rest)
{
	struct region *region = new_region(mk, words[1], words[2]);
	const char *content = words[3] ? words[3] : "";
	if (!region)
		return;
	if (!strcmp(content, "fill")) {
		region->content = FILL;
		region->fill = (uint8_t)number(mk, words[4]);
	} else if (!strcmp(content, "pattern")) {
		region->content = PATTERN;
	} else if (!strcmp(content, "excluded")) {
		region->content = EXCLUDED;
	} else if (!strcmp(content, "text")) {
		region->content = TEXT;
		region->text = strdup(rest);
		region->text_size = strlen(rest);
	} else {
		fail(mk, "what is in the memory?");
	}
}

static void parse_note(struct mkdump *mk, char **words)
{
	size_t size = number(mk, words[3]);
	uint8_t byte = (uint8_t)number(mk, words[4]);
	uint8_t *data = size < IMAGE_MAX ? malloc(size + 1) : NULL;
	if (!data) {
		fail(mk, "a note of %zu bytes", size);
		return;
	}
	memset(data, byte, size);
	add_note(mk, &mk->notes, words[1], (uint32_t)number(mk, words[2]), data, size);
	free(data);
}

static void parse_compress(struct mkdump *mk, const char *name)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} names[] = { { "none", 0 },
		      { "zlib", FLAG_ZLIB },
		      { "lzo", FLAG_LZO },
		      { "snappy", FLAG_SNAPPY },
		      { "zstd", FLAG_ZSTD } };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (name && !strcmp(name, names[i].name)) {
			mk->compress = names[i].flag;
			return;
		}
	fail(mk, "which compression?");
}

static void parse_flattened(struct mkdump *mk, char **words)
{
	mk->flattened = true;
	mk->record_size = number(mk, words[1]);
	if (!mk->record_size)
		fail(mk, "records without bytes");
	for (char **word = words + 2; mk->record_size && *word; word++) {
		mk->reverse |= !strcmp(*word, "reverse");
		mk->rewrite |= !strcmp(*word, "rewrite");
		mk->gap |= !strcmp(*word, "gap");
		mk->endless |= !strcmp(*word, "endless");
	}
}

static void parse_poke(struct mkdump *mk, char **words)
{
	uint64_t offset = number(mk, words[1]);
	for (char **word = words + 2; *word; word++) {
		if (mk->poke_count == sizeof(mk->pokes) / sizeof(mk->pokes[0])) {
			fail(mk, "too many pokes");
			return;
		}
		mk->pokes[mk->poke_count++] = (struct poke){ offset++, (uint8_t)number(mk, *word) };
	}
}

static void parse_set(struct mkdump *mk, char **words)
{
	if (!words[1] || mk->override_count == sizeof(mk->overrides) / sizeof(mk->overrides[0])) {
		fail(mk, "cannot set this");
		return;
	}
	struct override *override = &mk->overrides[mk->override_count++];
	snprintf(override->name, sizeof(override->name), "%s", words[1]);
	override->value = number(mk, words[2]);
}

/* Statements about the file as a whole; false: not one of them. */
static bool parse_file(struct mkdump *mk, char **words)
{
	const char *word = words[0], *value = words[1] ? words[1] : "";
	if (!strcmp(word, "format"))
		mk->kdump = !strcmp(value, "kdump");
	else if (!strcmp(word, "bits"))
		mk->wide = strcmp(value, "32") != 0;
	else if (!strcmp(word, "endian"))
		mk->big = !strcmp(value, "big");
	else if (!strcmp(word, "machine"))
		snprintf(mk->machine, sizeof(mk->machine), "%s", value);
	else if (!strcmp(word, "page-size"))
		mk->page_size = number(mk, value);
	else if (!strcmp(word, "header-version"))
		mk->version = (int)number(mk, value);
	else if (!strcmp(word, "dump-level"))
		mk->dump_level = (int)number(mk, value);
	else if (!strcmp(word, "layout"))
		mk->qemu = !strcmp(value, "qemu");
	else if (!strcmp(word, "xnum"))
		mk->xnum = true;
	else if (!strcmp(word, "one-bitmap"))
		mk->one_bitmap = true;
	else if (!strcmp(word, "truncate"))
		mk->truncate = (int64_t)number(mk, value);
	else if (!strcmp(word, "truncate-percent"))
		mk->truncate_percent = (int)number(mk, value);
	else
		return false;
	return true;
}

/* `rests[i]` is the line from its i-th word on. */
static void parse_words(struct mkdump *mk, char **words, char *const *rests)
{
	const char *word = words[0];
	if (parse_file(mk, words))
		return;
	if (!strcmp(word, "memory")) {
		parse_memory(mk, words, words[3] && words[4] ? rests[4] : "");
	} else if (!strcmp(word, "vmcoreinfo-at")) {
		struct region *region = new_region(mk, words[1], "0");
		if (region)
			parse_vmcoreinfo_at(mk, region, words[1] && words[2] ? rests[2] : "");
	} else if (!strcmp(word, "vmcoreinfo") && words[1]) {
		put_bytes(mk, &mk->info, mk->info.size, rests[1], strlen(rests[1]));
		put_bytes(mk, &mk->info, mk->info.size, "\n", 1);
	} else if (!strcmp(word, "note") && words[1]) {
		parse_note(mk, words);
	} else if (!strcmp(word, "compress")) {
		parse_compress(mk, words[1]);
	} else if (!strcmp(word, "flattened")) {
		parse_flattened(mk, words);
	} else if (!strcmp(word, "split")) {
		mk->split = true;
		mk->split_first = number(mk, words[1]);
		mk->split_end = words[1] ? number(mk, words[2]) : 0;
	} else if (!strcmp(word, "set")) {
		parse_set(mk, words);
	} else if (!strcmp(word, "poke")) {
		parse_poke(mk, words);
	} else {
		fail(mk, "unknown statement \"%s\"", word);
	}
}

static void parse_line(struct mkdump *mk, const char *line, size_t length)
{
	char *copy = strndup(line, length), *whole = strndup(line, length), *next = NULL;
	char *words[WORDS_MAX + 1] = { 0 }, *rests[WORDS_MAX + 1] = { 0 };
	if (!copy || !whole) {
		fail(mk, "no memory");
	} else {
		char *comment = strchr(copy, '#');
		if (comment)
			whole[comment - copy] = *comment = 0;
		size_t count = 0;
		for (char *word = strtok_r(copy, " \t\r", &next); word && count < WORDS_MAX;
		     word = strtok_r(NULL, " \t\r", &next)) {
			rests[count] = whole + (word - copy);
			words[count++] = word;
		}
		if (count)
			parse_words(mk, words, rests);
	}
	free(copy);
	free(whole);
}

static void finish(struct mkdump *mk)
{
	if (mk->flattened && !mk->failed)
		flatten(mk);
	for (size_t i = 0; i < mk->poke_count; i++)
		put_bytes(mk, &mk->image, mk->pokes[i].offset, &mk->pokes[i].byte, 1);
	uint64_t size = mk->image.size;
	if (mk->truncate_percent)
		size = size * (uint64_t)mk->truncate_percent / 100;
	if (mk->truncate >= 0 && (uint64_t)mk->truncate < size)
		size = (uint64_t)mk->truncate;
	mk->image.size = size;
}

static void make(struct mkdump *mk, const char *text)
{
	for (const char *at = text; *at && !mk->failed;) {
		size_t length = strcspn(at, "\n");
		mk->line++;
		parse_line(mk, at, length);
		at += length + (at[length] == '\n');
	}
	if (!mk->failed && mk->page_size < 4096)
		fail(mk, "a page size below 4096");
	if (!mk->failed && mk->info.size)
		add_note(mk, &mk->notes, "VMCOREINFO", 0, mk->info.data, mk->info.size);
	if (!mk->failed && mk->kdump)
		make_kdump(mk);
	else if (!mk->failed)
		make_elf(mk);
	finish(mk);
}

bool mkdump_make(const char *text, uint8_t **ret, size_t *ret_size, char *message,
		 size_t message_size)
{
	struct mkdump *mk = calloc(1, sizeof(*mk));
	if (!mk || lzo_init() != LZO_E_OK) {
		snprintf(message, message_size, "no memory");
		free(mk);
		return false;
	}
	*mk = (struct mkdump){ .wide = true,
			       .machine = "x86_64",
			       .page_size = 4096,
			       .version = 6,
			       .dump_level = 31,
			       .truncate = -1,
			       .message = message,
			       .message_size = message_size };
	make(mk, text);
	bool made = !mk->failed;
	if (made) {
		*ret = mk->image.data;
		*ret_size = mk->image.size;
	} else {
		free(mk->image.data);
	}
	for (size_t i = 0; i < mk->region_count; i++)
		free(mk->regions[i].text);
	free(mk->notes.data);
	free(mk->info.data);
	free(mk);
	return made;
}

#ifndef MKDUMP_WITHOUT_MAIN
int main(int argc, char **argv)
{
	static char text[1 << 20];
	char message[256];
	uint8_t *data = NULL;
	size_t size = 0;
	FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
	if (!in) {
		fprintf(stderr, "usage: mkdump DESCRIPTION DUMP (the grammar: tests/mkdump.h)\n");
		return 2;
	}
	text[fread(text, 1, sizeof(text) - 1, in)] = 0;
	fclose(in);
	if (!mkdump_make(text, &data, &size, message, sizeof(message))) {
		fprintf(stderr, "%s: %s\n", argv[1], message);
		return 1;
	}
	FILE *out = fopen(argv[2], "w");
	bool written = out && fwrite(data, 1, size, out) == size;
	if (out && fclose(out))
		written = false;
	if (!written)
		perror(argv[2]);
	free(data);
	return written ? 0 : 1;
}
#endif
