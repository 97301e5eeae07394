// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

#include "base/ascii.h"
#include "base/bytes.h"
#include "debugger/command/task_space.h"
#include "debugger/eval/image.h"
#include "debugger/eval/value.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>

#define LINE_SIZE      16 /* bytes a line */
#define SIZE_MAX_BYTES (16u << 20)
#define TEXT_SIZE      4096 /* bytes at most that -a reads without a count */

enum {
	OPTION_8,
	OPTION_16,
	OPTION_32,
	OPTION_64,
	OPTION_SYMBOLS,
	OPTION_ASCII,
	OPTION_WORDS,
	OPTION_PHYSICAL,
	OPTION_USER,
	OPTION_TASK
};

struct reading {
	struct out *out;
	struct target *target;
	struct image image;
	uint64_t address;
	uint32_t width; /* of a word, bytes */
	bool symbols, ascii;
	bool characters; /* beside the words */
};

/* One word, as a symbol where -s finds one. */
static void show_word(const struct reading *reading, uint64_t offset)
{
	char text[SYMBOL_NAME_SIZE + 64];
	int places = (int)reading->width * 2;
	const struct error *missing = image_missing(&reading->image, offset, reading->width);
	out_text(reading->out, " ");
	out_pad(reading->out, reading->symbols ? -places : places);
	if (missing) {
		out_missing(reading->out, NULL, missing);
		return;
	}
	uint64_t word = load_unsigned(reading->image.data + offset, reading->width,
				      reading->image.big_endian);
	if (!reading->symbols || reading->width != reading->target->memory->word_size ||
	    !target_describe(reading->target, word, text, sizeof(text)))
		snprintf(text, sizeof(text), "%0*" PRIx64, places, word);
	out_address_as(reading->out, NULL, word, text);
}

static void show_words(const struct reading *reading, uint64_t start, uint64_t end)
{
	out_array_begin(reading->out, "words");
	uint64_t at = start;
	for (; at + reading->width <= end; at += reading->width)
		show_word(reading, at);
	out_array_end(reading->out);
	/* A short last line keeps its characters in their column. */
	for (; at < start + LINE_SIZE && reading->characters; at += reading->width)
		out_text(reading->out, "%*s", (int)reading->width * 2 + 1, "");
}

/* The bytes as characters: a point for what is none, a blank for what is missing. */
static void show_characters(const struct reading *reading, uint64_t start, uint64_t end)
{
	char text[LINE_SIZE + 1] = "";
	for (uint64_t at = start; at < end; at++) {
		uint8_t byte = reading->image.data[at];
		text[at - start] = image_missing(&reading->image, at, 1) ? ' '
				   : ascii_is_print((char)byte)		 ? (char)byte
									 : '.';
	}
	out_text(reading->out, reading->ascii ? "  " : "   ");
	/* A place for each byte. */
	out_quoted(reading->out, OUT_QUOTED_TEXT);
	out_string(reading->out, "text", text);
	out_quoted(reading->out, OUT_RAW);
}

static void show_line(const struct reading *reading, uint64_t start, uint64_t end)
{
	out_object_begin(reading->out, NULL);
	out_address(reading->out, "address", reading->address + start);
	out_text(reading->out, ": ");
	if (!reading->ascii)
		show_words(reading, start, end);
	if (reading->characters)
		show_characters(reading, start, end);
	out_object_end(reading->out);
	out_text(reading->out, "\n");
}

static uint32_t word_width(const struct arguments *arguments, const struct memory *memory)
{
	static const uint32_t widths[] = { 1, 2, 4, 8 };
	for (size_t i = OPTION_8; i <= OPTION_64; i++)
		if (arguments->options[i])
			return widths[i];
	return memory->word_size;
}

/* Text ends before its NUL, or where the dump has no more of it; one byte at least is read. */
static uint64_t text_size(const struct image *image)
{
	uint64_t size = 0;
	while (size < image->size && !image_missing(image, size, 1) && image->data[size])
		size++;
	return size ? size : 1;
}

/* How many words -a reads that was given no count. */
static struct error *find_text(const struct reading *reading, struct memory *memory, uint64_t *ret)
{
	struct image image;
	uint64_t left = UINT64_MAX - reading->address;
	uint64_t size = left < TEXT_SIZE ? left + 1 : TEXT_SIZE;
	TRY(image_read(memory, reading->address, size, &image));
	*ret = text_size(&image);
	image_deinit(&image);
	return NULL;
}

static struct error *parse_count(struct session *session, const struct arguments *arguments,
				 uint64_t *ret)
{
	struct value value;
	*ret = 1;
	if (arguments->operand_count < 2)
		return NULL;
	TRY(expression_value(&session->scope, arguments->operands[1], &value));
	TRY(value_u64(&value, ret));
	if (!*ret)
		return error_create(ERROR_USAGE, "nothing to read: the count is 0");
	return NULL;
}

static struct error *read_all(struct reading *reading, struct memory *memory, uint64_t count)
{
	uint64_t size;
	if (__builtin_mul_overflow(count, reading->width, &size) || size > SIZE_MAX_BYTES)
		return error_create(ERROR_USAGE, "more than %u MiB", SIZE_MAX_BYTES >> 20);
	if (reading->address + size - 1 < reading->address)
		return error_create(ERROR_USAGE, "it ends beyond the last address");
	return image_read(memory, reading->address, size, &reading->image);
}

static struct error *read_and_show(struct session *session, const struct arguments *arguments,
				   struct memory *memory)
{
	bool is_kernel = memory == session->target->memory;
	struct reading reading = { .out = session->out,
				   .target = session->target,
				   .symbols = arguments->options[OPTION_SYMBOLS] && is_kernel,
				   .ascii = arguments->options[OPTION_ASCII],
				   .width = word_width(arguments, memory) };
	uint64_t count;
	reading.characters = reading.ascii ||
			     (!reading.symbols && !arguments->options[OPTION_WORDS]);
	TRY(expression_address(&session->scope, arguments->operands[0], &reading.address));
	TRY(parse_count(session, arguments, &count));
	if (reading.ascii && arguments->operand_count < 2) {
		reading.width = 1;
		TRY(find_text(&reading, memory, &count));
	}
	TRY(read_all(&reading, memory, count));
	const struct error *missing = image_all_missing(&reading.image, 0, reading.image.size);
	struct error *error = NULL;
	if (missing)
		error = error_create_at(missing->kind, missing->address, "%s", missing->message);
	out_array_begin(session->out, NULL);
	for (uint64_t at = 0; !error && at < reading.image.size; at += LINE_SIZE) {
		uint64_t left = reading.image.size - at;
		show_line(&reading, at, at + (left < LINE_SIZE ? left : LINE_SIZE));
	}
	out_array_end(session->out);
	image_deinit(&reading.image);
	return error;
}

static struct error *read_user(struct session *session, const struct arguments *arguments)
{
	struct user_space *space;
	TRY(task_space_open(session, arguments->options[OPTION_TASK], &space));
	struct error *error = read_and_show(session, arguments, user_space_memory(space));
	user_space_close(space);
	return error;
}

extern const struct command command_rd;

static struct error *rd_run(struct session *session, const struct arguments *arguments)
{
	bool physical = arguments->options[OPTION_PHYSICAL], user = arguments->options[OPTION_USER];
	if (physical && user)
		return command_usage_error(&command_rd, "-p and -u are two memories");
	if (arguments->options[OPTION_TASK] && !user)
		return command_usage_error(&command_rd, "-c is of -u");
	if (user)
		return read_user(session, arguments);
	if (!physical)
		TRY(target_need_memory(session->target));
	return read_and_show(session, arguments,
			     physical ? session->target->physical : session->target->memory);
}

static const char *const examples[] = { "rd linux_banner 8", "rd -a linux_banner",
					"rd -s init_task 16", "rd -x init_task+0x10 2", NULL };

const struct command command_rd = {
	.name = "rd",
	.summary = "read memory as words and characters",
	.description =
		"Shows COUNT words (1 without it) from ADDRESS on, 16 bytes a line: a symbol, "
		"symbol+0x10, a hexadecimal number with or without 0x, or a C expression. Bytes "
		"that the dump does not have are shown as such in their places. With -a and no "
		"COUNT, text is read up to its end, a NUL.\n"
		"\n"
		"With -u, ADDRESS is one of a process: of the chosen task, or of TASK (-c). Its "
		"own "
		"page tables are followed; where they have nothing yet, a page of the mapped file "
		"that was in memory is read, or zeros where nothing was ever written. What was "
		"swapped out, or in its file alone, is not in memory and said to be so. A dump "
		"without user pages (makedumpfile -d 8) has almost none of this: <excluded>.",
	.options = { [OPTION_8] = { 0, "8", NULL, 0, "words of 8 bits" },
		     [OPTION_16] = { 0, "16", NULL, 0, "words of 16 bits" },
		     [OPTION_32] = { 0, "32", NULL, 0, "words of 32 bits" },
		     [OPTION_64] = { 0, "64", NULL, 0, "words of 64 bits" },
		     [OPTION_SYMBOLS] = { 's', NULL, NULL, 0,
					  "show words that are addresses of symbols by name" },
		     [OPTION_ASCII] = { 'a', NULL, NULL, 0, "characters only" },
		     [OPTION_WORDS] = { 'x', NULL, NULL, 0, "words only" },
		     [OPTION_PHYSICAL] = { 'p', NULL, NULL, 0, "ADDRESS is a physical address" },
		     [OPTION_USER] = { 'u', NULL, NULL, 0, "ADDRESS is one of a process" },
		     [OPTION_TASK] = { 'c', NULL, "TASK", OPERAND_TASK, "with -u, of this task" } },
	.operands = { { .name = "ADDRESS", .kind = OPERAND_ADDRESS },
		      { .name = "COUNT", .kind = OPERAND_NUMBER, .optional = true } },
	.examples = examples,
	.per_task = true,
	.run = rd_run,
};
