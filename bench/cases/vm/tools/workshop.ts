// The folder in which the tools work, outside of the project: the tools of the package registry, an old project with
// packages that have known holes, and sources that a linter of security has something to say about.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand } from '../../../processes.js';
import { oldPackages } from './registry.js';

export const npm = findCommand('npm') ?? 'npm';
const run = promisify(execFile);

/** Pinned: another version is another report. */
const wanted: Readonly<Record<string, string>> = {
  eslint: '9.39.5',
  'eslint-plugin-security': '4.1.0',
  '@microsoft/eslint-formatter-sarif': '3.1.0',
  '@cyclonedx/cyclonedx-npm': '6.0.1',
  retire: '5.7.0',
};

export interface Workshop {
  readonly path: string;
  /** null: it could not be installed. */
  readonly tools: string | null;
  readonly old: string | null;
  readonly sources: string;
  /** Of retire, whose own list is fetched from the internet. */
  readonly holes: string;
}

/** Nothing of what is installed is run by it. null: no registry was reached. */
async function install(folder: string, dependencies: Readonly<Record<string, string>>): Promise<string | null> {
  mkdirSync(folder);
  const manifest = { name: 'workshop', version: '1.0.0', private: true, dependencies };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  try {
    await run(npm, ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder, timeout: 300_000 });
    return folder;
  } catch {
    return null;
  }
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;
const javascript = lines(
  "const { exec } = require('node:child_process');",
  'module.exports = (request, response) => {',
  '  eval(request.query.a);',
  '  exec(`ls ${request.query.b}`);',
  '  new RegExp(request.query.c);',
  '  response.end(process.env[request.query.d]);',
  '};',
);
const python = lines(
  'import hashlib, pickle, subprocess',
  'def run(given):',
  '    subprocess.call("ls " + given, shell=True)',
  '    hashlib.md5(given)',
  '    assert given',
  '    exec(given)',
  '    return pickle.loads(given)',
);
const c = lines(
  '#include <stdio.h>',
  '#include <string.h>',
  'int main(int count, char **words) {',
  '  char kept[8];',
  '  strcpy(kept, words[1]);',
  '  printf(kept);',
  '  return count;',
  '}',
);

const hole = (below: string, severity: string, cwe: string, identifiers: object) => ({
  below,
  severity,
  cwe: [cwe],
  identifiers,
  info: ['https://a.example/advisory'],
});
const holes = {
  lodash: {
    npmname: 'lodash',
    vulnerabilities: [
      hole('4.17.5', 'medium', 'CWE-471', { CVE: ['CVE-2018-3721'], githubID: 'GHSA-fvqr-27wr-82fm' }),
      hole('4.17.12', 'critical', 'CWE-1321', { CVE: ['CVE-2019-10744'], summary: 'A foreign prototype' }),
    ],
    extractors: { filecontent: ["var VERSION = '(§§version§§)';"] },
  },
  jquery: {
    npmname: 'jquery',
    vulnerabilities: [
      hole('3.5.0', 'medium', 'CWE-79', { CVE: ['CVE-2020-11022'], issue: '4642', summary: 'Scripts in HTML' }),
      hole('3.4.0', 'medium', 'CWE-1321', { bug: '11974', summary: 'A foreign prototype by extend' }),
      hole('3.0.0', 'low', 'CWE-79', { issue: '2432' }),
    ],
    extractors: { filecontent: ['jQuery (?:JavaScript Library )?v(§§version§§)'] },
  },
};

export async function setUp(path: string): Promise<Workshop> {
  const sources = join(path, 'sources');
  mkdirSync(sources);
  for (const [name, text] of Object.entries({ 'weak.js': javascript, 'weak.py': python, 'weak.c': c }))
    writeFileSync(join(sources, name), text);
  const list = join(path, 'holes.json');
  writeFileSync(list, JSON.stringify(holes));
  const tools = await install(join(path, 'tools'), wanted);
  return { path, tools, old: await install(join(path, 'old'), oldPackages), sources, holes: list };
}
