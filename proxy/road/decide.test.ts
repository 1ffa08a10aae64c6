import t from 'tap';
import { decide, decideOnFailure } from './decide.js';

t.test('decisions', async (t) => {
  const interruption = { ruleId: 1, action: 'deny', status: 403, phase: 2, data: '' } as const;
  t.equal(decide(null, 'On'), 'forward');
  t.equal(decide(interruption, 'On'), 'block');
  t.equal(decide(interruption, 'DetectionOnly'), 'flag');
  t.equal(decideOnFailure('closed'), 'block');
  t.equal(decideOnFailure('open'), 'forward');
});
