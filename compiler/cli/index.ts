// The commands of the compiler room; bin/gatehouse calls `main`. Each returns its exit code; a wrong command line is
// told without a stack and ends with 2.
import { runCompile } from './compile.js';
import { UsageError } from './rule-files.js';

type Command = (argv: readonly string[]) => Promise<number>;

// Loaded on demand: `compile` must not need what only the others do.
const commands: Readonly<Record<string, Command>> = {
  compile: runCompile,
  inspect: async (argv) => (await import('./inspect.js')).runInspect(argv),
  ftw: async (argv) => (await import('./ftw.js')).runFtw(argv),
  explain: async (argv) => (await import('./explain.js')).runExplain(argv),
};

function isUsageProblem(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code?.startsWith('ERR_PARSE_ARGS') ?? false;
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
    if (!isUsageProblem(error)) throw error;
    console.error(`gatehouse ${name}: ${error.message}`);
    return 2;
  }
}
