// SPDX-License-Identifier: GPL-3.0-or-later
/* What user space or others have to let go: a network device, a program that the kernel started. */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/umh.h>

#include "stuck.h"

static netdev_tx_t held_xmit(struct sk_buff *packet, struct net_device *device)
{
	dev_kfree_skb(packet);
	return NETDEV_TX_OK;
}

static const struct net_device_ops held_ops = { .ndo_start_xmit = held_xmit };
static struct net_device *held_device;

int netdev_waits(struct stuck_thread *self)
{
	stuck_arrive(self, "netdev", held_device);
	unregister_netdev(held_device);
	return 1;
}

/* Loading a module waits so. */
int program_waits(struct stuck_thread *self)
{
	static char *arguments[] = { "/bin/busybox", "sleep", "1000000", NULL };
	static char *environment[] = { "PATH=/bin", NULL };

	stuck_arrive(self, "program", NULL);
	call_usermodehelper(arguments[0], arguments, environment, UMH_WAIT_PROC);
	return 1;
}

int __init devices_init(void)
{
	held_device = alloc_etherdev(0);
	if (!held_device)
		return -ENOMEM;
	strscpy(held_device->name, "stuck%d", IFNAMSIZ);
	held_device->netdev_ops = &held_ops;
	/* For ever. */
	dev_hold(held_device);
	return register_netdev(held_device);
}
