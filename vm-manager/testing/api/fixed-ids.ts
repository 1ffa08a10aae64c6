// Ids and bodies that are the same in every filled organisation.
import { scannerOf } from '../../scanners/catalogue.js';

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

const firstOf = (kind: string): string => scannerOf(kind).rules[0]?.id ?? '';

/** Rules that every scanner brings along. */
export const idsOfRules: Readonly<Record<string, string>> = {
  '/secrets/detectors': firstOf('secrets'),
  '/sast/rules': firstOf('sast'),
  '/iac/rules': firstOf('iac'),
  '/k8s-posture/controls': firstOf('k8s'),
};

const ownRule = { id: 'own-new', cwes: [798], endings: ['js'], pattern: 'new-[0-9]+' };
const changed = { enabled: false, severity: null, reason: 'r' };

export const bodiesOfRules: Readonly<Record<string, Record<string, unknown>>> = {
  'POST /sast/rules': ownRule,
  'POST /secrets/detectors': ownRule,
  'PATCH /sast/rules/:id': changed,
  'PATCH /iac/rules/:id': changed,
  'PATCH /k8s-posture/controls/:id': changed,
  'PATCH /secrets/detectors/:id': changed,
  'POST /secrets/:vuln_id/rotated': { proof: 'ticket 1', rotated_at: '2026-01-01T00:00:00Z' },
  'POST /secrets/allowlist': {
    application_id: undefined,
    kind: 'path',
    value: 'a/**',
    expires_at: '2027-01-31T12:00:00Z',
  },
};

/** Of one application. */
export const allowed = (application: string): Record<string, unknown> => ({
  ...{ application_id: application, kind: 'path', value: 'zebra/**', reason: 'r' },
  expires_at: '2027-01-31T12:00:00Z',
});
