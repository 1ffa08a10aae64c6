// GraphQL on the road of a request: at its endpoints (endpoints.ts) rules look at the strings, comments and variables
// of a document instead of its punctuation. With `graphql_protect` introspection and documents beyond the limits are
// refused wherever they come, since a server may have an endpoint that nobody told of. Only requests pay whose path,
// media type or shape says GraphQL. A document that cannot be read within bounds is inspected as it came.
//
// Rejected: exclusions of rules for the parameter `query` (injections in its strings would pass), and a body processor
// of the engine (query strings are read in phase 1, and the oracle would have to parse as well).
import type { RequestHead } from '#engine';
import type { Decision } from '../admit/decision.js';
import { findField } from '../http/header-fields.js';
import { isGraphqlEndpoint, mayBeGraphqlEndpoint, type GraphqlConfig, type GraphqlSite } from './endpoints.js';
import {
  countLoosely,
  mayBeDocument,
  operationName,
  operationNameByWords,
  readDocument,
  type DocumentRead,
  type GraphqlDocument,
} from './document.js';
import { depthOf, measure, rootRepeats, type Measures } from './measures.js';
import { documentsInParts } from './multipart.js';
import { isGraphqlPath, mentionsIntrospection, queryStartOf } from './shape.js';
import {
  documentAsWhole,
  documentsInJson,
  documentsInPairs,
  rewritten,
  type Sent,
  type SentDocument,
} from './transports.js';

/** Rules that stand for what is refused; of the range of the deny list and the gates (settings/rows). */
export const graphqlRuleIds = { introspection: 1_006_510, limits: 1_006_511, unreadable: 1_006_512 } as const;

/** Characters of all documents of one request that are parsed. */
const charsMax = 131_072;

export class GraphqlStep {
  /** As the inventory names it: `query:GetUser`; null: no document was read. */
  operation: string | null = null;
  /** Of a request that is not to go on; kept until the rules have looked. */
  private refusal: Decision | null = null;
  private parsedChars = 0;

  constructor(
    private readonly config: GraphqlConfig,
    private readonly head: RequestHead,
    private readonly type: string,
    private readonly place: {
      /** Its path or media type says GraphQL, in any spelling: enough to refuse by. */
      readonly isLikely: boolean;
      /** Enough to show rules something else than what came. */
      readonly isEndpoint: boolean;
    },
  ) {}

  /** What phase 1 looks at: the request target with texts in the place of a document. */
  seenHead(): RequestHead {
    const { head } = this;
    const start = queryStartOf(head.uri);
    const sent = start === -1 ? null : documentsInPairs(head.uri, start);
    return sent === null ? head : { ...head, uri: this.view(head.uri, sent) };
  }

  /** What phase 2 looks at. `isWhole` false: only the beginning of the body is here. */
  seenBody(body: Buffer | null, isWhole: boolean): Buffer | null {
    if (body === null || body.length === 0) return body;
    if (!isWhole) {
      if (this.place.isLikely) this.refuse('unreadable', 'a body that is larger than what is inspected');
      return body;
    }
    const isAsked = this.place.isLikely || body.indexOf('"query"') !== -1 || body.indexOf('name="query"') !== -1;
    if (!isAsked && !this.mayHideName(body)) return body;
    const latin1 = body.toString('latin1');
    const sent = this.sentIn(latin1);
    if (sent === null) {
      if (this.place.isLikely && mentionsIntrospection(latin1))
        this.refuse('introspection', 'in a body that is no JSON');
      return body;
    }
    const seen = this.view(latin1, sent);
    return seen === latin1 ? body : Buffer.from(seen, 'latin1');
  }

  /** JSON may write the name of a member with escapes; only what is to be refused depends on it. */
  private mayHideName(body: Buffer): boolean {
    return this.config.graphqlProtect && body.indexOf('\\u00') !== -1;
  }

  private sentIn(latin1: string): Sent | null {
    if (this.type.startsWith('application/x-www-form-urlencoded')) return documentsInPairs(latin1, 0);
    if (this.type.startsWith('multipart/')) return documentsInParts(latin1, this.type);
    return (
      documentsInJson(latin1) ?? (this.place.isLikely && !this.type.includes('json') ? documentAsWhole(latin1) : null)
    );
  }

  private view(latin1: string, sent: Sent): string {
    const { graphqlProtect: isProtected, graphqlLimits: limits } = this.config;
    if (isProtected && sent.batch > limits.batchMax && sent.documents.some(({ text }) => mayBeDocument(text)))
      this.refuse('limits', `batch of ${sent.batch}`);
    return rewritten(latin1, sent, (document) => {
      if (!isProtected && !this.place.isEndpoint) {
        this.operation ??= operationNameByWords(document.text, document.operationName);
        if (this.operation !== null) return null;
      }
      const read = this.read(document);
      if (isProtected) this.judge(document, read);
      if (read.kind !== 'read') return null;
      this.operation ??= operationName(read.document, document.operationName);
      return this.place.isEndpoint ? read.document.texts : null;
    });
  }

  private read({ text }: SentDocument): DocumentRead {
    if (!mayBeDocument(text)) return { kind: 'unreadable' };
    this.parsedChars += text.length;
    return this.parsedChars > charsMax ? { kind: 'too-large' } : readDocument(text);
  }

  private judge({ text, variables }: SentDocument, read: DocumentRead): void {
    if (read.kind === 'unreadable') {
      // A server may take what the reference parser refuses.
      if (!mayBeDocument(text)) return;
      if (mentionsIntrospection(text)) return this.refuse('introspection', 'in a document with faults');
      const excess = this.place.isLikely ? looseExcess(text, this.config.graphqlLimits) : null;
      if (excess !== null) this.refuse('limits', `${excess} in a document with faults`);
      return;
    }
    if (read.kind === 'too-large') return this.refuse('unreadable', 'a document beyond the bounds of its parser');
    const { introspects, ...measures } = measure(read.document, variables);
    if (introspects) return this.refuse('introspection', operationName(read.document, null) ?? '');
    const excess = excessOf(read.document, variables, measures, this.config.graphqlLimits);
    if (excess !== null) this.refuse('limits', excess);
  }

  private refuse(what: keyof typeof graphqlRuleIds, data: string): void {
    if (!this.config.graphqlProtect || this.refusal !== null) return;
    const message = {
      introspection: 'GraphQL introspection is not offered',
      limits: 'The GraphQL request asks for more than graphql_limits allow',
      unreadable: 'The GraphQL request is too large to be judged',
    }[what];
    const rule = {
      id: graphqlRuleIds[what],
      message,
      match: `Matched the GraphQL request against \`graphql_protect'`,
      data,
      severity: '4',
      tags: ['gatehouse/graphql', what === 'introspection' ? 'OWASP_API/API8:2023' : 'OWASP_API/API4:2023'],
    };
    this.refusal = { kind: 'deny', status: 403, shape: 'page', rule, subject: 'graphql' };
  }

  /** Once the body has been seen. */
  decide(): Decision | null {
    return this.refusal;
  }
}

/** What a document has more of than the limits allow; null: nothing. */
function excessOf(
  document: GraphqlDocument,
  variables: Readonly<Record<string, unknown>>,
  { depth, aliases, cost, directives }: Omit<Measures, 'introspects'>,
  limits: GraphqlConfig['graphqlLimits'],
): string | null {
  const declared = Math.max(0, ...document.operations.map((one) => one.variableDefinitions?.length ?? 0));
  const rows: readonly (readonly [number: number, most: number, said: string])[] = [
    [document.tokens, limits.tokensMax, `${document.tokens} tokens`],
    [document.operations.length, limits.operationsMax, `${document.operations.length} operations`],
    [depth, limits.depthMax, `depth of ${depth}`],
    [aliases, limits.aliasesMax, `${aliases} aliases`],
    [directives, limits.directivesMax, `${directives} directives`],
    [declared, limits.variablesMax, `${declared} variables`],
    [cost, limits.costMax, `cost of ${cost}`],
  ];
  const found = rows.find(([number, most]) => number > most);
  if (found !== undefined) return found[2];
  const repeats = rootRepeats(document);
  if (repeats > limits.rootRepeatsMax) return `one field of the root ${repeats} times`;
  const levels = Math.max(0, ...Object.values(variables).map((one) => depthOf(one, limits.variablesDepthMax)));
  return levels > limits.variablesDepthMax ? `variables ${levels} levels deep` : null;
}

/** As `excessOf`, of what only looks like a document. */
function looseExcess(text: string, limits: GraphqlConfig['graphqlLimits']): string | null {
  const { tokens, depth, aliases } = countLoosely(text);
  if (tokens > limits.tokensMax) return `${tokens} tokens`;
  if (depth > limits.depthMax) return `depth of ${depth}`;
  return aliases > limits.aliasesMax ? `${aliases} aliases` : null;
}

/** Of a request that may be one; null: nothing says GraphQL. `site` null: none is known, and rules see what came. */
export function graphqlStep(
  config: GraphqlConfig,
  site: GraphqlSite | null,
  head: RequestHead,
  hasBody: boolean,
): GraphqlStep | null {
  const { uri, headers } = head;
  const isEndpoint = isGraphqlEndpoint(config, site, uri);
  const isNamed =
    isEndpoint || isGraphqlPath(uri) || (config.graphqlProtect && mayBeGraphqlEndpoint(config, site, uri));
  if (!isNamed && !hasBody && !uri.includes('query=')) return null;
  const type = hasBody ? (findField(headers, 'content-type') ?? '').toLowerCase() : '';
  const isLikely = isNamed || type.includes('graphql');
  const mayCarry = type.includes('json') || (config.graphqlProtect && type.startsWith('multipart/form-data'));
  if (!isLikely && !mayCarry && !uri.includes('query=')) return null;
  return new GraphqlStep(config, head, type, { isLikely, isEndpoint });
}
