// GET /api/posture-gaps: specifications beside traffic.
import { Type } from '@sinclair/typebox';
import { closed, refusals, type App } from '../../http-kit/index.js';
import type { Inventory } from '../../inventory/index.js';
import { readHead } from '../../settings/store.js';
import { requireSeenSite, type PostureParts } from '../parts.js';
import { specificationsOf, sitesOf, trafficOf } from './read.js';
import { reportSite, type SiteReport } from './report.js';
import { GapsView, viewGaps } from './views.js';

const schema = {
  tags: ['posture'],
  summary: 'What specifications declare beside what traffic shows: shadow and zombie endpoints, coverage, gaps',
  querystring: Type.Object(
    {
      site: Type.Optional(Type.String({ maxLength: 200, description: 'all sites where it is left out' })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 5000,
          default: 500,
          description: 'entries of each list; totals count all',
        }),
      ),
    },
    closed,
  ),
  response: { 200: GapsView, ...refusals },
};

export function registerGaps(app: App, { database: { sql }, now }: PostureParts, inventory: Inventory): void {
  app.get('/api/posture-gaps', { schema }, async ({ query }) => {
    await inventory.refresh();
    const { settings } = await readHead(sql);
    const sites = await sitesOf(sql, settings);
    const asked = query.site === undefined ? sites : [requireSeenSite(settings, sites, query.site)];
    const reports: SiteReport[] = [];
    for (const site of asked) {
      const specifications = await specificationsOf(sql, settings, site);
      reports.push(reportSite(specifications, await trafficOf(sql, inventory, site), now()));
    }
    return viewGaps(reports, query.limit ?? 500);
  });
}
