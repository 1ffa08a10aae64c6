// A whole control plane for tests: the database is given, the clock is set by hand, passwords cost few rounds, and
// nothing reaches a network but what a test allows.
import type { InjectOptions } from 'fastify';
import { buildApp } from '../app.js';
import type { ApplyOutcome, ApplyRequest } from '../change/contract.js';
import type { Database } from '../db/client.js';
import type { App, Job, Role } from '../http-kit/index.js';
import { createOutbound } from '../outbound/outbound.js';
import type { AppDeps, FeatureParts } from '../parts.js';
import { seedSettings } from '../settings/store.js';
import { insertUser } from '../users/store.js';

export const testPassword = 'Quiet-river-stone-41';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, any>; // tests look into many shapes; each assertion says what it expects
  readonly text: string;
}

interface Call {
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly ip?: string;
}

export interface TestApp {
  readonly app: App;
  readonly parts: FeatureParts;
  readonly jobs: readonly Job[];
  readonly clock: { nowMs: number };
  readonly applied: ApplyRequest[];
  /** What the next applies answer. */
  nextOutcome: ((request: ApplyRequest) => Promise<ApplyOutcome>) | null;
  call(method: string, url: string, options?: Call): Promise<Reply>;
  user(role: Role, email?: string): Promise<{ id: string; email: string; token: string }>;
  logIn(email: string, password?: string): Promise<Reply>;
  close(): Promise<void>;
}

const found = {
  artifactSha256: 'ab'.repeat(32),
  managedSha256: '',
  diagnostics: [],
  impact: null,
  impactMissing: null,
  notEnforcedYet: [],
  tookMs: 1,
};
export const activeOutcome: ApplyOutcome = {
  kind: 'active',
  ...found,
  nodes: [{ url: 'http://127.0.0.1:2019', state: 'active', generation: 1, detail: '' }],
};

/** What the API reads of the environment, for an installation of its own. */
export const testEnv: AppDeps['env'] = {
  authSessionSecret: 'a'.repeat(40),
  settingsEncryptionSecret: 'b'.repeat(40),
  dataAdminToken: 'c'.repeat(40),
  trustedProxies: ['127.0.0.1/8'],
  consoleToken: null,
  breachedPasswordsUrl: 'http://breach.invalid/range/',
  torExitsUrl: 'http://tor.invalid/exits',
  brand: { name: 'Gatehouse', sub: 'WAAP', tagline: null },
};

export async function startTestApp(database: Database, over: Partial<AppDeps> = {}): Promise<TestApp> {
  const clock = { nowMs: Date.parse('2026-03-01T12:00:00Z') };
  const road = new TestRoad();
  await seedSettings(database, new Date(clock.nowMs));
  const outbound = over.outbound ?? createOutbound({ allow: [], resolveHost: async () => [] });
  const { app, parts, jobs } = await buildApp({
    env: testEnv,
    database,
    now: () => clock.nowMs,
    // what is remembered in a test would be read at another time, perhaps inside a transaction
    settingsFreshMs: 0,
    outbound,
    licencePublicKey: null,
    logger: false,
    passwordIterations: 1000,
    loginsPerMinute: 1_000_000,
    notFoundPerMinute: 1_000_000,
    applySettings: (request) => road.apply(request),
    ...over,
  });
  await app.ready();
  let made = 0;
  const call: TestApp['call'] = (method, url, options = {}) => inject(app, method, url, options);
  const logIn: TestApp['logIn'] = (email, password = testPassword) =>
    call('POST', '/api/login', { body: { email, password } });
  return {
    app,
    parts,
    jobs,
    clock,
    applied: road.applied,
    call,
    logIn,
    get nextOutcome() {
      return road.nextOutcome;
    },
    set nextOutcome(value) {
      road.nextOutcome = value;
    },
    async user(role, email = `${role}${++made}@example.org`) {
      const id = await addUser(parts, role, email);
      const reply = await logIn(email);
      if (reply.status !== 200) throw new Error(reply.text);
      return { id, email, token: String(reply.body['token']) };
    },
    async close() {
      await app.close();
      await outbound.close();
    },
  };
}

/** Stands for the data plane: takes every change, or answers what a test says. */
class TestRoad {
  readonly applied: ApplyRequest[] = [];
  nextOutcome: TestApp['nextOutcome'] = null;

  async apply(request: ApplyRequest): Promise<ApplyOutcome> {
    this.applied.push(request);
    if (this.nextOutcome !== null) return this.nextOutcome(request);
    if (request.dryRun) return { kind: 'dry_run', unchanged: false, ...found };
    await request.markPending({ artifactSha256: found.artifactSha256, managedSha256: '' });
    return activeOutcome;
  }
}

async function inject(app: App, method: string, url: string, options: Call): Promise<Reply> {
  const headers: Record<string, string> = { ...options.headers };
  if (options.token !== undefined && options.token !== null) headers['authorization'] = `Bearer ${options.token}`;
  const request = {
    method,
    url,
    headers,
    remoteAddress: options.ip ?? '192.0.2.10',
    ...(options.body === undefined ? {} : { payload: options.body as object }),
  };
  const response = await app.inject(request as InjectOptions);
  const isJson = String(response.headers['content-type'] ?? '').includes('json') && response.body !== '';
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    body: isJson ? (JSON.parse(response.body) as Record<string, unknown>) : {},
  };
}

async function addUser({ database, hasher, now }: FeatureParts, role: Role, email: string): Promise<string> {
  const passwordHash = await hasher.hash(testPassword);
  const user = await database.sql.begin((tx) =>
    insertUser(
      tx,
      { email, name: '', role, passwordHash, mustChangePassword: false, origin: 'local', ssoSubject: null },
      new Date(now()),
    ),
  );
  return user.id;
}
