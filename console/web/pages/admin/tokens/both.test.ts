// One list of tokens of both halves.
import t from 'tap';
import { keyOf, toRows, type FirewallToken, type ManagerToken } from './both.js';

t.test('23.1: tokens of both halves are one list, what opens something first', (t) => {
  const token = (id: string, created_at: string, revoked_at: string | null = null) => ({ id, created_at, revoked_at });
  const rows = toRows(
    [token('1', '2026-01-01T00:00:00Z'), token('2', '2026-03-01T00:00:00Z')] as FirewallToken[],
    [token('1', '2026-02-01T00:00:00Z'), token('2', '2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z')] as ManagerToken[],
  );
  t.same(rows.map(keyOf), ['firewall 2', 'manager 1', 'firewall 1', 'manager 2']);
  t.equal(new Set(rows.map(keyOf)).size, 4, 'the same number in both is two tokens');
  t.end();
});
