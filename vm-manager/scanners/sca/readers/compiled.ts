// Lock files of Go, Rust, Java, .NET and C++.
import { parse } from 'smol-toml';
import { distinct, jsonOf, listOf, objectOf, textOf, type Listed, type Reader } from '../listing.js';
import { readXml, type XmlElement } from '../xml.js';

const withoutV = (version: string): string => version.replace(/^v(?=\d)/, '');

/** Lines of a directive, alone or in brackets (https://go.dev/ref/mod#go-mod-file). */
function* goLines(text: string): Generator<readonly [directive: string, rest: string]> {
  let block = '';
  for (const line of text.split('\n')) {
    const plain = line.trim();
    if (block !== '' && plain === ')') block = '';
    else if (block !== '') yield [block, plain];
    else {
      const [, directive = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(plain) ?? [];
      if (rest.replace(/\/\/.*$/, '').trim() === '(') block = directive;
      else if (directive !== '') yield [directive, rest];
    }
  }
}

const goMod: Reader = (text) => {
  const required: { name: string; version: string; isIndirect: boolean }[] = [];
  const replaced: { from: string; version: string; to: string; toVersion: string }[] = [];
  for (const [directive, rest] of goLines(text)) {
    const plain = rest.replace(/\/\/.*$/, '').trim();
    if (directive === 'require') {
      const [name = '', version = ''] = plain.split(/\s+/);
      if (version !== '') required.push({ name, version, isIndirect: /\/\/\s*indirect/.test(rest) });
    }
    if (directive === 'replace') {
      const [left = '', right = ''] = plain.split('=>').map((side) => side.trim());
      const [from = '', version = ''] = left.split(/\s+/);
      const [to = '', toVersion = ''] = right.split(/\s+/);
      replaced.push({ from, version, to, toVersion });
    }
  }
  // before 1.17 a go.mod has some of the indirect ones, and go.sum the others
  const isWhole = isAtLeast117(/^go\s+(\d+)\.(\d+)/m.exec(text));
  if (!/^module\s/m.test(text)) throw new Error('names no module');
  const packages = required.flatMap(({ name, version, isIndirect }): Listed[] => {
    if (isIndirect && !isWhole) return [];
    const other = replaced.find(({ from, version: only }) => from === name && (only === '' || only === version));
    // a directory of this machine has no version
    if (other !== undefined && other.toVersion === '') return [];
    const [own, at] = other === undefined ? [name, version] : [other.to, other.toVersion];
    return [{ name: own, version: withoutV(at), relation: isIndirect ? 'transitive' : 'direct', mark: name }];
  });
  return { type: 'golang', packages: distinct(packages) };
};

const isAtLeast117 = (found: RegExpExecArray | null): boolean =>
  found !== null && (Number(found[1]) > 1 || Number(found[2]) >= 17);
/** Whether its go.sum has packages that it does not name. */
export const needsGoSum = (text: string): boolean => !isAtLeast117(/^go\s+(\d+)\.(\d+)/m.exec(text));

/** Everything that was ever looked at, the last version of each: second best, where go.mod does not name all. */
const goSum: Reader = (text) => {
  const latest = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [name = '', version = ''] = line.trim().split(/\s+/);
    if (version !== '') latest.set(name, version.replace(/\/go\.mod$/, ''));
  }
  const packages = [...latest].map(([name, version]): Listed => ({ name, version: withoutV(version), mark: name }));
  return { type: 'golang', packages };
};

const cargo: Reader = (text) => {
  const lock = objectOf(parse(text));
  const packages = listOf(lock['package']).flatMap((value) => {
    const one = objectOf(value);
    const [name, version] = [textOf(one['name']), textOf(one['version'])];
    return name === '' || version === '' ? [] : [{ name, version, mark: `name = "${name}"` }];
  });
  if (packages.length === 0 && lock['version'] === undefined) throw new Error('has no packages');
  return { type: 'cargo', packages: distinct(packages) };
};

const gradle: Reader = (text) => ({
  type: 'maven',
  packages: distinct(
    text.split('\n').flatMap((line) => {
      const found = /^\s*([^#:=\s]+:[^:=\s]+):([^:=\s]+)=(.*)$/.exec(line);
      return found === null ? [] : [{ name: found[1] ?? '', version: found[2] ?? '', mark: line.trim() }];
    }),
  ),
});

const nugetLock: Reader = (text) => ({
  type: 'nuget',
  packages: distinct(
    Object.values(objectOf(jsonOf(text)['dependencies'])).flatMap((framework) =>
      Object.entries(objectOf(framework)).flatMap(([name, value]) => {
        const one = objectOf(value);
        const version = textOf(one['resolved']);
        if (version === '' || one['type'] === 'Project') return [];
        return [
          {
            name,
            version,
            relation: one['type'] === 'Direct' ? ('direct' as const) : ('transitive' as const),
            mark: `"${name}"`,
          },
        ];
      }),
    ),
  ),
});

const depsJson: Reader = (text) => ({
  type: 'nuget',
  packages: distinct(
    Object.entries(objectOf(jsonOf(text)['libraries'])).flatMap(([key, value]) => {
      const [name = '', version = ''] = key.split('/');
      return objectOf(value)['type'] !== 'package' || version === '' ? [] : [{ name, version, mark: `"${key}"` }];
    }),
  ),
});

const attribute = (element: XmlElement, name: string): string => (element.attributes[name] ?? '').trim();
const isFixed = (version: string): boolean => /^\d[\w.+-]*$/.test(version);

const nugetConfig: Reader = (text) => ({
  type: 'nuget',
  packages: readXml(text)
    .all('package')
    .flatMap((one) => {
      const [name, version] = [attribute(one, 'id'), attribute(one, 'version')];
      const isDevelopment = attribute(one, 'developmentDependency') === 'true';
      return name === '' || version === '' ? [] : [{ name, version, isDevelopment, mark: name }];
    }),
});

/** Central versions of .NET: `PackageVersion`, and `PackageReference` in older ones. */
const nugetProps: Reader = (text) => {
  const packages: Listed[] = [];
  const unresolved: string[] = [];
  const root = readXml(text);
  for (const one of [...root.all('PackageVersion'), ...root.all('PackageReference')]) {
    const name = attribute(one, 'Include') || attribute(one, 'Update');
    const version = attribute(one, 'Version') || (one.child('Version')?.text ?? '').trim();
    if (name === '' || name.includes('$(')) continue;
    if (isFixed(version)) packages.push({ name, version, relation: 'direct', mark: name });
    else if (version !== '') unresolved.push(name);
  }
  return { type: 'nuget', packages: distinct(packages), unresolved };
};

const conan: Reader = (text) => {
  const lock = jsonOf(text);
  const nodes = Object.values(objectOf(objectOf(lock['graph_lock'])['nodes'])).map((node) =>
    textOf(objectOf(node)['ref']),
  );
  const listed = ['requires', 'python_requires'].flatMap((name) => listOf(lock[name]).map(textOf));
  const packages = [...nodes, ...listed].flatMap((reference) => {
    const found = /^([^/#@]+)\/([^#@%]+)/.exec(reference);
    return found === null ? [] : [{ name: found[1] ?? '', version: found[2] ?? '', mark: reference }];
  });
  return { type: 'conan', packages: distinct(packages) };
};

export const compiledReaders: Readonly<Record<string, Reader>> = {
  goMod,
  goSum,
  cargo,
  gradle,
  nugetLock,
  depsJson,
  nugetConfig,
  nugetProps,
  conan,
};
