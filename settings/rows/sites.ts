// The sites that are protected, and whose word about a client is believed.
import { Type } from '@sinclair/typebox';
import { Choice, closed, Flag, member, Network, OrNull, Path, setting, Shaped, Whole } from '../row.js';

const Site = Type.Object(
  {
    name: Shaped('^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$', 'begin with a letter or digit; then also blanks and . _ -'),
    prefix: member(
      Path({ default: '/' }),
      'path prefix, segment-aware: `/api` covers `/api` and `/api/…`, not `/apiary`',
    ),
    host: OrNull(
      Shaped('^[A-Za-z0-9_.*[\\]:-]+$', 'write the name only, such as shop.example.com', {
        minLength: 1,
        maxLength: 253,
      }),
      'host the site answers for, without port; null answers for any',
    ),
    upstream: member(
      Shaped('^https?://[^\\s@/]+(/[^\\s]*)?$', 'write it as http://host:port or https://host', {
        minLength: 1,
        maxLength: 2048,
      }),
      'where it leads; without a path the request path goes on unchanged, with one (even `/`) that replaces the prefix',
    ),
    protected: member(Flag(true), 'whether its requests are inspected'),
    mode: OrNull(Choice(['On', 'DetectionOnly'], 'On'), 'null follows the global mode'),
    fail_mode: member(Choice(['closed', 'open'], 'closed'), 'when inspection itself fails: closed 503, open forwards'),
    host_policy: member(
      Choice(['preserve', 'upstream'], 'preserve'),
      'the Host that the upstream sees: the one of the client, or its own',
    ),
    verify_upstream_certificate: Flag(true),
  },
  closed,
);

const config = 'proxy/contract/proxy-config.ts';

export const siteRows = {
  sites: setting(Type.Array(Site, { maxItems: 5000, default: [] }), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: config,
    description:
      'protected sites, the longest prefix wins; empty uses UPSTREAM_*. Their number is the licensed domain count',
  }),
  rl_trust_proxy: setting(Flag(false), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: config,
    description:
      'believe the listed proxies: the client address from X-Forwarded-For, and pass on what ' +
      'else they say of the client',
  }),
  rl_trusted_proxies: setting(Type.Array(Network(), { maxItems: 500, default: [], uniqueItems: true }), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: config,
    description: 'addresses or networks of those proxies',
  }),
  accept_request_id: setting(Flag(false), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: 'proxy/road/proxied-request.ts',
    description: 'take X-Request-Id from trusted proxies instead of making one',
  }),
  audit_request_body_bytes_max: setting(Whole(0, 1_048_576, 0), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: 'proxy/records/security-event.ts',
    description: 'of a request body in the audit log of a data-plane node; 0 writes none',
    unit: 'bytes',
  }),
  privacy_mode: setting(Flag(false), {
    access: 'admin',
    reach: ['data', 'control'],
    enforcedBy: 'proxy/main/data-plane.ts',
    description:
      'mask personal data (e-mail addresses, telephone numbers, IBANs, national ids, values of fields named after ' +
      'them) in what is stored of requests from now on: at the control plane at once, in the audit log of a node ' +
      'with the next apply. Credentials and card numbers are masked at the control plane in any case. Client ' +
      'addresses stay',
  }),
};
