// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/arguments/code_places.h"

#include "base/address_map.h"
#include "debugger/target/attached.h"

#define FUNCTION_SIZE_MAX (1u << 20)
#define PLACES_MAX	  2048 /* of 4 KiB each, at most; a kernel's stacks have some hundreds */

struct kept {
	uint64_t pc;
	/* Before the instruction there, and before the call that returns there. */
	struct {
		bool is_known; /* with place NULL: that nothing can be proved */
		struct symbolic_place *place;
	} side[2];
};

struct code_places {
	struct address_map map;
	size_t max; /* more than so many are dropped */
};

static void drop_all(struct code_places *places)
{
	struct kept *kept = (struct kept *)(void *)places->map.entries;
	for (size_t i = 0; i < places->map.capacity; i++)
		for (size_t side = 0; side < 2; side++)
			free(kept[i].side[side].place);
}

static void code_places_destroy(void *data)
{
	struct code_places *places = data;
	drop_all(places);
	address_map_deinit(&places->map);
	free(places);
}

struct error *code_places_begin(struct target *target, struct code_places **ret)
{
	static const char key;
	*ret = target_attached(target, &key);
	if (*ret) {
		if ((*ret)->map.count > (*ret)->max) {
			drop_all(*ret);
			address_map_clear(&(*ret)->map, sizeof(struct kept));
		}
		return NULL;
	}
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return error_no_memory();
	(*ret)->max = target_is_live(target) ? 0 : PLACES_MAX;
	return target_attach(target, &key, *ret, code_places_destroy);
}

static struct error *read_place(struct inference *inference, const struct symbolic_world *world,
				const struct frame *frame, struct symbolic_place **ret)
{
	/* The size goes up to the next symbol, wherever a damaged table has that. */
	if (frame->symbol.size > FUNCTION_SIZE_MAX)
		return error_create(ERROR_NOT_FOUND, "no code");
	struct symbolic_place *place = calloc(1, sizeof(*place));
	uint8_t *bytes = malloc(frame->symbol.size + 1);
	struct code code = { bytes, frame->symbol.size, frame->symbol.address };
	struct error *error = NULL;
	if (!place || !bytes)
		error = error_no_memory();
	else if (!text_read(&inference->text, code.address, bytes, code.size))
		error = error_create(ERROR_NOT_FOUND, "no code");
	else
		error = symbolic_run(world, &code, frame->offset, frame->pc_is_exact, place);
	free(bytes);
	if (error)
		free(place);
	else
		*ret = place;
	return error;
}

struct error *code_places_find(struct code_places *places, struct inference *inference,
			       const struct symbolic_world *world, const struct frame *frame,
			       const struct symbolic_place **ret)
{
	struct kept *kept = address_map_add(&places->map, sizeof(*kept), frame->pc);
	if (!kept)
		return frame->pc ? error_no_memory() : error_create(ERROR_NOT_FOUND, "no function");
	size_t side = frame->pc_is_exact;
	if (!kept->side[side].is_known) {
		TRY(error_only_fatal(read_place(inference, world, frame, &kept->side[side].place)));
		kept->side[side].is_known = true;
	}
	*ret = kept->side[side].place;
	return *ret ? NULL : error_create(ERROR_NOT_FOUND, "nothing can be proved of the code");
}
