import t from 'tap';
import { sastRules } from '../../scanners/sast/rules/index.js';
import { weaknessName } from './names.js';

t.equal(weaknessName(89), 'SQL injection');
t.equal(weaknessName(4_000_000), null, 'no name is made up');
t.equal(weaknessName(0), null);
const nameless = [...new Set(sastRules.flatMap(({ cwes }) => cwes))].filter((number) => weaknessName(number) === null);
t.same(nameless, [], 'each weakness that our own scanner reports has a name');
