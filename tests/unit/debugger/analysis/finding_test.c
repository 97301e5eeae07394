// SPDX-License-Identifier: GPL-3.0-or-later
/* Evidence comes in the order in which it is added, or where it is put. */
#include "tests/unit/test.h"

#include "debugger/analysis/finding.h"

static void check_order(const struct finding *finding, const char *expected)
{
	char text[64] = "";
	for (size_t i = 0; i < finding->count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s(%s)", i ? " " : "",
			 finding->evidence[i].text, finding->evidence[i].command ?: "");
	CHECK_STRING(text, expected);
}

static void test_order(void)
{
	struct finding finding = { .kind = "bug" };
	CHECK_OK(finding_add_at(&finding, 0, "log", "b%d", 1));
	CHECK_OK(finding_add(&finding, NULL, "c"));
	CHECK_OK(finding_add_at(&finding, 0, "bt", "a"));
	CHECK_OK(finding_add_at(&finding, 3, "mod", "d"));
	check_order(&finding, "a(bt) b1(log) c() d(mod)");
	finding_deinit(&finding);
}

int main(void)
{
	RUN(test_order);
	return test_finish();
}
