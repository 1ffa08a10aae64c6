// The one command line: which command is meant, and what a failure is to the person who typed it. `gatehouse help`
// lists everything. Commands are loaded on demand: `demo` must not need what only the data plane does.
import { createPrivately } from './environment/private-files.js';
import { adoptDirectories, readEnvironment } from './environment/read-environment.js';
import { pathRefusal, Refusal, tellRefusals } from './refusal.js';
import { usage } from './usage.js';

/** Resolves with the exit code. */
export type Run = (args: readonly string[]) => Promise<number>;

const processes: Readonly<Record<string, () => Promise<Run>>> = {
  up: async () => (await import('./commands/up.js')).runUp,
  'data-plane': async () => (await import('./commands/data-plane.js')).runDataPlane,
  'control-plane': async () => (await import('./commands/control-plane.js')).runControlPlane,
  console: async () => (await import('./commands/console.js')).runConsole,
  'reset-password': async () => (await import('./commands/reset-password.js')).runResetPassword,
  node: async () => (await import('./fleet/node.js')).runNode,
  health: async () => (await import('./supervise/health.js')).runHealth,
  backup: async () => (await import('./backup/backup.js')).runBackup,
  restore: async () => (await import('./backup/restore.js')).runRestore,
  licence: async () => (await import('./commands/licence.js')).runLicence,
  'demo-data': async () => (await import('./commands/vm/demo-data.js')).runDemoData,
  gate: async () => (await import('./commands/vm/gate.js')).runGate,
  scan: async () => (await import('./commands/vm/scan/scan.js')).runScan,
  capacity: async () => (await import('./capacity/command.js')).runCapacity,
  harden: async () => (await import('./harden/command.js')).runHarden,
  version: async () => (await import('./environment/version.js')).runVersion,
  demo: async () => (await import('./commands/demo.js')).runDemo,
};

/** They work on files that the command line names, with the rules and the data of this deployment. */
const ruleCommands: Readonly<Record<string, () => Promise<Run>>> = {
  compile: async () => (await import('./commands/compile.js')).runCompile,
  inspect: async () => (await import('./commands/inspect.js')).runInspect,
  explain: async () => (await import('./commands/explain.js')).runExplain,
  rules: async () => (await import('./commands/rules.js')).runRules,
  ftw: async () => (await import('./commands/ftw.js')).runFtw,
};

/**
 * One of the commands that work with rules, as a caller inside the house has it: no `.env`, directories as they are.
 */
export function runRuleCommand(name: string, args: readonly string[]): Promise<number> {
  return tellRefusals(`gatehouse ${name}`, async () => {
    const run = await ruleCommands[name]?.();
    if (run === undefined) throw new Error(`there is no command "${name}"`);
    return run(args).catch((error: unknown) => {
      throw error instanceof Refusal ? error : (pathRefusal(error) ?? error);
    });
  });
}

/** Exit codes: 0 done, 1 refused or failed, 2 wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  createPrivately();
  const [named = 'help', ...args] = argv;
  const name = named === '--version' || named === '-V' ? 'version' : named;
  if (name === 'help' || name === '--help' || name === '-h') {
    console.log(usage);
    return 0;
  }
  if (Object.hasOwn(ruleCommands, name))
    return tellRefusals('gatehouse', async () => {
      adoptDirectories(readEnvironment());
      return runRuleCommand(name, args);
    });
  const load = Object.hasOwn(processes, name) ? processes[name] : undefined;
  if (load !== undefined && (args.includes('--help') || args.includes('-h'))) {
    console.log(usage);
    return 0;
  }
  if (load !== undefined) return tellRefusals('gatehouse', async () => (await load())(args));
  console.error(`gatehouse: there is no command "${name}".\n\n${usage}`);
  return 2;
}
