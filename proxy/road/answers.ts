// What a client gets instead of the application's answer, by what stopped its request: rules or a gate.
import { policyItem, stateItem } from '../admit/limits/fields.js';
import type { Interruption } from '#engine';
import type { Challenge, Throttling } from '../admit/decision.js';
import { isFieldText } from '../http/header-fields.js';
import type { PageSubject, Problem } from '../http/pages.js';
import type { Action } from '../metrics/families.js';
import type { Enforced } from './decide.js';

export type Answer =
  /**
   * A page of ours about the request, or about the application's answer to it; `headers` come on top of its own,
   * `problem` into the document for programs.
   */
  | {
      readonly shape: 'page';
      readonly status: number;
      readonly headers: readonly string[];
      readonly subject: PageSubject;
      readonly problem?: Problem;
    }
  | { readonly shape: 'redirect'; readonly status: number; readonly location: string }
  /** Bytes for a program, as they are. */
  | { readonly shape: 'text'; readonly status: number; readonly text: string }
  | { readonly shape: 'challenge'; readonly status: number; readonly challenge: Challenge }
  /** The application's CORS policy, without its content. */
  | { readonly shape: 'preflight'; readonly status: number; readonly headers: readonly string[] }
  | { readonly shape: 'close'; readonly status: number };

const noFields: readonly string[] = [];

export const page = (status: number, headers = noFields, subject: PageSubject = 'request'): Answer => ({
  shape: 'page',
  status,
  headers,
  subject,
});

/** Phases 3 and 4 judge what the application answered: the visitor is not told that he attacked. */
export function answerOfRules({ action, status, data, phase }: Interruption): Answer {
  const subject = phase === 3 || phase === 4 ? 'response' : 'request';
  switch (action) {
    case 'drop':
      return { shape: 'close', status };
    case 'redirect':
      // The location comes from a rule's macros, hence from the request: line breaks in it would write header lines.
      if (data === '' || !isFieldText(data)) return page(403, noFields, subject);
      return { shape: 'redirect', status: status >= 300 && status < 400 ? status : 302, location: data };
    case 'deny':
      return page(status >= 400 && status < 600 ? status : 403, noFields, subject);
  }
}

export function answerOfGate(decision: Enforced): Answer {
  switch (decision.kind) {
    case 'deny':
      return decision.shape === 'close'
        ? { shape: 'close', status: decision.status }
        : page(decision.status, decision.headers, decision.subject);
    case 'throttle':
      return tooMany(decision);
    case 'challenge':
      return { shape: 'challenge', status: decision.status, challenge: decision };
  }
}

/**
 * 429 with the fields and the problem type of draft-ietf-httpapi-ratelimit-headers-10, and Retry-After (RFC 9110
 * section 10.2.3) for everybody else.
 */
function tooMany({ zone, limit, windowSeconds, remaining, retryAfterSeconds }: Throttling): Answer {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds));
  const headers = [
    'Retry-After',
    String(seconds),
    'RateLimit-Policy',
    policyItem(zone, limit, windowSeconds),
    'RateLimit',
    stateItem(zone, remaining, seconds),
  ];
  const type = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
  return { shape: 'page', status: 429, headers, subject: 'request', problem: { type, 'violated-policies': [zone] } };
}

/** Under which of the actions the request is counted. */
export function actionOf(decision: Enforced): Action {
  if (decision.kind === 'throttle') return 'refused';
  // a challenge that was solved is answered with a redirect
  return decision.kind === 'challenge' && decision.status === 303 ? 'served' : 'blocked';
}
