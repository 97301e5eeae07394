// SPDX-License-Identifier: GPL-3.0-or-later
/* The command table. */
#include "debugger/command/command.h"
#include "debugger/command/table_command.h"

/* One command a line, sorted. */
extern const struct command command_alias;
extern const struct command command_analyze;
extern const struct command command_bpf;
extern const struct command command_bt;
extern const struct command command_btf;
extern const struct command command_dis;
extern const struct command command_down;
extern const struct command command_export;
extern const struct command command_extract;
extern const struct command command_foreach;
extern const struct command command_frame;
extern const struct command command_gcore;
extern const struct command command_globals;
extern const struct command command_help;
extern const struct command command_info;
extern const struct command command_kmem;
extern const struct command command_line;
extern const struct command command_list;
extern const struct command command_locks;
extern const struct command command_log;
extern const struct command command_mod;
extern const struct command command_print;
extern const struct command command_ptype;
extern const struct command command_ps;
extern const struct command command_ptov;
extern const struct command command_quit;
extern const struct command command_rd;
extern const struct command command_registers;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_search;
extern const struct command command_set;
extern const struct command command_source;
extern const struct command command_sql;
extern const struct command command_stacks;
extern const struct command command_struct;
extern const struct command command_sym;
extern const struct command command_sys;
extern const struct command command_task;
extern const struct command command_tree;
extern const struct command command_types;
extern const struct command command_unalias;
extern const struct command command_up;
extern const struct command command_vtop;
extern const struct command command_whatis;
extern const struct command command_whattype;

/* And the tables. */
TABLE_COMMAND(algorithms);
TABLE_COMMAND(bpfmaps);
TABLE_COMMAND(cgroups);
TABLE_COMMAND(consoles);
TABLE_COMMAND(dentries);
TABLE_COMMAND(devices);
TABLE_COMMAND(disks);
TABLE_COMMAND(filelocks);
TASK_TABLE_COMMAND(files);
TABLE_COMMAND(filesystems);
TASK_TABLE_COMMAND(frames);
TABLE_COMMAND(hrtimers);
TABLE_COMMAND(hugepages);
TABLE_COMMAND(inodes);
TABLE_COMMAND(ipcs);
TABLE_COMMAND(irqs);
TABLE_COMMAND(keys);
TABLE_COMMAND(kprobes);
TASK_TABLE_COMMAND(mappings);
TABLE_COMMAND(majors);
TABLE_COMMAND(memory);
TABLE_COMMAND(messages);
TABLE_COMMAND(modules);
TABLE_COMMAND(mounts);
TABLE_COMMAND(namespaces);
TABLE_COMMAND(neighbours);
TABLE_COMMAND(netdevs);
TABLE_COMMAND(pages);
TABLE_COMMAND(parameters);
TABLE_COMMAND(pools);
TABLE_COMMAND(progs);
TABLE_COMMAND(requests);
TABLE_COMMAND(resources);
TABLE_COMMAND(routes);
TABLE_COMMAND(routes6);
TABLE_COMMAND(runqueues);
TABLE_COMMAND(sections);
TABLE_COMMAND(slabs);
TASK_TABLE_COMMAND(sockets);
TABLE_COMMAND(socks);
TABLE_COMMAND(softirqs);
TABLE_COMMAND(superblocks);
TABLE_COMMAND(swaps);
TABLE_COMMAND(symbols);
TABLE_COMMAND(sysctls);
TABLE_COMMAND(tasks);
TABLE_COMMAND(timers);
TASK_TABLE_COMMAND(userpages);
TABLE_COMMAND(vmallocs);
TABLE_COMMAND(workqueues);
TABLE_COMMAND(works);
TABLE_COMMAND(zones);

// clang-format off
const struct command *const commands[] = {
	&command_algorithms,
	&command_alias,
	&command_analyze,
	&command_bpf,
	&command_bpfmaps,
	&command_bt,
	&command_btf,
	&command_cgroups,
	&command_consoles,
	&command_dentries,
	&command_devices,
	&command_dis,
	&command_disks,
	&command_down,
	&command_export,
	&command_filelocks,
	&command_extract,
	&command_files,
	&command_filesystems,
	&command_foreach,
	&command_frame,
	&command_frames,
	&command_gcore,
	&command_globals,
	&command_help,
	&command_hrtimers,
	&command_hugepages,
	&command_info,
	&command_inodes,
	&command_ipcs,
	&command_irqs,
	&command_keys,
	&command_kmem,
	&command_kprobes,
	&command_line,
	&command_list,
	&command_locks,
	&command_log,
	&command_majors,
	&command_mappings,
	&command_memory,
	&command_messages,
	&command_mod,
	&command_modules,
	&command_mounts,
	&command_namespaces,
	&command_neighbours,
	&command_netdevs,
	&command_pages,
	&command_parameters,
	&command_pools,
	&command_print,
	&command_progs,
	&command_ptype,
	&command_ps,
	&command_ptov,
	&command_quit,
	&command_rd,
	&command_registers,
	&command_record,
	&command_report,
	&command_requests,
	&command_resources,
	&command_routes,
	&command_routes6,
	&command_runqueues,
	&command_sections,
	&command_search,
	&command_set,
	&command_slabs,
	&command_sockets,
	&command_socks,
	&command_softirqs,
	&command_source,
	&command_sql,
	&command_stacks,
	&command_struct,
	&command_superblocks,
	&command_swaps,
	&command_sym,
	&command_symbols,
	&command_sys,
	&command_sysctls,
	&command_task,
	&command_tasks,
	&command_timers,
	&command_tree,
	&command_types,
	&command_unalias,
	&command_up,
	&command_userpages,
	&command_vmallocs,
	&command_vtop,
	&command_whatis,
	&command_whattype,
	&command_workqueues,
	&command_works,
	&command_zones,
	NULL,
};
// clang-format on
