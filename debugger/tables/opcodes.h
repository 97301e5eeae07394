/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the bytes say that disks are sent: opcodes of SCSI (SPC, SBC, MMC), NVMe and virtio. */
#ifndef DEBUGGER_TABLES_OPCODES_H
#define DEBUGGER_TABLES_OPCODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One opcode of SCSI is several commands: which one it is, the kind of device says. */
enum command_set {
	COMMANDS_OTHER,
	COMMANDS_VIRTIO,
	COMMANDS_SCSI,	    /* of a disk that may be any of those below */
	COMMANDS_SCSI_DISK, /* direct access, with zones or without, optical memory */
	COMMANDS_SCSI_ROM,  /* CD, DVD and the like */
	COMMANDS_NVME
};

/* By the peripheral device type of SCSI (scsi_device.type). */
enum command_set opcode_scsi_set(uint64_t type);

struct opcode {
	uint64_t code;
	const char *name; /* NULL: it is not known, or depends on the kind of device */
	bool has_block;
	uint64_t block; /* the first one that it is about */
};

/*
 * `bytes` of `size` as the device gets them; of virtio the header of the request, whose numbers are
 * taken in the order of the machine, as virtio has them where that is little-endian. false: these
 * are too few.
 */
bool opcode_decode(enum command_set set, const uint8_t *bytes, size_t size, bool big_endian,
		   struct opcode *ret);

#endif
