// SPDX-License-Identifier: GPL-3.0-or-later
/* Which machine a dump is of, and what is said of one that cannot be read. */
#include "tests/unit/test.h"

#include "tests/unit/dump_image.h"

#include "debugger/target/target.h"
#include "vmcore/machine.h"
#include <elf.h>

static void check_elf(uint16_t machine, uint8_t word_size, bool big_endian, const char *expected)
{
	char name[MACHINE_NAME_SIZE];
	machine_of_elf(machine, word_size, big_endian, name);
	CHECK_STRING(name, expected);
}

static void test_elf(void)
{
	check_elf(EM_X86_64, 8, false, "x86_64");
	check_elf(EM_S390, 4, true, "s390");
	check_elf(EM_S390, 8, true, "s390x");
	check_elf(EM_PPC64, 8, true, "ppc64");
	check_elf(EM_PPC64, 8, false, "ppc64le");
	check_elf(EM_MIPS, 8, true, "mips64");
	check_elf(EM_RISCV, 8, false, "riscv64");
	check_elf(EM_ARCV2, 4, false, "arc");
	check_elf(4711, 8, false, "ELF 4711");
	check_elf(65535, 8, false, "ELF 65535");
}

static void check_word(const char *word, bool big_endian, const char *expected)
{
	char name[MACHINE_NAME_SIZE];
	machine_of_word(word, big_endian, name);
	CHECK_STRING(name, expected);
}

static void test_words(void)
{
	check_word("x86_64", false, "x86_64");
	check_word("Unknown", false, "");
	check_word("", false, "");
	check_word("S390X", true, "s390x");
	check_word("PPC64", true, "ppc64");
	check_word("PPC64", false, "ppc64le");
	check_word("i686", false, "i386");
	check_word("armv7l", false, "armv7l");
	check_word("a word without an end", false, "a word without ");
}

/* Opens a dump of this description, which has to fail with just this. */
static void check_message(const char *description, const char *expected)
{
	struct image image;
	struct target *target = NULL;
	struct target_options options = { 0 };
	char message[256];
	image_make(&image, description);
	const char *path = image.path;
	snprintf(message, sizeof(message), "%s: %s", path, expected);
	struct error *error = target_open(&path, 1, &options, &target);
	CHECK(error);
	CHECK_STRING(error ? error->message : "", message);
	error_free(error);
	target_close(target);
	image_free(&image);
}

#define NOT_YET ", which is not supported yet: this btfcrash reads x86_64 only"
#define MEMORY	"memory 0x0 0x2000 fill 0\n"

static void test_messages(void)
{
	/* QEMU's kdump of arm64: only its notes tell. */
	check_message("format kdump\nmachine Unknown\nnote CORE 1 392 0x11\n" MEMORY,
		      "the dump is of machine type aarch64" NOT_YET);
	check_message("format kdump\nmachine S390X\nendian big\n" MEMORY,
		      "the dump is of machine type s390x" NOT_YET);
	check_message("format kdump\nmachine Unknown\nendian big\nnote CORE 1 504 0\n" MEMORY,
		      "the dump is of machine type ppc64" NOT_YET);
	check_message("format kdump\nmachine Unknown\nnote CORE 1 480 0\n" MEMORY,
		      "the dump is of machine type loongarch64" NOT_YET);
	check_message("format elf\nmachine aarch64\n" MEMORY,
		      "the dump is of machine type aarch64" NOT_YET);
	check_message("format elf\nmachine 243\n" MEMORY,
		      "the dump is of machine type riscv64" NOT_YET);
	check_message("format elf\nmachine 4711\n" MEMORY,
		      "the dump is of machine type ELF 4711" NOT_YET);
	check_message("format kdump\nmachine Unknown\nvmcoreinfo OSRELEASE=6.0.0-test\n" MEMORY,
		      "neither the dump's headers nor its VMCOREINFO say of which machine it is");
	/* Here a VMCOREINFO would help. */
	check_message("format elf\n" MEMORY,
		      "the dump has no VMCOREINFO note, which --vmcoreinfo FILE can bring: no "
		      "VMCOREINFO in the dump's memory");
}

/* What is found in memory says what a note would have said. */
static void test_found(void)
{
	struct image image;
	struct vmcore *vmcore = NULL;
	image_make(&image, "format kdump\nmachine Unknown\nmemory 0 0x1000 fill 0\n"
			   "vmcoreinfo-at 0x1000 OSRELEASE=6.0.0-test;PAGESIZE=4096;"
			   "NUMBER(kimage_voffset)=0;CRASHTIME=1700000000\n");
	const char *path = image.path;
	CHECK_OK(vmcore_open(&path, 1, NULL, &vmcore));
	CHECK_STRING(vmcore_facts(vmcore)->machine, "");
	CHECK_OK(vmcore_search_vmcoreinfo(vmcore));
	CHECK_STRING(vmcore_facts(vmcore)->machine, "aarch64");
	CHECK(vmcore_facts(vmcore)->from_kexec);
	vmcore_close(vmcore);
	image_free(&image);
}

int main(void)
{
	RUN(test_elf);
	RUN(test_words);
	RUN(test_messages);
	RUN(test_found);
	return test_finish();
}
