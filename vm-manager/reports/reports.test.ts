// The Attack Chains and Toxic Combinations report: what it says, in each form, and through the API on both databases.
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { application, engineOf, examples, finding } from '../chains/testing/build.js';
import { showIn } from './time-zone.js';
import { chainSection } from './sections/chain-report.js';
import { fontsFor } from './fonts.js';
import { toPdf } from './pdf.js';
import { toLines, toRuns } from './text-lines.js';
import { toCsv, toHtml, toJson, toSection } from './render.js';
import { paperWidth, type Report } from './report.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const title = 'Attack Chains and Toxic Combinations';
const reportOf = (...sections: Report['sections']): Report => ({
  title,
  scope: 'The organisation',
  generated_at: new Date(0).toISOString(),
  shown_at: showIn('GMT+4', new Date(0)),
  sections,
});
interface Said {
  readonly kpis: Readonly<Record<string, number>>;
  readonly chains: readonly { readonly tint: string; readonly application: string; readonly score: number }[];
}

const apps = Array.from({ length: 60 }, (_, index) =>
  application(String(index), {
    projectId: null,
    name: index === 59 ? '=cmd|<script>"x"</script>' : `App ${index}`,
    environment: index === 58 ? 'prod' : 'staging',
    criticality: null,
  }),
);
const ranked = engineOf(
  apps,
  apps.flatMap(({ id }) => [
    finding(`${id}e`, { ...examples.entry, applicationId: id, riskScore: Number(id) + 10, reachable: true }),
    finding(`${id}i`, { cwe: 639, applicationId: id, riskScore: 1, exploitConfirmed: id === '0' }),
  ]),
).read();
const section = chainSection(ranked, title);
const report = reportOf(section);
const said = section.members as unknown as Said;
const emptySection = chainSection(engineOf([], []).read(), title);

t.test('R report: the figures count all, the table has the top fifty by score with its tint', (t) => {
  t.strictSame(Object.keys(said.kpis), ['total_chains', 'toxic_combinations', 'danger_chains', 'max_chain_risk']);
  t.match(said.kpis, { total_chains: 60, toxic_combinations: 0, danger_chains: 1, max_chain_risk: Number });
  t.equal(said.chains.length, 50);
  t.notOk(
    said.chains.some((row) => row.application === 'App 0'),
    'proof does not bring a chain into the report',
  );
  const scores = said.chains.map(({ score }) => score);
  t.strictSame(
    scores,
    [...scores].sort((one, other) => other - one),
  );
  for (const { tint, score, application: name } of said.chains)
    t.equal(tint, name === 'App 58' ? 'critical' : score >= 60 ? 'high' : score >= 35 ? 'medium' : 'low');
  t.equal(new Set(said.chains.map(({ tint }) => tint)).size, 4, 'all tints are seen');
  t.match(said.chains[0], { kind: 'kill-chain', stage_path: 'Entry → Impact', name: /^Entry → Impact on / });
  t.end();
});

t.test('R report: JSON, CSV and HTML say the same, and what a finding says is escaped', async (t) => {
  t.strictSame(JSON.parse(toJson(report)), {
    title,
    scope: 'The organisation',
    generated_at: '1970-01-01T00:00:00.000Z',
    summary: [
      'Open findings combine to 60 attack chains; the highest score is 75 of 100.',
      '1 of them is a danger chain; 0 are toxic combinations.',
    ],
    ...section.members,
  });
  const lines = toCsv(report).trimEnd().split('\r\n');
  t.equal(lines.length, 51);
  t.equal(lines[0], 'Severity,Chain,Kind,Application,Stage path,Score');
  t.ok(
    lines.some((line) => line.includes('"\'=cmd')),
    'no formula',
  );
  const html = toHtml(report);
  t.equal(html.match(/<tr class="(critical|high|medium|low)">/g)?.length, 50);
  t.notOk(html.includes('<script>'));
  for (const label of ['Total chains', 'Toxic combinations', 'Danger chains', 'Max chain risk'])
    t.ok(html.includes(label));
  t.equal(toHtml(report), html, 'the same bytes');
  t.ok(toSection(emptySection).includes('No chains.'));
});

/** The streams of a PDF, unpacked: how they are packed is a matter of the release of Node. */
function streamsOf(pdf: Buffer): string[] {
  const pieces: string[] = [];
  for (let at = pdf.indexOf('stream\n'); at >= 0; at = pdf.indexOf('stream\n', at + 7)) {
    if (pdf.subarray(at - 3, at).toString() === 'end') continue;
    const end = pdf.indexOf('endstream', at);
    pieces.push(inflateSync(pdf.subarray(at + 7, end)).toString('latin1'));
  }
  return pieces;
}

/** What its pages draw. */
const drawingOf = (pdf: Buffer): string =>
  streamsOf(pdf)
    .filter((stream) => / Tf\n/.test(stream))
    .join('\n');

/** Its texts as a reader copies them: glyphs of what pages draw, by the `ToUnicode` maps of the fonts in use. */
function textOf(pdf: Buffer): string {
  const source = pdf.toString('latin1');
  const maps = new Map<string, readonly string[]>();
  for (const [, name = '', id = ''] of source.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
    const at = source.indexOf(`\n${id} 0 obj`);
    const [, mapId = ''] = /\/ToUnicode (\d+) 0 R/.exec(source.slice(at, source.indexOf('endobj', at))) ?? [];
    const mapAt = source.indexOf(`\n${mapId} 0 obj`);
    const [map = ''] = streamsOf(pdf.subarray(mapAt, source.indexOf('endobj', mapAt)));
    const glyphs = map.slice(map.indexOf('beginbfrange'), map.lastIndexOf('endbfrange')).matchAll(/\[([^\]]*)\]/g);
    maps.set(
      name,
      [...glyphs].flatMap(([, list = '']) =>
        // of a ligature, a letter after another with spaces between
        [...list.matchAll(/<([0-9a-f ]*)>/g)].map(([, hex = '']) =>
          Buffer.from(hex.replaceAll(' ', ''), 'hex').swap16().toString('utf16le'),
        ),
      ),
    );
  }
  let font: readonly string[] = [];
  let text = '';
  for (const [, name, hex = ''] of drawingOf(pdf).matchAll(/\/(F\d+) [\d.]+ Tf|<([0-9a-f]+)>/g))
    if (name !== undefined) font = maps.get(name) ?? [];
    else for (let at = 0; at < hex.length; at += 4) text += font[parseInt(hex.slice(at, at + 4), 16)] ?? '\ufffd';
  return text;
}

t.test('R report: PDF has every row, and the same report gives the same bytes', async (t) => {
  const pdf = await toPdf(report);
  t.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  t.ok(pdf.equals(await toPdf(report)));
  const text = textOf(pdf);
  for (const row of said.chains) t.ok(text.includes(row.application.slice(0, 5)), row.application);
  t.ok(text.includes('Max chain risk75'));
  t.ok(textOf(await toPdf(reportOf(emptySection))).includes('No chains.'));
});

t.test('PDF has names in every script that its fonts have, and none of them as a question mark', async (t) => {
  const names = {
    Latin: ['Zażółć gęślą jaźń', 'Đặng Thị Hương', 'Çağrı İnönü', 'Łódź → Øresund'],
    Greek: ['Τράπεζα Πειραιώς', 'Ἀθῆναι'],
    Cyrillic: ['Банк России', 'Ћирилица', 'Їжак'],
    Armenian: ['Հայաստան'],
    Georgian: ['საქართველო'],
    Hebrew: ['ירושלים'],
    Arabic: ['القاهرة'],
  };
  const rows = Object.values(names)
    .flat()
    .map((name) => ({ tint: 'low' as const, cells: [name, 'one', 1, 1, 'x', `before ${name} after`] }));
  const [name = ''] = names.Cyrillic;
  const pdf = await toPdf({ ...reportOf({ ...section, rows }), title: `Report of ${name}`, scope: name });
  const text = textOf(pdf);
  t.notOk(text.includes('?'));
  for (const [script, words] of Object.entries(names))
    for (const word of words) {
      // marks may be drawn before or after their letters, and right-to-left words backwards
      const letters = [...word.replaceAll(' ', '')];
      const backwards = [...letters].reverse().join('');
      const drawn = text.replaceAll(' ', '').normalize('NFKC');
      const found = [letters.join(''), backwards].map((one) => drawn.split(one.normalize('NFKC')).length - 1);
      t.ok(Math.max(...found) >= 2, `${script}: ${word}`);
    }
  t.ok(text.includes(`Report of ${name}`), 'the title, too');
});

t.test('PDF: lines are as wide as their cell, and lose nothing', async (t) => {
  const fonts = await fontsFor([]);
  const width = (text: string): number =>
    [...text].reduce((sum, letter) => sum + (fonts[0]?.widthOf(letter.codePointAt(0) ?? 0) ?? 0), 0) * 8;
  const seed = Number(process.env['SEED'] ?? 20_261_127);
  t.comment(`seed ${seed}`);
  const letters = fc.string({ unit: fc.constantFrom('a', 'W', ' ', 'ж', 'ω', '/', 'é', '\n'), maxLength: 200 });
  fc.assert(
    fc.property(letters, fc.integer({ min: 12, max: 300 }), (text, room) => {
      const lines = toLines(text, fonts, 8, room);
      const bare = (one: string): string => one.replaceAll(/\s/g, '');
      return bare(lines.join('')) === bare(text) && lines.every((line) => width(line) <= room + 0.001);
    }),
    { seed },
  );
  const visual = (line: string): string =>
    toRuns(line, fonts)
      .map((run) => run.text)
      .join('|');
  t.equal(visual('a b'), 'a b');
  t.equal(visual('see ירושלים העתיקה now'), 'see |העתיקה| |ירושלים| now', 'words from right to left');
});

t.test('PDF: a letter that no font has is named, never replaced', async (t) => {
  const cells = ['\u{10ffff} and \u{1f1e6}', 'a\u202eb', '\ud800', 'a\u0000b', 'tab\there', 'ok'];
  const text = textOf(await toPdf(reportOf({ ...section, rows: [{ tint: 'low', cells }] })));
  for (const part of ['[U+10FFFF]', 'a[U+202E]b', 'a[U+0000]b', 'tab here']) t.ok(text.includes(part), part);
});

t.test('PDF: Chinese, Japanese and Korean where the system has a font, else by number', async (t) => {
  const name = '漢字';
  const [font] = await fontsFor([name]).then((fonts) => fonts.filter((one) => one.has(0x6f22)));
  const text = textOf(await toPdf(reportOf({ ...section, rows: [{ tint: 'low', cells: [name, '', 1, 1, '', ''] }] })));
  t.ok(text.includes(font === undefined ? '[U+6F22]' : name), font?.file ?? 'no such font here');
});

t.test('14.renderer: each form says to the byte what it said when it was looked at', async (t) => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
  const forms = async (one: typeof section): Promise<string[]> => {
    const whole = reportOf(one);
    return [toHtml(whole), toSection(one), toCsv(whole), toJson(whole), drawingOf(await toPdf(whole))].map(sha256);
  };
  t.strictSame(await forms(section), [
    '6f43420cc8b10d1c',
    '75a7abd6bebf8af3',
    'a223b939ad9c2709',
    'f547fe4d4013969b',
    '87170f3e3b7c3604',
  ]);
  t.strictSame(await forms(emptySection), [
    '8de47b6c90e5870d',
    '5260c7401ea3113e',
    'ea011585e2652f11',
    '705d24b6b2fbd545',
    '543fdd00d7cc879f',
  ]);
});

t.test('14.renderer: several sections in one report, each with its title, and all of it escaped', async (t) => {
  const other: Report['sections'][number] = {
    title: 'Things <of> "others"',
    figures: [['Things', 1]],
    columns: [
      { name: '<Name>', width: 700 },
      { name: 'Number', width: 69 },
    ],
    rows: [{ tint: 'low', cells: ['=1+1 & <b>', 7] }],
    none: 'No things.',
    members: { things: [{ number: 7 }] },
  };
  const both = reportOf(emptySection, other);
  const html = toHtml(both);
  t.match(html, '<h2>Things &lt;of&gt; &quot;others&quot;</h2>\n<dl><div><dt>Things</dt><dd>1</dd></div></dl>');
  t.match(html, '<tr class="low"><td>=1+1 &amp; &lt;b&gt;</td><td>7</td></tr>');
  t.match(html, '<td colspan="6">No chains.</td>');
  t.match(toSection({ ...other, rows: [] }), '<td colspan="2">No things.</td>');
  t.equal(toCsv(both).split('\r\n\r\n').length, 2, 'an empty line between two tables');
  t.ok(toCsv(both).endsWith("<Name>,Number\r\n'=1+1 & <b>,7\r\n"), toCsv(both));
  t.match(JSON.parse(toJson(both)), { title, kpis: { total_chains: 0 }, chains: [], things: [{ number: 7 }] });
  const text = textOf(await toPdf(both));
  for (const part of ['No chains.', 'Things <of> "others"', '=1+1 & <b>']) t.ok(text.includes(part), part);
});

async function reports(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const call = (method: string, path: string, body?: unknown, who = token) =>
    at.call(method, `/api/v1${path}`, { token: who, body });
  const made = async (path: string, body: object): Promise<string> =>
    String((await call('POST', path, body)).body['id']);
  const project = await made('/projects', { name: 'p' });
  const [one, two] = [
    await made('/applications', { name: 'One', environment: 'prod', project_id: project, tags: ['web'] }),
    await made('/applications', { name: 'Two', environment: 'prod', project_id: project }),
  ];
  for (const [id, cwe] of [
    [one, 'CWE-918'],
    [one, 'CWE-78'],
    [two, 'CWE-89'],
    [two, 'CWE-639'],
  ])
    await made('/vulnerabilities', { application_id: id, cwe: [cwe], title: 'x', severity: 'high', reachable: true });
  const build = async (body: object, who = token) => call('POST', '/reports', { format: 'json', ...body }, who);
  const content = async (body: object) => {
    const { body: row } = await build(body);
    return (await call('GET', `/reports/${String(row['id'])}/download`)).body;
  };

  await t.test('27.6: HTML and PDF show moments in the zone that is asked for, data in UTC', async (t) => {
    const shown = async (body: object) => {
      const { body: row } = await build({ format: 'html', ...body });
      const { text } = await call('GET', `/reports/${String(row['id'])}/download`);
      return /<p>The organisation, ([^<]+)</.exec(text)?.[1];
    };
    const now = new Date(at.clock.nowMs);
    t.equal(await shown({}), showIn('GMT+4', now));
    t.equal(await shown({ time_zone: 'UTC' }), showIn('UTC', now));
    t.equal(await shown({ time_zone: 'Asia/Kathmandu' }), showIn('Asia/Kathmandu', now));
    t.match(await content({ time_zone: 'Asia/Kathmandu' }), { generated_at: now.toISOString() });
    t.match(await build({ time_zone: 'Mars/Olympus' }), { status: 422, text: /time_zone.*Europe\/Vienna/ });
  });
  await t.test('R scope: one application when the scope resolves to exactly one, else the organisation', async (t) => {
    const whole = { scope: 'The organisation', kpis: { total_chains: 3 } };
    t.match(await content({}), whole);
    t.match(await content({ scope: { project_id: project } }), whole);
    t.match(await content({ scope: { application_id: one } }), {
      scope: 'The application One',
      kpis: { total_chains: 2 },
    });
    t.match(await content({ scope: { tag: 'web' } }), { scope: 'The application One' });
    const empty = [{ tag: 'none' }, { tag: 'web ' }, { project_id: project, tag: 'x' }, { project_id: '999999' }];
    for (const scope of empty) {
      const refused = { status: 422, body: { detail: /tag|project/ } };
      t.match(await build({ scope }), refused, JSON.stringify(scope));
      t.match(await call('POST', '/reports/preview', { section: 'open-findings', scope }), { status: 422 });
    }
    t.match(await build({ scope: { application_id: one, tag: 'none' } }), { status: 422, body: { detail: /tag/ } });
    t.match(await build({ scope: { application_id: '999999' } }), { status: 404, body: { detail: String } });
    t.match(await build({ format: 'docx' }), { status: 422, body: { detail: String } });
    t.match(await build({ sections: ['x'] }), { status: 422 });
  });

  await t.test('14.renderer: open findings are a section of their own, within the scope of the report', async (t) => {
    const made = await build({ sections: ['attack-chains', 'open-findings'] });
    t.match(made, { body: { title: `${title}, Open Findings`, sections: ['attack-chains', 'open-findings'] } });
    const all = (await call('GET', `/reports/${String(made.body['id'])}/download`)).body;
    t.match(all, {
      kpis: { total_chains: 3 },
      open_findings: { open: 4, critical: 0, known_exploited: 0, overdue: 0 },
    });
    const findings = all['findings'] as { severity: string; application: string; effective_risk: number }[];
    t.equal(findings.length, 4);
    t.match(findings[0], { severity: 'high', title: 'x', due_at: String, effective_risk: Number });
    const listed = (await call('GET', '/findings?status=open')).body['items'] as object[];
    const ids = (rows: readonly object[]) => rows.map((row) => (row as { id: string }).id);
    t.strictSame(ids(findings), ids(listed), 'in the order of the list, also where the priority is the same');
    const only = await content({ sections: ['open-findings'], scope: { tag: 'web' } });
    t.match(only, { scope: 'The application One', open_findings: { open: 2 } });
    t.notOk('kpis' in only, 'no other section');
    t.ok((only['findings'] as { application: string }[]).every(({ application: name }) => name === 'One'));
    await database.sql`update vm_findings set due_at = due_at - interval '1 year'`;
    t.match(await content({ sections: ['open-findings'] }), { open_findings: { overdue: 4 } });
    const shown = await call('POST', '/reports/preview', { section: 'open-findings' });
    t.match(shown, { status: 200, text: /Known exploited<\/dt><dd>0</ });
    t.equal((await build({ sections: ['open-findings', 'open-findings'] })).status, 422);
    const person = await at.user('operator');
    await call('PUT', `/rbac/grants/${person.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: two, role: 'operator' }],
    });
    const theirs = await call('POST', '/reports/preview', { section: 'open-findings' }, person.token);
    t.match(theirs.text, /Open findings<\/dt><dd>2</, 'what they may see and no more');
    const widths = [section, emptySection].map(({ columns }) => columns.reduce((sum, { width }) => sum + width, 0));
    t.strictSame(widths, [paperWidth, paperWidth]);
  });

  await t.test('R formats, preview, list, deletion; others do not read what somebody built', async (t) => {
    const viewer = await at.user('viewer');
    for (const [format, type] of [
      ['html', /text\/html/],
      ['csv', /text\/csv/],
      ['pdf', /application\/pdf/],
      ['json', /application\/json/],
    ] as const) {
      const row = await build({ format, title: `As ${format}` });
      t.match(row, { status: 201, body: { format, title: `As ${format}`, status: 'succeeded' } });
      const file = await call('GET', `/reports/${String(row.body['id'])}/download`);
      t.equal(file.status, 200);
      t.match(String(file.headers['content-type']), type);
      t.match(String(file.headers['content-disposition']), `.${format}"`);
    }
    const preview = await call('POST', '/reports/preview', { section: 'attack-chains' });
    t.match(preview, { status: 200, text: /Max chain risk/ });
    const names = (await call('GET', '/reports/sections')).body['items'] as { name: string }[];
    t.strictSame(
      names.map(({ name }) => name),
      ['attack-chains', 'open-findings', 'security-events'],
    );
    const list = (await call('GET', '/reports?limit=1')).body;
    t.match(list, { limit: 1, items: [{ title: 'As json' }] });
    const [{ id }] = list['items'] as [{ id: string }];
    t.equal((await call('GET', `/reports/${id}`, undefined, viewer.token)).status, 200, 'a viewer sees everything');
    const person = await at.user('operator');
    await call('PUT', `/rbac/grants/${person.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: one, role: 'auditor' }],
    });
    t.equal((await call('GET', `/reports/${id}`, undefined, person.token)).status, 404);
    t.match((await call('GET', '/reports', undefined, person.token)).body, { total: 0 });
    t.equal((await call('DELETE', `/reports/${id}`)).status, 204);
    t.equal((await call('GET', `/reports/${id}/download`)).status, 404);
  });
}

void onBothDatabases(t, 'vm reports', reports);
