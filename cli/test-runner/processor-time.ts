// The processor time that test files take: unlike the time on the clock it is nearly the same on a machine that is busy
// with other things, and it is what a whole run costs.
//
// Where Linux lets us make control groups (version 2, mostly as root), each process of tests has one of its own, and
// everything that it starts is counted in it: the renderers of a browser and the parts of a database, which no process
// waits for, or which are still there when the file is over. Elsewhere it is what /proc says of processes that were
// waited for, which is less.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of one second, as Linux counts in /proc. */
const ticks = 100;

export interface Seconds {
  readonly user: number;
  readonly system: number;
}

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
};

const sum = ({ user, system }: Seconds): number => user + system;
const none: Seconds = { user: 0, system: 0 };

/** A line of /proc/PID/stat; proc(5): utime, stime, cutime, cstime. Null where the system does not say. */
function readProcess(): { readonly own: Seconds; readonly gone: Seconds } | null {
  const text = read('/proc/self/stat');
  if (text === null) return null;
  // the name of the program stands in front, in brackets, and may hold blanks
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const at = (index: number): number => Number(fields[index]) / ticks;
  return { own: { user: at(11), system: at(12) }, gone: { user: at(13), system: at(14) } };
}

const prefix = 'gatehouse-runner-';

/** The directory of this process's control group; null where there are none of version 2. */
function ownGroup(): string | null {
  const mount = /^\S+ (\S+) cgroup2 /m.exec(read('/proc/self/mounts') ?? '')?.[1];
  const path = /^0::(.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1];
  return mount === undefined || path === undefined ? null : join(mount, path);
}

/** Of all that ever ran in a group; cgroup-v2: `user_usec`, `system_usec` of cpu.stat. */
function readGroup(directory: string): Seconds | null {
  const text = read(join(directory, 'cpu.stat'));
  const at = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '')?.[1]) / 1e6;
  return text === null ? null : { user: at('user_usec'), system: at('system_usec') };
}

/** Where the time of one process and of all that it starts is counted. */
export interface Account {
  /** A program with its arguments, so that it counts here when that is run instead. */
  enter(command: readonly string[]): readonly string[];
  /** When the process is gone; null where the system does not say. */
  read(): Seconds | null;
}

const enterGroup = 'echo $$ >"$0"; exec "$@"';

/** Of this process, whose number is the other half of a group's name. */
let groupsMade = 0;

/** Gives each process of tests its account. */
export class Accounts {
  /** Groups that may have something left in them. */
  private readonly open = new Set<string>();
  private gone = readProcess()?.gone ?? null;
  private all: Seconds | null = this.gone === null ? null : none;

  constructor(private readonly parent: string | null = ownGroup()) {
    process.once('exit', () => {
      this.endAll();
      // what was ended is gone in a moment
      for (let tries = 0; this.open.size > 0 && tries < 20; tries++) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
        this.close();
      }
    });
  }

  /** In all, of those that were read. */
  get total(): Seconds | null {
    return this.all;
  }

  begin(): Account {
    const group = this.makeGroup();
    return {
      enter: (command) =>
        group === null ? command : ['/bin/sh', '-c', enterGroup, join(group, 'cgroup.procs'), ...command],
      read: () => {
        // also with groups: else what was in one would count again for the next that has none
        const waited = this.readGone();
        const counted = group === null ? null : readGroup(group);
        // nothing: it could not enter
        const seconds = counted === null || sum(counted) === 0 ? waited : counted;
        this.close();
        if (seconds !== null && this.all !== null)
          this.all = { user: this.all.user + seconds.user, system: this.all.system + seconds.system };
        return seconds;
      },
    };
  }

  private makeGroup(): string | null {
    if (this.parent === null) return null;
    const group = join(this.parent, `${prefix}${process.pid}-${++groupsMade}`);
    try {
      mkdirSync(group);
    } catch {
      return null; // not ours to make
    }
    this.open.add(group);
    return group;
  }

  /**
   * Of processes that are gone, since the last time; of two that end in the same moment the first one gets what both
   * took.
   */
  private readGone(): Seconds | null {
    const now = readProcess()?.gone ?? null;
    const before = this.gone;
    this.gone = now;
    return now === null || before === null
      ? null
      : { user: now.user - before.user, system: now.system - before.system };
  }

  /** Planes and databases of tests that were ended before they could stop them: only what entered a group of ours. */
  private endAll(): void {
    for (const group of this.open)
      try {
        writeFileSync(join(group, 'cgroup.kill'), '1');
      } catch {
        // Linux before 5.14
      }
  }

  /** Removes the groups that nothing runs in. */
  private close(): void {
    for (const group of this.open)
      try {
        rmdirSync(group);
        this.open.delete(group);
      } catch {
        // something still ends in it
      }
  }
}

/**
 * Of this process, and of those it has started: all where it has a control group of its own, else those that are gone.
 * In all, null where the system does not say.
 */
export function readSeconds(): number | null {
  const group = ownGroup();
  const counted = group?.includes(`/${prefix}`) === true ? readGroup(group) : null;
  if (counted !== null) return sum(counted);
  const found = readProcess();
  return found === null ? null : sum(found.own) + sum(found.gone);
}

export const inAll = (seconds: Seconds | null): number | null => (seconds === null ? null : sum(seconds));
