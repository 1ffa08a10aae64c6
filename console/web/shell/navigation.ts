// The pages of the console, in one table: the side bar, the command palette and the routes are made from it.
import type { IconName } from '../kit/icons.js';
import type { Role } from '../client/session.js';

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly role: Role;
  /** Other words that a person may look for. */
  readonly words: string;
}

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly PageEntry[];
}

const page = (path: string, title: string, icon: IconName, words: string, role: Role = 'viewer'): PageEntry => ({
  path,
  title,
  icon,
  words,
  role,
});

export const navigation: readonly PageGroup[] = [
  {
    title: 'Watch',
    pages: [
      page('/', 'Overview', 'overview', 'dashboard start traffic block rate'),
      page('/soc', 'Security events', 'radar', 'soc live stream attacks incidents'),
      page('/requests', 'Requests', 'list', 'access log traffic'),
    ],
  },
  {
    title: 'Protect',
    pages: [
      page('/waf', 'Rule set', 'shield', 'waf crs mode paranoia threshold categories sqli xss'),
      page('/waf/rules', 'Custom rules', 'code', 'seclang modsecurity builder editor'),
      page('/waf/patches', 'Virtual patches', 'patch', 'cve vulnerability catalogue'),
      page('/waf/tuning', 'Tuning', 'tune', 'false positives exclusions suggestions evidence'),
      page(
        '/protection/gates',
        'Limits and bots',
        'gauge',
        'rate limits floods bans challenge crawlers pipeline gates',
      ),
      page('/protection/addresses', 'Addresses', 'ban', 'threat intelligence deny list ban block ip managed feed'),
    ],
  },
  {
    title: 'Run',
    pages: [
      page('/admin/settings', 'Settings', 'cog', 'configuration limits sites timeouts policy sso'),
      page('/admin/changes', 'Changes', 'versions', 'apply versions rollback diff impact'),
      page('/admin/nodes', 'Nodes', 'nodes', 'data plane generation workers jobs health'),
      page('/admin/audit', 'Audit log', 'audit', 'who did what chain verify export'),
      page('/admin/users', 'Users', 'people', 'accounts roles passwords', 'admin'),
      page('/admin/tokens', 'API tokens', 'key', 'automation ci scopes', 'admin'),
      page('/admin/licence', 'Licence', 'licence', 'domains edition'),
    ],
  },
];

export const allPages: readonly PageEntry[] = navigation.flatMap(({ pages }) => pages);
