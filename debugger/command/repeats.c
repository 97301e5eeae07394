// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/repeats.h"

#include "debugger/command/run.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Behind what the command has written until now. */
static void say(const struct session *session, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(const struct session *session, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fflush(session->file);
	run_message(session, text);
}

/* Of whom it was said before; NULL: it was not. */
static const char *was_said(struct repeats *repeats, const char *message)
{
	for (size_t i = 0; i < repeats->count; i++)
		if (!strcmp(repeats->said[i].message, message)) {
			repeats->said[i].more++;
			return repeats->said[i].item;
		}
	return NULL;
}

static void remember(struct repeats *repeats, const char *item, const char *message)
{
	if (repeats->count == REPEATS_MAX)
		return;
	char *item_copy = strdup(item), *message_copy = strdup(message);
	if (item_copy && message_copy) {
		repeats->said[repeats->count].item = item_copy;
		repeats->said[repeats->count++].message = message_copy;
		return;
	}
	free(item_copy);
	free(message_copy);
}

const char *repeats_say(struct repeats *repeats, const struct session *session, const char *item,
			const char *message)
{
	const char *said = was_said(repeats, message);
	if (said)
		return said;
	remember(repeats, item, message);
	say(session, "%s: %s", item, message);
	return NULL;
}

void repeats_end(struct repeats *repeats, const struct session *session)
{
	for (size_t i = 0; i < repeats->count; i++) {
		const char *message = repeats->said[i].message;
		uint64_t more = repeats->said[i].more;
		if (more && repeats->count == 1)
			say(session, "the same of %" PRIu64 " more", more);
		else if (more)
			say(session, "%s: the same of %" PRIu64 " more", message, more);
		free(repeats->said[i].item);
		free(repeats->said[i].message);
	}
	*repeats = (struct repeats){ .count = 0 };
}
