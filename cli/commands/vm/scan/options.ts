// What `gatehouse scan` is told: its options, and which scanners they ask for.
import {
  extents,
  offeredKinds,
  toCyclonedx,
  toJson,
  toJunit,
  toMarkdown,
  toSarif,
  toTable,
} from '#vm-manager/scanners';
import type { Extent, ScanResult } from '#vm-manager/scanners';
import { parseOptions } from '../../../command-line.js';
import { wrongUsage } from '../../../refusal.js';

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

export const writers: Readonly<Record<string, (result: ScanResult, covers: Extent) => string>> = {
  table: toTable,
  markdown: toMarkdown,
  junit: toJunit,
  json: (result) => JSON.stringify(toJson(result), null, 2),
  cyclonedx: (result) => JSON.stringify(toCyclonedx(result), null, 1),
  sarif: (result, covers) => JSON.stringify(toSarif(result, covers), null, 1),
};

const kindNames = [...offeredKinds, 'containers'] as const;

export const usage = [
  'Usage: gatehouse scan [DIRECTORY|ARCHIVE|IMAGE|BILL|FILE]… [--only KIND,…] [--all] [--format FORMAT] [-o FILE]',
  '                      [--fail-on SEVERITY] [--covers whole|part] [--advisories DIRECTORY]',
  '                      [--baseline FILE] [--write-baseline FILE] [--cache DIRECTORY|--no-cache]',
  '                      [--gate|--upload --application ID [--commit HASH] [--branch NAME]]',
  '',
  '  DIRECTORY      default: here; an archive is tar, tar.gz, tar.zst or zip, and is not unpacked to the disk;',
  '                 an image is an archive of `docker save` or an OCI layout (archive or directory);',
  '                 a bill is CycloneDX or SPDX in JSON',
  `  --only         ${kindNames.join(', ')}; default: what is there for, sca only with --advisories`,
  '  --all          every scanner, and archives and images that lie in a directory',
  `  --format       ${Object.keys(writers).join(', ')}; default: table`,
  '  -o             file for the report; default: standard output',
  '  --fail-on      critical, high, medium, low, info or never; default: high',
  '  --covers       whole: with --gate or --upload, findings in files that are gone are closed;',
  '                 part: only those in files that were looked at. Default: whole for a directory, unless it lies',
  '                 within a checkout (.git, .hg, .svn above it); part for everything else',
  '  --advisories   folder of OSV sets (JSON, lines of JSON, zip) that packages are compared with',
  '  --baseline     findings that are known: they are shown as set aside, and fail nothing',
  '  --write-baseline  writes what is found now as such a file; reasons in it stay',
  '  --cache        where is kept what was found in files, so that only what has changed is read again;',
  '                 default: ~/.cache/gatehouse/scan; --no-cache reads everything',
  '  --gate         sends the findings to the server and ends with the verdict of its gate (see `gatehouse gate`)',
  '  --upload       sends the findings to the server; commit and branch are those of Git where they are not named',
  '',
  'A line with `gatehouse:ignore RULE reason` sets the finding of that line, or of the next one, aside.',
  'Exit codes: 0 nothing at or above --fail-on, 1 something, 2 something was not read, or nothing could be looked at.',
].join('\n');

export function readOptions(argv: readonly string[]) {
  return parseOptions({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      all: { type: 'boolean', default: false },
      format: { type: 'string', default: 'table' },
      output: { type: 'string', short: 'o' },
      'fail-on': { type: 'string', default: 'high' },
      baseline: { type: 'string' },
      'write-baseline': { type: 'string' },
      cache: { type: 'string' },
      'no-cache': { type: 'boolean', default: false },
      gate: { type: 'boolean', default: false },
      upload: { type: 'boolean', default: false },
      application: { type: 'string' },
      commit: { type: 'string' },
      branch: { type: 'string' },
      advisories: { type: 'string' },
      covers: { type: 'string' },
      url: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
}

export type Values = ReturnType<typeof readOptions>['values'];

/** Throws wrong usage for what does not go together. */
export function requireFitting(values: Values): void {
  const { format, 'fail-on': failOn, gate, upload, application, commit, covers } = values;
  if (writers[format] === undefined)
    throw wrongUsage(`--format ${format}: choose one of ${Object.keys(writers).join(', ')}`);
  if (failOn !== 'never' && !severities.some((one) => one === failOn))
    throw wrongUsage(`--fail-on ${failOn}: choose one of ${severities.join(', ')}, never`);
  if (covers !== undefined && !extents.some((one) => one === covers))
    throw wrongUsage(`--covers ${covers}: choose one of ${extents.join(', ')}`);
  if (gate && upload) throw wrongUsage('--gate sends the findings, too: leave --upload out');
  if (gate && (application === undefined || commit === undefined))
    throw wrongUsage('--gate needs --application ID and --commit HASH');
  if (upload && application === undefined) throw wrongUsage('--upload needs --application ID');
  if (values.cache !== undefined && values['no-cache']) throw wrongUsage('--cache does not go with --no-cache');
  if (values.all && values.only !== undefined) throw wrongUsage('--all is every scanner: leave --only out');
}

export interface Wanted {
  /** Of files. */
  readonly kinds: readonly string[];
  /** Images that are named are looked at. */
  readonly images: boolean;
}

/** Packages alone show no weakness: without advisories they are listed when something asks for them. */
export function wantedBy({ only, all, advisories, format }: Values, hasBill: boolean): Wanted {
  if (only === undefined && format === 'cyclonedx') return { kinds: ['sca'], images: true };
  if (only === undefined) {
    const hasPackages = all || hasBill || advisories !== undefined;
    return { kinds: offeredKinds.filter((kind) => kind !== 'sca' || hasPackages), images: true };
  }
  const names = only.split(',').map((one) => (one.trim() === 'container' ? 'containers' : one.trim()));
  for (const one of names)
    if (!kindNames.some((kind) => kind === one))
      throw wrongUsage(`--only ${one}: there is no such scanner; there are ${kindNames.join(', ')}`);
  return { kinds: offeredKinds.filter((kind) => names.includes(kind)), images: names.includes('containers') };
}
