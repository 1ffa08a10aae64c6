// S1: two documents of more than a hundred operations that nobody wrote with the enforcement in mind: no request that
// fits is refused, and those that ajv calls wrong are. The whole way: text of a document, model, plan, check.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t, { type Test } from 'tap';
import { SiteSchemas } from '#proxy/contract';
import { readSpecification } from '../document/read.js';
import { planOf } from '../plan.js';
import { Dice } from './testing/dice.js';
import { documentOf, type TestDocument } from './testing/documents.js';
import { mutated, mutatedText } from './testing/mutations.js';
import { writeRequest, type TestOperation, type TestParameter, type TestRequest } from './testing/parameters.js';
import { inRequests, sample, type Schema } from './testing/schemas.js';

const seed = Number(process.env['SEED'] ?? 7);
/** Of each operation: so many requests that fit, and five times as many that are changed. */
const requests = Number(process.env['SCHEMA_REQUESTS'] ?? 2);

class Oracle {
  private readonly ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true });
  private readonly made = new Map<Schema, ValidateFunction>();
  private readonly byText = new Map<string, ValidateFunction>();

  constructor(document: TestDocument) {
    addFormats.default(this.ajv);
    const schemas = Object.entries(document.definitions).map(([name, one]) => [name, inRequests(one)]);
    this.ajv.addSchema({ $id: 'test:document', components: { schemas: Object.fromEntries(schemas) as object } });
  }

  fits(schema: Schema, value: unknown): boolean {
    let validate = this.made.get(schema);
    if (validate === undefined) {
      const text = JSON.stringify(inRequests(schema)).replaceAll('"#/components', '"test:document#/components');
      validate = this.byText.get(text) ?? this.ajv.compile(JSON.parse(text) as object);
      this.byText.set(text, validate);
      this.made.set(schema, validate);
    }
    return validate(value);
  }

  /** Whether some reading of the texts in a parameter fits it: `7` is a number, and a text as well. */
  fitsAsText(parameter: TestParameter, value: unknown): boolean {
    if (parameter.isJson) return this.fits(parameter.schema, value);
    return readings(value).some((one) => this.fits(parameter.schema, one));
  }
}

const isNumber = (text: string): boolean => /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);

/** A text, and what else JSON would write so. */
function readings(value: unknown): unknown[] {
  if (typeof value === 'string') {
    const others = [isNumber(value) ? [Number(value)] : [], value === 'true' ? [true] : [], value === '' ? [null] : []];
    return [value, ...others.flat()];
  }
  if (Array.isArray(value))
    return value.reduce<unknown[][]>(
      (lists, one) => lists.flatMap((list) => readings(one).map((reading) => [...list, reading])),
      [[]],
    );
  if (typeof value !== 'object' || value === null) return [value];
  return Object.entries(value).reduce<unknown[]>(
    (maps, [name, one]) =>
      maps.flatMap((map) => readings(one).map((reading) => ({ ...(map as object), [name]: reading }))),
    [{}],
  );
}

function fittingRequest(dice: Dice, operation: TestOperation, document: TestDocument, oracle: Oracle): TestRequest {
  const values: Record<string, unknown> = {};
  for (const one of operation.parameters) {
    if (!one.required && dice.once(2)) continue;
    values[one.name] = sample(dice, one.schema, document.definitions);
    if (!oracle.fits(one.schema, values[one.name])) throw new Error(`no sample: ${JSON.stringify([one, values])}`);
  }
  const { body } = operation;
  if (body === null || (!body.required && dice.once(3))) return { values, body: undefined };
  const value = sample(dice, body.schema, document.definitions);
  if (!oracle.fits(body.schema, value)) throw new Error(`no sample: ${JSON.stringify([body.schema, value])}`);
  return { values, body: value };
}

/** One thing otherwise, which ajv calls wrong; null: what was changed still fits. */
function wrongRequest(dice: Dice, operation: TestOperation, right: TestRequest, oracle: Oracle): TestRequest | null {
  const { parameters, body } = operation;
  if (body !== null && right.body !== undefined && (parameters.length === 0 || !dice.once(3))) {
    const changed = mutated(dice, right.body);
    return oracle.fits(body.schema, changed) ? null : { ...right, body: changed };
  }
  if (parameters.length === 0) return null;
  const chosen = dice.pick(parameters);
  const value = right.values[chosen.name];
  if (value === undefined) return null;
  const isLeftOut = chosen.in !== 'path' && dice.once(5);
  if (isLeftOut) return chosen.required ? { ...right, values: { ...right.values, [chosen.name]: undefined } } : null;
  const changed = chosen.isJson ? mutated(dice, value) : mutatedText(dice, value);
  if (oracle.fitsAsText(chosen, changed)) return null;
  return { ...right, values: { ...right.values, [chosen.name]: changed } };
}

function siteOf(t: Test, document: TestDocument): SiteSchemas | null {
  const read = readSpecification(document.text);
  if (read.kind !== 'read') {
    t.fail(JSON.stringify(read.problems.slice(0, 5)));
    return null;
  }
  t.same(read.specification.problems, []);
  const entry = {
    site: 'shop',
    name: 'shop',
    base_path: null,
    response_action: 'ignore',
    unknown_paths: 'block',
  } as const;
  return new SiteSchemas([
    planOf(read.specification.model, { entry: { ...entry, operations: [] }, action: 'block', prefix: '' }),
  ]);
}

for (const version of ['3.0.3', '3.1.0'] as const)
  t.test(`S1: a document of OpenAPI ${version}: what fits passes, what does not is refused`, async (t) => {
    const dice = new Dice(seed * 2 + Number(version[2]));
    const document = documentOf(dice, version, 105);
    const oracle = new Oracle(document);
    const site = siteOf(t, document);
    if (site === null) return;
    const violationOf = (operation: TestOperation, request: TestRequest) => {
      const written = writeRequest(operation, request);
      return { written, violation: site.request(written, written.body).violation };
    };
    const told = ({ written, violation }: ReturnType<typeof violationOf>, operation: TestOperation): string =>
      [written.method, written.uri, written.headers.slice(2).join('|'), String(written.body), violation?.pointer]
        .concat(violation?.keyword, JSON.stringify(operation).slice(0, 1200))
        .join(' ');
    const [refused, missed]: [string[], string[]] = [[], []];
    let [right, wrong] = [0, 0];
    for (const operation of document.operations)
      for (let count = 0; count < requests; count += 1) {
        const fitting = fittingRequest(dice, operation, document, oracle);
        const answer = violationOf(operation, fitting);
        right += 1;
        if (answer.violation !== null) refused.push(told(answer, operation));
        for (let change = 0; change < 5; change += 1) {
          const request = wrongRequest(dice, operation, fitting, oracle);
          if (request === null) continue;
          const found = violationOf(operation, request);
          wrong += 1;
          if (found.violation === null) missed.push(told(found, operation));
        }
      }
    t.comment(`${right} fitting, ${refused.length} of them refused; ${wrong} wrong, ${missed.length} of them missed`);
    t.same(refused.slice(0, 5), [], 'nothing that fits is refused');
    t.ok(wrong > 1.5 * right, `${wrong} wrong requests`);
    t.ok(missed.length <= wrong / 100, `${missed.length} of ${wrong} are missed: ${missed.slice(0, 5).join('\n')}`);
  });
