// Reports of real tools, made on this machine and thrown away: bills of material and npm's audit by the npm that comes
// with Node, what tools of the package registry (ESLint with its rules of security, cyclonedx-npm, Retire.js; installed
// into a folder that goes with the case) make of this project and of an old one, and what Debian's say where they are
// installed (Bandit, Flawfinder, Lynis: that one as root, for minutes). Each is imported twice; every record has to be
// in one of the counts, none dropped that the format does not say is no finding, and the second import changes
// nothing. What cannot run here is left out, and named. npm and Retire.js are told on loopback what is vulnerable:
// what the internet would say is another thing every day.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { BenchContext } from '../../context.js';
import { startControlPlane, type ControlPlane } from '../../control-plane.js';
import { temporaryDirectory } from '../../processes.js';
import { toolsOf } from './tools/list.js';
import { startRegistry } from './tools/registry.js';
import type { Json, Tool } from './tools/tool.js';
import { setUp } from './tools/workshop.js';

const run = promisify(execFile);

/** What it wrote; null with a note where it cannot run here. Linters and audits that found something end with 1. */
async function make(context: BenchContext, tool: Tool): Promise<string | null> {
  const { name, command, args, folder = context.root, file, timeoutMs = 120_000 } = tool;
  const ran = await run(command, [...args], { cwd: folder, maxBuffer: 256 * 1024 * 1024, timeout: timeoutMs }).catch(
    (error: unknown) => error as { readonly stdout?: string; readonly stderr?: string },
  );
  const text = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : (ran.stdout ?? '');
  if (/^\s*[{[<#]/.test(text) && !/^\s*\{\s*"(?:error|message)"/.test(text)) return text;
  const why = (ran.stderr ?? '').split('\n').find((line) => /error/i.test(line)) ?? 'it wrote no report';
  context.recorder.note(`vm-real-tools: ${name} was left out: ${why.slice(0, 200)}`);
  return null;
}

async function send(control: ControlPlane, application: string, format: string, text: string): Promise<Json> {
  const query = new URLSearchParams({ application_id: application, format });
  const reply = await fetch(`${control.url}/api/v1/imports?${query.toString()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${control.token}`, 'content-type': 'application/octet-stream' },
    body: text,
  });
  const answer = await reply.text();
  if (!reply.ok) throw new Error(`POST /imports answered ${reply.status}: ${answer.slice(0, 300)}`);
  return JSON.parse(answer) as Json;
}

const of = (report: Json, name: string): number => Number(report[name] ?? 0);

function faultsOf(tool: Tool, text: string, first: Json, again: Json): string[] {
  const count = tool.count(text);
  const taken = of(first, 'created') + of(first, 'duplicates_in_file') + of(first, 'updated') + of(first, 'unchanged');
  const wanted = (tool.findings ?? tool.count)(text);
  const [listed, bill, billAgain] = [
    tool.components?.(text),
    (first['components'] ?? {}) as Json,
    (again['components'] ?? {}) as Json,
  ];
  return [
    ...(of(first, 'parsed') === count ? [] : [`${of(first, 'parsed')} of ${count} records were read`]),
    ...(taken === wanted ? [] : [`${taken} of ${wanted} became findings: ${JSON.stringify(first['problems'])}`]),
    ...(listed === undefined || of(bill, 'created') + of(bill, 'duplicates_in_file') === listed
      ? []
      : [`of ${listed} components became ${JSON.stringify(bill)}`]),
    ...([again, billAgain].every((one) => of(one, 'created') + of(one, 'updated') === 0)
      ? []
      : ['the second import changed something']),
  ];
}

async function measure(context: BenchContext, control: ControlPlane, tool: Tool): Promise<void> {
  const text = await make(context, tool);
  if (text === null) return;
  const made = await control.call('POST', '/api/v1/applications', { name: tool.name, environment: 'prod' });
  const id = String(made['id']);
  const start = performance.now();
  const first = await send(control, id, tool.format, text);
  const seconds = (performance.now() - start) / 1000;
  // what it is has to be found out, too
  const again = await send(control, id, 'auto', text);
  const found = (again['input'] as Json)['format'];
  const faults = [
    ...faultsOf(tool, text, first['report'] as Json, again['report'] as Json),
    ...(found === tool.format ? [] : [`it was taken for ${String(found)}`]),
  ];
  if (faults.length > 0) throw new Error(`vm-real-tools, ${tool.name}: ${faults.join('; ').slice(0, 1000)}`);
  const count = tool.count(text) + (tool.components?.(text) ?? 0);
  context.progress(`vm-real-tools: ${tool.name}: ${count} records of ${text.length} bytes, none lost`);
  context.recorder.add(`vm-real-tools / ${tool.name} / records`, 'records', 'none', count);
  context.recorder.add(`vm-real-tools / ${tool.name} / import`, 's', 'lower', seconds);
}

export async function vmRealToolsCase(context: BenchContext): Promise<void> {
  const control = await startControlPlane({ root: context.root, databaseUrl: null });
  const registry = await startRegistry();
  const folder = temporaryDirectory('tools');
  try {
    context.progress('vm-real-tools: tools are installed');
    const workshop = await setUp(folder.path);
    for (const [name, tool] of Object.entries(toolsOf(context.root, workshop, registry.url)))
      if (tool === null) context.recorder.note(`vm-real-tools: ${name} was left out: it is not installed here`);
      else await measure(context, control, { name, ...tool });
  } finally {
    folder.remove();
    registry.stop();
    await control.stop();
  }
}
