// What the live list of security events costs a browser: attacks are sent to the protected port at a steady rate, and
// the processor time and memory of the page's process are told every ten seconds.
//   node build/console/e2e/live-load.js --password-file FILE [--url …] [--email …] [--waf http://127.0.0.1:8080]
//     [--rate 200] [--seconds 180]
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { consoleFlags, launchChromium, logInAs, passwordIn } from './browser.js';

const tellEveryMs = 10_000;
const stepMs = 50;

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function attack(waf: string, number: number): void {
  const asked = request(`${waf}/search?n=${number}&q=1'%20OR%20'1'='1`, { agent }, (reply) => reply.resume());
  asked.on('error', () => undefined); // counted by what arrives
  asked.end();
}

interface Cost {
  /** Seconds of processor time of the page's process, all threads. */
  readonly cpu: number;
  readonly heapBytes: number;
}

async function costOf(page: Page): Promise<Cost> {
  const browser = page.context().browser();
  const whole = await browser?.newBrowserCDPSession();
  const { processInfo = [] } = (await whole?.send('SystemInfo.getProcessInfo')) ?? {};
  await whole?.detach();
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  const cpu = processInfo.filter(({ type }) => type === 'renderer').reduce((sum, one) => sum + one.cpuTime, 0);
  return { cpu, heapBytes: usedSize };
}

const { values } = parseArgs({
  options: {
    ...consoleFlags,
    waf: { type: 'string', default: 'http://127.0.0.1:8080' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '180' },
  },
});
const browser = await launchChromium();
const context = await browser.newContext({ baseURL: values.url, viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
await logInAs(page, values.email, passwordIn(values));
await page.goto('/soc');
await page.getByText('live', { exact: true }).waitFor();
const perMs = Number(values.rate) / 1000;
const startedMs = performance.now();
let sent = 0;
let told = { atMs: startedMs, cost: await costOf(page) };
const first = told;
while (performance.now() - startedMs < Number(values.seconds) * 1000) {
  const due = Math.floor((performance.now() - startedMs) * perMs);
  for (; sent < due; sent += 1) attack(values.waf, sent);
  if (performance.now() - told.atMs >= tellEveryMs) {
    const now = { atMs: performance.now(), cost: await costOf(page) };
    const share = (100 * (now.cost.cpu - told.cost.cpu)) / ((now.atMs - told.atMs) / 1000);
    const shown = await page.locator('.table').getAttribute('aria-rowcount');
    console.log(
      `${Math.round((now.atMs - startedMs) / 1000)} s: ${share.toFixed(1)} % of a core, ` +
        `heap ${(now.cost.heapBytes / 1e6).toFixed(1)} MB, ${shown} rows, ${sent} sent`,
    );
    told = now;
  }
  await pause(stepMs);
}
const whole = (100 * (told.cost.cpu - first.cost.cpu)) / ((told.atMs - first.atMs) / 1000);
console.log(`all of it: ${whole.toFixed(1)} % of a core at ${values.rate} events a second`);
agent.destroy();
await browser.close();
