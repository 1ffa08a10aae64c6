// Which node a request on the port of nodes comes from. The certificate of its connection said so; what the body says
// is the node's own word, by which a node that was taken over could pose as another.
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../http-kit/index.js';

const names = new WeakMap<IncomingMessage, string>();

/** The certificate of this request's connection is of the enrolled node `name`. */
export function certifyNode(request: IncomingMessage, name: string): void {
  names.set(request, name);
}

/** Where the body of a node says who sent it: a batch, and each whole request (`samples`). */
function namesIn(body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null) return [];
  const { node, samples } = body as { readonly node?: unknown; readonly samples?: unknown };
  const rest = Array.isArray(samples) ? samples.flatMap(namesIn) : [];
  return node === undefined ? rest : [node, ...rest];
}

/**
 * Throws ApiError 403 where the body names another node than the certificate; a request by another port has no
 * certificate, and says who it is. Nodes name themselves by `NAME`, or as the list of nodes does by `node:NAME`.
 */
export function requireOwnName(request: IncomingMessage, body: unknown): void {
  const name = names.get(request);
  if (name === undefined) return;
  const other = namesIn(body).find((told) => told !== name && told !== `node:${name}`);
  if (other === undefined) return;
  const told = String(JSON.stringify(other)).slice(0, 100);
  throw new ApiError('role_denied', `The certificate is of the node ${name}, and the body says that ${told} sent it.`);
}
