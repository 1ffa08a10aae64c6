// A thread of the compile process that ends it when the control plane is gone, whatever the process is at. A process
// whose parent has ended is given another one by the system.
import { workerData } from 'node:worker_threads';

const { parent } = workerData as { readonly parent: number };
const everyMs = 1000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, everyMs);
