// Recorded requests held to specifications, with what a record leaves out left out of the answer as well. Pure.
import { SiteSchemas, type SchemaAction, type SchemaPlan, type SchemaViolation } from '#proxy/contract';
import { mayBeMasked } from './masked.js';

export interface RecordedRequest {
  readonly requestId: string;
  readonly atMs: number;
  readonly method: string;
  readonly uri: string;
  /** Flat, latin1; null: not kept (a line of the request log). */
  readonly headers: readonly string[] | null;
  /** latin1, decoded; null: there was none, or it was not kept. */
  readonly body: string | null;
  /** Whether one came; null: nobody knows. */
  readonly hadBody: boolean;
  /** Rules or gates refused it, so that nothing changes for whoever sent it. */
  readonly isRefused: boolean;
}

/** A request as it is kept for replays. */
interface KeptRequest {
  readonly requestId: string;
  readonly atMs: number;
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly string[];
  readonly body: string | null;
}

function headerOf(headers: readonly string[], wanted: string): string | null {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === wanted);
  return at === -1 ? null : (headers[at + 1] ?? '');
}

/** Whether a body came is said by the framing, where the body itself was not kept. */
export function recordedOf(kept: KeptRequest, isRefused: boolean): RecordedRequest {
  const { requestId, atMs, method, uri, headers, body } = kept;
  const length = headerOf(headers, 'content-length');
  const said = length === null ? headerOf(headers, 'transfer-encoding') !== null : Number(length) > 0;
  return { requestId, atMs, method, uri, headers, body, hadBody: body !== null || said, isRefused };
}

export interface FailingGroup {
  readonly specification: string;
  readonly operation: string;
  /** Places in lists as `*`. */
  readonly pointer: string;
  readonly keyword: string;
  readonly action: SchemaAction;
  readonly requests: number;
  readonly examples: readonly string[];
  readonly lastMs: number;
}

export interface PreviewSums {
  readonly requests: number;
  /** Every part of them was here. */
  readonly whole: number;
  readonly fits: number;
  readonly wouldFail: number;
  readonly wouldAlert: number;
  /** Failed, and were refused by rules or gates already. */
  readonly alreadyRefused: number;
  /** No specification declares their path, and `unknown_paths` lets them through. */
  readonly undeclared: number;
  /** Nothing is wrong with what was kept of them, and a body was not. */
  readonly bodyNotKept: number;
  /** Of which operations those are, the most requests first. */
  readonly notKeptOf: readonly { readonly operation: string; readonly requests: number }[];
  /** The same, of header fields and cookies, where the operation declares any. */
  readonly headersNotKept: number;
  /** They fail at a value that was masked. */
  readonly masked: number;
  /** Their target was cut off when it was stored. */
  readonly cut: number;
  readonly operationsDeclared: number;
  readonly operationsMet: number;
  /** The most requests first. */
  readonly groups: readonly FailingGroup[];
}

const examplesMax = 5;
/** Request logs keep so much of a target (proxy/records/request-records.ts). */
const uriCharsMax = 2048;
/** Samples keep so much of a body. */
const bodyCharsMax = 64 * 1024;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const groupedPointer = (pointer: string): string =>
  pointer.startsWith('/body/') ? pointer.replace(/\/\d+(?=\/|$)/g, '/*') : pointer;

/** A recorded request held to specifications, as far as it was kept. */
function hold(schemas: SiteSchemas, request: RecordedRequest) {
  const { headers, body, method, uri } = request;
  const isCut = body !== null && body.length >= bodyCharsMax;
  const known = {
    headers: headers !== null,
    body: headers !== null && !isCut && (body !== null || !request.hadBody),
  };
  const bytes = body === null ? null : Buffer.from(body, 'latin1');
  return { known, ...schemas.request({ method, uri, headers: headers ?? [] }, bytes, !isCut, known) };
}

/** What a request that was kept for replays does not fit; null where it fits, or where nobody can know. */
export function violationOf(schemas: SiteSchemas, kept: KeptRequest): SchemaViolation | null {
  const request = recordedOf(kept, false);
  const { violation } = hold(schemas, request);
  if (violation === null || violation.action === 'ignore') return null;
  return mayBeMasked(request, violation.pointer, violation.keyword) ? null : violation;
}

export class Preview {
  private readonly schemas: SiteSchemas;
  private readonly groups = new Map<string, Mutable<FailingGroup> & { examples: string[] }>();
  private readonly met = new Set<object>();
  private readonly notKept = new Map<string, number>();
  private readonly declared: number;
  private readonly sums = {
    ...{ requests: 0, whole: 0, fits: 0, wouldFail: 0, wouldAlert: 0, alreadyRefused: 0 },
    ...{ undeclared: 0, bodyNotKept: 0, headersNotKept: 0, masked: 0, cut: 0 },
  };

  constructor(plans: readonly SchemaPlan[]) {
    this.schemas = new SiteSchemas(plans);
    this.declared = plans.reduce((sum, plan) => sum + plan.operations.length, 0);
  }

  take(request: RecordedRequest): void {
    const { sums } = this;
    sums.requests += 1;
    if (request.headers === null && request.uri.length >= uriCharsMax) {
      sums.cut += 1;
      return;
    }
    const { known, violation, matched } = hold(this.schemas, request);
    if (known.headers && known.body) sums.whole += 1;
    if (matched !== null) this.met.add(matched.operation);
    if (violation === null || violation.action === 'ignore') {
      if (matched === null) sums.undeclared += 1;
      else if (!known.body && request.hadBody && matched.operation.body !== null) {
        sums.bodyNotKept += 1;
        const operation = `${request.method} ${matched.found.template}`;
        this.notKept.set(operation, (this.notKept.get(operation) ?? 0) + 1);
      } else if (
        !known.headers &&
        matched.operation.parameters.some((one) => one.in === 'header' || one.in === 'cookie')
      )
        sums.headersNotKept += 1;
      else sums.fits += 1;
      return;
    }
    if (mayBeMasked(request, violation.pointer, violation.keyword)) {
      sums.masked += 1;
      return;
    }
    if (request.isRefused) {
      sums.alreadyRefused += 1;
      return;
    }
    if (violation.action === 'block') sums.wouldFail += 1;
    else sums.wouldAlert += 1;
    this.group(request, { ...violation, pointer: groupedPointer(violation.pointer) });
  }

  private group(
    { requestId, atMs }: RecordedRequest,
    { specification, operation, pointer, keyword, action }: Omit<FailingGroup, 'requests' | 'examples' | 'lastMs'>,
  ): void {
    const key = JSON.stringify([specification, operation, pointer, keyword]);
    let found = this.groups.get(key);
    if (found === undefined) {
      found = { specification, operation, pointer, keyword, action, requests: 0, examples: [], lastMs: 0 };
      this.groups.set(key, found);
    }
    found.requests += 1;
    found.lastMs = Math.max(found.lastMs, atMs);
    if (found.examples.length < examplesMax) found.examples.push(requestId);
  }

  done(): PreviewSums {
    const groups = [...this.groups.values()].sort((left, right) => right.requests - left.requests);
    const notKeptOf = [...this.notKept]
      .map(([operation, requests]) => ({ operation, requests }))
      .sort((left, right) => right.requests - left.requests);
    return { ...this.sums, notKeptOf, operationsDeclared: this.declared, operationsMet: this.met.size, groups };
  }
}
