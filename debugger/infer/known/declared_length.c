// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/declared_length.h"

#include "base/array.h"
#include <string.h>

#define LENGTH_MAX 65536 /* no such array is that long */
/* What GCC aligns an array to at most, in bytes; more is left by something else. */
#define ALIGNMENT_MAX 64

/* Equal to DWARF's lengths in 6.1, 6.12 and 7.3, where these have both. */
static const struct {
	const char *variable;
	struct declared_length why;
} lengths[] = {
	{ "action_page_types", { "MF_MSG_UNKNOWN", 1 } },
	{ "arch_lbr_ctl_map", { "PERF_SAMPLE_BRANCH_MAX_SHIFT", 0 } },
	{ "bpf_ctx_convert_map", { "__MAX_BPF_PROG_TYPE", 1 } }, /* since 6.8 */
	{ "bpf_prog_types", { "__MAX_BPF_PROG_TYPE", 0 } },
	{ "cgroup_bpf_enabled_key", { "MAX_CGROUP_BPF_ATTACH_TYPE", 0 } },
	{ "cgroup_subsys", { "CGROUP_SUBSYS_COUNT", 0 } },
	{ "cgroup_subsys_enabled_key", { "CGROUP_SUBSYS_COUNT", 0 } },
	{ "cgroup_subsys_name", { "CGROUP_SUBSYS_COUNT", 0 } },
	{ "cgroup_subsys_on_dfl_key", { "CGROUP_SUBSYS_COUNT", 0 } },
	{ "cmd_flag_name", { "__REQ_NR_BITS", 0 } },
	{ "compatible_reg_types", { "__BPF_ARG_TYPE_MAX", 0 } },
	{ "cxl_command_names", { "CXL_MEM_COMMAND_ID_MAX", 1 } },
	{ "cxl_mem_commands", { "CXL_MEM_COMMAND_ID_MAX", 0 } },
	{ "damon_sysfs_cmd_strs", { "NR_DAMON_SYSFS_CMDS", 0 } },
	{ "devconf_ipv4_policy", { "__NETCONFA_MAX", 0 } },
	{ "devconf_ipv6_policy", { "__NETCONFA_MAX", 0 } },
	{ "devlink_function_nl_policy", { "__DEVLINK_PORT_FUNCTION_ATTR_MAX", 0 } },
	{ "devlink_trap_generic", { "__DEVLINK_TRAP_GENERIC_ID_MAX", 0 } },
	{ "devlink_trap_group_generic", { "__DEVLINK_TRAP_GROUP_GENERIC_ID_MAX", 0 } },
	{ "direct_pages_count", { "PG_LEVEL_NUM", 0 } },
	{ "dmi_ident", { "DMI_STRING_MAX", 0 } },
	{ "drop_reasons", { "SKB_DROP_REASON_MAX", 1 } },
	{ "ethnl_coalesce_set_policy", { "__ETHTOOL_A_COALESCE_CNT", 0 } },
	{ "ethnl_default_notify_ops", { "__ETHTOOL_MSG_KERNEL_CNT", 0 } },
	{ "ethnl_default_requests", { "__ETHTOOL_MSG_USER_CNT", 0 } },
	{ "ethnl_pse_set_policy", { "__ETHTOOL_A_PSE_CNT", 0 } },
	{ "ethnl_rings_set_policy", { "__ETHTOOL_A_RINGS_CNT", 0 } },
	{ "evm_tfm", { "HASH_ALGO__LAST", 0 } },
	{ "fib_rule_policy", { "__FRA_MAX", 0 } },
	{ "fortify_func_name", { "FORTIFY_FUNC_UNKNOWN", 1 } },
	{ "func_id_str", { "__BPF_FUNC_MAX_ID", 0 } },
	{ "hash_algo_name", { "HASH_ALGO__LAST", 0 } },
	{ "hash_digest_size", { "HASH_ALGO__LAST", 0 } },
	{ "hsw_lbr_sel_map", { "PERF_SAMPLE_BRANCH_MAX_SHIFT", 0 } },
	{ "ifa_ipv4_policy", { "__IFA_MAX", 0 } },
	{ "ifa_ipv6_policy", { "__IFA_MAX", 0 } },
	{ "ifla_policy", { "__IFLA_MAX", 0 } },
	{ "inet6_af_policy", { "__IFLA_INET6_MAX", 0 } },
	{ "intel_perfmon_event_map", { "PERF_COUNT_HW_MAX", 0 } },
	{ "ip6mr_getroute_policy", { "__RTA_MAX", 0 } },
	{ "lbr_select_map", { "PERF_SAMPLE_BRANCH_MAX_SHIFT", 0 } },
	{ "link_mode_params", { "__ETHTOOL_LINK_MODE_MASK_NBITS", 0 } },
	{ "lockdown_reasons", { "LOCKDOWN_CONFIDENTIALITY_MAX", 1 } },
	{ "mem_cgroup_events_index", { "NR_VM_EVENT_ITEMS", 0 } },
	{ "migrate_reason_names", { "MR_TYPES", 0 } },
	{ "migratetype_names", { "MIGRATE_TYPES", 0 } },
	{ "mpol_ops", { "MPOL_MAX", 0 } },
	{ "nda_policy", { "__NDA_MAX", 0 } },
	{ "neigh_tables", { "NEIGH_NR_TABLES", 0 } },
	{ "nhm_lbr_sel_map", { "PERF_SAMPLE_BRANCH_MAX_SHIFT", 0 } },
	{ "nl_neightbl_policy", { "__NDTA_MAX", 0 } },
	{ "nl_ntbl_parm_policy", { "__NDTPA_MAX", 0 } },
	{ "nla_attr_len", { "__NLA_TYPE_MAX", 0 } },
	{ "nla_attr_minlen", { "__NLA_TYPE_MAX", 0 } },
	{ "node_states", { "NR_NODE_STATES", 0 } },
	{ "oid_index", { "OID__NR", 1 } },
	{ "oid_search_table", { "OID__NR", 0 } },
	{ "perf_swevent_enabled", { "PERF_COUNT_SW_MAX", 0 } },
	{ "policy_modes", { "MPOL_MAX", 0 } },
	{ "reg2btf_ids", { "__BPF_REG_TYPE_MAX", 0 } },
	{ "rtm_ipmr_policy", { "__RTA_MAX", 0 } },
	{ "rtm_ipv4_policy", { "__RTA_MAX", 0 } },
	{ "rtm_ipv6_policy", { "__RTA_MAX", 0 } },
	{ "rtm_tca_policy", { "__TCA_MAX", 0 } },
	{ "sched_feat_keys", { "__SCHED_FEAT_NR", 0 } },
	{ "sched_feat_names", { "__SCHED_FEAT_NR", 0 } },
	{ "sd_flag_debug", { "__SD_FLAG_CNT", 0 } },
	{ "selinux_policycap_names", { "__POLICYDB_CAP_MAX", 0 } },
	{ "snb_lbr_sel_map", { "PERF_SAMPLE_BRANCH_MAX_SHIFT", 0 } },
	{ "softirq_to_name", { "NR_SOFTIRQS", 0 } },
	{ "softirq_vec", { "NR_SOFTIRQS", 0 } },
	{ "tcaa_policy", { "__TCA_ROOT_MAX", 0 } },
	{ "tcf_tfilter_dump_policy", { "__TCA_MAX", 0 } },
	{ "tcp_metrics_nl_policy", { "__TCP_METRICS_ATTR_MAX", 0 } },
	{ "thermal_genl_policy", { "__THERMAL_GENL_ATTR_MAX", 0 } },
	{ "timekeeper_data", { "TIMEKEEPERS_MAX", 0 } }, /* 6.17 (22c62b9a84b8) */
	{ "vm_node_stat", { "NR_VM_NODE_STAT_ITEMS", 0 } },
	{ "vm_numa_event", { "NR_VM_NUMA_EVENT_ITEMS", 0 } }, /* 5.14 (f19298b9516c) */
	{ "vm_zone_stat", { "NR_VM_ZONE_STAT_ITEMS", 0 } },
	{ "wq_affn_names", { "WQ_AFFN_NR_TYPES", 0 } },
	{ "xstate_flags", { "XFEATURE_MAX", 0 } },
	{ "xstate_offsets", { "XFEATURE_MAX", 0 } },
	{ "xstate_sizes", { "XFEATURE_MAX", 0 } },
};

uint32_t declared_length(const struct btf *btf, const char *variable,
			 struct declared_length *ret_why)
{
	struct btf_enumerator enumerator;
	uint32_t id;
	size_t i = 0;
	while (i < ARRAY_COUNT(lengths) && strcmp(lengths[i].variable, variable) != 0)
		i++;
	if (i == ARRAY_COUNT(lengths) ||
	    !btf_find_enumerator(btf, lengths[i].why.enumerator, &id, &enumerator) ||
	    enumerator.value < 0 || enumerator.value > LENGTH_MAX)
		return 0;
	if (ret_why)
		*ret_why = lengths[i].why;
	return (uint32_t)enumerator.value + lengths[i].why.more;
}

bool room_is_taken(uint64_t address, uint64_t room, uint64_t used)
{
	uint64_t end = address + room, alignment = end & -end;
	if (alignment > ALIGNMENT_MAX)
		alignment = ALIGNMENT_MAX;
	return used <= room && room - used < alignment;
}

struct error *declared_length_shorten(const struct btf *btf, const struct symbol *symbol,
				      struct type *type)
{
	struct btf_type record;
	struct type element;
	uint64_t size;
	if (symbol->module || symbol->size_exact || !type_get_resolved(*type, &record) ||
	    record.kind != BTF_ARRAY || !type_target(*type, &element) || !type_size(element, &size))
		return NULL;
	uint32_t count = declared_length(btf, symbol->name, NULL);
	if (!count || count >= record.array_count ||
	    !room_is_taken(symbol->address, symbol->size, count * size))
		return NULL;
	return type_array_of(element, count, type);
}
