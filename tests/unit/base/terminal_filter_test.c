// SPDX-License-Identifier: GPL-3.0-or-later
/* What may reach a terminal: our colours, text, newlines and tabs, however the bytes are cut. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/terminal_filter.h"
#include "tests/unit/chance.h"
#include <stdbool.h>

#define BYTES_MAX 64
#define ROOM	  TERMINAL_FILTER_ROOM(BYTES_MAX)
#define ROUNDS	  200000

struct shown {
	char text[4 * ROOM];
	size_t size;
};

static void pass(struct terminal_filter *filter, const char *bytes, size_t size,
		 struct shown *shown)
{
	/* Of their very size: what is read or written beyond is seen under sanitizers. */
	char *part = malloc(size ? size : 1), *room = malloc(TERMINAL_FILTER_ROOM(size));
	memcpy(part, bytes, size);
	size_t length = terminal_filter_pass(filter, part, size, room);
	CHECK(length <= TERMINAL_FILTER_ROOM(size) && filter->held_size < TERMINAL_FILTER_LONGEST);
	memcpy(shown->text + shown->size, room, length);
	shown->size += length;
	free(part);
	free(room);
}

static void end(struct terminal_filter *filter, struct shown *shown)
{
	char room[TERMINAL_FILTER_ROOM(0)];
	size_t length = terminal_filter_end(filter, room);
	CHECK(length <= sizeof(room) && !filter->held_size && !filter->is_styled);
	memcpy(shown->text + shown->size, room, length);
	shown->size += length;
	shown->text[shown->size] = 0;
}

static void show(const char *bytes, size_t size, struct shown *ret)
{
	struct terminal_filter filter = { 0 };
	ret->size = 0;
	pass(&filter, bytes, size, ret);
	end(&filter, ret);
}

static bool same(const struct shown *a, const struct shown *b)
{
	return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

/* In two parts at each place, and byte by byte: nothing else comes of it. */
static void check_splits(const char *bytes, size_t size, const struct shown *whole)
{
	for (size_t cut = 0; cut <= size + 1; cut++) {
		struct terminal_filter filter = { 0 };
		struct shown shown = { .size = 0 };
		for (size_t at = 0; cut > size && at < size; at++)
			pass(&filter, bytes + at, 1, &shown);
		if (cut <= size) {
			pass(&filter, bytes, cut, &shown);
			pass(&filter, bytes + cut, size - cut, &shown);
		}
		end(&filter, &shown);
		CHECK(same(&shown, whole));
	}
}

static void check_shown(const char *bytes, size_t size, const char *wanted)
{
	struct shown shown;
	show(bytes, size, &shown);
	CHECK_STRING(shown.text, wanted);
	check_splits(bytes, size, &shown);
}

/* --- by hand -----------------------------------------------------------------------------------
 */

static void test_each_byte(void)
{
	for (int byte = 0; byte < 256; byte++) {
		char bytes[3] = { 'a', (char)byte, 'b' }, wanted[16];
		bool plain = (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t';
		snprintf(wanted, sizeof(wanted), plain ? "a%cb" : "a\\x%02xb", byte);
		check_shown(bytes, 3, wanted);
		snprintf(wanted, sizeof(wanted), plain ? "%c" : "\\x%02x", byte);
		check_shown(bytes + 1, 1, wanted);
	}
}

static void test_our_colours(void)
{
	static const char *const codes[] = { "0", "1", "2", "31", "33" };
	for (size_t i = 0; i < ARRAY_COUNT(codes); i++) {
		char text[64], wanted[64];
		snprintf(text, sizeof(text), "a\x1b[%smb", codes[i]);
		/* One that is left on ends where the bytes do. */
		snprintf(wanted, sizeof(wanted), "%s%s", text, i ? "\x1b[0m" : "");
		check_shown(text, strlen(text), wanted);
		snprintf(text, sizeof(text), "\x1b[1m\x1b[%smb\x1b[0m\n", codes[i]);
		check_shown(text, strlen(text), text);
	}
}

/* One of each class of what a terminal obeys, and what is nearly ours. Shown: ESC as "\x1b". */
static const char *const sequences[] = {
	/* CSI: cursor, erasing, modes, reports, window, scrolling region, the mouse, paste */
	"\x1b[2J", "\x1b[H", "\x1b[1;1H", "\x1b[A", "\x1b[K", "\x1b[?25l", "\x1b[?1049h",
	"\x1b[?1000h", "\x1b[?2004h", "\x1b[6n", "\x1b[c", "\x1b[>c", "\x1b[21t", "\x1b[1;5r",
	"\x1b[!p", "\x1b[4h", "\x1b[5i", "\x1b[2;2$p", "\x1b[1 q",
	/* OSC: title, links, the clipboard, colours; DCS, APC, PM, SOS and their end */
	"\x1b]0;x\x07", "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\", "\x1b]52;c;eA==\x07",
	"\x1b]4;1;?\x1b\\", "\x1bP$qm\x1b\\", "\x1bP1000p", "\x1b_Gx\x1b\\", "\x1b^x\x1b\\",
	"\x1bXx\x1b\\", "\x1bkx\x1b\\",
	/* charsets and shifts, keypads, saved cursors, resets, alignment, lines up */
	"\x1b(0", "\x1b)B", "\x1b%G", "\x1bn", "\x1bo", "\x1b|", "\x1bN", "\x1bO", "\x1b=", "\x1b>",
	"\x1b"
	"7",
	"\x1b"
	"8",
	"\x1b"
	"c",
	"\x1b#8", "\x1bM",
	"\x1b"
	"D",
	"\x1b"
	"E",
	"\x1bH", "\x1bZ",
	/* SGR beyond ours, private and with more than one number */
	"\x1b[m", "\x1b[7m", "\x1b[8m", "\x1b[5m", "\x1b[3m", "\x1b[4m", "\x1b[22m", "\x1b[30m",
	"\x1b[32m", "\x1b[34m", "\x1b[40m", "\x1b[331m", "\x1b[311m", "\x1b[00m", "\x1b[01m",
	"\x1b[1;31m", "\x1b[0;8m", "\x1b[31;8m", "\x1b[38;5;1m", "\x1b[38:2::1:2:3m", "\x1b[>4;2m",
	"\x1b[?4m", "\x1b[1 m", "\x1b[1:m", "\x1b[ 1m", "\x1b[+1m", "\x1b[1M", "\x1b[31n",
	"\x1b[33",
	/* cut and nested */
	"\x1b", "\x1b[", "\x1b[3", "\x1b\x1b", "\x1b\x1b[2J", "\x1b[3\x1b[2J", "\x1b[\x1b]0;\x07"
};

/* Where ESC begins no colour: shown, as are the other controls. */
static void test_sequences(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(sequences); i++) {
		char wanted[256] = "";
		for (const char *at = sequences[i]; *at; at++) {
			bool plain = *at >= 0x20 && *at < 0x7f;
			snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted),
				 plain ? "%c" : "\\x%02x", (unsigned char)*at);
		}
		check_shown(sequences[i], strlen(sequences[i]), wanted);
	}
	/* A control within a sequence is obeyed by terminals; ours has none. */
	check_shown("\x1b[3\b1m", 6, "\\x1b[3\\x081m");
	check_shown("\x1b[3\n1m", 6, "\\x1b[3\n1m");
	check_shown("\x1b\0[31m", 6, "\\x1b\\x00[31m");
	check_shown("\x1b\x1b[31mx\x1b[0m", 11, "\\x1b\x1b[31mx\x1b[0m");
}

static void test_characters(void)
{
	static const struct {
		const char *bytes, *wanted;
	} cases[] = { { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
			"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		      /* C1: as one byte and as a character */
		      { "\x9b"
			"2J\x9d\x90\x9f",
			"\\x9b2J\\x9d\\x90\\x9f" },
		      { "\xc2\x9b"
			"2J",
			"\\u{9b}2J" },
		      { "\xc2\x85\xc2\x80", "\\u{85}\\u{80}" },
		      /* from right to left, isolates, marks, of no width, a byte order mark */
		      { "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c",
			"\\u{202e}\\u{2066}\\u{200f}\\u{61c}" },
		      { "\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf\xc2\xad",
			"\\u{200b}\\u{200d}\\u{feff}\\u{ad}" },
		      { "\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}" },
		      /* overlong, surrogates, beyond Unicode, no such lead */
		      { "\xc0\x9b\xc1\xbf", "\\xc0\\x9b\\xc1\\xbf" },
		      { "\xe0\x80\x9b\xf0\x80\x80\x9b", "\\xe0\\x80\\x9b\\xf0\\x80\\x80\\x9b" },
		      { "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		      { "\xf4\x90\x80\x80\xf5\xff\xfe", "\\xf4\\x90\\x80\\x80\\xf5\\xff\\xfe" },
		      /* cut, by an end, by text, by a colour, by another character */
		      { "\xe2\x82", "\\xe2\\x82" },
		      { "\xf0\x9f\x98", "\\xf0\\x9f\\x98" },
		      { "\xe2\x82z", "\\xe2\\x82z" },
		      { "\xf0\x9f\x1b[0m", "\\xf0\\x9f\x1b[0m" },
		      { "\xe2\xc3\xa9", "\\xe2\xc3\xa9" },
		      { "\xe2\x1b[2J", "\\xe2\\x1b[2J" },
		      /* A backslash is not ours to double. */
		      { "\\x1b\\n\\", "\\x1b\\n\\" } };
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		check_shown(cases[i].bytes, strlen(cases[i].bytes), cases[i].wanted);
}

/* Before a prompt, half of something is nothing, and what follows does not make it whole. */
static void test_end_between(void)
{
	struct terminal_filter filter = { 0 };
	struct shown shown = { .size = 0 };
	pass(&filter, "\x1b[33mx\x1b[3", 9, &shown);
	end(&filter, &shown);
	pass(&filter, "1m\xe2", 3, &shown);
	end(&filter, &shown);
	pass(&filter, "\x80\xae", 2, &shown);
	end(&filter, &shown);
	end(&filter, &shown);
	CHECK_STRING(shown.text, "\x1b[33mx\\x1b[3\x1b[0m1m\\xe2\\x80\\xae");
}

/* --- at random ----------------------------------------------------------------------------------
 */

/* Length of what may stand in the output at `text`; 0: it may not. */
static size_t allowed_length(const char *text, size_t size)
{
	static const char *const styles[] = { "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m",
					      "\x1b[33m" };
	for (size_t i = 0; i < ARRAY_COUNT(styles); i++)
		if (size >= strlen(styles[i]) && !memcmp(text, styles[i], strlen(styles[i])))
			return strlen(styles[i]);
	/* Which characters those are is base/escape.h's, whose test has it by other means. */
	return *text == '\n' || *text == '\t' ? 1 : escape_printable(text, size);
}

/* Pieces of what is ours and of what is not, put together. */
static size_t random_bytes(uint64_t *state, char bytes[BYTES_MAX])
{
	static const char *const pieces[] = { "\x1b[31m",
					      "\x1b[0m",
					      "\x1b[33m",
					      "\x1b[1m",
					      "\x1b[2m",
					      "\x1b[",
					      "\x1b",
					      "[3",
					      "1m",
					      "m",
					      "3",
					      ";",
					      "\xc3\xa9",
					      "\xe2\x82\xac",
					      "\xf0\x9f\x98\x80",
					      "\xe2\x80\xae",
					      "\xc2\x9b",
					      "\xe2\x82",
					      "\xf0\x9f",
					      "\x80",
					      "a",
					      "\n",
					      "\t",
					      "\r",
					      "\x07" };
	size_t size = 0, count = next_random(state) % 12;
	while (count--) {
		const char *piece = pieces[next_random(state) % ARRAY_COUNT(pieces)];
		size_t length = strlen(piece);
		if (next_random(state) % 8 == 0)
			bytes[size++] = (char)(next_random(state) & 0x7f);
		memcpy(bytes + size, piece, length);
		size += length;
	}
	return size;
}

static void test_random_parts(void)
{
	uint64_t state = 1;
	size_t styles = 0, escapes = 0;
	for (int round = 0; round < ROUNDS && !test_bad; round++) {
		char bytes[BYTES_MAX];
		size_t size = random_bytes(&state, bytes), at = 0, length = 1;
		struct terminal_filter filter = { 0 };
		struct shown whole, parts = { .size = 0 };
		show(bytes, size, &whole);
		while (at < size) {
			size_t part = 1 + next_random(&state) % 7;
			part = part < size - at ? part : size - at;
			pass(&filter, bytes + at, part, &parts);
			at += part;
		}
		end(&filter, &parts);
		CHECK(same(&whole, &parts));
		for (at = 0; at < whole.size && length; at += length)
			length = allowed_length(whole.text + at, whole.size - at);
		CHECK(length && at == whole.size);
		styles += strstr(whole.text, "\x1b[33m") != NULL;
		escapes += strstr(whole.text, "\\x1b") != NULL;
	}
	CHECK(styles > ROUNDS / 20 && escapes > ROUNDS / 20);
}

int main(void)
{
	RUN(test_each_byte);
	RUN(test_our_colours);
	RUN(test_sequences);
	RUN(test_characters);
	RUN(test_end_between);
	RUN(test_random_parts);
	return test_finish();
}
