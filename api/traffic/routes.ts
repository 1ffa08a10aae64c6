import { Type } from '@sinclair/typebox';
import { ApiError, closed, Moment, parseMoment, refusals, Time, type App } from '../http-kit/index.js';
import { AsOf } from '../events/query.js';
import { createRuleNames } from '../evidence/rule-names.js';
import type { Parts } from '../parts.js';
import { readTraffic } from './read.js';

export type TrafficParts = Pick<Parts, 'database' | 'now' | 'currentSettings' | 'ruleSets'>;

const dayMs = 86_400_000;
const windowDaysMax = 31;

const Counted = { requests: Type.Integer(), blocked: Type.Integer({ description: 'of them, with the verdict block' }) };

const Traffic = Type.Object({
  from: Time,
  to: Time,
  as_of: Type.Integer({ description: 'the newest record that is counted; GET /api/requests takes it' }),
  ...Counted,
  flagged: Type.Integer({
    description: 'requests with the verdict flag: rules would have blocked them, and the mode only logs',
  }),
  bucket_seconds: Type.Integer(),
  series: Type.Array(Type.Object({ at: Time, ...Counted }), { description: 'every bucket of the window, in order' }),
  verdicts: Type.Array(Type.Object({ verdict: Type.String(), requests: Type.Integer() })),
  rules: Type.Array(
    Type.Object({
      rule_id: Type.Integer(),
      name: Type.String({ description: 'what the rule says of itself, or is called; empty: not known here' }),
      requests: Type.Integer(),
    }),
    { description: 'rules that most requests matched; `rule_id` of GET /api/requests lists them' },
  ),
  clients: Type.Array(Type.Object({ client_ip: Type.String(), ...Counted })),
  paths: Type.Array(Type.Object({ path: Type.String(), ...Counted }), { description: 'without the query' }),
  sites: Type.Array(Type.Object({ site: Type.String(), ...Counted })),
});

const schema = {
  tags: ['events'],
  summary: 'Traffic at a glance: totals, a series, and who and what stands out in a window of the request log',
  querystring: Type.Object(
    {
      from: Type.Optional(Moment('UTC; a day before `to` without it')),
      to: Type.Optional(Moment('UTC, exclusive; now without it')),
      buckets: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 96 })),
      site: Type.Optional(Type.String({ maxLength: 200, description: 'requests to this site only' })),
      as_of: Type.Optional(AsOf),
      top: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 8, description: 'length of the lists' })),
    },
    closed,
  ),
  response: { 200: Traffic, ...refusals },
};

export function registerTrafficRoutes(app: App, { database, now, currentSettings, ruleSets }: TrafficParts): void {
  const namesOf = createRuleNames(ruleSets);
  app.get('/api/traffic', { schema }, async ({ query }) => {
    const { buckets = 96, top = 8 } = query;
    const to = query.to === undefined ? new Date(now()) : parseMoment(query.to, '/to');
    const from = query.from === undefined ? new Date(to.getTime() - dayMs) : parseMoment(query.from, '/from');
    const widthMs = to.getTime() - from.getTime();
    if (widthMs <= 0) throw new ApiError('validation_failed', '`from` has to be before `to`.');
    if (widthMs > windowDaysMax * dayMs)
      throw new ApiError('validation_failed', `The window has at most ${windowDaysMax} days; take a later \`from\`.`);
    const { as_of: asOf = null, site = null } = query;
    const traffic = await readTraffic(database.sql, { from, to, buckets, top, asOf, site });
    const names = await namesOf(database.sql, await currentSettings());
    return { ...traffic, rules: traffic.rules.map((one) => ({ ...one, name: names.get(one.rule_id) ?? '' })) };
  });
}
