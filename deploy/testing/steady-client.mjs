// Clients that never stop: `node steady-client.mjs URL STATUS [URL STATUS…]` asks each address again and again, every
// time over a new connection, until its input ends; then it prints one line of figures. What was refused, broken off or
// answered otherwise counts as failed; a silence is the time between two answers of one address.
import { get } from 'node:http';
import { performance } from 'node:perf_hooks';

const pairs = [];
for (let at = 2; at + 1 < process.argv.length; at += 2) pairs.push([process.argv[at], Number(process.argv[at + 1])]);
let isOver = false;
let asked = 0;
const silences = new Map();
const answered = new Map(pairs.map(([url]) => [url, performance.now()]));
const failed = new Map();
const count = (what) => failed.set(what, (failed.get(what) ?? 0) + 1);

const ask = (url, wanted) =>
  new Promise((resolve) => {
    asked += 1;
    const done = (what) => {
      const nowMs = performance.now();
      if (what === null) {
        silences.set(url, Math.max(silences.get(url) ?? 0, nowMs - answered.get(url)));
        answered.set(url, nowMs);
      } else count(what);
      resolve();
    };
    const request = get(url, { agent: false, headers: { connection: 'close' }, timeout: 120_000 }, (answer) => {
      answer.resume();
      answer.once('end', () => done(answer.statusCode === wanted ? null : `${url} ${answer.statusCode}`));
      answer.once('error', (error) => done(`${url} ${error.code}`));
    });
    request.once('timeout', () => request.destroy(new Error('no answer in 120 s')));
    request.once('error', (error) => done(`${url} ${error.code ?? error.message}`));
  });

const loop = async ([url, wanted]) => {
  while (!isOver) {
    await ask(url, wanted);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
process.stdin.resume().once('end', () => (isOver = true));
await Promise.all(pairs.map(loop));
const failures = [...failed].map(([what, times]) => `${times} × ${what}`).join(', ');
const total = [...failed.values()].reduce((sum, times) => sum + times, 0);
const quiet = pairs.map(([url]) => `${new URL(url).port} ${((silences.get(url) ?? 0) / 1000).toFixed(1)} s`).join(', ');
console.log(`asked ${asked}, failed ${total}, longest silence ${quiet}${failures === '' ? '' : `: ${failures}`}`);
