// Variables of the control plane: where it listens, who logs in first, which nodes it feeds, whom it may call.
import type { EnvironmentVariable } from './variable.js';

export const controlPlaneVariables = [
  {
    name: 'UI_PORT',
    default: '3010',
    kind: 'port',
    readBy: ['console'],
    purpose: 'the console in a browser (address: ADMIN_BIND)',
  },
  {
    name: 'CONSOLE_TOKEN',
    default: '',
    kind: 'secret',
    readBy: ['control plane', 'console'],
    generated: 'key',
    isSecret: true,
    purpose: 'by which the control plane knows the console, and believes it whom it speaks for',
  },
  {
    name: 'API_PORT',
    default: '8095',
    kind: 'port',
    readBy: ['control plane', 'console'],
    purpose: 'the control-plane interface',
  },
  {
    name: 'ADMIN_BIND',
    default: '127.0.0.1',
    kind: 'address',
    readBy: ['control plane', 'console'],
    purpose: 'address of the console and the control plane; 0.0.0.0 = reachable from the network',
  },
  {
    name: 'ADMIN_EMAIL',
    default: 'admin@gatehouse.local',
    kind: 'email',
    readBy: ['control plane'],
    purpose: 'first login',
  },
  {
    name: 'ADMIN_INITIAL_PASSWORD',
    default: '',
    kind: 'secret',
    readBy: ['control plane'],
    generated: 'password',
    isSecret: true,
    purpose: 'its password, to be changed after the first login',
  },
  {
    name: 'AUTH_SESSION_SECRET',
    default: '',
    kind: 'key',
    readBy: ['control plane'],
    generated: 'key',
    isSecret: true,
    purpose: 'key that signs session tokens; changing it ends every session',
  },
  {
    name: 'SETTINGS_ENCRYPTION_SECRET',
    default: '',
    kind: 'key',
    readBy: ['control plane'],
    generated: 'key',
    isSecret: true,
    purpose: 'key for secrets at rest; losing it loses the stored secrets',
  },
  {
    name: 'DATA_ADMIN_TOKEN',
    default: '',
    kind: 'key',
    readBy: ['control plane'],
    isSecret: true,
    purpose: 'token between the two planes as the control plane names it; empty = GATEHOUSE_ADMIN_TOKEN',
    whenEmpty: (of) => of('GATEHOUSE_ADMIN_TOKEN'),
  },
  {
    name: 'DATA_ADMIN_URLS',
    default: '',
    kind: 'urlsOrNone',
    readBy: ['control plane'],
    purpose:
      'admin interfaces of all data-plane nodes, separated by commas; none = no node but those that enrol, ' +
      'and the first of them gets the saved settings; empty = the one started here',
    whenEmpty: (of) => `http://127.0.0.1:${of('GATEHOUSE_ADMIN_PORT')}`,
  },
  {
    name: 'NODES_PORT',
    default: '',
    kind: 'port',
    readBy: ['control plane'],
    purpose:
      'port where nodes on other machines enrol and connect (TLS, certificates of our own CA), such as 8096; ' +
      'empty = nowhere',
  },
  {
    name: 'NODES_BIND',
    default: '0.0.0.0',
    kind: 'address',
    readBy: ['control plane'],
    purpose: 'address that NODES_PORT listens on',
  },
  {
    name: 'NODES_URLS',
    default: '',
    kind: 'urls',
    readBy: ['control plane'],
    purpose:
      'where nodes reach NODES_PORT of every control plane, such as https://a.example.org:8096, separated by commas; ' +
      'empty = where they joined',
  },
  {
    name: 'DATA_DIR',
    default: '',
    kind: 'path',
    readBy: ['control plane'],
    purpose: 'embedded database and artifacts of the control plane; empty = GATEHOUSE_DATA',
    whenEmpty: (of) => of('GATEHOUSE_DATA'),
  },
  {
    name: 'SETTINGS_IMPORT',
    default: '',
    kind: 'path',
    readBy: ['control plane'],
    purpose: 'local settings file that a new control plane begins with; `up` sets it to the one in GATEHOUSE_DATA',
  },
] as const satisfies readonly EnvironmentVariable[];

export const dashboardVariables = [
  {
    name: 'APP_BRAND',
    default: 'Gatehouse',
    kind: 'text',
    readBy: ['control plane', 'console'],
    purpose: 'name in the console, in the API explorer and in authenticator apps',
  },
  {
    name: 'APP_BRAND_SUB',
    default: 'WAAP',
    kind: 'text',
    readBy: ['console'],
    purpose: 'second word of the brand in the console',
  },
  {
    name: 'APP_TAGLINE',
    default: '',
    kind: 'text',
    readBy: ['console'],
    purpose: 'line below the name on the login page of the console',
  },
  {
    name: 'APP_LOGO',
    default: '',
    kind: 'path',
    readBy: ['console'],
    purpose: 'logo of the console and its icon: an SVG or PNG of 256 KiB at most; empty = the built-in one',
  },
  {
    name: 'APP_ACCENT',
    default: '',
    kind: 'text',
    readBy: ['console'],
    purpose: 'colour of buttons, links and marks in the console, such as #3f51b5; empty = the built-in one',
  },
  {
    name: 'PUBLIC_DEMO',
    default: '1',
    kind: 'flag',
    readBy: ['control plane'],
    purpose: '1 = everyone who reaches the console may try attacks at /demo, in a sandbox without a login; 0 = off',
  },
] as const satisfies readonly EnvironmentVariable[];

export const outgoingVariables = [
  {
    name: 'API_TRUSTED_PROXIES',
    default: '',
    kind: 'list',
    readBy: ['control plane'],
    purpose:
      'addresses whose X-Forwarded-For the control plane believes: those of a proxy in front of it, such as ' +
      '127.0.0.1; empty = none, each connection counts as its own address',
  },
  {
    name: 'OUTBOUND_ALLOW',
    default: '',
    kind: 'list',
    readBy: ['control plane'],
    purpose:
      'private addresses, networks or names that outgoing calls of the control plane may reach, separated by commas',
  },
  {
    name: 'CHROMIUM',
    default: '',
    kind: 'text',
    readBy: ['control plane'],
    purpose:
      'path of the Chromium that active scans open pages with scripts in; empty = the one on the path, none = no ' +
      'browser (docs/active-scans.md)',
  },
  {
    name: 'BREACHED_PASSWORDS_URL',
    default: 'https://api.pwnedpasswords.com/range/',
    kind: 'url',
    readBy: ['control plane'],
    purpose: 'range service for breached passwords (only five characters of a hash are sent)',
  },
  {
    name: 'TOR_EXITS_URL',
    default: 'https://check.torproject.org/torbulkexitlist',
    kind: 'url',
    readBy: ['control plane'],
    purpose: 'list of exit nodes of the Tor network',
  },
  {
    name: 'MMDB_COUNTRY_FILE',
    default: '',
    kind: 'path',
    readBy: ['control plane'],
    purpose: 'MMDB file by which security events get the country of their client; empty = none (docs/events.md)',
  },
  {
    name: 'MMDB_NETWORK_FILE',
    default: '',
    kind: 'path',
    readBy: ['control plane'],
    purpose: 'the same for its network (autonomous system)',
  },
  {
    name: 'IN_CONTAINER',
    default: '',
    kind: 'flag',
    readBy: ['control plane', 'data plane', 'console', 'demo', 'commands'],
    purpose:
      '1 inside the container image: everything listens on every address of the container, on the ports that Compose ' +
      'publishes: the control plane on 8090, the console on 3010, the data plane on 8080, 8443 and 2019',
  },
  {
    name: 'LOG_LEVEL',
    default: 'info',
    kind: 'logLevel',
    readBy: ['control plane'],
    purpose: 'of the control plane: fatal, error, warn, info, debug, trace or silent',
  },
] as const satisfies readonly EnvironmentVariable[];
