// The preview as the API shows it.
import { Type, type Static } from '@sinclair/typebox';
import { schemaActions } from '#proxy/contract';
import { Nullable, OneOf, Time } from '../../http-kit/index.js';
import type { PreviewSums } from './check.js';
import { linesMax, type LiveCount } from './read.js';

const place = {
  specification: Type.String(),
  operation: Type.String({ description: '`POST /v1/orders/{id}`' }),
  pointer: Type.String({ description: 'where: `/body/items/*/price`, `/query/page`, `/header/x-tenant`, `/path/id`' }),
  keyword: Type.String({ description: 'what did not hold: a keyword of JSON Schema, or unknown, mediaType, …' }),
  requests: Type.Integer({ description: 'each request counts once, by the first thing that is wrong with it' }),
  examples: Type.Array(Type.String(), { description: 'request ids' }),
};

const NotChecked = Type.Object({
  what: OneOf(['body', 'headers', 'masked', 'cut', 'answers']),
  requests: Nullable(Type.Integer({ description: 'null: of all of them' })),
  why: Type.String({ description: 'and what says more' }),
  operations: Type.Array(Type.Object({ operation: Type.String(), requests: Type.Integer() }), {
    description: 'whose bodies those are, the most requests first; 20 at most, and of bodies only',
  }),
});

export const PreviewView = Type.Object({
  site: Type.String(),
  specifications: Type.Array(
    Type.Object({
      name: Type.String(),
      version: Nullable(Type.Integer({ description: 'null: the document of this request' })),
      action: OneOf(schemaActions),
      unknown_paths: OneOf(schemaActions),
    }),
  ),
  since: Time,
  requests: Type.Object({
    recorded: Type.Integer(),
    whole: Type.Integer({ description: 'kept with header fields and body; of others method, path and query are' }),
    fit: Type.Integer({ description: 'nothing is wrong with them, and nothing was left out that is declared' }),
    would_fail: Type.Integer({ description: 'would be refused with 403' }),
    would_be_recorded: Type.Integer({ description: 'would be an event and go on (alert)' }),
    refused_already: Type.Integer({ description: 'do not fit, and were refused by rules or gates as it is' }),
    undeclared: Type.Integer({ description: 'of undeclared paths; unknown_paths lets them through' }),
  }),
  operations: Type.Object({
    declared: Type.Integer(),
    met: Type.Integer({ description: 'that a recorded request asked for: of the others nothing is known' }),
  }),
  groups: Type.Array(Type.Object({ ...place, action: OneOf(schemaActions), last_at: Time })),
  groups_total: Type.Integer(),
  not_checked: Type.Array(NotChecked),
  live: Nullable(
    Type.Object(
      {
        events: Type.Integer({ description: 'live requests, bodies and all, that did not fit what is in force' }),
        is_cut: Type.Boolean({ description: 'there were more events than are read' }),
        groups: Type.Array(Type.Object(place)),
      },
      {
        description:
          'what nodes counted of live traffic; null: no specification of the site is in force with alert or block, ' +
          'so no count was kept. Set schema_action to alert and apply to learn of bodies',
      },
    ),
  ),
});

const reasons = {
  body:
    'a body came that is not kept: 5,000 requests of all sites are kept whole (replay_sampling: one in how many), ' +
    'bodies up to 16 KiB. GET /api/posture-gaps names undeclared members that come in; with schema_action ' +
    'alert every body is counted',
  headers: 'only method, path and query of them are kept, and the operation declares header fields or cookies',
  masked: 'they fail at a value that was masked before it was stored, so that nobody knows whether it would',
  cut: 'their target is longer than what is kept of it',
  answers: 'answers are not recorded: response_action alert tells of them in live traffic',
} as const;

const operationsMax = 20;

export interface PreviewSubject {
  readonly site: string;
  readonly specifications: Static<typeof PreviewView>['specifications'];
  readonly since: Date;
  readonly limit: number;
}

export function viewPreview(
  { site, specifications, since, limit }: PreviewSubject,
  sums: PreviewSums,
  live: LiveCount | null,
): Static<typeof PreviewView> {
  const left: readonly (readonly [keyof typeof reasons, number | null])[] = [
    ['body', sums.bodyNotKept],
    ['headers', sums.headersNotKept],
    ['masked', sums.masked],
    ['cut', sums.cut],
    ['answers', null],
  ];
  return {
    ...{ site, specifications, since: since.toISOString() },
    requests: {
      recorded: sums.requests,
      whole: sums.whole,
      fit: sums.fits,
      would_fail: sums.wouldFail,
      would_be_recorded: sums.wouldAlert,
      refused_already: sums.alreadyRefused,
      undeclared: sums.undeclared,
    },
    operations: { declared: sums.operationsDeclared, met: sums.operationsMet },
    groups: sums.groups.slice(0, limit).map(({ lastMs, examples, ...group }) => ({
      ...group,
      examples: [...examples],
      last_at: new Date(lastMs).toISOString(),
    })),
    groups_total: sums.groups.length,
    not_checked: left
      .filter(([, requests]) => requests !== 0)
      .map(([what, requests]) => ({
        ...{ what, requests, why: reasons[what] },
        operations: what === 'body' ? sums.notKeptOf.slice(0, operationsMax) : [],
      })),
    live:
      live === null
        ? null
        : {
            events: live.events,
            is_cut: live.isCut,
            groups: live.groups.slice(0, limit).map((group) => ({ ...group, examples: [...group.examples] })),
          },
  };
}

export const summaryOfLimits = `the newest ${linesMax.toLocaleString('en-US')} requests of the site at most`;
