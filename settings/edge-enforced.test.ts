// E6: the protections at the edge are settings that something makes true; none answers `not enforced yet`.
import t from 'tap';
import { enforcedNames, settingNames } from './table.js';

const groups = /^(rl_|endpoint_limits$|flood_|attack_|challenge_|bot_|auth_|ti_|proxy_protocol$)/;

t.test('E6: every setting of limits, floods, attack mode, challenges, bots, sites and feeds is enforced', async (t) => {
  const names = settingNames.filter((name) => groups.test(name));
  for (const [group, least] of [
    ['rl_', 8],
    ['endpoint_limits', 1],
    ['flood_', 15],
    ['attack_', 5],
    ['challenge_', 4],
    ['bot_', 9],
    ['auth_', 5],
    ['ti_', 3],
  ] as const)
    t.ok(names.filter((name) => name.startsWith(group)).length >= least, `${group}: they are what is looked at`);
  t.same(
    names.filter((name) => !enforcedNames.has(name)),
    [],
  );
});
