// Variables of the data plane, its rule set and the bundled demo.
import type { EnvironmentVariable } from './variable.js';

const demoUrl = (of: (name: string) => string): string => `http://127.0.0.1:${of('DEMO_PORT')}`;

export const nodeVariables = [
  {
    name: 'WAF_PORT',
    default: '8080',
    kind: 'port',
    readBy: ['data plane', 'control plane'],
    purpose: 'the port that protects: point clients here',
  },
  {
    name: 'WAF_BIND',
    default: '0.0.0.0',
    kind: 'address',
    readBy: ['data plane'],
    purpose: 'address the protected port listens on',
  },
  {
    name: 'JA3_PORT',
    default: '8443',
    kind: 'port',
    readBy: ['data plane'],
    purpose: 'the same over TLS (HTTP/2 and HTTP/1.1), where clients have fingerprints (JA3, JA4); address: WAF_BIND',
  },
  {
    name: 'TLS_EDGE',
    default: 'on',
    kind: 'switch',
    readBy: ['data plane'],
    purpose: 'on, or off: nothing listens on JA3_PORT',
  },
  {
    name: 'TLS_CERTIFICATES',
    default: '',
    kind: 'path',
    readBy: ['data plane'],
    purpose:
      'folder of certificates and keys (PEM) for it, read again when it changes; empty = tls in GATEHOUSE_DATA; ' +
      'a self-signed one serves names that none is for',
  },
  {
    name: 'UPSTREAM_CUSTOMER',
    default: '',
    kind: 'url',
    readBy: ['data plane', 'control plane'],
    purpose:
      'the application to protect, such as http://127.0.0.1:3000; empty = the bundled demo shop; ' +
      'sites in the settings win',
    whenEmpty: demoUrl,
  },
  {
    name: 'UPSTREAM_PAYMENT',
    default: '',
    kind: 'url',
    readBy: ['data plane', 'control plane'],
    purpose: 'the application behind /payment; empty = the bundled demo payment service; sites in the settings win',
    whenEmpty: (of) => `${demoUrl(of)}/payment`,
  },
  {
    name: 'DEMO_PORT',
    default: '8000',
    kind: 'port',
    readBy: ['demo', 'data plane', 'control plane'],
    purpose: 'the bundled demo applications (127.0.0.1)',
  },
  {
    name: 'GATEHOUSE_ADMIN_PORT',
    default: '2019',
    kind: 'port',
    readBy: ['data plane', 'control plane'],
    purpose: "the data plane's admin interface (127.0.0.1)",
  },
  {
    name: 'GATEHOUSE_ADMIN_TOKEN',
    default: '',
    kind: 'secret',
    readBy: ['data plane', 'control plane'],
    generated: 'key',
    isSecret: true,
    purpose: 'bearer token of the admin interface, and between the two planes (then at least 32 characters)',
  },
  {
    name: 'DATA_WORKERS',
    default: '',
    kind: 'count',
    readBy: ['data plane'],
    purpose: 'worker threads; empty = one per available core',
  },
  {
    name: 'DATA_LISTENER',
    default: 'auto',
    kind: 'listener',
    readBy: ['data plane'],
    purpose: 'auto (= net), net (the own one), uws (uWebSockets.js) or node (node:http)',
  },
  {
    name: 'CRS_DIR',
    default: '',
    kind: 'path',
    readBy: ['data plane', 'control plane', 'commands'],
    purpose: 'an unpacked rule set on disk instead of the pinned release',
  },
  {
    name: 'GATEHOUSE_DATA',
    default: 'data',
    kind: 'path',
    readBy: ['data plane', 'control plane', 'commands'],
    purpose: 'where settings, artifacts, rules and logs are kept',
  },
  {
    name: 'GATEHOUSE_CONTROL_URL',
    default: '',
    kind: 'url',
    readBy: ['data plane', 'console'],
    purpose:
      'control plane that the data plane sends its records to; `up` sets it to the one it starts, empty = none; ' +
      'in a container (IN_CONTAINER) also the one that the console stands in front of',
  },
] as const satisfies readonly EnvironmentVariable[];
