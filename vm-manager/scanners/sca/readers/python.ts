// Lock files of Python: requirements, Pipfile.lock, Poetry, uv, PDM, pylock (PEP 751).
import { parse } from 'smol-toml';
import { distinct, jsonOf, listOf, objectOf, textOf, type Listed, type Reader } from '../listing.js';

/** PEP 508, of which only `==` and `===` name one version. */
const requirement = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:\(?\s*(={2,3})\s*([^\s;,#)*]+)\)?)?\s*(.*)$/;

const requirements: Reader = (text) => {
  const packages: Listed[] = [];
  const unresolved: string[] = [];
  for (const line of text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const plain = line.replace(/(?:^|\s)#.*$/, '').trim();
    // -r and -c name other files, which are read by themselves
    if (plain === '' || /^-(?:-(?!hash)|[a-z])/.test(plain)) continue;
    const [, name = '', , version = '', rest = ''] = requirement.exec(plain) ?? [];
    if (name === '' || /^(?:\/|:|\.\/)/.test(rest)) unresolved.push(plain.slice(0, 100));
    else if (version === '') unresolved.push(name);
    else packages.push({ name, version, relation: 'unknown', mark: name });
  }
  return { type: 'pypi', packages: distinct(packages), unresolved };
};

const pipenv: Reader = (text) => {
  const lock = jsonOf(text);
  const packages = (['default', 'develop'] as const).flatMap((group) =>
    Object.entries(objectOf(lock[group])).flatMap(([name, value]) => {
      const version = textOf(objectOf(value)['version']).replace(/^==/, '');
      return version === '' ? [] : [{ name, version, isDevelopment: group === 'develop', mark: `"${name}"` }];
    }),
  );
  return { type: 'pypi', packages: distinct(packages) };
};

/** `[[package]]` with name and version (Poetry, uv, PDM); `[[packages]]` of pylock. */
const tables: Reader = (text) => {
  const lock = objectOf(parse(text));
  const all = [...listOf(lock['package']), ...listOf(lock['packages'])].map(objectOf);
  if (
    all.length === 0 &&
    lock['version'] === undefined &&
    lock['metadata'] === undefined &&
    lock['lock-version'] === undefined
  )
    throw new Error('has no packages');
  const packages = all.flatMap((one) => {
    const [name, version] = [textOf(one['name']), textOf(one['version'])];
    const source = objectOf(one['source']);
    const isOwn = ['editable', 'virtual', 'directory'].some(
      (kind) => source[kind] !== undefined || source['type'] === kind,
    );
    const groups = listOf(one['groups']).map(textOf);
    const isDevelopment =
      one['category'] === 'dev' ||
      (groups.length > 0 && !groups.some((group) => group === 'main' || group === 'default'));
    return name === '' || version === '' || isOwn ? [] : [{ name, version, isDevelopment, mark: `"${name}"` }];
  });
  return { type: 'pypi', packages: distinct(packages) };
};

export const pythonReaders: Readonly<Record<string, Reader>> = { requirements, pipenv, tables };
