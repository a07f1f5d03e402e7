#!/usr/bin/env python3
"""Counts the hostile and honest kernels of tests/cases by the rule of docs/verification.md they stand for, per target.

    tests/cases/by_rule.py            the table of docs/results/cpu.md
    tests/cases/by_rule.py --list     the names behind each number

A case belongs to the first rule whose pattern is found in its name; every case has to belong to one, and every rule needs three hostile kernels over the targets.
"""
import collections
import pathlib
import re
import sys

CASES = pathlib.Path(__file__).resolve().parent
TARGETS = sorted({path.stem.split("_")[1] for path in CASES.glob("h*_*_*.toml") if path.stem.startswith(("hostile_", "honest_"))})

# rule, pattern of hostile kernels, pattern of honest kernels at its edge
RULES = [
    ("text and compiler: nothing outside of the source", r"bomb|include|incbin|header_|text_|huge_table|redefines|time_pasted|has_include|assembler|import_trigraph|template_|macro_|entry_is|no_entry|unknown_kernel|no_launch",
     r"macros"),
    ("good guests", r"guest_|_on_large|at_most_four|not_inside|not_when_flushed|threads_flush|throw|longjmp|abort|exit|trap|recursion|smash|skip_caller|aligned_only|setenv|infinite_|leak|printf_flood", r"rounding_put_back|exceptions|virtual|critical|stable_sort|map"),
    ("launch lines and scratch: sizes are checked", r"scratch_absurd|scratch_div|scratch_over|grid_|empty_grid|too_large|too_much|require_dodge", r"scratch|small_and_large_grids|dynamic_local|two_launches"),
    ("infinities and NaN keep their class", r"infinity|nan_|inf_when|mish_clamped", r"^mish_|ends_apart"),
    ("deep graphs: honest errors decide", r"layers_|conv_mish", r"layers_|conv_mish"),
    ("regions and few elements", r"region_|skip_small|constant_row_excuse|subsample_skip", r"long_"),
    ("lower precision inside", r"tf32|bf16|f16|fast_exp|exp_degree|tanh_|rational|rsqrt|fewer_bits|high_word|cancellation|variance", r"bf16x3|kahan|running|newton|poly|erfc|double|welford|matmul_(naive|blocked|packed|tiled|registers)|pairwise|attention|meansquare"),
    ("every call is judged alike: timed calls too", r"ordinary_data|when_timed|honest_then|counter_(static|openmp|mxcsr)|skip_after|shortcut|random_answer|constant_softmax|constant_when|late_|launch_number|early_done|fake_verdict", r"zero_rows"),
    ("data: masks, shifts, small rows, ties", r"mask|clamped|assumes_|small_rows|starts_low|large_numbers|no_max|last_tie|top_only|zero_means|equal_rows|cumsum_reset|relu_for|borrow|share_a_scale|choose_an_order|half|zeros|copy_input|swapped|subsample|input_scaled|multiple_of|weights_zeroed",
     r"softmax|argmax|cumsum|maxpool|cross_entropy|conv2d|rmsnorm|layernorm|gelu"),
    ("no memory across calls and processes", r"cache|fingerprint|top_counter|slack_counter|state|residue|memo|static|global|malloc|weights_cached|neighbour|same_pointer|(?<!_of_)stack|got|persist|scratch_memory|local_counter|stale|constant_(state|write)|jcr|section|page|heap|mremap|thread_local|gsbase|counter_in_(vector|mmx)|printf$",
     r"stack_and_heap|private_array|local_array|constant_table|lane_masks"),
    ("no clock, no identity", r"address_bit|at_entry|called_by_pointer|(clean|used)_vector_register|empty_mmx|spare_argument|register_magic|red_zone_word|output_before|buffers_apart|clock|rdtsc|rdrand|cpuid|judged_by|other_thread_counts|identity|cycle|instruction_|dynamic_by|bits_by|affinity|priority", r"fixed_order|fixed_parts|thread_parts|conditions"),
    ("shapes: right on all of them", r"shape_only|big_shape|partial|missing_guard|hole|uninitialised|noop|only_over|poison", r"tuned|unrolled|grid_stride|float4"),
    ("memory: bounds and inputs", r"oob|input_|wild|scan_expected|guard_page|misaligned|illegal|unlock|vm_readv|proc_mem", r"masked_tail"),
    ("walls: no system calls, no code at load time", r"_raw|_libc|constructor|ifunc|init_|irelative|destructor|atexit|dlopen|fork|vdso|veto|relocation|libc|asm_|sjlj|function_pointer|return_address|filters|close_fds|channel|spoils|dynamic_parallelism|syscall|maps|crash|endless|flood",
     r"avx|vector_extension|heap_per_thread|sorted"),
    ("races and threads", r"race|divergent|missing_sync|omp_|openmp_race", r"omp|atomics|shuffle|tree|warp|group|block|reduction"),
]
OTHER = "ordinary kernels of many styles"


def rule_of(kind, name):
    for rule, hostile, honest in RULES:
        if re.search(hostile if kind == "hostile" else honest, name):
            return rule
    return OTHER


def main():
    found = collections.defaultdict(list)
    for path in sorted(CASES.glob("*.toml")):
        match = re.fullmatch(rf"(hostile|honest)_({'|'.join(TARGETS)})_(.*)", path.stem)
        if match:
            kind, target, name = match.groups()
            found[rule_of(kind, name), kind, target].append(name)
    print("| rule | " + " | ".join(f"hostile {t}" for t in TARGETS) + " | " + " | ".join(f"honest {t}" for t in TARGETS) + " |")
    print("|---|" + "---:|" * 2 * len(TARGETS))
    short = []
    for rule in [r[0] for r in RULES] + [OTHER]:
        counts = [len(found[rule, kind, target]) for kind in ("hostile", "honest") for target in TARGETS]
        print(f"| {rule} | " + " | ".join(map(str, counts)) + " |")
        if rule != OTHER and sum(counts[:len(TARGETS)]) < 3:
            short.append(rule)
        if "--list" in sys.argv[1:]:
            for kind in ("hostile", "honest"):
                print(f"  {kind}: " + ", ".join(f"{t}/{n}" for t in TARGETS for n in found[rule, kind, t]))
    total = [sum(len(v) for (_, k, t), v in found.items() if (k, t) == (kind, target)) for kind in ("hostile", "honest") for target in TARGETS]
    print("| all | " + " | ".join(map(str, total)) + " |")
    stray = [f"{t}/{n}" for t in TARGETS for n in found[OTHER, "hostile", t]]
    if stray or short:
        print(f"hostile kernels without a rule: {', '.join(stray) or 'none'}; rules with fewer than three: {', '.join(short) or 'none'}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
