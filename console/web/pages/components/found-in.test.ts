import t from 'tap';
import { isInPackage } from './found-in.js';

const cases: readonly (readonly [location: string, name: string, isIn: boolean])[] = [
  ['left@1.0.0', 'left', true],
  ['left@1.0.0 (package-lock.json)', 'left', true],
  ['left (package-lock.json)', 'left', true],
  ['left', 'left', true],
  ['Left@1.0.0', 'left', true],
  ['@shop/left@1.0.0', '@shop/left', true],
  ['left-pad@1.0.0', 'left', false],
  ['copyleft@1.0.0', 'left', false],
  ['@shop/left@1.0.0', 'left', false],
  ['src/left@2.png', 'left', false],
  ['left@1.0.0', '', false],
];

t.test('a finding is in a package of the whole name, in any version of it', async (t) => {
  for (const [location, name, isIn] of cases)
    t.equal(isInPackage(location, name), isIn, `${location} ${isIn ? 'is' : 'is not'} in ${name}`);
});
