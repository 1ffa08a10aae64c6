// How soon the console can be used, beside a data plane that serves: from the start of a navigation without any cache
// to the form of the login, and, for who is logged in, to the figures of the overview.
//   node build/console/e2e/interactive.js --password-file FILE [--url …] [--email …] [--waf http://127.0.0.1:8080]
//     [--rate 100] [--times 10] [--at-most 1500]
// --rate: ordinary requests a second to --waf meanwhile; 0: none. Ends with 1 when a median is above --at-most ms.
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { consoleFlags, launchChromium, logInAs, passwordIn } from './browser.js';

const sendEveryMs = 50;

/** Sends ordinary requests at a steady rate; returns what ends it, with how many were answered. */
function sendTraffic(waf: string, rate: number): () => number {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let [answered, due] = [0, 0];
  const timer = setInterval(() => {
    for (due += (rate * sendEveryMs) / 1000; due >= 1; due -= 1)
      request(`${waf}/search?q=lamp&size=40`, { agent }, (reply) => {
        reply.resume();
        answered += 1;
      })
        .on('error', () => undefined) // counted by what is answered
        .end();
  }, sendEveryMs);
  return () => {
    clearInterval(timer);
    agent.destroy();
    return answered;
  };
}

/** Runs in the page before anything of it: notes when what is waited for is there and can be used. */
function watchFor(selector: string): void {
  const state = window as unknown as { usableMs?: number };
  const look = (): void => {
    const found = document.querySelector<HTMLElement>(selector);
    if (state.usableMs !== undefined || found === null || found.matches(':disabled')) return;
    // drawn: the second frame begins when the first has been painted
    requestAnimationFrame(() => requestAnimationFrame(() => void (state.usableMs ??= performance.now())));
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, attributes: true });
}

/** Milliseconds from the start of the navigation, in a browser context that has nothing cached. */
async function usableMs(browser: Browser, url: string, selector: string, cookies: Cookies): Promise<number> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 900 } });
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.addInitScript(watchFor, selector);
  await page.goto('/', { waitUntil: 'commit' });
  const found = await page.waitForFunction(() => (window as unknown as { usableMs?: number }).usableMs);
  const ms = (await found.jsonValue()) ?? Number.NaN;
  await context.close();
  return ms;
}

type Cookies = Awaited<ReturnType<Awaited<ReturnType<Browser['newContext']>>['cookies']>>;

async function sessionOf(browser: Browser): Promise<Cookies> {
  const context = await browser.newContext({ baseURL: values.url });
  const page = await context.newPage();
  await logInAs(page, values.email, passwordIn(values));
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

const { values } = parseArgs({
  options: {
    ...consoleFlags,
    waf: { type: 'string', default: 'http://127.0.0.1:8080' },
    rate: { type: 'string', default: '100' },
    times: { type: 'string', default: '10' },
    'at-most': { type: 'string', default: '1500' },
  },
});
const browser = await launchChromium();
const session = await sessionOf(browser);
const end = sendTraffic(values.waf, Number(values.rate));
let isLate = false;
for (const [what, selector, cookies] of [
  ['the form of the login', '#login-email', []],
  ['the figures of the overview', '.figure .value', session],
] as const) {
  const taken: number[] = [];
  for (let at = 0; at < Number(values.times); at += 1)
    taken.push(await usableMs(browser, values.url, selector, [...cookies]));
  taken.sort((left, right) => left - right);
  const median = taken[Math.floor(taken.length / 2)] ?? Number.NaN;
  isLate ||= !(median <= Number(values['at-most']));
  const [least = 0, most = 0] = [taken[0], taken.at(-1)];
  console.log(
    `${what}: median ${median.toFixed(0)} ms, ${least.toFixed(0)} to ${most.toFixed(0)} ms of ${taken.length}`,
  );
}
console.log(`${end()} requests were answered meanwhile`);
await browser.close();
process.exitCode = isLate ? 1 : 0;
