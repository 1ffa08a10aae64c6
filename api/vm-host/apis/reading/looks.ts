// What documents and traffic show, as gaps and operations. Pure; done in the thread that reads specifications.
import type { ApiGap, DeclaredOperation } from '#vm-manager';
import { isUnprotected } from '../../../inventory/data-flow.js';
import type { Endpoint } from '../../../inventory/index.js';
import { reportSite, type SiteReport, type SiteTraffic } from '../../../posture/gaps/report.js';
import { moreRules, scanFurther } from '../../../posture/scan/more-rules.js';
import { isOpenByNature, requiresCredentials, scanModel, scanRules } from '../../../posture/scan/rules.js';
import type { ApiModel } from '../../../spec/document/model.js';
import { readText } from '../../../spec/document/text.js';
import { templatesOf } from '../../../spec/plan.js';
import type { GapCounts, PlacedDocument, PostureFigures } from './jobs.js';

/** Whole paths of one document: each operation has one for each of its servers. */
const templatesMax = 20_000;

const ranks: Readonly<Record<ApiGap['severity'], number>> = { high: 0, medium: 1, low: 2 };
const graver = (one: ApiGap, other: ApiGap): number => ranks[one.severity] - ranks[other.severity];

export function countsOf(gaps: readonly ApiGap[]): GapCounts {
  const counts = { high: 0, medium: 0, low: 0 };
  for (const { severity } of gaps) counts[severity]++;
  return counts;
}

const namesOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The gravest first. */
export function lintOf(model: ApiModel, body: string): ApiGap[] {
  const lineOf = readText(body).text?.lineOf ?? (() => 1);
  const lines = new Map<string, number>();
  const lineAt = (pointer: string): number => {
    const line = lines.get(pointer) ?? lineOf(namesOf(pointer));
    lines.set(pointer, line);
    return line;
  };
  const found = [
    ...scanModel(model).map((one) => ({ ...one, ...scanRules[one.rule], severity: one.severity })),
    ...scanFurther(model).map((one) => ({ ...one, ...moreRules[one.rule] })),
  ];
  return found
    .map(({ rule, severity, method, path, pointer, message, owasp, fix }) => ({
      ...{ rule, severity, method, template: path, pointer, message, owasp, fix },
      line: lineAt(pointer),
    }))
    .sort(graver);
}

/** Addresses of servers as the document writes them; Swagger 2.0 has been converted. */
export function serversOf({ servers }: Readonly<Record<string, unknown>>): string[] {
  return (Array.isArray(servers) ? servers.slice(0, 50) : []).flatMap((one: unknown) => {
    const url = (one as { url?: unknown } | null)?.url;
    return typeof url === 'string' ? [url.slice(0, 2000)] : [];
  });
}

export function declaredBy(site: string, { name, basePath, prefix }: PlacedDocument, model: ApiModel) {
  const found: DeclaredOperation[] = [];
  for (const operation of model.operations) {
    const needsCredentials =
      operation.security === null ? null : requiresCredentials(operation, model) && !isOpenByNature(operation);
    const { method, isDeprecated } = operation;
    for (const template of templatesOf(operation, basePath, prefix))
      found.push({ site, method, template, specification: name, isDeprecated, needsCredentials });
    if (found.length >= templatesMax) break;
  }
  return found.slice(0, templatesMax);
}

const owaspOf: Readonly<Record<string, string>> = {
  shadow: 'API9:2023',
  zombie: 'API9:2023',
  'deprecated-in-use': 'API9:2023',
  dormant: 'API9:2023',
  'auth-not-enforced': 'API2:2023',
  'sensitive-data-without-auth': 'API2:2023',
  'undeclared-member': 'API3:2023',
  'undeclared-personal-data': 'API3:2023',
  'sensitive-no-auth': 'API2:2023',
  'missing-auth': 'API2:2023',
  'unprotected-write': 'API5:2023',
  'bola-risk': 'API1:2023',
};

const fixOf: Readonly<Record<string, string>> = {
  shadow: 'declare the operation in a specification, or take it away',
  zombie: 'take the operation out of the specification and the application, or find out why nobody asks for it',
  'auth-not-enforced': 'refuse requests without credentials, as the specification says',
  'sensitive-data-without-auth': 'ask for credentials, and say so in the specification',
  'deprecated-in-use': 'move its callers to what took its place, then take it away',
};

const fixOfGap = (rule: string): string => fixOf[rule] ?? 'let the specification and the application say the same';

function gapsOf(report: SiteReport, endpoints: readonly Endpoint[]): ApiGap[] {
  const gap = (
    rule: string,
    severity: ApiGap['severity'],
    of: { method: string; template: string },
    message: string,
  ) => ({
    ...{ rule, severity, method: of.method, template: of.template, pointer: '', line: null, message },
    ...{ owasp: owaspOf[rule] ?? 'API8:2023', fix: fixOfGap(rule) },
  });
  const open = report.specifications.length > 0 ? [] : endpoints.filter(isOpenWithData);
  return [
    ...open.map((one) =>
      gap('sensitive-data-without-auth', 'high', one, `${one.categories.join(', ')} without credentials (${one.auth})`),
    ),
    ...report.shadow.map(({ endpoint, severity, why }) => gap('shadow', severity, endpoint, why)),
    ...report.operations.flatMap(({ operation, template, gaps, zombie }) => {
      const at = { method: operation.method, template };
      return [
        ...gaps.map((one) => ({ ...gap(one.code, one.severity, at, one.message), pointer: one.pointer ?? '' })),
        ...(zombie === null ? [] : [gap('zombie', 'low', at, zombie.why)]),
      ];
    }),
  ];
}

const isOpenWithData = (one: Endpoint): boolean => isUnprotected(one) && one.categories.length > 0;

/** Figures, and every gap, the gravest first. */
export function postureOf(
  documents: readonly (PlacedDocument & { readonly model: ApiModel })[],
  traffic: SiteTraffic,
  nowMs: number,
): { readonly figures: PostureFigures; readonly gaps: readonly ApiGap[] } {
  const specifications = documents.map(({ name, version, model, basePath, prefix }) => ({
    ...{ name, version, model },
    templatesOf: (operation: ApiModel['operations'][number]) => templatesOf(operation, basePath, prefix),
  }));
  const report = reportSite(specifications, traffic, nowMs);
  const gaps = gapsOf(report, traffic.endpoints).sort(graver);
  const figures: PostureFigures = {
    site: traffic.site,
    specifications: specifications.map(({ name, version }) => ({ name, version })),
    ...{ documented: report.documented, observed: report.observed, coveragePercent: report.coveragePercent },
    ...{ endpoints: traffic.endpoints.length, shadow: report.shadow.length },
    zombie: report.operations.filter(({ zombie }) => zombie !== null).length,
    withoutCredentials: traffic.endpoints.filter(isUnprotected).length,
    ...{ ...countsOf(gaps), total: gaps.length },
  };
  return { figures, gaps };
}
