// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Texts of trace events: conversions, operators and functions of their formats; formats that are
 * beyond us, cut off at every byte, or nested without an end.
 */
#include "base/array.h"
#include "debugger/kernel/trace_text.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA   0xffffffff82000000u
#define TABLES 0xffffffff83000000u

struct raw_data {
	uint64_t base;
	char word[16];
};

/* Behind struct trace_entry. */
struct raw_record {
	uint8_t entry[8];
	int32_t pid;
	uint32_t flags;
	uint64_t big, code, pointer;
	char comm[16];
	uint8_t address[4], mac[6], pad[2];
	uint32_t place; /* of `text`: 4 bytes of it */
	uint32_t words[2];
	char text[8];
};

#define FIELD(name_, type_, kind_, member, signed_, text_)                                         \
	{                                                                                          \
		.name = (char *)(name_), .type = (char *)(type_), .kind = (kind_),                 \
		.offset = offsetof(struct raw_record, member),                                     \
		.size = sizeof(((struct raw_record *)0)->member), .is_signed = (signed_),          \
		.is_text = (text_)                                                                 \
	}

static struct trace_field fields[] = {
	FIELD("common", "u64", TRACE_NUMBER, entry, false, false),
	FIELD("pid", "pid_t", TRACE_NUMBER, pid, true, false),
	FIELD("flags", "u32", TRACE_NUMBER, flags, false, false),
	FIELD("big", "u64", TRACE_NUMBER, big, false, false),
	FIELD("__probe_ip", "unsigned long", TRACE_NUMBER, code, false, false),
	FIELD("__probe_func", "unsigned long", TRACE_NUMBER, code, false, false),
	FIELD("__probe_ret_ip", "unsigned long", TRACE_NUMBER, pointer, false, false),
	FIELD("pointer", "void *", TRACE_NUMBER, pointer, false, false),
	FIELD("comm", "char[16]", TRACE_BYTES, comm, true, true),
	FIELD("address", "__u8[4]", TRACE_BYTES, address, false, false),
	FIELD("mac", "u8[6]", TRACE_BYTES, mac, false, false),
	FIELD("text", "__data_loc char[]", TRACE_DATA_LOC, place, true, true),
	FIELD("words", "u32[2]", TRACE_BYTES, words, false, false),
};

static struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct raw_record record;
	struct trace_printer *printer;
	struct strbuf out;
} machine;

static const struct {
	const char *format, *text;
} formats[] = {
	{ "\"plain %% %d\", REC->pid", "plain % -7" },
	{ "\"a\" \"b%u\", REC->pid", "ab4294967289" },
	{ "\"%5d|%-5d|%05d|%x\", 1, 2, 3, REC->flags", "    1|2    |00003|5" },
	{ "\"%#x|%#5x|%-#5x|%#05x|%#o|%#d|%#x\", 0, 0, 0, 0, 0, 0, 1",
	  "0x0|  0x0|0x0  |0x000|0|0|0x1" },
	{ "\"%llu %lx\", REC->big, REC->big", "18446744073709551615 ffffffffffffffff" },
	{ "\"%.3s|%8s|%-8s|\", REC->comm, REC->comm, \"x\"", "ini|    init|x       |" },
	{ "\"%s\", __get_str(text)", "tail" },
	{ "\"%c%c\", 'a', 0", "a " },
	{ "\"%d\", 1 + 2 * 3 - (4 >> 1)", "5" },
	{ "\"%d %d\", REC->pid < 0, REC->big < 0", "1 0" },
	{ "\"%d\", REC->pid / 2", "-3" },
	{ "\"%d\", (unsigned char)REC->pid", "249" },
	{ "\"%d\", ~0 & 0xf ? 10 : 20", "10" },
	{ "\"%d\", !(REC->flags == 5) || (3 & 1 && 2 != 3)", "1" },
	{ "\"%d\", -sizeof(int)", "-4" },
	{ "\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { 2, \"B\" })", "A|0x4" },
	{ "\"%s\", __print_flags(0, \"|\", { 1, \"A\" })", "" },
	{ "\"%s\", __print_symbolic(REC->flags, { 4, \"four\" }, { 5, \"fi\" \"ve\" })", "five" },
	{ "\"%s\", __print_symbolic(REC->flags, { 4, \"four\" })", "0x5" },
	{ "\"%pI4 %pM\", REC->address, REC->mac", "192.0.2.1 02:00:5e:00:53:09" },
	{ "\"%s\", __print_hex(REC->mac, 3)", "02 00 5e" },
	{ "\"%*ph\", 2, REC->mac", "02 00" },
	{ "\"%s\", __print_array(REC->words, 2, 4)", "{0x1,0xff}" },
	{ "\"%u\", REC->words[1]", "255" },
	{ "\"%s\", REC->pointer", "word" },
	{ "\"%s\", (char *)0", "(null)" },
	{ "\"%ps %pS\", REC->__probe_ip, (void *)REC->__probe_ip", "base base+0x4/0x8" },
	{ "\"(%lx)\", REC->__probe_ip", "(base+0x4/0x8)" },
	/* Of a return first where to, as the kernel prints it. */
	{ "\"(%lx <- %lx)\", REC->__probe_func, REC->__probe_ret_ip", "(word+0x0/0xfff8 <- base)" },
	{ "\"%p %px\", REC->pointer, REC->pointer", "ffffffff82000008 ffffffff82000008" },
	{ "\"%lx\", ((struct thing *)base) + 2", "1018" },
	{ "\"%d\", FIRST + 1", "42" },
	{ "\"%d\", __builtin_expect(!!(REC->flags), 0) ? 3 : 4", "3" },
	{ "\"%llu.%09llu\", __print_ns_to_secs(5000000007), __print_ns_without_secs(5000000007)",
	  "5.000000007" },
	{ "\"line\\n\"", "line" },
};

/* What is shown of a record whose format is beyond us. */
static const char by_fields[] =
	"pid=-7 flags=0x5 big=0xffffffffffffffff __probe_ip=0xffffffff82000004 "
	"__probe_func=0xffffffff82000004 __probe_ret_ip=0xffffffff82000008 "
	"pointer=0xffffffff82000008 comm=init address=c0000201 mac=02005e005309 text=tail "
	"words=01000000ff000000";

static const char *const beyond[] = {
	"\"%s\", nosuch(REC->pid)",
	"\"%s\", ({ 1; })",
	"\"%d\", REC->nosuch",
	"\"%d\"",
	"\"%d\", 1 / 0",
	"\"%d\", REC->comm",
	"\"%s\", REC->flags",
	"\"%pd\", 1",
	"\"%u\", REC->words[2]",
	"\"%n\", REC->flags",
	"no format",
	"",
	"\"%*d\", 5000, 1",
	"\"%9999d\", 1",
	"\"%d\", nosuch",
	"\"%d\", (1",
};

static const char *text_of(const char *format)
{
	const struct trace_event_call call = { .format = (char *)format,
					       .fields = fields,
					       .field_count = ARRAY_COUNT(fields) };
	const struct trace_record record = { .data = (const uint8_t *)&machine.record,
					     .size = sizeof(machine.record) };
	trace_text(machine.printer, &call, &record, &machine.out);
	return machine.out.data;
}

static void create(void)
{
	static const struct test_symbol symbols[] = { { DATA, 'D', "base" },
						      { DATA + 8, 'D', "word" },
						      { DATA + 65536, 'D', "_end" } };
	struct kernel_data *kernel = &machine.kernel;
	machine.data.base = 0x1000;
	strcpy(machine.data.word, "word");
	machine.record = (struct raw_record){
		.pid = -7,
		.flags = 5,
		.big = UINT64_MAX,
		.code = DATA + 4,
		.pointer = DATA + 8,
		.comm = "init",
		.address = { 192, 0, 2, 1 },
		.mac = { 2, 0, 0x5e, 0, 0x53, 9 },
		.place = offsetof(struct raw_record, text) | 5 << 16,
		.words = { 1, 255 },
		.text = "tail",
	};
	kernel->start = DATA;
	kernel->bytes = &machine.data;
	kernel->size = sizeof(machine.data);
	kernel_data_init(kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	btf__add_int(kernel->source, "int", 4, 1);
	btf__add_struct(kernel->source, "thing", 12);
	btf__add_enum(kernel->source, "numbers", 4);
	btf__add_enum_value(kernel->source, "FIRST", 41);
	kernel_data_take_types(kernel);
	machine.printer = trace_printer_create(&kernel->target);
	CHECK(machine.printer);
}

static void destroy(void)
{
	trace_printer_destroy(machine.printer);
	strbuf_deinit(&machine.out);
	kernel_data_deinit(&machine.kernel);
}

static void test_formats(void)
{
	create();
	for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
		CHECK_STRING(text_of(formats[i].format), formats[i].text);
	destroy();
}

static void test_beyond(void)
{
	create();
	for (size_t i = 0; i < ARRAY_COUNT(beyond); i++)
		CHECK_STRING(text_of(beyond[i]), by_fields);
	destroy();
}

static void test_cut_off(void)
{
	create();
	for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
		size_t length = strlen(formats[i].format);
		for (size_t k = 0; k < length; k++) {
			char *cut = strndup(formats[i].format, k);
			CHECK(cut && text_of(cut));
			free(cut);
		}
	}
	destroy();
}

/* A record that is shorter than its event says, and a text that lies outside of it. */
static void test_short(void)
{
	const struct trace_event_call call = { .format = (char *)"\"%d\", REC->pid",
					       .fields = fields,
					       .field_count = ARRAY_COUNT(fields) };
	create();
	for (size_t size = 0; size < sizeof(machine.record); size++) {
		const struct trace_record record = { .data = (const uint8_t *)&machine.record,
						     .size = size };
		trace_text(machine.printer, &call, &record, &machine.out);
		CHECK_STRING(size < 12 ? strstr(machine.out.data, "pid=?") ?: "" : "",
			     size < 12 ? machine.out.data : "");
	}
	machine.record.place = 0xffff | 0xffffu << 16;
	CHECK(strstr(text_of("\"%s\", __get_str(text)"), "text=?"));
	destroy();
}

static void test_deep(void)
{
	char format[8192] = "\"%d\", ";
	create();
	memset(format + 6, '(', 4000);
	CHECK_STRING(text_of(format), by_fields);
	memset(format + 6, '!', 4000);
	CHECK_STRING(text_of(format), by_fields);
	/* More text than there is room for. */
	strcpy(format, "\"%s\", ");
	for (size_t at = strlen(format); at + 32 < sizeof(format); at = strlen(format))
		strcpy(format + at, "__print_symbolic(1,{1,\"aaaa\"})?");
	CHECK_STRING(text_of(format), by_fields);
	destroy();
}

int main(void)
{
	RUN(test_formats);
	RUN(test_beyond);
	RUN(test_cut_off);
	RUN(test_short);
	RUN(test_deep);
	return test_finish();
}
