// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/opcodes.h"

#include "base/array.h"
#include "base/bytes.h"

/* A name, and where the number of the first block is; size 0: there is none. */
struct known {
	uint8_t code, block_at, block_size;
	const char *name;
};

/* Virtual I/O Device (VIRTIO) 1.3, 5.2.6: type, reserved or priority, sector. */
static const struct known virtio[] = {
	{ 0, 8, 8, "IN" },
	{ 1, 8, 8, "OUT" },
	{ 2, 0, 0, "SCSI_CMD" },
	{ 4, 0, 0, "FLUSH" },
	{ 8, 0, 0, "GET_ID" },
	{ 11, 0, 0, "DISCARD" },
	{ 13, 0, 0, "WRITE_ZEROES" },
	{ 14, 0, 0, "SECURE_ERASE" },
	{ 15, 8, 8, "ZONE_APPEND" },
	{ 16, 8, 8, "ZONE_REPORT" },
	{ 18, 8, 8, "ZONE_OPEN" },
	{ 20, 8, 8, "ZONE_CLOSE" },
	{ 22, 8, 8, "ZONE_FINISH" },
	{ 24, 8, 8, "ZONE_RESET" },
	{ 26, 0, 0, "ZONE_RESET_ALL" },
};

/* SPC-5 and SBC-4; numbers are big-endian. */
static const struct known scsi[] = {
	{ 0x00, 0, 0, "TEST_UNIT_READY" },
	{ 0x03, 0, 0, "REQUEST_SENSE" },
	{ 0x04, 0, 0, "FORMAT_UNIT" },
	{ 0x08, 1, 3, "READ_6" },
	{ 0x0a, 1, 3, "WRITE_6" },
	{ 0x12, 0, 0, "INQUIRY" },
	{ 0x15, 0, 0, "MODE_SELECT" },
	{ 0x1a, 0, 0, "MODE_SENSE" },
	{ 0x1b, 0, 0, "START_STOP" },
	{ 0x1c, 0, 0, "RECEIVE_DIAGNOSTIC" },
	{ 0x1d, 0, 0, "SEND_DIAGNOSTIC" },
	{ 0x1e, 0, 0, "ALLOW_MEDIUM_REMOVAL" },
	{ 0x25, 0, 0, "READ_CAPACITY" },
	{ 0x28, 2, 4, "READ_10" },
	{ 0x2a, 2, 4, "WRITE_10" },
	{ 0x2e, 2, 4, "WRITE_VERIFY" },
	{ 0x2f, 2, 4, "VERIFY" },
	{ 0x35, 2, 4, "SYNCHRONIZE_CACHE" },
	{ 0x3b, 0, 0, "WRITE_BUFFER" },
	{ 0x3c, 0, 0, "READ_BUFFER" },
	{ 0x41, 2, 4, "WRITE_SAME" },
	{ 0x42, 0, 0, "UNMAP" },
	{ 0x4d, 0, 0, "LOG_SENSE" },
	{ 0x55, 0, 0, "MODE_SELECT_10" },
	{ 0x5a, 0, 0, "MODE_SENSE_10" },
	{ 0x5e, 0, 0, "PERSISTENT_RESERVE_IN" },
	{ 0x5f, 0, 0, "PERSISTENT_RESERVE_OUT" },
	{ 0x7f, 0, 0, "VARIABLE_LENGTH_CMD" },
	{ 0x85, 0, 0, "ATA_16" },
	{ 0x88, 2, 8, "READ_16" },
	{ 0x89, 2, 8, "COMPARE_AND_WRITE" },
	{ 0x8a, 2, 8, "WRITE_16" },
	{ 0x8f, 2, 8, "VERIFY_16" },
	{ 0x91, 2, 8, "SYNCHRONIZE_CACHE_16" },
	{ 0x93, 2, 8, "WRITE_SAME_16" },
	{ 0x94, 2, 8, "ZBC_OUT" },
	{ 0x95, 2, 8, "ZBC_IN" },
	{ 0x9e, 0, 0, "SERVICE_ACTION_IN_16" },
	{ 0xa0, 0, 0, "REPORT_LUNS" },
	/* 0xa1, 0xa3 and 0xa4 are others for a CD drive than for a disk. */
	{ 0xa8, 2, 4, "READ_12" },
	{ 0xaa, 2, 4, "WRITE_12" },
};

/* NVM Express, NVM Command Set 1.0: I/O commands; what an admin queue takes has other names. */
static const struct known nvme[] = {
	{ 0x00, 0, 0, "flush" },
	{ 0x01, 40, 8, "write" },
	{ 0x02, 40, 8, "read" },
	{ 0x04, 40, 8, "write_uncor" },
	{ 0x05, 40, 8, "compare" },
	{ 0x08, 40, 8, "write_zeroes" },
	{ 0x09, 0, 0, "dsm" },
	{ 0x0c, 40, 8, "verify" },
	{ 0x0d, 0, 0, "resv_register" },
	{ 0x0e, 0, 0, "resv_report" },
	{ 0x11, 0, 0, "resv_acquire" },
	{ 0x15, 0, 0, "resv_release" },
	{ 0x79, 40, 8, "zone_mgmt_send" },
	{ 0x7a, 40, 8, "zone_mgmt_recv" },
	{ 0x7d, 40, 8, "zone_append" },
	{ 0x7f, 0, 0, "fabrics" },
};

#define VIRTIO_BYTES 16u
#define SCSI_LEAST   6u
#define NVME_BYTES   64u
#define SIX_BLOCKS   0x1fffffu /* a READ_6 has 21 bits */

static const struct known *find(const struct known *known, size_t count, uint64_t code)
{
	for (size_t i = 0; i < count; i++)
		if (known[i].code == code)
			return &known[i];
	return NULL;
}

static uint64_t read_number(const uint8_t *bytes, size_t size, bool big_endian)
{
	uint64_t number = 0;
	for (size_t i = 0; i < size; i++)
		number = number << 8 | bytes[big_endian ? i : size - 1 - i];
	return number;
}

bool opcode_decode(enum command_set set, const uint8_t *bytes, size_t size, bool big_endian,
		   struct opcode *ret)
{
	const struct known *known = NULL;
	*ret = (struct opcode){ 0 };
	if (set == COMMANDS_OTHER || size < (set == COMMANDS_VIRTIO ? VIRTIO_BYTES
					     : set == COMMANDS_NVME ? NVME_BYTES
								    : SCSI_LEAST))
		return false;
	ret->code = set == COMMANDS_VIRTIO ? load_u32(bytes, big_endian) : bytes[0];
	if (set == COMMANDS_VIRTIO)
		known = find(virtio, ARRAY_COUNT(virtio), ret->code);
	else if (set == COMMANDS_SCSI)
		known = find(scsi, ARRAY_COUNT(scsi), ret->code);
	else
		known = find(nvme, ARRAY_COUNT(nvme), ret->code);
	if (!known)
		return true;
	ret->name = known->name;
	if (!known->block_size || (size_t)known->block_at + known->block_size > size)
		return true;
	ret->has_block = true;
	ret->block = read_number(bytes + known->block_at, known->block_size,
				 set == COMMANDS_SCSI || (set == COMMANDS_VIRTIO && big_endian));
	if (set == COMMANDS_SCSI && known->block_size == 3)
		ret->block &= SIX_BLOCKS;
	return true;
}
