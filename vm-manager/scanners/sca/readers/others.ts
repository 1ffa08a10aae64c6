// Lock files of PHP, Ruby, Elixir, Dart and Swift; bills of material as an input.
import { parse } from 'yaml';
import { distinct, jsonOf, listOf, objectOf, textOf, type Listed, type Listing, type Reader } from '../listing.js';

const composer: Reader = (text) => {
  const lock = jsonOf(text);
  if (lock['packages'] === undefined) throw new Error('has no packages');
  const packages = (['packages', 'packages-dev'] as const).flatMap((group) =>
    listOf(lock[group]).flatMap((value) => {
      const one = objectOf(value);
      const [name, version] = [textOf(one['name']), textOf(one['version'])];
      return name === '' || version === ''
        ? []
        : [{ name, version, isDevelopment: group !== 'packages', mark: `"${name}"` }];
    }),
  );
  return { type: 'composer', packages: distinct(packages) };
};

/** Four spaces before a package, six before what it needs. */
const bundler: Reader = (text) => {
  const direct = new Set([...text.matchAll(/^ {2}([\w.-]+)!?(?: \(|$)/gm)].map(([, name]) => name));
  const packages = [...text.matchAll(/^ {4}([\w.-]+) \(([^)\s]+)\)$/gm)].map(
    ([line, name = '', given = '']): Listed => {
      // the platform is behind the version: 1.15.4-x86_64-linux
      const version = given.replace(/-(?:x86|x64|arm|aarch|java|mingw|mswin|universal|ruby).*$/, '');
      return { name, version, relation: direct.has(name) ? 'direct' : 'transitive', mark: line };
    },
  );
  if (packages.length === 0 && !/^(?:GEM|PATH|GIT|DEPENDENCIES)$/m.test(text)) throw new Error('has no section GEM');
  return { type: 'gem', packages: distinct(packages) };
};

const mix: Reader = (text) => ({
  type: 'hex',
  packages: [...text.matchAll(/^\s*"([\w-]+)":\s*\{:hex,\s*:"?([\w-]+)"?,\s*"([^"]+)"/gm)].map(
    ([line, , name = '', version = '']) => ({
      name,
      version,
      mark: line.trim(),
    }),
  ),
});

const pub: Reader = (text) => ({
  type: 'pub',
  packages: Object.entries(objectOf(objectOf(parse(text))['packages'])).flatMap(([name, value]) => {
    const one = objectOf(value);
    const version = textOf(one['version']);
    const relation = textOf(one['dependency']).startsWith('direct') ? ('direct' as const) : ('transitive' as const);
    return version === '' || one['source'] === 'path' ? [] : [{ name, version, relation, mark: `${name}:` }];
  }),
});

const pods: Reader = (text) => ({
  type: 'cocoapods',
  packages: distinct(
    listOf(objectOf(parse(text))['PODS']).flatMap((entry) => {
      const head = typeof entry === 'string' ? entry : (Object.keys(objectOf(entry))[0] ?? '');
      const found = /^(\S+) \(([^)]+)\)$/.exec(head);
      return found === null ? [] : [{ name: found[1] ?? '', version: found[2] ?? '', mark: head }];
    }),
  ),
});

const swift: Reader = (text) => {
  const lock = jsonOf(text);
  const pins = [...listOf(objectOf(lock['object'])['pins']), ...listOf(lock['pins'])].map(objectOf);
  const packages = pins.flatMap((pin) => {
    const address = textOf(pin['repositoryURL']) || textOf(pin['location']);
    const name = address.replace(/^[a-z]+:\/\//, '').replace(/\.git$/, '');
    const version = textOf(objectOf(pin['state'])['version']);
    return name === '' || version === '' ? [] : [{ name, version, mark: address }];
  });
  return { type: 'swift', packages: distinct(packages) };
};

/** CycloneDX and SPDX in JSON: what they list with a purl. */
const bill: Reader = (text): Listing => {
  const document = jsonOf(text);
  const purls: { purl: string; name: string; version: string }[] = [];
  const waiting = [...listOf(document['components'])].map(objectOf).reverse();
  for (let one = waiting.pop(); one !== undefined && purls.length < 200_000; one = waiting.pop()) {
    if (textOf(one['purl']) !== '')
      purls.push({ purl: textOf(one['purl']), name: textOf(one['name']), version: textOf(one['version']) });
    waiting.push(...listOf(one['components']).map(objectOf));
  }
  for (const one of listOf(document['packages']).map(objectOf)) {
    const reference = listOf(one['externalRefs'])
      .map(objectOf)
      .find((given) => given['referenceType'] === 'purl');
    const purl = textOf(reference?.['referenceLocator']);
    if (purl !== '') purls.push({ purl, name: textOf(one['name']), version: textOf(one['versionInfo']) });
  }
  if (document['bomFormat'] !== 'CycloneDX' && document['spdxVersion'] === undefined)
    throw new Error('is neither CycloneDX nor SPDX');
  return { type: '', packages: [], purls };
};

export const otherReaders: Readonly<Record<string, Reader>> = { composer, bundler, mix, pub, pods, swift, bill };
