import { createHash } from 'node:crypto';
import t from 'tap';
import { renderPage } from './pages.js';

t.test('pages: HTML for people, problem+json for programs, nothing about rules', async (t) => {
  const head = (accept: string) => ({
    method: 'GET',
    uri: '/',
    protocol: 'HTTP/1.1',
    headers: ['Accept', accept],
    clientIp: '',
    clientPort: 0,
    serverIp: '',
    serverPort: 0,
  });
  const html = renderPage(403, 'ID1', head('text/html,application/xhtml+xml'));
  t.match(html.body, /<code>ID1<\/code>/);
  t.notMatch(html.body, /rule|score|CRS|942/i);
  const problem = renderPage(403, 'ID1', head('application/json'));
  t.ok(problem.headers.includes('application/problem+json'));
  t.strictSame(Object.keys(JSON.parse(problem.body) as object), ['type', 'title', 'status', 'detail', 'instance']);
  t.equal((JSON.parse(problem.body) as { instance: string }).instance, 'ID1');
  t.notOk(problem.headers.includes('Content-Security-Policy'));
});

t.test('U7: an answer that was withheld does not tell the visitor that he attacked', async (t) => {
  const body = (accept: string | null, subject?: 'request' | 'response'): string =>
    renderPage(403, 'ID1', { headers: accept === null ? [] : ['Accept', accept] }, subject).body;
  for (const accept of ['text/html', 'application/json', 'text/plain', null, '*/*']) {
    t.match(body(accept, 'response'), /withheld/, `${accept}: says what happened`);
    t.match(body(accept, 'response'), /ID1/, `${accept}: and under which reference`);
    t.notMatch(body(accept, 'response'), /attack|blocked|rule|score|mistake/i, `${accept}: and blames nobody`);
    t.match(body(accept), /attack/, `${accept}: a request that was blocked is still told so`);
  }
  const typeFor = (accept: string): string | undefined =>
    renderPage(403, 'ID1', { headers: ['Accept', accept] }, 'response').headers[1];
  t.same(['text/html,*/*', 'application/json', 'text/plain', 'text/plain, application/json', '*/*'].map(typeFor), [
    'text/html; charset=utf-8',
    'application/problem+json',
    'text/plain; charset=utf-8',
    'application/problem+json',
    'application/problem+json',
  ]);
});

t.test('N1: who does not fit a specification is not told that he attacked', async (t) => {
  for (const accept of ['text/html', 'application/json', 'text/plain'])
    for (const [subject, says] of [
      ['specification', /does not fit the specification/],
      ['graphql', /GraphQL/],
    ] as const) {
      const { body } = renderPage(403, 'ID1', { headers: ['Accept', accept] }, subject);
      t.match(body, says, `${accept}: what is meant`);
      t.match(body, /ID1/, `${accept}: the reference`);
      t.notMatch(body, /attack|rule|score|10065/i, `${accept}: and nothing of attacks or rules`);
    }
});

t.test(
  'HTML pages can be read by everybody, under a policy that allows them nothing but their own style sheet',
  async (t) => {
    const head = {
      method: 'GET',
      uri: '/',
      protocol: 'HTTP/1.1',
      headers: ['Accept', 'text/html'],
      clientIp: '',
      clientPort: 0,
      serverIp: '',
      serverPort: 0,
    };
    for (const [status, subject] of [
      ...[400, 403, 404, 413, 415, 429, 499, 502, 504].map((one) => [one, 'request'] as const),
      [403, 'response'] as const,
    ]) {
      const { headers, body } = renderPage(status, 'ID1', head, subject);
      const style = /<style>([^]*)<\/style>/.exec(body)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      const policy = headers[headers.indexOf('Content-Security-Policy') + 1] ?? '';
      t.match(policy, /^default-src 'none';/, `${status}: nothing else`);
      t.ok(
        policy.includes(`style-src 'sha256-${hash}'`),
        `${status}: the style sheet is the one that the policy names`,
      );
      t.notMatch(body, /<script|<img|<link|style=|onload|href=/, `${status}: nothing that the policy would stop`);
      t.match(body, /<html lang="en">/);
      t.match(body, new RegExp(`<title>${status} [A-Z][^<]+</title>`));
      t.equal(body.match(/<h1>/g)?.length, 1, `${status}: one heading`);
      t.equal(body.match(/<main>/g)?.length, 1, `${status}: one landmark`);
    }
  },
);
