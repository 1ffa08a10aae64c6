// What a form of effects sends, and that an effect that was read is sent again as it is.
import t from 'tap';
import { draftOf, kinds, sentenceOfEffect, toDraft, toEffect, type Effect } from './effects.js';

t.test('each kind sends what it needs and nothing else', async (t) => {
  const typed = { value: ' x ', reason: ' why ', day: '2030-01-31' };
  for (const set of kinds) {
    const sent = toEffect({ ...draftOf(set, '2030-01-31'), ...typed });
    t.equal(sent.set, set);
    t.equal('value' in sent, !['mute', 'notice'].includes(set), `value of ${set}`);
    t.equal('reason' in sent, ['severity', 'status', 'mute'].includes(set), `reason of ${set}`);
    t.equal('until' in sent, set === 'mute', `end of ${set}`);
  }
  t.same(toEffect({ ...draftOf('tag', ''), value: ' tests ' }), { set: 'tag', value: 'tests' });
});

t.test('what is read is sent again as it was', async (t) => {
  const mute = toEffect({ ...draftOf('mute', '2030-01-31'), reason: 'old' });
  const cases: readonly Effect[] = [
    { set: 'tag', value: 'tests' },
    { set: 'severity', value: 'low', reason: 'r' },
    { set: 'status', value: 'false_positive', reason: 'r', justification: 'component_not_present' },
    { set: 'status', value: 'out_of_scope', reason: 'r' },
    mute,
    { set: 'notice' },
  ];
  for (const effect of cases) t.same(toEffect(toDraft(effect, '2029-01-01')), effect);
});

t.test('an effect is a sentence', async (t) => {
  const name = (id: string): string => `person ${id}`;
  t.equal(sentenceOfEffect({ set: 'assignee', value: '7' }, name), 'assigns to person 7');
  t.equal(sentenceOfEffect({ set: 'status', value: 'false_positive' }, name), 'makes it false positive');
  t.equal(sentenceOfEffect({ set: 'notice' }, name), 'sends a notice');
});
