// Specifications beside traffic, by site and together.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { setImmediate } from 'node:timers/promises';
import type { ApiGap, ApiPort, SitePosture } from '../apis/port.js';
import { isPlace } from '../assets/site.js';
import type { sitesWithin } from './operations.js';

const sitesMax = 50;
const gapsMax = 500;

export const GapView = Type.Object({
  rule: Type.String(),
  severity: OneOf(['high', 'medium', 'low']),
  method: Type.String(),
  template: Type.String(),
  pointer: Type.String(),
  line: Nullable(Type.Integer()),
  owasp: Type.String(),
  message: Type.String(),
  fix: Type.String(),
});

const figures = {
  documented: Type.Integer({ description: 'operations of specifications' }),
  observed: Type.Integer({ description: 'of these, seen' }),
  coverage_percent: Nullable(Type.Number({ description: 'null: nothing is documented' })),
  endpoints: Type.Integer({ description: 'operations that were seen' }),
  shadow: Type.Integer(),
  zombie: Type.Integer(),
  without_credentials: Type.Integer({ description: 'answered requests without credentials' }),
  high: Type.Integer(),
  medium: Type.Integer(),
  low: Type.Integer(),
};

export const PostureView = Type.Object({
  ...figures,
  not_looked_at: Type.Integer({ description: `sites beyond ${sitesMax}: ask for one of them` }),
  sites: Type.Array(
    Type.Object({
      site: Type.String(),
      applications: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
      ...figures,
      specifications: Type.Array(Type.Object({ name: Type.String(), version: Type.Integer() })),
      hint: Nullable(Type.String({ description: 'why the figures say little, and what to do about it' })),
    }),
  ),
  gaps: Type.Array(Type.Intersect([Type.Object({ site: Type.String() }), GapView]), {
    description: `the gravest first, at most ${gapsMax}; the figures count all`,
  }),
});

const figuresOf = (one: SitePosture) => ({
  ...{ documented: one.documented, observed: one.observed, coverage_percent: one.coveragePercent },
  ...{ endpoints: one.endpoints, shadow: one.shadow, zombie: one.zombie, without_credentials: one.withoutCredentials },
  ...{ high: one.high, medium: one.medium, low: one.low },
});

/** Why figures of a site say little, and what to do about it; null: specifications and traffic are both there. */
export function hintOf(
  { specifications, endpoints, site }: SitePosture,
  isPlace: boolean,
  name: string,
): string | null {
  if (isPlace) return `${name} goes through no site of the firewall: link it to one, and its traffic is seen`;
  if (specifications.length === 0 && endpoints === 0)
    return `nothing is known of ${site}: send its requests through the firewall, and add a specification`;
  if (specifications.length === 0) return `${site} has no specification: nothing can be told to be undeclared`;
  return endpoints === 0 ? `no request of ${site} was seen: what is declared cannot be compared` : null;
}

const ranks = { high: 0, medium: 1, low: 2 } as const;

/** Of these sites, or of one of them. A site of nobody, which nothing is known of, is left out. */
export async function postureOf(apis: ApiPort, sites: Awaited<ReturnType<typeof sitesWithin>>, site: string | null) {
  const asked = [...sites].filter(([name]) => site === null || name === site);
  const all: SitePosture[] = [];
  let gaps: (ApiGap & { readonly site: string })[] = [];
  for (const [name] of asked.slice(0, sitesMax)) {
    const { gaps: own, ...figures } = await apis.posture(name, gapsMax);
    all.push({ ...figures, gaps: [] });
    gaps = [...gaps, ...own.map((gap) => ({ site: name, ...gap }))]
      .sort((one, other) => ranks[one.severity] - ranks[other.severity])
      .slice(0, gapsMax);
    await setImmediate();
  }
  const shown = all.map((one) => ({ one, figures: figuresOf(one) }));
  const sum = (name: Exclude<keyof typeof figures, 'coverage_percent'>): number =>
    shown.reduce((total, { figures: own }) => total + own[name], 0);
  const [documented, observed] = [sum('documented'), sum('observed')];
  return {
    ...{ documented, observed },
    coverage_percent: documented === 0 ? null : Math.round((observed / documented) * 1000) / 10,
    ...{ endpoints: sum('endpoints'), shadow: sum('shadow'), zombie: sum('zombie') },
    without_credentials: sum('without_credentials'),
    ...{ high: sum('high'), medium: sum('medium'), low: sum('low') },
    not_looked_at: Math.max(0, asked.length - sitesMax),
    sites: shown.map(({ one, figures: own }) => ({
      site: one.site,
      applications: (sites.get(one.site) ?? []).map(({ id, name }) => ({ id: String(id), name })),
      ...own,
      specifications: one.specifications.map(({ name, version }) => ({ name, version })),
      hint: hintOf(one, isPlace(one.site), sites.get(one.site)?.[0]?.name ?? one.site),
    })),
    gaps,
  };
}
