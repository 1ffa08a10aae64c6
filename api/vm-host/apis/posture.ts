// What a site's specifications declare, and how that compares with its traffic. The specifications in force count; of
// a site that has none in force the newest version of each name.
import type { ApiGap, DeclaredOperation, SitePosture } from '#vm-manager';
import type { Settings } from '#settings';
import { sitePrefixOf } from '../../change/steps/specifications.js';
import { inventoryOf } from '../../inventory/index.js';
import { isUnprotected } from '../../inventory/data-flow.js';
import { specificationsOf, trafficOf } from '../../posture/gaps/read.js';
import { reportSite, type DeclaredSpecification, type SiteReport } from '../../posture/gaps/report.js';
import { isOpenByNature, requiresCredentials } from '../../posture/scan/rules.js';
import { templatesOf } from '../../spec/plan.js';
import { findSpecification, listSpecifications, specificationOf } from '../../spec/store.js';
import type { ApisParts } from './index.js';

/** Of a site without one in force. */
const namesMax = 20;

async function newestOf({ database: { sql } }: ApisParts, settings: Settings, site: string) {
  const found = new Map<string, DeclaredSpecification>();
  const prefix = sitePrefixOf(settings, site);
  for (const { id, name, version } of await listSpecifications(sql, site)) {
    if (found.has(name) || found.size >= namesMax) continue;
    const row = await findSpecification(sql, id);
    if (row === null) continue;
    const { model } = specificationOf(row);
    found.set(name, { name, version, model, templatesOf: (operation) => templatesOf(operation, null, prefix) });
  }
  return [...found.values()];
}

async function whatIsDeclared(parts: ApisParts, site: string): Promise<DeclaredSpecification[]> {
  const settings = await parts.currentSettings();
  const inForce = await specificationsOf(parts.database.sql, settings, site);
  return inForce.length > 0 ? inForce : newestOf(parts, settings, site);
}

export async function declaredOf(parts: ApisParts, site: string): Promise<DeclaredOperation[]> {
  const specifications = await whatIsDeclared(parts, site);
  return specifications.flatMap((one) =>
    one.model.operations.flatMap((operation) =>
      one.templatesOf(operation).map((template) => ({
        ...{ site, method: operation.method, template, specification: one.name },
        isDeprecated: operation.isDeprecated,
        needsCredentials:
          operation.security === null ? null : requiresCredentials(operation, one.model) && !isOpenByNature(operation),
      })),
    ),
  );
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

const mendOf: Readonly<Record<string, string>> = {
  shadow: 'declare the operation in a specification, or take it away',
  zombie: 'take the operation out of the specification and the application, or find out why nobody asks for it',
  'auth-not-enforced': 'refuse requests without credentials, as the specification says',
  'sensitive-data-without-auth': 'ask for credentials, and say so in the specification',
  'deprecated-in-use': 'move its callers to what took its place, then take it away',
};

const gapMend = (rule: string): string => mendOf[rule] ?? 'let the specification and the application say the same';

function gapsOf(report: SiteReport, endpoints: Awaited<ReturnType<typeof trafficOf>>['endpoints']): ApiGap[] {
  const gap = (
    rule: string,
    severity: ApiGap['severity'],
    of: { method: string; template: string },
    message: string,
  ) => ({
    ...{ rule, severity, method: of.method, template: of.template, pointer: '', line: null, message },
    ...{ owasp: owaspOf[rule] ?? 'API8:2023', mend: gapMend(rule) },
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

type SeenEndpoint = Awaited<ReturnType<typeof trafficOf>>['endpoints'][number];
const isOpenWithData = (one: SeenEndpoint): boolean => isUnprotected(one) && one.categories.length > 0;

export async function postureOf(parts: ApisParts, site: string): Promise<SitePosture> {
  const { sql } = parts.database;
  const inventory = inventoryOf(parts as Parameters<typeof inventoryOf>[0]);
  await inventory.refresh();
  const traffic = await trafficOf(sql, inventory, site);
  const report = reportSite(await whatIsDeclared(parts, site), traffic, parts.now());
  return {
    site,
    specifications: report.specifications.map(({ name, version }) => ({ name, version })),
    documented: report.documented,
    observed: report.observed,
    coveragePercent: report.coveragePercent,
    endpoints: traffic.endpoints.length,
    shadow: report.shadow.length,
    zombie: report.operations.filter(({ zombie }) => zombie !== null).length,
    withoutCredentials: traffic.endpoints.filter(isUnprotected).length,
    gaps: gapsOf(report, traffic.endpoints),
  };
}
