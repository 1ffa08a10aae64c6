// Whom a start protects, as the data plane tells it. What the environment says is printed where it is in force, or as
// not in force.
import type { Values } from '#settings/environment';
import { upstreamsOf } from '../local-settings/proxy-config.js';
import type { Served, ServedSite } from './admin-interface.js';

const sitesShownMax = 6;
/** Where the second column of the announcement begins. */
export const indentation = ' '.repeat(20);

type UpstreamVariable = 'UPSTREAM_CUSTOMER' | 'UPSTREAM_PAYMENT';
const upstreamVariables: readonly UpstreamVariable[] = ['UPSTREAM_CUSTOMER', 'UPSTREAM_PAYMENT'];

export function describeSites(values: Values, served: Served | null): string {
  if (served === null) return 'unknown: the data plane does not say (its log may)';
  if (served.ruleset === '')
    return 'nothing yet: protected sites are answered 503 (the log of the data plane says why)';
  const { customer, payment } = upstreamsOf(values);
  const wanted = { UPSTREAM_CUSTOMER: customer, UPSTREAM_PAYMENT: payment };
  const demos = {
    UPSTREAM_CUSTOMER: `the bundled demo shop on port ${values.DEMO_PORT}`,
    UPSTREAM_PAYMENT: 'the bundled demo payment service',
  };
  const isOfEnvironment = served.sitesFrom === 'environment';
  const variableOf = ({ name }: ServedSite): UpstreamVariable | undefined =>
    isOfEnvironment ? upstreamVariables.find((variable) => variable === `UPSTREAM_${name.toUpperCase()}`) : undefined;
  /** The variable that could name another application than the demo, which serves there now. */
  const demoOf = (site: ServedSite): UpstreamVariable | undefined => {
    const variable = variableOf(site);
    return variable !== undefined && values[variable] === '' && site.upstream === wanted[variable]
      ? variable
      : undefined;
  };
  if (isOfEnvironment && served.sites.every((site) => demoOf(site) !== undefined))
    return `${demos.UPSTREAM_CUSTOMER} (set UPSTREAM_CUSTOMER to protect your own application)`;
  const rows = served.sites.slice(0, sitesShownMax).map((site) => {
    const demo = demoOf(site);
    const to = demo === undefined ? site.upstream : `${demos[demo]} (${demo} names another application)`;
    return `${site.host ?? ''}${site.prefix} → ${to}`;
  });
  if (served.sites.length > sitesShownMax) rows.push(`and ${served.sites.length - sitesShownMax} more`);
  const unused = upstreamVariables.filter(
    (name) =>
      values[name] !== '' && !served.sites.some((site) => variableOf(site) === name && site.upstream === wanted[name]),
  );
  if (unused.length > 0) rows.push(notInForce(values, unused, isOfEnvironment));
  return rows.join(`\n${indentation}`);
}

function notInForce(values: Values, unused: readonly UpstreamVariable[], isOfEnvironment: boolean): string {
  const why = isOfEnvironment
    ? 'another control plane gave this node its sites'
    : 'the settings have sites of their own, and these win';
  const named = unused.map((name) => `${name}=${values[name]}`).join(' and ');
  return `${named} ${unused.length === 1 ? 'is' : 'are'} NOT in force: ${why}`;
}
