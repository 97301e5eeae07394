// SPDX-License-Identifier: GPL-3.0-or-later
/* Dumps made from the descriptions in tests/dumps, as files in memory that have a path. */
#ifndef TESTS_UNIT_DUMP_IMAGE_H
#define TESTS_UNIT_DUMP_IMAGE_H

#define MKDUMP_WITHOUT_MAIN
#include "tests/mkdump.c"

#include "vmcore/vmcore.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A made dump as a file in memory that has a path. */
struct image {
	uint8_t *data;
	size_t size;
	int fd;
	char path[64];
};

static char *read_description(const char *name)
{
	char path[512];
	const char *end = strstr(__FILE__, "unit/dump_image.h");
	snprintf(path, sizeof(path), "%.*sdumps/%s.txt", (int)(end - __FILE__), __FILE__, name);
	FILE *in = fopen(path, "r");
	char *text = calloc(1, 65536);
	if (!in || !text) {
		printf("cannot read %s\n", path);
		exit(1);
	}
	if (!fread(text, 1, 65535, in))
		printf("%s is empty\n", path);
	fclose(in);
	return text;
}

static void image_write(struct image *image)
{
	if (ftruncate(image->fd, 0) ||
	    pwrite(image->fd, image->data, image->size, 0) != (ssize_t)image->size) {
		perror("memfd");
		exit(1);
	}
}

static void image_make(struct image *image, const char *text)
{
	char message[256];
	if (!mkdump_make(text, &image->data, &image->size, message, sizeof(message))) {
		printf("mkdump: %s\n", message);
		exit(1);
	}
	image->fd = memfd_create("dump", MFD_CLOEXEC);
	snprintf(image->path, sizeof(image->path), "/proc/self/fd/%d", image->fd);
	image_write(image);
}

static inline void image_load(struct image *image, const char *name)
{
	char *text = read_description(name);
	image_make(image, text);
	free(text);
}

static void image_free(struct image *image)
{
	close(image->fd);
	free(image->data);
}

static inline struct error *open_image(const struct image *image, struct vmcore **ret)
{
	const char *path = image->path;
	return vmcore_open(&path, 1, NULL, ret);
}

#endif
