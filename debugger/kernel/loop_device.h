/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disks that are files (kernel drivers/block/loop.c). */
#ifndef DEBUGGER_KERNEL_LOOP_DEVICE_H
#define DEBUGGER_KERNEL_LOOP_DEVICE_H

#include "debugger/target/object.h"

/*
 * The struct loop_device of the struct gendisk at `disk`; at address 0: it is none. Its type is
 * that of the loop devices' module, where it is one.
 */
struct error *loop_device_find(struct target *target, uint64_t disk, struct object *ret) MUST_CHECK;
/* The workqueue that reads and writes the file; 0: up to 5.13 a thread does (87579e9b7d8d). */
struct error *loop_device_queue(const struct object *loop, uint64_t *ret) MUST_CHECK;
/* The struct inode of the file; 0: none is attached. */
struct error *loop_device_inode(const struct object *loop, uint64_t *ret) MUST_CHECK;

#endif
