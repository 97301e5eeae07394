// SPDX-License-Identifier: GPL-3.0-or-later
/* An object that is written beyond its end: what lies behind it breaks, and somebody else falls. */
#include "faults.h"

#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#define LAB_SLOTS     64
#define LAB_SLOT_SIZE 128
#define LAB_OVER      96 /* bytes too many */

struct lab_slot {
	u64 number;
	struct timer_list timer;
	u8 data[LAB_SLOT_SIZE - sizeof(u64) - sizeof(struct timer_list)];
};

static struct kmem_cache *lab_slot_cache;
static struct lab_slot *lab_slots[LAB_SLOTS];
static struct lab_slot *lab_label; /* that is written to */

static noinline void lab_label_fill(size_t size)
{
	/* Not checked: as of a length that a device sent. */
	u8 *volatile bytes = (u8 *)lab_label;
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = 0x42;
}

static int lab_slots_fill(void)
{
	unsigned int i;

	lab_slot_cache = lab_cache("lab_slot", sizeof(struct lab_slot));
	if (!lab_slot_cache)
		return -ENOMEM;
	for (i = 0; i < LAB_SLOTS; i++) {
		lab_slots[i] = kmem_cache_zalloc(lab_slot_cache, GFP_KERNEL);
		if (!lab_slots[i])
			return -ENOMEM;
		lab_slots[i]->number = i;
	}
	return 0;
}

/* One that lies right behind another one, which becomes the label; or why there is none. */
static struct lab_slot *lab_slot_behind(void)
{
	unsigned int i, k;
	int error = lab_slots_fill();

	if (error)
		return ERR_PTR(error);
	for (i = 0; i < LAB_SLOTS; i++)
		for (k = 0; k < LAB_SLOTS; k++)
			if (lab_slots[k] == lab_slots[i] + 1) {
				struct lab_slot *behind = lab_slots[k];

				lab_label = lab_slots[i];
				memset(lab_slots, 0, sizeof(lab_slots));
				return behind;
			}
	return ERR_PTR(-ENOENT);
}

/* Behind it lies a free object. */
static noinline int lab_fault_neighbour(struct lab_device *device)
{
	struct lab_slot *behind;
	unsigned int i;

	behind = lab_slot_behind();
	if (IS_ERR(behind))
		return PTR_ERR(behind);
	kmem_cache_free(lab_slot_cache, behind);
	lab_label_fill(sizeof(*lab_label) + LAB_OVER);
	for (i = 0; i < 3; i++)
		if (!kmem_cache_alloc(lab_slot_cache, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

struct lab_record {
	struct list_head node;
	struct lab_slot *slot;
};

static LIST_HEAD(lab_records);

/* A record writes to what it has freed, whoever has that now. */
static noinline int lab_fault_keeper(struct lab_device *device)
{
	struct lab_record *record;
	unsigned int i;
	int error = lab_slots_fill();

	if (error)
		return error;
	for (i = 0; i < 4; i++) {
		record = kzalloc(sizeof(*record), GFP_KERNEL);
		if (!record)
			return -ENOMEM;
		record->slot = lab_slots[i];
		list_add_tail(&record->node, &lab_records);
	}
	memset(lab_slots, 0, sizeof(lab_slots));
	record = list_last_entry(&lab_records, struct lab_record, node);
	kmem_cache_free(lab_slot_cache, record->slot);
	memset(record->slot, 0x42, sizeof(*record->slot));
	for (i = 0; i < 3; i++)
		if (!kmem_cache_alloc(lab_slot_cache, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

static void lab_slot_timeout(struct timer_list *timer)
{
}

/* Behind it lies one whose timer runs. */
static noinline int lab_fault_spilt(struct lab_device *device)
{
	struct lab_slot *behind;

	behind = lab_slot_behind();
	if (IS_ERR(behind))
		return PTR_ERR(behind);
	timer_setup(&behind->timer, lab_slot_timeout, 0);
	mod_timer(&behind->timer, jiffies + HZ / 10);
	lab_label_fill(sizeof(*lab_label) + LAB_OVER);
	return 0;
}

const struct fault lab_neighbour_faults[] = {
	{ "neighbour", lab_fault_neighbour },
	{ "spilt", lab_fault_spilt },
	{ "keeper", lab_fault_keeper },
	{ NULL, NULL },
};
