// The admin interface: 127.0.0.1 only by default, bearer token on everything but the health checks.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../contract/errors.js';
import type { GenerationReply } from '../../contract/index.js';
import type { MeasureDelta } from '../../shared-state/measure-delta.js';
import { isToken } from './token.js';
import type { MeasureReply } from '../gates/measure-list.js';

export interface AdminActions {
  status(): Promise<Record<string, unknown>>;
  metrics(): Promise<string>;
  isHealthy(): boolean;
  /** Why protected sites answer 503 at the moment; null: they are served. */
  whyClosed(): string | null;
  /** Whether load balancers are asked to send traffic elsewhere. */
  isDraining(): boolean;
  /** Until the node gets another order, or starts again. */
  setDraining(isDraining: boolean): void;
  activate(request: unknown): Promise<GenerationReply>;
  /** The whole list of client measures, one key a line (shared-state/measure-line.ts). */
  replaceMeasures(text: Buffer): Promise<MeasureReply>;
  /** What changed in it. */
  changeMeasures(delta: MeasureDelta): Promise<MeasureReply>;
  /** The gates, and what they counted. */
  gates(): Promise<object>;
  /** Bans in force that this node made. */
  bans(): readonly object[];
  /** How many there were to lift. */
  liftBans(networks: readonly string[]): number;
  /** Public keys of the sites' tokens. Throws RangeError for what is no key set. */
  replaceSiteKeys(set: unknown): Promise<void>;
  /** Addresses that are never banned automatically, whole. Throws RangeError for what is no list of addresses. */
  replaceSafe(addresses: readonly string[]): void;
  /** Challenges of certificate authorities, whole. Throws RangeError for what is no table of them. */
  replaceChallenges(table: unknown): Promise<void>;
  /** Certificates of the control plane, whole. Throws RangeError where one of them cannot be used. */
  replaceCertificates(list: unknown): Promise<void>;
  /** Which challenges and certificates are in force. */
  https(): object;
}

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly actions: AdminActions;
}

const bodyBytesMax = 256 * 1024 * 1024; // an artifact in base64

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

function isMeasureDelta(value: unknown): value is MeasureDelta {
  const { base, sha256, added, removed } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof base === 'string' &&
    typeof sha256 === 'string' &&
    [added, removed].every(
      (list) => Array.isArray(list) && list.every((network) => typeof network === 'string' && !network.includes('\n')),
    )
  );
}

const measureStatus = { active: 200, refused: 422, mismatch: 409 } as const;

type Route = (actions: AdminActions, request: IncomingMessage, response: ServerResponse) => Promise<void>;

const sendJson = (response: ServerResponse, status: number, value: object): void =>
  send(response, status, 'application/json', JSON.stringify(value));

const replaceMeasures: Route = async (actions, request, response) => {
  const reply = await actions.replaceMeasures(await readBytes(request));
  sendJson(response, measureStatus[reply.outcome], reply);
};

const changeMeasures: Route = async (actions, request, response) => {
  const input = await readJson(request, response);
  if (input === null) return;
  if (!isMeasureDelta(input.value)) {
    sendProblem(
      response,
      400,
      'No change of the list of measures',
      'send {"base": SHA-256 of the list in force, "sha256": that of the next, ' +
        '"added": [lines], "removed": [keys]}',
    );
    return;
  }
  const reply = await actions.changeMeasures(input.value);
  sendJson(response, measureStatus[reply.outcome], reply);
};

const routes: Readonly<Record<string, Route>> = {
  'GET /status': async (actions, _request, response) => sendJson(response, 200, await actions.status()),
  'GET /metrics': async (actions, _request, response) =>
    send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await actions.metrics()),
  'PUT /generation': async (actions, request, response) => {
    const input = await readJson(request, response);
    if (input === null) return;
    const reply = await actions.activate(input.value);
    sendJson(response, reply.outcome === 'active' ? 200 : 422, reply);
  },
  'PUT /measures': replaceMeasures,
  'PATCH /measures': changeMeasures,
  // as control planes of a release before client measures call them
  'PUT /threats': replaceMeasures,
  'PATCH /threats': changeMeasures,
};

const drain: Route = async (actions, request, response) => {
  const input = await readJson(request, response);
  if (input === null) return;
  const { drain: isDraining } = (input.value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof isDraining !== 'boolean') {
    sendProblem(response, 400, 'No word about draining', 'send {"drain": true} or {"drain": false}');
    return;
  }
  actions.setDraining(isDraining);
  sendJson(response, 200, { draining: isDraining });
};

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Something whole that takes the place of what was before, or is refused by a RangeError. */
const replacing =
  (title: string, replace: (actions: AdminActions, value: unknown) => void | Promise<void>): Route =>
  async (actions, request, response) => {
    const input = await readJson(request, response);
    if (input === null) return;
    try {
      await replace(actions, input.value);
      sendJson(response, 200, { outcome: 'active' });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      sendProblem(response, 422, title, error.message);
    }
  };

const gateRoutes: Readonly<Record<string, Route>> = {
  'GET /gates': async (actions, _request, response) => sendJson(response, 200, await actions.gates()),
  'GET /bans': async (actions, _request, response) => sendJson(response, 200, { bans: actions.bans() }),
  'DELETE /bans': async (actions, request, response) => {
    const networks = new URL(request.url ?? '/', 'http://localhost').searchParams.getAll('network');
    if (networks.length === 0)
      sendProblem(response, 400, 'No network', 'say which: DELETE /bans?network=192.0.2.1, as GET /bans names it');
    else {
      const count = actions.liftBans(networks);
      sendJson(response, 200, { lifted: count > 0, count });
    }
  },
  'PUT /site-keys': replacing('No key set', (actions, set) => actions.replaceSiteKeys(set)),
  'GET /https': async (actions, _request, response) => sendJson(response, 200, actions.https()),
  'PUT /challenges': replacing('No table of challenges', (actions, table) => actions.replaceChallenges(table)),
  'PUT /certificates': replacing('No certificates to serve', (actions, list) => actions.replaceCertificates(list)),
  'PUT /ban-safe': async (actions, request, response) => {
    const input = await readJson(request, response);
    if (input === null) return;
    const { addresses } = (input.value ?? {}) as Readonly<Record<string, unknown>>;
    try {
      if (!isTextList(addresses)) throw new RangeError('send {"addresses": ["192.0.2.1", …]}');
      actions.replaceSafe(addresses);
      sendJson(response, 200, { outcome: 'active', addresses: addresses.length });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      sendProblem(response, 422, 'No list of addresses', error.message);
    }
  },
};

/**
 * `/healthz`: restarting would not fix anything. `/readyz`: traffic is welcome, which it is not while protected sites
 * are closed (after an update, until the control plane has compiled the rules): a balancer sends it to other nodes.
 */
function sendHealth(actions: AdminActions, isReadiness: boolean, response: ServerResponse): void {
  const closed = isReadiness ? actions.whyClosed() : null;
  if (!actions.isHealthy()) sendJson(response, 503, { status: 'no worker is ready' });
  else if (closed !== null)
    sendJson(response, 503, { status: 'closed', detail: `protected sites answer 503: ${closed}` });
  else if (isReadiness && actions.isDraining())
    sendJson(response, 503, { status: 'draining', detail: 'an operator asked for it; requests that come are served' });
  else sendJson(response, 200, { status: 'ok' });
}

const allRoutes: Readonly<Record<string, Route>> = { ...routes, ...gateRoutes, 'PUT /drain': drain };

/** Who may ask: `null` where the connection itself proved it (a tunnel), else the token that has to come along. */
type Admits = string | null;

async function serve(
  actions: AdminActions,
  token: Admits,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '';
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (method === 'GET' && (path === '/healthz' || path === '/readyz')) {
    sendHealth(actions, path === '/readyz', response);
    return;
  }
  if (token !== null && !isToken(request.headers.authorization, token)) {
    response.setHeader('www-authenticate', 'Bearer');
    sendProblem(
      response,
      401,
      'Unauthorized',
      'send "Authorization: Bearer <token>"; the token is GATEHOUSE_ADMIN_TOKEN or lies in data/admin-token',
    );
    return;
  }
  const route = Object.hasOwn(allRoutes, `${method} ${path}`) ? allRoutes[`${method} ${path}`] : undefined;
  if (route !== undefined) await route(actions, request, response);
  else
    sendProblem(
      response,
      404,
      'Not Found',
      `known here: GET /healthz, GET /readyz, ${Object.keys(allRoutes).join(', ')}`,
    );
}

export interface AdminServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Answers every request of the admin interface, wherever it came in. */
export const adminHandler =
  (actions: AdminActions, token: Admits) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    serve(actions, token, request, response).catch((error: unknown) => {
      if (response.destroyed) return; // who asked is gone
      if (error instanceof BodyTooLarge) sendProblem(response, 413, 'Too large', error.message);
      else if (!response.headersSent) sendProblem(response, 500, 'Internal error', messageOf(error));
      else response.destroy();
    });
  };

export function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const server: Server = createServer(adminHandler(options.actions, options.token));
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
