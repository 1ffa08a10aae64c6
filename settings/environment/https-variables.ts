// HTTPS: where certificates are ordered, and under which name the dashboard is reached.
import { localUrl } from './local-url.js';
import type { EnvironmentVariable } from './variable.js';

/** A node on this machine comes from its loopback, or, where the console has one address only, from that. */
const ofThisMachine = (bind: string): string =>
  [...new Set(['127.0.0.1', '::1', ...(bind === '0.0.0.0' || bind === '::' ? [] : [bind])])].join(',');

export const httpsVariables = [
  {
    name: 'DASHBOARD_DOMAIN',
    default: '',
    kind: 'text',
    readBy: ['control plane', 'data plane', 'console', 'commands'],
    purpose:
      'host name under which the console and the API are reached over HTTPS, through the data plane; its certificate ' +
      'is ordered by itself; empty = none',
  },
  {
    name: 'DASHBOARD_UPSTREAM',
    default: '',
    kind: 'url',
    readBy: ['control plane', 'data plane', 'commands'],
    purpose:
      'where the data plane finds the console for DASHBOARD_DOMAIN; empty = the console on this machine (ADMIN_BIND, ' +
      'UI_PORT)',
    whenEmpty: (of) => localUrl(of('ADMIN_BIND'), of('UI_PORT')),
  },
  {
    name: 'DASHBOARD_PROXIES',
    default: '',
    kind: 'list',
    readBy: ['console'],
    purpose:
      'addresses, networks or host names of nodes whose word of the client the console believes; none = no address; ' +
      'empty = this machine (127.0.0.1, ::1, ADMIN_BIND) with DASHBOARD_DOMAIN, else no address',
    whenEmpty: (of) => (of('DASHBOARD_DOMAIN') === '' ? '' : ofThisMachine(of('ADMIN_BIND'))),
  },
  {
    name: 'ACME_EMAIL',
    default: '',
    kind: 'text',
    readBy: ['control plane'],
    purpose: 'contact of the accounts at certificate authorities; empty = ADMIN_EMAIL',
    whenEmpty: (of) => of('ADMIN_EMAIL'),
  },
  {
    name: 'ACME_DIRECTORIES',
    default: 'letsencrypt=https://acme-v02.api.letsencrypt.org/directory',
    kind: 'list',
    readBy: ['control plane'],
    purpose:
      'ACME directories (RFC 8555) as name=address, separated by commas; the first is asked first, the next after ' +
      'three failures in a row',
  },
  {
    name: 'ACME_STAGING_DIRECTORY',
    default: 'https://acme-staging-v02.api.letsencrypt.org/directory',
    kind: 'text',
    readBy: ['control plane'],
    purpose: 'directory at which new sets of names are tried first (setting acme_staging_first); none = nowhere',
  },
  {
    name: 'ACME_EAB',
    default: '',
    kind: 'list',
    readBy: ['control plane'],
    isSecret: true,
    purpose:
      'external account bindings of directories that ask for one, as name=key id:HMAC key in base64url, separated by ' +
      'commas',
  },
  {
    name: 'ACME_CA_FILE',
    default: '',
    kind: 'path',
    readBy: ['control plane'],
    purpose: 'certificates (PEM) by which directories of your own are believed, beside those of the system',
  },
  {
    name: 'ACME_DNS_HOOK',
    default: '',
    kind: 'path',
    readBy: ['control plane'],
    purpose:
      'program for dns-01, called as PROGRAM present|cleanup _acme-challenge.NAME VALUE; it returns when the record ' +
      'can be seen; empty = no dns-01',
  },
] as const satisfies readonly EnvironmentVariable[];
