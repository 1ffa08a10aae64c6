// What is kept of a request and its answer: enough to see the effect, without credentials, and not much of it.
import { maskSecrets } from '../../secrets/mask.js';
import { record, type FindingRecord } from '../../imports/record.js';
import { addressOf, showRequest } from '../http/forms.js';
import type { Exchange, Found, ScanRequest } from '../model.js';

const credentials = /^(?:authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/i;
const extractMax = 3000;

const withoutCredentials = (request: ScanRequest): ScanRequest => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).filter(([name]) => !credentials.test(name))),
});

function showAnswer({ status, headers, body }: Exchange, around: string): string {
  const lines = Object.entries(headers)
    .filter(([name]) => !credentials.test(name))
    .slice(0, 40)
    .map(([name, value]) => `${name}: ${value.slice(0, 500)}`);
  const at = around === '' ? -1 : body.indexOf(around.slice(0, 40));
  const from = Math.max(0, at < 0 ? 0 : at - 500);
  const shown = body.slice(from, from + extractMax);
  return `HTTP ${status}\r\n${lines.join('\r\n')}\r\n\r\n${from > 0 ? '… ' : ''}${shown}`;
}

export interface Evidence {
  readonly request: string;
  readonly response: string;
  readonly attack: string;
  readonly proof: string;
  readonly ms: number;
  readonly neutral: { readonly request: string; readonly status: number; readonly ms: number } | null;
}

export function evidenceOf({ proof }: Pick<Found, 'proof'>): Evidence {
  const { exchange, neutral, attack, why } = proof;
  return {
    request: maskSecrets(showRequest(withoutCredentials(exchange.request)).slice(0, 8000)),
    response: maskSecrets(showAnswer(exchange, attack)),
    attack: attack.slice(0, 2000),
    proof: maskSecrets(why),
    ms: Math.round(exchange.ms),
    neutral:
      neutral === null
        ? null
        : {
            request: maskSecrets(showRequest(withoutCredentials(neutral.request)).slice(0, 4000)),
            status: neutral.status,
            ms: Math.round(neutral.ms),
          },
  };
}

/** As the importer takes it: a place, distinguished by check, method, address and parameter. */
export function recordOf(found: Found, behindWaf: string): FindingRecord {
  const { check, form, param } = found;
  const evidence = { ...evidenceOf(found), behind_waf: behindWaf };
  return record({
    title: check.title,
    description: `${check.description} ${evidence.proof}`,
    severity: check.severity,
    cwes: [check.cwe],
    source: 'dast',
    ruleId: check.id,
    location: {
      kind: 'web',
      url: addressOf(form).split('?', 1)[0] ?? form.url,
      method: form.method,
      ...(param === null ? {} : { param }),
    },
    fix: { state: 'unknown', text: check.remediation },
    evidence: [evidence],
    tags: behindWaf === 'exploitable' ? ['exploitable-behind-waf'] : [],
    reachable: true,
    quality: 0.95,
  });
}
