# SPDX-License-Identifier: GPL-3.0-or-later
# btfcrash: build, test, demonstrate, install. `make help` lists the targets.

VERSION := 0.1.0
MAKEFLAGS += --no-print-directory

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD  ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g

# Flags that are the user's: CC, CFLAGS, CPPFLAGS, LDFLAGS, WERROR=-Werror, SANITIZE=-fsanitize=...
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-sign-compare
HARDEN   := -fPIE -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-fcf-protection) \
	$(if $(SANITIZE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
override CPPFLAGS += -I. -D_GNU_SOURCE -DBTFCRASH_VERSION=\"$(VERSION)\"
override CFLAGS   += -std=gnu11 $(WARNINGS) $(HARDEN) $(WERROR) $(SANITIZE)
override LDFLAGS  += -pie -Wl,-z,relro,-z,now $(SANITIZE)
LIBS     := -Wl,--as-needed -lkdumpfile -lcapstone -lreadline -llzo2 -lseccomp -lz

SOURCES  := $(sort $(wildcard base/*.c btf/*.c symbols/*.c vmcore/*.c \
	debugger/*.c debugger/*/*.c cmds/*.c))
MAIN     := cmds/main.c
OBJECTS  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(MAIN),$(SOURCES)))
PROGRAM  := $(BUILD)/btfcrash
ARCHIVE  := $(BUILD)/libbtfcrash.a
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(sort $(wildcard tests/unit/*_test.c)))
STATIC   := $(BUILD)/btfcrash-static
STRESS   := $(patsubst tests/stress/%.c,$(BUILD)/stress/%,$(wildcard tests/stress/*.c))
TARGETS  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/driver.c,$(wildcard tests/fuzz/*.c)))
FLOOR    := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))

# What the goals need of tests/packages.
NEEDS := build \
	$(if $(filter demo,$(MAKECMDGOALS)),dumps) \
	$(if $(filter kdump-tools packages,$(MAKECMDGOALS)),kdump) \
	$(if $(filter truth hints infer-score packages,$(MAKECMDGOALS)),truth) \
	$(if $(filter dumps session sanitize integers fuzz mutate check bench truth infer-score packages,$(MAKECMDGOALS)),dumps flavours bpf) \
	$(if $(filter lint unit session sanitize integers fuzz mutate check bench packages,$(MAKECMDGOALS)),test)

all: $(PROGRAM) ## builds build/btfcrash

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

packages: ## installs the Debian packages that all of this needs (as root)
	@tests/install-packages $(NEEDS)

# Building

# One line for each thing that is built; V=1 shows the whole commands.
say = $(if $(V),,@echo '  $(1) $@';)

$(PROGRAM): $(BUILD)/cmds/main.o $(ARCHIVE)
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(STATIC): $(BUILD)/cmds/main.o $(BUILD)/kdump/absent.o $(ARCHIVE)
	$(call say,LD)$(CC) $(filter-out -pie,$(LDFLAGS)) -static-pie -s -Wl,--wrap=dlopen -o $@ $^ \
		$(filter-out -lkdumpfile,$(LIBS)) -ltinfo

$(ARCHIVE): $(OBJECTS) $(BUILD)/objects
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $(OBJECTS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/unit/%: tests/unit/%.c $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(ARCHIVE) -lbpf $(LIBS)

$(BUILD)/stress/%: tests/stress/%.c $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(ARCHIVE) $(LIBS)

# The targets of fuzzing, over the inputs that are kept.
$(BUILD)/unit/corpus_test: tests/unit/corpus_test.c $(TARGETS) $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(TARGETS) $(ARCHIVE) \
		-lbpf $(LIBS)

$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIBS)

# .incbin is not seen by -MMD.
$(BUILD)/debugger/declare/declarations.o: debugger/declare/globals.decl
$(BUILD)/debugger/infer/hints.o: debugger/infer/hints/globals.hints.z

# Files that hold a text and are as old as it: other flags or sources mean to build again.
remember = mkdir -p $(@D); echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@

$(BUILD)/flags: FORCE | packages
	@$(call remember,$(CC) $(CPPFLAGS) $(CFLAGS))

$(BUILD)/objects: FORCE
	@$(call remember,$(OBJECTS))

-include $(OBJECTS:.o=.d) $(BUILD)/cmds/main.d $(BUILD)/kdump/absent.d $(UNIT:=.d) $(TARGETS:.o=.d) $(STRESS:=.d)

# Real dumps

dumps: packages ## makes the dumps that the tests use, unless they are there
	@testdata/make-dumps

demo: $(PROGRAM) ## crashes a real kernel and looks at its dump
	@testdata/make-dumps --demo
	@tests/demo $(PROGRAM)

# Tests

check: dumps ## all of the tests: lint unit session sanitize, and kdump-tools if root
	@tests/tally '$(MAKE) lint' '$(MAKE) unit' '$(MAKE) session' '$(MAKE) sanitize' \
		'$(MAKE) kdump-tools GENERATORS=initramfs-tools'

lint: $(PROGRAM) ## form of the source: format, layers, sizes, globals, hardening, scripts
	@tests/lint/run $(BUILD)

unit: $(UNIT) ## the unit tests
	@tests/tally $(UNIT)

session: $(PROGRAM) $(STRESS) $(STATIC) dumps ## what the program says of real dumps
	@tests/session/run $(BUILD)

sanitize: dumps ## unit tests and broken dumps under the address and undefined sanitizers
	@$(MAKE) BUILD=$(BUILD)-asan SANITIZE='$(SANITIZERS)' hostile

SANITIZE_HOW := -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZERS := -fsanitize=address,undefined $(SANITIZE_HOW)

# A finding ends in a signal, which no test takes for an answer of the program.
hostile: export ASAN_OPTIONS := abort_on_error=1
hostile: export UBSAN_OPTIONS := print_stacktrace=1:abort_on_error=1
hostile: $(PROGRAM) $(STRESS) $(UNIT)
	@tests/tally $(UNIT) 'tests/session/run $(BUILD) hostile'

# Numbers that are cut off or change their sign where the code does not say so, and sums that wrap.
INTEGERS := -fsanitize=signed-integer-overflow,unsigned-integer-overflow,shift,integer-divide-by-zero,implicit-conversion \
	-fsanitize-ignorelist=tests/integers.ignore $(SANITIZE_HOW)

integers: dumps ## unit tests and broken dumps under clang's checks of integers
	@tests/install-packages clang
	@$(MAKE) BUILD=$(BUILD)-integers CC=clang CFLAGS='-O1 -g' WERROR= SANITIZE='$(INTEGERS)' hostile

# Fuzzing: clang's libFuzzer over tests/fuzz, real dumps mutated through the whole program.
SECONDS ?= 60
MUTANTS ?= 2000
SEED    ?= 1

fuzz: dumps ## feeds parsers of foreign bytes rubbish: SECONDS=60 each, TARGET=name, FUZZ_JOBS=1
	@tests/install-packages clang
	@$(MAKE) BUILD=$(BUILD)-fuzz CC=clang CFLAGS='-O1 -g' WERROR= \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined $(SANITIZE_HOW)' fuzzer
	@tests/fuzz/run $(BUILD)-fuzz $(SECONDS) $(TARGET)

fuzzer: $(BUILD)/fuzzer $(BUILD)/mkdump

$(BUILD)/fuzzer: $(BUILD)/tests/fuzz/driver.o $(TARGETS) $(ARCHIVE)
	$(call say,LD)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ -lbpf $(LIBS)

$(BUILD)/mkdump: tests/mkdump.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIBS)

mutate: dumps ## feeds MUTANTS=2000 damaged real dumps to `report` under sanitizers: SEED=1, MUTATE='--kernel 6.1'
	@$(MAKE) BUILD=$(BUILD)-asan SANITIZE='$(SANITIZERS)' all
	@tests/fuzz/mutate $(MUTATE) $(BUILD)-asan $(MUTANTS) $(SEED)

bench: $(PROGRAM) $(FLOOR) dumps ## speed and memory, beside what a dump costs at least
	@tests/bench/run $(BUILD)

# The types of globals: what DWARF says, the table that ships, how well both do (by hand, 300 MB a kernel)

KERNELS := $(shell awk '!/^\#/ && NF { print $$1 }' testdata/kernels)

truth: dumps ## what DWARF says of the test kernels' globals, from their -dbg packages
	@nice tests/truth/make-globals $(KERNELS)

hints: packages ## makes the shipped table of globals anew, from the kernels it names
	@nice debugger/infer/hints/make-hints

infer-score: $(PROGRAM) truth ## recall and precision of the types of globals, with the table and without
	@for kernel in $(KERNELS); do \
		dump=$${BTFCRASH_CACHE:-testdata/cache}/$$kernel/boot1/vmcore.elf; \
		echo "== $$kernel, with the table less what $$kernel itself says"; \
		tests/truth/infer-score --program $(PROGRAM) --without $$kernel $$dump || exit 1; \
		echo "== $$kernel, without the table"; \
		tests/truth/infer-score --program $(PROGRAM) --no-hints $$dump || exit 1; \
	done

# The capture kernel

static: $(STATIC) ## builds build/btfcrash-static, which needs no other file: for a capture kernel

initramfs-files: $(PROGRAM) ## what an initramfs needs for the program that is not static
	@kdump/initramfs-files $(PROGRAM)

kdump-tools: $(PROGRAM) $(STATIC) ## Debian's kdump-tools in a guest write the report (as root): GENERATORS='initramfs-tools dracut'
	@tests/kdump-tools $(BUILD) $(GENERATORS)

# Installing

install: $(PROGRAM) ## into $(DESTDIR)$(PREFIX)
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/btfcrash
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	$(PROGRAM) --manual >$(DESTDIR)$(PREFIX)/share/man/man1/btfcrash.1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(PROGRAM) --bash-completion >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/btfcrash
	install -D -m 644 README.md $(DESTDIR)$(PREFIX)/share/doc/btfcrash/README.md

# Generators of initramfs look into fixed folders.
KDUMP := $(DESTDIR)/usr/lib/btfcrash
KDUMP_FOLDERS := $(DESTDIR)/usr/lib/dracut/modules.d/99btfcrash \
	$(DESTDIR)/usr/lib/systemd/system/kdump-tools-dump.service.d
KDUMP_SCRIPTS := $(DESTDIR)/usr/share/initramfs-tools

install-kdump: $(STATIC) ## into $(DESTDIR)/usr: a report at every crash, see kdump/README.md
	install -D -m 755 $(STATIC) $(KDUMP)/btfcrash
	install -m 755 kdump/kdump-report kdump/kdump-tools/kdump-tools-report $(KDUMP)
	install -d $(KDUMP_FOLDERS) $(KDUMP_SCRIPTS)/hooks $(KDUMP_SCRIPTS)/scripts/init-premount
	install -m 755 kdump/dracut/99btfcrash/* $(word 1,$(KDUMP_FOLDERS))
	install -m 644 kdump/kdump-tools/btfcrash.conf $(word 2,$(KDUMP_FOLDERS))
	install -m 755 kdump/initramfs-tools/hooks/btfcrash $(KDUMP_SCRIPTS)/hooks
	install -m 755 kdump/initramfs-tools/scripts/init-premount/btfcrash \
		$(KDUMP_SCRIPTS)/scripts/init-premount

uninstall: ## removes what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/btfcrash $(DESTDIR)$(PREFIX)/share/man/man1/btfcrash.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/btfcrash
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/btfcrash $(KDUMP) $(word 1,$(KDUMP_FOLDERS))
	rm -f $(word 2,$(KDUMP_FOLDERS))/btfcrash.conf $(KDUMP_SCRIPTS)/hooks/btfcrash \
		$(KDUMP_SCRIPTS)/scripts/init-premount/btfcrash

clean: ## removes what was built; the dumps stay
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-integers $(BUILD)-fuzz $(BUILD)-clang

FORCE:
.PHONY: all help static initramfs-files kdump-tools packages dumps demo check lint unit session sanitize hostile integers fuzz fuzzer mutate bench install install-kdump \
	uninstall clean FORCE
