// One data-plane node through its admin interface: at its address, or over the tunnel that an enrolled node keeps.
// Not an outgoing call in the sense of api/outbound: nodes come from the environment of the operator or enrolled with
// a token, never from settings, and they live on loopback or a private network by design.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ClientHttp2Stream } from 'node:http2';
import type { GenerationReply, GenerationRequest, MeasureDelta } from '#proxy/contract';
import { ArtifactBodies, asBody, type Body } from './artifact-body.js';
import { nameOf } from './directory.js';
import { createTurns } from './turns.js';
import { statusOf, type StatusAnswer } from './node-status.js';
import type { NodeTunnels } from './tunnels.js';

export type { NodeFacts, NodeStatus, NodeUpstream, StatusAnswer } from './node-status.js';

export type ActivateAnswer =
  | { readonly kind: 'active'; readonly generation: number; readonly workers: number; readonly tookMs: number }
  /** The node said no: it serves what it served. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** No answer: it may serve either, and has to be asked. */
  | { readonly kind: 'unknown'; readonly detail: string };

export type DenialsAnswer =
  /** Checked and handed to its workers. */
  { readonly kind: 'active' } | { readonly kind: 'failed'; readonly detail: string };

/** unknown: a node of a release before client measures. */
export type MeasuresAnswer = DenialsAnswer | { readonly kind: 'unknown' };

/** mismatch: the node has another list, and has to be given the whole one. */
export type MeasureDeltaAnswer = MeasuresAnswer | { readonly kind: 'mismatch' };

export interface NodeClient {
  status(url: string): Promise<StatusAnswer>;
  activate(url: string, generation: GenerationRequest, artifactFile: string): Promise<ActivateAnswer>;
  /** The whole list of client measures, one a line. */
  putMeasures(url: string, list: Buffer): Promise<MeasuresAnswer>;
  /** What changed in it. */
  patchMeasures(url: string, delta: MeasureDelta): Promise<MeasureDeltaAnswer>;
  /** The whole deny list, for a node of a release before client measures. */
  putDenials(url: string, list: Buffer): Promise<DenialsAnswer>;
  /** Anything else that the node answers in JSON; null: it did not answer, or with an error. */
  ask(url: string, method: 'GET' | 'PUT' | 'DELETE', path: string, body?: object): Promise<unknown>;
  /** What it answers as text; null: it did not answer, or with an error. */
  read(url: string, path: string): Promise<string | null>;
}

export interface NodeClientOptions {
  readonly token: string;
  /** By which enrolled nodes are reached; absent: none is. */
  readonly tunnels?: NodeTunnels;
  readonly statusTimeoutMs?: number;
  readonly activateTimeoutMs?: number;
}

/** A node that is gone refuses at once; one on a machine that is compiling rules may need seconds, and is not gone. */
const statusTimeoutMsDefault = 10_000;
const replyBytesMax = 4 * 1024 * 1024;
/** Generations under way to nodes, and those among them that carry an artifact: each holds some megabytes here. */
const generationsAtOnce = 64;
const artifactsAtOnce = 8;
/** Why a node refuses that has no such artifact, or a damaged one (proxy/main/artifacts.ts). */
const lacksArtifact = /ENOENT|EACCES|EIO|SHA-256|became shorter/;

interface Answer {
  readonly status: number;
  readonly text: string;
}

export function createNodeClient(options: NodeClientOptions): NodeClient {
  const { statusTimeoutMs = statusTimeoutMsDefault, activateTimeoutMs = 90_000 } = options;
  const send = sender(options);
  const bodies = new ArtifactBodies();
  /** Nodes that take artifacts compressed, as they said last. */
  const compressing = new Set<string>();
  const [asked, sent] = [createTurns(generationsAtOnce), createTurns(artifactsAtOnce)];
  const put = async (url: string, body: string[] | Body): Promise<ActivateAnswer> =>
    toActivateAnswer(await send(url, '/generation', 'PUT', activateTimeoutMs, body));
  const activate: NodeClient['activate'] = async (url, generation, artifactFile) => {
    // A node on this machine usually sees the same disk, and any other has the rules already where other settings
    // changed; one that does not says so and gets the bytes.
    const artifactPath = isLocal(url) ? artifactFile : '';
    const answer = await asked(() => put(url, [JSON.stringify({ ...generation, artifactPath })]));
    if (answer.kind !== 'refused' || !lacksArtifact.test(answer.reason)) return answer;
    return sent(async () => put(url, await bodies.of(generation, artifactFile, compressing.has(url))));
  };
  return {
    async status(url) {
      try {
        const answer = await send(url, '/status', 'GET', statusTimeoutMs, null);
        if (answer.status !== 200) return { kind: 'unreachable', detail: describe(answer) };
        const body = JSON.parse(answer.text) as Readonly<Record<string, unknown>>;
        if (body['takesGzip'] === true) compressing.add(url);
        else compressing.delete(url);
        return statusOf(body);
      } catch (error) {
        return { kind: 'unreachable', detail: reasonOf(error) };
      }
    },
    activate: (url, generation, artifactFile) =>
      activate(url, generation, artifactFile).catch((error: unknown): ActivateAnswer => {
        return { kind: 'unknown', detail: reasonOf(error) };
      }),
    ...measureCalls(send, activateTimeoutMs),
    ask: (url, method, path, body) => ask(options, url, method, path, body),
    async read(url, path) {
      const answer = await send(url, path, 'GET', statusTimeoutMs, null).catch(() => null);
      return answer?.status === 200 ? answer.text : null;
    },
  };
}

/** Client measures on their way to a node. */
const measureCalls = (
  send: Send,
  timeoutMs: number,
): Pick<NodeClient, 'putMeasures' | 'patchMeasures' | 'putDenials'> => ({
  async putMeasures(url, list) {
    try {
      const answer = await send(url, '/measures', 'PUT', timeoutMs, asBody(list));
      return answer.status === 404 ? { kind: 'unknown' } : toDenialsAnswer(answer);
    } catch (error) {
      return { kind: 'failed', detail: reasonOf(error) };
    }
  },
  async patchMeasures(url, delta) {
    try {
      const answer = await send(url, '/measures', 'PATCH', timeoutMs, [JSON.stringify(delta)]);
      if (answer.status === 404) return { kind: 'unknown' };
      return answer.status === 409 ? { kind: 'mismatch' } : toDenialsAnswer(answer);
    } catch (error) {
      return { kind: 'failed', detail: reasonOf(error) };
    }
  },
  async putDenials(url, list) {
    try {
      return toDenialsAnswer(await send(url, '/threats', 'PUT', timeoutMs, asBody(list)));
    } catch (error) {
      return { kind: 'failed', detail: reasonOf(error) };
    }
  },
});

async function ask(
  options: NodeClientOptions,
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  try {
    const text = body === undefined ? null : [JSON.stringify(body)];
    const answer = await sender(options)(url, path, method, options.statusTimeoutMs ?? statusTimeoutMsDefault, text);
    return answer.status === 200 ? (JSON.parse(answer.text) as unknown) : null;
  } catch {
    return null; // whoever asks does without this node until it is back; `status` says why it is not
  }
}

function toDenialsAnswer(answer: Answer): DenialsAnswer {
  const reply = JSON.parse(answer.text) as { outcome?: unknown; reason?: unknown };
  if (answer.status === 200 && reply.outcome === 'active') return { kind: 'active' };
  return { kind: 'failed', detail: typeof reply.reason === 'string' ? reply.reason : describe(answer) };
}

function isLocal(url: string): boolean {
  if (nameOf(url) !== null) return false; // its disk is another
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

type Send = (
  url: string,
  path: string,
  method: string,
  timeoutMs: number,
  body: string[] | Body | null,
) => Promise<Answer>;

const sender =
  ({ token, tunnels }: NodeClientOptions): Send =>
  (url, path, method, timeoutMs, body) => {
    const name = nameOf(url);
    if (name === null) return sendDirectly(url, path, method, token, timeoutMs, body);
    if (tunnels === undefined) return Promise.reject(new Error('this server takes no tunnels of nodes'));
    return sendThrough(tunnels, name, path, method, timeoutMs, body);
  };

const headersOf = (body: string[] | Body | null): Record<string, string | number> =>
  body === null
    ? {}
    : {
        'content-type': 'application/json',
        'content-length': Array.isArray(body) ? Buffer.byteLength(body.join('')) : body.bytes,
      };

async function sendThrough(
  tunnels: NodeTunnels,
  name: string,
  path: string,
  method: string,
  timeoutMs: number,
  body: string[] | Body | null,
): Promise<Answer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const request = { method, path, headers: headersOf(body), signal };
  const answer = await tunnels.send(name, request, (stream) => write(body, stream));
  return readAll(answer.status, answer.body);
}

function sendDirectly(
  url: string,
  path: string,
  method: string,
  token: string,
  timeoutMs: number,
  body: string[] | Body | null,
): Promise<Answer> {
  const target = new URL(path, url);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close', ...headersOf(body) };
    const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
      method,
      headers,
      signal: AbortSignal.timeout(timeoutMs),
    });
    request.once('error', reject);
    request.once('response', (response) => void readAll(response.statusCode ?? 0, response).then(resolve, reject));
    write(body, request);
  });
}

type Outgoing = ReturnType<typeof httpRequest> | ClientHttp2Stream;

function write(body: string[] | Body | null, request: Outgoing): void {
  if (body === null) request.end();
  else if (Array.isArray(body)) request.end(body.join(''));
  else
    void pour(body, request).catch((error: unknown) =>
      request.destroy(error instanceof Error ? error : new Error(String(error))),
    );
}

async function pour(body: Body, request: Outgoing): Promise<void> {
  for await (const piece of body) {
    if (request.destroyed) return;
    if (!request.write(piece))
      await new Promise<void>((resolve) => {
        const go = (): void => {
          request.off('drain', go).off('close', go);
          resolve();
        };
        request.on('drain', go).on('close', go);
      });
  }
  request.end();
}

async function readAll(status: number, response: IncomingMessage | AsyncIterable<Buffer>): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > replyBytesMax) throw new Error('the answer is too large for a data-plane node');
    chunks.push(chunk);
  }
  return { status, text: Buffer.concat(chunks).toString('utf8') };
}

function toActivateAnswer(answer: Answer): ActivateAnswer {
  let reply: Partial<Extract<GenerationReply, { outcome: 'active' }>> &
    Partial<Omit<Extract<GenerationReply, { outcome: 'refused' }>, 'outcome'>> = {};
  try {
    reply = JSON.parse(answer.text) as typeof reply;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error; // not JSON: described below by its status
  }
  if (answer.status === 200 && reply.outcome === 'active' && typeof reply.id === 'number')
    return { kind: 'active', generation: reply.id, workers: reply.workers ?? 0, tookMs: reply.tookMs ?? 0 };
  if (answer.status >= 500) return { kind: 'unknown', detail: describe(answer) };
  const problems = (reply.problems ?? []).map(({ path, message }) => `${path} ${message}`).join('; ');
  return {
    kind: 'refused',
    reason:
      typeof reply.reason === 'string' ? `${reply.reason}${problems === '' ? '' : `: ${problems}`}` : describe(answer),
  };
}

function describe({ status, text }: Answer): string {
  if (status === 401)
    return 'it does not accept our token: DATA_ADMIN_TOKEN here and GATEHOUSE_ADMIN_TOKEN there must be the same';
  return `it answered ${status}: ${text.slice(0, 200)}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'it did not answer in time';
  return (error as NodeJS.ErrnoException).code ?? error.message;
}
