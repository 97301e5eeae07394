// SPDX-License-Identifier: GPL-3.0-or-later
/* Algorithms of the kernel's cryptography, as /proc/crypto has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum {
	COLUMN_ALGORITHM,
	COLUMN_PRIORITY,
	COLUMN_REFERENCES,
	COLUMN_FLAGS,
	COLUMN_BLOCK_SIZE,
	COLUMN_CONTEXT_SIZE,
	COLUMN_OWNER,
	COLUMN_NAME,
	COLUMN_DRIVER
};

static const struct table_column columns[] = {
	[COLUMN_ALGORITHM] = { "alg", COLUMN_ADDRESS, 16, "its struct crypto_alg",
			       "struct crypto_alg" },
	[COLUMN_PRIORITY] = { "priority", COLUMN_INTEGER, 8,
			      "of those of a name, the greatest is taken", NULL },
	[COLUMN_REFERENCES] = { "refcnt", COLUMN_INTEGER, 6, "who uses it, and itself", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "CRYPTO_ALG_*", NULL },
	[COLUMN_BLOCK_SIZE] = { "blocksize", COLUMN_INTEGER, 0, "bytes", NULL },
	[COLUMN_CONTEXT_SIZE] = { "ctxsize", COLUMN_BYTES, 0, "of a user's state", NULL },
	[COLUMN_OWNER] = { "module", COLUMN_TEXT, -16, "whose it is; none: the kernel's", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "what it does", NULL },
	[COLUMN_DRIVER] = { "driver", COLUMN_TEXT, -24, "who does it", NULL },
};

static struct error *set_owner(struct table_scan *scan, const struct object *algorithm)
{
	struct object module;
	TRY(object_follow(algorithm, "cra_module", &module));
	return module.address ? table_set_chars(scan, COLUMN_OWNER, &module, "name") : NULL;
}

static struct error *visit_algorithm(struct table_scan *scan, const struct object *algorithm,
				     void *context)
{
	(void)context;
	table_set(scan, COLUMN_ALGORITHM, algorithm->address);
	TRY(table_set_member(scan, COLUMN_PRIORITY, algorithm, "cra_priority"));
	TRY(table_set_member(scan, COLUMN_REFERENCES, algorithm, "cra_refcnt.refs.counter"));
	TRY(table_set_member(scan, COLUMN_FLAGS, algorithm, "cra_flags"));
	TRY(table_set_member(scan, COLUMN_BLOCK_SIZE, algorithm, "cra_blocksize"));
	TRY(table_set_member(scan, COLUMN_CONTEXT_SIZE, algorithm, "cra_ctxsize"));
	TRY(table_set_error(scan, COLUMN_OWNER, set_owner(scan, algorithm)));
	TRY(table_set_chars(scan, COLUMN_NAME, algorithm, "cra_name"));
	TRY(table_set_chars(scan, COLUMN_DRIVER, algorithm, "cra_driver_name"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct crypto_alg", "cra_list",
					 visit_algorithm, NULL };
	return table_walk_variable(scan, "crypto_alg_list", "struct list_head", &walk);
}

static const char *const examples[] = { "algorithms -n 5", "algorithms --where \"name = 'sha256'\"",
					NULL };

const struct table table_algorithms = {
	.name = "algorithms",
	.summary = "algorithms of cryptography",
	.description = "A row is a struct crypto_alg, as /proc/crypto has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_ALGORITHM,
	.is_object = true,
};
