import t from 'tap';
import { settingNames, settingRows } from '#settings';
import { gates } from '../admit/index.js';
import { pipeline } from './pipeline.js';

t.test('8: what people are shown is the table of gates, in its order, with settings that exist', async (t) => {
  const shown = pipeline.filter(({ kind }) => kind === 'gate').map(({ name, appliesTo }) => ({ name, appliesTo }));
  t.strictSame(
    shown,
    gates.map(({ name, appliesTo }) => ({ name, appliesTo })),
  );
  const known = new Set<string>(settingNames);
  for (const { name, settings } of pipeline)
    t.strictSame(
      settings.filter((setting) => !known.has(setting)),
      [],
      name,
    );
});

t.test('E10.1: every setting that decides over a request is at the stage where it does', (t) => {
  // folders and files of the road whose settings refuse a request, let it through or change what the client gets
  const deciding = /^proxy\/(admit|graphql|schema|response-mask)\/|^proxy\/road\/(route|websocket-messages)\.ts$/;
  const shown = new Set(pipeline.flatMap(({ settings }) => settings));
  const decisive = settingNames.filter((name) => deciding.test(settingRows[name]['x-enforced-by'] ?? ''));
  t.ok(decisive.length > 40, `${decisive.length} settings are looked at`);
  t.strictSame(
    decisive.filter((name) => !shown.has(name)),
    [],
  );
  t.end();
});
