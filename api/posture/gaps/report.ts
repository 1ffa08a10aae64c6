// A site's specifications beside its traffic: what is declared and never seen, seen and never declared, and what
// differs where both know of it. Pure.
import { segmentsOf } from '#proxy/contract';
import type { Endpoint } from '../../inventory/index.js';
import { operationKey } from '../../inventory/fold.js';
import { isUnprotected } from '../../inventory/data-flow.js';
import type { ApiModel, ApiOperation } from '../../spec/document/model.js';
import { gapsOf, type Gap, type GapSeverity } from './operation-gaps.js';

const dayMs = 86_400_000;

export interface DeclaredSpecification {
  readonly name: string;
  readonly version: number;
  readonly model: ApiModel;
  /** Whole paths as clients send them. */
  readonly templatesOf: (operation: ApiOperation) => readonly string[];
}

/** A path and method that was asked and never answered well, with the template that it is of. */
export interface RefusedPath {
  readonly method: string;
  readonly template: string;
  readonly hits: number;
}

export interface SiteTraffic {
  readonly site: string;
  readonly endpoints: readonly Endpoint[];
  readonly refused: readonly RefusedPath[];
}

export interface ShadowEndpoint {
  readonly endpoint: Endpoint;
  readonly severity: GapSeverity;
  readonly why: string;
}

export interface Confidence {
  /** 0 to 1. */
  readonly score: number;
  readonly level: 'low' | 'medium' | 'high';
  readonly observedDays: number;
  readonly why: string;
}

export interface OperationReport {
  readonly specification: string;
  readonly operation: ApiOperation;
  readonly template: string;
  readonly hits: number;
  readonly lastSeen: Date | null;
  readonly gaps: readonly Gap[];
  /** null: it was seen. */
  readonly zombie: Confidence | null;
}

export interface SiteReport {
  readonly site: string;
  readonly specifications: readonly DeclaredSpecification[];
  readonly documented: number;
  readonly observed: number;
  /** Nothing at all was seen of the site. */
  readonly isSilent: boolean;
  /** null: nothing is documented. */
  readonly coveragePercent: number | null;
  readonly shadow: readonly ShadowEndpoint[];
  readonly operations: readonly OperationReport[];
}

export const percentOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 1000) / 10;

/** `GET` and `HEAD` are one operation: whoever declares the first has declared the second (RFC 9110 section 9.3.2). */
const keysOf = (method: string, template: string): string[] => {
  const segments = segmentsOf(template);
  return method === 'GET'
    ? [operationKey('GET', segments), operationKey('HEAD', segments)]
    : [operationKey(method, segments)];
};

export function reportSite(
  specifications: readonly DeclaredSpecification[],
  { site, endpoints, refused }: SiteTraffic,
  nowMs: number,
): SiteReport {
  const byKey = new Map<string, Endpoint[]>();
  for (const one of endpoints) {
    const key = operationKey(one.method, segmentsOf(one.template));
    byKey.set(key, [...(byKey.get(key) ?? []), one]);
  }
  const refusedHits = new Map<string, number>();
  for (const { method, template, hits } of refused) {
    const key = operationKey(method, segmentsOf(template));
    refusedHits.set(key, (refusedHits.get(key) ?? 0) + hits);
  }
  const declared = new Set<string>();
  const firstMs = Math.min(nowMs, ...endpoints.map(({ firstSeen }) => firstSeen.getTime()));
  const watched = { days: (nowMs - firstMs) / dayMs, hits: endpoints.reduce((sum, one) => sum + one.hits, 0) };
  const operations = specifications.flatMap((specification) =>
    specification.model.operations.map((operation): OperationReport => {
      const templates = specification.templatesOf(operation);
      const keys = templates.flatMap((template) => keysOf(operation.method, template));
      for (const key of keys) declared.add(key);
      const seen = keys.flatMap((key) => byKey.get(key) ?? []);
      const denied = keys.reduce((sum, key) => sum + (refusedHits.get(key) ?? 0), 0);
      return {
        specification: specification.name,
        operation,
        template: templates[0] ?? operation.path,
        hits: seen.reduce((sum, one) => sum + one.hits, 0),
        lastSeen: seen.length === 0 ? null : new Date(Math.max(...seen.map((one) => one.lastSeen.getTime()))),
        gaps: gapsOf(operation, specification.model, seen, nowMs),
        zombie: seen.length === 0 ? confidenceOf(watched, denied, operation.isDeprecated) : null,
      };
    }),
  );
  const observed = operations.filter(({ zombie }) => zombie === null).length;
  const foreign = (one: Endpoint): boolean => !declared.has(operationKey(one.method, segmentsOf(one.template)));
  return {
    site,
    specifications,
    documented: operations.length,
    observed,
    isSilent: endpoints.length === 0 && refused.length === 0,
    coveragePercent: percentOf(observed, operations.length),
    shadow: specifications.length === 0 ? [] : endpoints.filter(foreign).map(shadowOf).sort(graver),
    operations,
  };
}

function shadowOf(endpoint: Endpoint): ShadowEndpoint {
  const { auth, band, classification, method } = endpoint;
  const reasons = [
    ...(isUnprotected(endpoint) && classification !== 'Public' ? [`${classification} without credentials`] : []),
    ...(isUnprotected(endpoint) && !['GET', 'HEAD'].includes(method) ? [`${method} without credentials`] : []),
    ...(band === 'high' || band === 'critical' ? [`its risk is ${band}`] : []),
    ...(classification === 'Restricted' ? ['it carries restricted data'] : []),
  ];
  const why = reasons.length === 0 ? `seen, and not declared; auth is ${auth}` : reasons.join('; ');
  return { endpoint, severity: reasons.length === 0 ? 'medium' : 'high', why };
}

const graver = (left: ShadowEndpoint, right: ShadowEndpoint): number =>
  right.endpoint.risk - left.endpoint.risk || right.endpoint.hits - left.endpoint.hits;

/**
 * How sure it is that nobody uses an operation that was never seen. It may be asked once a month, so a month of
 * watching is half of it (1 − 2^(−days/30)); a site with little traffic, or requests that were all refused, say less.
 */
function confidenceOf(site: { days: number; hits: number }, denied: number, isDeprecated: boolean): Confidence {
  const observedDays = Math.floor(Math.max(0, site.days));
  const byTime = 1 - 2 ** (-Math.max(0, site.days) / 30);
  const byTraffic = Math.min(1, site.hits / 1000);
  const raised = byTime * byTraffic + (isDeprecated ? (1 - byTime * byTraffic) * 0.2 : 0);
  const score = Math.round((denied > 0 ? raised * 0.25 : raised) * 100) / 100;
  const why = [
    site.hits === 0
      ? 'nothing was seen of this site yet'
      : `not seen for ${observedDays} days; expected interval unknown`,
    ...(site.hits > 0 && site.hits < 1000 ? [`only ${site.hits} requests of this site were seen`] : []),
    ...(denied > 0 ? [`${denied} requests came and were all refused or failed, so somebody does ask`] : []),
    ...(isDeprecated ? ['it is declared as deprecated'] : []),
  ].join('; ');
  return { score, level: score >= 0.5 ? 'high' : score >= 0.2 ? 'medium' : 'low', observedDays, why };
}
