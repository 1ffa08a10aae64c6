// Requests on the port of nodes, beside tunnels: joining, renewing, leaving, and what nodes send to the API.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ApiError, toProblem } from '../http-kit/index.js';
import { certifyNode } from '../http-server/certified-node.js';
import type { Enrolment } from './enrol.js';
import type { EnrolledNode } from './store.js';

export interface NodeRequests {
  readonly enrolment: Enrolment;
  readonly route: (request: IncomingMessage, response: ServerResponse) => void;
  readonly nodeToken: string;
  readonly nodeOf: (socket: TLSSocket) => Promise<EnrolledNode | null>;
}

const bodyBytesMax = 16 * 1024;
/**
 * What a node sends to the API. Not `…/rules`, which the shared token may call, too: it changes what all nodes serve.
 */
const ofNodes: ReadonlySet<string> = new Set(
  ['hello', 'records', 'samples', 'observations', 'clients'].map((name) => `/api/dataplane/${name}`),
);

/** Never rejects. */
export async function answerNode(
  parts: NodeRequests,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const path = (request.url ?? '/').split('?')[0] ?? '';
    if (path === '/node/v1/join' && request.method === 'POST') {
      const body = await readJson(request);
      send(response, 200, await parts.enrolment.join(body, request.socket.remoteAddress ?? ''));
      return;
    }
    if (path === '/node/v1/authority' && request.method === 'POST') {
      send(response, 200, parts.enrolment.prove(await readJson(request)));
      return;
    }
    const node = await parts.nodeOf(request.socket as TLSSocket);
    if (node === null)
      throw new ApiError(
        'not_authenticated',
        'This port is for nodes with a certificate of this installation, and yours has none, or was revoked. ' +
          'Join with a new token.',
      );
    if (path === '/node/v1/renew' && request.method === 'POST')
      send(response, 200, await parts.enrolment.renew(node, await readJson(request)));
    else if (path === '/node/v1/leave' && request.method === 'POST') {
      await readJson(request);
      send(response, 200, await parts.enrolment.leave(node, request.socket.remoteAddress ?? ''));
    } else if (ofNodes.has(path) && request.method === 'POST') {
      // for the API it is a node like any other, that cannot pose as another
      for (const name of Object.keys(request.headers))
        if (name === 'cookie' || name.startsWith('x-') || name === 'forwarded') delete request.headers[name];
      certifyNode(request, node.name);
      request.headers.authorization = `Bearer ${parts.nodeToken}`;
      parts.route(request, response);
    } else throw new ApiError('not_found', `There is no ${request.method} ${path.slice(0, 200)} on the port of nodes.`);
  } catch (error) {
    refuse(response, error);
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bodyBytesMax) throw new ApiError('body_too_large', `The body is larger than ${bodyBytesMax} bytes.`);
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch (cause) {
    throw new ApiError('malformed_request', 'The body is not JSON.', { cause });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': status < 400 ? 'application/json' : 'application/problem+json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...(status < 400 ? {} : { connection: 'close' }),
  });
  response.end(text);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const refusal =
    error instanceof ApiError
      ? error
      : new ApiError('not_ready', 'The control plane cannot answer now; try again.', { cause: error });
  send(response, refusal.status, toProblem(refusal, randomUUID()));
}
