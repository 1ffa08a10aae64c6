// pom.xml: versions by properties and dependencyManagement, those of a parent in the same upload too. What is still
// open then is reported and not guessed.
import type { Listed, Listing } from '../listing.js';
import { distinct } from '../listing.js';
import { readXml, type XmlElement } from '../xml.js';

const rounds = 10;
const parentsMax = 10;

export interface Pom {
  readonly path: string;
  readonly group: string;
  readonly artifact: string;
  readonly version: string;
  readonly parent: { readonly group: string; readonly artifact: string; readonly version: string } | null;
  readonly properties: ReadonlyMap<string, string>;
  readonly managed: readonly XmlElement[];
  readonly dependencies: readonly XmlElement[];
}

const inner = (element: XmlElement | undefined, name: string): string => (element?.child(name)?.text ?? '').trim();

/** Throws an Error for what is no pom. */
export function readPom(text: string, path: string): Pom {
  const project = readXml(text).child('project');
  if (project === undefined) throw new Error('has no element project');
  const parent = project.child('parent');
  const of = {
    group: inner(parent, 'groupId'),
    artifact: inner(parent, 'artifactId'),
    version: inner(parent, 'version'),
  };
  return {
    path,
    group: inner(project, 'groupId') || of.group,
    artifact: inner(project, 'artifactId'),
    version: inner(project, 'version') || of.version,
    parent: parent === undefined ? null : of,
    properties: new Map(project.child('properties')?.children.map((one) => [one.name, one.text.trim()]) ?? []),
    managed: project.child('dependencyManagement')?.child('dependencies')?.children ?? [],
    dependencies: project.child('dependencies')?.children ?? [],
  };
}

function chainOf(pom: Pom, known: readonly Pom[]): readonly Pom[] {
  const chain = [pom];
  for (let at: Pom | undefined = pom; at?.parent != null && chain.length < parentsMax; ) {
    const { group, artifact }: { group: string; artifact: string } = at.parent;
    at = known.find((one) => one.group === group && one.artifact === artifact);
    if (at === undefined || chain.includes(at)) break;
    chain.push(at);
  }
  return chain;
}

/** With `${name}` replaced, as far as it is known. */
function resolved(text: string, pom: Pom, chain: readonly Pom[]): string {
  const values = new Map<string, string>([
    ...chain.toReversed().flatMap(({ properties }) => [...properties]),
    ...['project', 'pom'].flatMap((name): [string, string][] => [
      [`${name}.version`, pom.version],
      [`${name}.groupId`, pom.group],
      [`${name}.artifactId`, pom.artifact],
      [`${name}.parent.version`, pom.parent?.version ?? ''],
    ]),
    ['version', pom.version],
  ]);
  let made = text;
  for (let round = 0; round < rounds && made.includes('${'); round++)
    made = made.replaceAll(/\$\{([^}]{1,200})\}/g, (whole, name: string) => values.get(name) || whole).slice(0, 2000);
  return made;
}

/** `known`: all of the upload. */
export function listPom(pom: Pom, known: readonly Pom[]): Listing {
  const chain = chainOf(pom, known);
  const value = (one: XmlElement, name: string): string => resolved(inner(one, name), pom, chain);
  const idOf = (one: XmlElement): string => `${value(one, 'groupId')}:${value(one, 'artifactId')}`;
  const managed = new Map(
    chain.toReversed().flatMap((one) => one.managed.map((entry) => [idOf(entry), value(entry, 'version')] as const)),
  );
  const packages: Listed[] = [];
  const unresolved: string[] = [];
  for (const one of chain.flatMap(({ dependencies }) => dependencies)) {
    const name = idOf(one);
    const version = value(one, 'version') || (managed.get(name) ?? '');
    const exact = /^\[([^,\]]+)\]$/.exec(version)?.[1] ?? version;
    if (exact === '' || /[${}[\](),]/.test(exact) || name.includes('${')) unresolved.push(name);
    else
      packages.push({
        name,
        version: exact,
        isDevelopment: value(one, 'scope') === 'test',
        relation: 'direct',
        mark: `<artifactId>${inner(one, 'artifactId')}`,
      });
  }
  return { type: 'maven', packages: distinct(packages), unresolved };
}
