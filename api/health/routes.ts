import { formatNotice } from '#compiler';
import { troubles } from '#proxy/redis';
import { Type } from '@sinclair/typebox';
import { ApiError, Nullable, OneOf, refusals, type App, type SharedLimitsState } from '../http-kit/index.js';
import type { BreachServiceState } from '../auth/breached.js';
import { locationKinds, locationStatuses } from '../events/places/locations.js';
import { hangingJobs } from '../jobs/states.js';
import type { HttpParts, Parts } from '../parts.js';
import { release } from '../release.js';

export type HealthParts = Pick<Parts, 'database' | 'replica' | 'ruleSets' | 'breachCheck' | 'locations'> &
  Pick<HttpParts, 'limitsState'>;

const SharedLimitsView = Type.Object({
  kind: Type.Unsafe<SharedLimitsState['kind']>({ type: 'string', enum: ['in_process', 'redis'] }),
  status: Type.Unsafe<SharedLimitsState['status']>({
    type: 'string',
    enum: ['ok', 'degraded'],
    description: 'degraded: Redis is away and this process counts by itself; it is ready all the same',
  }),
  fallbacks: Type.Integer({ description: 'requests that were counted without Redis since the start' }),
  mode: Nullable(OneOf(['single', 'sentinel', 'cluster'], 'how Redis is connected; null: in_process')),
  tls: Type.Boolean({ description: 'the connection to Redis is encrypted' }),
  trouble: Nullable(OneOf([...troubles], 'why Redis does not answer; the log says what to do. null: it does')),
});

const BreachServiceView = Type.Object({
  status: Type.Unsafe<BreachServiceState['status']>({
    type: 'string',
    enum: ['unknown', 'ok', 'away'],
    description:
      'the service for breached passwords, as this process found it; unknown: not asked since the start; away: new ' +
      'passwords are compared with the embedded list of common passwords only',
  }),
  at: Nullable(Type.String({ format: 'date-time', description: 'when it was asked last' })),
});

const RulesView = Type.Object({
  version: Nullable(Type.String({ description: 'of the core rule set in use; null: there is none' })),
  recommended: Nullable(
    Type.String({ description: 'the version that this release is tested with, where it is newer' }),
  ),
  how: Nullable(Type.String({ description: 'how to get there' })),
  notice: Type.String({ description: 'all of it in words' }),
});

/** Of DATABASE_READ_URL; null: none is set. */
const ReplicaView = Nullable(
  Type.Object({
    status: OneOf(['ok', 'lagging', 'away'], 'of the replica (DATABASE_READ_URL); unless ok, the primary answers'),
    lag_seconds: Nullable(Type.Number({ description: 'how far behind it is; null: not known' })),
    trouble: Nullable(Type.String({ description: 'why it is away' })),
  }),
);

/** The same for people and monitors. */
export function viewReplica(replica: Parts['replica']) {
  if (replica === null) return null;
  const { state: status, lagMs, trouble } = replica.state();
  return { status, lag_seconds: lagMs === null ? null : Math.round(lagMs / 100) / 10, trouble };
}

const LocationView = Type.Object({
  of: OneOf([...locationKinds], 'which file (MMDB_COUNTRY_FILE, MMDB_NETWORK_FILE); only files that are set'),
  status: OneOf([...locationStatuses], 'GET /api/events/stats says what to do'),
});

const HangingView = Type.Object({
  name: Type.String(),
  running_since: Type.String({ format: 'date-time' }),
});

const liveSchema = {
  tags: ['health'],
  summary: 'The process runs, whatever the database does: for probes that restart it',
  security: [],
  response: { 200: Type.Object({ status: Type.Literal('live') }), ...refusals },
};
const healthSchema = {
  tags: ['health'],
  summary: 'The database answers, and no background job hangs',
  description:
    'Without the database 503. `degraded`: requests are answered, a background job runs past its limit (`jobs`) or a ' +
    'file of `locations` is missing or broken.',
  security: [],
  response: {
    200: Type.Object({
      status: Type.Unsafe<'ok' | 'degraded'>({ type: 'string', enum: ['ok', 'degraded'] }),
      release: Type.String({ description: 'of this program; `gatehouse version` prints it' }),
      database: Type.String(),
      replica: ReplicaView,
      jobs: Type.Object({ hanging: Type.Array(HangingView) }),
      rules: RulesView,
      locations: Type.Array(LocationView),
    }),
    ...refusals,
  },
};
const readySchema = {
  tags: ['health'],
  summary: 'The database answers and the settings are there',
  security: [],
  response: {
    200: Type.Object({
      status: Type.Literal('ready'),
      database: Type.String(),
      settings_version: Type.Integer(),
      shared_limits: SharedLimitsView,
      breached_passwords: BreachServiceView,
    }),
    ...refusals,
  },
};

/** A probe hears of a database that accepts connections and says nothing before the probe itself gives up. */
const answerMsMax = 3000;

const notReady = (cause: unknown): ApiError =>
  new ApiError('not_ready', 'The database does not answer.', { headers: { 'retry-after': '5' }, cause });

/** The rows, or ApiError `not_ready`: the database refused, or did not answer in time. */
async function ofDatabase<T>(rows: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${answerMsMax} ms`)), answerMsMax);
  });
  try {
    return await Promise.race([rows, late]);
  } catch (cause) {
    throw notReady(cause);
  } finally {
    clearTimeout(timer);
  }
}

export function registerHealthRoutes(app: App, parts: HealthParts): void {
  const { database, replica, limitsState, ruleSets, breachCheck, locations } = parts;
  app.get('/api/live', { schema: liveSchema }, async () => ({ status: 'live' as const }));
  app.get('/api/health', { schema: healthSchema }, async () => {
    const hanging = await ofDatabase(hangingJobs(database.sql));
    const rules = ruleSets.notice();
    await locations.refresh();
    const places = locations.states().map(({ of, status }) => ({ of, status }));
    const isPlaced = places.every(({ status }) => status === 'ok' || status === 'old');
    return {
      status: hanging.length === 0 && isPlaced ? ('ok' as const) : ('degraded' as const),
      release: release(),
      database: database.kind,
      replica: viewReplica(replica),
      jobs: { hanging: hanging.map(({ name, running_since: at }) => ({ name, running_since: at.toISOString() })) },
      rules: { ...rules, notice: formatNotice(rules) },
      locations: places,
    };
  });
  app.get('/api/ready', { schema: readySchema }, async () => {
    const [row] = await ofDatabase(database.sql<{ head_id: number }[]>`select head_id from settings_state`);
    if (row === undefined) throw notReady(new Error('the settings were never seeded'));
    const { status, at } = breachCheck.state();
    return {
      status: 'ready' as const,
      database: database.kind,
      settings_version: row.head_id,
      shared_limits: limitsState(),
      breached_passwords: { status, at: at?.toISOString() ?? null },
    };
  });
  // the address that `up` prints: a person who opens it gets the explorer, a program hears that there is nothing
  for (const url of ['/api', '/api/'])
    app.get(url, { schema: { hide: true } }, async (request, reply) =>
      request.headers.accept?.includes('text/html') === true ? reply.redirect('/api/docs') : reply.callNotFound(),
    );
  app.get('/api/openapi.json', { schema: { hide: true } }, async (_, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  );
}
