// SPDX-License-Identifier: GPL-3.0-or-later
/* A file of sysfs that is written for ever, and one who takes it away. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernfs.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "stuck.h"

static struct kobject *held_folder;
static struct kernfs_node *held_node;

static ssize_t held_store(struct kobject *folder, struct kobj_attribute *attribute,
			  const char *buffer, size_t size)
{
	stuck_sleep(stuck_find("attr-writes"));
	return size;
}

static struct kobj_attribute held_attribute = __ATTR(held, 0200, NULL, held_store);

int attribute_writes(struct stuck_thread *self)
{
	struct file *file = filp_open("/sys/stuck_held/held", O_WRONLY, 0);
	loff_t position = 0;

	if (IS_ERR(file))
		return 0;
	return kernel_write(file, "1", 1, &position) + 1;
}

int attribute_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "attribute", held_node);
	sysfs_remove_file(held_folder, &held_attribute.attr);
	return 1;
}

int __init attributes_init(void)
{
	held_folder = kobject_create_and_add("stuck_held", NULL);
	if (!held_folder || sysfs_create_file(held_folder, &held_attribute.attr))
		return -ENOMEM;
	held_node = kernfs_find_and_get(held_folder->sd, held_attribute.attr.name);
	return held_node ? 0 : -ENOENT;
}
