// Runs the bundled demo upstreams in the foreground; started by `up`, or alone as `gatehouse demo`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment, readFlags, Refusal, root } from './environment.mjs';

export async function runDemo(args) {
  const { flags, others } = readFlags(args);
  if (others.length > 0) throw new Refusal(`demo does not know ${others.join(' ')}.`);
  const port = Number(readEnvironment(flags).DEMO_PORT);
  const module = join(root, 'build/fixtures/demo/server.js');
  if (!existsSync(module)) throw new Refusal('the demo is not built; run `make setup` first.');
  const { startDemo } = await import(module);
  const demo = await startDemo(port).catch((error) => {
    if (error?.code === 'EADDRINUSE') throw new Refusal(`port ${port} is taken; choose another with --demo-port.`);
    throw error;
  });
  console.log(`demo shop on http://127.0.0.1:${demo.port}`);
  process.send?.({ kind: 'ready' });
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
    process.once('disconnect', resolve); // whoever started us is gone
  });
  await demo.stop();
  if (process.connected) process.disconnect(); // an open channel would keep the process alive
  return 0;
}
