// What can be read from answers that the crawl has anyway. One finding for each kind and site, with the first page that
// shows it; those of a page's own contents are one for each page.
import { readPage, elementsOf, attributeOf } from '../crawl/html.js';
import { readCookie } from '../http/session.js';
import type { CheckText, Exchange } from '../model.js';
import { readable } from './check.js';

export interface PassiveCheck extends CheckText {
  /** site: one finding, however many pages. page: one for each. */
  readonly of: 'site' | 'page';
  /** What shows it; null: nothing does. */
  readonly look: (exchange: Exchange) => { readonly why: string; readonly param?: string } | null;
}

const isHtml = ({ headers, status }: Exchange): boolean => status < 300 && /html/i.test(headers['content-type'] ?? '');
const isHttps = ({ request }: Exchange): boolean => request.url.startsWith('https:');
const sessionName = /sess|sid$|token|auth|jwt|login|remember/i;

const missing =
  (name: string, applies: (exchange: Exchange) => boolean, or?: (exchange: Exchange) => boolean) =>
  (exchange: Exchange) =>
    applies(exchange) && exchange.headers[name] === undefined && or?.(exchange) !== true
      ? { why: `The answer has no header ${name}.` }
      : null;

const cookieWithout =
  (flag: RegExp, name: string, applies: (exchange: Exchange) => boolean) => (exchange: Exchange) => {
    if (!applies(exchange)) return null;
    for (const line of exchange.cookies) {
      const cookie = readCookie(line);
      if (cookie === null || cookie.value === null || !sessionName.test(cookie.name)) continue;
      if (
        !line
          .split(';')
          .slice(1)
          .some((part) => flag.test(part.trim()))
      )
        return { why: `The cookie ${cookie.name} is set without ${name}.`, param: cookie.name };
    }
    return null;
  };

/** Frames of a program's stack, in the forms of several languages. */
const stackTraces: readonly RegExp[] = [
  /\n\s+at [\w$.<>[\] ]+ ?\([^()\n]+:\d+:\d+\)/,
  /Traceback \(most recent call last\):/,
  /\n\s+at [\w.$]+\(\w+\.java:\d+\)/,
  /<b>(?:Fatal error|Warning)<\/b>:.+ on line <b>\d+|\bin \/[\w/.-]+\.php:\d+/,
];

export const hasTrace = ({ body }: Exchange): boolean => {
  const text = readable(body);
  return stackTraces.some((form) => form.test(text));
};

const secretForms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----/, 'a private key'],
  [/\bAKIA[0-9A-Z]{16}\b/, 'a key of AWS'],
  [/\bghp_[A-Za-z0-9]{36}\b/, 'a token of GitHub'],
  [/\bglpat-[\w-]{20}\b/, 'a token of GitLab'],
  [/\b[sr]k_live_[A-Za-z0-9]{20,}\b/, 'a key of Stripe'],
  [/\bSG\.[\w-]{22}\.[\w-]{43}\b/, 'a key of SendGrid'],
  [/\bxox[bp]-\d{8,}-[\w-]{20,}\b/, 'a token of Slack'],
  [
    /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqp):\/\/[^:@\s/"']+:[^@\s/"']{3,}@/,
    'an address with a password',
  ],
];

function weakForm({ request, body, cookies, headers }: Exchange) {
  if (!/html/i.test(headers['content-type'] ?? '')) return null;
  for (const form of readPage(body, request.url).forms) {
    if (form.method !== 'POST') continue;
    const hasToken = form.fields.some(({ name }) => /csrf|xsrf|token|nonce|authenticity/i.test(name));
    const isLogin = form.fields.some(({ type }) => type === 'password') || /search/i.test(form.action);
    const own = [...cookies, request.headers['cookie'] ?? ''].some((one) => sessionName.test(one.split('=')[0] ?? ''));
    if (!hasToken && !isLogin && own) return { why: `The form to ${new URL(form.action).pathname} has no token.` };
  }
  return null;
}

function mixed(exchange: Exchange) {
  if (!isHtml(exchange) || !isHttps(exchange)) return null;
  const found = elementsOf(exchange.body).find(
    (one) =>
      ['script', 'iframe', 'link'].includes(one.tagName) &&
      /^http:/i.test(attributeOf(one, 'src') ?? attributeOf(one, 'href') ?? ''),
  );
  return found === undefined ? null : { why: 'The page loads parts of itself without encryption.' };
}

function plainPassword(exchange: Exchange) {
  if (!isHtml(exchange) || isHttps(exchange)) return null;
  const { hostname } = new URL(exchange.request.url);
  const hasField = elementsOf(exchange.body).some(
    (one) => one.tagName === 'input' && attributeOf(one, 'type') === 'password',
  );
  return hasField && !/^(?:localhost|127\.|\[::1\])/.test(hostname)
    ? { why: 'A password is sent without encryption.' }
    : null;
}

function banner({ headers }: Exchange) {
  for (const name of ['server', 'x-powered-by', 'x-aspnet-version'])
    if (/\d+\.\d+/.test(headers[name] ?? '')) return { why: `${name}: ${(headers[name] ?? '').slice(0, 80)}` };
  return null;
}

const secretIn = ({ body }: Exchange) => {
  const found = secretForms.find(([form]) => form.test(body));
  return found === undefined ? null : { why: `The answer has ${found[1]} in it.` };
};

const row = (
  id: string,
  [title, severity, cwe]: readonly [string, CheckText['severity'], number],
  of: PassiveCheck['of'],
  [description, remediation]: readonly [string, string],
  look: PassiveCheck['look'],
): PassiveCheck => ({ id, title, severity, cwe, of, description, remediation, look });

const frameAncestors = ({ headers }: Exchange): boolean =>
  /frame-ancestors/i.test(headers['content-security-policy'] ?? '');

export const passiveChecks: readonly PassiveCheck[] = [
  row(
    'no-csp',
    ['No content security policy', 'low', 693],
    'site',
    ['Pages do not say which scripts belong to them.', 'Send Content-Security-Policy with every page.'],
    missing('content-security-policy', isHtml),
  ),
  row(
    'no-hsts',
    ['No HTTP Strict Transport Security', 'low', 319],
    'site',
    ['Browsers may be led to the site without encryption.', 'Send Strict-Transport-Security with a long max-age.'],
    missing('strict-transport-security', isHttps),
  ),
  row(
    'no-nosniff',
    ['Browsers may guess types of answers', 'info', 693],
    'site',
    ['Without nosniff a browser may run what is no script.', 'Send X-Content-Type-Options: nosniff.'],
    missing('x-content-type-options', isHtml),
  ),
  row(
    'framable',
    ['Pages may be framed by other sites', 'low', 1021],
    'site',
    [
      'Another site can lay itself over the page (clickjacking).',
      'Send frame-ancestors in the policy, or X-Frame-Options.',
    ],
    missing('x-frame-options', isHtml, frameAncestors),
  ),
  row(
    'cookie-httponly',
    ['Session cookie without HttpOnly', 'medium', 1004],
    'site',
    ['Scripts can read the cookie of the session.', 'Set it with HttpOnly.'],
    cookieWithout(/^httponly$/i, 'HttpOnly', () => true),
  ),
  row(
    'cookie-secure',
    ['Session cookie without Secure', 'medium', 614],
    'site',
    ['The cookie is sent without encryption, too.', 'Set it with Secure.'],
    cookieWithout(/^secure$/i, 'Secure', isHttps),
  ),
  row(
    'cookie-samesite',
    ['Session cookie without SameSite', 'low', 1275],
    'site',
    ['Other sites can make a browser send the cookie.', 'Set it with SameSite=Lax or Strict.'],
    cookieWithout(/^samesite=(?:lax|strict)/i, 'SameSite', () => true),
  ),
  row(
    'version-banner',
    ['Version of the software', 'info', 200],
    'site',
    ['The answer says which version of which software serves it.', 'Leave versions out of headers.'],
    banner,
  ),
  row(
    'stack-trace',
    ['Stack trace in an answer', 'low', 209],
    'page',
    [
      'An error shows files and functions of the program.',
      'Show errors with a number only; write the rest to the log.',
    ],
    (exchange) => (hasTrace(exchange) ? { why: 'The answer has frames of a stack in it.' } : null),
  ),
  row(
    'secret-in-answer',
    ['Secret in an answer', 'high', 200],
    'page',
    ['The answer has a credential in it.', 'Take it out, and renew it: it has been public.'],
    secretIn,
  ),
  row(
    'form-without-token',
    ['Form without protection against forgery', 'medium', 352],
    'page',
    [
      'Another site can send this form with the session of a user.',
      'Put a token of the session into every form that changes something.',
    ],
    weakForm,
  ),
  row(
    'mixed-content',
    ['Mixed content', 'low', 311],
    'page',
    ['Parts of the page can be changed on their way.', 'Load them with https.'],
    mixed,
  ),
  row(
    'plain-password',
    ['Password without encryption', 'high', 319],
    'page',
    ['The page takes a password and is served without encryption.', 'Serve it with https alone.'],
    plainPassword,
  ),
];
