# SPDX-License-Identifier: GPL-3.0-or-later
# btfcrash: build, test, demonstrate, install. `make help` lists the targets.

VERSION := $(shell cat VERSION)
MAKEFLAGS += --no-print-directory
PROCESSORS := $(shell nproc)
COMMA := ,

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD  ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g

# Flags that are the user's: CC, CFLAGS, CPPFLAGS, LDFLAGS, WERROR=-Werror, SANITIZE=-fsanitize=...;
# KDUMPFILE=no leaves libkdumpfile out, which reads what is neither ELF nor kdump-compressed;
# LIBBPF=no leaves out what asks a running kernel for its types and BPF programs (--live);
# SQLITE=no leaves out `sql`.
KDUMPFILE ?= yes
LIBBPF    ?= yes
SQLITE    ?= yes
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-sign-compare
# Asked once, but not before there is a compiler: the first goal may be to install it.
BRANCHES  = $(eval BRANCHES := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-fcf-protection))$(BRANCHES)
HARDEN    = -fPIE -fstack-protector-strong -fstack-clash-protection $(BRANCHES) \
	$(if $(SANITIZE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
override CPPFLAGS += -I. -include base/keep_const.h -D_GNU_SOURCE -DBTFCRASH_VERSION=\"$(VERSION)\"
override CFLAGS   += -std=gnu11 $(WARNINGS) $(HARDEN) $(WERROR) $(SANITIZE)
override LDFLAGS  += -pie -Wl,-z,relro,-z,now $(SANITIZE)
# What libraries are called by, or what stands in the place of that.
SQL      := debugger/tables/sql.c debugger/tables/sql_tables.c
CALLERS  := vmcore/library.c debugger/target/running_kernel.c $(SQL)
CHOSEN   := $(if $(filter no,$(KDUMPFILE)),kdump/no-libkdumpfile.c,vmcore/library.c) \
	$(if $(filter no,$(LIBBPF)),kdump/no-libbpf.c,debugger/target/running_kernel.c) \
	$(if $(filter no,$(SQLITE)),kdump/no-sqlite.c,$(SQL))
LIBS     := -Wl,--as-needed $(if $(filter no,$(KDUMPFILE)),,-lkdumpfile) $(if $(filter no,$(SQLITE)),,-lsqlite3) -lcapstone -lreadline -llzo2 -lseccomp -lz

SOURCES  := $(sort $(CHOSEN) $(filter-out $(CALLERS),$(wildcard base/*.c btf/*.c symbols/*.c \
	vmcore/*.c debugger/*.c debugger/*/*.c debugger/*/*/*.c cmds/*.c)))
MAIN     := cmds/main.c
NOTE     := vmcore/dlopen_note.c
OBJECTS  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(MAIN) $(NOTE),$(SOURCES)))
PROGRAM  := $(BUILD)/btfcrash
ARCHIVE  := $(BUILD)/libbtfcrash.a
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(sort $(wildcard tests/unit/*_test.c \
	tests/unit/*/*_test.c tests/unit/*/*/*_test.c tests/unit/*/*/*/*_test.c)))
STATIC   := $(BUILD)/btfcrash-static
STRESS   := $(patsubst tests/stress/%.c,$(BUILD)/stress/%,$(wildcard tests/stress/*.c))
TARGETS  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/driver.c %/words.c %/allocations.c,$(wildcard tests/fuzz/*.c)))
# The program itself, which reads other words than those in the dump.
WORDS_PROGRAM := $(BUILD)/words/btfcrash
# The program itself, which notes what names a kernel does not have.
LACKS_PROGRAM := $(BUILD)/lacks/btfcrash
FLOOR    := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))

# What the goals need of tests/packages. `make demo`, `make check` and `make packages` install what
# is missing, as root. Other goals only name it: a plain build says so and goes on, for a library
# may have come from elsewhere; a test stops.
needs_demo     := dumps
needs_lint     := lint
needs_unit     := unit
needs_programs := $(needs_unit)
needs_dumpless := $(needs_unit) $(needs_lint)
needs_dumps    := dumps flavours bpf
needs_dumps-big := $(needs_dumps)
needs_session  := $(needs_dumps) unit session
needs_sanitized := $(needs_programs)
needs_sanitize := $(needs_session)
needs_integers := $(needs_session) fuzz
needs_fuzz     := $(needs_session) fuzz
needs_mutate   := $(needs_session)
needs_words    := $(needs_session)
needs_bench    := $(needs_session)
needs_fleet-check := fleet slurm
needs_fleet-demo  := fleet $(needs_dumps)
needs_kdump-tools := kdump
needs_truth    := $(needs_dumps) truth
needs_infer-score := $(needs_truth)
needs_hints    := truth
needs_check    := $(needs_lint) $(needs_session) $(needs_kdump-tools)
needs_packages := $(needs_check) $(needs_truth) clang
NEEDS := $(sort build $(if $(filter no,$(KDUMPFILE)),,kdumpfile) $(if $(filter no,$(LIBBPF)),,libbpf) \
	$(if $(filter no,$(SQLITE)),,sqlite) \
	$(foreach goal,$(MAKECMDGOALS),$(needs_$(goal))))

all: $(PROGRAM) ## builds build/btfcrash

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

INSTALLS := $(filter demo check packages,$(MAKECMDGOALS))
TESTS := $(foreach goal,$(MAKECMDGOALS),$(needs_$(goal)))

packages: ## installs the Debian packages that all of this needs (as root)
	@tests/install-packages $(if $(INSTALLS),,$(if $(TESTS),--check,--tell)) $(NEEDS)

# Building

# One line for each thing that is built; V=1 shows the whole commands.
say = $(if $(V),,@echo '  $(1) $@';)

$(PROGRAM): $(BUILD)/cmds/main.o $(BUILD)/$(NOTE:.c=.o) $(ARCHIVE)
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

WRAPPED := physical_memory_create physical_reader_create virtual_memory_create malloc calloc realloc strdup strndup
WRAPPERS := $(BUILD)/tests/fuzz/words.o $(BUILD)/tests/fuzz/allocations.o

$(WORDS_PROGRAM): $(BUILD)/cmds/main.o $(BUILD)/$(NOTE:.c=.o) $(WRAPPERS) $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(LDFLAGS) $(addprefix -Wl$(COMMA)--wrap=,$(WRAPPED)) -o $@ $^ $(LIBS)

LOOKUPS := error_create type_find_member btf_find_enumerator symtab_address

$(LACKS_PROGRAM): $(BUILD)/cmds/main.o $(BUILD)/$(NOTE:.c=.o) $(BUILD)/tests/lacks/lacks.o $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(LDFLAGS) $(addprefix -Wl$(COMMA)--wrap=,$(LOOKUPS)) -o $@ $^ $(LIBS)

ABSENT := $(addprefix $(BUILD)/kdump/,absent.o no-libkdumpfile.o no-libbpf.o no-sqlite.o)

$(STATIC): $(BUILD)/cmds/main.o $(ABSENT) $(ARCHIVE)
	$(call say,LD)$(CC) $(filter-out -pie,$(LDFLAGS)) -static-pie -s -Wl,--wrap=dlopen -o $@ $^ \
		$(filter-out -lkdumpfile -lsqlite3,$(LIBS)) -ltinfo

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
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< -lkdumpfile $(LIBS)

# .incbin is not seen by -MMD.
$(BUILD)/debugger/declare/declarations.o: debugger/declare/globals.decl

# The table is text in the tree; the program carries it packed.
HINTS := $(BUILD)/debugger/infer/hints/globals.hints.z
$(HINTS): debugger/infer/hints/globals.hints debugger/infer/hints/hints_file.py | packages
	@mkdir -p $(@D)
	$(call say,PACK)python3 debugger/infer/hints/hints_file.py $< $@

$(BUILD)/debugger/infer/hints/hints.o: $(HINTS)
$(BUILD)/debugger/infer/hints/hints.o: override CPPFLAGS += -I$(BUILD)

# Files that hold a text and are as old as it: other flags or sources mean to build again.
remember = mkdir -p $(@D); echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@

$(BUILD)/flags: FORCE | packages
	@$(call remember,$(CC) $(CPPFLAGS) $(CFLAGS))

$(BUILD)/objects: FORCE
	@$(call remember,$(OBJECTS))

-include $(OBJECTS:.o=.d) $(BUILD)/cmds/main.d $(BUILD)/$(NOTE:.c=.d) $(ABSENT:.o=.d) $(UNIT:=.d) $(TARGETS:.o=.d) $(STRESS:=.d) $(WRAPPERS:.o=.d)

# Real dumps

dumps: packages ## makes the dumps that the tests use, unless they are there
	@testdata/make-dumps

dumps-big: packages ## makes the dump of a big machine, for tests/bench: 2 GB, 8,400 tasks, 300,000 files, in four formats
	@testdata/make-dumps --kernel 6.12 --only big

# The build is a make of its own: before the packages are there, this one does not know the compiler.
demo: ## crashes a real kernel and looks at its dump: the first thing to try
	@tests/demo --announce $(NEEDS)
	@$(MAKE) packages NEEDS='$(NEEDS)' INSTALLS=yes
	@tests/demo --step 2 'building btfcrash'
	@$(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(PROCESSORS)) $(PROGRAM)
	@tests/demo --step 3 'crashing a kernel in an emulator (half a minute without a word)'
	@testdata/make-dumps --demo
	@tests/demo $(PROGRAM)

# Tests

check: packages ## all of the tests, the quick ones first: lint unit session sanitize, and kdump-tools if root
	@echo 'making the dumps, and beside it building and testing what needs none: some 15 minutes without a word'
	@tests/tally "tests/tally -j 2 '$(MAKE) dumps && echo 1 passed, 0 failed' '$(MAKE) dumpless'" '$(MAKE) session' \
		"tests/tally -j 2 '$(MAKE) sanitize' '$(MAKE) kdump-tools GENERATORS=initramfs-tools'"

# Making dumps keeps one processor busy for minutes: this is for the others.
dumpless: packages ## of check, what needs no dump: builds, lint, unit
	@nice $(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(PROCESSORS)) programs
	@nice tests/tally '$(MAKE) lint' '$(MAKE) unit' '$(MAKE) sanitized && echo 1 passed, 0 failed'

lint: $(PROGRAM) ## form of the source: format, layers, sizes, globals, hardening, scripts
	@tests/lint/run $(BUILD)

programs: $(PROGRAM) $(STATIC) $(UNIT) $(STRESS) $(WORDS_PROGRAM) $(LACKS_PROGRAM) ## builds the program and the tests of it, and runs none

unit: $(UNIT) ## the unit tests
	@tests/tally -j $(PROCESSORS) $(UNIT)

session: $(PROGRAM) $(STRESS) $(WORDS_PROGRAM) $(LACKS_PROGRAM) $(STATIC) dumps ## what the program says of real dumps
	@tests/session/run -j $(PROCESSORS) $(BUILD)

sanitized: packages ## builds what sanitize runs
	@$(MAKE) BUILD=$(BUILD)-asan CFLAGS='$(SANITIZED)' WERROR= SANITIZE='$(SANITIZERS)' hostile-programs

sanitize: dumps ## unit tests and broken dumps under the address and undefined sanitizers
	@$(MAKE) BUILD=$(BUILD)-asan CFLAGS='$(SANITIZED)' WERROR= SANITIZE='$(SANITIZERS)' hostile

SANITIZE_HOW := -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZERS := -fsanitize=address,undefined $(SANITIZE_HOW)
# Built in half the time; a report needs lines, and no variables. Warnings are of the program itself.
SANITIZED := -O1 -g1

# A finding ends in a signal, which no test takes for an answer of the program.
hostile: export ASAN_OPTIONS := abort_on_error=1
hostile: export UBSAN_OPTIONS := print_stacktrace=1:abort_on_error=1
hostile: hostile-programs
	@tests/tally -j $(PROCESSORS) $(UNIT) 'tests/session/run $(BUILD) hostile'

hostile-programs: $(PROGRAM) $(STRESS) $(WORDS_PROGRAM) $(UNIT)

fleet-check: $(PROGRAM) ## what fleet/ does with bad dumps, killed workers, full disks, servers that restart
	@tests/fleet/run $(PROGRAM)

fleet-demo: $(PROGRAM) dumps ## records of the tests' dumps in a database, and a page: what fleet/ is for
	@tests/fleet/demo $(PROGRAM)

# Numbers that are cut off or change their sign where the code does not say so, and sums that wrap.
INTEGERS := -fsanitize=signed-integer-overflow,unsigned-integer-overflow,shift,integer-divide-by-zero,implicit-conversion \
	-fsanitize-ignorelist=tests/integers.ignore $(SANITIZE_HOW)

integers: dumps ## unit tests and broken dumps under clang's checks of integers
	@$(MAKE) BUILD=$(BUILD)-integers CC=clang CFLAGS='$(SANITIZED)' WERROR= SANITIZE='$(INTEGERS)' hostile

# Fuzzing: clang's libFuzzer over tests/fuzz, real dumps mutated through the whole program.
SECONDS ?= 60
MUTANTS ?= 2000
WORDS   ?= 2000
SEED    ?= 1

fuzz: dumps ## feeds parsers of foreign bytes rubbish: SECONDS=60 each, TARGET=name, FUZZ_JOBS=1
	@$(MAKE) BUILD=$(BUILD)-fuzz CC=clang CFLAGS='$(SANITIZED)' WERROR= \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined $(SANITIZE_HOW)' fuzzer
	@tests/fuzz/run $(BUILD)-fuzz $(SECONDS) $(TARGET)

fuzzer: $(BUILD)/fuzzer $(BUILD)/mkdump

$(BUILD)/fuzzer: $(BUILD)/tests/fuzz/driver.o $(TARGETS) $(ARCHIVE)
	$(call say,LD)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ -lbpf $(LIBS)

$(BUILD)/mkdump: tests/mkdump.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIBS)

mutate: $(PROGRAM) dumps ## MUTANTS=2000 damaged real dumps through every command, a tenth under sanitizers: SEED=1, MUTATE='--kernel 6.1'
	@tests/fuzz/mutate $(MUTATE) $(BUILD) $(MUTANTS) $(SEED)
	@$(MAKE) BUILD=$(BUILD)-asan CFLAGS='$(SANITIZED)' WERROR= SANITIZE='$(SANITIZERS)' all
	@tests/fuzz/mutate $(MUTATE) $(BUILD)-asan $$(($(MUTANTS) / 10)) $(SEED)

words: $(PROGRAM) $(WORDS_PROGRAM) dumps ## WORDS=2000 runs of every command while words change as they are read, a quarter under sanitizers: SEED=1, READ='--kernel 6.1'
	@tests/fuzz/words $(READ) $(BUILD) $(WORDS) $(SEED)
	@$(MAKE) BUILD=$(BUILD)-asan CFLAGS='$(SANITIZED)' WERROR= SANITIZE='$(SANITIZERS)' words-program
	@tests/fuzz/words $(READ) $(BUILD)-asan $$(($(WORDS) / 4)) $(SEED)

words-program: $(PROGRAM) $(WORDS_PROGRAM)

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

# Distributions have a folder of their own for zsh.
ZSH_FOLDER ?= zsh/site-functions
DOCUMENTS := README.md PERFORMANCE.md SECURITY.md CHANGELOG.md
# Where btfcrash.py goes, below PREFIX; Debian's Python looks into lib/python3/dist-packages.
PYTHON_FOLDER ?= share/btfcrash/python
COMPLETIONS := bash-completion/completions/btfcrash $(ZSH_FOLDER)/_btfcrash fish/vendor_completions.d/btfcrash.fish

install: $(PROGRAM) ## into $(DESTDIR)$(PREFIX)
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/btfcrash
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	$(PROGRAM) --manual >$(DESTDIR)$(PREFIX)/share/man/man1/btfcrash.1
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,$(dir $(COMPLETIONS)))
	$(PROGRAM) --completion bash >$(DESTDIR)$(PREFIX)/share/$(word 1,$(COMPLETIONS))
	$(PROGRAM) --completion zsh >$(DESTDIR)$(PREFIX)/share/$(word 2,$(COMPLETIONS))
	$(PROGRAM) --completion fish >$(DESTDIR)$(PREFIX)/share/$(word 3,$(COMPLETIONS))
	install -D -m 644 cmds/python/btfcrash.py $(DESTDIR)$(PREFIX)/$(PYTHON_FOLDER)/btfcrash.py
	install -d $(DESTDIR)$(PREFIX)/share/btfcrash/schemas
	install -m 644 cmds/schemas/*.json $(DESTDIR)$(PREFIX)/share/btfcrash/schemas
	$(PROGRAM) --schemas $(DESTDIR)$(PREFIX)/share/btfcrash/schemas
	install -d $(DESTDIR)$(PREFIX)/share/doc/btfcrash/docs
	install -m 644 $(DOCUMENTS) $(DESTDIR)$(PREFIX)/share/doc/btfcrash
	install -m 644 $(wildcard docs/*) $(DESTDIR)$(PREFIX)/share/doc/btfcrash/docs

# Generators of initramfs look into fixed folders.
KDUMP := $(DESTDIR)/usr/lib/btfcrash
KDUMP_FOLDERS := $(DESTDIR)/usr/lib/dracut/modules.d/99btfcrash \
	$(DESTDIR)/usr/lib/systemd/system/kdump-tools-dump.service.d
KDUMP_SCRIPTS := $(DESTDIR)/usr/share/initramfs-tools

# What goes into the initramfs: the static program, or where static libraries are missing the one
# with shared ones (KDUMP_PROGRAM=build/btfcrash), whose libraries the generators bring along.
KDUMP_PROGRAM ?= $(STATIC)

install-kdump: $(KDUMP_PROGRAM) ## into $(DESTDIR)/usr: a report at every crash, see kdump/README.md
	install -D -m 755 $(KDUMP_PROGRAM) $(KDUMP)/btfcrash
	install -m 755 kdump/kdump-report kdump/kdump-tools/kdump-tools-report $(KDUMP)
	install -d $(KDUMP_FOLDERS) $(KDUMP_SCRIPTS)/hooks $(KDUMP_SCRIPTS)/scripts/init-premount
	install -m 755 kdump/dracut/99btfcrash/* $(word 1,$(KDUMP_FOLDERS))
	install -m 644 kdump/kdump-tools/btfcrash.conf $(word 2,$(KDUMP_FOLDERS))
	install -m 755 kdump/initramfs-tools/hooks/btfcrash $(KDUMP_SCRIPTS)/hooks
	install -m 755 kdump/initramfs-tools/scripts/init-premount/btfcrash \
		$(KDUMP_SCRIPTS)/scripts/init-premount

# A release: the tree as committed, with the version in the RPM spec. The same commit gives the same bytes.
DIST := btfcrash-$(VERSION)

dist: ## makes build/btfcrash-VERSION.tar.gz of the last commit
	@rm -rf $(BUILD)/$(DIST) && mkdir -p $(BUILD)
	@git archive --prefix=$(DIST)/ HEAD | tar -x -C $(BUILD)
	@sed -i 's/@VERSION@/$(VERSION)/' $(BUILD)/$(DIST)/rpm/btfcrash.spec
	@tar -c --format=ustar --sort=name --mtime=@$$(git log -1 --format=%ct) --mode=go=rX,u+rw,a-s \
		--owner=0 --group=0 --numeric-owner -C $(BUILD) $(DIST) | gzip -9n >$(BUILD)/$(DIST).tar.gz
	@rm -rf $(BUILD)/$(DIST)
	@sha256sum $(BUILD)/$(DIST).tar.gz

uninstall: ## removes what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/btfcrash $(DESTDIR)$(PREFIX)/share/man/man1/btfcrash.1 \
		$(addprefix $(DESTDIR)$(PREFIX)/share/,$(COMPLETIONS)) $(DESTDIR)$(PREFIX)/$(PYTHON_FOLDER)/btfcrash.py
	rm -rf $(DESTDIR)$(PREFIX)/share/btfcrash $(DESTDIR)$(PREFIX)/share/doc/btfcrash $(KDUMP) $(word 1,$(KDUMP_FOLDERS))
	rm -f $(word 2,$(KDUMP_FOLDERS))/btfcrash.conf $(KDUMP_SCRIPTS)/hooks/btfcrash \
		$(KDUMP_SCRIPTS)/scripts/init-premount/btfcrash

clean: ## removes what was built; the dumps stay
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-integers $(BUILD)-fuzz $(BUILD)-clang

FORCE:
.PHONY: all help static initramfs-files kdump-tools packages dumps dumps-big demo check dumpless lint programs unit session sanitize sanitized hostile hostile-programs fleet-check fleet-demo integers fuzz fuzzer mutate words words-program bench install install-kdump dist \
	uninstall clean FORCE
