// The sites that are protected, and whose word about a client is believed.
import { Type, type SchemaOptions } from '@sinclair/typebox';
import { Choice, closed, Flag, member, Network, OrNull, Path, setting, Shaped, Whole } from '../row.js';
import { siteRules } from './site-rules.js';

const upstreamShape = (options: SchemaOptions & { maxLength?: number }) =>
  Shaped('^(https?://[^\\s@/]+(/[^\\s]*)?)?$', 'write it as http://host:port or https://host', {
    maxLength: 2048,
    ...options,
  });

const Upstream = Type.Object(
  {
    url: member(upstreamShape({ minLength: 1 }), 'as `upstream`; all of a site have the same path'),
    weight: member(Whole(1, 1000, 1), 'requests that it gets, in proportion to the others'),
  },
  closed,
);

const HealthCheck = Type.Object(
  {
    path: member(
      Shaped('^(/[\\u0021\\u0022\\u0024-\\u007e]*)?$', 'write a path that begins with "/", or nothing', {
        maxLength: 1024,
        default: '',
      }),
      'path that is asked of every upstream with GET; empty asks nothing',
    ),
    interval_ms: member(Whole(100, 3_600_000, 10_000), 'time between two checks of an upstream', 'milliseconds'),
    timeout_ms: member(
      Whole(10, 600_000, 3000),
      'time a check has for its answer; beyond it it failed',
      'milliseconds',
    ),
    expected_status: member(
      Shaped('^[1-5][0-9]{2}(-[1-5][0-9]{2})?$', 'write a status or a range, such as 200 or 200-399', {
        default: '200-399',
      }),
      'status, or range of them, of an answer that is fine',
    ),
    unhealthy_after: member(Whole(1, 100, 2), 'failed checks in a row after which an upstream is down', 'checks'),
    healthy_after: member(Whole(1, 100, 2), 'good checks in a row after which it is up again', 'checks'),
    failures_max: member(
      Whole(0, 1000, 5),
      'requests in a row that it failed (no connection, no or no proper answer) after which it is left out; 0 never',
      'requests',
    ),
    ejection_ms: member(
      Whole(100, 3_600_000, 10_000),
      'time it is left out then; twice, three times … ten times as long when it fails again',
      'milliseconds',
    ),
  },
  { ...closed, default: {} },
);

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
      upstreamShape({ default: '' }),
      'where it leads; without a path the request path goes on unchanged, with one (even `/`) that replaces the ' +
        'prefix, unless strip_prefix says otherwise; may be left out where `upstreams` says it',
    ),
    strip_prefix: OrNull(
      Type.Boolean(),
      'true: the path of the upstream (or nothing) takes the place of the prefix; false: the whole request path goes ' +
        'behind it; null: true where the upstream has a path (`http://h:1/`), false where it has none (`http://h:1`)',
    ),
    upstreams: member(
      Type.Array(Upstream, { maxItems: 64, default: [] }),
      'several places that serve it, by turns and weight; those that are down are left out, and when all are, all ' +
        'are tried',
    ),
    health_check: member(HealthCheck, 'how it is known which of its upstreams are up'),
    protected: member(Flag(true), 'whether its requests are inspected'),
    mode: OrNull(Choice(['On', 'DetectionOnly'], 'On'), 'null follows the global mode'),
    fail_mode: member(Choice(['closed', 'open'], 'closed'), 'when inspection itself fails: closed 503, open forwards'),
    host_policy: member(
      Choice(['preserve', 'upstream'], 'preserve'),
      'the Host that the upstream sees: the one of the client, or its own',
    ),
    verify_upstream_certificate: Flag(true),
    ...siteRules,
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
  proxy_protocol: setting(Flag(false), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: 'proxy/worker/listening.ts',
    description:
      'connections of the trusted proxies begin with a PROXY header (version 1 or 2) that names the client, on the ' +
      'plain port and on that for TLS; one without is closed. Others must not send one. Not with DATA_LISTENER uws ' +
      'or node on the plain port',
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
