// What a crawler could walk in for ever: calendars, identities in paths, paths that grow, pages that are always new.
import { randomBytes } from 'node:crypto';
import { html, type Ask } from './page.js';

const slug = (): string =>
  randomBytes(6)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '');

/** Answers where the address is one of a trap. */
export function trapOf({ reply, request, url }: Ask): boolean {
  if (request.method !== 'GET') return false;
  const { pathname } = url;
  const month = /^\/calendar\/(\d+)\/(\d+)$/.exec(pathname);
  if (month !== null) {
    const next = Number(month[1]) * 12 + Number(month[2]);
    html(reply, `<a href="/calendar/${Math.floor(next / 12)}/${(next % 12) + 1}">next</a>`);
  } else if (pathname === '/days') {
    const next = Number(url.searchParams.get('year') ?? 2026) + 1;
    html(reply, `<a href="/days?year=${next}&month=1">next</a>`);
  } else if (pathname.startsWith('/s/')) {
    const own = randomBytes(6).toString('hex');
    html(reply, `<a href="/s/${own}/home">home</a><a href="/s/${own}/news">news</a>`);
  } else if (pathname.startsWith('/loop/'))
    html(reply, `<a href="${pathname}a/">deeper</a><a href="${pathname}b/">b</a>`);
  else if (pathname.startsWith('/blog/'))
    html(reply, [slug(), slug(), slug()].map((one) => `<a href="/blog/${one}">${one}</a>`).join(''));
  else return false;
  return true;
}
