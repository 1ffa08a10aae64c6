// Examples of bodies in the OpenAPI document, sent as they stand there.
import type { Test } from 'tap';
import { endpoints } from '../../endpoints.js';
import type { Client } from '../import-client.js';

/**
 * Sends every example of the rows below `prefix`; each has to be taken. `pathOf` fills in the ids of a path. Returns
 * how many there were.
 */
export async function exercise(
  t: Test,
  client: Client,
  prefix: string,
  pathOf: (path: string) => string = (path) => path,
): Promise<number> {
  let sent = 0;
  for (const { method, path, body, status = 200 } of endpoints) {
    if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
    for (const example of (body?.['examples'] ?? []) as readonly unknown[]) {
      const reply = await client.call(method, pathOf(path), example);
      t.equal(reply.status, status, `the example of ${method} ${path}: ${reply.text.slice(0, 200)}`);
      sent++;
    }
  }
  t.ok(sent > 0, `${sent} examples below ${prefix}`);
  return sent;
}
