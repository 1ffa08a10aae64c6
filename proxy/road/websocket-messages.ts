// Messages of a client on a WebSocket (`ws_inspect`): each that is text, or can be read as it, is
// inspected before the application has it, by the
// rules that serve when it comes, as if the page had posted it: what is JSON as a JSON body, anything else as the value
// of one form field called `message`. The head is that of the handshake, so that exclusions by path hold here, too.
// `graphql_protect` holds for operations in them (graphql-transport-ws, graphql-ws) as for those that are posted.
// Of binary messages what is text in them is inspected (binary-text.ts); what the application says passes unseen.
import type { RequestHead, Verdict } from '#engine';
import { messageOf } from '../contract/errors.js';
import type { EventVerdict } from '../contract/index.js';
import { findField } from '../http/header-fields.js';
import type { Exchange, MessageInspector } from '../listeners/listener.js';
import type { Generation } from '../worker/generation.js';
import type { RoadContext } from './context.js';
import { graphqlGate } from '../graphql/gate.js';
import { decide, decideOnFailure, decideOnGate } from './decide.js';
import { countGate, recordEvent, stopOf, type FinishedRequest, type Stop } from './finish.js';
import { kindOfPart, readingsOfBinary } from './binary-text.js';
import { RequestInspection } from './request-inspection.js';
import type { Site } from './route.js';

/** The handshake. */
export interface HandshakenRequest {
  readonly context: RoadContext;
  readonly generation: Generation;
  readonly exchange: Pick<Exchange, 'framing' | 'tls'>;
  /** As inspected. */
  readonly head: RequestHead;
  readonly inspection: RequestInspection | null;
}

/** Whether the messages behind this handshake are to be looked at; then no extension may be agreed on. */
export function inspectsMessages({
  generation,
  inspection,
}: Pick<HandshakenRequest, 'generation'> & { readonly inspection: { readonly isOn: boolean } | null }): boolean {
  return generation.config.wsInspect.enabled && inspection?.isOn === true;
}

export function messageInspectorOf(request: HandshakenRequest): MessageInspector | null {
  if (!inspectsMessages(request)) return null;
  const { context } = request;
  return {
    messageBytesMax: request.generation.config.wsInspect.messageBytesMax,
    kindOfPart,
    mayPass: (message, isBinary) => {
      const readings = isBinary ? readingsOfBinary(message) : [[message]];
      let outcome: Outcome | null = null;
      for (const values of readings) {
        if (outcome === 'blocked') break;
        const found = new MessageInspection(request, values).run();
        if (outcome === null || found !== 'passed') outcome = found;
      }
      if (outcome !== null) context.metrics.count('websocketMessages', { outcome });
      return outcome !== 'blocked';
    },
  };
}

type Outcome = 'passed' | 'flagged' | 'blocked';

/** Fields of a handshake that no posted body has. */
const ofHandshake: ReadonlySet<string> = new Set([
  'connection',
  'upgrade',
  'content-type',
  'content-length',
  'transfer-encoding',
  'expect',
]);

/** In Latin1. Python and .NET take it off, and a JSON body may begin with it. */
const byteOrderMark = '\u00ef\u00bb\u00bf';

function isJson(whole: string): boolean {
  const text = whole.startsWith(byteOrderMark) ? whole.slice(byteOrderMark.length) : whole;
  const first = text.trimStart().charCodeAt(0);
  if (first !== 0x7b && first !== 0x5b) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Every byte but letters and digits as %HH: the value of a form field, however it is read. */
function formValue(text: Buffer): string {
  let value = '';
  for (const code of text) {
    const isPlain = (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
    value += isPlain ? String.fromCharCode(code) : `%${(code + 256).toString(16).slice(1)}`;
  }
  return value;
}

/** A reading of a message as the request that is inspected. */
function asPosted(
  handshake: RequestHead,
  values: readonly Buffer[],
): { readonly head: RequestHead; readonly body: Buffer } {
  const only = values.length === 1 ? (values[0] as Buffer) : null;
  const isDocument = only !== null && isJson(only.toString('latin1'));
  const fields = (): string => values.map((value) => `message=${formValue(value)}`).join('&');
  const body = isDocument ? Buffer.from(only) : Buffer.from(fields(), 'latin1');
  const headers: string[] = [];
  for (let index = 0; index < handshake.headers.length; index += 2) {
    const name = handshake.headers[index] as string;
    const lower = name.toLowerCase();
    if (ofHandshake.has(lower) || lower.startsWith('sec-websocket-')) continue;
    headers.push(name, handshake.headers[index + 1] as string);
  }
  headers.push('Content-Type', isDocument ? 'application/json' : 'application/x-www-form-urlencoded');
  headers.push('Content-Length', String(body.length));
  return { head: { ...handshake, method: 'POST', headers }, body };
}

class MessageInspection {
  private readonly startedMs = performance.now();
  private readonly atMs: number;
  private readonly requestId: string;
  private stop: Stop | null = null;
  /** Of the gate for GraphQL. */
  private decisions: FinishedRequest['decisions'] = [];

  constructor(
    private readonly request: HandshakenRequest,
    private readonly values: readonly Buffer[],
  ) {
    this.atMs = request.context.now();
    this.requestId = request.context.makeRequestId(this.atMs);
  }

  run(): Outcome {
    const { context, exchange, head: handshake } = this.request;
    const generation = context.current();
    const site = generation.router.match(findField(handshake.headers, 'host') ?? '', handshake.uri)?.site ?? null;
    const { inspection: loaded } = generation;
    if (site === null || loaded === null) return 'passed';
    const { head, body } = asPosted(handshake, this.values);
    const { requestId, atMs } = this;
    const posted = { tls: exchange.tls ?? null, framing: { kind: 'length', bytes: body.length } } as const;
    const rules = new RequestInspection(
      loaded,
      { head, requestId, atMs, given: [], exchange: posted, generation },
      site,
    );
    const interruption = rules.requestHead(context.store) ?? rules.requestBody(body, body.length);
    const failed = rules.failure !== null;
    const decided = failed ? decideOnFailure(site.failMode) : decide(interruption, site.mode);
    this.stop = failed ? null : interruption;
    const decision = decided === 'block' ? decided : this.askGraphql(rules, site, decided);
    return this.conclude(rules, generation, site, { head, body }, decision);
  }

  private askGraphql<Before>(rules: RequestInspection, site: Site, before: Before): Before | 'block' | 'flag' {
    const decision = rules.graphql?.decide() ?? null;
    if (decision === null) return before;
    const gate = graphqlGate(() => decision);
    const enforced = decideOnGate(decision, site.mode);
    this.decisions = [{ gate: gate.name, decision }];
    countGate(this.request.context.metrics, gate, decision, enforced !== null, site.name);
    this.stop ??= stopOf(decision);
    return enforced === null ? 'flag' : 'block';
  }

  /** After a failure the verdict cannot be trusted; what finishing throws decides nothing any more. */
  private finish(rules: RequestInspection): Verdict | null {
    const { failure } = rules;
    try {
      const verdict = rules.finish();
      return failure === null ? verdict : null;
    } catch (error) {
      this.request.context.log(
        'error',
        { requestId: this.requestId, err: messageOf(error) },
        'a message inspection failed',
      );
      return null;
    }
  }

  private conclude(
    rules: RequestInspection,
    generation: Generation,
    site: Site,
    { head, body }: { readonly head: RequestHead; readonly body: Buffer },
    decision: 'forward' | 'flag' | 'block',
  ): Outcome {
    const { context, exchange } = this.request;
    const { failure } = rules;
    if (failure !== null) context.metrics.count('engineErrors', { outcome: decision === 'block' ? 'closed' : 'open' });
    const verdict = this.finish(rules);
    const isBlocked = decision === 'block' && failure === null;
    const isFlagged = decision === 'flag' || verdict?.kind === 'flag' || verdict?.kind === 'block';
    const kind: EventVerdict = isBlocked ? 'block' : failure !== null ? 'engine-error' : isFlagged ? 'flag' : 'pass';
    if (kind !== 'pass' || (verdict?.matched.length ?? 0) > 0) {
      const { requestId, atMs, startedMs, stop } = this;
      const facts = {
        context,
        generation,
        requestId,
        atMs,
        startedMs,
        site,
        head,
        stop,
        failure,
        isBlocked,
        isFlagged,
      };
      const response = { status: decision === 'block' ? 403 : 101, fields: [], bytes: 0 };
      const seen = {
        exchange: { ...exchange, head },
        body: { inspected: body },
        inspection: rules,
        decisions: this.decisions,
        gates: [],
        response,
      };
      recordEvent({ ...facts, ...seen }, verdict, kind, site.name);
    }
    return decision === 'block' ? 'blocked' : isFlagged ? 'flagged' : 'passed';
  }
}
