// The commands of the compiler room; bin/gatehouse calls `main`. Each returns its exit code; a wrong command line is
// told without a stack and ends with 2, refused rules and files that cannot be read or written end with 1.
import { runCompile } from './compile.js';
import { isSystemError, RefusedError, UsageError } from './rule-files.js';

type Command = (argv: readonly string[]) => Promise<number>;

// Loaded on demand: `compile` must not need what only the others do.
const commands: Readonly<Record<string, Command>> = {
  compile: runCompile,
  inspect: async (argv) => (await import('./inspect.js')).runInspect(argv),
  ftw: async (argv) => (await import('./ftw.js')).runFtw(argv),
  explain: async (argv) => (await import('./explain.js')).runExplain(argv),
};

/** null for bugs. */
function exitCodeOf(error: unknown): 1 | 2 | null {
  if (error instanceof UsageError) return 2;
  if (error instanceof RefusedError) return 1;
  if (!isSystemError(error)) return null;
  if (error.code?.startsWith('ERR_PARSE_ARGS')) return 2;
  return error.syscall === undefined ? null : 1;
}

/** `argv` begins with the command. Rejects on bugs only. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name = '', ...rest] = argv;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    console.error(`gatehouse: there is no command "${name}"; known are ${Object.keys(commands).join(', ')}.`);
    return 2;
  }
  try {
    return await command(rest);
  } catch (error) {
    const code = exitCodeOf(error);
    if (code === null) throw error;
    console.error(`gatehouse ${name}: ${(error as Error).message}`);
    return code;
  }
}
