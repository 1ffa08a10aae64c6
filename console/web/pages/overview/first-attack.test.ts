import t from 'tap';
import { firstAttack } from './first-attack.js';

t.test('L4: the attack that `up` sends itself is not the first one that somebody sees', async (t) => {
  const own = {
    id: 1,
    details: {
      headers: [
        ['host', 'a'],
        ['User-Agent', 'gatehouse-start-check'],
      ],
    },
  };
  const curl = {
    id: 2,
    details: {
      headers: [
        ['host', 'a'],
        ['user-agent', 'curl/8.9.1'],
      ],
    },
  };
  const cases: readonly (readonly [string, readonly { id: number; details: unknown }[], number | undefined])[] = [
    ['nothing was blocked', [], undefined],
    ['only its own, at each start', [own, own], undefined],
    ['somebody attacked', [curl], 2],
    ['its own is the newest', [own, curl], 2],
    ['events without fields, or of another shape', [own, { id: 3, details: null }], 3],
    ['a field without a value', [{ id: 4, details: { headers: [['user-agent'], 7] } }], 4],
  ];
  for (const [what, events, expected] of cases) t.equal(firstAttack(events)?.id, expected, what);
});
