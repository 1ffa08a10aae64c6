// Reports of real tools, made on this machine from this repository and thrown away: bills of material and npm's audit
// by the npm that comes with Node, SARIF of the linter of this project, and, where they are on the PATH, a bill by
// cyclonedx-npm, SARIF of ESLint with its rules of security, and what Lynis says of this host (as root, for minutes).
// Each is imported twice; every record has to be in one of the counts, none dropped that the format does not say is no
// finding, and the second import changes nothing. Nothing is asked of a registry: a tool that has to is left out where
// it cannot. retire is not among them: its list of holes is not in its package, and is fetched from the internet.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BenchContext } from '../../context.js';
import { startControlPlane, type ControlPlane } from '../../control-plane.js';
import { findCommand, temporaryDirectory } from '../../processes.js';

interface Tool {
  readonly name: string;
  /** Of POST /imports. */
  readonly format: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Records that the report has, counted without the importer. */
  readonly count: (text: string) => number;
  /** Of these the findings; absent: all of them. Records of a bill of material are components and no findings. */
  readonly findings?: (text: string) => number;
  /** Where it writes its report; absent: to its output. */
  readonly file?: string;
  /** Absent: two minutes. */
  readonly timeoutMs?: number;
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

const none = (): number => 0;
const lynisLines =
  (names: string) =>
  (text: string): number =>
    text.match(new RegExp(`^(?:${names})\\[\\]=`, 'gm'))?.length ?? 0;

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
      findings: none,
    },
    {
      name: 'npm sbom, SPDX',
      format: 'spdx',
      command: npm,
      args: sbom('spdx'),
      count: listIn('packages'),
      findings: none,
    },
    {
      name: 'npm audit',
      format: 'npm-audit',
      command: npm,
      args: ['audit', '--json', '--package-lock-only'],
      count: advisories,
    },
    {
      name: 'oxlint, SARIF',
      format: 'sarif',
      command: node,
      args: [bin('oxlint/bin/oxlint'), '--format=sarif', '-W', 'all', 'vm-manager/imports'],
      count: sarifResults,
    },
  ];
};

/** ESLint with the rules of security and without those of the project, over what the build has made of a folder. */
function eslint(root: string, folder: string): Tool | null {
  const command = findCommand('eslint');
  if (command === null) return null;
  const installed = realpathSync(command).split('/eslint/')[0] ?? '';
  const [plugin, formatter] = [
    join(installed, 'eslint-plugin-security/index.js'),
    join(installed, '@microsoft/eslint-formatter-sarif/sarif.js'),
  ];
  if (!existsSync(plugin) || !existsSync(formatter)) return null;
  const config = join(folder, 'eslint.config.mjs');
  writeFileSync(
    config,
    `import security from ${JSON.stringify(pathToFileURL(plugin).href)};\n` +
      'export default [security.configs.recommended];\n',
  );
  return {
    name: 'ESLint with rules of security, SARIF',
    format: 'sarif',
    command,
    args: ['--config', config, '--no-inline-config', '--format', formatter, join(root, 'build/vm-manager')],
    count: sarifResults,
  };
}

/** The tools that this project does not bring along; those that are not installed are named as such. */
function guests(context: BenchContext, folder: string): readonly Tool[] {
  const bill = findCommand('cyclonedx-npm');
  const audit = findCommand('lynis');
  const file = join(folder, 'lynis.dat');
  const found: Readonly<Record<string, Tool | null>> = {
    'cyclonedx-npm':
      bill === null
        ? null
        : {
            name: 'cyclonedx-npm',
            format: 'cyclonedx',
            command: bill,
            args: ['--package-lock-only', '--output-format', 'JSON', '--output-file', '-'],
            count: listIn('vulnerabilities'),
            findings: none,
          },
    'eslint with eslint-plugin-security and @microsoft/eslint-formatter-sarif': eslint(context.root, folder),
    lynis:
      audit === null
        ? null
        : {
            name: 'Lynis',
            format: 'lynis',
            command: audit,
            args: ['audit', 'system', '--quick', '--report-file', file, '--log-file', join(folder, 'lynis.log')],
            count: lynisLines('warning|suggestion|vulnerable_package|manual|manual_event|exception_event'),
            findings: lynisLines('warning|suggestion|vulnerable_package'),
            file,
            timeoutMs: 15 * 60_000,
          },
  };
  for (const [name, tool] of Object.entries(found))
    if (tool === null) context.recorder.note(`vm-real-tools: ${name} was left out: it is not on the PATH`);
  return Object.values(found).filter((tool) => tool !== null);
}

/** What it wrote; null with a note where it cannot run here. Linters and audits that found something end with 1. */
function make(context: BenchContext, { name, command, args, file, timeoutMs = 120_000 }: Tool): string | null {
  try {
    const output = execFileSync(command, [...args], {
      cwd: context.root,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: timeoutMs,
    });
    return file === undefined ? output : readFileSync(file, 'utf8');
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

function check(tool: Tool, text: string, count: number, first: Json, again: Json): void {
  const of = (report: Json, name: string): number => Number(report[name] ?? 0);
  const taken = of(first, 'created') + of(first, 'duplicates_in_file') + of(first, 'updated') + of(first, 'unchanged');
  const wanted = (tool.findings ?? tool.count)(text);
  const faults = [
    ...(of(first, 'parsed') === count ? [] : [`${of(first, 'parsed')} of ${count} records were read`]),
    ...(taken === wanted ? [] : [`${taken} of ${wanted} became findings: ${JSON.stringify(first['problems'])}`]),
    ...(of(again, 'created') + of(again, 'updated') === 0 ? [] : ['the second import changed something']),
  ];
  if (faults.length > 0) throw new Error(`vm-real-tools, ${tool.name}: ${faults.join('; ').slice(0, 1000)}`);
}

export async function vmRealToolsCase(context: BenchContext): Promise<void> {
  const control = await startControlPlane({ root: context.root, databaseUrl: null });
  const folder = temporaryDirectory('tools');
  try {
    for (const tool of [...tools(context.root), ...guests(context, folder.path)]) {
      const text = make(context, tool);
      if (text === null) continue;
      const made = await control.call('POST', '/api/v1/applications', { name: tool.name, environment: 'prod' });
      const id = String(made['id']);
      const count = tool.count(text);
      const start = performance.now();
      const first = await send(control, id, tool.format, text);
      const seconds = (performance.now() - start) / 1000;
      check(tool, text, count, first, await send(control, id, tool.format, text));
      context.progress(`vm-real-tools: ${tool.name}: ${count} records of ${text.length} bytes, none lost`);
      context.recorder.add(`vm-real-tools / ${tool.name} / records`, 'records', 'none', count);
      context.recorder.add(`vm-real-tools / ${tool.name} / import`, 's', 'lower', seconds);
    }
  } finally {
    folder.remove();
    await control.stop();
  }
}
