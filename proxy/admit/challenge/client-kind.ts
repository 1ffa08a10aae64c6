// What kind of client asks, as far as the form of a refusal depends on it: a page helps nobody but a person, and a
// program that gets HTML where it expects something else fails in a way that nobody understands.
import { findField } from '../../http/header-fields.js';
import type { GateRequest } from '../gate.js';
import { isPreflight } from '../preflight.js';

/**
 * `page`: a browser that shows what it gets. `part`: a browser that loads a part of a page. `grpc`, `upgrade`,
 * `stream`: as they are called. `program`: fetch, XHR and everything else. `preflight`: a browser that asks what it may
 * ask.
 */
export type ClientKind = 'page' | 'part' | 'grpc' | 'upgrade' | 'stream' | 'program' | 'preflight';

const pageDestinations: ReadonlySet<string> = new Set(['document', 'iframe', 'frame', 'embed', 'object']);

export function clientKindOf(request: GateRequest): ClientKind {
  const { head, exchange } = request;
  const field = (name: string): string => (findField(head.headers, name) ?? '').toLowerCase();
  if (exchange.isUpgrade || field('upgrade') === 'websocket') return 'upgrade';
  if (field('content-type').startsWith('application/grpc')) return 'grpc';
  if (isPreflight(request)) return 'preflight';
  const accept = field('accept');
  if (accept.startsWith('text/event-stream')) return 'stream';
  const destination = field('sec-fetch-dest'); // Fetch Metadata: browsers say what it is for
  if (pageDestinations.has(destination)) return 'page';
  if (destination === 'empty' || field('x-requested-with') !== '') return 'program';
  if (destination !== '') return 'part';
  return accept.includes('text/html') ? 'page' : 'program';
}
