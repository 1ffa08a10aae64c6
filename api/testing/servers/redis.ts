// A throw-away Redis.
import type { Test } from 'tap';
import { startRedisProcess } from './redis-process.js';

export { withoutRedis } from './redis-process.js';

/** Goes with the test. Throws when the machine has none; see `withoutRedis`. */
export async function startRedis(t: Test, port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const { kill } = await startRedisProcess(t, [`port ${port}`]);
  return { url: `redis://127.0.0.1:${port}`, stop: kill };
}
