// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The answer of a server that is called over the network, as NFS calls its own (kernel
 * net/sunrpc/sched.c): who waits sleeps until a bit of the call's state is cleared. The types are
 * the module's that has that function.
 */
#include "debugger/analysis/waits_private.h"

#include "debugger/analysis/wait_text.h"
#include "debugger/kernel/path.h"
#include <string.h>

#define MODULE "sunrpc"
#define NAME   128
/* Of struct rpc_task.tk_flags. */
#define RPC_TASK_SENT 0x0800u

static struct error *find_call(struct target *target, uint64_t address, struct object *ret)
{
	const struct module *module = target_module(target, MODULE);
	const struct btf *near = module ? target_module_btf(target, module) : NULL;
	*ret = (struct object){ .target = target, .address = address };
	return target_find_type(target, near, "struct rpc_task", &ret->type);
}

void wait_find_rpc(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	struct object call, state;
	uint64_t flags;
	if (!wait->kind || strcmp(wait->kind, "bit") != 0 ||
	    !wait_frame_is(&sleeper->trace->frames[sleeper->frame], "rpc_wait_bit_killable"))
		return;
	struct error *error = find_call(sleeper->world->target, 0, &call);
	if (!error)
		error = object_member(&call, "tk_runstate", &state);
	if (!error) {
		wait->kind = "RPC answer";
		wait->within = wait->object - state.address;
		wait->within_type = "struct rpc_task";
		wait->owner_how = "whether the server was asked could not be found out";
		call.address = wait->within;
		error = object_u64(&call, "tk_flags", &flags);
	}
	if (!error)
		wait->owner_how = flags & RPC_TASK_SENT ? "the server has not answered"
							: "the call has not been sent yet";
	error_free(error);
}

/* A name behind pointers: "" where one of them is not there. */
static struct error *read_name(struct object at, const char *const *path, const char *name,
			       char *buffer)
{
	*buffer = 0;
	for (; *path; path++) {
		TRY(object_follow(&at, *path, &at));
		if (!at.address)
			return NULL;
	}
	return path_pointed_string(&at, name, buffer, NAME);
}

void wait_put_rpc(struct target *target, uint64_t address, struct strbuf *ret)
{
	static const char *const to_procedure[] = { "tk_msg.rpc_proc", NULL };
	static const char *const to_program[] = { "tk_client", "cl_program", NULL };
	static const char *const to_server[] = { "tk_xprt", NULL };
	char procedure[NAME] = "", program[NAME] = "", server[NAME] = "";
	struct object call;
	struct error *error = find_call(target, address, &call);
	if (!error)
		error = read_name(call, to_procedure, "p_name", procedure);
	if (!error)
		error = read_name(call, to_program, "name", program);
	if (!error)
		error = read_name(call, to_server, "servername", server);
	error_free(error);
	if (*procedure || *program || *server)
		strbuf_format(ret, "%s of %s, asked of server %s",
			      *procedure ? procedure : "a call", *program ? program : "a program",
			      *server ? server : "whose name is not known");
}
