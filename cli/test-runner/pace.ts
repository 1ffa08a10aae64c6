// How many test files run at a time. Two always do; some of them wait for most of their time (for time-outs, for other
// processes), and then the machine's processors are free for one more, or two.
import { cpus } from 'node:os';

const always = 2;
/** Of all processors; below it one more file would make those that run late for their time-outs. */
const idleShareMin = 0.15;
const sampleMs = 2000;

/** Whether one more file may begin, with `running` under way on `processors` of which `idleShare` (0 to 1) was idle. */
export function mayBegin(running: number, processors: number, idleShare: number): boolean {
  if (running < always) return true;
  return running <= processors + 1 && idleShare >= idleShareMin;
}

interface Times {
  readonly idle: number;
  readonly all: number;
}

function readTimes(): Times {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, all };
}

/** Says every two seconds how idle the machine was since the last time; ends with the returned function. */
export function watchIdle(tell: (idleShare: number) => void): () => void {
  let before = readTimes();
  const timer = setInterval(() => {
    const now = readTimes();
    const all = now.all - before.all;
    tell(all > 0 ? (now.idle - before.idle) / all : 0);
    before = now;
  }, sampleMs);
  return () => clearInterval(timer);
}

/** Runs `run` on every item in order, as many at a time as `mayBegin` allows; resolves when all are done. */
export function runPaced<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const processors = cpus().length;
  let running = 0;
  return new Promise((resolve, reject) => {
    const beginOne = (): void => {
      const item = waiting.shift();
      if (item === undefined) return;
      running += 1;
      run(item).then(
        () => {
          running -= 1;
          fill(0);
        },
        (error: unknown) => {
          stop();
          reject(error);
        },
      );
    };
    const fill = (idleShare: number): void => {
      if (waiting.length > 0 && mayBegin(running, processors, idleShare)) {
        const isExtra = running >= always;
        beginOne();
        // the next one is judged by how idle the machine is with this one
        if (!isExtra) fill(0);
      } else if (waiting.length === 0 && running === 0) {
        stop();
        resolve();
      }
    };
    const stop = watchIdle(fill);
    fill(0);
  });
}
