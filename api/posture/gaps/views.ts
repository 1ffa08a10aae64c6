// The report of the gaps as the API shows it.
import { Type, type Static } from '@sinclair/typebox';
import { Nullable, OneOf, Time } from '../../http-kit/index.js';
import { authTruths, bands, classifications } from '../../inventory/judge.js';
import { percentOf, type OperationReport, type ShadowEndpoint, type SiteReport } from './report.js';

const Severity = OneOf(['high', 'medium']);

const ShadowView = Type.Object({
  ...{ site: Type.String(), method: Type.String(), template: Type.String(), severity: Severity, why: Type.String() },
  hits: Type.Integer(),
  first_seen: Time,
  last_seen: Time,
  auth: OneOf(authTruths),
  classification: OneOf(classifications),
  band: OneOf(bands),
});

const ZombieView = Type.Object({
  ...{ site: Type.String(), specification: Type.String(), method: Type.String(), template: Type.String() },
  operation_id: Nullable(Type.String()),
  deprecated: Type.Boolean(),
  severity: Severity,
  confidence: Type.Object({
    score: Type.Number({ minimum: 0, maximum: 1 }),
    level: OneOf(['low', 'medium', 'high']),
    observed_days: Type.Integer(),
    why: Type.String(),
  }),
});

const GapView = Type.Object({
  code: Type.String(),
  severity: Severity,
  pointer: Nullable(Type.String()),
  message: Type.String(),
});

const OperationView = Type.Object({
  ...{ site: Type.String(), specification: Type.String(), method: Type.String(), template: Type.String() },
  operation_id: Nullable(Type.String()),
  pointer: Type.String({ description: 'of the operation in the document' }),
  seen: Type.Boolean(),
  hits: Type.Integer(),
  last_seen: Nullable(Time),
  severity: Severity,
  gaps: Type.Array(GapView),
});

const Figures = {
  documented: Type.Integer(),
  observed: Type.Integer({ description: 'documented operations that were seen' }),
  coverage_percent: Nullable(
    Type.Number({ description: 'observed / documented operations; null: nothing is documented' }),
  ),
};

const Hint = Nullable(
  Type.String({ description: 'why the figures say nothing yet, and what to do about it; null: they say something' }),
);

export const GapsView = Type.Object({
  ...Figures,
  hint: Hint,
  totals: Type.Object({
    ...{ shadow: Type.Integer(), zombie: Type.Integer(), high: Type.Integer(), medium: Type.Integer() },
    operations: Type.Integer({ description: 'documented operations with a gap' }),
  }),
  sites: Type.Array(
    Type.Object({
      site: Type.String(),
      ...Figures,
      hint: Hint,
      specifications: Type.Array(Type.Object({ name: Type.String(), version: Type.Integer() })),
      shadow: Type.Integer(),
      zombie: Type.Integer(),
    }),
  ),
  shadow: Type.Array(ShadowView, { description: 'in traffic and not in a specification; the riskiest first' }),
  zombie: Type.Array(ZombieView, { description: 'in a specification and never seen; the surest first' }),
  operations: Type.Array(OperationView, { description: 'documented operations with gaps; the gravest first' }),
});
export type GapsView = Static<typeof GapsView>;

/** `limit` entries of each list at most; totals count all. */
export function viewGaps(reports: readonly SiteReport[], limit: number): GapsView {
  const operations = reports.flatMap(({ site, operations: all }) => all.map((report) => ({ site, report })));
  const withGaps = operations.filter(({ report }) => report.gaps.length > 0);
  const zombies = operations.filter(({ report }) => report.zombie !== null);
  const shadow = reports.flatMap((one) => one.shadow);
  const documented = reports.reduce((sum, one) => sum + one.documented, 0);
  const observed = reports.reduce((sum, one) => sum + one.observed, 0);
  const severities = [
    ...withGaps.flatMap(({ report }) => report.gaps.map(({ severity }) => severity)),
    ...shadow.map(({ severity }) => severity),
    ...zombies.map(() => 'medium' as const),
  ];
  const high = severities.filter((one) => one === 'high').length;
  withGaps.sort((left, right) => highsOf(right.report) - highsOf(left.report));
  zombies.sort((left, right) => (right.report.zombie?.score ?? 0) - (left.report.zombie?.score ?? 0));
  return {
    documented,
    observed,
    coverage_percent: percentOf(observed, documented),
    hint: hintOfAll(reports),
    totals: {
      shadow: shadow.length,
      zombie: zombies.length,
      high,
      medium: severities.length - high,
      operations: withGaps.length,
    },
    sites: reports.map((one) => ({
      site: one.site,
      documented: one.documented,
      observed: one.observed,
      coverage_percent: one.coveragePercent,
      hint: hintOf(one),
      specifications: one.specifications.map(({ name, version }) => ({ name, version })),
      shadow: one.shadow.length,
      zombie: one.operations.filter(({ zombie }) => zombie !== null).length,
    })),
    shadow: shadow.slice(0, limit).map(viewShadow),
    zombie: zombies.slice(0, limit).map(({ site, report }) => viewZombie(site, report)),
    operations: withGaps.slice(0, limit).map(({ site, report }) => viewOperation(site, report)),
  };
}

/** Without a specification nothing is a shadow, a zombie or covered: zeros that look like good news. */
function hintOf({ site, specifications, documented, isSilent }: SiteReport): string | null {
  if (specifications.length === 0)
    return (
      `${site} has no specification that its traffic could be held to; upload one under Specifications, or with ` +
      `POST /api/spec?site=${encodeURIComponent(site)}`
    );
  if (documented === 0) return `the specification of ${site} declares no operation; upload one that has paths`;
  return isSilent ? `no traffic of ${site} was seen yet; send requests through it, or ingest records` : null;
}

/** Of all sites together: null as soon as the figures of one of them say something. */
function hintOfAll(reports: readonly SiteReport[]): string | null {
  if (reports.length === 0)
    return (
      'no traffic was seen and no specification is known; upload one under Specifications, or with ' +
      'POST /api/spec?site=NAME'
    );
  const hints = reports.map(hintOf);
  return hints.includes(null) ? null : hints.join('. ');
}

const highsOf = ({ gaps }: OperationReport): number => gaps.filter(({ severity }) => severity === 'high').length;

function viewShadow({ endpoint, severity, why }: ShadowEndpoint): Static<typeof ShadowView> {
  const { site, method, template, hits, firstSeen, lastSeen, auth, classification, band } = endpoint;
  const times = { first_seen: firstSeen.toISOString(), last_seen: lastSeen.toISOString() };
  return { site, method, template, severity, why, hits, ...times, auth, classification, band };
}

const placeOf = (site: string, { specification, operation, template }: OperationReport) => ({
  ...{ site, specification, template, method: operation.method, operation_id: operation.id },
});

function viewZombie(site: string, report: OperationReport): Static<typeof ZombieView> {
  const { score = 0, level = 'low', observedDays = 0, why = '' } = report.zombie ?? {};
  return {
    ...placeOf(site, report),
    deprecated: report.operation.isDeprecated,
    severity: 'medium',
    confidence: { score, level, observed_days: observedDays, why },
  };
}

function viewOperation(site: string, report: OperationReport): Static<typeof OperationView> {
  return {
    ...placeOf(site, report),
    pointer: report.operation.pointer,
    seen: report.zombie === null,
    hits: report.hits,
    last_seen: report.lastSeen?.toISOString() ?? null,
    severity: highsOf(report) > 0 ? 'high' : 'medium',
    gaps: report.gaps.map((gap) => ({ ...gap })),
  };
}
