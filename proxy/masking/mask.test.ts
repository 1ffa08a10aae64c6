import fc from 'fast-check';
import t from 'tap';
import { maskBody, maskDetails, maskHeaders, maskMatch, maskText, maskUri } from './mask.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('what must not be kept', async (t) => {
  const uris: readonly [string, string][] = [
    ['/a?q=lamp', '/a?q=lamp'],
    ['/a?password=hunter2&q=1', '/a?password=xxxxxxx&q=1'],
    ['/a?pass%77ord=hunter2', '/a?pass%77ord=xxxxxxx'],
    ['/a?user[token]=ab-12', '/a?user[token]=xx-xx'],
    ['/a?access_token=abc', '/a?access_token=xxx'],
    ['/pay/4111111111111111', '/pay/xxxxxxxxxxxxxxxx'],
    ['/pay/4111111111111112', '/pay/4111111111111112'],
    ['/a?card=4111 1111-11111111', '/a?card=xxxx xxxx-xxxxxxxx'],
    ['/a?q=4111%201111%201111%201111', '/a?q=xxxx%20xxxx%20xxxx%20xxxx'],
    ['/a?q=%204111111111111111', '/a?q=%20xxxxxxxxxxxxxxxx'],
    ['/a?q=1 4111 1111 1111 1111 123', '/a?q=1 xxxx xxxx xxxx xxxx 123'],
    ['/a?q=994111111111111111199', '/a?q=994111111111111111199'],
    ['/a?t=1763745381000', '/a?t=1763745381000'],
    ['/a?user%5Bpassword%5D=hunter2', '/a?user%5Bpassword%5D=xxxxxxx'],
    [
      '/a?password[]=hunter2&password[0]=ab&user[password][]=cd',
      '/a?password[]=xxxxxxx&password[0]=xx&user[password][]=xx',
    ],
    ['/a?json.password.0=ab&a[0]=b&[0]=c&0=d', '/a?json.password.0=xx&a[0]=b&[0]=c&0=d'],
    ['/a?u=https://ann:tiger@h.test/b', '/a?u=https://xxx:xxxxx@h.test/b'],
    ['/a?u=https%3A%2F%2Fann%3Atiger%40h.test%2Fb', '/a?u=https%3A%2F%2Fxxxxxxxxx%40h.test%2Fb'],
    ['/a?u=https%3A%2F%2Fh.test%2Fann%40b.test', '/a?u=https%3A%2F%2Fh.test%2Fann%40b.test'],
    ['/a?u=https%3A%2F%2Fh%2F%3Faccess_token%3Dab%26b%3Dc', '/a?u=https%3A%2F%2Fh%2F%3Faccess_token%3Dxx%26b%3Dc'],
    ['/a?u=https://h/?access_token=ab', '/a?u=https://h/?access_token=xx'],
    ['/a?f=%7B%22password%22%3A%22a%20b%22%7D', '/a?f=%7B%22password%22%3A%22x%20x%22%7D'],
    ['/a?f={"u":{"password":"ab"}}', '/a?f={"u":{"password":"xx"}}'],
    ['/a?f={"u":"%20","password":"ab"}', '/a?f={"x":"x","xxxxxxxx":"xx"}'],
    ['/a?f=%7B%22q%22%3A%22a%20b%22%7D', '/a?f=%7B%22q%22%3A%22a%20b%22%7D'],
    ['/a?q=1;password=hunter2', '/a?q=1;password=xxxxxxx'],
    ['/a;jsessionid=AB12/b', '/a;jsessionid=xxxx/b'],
    ["/a?password=' OR 1=1--&q=x' OR 1=1--", "/a?password=' xx x=x--&q=x' OR 1=1--"],
    ['/confirm/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', '/confirm/xxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxx.xxxx'],
    ['/a?h=Bearer%20abc12345', '/a?h=Bearer%20xxxxxxxx'],
    ['/a?who=maria@example.com&tel=1', '/a?who=maria@example.com&tel=1'],
    ["/a?q=1' OR '1'='1", "/a?q=1' OR '1'='1"],
  ];
  for (const [given, wanted] of uris) t.equal(maskUri(given), wanted);
  const masked = maskHeaders([
    'Host',
    'a',
    'Authorization',
    'Bearer abc.def',
    'authorization',
    'abc',
    'Cookie',
    'sid=a1; theme=dark; x',
    'X-Api-Key',
    'k1',
    'X-Session-Id',
    'q',
    'Referer',
    '/x?token=abc',
    'User-Agent',
    'curl/8',
  ]);
  t.same(masked, [
    'Host',
    'a',
    'Authorization',
    'Bearer xxx.xxx',
    'authorization',
    'xxx',
    'Cookie',
    'sid=xx; theme=xxxx; x',
    'X-Api-Key',
    'xx',
    'X-Session-Id',
    'x',
    'Referer',
    '/x?token=xxx',
    'User-Agent',
    'curl/8',
  ]);
  const bodies: readonly [string, string][] = [
    ['user=maria&password=s%20ecret', 'user=maria&password=xxxxxxx'],
    ['{"user":"maria","password":"a\\"b1","n":1}', '{"user":"maria","password":"x\\"xx","n":1}'],
    ['{"a":{"api_key" : "k"}}', '{"a":{"api_key" : "x"}}'],
    ['{"pin":1234,"n":1}', '{"pin":1111,"n":1}'],
    ['{"n":1,"password":"cut of', '{"n":1,"password":"xxx xx'],
    ['<a><password>p1</password><b>c</b></a>', '<a><password>xx</password><b>c</b></a>'],
    ['<a><password><![CDATA[p1]]></password></a>', '<a><password><![CDATA[xx]]></password></a>'],
    ['<login password="p1" lang="en"/>', '<login password="xx" lang="en"/>'],
    ['user%5Bpassword%5D=a&x=1', 'user%5Bpassword%5D=x&x=1'],
    [
      '--b\r\nContent-Disposition: form-data; name="pin"\r\n\r\n1234\r\n' +
        '--b\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--b--',
      '--b\r\nContent-Disposition: form-data; name="pin"\r\n\r\nxxxx\r\n' +
        '--b\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--b--',
    ],
    ['<a>4111111111111111</a>', '<a>xxxxxxxxxxxxxxxx</a>'],
  ];
  for (const [given, wanted] of bodies) t.equal(maskBody(given), wanted);
});

t.test('evidence stays evidence', async (t) => {
  const rows: readonly [string, string][] = [
    ["Matched Data: s&1 found within ARGS:q: 1' OR '1'='1", "Matched Data: s&1 found within ARGS:q: 1' OR '1'='1"],
    [
      "Matched \"Operator `detectSQLi'\" against variable `ARGS:q' (Value: `1 UNION SELECT password FROM users')",
      "Matched \"Operator `detectSQLi'\" against variable `ARGS:q' (Value: `1 UNION SELECT password FROM users')",
    ],
    [
      "against variable `REQUEST_URI' (Value: `/login?user=a&password=hunter2&q=<script>')",
      "against variable `REQUEST_URI' (Value: `/login?user=a&password=xxxxxxx&q=<script>')",
    ],
    [
      'against variable `REQUEST_BODY\' (Value: `{"token":"ab1","q":"../.."}\')',
      'against variable `REQUEST_BODY\' (Value: `{"token":"xxx","q":"../.."}\')',
    ],
    ['found within ARGS:note: 4111111111111111', 'found within ARGS:note: xxxxxxxxxxxxxxxx'],
    ['basic authentication', 'basic authentication'],
    ['', ''],
  ];
  for (const [given, wanted] of rows) t.equal(maskText(given), wanted);
  const matched = (variable: string, value: string): string =>
    `Matched "Operator \`rx'" against variable \`${variable}' (Value: \`${value}')`;
  for (const secret of [
    'ARGS:password',
    'ARGS:user[token]',
    'ARGS:json.pin',
    'REQUEST_COOKIES:theme',
    'REQUEST_HEADERS:Authorization',
    'REQUEST_HEADERS:Cookie',
  ]) {
    t.same(
      maskMatch(matched(secret, "a1' OR 1=1--"), "found within it: a1' OR", 'secrets'),
      { match: matched(secret, "xx' xx x=x--"), data: '(masked)' },
      secret,
    );
  }
  for (const plain of [
    'ARGS:author',
    'ARGS:shipping',
    'ARGS_NAMES:password',
    'REQUEST_COOKIES_NAMES:sid',
    'REQUEST_HEADERS:User-Agent',
    'REQUEST_URI',
  ]) {
    t.same(
      maskMatch(matched(plain, "a1' OR 1=1--"), "a1' OR", 'secrets'),
      { match: matched(plain, "a1' OR 1=1--"), data: "a1' OR" },
      plain,
    );
  }
  t.match(
    maskDetails({ messages: [{ match: matched('ARGS:last_name', 'Lopez'), data: 'Lopez', rule_id: 1 }] }, 'personal'),
    { messages: [{ match: matched('ARGS:last_name', 'xxxxx'), data: '(masked)', rule_id: 1 }] },
  );
  t.same(
    maskDetails(
      {
        messages: [{ rule_id: 942100, data: 'x?pin=12', tags: ['OWASP_CRS/ATTACK-SQLI', 'capec/1000/152/248/66'] }],
        error: null,
        ok: true,
      },
      'secrets',
    ),
    {
      messages: [{ rule_id: 942100, data: 'x?pin=xx', tags: ['OWASP_CRS/ATTACK-SQLI', 'capec/1000/152/248/66'] }],
      error: null,
      ok: true,
    },
  );
});

t.test('privacy_mode: personal data by form and by name, only where asked for', async (t) => {
  const rows: readonly [string, string][] = [
    ['/a?q=maria.lopez@example.com', '/a?q=xxxxx.xxxxx@example.com'],
    ['/a?q=maria%40example.com', '/a?q=xxxxx%40example.com'],
    ['/a?q=GB82WEST12345698765432', '/a?q=GBxxxxxxxxxxxxxxxxxxxx'],
    ['/a?q=GB82WEST12345698765431', '/a?q=GB82WEST12345698765431'],
    ['/a?q=de89+3704+0044+0532+0130+00+and', '/a?q=dexx+xxxx+xxxx+xxxx+xxxx+xx+and'],
    ['/a?q=AE070331234567890123456', '/a?q=AExxxxxxxxxxxxxxxxxxxxx'],
    ['/a?q=%2B49 30 123456-78', '/a?q=%2Bxx xx xxxxxx-xx'],
    ['/a?q=2025550123', '/a?q=2025550123'],
    ['/a?phone=2025550123&user[last_name]=L%C3%B6w', '/a?phone=xxxxxxxxxx&user[last_name]=xxxx'],
    ['/a?q=536-22-1234', '/a?q=xxx-xx-xxxx'],
    ['/a?q=000-22-1234', '/a?q=000-22-1234'],
    ['/a?q=784-1980-1234567-8', '/a?q=xxx-xxxx-xxxxxxx-x'],
    ['/p/12?sort=name&id=7', '/p/12?sort=name&id=7'],
  ];
  for (const [given, wanted] of rows) {
    t.equal(maskUri(given, 'personal'), wanted);
    t.equal(maskUri(given), given, 'without it, nothing of this');
  }
  t.same(maskHeaders(['From', 'maria@example.com', 'X-Customer-Email', 'm@e.com'], 'personal'), [
    'From',
    'xxxxx@example.com',
    'X-Customer-Email',
    'x@x.xxx',
  ]);
  t.equal(
    maskBody('{"email":"m@e.com","note":"call +4930123456"}', 'personal'),
    '{"email":"x@x.xxx","note":"call +xxxxxxxxxx"}',
  );
});

t.test('masking never makes anything longer, and no pattern explodes', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) =>
      [maskUri, maskBody, maskText].every(
        (mask) => mask(text).length <= text.length && mask(text, 'personal').length <= text.length,
      ),
    ),
  );
  // Of the processor's time: a pattern that looks ahead from each of 65,000 bytes takes longer, all four masks take
  // 20 ms.
  const explodedMs = 1000;
  const took: [string, number][] = [];
  for (const text of [
    '"a":"'.repeat(13_000),
    'name="pin"\r\n'.repeat(5000),
    'name="pin"\r\na\r\n'.repeat(4000),
    '"'.repeat(65_000),
    '\\"'.repeat(32_000),
    '4 '.repeat(32_000),
    'a=&'.repeat(21_000),
    'eyJ'.repeat(21_000),
    'a'.repeat(65_000),
    'a@'.repeat(32_000),
    'GB82'.repeat(16_000),
    'GB82 '.repeat(13_000),
    '+1'.repeat(32_000),
    '<a '.repeat(21_000),
    ';a'.repeat(32_000),
    'Bearer '.repeat(9000),
    'a.'.repeat(32_000),
    `a@${'a.'.repeat(32_000)}`,
    '%2'.repeat(32_000),
  ]) {
    const before = process.cpuUsage();
    t.ok(maskBody(text).length <= text.length); // a quadratic pattern would end in the test's time limit
    for (const mask of [maskUri, maskBody, maskText]) t.ok(mask(text, 'personal').length <= text.length);
    const { user, system } = process.cpuUsage(before); // other programs' work is not ours
    took.push([text.slice(0, 8), (user + system) / 1000]);
  }
  for (const [text, ms] of took) t.ok(ms < explodedMs, `${text}…: ${Math.round(ms)} ms`);
});
