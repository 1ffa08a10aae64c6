import t from 'tap';
import type { Decision } from '../admit/decision.js';
import { decide, decideOnFailure, decideOnGate } from './decide.js';

t.test('decisions', async (t) => {
  const interruption = { ruleId: 1, action: 'deny', status: 403, phase: 2, data: '' } as const;
  t.equal(decide(null, 'On'), 'forward');
  t.equal(decide(interruption, 'On'), 'block');
  t.equal(decide(interruption, 'DetectionOnly'), 'flag');
  t.equal(decideOnFailure('closed'), 'block');
  t.equal(decideOnFailure('open'), 'forward');
});

t.test('decisions of gates', async (t) => {
  const rule = { id: 1, message: '', match: '', data: '', severity: '2', tags: [] };
  const deny: Decision = { kind: 'deny', status: 403, shape: 'page', rule };
  t.equal(decideOnGate(deny, 'On'), deny);
  t.equal(decideOnGate(deny, 'DetectionOnly'), null);
  for (const mode of ['On', 'DetectionOnly'] as const) t.equal(decideOnGate({ kind: 'flag', rule }, mode), null);
});
