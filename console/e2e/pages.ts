// Every page of the console by its address.
export const loggedInPaths: readonly string[] = [
  '/',
  '/soc',
  '/requests',
  '/waf',
  '/waf/rules',
  '/waf/rules/new',
  '/waf/patches',
  '/waf/tuning',
  '/protection/addresses',
  '/protection/gates',
  '/vulnerabilities',
  '/vulnerabilities/chains',
  '/vulnerabilities/applications',
  '/vulnerabilities/imports',
  '/vulnerabilities/reports',
  '/admin/settings',
  '/admin/settings/limits',
  '/admin/changes',
  '/admin/nodes',
  '/admin/audit',
  '/admin/users',
  '/admin/tokens',
  '/admin/licence',
  '/account',
];

export const publicPaths: readonly string[] = ['/demo'];
