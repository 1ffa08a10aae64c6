// Which distribution an image is of (os-release), how its packages are called, and when its support ends.
import { purlOf } from '../../sca/listing.js';
import type { Installed } from './database.js';
import type { Database } from './places.js';

export interface Release {
  readonly id: string;
  readonly version: string;
  /** For people: `Debian GNU/Linux 12 (bookworm)`. */
  readonly name: string;
}

export function readRelease(text: string): Release {
  const values = new Map(
    text.split('\n').flatMap((line) => {
      const [, key = '', value = ''] = /^([A-Z_]+)=(.*)$/.exec(line.trim()) ?? [];
      return key === '' ? [] : [[key, value.replace(/^(["'])(.*)\1$/, '$2').slice(0, 200)] as const];
    }),
  );
  const id = (values.get('ID') ?? '').toLowerCase();
  const version = values.get('VERSION_ID') ?? '';
  return { id, version, name: values.get('PRETTY_NAME') ?? `${id} ${version}`.trim() };
}

/** ID of os-release → namespace of package URLs, where it is another one. */
const namespaces: Readonly<Record<string, string>> = {
  rhel: 'redhat',
  'opensuse-leap': 'opensuse',
  'opensuse-tumbleweed': 'opensuse',
  sles: 'suse',
  amzn: 'amazon',
  ol: 'oracle',
};

const qualifier = (name: string, value: string): string[] =>
  value === '' ? [] : [`${name}=${encodeURIComponent(value).replaceAll('%3A', ':').replaceAll('%40', '@')}`];

export const typeOf = (database: Database): 'deb' | 'apk' | 'rpm' =>
  database === 'dpkg' ? 'deb' : database === 'apk' ? 'apk' : 'rpm';

/** As advisories know it: with the release, and the source that it was built of. */
export function purlOfInstalled(database: Database, one: Installed, release: Release | null): string {
  const type = typeOf(database);
  const namespace = release === null || release.id === '' ? '' : (namespaces[release.id] ?? release.id);
  const upstream =
    one.source === ''
      ? ''
      : one.sourceVersion === '' || type === 'apk'
        ? one.source
        : `${one.source}@${one.sourceVersion}`;
  const qualifiers = [
    ...qualifier('arch', one.arch),
    ...qualifier('distro', release === null ? '' : `${release.id}-${release.version}`),
    ...qualifier('epoch', one.epoch ?? ''),
    ...qualifier('upstream', upstream),
  ];
  return purlOf(type, namespace === '' ? one.name : `${namespace}/${one.name}`, one.version, qualifiers.join('&'));
}

/** Last day of security updates for everybody, as the distributions publish it. */
const ends: readonly (readonly [id: string, version: RegExp, day: string])[] = [
  ['debian', /^[1-8]$/, '2020-06-30'],
  ['debian', /^9$/, '2022-06-30'],
  ['debian', /^10$/, '2024-06-30'],
  ['debian', /^11$/, '2026-08-31'],
  ['debian', /^12$/, '2028-06-30'],
  ['ubuntu', /^14\.04$/, '2019-04-25'],
  ['ubuntu', /^16\.04$/, '2021-04-30'],
  ['ubuntu', /^18\.04$/, '2023-05-31'],
  ['ubuntu', /^20\.04$/, '2025-05-31'],
  ['ubuntu', /^22\.04$/, '2027-04-30'],
  ['ubuntu', /^24\.04$/, '2029-04-30'],
  ['alpine', /^3\.(?:\d|1[0-5])(?:\.|$)/, '2023-11-01'],
  ['alpine', /^3\.16(?:\.|$)/, '2024-05-23'],
  ['alpine', /^3\.17(?:\.|$)/, '2024-11-22'],
  ['alpine', /^3\.18(?:\.|$)/, '2025-05-09'],
  ['alpine', /^3\.19(?:\.|$)/, '2025-11-01'],
  ['alpine', /^3\.20(?:\.|$)/, '2026-04-01'],
  ['alpine', /^3\.21(?:\.|$)/, '2026-11-01'],
  ['centos', /^6/, '2020-11-30'],
  ['centos', /^7/, '2024-06-30'],
  ['centos', /^8/, '2021-12-31'],
];

/** The day on which its support ended; null: it has not, or nothing is known of it. */
export function endedOn({ id, version }: Release, today: string): string | null {
  const day = ends.find(([of, versions]) => of === id && versions.test(version))?.[2];
  return day !== undefined && day < today ? day : null;
}
