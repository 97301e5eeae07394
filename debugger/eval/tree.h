/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions as trees: made by parse.c, walked by evaluate.c. */
#ifndef DEBUGGER_EVAL_TREE_H
#define DEBUGGER_EVAL_TREE_H

#include "debugger/declare/lexer.h"
#include "debugger/eval/expression.h"

enum node_kind {
	NODE_NUMBER,
	NODE_STRING,	  /* bytes, that the scope's variables keep */
	NODE_NAME,	  /* symbol or enumerator, with what was said to choose it */
	NODE_VARIABLE,	  /* $name, without the dollar */
	NODE_BASE,	  /* what a member path starts from: evaluation->base */
	NODE_PLACE,	  /* a `type` at address 0: what offsetof's path starts from */
	NODE_MEMBER,	  /* operands[0].name or ->name */
	NODE_INDEX,	  /* operands[0][operands[1]] */
	NODE_SLICE,	  /* operands[0][operands[1]..operands[2]] */
	NODE_UNARY,	  /* operation operands[0] */
	NODE_BINARY,	  /* operands[0] operation operands[1] */
	NODE_CONDITIONAL, /* operands[0] ? operands[1] : operands[2] */
	NODE_CAST,	  /* (type)operands[0] */
	NODE_SIZEOF,	  /* sizeof operands[0] */
	NODE_SIZEOF_TYPE, /* sizeof(type) */
	NODE_OFFSETOF,	  /* operands[0]: members and elements of a NODE_PLACE */
	NODE_CONTAINER,	  /* container_of(operands[0], type, operands[1] as above) */
	NODE_PER_CPU,	  /* per_cpu(operands[0], operands[1]) */
	NODE_PER_CPU_PTR  /* per_cpu_ptr(operands[0], operands[1]) */
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
	const char *bytes;	    /* STRING: with a NUL at the end */
	size_t byte_count;	    /* the NUL included */
	char name[NODE_NAME_SIZE];  /* NAME, VARIABLE, MEMBER */
	char module[64];	    /* NAME: "module:name", "" */
	enum cpu_choice cpu_choice; /* NAME: "name:CPU", "name:a" */
	uint32_t cpu;
	bool has_address; /* NAME: "name@address" */
	uint64_t address;
	bool is_whole;	   /* SLICE: the array itself is meant, not each element in turn */
	int64_t slice_at;  /* SLICE: the element at the moment */
	struct node *next; /* of all nodes, for freeing */
};

struct tree {
	struct node *root;
	struct node *nodes;
	uint32_t count;
	bool all_cpus; /* some name asks for all CPUs */
	/* Slices whose elements are evaluated one by one, inner ones first. */
	struct node *slices[EXPRESSION_SLICES_MAX];
	size_t slice_count;
};

/* Errors: ERROR_USAGE or ERROR_NOT_FOUND (types), "column N: what". */
struct error *expression_parse(struct scope *scope, const char *text, struct tree *ret) MUST_CHECK;
/* "comm", "se.load.weight", "[3]->next": what stands behind a value of NODE_BASE. */
struct error *member_path_parse(struct scope *scope, const char *text, struct tree *ret) MUST_CHECK;
void tree_deinit(struct tree *tree);

/* How to walk a tree. */
struct evaluation {
	struct scope *scope;
	struct target *target;	   /* of the scope */
	const struct cpu *cpu;	   /* for names with CPU_ALL */
	const struct cpu *per_cpu; /* within per_cpu(): for names with CPU_NONE */
	bool used_per_cpu;	   /* there was one */
	const struct value *base;  /* NODE_BASE */
	unsigned int types_only;   /* > 0: read nothing, as within sizeof */
	char note[512];		   /* one of several symbols was taken, an index out of bounds */
};

struct error *expression_walk(struct evaluation *evaluation, const struct node *node,
			      struct value *ret) MUST_CHECK;
/* The same for an operand whose value matters, not its place: with types_only, a zero of its type.
 */
struct error *operand_walk(struct evaluation *evaluation, const struct node *node,
			   struct value *ret) MUST_CHECK;
/* Puts the column in front of errors of usage; what could not be read names its own address. */
struct error *at_column(const struct node *node, struct error *error) MUST_CHECK;
/* sizeof, offsetof, container_of, per_cpu (evaluate_builtin.c). */
struct error *builtin_evaluate(struct evaluation *evaluation, const struct node *node,
			       struct value *ret) MUST_CHECK;
/* operands[0][index], after C's rules or of a string. */
struct error *element_evaluate(const struct node *node, const struct value *base,
			       const struct value *index, struct value *ret) MUST_CHECK;
/* The bounds of a slice: first and last element. */
struct error *slice_bounds(struct evaluation *evaluation, const struct node *node,
			   int64_t *ret_first, int64_t *ret_last) MUST_CHECK;
/* NODE_NAME (name.c), NODE_VARIABLE (name_variable.c). */
struct error *name_evaluate(struct evaluation *evaluation, const struct node *node,
			    struct value *ret) MUST_CHECK;
struct error *variable_evaluate(struct evaluation *evaluation, const struct node *node,
				struct value *ret) MUST_CHECK;
/* The CPU that "name:CPU", "name:a" or per_cpu() says; NULL: none does. */
struct error *cpu_select(struct evaluation *evaluation, const struct node *node,
			 const struct cpu **ret) MUST_CHECK;
/* Whether it is `current`, and the task that is. */
bool is_current(const struct node *node);
struct error *current_evaluate(struct evaluation *evaluation, const struct node *node,
			       struct value *ret) MUST_CHECK;
/* Operators on values that were computed (operators.c). Errors carry no column. */
struct error *unary_evaluate(int operation, const struct value *value,
			     struct value *ret) MUST_CHECK;
struct error *binary_evaluate(int operation, const struct value *left, const struct value *right,
			      struct value *ret) MUST_CHECK;
/* The branch of "? :" that was taken, in the type that both have in common. */
struct error *branch_convert(const struct value *taken, const struct value *other,
			     struct value *ret) MUST_CHECK;
/*
 * == of what is no number: a string literal and text in memory, two structs, unions or arrays of
 * one type (operators_memory.c). False for others.
 */
bool compares_memory(int operation, const struct value *left, const struct value *right);
struct error *memory_compare(int operation, const struct value *left, const struct value *right,
			     struct value *ret) MUST_CHECK;

#endif
