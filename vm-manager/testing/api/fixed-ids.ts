/** What `:id` stands for in modules whose ids are not rows that a test makes. */
export const fixedIds: Readonly<Record<string, string>> = {
  '/sso/providers': '1',
  '/sso/login': '1',
  '/sso/callback': '1',
  '/compliance/frameworks': 'pci-dss',
  '/compliance/controls': 'pci-dss:6.2.4',
  '/health_monitor/components': 'database',
  '/backups': 'none',
  '/bi/datasets': 'findings',
  '/bi/dashboards': 'overview',
  '/threat-intel/cves': 'CVE-2021-44228',
  '/threat-intel/feeds': 'kev',
  '/scm/webhook': 'github',
};
