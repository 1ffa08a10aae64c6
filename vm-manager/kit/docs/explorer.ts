// The explorer: one page, one script, one style sheet, served from here, so that it works without the internet and
// under a policy that allows nothing else. It shows openapi.json and can try a request with a token that is pasted in.
import type { App } from '#http-kit';
import { ApiError } from '#http-kit';
import { script, styles } from './explorer-assets.js';
import { base } from '../mount.js';
import { answerRefusal } from '../refuse.js';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = (brand: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(brand)} vulnerability management API</title>
<link rel="stylesheet" href="${base}/docs/explorer.css"></head>
<body><header><h1>${escapeHtml(brand)} vulnerability management API</h1>
<label>Token <input id="token" type="password" autocomplete="off" placeholder="apt_… or a session token"></label>
<label>Find <input id="find" type="search" placeholder="path or words"></label></header>
<main id="main" data-document="${base}/openapi.json"><p>Loading…</p></main>
<noscript>The document is at <a href="${base}/openapi.json">${base}/openapi.json</a>.</noscript>
<script src="${base}/docs/explorer.js"></script></body></html>
`;

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Paths that anybody may read; the rows of the control plane's access table are made of them. */
export const explorerPaths = [
  '/docs',
  `${base}/docs`,
  `${base}/docs/explorer.js`,
  `${base}/docs/explorer.css`,
  `${base}/openapi.json`,
  // the same, where lists of endpoints look for it
  `${base}/meta/openapi.json`,
] as const;

export function registerExplorer(app: App, brand: string, document: () => Record<string, unknown>): void {
  const kept: { text: string | null } = { text: null };
  const asJson = ['application/json; charset=utf-8', () => (kept.text ??= JSON.stringify(document()))] as const;
  const files: Record<string, readonly [string, () => string]> = {
    '/docs': ['text/html; charset=utf-8', () => page(brand)],
    [`${base}/docs`]: ['text/html; charset=utf-8', () => page(brand)],
    [`${base}/docs/explorer.js`]: ['text/javascript; charset=utf-8', () => script],
    [`${base}/docs/explorer.css`]: ['text/css; charset=utf-8', () => styles],
    [`${base}/openapi.json`]: asJson,
    [`${base}/meta/openapi.json`]: asJson,
  };
  for (const path of explorerPaths) {
    app.get(path, { schema: { hide: true }, errorHandler: answerRefusal }, async (_request, reply) => {
      const file = files[path];
      if (file === undefined) throw new ApiError('not_found', `There is no ${path}.`);
      return reply
        .headers({
          'content-security-policy': policy,
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        })
        .type(file[0])
        .send(file[1]());
    });
  }
}
