/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions as trees: made by parse.c, walked by evaluate.c. */
#ifndef DEBUGGER_EVAL_TREE_H
#define DEBUGGER_EVAL_TREE_H

#include "debugger/declare/lexer.h"
#include "debugger/eval/value.h"

enum node_kind {
	NODE_NUMBER,
	NODE_NAME,	  /* symbol or enumerator, with what was said to choose it */
	NODE_MEMBER,	  /* operands[0].name or ->name */
	NODE_INDEX,	  /* operands[0][operands[1]] */
	NODE_UNARY,	  /* operation operands[0] */
	NODE_BINARY,	  /* operands[0] operation operands[1] */
	NODE_CONDITIONAL, /* operands[0] ? operands[1] : operands[2] */
	NODE_CAST,	  /* (type)operands[0] */
	NODE_SIZEOF,	  /* sizeof operands[0] */
	NODE_SIZEOF_TYPE  /* sizeof(type) */
};

enum cpu_choice { CPU_NONE, CPU_ONE, CPU_ALL };

#define NODE_NAME_SIZE 256

struct node {
	enum node_kind kind;
	int operation;	 /* a token kind */
	uint32_t column; /* of the operation, or of the name */
	uint32_t depth;	 /* levels below, itself included */
	struct node *operands[3];
	struct type type;
	struct token number;	    /* NUMBER */
	char name[NODE_NAME_SIZE];  /* NAME, MEMBER */
	char module[64];	    /* NAME: "module:name", "" */
	enum cpu_choice cpu_choice; /* NAME: "name:CPU", "name:a" */
	uint32_t cpu;
	bool has_address; /* NAME: "name@address" */
	uint64_t address;
	struct node *next; /* of all nodes, for freeing */
};

struct tree {
	struct node *root;
	struct node *nodes;
	uint32_t count;
	bool all_cpus; /* some name asks for all CPUs */
};

/* Errors: ERROR_USAGE or ERROR_NOT_FOUND (types), "column N: what". */
struct error *expression_parse(struct target *target, const char *text,
			       struct tree *ret) MUST_CHECK;
void tree_deinit(struct tree *tree);

/* How to walk a tree. */
struct evaluation {
	struct target *target;
	const struct cpu *cpu;	 /* for names with CPU_ALL */
	unsigned int types_only; /* > 0: read nothing, as within sizeof */
	char note[256];		 /* set when one of several symbols was taken */
};

struct error *expression_walk(struct evaluation *evaluation, const struct node *node,
			      struct value *ret) MUST_CHECK;
/* NODE_NAME (name.c). */
struct error *name_evaluate(struct evaluation *evaluation, const struct node *node,
			    struct value *ret) MUST_CHECK;
/* Operators on values that were computed (operators.c). Errors carry no column. */
struct error *unary_evaluate(int operation, const struct value *value,
			     struct value *ret) MUST_CHECK;
struct error *binary_evaluate(int operation, const struct value *left, const struct value *right,
			      struct value *ret) MUST_CHECK;

#endif
