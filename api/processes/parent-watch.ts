// A thread of a process beside the control plane that ends it when that is gone, whatever it is at. A process
// whose parent has ended is given another one by the system.
import { workerData } from 'node:worker_threads';

const { parent } = workerData as { readonly parent: number };
const everyMs = 1000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, everyMs);
