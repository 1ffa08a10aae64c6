// Test files as processes: each in one of its own, bounded in time, its temporary files gone with the run.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { filesVariable } from './companions.js';
import { Positions } from './positions.js';
import { Accounts, inAll, type Seconds } from './processor-time.js';
import { Report, type Outcome } from './report.js';
import { makeScratch } from './scratch.js';
import { preload, shortLivedOptions, shortLivedVariable } from './short-lived.js';

/** Runs several files, one after another. */
const together = fileURLToPath(new URL('together.js', import.meta.url));

const secondsToReport = 10; // tap names the subtest and the open handles when it is told; then the process is killed

export class TestProcesses {
  private readonly running = new Map<ChildProcess, Report>();
  /** Of a test that was killed, and of processes that tests kill. */
  private readonly scratch = makeScratch();
  private readonly accounts = new Accounts();
  private readonly positions: Positions;

  constructor(
    private readonly root: string,
    private readonly secondsMax: number,
  ) {
    this.positions = new Positions(root);
    chmodSync(this.scratch, 0o711); // PostgreSQL runs as a user of its own where this runs as root
    process.once('exit', () => {
      try {
        rmSync(this.scratch, { recursive: true, force: true, maxRetries: 3 });
      } catch (error) {
        console.log(`${this.scratch} was not removed: ${(error as Error).message}`);
      }
    });
  }

  /** Runs one file, or a company in one process; resolves when that process is gone. Never rejects. */
  run(files: readonly string[]): Promise<Outcome> {
    const report = new Report(files, this.positions);
    const isCompany = files.length > 1;
    const script = isCompany ? [together] : [];
    const given = isCompany ? { [filesVariable]: JSON.stringify(files) } : {};
    const { NODE_OPTIONS: asked = '' } = process.env;
    const options = shortLivedOptions(files.map((file) => readFileSync(join(this.root, file), 'utf8')));
    const account = this.accounts.begin();
    const command = [process.execPath, ...script, ...files.slice(0, 1)];
    const [program = '', ...args] = account.enter(command);
    const child = spawn(program, args, {
      cwd: this.root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TAP_TIMEOUT: String(this.secondsMax),
        TMPDIR: this.scratch,
        NODE_OPTIONS: `${options} ${asked}`.trim(),
        [shortLivedVariable]: preload,
        ...given,
      },
    });
    this.running.set(child, report);
    const late = setTimeout(
      () => {
        report.take(`# no end after ${this.secondsMax} s, in: ${report.place()}`);
        child.kill('SIGALRM'); // tap's word for "report what you wait for"
        setTimeout(() => child.kill('SIGKILL'), secondsToReport * 1000).unref();
      },
      (this.secondsMax + secondsToReport) * 1000,
    );
    const streams = [child.stdout, child.stderr];
    for (const stream of streams) createInterface({ input: stream }).on('line', report.take);
    let seconds: number | null = null;
    return new Promise((resolve) => {
      child.on('error', (error) => report.take(`# ${error.message}`));
      child.on('exit', () => {
        seconds = inAll(account.read());
        setTimeout(() => {
          report.take('# a process that it left behind held its output open');
          for (const stream of streams) stream.destroy();
        }, secondsToReport * 1000).unref();
      });
      child.on('close', (code, signal) => {
        clearTimeout(late);
        this.running.delete(child);
        resolve(report.end(signal ?? code ?? 'nothing', seconds));
      });
    });
  }

  /** What those took that are gone; null where the system does not say. */
  get seconds(): Seconds | null {
    return this.accounts.total;
  }

  /** Kills what runs, and says where each was. */
  cut(why: string): Outcome[] {
    return [...this.running].map(([child, report]) => {
      const outcome = report.cut(why);
      child.kill('SIGKILL');
      return outcome;
    });
  }
}
