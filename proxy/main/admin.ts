// The admin interface: 127.0.0.1 only by default, bearer token on everything but the health check.
import { timingSafeEqual, createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { GenerationReply } from '../contract.js';
import type { ThreatDelta } from '../shared-state/threat-delta.js';
import type { ThreatReply } from './threat-list.js';

export interface AdminActions {
  status(): Promise<object>;
  metrics(): Promise<string>;
  isHealthy(): boolean;
  activate(request: unknown): Promise<GenerationReply>;
  /** The whole deny list, one address or network a line. */
  replaceThreats(text: Buffer): Promise<ThreatReply>;
  /** What changed in it. */
  changeThreats(delta: ThreatDelta): Promise<ThreatReply>;
}

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly actions: AdminActions;
}

const bodyBytesMax = 256 * 1024 * 1024; // an artifact in base64

/** GATEHOUSE_ADMIN_TOKEN, or the one in `data/admin-token` (made on first start, mode 0600). */
export async function resolveAdminToken(given: string | null, dataDir: string): Promise<string> {
  if (given !== null && given !== '') return given;
  const path = join(dataDir, 'admin-token');
  try {
    const kept = (await readFile(path, 'utf8')).trim();
    if (kept !== '') return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const token = randomBytes(32).toString('hex');
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, `${token}\n`, { mode: 0o600 });
  return token;
}

/** Compared as digests: equal length, no early exit. */
function isToken(given: string | undefined, token: string): boolean {
  if (given === undefined || !given.startsWith('Bearer ')) return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given.slice(7)), digest(token));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

function sendProblem(response: ServerResponse, status: number, title: string, detail: string): void {
  send(response, status, 'application/problem+json', JSON.stringify({ type: 'about:blank', title, status, detail }));
}

class BodyTooLarge extends Error {}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax)
      throw new BodyTooLarge(
        `the body is larger than ${bodyBytesMax} bytes; an artifact can lie on disk and be named by artifactPath`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** null: `response` has been told that it is no JSON. */
async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<{ readonly value: unknown } | null> {
  try {
    return { value: JSON.parse((await readBytes(request)).toString('utf8')) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    sendProblem(response, 400, 'Not JSON', error.message);
    return null;
  }
}

function isThreatDelta(value: unknown): value is ThreatDelta {
  const { base, sha256, added, removed } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof base === 'string' &&
    typeof sha256 === 'string' &&
    [added, removed].every(
      (list) => Array.isArray(list) && list.every((network) => typeof network === 'string' && !network.includes('\n')),
    )
  );
}

const threatStatus = { active: 200, refused: 422, mismatch: 409 } as const;

export function startAdmin(
  options: AdminOptions,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const { actions } = options;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?')[0];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/healthz' && isRead) {
      const isHealthy = actions.isHealthy();
      send(
        response,
        isHealthy ? 200 : 503,
        'application/json',
        JSON.stringify({ status: isHealthy ? 'ok' : 'no worker is ready' }),
      );
      return;
    }
    if (!isToken(request.headers.authorization, options.token)) {
      response.setHeader('www-authenticate', 'Bearer');
      sendProblem(
        response,
        401,
        'Unauthorized',
        'send "Authorization: Bearer <token>"; the token is GATEHOUSE_ADMIN_TOKEN or lies in data/admin-token',
      );
      return;
    }
    if (path === '/status' && isRead) send(response, 200, 'application/json', JSON.stringify(await actions.status()));
    else if (path === '/metrics' && isRead)
      send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await actions.metrics());
    else if (path === '/generation' && request.method === 'PUT') {
      const input = await readJson(request, response);
      if (input === null) return;
      const reply = await actions.activate(input.value);
      send(response, reply.outcome === 'active' ? 200 : 422, 'application/json', JSON.stringify(reply));
    } else if (path === '/threats' && request.method === 'PUT') {
      const reply = await actions.replaceThreats(await readBytes(request));
      send(response, threatStatus[reply.outcome], 'application/json', JSON.stringify(reply));
    } else if (path === '/threats' && request.method === 'PATCH') {
      const input = await readJson(request, response);
      if (input === null) return;
      if (!isThreatDelta(input.value))
        return sendProblem(
          response,
          400,
          'No change of the deny list',
          'send {"base": SHA-256 of the list in force, "sha256": that of the next, "added": [networks], "removed": [networks]}',
        );
      const reply = await actions.changeThreats(input.value);
      send(response, threatStatus[reply.outcome], 'application/json', JSON.stringify(reply));
    } else
      sendProblem(
        response,
        404,
        'Not Found',
        'known here: GET /status, GET /metrics, GET /healthz, PUT /generation, PUT /threats, PATCH /threats',
      );
  };
  const server: Server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (error instanceof BodyTooLarge) sendProblem(response, 413, 'Too large', error.message);
      else if (!response.headersSent)
        sendProblem(response, 500, 'Internal error', error instanceof Error ? error.message : String(error));
      else response.destroy();
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(`the admin interface cannot listen on ${options.host}:${options.port}: ${error.message}`, {
          cause: error,
        }),
      ),
    );
    server.listen(options.port, options.host, () => {
      const { port } = server.address() as AddressInfo;
      const close = (): Promise<void> =>
        new Promise((done) => {
          server.close(() => done());
          server.closeAllConnections();
        });
      resolve({ port, close });
    });
  });
}
