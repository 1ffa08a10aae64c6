// A13: whatever a rule makes of a credential, no record shows it: rules as their authors write them, by both engines.
import t from 'tap';
import { createMemoryStore, type Inspector } from '#engine';
import { createMemoryCache, createPair } from '#compiler/testing/rule-text';
import type { EventMessage } from '../contract/index.js';
import { maskDetails } from '../masking/mask.js';
import { DocumentSecrets } from './made-of-secrets.js';
import { toEventMessage } from './security-event.js';

const secret = 'hunter2Zq';
const encodings = [
  secret,
  secret.toLowerCase(),
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  secret.slice(0, 5),
  secret.slice(3),
];

function messagesOf(inspector: Inspector): EventMessage[] {
  const head = {
    method: 'POST',
    uri: `/login?password=${secret}&q=lamp&note=4111111111111111`,
    protocol: 'HTTP/1.1',
    headers: [
      ...['Host', 'h', 'Authorization', `Bearer ${secret}`, 'Cookie', `sid=${secret}`],
      ...['Content-Type', 'application/x-www-form-urlencoded'],
    ],
    clientIp: '192.0.2.7',
    clientPort: 1,
    serverIp: '192.0.2.80',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, Buffer.from(`user=maria&password=${secret}`));
  return maskDetails(
    inspector.finish(transaction).matched.map((matched) => toEventMessage(matched, ['rules.conf'])),
    'secrets',
  );
}

const cache = createMemoryCache();
async function shown(rules: string): Promise<EventMessage[][]> {
  const pair = await createPair(`SecRuleEngine On\nSecRequestBodyAccess On\n${rules}\n`, cache);
  try {
    return [pair.oracle, ...pair.variants.map(({ inspector }) => inspector)].map(messagesOf);
  } finally {
    pair.release();
  }
}

const log = "logdata:'%{TX.zz}'";
const rows: readonly string[] = [
  'SecRule ARGS:password "@rx ." "id:1,phase:2,pass,log,t:none,msg:\'saw %{MATCHED_VAR}\'"',
  'SecRule ARGS:password "@rx ." "id:1,phase:2,pass,log,t:hexEncode,logdata:\'%{MATCHED_VAR}\'"',
  'SecRule ARGS:password "@rx ." "id:1,phase:2,pass,log,t:base64Encode,tag:\'x/%{MATCHED_VAR}\'"',
  `SecRule ARGS:password "@rx ." "id:1,phase:2,pass,nolog,t:none,setvar:'tx.zz=%{MATCHED_VAR}'"
SecRule REQUEST_METHOD "@streq POST" "id:2,phase:2,pass,log,t:none,${log}"`,
  `SecRule ARGS:password "@rx ." "id:1,phase:2,pass,nolog,t:hexEncode,setvar:'tx.yy=%{MATCHED_VAR}'"
SecRule REQUEST_METHOD "@streq POST" "id:2,phase:2,pass,nolog,t:none,setvar:'tx.zz=a-%{TX.yy}-b'"
SecRule REQUEST_METHOD "@streq POST" "id:3,phase:2,pass,log,t:none,msg:'%{TX.zz}',tag:'%{tx.zz}'"`,
  `SecAction "id:1,phase:2,pass,nolog,setvar:'tx.zz=%{ARGS.password}'"
SecRule TX:zz "@rx (.)(.*)" "id:2,phase:2,pass,log,capture,t:none,logdata:'%{TX.1} %{TX.2}'"`,
  `SecAction "id:1,phase:1,pass,log,logdata:'%{REQUEST_HEADERS.authorization}',msg:'%{REQUEST_COOKIES.sid}'"`,
  `SecRule ARGS:password "@rx ^(.{5})(.*)$" "id:1,phase:2,pass,log,capture,t:none,logdata:'%{TX.1}|%{TX.2}'"`,
  `SecRule REQUEST_BODY "@rx password=(.*)" "id:1,phase:2,pass,log,capture,t:none,logdata:'%{TX.1}',msg:'%{TX.1}'"`,
  'SecRule REQUEST_BODY "@rx ." "id:1,phase:2,pass,log,t:hexEncode,logdata:\'%{MATCHED_VAR}\'"',
  'SecRule QUERY_STRING "@rx ." "id:1,phase:1,pass,log,t:base64Encode"',
  'SecRule FULL_REQUEST "@rx ." "id:1,phase:2,pass,log,t:hexEncode"',
  `SecRule REQUEST_HEADERS:Authorization "@rx (\\S+)$" "id:1,phase:1,pass,nolog,capture,t:none,setvar:tx.zz=%{TX.1}"
SecRule TX:zz "@rx ." "id:2,phase:1,pass,log,t:none,${log}"`,
  `SecRule ARGS:password "@rx ." "id:1,phase:2,pass,nolog,t:none,setvar:'tx.k_%{MATCHED_VAR}=1'"
SecRule TX:/^k_/ "@rx ." "id:2,phase:2,pass,log,t:none,logdata:'%{MATCHED_VAR_NAME}'"`,
  `SecRule ARGS:password "@rx ." "id:1,phase:2,pass,log,chain,t:none"
  SecRule MATCHED_VAR "@rx ." "t:hexEncode"`,
  `SecRule ARGS:password "@rx ." "id:1,phase:2,pass,log,chain,t:none,logdata:'%{MATCHED_VARS}'"
  SecRule REQUEST_METHOD "@rx ." "t:none"`,
  `SecRule ARGS "@rx ." "id:1,phase:2,pass,log,t:none,logdata:'%{ARGS}'"`,
  `SecRule ARGS:password "@rx ." \\
    "id:1,phase:2,pass,nolog,t:none,logdata:'%{ARGS.password}',setvar:'tx.zz=%{RULE.logdata}'"
SecAction "id:2,phase:2,pass,log,${log}"`,
  `SecAction "id:1,phase:2,pass,nolog,setenv:'zz=%{ARGS.password}'"
SecAction "id:2,phase:2,pass,log,logdata:'%{ENV.zz}'"`,
  `SecAction "id:1,phase:1,pass,nolog,initcol:ip=%{REMOTE_ADDR}"
SecAction "id:3,phase:1,pass,nolog,setvar:'ip.zz=%{REQUEST_HEADERS.authorization}'"
SecRule IP:zz "@rx ." "id:2,phase:1,pass,log,t:none,logdata:'%{IP.zz}'"`,
  `SecAction "id:1,phase:1,pass,nolog,setsid:%{REQUEST_COOKIES.sid}"
SecAction "id:2,phase:1,pass,log,logdata:'%{SESSIONID}'"`,
  'SecRule REQUEST_COOKIES "@rx ." "id:1,phase:1,pass,log,t:md5,t:hexEncode"',
];

t.test('A13: what rules make of a credential is in no record', async (t) => {
  for (const rules of rows)
    for (const messages of await shown(rules)) {
      t.ok(messages.length > 0, `${rules}: something was logged`);
      const text = JSON.stringify(messages);
      for (const encoding of encodings) t.notOk(text.includes(encoding), `${rules}: no ${encoding} in ${text}`);
    }
  const [hash] = await shown(rows.at(-1) as string);
  t.match(hash?.[0]?.match, /\(Value: `\(?[x(]/, 'nor a hash of it');
  const [card] = await shown(
    'SecRule ARGS:note "@rx ^(.{8})(.*)" "id:1,phase:2,pass,log,capture,logdata:\'%{TX.1}-%{TX.2}\'"',
  );
  t.equal(card?.[0]?.data, '(masked)', 'parts of a card number are no parts of a word');
});

t.test('A13: what has nothing to do with credentials is shown as before', async (t) => {
  for (const [rules, data, match] of [
    ['SecRule ARGS:q "@rx la(.*)" "id:1,phase:2,pass,log,capture,t:none,logdata:\'%{TX.1}\'"', 'mp', /`lamp'/],
    ['SecRule ARGS:q "@rx ." "id:1,phase:2,pass,log,t:hexEncode,logdata:\'%{MATCHED_VAR}\'"', '6c616d70', /6c616d70/],
    [
      `SecRule ARGS:q "@rx ." "id:1,phase:2,pass,nolog,setvar:'tx.zz=%{MATCHED_VAR}'"
SecRule TX:zz "@rx ." "id:2,phase:2,pass,log,t:none,${log}"`,
      'lamp',
      /TX:zz' \(Value: `lamp'/,
    ],
    ['SecAction "id:1,phase:1,pass,log,logdata:\'%{REQUEST_METHOD} %{REMOTE_ADDR}\'"', 'POST 192.0.2.7', /SecAction/],
    [
      'SecRule ARGS:q "@rx l" "id:949110,phase:2,pass,log,capture,logdata:\'Data: %{TX.0} in %{MATCHED_VAR_NAME}\'"',
      'Data: l in ARGS:q',
      /lamp/,
    ],
  ] as const)
    for (const messages of await shown(rules)) {
      t.equal(messages[0]?.data, data, rules);
      t.match(messages[0]?.match, match, rules);
    }
});

/** Each a document, and whether what is quoted of it is to be seen. */
const documents: readonly (readonly [string, boolean])[] = [
  [`<login><user>bob</user><password>${secret}</password></login>`, false],
  [`<login><user>bob</user><w:Password t="x">${secret}</w:Password></login>`, false],
  [`<login><user>bob</user><password><![CDATA[${secret}]]></password></login>`, false],
  [
    `<login><user>bob</user><password>${secret.replace('t', '&#116;').replace('2', '&#x32;')}</password></login>`,
    false,
  ],
  [`<login user="bob" apiKey="${secret}"/>`, false],
  [`<login><note>${secret}</note><password>another</password></login>`, true],
];

t.test('A13: texts of elements of secret names, which rules call XML:/*', async (t) => {
  const rule =
    '"@rx (?i)hunter" "id:1,phase:2,pass,log,t:lowercase,capture,msg:\'saw %{TX.0}\',logdata:\'%{MATCHED_VAR}\'"';
  const rules =
    'SecRuleEngine On\nSecRequestBodyAccess On\n' +
    'SecRule REQUEST_METHOD "@streq POST" "id:2,phase:1,pass,nolog,ctl:requestBodyProcessor=XML"\n' +
    `SecRule XML:/*|XML://@* ${rule}\n`;
  const pair = await createPair(rules, cache);
  t.teardown(() => pair.release());
  for (const inspector of [pair.oracle, ...pair.variants.map((variant) => variant.inspector)]) {
    for (const [document, isShown] of documents) {
      const body = Buffer.from(document);
      const headers = ['Host', 'h', 'Content-Type', 'text/xml'];
      const peer = { clientIp: '192.0.2.7', clientPort: 1, serverIp: '192.0.2.80', serverPort: 80 };
      const head = { method: 'POST', uri: '/', protocol: 'HTTP/1.1', headers, ...peer };
      const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
      inspector.requestHeaders(transaction);
      inspector.requestBody(transaction, body);
      const { matched } = inspector.finish(transaction);
      t.ok(matched.length > 0, document);
      const messages = matched.map((one) => toEventMessage(one, ['rules.conf'], new DocumentSecrets(body)));
      t.equal(/hunter/i.test(JSON.stringify(maskDetails(messages, 'secrets'))), isShown, document);
    }
  }
});
