// The sensor in real applications: every flow is told when it is attacked, and nothing else is.
import t from 'tap';
import { attempts } from './testing/attempts.js';
import { startCollector } from './testing/collector.js';
import { pause, send, startApp } from './testing/started.js';

t.setTimeout(Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000);

for (const kind of ['http', 'fastify', 'koa'])
  t.test(`${kind}: each flow is confirmed, its harmless values and its safe twin are not told`, async (t) => {
    const collector = await startCollector();
    t.teardown(() => collector.close());
    const app = await startApp(kind, collector.url);
    t.teardown(() => app.close());
    const list = attempts(app.inner, app.directory);
    for (const attempt of list) {
      for (const value of [...attempt.harmless, attempt.attack]) await send(app.port, attempt, 'safe', value);
      for (const value of attempt.harmless) await send(app.port, attempt, 'unsafe', value);
    }
    await pause(400);
    t.strictSame(collector.events, [], 'nothing is told of what is harmless');
    for (const attempt of list) {
      const before = collector.events.length;
      const answer = await send(app.port, attempt, 'unsafe', attempt.attack);
      for (let turn = 0; turn < 2000 && collector.events.length === before; turn++) await pause(30);
      await pause(130); // one batch more, that it is told once
      const told = collector.events.slice(before);
      const name = `${attempt.flow} ${attempt.place}`;
      t.match(told, [{ attack_type: attempt.type, confirmed: true }], `${name}: ${answer}`);
      t.equal(told.length, 1, `${name} is told once`);
      t.match(told[0]?.file ?? '', /sensor\/testing\/(?:flows\.js|app\.js|calc\.cjs)$/, `${name}: where`);
      t.ok(
        told[0]?.stack.some((frame) => /flows\.js|calc\.cjs/.test(frame)),
        `${name}: by which flow`,
      );
      t.ok(told[0]?.proof['parameter']?.startsWith(attempt.place === 'form' ? 'body' : attempt.place), `${name}: from`);
    }
    t.strictSame(collector.wrong, []);
    t.strictSame(
      app.said.filter((line) => !line.includes('Warning')),
      [],
      'the sensor made no mistake',
    );
    t.ok(collector.beats.length > 0, 'it said that it lives');
  });
