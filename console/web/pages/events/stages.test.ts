import t from 'tap';
import type { EventDetails, RuleMessage } from './event-text.js';
import { onceEach, outcomesOf, type StageState } from './stages.js';

const stages = [
  { name: 'take', kind: 'road' },
  { name: 'deny-list', kind: 'gate' },
  { name: 'flood-global', kind: 'gate' },
  { name: 'flood-burst', kind: 'gate' },
  { name: 'bots', kind: 'gate' },
  { name: 'request head', kind: 'rules' },
  { name: 'request body', kind: 'rules' },
  { name: 'forward', kind: 'road' },
  { name: 'response', kind: 'rules' },
];
const message = (rule_id: number, of: Partial<RuleMessage> = {}): RuleMessage => ({
  rule_id,
  message: '',
  data: '',
  match: '',
  severity: '',
  tags: [],
  file: '',
  line: 0,
  ...of,
});
const told = (details: EventDetails): string =>
  outcomesOf(stages, details)
    .map(({ state, rules }) => [state, ...rules].join(' '))
    .join(', ');

t.test('what each stage did with a request', async (t) => {
  t.equal(
    told({ phases: [1, 2, 5], interruption: { ruleId: 949_110, phase: 2, status: 403 } }),
    'passed, passed, passed, passed, passed, passed, decided 949110, unreached, unreached',
    'rules of the body stop it',
  );
  t.equal(
    told({ phases: [], interruption: { ruleId: 1_006_000, status: 403 }, messages: [message(1_006_000)] }),
    'passed, decided 1006000, unreached, unreached, unreached, unreached, unreached, unreached, unreached',
    'the first gate that has something to say stops it, and nothing behind it is reached',
  );
  t.equal(
    told({ phases: [1, 2, 3, 4, 5], messages: [message(1_006_400)] }),
    'passed, passed, passed, passed, noticed 1006400, passed, passed, passed, passed',
    'a gate that only counts is told, and the request went on',
  );
  const burst = message(1_006_100, { match: 'Matched the limit burst against variable' });
  t.equal(
    told({ phases: [], interruption: { ruleId: 1_006_100, status: 429 }, messages: [burst] }),
    'passed, passed, passed, decided 1006100, unreached, unreached, unreached, unreached, unreached',
    'of two gates with one rule the limit says which',
  );
  t.equal(
    told({ phases: [], interruption: { ruleId: 7, status: 403 } })
      .split(', ')
      .at(-1),
    'unknown',
    'what the event does not hold is not made up',
  );
});

t.test('27.2: each stage stands once, where it says most', async (t) => {
  const stage = (name: string, state: StageState) => ({ name, state, rules: [] });
  const all = [stage('head', 'passed'), stage('body', 'passed'), stage('body', 'decided'), stage('end', 'unreached')];
  t.same(
    onceEach(all).map(({ name, state }) => `${name} ${state}`),
    ['head passed', 'body decided', 'end unreached'],
  );
});
