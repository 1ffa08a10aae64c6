// A control plane with two applications, a finding in each, and what tests of evidence ask it.
import type { Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import type { onOneDatabase } from '#api/testing/databases';
import { whenQuiet } from '../../kit/runs/background.js';
import { Client, type Json } from '../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
export const period = { from: '2026-02-01T00:00:00Z', to: '2026-12-31T00:00:00Z' };
export const contentMax = 64 * 1024 * 1024;

export async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token, id } = await at.user('admin');
  const client = new Client(at, token);
  const shop = String((await client.call('POST', '/applications', { name: 'shop', environment: 'prod' })).body['id']);
  const other = String((await client.call('POST', '/applications', { name: 'other' })).body['id']);
  await client.send(shop, 'title,severity,file,cwe\nSQL injection,high,a.js,CWE-89\n', { format: 'csv', mode: 'sync' });
  await client.call('POST', '/vulnerabilities', { application_id: other, title: 'Of the other', severity: 'low' });
  const [finding] = await client.findings(shop);
  await client.call('POST', `/vulnerabilities/${String(finding?.['id'])}/transition`, {
    to: 'triaged',
    reason: 'seen',
  });
  const build = async (body: Json = {}): Promise<Json> => {
    const begun = await client.call('POST', '/evidence', { period, ...body });
    if (begun.status !== 202) throw new Error(begun.text);
    await whenQuiet();
    return (await client.call('GET', `/evidence/${String(begun.body['id'])}`)).body;
  };
  const inject = (method: 'GET' | 'POST', path: string, payload?: Buffer, query = '') =>
    at.app.inject({
      method,
      url: `/api/v1/evidence${path}${query}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      },
      ...(payload === undefined ? {} : { payload }),
    });
  const download = async (id: string): Promise<Buffer> => (await inject('GET', `/${id}/download`)).rawPayload;
  const addFile = async (name: string, content: string | Buffer, more = '') => {
    const query = `?name=${encodeURIComponent(name)}${more}`;
    const reply = await inject('POST', '/files', Buffer.from(content), query);
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  };
  const verify = async (id: string): Promise<Json> => (await client.call('POST', `/evidence/${id}/verify`)).body;
  return { at, client, database, shop, other, id, build, inject, download, addFile, verify };
}
export type Started = Awaited<ReturnType<typeof start>>;
