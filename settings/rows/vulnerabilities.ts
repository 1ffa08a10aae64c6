// The vulnerability manager: which chains it makes, and who may describe them.
import { Flag, HttpUrl, Line, Secret, setting, Shaped, Whole } from '../row.js';

export const vulnerabilityRows = {
  vm_toxic_pack: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/index.ts',
    description:
      'toxic combinations by the further rules, too (the pack `further` of GET /api/v1/graph/toxic-rules); the four ' +
      'named ones always hold',
  }),
  vm_model_url: setting(HttpUrl(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/narrator.ts',
    description:
      'base address of a service that speaks the OpenAI chat protocol, such as https://models.example/v1; it is sent ' +
      'titles and kinds of the findings of a chain when a user asks for its narrative; empty: no model is asked',
  }),
  vm_model_name: setting(Line(200), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/narrator.ts',
    description: 'model that the service is asked for',
  }),
  vm_model_key: setting(Secret(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/narrator.ts',
    description: 'key that the service wants (Authorization: Bearer); none where it wants none',
  }),
  vm_epss_url: setting(HttpUrl('plain'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/intel-sources.ts',
    description:
      'where EPSS is fetched from, as FIRST publishes it (CSV, packed by gzip or not); a redirection to another host ' +
      'is refused: name the last address; empty: it is not fetched, and can be uploaded',
  }),
  vm_kev_url: setting(HttpUrl('plain'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/intel-sources.ts',
    description:
      'where the catalogue of exploited vulnerabilities (KEV) is fetched from, as CISA publishes it (JSON); empty: ' +
      'it is not fetched, and can be uploaded',
  }),
  vm_osv_url: setting(HttpUrl('plain'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/intel-sources.ts',
    description:
      'where advisories in the format of OSV are fetched from (a zip of records, NDJSON, or a list), 64 MiB at most; ' +
      'empty: they are not fetched, and can be uploaded',
  }),
  vm_intel_hours: setting(Whole(1, 168, 24), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/intel-sources.ts',
    description: 'hours between fetches of EPSS, KEV and advisories; one that failed is tried again within an hour',
  }),
  vm_csaf_namespace: setting(HttpUrl('plain'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/index.ts',
    description:
      'namespace of the publisher in CSAF documents: an address that your organisation controls; empty: one that ' +
      'says that none was named',
  }),
  vm_git_authorities: setting(
    Shaped(
      '^\\s*$|^\\s*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\\s]+-----END CERTIFICATE-----\\s*)+$',
      'write certificates in PEM, one after the other',
      { maxLength: 100_000, default: '' },
    ),
    {
      access: 'admin',
      reach: ['control'],
      enforcedBy: 'api/vm-host/index.ts',
      description:
        'certificates (PEM) of your own authorities, beside the public ones, for https of the hosts in vm_git_hosts; ' +
        'empty: the public ones alone',
    },
  ),
  vm_git_hosts: setting(
    Shaped(
      '^$|^[a-z0-9.:\\[\\]-]+(, ?[a-z0-9.:\\[\\]-]+)*$',
      'write names of hosts, in small letters, with commas between',
      {
        maxLength: 2000,
        default: '',
      },
    ),
    {
      access: 'admin',
      reach: ['control'],
      enforcedBy: 'api/vm-host/index.ts',
      description:
        'hosts that repositories are fetched from with Git, such as git.example.org, or with a port ' +
        'git.example.org:8443; private addresses need OUTBOUND_ALLOW, too; empty: nothing is fetched',
    },
  ),
  vm_import_close_percent: setting(Whole(0, 100, 50), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/vm-host/index.ts',
    unit: '%',
    description:
      'share of the open findings of a scope that one import with mode=sync may close; one that would close more ' +
      '(and more than 3) is refused until it says confirm_close=true; 100: never',
  }),
  vm_events_days: setting(Whole(1, 3650, 90), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/index.ts',
    description:
      'days that events of the vulnerability manager are kept for readers of GET /api/v1/events; what connectors are ' +
      'sent, the history of findings and the audit log do not depend on it',
  }),
  vm_events_max: setting(Whole(1000, 10_000_000, 500_000), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/index.ts',
    description: 'events that are kept at most, whatever their age; the oldest are removed first',
  }),
};
