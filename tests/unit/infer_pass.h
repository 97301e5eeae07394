/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the whole pass of inference knows of a made-up machine, for tests of its parts. */
#ifndef TESTS_UNIT_INFER_PASS_H
#define TESTS_UNIT_INFER_PASS_H

#include "debugger/infer/known/subjects.h"
#include "debugger/infer/one.h"
#include "tests/unit/infer_machine.h"

struct pass {
	struct machine machine;
	struct knowledge *knowledge;
	const struct layout *layout;
	struct subjects subjects;
	struct solver solver;
	struct one one;
	struct answer *answers; /* of each subject, for the test to fill */
	uint32_t *types;	/* the same */
};

/* `contents`, borrowed, lie at DATA; the machine's types are for the test to add. */
static inline void pass_init(struct pass *pass, void *contents, size_t size)
{
	machine_init(&pass->machine);
	machine_add_part(&pass->machine, DATA, contents, size);
}

/* After the types were added. The symbols are borrowed. */
static inline void pass_begin(struct pass *pass, const struct test_symbol *symbols, size_t count)
{
	machine_set_symbols(&pass->machine, symbols, count);
	machine_set_types(&pass->machine);
	CHECK_OK(knowledge_create(&pass->machine.target, &pass->knowledge));
	CHECK_OK(knowledge_layout(pass->knowledge, NULL, &pass->layout));
	CHECK_OK(subjects_init(&pass->subjects, &pass->machine.target));
	CHECK_OK(solver_init(&pass->solver, pass->layout));
	pass->knowledge->subjects = &pass->subjects;
	pass->one.knowledge = pass->knowledge;
	pass->one.solver = &pass->solver;
	pass->answers = calloc(pass->subjects.count, sizeof(*pass->answers));
	pass->types = calloc(pass->subjects.count, sizeof(*pass->types));
	CHECK(pass->answers && pass->types);
}

static inline void pass_end(struct pass *pass)
{
	one_end(&pass->one);
	free(pass->types);
	free(pass->answers);
	subjects_deinit(&pass->subjects);
	solver_deinit(&pass->solver);
	knowledge_destroy(pass->knowledge);
	machine_deinit(&pass->machine);
}

/* The number of the subject that begins at an address. */
static inline size_t pass_number(const struct pass *pass, uint64_t address)
{
	uint64_t offset = 1;
	const struct subject *subject = subject_at(&pass->subjects, address, &offset);
	CHECK(subject && !offset);
	return subject ? (size_t)(subject - pass->subjects.items) : 0;
}

#endif
