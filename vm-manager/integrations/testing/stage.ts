// An installation with one integration that leads to a fake tracker.
import type { Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import type { onBothDatabases } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { Client } from '../../testing/import-client.js';
import { startFake, type Fake, type Json } from './fake-server.js';
import type { Case } from './fake-trackers.js';

export type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

export const minute = 60_000;

export class Stage {
  readonly at: TestApp;
  readonly client: Client;
  readonly fake: Fake;
  readonly of: Case;
  application = '';
  id = '';
  constructor(at: TestApp, client: Client, fake: Fake, of: Case) {
    [this.at, this.client, this.fake, this.of] = [at, client, fake, of];
  }

  body(more: Json = {}, config: Json = {}): Json {
    const { type, secret } = this.of;
    return {
      name: `${type} ${this.fake.url}`,
      type,
      secret,
      config: { url: this.fake.url, ...this.of.config, ...config },
      ...more,
    };
  }

  async finding(title: string, more: Json = {}): Promise<string> {
    const { status, body, text } = await this.client.call('POST', '/vulnerabilities', {
      application_id: this.application,
      title,
      severity: 'high',
      cwe: ['CWE-79'],
      ...more,
    });
    if (status !== 201) throw new Error(text);
    return String(body['id']);
  }

  async status(finding: string): Promise<string> {
    return String((await this.client.call('GET', `/vulnerabilities/${finding}`)).body['status']);
  }
  async move(finding: string, to: string, more: Json = {}): Promise<void> {
    const reply = await this.client.call('POST', `/vulnerabilities/${finding}/transition`, {
      to,
      reason: 'r',
      ...more,
    });
    if (reply.status !== 200) throw new Error(reply.text);
  }
  ask(ids: readonly string[], more: Json = {}) {
    return this.client.call('POST', `/integrations/${this.id}/issues`, { vuln_ids: ids, ...more });
  }
  async ticket(finding: string): Promise<Json> {
    const { body } = await this.client.call('GET', `/integrations/tickets?vuln_id=${finding}`);
    return (body['items'] as Json[])[0] ?? {};
  }
  async integration(): Promise<Json> {
    return (await this.client.call('GET', `/integrations/${this.id}`)).body;
  }
  async comments(finding: string): Promise<Json[]> {
    return (await this.client.call('GET', `/comments?entity=finding&entity_id=${finding}`)).body['items'] as Json[];
  }
  /** A round of the job, so much later. */
  async round(laterMs = 0): Promise<void> {
    this.at.clock.nowMs += laterMs;
    this.fake.nowMs = this.at.clock.nowMs;
    const job = this.at.jobs.find(({ name }) => name === 'vm-tickets');
    await job?.run({ nowMs: this.at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  }
}

/** `config` beyond that of the case; the integration is made and the application, too. */
export async function stageOf(t: Test, database: Database, of: Case, config: Json = {}): Promise<Stage> {
  const fake = await startFake(t, of.api, of.isAdmitted);
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => at.close());
  const { token: session } = await at.user('admin');
  // hours pass in these tests, after which a session has ended
  const made = await at.call('POST', '/api/v1/tokens', { token: session, body: { name: 't', scopes: ['admin'] } });
  const stage = new Stage(at, new Client(at, String(made.body['token'])), fake, of);
  fake.nowMs = at.clock.nowMs;
  stage.application = await stage.client.application();
  const saved = await stage.client.call('POST', '/integrations', stage.body({}, config));
  if (saved.status !== 201) throw new Error(saved.text);
  stage.id = String(saved.body['id']);
  return stage;
}
