// What the client gets, and what is remembered of it for the records: the application's response as it is relayed, or
// an answer of ours in its place.
import type { LimitFields } from '../admit/limits/fields.js';
import { renderPage } from '../http/pages.js';
import { relayedFields, relayedTrailers } from '../http/response-fields.js';
import type { Exchange } from '../listeners/listener.js';
import type { UpstreamHead } from '../upstream/response-head.js';
import type { Answer } from './answers.js';

/** Whose response it is. */
interface AnsweredRequest {
  readonly exchange: Exchange;
  readonly requestId: string;
  /** Limits that are to be told of on the application's answer; null or absent: none. */
  readonly toldLimits?: Pick<LimitFields, 'headers'> | null;
  /** Value of Strict-Transport-Security; null or absent: none. */
  readonly hsts?: string | null;
}

export class ResponseWriter {
  status = 0;
  fields: readonly string[] = [];
  bytes = 0;
  /** The client has part of the application's response: only cutting is left when something fails. */
  isBegun = false;

  constructor(private readonly request: AnsweredRequest) {}

  /** An answer of ours. `isLast`: the connection ends with it. */
  give(answer: Answer, isLast: boolean): void {
    const { exchange, requestId } = this.request;
    switch (answer.shape) {
      case 'close':
        this.status = answer.status;
        exchange.close();
        return;
      case 'page': {
        const page = renderPage(answer.status, requestId, exchange.head, answer.subject, answer.problem);
        const fields = answer.headers.length === 0 ? page.headers : [...page.headers, ...answer.headers];
        this.respond(answer.status, fields, page.body, isLast);
        return;
      }
      case 'redirect':
        this.respond(answer.status, ['Location', answer.location, ...this.ownFields()], '', isLast);
        return;
      case 'text': {
        const { text } = answer;
        this.respond(answer.status, ['Content-Type', 'application/octet-stream', ...this.ownFields()], text, isLast);
        return;
      }
      case 'preflight':
        this.respond(answer.status, answer.headers, '', isLast);
        return;
      case 'challenge': {
        const { headers, body } = answer.challenge;
        this.respond(answer.status, [...headers, ...this.ownFields()], body, isLast);
      }
    }
  }

  private ownFields(): string[] {
    return ['Cache-Control', 'no-store', 'X-Request-Id', this.request.requestId];
  }

  private respond(status: number, fields: readonly string[], body: string, isLast: boolean): void {
    this.status = status;
    this.fields = this.withHsts(fields);
    this.bytes = body.length;
    this.request.exchange.respond(status, this.fields, body, isLast);
  }

  /** In place of the application's own: what the operator has set holds for all of the host. */
  private withHsts(fields: readonly string[]): readonly string[] {
    const { hsts } = this.request;
    if (hsts == null) return fields;
    const kept: string[] = [];
    for (let index = 0; index < fields.length; index += 2)
      if ((fields[index] as string).toLowerCase() !== 'strict-transport-security')
        kept.push(fields[index] as string, fields[index + 1] as string);
    kept.push('Strict-Transport-Security', hsts);
    return kept;
  }

  interim({ status, reason, headers }: UpstreamHead): void {
    const { exchange, requestId } = this.request;
    exchange.relayInterim(status, reason, relayedFields(headers, requestId));
  }

  /** The application's response has come; nothing of it has left. */
  prepare({ status, headers }: UpstreamHead): void {
    this.status = status;
    const { requestId, toldLimits } = this.request;
    const fields = relayedFields(headers, requestId);
    this.fields = this.withHsts(toldLimits == null ? fields : [...fields, ...toldLimits.headers]);
  }

  /** A response that has no body, whatever it announces. */
  writeBodyless({ status, reason, declaredBytes }: UpstreamHead): void {
    this.isBegun = true;
    this.request.exchange.respondBodyless(status, reason, this.fields, declaredBytes);
  }

  /** `bodyBytes` null: unknown. `announcedTrailers`: the field that says which will follow. */
  begin({ status, reason }: UpstreamHead, bodyBytes: number | null, announcedTrailers: string | null): void {
    this.isBegun = true;
    if (announcedTrailers !== null) this.fields = [...this.fields, 'Trailer', announcedTrailers];
    this.request.exchange.startResponse(status, reason, this.fields, bodyBytes);
  }

  /** False: the client is slow. */
  write(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    return this.request.exchange.write(chunk);
  }

  /** Given to the client's connection and not taken by it. */
  get unsentBytes(): number {
    return this.request.exchange.unsentBytes;
  }

  end(trailers: readonly string[] | null): void {
    this.request.exchange.endResponse(trailers === null ? null : relayedTrailers(trailers));
  }

  /** Of a response that began: no more of it. */
  cut(): void {
    this.request.exchange.close();
  }
}
