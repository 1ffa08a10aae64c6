// A whole control plane for tests: the database is given, the clock is set by hand, passwords cost few rounds, and
// nothing reaches a network but what a test allows.
import type { InjectOptions } from 'fastify';
import { buildApp } from '../app.js';
import { insertUser } from '../users/store.js';
import type { Role } from '../http-kit/access.js';
import type { Database } from '../db/client.js';
import type { App, AppDeps, House } from '../parts.js';
import { createOutbound } from '../outbound/outbound.js';
import type { ApplyOutcome, ApplyRequest } from '../change/contract.js';
import { seedSettings } from '../settings/store.js';

export const testPassword = 'Quiet-river-stone-41';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, any>; // tests look into many shapes; each assertion says what it expects
  readonly text: string;
}

export interface TestApp {
  readonly app: App;
  readonly house: House;
  readonly clock: { nowMs: number };
  readonly applied: ApplyRequest[];
  /** What the next applies answer. */
  nextOutcome: ((request: ApplyRequest) => Promise<ApplyOutcome>) | null;
  call(
    method: string,
    url: string,
    options?: { token?: string | null; body?: unknown; headers?: Record<string, string>; ip?: string },
  ): Promise<Reply>;
  user(role: Role, email?: string): Promise<{ id: string; email: string; token: string }>;
  logIn(email: string, password?: string): Promise<Reply>;
  close(): Promise<void>;
}

const found = {
  artifactSha256: 'ab'.repeat(32),
  managedSha256: '',
  diagnostics: [],
  impact: null,
  notEnforcedYet: [],
  tookMs: 1,
};
export const activeOutcome: ApplyOutcome = {
  kind: 'active',
  ...found,
  nodes: [{ url: 'http://127.0.0.1:2019', state: 'active', generation: 1, detail: '' }],
};

export async function startTestApp(database: Database, over: Partial<AppDeps> = {}): Promise<TestApp> {
  const clock = { nowMs: Date.parse('2026-03-01T12:00:00Z') };
  const applied: ApplyRequest[] = [];
  await seedSettings(database, new Date(clock.nowMs));
  const outbound = over.outbound ?? createOutbound({ allow: [], resolveHost: async () => [] });
  const state: { nextOutcome: TestApp['nextOutcome'] } = { nextOutcome: null };
  const { app, house } = await buildApp({
    env: {
      authSessionSecret: 'a'.repeat(40),
      settingsEncryptionSecret: 'b'.repeat(40),
      dataAdminToken: 'c'.repeat(40),
      trustedProxies: ['127.0.0.1/8'],
      breachedPasswordsUrl: 'http://breach.invalid/range/',
      brand: { name: 'Gatehouse', sub: 'WAAP', tagline: null },
    },
    database,
    now: () => clock.nowMs,
    outbound,
    licencePublicKey: null,
    logger: false,
    passwordIterations: 1000,
    loginsPerMinute: 1_000_000,
    notFoundPerMinute: 1_000_000,
    async applySettings(request) {
      applied.push(request);
      if (state.nextOutcome !== null) return state.nextOutcome(request);
      if (request.dryRun) return { kind: 'dry_run', unchanged: false, ...found };
      await request.markPending({ artifactSha256: found.artifactSha256, managedSha256: '' });
      return activeOutcome;
    },
    ...over,
  });
  await app.ready();
  let made = 0;
  const call: TestApp['call'] = async (method, url, options = {}) => {
    const headers: Record<string, string> = { ...options.headers };
    if (options.token !== undefined && options.token !== null) headers['authorization'] = `Bearer ${options.token}`;
    const request: InjectOptions = {
      method: method,
      url,
      headers,
      remoteAddress: options.ip ?? '192.0.2.10',
      ...(options.body === undefined ? {} : { payload: options.body as object }),
    };
    const response = await app.inject(request);
    const isJson = String(response.headers['content-type'] ?? '').includes('json') && response.body !== '';
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: isJson ? (JSON.parse(response.body) as Record<string, unknown>) : {},
    };
  };
  const logIn: TestApp['logIn'] = (email, password = testPassword) =>
    call('POST', '/api/login', { body: { email, password } });
  return {
    app,
    house,
    clock,
    applied,
    call,
    logIn,
    get nextOutcome() {
      return state.nextOutcome;
    },
    set nextOutcome(value) {
      state.nextOutcome = value;
    },
    async user(role, email = `${role}${++made}@example.org`) {
      const passwordHash = await house.hasher.hash(testPassword);
      const user = await database.sql.begin((tx) =>
        insertUser(
          tx,
          { email, name: '', role, passwordHash, mustChangePassword: false, origin: 'local', ssoSubject: null },
          new Date(clock.nowMs),
        ),
      );
      const reply = await logIn(email);
      if (reply.status !== 200) throw new Error(reply.text);
      return { id: user.id, email, token: String(reply.body['token']) };
    },
    async close() {
      await app.close();
      await outbound.close();
    },
  };
}
