// A change of attack mode as a security event: it is about the node and no request, so that those fields are empty.
import { eventKinds } from '../../records/kinds.js';
import type { AttackTransition } from '../attack/detector.js';

/** Members are those of the control plane's EventRecord (api/events/record.ts). */
export function attackEvent({ kind, atMs, rpm, baselineRpm, thresholdRpm, cause }: AttackTransition): object {
  return {
    at_ms: Math.round(atMs),
    request_id: '',
    site: '',
    client_ip: '',
    kind: eventKinds.attack,
    verdict: kind === 'enter' ? 'flag' : 'pass',
    method: '',
    uri: '',
    status: 0,
    rule_id: null,
    inbound_score: 0,
    details: {
      change: kind,
      cause,
      requests_per_minute: rpm,
      baseline_rpm: Math.round(baselineRpm),
      threshold_rpm: Math.round(thresholdRpm),
    },
  };
}
