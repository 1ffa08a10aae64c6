// Reports of real tools, made on this machine from this repository and thrown away: bills of material and npm's audit
// by the npm that comes with Node, and SARIF of the linter of this project. Each is imported twice; every record has to be in one of the counts, none dropped that the format does
// not say is no finding, and the second import changes nothing. Nothing is asked of a registry: a tool that has to is
// left out where it cannot.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { BenchContext } from '../../context.js';
import { startControlPlane, type ControlPlane } from '../../control-plane.js';
import { findCommand } from '../../processes.js';

interface Tool {
  readonly name: string;
  /** Of POST /imports. */
  readonly format: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Records that the report has, counted without the importer. */
  readonly count: (text: string) => number;
  /** Records of a bill of material are components and no findings. */
  readonly hasFindings: boolean;
}

type Json = Record<string, unknown>;
const sarifResults = (text: string): number =>
  (JSON.parse(text) as { runs: { results?: unknown[] }[] }).runs.reduce((n, run) => n + (run.results?.length ?? 0), 0);
const listIn =
  (name: string) =>
  (text: string): number =>
    ((JSON.parse(text) as Json)[name] as unknown[] | undefined)?.length ?? 0;
/** Advisories only: a text in `via` names a package that is listed by itself. */
const advisories = (text: string): number =>
  Object.values((JSON.parse(text) as { vulnerabilities: Record<string, { via: unknown[] }> }).vulnerabilities).reduce(
    (sum, { via }) => sum + via.filter((one) => typeof one === 'object').length,
    0,
  );

const tools = (root: string): readonly Tool[] => {
  const bin = (name: string): string => join(root, 'node_modules', name);
  const npm = findCommand('npm') ?? 'npm';
  const sbom = (format: string): string[] => ['sbom', `--sbom-format=${format}`, '--package-lock-only'];
  const node = process.execPath;
  return [
    {
      name: 'npm sbom, CycloneDX',
      format: 'cyclonedx',
      command: npm,
      args: sbom('cyclonedx'),
      count: listIn('vulnerabilities'),
      hasFindings: false,
    },
    {
      name: 'npm sbom, SPDX',
      format: 'spdx',
      command: npm,
      args: sbom('spdx'),
      count: listIn('packages'),
      hasFindings: false,
    },
    {
      name: 'npm audit',
      format: 'npm-audit',
      command: npm,
      args: ['audit', '--json', '--package-lock-only'],
      count: advisories,
      hasFindings: true,
    },
    {
      name: 'oxlint, SARIF',
      format: 'sarif',
      command: node,
      args: [bin('oxlint/bin/oxlint'), '--format=sarif', '-W', 'all', 'vm-manager/imports'],
      count: sarifResults,
      hasFindings: true,
    },
  ];
};

/** What it wrote; null with a note where it cannot run here. Linters and audits end with 1 when they found something. */
function make(context: BenchContext, { name, command, args }: Tool): string | null {
  try {
    return execFileSync(command, [...args], {
      cwd: context.root,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 120_000,
    });
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (
      typeof stdout === 'string' &&
      stdout.trimStart().startsWith('{') &&
      !/^\s*\{\s*"(?:error|message)"/.test(stdout)
    )
      return stdout;
    context.recorder.note(`vm-real-tools: ${name} was left out: it did not run here`);
    return null;
  }
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
  return (JSON.parse(answer) as { report: Json }).report;
}

function check(tool: Tool, count: number, first: Json, again: Json): void {
  const of = (report: Json, name: string): number => Number(report[name] ?? 0);
  const taken = of(first, 'created') + of(first, 'duplicates_in_file') + of(first, 'updated') + of(first, 'unchanged');
  const wanted = tool.hasFindings ? count : 0;
  const faults = [
    ...(of(first, 'parsed') === count ? [] : [`${of(first, 'parsed')} of ${count} records were read`]),
    ...(taken === wanted ? [] : [`${taken} of ${wanted} became findings: ${JSON.stringify(first['problems'])}`]),
    ...(of(again, 'created') + of(again, 'updated') === 0 ? [] : ['the second import changed something']),
  ];
  if (faults.length > 0) throw new Error(`vm-real-tools, ${tool.name}: ${faults.join('; ').slice(0, 1000)}`);
}

export async function vmRealToolsCase(context: BenchContext): Promise<void> {
  const control = await startControlPlane({ root: context.root, databaseUrl: null });
  try {
    for (const tool of tools(context.root)) {
      const text = make(context, tool);
      if (text === null) continue;
      const made = await control.call('POST', '/api/v1/applications', { name: tool.name, environment: 'prod' });
      const id = String(made['id']);
      const count = tool.count(text);
      const start = performance.now();
      const first = await send(control, id, tool.format, text);
      const seconds = (performance.now() - start) / 1000;
      check(tool, count, first, await send(control, id, tool.format, text));
      context.progress(`vm-real-tools: ${tool.name}: ${count} records of ${text.length} bytes, none lost`);
      context.recorder.add(`vm-real-tools / ${tool.name} / records`, 'records', 'none', count);
      context.recorder.add(`vm-real-tools / ${tool.name} / import`, 's', 'lower', seconds);
    }
  } finally {
    await control.stop();
  }
}
