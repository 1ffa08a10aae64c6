// A registry on loopback that knows a few old packages and what is wrong with them: npm asks it, and makes the report
// that it makes of the public one, which not every network lets it ask.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Advisory {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly severity: string;
  readonly vulnerable_versions: string;
  readonly cwe: readonly string[];
  readonly cvss: { readonly score: number; readonly vectorString: string };
}

const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:H/A:H';
const polluted = (id: number, ghsa: string, severity: string, below: string): Advisory => ({
  id,
  url: `https://github.com/advisories/${ghsa}`,
  title: 'Objects can be given a foreign prototype',
  severity,
  vulnerable_versions: `<${below}`,
  cwe: ['CWE-1321'],
  cvss: { score: 9.1, vectorString: vector },
});

const known: Readonly<Record<string, readonly Advisory[]>> = {
  lodash: [
    polluted(1, 'GHSA-fvqr-27wr-82fm', 'low', '4.17.5'),
    polluted(2, 'GHSA-jf85-cpcp-j695', 'critical', '4.17.12'),
  ],
  minimist: [polluted(3, 'GHSA-vh95-rmgr-6w4m', 'moderate', '0.2.1')],
};

type Versions = Readonly<Record<string, Readonly<Record<string, string>>>>;
/** Package → version → what it depends on: as far as npm has to know to say what fixes it. */
const packages: Readonly<Record<string, Versions>> = {
  lodash: { '4.17.4': {}, '4.17.21': {} },
  minimist: { '0.0.8': {}, '1.2.8': {} },
  mkdirp: { '0.5.1': { minimist: '0.0.8' }, '0.5.6': { minimist: '^1.2.6' } },
};

/** What is to be installed of it; `mkdirp` is vulnerable by what it needs alone. */
export const oldPackages: Readonly<Record<string, string>> = {
  lodash: '4.17.4',
  jquery: '1.12.4',
  minimist: '0.0.8',
  mkdirp: '0.5.1',
};

function describe(name: string): string | null {
  const versions = packages[name];
  if (versions === undefined) return null;
  const made = Object.entries(versions).map(
    ([version, dependencies]) => [version, { name, version, dependencies, dist: {} }] as const,
  );
  return JSON.stringify({ name, 'dist-tags': { latest: made.at(-1)?.[0] }, versions: Object.fromEntries(made) });
}

export async function startRegistry(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer((request, response) => {
    request.resume();
    const answer = request.method === 'POST' ? JSON.stringify(known) : describe(request.url?.slice(1) ?? '');
    response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' }).end(answer ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, stop: () => server.close() };
}
