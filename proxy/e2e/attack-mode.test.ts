// Attack mode on a running node: the rate of all workers, the baseline from disk, the cap, and what the node says.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startBackend, startPlane, testMsMax, until } from './harness.js';

interface Said {
  readonly attack: {
    readonly active: boolean;
    readonly rpm: number;
    readonly transitions: readonly { readonly kind: string; readonly thresholdRpm: number }[];
  };
}

t.setTimeout(testMsMax);

t.test('1: a flood puts the node into attack mode, and every client gets its cap', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-attack-'));
  const saved = { rpm: 10, samples: [10, 10, 10], day: 1, dayHigh: 10, highs: [] };
  await writeFile(join(dataDir, 'attack-baseline.json'), JSON.stringify(saved));
  const plane = await startPlane(
    t,
    'net',
    {
      sites: [{ name: 'shop', upstream: backend.url }],
      attack_mode: 'auto',
      attack_min_rpm: 50,
      attack_burst_events: 5,
      attack_burst_window: '1m',
    },
    { dataDir, resume: true },
  );
  const ask = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${plane.ports.http}/`);
    await response.arrayBuffer();
    return response.status;
  };
  const gates = async (): Promise<Said['attack']> => {
    const response = await fetch(`http://127.0.0.1:${plane.ports.admin}/gates`, {
      headers: { authorization: 'Bearer test-token' },
    });
    return ((await response.json()) as Said).attack;
  };
  t.match(await gates(), { mode: 'auto', active: false, baselineRpm: 10, thresholdRpm: 50, learnedMinutes: 3 });
  let isLimited = false;
  t.ok(await until(async () => (isLimited ||= (await ask()) === 429)), 'requests go on until the cap is there');
  const said = await gates();
  t.ok(said.active && said.rpm >= 50, JSON.stringify(said));
  t.match(said.transitions, [{ kind: 'enter', thresholdRpm: 50 }]);
  const metrics = await fetch(`http://127.0.0.1:${plane.ports.admin}/metrics`, {
    headers: { authorization: 'Bearer test-token' },
  });
  t.match(await metrics.text(), /^gatehouse_attack_mode_active 1$/m);
  await plane.stop();
  t.match(JSON.parse(await readFile(join(dataDir, 'attack-baseline.json'), 'utf8')), { rpm: 10 });
});
