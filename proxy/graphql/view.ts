// One request as rules see it where it asks GraphQL, for whoever tries rules beside the road: replays, trials,
// `explain`.
import { Buffer } from 'node:buffer';
import type { RequestHead } from '#engine';
import type { Decision } from '../admit/decision.js';
import type { GraphqlConfig, GraphqlSite } from './endpoints.js';
import { graphqlStep } from './step.js';

export interface GraphqlView {
  readonly head: RequestHead;
  readonly body: Buffer | null;
  /** `query:GetUser`; null: no document was read. */
  readonly operation: string | null;
  /** Texts stand in the place of a document. */
  readonly isChanged: boolean;
  /** What the data plane makes of it behind the rules; null: it goes on. */
  readonly decision: Decision | null;
}

/** `body`: whole and decoded. `site` null: no site is known, and everything is seen as it came. */
export function graphqlView(
  config: GraphqlConfig,
  site: GraphqlSite | null,
  head: RequestHead,
  body: Buffer | null,
): GraphqlView {
  const step = graphqlStep(config, site, head, body !== null);
  if (step === null) return { head, body, operation: null, isChanged: false, decision: null };
  const seen = { head: step.seenHead(), body: step.seenBody(body, true) };
  const isChanged = seen.head.uri !== head.uri || seen.body !== body;
  return { ...seen, isChanged, operation: step.operation, decision: step.decide() };
}
