// Runs the bundled demo upstreams in the foreground; started by `up`, or alone as `gatehouse demo`.
import { startDemo } from '#fixtures/demo';
import { readFlags } from '../environment/flags.js';
import { readEnvironment } from '../environment/read-environment.js';
import { isSystemError, Refusal, wrongUsage } from '../refusal.js';
import { sayReady } from '../supervise/child.js';
import { findServiceManager } from '../supervise/systemd.js';

export async function runDemo(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  if (others.length > 0) throw wrongUsage(`demo does not know ${others.join(' ')}.`);
  const { DEMO_PORT, IN_CONTAINER } = readEnvironment(flags);
  const port = Number(DEMO_PORT);
  const demo = await startDemo(port, IN_CONTAINER === '1' ? '0.0.0.0' : '127.0.0.1').catch((error: unknown) => {
    if (!isSystemError(error)) throw error;
    const isTaken = error.code === 'EADDRINUSE';
    throw new Refusal(isTaken ? `port ${port} is taken; choose another with --demo-port.` : error.message);
  });
  console.log(`demo shop on http://127.0.0.1:${demo.port}`);
  findServiceManager()?.ready();
  sayReady();
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve());
    process.once('disconnect', resolve); // whoever started us is gone
  });
  await demo.stop();
  if (process.connected) process.disconnect(); // an open channel would keep the process alive
  return 0;
}
