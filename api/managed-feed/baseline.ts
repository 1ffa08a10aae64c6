// The managed feed that comes with the program, for whoever switches mrf_enabled on and names no URL. Small on purpose:
// it holds what is right for every site, and nothing that ages between two releases (no list of today's attackers).
// - Networks from which no client on the internet can come. They show up where a client address is forged, in a
//   X-Forwarded-For that somebody trusts or by spoofing. Never private ones: behind a load balancer those ARE the
// clients. Nor networks for documentation (RFC 5737, 3849, 9637): examples and tests of operators use them,
//   and a forged address of theirs gains an attacker nothing.
// - Patches of our own catalogue against holes that are tried on every site whatever it runs, and whose shapes no
//   application uses (api/vpatch/catalog.test.ts holds all of the catalogue against recorded browsing).
import type { ManagedFeed } from './document.js';

/** 224.0.0.0/4 and 240.0.0.0/4 in the widest networks the list takes. */
const multicastAndReserved = Array.from({ length: 32 }, (_, index) => `${224 + index}.0.0.0/8`);

export const baselineFeed: ManagedFeed = {
  name: 'Gatehouse baseline',
  version: 2,
  issued: '2026-11-27T00:00:00Z',
  signed: false,
  networks: [
    '0.0.0.0/8', // "this network", RFC 791
    ...multicastAndReserved, // never a source: RFC 5771, RFC 1112
    '100::/64', // discard only, RFC 6666
  ],
  leftOut: [],
  catalogIds: [
    1007001, // Log4j 2
    1007002, // Spring Framework
    1007003, // Spring Cloud Function
    1007006, // Struts, upload header
    1007101, // Confluence, OGNL in the path
    1007151,
    1007152, // Apache httpd traversal
    1007163, // Shiro
    1007201, // PHPUnit
    1007202, // PHP-CGI
    1007207, // ThinkPHP
    1007208, // Laravel Ignition
    1007301, // Citrix ADC
    1007304, // F5 BIG-IP
    1007310, // Pulse Secure
    1007314, // FortiOS
    1007401, // Exchange
    1007404, // SharePoint
    1007421, // Grafana
    1007431, // Next.js
    1007433, // Bash
  ],
  patches: [],
};
