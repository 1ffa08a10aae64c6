// POST /api/ci-scan: a document in a pipeline, against gates. Nothing is stored.
import { Type, type Static } from '@sinclair/typebox';
import { ApiError, closed, OneOf, refusals, type App } from '../../http-kit/index.js';
import { isObject } from '../../spec/document/problem.js';
import { specBytesMax } from '../../spec/document/read.js';
import { readText } from '../../spec/document/text.js';
import { requireSpecification, sentDocument } from '../../spec/requests.js';
import { ProblemView } from '../../spec/routes.js';
import { toJunit, toSarif, toText } from './formats.js';
import { scanRules, scanSeverities } from './rules.js';
import { scanSpecification, type Scan } from './scan.js';

const fileCharsMax = 300;
const formats = ['json', 'sarif', 'junit', 'text'] as const;
type Format = (typeof formats)[number];

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
const ScanView = Type.Object({
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

interface Said {
  readonly max_high?: number;
  readonly max_medium?: number;
  readonly format?: Format;
  readonly file?: string;
}

/** What an envelope says beside its document. Throws `validation_failed`. */
function envelopeOf(body: string): Said {
  if (!/^\s*\{/.test(body)) return {};
  const value = parsed(body);
  if (!isObject(value) || value['spec'] === undefined || value['openapi'] !== undefined) return {};
  const { format, file } = value;
  const gate = (name: 'max_high' | 'max_medium'): Record<string, number> => {
    const given = value[name];
    if (given === undefined) return {};
    if (Number.isSafeInteger(given) && Number(given) >= 0) return { [name]: Number(given) };
    throw wrong(name, 'is no count', 'write a whole number from 0');
  };
  const known = formats.find((one) => one === format);
  if (format !== undefined && known === undefined)
    throw wrong('format', 'is none of the formats', `write one of ${formats.join(', ')}`);
  if (file !== undefined && (typeof file !== 'string' || file === '' || file.length > fileCharsMax))
    throw wrong('file', 'is no name of a file', `write 1 to ${fileCharsMax} characters, or leave it out`);
  return {
    ...{ ...gate('max_high'), ...gate('max_medium') },
    ...(known === undefined ? {} : { format: known }),
    ...(file === undefined ? {} : { file }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // the reader of documents tells what is wrong, with its line
  }
}

const wrong = (name: string, reason: string, fix: string): ApiError =>
  new ApiError('validation_failed', `${name} ${reason}.`, { errors: [{ path: `/${name}`, reason, fix }] });

export function registerScan(app: App): void {
  const options = { bodyLimit: specBytesMax, config: { takesText: true }, schema } as const;
  app.post('/api/ci-scan', options, async (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    const said = { ...envelopeOf(body), ...request.query };
    const { text } = sentDocument(body);
    const specification = requireSpecification(text);
    const gates = { maxHigh: said.max_high ?? 0, maxMedium: said.max_medium ?? 0 };
    const lineOf = readText(text).text?.lineOf ?? (() => 1);
    const scan = scanSpecification(specification, gates, lineOf);
    const file = said.file ?? (specification.format === 'yaml' ? 'openapi.yaml' : 'openapi.json');
    switch (said.format) {
      case 'sarif':
        reply.type('application/sarif+json');
        return toSarif(scan, file);
      case 'junit':
        reply.type('application/xml');
        return toJunit(scan, file);
      case 'text':
        reply.type('text/plain; charset=utf-8');
        return toText(scan, file);
      default:
        return viewScan(scan, file, [...specification.problems]);
    }
  });
}

function viewScan(scan: Scan, file: string, problems: Static<typeof ProblemView>[]): Static<typeof ScanView> {
  return {
    file,
    passed: scan.passed,
    posture_score: scan.score,
    operations: scan.operations,
    ...scan.counts,
    gates: { max_high: scan.gates.maxHigh, max_medium: scan.gates.maxMedium },
    breaches: [...scan.breaches],
    findings: scan.findings.map((one) => {
      const { owasp, fix } = scanRules[one.rule];
      return { ...one, owasp, fix };
    }),
    problems,
  };
}
