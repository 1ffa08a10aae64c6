// Where the console shows what the API names as evidence.
const places: Readonly<Record<string, string>> = {
  '/api/account/sessions': '/account',
  '/api/ai/self-tests': '/engine/simulation?view=self-tests',
  '/api/alerts': '/alerts',
  '/api/api-threats': '/inventory/threats',
  '/api/audit': '/admin/audit',
  '/api/audit/verify': '/admin/audit',
  '/api/events': '/soc',
  '/api/nodes': '/admin/nodes',
  '/api/policy/stats': '/admin/users',
  '/api/rules/evidence': '/waf/tuning',
  '/api/settings': '/admin/settings',
  '/api/siem': '/alerts?view=connectors',
  '/api/threat-intel/feeds': '/protection/feeds',
  '/api/users': '/admin/users',
};

/** The page for an address of the API, with its filters; null: no page shows it. */
export function placeOf(link: string): string | null {
  const [path = '', query] = link.split('?');
  const place = places[path];
  if (place === undefined || query === undefined || place.includes('?')) return place ?? null;
  return `${place}?${query}`;
}
