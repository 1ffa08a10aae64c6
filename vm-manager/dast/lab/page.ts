// What pages of the lab are made of.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Ask {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
  readonly url: URL;
  /** Query and form together. */
  readonly value: (name: string) => string;
  readonly body: string;
  readonly user: string | null;
}

export interface LabPage {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  /** Names and values of what the page takes. */
  readonly takes?: Readonly<Record<string, string>>;
  /** What a scanner has to find here, as `check parameter`; absent: a twin that looks alike and is safe. */
  readonly flaw?: string;
  /** Not linked: found by other means. */
  readonly isHidden?: boolean;
  readonly isApi?: 'json' | 'xml';
  readonly answer: (ask: Ask) => unknown;
}

export const escape = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

export function html(reply: ServerResponse, body: string, status = 200, head: Record<string, string> = {}): void {
  reply.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...head });
  reply.end(`<!doctype html><html><head><title>Lab</title></head><body>${body}</body></html>`);
}

export function json(reply: ServerResponse, body: unknown, status = 200, head: Record<string, string> = {}): void {
  reply.writeHead(status, { 'content-type': 'application/json', ...head });
  reply.end(JSON.stringify(body));
}

export function text(reply: ServerResponse, body: string, status = 200): void {
  reply.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  reply.end(body);
}
