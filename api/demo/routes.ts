// The public demo: anybody sends a request into a sandbox and is told what the rules make of it. It knows the rule set
// and the default settings only; nothing of it is stored.
import { Type } from '@sinclair/typebox';
import { ApiError, closed, Nullable, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { createDemoThread } from './demo-thread.js';

export type DemoParts = Pick<Parts, 'ruleSets' | 'publicDemo'>;

const perMinuteMax = 30;
const bodyBytesMax = 32 * 1024;

const Header = Type.Tuple([
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
  Type.String({ maxLength: 2000, pattern: '^[^\\u0000\\r\\n]*$' }),
]);

const DemoRequest = Type.Object(
  {
    method: Type.String({ pattern: '^[A-Za-z]{1,20}$' }),
    uri: Type.String({
      minLength: 1,
      maxLength: 4000,
      pattern: '^/',
      description: 'path and query; blanks are encoded',
    }),
    headers: Type.Optional(Type.Array(Header, { maxItems: 20 })),
    body: Type.Optional(Type.String({ maxLength: 8000 })),
  },
  closed,
);

const DemoMatchView = Type.Object({
  rule_id: Type.Integer(),
  message: Type.String(),
  phase: Type.Integer(),
  variable: Type.String({ description: 'of the last value that matched' }),
  value: Type.String({ description: 'after the transformations, one code unit per byte' }),
  operator: Type.String(),
  transformations: Type.Array(Type.String()),
  severity: Type.String(),
  paranoia_level: Type.Integer(),
  points: Type.Integer({ description: 'added to the inbound score for each value that matches' }),
});

const ExplanationView = Type.Object({
  verdict: Type.Unsafe<'pass' | 'flag' | 'block'>({ type: 'string', enum: ['pass', 'flag', 'block'] }),
  status: Nullable(Type.Integer()),
  blocked_by: Nullable(Type.Integer({ description: 'the rule that stopped it' })),
  inbound_score: Type.Integer(),
  inbound_threshold: Type.Integer(),
  matches: Type.Array(DemoMatchView),
});

const schema = {
  tags: ['demo'],
  summary: 'What the core rule set with its default settings makes of a request; nothing is stored or sent anywhere',
  security: [],
  body: DemoRequest,
  response: { 200: ExplanationView, ...refusals },
};

/** As a browser writes an address: blanks and control characters are encoded, the rest stays as it is typed. */
const toTarget = (typed: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is encoded
  typed.replaceAll(/[\u0000-\u0020\u007f]/g, (character) => encodeURIComponent(character));

export function registerDemoRoutes(app: App, { ruleSets, publicDemo }: DemoParts): void {
  const thread = createDemoThread();
  app.addHook('onClose', () => thread.close());
  const config = { rateLimit: { max: perMinuteMax, timeWindow: 60_000 } };
  app.post('/api/demo', { config, schema, bodyLimit: bodyBytesMax }, async (request) => {
    const directory = ruleSets.directory();
    if (!publicDemo || directory === null)
      throw new ApiError('not_found', 'There is no demo here: PUBLIC_DEMO is 0, or there is no rule set.');
    const { method, uri, headers = [], body = '' } = request.body;
    const explanation = await thread.ask(directory, {
      method: method.toUpperCase(),
      uri: toTarget(uri),
      headers,
      body,
    });
    return {
      ...explanation,
      matches: explanation.matches.map((one) => ({ ...one, transformations: [...one.transformations] })),
    };
  });
}
