// Kills an installer at one of its steps: every program by which install.sh changes something is led through a script
// that counts, and at the step that was asked for ends the installer in one of three ways.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const changing = ['mv', 'ln', 'rm', 'cp', 'mkdir', 'mktemp', 'chmod', 'dpkg-deb', 'setsid', 'sync'];

/**
 * `group`: the step and all beside it die before it is done, as at a power cut. `alone`: the shell dies, what it had
 * started goes on. `torn`: a file that is copied or unpacked is left half written.
 */
export type Death = 'group' | 'alone' | 'torn';
export const deaths: readonly Death[] = ['group', 'alone', 'torn'];

/** Only what belongs to the installer counts: what it leaves running has a process group of its own. */
const scriptOf = (name: string, program: string): string => `#!/bin/sh
here=\${0%/*}
if [ -f "$here/wanted" ]; then
  read -r wanted death <"$here/wanted"
  read -r installer <"$here/installer"
  read -r _ _ _ _ group _ <"/proc/$$/stat"
  if [ "$group" = "$installer" ]; then
    echo '${name}' >>"$here/seen"
    seen=0
    while read -r _; do seen=$((seen + 1)); done <"$here/seen"
    if [ "$seen" = "$wanted" ]; then
      case $death:${name} in
      alone:*) kill -KILL "$installer" ;;
      torn:cp) for target in "$@"; do :; done; [ -d "$target" ] || printf torn >"$target"; kill -KILL 0 ;;
      torn:dpkg-deb) for target in "$@"; do :; done; mkdir -p "$target/usr"; kill -KILL 0 ;;
      *) kill -KILL 0 ;;
      esac
    fi
  fi
fi
exec ${program} "$@"
`;

export interface KillSteps {
  /** Comes first in PATH. */
  readonly path: string;
  /**
   * Runs a command of install.sh, killed at step `at` (from 1). Returns its exit code, or null where it was killed, and
   * the steps that it took.
   */
  run(
    command: readonly string[],
    env: NodeJS.ProcessEnv,
    kill?: { readonly at: number; readonly death: Death },
  ): Promise<{ readonly code: number | null; readonly steps: readonly string[]; readonly output: string }>;
}

export function killSteps(directory: string): KillSteps {
  mkdirSync(directory, { recursive: true });
  for (const name of changing) {
    const program = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    writeFileSync(join(directory, name), scriptOf(name, program));
    chmodSync(join(directory, name), 0o755);
  }
  return {
    path: directory,
    async run(command, env, kill) {
      for (const name of ['seen', 'wanted']) rmSync(join(directory, name), { force: true });
      writeFileSync(join(directory, 'wanted'), `${kill?.at ?? 0} ${kill?.death ?? 'group'}\n`);
      const log = join(directory, 'output');
      const script = 'echo $$ >"$1/installer"; log=$1/output; shift; exec "$@" >"$log" 2>&1';
      const child = spawn('sh', ['-c', script, 'sh', directory, ...command], {
        env: { ...process.env, ...env, PATH: `${directory}:${process.env['PATH'] ?? ''}` },
        stdio: 'ignore',
        detached: true,
      });
      const [code] = (await once(child, 'exit')) as [number | null];
      rmSync(join(directory, 'wanted'), { force: true });
      const seen = join(directory, 'seen');
      const steps = existsSync(seen) ? readFileSync(seen, 'utf8').trim().split('\n') : [];
      return { code, steps, output: readFileSync(log, 'utf8') };
    },
  };
}
