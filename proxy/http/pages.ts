// What a client is told when its request is not answered by the application: a page for people, plain text for who asks
// for that, problem+json for other programs (RFC 9457). None of them says which rule, threshold or upstream was
// involved: that is for the log.
import { createHash } from 'node:crypto';
import type { RequestHead } from '#engine';
import { findField } from './header-fields.js';

/**
 * What a page is about: the request that came, what the application answered to it, or what the operator declared that
 * requests have to fit: a specification of the API, or limits of GraphQL. Who breaks those is mostly a developer.
 */
export type PageSubject = 'request' | 'response' | 'specification' | 'graphql';

interface Wording {
  readonly title: string;
  readonly detail: string;
}

const wordings: Readonly<Record<number, Wording>> = {
  400: {
    title: 'The request is malformed',
    detail: 'The request could not be read without doubt and was not passed on.',
  },
  401: {
    title: 'Credentials are needed',
    detail: 'This address is for clients with valid credentials only.',
  },
  403: {
    title: 'Request blocked',
    detail: 'The request was not passed on because it looks like an attack on this application.',
  },
  404: { title: 'No such site', detail: 'No application is published at this address.' },
  408: { title: 'The request took too long', detail: 'The rest of the request did not arrive in time.' },
  413: { title: 'The request is too large', detail: 'The request body is larger than this application accepts.' },
  415: {
    title: 'The content coding is not supported',
    detail: 'The request body is in a coding that cannot be read here. gzip, deflate and br can.',
  },
  414: { title: 'The address is too long', detail: 'The request target is longer than this application accepts.' },
  417: { title: 'Expectation not supported', detail: 'Only the expectation 100-continue is supported.' },
  421: {
    title: 'This connection is for another host',
    detail: 'The certificate of this connection does not stand for the host that was asked for. Please connect anew.',
  },
  431: {
    title: 'The header fields are too large',
    detail: 'The header fields of the request are larger than this application accepts.',
  },
  501: { title: 'Not supported', detail: 'This kind of request is not supported here.' },
  502: {
    title: 'The application is unreachable',
    detail: 'The application did not answer properly. Please try again in a moment.',
  },
  503: {
    title: 'Temporarily unavailable',
    detail: 'The request cannot be handled at the moment. Please try again shortly.',
  },
  504: {
    title: 'The application is too slow',
    detail: 'The application did not answer in time. Please try again in a moment.',
  },
  508: {
    title: 'The request goes round in a loop',
    detail: 'The application behind this address leads back to it. Its operator has to name another one.',
  },
  505: { title: 'HTTP version not supported', detail: 'Please use HTTP/1.1.' },
};

/** Of an answer that was withheld: its visitor did nothing wrong, and can do nothing about it. */
const withheld: Wording = {
  title: 'The response was withheld',
  detail:
    'Your request was fine. The answer of the application held something that must not leave it, so it was not ' +
    'passed on. Trying again will not help before the application is fixed.',
};
const declared: Readonly<Record<'specification' | 'graphql', Wording>> = {
  specification: {
    title: 'The request does not fit the API',
    detail:
      'The request was not passed on because it does not fit the specification of this API. Compare method, path, ' +
      'parameters, media type and members of the body with its documentation.',
  },
  graphql: {
    title: 'The GraphQL document is not allowed',
    detail:
      'The request was not passed on because this API does not allow introspection, or limits how deep, how large or ' +
      'how costly a document is.',
  },
};

function wordingOf(status: number, subject: PageSubject): Wording {
  if (subject === 'response') return withheld;
  if (subject !== 'request') return declared[subject];
  return wordings[status] ?? otherWordings[status] ?? unknownWording;
}

const otherWordings: Readonly<Record<number, Wording>> = {
  429: { title: 'Too many requests', detail: 'Please slow down.' },
};
const unknownWording: Wording = { title: 'Request refused', detail: 'The request was not passed on.' };

export interface Page {
  readonly headers: readonly string[];
  readonly body: string;
}

/** Members of a problem document (RFC 9457) that go beyond status and words. */
export interface Problem {
  readonly type?: string;
  readonly [member: string]: unknown;
}

/** Which of the three forms an Accept field asks for; a browser that navigates names text/html. */
function formOf(accept: string | null): 'html' | 'text' | 'problem' {
  const types = accept?.toLowerCase() ?? '';
  if (types.includes('text/html')) return 'html';
  return types.includes('text/plain') && !types.includes('json') ? 'text' : 'problem';
}

const mediaTypes = {
  html: 'text/html; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  problem: 'application/problem+json',
} as const;

/**
 * A page for `status`, in the form that the client asked for. `requestId` is the only thing it can be found again by.
 * `subject` says which words are meant: 'response' where rules withheld the application's answer.
 */
export function renderPage(
  status: number,
  requestId: string,
  head: Pick<RequestHead, 'headers'>,
  subject: PageSubject = 'request',
  extra: Problem = {},
): Page {
  const wording = wordingOf(status, subject);
  const form = formOf(findField(head.headers, 'accept'));
  return {
    headers: [
      'Content-Type',
      mediaTypes[form],
      ...(form === 'html' ? policyFields : []),
      'Cache-Control',
      'no-store',
      'X-Content-Type-Options',
      'nosniff',
      'X-Request-Id',
      requestId,
      'Date',
      new Date().toUTCString(),
    ],
    body: renderForm[form](status, wording, requestId, subject, extra),
  };
}

const renderForm = {
  html: renderHtml,
  text: (status: number, { title, detail }: Wording, requestId: string): string =>
    `${status} ${title}\n\n${detail}\n\nReference: ${requestId}\n`,
  problem: (
    status: number,
    { title, detail }: Wording,
    requestId: string,
    _subject: PageSubject,
    { type = 'about:blank', ...members }: Problem,
  ): string => JSON.stringify({ type, title, status, detail, instance: requestId, ...members }),
} as const;

const css = [
  '',
  ':root{color-scheme:light dark;--ink:#1c2430;--soft:#5a6675;--paper:#f5f3ee;--card:#fff;--line:#d9d4c8;' +
    '--gate:#a3442f}',
  '@media (prefers-color-scheme:dark){:root{--ink:#e9e6df;--soft:#a4adb8;--paper:#14181e;--card:#1c222b;' +
    '--line:#343c47;--gate:#e0866f}}',
  '*{box-sizing:border-box}',
  'body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--paper);' +
    'color:var(--ink);font:1rem/1.6 system-ui,sans-serif}',
  'main{max-width:34rem;width:100%;background:var(--card);border:1px solid var(--line);' +
    'border-top:4px solid var(--gate);border-radius:.5rem;padding:2rem}',
  'h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0 .75rem}',
  'p{margin:.5rem 0}',
  '.status{color:var(--soft);font-variant-numeric:tabular-nums;margin:0}',
  'code{display:inline-block;padding:.15rem .5rem;border:1px solid var(--line);border-radius:.25rem;' +
    'font:0.95rem ui-monospace,monospace;overflow-wrap:anywhere}',
  '',
].join('\n');

/**
 * The page brings its own policy: nothing is loaded or run, and the one style sheet is allowed by its hash. So it needs
 * no exception in an operator's policy, and could run no script even if a value that an attacker chooses ever reached
 * it.
 */
const cssHash = createHash('sha256').update(css).digest('base64');
const policyFields = [
  'Content-Security-Policy',
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " + `style-src 'sha256-${cssHash}'`,
];

/** When a visitor should write to the operator. */
function occasionOf(status: number, subject: PageSubject): string {
  if (subject === 'response') return 'To have it looked at';
  return status >= 500 ? 'If this goes on' : 'If you think this is a mistake';
}

function renderHtml(status: number, wording: Wording, requestId: string, subject: PageSubject): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${status} ${wording.title}</title>
<style>${css}</style>
</head>
<body>
<main>
<p class="status">${status}</p>
<h1>${wording.title}</h1>
<p>${wording.detail}</p>
<p>${occasionOf(status, subject)}, tell the site's operator this reference:</p>
<p><code>${requestId}</code></p>
</main>
</body>
</html>
`;
}
