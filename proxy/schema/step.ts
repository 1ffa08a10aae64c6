// The step of the road that holds a request, and its answer, to what the site's specifications declare: after the
// rules, when the body is here, and before anything is forwarded. It decides like a gate and never answers.
import type { RequestHead } from '#engine';
import type { Decision, DecisionRule } from '../admit/decision.js';
import type { PreparedGate } from '../admit/gate.js';
import { findField } from '../http/header-fields.js';
import { schemaRuleIdOf, schemaRuleIds } from './rule-ids.js';
import type { MatchedOperation, SiteSchemas } from './site-schemas.js';
import type { SchemaViolation } from './violation.js';

/** As records and metrics name it. */
export const schemaGateName = 'api-schema';

export const schemaGate = (decide: () => Decision | null): PreparedGate => ({
  name: schemaGateName,
  appliesTo: 'protected',
  counter: undefined,
  wait: null,
  decide,
});

/** A body as it is inspected: decoded; `isWhole` false: the rest is longer than what is inspected. */
export interface CheckedBody {
  readonly inspected: Buffer | null;
  readonly isStreaming: boolean;
}

interface AnswerHead {
  readonly status: number;
  readonly headers: readonly string[];
}

function ruleOf(violation: SchemaViolation, isAnswer: boolean): DecisionRule {
  const { specification, operation, pointer, keyword } = violation;
  const id = isAnswer ? schemaRuleIds.answer : schemaRuleIdOf(violation);
  const isUnknown = id === schemaRuleIds.unknown;
  return {
    id,
    message: isAnswer
      ? 'The answer does not fit the specification of the API'
      : isUnknown
        ? 'No specification of the API declares this path'
        : 'The request does not fit the specification of the API',
    match: `Matched the specification \`${specification}' against \`${operation}'`,
    data: `${pointer}: ${keyword}`,
    severity: '4',
    tags: ['gatehouse/api-schema', isUnknown ? 'OWASP_API/API9:2023' : 'OWASP_API/API3:2023'],
  };
}

function decisionOf(violation: SchemaViolation | null, isAnswer: boolean): Decision | null {
  if (violation === null || violation.action === 'ignore') return null;
  const rule = ruleOf(violation, isAnswer);
  if (violation.action === 'alert') return { kind: 'flag', rule };
  return { kind: 'deny', status: 403, shape: 'page', rule, subject: isAnswer ? 'response' : 'specification' };
}

/** Of one request. */
export class SchemaStep {
  private matched: MatchedOperation | null = null;

  constructor(private readonly schemas: SiteSchemas) {}

  request(head: RequestHead, body: CheckedBody | null): Decision | null {
    const { violation, matched } = this.schemas.request(head, body?.inspected ?? null, body?.isStreaming !== true);
    this.matched = matched;
    return decisionOf(violation, false);
  }

  /** Whether the body of this answer is to be held for `answer`. */
  wantsAnswer({ status, headers }: AnswerHead): boolean {
    if (this.matched === null) return false;
    return this.schemas.wantsAnswer(this.matched, status, findField(headers, 'content-type') ?? '');
  }

  /** `body`: decoded; null where it could not be. `isWhole`: it ends where the answer ends. */
  answer(method: string, head: AnswerHead, body: Buffer | null, isWhole: boolean): Decision | null {
    if (this.matched === null || body === null || !isWhole || !this.wantsAnswer(head)) return null;
    const type = findField(head.headers, 'content-type') ?? '';
    return decisionOf(this.schemas.answer(this.matched, method, head.status, type, body), true);
  }
}

/** null: no specification of this site is enforced. */
export function schemaStep(
  { schemas }: { readonly schemas: ReadonlyMap<string, SiteSchemas> },
  site: string,
): SchemaStep | null {
  const found = schemas.get(site);
  return found === undefined ? null : new SchemaStep(found);
}
