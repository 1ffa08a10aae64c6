// What is counted and logged where a request fails or is ended for a reason that no rule gave.
import { ProxyError } from '../../contract/errors.js';
import type { RoadContext } from '../context.js';
import type { Site } from '../route.js';
import type { SlowReason } from './relay.js';

/** The request that it happened to. */
interface Troubled {
  readonly context: RoadContext;
  readonly requestId: string;
  readonly site: Site | null;
  readonly client: string;
}

/** After 429 for a client's share of the memory for bodies: about as long as an upload takes. */
export const shareRetrySeconds = '10';

export function reportLoop({ context, requestId, site }: Troubled): void {
  context.log('error', { site: site?.name, requestId }, 'its upstream leads back to this site');
}

/** Inspection (`gate` null) or a gate failed, and the request went on (`isOpen`) or ended. */
export function reportInspectionFailure(
  { context, requestId, site }: Troubled,
  error: Error,
  gate: string | null,
  isOpen: boolean,
): void {
  const { metrics } = context;
  const outcome = isOpen ? 'open' : 'closed';
  if (gate === null) metrics.count('engineErrors', { outcome });
  else metrics.count('gateErrors', { gate, outcome });
  context.log(
    'error',
    { site: site?.name, requestId, failMode: site?.failMode, err: reasonOf(error) },
    gate === null ? 'inspection failed' : `the gate ${gate} failed`,
  );
}

/** A state that is foreseen says what it is; of anything else the place in the code is wanted. */
const reasonOf = (error: Error): string =>
  error instanceof ProxyError && error.cause === undefined ? error.message : (error.stack ?? error.message);

export function reportUpstreamFailure({ context, requestId, site }: Troubled, { code, message }: ProxyError): void {
  context.metrics.count('upstreamErrors', { code });
  context.log('warn', { site: site?.name, requestId, code, err: message }, 'upstream failed');
}

export function reportSlowClient(
  { context, requestId, site, client }: Troubled,
  side: 'response' | 'request',
  reason: SlowReason,
): void {
  const { metrics } = context;
  metrics.count('slowClients', { side, reason });
  context.log('warn', { site: site?.name, requestId, client, side, reason }, 'a client was too slow');
}

/** Of an inspection that failed, what still holds memory. A second failure is told, and changes nothing. */
export function finishFailed(
  inspection: { finish(): unknown } | null,
  requestId: string,
  context: Troubled['context'],
): void {
  try {
    inspection?.finish();
  } catch (error) {
    const err = error instanceof Error ? error.message : String(error);
    context.log('error', { requestId, err }, 'a failed inspection could not be finished');
  }
}
