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

/*
 * SPC-5, SBC-4, ZBC-2 and MMC-6, by T10's list of operation codes, in the kernel's words (kernel
 * include/scsi/scsi_proto.h); numbers are big-endian. What is a vendor's has no name, nor what is
 * another command for this kind of device.
 */
#define DISK 1
#define ROM  2
#define BOTH (DISK | ROM) /* the same command for either: what kind it is need not be known */

static const struct {
	uint8_t kinds;
	struct known known;
} scsi[] = {
	{ BOTH, { 0x00, 0, 0, "TEST_UNIT_READY" } },
	{ BOTH, { 0x03, 0, 0, "REQUEST_SENSE" } },
	{ BOTH, { 0x04, 0, 0, "FORMAT_UNIT" } },
	{ DISK, { 0x07, 0, 0, "REASSIGN_BLOCKS" } },
	{ DISK, { 0x08, 1, 3, "READ_6" } },
	{ DISK, { 0x0a, 1, 3, "WRITE_6" } },
	{ BOTH, { 0x12, 0, 0, "INQUIRY" } },
	{ BOTH, { 0x15, 0, 0, "MODE_SELECT" } },
	{ DISK, { 0x16, 0, 0, "RESERVE" } },
	{ DISK, { 0x17, 0, 0, "RELEASE" } },
	{ BOTH, { 0x1a, 0, 0, "MODE_SENSE" } },
	{ BOTH, { 0x1b, 0, 0, "START_STOP" } },
	{ BOTH, { 0x1c, 0, 0, "RECEIVE_DIAGNOSTIC" } },
	{ BOTH, { 0x1d, 0, 0, "SEND_DIAGNOSTIC" } },
	{ BOTH, { 0x1e, 0, 0, "ALLOW_MEDIUM_REMOVAL" } },
	{ ROM, { 0x23, 0, 0, "READ_FORMAT_CAPACITIES" } },
	{ BOTH, { 0x25, 0, 0, "READ_CAPACITY" } },
	{ BOTH, { 0x28, 2, 4, "READ_10" } },
	{ BOTH, { 0x2a, 2, 4, "WRITE_10" } },
	{ BOTH, { 0x2e, 2, 4, "WRITE_VERIFY" } },
	{ BOTH, { 0x2f, 2, 4, "VERIFY" } },
	{ DISK, { 0x34, 2, 4, "PRE_FETCH" } },
	{ BOTH, { 0x35, 2, 4, "SYNCHRONIZE_CACHE" } },
	{ DISK, { 0x37, 0, 0, "READ_DEFECT_DATA" } },
	{ BOTH, { 0x3b, 0, 0, "WRITE_BUFFER" } },
	{ BOTH, { 0x3c, 0, 0, "READ_BUFFER" } },
	{ DISK, { 0x3e, 2, 4, "READ_LONG" } },
	{ DISK, { 0x3f, 2, 4, "WRITE_LONG" } },
	{ DISK, { 0x41, 2, 4, "WRITE_SAME" } },
	{ DISK, { 0x42, 0, 0, "UNMAP" } },
	{ DISK, { 0x48, 0, 0, "SANITIZE" } },
	{ BOTH, { 0x4c, 0, 0, "LOG_SELECT" } },
	{ BOTH, { 0x4d, 0, 0, "LOG_SENSE" } },
	{ DISK, { 0x53, 2, 4, "XDWRITEREAD_10" } },
	{ BOTH, { 0x55, 0, 0, "MODE_SELECT_10" } },
	{ BOTH, { 0x56, 0, 0, "RESERVE_10" } },
	{ BOTH, { 0x57, 0, 0, "RELEASE_10" } },
	{ BOTH, { 0x5a, 0, 0, "MODE_SENSE_10" } },
	{ BOTH, { 0x5e, 0, 0, "PERSISTENT_RESERVE_IN" } },
	{ BOTH, { 0x5f, 0, 0, "PERSISTENT_RESERVE_OUT" } },
	{ DISK, { 0x7f, 0, 0, "VARIABLE_LENGTH_CMD" } },
	{ BOTH, { 0x83, 0, 0, "EXTENDED_COPY" } },
	{ BOTH, { 0x84, 0, 0, "RECEIVE_COPY_RESULTS" } },
	{ BOTH, { 0x85, 0, 0, "ATA_16" } },
	{ DISK, { 0x88, 2, 8, "READ_16" } },
	{ DISK, { 0x89, 2, 8, "COMPARE_AND_WRITE" } },
	{ DISK, { 0x8a, 2, 8, "WRITE_16" } },
	{ DISK, { 0x8b, 2, 8, "ORWRITE_16" } },
	{ DISK, { 0x8c, 0, 0, "READ_ATTRIBUTE" } },
	{ DISK, { 0x8d, 0, 0, "WRITE_ATTRIBUTE" } },
	{ DISK, { 0x8e, 2, 8, "WRITE_VERIFY_16" } },
	{ DISK, { 0x8f, 2, 8, "VERIFY_16" } },
	{ DISK, { 0x90, 2, 8, "PRE_FETCH_16" } },
	{ DISK, { 0x91, 2, 8, "SYNCHRONIZE_CACHE_16" } },
	{ DISK, { 0x93, 2, 8, "WRITE_SAME_16" } },
	{ DISK, { 0x94, 2, 8, "ZBC_OUT" } },
	{ DISK, { 0x95, 2, 8, "ZBC_IN" } },
	{ DISK, { 0x9c, 2, 8, "WRITE_ATOMIC_16" } },
	{ DISK, { 0x9d, 0, 0, "SERVICE_ACTION_BIDIRECTIONAL" } },
	{ DISK, { 0x9e, 0, 0, "SERVICE_ACTION_IN_16" } },
	{ DISK, { 0x9f, 0, 0, "SERVICE_ACTION_OUT_16" } },
	{ BOTH, { 0xa0, 0, 0, "REPORT_LUNS" } },
	{ DISK, { 0xa1, 0, 0, "ATA_12" } },
	{ BOTH, { 0xa2, 0, 0, "SECURITY_PROTOCOL_IN" } },
	{ DISK, { 0xa3, 0, 0, "MAINTENANCE_IN" } },
	{ DISK, { 0xa4, 0, 0, "MAINTENANCE_OUT" } },
	{ BOTH, { 0xa8, 2, 4, "READ_12" } },
	{ DISK, { 0xa9, 0, 0, "SERVICE_ACTION_OUT_12" } },
	{ BOTH, { 0xaa, 2, 4, "WRITE_12" } },
	{ DISK, { 0xab, 0, 0, "SERVICE_ACTION_IN_12" } },
	{ DISK, { 0xae, 2, 4, "WRITE_VERIFY_12" } },
	{ DISK, { 0xaf, 2, 4, "VERIFY_12" } },
	{ BOTH, { 0xb5, 0, 0, "SECURITY_PROTOCOL_OUT" } },
	{ DISK, { 0xb7, 0, 0, "READ_DEFECT_DATA_12" } },
};

/* Which command it is says its service action: the low bits of the second byte. */
#define ACTION_BITS 0x1f
static const struct {
	uint8_t action;
	struct known known;
} actions[] = {
	{ 0x10, { 0x9e, 0, 0, "READ_CAPACITY_16" } },
	{ 0x12, { 0x9e, 2, 8, "GET_LBA_STATUS_16" } },
	{ 0x13, { 0x9e, 2, 8, "REPORT_REFERRALS" } },
	{ 0x16, { 0x9e, 0, 0, "GET_STREAM_STATUS" } },
	{ 0x05, { 0xa3, 0, 0, "REPORT_IDENTIFYING_INFORMATION" } },
	{ 0x0a, { 0xa3, 0, 0, "REPORT_TARGET_PGS" } },
	{ 0x0b, { 0xa3, 0, 0, "REPORT_ALIASES" } },
	{ 0x0c, { 0xa3, 0, 0, "REPORT_SUPPORTED_OPERATION_CODES" } },
	{ 0x0d, { 0xa3, 0, 0, "REPORT_SUPPORTED_TASK_MANAGEMENT_FUNCTIONS" } },
	{ 0x0e, { 0xa3, 0, 0, "REPORT_PRIORITY" } },
	{ 0x0f, { 0xa3, 0, 0, "REPORT_TIMESTAMP" } },
	{ 0x10, { 0xa3, 0, 0, "MANAGEMENT_PROTOCOL_IN" } },
	{ 0x06, { 0xa4, 0, 0, "SET_IDENTIFYING_INFORMATION" } },
	{ 0x0a, { 0xa4, 0, 0, "SET_TARGET_PGS" } },
	{ 0x0b, { 0xa4, 0, 0, "CHANGE_ALIASES" } },
	{ 0x0e, { 0xa4, 0, 0, "SET_PRIORITY" } },
	{ 0x0f, { 0xa4, 0, 0, "SET_TIMESTAMP" } },
	{ 0x10, { 0xa4, 0, 0, "MANAGEMENT_PROTOCOL_OUT" } },
	{ 0x01, { 0x94, 2, 8, "CLOSE_ZONE" } },
	{ 0x02, { 0x94, 2, 8, "FINISH_ZONE" } },
	{ 0x03, { 0x94, 2, 8, "OPEN_ZONE" } },
	{ 0x04, { 0x94, 2, 8, "RESET_WRITE_POINTER" } },
	{ 0x00, { 0x95, 2, 8, "REPORT_ZONES" } },
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

enum command_set opcode_scsi_set(uint64_t type)
{
	switch (type) {
	case 0x00: /* TYPE_DISK */
	case 0x07: /* TYPE_MOD */
	case 0x0e: /* TYPE_RBC */
	case 0x14: /* TYPE_ZBC */
		return COMMANDS_SCSI_DISK;
	case 0x04: /* TYPE_WORM */
	case 0x05: /* TYPE_ROM */
		return COMMANDS_SCSI_ROM;
	default:
		return COMMANDS_SCSI;
	}
}

/* One whose service action is known has that one's name. */
static const struct known *find_scsi(enum command_set set, const uint8_t *bytes)
{
	uint8_t kind = set == COMMANDS_SCSI_DISK ? DISK : set == COMMANDS_SCSI_ROM ? ROM : BOTH;
	size_t i = 0;
	while (i < ARRAY_COUNT(scsi) && scsi[i].known.code != bytes[0])
		i++;
	if (i == ARRAY_COUNT(scsi) || (scsi[i].kinds & kind) != kind)
		return NULL;
	for (size_t k = 0; k < ARRAY_COUNT(actions); k++)
		if (actions[k].known.code == bytes[0] &&
		    actions[k].action == (bytes[1] & ACTION_BITS))
			return &actions[k].known;
	return &scsi[i].known;
}

static uint64_t read_number(const uint8_t *bytes, size_t size, bool big_endian)
{
	uint64_t number = 0;
	for (size_t i = 0; i < size; i++)
		number = number << 8 | bytes[big_endian ? i : size - 1 - i];
	return number;
}

static bool is_scsi(enum command_set set)
{
	return set == COMMANDS_SCSI || set == COMMANDS_SCSI_DISK || set == COMMANDS_SCSI_ROM;
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
	else if (is_scsi(set))
		known = find_scsi(set, bytes);
	else
		known = find(nvme, ARRAY_COUNT(nvme), ret->code);
	if (!known)
		return true;
	ret->name = known->name;
	if (!known->block_size || (size_t)known->block_at + known->block_size > size)
		return true;
	ret->has_block = true;
	ret->block = read_number(bytes + known->block_at, known->block_size,
				 is_scsi(set) || (set == COMMANDS_VIRTIO && big_endian));
	if (is_scsi(set) && known->block_size == 3)
		ret->block &= SIX_BLOCKS;
	return true;
}
