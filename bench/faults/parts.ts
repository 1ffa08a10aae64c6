// A part of the fleet under test: a program in a namespace of its own, which is killed and started again as a service
// manager would.
import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HarnessProblem } from '../processes.js';
import type { Network } from './network.js';

export interface PartOptions {
  readonly place: string;
  readonly command: readonly string[];
  readonly port: number;
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Where what it says is kept. */
  readonly logs: string;
}

const readyMsMax = 120_000;

export function answers(host: string, port: number, withinMs = 1000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const end = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.setTimeout(withinMs, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

export class Part {
  readonly name: string;
  readonly host: string;
  isUp = false;

  constructor(
    private readonly network: Network,
    readonly options: PartOptions,
  ) {
    this.name = options.place;
    this.host = network.places.get(options.place)?.address ?? '';
  }

  /** Does not wait for it. */
  begin(command: readonly string[] = this.options.command): void {
    const { place, cwd, env = {}, logs } = this.options;
    const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
    const child = this.network.spawn(place, command, { cwd, env: { PATH: path, HOME: cwd, ...env } });
    const file = join(logs, `${place}.log`);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => appendFileSync(file, text));
    child.once('exit', (code, signal) => {
      appendFileSync(file, `-- ${new Date().toISOString()} ended with ${code ?? signal}\n`);
      this.isUp = false;
    });
    appendFileSync(file, `-- ${new Date().toISOString()} started\n`);
    this.isUp = true;
  }

  async start(): Promise<void> {
    this.begin();
    const untilMs = performance.now() + readyMsMax;
    while (!(await answers(this.host, this.options.port))) {
      if (performance.now() > untilMs || !this.isUp)
        throw new HarnessProblem(`${this.name} does not start: ${join(this.options.logs, `${this.name}.log`)}`);
      await pause(50);
    }
  }

  /** Everything of it, at once. */
  async kill(): Promise<void> {
    for (let pids = this.network.pids(this.name); pids.length > 0; pids = this.network.pids(this.name)) {
      for (const pid of pids) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // it ended by itself
        }
      }
      await pause(20);
    }
  }

  setLink(isUp: boolean): void {
    this.network.setLink(this.name, isUp);
  }

  /** Its processes, oldest first. */
  pids(): readonly number[] {
    return [...this.network.pids(this.name)].sort((one, other) => one - other);
  }
}
