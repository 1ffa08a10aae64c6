// What an import would do, asked of a report with ten and with sixty thousand results over HTTP, on PostgreSQL and on
// the embedded database, of an application without findings and of one that has ten thousand of them: processor time
// of the control plane for a result, and how long other requests take meanwhile.
import type { BenchContext } from '../../context.js';
import { startControlPlane, startPostgres, type ControlPlane } from '../../control-plane.js';
import { cpuUs } from '../../cpu.js';
import { loadavg } from 'node:os';
import { quantile } from '../../statistics.js';
import { reportOf } from './import.js';

const sizes = [10_000, 60_000];
const knownCount = 10_000;
const cpuMsMax = 0.15;
const p99MsMax = 250;
const pauseMs = 20;

interface Previewed {
  readonly cpuMsEach: number;
  readonly seconds: number;
  readonly others: readonly number[];
}

/** How long the control plane takes for requests that somebody else asks, until `isDone`. */
async function askOthers({ url, token }: ControlPlane, isDone: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isDone()) {
    const began = performance.now();
    const reply = await fetch(`${url}/api/v1/applications?limit=1`, { headers: { authorization: `Bearer ${token}` } });
    await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`vm-preview: another request was answered ${reply.status}`);
    times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return times;
}

function formOf(application: string, count: number, changed: boolean): FormData {
  const form = new FormData();
  form.set('application_id', application);
  form.set('file', new Blob([...reportOf(count, changed)]), 'report.sarif');
  return form;
}

async function importThem(control: ControlPlane, application: string, count: number): Promise<void> {
  const reply = await fetch(`${control.url}/api/v1/imports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${control.token}` },
    body: formOf(application, count, false),
  });
  if (!reply.ok) throw new Error(`POST /imports answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
}

/** `known`: of the results, those that were imported before; a tenth of them says something else now. */
async function preview(control: ControlPlane, application: string, count: number, known: number): Promise<Previewed> {
  const form = formOf(application, count, known > 0);
  const cpuBefore = cpuUs(control.pid);
  const began = performance.now();
  let isDone = false;
  const sent = fetch(`${control.url}/api/v1/imports/preview`, {
    method: 'POST',
    headers: { authorization: `Bearer ${control.token}` },
    body: form,
  }).finally(() => (isDone = true));
  const [reply, others] = await Promise.all([sent, askOthers(control, () => isDone)]);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`POST /imports/preview answered ${reply.status}: ${text.slice(0, 300)}`);
  const { report } = JSON.parse(text) as { report: Record<string, number> };
  if (report['created'] !== count - known || report['updated'] !== known / 10)
    throw new Error(`vm-preview: of ${count} results ${report['created']} are new, ${report['updated']} changed`);
  return {
    cpuMsEach: (cpuUs(control.pid) - cpuBefore) / 1000 / count,
    seconds: (performance.now() - began) / 1000,
    others,
  };
}

async function measure(context: BenchContext, name: string, databaseUrl: string | null): Promise<void> {
  const control = await startControlPlane({ root: context.root, databaseUrl });
  try {
    const made = await control.call('POST', '/api/v1/applications', { name: 'Bench', environment: 'prod' });
    const application = String(made['id']);
    const counts = context.options.short ? sizes.slice(0, 1) : sizes;
    for (const [known, count] of [0, knownCount].flatMap((one) => counts.map((size) => [one, size] as const))) {
      const key = `vm-preview / ${name}, ${count} results${known === 0 ? '' : `, ${known} of them known`}`;
      if (known > 0 && count === counts[0]) await importThem(control, application, known);
      const { cpuMsEach, seconds, others } = await preview(control, application, count, known);
      const p99 = quantile(others, 0.99);
      context.recorder.add(`${key} / time`, 's', 'lower', seconds);
      context.recorder.add(`${key} / processor time a result, others included`, 'ms', 'lower', cpuMsEach);
      context.recorder.add(`${key} / other requests meanwhile, p99`, 'ms', 'lower', p99);
      context.recorder.add(`${key} / load of the machine`, 'processes', 'none', loadavg()[0] ?? Number.NaN);
      const held = (value: number, most: number): string => (value <= most ? 'held' : 'NOT HELD');
      context.progress(
        `${key}: ${seconds.toFixed(1)} s, ${cpuMsEach.toFixed(3)} ms of CPU a result (bar ${cpuMsMax}: ` +
          `${held(cpuMsEach, cpuMsMax)}), ${others.length} others, p99 ${p99.toFixed(0)} ms (bar ${p99MsMax}: ` +
          `${held(p99, p99MsMax)}), load ${(loadavg()[0] ?? 0).toFixed(1)}`,
      );
    }
  } finally {
    await control.stop();
  }
}

export async function vmPreviewCase(context: BenchContext): Promise<void> {
  await measure(context, 'embedded database', null);
  const database = await startPostgres();
  if (database === null) {
    context.recorder.note('vm-preview on PostgreSQL was left out: apt-get install postgresql');
    return;
  }
  try {
    await measure(context, 'PostgreSQL', database.url);
  } finally {
    await database.stop();
  }
}
