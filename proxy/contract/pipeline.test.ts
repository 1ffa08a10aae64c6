import t from 'tap';
import { settingNames } from '#settings';
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
