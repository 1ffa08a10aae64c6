// One operation asked by everybody, and what that shows. What is called broken is a differential with a twin: the same
// answer where another one was due, in each of three turns, while an address beside it that there is not is answered
// otherwise, so that a page for everything is no finding.
import { likeness, word } from '../../dast/checks/check.js';
import type { Exchange } from '../../dast/model.js';
import type { Attempt } from '../../exploit/attempt.js';
import type { Proven } from '../../exploit/technique.js';
import { identityOf, objectGraph } from '../../exploit/techniques/object-graph.js';
import type { Planned } from './plan.js';

export const turns = 3;

export const checks = {
  authentication: {
    title: 'An operation answers without credentials that it should require',
    severity: 'high',
    cwe: 306,
    owasp: 'API2:2023',
    remediation: 'Ask for credentials before anything of the operation is done.',
  },
  object: {
    title: 'An object of one user is given to another one',
    severity: 'high',
    cwe: 639,
    owasp: 'API1:2023',
    remediation: 'Look objects up among those of who asks, and answer alike for others’ and for none.',
  },
  function: {
    title: 'A function of administrators is open to an ordinary user',
    severity: 'high',
    cwe: 285,
    owasp: 'API5:2023',
    remediation: 'Check the role of the caller at each function, not at the page that links to it.',
  },
  members: {
    title: 'Members that only the application may set are taken from the request',
    severity: 'high',
    cwe: 915,
    owasp: 'API3:2023',
    remediation: 'Name the members that a request may set, and ignore or refuse all others.',
  },
} as const;
export type CheckName = keyof typeof checks;
export const checkNames = Object.keys(checks) as CheckName[];

export const outcomes = ['answered', 'refused', 'absent', 'failed', 'no_answer'] as const;

export interface Cell {
  readonly who: 'first' | 'second' | 'anonymous';
  readonly status: number | null;
  readonly outcome: (typeof outcomes)[number];
  /** The same as the first identity got; null: there is nothing to compare. */
  readonly same: boolean | null;
}

export interface Judged {
  readonly check: CheckName;
  readonly verdict: 'holds' | 'broken' | 'unknown';
  readonly why: string;
  readonly cells: readonly Cell[];
  /** Checks that were made to their end and found nothing: an older finding of them is gone. */
  readonly cleared: readonly CheckName[];
}

function outcomeOf(exchange: Exchange | null): Cell['outcome'] {
  if (exchange === null) return 'no_answer';
  const { status, headers } = exchange;
  if (status < 300) return 'answered';
  if (status === 401 || status === 403 || status === 407) return 'refused';
  if (status < 400)
    return /log-?_?in|sign-?_?in|\/(?:auth|sso|oauth2?)\b/i.test(headers['location'] ?? '') ? 'refused' : 'failed';
  return status === 404 || status === 405 || status === 410 ? 'absent' : 'failed';
}

const isSame = (one: Exchange | null, other: Exchange | null): boolean | null =>
  one === null || other === null || one.status >= 300
    ? null
    : other.status < 300 && one.body.trim() !== '' && likeness(one, []) === likeness(other, []);

const cellsOf = (first: Exchange | null, second: Exchange | null, nobody: Exchange | null): Cell[] => [
  { who: 'first', status: first?.status ?? null, outcome: outcomeOf(first), same: null },
  { who: 'second', status: second?.status ?? null, outcome: outcomeOf(second), same: isSame(first, second) },
  { who: 'anonymous', status: nobody?.status ?? null, outcome: outcomeOf(nobody), same: isSame(first, nobody) },
];

/** An address beside it that there is not. */
function besides(url: string): string {
  const at = new URL(url);
  at.search = '';
  at.pathname = `${at.pathname.replace(/\/[^/]*\/?$/, '')}/${word(12)}`;
  return at.href;
}

const privileged =
  /(?:^|[/_-])(?:admin|administration|manage|management|internal|staff|superuser|root|debug)(?:[/_-]|$)/i;

async function askAll(attempt: Attempt, url: string) {
  const first = await attempt.get('owner', url, 'the first identity');
  const second = await attempt.get('other', url, 'the second identity');
  const nobody = await attempt.get('anonymous', url, 'without a login');
  return { first, second, nobody };
}

/** Whether, in each turn, `who` gets the first identity's answer and nothing at an address that there is not. */
async function repeats(attempt: Attempt, url: string, who: 'other' | 'anonymous'): Promise<boolean> {
  for (let turn = 0; turn < turns; turn++) {
    const first = await attempt.get('owner', url, 'the first identity again');
    const given = await attempt.get(who, url, who === 'other' ? 'the second identity again' : 'without a login again');
    if (first === null || given === null || isSame(first, given) !== true) return false;
    const twin = await attempt.get(who, besides(url), 'an address that there is not');
    if (twin === null || isSame(first, twin) !== false) return false;
  }
  return true;
}

export interface Terms {
  /** The first identity is an administrator, the second one is not. */
  readonly isFirstPrivileged: boolean;
  readonly wants: ReadonlySet<CheckName>;
}

async function ofObject(attempt: Attempt, url: string, cells: Cell[]): Promise<Judged> {
  const proven: Proven | null = await objectGraph.prove(attempt, { method: 'GET', url, from: url });
  if (proven !== null)
    return { check: 'object', verdict: 'broken', why: proven.summary, cells, cleared: ['authentication'] };
  const why = 'the second identity gets another answer than the first, or nothing shows whose object it is';
  const isKnown = attempt.unanswered === 0;
  const cleared = isKnown ? (['authentication', 'object'] as const) : (['authentication'] as const);
  return { check: 'object', verdict: isKnown ? 'holds' : 'unknown', why, cells, cleared };
}

/** Everything that one operation shows, the gravest first. Throws ScanOver. */
export async function judge(attempt: Attempt, planned: Planned & { url: string }, terms: Terms): Promise<Judged> {
  const { url, needsCredentials, template } = planned;
  const { wants, isFirstPrivileged } = terms;
  const { first, second, nobody } = await askAll(attempt, url);
  const cells = cellsOf(first, second, nobody);
  const [own, other, anonymous] = cells;
  const judged = (
    check: CheckName,
    verdict: Judged['verdict'],
    why: string,
    cleared: readonly CheckName[] = [],
  ): Judged => ({ check, verdict, why, cells, cleared });
  if (own?.outcome !== 'answered')
    return judged('authentication', 'unknown', 'the first identity gets no answer that others could be compared with');
  if (anonymous?.outcome === 'no_answer' || other?.outcome === 'no_answer')
    return judged('authentication', 'unknown', 'not all of them got an answer');
  if (anonymous?.same === true) {
    const why = 'it is the same for everybody, and nothing says that it should not be';
    if (needsCredentials !== true) return judged('authentication', 'holds', why, ['authentication']);
    if (!wants.has('authentication'))
      return judged('authentication', 'unknown', 'it is the same for everybody, and that was not to be checked');
    if (await repeats(attempt, url, 'anonymous'))
      return judged(
        'authentication',
        'broken',
        `In ${turns} turns the answer without credentials was that of the first identity, although the specification ` +
          'requires credentials; an address that there is not was answered otherwise.',
      );
    return judged('authentication', 'unknown', 'the answer without credentials is the same, and did not repeat');
  }
  const isFunction = isFirstPrivileged && privileged.test(template);
  if (other?.same === true && isFunction && wants.has('function')) {
    if (await repeats(attempt, url, 'other'))
      return judged(
        'function',
        'broken',
        `In ${turns} turns an ordinary user got the answer of the administrator; without credentials, and at an ` +
          'address that there is not, nothing of it was answered.',
        ['authentication'],
      );
    return judged('function', 'unknown', 'the second identity got the same answer, and it did not repeat', [
      'authentication',
    ]);
  }
  if (other?.same === true && identityOf(url) !== null) {
    if (wants.has('object')) return ofObject(attempt, url, cells);
    const why = 'both identities get the same, and the check of objects was not asked for';
    return judged('object', 'unknown', why, ['authentication']);
  }
  if (other?.same === true)
    return judged('object', 'holds', 'both identities get the same, and it names no object', [
      'authentication',
      'object',
    ]);
  return judged(
    isFunction ? 'function' : 'object',
    'holds',
    'the second identity does not get what the first one gets',
    isFirstPrivileged ? ['authentication', 'object', 'function'] : ['authentication', 'object'],
  );
}
