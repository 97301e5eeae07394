// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/given.h"

#include "debugger/target/btf_files.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct error *add_folder(struct given_files *files, const char *path)
{
	char *copy = strdup(path);
	if (!copy)
		return error_no_memory();
	files->folders[files->folder_count++] = copy;
	return NULL;
}

static void take_system_folders(struct given_files *files)
{
	char *folders[BTF_SYSTEM_FOLDERS];
	btf_system_folders(folders);
	for (size_t i = 0; i < BTF_SYSTEM_FOLDERS; i++)
		if (folders[i])
			files->folders[files->folder_count++] = folders[i];
}

static struct error *take_btf(struct given_files *files, size_t number)
{
	const char *text = files->words.btf[number];
	struct stat status;
	if (!strcmp(text, "system")) {
		take_system_folders(files);
		return NULL;
	}
	char *path = btf_path(text);
	files->btf_paths[number] = path;
	if (!path)
		return error_no_memory();
	return !stat(path, &status) && S_ISDIR(status.st_mode) ? add_folder(files, path) : NULL;
}

struct error *given_init(struct given_files *files, const struct given_words *words)
{
	size_t most = words->btf_count ? words->btf_count : 1;
	struct error *error = NULL;
	*files = (struct given_files){
		.words = *words,
		.btf_paths = calloc(most, sizeof(*files->btf_paths)),
		.folders = calloc(most, BTF_SYSTEM_FOLDERS * sizeof(*files->folders)),
	};
	if (!files->btf_paths || !files->folders)
		error = error_no_memory();
	for (size_t i = 0; i < words->btf_count && !error; i++)
		error = take_btf(files, i);
	return error;
}

struct error *given_open(const struct given_files *files, struct opened *ret)
{
	const struct given_words *words = &files->words;
	if (!opened_init(ret, words->dump_count + words->btf_count + words->declaration_count + 1))
		return error_no_memory();
	for (size_t i = 0; i < words->dump_count; i++)
		opened_add(ret, words->dumps[i]);
	for (size_t i = 0; i < words->btf_count; i++)
		if (files->btf_paths[i])
			opened_add(ret, files->btf_paths[i]);
	for (size_t i = 0; i < words->declaration_count; i++)
		opened_add(ret, words->declarations[i]);
	if (words->vmcoreinfo)
		opened_add(ret, words->vmcoreinfo);
	return NULL;
}

void given_deinit(struct given_files *files)
{
	for (size_t i = 0; files->btf_paths && i < files->words.btf_count; i++)
		free(files->btf_paths[i]);
	for (size_t i = 0; i < files->folder_count; i++)
		free(files->folders[i]);
	free(files->btf_paths);
	free(files->folders);
	*files = (struct given_files){ .folder_count = 0 };
}
