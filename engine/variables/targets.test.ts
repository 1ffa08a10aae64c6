import t from 'tap';
import { createBodySink } from '../body/empty-sink.js';
import { Collection } from '../transaction/collection.js';
import { bindExclusion, bindTarget, fullName, visitTarget } from './targets.js';
import { target } from '../testing/program.js';
import { defaultEngineSettings } from '../program/ir.js';
import type { TargetIR } from '../program/ir.js';
import { createMemoryStore } from '../transaction/memory-store.js';
import { Transaction } from '../transaction/transaction.js';
import { variables } from './index.js';

function fill(collection: Collection, pairs: readonly (readonly [string, string])[]): void {
  for (const [name, value] of pairs) collection.add(name, value);
}

/** A transaction in phase 5 of a rich request. */
function sample(): Transaction {
  const transaction = new Transaction();
  transaction.body = createBodySink();
  transaction.requestCookies = new Collection();
  transaction.settings = { ...defaultEngineSettings, webAppId: 'shop' };
  transaction.environment = {
    uniqueId: 'abc',
    nowMs: Date.UTC(2026, 1, 3, 4, 5, 6),
    store: createMemoryStore(),
    elapsedMs: () => 12.4,
  };
  transaction.request = {
    method: 'POST',
    uri: '/a/b.php?x=1',
    protocol: 'HTTP/1.1',
    headers: [],
    clientIp: '192.0.2.1',
    clientPort: 1000,
    serverIp: '192.0.2.9',
    serverPort: 8080,
  };
  transaction.requestFilename = '/a/b.php';
  transaction.requestBasename = 'b.php';
  transaction.requestUri = '/a/b.php?x=1';
  transaction.queryString = 'x=1';
  transaction.phase = 5;
  fill(transaction.argsGet, [
    ['id_a', '1'],
    ['Other', '2'],
  ]);
  fill(transaction.body.argsPost, [['id_b', '333']]);
  fill(transaction.requestHeaders, [
    ['Host', 'shop.test:81'],
    ['X-A', 'v'],
    ['Authorization', `Basic ${Buffer.from('ann:pw').toString('base64')}`],
  ]);
  fill(transaction.requestCookies, [['sid', 'c']]);
  fill(transaction.body.files, [['up', 'f.txt']]);
  fill(transaction.body.filesSizes, [
    ['up', '10'],
    ['up2', '5'],
  ]);
  transaction.body.xmlText.push('text');
  transaction.body.xmlAttributes.push('attribute');
  transaction.body.multipartFlags.set('MULTIPART_LF_LINE', '1');
  transaction.requestBody = Buffer.from('id_b=333');
  transaction.requestBodyProcessor = 'URLENCODED';
  transaction.response = { status: 404, protocol: 'HTTP/1.1', headers: [] };
  transaction.responseBody = Buffer.from('page');
  transaction.tx.set('score', '5');
  transaction.tx.set('score_pl1', '3');
  return transaction;
}

function read(transaction: Transaction, ir: TargetIR, exclusions: readonly TargetIR[] = []): string[] {
  const seen: string[] = [];
  visitTarget(bindTarget(ir), exclusions.map(bindExclusion), transaction, (variable, key, value) =>
    seen.push(`${fullName(variable, key)}=${value}`),
  );
  return seen;
}

const table: readonly (readonly [
  what: string,
  target: TargetIR,
  expected: readonly string[],
  exclusions?: readonly TargetIR[],
])[] = [
  ['ARGS is GET, then POST', target('ARGS'), ['ARGS:id_a=1', 'ARGS:Other=2', 'ARGS:id_b=333']],
  [
    'names are values',
    target('ARGS_NAMES'),
    ['ARGS_NAMES:id_a=id_a', 'ARGS_NAMES:Other=Other', 'ARGS_NAMES:id_b=id_b'],
  ],
  ['selectors ignore case', target('ARGS', 'OTHER'), ['ARGS:Other=2']],
  ['headers too', target('REQUEST_HEADERS', 'x-a'), ['REQUEST_HEADERS:X-A=v']],
  ['regex selectors search caselessly', target('ARGS', /^ID_/), ['ARGS:id_a=1', 'ARGS:id_b=333']],
  ['count', target('ARGS', null, true), ['ARGS=3']],
  ['count of a name that is not there', target('ARGS', 'nope', true), ['ARGS:nope=0']],
  ['count of a scalar', target('REQUEST_METHOD', null, true), ['REQUEST_METHOD=1']],
  ['exclusion by name', target('ARGS'), ['ARGS:id_a=1', 'ARGS:id_b=333'], [target('ARGS', 'other')]],
  ['exclusion by regex', target('ARGS'), ['ARGS:Other=2'], [target('ARGS', /^id_/)]],
  ['exclusion of the whole variable', target('ARGS'), [], [target('ARGS')]],
  [
    'an exclusion names its own variable',
    target('ARGS_NAMES', 'id_a'),
    ['ARGS_NAMES:id_a=id_a'],
    [target('ARGS', 'id_a')],
  ],
  ['a counted target is excluded as written', target('ARGS', null, true), [], [target('ARGS')]],
  ['TX by name', target('TX', 'SCORE'), ['TX:score=5']],
  ['TX by regex', target('TX', /^score/), ['TX:score=5', 'TX:score_pl1=3']],
  ['TX that is not set', target('TX', 'nope'), []],
  ['XML text', target('XML', '/*'), ['XML:/*=text']],
  ['XML attributes', target('XML', '//@*'), ['XML://@*=attribute']],
  ['other XPaths are empty', target('XML', '/a/b'), []],
  ['unknown variables are empty', target('NO_SUCH_VARIABLE'), []],
  ['sizes count names and values', target('ARGS_COMBINED_SIZE'), [`ARGS_COMBINED_SIZE=${'id_a1Other2id_b333'.length}`]],
  ['REQUEST_LINE', target('REQUEST_LINE'), ['REQUEST_LINE=POST /a/b.php?x=1 HTTP/1.1']],
  ['REQUEST_BODY of a form', target('REQUEST_BODY'), ['REQUEST_BODY=id_b=333']],
  ['REQUEST_BODY_LENGTH', target('REQUEST_BODY_LENGTH'), ['REQUEST_BODY_LENGTH=8']],
  ['FILES_COMBINED_SIZE', target('FILES_COMBINED_SIZE'), ['FILES_COMBINED_SIZE=15']],
  ['multipart flags default to 0', target('MULTIPART_DATA_AFTER'), ['MULTIPART_DATA_AFTER=0']],
  ['multipart flags', target('MULTIPART_LF_LINE'), ['MULTIPART_LF_LINE=1']],
  ['REMOTE_USER', target('REMOTE_USER'), ['REMOTE_USER=ann']],
  ['AUTH_TYPE', target('AUTH_TYPE'), ['AUTH_TYPE=Basic']],
  ['SERVER_NAME without port', target('SERVER_NAME'), ['SERVER_NAME=shop.test']],
  ['STATUS', target('STATUS'), ['STATUS=404']],
  ['RESPONSE_BODY', target('RESPONSE_BODY'), ['RESPONSE_BODY=page']],
  ['TIME is UTC', target('TIME'), ['TIME=04:05:06']],
  ['TIME_MON counts from 0', target('TIME_MON'), ['TIME_MON=1']],
  ['TIME_WDAY', target('TIME_WDAY'), ['TIME_WDAY=2']],
  ['DURATION', target('DURATION'), ['DURATION=12']],
  ['WEBAPPID', target('WEBAPPID'), ['WEBAPPID=shop']],
  ['HIGHEST_SEVERITY before any match', target('HIGHEST_SEVERITY'), ['HIGHEST_SEVERITY=255']],
];
for (const [what, ir, expected, exclusions] of table) t.same(read(sample(), ir, exclusions), expected, what);

t.test('REQUEST_BODY exists for forms and where it is forced, not beside another processor', (t) => {
  for (const [processor, forced, expected] of [
    ['URLENCODED', false, 'id_b=333'],
    ['JSON', false, ''],
    ['JSON', true, ''],
    ['', false, ''],
    ['', true, 'id_b=333'],
  ] as const) {
    const transaction = sample();
    transaction.requestBodyProcessor = processor;
    transaction.forceRequestBodyVariable = forced;
    t.same(
      read(transaction, target('REQUEST_BODY')),
      [`REQUEST_BODY=${expected}`],
      `${processor || 'no processor'}, forced ${forced}`,
    );
  }
  t.end();
});

t.test('values that a matching rule adds are not visited by it', (t) => {
  const transaction = sample();
  let visits = 0;
  visitTarget(bindTarget(target('TX', /./)), [], transaction, () => {
    visits += 1;
    transaction.tx.set(`score${visits}`, '');
  });
  t.equal(visits, 2);
  transaction.matchedVars.add('ARGS:a', 'x');
  visitTarget(bindTarget(target('MATCHED_VARS')), [], transaction, () => {
    visits += 1;
    transaction.matchedVars.clear();
    transaction.matchedVars.add('ARGS:b', 'y');
  });
  t.equal(visits, 3);
  t.end();
});

t.test('every variable of the table can be read and says when it is known', (t) => {
  for (const variable of variables.values()) {
    t.ok(variable.phase >= 1 && variable.phase <= 5, variable.name);
    t.doesNotThrow(() => read(sample(), target(variable.name)), variable.name);
  }
  t.ok(variables.size >= 95, `${variables.size} variables`);
  t.end();
});

t.test('names of members that were read out of a value are no names of files', async (t) => {
  const transaction = sample();
  transaction.argsGet.addPart('id_a.data.cvs', 'v', 'id_a');
  const names = read(transaction, target('ARGS_NAMES'));
  t.ok(names.includes('ARGS_NAMES:id_a.data.cvs=id_a-data-cvs'), names.join(' '));
  t.same(read(transaction, target('ARGS', 'id_a.data.cvs')), ['ARGS:id_a.data.cvs=v'], 'selectors name them as before');
});
