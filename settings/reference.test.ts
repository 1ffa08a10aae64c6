// docs/settings.md is the table of settings, always.
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { describeSettings, settingNames } from './index.js';

const page = new URL('../../docs/settings.md', import.meta.url);

t.test('the page has every setting, and nothing that is not so', async (t) => {
  const text = describeSettings();
  if (process.env['UPDATE'] === '1') writeFileSync(page, text);
  t.equal(readFileSync(page, 'utf8'), text, 'UPDATE=1 writes it anew');
  for (const name of settingNames) t.ok(text.includes(`| \`${name}\` |`), name);
});
