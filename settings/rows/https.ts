// HTTPS of the sites: how browsers are led to it, and how certificates are ordered.
import { Flag, setting, Whole } from '../row.js';

const answers = 'proxy/road/https/https-answers.ts';

export const httpsRows = {
  https_redirect: setting(Flag(false), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: 'proxy/road/proxied-request.ts',
    description:
      'requests over plain HTTP for hosts that have a certificate are answered 308 with their address at https; ' +
      'hosts without one, and what a trusted proxy says came over https, are served as they come',
  }),
  https_port: setting(Whole(1, 65_535, 443), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: answers,
    description: 'port that clients see, for https_redirect; 443 is left out of addresses',
    under: 'https_redirect',
  }),
  hsts_max_age_seconds: setting(Whole(0, 63_072_000, 0), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: answers,
    description:
      'how long browsers are to ask for a host over HTTPS only (Strict-Transport-Security on answers over TLS, in ' +
      "place of the application's own); 0: the field is not sent",
    unit: 'seconds',
  }),
  hsts_include_subdomains: setting(Flag(false), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: answers,
    description: 'the same for all hosts below it (includeSubDomains)',
    under: 'hsts_max_age_seconds',
  }),
  https_automatic: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/certificates/wanted.ts',
    description: 'a certificate is ordered for the host of every site that has none; the host has to lead to the nodes',
  }),
  acme_staging_first: setting(Flag(true), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/certificates/work.ts',
    description:
      'the first certificate for a set of names is ordered at the staging directory and thrown away, so that a ' +
      'mistake costs nothing of the limits of the real one; without ACME_STAGING_DIRECTORY nothing is tried first',
  }),
};
