// Analysers of C, C++, Objective-C and their compilers: what they call weaknesses, with their CWE. Where memory is the
// programmer's, what corrupts it, reads what was never written, divides by zero or follows null counts as one.
import { startsWithAny, type Pattern } from '../profile.js';
import type { WeaknessTable } from '../weakness-tables.js';

/** Issue types of Infer about speed, style, dead code, retain cycles and what an Erlang program matches. */
export const inferStyle: Pattern = startsWithAny(
  'DEAD_STORE|(?:IM)?PURE_|MODIFIES_IMMUTABLE|CONFIG_|PULSE_(?:CONST_REFABLE|UNNECESSARY|READONLY|TRANSITIVE|CONFIG)',
  'EXPENSIVE_|EXECUTION_TIME|ALLOCATION_SIZE|INFINITE_|INEFFICIENT_|INVARIANT_CALL|\\w+_UNREACHABLE_AT_EXIT|' +
    'UNREACHABLE_CODE',
  'CONDITION_ALWAYS|CHECKERS_|STARVATION|STRICT_MODE|(?:REGEX_OP|IPC|LOCK)_ON_UI|LOCKLESS_|STATIC_CONSTRUCTOR_STALL',
  'RETAIN_CYCLE|CAPTURED_STRONG|MIXED_SELF|MULTIPLE_WEAKSELF|SELF_IN_BLOCK|STRONG_SELF|WEAK_SELF|ASSIGN_POINTER',
  'DIRECT_ATOMIC|REGISTERED_OBSERVER|POINTER_TO_CONST|COMPONENT_|MUTABLE_LOCAL|GLOBAL_VARIABLE_INIT|BAD_(?:ARG|' +
    'GENERATOR|KEY|MAP|REC|RET)',
  'NO_MATCH|NO_TRUE_BRANCH|MISSING_REQUIRED_PROP|MISSING_NULLABILITY|ERADICATE_|DO_NOT_REPORT|INVALID_SIL|DEPRECATED_',
);

export const inferWeaknesses: WeaknessTable = {
  22: 'UNTRUSTED_FILE UNTRUSTED_FILE_RISK',
  77: 'UNTRUSTED_ENVIRONMENT_CHANGE_RISK',
  78: 'SHELL_INJECTION SHELL_INJECTION_RISK',
  79: 'CROSS_SITE_SCRIPTING JAVASCRIPT_INJECTION',
  89: 'SQL_INJECTION SQL_INJECTION_RISK USER_CONTROLLED_SQL_RISK',
  119: 'BUFFER_OVERRUN* UNTRUSTED_BUFFER_ACCESS ARRAY_OUT_OF_BOUNDS* PULSE_REFERENCE_STABILITY',
  190: 'INTEGER_OVERFLOW*',
  20: 'TAINT_ERROR QUANDARY_TAINT_ERROR DATA_FLOW_TO_SINK UNTRUSTED_VARIABLE_LENGTH_ARRAY',
  200: 'SENSITIVE_DATA_FLOW LINEAGE_FLOW SCOPE_LEAKAGE',
  362: 'THREAD_SAFETY_VIOLATION GUARDEDBY_VIOLATION LOCK_CONSISTENCY_VIOLATION INTERFACE_NOT_THREAD_SAFE',
  369: 'DIVIDE_BY_ZERO',
  401: 'MEMORY_LEAK*',
  416: `USE_AFTER_FREE* USE_AFTER_DELETE* USE_AFTER_LIFETIME* VECTOR_INVALIDATION* CXX_*_CAPTURED_IN_BLOCK DANGLING*`,
  457: 'UNINITIALIZED_VALUE PULSE_UNINITIALIZED* STATIC_INITIALIZATION_ORDER_FIASCO',
  476: `NULL_DEREFERENCE* NULLPTR_DEREFERENCE* NIL_* NULL_ARGUMENT* SWIFT_NPE* OPTIONAL_EMPTY_ACCESS* COMPARED_TO_NULL*
    CONSTANT_ADDRESS_DEREFERENCE* BLOCK_PARAMETER_NOT_NULL_CHECKED PARAMETER_NOT_NULL_CHECKED IVAR_NOT_NULL_CHECKED
    PREMATURE_NIL_TERMINATION*`,
  502: 'UNTRUSTED_DESERIALIZATION UNTRUSTED_DESERIALIZATION_RISK',
  532: 'LOGGING_PRIVATE_DATA',
  562: 'STACK_VARIABLE_ADDRESS_ESCAPE*',
  617: 'PULSE_ASSERTION_ERROR',
  667: 'DEADLOCK ARBITRARY_CODE_EXECUTION_UNDER_LOCK',
  674: 'MUTUAL_RECURSION_CYCLE',
  772: 'RESOURCE_LEAK PULSE_RESOURCE_LEAK',
  789: 'UNTRUSTED_HEAP_ALLOCATION INFERBO_ALLOC*',
  918: 'UNTRUSTED_URL_RISK',
  926: 'EXPOSED_INSECURE_INTENT_HANDLING INSECURE_INTENT_HANDLING',
  927: 'UNTRUSTED_INTENT_CREATION CREATE_INTENT_FROM_URI',
};

/** Checks of clang-tidy; those of the Clang Static Analyzer behind `clang-analyzer-` are in its table. */
export const clangTidyWeaknesses: WeaknessTable = {
  78: 'cert-env33-c bugprone-command-processor',
  119: 'bugprone-not-null-terminated-result bugprone-misplaced-pointer-arithmetic-in-alloc',
  120: 'bugprone-unsafe-functions cert-msc24-c cert-msc33-c',
  131: `bugprone-sizeof-expression bugprone-implicit-widening-of-multiplication-result
      bugprone-misplaced-widening-cast`,
  134: 'cert-fio47-c clang-diagnostic-format-security clang-diagnostic-format-nonliteral',
  170: 'bugprone-string-literal-with-embedded-nul bugprone-suspicious-stringview-data-usage',
  190: 'bugprone-narrowing-conversions bugprone-too-small-loop-variable',
  252: 'bugprone-unused-return-value cert-err33-c',
  330: 'cert-msc32-c cert-msc51-cpp',
  338: 'cert-msc30-c cert-msc50-cpp bugprone-random-generator-seed',
  362: 'concurrency-mt-unsafe bugprone-signal-handler cert-sig30-c',
  369: 'clang-diagnostic-division-by-zero',
  403: 'android-cloexec-*',
  416: 'bugprone-use-after-move bugprone-dangling-handle',
  457: 'clang-diagnostic-uninitialized clang-diagnostic-sometimes-uninitialized',
  469: 'bugprone-pointer-arithmetic-on-polymorphic-object',
  476: 'bugprone-unchecked-optional-access bugprone-null-dereference',
  562: 'bugprone-return-const-ref-from-parameter clang-diagnostic-return-stack-address',
  704: 'bugprone-casting-through-void bugprone-bit-cast-pointers',
  787: 'clang-diagnostic-array-bounds clang-diagnostic-fortify-source',
};

/** Warnings of GCC and Clang (`-Wuse-after-free`), without `-W`. */
export const compilerWeaknesses: WeaknessTable = {
  119: 'array-bounds array-bounds-pointer-arithmetic analyzer-out-of-bounds',
  126: 'stringop-overread',
  131: `alloc-size alloc-size-larger-than alloc-zero calloc-transposed-args analyzer-allocation-size
    sizeof-pointer-memaccess sizeof-array-argument sizeof-array-div`,
  134: 'format-security format-nonliteral',
  190: `overflow integer-overflow shift-overflow shift-count-overflow shift-count-negative analyzer-shift-count-overflow
    analyzer-shift-count-negative`,
  252: 'unused-result',
  364: 'analyzer-unsafe-call-within-signal-handler',
  369: 'div-by-zero division-by-zero analyzer-tainted-divisor integer-divide-by-zero',
  401: 'analyzer-malloc-leak',
  415: 'analyzer-double-free',
  416: 'use-after-free analyzer-use-after-free dangling dangling-*',
  457: `uninitialized maybe-uninitialized sometimes-uninitialized conditional-uninitialized
    analyzer-use-of-uninitialized-value uninitialized-const-reference`,
  467: 'sizeof-pointer-div',
  469: 'analyzer-undefined-behavior-ptrdiff',
  476: `null-dereference nonnull nonnull-compare analyzer-null-dereference analyzer-null-argument
    analyzer-possible-null-dereference analyzer-possible-null-argument`,
  562: 'return-local-addr return-stack-address return-address analyzer-use-of-pointer-in-stale-stack-frame',
  590: 'free-nonheap-object analyzer-free-of-non-heap',
  628: 'varargs',
  676: 'format-overflow format-truncation stringop-truncation',
  685: 'analyzer-va-list-exhausted analyzer-va-arg-type-mismatch',
  687: 'memset-elt-size memset-transposed-args',
  758: 'implicit-function-declaration restrict',
  762: 'mismatched-dealloc mismatched-new-delete analyzer-mismatching-deallocation',
  770: 'alloca alloca-larger-than vla vla-larger-than stack-usage',
  775: 'analyzer-fd-leak analyzer-file-leak',
  787: 'stringop-overflow fortify-source analyzer-write-to-string-literal',
  789: 'analyzer-tainted-allocation-size',
  822: 'analyzer-tainted-offset analyzer-tainted-array-index analyzer-tainted-size',
  908: 'analyzer-fd-use-without-check',
  910: 'analyzer-fd-use-after-close analyzer-fd-access-mode-mismatch',
  1007: 'bidi-chars',
  1341: 'analyzer-double-fclose analyzer-fd-double-close',
};
