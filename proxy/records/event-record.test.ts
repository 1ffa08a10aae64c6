import t from 'tap';
import type { SecurityEvent } from '../contract/index.js';
import { toEventRecord } from './event-record.js';
import { event } from './testing/samples.js';

t.test('records say what happened and keep credentials here', async (t) => {
  const message = {
    message: 'm',
    data: 'Matched: topsecret',
    severity: '2',
    file: 'f',
    lineNumber: 1,
    ver: '',
    rev: '',
    tags: [],
    maturity: '',
    accuracy: '',
  };
  const record = toEventRecord(
    event(1, {
      messages: [
        {
          ...message,
          ruleId: 942_100,
          match: "Matched \"Operator `detectSQLi'\" against variable `ARGS:password' (Value: `topsecret')",
        },
        { ...message, ruleId: 949_110, data: 'score', match: 'x' },
      ],
    }),
  );
  t.match(
    record,
    {
      rule_id: 942_100,
      verdict: 'block',
      kind: 'waf',
      details: { headers: [['Host', 'a'], ['Cookie'], ['User-Agent', 'curl'], ['Authorization']] },
    },
    'the rule that saw it, not the one that added up',
  );
  t.notMatch(JSON.stringify(record), /topsecret/);
  t.match(toEventRecord(event(2)), { rule_id: 949_110 });
  const told = (ruleId: number, severity: string) => ({ ...message, match: 'x', ruleId, severity });
  const blockedBy = (ruleId: number) => ({ ruleId, action: 'deny' as const, phase: 2 as const, status: 403 });
  const telling: [string, Partial<SecurityEvent>, number][] = [
    [
      'the gravest, not the first',
      { messages: [told(920_350, '4'), told(942_100, '2'), told(941_100, '2'), told(949_110, '0')] },
      942_100,
    ],
    [
      'the one that blocked by itself',
      { interruption: blockedBy(1_000_001), messages: [told(920_350, '4'), told(942_100, '2'), told(1_000_001, '')] },
      1_000_001,
    ],
    ['nothing blocked', { interruption: null, messages: [told(920_350, '4'), told(1_000_002, '')] }, 920_350],
    [
      'on the way out',
      { interruption: blockedBy(959_100), messages: [told(953_100, '3'), told(959_100, ''), told(980_170, '')] },
      953_100,
    ],
  ];
  for (const [name, more, ruleId] of telling) t.match(toEventRecord(event(3, more)), { rule_id: ruleId }, name);
});

t.test('SO9: events say what the second opinion was', async (t) => {
  const secondOpinion = {
    mode: 'monitor',
    decision: 'overrule',
    rules_score: 5,
    score: 0,
    threshold: 5,
    features: [
      { rule_id: 942_550, variable: 'ARGS:q', points: 5, support: 2, is_supported: false, signs: ['sql-syntax'] },
    ],
  } as const;
  t.match(toEventRecord(event(1, { secondOpinion })), { details: { second_opinion: secondOpinion } });
  t.notMatch(toEventRecord(event(1, {})), { details: { second_opinion: {} } });
});
