// SPDX-License-Identifier: GPL-3.0-or-later
/* Lists whose members are gone. */
#include "faults.h"

#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#define LAB_REQUESTS 16
#define LAB_FREED    7 /* of the requests */

static struct kmem_cache *lab_request_cache;

static struct lab_request *lab_request_add(struct lab_device *device, u64 sector)
{
	struct lab_request *request = kmem_cache_zalloc(lab_request_cache, GFP_KERNEL);

	if (!request)
		return NULL;
	request->sector = sector;
	request->state = LAB_NEW;
	list_add_tail(&request->list, &device->requests);
	return request;
}

static struct lab_request *lab_request_find(struct lab_device *device, u64 sector)
{
	struct lab_request *request;

	list_for_each_entry(request, &device->requests,
			    list) if (request->sector == sector) return request;
	return NULL;
}

/* It forgets to take the request off the list. */
static noinline void lab_request_cancel(struct lab_request *request)
{
	kmem_cache_free(lab_request_cache, request);
}

/* The next one to be allocated is the one that was freed last; it is written to, and freed. */
static noinline void lab_request_reuse(void)
{
	struct lab_request *request = kmem_cache_alloc(lab_request_cache, GFP_ATOMIC);

	if (!request)
		return;
	memset(request, 0x47, sizeof(*request));
	kmem_cache_free(lab_request_cache, request);
}

static noinline u32 lab_device_finish_all(struct lab_device *device)
{
	struct lab_request *request;
	u32 count = 0;

	list_for_each_entry(request, &device->requests, list)
	{
		request->state = LAB_DONE;
		barrier(); /* first the write: the next one is looked for when this one is done */
		count++;
	}
	return count;
}

static noinline int lab_fault_free(struct lab_device *device)
{
	preempt_disable();
	lab_request_cancel(lab_request_find(device, LAB_FREED));
	lab_request_reuse();
	preempt_enable();
	return lab_device_finish_all(device) + 1;
}

static noinline u64 lab_request_next_sector(struct lab_request *request)
{
	return list_next_entry(request, list)->sector;
}

static noinline int lab_fault_poison(struct lab_device *device)
{
	struct lab_request *request = lab_request_find(device, LAB_FREED);

	list_del(&request->list);
	return lab_request_next_sector(request) + 1;
}

static noinline int lab_request_remove(struct lab_request *request)
{
	list_del(&request->list);
	return request->state;
}

/* The kernel checks its lists, and says so with a BUG. */
static noinline int lab_fault_twice(struct lab_device *device)
{
	struct lab_request *request = lab_request_find(device, LAB_FREED);

	return lab_request_remove(request) + lab_request_remove(request);
}

int lab_lists_init(struct lab_device *device)
{
	u64 i;

	INIT_LIST_HEAD(&device->requests);
	lab_request_cache = lab_cache("lab_request", sizeof(struct lab_request));
	if (!lab_request_cache)
		return -ENOMEM;
	for (i = 0; i < LAB_REQUESTS; i++)
		if (!lab_request_add(device, i))
			return -ENOMEM;
	return 0;
}

const struct fault lab_list_faults[] = {
	{ "free", lab_fault_free },
	{ "poison", lab_fault_poison },
	{ "twice", lab_fault_twice },
	{ NULL, NULL },
};
