// `gatehouse inspect` on rules and requests of its own.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { attack, engine, rules, setup } from '../testing/rule-command.js';
import { runInspect } from './inspect.js';

t.test('inspect writes one row for each request, in order', async (t) => {
  const { at } = setup(t);
  const requests = [
    { id: 'wire', wire_b64: Buffer.from(attack, 'latin1').toString('base64'), client_ip: '192.0.2.7' },
    {
      id: 'fields',
      method: 'POST',
      uri: '/',
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      body: 'q=no',
    },
    { id: 'answered', method: 'GET', uri: '/', headers: [], response: { status: 500, headers: [['A', 'b']] } },
    {
      id: 'reflected',
      method: 'POST',
      uri: '/reflect',
      headers: [['Content-Type', 'application/json']],
      body: '{"status":500}',
    },
    { id: 'empty' },
  ];
  const told: string[] = [];
  const { error } = console;
  console.error = (text: string): void => void told.push(text);
  t.teardown(() => void (console.error = error));
  const out = at('out.jsonl');
  const input = at('in.jsonl', `${requests.map((row) => JSON.stringify(row)).join('\n')}\nnot json\nnull\n[]\n`);
  t.equal(
    await runInspect(['--rules', at('r.conf', rules), '--requests', input, ...engine, '--reflect', '-o', out]),
    1,
    'U11: some rows cannot be inspected; they are written all the same',
  );
  t.same(told, [
    'gatehouse inspect: row 5: the row has neither wire_b64 nor method and uri',
    'gatehouse inspect: 4 of 8 rows could not be inspected; their `error` says why.',
  ]);
  const rows = readFileSync(out, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.equal(rows.length, 8);
  t.match(rows[0], {
    id: 'wire',
    matched_ids: [1],
    matched: [
      {
        id: 1,
        phase: 2,
        msg: 'seen REQUEST_METHOD',
        severity: 2,
        variable: 'REQUEST_METHOD',
        value: 'POST',
        tags: ['a/b'],
      },
    ],
    tx: { score: '5' },
    interruption: { rule_id: 1, action: 'deny', status: 403, phase: 2, data: '' },
    error: null,
  });
  t.match(rows[1], { id: 'fields', matched_ids: [], interruption: null, error: null });
  t.match(rows[2], { id: 'answered', matched_ids: [2] });
  t.match(rows[3], { id: 'reflected', matched_ids: [2] });
  t.match(rows[4], { id: 'empty', error: /neither wire_b64 nor/ });
  t.match(rows[5], { error: /not a JSON line/ });
  for (const row of rows.slice(6)) t.match(row, { error: /neither wire_b64 nor/ });
  t.ok(rows.every((row) => typeof row['us'] === 'number'));
});

t.test('inspect can stop early', async (t) => {
  const { at } = setup(t);
  const out = at('out.jsonl');
  const input = at('in.jsonl', JSON.stringify({ id: 1, wire_b64: Buffer.from(attack, 'latin1').toString('base64') }));
  await runInspect(['--rules', at('r.conf', rules), '--requests', input, ...engine, '--phases', '1', '-o', out]);
  t.match(JSON.parse(readFileSync(out, 'utf8')), { matched_ids: [], interruption: null });
});
