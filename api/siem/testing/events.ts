// Random events for tests, with what clients may put into them.
import fc from 'fast-check';
import { eventActions, type SecurityEvent } from '../event.js';

/** Texts of clients: the letters that formats give a meaning, line ends, NUL and characters of several bytes. */
const foreign = fc.string({
  maxLength: 40,
  unit: fc.constantFrom(
    'a',
    '=',
    '|',
    '\\',
    '"',
    ']',
    '[',
    '\n',
    '\r',
    '\u0000',
    ' ',
    'ü',
    '\u001b',
    '😀',
    '<',
    '\ufeff',
  ),
});
const address = fc.constantFrom('192.0.2.77', '2001:db8:1:2::77', '2001:db8:5::/64', '::ffff:198.51.100.9');

export const arbitraryEvent: fc.Arbitrary<SecurityEvent> = fc.record({
  schema: fc.constant('gatehouse.event/1' as const),
  id: fc.uuid(),
  kind: fc.constantFrom('waf', 'attack-mode', 'ban', 'verdict', 'alert', 'audit', 'vm', 'of a newer node'),
  at: fc
    .integer({ min: Date.parse('2020-01-01'), max: Date.parse('2040-01-01') })
    .map((ms) => new Date(ms).toISOString()),
  name: foreign,
  action: fc.constantFrom(...eventActions),
  severity: fc.integer({ min: 0, max: 10 }),
  node: fc.option(fc.constantFrom('node-1', 'Knoten ü', 'n'.repeat(300))),
  site: fc.option(foreign),
  client_ip: fc.option(address),
  request: fc.option(
    fc.record({
      id: fc.option(fc.uuid()),
      method: fc.constantFrom('GET', 'POST', 'PROPFIND', 'BREW'),
      path: foreign.map((text) => `/${text}`),
      query: fc.option(foreign),
      status: fc.integer({ min: 0, max: 599 }),
      user_agent: fc.option(foreign),
      host: fc.option(fc.oneof(foreign, fc.constantFrom('shop.example:8443', '[2001:db8::1]:80', 'a:99999', 'a b'))),
    }),
  ),
  rules: fc.array(
    fc.record({
      id: fc.integer({ min: 0, max: 9_999_999 }),
      message: foreign,
      tags: fc.array(fc.constantFrom('attack-sqli', 'OWASP_CRS', 'paranoia-level/1')),
      data: fc.option(foreign),
    }),
    { maxLength: 3 },
  ),
  score: fc.option(fc.integer({ min: 0, max: 200 })),
  reason: fc.option(foreign),
  details: fc.dictionary(fc.constantFrom('zone', 'offence', 'action', 'actor', 'actor_id'), foreign),
});

export const plainEvent: SecurityEvent = {
  schema: 'gatehouse.event/1',
  id: '6f1d5a52-1111-4222-8333-444455556666',
  kind: 'waf',
  at: '2026-03-01T12:00:00.123Z',
  name: 'SQL Injection Attack',
  action: 'blocked',
  severity: 7,
  node: 'node-1',
  site: 'shop',
  client_ip: '192.0.2.77',
  request: {
    id: 'req-1',
    method: 'GET',
    path: '/items',
    query: 'q=tiger-query',
    status: 403,
    user_agent: 'tiger-agent/1',
    host: 'shop.example',
  },
  rules: [{ id: 942_100, message: 'SQL Injection Attack', tags: ['attack-sqli'], data: 'q=tiger-query' }],
  score: 5,
  reason: 'deny',
  details: { phases: [1, 2], note: '192.0.2.77 sent tiger-query' },
};
