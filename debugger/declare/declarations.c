// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The table of declared variables. Adding checks the syntax and remembers where each declaration
 * starts; the few that are asked for are parsed again and looked up in BTF then.
 */
#include "debugger/declare/declare.h"

#include "base/array.h"
#include "base/ascii.h"
#include "base/hash.h"
#include "base/helper.h"
#include "debugger/declare/ctype.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX	(64u << 20)
#define STRING_SIZE_MAX 4096

struct source {
	char *name;
	const char *text;
	char *owned; /* text, when it is a copy */
	size_t size;
	bool is_builtin;
};

struct declaration {
	const char *name; /* within the source's text */
	uint32_t name_length;
	uint32_t source;
	uint32_t offset; /* of the whole declaration, "struct a x, y;" */
	uint32_t line;	 /* of its first word, from 1 */
	/* What it was resolved to for a symbol of so much room; type.btf NULL: not yet. */
	struct type type;
	uint64_t room;
};

struct declarations {
	struct source *sources;
	size_t source_count, source_capacity;
	struct declaration *items;
	size_t count, capacity;
	struct hash_index index;
	bool builtin_pending; /* asked for, but nobody has needed it yet */
};

struct declarations *declarations_create(void)
{
	return calloc(1, sizeof(struct declarations));
}

void declarations_destroy(struct declarations *declarations)
{
	if (!declarations)
		return;
	for (size_t i = 0; i < declarations->source_count; i++) {
		free(declarations->sources[i].name);
		free(declarations->sources[i].owned);
	}
	free(declarations->sources);
	free(declarations->items);
	hash_index_deinit(&declarations->index);
	free(declarations);
}

static const char declarations_key;

static struct declarations *declarations_kept(const struct target *target)
{
	return target_attached(target, &declarations_key);
}

static void destroy_kept(void *data)
{
	declarations_destroy(data);
}

struct error *declarations_keep(struct target *target, struct declarations *declarations)
{
	return target_attach(target, &declarations_key, declarations, destroy_kept);
}

static struct error *add_item(struct declarations *declarations, const struct declaration *item)
{
	if (declarations->count >= UINT32_MAX - 1 ||
	    !array_reserve(&declarations->items, &declarations->capacity, declarations->count + 1))
		return error_no_memory();
	if (!hash_index_add(&declarations->index, hash_bytes(item->name, item->name_length),
			    declarations->count))
		return error_no_memory();
	declarations->items[declarations->count++] = *item;
	return NULL;
}

/* --- adding -------------------------------------------------------------------------------- */

typedef struct error *declarator_visitor(void *context, const struct declarator *declarator);

/* "specifiers declarator, declarator;" at the current token. */
static struct error *parse_declaration(struct lexer *lexer, declarator_visitor *visit,
				       void *context)
{
	struct ctype_pool pool = { 0 };
	struct ctype *base;
	struct error *error = ctype_parse_specifiers(lexer, &pool, &base);
	for (bool more = true; !error && more;) {
		struct declarator declarator;
		pool.depth = 0;
		error = ctype_parse_declarator(lexer, &pool, base, true, &declarator);
		if (!error)
			error = visit(context, &declarator);
		more = lexer->token.kind == ',';
		if (!error && more)
			error = lexer_next(lexer);
	}
	if (!error && lexer->token.kind != ';')
		error = token_unexpected(&lexer->token, "\";\"");
	if (!error)
		error = lexer_next(lexer);
	ctype_pool_deinit(&pool);
	return error;
}

struct adding {
	struct declarations *declarations;
	struct declaration item;
};

static struct error *add_declarator(void *context, const struct declarator *declarator)
{
	struct adding *adding = context;
	adding->item.name = declarator->name;
	adding->item.name_length = declarator->name_length;
	return add_item(adding->declarations, &adding->item);
}

static struct error *add_text(struct declarations *declarations, struct lexer *lexer,
			      uint32_t source)
{
	const struct source *from = &declarations->sources[source];
	struct error *error = lexer_init(lexer, from->text, from->size, false);
	while (!error && lexer->token.kind != TOKEN_END) {
		if (lexer->token.kind == ';') {
			error = lexer_next(lexer);
			continue;
		}
		struct adding adding = { declarations,
					 { .source = source,
					   .offset = lexer->token.text - from->text,
					   .line = lexer->token.line } };
		error = parse_declaration(lexer, add_declarator, &adding);
	}
	return error;
}

static struct error *add_source(struct declarations *declarations, struct source *source)
{
	if (source->size >= FILE_SIZE_MAX)
		return error_create(ERROR_USAGE, "%s: larger than %u MiB", source->name,
				    FILE_SIZE_MAX >> 20);
	if (!array_reserve(&declarations->sources, &declarations->source_capacity,
			   declarations->source_count + 1))
		return error_no_memory();
	declarations->sources[declarations->source_count] = *source;
	uint32_t number = declarations->source_count++;
	const char *name = source->name;
	/* From here on the table owns the source's memory. */
	*source = (struct source){ 0 };
	struct lexer lexer;
	struct error *error = add_text(declarations, &lexer, number);
	return error_prefix(error, "%s:%u", name, lexer.token.line);
}

/* Takes `owned` (NULL: borrows `text`). */
static struct error *add(struct declarations *declarations, const char *text, size_t size,
			 char *owned, const char *name)
{
	struct source source = { .name = strdup(name),
				 .text = text,
				 .size = size,
				 .owned = owned,
				 .is_builtin = !owned };
	struct error *error = source.name ? add_source(declarations, &source) : error_no_memory();
	free(source.name);
	free(source.owned);
	return error;
}

static struct error *load_builtin(struct declarations *declarations);

struct error *declarations_add(struct declarations *declarations, const char *text,
			       const char *source)
{
	TRY(load_builtin(declarations));
	char *copy = strdup(text);
	if (!copy)
		return error_no_memory();
	return add(declarations, copy, strlen(copy), copy, source);
}

static struct error *read_file(FILE *file, const char *path, char **ret, size_t *ret_size)
{
	struct stat status;
	if (fstat(fileno(file), &status))
		return error_system("%s", path);
	if (!S_ISREG(status.st_mode) || status.st_size >= FILE_SIZE_MAX)
		return error_create(ERROR_USAGE, "%s: not a file of declarations", path);
	char *text = malloc(status.st_size + 1);
	if (!text)
		return error_no_memory();
	*ret_size = fread(text, 1, status.st_size, file);
	text[*ret_size] = 0;
	if (ferror(file)) {
		free(text);
		return error_system("%s", path);
	}
	*ret = text;
	return NULL;
}

struct error *declarations_add_file(struct declarations *declarations, struct helper_link *helper,
				    const char *path)
{
	TRY(load_builtin(declarations));
	int fd = helper_open(helper, path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		struct error *error = error_system("%s", path);
		if (fd >= 0)
			close(fd);
		return error;
	}
	char *text = NULL;
	size_t size = 0;
	struct error *error = read_file(file, path, &text, &size);
	fclose(file);
	if (error)
		return error;
	return add(declarations, text, size, text, path);
}

/* globals.decl as it is in the source tree; the path is relative to its root (-I.). */
__asm__(".pushsection .rodata.globals_decl, \"a\"\n"
	"globals_decl_start:\n"
	".incbin \"debugger/declare/globals.decl\"\n"
	"globals_decl_end:\n"
	".byte 0\n"
	".popsection\n");
extern const char globals_decl_start[] __attribute__((visibility("hidden")));
extern const char globals_decl_end[] __attribute__((visibility("hidden")));

/* What is added later outranks it, so it comes first; most sessions never need it. */
struct error *declarations_add_builtin(struct declarations *declarations)
{
	declarations->builtin_pending = true;
	return NULL;
}

static struct error *load_builtin(struct declarations *declarations)
{
	if (!declarations->builtin_pending)
		return NULL;
	declarations->builtin_pending = false;
	return add(declarations, globals_decl_start, globals_decl_end - globals_decl_start, NULL,
		   "builtin");
}

/* --- finding -------------------------------------------------------------------------------- */

struct finding {
	struct target *target;
	const struct declaration *item;
	const struct symbol *symbol; /* of the program's own list; else NULL */
	uint64_t room;
	struct type type;
};

/*
 * What an open array gets. Up to the next symbol there may be strings without a name: a char[] of
 * the program's own list that is in read-only data ends with its text.
 */
static uint64_t open_room(const struct finding *finding, const struct ctype *element)
{
	const struct target *target = finding->target;
	const struct symbol *symbol = finding->symbol;
	uint64_t start, end;
	char bytes[STRING_SIZE_MAX];
	struct error *why;
	if (!symbol || symbol->size_exact || symbol->per_cpu || strcmp(element->name, "char") ||
	    !target->memory || !symtab_address(target->symbols, "__start_rodata", &start) ||
	    !symtab_address(target->symbols, "__end_rodata", &end) || symbol->address < start ||
	    symbol->address >= end)
		return finding->room;
	size_t size = finding->room < sizeof(bytes) ? finding->room : sizeof(bytes);
	size = memory_read_some(target->memory, symbol->address, bytes, size, &why);
	error_free(why);
	size_t length = ascii_text_length(bytes, size);
	return length ? length + 1 : finding->room;
}

static struct error *resolve_declarator(void *context, const struct declarator *declarator)
{
	struct finding *finding = context;
	if (declarator->name != finding->item->name)
		return NULL;
	const struct ctype *ctype = declarator->type;
	bool is_open = ctype->kind == CTYPE_ARRAY && ctype->is_open;
	uint64_t size, room = is_open ? open_room(finding, ctype->target) : finding->room;
	TRY(ctype_resolve(finding->target, NULL, ctype, room, &finding->type));
	if (!type_size(finding->type, &size))
		return error_create(ERROR_FORMAT, "its type is incomplete in the kernel's BTF");
	if (finding->room && size > finding->room)
		return error_create(ERROR_FORMAT,
				    "it takes %" PRIu64 " bytes where %" PRIu64
				    " are up to the next symbol",
				    size, finding->room);
	return NULL;
}

static struct error *resolve_item(struct target *target, struct declaration *item, uint64_t room,
				  const struct symbol *symbol, struct type *ret)
{
	if (item->type.btf && item->room == room) {
		*ret = item->type;
		return NULL;
	}
	const struct source *source = &declarations_kept(target)->sources[item->source];
	struct finding finding = { .target = target,
				   .item = item,
				   .symbol = source->is_builtin ? symbol : NULL,
				   .room = room };
	struct lexer lexer;
	TRY(lexer_init(&lexer, source->text + item->offset, source->size - item->offset, false));
	TRY(error_prefix(parse_declaration(&lexer, resolve_declarator, &finding), "%s:%u: %.*s",
			 source->name, item->line, (int)item->name_length, item->name));
	*ret = item->type = finding.type;
	item->room = room;
	return NULL;
}

/* Errors that say "not this declaration" rather than "no declaration at all". */
static bool is_misfit(const struct error *error)
{
	return error->kind == ERROR_NOT_FOUND || error->kind == ERROR_FORMAT ||
	       error->kind == ERROR_USAGE;
}

struct found {
	struct type type;
	struct error *why; /* of misfits the latest one's reason */
	bool is_builtin;
};

static struct error *find_declared(struct target *target, const char *name, uint64_t size,
				   const struct symbol *symbol, struct found *ret)
{
	struct declarations *declarations = declarations_kept(target);
	size_t length = strlen(name);
	uint32_t hash = hash_bytes(name, length);
	/* The latest that fits. */
	size_t position = hash_index_first(&declarations->index, hash);
	for (uint32_t n;
	     (n = hash_index_next(&declarations->index, hash, &position)) != HASH_NONE;) {
		struct declaration *item = &declarations->items[n];
		struct type type;
		if (item->name_length != length || memcmp(item->name, name, length))
			continue;
		struct error *error = resolve_item(target, item, size, symbol, &type);
		if (error && !is_misfit(error))
			return error;
		if (error) {
			error_free(ret->why);
			ret->why = error;
			continue;
		}
		ret->type = type;
		ret->is_builtin = declarations->sources[item->source].is_builtin;
	}
	return NULL;
}

/* `symbol`: NULL, or the one of this name. */
static struct error *find_any(struct target *target, const char *name, uint64_t size,
			      const struct symbol *symbol, struct found *ret)
{
	*ret = (struct found){ .why = NULL };
	struct declarations *declarations = declarations_kept(target);
	if (!declarations)
		return NULL;
	TRY(load_builtin(declarations));
	struct error *error = find_declared(target, name, size, symbol, ret);
	if (error || ret->type.btf) {
		error_free(ret->why);
		ret->why = NULL;
	}
	return error;
}

struct error *declarations_find(struct target *target, const char *name, uint64_t size,
				struct type *ret, struct error **ret_why)
{
	struct found found;
	*ret = (struct type){ NULL, 0 };
	*ret_why = NULL;
	TRY(find_any(target, name, size, NULL, &found));
	*ret = found.type;
	*ret_why = found.why;
	return NULL;
}

/* --- of a target ------------------------------------------------------------------------ */

struct error *target_declarations(struct target *target, struct declarations **ret)
{
	struct declarations *declarations = declarations_kept(target);
	if (!declarations) {
		declarations = declarations_create();
		if (!declarations)
			return error_no_memory();
		TRY(declarations_keep(target, declarations));
		TRY(declarations_add_builtin(declarations));
	}
	*ret = declarations;
	return NULL;
}

bool declarations_of_user(const struct target *target)
{
	const struct declarations *declarations = declarations_kept(target);
	for (size_t i = 0; declarations && i < declarations->source_count; i++)
		if (!declarations->sources[i].is_builtin)
			return true;
	return false;
}

/* What the user declares outranks BTF; the program's own list ends where BTF begins. */
static struct error *find_for_symbol(struct target *target, const struct symbol *symbol,
				     bool of_user, struct type *ret, bool *ret_found)
{
	struct found found;
	struct declarations *declarations = NULL;
	TRY(target_declarations(target, &declarations));
	/* Only what the user adds makes the program read its own list before it is needed. */
	*ret_found = false;
	if (of_user && declarations->builtin_pending)
		return NULL;
	TRY(find_any(target, symbol->name, symbol->per_cpu ? 0 : symbol->size, symbol, &found));
	error_free(found.why);
	*ret_found = found.type.btf && found.is_builtin == !of_user;
	if (*ret_found)
		*ret = found.type;
	return NULL;
}

struct error *declared_symbol_type(struct target *target, const struct symbol *symbol,
				   struct type *ret_type, enum type_origin *ret_origin)
{
	bool found = false;
	*ret_origin = ORIGIN_USER;
	if (target->btf)
		TRY(find_for_symbol(target, symbol, true, ret_type, &found));
	if (found)
		return NULL;
	TRY(target_symbol_type(target, symbol, ret_type, ret_origin));
	if (*ret_origin != ORIGIN_NONE || symbol->module || !target->btf)
		return NULL;
	TRY(find_for_symbol(target, symbol, false, ret_type, &found));
	if (found)
		*ret_origin = ORIGIN_DECLARED;
	return NULL;
}
