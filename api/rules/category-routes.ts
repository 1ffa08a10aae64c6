// The thirteen categories with what they stand for in the rule set at hand. They are switched with PATCH /api/settings
// ({"categories":{"sqli":{"enabled":false}}}); this tells what that would mean.
import { categoryTags, diskReader, loadCoreRuleSet } from '#compiler';
import { categoryKeys } from '#settings';
import { Type } from '@sinclair/typebox';
import { refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readHead } from '../settings/store.js';

/** Rules by tag, counted in the text: a rule is a directive at the beginning of a line with what is indented below. */
function countTags(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const block of text.split(/\n(?=Sec(?:Rule|Action)\s)/)) {
      if (!/^Sec(?:Rule|Action)\s/.test(block)) continue;
      const rule = block.split(/\n(?=#|\s*\n)/, 1)[0] ?? '';
      for (const tag of new Set([...rule.matchAll(/tag:'([^']+)'/g)].map((match) => match[1] as string)))
        counts.set(tag, (counts.get(tag) ?? 0) + 1);
    }
  }
  return counts;
}

const CategoryView = Type.Object({
  key: Type.String(),
  enabled: Type.Boolean(),
  path_exclusions: Type.Array(Type.String()),
  tags: Type.Array(Type.Object({ tag: Type.String(), rules: Type.Union([Type.Integer(), Type.Null()]) })),
  rules: Type.Union([Type.Integer(), Type.Null()], { description: 'null: there is no rule set on this server' }),
});

const schema = {
  tags: ['rules'],
  summary: 'The CRS categories: their state, exact tags and numbers of rules',
  response: {
    200: Type.Object({ crs_version: Type.Union([Type.String(), Type.Null()]), items: Type.Array(CategoryView) }),
    ...refusals,
  },
};

interface Counts {
  readonly version: string;
  readonly tags: ReadonlyMap<string, number>;
}

export function registerCategoryRoutes(app: App, { database, ruleSets }: Pick<Parts, 'database' | 'ruleSets'>): void {
  let counted: { readonly directory: string; readonly counts: Counts | null } | null = null;
  const count = (): Counts | null => {
    const directory = ruleSets.directory();
    if (directory === null) return null;
    if (counted?.directory !== directory || counted.counts === null) {
      const { crs } = loadCoreRuleSet(directory, diskReader);
      const counts = crs && { version: crs.version, tags: countTags(crs.rules.map(({ text }) => text)) };
      counted = { directory, counts };
    }
    return counted.counts;
  };
  app.get('/api/rules/categories', { schema }, async (_, reply) => {
    const { settings, etag } = await readHead(database.sql);
    const known = count();
    reply.header('etag', etag);
    const items = categoryKeys.map((key) => {
      const tags = categoryTags[key].map((tag) => ({
        tag,
        rules: known === null ? null : (known.tags.get(tag) ?? 0),
      }));
      const { enabled, path_exclusions } = settings.categories[key];
      const rules = known === null ? null : tags.reduce((sum, tag) => sum + (tag.rules ?? 0), 0);
      return { key, enabled, path_exclusions, tags, rules };
    });
    return { crs_version: known?.version ?? null, items };
  });
}
