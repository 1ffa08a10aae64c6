// What a run of SARIF says for all of its results: rules, taxonomies, artifacts, and what relative addresses begin
// with (SARIF 2.1.0, 3.14). References between them go by index, by guid, by name or by id.
import { at, list, num, obj, reportPath, str, texts, type Json } from '../normalize.js';
import { automationOf, imageOf, repositoryOf } from '../run/subject.js';

export interface Component {
  readonly name: string;
  readonly guid: string;
  readonly rules: readonly Json[];
  readonly taxa: readonly Json[];
}

export interface Run {
  readonly tool: string;
  readonly properties: Json;
  /** False where there is no list of results: the tool did not come to look (3.14.23), or they lie in another file. */
  readonly hasResults: boolean;
  readonly driver: Component;
  readonly extensions: readonly Component[];
  readonly taxonomies: readonly Component[];
  readonly byId: ReadonlyMap<string, Json>;
  readonly artifacts: readonly Json[];
  readonly logicalLocations: readonly Json[];
  readonly bases: Json;
  /** Of the driver, for messages that no rule has (3.19.22). */
  readonly messages: Json;
}

const readComponent = (value: unknown): Component => {
  const one = obj(value);
  return {
    name: str(one['name']),
    guid: str(one['guid']).toLowerCase(),
    rules: list(one['rules']).map(obj),
    taxa: list(one['taxa']).map(obj),
  };
};

/**
 * Trivy calls the root of an image ROOTPATH, `file:///`: its paths are the image's, as its own format has them, and no
 * checkout in a directory of that name.
 */
const basesOf = (bases: Json, tool: string): Json =>
  /^trivy$/i.test(tool) && /^(?:file:)?\/+$/.test(str(at(bases, 'ROOTPATH', 'uri')))
    ? { ...bases, ROOTPATH: {} }
    : bases;

export function readRun(run: Json, results: unknown): Run {
  const driver = readComponent(at(run, 'tool', 'driver'));
  const extensions = list(at(run, 'tool', 'extensions')).map(readComponent);
  const byId = new Map<string, Json>();
  for (const rule of [driver, ...extensions].flatMap(({ rules }) => rules))
    if (!byId.has(str(rule['id']))) byId.set(str(rule['id']), rule);
  return {
    tool: driver.name || 'SARIF',
    properties: run,
    hasResults: Array.isArray(results),
    driver,
    extensions,
    taxonomies: list(run['taxonomies']).map(readComponent),
    byId,
    artifacts: list(run['artifacts']).map(obj),
    logicalLocations: list(run['logicalLocations']).map(obj),
    bases: basesOf(obj(run['originalUriBaseIds']), driver.name),
    messages: obj(at(run, 'tool', 'driver', 'globalMessageStrings')),
  };
}

/** The one of these that a reference means (3.54); null: it says nothing of a component. */
export function componentOf(
  reference: unknown,
  among: readonly Component[],
  listed: readonly Component[],
): Component | null {
  const given = obj(reference);
  const [name, guid, index] = [str(given['name']), str(given['guid']).toLowerCase(), num(given['index']) ?? -1];
  return (
    (guid === '' ? undefined : among.find((one) => one.guid === guid)) ??
    (name === '' ? undefined : among.find((one) => one.name === name)) ??
    listed[index] ??
    null
  );
}

/** By index, by reference, by id, and by the beginning of a hierarchical id (`a/b/c` is of the rule `a/b`). */
export function ruleOf(result: Json, run: Run): Json {
  const reference = obj(result['rule']);
  const index = num(result['ruleIndex']) ?? num(reference['index']) ?? -1;
  const named = reference['toolComponent'];
  const component =
    named === undefined ? run.driver : componentOf(named, [run.driver, ...run.extensions], run.extensions);
  const byIndex = component?.rules[index];
  if (byIndex !== undefined) return byIndex;
  for (
    let id = str(result['ruleId']) || str(reference['id']);
    id !== '';
    id = id.slice(0, Math.max(0, id.lastIndexOf('/')))
  ) {
    const rule = run.byId.get(id);
    if (rule !== undefined) return rule;
  }
  return {};
}

const isOfWeaknesses = (name: string): boolean => /\bcwe\b|common weakness/i.test(name);

/** `CWE-79` of a reference to a taxon (3.52); '' where it is of another list, such as OWASP's or CAPEC's. */
export function taxonOf(value: unknown, run: Run): string {
  const reference = obj(value);
  const named = reference['toolComponent'];
  const component = componentOf(named, [...run.taxonomies, ...run.extensions], run.taxonomies);
  const id = str(reference['id']) || str(component?.taxa[num(reference['index']) ?? -1]?.['id']);
  if (/^cwe[-_ :]?\d/i.test(id)) return id;
  const list_ = component?.name ?? str(obj(named)['name']);
  return /^\d{1,5}$/.test(id) && (list_ === '' || isOfWeaknesses(list_)) ? `CWE-${id}` : '';
}

/** With `{0}` replaced by the first of the arguments, and so on (3.11.5). */
export function messageOf(result: Json, rule: Json, run: Run): string {
  const message = obj(result['message']);
  const id = str(message['id']);
  const text =
    str(message['text']) ||
    str(message['markdown']) ||
    str(at(rule, 'messageStrings', id, 'text')) ||
    str(at(run.messages, id, 'text'));
  const values = texts(message['arguments']);
  if (values.length === 0) return text;
  return text.replace(/\{\{|\}\}|\{(\d{1,2})\}/g, (whole, index: string | undefined) =>
    index === undefined ? whole.slice(1) : (values[Number(index)] ?? whole),
  );
}

const basesMax = 8;
const isWholeUri = (uri: string): boolean => /^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(uri);

/** `uri` behind its bases (3.14.14); a cycle ends after some steps. */
function withBases(uri: string, baseId: string, bases: Json): string {
  let address = uri;
  let base = obj(bases[baseId]);
  for (let steps = 0; steps < basesMax && !isWholeUri(address); steps++) {
    const before = str(base['uri']);
    if (before === '') break;
    address = `${before.replace(/\/?$/, '/')}${address}`;
    base = obj(bases[str(base['uriBaseId'])]);
  }
  return address;
}

/** Absolute directories that the run resolves relative addresses against, and those of its repositories. */
export function rootsOf({ bases, properties }: Run): string[] {
  const ofBases = Object.keys(bases).map((id) => withBases('', id, bases));
  const mapped = list(properties['versionControlProvenance']).map((one) => {
    const to = obj(obj(one)['mappedTo']);
    return withBases(str(to['uri']), str(to['uriBaseId']), bases);
  });
  return [...ofBases, ...mapped].filter((uri) => /^(?:file:|\/|[a-z]:[\\/])/i.test(uri)).map(decoded);
}

/** What the run says that it is of: its id without the part of the run, its repositories, the image of a scanner. */
export function subjectsOf({ properties: run }: Run): string[] {
  const repositories = list(run['versionControlProvenance']).map((one) => repositoryOf(str(obj(one)['repositoryUri'])));
  const image = str(at(run, 'properties', 'imageName')) || str(at(run, 'properties', 'imageID'));
  return [automationOf(str(at(run, 'automationDetails', 'id'))), ...repositories, imageOf(image)];
}

/** A path as `reportPath` has it, or the whole address of a page. */
export function addressOf(artifactLocation: Json, run: Run): string {
  const listed = obj(run.artifacts[num(artifactLocation['index']) ?? -1]?.['location']);
  const own = artifactLocation['uri'] === undefined ? listed : artifactLocation;
  const uri = str(own['uri']);
  if (/^https?:\/\//i.test(uri)) return uri;
  const address = withBases(uri, str(own['uriBaseId']), run.bases);
  // what is relative to a page is a file of its server: no part of the address is the repository's
  return reportPath(decoded(/^(?:https?|git|ssh):/i.test(address) ? uri : address));
}

/**
 * Paths of the only files that a report of a part speaks of: writers of such say `covers: "part"` in the properties of
 * the run, and which artifacts they looked at (role `analysisTarget`, 3.24.6). Null: no run says so.
 */
export function inventoryOf(runs: readonly Run[]): Set<string> | null {
  if (runs.every(({ properties }) => at(properties, 'properties', 'covers') !== 'part')) return null;
  return new Set(
    runs.flatMap((run) =>
      run.artifacts
        .filter(({ roles }) => texts(roles).includes('analysisTarget'))
        .map(({ location }) => addressOf(obj(location), run)),
    ),
  );
}

/** A URI without its percent signs; one that means something else stays as it is. */
function decoded(uri: string): string {
  if (!uri.includes('%') || /^file:/i.test(uri)) return uri;
  try {
    return decodeURIComponent(uri);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return uri;
  }
}
