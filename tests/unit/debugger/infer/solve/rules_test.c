// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/solve/rules.h"

#include "tests/unit/test.h"
#include <string.h>

static void test_rows(void)
{
	for (int i = 0; i < RULE_COUNT; i++) {
		const struct rule_row *row = rule_row((enum rule)i);
		CHECK(row->name && row->says && row->points);
		for (int k = 0; row->name && k < i; k++)
			CHECK(strcmp(row->name, rule_row((enum rule)k)->name));
	}
}

static void test_less(void)
{
	struct rules rules;
	rules_all(&rules);
	for (int i = 0; i < RULE_COUNT; i++)
		CHECK(rule(&rules, (enum rule)i) == rule(NULL, (enum rule)i));
	CHECK(rules_less(&rules, rule_row(RULE_STRIDE)->name));
	CHECK(rule(&rules, RULE_STRIDE) == 0 && rule(&rules, RULE_OBJECT) != 0);
	CHECK(!rules_less(&rules, "no such rule") && !rules_less(&rules, ""));
}

int main(void)
{
	RUN(test_rows);
	RUN(test_less);
	return test_finish();
}
