// POST /api/ci-scan: a document in a pipeline, against gates. Nothing is stored.
import { Type } from '@sinclair/typebox';
import { ApiError, closed, OneOf, refusals, type App } from '../../http-kit/index.js';
import { specBytesMax } from '../../spec/document/read.js';
import { JobThread } from '../../spec/reading/job-thread.js';
import { refusalOf } from '../../spec/reading/read-there.js';
import { ProblemView } from '../../spec/routes.js';
import { fileCharsMax, formats, type Format, type ScanJob, type ScanReply } from './jobs.js';
import { scanRules, scanSeverities } from './rules.js';

/** The thread that reads and scans: a document of a megabyte takes seconds, and no other request waits for that. */
const scanning = new JobThread<ScanJob, ScanReply>({
  name: 'gatehouse-ci-scan',
  worker: new URL('./scan-worker.js', import.meta.url),
});

const Gate = (description: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: `${description}; 0 where it is left out` }),
  );

const ScanQuery = Type.Object(
  {
    max_high: Gate('findings of high severity that are allowed'),
    max_medium: Gate('findings of medium severity that are allowed'),
    format: Type.Optional(OneOf(formats)),
    file: Type.Optional(
      Type.String({ minLength: 1, maxLength: fileCharsMax, description: 'its name in the answer, of every format' }),
    ),
  },
  closed,
);

const Count = Type.Integer();
export const ScanView = Type.Object({
  file: Type.String({ description: 'the document, as the caller names it' }),
  passed: Type.Boolean(),
  posture_score: Type.Integer({ minimum: 0, maximum: 100, description: '100: nothing was found' }),
  operations: Count,
  high: Count,
  medium: Count,
  low: Count,
  gates: Type.Object({ max_high: Count, max_medium: Count }),
  breaches: Type.Array(Type.String()),
  findings: Type.Array(
    Type.Object({
      rule: OneOf(Object.keys(scanRules)),
      severity: OneOf(scanSeverities),
      owasp: Type.String(),
      ...{ method: Type.String(), path: Type.String(), pointer: Type.String(), line: Count, message: Type.String() },
      fix: Type.String(),
    }),
  ),
  problems: Type.Array(ProblemView),
});

const schema = {
  tags: ['posture'],
  summary: 'Scan an OpenAPI document in a pipeline: findings, a score, and whether gates hold; nothing is stored',
  consumes: ['application/json', 'application/yaml', 'text/plain'],
  querystring: ScanQuery,
  body: Type.Unsafe<string>({
    description:
      'the document itself; or JSON {"spec": text or object, "max_high": 0, "max_medium": 0, "format": "…", ' +
      '"file": "…"}',
  }),
  response: {
    200: {
      description: 'also where gates do not hold: `passed` says it',
      content: {
        'application/json': { schema: ScanView },
        'application/sarif+json': { schema: Type.Unsafe<object>({}) },
        'application/xml': { schema: Type.String() },
        'text/plain': { schema: Type.String() },
      },
    },
    ...refusals,
  },
};

const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  sarif: 'application/sarif+json',
  junit: 'application/xml',
  text: 'text/plain; charset=utf-8',
};

export function registerScan(app: App): void {
  const options = { bodyLimit: specBytesMax, config: { takesText: true }, schema } as const;
  app.post('/api/ci-scan', options, async (request, reply) => {
    const { max_high: maxHigh, max_medium: maxMedium, format, file } = request.query;
    const body = typeof request.body === 'string' ? request.body : '';
    const job = { kind: 'scan', body, said: { maxHigh, maxMedium, format, file } } as const;
    const answer = await scanning.with(async (ask) => ask(job, 'scanned', 'refused', 'wrong'));
    if (answer.kind === 'refused') throw refusalOf(answer.problems);
    if (answer.kind === 'wrong') {
      const { name, reason, fix } = answer;
      throw new ApiError('validation_failed', `${name} ${reason}.`, { errors: [{ path: `/${name}`, reason, fix }] });
    }
    // written in the thread that has read it, as its schema says
    reply.type(contentTypes[answer.format]).serializer((payload) => String(payload));
    return reply.send(answer.text);
  });
}
