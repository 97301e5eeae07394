// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/stack_words.h"

#include "base/array.h"
#include <stdio.h>
#include <string.h>

/*
 * Functions that are called from everywhere and do what they are told: who called them is to blame.
 * One that ends in "*" stands for all that begin so. By name, so what a kernel lacks does no harm.
 */
static const char *const generic[] = {
	/* dying */
	"panic",
	"vpanic",
	"nmi_panic",
	"oops_end",
	"oops_begin",
	"die",
	"die_addr",
	"__die*",
	"no_context",
	"page_fault_oops",
	"__bad_area*",
	"bad_area*",
	"kernelmode_fixup_or_oops",
	"do_user_addr_fault",
	"do_kern_addr_fault",
	"do_error_trap",
	"do_trap*",
	"exc_*",
	"asm_exc_*",
	"asm_sysvec_*",
	"asm_common_interrupt",
	"end_repeat_nmi",
	"asm_fred_*",
	"crash_kexec",
	"__crash_kexec",
	"machine_kexec",
	"pvpanic_*",
	"notifier_call_chain",
	"atomic_notifier_call_chain",
	"raw_notifier_call_chain",
	"blocking_notifier_call_chain",
	"report_bug",
	"handle_bug",
	"__warn",
	"warn_slowpath_fmt",
	"__warn_printk",
	"check_panic_on_warn",
	"handle_stack_overflow",
	"usercopy_abort",
	"__check_heap_object",
	"__check_object_size",
	"check_heap_object",
	"check_stack_object",
	"fortify_panic",
	"__fortify_*",
	"kfence_*",
	"__kfence_*",
	"kasan_*",
	"__kasan_*",
	"__asan_*",
	"__schedule_bug",
	"__stack_chk_fail",
	"__ubsan_*",
	"dump_stack*",
	"show_*",
	"native_*",
	"default_do_nmi",
	"unknown_nmi_error",
	"nmi_handle",
	"nmi_panic_self_stop",
	/* memory and strings */
	"memcpy*",
	"__memcpy*",
	"memmove*",
	"__memmove*",
	"memset*",
	"__memset*",
	"memcmp",
	"memchr*",
	"str*",
	"__str*",
	"copy_*",
	"_copy_*",
	"__copy_*",
	"clear_page*",
	"rep_*",
	"__get_user*",
	"__put_user*",
	"kfree*",
	"kmalloc*",
	"__kmalloc*",
	"kmem_cache_*",
	"__kmem_cache_*",
	"vfree",
	"__slab_*",
	"___slab_*",
	"kvfree*",
	"slab_*",
	"do_slab_free",
	"set_freepointer",
	"__vmalloc*",
	"vmalloc*",
	"vzalloc*",
	"kvmalloc*",
	"vm_area_alloc_pages",
	"new_slab",
	"allocate_slab",
	"alloc_slab_page",
	/* words */
	"string",
	"string_nocheck",
	"widen_string",
	"pointer",
	"format_decode",
	"va_format",
	"vsnprintf",
	"vscnprintf",
	"snprintf",
	"scnprintf",
	"vsprintf",
	"sprintf",
	"kasprintf",
	"kvasprintf*",
	"seq_printf",
	"seq_vprintf",
	"seq_puts",
	"__seq_puts",
	"seq_write",
	"sysfs_emit*",
	"vprintk*",
	"_printk",
	"printk",
	/* loops that pass time */
	"delay_tsc",
	"delay_loop",
	"delay_halt*",
	"__delay",
	"__udelay",
	"__ndelay",
	"__const_udelay",
	/* pages that are wanted, and who is to be charged for them */
	"__alloc_pages*",
	"alloc_pages*",
	"__folio_alloc*",
	"folio_alloc*",
	"vma_alloc_folio*",
	"alloc_anon_folio",
	"get_page_from_freelist",
	"warn_alloc",
	"__get_free_page*",
	"get_zeroed_page*",
	"handle_mm_fault",
	"__handle_mm_fault",
	"do_anonymous_page",
	"try_charge*",
	"charge_memcg",
	"mem_cgroup_charge*",
	"__mem_cgroup_charge*",
	/* lists, trees, counters */
	"__list_*",
	"list_*",
	"rb_*",
	"__rb_*",
	"xa_*",
	"xas_*",
	"__xa_*",
	"radix_tree_*",
	"idr_*",
	"refcount_*",
	"kref_*",
	"kobject_get",
	"kobject_put",
	"up",
	"down",
	"__up*",
	"__down*",
	"down_*",
	"up_*",
	/* timers, tasklets and works that are waited for until they end */
	"timer_delete*",
	"__timer_delete*",
	"del_timer*",
	"try_to_del_timer*",
	"hrtimer_cancel*",
	"hrtimer_try_to_cancel",
	"tasklet_kill",
	"tasklet_unlock*",
	"flush_work",
	"__flush_work",
	"cancel_work*",
	"cancel_delayed_work*",
	"__cancel_work*",
	"flush_delayed_work",
	"flush_workqueue",
	"__flush_workqueue",
	"drain_workqueue",
	/* locks and waiting */
	"_raw_*",
	"__raw_*",
	"mutex_*",
	"__mutex_*",
	"ww_mutex_*",
	"rwsem_*",
	"rwbase_*",
	"__rwbase_*",
	"rt_*",
	"rtlock_*",
	"__rt_*",
	"queued_*",
	"do_raw_*",
	"lock_*",
	"osq_*",
	"__schedule",
	"schedule*",
	"preempt_schedule*",
	"__cond_resched",
	"wait_for_*",
	"__wait_*",
	"io_schedule*",
	"percpu_down_*",
	"percpu_rwsem_*",
	"msleep*",
	"usleep_range*",
	"__percpu_*",
	"bit_wait*",
	"__wait_on_*",
	"out_of_line_wait_on_*",
	"__lock_buffer",
	"__wait_on_buffer",
	"folio_wait_*",
	"__folio_lock*",
	"wait_on_page_*",
	"__lock_page*",
	"submit_bio_wait",
	"blk_execute_rq",
	"flush_work",
	"__flush_work",
	"flush_workqueue",
	"__flush_workqueue",
	"kthread_stop",
	"kthread_park",
	"synchronize_rcu*",
	"synchronize_srcu*",
	"__synchronize_srcu*",
	"wake_*",
	"__wake_*",
	"complete",
	"complete_*",
	"swake_*",
	"prepare_to_wait*",
	"finish_wait",
	"add_wait_queue*",
	"remove_wait_queue",
	/* how a function comes to run */
	"ret_from_fork*",
	"kthread",
	"worker_thread",
	"process_one_work",
	"process_scheduled_works",
	"move_linked_works",
	"__pwq_activate_work",
	"pwq_*",
	"call_timer_fn",
	"expire_timers",
	"__run_timers",
	"run_timer_*",
	"run_timersd",
	"run_ktimerd",
	"timer_expire_remote",
	"tmigr_*",
	"__hrtimer_run_queues",
	"hrtimer_interrupt",
	"__sysvec_*",
	"sysvec_*",
	"__do_softirq",
	"handle_softirqs",
	"do_softirq*",
	"irq_exit*",
	"__irq_exit*",
	"tasklet_action*",
	"run_ksoftirqd",
	"smpboot_thread_fn",
	"rcu_do_batch",
	"rcu_core*",
	"__handle_irq_event_percpu",
	"handle_irq_event*",
	"handle_edge_irq",
	"handle_fasteoi_irq",
	"common_interrupt",
	"__common_interrupt",
	"do_syscall_64",
	"x64_sys_call",
	"entry_SYSCALL_*",
	"entry_INT80*",
	"do_idle",
	"cpu_startup_entry",
	"default_idle*",
	"start_secondary",
	"start_kernel",
	"secondary_startup_64*",
	"do_one_initcall",
	"do_init_module",
	"rest_init",
	"arch_call_rest_init",
	"x86_64_start_*",
	"arch_cpu_idle",
	"cpu_idle_*",
	"pv_native_safe_halt",
	"acpi_idle_*",
	"intel_idle*",
	"mwait_idle*",
	"cpuidle_*",
};

void frame_stem(const struct frame *frame, char *buffer, size_t size)
{
	size_t length = frame->has_symbol ? strcspn(frame->symbol.name, ".") : 0;
	snprintf(buffer, size, "%.*s", (int)length, frame->has_symbol ? frame->symbol.name : "");
}

bool frame_is(const struct frame *frame, const char *name)
{
	size_t length = strlen(name);
	return frame->has_symbol && frame->kind != FRAME_USER &&
	       !strncmp(frame->symbol.name, name, length) &&
	       (!frame->symbol.name[length] || frame->symbol.name[length] == '.');
}

size_t trace_find(const struct stack_trace *trace, size_t first, const char *name)
{
	while (first < trace->count && !frame_is(&trace->frames[first], name))
		first++;
	return first < trace->count ? first : trace->count;
}

bool frame_is_generic(const struct frame *frame)
{
	if (!frame->has_symbol || frame->kind == FRAME_USER)
		return true;
	/* A module's function is nobody's helper, whatever it is called. */
	if (frame->symbol.module)
		return frame_is(frame, "pvpanic_panic_notify") ||
		       frame_is(frame, "pvpanic_send_event");
	for (size_t i = 0; i < ARRAY_COUNT(generic); i++) {
		size_t length = strcspn(generic[i], "*");
		if (generic[i][length] ? !strncmp(frame->symbol.name, generic[i], length)
				       : frame_is(frame, generic[i]))
			return true;
	}
	return false;
}

/* The stub of one, and not of an exception that the task made itself. */
bool frame_is_interrupt(const struct frame *frame)
{
	return frame->has_symbol &&
	       (!strncmp(frame->symbol.name, "asm_sysvec_", 11) ||
		frame_is(frame, "asm_common_interrupt") || frame_is(frame, "asm_exc_nmi") ||
		frame_is(frame, "end_repeat_nmi"));
}

/*
 * Whether what lies behind the exception frame at `end` is not what frames from `first` on are of:
 * an interrupt came upon it. An exception is of the instruction that it came upon, and a task that
 * an interrupt took the CPU from has been there since.
 */
static bool is_of_another(const struct stack_trace *trace, size_t first, size_t end)
{
	if (!frame_is_interrupt(&trace->frames[end - 1]))
		return false;
	for (size_t i = first; i < end; i++)
		if (frame_is(&trace->frames[i], "preempt_schedule_irq") ||
		    frame_is(&trace->frames[i], "irqentry_exit_cond_resched") ||
		    frame_is(&trace->frames[i], "raw_irqentry_exit_cond_resched"))
			return false;
	return true;
}

size_t trace_blame(const struct stack_trace *trace, size_t first)
{
	for (size_t i = first; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind == FRAME_USER ||
		    (i > first && frame->kind == FRAME_EXCEPTION && is_of_another(trace, first, i)))
			break;
		if (!frame_is_generic(frame))
			return i;
	}
	return trace->count;
}

static const struct {
	const char *function, *what;
	bool is_borrowed; /* in an interrupt, unless the task is there for it */
} circumstances[] = {
	{ "call_timer_fn", "a timer", true },
	{ "__hrtimer_run_queues", "a high-resolution timer", true },
	{ "process_one_work", "a work item", false },
	{ "tasklet_action_common", "a tasklet", true },
	{ "rcu_do_batch", "an RCU callback", true },
	{ "__do_softirq", "a softirq", true },
	{ "handle_softirqs", "a softirq", true },
	{ "__handle_irq_event_percpu", "an interrupt handler", true },
	{ "__flush_smp_call_function_queue", "a call from another CPU", true },
	{ "notifier_call_chain", "a notifier", false },
	/* Where that is part of them. */
	{ "raw_notifier_call_chain", "a notifier", false },
	{ "atomic_notifier_call_chain", "a notifier", false },
	{ "blocking_notifier_call_chain", "a notifier", false },
	{ "do_one_initcall", "the start of a module or the kernel", false },
};

/* An interrupt brought it here: the trace goes on in what that came upon. */
static bool is_interrupt(const struct stack_trace *trace, size_t first)
{
	for (size_t i = first + 1; i < trace->count; i++)
		if (trace->frames[i].kind == FRAME_EXCEPTION || trace->frames[i].kind == FRAME_USER)
			return frame_is_interrupt(&trace->frames[i - 1]);
	return false;
}

/* A thread that takes softirqs over; timers have one of their own with PREEMPT_RT. */
static bool is_thread_of_softirqs(const struct stack_trace *trace, size_t first)
{
	return trace_find(trace, first, "run_ksoftirqd") < trace->count ||
	       trace_find(trace, first, "run_ktimerd") < trace->count ||
	       trace_find(trace, first, "run_timersd") < trace->count;
}

/* It wakes who waits for a tasklet to end, and runs none. */
static bool is_waking(const struct stack_trace *trace, size_t frame)
{
	return frame && frame_is(&trace->frames[frame], "tasklet_action_common") &&
	       (frame_is(&trace->frames[frame - 1], "wake_up_var") ||
		frame_is(&trace->frames[frame - 1], "__wake_up") ||
		frame_is(&trace->frames[frame - 1], "tasklet_unlock"));
}

size_t trace_interrupted(const struct stack_trace *trace)
{
	size_t ret = 0;
	for (size_t i = 1; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind == FRAME_USER)
			return ret;
		if (frame->kind == FRAME_EXCEPTION &&
		    (!ret || frame_is_interrupt(&trace->frames[i - 1])))
			ret = i;
	}
	return ret;
}

bool trace_circumstance(const struct stack_trace *trace, size_t first, struct circumstance *ret)
{
	for (size_t i = first; i < trace->count; i++) {
		/* Behind it is what was interrupted. */
		if (i > first && trace->frames[i].kind == FRAME_EXCEPTION)
			return false;
		for (size_t k = 0; k < ARRAY_COUNT(circumstances); k++) {
			if (!frame_is(&trace->frames[i], circumstances[k].function) ||
			    is_waking(trace, i))
				continue;
			*ret = (struct circumstance){ .what = circumstances[k].what, .frame = i };
			ret->is_borrowed = circumstances[k].is_borrowed && is_interrupt(trace, i);
			ret->is_deferred = circumstances[k].is_borrowed && !ret->is_borrowed &&
					   is_thread_of_softirqs(trace, i);
			return true;
		}
	}
	return false;
}
