// The specifications of one site under one generation: which operation a request means, whether it fits, and whether
// the answer does. Schemas become closures when the first request needs them, so that a generation with two thousand
// operations is prepared as fast as one with none. Memory: what the plans describe, once a worker.
import { Compiler } from './json/compile.js';
import { Trace, type Check } from './json/check.js';
import { bareType, checkBody, isJsonType, mediaFor, prepareContent, type PreparedContent } from './bodies.js';
import { checkQuery, checkTexts, parseQuery, prepareParameters, type ParameterPlaces } from './parameters.js';
import { PathTable, type Found } from './paths.js';
import type { JsonSchema, PlannedOperation, SchemaAction, SchemaPlan } from './plan.js';
import { fromUtf8, namesIn, schemaWithin } from './texts.js';
import type { Problem, SchemaViolation } from './violation.js';

export interface CheckedRequest {
  readonly method: string;
  readonly uri: string;
  /** Flat, latin1. */
  readonly headers: readonly string[];
}

interface Prepared {
  readonly places: ParameterPlaces;
  readonly body: { readonly required: boolean; readonly content: PreparedContent } | null;
}

const order: readonly SchemaAction[] = ['ignore', 'alert', 'block'];

/** The milder of the two. */
export const milder = (left: SchemaAction, right: SchemaAction): SchemaAction =>
  order.indexOf(left) < order.indexOf(right) ? left : right;

class PlanCompiler {
  private readonly requests: Compiler;
  private readonly responses: Compiler;
  private readonly prepared = new Map<PlannedOperation, Prepared>();
  private readonly answers = new Map<PlannedOperation, ReadonlyMap<string, PreparedContent>>();

  constructor(private readonly plan: SchemaPlan) {
    const { definitions } = plan;
    this.requests = new Compiler({ definitions, closes: true, direction: 'request' });
    this.responses = new Compiler({ definitions, closes: true, direction: 'response' });
  }

  private contentOf(operation: NonNullable<PlannedOperation['body']>['content'], compiler: Compiler): PreparedContent {
    const { definitions } = this.plan;
    const compile = (schema: JsonSchema): Check => compiler.part(schema);
    return prepareContent(operation, definitions, compile, (schema) => {
      const names = [...namesIn(schema, definitions)];
      return new Map(names.map((name) => [name, schemaWithin(schema, name, definitions)]));
    });
  }

  of(operation: PlannedOperation): Prepared {
    let found = this.prepared.get(operation);
    if (found !== undefined) return found;
    const { body, parameters } = operation;
    found = {
      places: prepareParameters(parameters, this.plan.definitions, (schema) => this.requests.part(schema)),
      body: body === null ? null : { required: body.required, content: this.contentOf(body.content, this.requests) },
    };
    this.prepared.set(operation, found);
    return found;
  }

  answersOf(operation: PlannedOperation): ReadonlyMap<string, PreparedContent> {
    let found = this.answers.get(operation);
    if (found !== undefined) return found;
    const entries = Object.entries(operation.responses);
    found = new Map(entries.map(([code, content]) => [code, this.contentOf(content, this.responses)]));
    this.answers.set(operation, found);
    return found;
  }
}

/** Values of a header field that comes once or several times, joined as RFC 9110 section 5.3 has it. */
function fieldOf(headers: readonly string[], lowerName: string, between = ', '): string | null {
  let value: string | null = null;
  for (let index = 0; index + 1 < headers.length; index += 2)
    if (headers[index]?.length === lowerName.length && headers[index]?.toLowerCase() === lowerName)
      value = value === null ? (headers[index + 1] ?? '') : `${value}${between}${headers[index + 1]}`;
  return value;
}

/** Cookies are divided by semicolons only (RFC 6265 section 4.2.1): the comma is within a list or an object. */
function cookiesOf(headers: readonly string[]): Map<string, string[]> {
  const cookies = new Map<string, string[]>();
  for (const pair of (fieldOf(headers, 'cookie', '; ') ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at <= 0) continue;
    const name = pair.slice(0, at).trim();
    const value = fromUtf8(pair.slice(at + 1).trim());
    const known = cookies.get(name);
    if (known === undefined) cookies.set(name, [value]);
    else known.push(value);
  }
  return cookies;
}

/** Of an answer's status: itself, its range, or the default. */
function answerFor(answers: ReadonlyMap<string, PreparedContent>, status: number): PreparedContent | null {
  return answers.get(String(status)) ?? answers.get(`${Math.floor(status / 100)}XX`) ?? answers.get('default') ?? null;
}

/** The operation that a request turned out to mean, kept for its answer. */
export interface MatchedOperation {
  readonly found: Found;
  readonly operation: PlannedOperation;
}

export interface RequestAnswer {
  readonly violation: SchemaViolation | null;
  /** null: no specification declares it. */
  readonly matched: MatchedOperation | null;
}

/** What of a request is here: records keep less than the road sees; what they leave out cannot be held against it. */
export interface KnownParts {
  readonly headers: boolean;
  readonly body: boolean;
}

const everythingKnown: KnownParts = { headers: true, body: true };

const nothing: RequestAnswer = { violation: null, matched: null };

export class SiteSchemas {
  private readonly paths: PathTable;
  private readonly compilers = new Map<SchemaPlan, PlanCompiler>();
  private readonly unknownPaths: SchemaAction;

  constructor(private readonly plans: readonly SchemaPlan[]) {
    this.paths = new PathTable(plans);
    for (const plan of plans) this.compilers.set(plan, new PlanCompiler(plan));
    this.unknownPaths =
      order[Math.max(...plans.map((plan) => order.indexOf(milder(plan.unknownPaths, plan.action))))] ?? 'ignore';
  }

  /** `body`: decoded, null for none; not whole: only its beginning is here. `known`: of a record. */
  request(head: CheckedRequest, body: Buffer | null, isWhole = true, known = everythingKnown): RequestAnswer {
    const answer = this.paths.match(head.uri);
    if (answer.kind === 'unknown') return this.unknown(head);
    if (answer.kind === 'spelling') {
      const { found } = answer;
      const action = found === null ? this.strictest : found.plan.action;
      if (action === 'ignore') return nothing;
      const violation = this.violation(found, head.method, { pointer: '/path', keyword: 'spelling' }, action);
      return { violation, matched: null };
    }
    const { found } = answer;
    const { operations, plan } = found;
    const { method } = head;
    const operation = operations.get(method) ?? (method === 'HEAD' ? operations.get('GET') : undefined);
    if (operation === undefined) {
      // what browsers ask before a request of another origin is nobody's operation
      if (method === 'OPTIONS' || plan.action === 'ignore') return nothing;
      const problem = { pointer: '/method', keyword: 'method' };
      return { violation: this.violation(found, method, problem, plan.action), matched: null };
    }
    const action = operation.action ?? plan.action;
    const matched = { found, operation };
    if (action === 'ignore') return { violation: null, matched };
    const problem = this.headProblem(matched, head, known) ?? this.bodyProblem(matched, head, body, { isWhole, known });
    return { violation: problem === null ? null : this.violation(found, method, problem, action), matched };
  }

  private unknown(head: CheckedRequest): RequestAnswer {
    const action = this.unknownPaths;
    if (action === 'ignore') return nothing;
    const problem = { pointer: '/path', keyword: 'unknown' };
    return { violation: this.violation(null, head.method, problem, action), matched: null };
  }

  private get strictest(): SchemaAction {
    return order[Math.max(...this.plans.map(({ action }) => order.indexOf(action)))] ?? 'ignore';
  }

  private violation(found: Found | null, method: string, problem: Problem, action: SchemaAction): SchemaViolation {
    return {
      specification: found?.plan.name ?? this.plans[0]?.name ?? '',
      operation: `${method} ${found?.template ?? '(unknown)'}`,
      pointer: problem.pointer,
      keyword: problem.keyword,
      action,
    };
  }

  private prepared({ found, operation }: MatchedOperation): Prepared {
    return (this.compilers.get(found.plan) as PlanCompiler).of(operation);
  }

  private headProblem(matched: MatchedOperation, { headers, uri }: CheckedRequest, known: KnownParts): Problem | null {
    const { places } = this.prepared(matched);
    const queryAt = uri.indexOf('?');
    const query = parseQuery(queryAt === -1 ? '' : uri.slice(queryAt + 1));
    if (query === null) return { pointer: '/query', keyword: 'encoding' };
    const problem =
      checkTexts(places.path, (name) => listOf(matched.found.values.get(name))) ?? checkQuery(places.query, query);
    if (problem !== null || !known.headers) return problem;
    const cookies = places.cookie.length > 0 ? cookiesOf(headers) : null;
    return (
      checkTexts(places.header, (name) => listOf(utf8(fieldOf(headers, name.toLowerCase())))) ??
      (cookies === null ? null : checkTexts(places.cookie, (name) => cookies.get(name) ?? []))
    );
  }

  private bodyProblem(
    matched: MatchedOperation,
    { headers }: CheckedRequest,
    body: Buffer | null,
    { isWhole, known }: { readonly isWhole: boolean; readonly known: KnownParts },
  ): Problem | null {
    if (!known.body) return null;
    const { body: declared } = this.prepared(matched);
    const isEmpty = body === null || body.length === 0;
    if (declared === null) return isEmpty ? null : { pointer: '/body', keyword: 'unknown' };
    if (isEmpty) return declared.required ? { pointer: '/body', keyword: 'required' } : null;
    return checkBody(declared.content, fieldOf(headers, 'content-type') ?? '', body, isWhole);
  }

  /** What is done about answers of an operation; 'ignore': they are not looked at. */
  answerAction({ found: { plan }, operation }: MatchedOperation): SchemaAction {
    return milder(plan.responseAction, operation.action ?? plan.action);
  }

  /** Whether anything could be said about the body of such an answer. */
  wantsAnswer(matched: MatchedOperation, status: number, contentType: string): boolean {
    if (this.answerAction(matched) === 'ignore' || !isJsonType(bareType(contentType))) return false;
    const content = this.contentOfAnswer(matched, status);
    return content !== null && content.size > 0;
  }

  private contentOfAnswer({ found, operation }: MatchedOperation, status: number): PreparedContent | null {
    return answerFor((this.compilers.get(found.plan) as PlanCompiler).answersOf(operation), status);
  }

  /**
   * An answer that holds more than is declared shows more than anybody meant to (API3:2023). `body` is decoded and
   * whole.
   */
  answer(
    matched: MatchedOperation,
    method: string,
    status: number,
    type: string,
    body: Buffer,
  ): SchemaViolation | null {
    const content = this.contentOfAnswer(matched, status);
    const media = content === null ? null : mediaFor(content, bareType(type));
    if (content === null || content.size === 0 || media?.check === null) return null;
    let problem: Problem | null = { pointer: '/response', keyword: 'mediaType' };
    if (media != null) {
      const trace = new Trace();
      try {
        const value = JSON.parse(body.toString('utf8')) as unknown;
        problem = trace.holds(media.check, value)
          ? null
          : { pointer: `/response${trace.pointer}`, keyword: trace.keyword };
      } catch {
        problem = { pointer: '/response', keyword: 'json' };
      }
    }
    const action = this.answerAction(matched);
    return problem === null ? null : this.violation(matched.found, method, problem, action);
  }
}

const listOf = (text: string | null | undefined): readonly string[] => (text == null ? [] : [text]);

/** Header fields and cookies are bytes; schemas speak of characters. */
const utf8 = (text: string | null): string | null => (text === null ? null : fromUtf8(text));

/** By the name of the site; a site without a specification is not in it. */
export function siteSchemasOf(plans: readonly SchemaPlan[]): ReadonlyMap<string, SiteSchemas> {
  const bySite = new Map<string, SchemaPlan[]>();
  for (const plan of plans) bySite.set(plan.site, [...(bySite.get(plan.site) ?? []), plan]);
  return new Map([...bySite].map(([site, list]) => [site, new SiteSchemas(list)]));
}
