// The road of a change with everything real but the rule set: database, compiler, artifacts on disk, data planes.
import type { Test } from 'tap';
import type { Database } from '../db/client.js';
import { systemActor, type Principal } from '../http-kit/index.js';
import { connectDataPlane, type NodeLink } from '../nodes/link.js';
import { changeSettings } from '../settings/change.js';
import { applyMergePatch } from '../settings/merge-patch.js';
import { startTestApp, type Reply, type TestApp } from './app.js';
import { nodeToken, type TestNode } from './data-plane.js';
import { writeRuleSet } from './rule-set.js';
import { makeDataDirectory } from './temporary.js';

export interface Road extends TestApp {
  readonly link: NodeLink;
  readonly admin: string;
  readonly data: string;
  patch(body: object): Promise<Reply>;
  /** Stores a version as a program would have that did not check rules when they are saved. */
  store(body: object): Promise<unknown>;
  apply(query?: string, headers?: Record<string, string>): Promise<Reply>;
}

/** `prepareRules`: what is to be done with the directory of the rule set before it is used. */
export async function startRoad(
  t: Test,
  database: Database,
  upstream: string,
  urls: readonly string[],
  prepareRules: (directory: string) => Promise<void> = async () => {},
): Promise<Road> {
  const data = await makeDataDirectory(t, 'road');
  const crsDirectory = await writeRuleSet(t);
  await prepareRules(crsDirectory);
  const env = {
    dataAdminToken: nodeToken,
    dataAdminUrls: urls,
    dataDirectory: data,
    crsDirectory,
    upstreams: { customer: upstream, payment: upstream },
    settingsEncryptionSecret: 'b'.repeat(40),
  };
  const link = await connectDataPlane({ env, database, now: Date.now, compileKeepsPriority: true });
  const { applySettings, expectedOf, reconcileNodes, tryRequests } = link;
  const at = await startTestApp(database, { applySettings, expectedOf, reconcileNodes, tryRequests });
  t.teardown(async () => {
    await at.close();
    await link.close();
  });
  await link.start(at.parts);
  const { token } = await at.user('admin');
  return {
    ...at,
    link,
    data,
    admin: token,
    patch: (body) => at.call('PATCH', '/api/settings', { token, body }),
    store: (body) =>
      changeSettings(at.parts, { role: 'admin', actor: systemActor } as Principal, {
        action: 'settings.update',
        ifMatch: undefined,
        propose: (current) => applyMergePatch(current, body),
      }),
    apply: (query = '', headers = {}) => at.call('POST', `/api/apply${query}`, { token, headers }),
  };
}

/** What a node answers there. */
export const ask = async (node: TestNode, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${node.http}${path}`, { headers: { connection: 'close' } })).status;
/** A custom rule that blocks requests with this word in an argument. */
export const blockWord = (id: number, value: string): object => ({
  id,
  name: value,
  kind: 'visual',
  variable: 'ARGS',
  operator: 'contains',
  value,
  action: 'block',
  phase: 2,
});
/** What the rule set of tests blocks. */
export const attack = '/?id=1%27%20OR%20%271%27=%271';
