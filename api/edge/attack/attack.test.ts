// Attack mode over the API: what nodes found is audited once, by the system, and shown with its numbers.
import t, { type Test } from 'tap';
import type { Database } from '../../db/client.js';
import { startTestApp } from '../../testing/app.js';
import { onBothDatabases } from '../../testing/databases.js';
import { createNodeGates } from '../node-gates.js';

async function suite(t: Test, database: Database): Promise<void> {
  const transitions: object[] = [];
  const attack = { mode: 'auto', active: false, rpm: 90, baselineRpm: 80, thresholdRpm: 600, learnedMinutes: 60 };
  const figures = () => ({
    decisions: [],
    zones: [],
    heavy: [],
    rateKeys: { keys: 0, keysMax: 64, evicted: 0 },
    crawlers: [],
    siteKeys: { url: '', fetchedAtMs: 0, wantedAtMs: 0 },
    attack: { ...attack, transitions },
  });
  const nodeGates = createNodeGates(['http://node-a', 'http://node-b'], {
    ask: async (url, _method, path) => (url === 'http://node-a' && path === '/gates' ? figures() : null),
  });
  const at = await startTestApp(database, { nodeGates });
  const { token } = await at.user('viewer');
  const job = at.jobs.find(({ name }) => name === 'attack-mode');
  const round = () => job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  const get = async (url: string) => (await at.call('GET', url, { token })).body;

  t.equal(await round(), 'nothing new');
  const nowMs = at.clock.nowMs;
  const enter = { kind: 'enter', atMs: nowMs - 5000, rpm: 4000, baselineRpm: 80, thresholdRpm: 600, cause: 'rate' };
  transitions.push(enter);
  attack.active = true;
  t.equal(await round(), '1 changes of attack mode');
  t.equal(await round(), 'nothing new', 'each is audited once');
  transitions.push({ ...enter, kind: 'leave', atMs: nowMs, rpm: 100 });
  t.equal(await round(), '1 changes of attack mode');
  const shown = await get('/api/attack-mode');
  t.match(shown, {
    mode: 'off',
    active: true,
    spike_factor: 3,
    min_rpm: 600,
    nodes: [
      { node: 'http://node-a', answers: true, mode: 'auto', requests_per_minute: 90, threshold_rpm: 600 },
      { node: 'http://node-b', answers: false, mode: null, active: false },
    ],
    changes: [
      { change: 'leave', summary: 'http://node-a left attack mode: 100 requests per minute' },
      { change: 'enter', rpm: 4000, threshold_rpm: 600, at: new Date(nowMs - 5000).toISOString() },
    ],
  });
  const admin = await at.user('admin');
  const audit = (await at.call('GET', '/api/audit?action=attack.enter', { token: admin.token })).body;
  t.match(audit, { items: [{ actor: 'system', summary: /is under attack: 4000 requests per minute/ }] });
  t.equal(audit['items'].length, 1);
  t.equal((await at.call('GET', '/api/attack-mode')).status, 401);
  await at.close();
}

t.test('1: attack mode over the API', (t) => onBothDatabases(t, 'attack', suite));
