// Counts what a rule would have met among the requests that were recorded; nothing is saved.
import { Type } from '@sinclair/typebox';
import { ApiError, closed, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { findSamples, samplesKept } from '../records/samples.js';
import { readHead } from '../settings/store.js';
import { checkCustomRule } from './check.js';
import { idFor } from './save.js';
import { NewRule } from './views.js';

const schema = {
  tags: ['rules'],
  summary: 'Count what a rule would have matched among recorded requests; nothing is saved',
  description:
    'Requests are recorded as a sample, the newest 5,000: half of them ordinary ones, half of them requests that a ' +
    'rule saw. What was masked in them is not there to be matched.',
  body: Type.Object({ rule: NewRule }, closed),
  response: {
    200: Type.Object({
      recorded: Type.Integer({ description: 'requests that are there, of the sites of the rule' }),
      looked_at: Type.Integer({ description: 'of them; fewer where the rule needs more than three seconds for all' }),
      matched: Type.Integer(),
      not_looked_at: Type.Object(
        {
          masked: Type.Integer({ description: 'a value was masked before it was kept: the rule saw x in its place' }),
          body: Type.Integer({ description: 'the body was not kept' }),
        },
        { description: 'of those that did not match, how many might have as they came' },
      ),
      since: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'when the oldest of those looked at came',
      }),
      examples: Type.Array(
        Type.Object({
          request_id: Type.String(),
          at: Type.String({ format: 'date-time' }),
          site: Type.String(),
          method: Type.String(),
          uri: Type.String(),
          client_ip: Type.String(),
          variable: Type.String({ description: 'where it matched' }),
        }),
        { description: 'the newest ten' },
      ),
    }),
    ...refusals,
  },
};

export function registerRecordedRoute(app: App, { database, sandbox }: Pick<Parts, 'database' | 'sandbox'>): void {
  app.post('/api/rules/matches', { schema }, async ({ body: { rule: given } }) => {
    const { settings } = await readHead(database.sql);
    const others = settings.custom_rules.filter(({ id }) => id !== given.id);
    const rule = { ...given, id: given.id ?? idFor(given, others) };
    const { text, problems } = checkCustomRule(rule, others);
    if (text === null)
      throw new ApiError('validation_failed', 'The rule does not compile.', {
        errors: problems
          .filter(({ severity }) => severity === 'error')
          .map(({ path, message }) => ({ path: `/rule${path}`, reason: message })),
      });
    const all = await findSamples(database.sql, samplesKept);
    const samples = all
      .filter(({ site }) => rule.sites.length === 0 || rule.sites.includes(site))
      .toSorted((a, b) => b.atMs - a.atMs);
    const { lookedAt, matched, masked, bodyNotKept, examples } =
      samples.length === 0
        ? { lookedAt: 0, matched: 0, masked: 0, bodyNotKept: 0, examples: [] }
        : await sandbox.matchRecorded({ id: rule.id, text, samples });
    const oldest = samples[lookedAt - 1];
    return {
      recorded: samples.length,
      looked_at: lookedAt,
      matched,
      not_looked_at: { masked, body: bodyNotKept },
      since: oldest === undefined ? null : new Date(oldest.atMs).toISOString(),
      examples: examples.map(({ requestId, atMs, clientIp, ...rest }) => ({
        request_id: requestId,
        at: new Date(atMs).toISOString(),
        client_ip: clientIp,
        ...rest,
      })),
    };
  });
}
