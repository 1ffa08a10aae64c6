// A tracker on loopback for tests: keeps tickets in memory, says what was asked of it, and fails when a test wants it.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Test } from 'tap';

export type Json = Record<string, any>; // requests have many shapes; each assertion says what it expects

export interface FakeComment {
  readonly id: string;
  readonly author: string;
  readonly text: string;
}
/** A ticket as the fake keeps it; `raw` is what it was made of. */
export interface FakeIssue {
  readonly number: number;
  readonly createdAt: string;
  readonly raw: Json;
  isOpen: boolean;
  assignee: string | null;
  readonly comments: FakeComment[];
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}
export type Answer = { readonly status: number; readonly json?: unknown } | null;

/** `lost`: it is done and the connection breaks; `silent`: it is done and nobody is told. */
export interface Fault {
  readonly when: (asked: Asked) => boolean;
  readonly answer:
    | 'lost'
    | 'silent'
    | { readonly status: number; readonly headers?: Record<string, string>; readonly body: string };
  readonly times?: number;
}

/** What a tracker's API does with a request; null: there is no such path. */
export type Api = (asked: Asked, fake: Fake) => Answer;

export class Fake {
  url = '';
  readonly issues: FakeIssue[] = [];
  readonly asked: Asked[] = [];
  private faults: (Fault & { left: number })[] = [];
  private comments = 500;
  private readonly silenced: Socket[] = [];
  nowMs = Date.parse('2026-03-01T12:00:00Z');

  fail(fault: Fault): void {
    this.faults.push({ ...fault, left: fault.times ?? 1 });
  }
  heal(): void {
    this.faults = [];
  }
  silence(socket: Socket): void {
    this.silenced.push(socket);
  }
  /** Ends what was never answered. */
  letGo(): void {
    for (const socket of this.silenced.splice(0)) socket.destroy();
  }
  add(raw: Json): FakeIssue {
    const number = this.issues.length + 1;
    const createdAt = new Date(this.nowMs).toISOString();
    const made: FakeIssue = { number, createdAt, raw, isOpen: true, assignee: null, comments: [] };
    this.issues.push(made);
    return made;
  }
  say(issue: FakeIssue, author: string, text: string): FakeComment {
    const made = { id: String(++this.comments), author, text };
    issue.comments.push(made);
    return made;
  }
  /** How often something was asked. */
  count(method: string, path: RegExp): number {
    return this.asked.filter((one) => one.method === method && path.test(one.path)).length;
  }
  take(asked: Asked): Fault | null {
    const found = this.faults.find((one) => one.left > 0 && one.when(asked));
    if (found !== undefined) found.left--;
    return found ?? null;
  }
}

/** Starts it; `isAdmitted` judges the credentials of each request. */
export async function startFake(
  t: Test,
  api: Api,
  isAdmitted: (headers: IncomingHttpHeaders, body: string) => boolean,
): Promise<Fake> {
  const fake = new Fake();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://fake');
      const text = Buffer.concat(chunks).toString();
      const { method = '', headers } = request;
      const body = text === '' ? {} : (JSON.parse(text) as Json);
      const asked = { method, path: url.pathname, query: url.searchParams, headers, body };
      fake.asked.push(asked);
      const fault = fake.take(asked);
      if (fault !== null && typeof fault.answer === 'object') {
        response.writeHead(fault.answer.status, { 'content-type': 'text/html', ...fault.answer.headers });
        response.end(fault.answer.body);
        return;
      }
      const answer = isAdmitted(headers, text)
        ? api(asked, fake)
        : { status: 401, json: { message: 'Bad credentials' } };
      if (fault?.answer === 'silent') {
        fake.silence(request.socket);
        return;
      }
      if (fault?.answer === 'lost') {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer?.status ?? 404, { 'content-type': 'application/json; charset=utf-8' });
      response.end(
        answer === null ? '{"message":"Not Found"}' : answer.json === undefined ? '' : JSON.stringify(answer.json),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}
