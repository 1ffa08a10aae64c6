// How a process beside the control plane behaves towards the rest of the machine: whoever serves requests goes first,
// and it does not outlive the control plane that started it.
import { readdirSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';

/** Niceness, 0–19: on a busy core it has one part in thirty beside a thread that serves. */
const lowPriority = 15;
/** Of -1000 … 1000: what a system that is out of memory ends first. Servers that were given no value have 0. */
const firstToGo = 600;

/**
 * Lowers the priority of this process; one that was started with a lower one keeps it. On Linux the priority is one of
 * a thread, and those of V8 exist already, so all are told; threads that start later inherit it.
 */
export function giveWay(): void {
  const nice = Math.max(lowPriority, getPriority());
  if (process.platform !== 'linux') return setPriority(nice);
  for (const thread of readdirSync('/proc/self/task'))
    try {
      setPriority(Number(thread), nice);
    } catch (error) {
      // a thread that ended in between has no priority any more
      if ((error as { info?: { code?: string } }).info?.code !== 'ESRCH') throw error;
    }
  try {
    writeFileSync('/proc/self/oom_score_adj', String(firstToGo));
  } catch {
    // Where /proc may not be written the system chooses by size alone.
  }
}

/**
 * Nobody would take what is made for a control plane that is gone, and nobody would end it. The channel tells between
 * two turns of the loop; a thread of its own looks as well, because one turn may take long, or for ever.
 */
export function endWithParent(): void {
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  process.once('disconnect', end);
  const watch = new Worker(new URL('./parent-watch.js', import.meta.url), {
    workerData: { parent: process.ppid },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  watch.unref();
  if (!process.connected) end(); // it went before anybody listened
}
