// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/bio_place.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/device_mapper.h"
#include "debugger/kernel/disks.h"
#include <stdio.h>

#define GROUPS_MAX 64 /* of cgroups, each below the next */

struct search {
	struct target *target;
	struct bio_sought sought;
	uint64_t *left;
	bool is_found, is_partial; /* something could not be read */
};

static struct error *too_much(void)
{
	return error_create(ERROR_FORMAT, "there are more bios than are looked at");
}

static struct error *spend(struct search *search)
{
	if (!*search->left)
		return too_much();
	--*search->left;
	return NULL;
}

/* What is left of a bio is so many bytes, from one of its segments of adjoining pages on. */
static struct error *has_page(struct search *search, const struct object *bio, bool *ret)
{
	const uint64_t page_size = search->target->facts->page_size;
	struct object record, vector;
	uint64_t first, index, left, size, record_size;
	TRY(object_at(search->target, "struct page", 0, &record));
	TRY(object_u64(bio, "bi_io_vec", &first));
	TRY(object_u64(bio, "bi_iter.bi_idx", &index));
	TRY(object_u64(bio, "bi_iter.bi_size", &left));
	TRY(object_at(search->target, "struct bio_vec", first, &vector));
	if (!type_size(vector.type, &size) || !type_size(record.type, &record_size) ||
	    !record_size || !page_size)
		return error_create(ERROR_FORMAT, "struct page has no sane size");
	vector.address += index * size;
	while (left && first && !*ret) {
		uint64_t page, offset, length;
		TRY(spend(search));
		TRY(object_u64(&vector, "bv_page", &page));
		TRY(object_u64(&vector, "bv_offset", &offset));
		TRY(object_u64(&vector, "bv_len", &length));
		uint64_t pages = (offset + length + page_size - 1) / page_size;
		*ret = search->sought.page >= page &&
		       (search->sought.page - page) / record_size < pages;
		left -= length < left ? length : left;
		vector.address += size;
	}
	return NULL;
}

static struct error *is_sought(struct search *search, const struct object *bio)
{
	uint64_t private;
	if (search->sought.page)
		return has_page(search, bio, &search->is_found);
	if (!search->sought.private) {
		search->is_found = bio->address == search->sought.bio;
		return NULL;
	}
	TRY(object_u64(bio, "bi_private", &private));
	search->is_found = private == search->sought.private;
	return NULL;
}

/* Whether it is the first of these, or one of those that bi_next leads to from it. */
static struct error *look_in_chain(struct search *search, uint64_t first)
{
	struct object bio;
	TRY(object_at(search->target, "struct bio", first, &bio));
	while (bio.address && !search->is_found) {
		TRY(interrupt_check());
		TRY(spend(search));
		TRY(is_sought(search, &bio));
		TRY(object_follow(&bio, "bi_next", &bio));
	}
	return NULL;
}

/* --- requests --------------------------------------------------------------------------------- */

static struct error *pass_over(void *context, struct error *problem)
{
	struct search *search = context;
	search->is_partial = true;
	return error_only_fatal(problem);
}

static struct error *look_at_request(void *context, const struct disk_request *found)
{
	struct search *search = context;
	struct object request;
	uint64_t first = 0;
	struct error *error = object_at(search->target, "struct request", found->address, &request);
	error = error ?: object_u64(&request, "bio", &first);
	error = error ?: look_in_chain(search, first);
	return error ? pass_over(search, error) : NULL;
}

/* --- the limits of cgroups -------------------------------------------------------------------- */

/* A bio_list of what waits for a limit of bytes or of operations; up to 6.12 they are one. */
static struct error *look_at_node(struct search *search, const struct object *node)
{
	static const char *const lists[] = { "bios", "bios_bps", "bios_iops" };
	for (size_t i = 0; i < ARRAY_COUNT(lists) && !search->is_found; i++) {
		struct object list;
		uint64_t first;
		if (!object_has(node, lists[i]))
			continue;
		TRY(object_member(node, lists[i], &list));
		TRY(object_u64(&list, "head", &first));
		TRY(look_in_chain(search, first));
	}
	return NULL;
}

/* What waits in a group for its own limit, or, let through by that, for the group's above. */
static struct error *look_at_group(struct search *search, const struct object *group,
				   uint64_t policy)
{
	static const char *const nodes[] = { "qnode_on_self[0]", "qnode_on_self[1]",
					     "qnode_on_parent[0]", "qnode_on_parent[1]" };
	struct object data, throttle, node;
	char path[32];
	snprintf(path, sizeof(path), "pd[%u]", (unsigned int)policy);
	TRY(object_follow(group, path, &data));
	if (!data.address)
		return NULL;
	TRY(object_container(search->target, "struct throtl_grp", "pd", data.address, &throttle));
	for (size_t i = 0; i < ARRAY_COUNT(nodes) && !search->is_found; i++) {
		TRY(object_member(&throttle, nodes[i], &node));
		TRY(look_at_node(search, &node));
	}
	return NULL;
}

static struct error *look_at_limits(struct search *search, const struct object *bio)
{
	struct object group, limits;
	uint64_t policy;
	uint64_t address;
	/* Kernels without limits have no such policy. */
	if (!object_has(bio, "bi_blkg") ||
	    !symtab_address(search->target->symbols, "blkcg_policy_throtl", &address))
		return NULL;
	TRY(object_at(search->target, "struct blkcg_policy", address, &limits));
	TRY(object_u64(&limits, "plid", &policy));
	TRY(object_follow(bio, "bi_blkg", &group));
	for (size_t i = 0; group.address && i < GROUPS_MAX && !search->is_found; i++) {
		TRY(look_at_group(search, &group, policy));
		TRY(object_follow(&group, "parent", &group));
	}
	return NULL;
}

/* --- the device mapper ------------------------------------------------------------------------ */

static struct error *look_at_deferred(struct search *search, const struct object *device,
				      enum bio_place *ret)
{
	uint64_t first;
	TRY(object_u64(device, "deferred.head", &first));
	TRY(look_in_chain(search, first));
	*ret = search->is_found ? BIO_SUSPENDED : BIO_MAPPED;
	return NULL;
}

/* --- which of these --------------------------------------------------------------------------- */

static struct error *look_at_requests(struct search *search, const struct object *gendisk,
				      enum bio_place *ret)
{
	struct disk disk = { .address = gendisk->address };
	TRY(object_u64(gendisk, "queue", &disk.queue));
	TRY(disk_requests_for_each(search->target, &disk, look_at_request, pass_over, search,
				   search->left));
	if (search->is_found)
		*ret = BIO_REQUESTED;
	else if (!search->is_partial)
		*ret = BIO_UNREQUESTED;
	return NULL;
}

static struct error *look_at_disk(struct search *search, const struct object *gendisk,
				  enum bio_place *ret)
{
	struct object device, operations;
	uint64_t takes_bios = 0;
	TRY(device_mapper_find(search->target, gendisk->address, &device));
	if (device.address)
		return look_at_deferred(search, &device, ret);
	TRY(object_follow(gendisk, "fops", &operations));
	/* Before 5.9 the queue has that function, which such drivers set. */
	if (operations.address)
		TRY(object_u64(&operations, "submit_bio", &takes_bios));
	if (takes_bios) {
		*ret = BIO_TAKEN;
		return NULL;
	}
	return look_at_requests(search, gendisk, ret);
}

static struct error *find(struct search *search, enum bio_place *ret)
{
	struct object bio, device, disk;
	TRY(object_at(search->target, "struct bio", search->sought.bio, &bio));
	TRY(look_at_limits(search, &bio));
	if (search->is_found) {
		*ret = BIO_THROTTLED;
		return NULL;
	}
	/* Up to 5.11 a bio leads to the disk itself. */
	if (object_has(&bio, "bi_disk"))
		TRY(object_follow(&bio, "bi_disk", &disk));
	else {
		TRY(object_follow(&bio, "bi_bdev", &device));
		TRY(object_follow(&device, "bd_disk", &disk));
	}
	return look_at_disk(search, &disk, ret);
}

struct error *bio_place_find(struct target *target, uint64_t bio, uint64_t *left,
			     enum bio_place *ret)
{
	struct search search = { .target = target, .sought.bio = bio, .left = left };
	*ret = BIO_UNKNOWN;
	struct error *error = find(&search, ret);
	if (error)
		*ret = BIO_UNKNOWN;
	return error_only_fatal(error);
}

struct error *bio_place_on_disk(struct target *target, uint64_t device,
				const struct bio_sought *sought, uint64_t *left,
				enum bio_place *ret)
{
	struct search search = { .target = target, .sought = *sought, .left = left };
	struct object block, disk;
	*ret = BIO_UNKNOWN;
	struct error *error = object_at(target, "struct block_device", device, &block);
	error = error ?: object_follow(&block, "bd_disk", &disk);
	error = error ?: look_at_requests(&search, &disk, ret);
	if (error || *ret != BIO_REQUESTED)
		*ret = BIO_UNKNOWN;
	return error_only_fatal(error);
}
