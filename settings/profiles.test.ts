import t from 'tap';
import { checkSettings, defaultSettings, enforcedNames, settingNames, type SettingName } from './index.js';
import { findProfile, profiles } from './profiles.js';

t.test('profiles are ordinary settings: possible, enforced, and each with its reason', async (t) => {
  t.same(
    profiles.map(({ name }) => name),
    ['rest-api', 'uploads', 'wordpress', 'graphql'],
  );
  for (const { name, title, summary, settings, why } of profiles) {
    const names = Object.keys(settings) as SettingName[];
    t.same(
      names.filter((one) => !settingNames.includes(one) || !enforcedNames.has(one)),
      [],
      `${name}: something enforces each of them`,
    );
    t.same(Object.keys(why).sort(), [...names].sort(), `${name}: each has its reason`);
    t.match({ title, summary }, { title: /./, summary: /./ });
    const checked = checkSettings({ ...defaultSettings(), ...settings });
    t.equal(checked.kind, 'fine', `${name} ${JSON.stringify(checked)}`);
    t.equal(findProfile(name)?.name, name);
  }
  t.equal(findProfile('nope'), null);
});
