// Refusals that a person meets in the browser's address bar: single sign-on leaves the console and comes back by
// redirects, so a JSON document would be the last thing on the screen. Programs still get the problem document.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { errorTable, type ApiError } from '../http-kit/index.js';

const style =
  'body{font:1rem/1.5 system-ui,sans-serif;margin:0;display:grid;place-items:center;min-height:100vh;' +
  'background:Canvas;color:CanvasText;color-scheme:light dark}main{max-width:34rem;padding:2rem}' +
  'h1{font-size:1.3rem}code{font-size:.85rem}';
const policy =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** The detail may quote what the provider sent: it is escaped, and the page may load and run nothing. */
export function sendRefusalPage(refusal: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const title = escape(errorTable[refusal.code].title);
  return reply
    .code(refusal.status)
    .headers({ 'content-security-policy': policy, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${style}</style></head>
<body><main>
<h1>${title}</h1>
<p>${escape(refusal.message)}</p>
<p><a href="/">Back to the login</a></p>
<p>If this happens again, give this number to your administrator: <code>${escape(request.id)}</code></p>
</main></body>
</html>
`);
}
