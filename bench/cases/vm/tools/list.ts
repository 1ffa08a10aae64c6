// Every tool, run by what is there: the npm that comes with Node, the linter of this project, what the workshop could
// install, and what Debian carries.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand } from '../../../processes.js';
import {
  advisories,
  affected,
  elements,
  listIn,
  lynisLines,
  nestedComponents,
  none,
  retired,
  sarifResults,
  type Tool,
} from './tool.js';
import { npm, type Workshop } from './workshop.js';

/** Name → the tool; null: it is not here. */
export type Tools = Readonly<Record<string, Omit<Tool, 'name'> | null>>;

const bill = { format: 'cyclonedx', count: listIn('vulnerabilities'), findings: none };

const ownTools = (root: string): Tools => {
  const sbom = (format: string): string[] => ['sbom', `--sbom-format=${format}`, '--package-lock-only'];
  return {
    'npm sbom, CycloneDX': { ...bill, command: npm, args: sbom('cyclonedx'), components: nestedComponents },
    'npm sbom, SPDX': { format: 'spdx', command: npm, args: sbom('spdx'), count: listIn('packages'), findings: none },
    'npm audit, asking the registry of this machine': {
      format: 'npm-audit',
      command: npm,
      args: ['audit', '--json', '--package-lock-only'],
      count: advisories,
    },
    'oxlint, SARIF': {
      format: 'sarif',
      command: process.execPath,
      args: [join(root, 'node_modules/oxlint/bin/oxlint'), '--format=sarif', ...['-W', 'all', 'vm-manager/imports']],
      count: sarifResults,
    },
  };
};

/** ESLint with the rules of security alone, over the weak source and what the build has made of a room. */
function eslintOf(root: string, tools: string): Omit<Tool, 'name'> {
  const config = join(tools, 'eslint.config.mjs');
  writeFileSync(
    config,
    "import security from 'eslint-plugin-security';\n" +
      "export default [{ files: ['**/*.js'], ...security.configs.recommended }];\n",
  );
  const formatter = join(tools, 'node_modules/@microsoft/eslint-formatter-sarif/sarif.js');
  const built = join(root, 'build/vm-manager');
  return {
    format: 'sarif',
    command: process.execPath,
    args: [
      join(tools, 'node_modules/eslint/bin/eslint.js'),
      ...['--config', config, '--no-inline-config', '--format', formatter],
      ...[join(tools, '../sources/weak.js'), ...(existsSync(built) ? [built] : [])],
    ],
    // what a configuration covers lies below its folder
    folder: '/',
    count: sarifResults,
  };
}

function installedTools(root: string, { tools, old, holes }: Workshop): Tools {
  if (tools === null || old === null)
    return { 'cyclonedx-npm': null, 'ESLint with rules of security, SARIF': null, 'Retire.js': null };
  const bin = (name: string): string => join(tools, 'node_modules/.bin', name);
  const bom = (format: string, ...args: string[]): string[] => [
    ...args,
    ...['--output-format', format, '--output-file', '-'],
  ];
  const cyclonedx = { ...bill, command: bin('cyclonedx-npm') };
  const retire = (outputformat: string): Pick<Tool, 'command' | 'args' | 'folder' | 'file'> => {
    const file = join(tools, `retire.${outputformat}`);
    return {
      command: bin('retire'),
      args: ['--path', old, '--jsrepo', holes, '--outputformat', outputformat, '--outputpath', file],
      folder: old,
      file,
    };
  };
  return {
    'cyclonedx-npm, JSON': { ...cyclonedx, args: bom('JSON', '--package-lock-only'), components: nestedComponents },
    'cyclonedx-npm, JSON with texts of licences': {
      ...cyclonedx,
      args: bom('JSON', '--gather-license-texts', '--flatten-components'),
      folder: old,
      components: listIn('components'),
    },
    'cyclonedx-npm, XML': {
      ...cyclonedx,
      format: 'cyclonedx-xml',
      args: bom('XML', '--package-lock-only'),
      count: elements('vulnerability'),
      // tools and the project itself are no components of the project
      components: (text) => elements('component')(text.slice(text.indexOf('</metadata>'))),
    },
    'ESLint with rules of security, SARIF': eslintOf(root, tools),
    'Retire.js, json': { ...retire('json'), format: 'retire', count: retired },
    'Retire.js, jsonsimple': { ...retire('jsonsimple'), format: 'retire', count: retired },
    'Retire.js, CycloneDX 1.6 with vulnerabilities': {
      ...retire('cyclonedxJSON1_6_VEX'),
      format: 'cyclonedx',
      count: affected,
      components: listIn('components'),
    },
    'Retire.js, CycloneDX in XML': {
      ...retire('cyclonedx'),
      format: 'cyclonedx-xml',
      count: elements('vulnerability'),
      components: elements('component'),
    },
  };
}

function debianTools({ path, sources }: Workshop): Tools {
  const of = (name: string, make: (command: string) => Omit<Tool, 'name'>): Omit<Tool, 'name'> | null => {
    const command = findCommand(name);
    return command === null ? null : make(command);
  };
  const file = join(path, 'lynis.dat');
  return {
    'Bandit, JSON': of('bandit', (command) => ({
      format: 'bandit',
      command,
      args: ['--recursive', '--format', 'json', '.'],
      folder: sources,
      count: listIn('results'),
    })),
    'Flawfinder, SARIF': of('flawfinder', (command) => ({
      format: 'sarif',
      command,
      args: ['--sarif', '.'],
      folder: sources,
      count: sarifResults,
    })),
    Lynis: of('lynis', (command) => ({
      format: 'lynis',
      command,
      args: ['audit', 'system', '--quick', '--report-file', file, '--log-file', join(path, 'lynis.log')],
      count: lynisLines('warning|suggestion|vulnerable_package|manual|manual_event|exception_event'),
      findings: lynisLines('warning|suggestion|vulnerable_package'),
      file,
      timeoutMs: 15 * 60_000,
    })),
  };
}

/** `registry`: one that answers npm's questions about the old project. */
export function toolsOf(root: string, workshop: Workshop, registry: string): Tools {
  const { old, path } = workshop;
  const cache = join(path, 'npm-cache'); // answers of this registry must not stay where npm keeps those of others
  return {
    ...ownTools(root),
    'npm audit, of an old project':
      old === null
        ? null
        : {
            format: 'npm-audit',
            command: npm,
            args: ['audit', '--json', `--registry=${registry}`, `--cache=${cache}`],
            folder: old,
            count: advisories,
          },
    ...installedTools(root, workshop),
    ...debianTools(workshop),
  };
}
