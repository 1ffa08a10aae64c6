import t from 'tap';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { upstreamDefaults } from '#proxy/contract';
import { defaultSettings } from '#settings';
import { variables, type Values } from '#settings/environment';
import { resolveProxy, upstreamsOf } from './proxy-config.js';
import { readSettings, settingsFile } from './settings-file.js';

const values = Object.fromEntries(variables.map((row) => [row.name, row.default])) as Values;

t.test('everybody has the same default upstreams', async (t) => {
  const expected = { customer: 'http://127.0.0.1:8000', payment: 'http://127.0.0.1:8000/payment' };
  t.same(upstreamsOf(values), expected);
  t.same(upstreamDefaults({}), expected);
  t.same(upstreamsOf({ ...values, UPSTREAM_PAYMENT: 'http://a', DEMO_PORT: '9' }), {
    customer: 'http://127.0.0.1:9',
    payment: 'http://a',
  });
  t.same(
    resolveProxy(defaultSettings(), values).sites.map(({ prefix, upstream }) => [prefix, upstream]),
    [
      ['/', expected.customer],
      ['/payment', expected.payment],
    ],
  );
});

t.test('a settings file, its notes, and a refusal with every place', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-settings-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'settings.json');
  writeFileSync(file, JSON.stringify({ categories: { xss: { excluded_paths: ['/a'] } } }));
  const notes: string[] = [];
  t.same(readSettings(file, (note) => notes.push(note)).categories.xss.path_exclusions, ['/a']);
  t.match(notes, [/\/categories\/xss\/excluded_paths is called path_exclusions now$/]);
  writeFileSync(file, JSON.stringify({ mode: 'Maybe', paranoia_levl: 1 }));
  t.throws(() => readSettings(file), {
    message: /cannot be used; nothing was changed:\n {2}\/paranoia_levl .*paranoia_level\n {2}\/mode must be one of/,
    exitCode: 1,
  });
});

t.test('24: a first settings file has match scoring on; a file that says nothing keeps it off', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-first-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  t.equal(readSettings(settingsFile(directory)).second_opinion, 'enforce');
  const file = join(directory, 'settings.json');
  writeFileSync(file, JSON.stringify({ mode: 'On', sites: [] }));
  t.equal(readSettings(settingsFile(directory)).second_opinion, 'off');
});
