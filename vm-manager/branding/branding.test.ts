// Branding through the API: what is saved is what everything that shows a name says; a logo draws or is refused.
import { deflateSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
const svg = (inner: string, more = ''): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"${more}>${inner}</svg>`;

/** A PNG of so many pixels, without its checksums. */
function png(width: number, height: number, pixels = Buffer.from('x'), depth = 0): Buffer {
  const chunk = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(body.length, 0);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, body, Buffer.alloc(4)]);
  };
  const facts = Buffer.alloc(13);
  facts.writeUInt32BE(width, 0);
  facts.writeUInt32BE(height, 4);
  facts.writeUInt8(depth, 8);
  const parts = [chunk('IHDR', facts), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const send = async (content: string | Buffer, as = token, url = '/api/v1/branding/logo') => {
    const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/octet-stream' };
    const reply = await at.app.inject({ method: 'PUT', url, headers, payload: Buffer.from(content) });
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  };
  return { at, client, token, send };
}
type Started = Awaited<ReturnType<typeof start>>;

async function words(t: Test, { at, client }: Started): Promise<void> {
  const open = () => at.call('GET', '/api/v1/branding');
  t.match(
    await open(),
    { status: 200, body: { name: 'Gatehouse', accent: null, set: [], version: 0 } },
    'for everybody',
  );
  const saved = await client.call('PUT', '/branding', { name: 'Acme <b>', accent: '#ffee88' });
  t.match(saved, { status: 200, body: { set: ['name', 'accent'], contrast: { adjusted: true, dark: Number } } });
  t.match(await open(), { body: { name: 'Acme <b>', accent: '#ffee88', version: 1 } });
  await client.call('POST', '/applications', { name: 'a' });
  const body = { format: 'html', sections: ['open-findings'] };
  const template = await client.call('POST', '/templates', {
    kind: 'report',
    name: 'x',
    parts: { title: 'By {{brand}}' },
  });
  const built = await client.call('POST', '/reports', { ...body, template_id: String(template.body['id']) });
  t.match(built.body['title'], 'By Acme <b>', 'reports have it');
  const page = await client.at.call('GET', '/api/compliance?format=html', { token: client.token });
  t.match(page.text, '<title>Compliance, Acme &#60;b&#62;</title>', 'and so has the control plane');
  for (const [wrong, fault] of [
    [{ accent: 'red' }, /\/accent is no colour/],
    [{ accent: '#fff' }, /\/accent is no colour/],
    [{ name: ' ' }, /\/name is empty/],
    [{ name: '\u200b\u2060' }, /\/name is empty/],
    [{ name: 'a\u202eb' }, /control character/],
    [{ name: 'x'.repeat(61) }, /name/],
    [{}, /./],
  ] as const)
    t.match(await client.call('PUT', '/branding', wrong), { status: 422, body: { detail: fault } });
  t.match(await client.call('PUT', '/branding', { name: null, accent: '#3f51b5' }), {
    body: { name: 'Gatehouse', set: ['accent'], contrast: { light: 6.87 } },
  });
  t.match(JSON.stringify((await client.call('GET', '/audit?limit=5')).body), /changed the branding/);
}

async function logos(t: Test, { at, client, send }: Started): Promise<void> {
  t.equal((await at.call('GET', '/api/v1/branding/logo')).status, 404);
  const good = svg('<defs><linearGradient id="g"/></defs><path d="M0 0h8" fill="url(#g)"/><use href="#g"/><!-- c -->');
  for (const content of [good, `<?xml version="1.0"?>\n${good}`, png(64, 64)])
    t.equal((await send(content)).status, 200, String(content).slice(0, 60));
  for (const [content, fault] of [
    [svg('\n<script>alert(1)</script>'), /the element script in line 2/],
    [svg('<foreignObject/>'), /foreignObject/],
    [svg('<style>*{}</style>'), /the element style/],
    [svg('<image href="#x"/>'), /the element image/],
    [svg('<a href="#x"/>'), /the element a /],
    [svg('<animate/>'), /animate/],
    [svg('<path/>', ' onload="alert(1)"'), /the attribute onload/],
    [svg('<path/>', ' onload=alert(1)'), /without quotation marks/],
    [svg('<path style="fill:red"/>'), /the attribute style/],
    [svg('<use href="https://evil.example/x.svg#y"/>'), /an address in href/],
    [svg('<use xlink:href="data:image/svg+xml,x"/>'), /an address in xlink:href/],
    [svg('<path fill="url(https://evil.example/)"/>'), /an address in fill/],
    [svg('<path fill="u\\72l(x)"/>'), /entity or escape/],
    [svg('<path fill="&#106;avascript:x"/>'), /entity or escape/],
    [`<!DOCTYPE svg [<!ENTITY x "y">]>${svg('')}`, /neither PNG nor SVG|declaration/],
    [`<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x "y">]>${svg('')}`, /declaration/],
    [`<?xml-stylesheet href="x"?>${svg('')}`, /declaration|neither/],
    [svg('<path mask="image-set(1x)"/>'), /an address in mask/],
    ['<svg/>', /no xmlns/],
    [`<?xml version="1.0" encoding="utf-7"?>${svg('')}`, /another encoding than UTF-8/],
    [svg('<g id="a"><use href="#b"/><use href="#b"/></g>'.repeat(13)), /more than 24 parts/],
    [svg(`<defs>${'<g mask="url(#m)"/>'.repeat(25)}</defs>`), /more than 24 parts/],
    [svg('<g>'), /an end of svg/],
    [`${svg('')}${svg('')}`, /more than one drawing/],
    [svg('<![CDATA[<script>]]>'), /declaration/],
    ['<html></html>', /neither PNG nor SVG/],
    ['GIF89a', /neither PNG nor SVG/],
    [png(4096, 8), /4096 by 8 pixels/],
    [Buffer.concat([png(8, 8), Buffer.from('<script>')]), /no complete PNG/],
    [png(8, 8).subarray(0, 40), /no complete PNG/],
  ] as const)
    t.match(await send(content), { status: 422, body: { detail: fault } }, String(content).slice(0, 80));
  t.equal((await send(Buffer.alloc(256 * 1024 + 1, 'x'))).status, 413);
  t.equal((await send(good)).status, 200);
  const shown = await at.call('GET', '/api/v1/branding/logo');
  t.match(shown, { status: 200, text: good, headers: { 'content-type': /svg/, 'content-security-policy': /sandbox/ } });
  t.match((await client.call('DELETE', '/branding/logo')).body, { logo_url: null });
}

/** Eight by eight grey ones. */
const drawable = png(8, 8, deflateSync(Buffer.alloc(9 * 8)), 8);

async function ofReports(t: Test, { at, client, token, send }: Started): Promise<void> {
  const url = '/api/v1/branding/report-logo';
  const pictures = async (): Promise<number> => {
    const { body } = await client.call('POST', '/reports', { format: 'pdf' });
    const file = await client.call('GET', `/reports/${String(body['id'])}/download`);
    return file.text.split('/Subtype /Image').length - 1;
  };
  t.match(await send(drawable, token, url), { status: 409, body: { detail: /no logo/ } });
  t.match((await send(svg('<path d="M0 0h8"/>'))).body, { logo_in_reports: false, logo_url: String });
  t.equal(await pictures(), 0, 'the name alone');
  for (const wrong of [svg(''), png(8, 8), 'GIF89a', png(1024, 1024, deflateSync(Buffer.alloc(1025 * 1024)), 8)])
    t.match(await send(wrong, token, url), { status: 422, body: { detail: /512 by 512/ } });
  t.match((await send(drawable, token, url)).body, { logo_in_reports: true });
  t.ok((await pictures()) > 0, 'in the document');
  t.match(await at.call('GET', '/api/v1/branding/logo'), { headers: { 'content-type': /svg/ } }, 'pages keep the SVG');
  t.match((await send(svg('<path d="M0 0h4"/>'))).body, { logo_in_reports: false }, 'another logo');
  t.match((await send(drawable)).body, { logo_in_reports: true }, 'a PNG is both');
  t.ok((await pictures()) > 0);
  await client.call('DELETE', '/branding/logo');
  t.match((await client.call('GET', '/branding')).body, { logo_in_reports: false });
  const viewer = await at.user('viewer');
  t.equal((await send(drawable, viewer.token, url)).status, 403);
}

async function rights(t: Test, { at, send }: Started): Promise<void> {
  for (const role of ['viewer', 'operator'] as const) {
    const { token } = await at.user(role);
    t.equal((await send(svg(''), token)).status, 403);
    for (const [method, path] of [
      ['PUT', '/branding'],
      ['DELETE', '/branding/logo'],
    ] as const)
      t.equal(
        (await at.call(method, `/api/v1${path}`, { token, body: method === 'PUT' ? { name: 'x' } : undefined })).status,
        403,
      );
  }
}

t.test('branding', (t) =>
  onOneDatabase(t, 'branding', async (t, database) => {
    const started = await start(t, database);
    await t.test('30.branding: one name everywhere, and colours with their contrast', (t) => words(t, started));
    await t.test('30.branding: a logo draws, or is refused with the line', (t) => logos(t, started));
    await t.test('27.9: a logo of SVG is in reports as the PNG of it', (t) => ofReports(t, started));
    await t.test('30.branding: who may', (t) => rights(t, started));
    await t.test('30.branding: the examples of the document', async (t) => {
      await exercise(t, started.client, '/branding');
    });
  }),
);
