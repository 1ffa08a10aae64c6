// A report of fifty megabytes with a hundred thousand results over HTTP: into empty tables, the same again, and with a
// tenth of it changed, on PostgreSQL and on the embedded database. What counts is time and the largest resident memory
// of the control plane, which with the embedded database holds that database, too.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import type { BenchContext } from '../../context.js';
import { startControlPlane, startPostgres, type ControlPlane } from '../../control-plane.js';
import { residentBytes } from '../../cpu.js';

const results = 100_000;
const sampleMs = 50;
const boundary = 'bench-boundary';

/** 500 bytes a result: a message, a place with a snippet, a fingerprint, a rule out of two hundred. */
function resultOf(n: number, changed: boolean): string {
  const way = changed ? ', by another way' : '';
  const text = `Input of request ${n} reaches a sink without a check${way}. ${'path '.repeat(14)}`;
  return JSON.stringify({
    ruleId: `rule-${n % 200}`,
    ruleIndex: n % 200,
    level: (['error', 'warning', 'note'] as const)[n % 3],
    message: { text },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: `src/module-${n % 97}/part-${n % 1009}/file-${n % 5003}.ts`, uriBaseId: 'ROOT' },
          region: { startLine: 1 + (n % 900), startColumn: 3, snippet: { text: `send(query(${n}), ${n * 7});` } },
        },
      },
    ],
    partialFingerprints: { primaryLocationLineHash: `${(n * 2654435761).toString(16)}:${n}` },
  });
}

/** The report in pieces of a thousand results; every tenth result says something else where `changed`. */
export function* reportOf(count: number, changed: boolean): Generator<string> {
  const rules = Array.from({ length: 200 }, (_, n) => ({
    id: `rule-${n}`,
    shortDescription: { text: `What rule ${n} finds` },
    properties: { tags: ['security', `external/cwe/cwe-${20 + n}`], 'security-severity': String(1 + (n % 9)) },
  }));
  yield `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"bench","rules":${JSON.stringify(rules)}}},"results":[`;
  for (let from = 0; from < count; from += 1000) {
    const to = Math.min(from + 1000, count);
    const piece = Array.from({ length: to - from }, (_, i) => resultOf(from + i, changed && (from + i) % 10 === 0));
    yield `${from === 0 ? '' : ','}${piece.join(',')}`;
  }
  yield ']}]}';
}

interface Imported {
  readonly seconds: number;
  readonly peakMb: number;
  readonly megabytes: number;
  readonly report: Readonly<Record<string, number>>;
}

/** The largest memory that the process itself ever had, as the kernel keeps it. */
const highWaterMb = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;

async function send(
  { url, token, pid }: ControlPlane,
  application: string,
  count: number,
  changed: boolean,
): Promise<Imported> {
  let bytes = 0;
  const body = async function* (): AsyncGenerator<Uint8Array> {
    const field = `--${boundary}\r\nContent-Disposition: form-data; name="application_id"\r\n\r\n${application}\r\n`;
    const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="report.sarif"\r\n\r\n`;
    yield Buffer.from(field + file);
    for (const piece of reportOf(count, changed)) {
      const chunk = Buffer.from(piece);
      bytes += chunk.length;
      yield chunk;
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  };
  let peak = residentBytes(pid);
  const timer = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), sampleMs);
  const start = performance.now();
  try {
    const reply = await fetch(`${url}/api/v1/imports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: body() as never,
      duplex: 'half',
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`POST /imports answered ${reply.status}: ${text.slice(0, 300)}`);
    const seconds = (performance.now() - start) / 1000;
    const { report } = JSON.parse(text) as { report: Record<string, number> };
    return { seconds, peakMb: peak / 1_048_576, megabytes: bytes / 1_048_576, report };
  } finally {
    clearInterval(timer);
  }
}

function check(step: string, { report }: Imported, wanted: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(wanted))
    if (report[name] !== count) throw new Error(`vm-import, ${step}: ${name} is ${report[name]} and not ${count}`);
}

async function measure(context: BenchContext, name: string, databaseUrl: string | null): Promise<void> {
  const count = context.options.short ? results / 10 : results;
  const changedCount = count / 10;
  const control = await startControlPlane({ root: context.root, databaseUrl });
  const key = `vm-import / ${name}, ${count} results`;
  const add = (what: string, unit: string, value: number): void =>
    context.recorder.add(`${key} / ${what}`, unit, 'lower', value);
  try {
    add('idle, memory', 'MB', residentBytes(control.pid) / 1_048_576);
    const made = await control.call('POST', '/api/v1/applications', { name: 'Bench', environment: 'prod' });
    const steps = [
      ['first', false, { parsed: count, created: count }],
      ['the same again', false, { parsed: count, created: 0, updated: 0, reopened: 0, unchanged: count }],
      ['the same a third time', false, { parsed: count, created: 0, updated: 0, reopened: 0, unchanged: count }],
      ['a tenth changed', true, { parsed: count, created: 0, updated: changedCount, unchanged: count - changedCount }],
    ] as const;
    for (const [step, changed, wanted] of steps) {
      const done = await send(control, String(made['id']), count, changed);
      check(step, done, wanted);
      context.progress(
        `${key}, ${step}: ${done.megabytes.toFixed(0)} MB, ${done.seconds.toFixed(1)} s, ${done.peakMb.toFixed(0)} MB`,
      );
      add(`${step}, time`, 's', done.seconds);
      add(`${step}, memory`, 'MB', done.peakMb);
      context.recorder.add(`${key} / ${step}, load of the machine`, 'processes', 'none', loadavg()[0] ?? Number.NaN);
    }
    add('largest memory of the process', 'MB', highWaterMb(control.pid));
  } finally {
    await control.stop();
  }
}

export async function vmImportCase(context: BenchContext): Promise<void> {
  const database = await startPostgres();
  if (database === null) context.recorder.note('vm-import on PostgreSQL was left out: apt-get install postgresql');
  else {
    try {
      await measure(context, 'PostgreSQL', database.url);
    } finally {
      await database.stop();
    }
  }
  await measure(context, 'embedded database', null);
}
