// `make dev`: `gatehouse up`, built and started again whenever a source changes. A build that fails leaves what runs.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { program, root } from '../environment/directories.js';
import { watchSources } from '../environment/watch-sources.js';

const rooms = ['settings', 'engine', 'compiler', 'proxy', 'api', 'cli', 'fixtures', 'bin'];

class DevelopmentRun {
  private child: ChildProcess | null = null;
  private isEnding = false;
  private isRestarting = false;

  constructor(private readonly args: readonly string[]) {}

  begin(): void {
    this.child = spawn(process.execPath, [program, 'up', ...this.args], { cwd: root, stdio: 'inherit' });
    this.child.on('exit', (code) => {
      this.child = null;
      if (this.isEnding) process.exit(code ?? 0);
    });
  }

  /** Resolves when what runs has stopped; `up` bounds that itself. */
  private end(): Promise<void> {
    const { child } = this;
    if (child === null) return Promise.resolve();
    return new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.kill('SIGTERM');
    });
  }

  async restart(): Promise<void> {
    if (this.isRestarting || this.isEnding) return;
    this.isRestarting = true;
    const built = spawnSync(process.execPath, [join(root, 'bin/build.mjs')], { cwd: root, stdio: 'inherit' });
    if (built.status === 0) {
      console.log('dev: built; starting again');
      await this.end();
      if (!this.isEnding) this.begin();
    } else console.error('dev: the build failed; what runs goes on');
    this.isRestarting = false;
  }

  stop(signal: NodeJS.Signals): void {
    this.isEnding = true;
    if (this.child === null) process.exit(0);
    // Ctrl-C reaches the child by itself (same terminal); SIGTERM must be passed on.
    if (signal === 'SIGTERM') this.child.kill(signal);
  }
}

const run = new DevelopmentRun(process.argv.slice(2));
watchSources(root, rooms, () => void run.restart());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => run.stop(signal));
run.begin();
