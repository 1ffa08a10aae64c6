// The Open Threat Model format (otmVersion): trust zones, components, data flows, assets.
import type { Boundary, DataAsset, Element, Flow, Trait } from '../model.js';
import { knownOf, listOf, Notes, objectOf, textOf, toKey, toName, whole, type Json, type Read } from './reading.js';

const idOf = (one: Json): string => toKey(textOf(one['id']) || textOf(one['name']));

/** Impact of losing it, 0 to 100, as a classification. */
const levelOf = (risk: Json): DataAsset['classification'] => {
  const value = risk['confidentiality'];
  if (typeof value !== 'number') return undefined;
  return value >= 75 ? 'restricted' : value >= 50 ? 'confidential' : value >= 25 ? 'internal' : 'public';
};
const kinds: readonly (readonly [RegExp, Element['kind']])[] = [
  [/store|database|\bdb\b|rds|s3|bucket|blob|queue|sqs|cache|redis|kafka|mongo|sql|dynamo|storage/i, 'store'],
  [/person|user|actor|browser|client|mobile|human/i, 'person'],
  [/external|third.?party|saas|partner/i, 'external'],
];
const kindOf = (type: string): Element['kind'] => kinds.find(([words]) => words.test(type))?.[1] ?? 'process';
const componentTraits: readonly (readonly [RegExp, Trait])[] = [
  [/web-?(app|ui|client|server|site)|frontend|cms/i, 'serves_pages'],
  [/identity|auth|login|cognito/i, 'authenticates'],
  [/container|docker|ecs|eks|aks|gke|kubernetes|pod/i, 'container'],
  [/admin|console|backoffice/i, 'administers'],
  [/pipeline|build|registry/i, 'builds'],
  [/\bllm\b|language-model|openai|bedrock/i, 'model'],
];

const zoneKindOf = (zone: Json): Boundary['kind'] => {
  const text = `${textOf(zone['id'])} ${textOf(zone['name'])} ${textOf(zone['type'])}`;
  if (/internet|public/i.test(text)) return 'internet';
  return /cluster|kubernetes|namespace/i.test(text) ? 'cluster' : 'network';
};

const clears: Readonly<Record<string, Flow['encrypted']>> = { true: 'yes', yes: 'yes', false: 'no', no: 'no' };
const logins = new Set<string>(['none', 'credentials', 'session', 'token', 'certificate']);

function componentOf(one: Json, zones: ReadonlySet<string>, assets: ReadonlySet<string>, notes: Notes): Element {
  const [held, parent] = [objectOf(one['assets']), objectOf(one['parent'])];
  const type = textOf(one['type']);
  const zone = toKey(textOf(parent['trustZone']));
  if (listOf(one['threats']).length > 0) notes.add(`Threats of ${textOf(one['name'])} are not kept: they are derived.`);
  const words = `${type} ${textOf(one['name'])}`;
  return whole({
    id: idOf(one),
    name: toName(textOf(one['name']), idOf(one)),
    kind: kindOf(type === '' ? words : type),
    boundary: zones.has(zone) ? zone : undefined,
    technology: type.slice(0, 100),
    description: textOf(one['description']).slice(0, 2000),
    data: knownOf([...listOf(held['processed']), ...listOf(held['stored'])], assets, notes, textOf(one['name'])),
    traits: componentTraits.filter(([pattern]) => pattern.test(words)).map(([, trait]) => trait),
  });
}

/** Components within components stand in the boundary of the outermost. */
function placeInner(components: readonly Json[], elements: Map<string, Element>): void {
  const outer = new Map(components.map((one) => [idOf(one), toKey(textOf(objectOf(one['parent'])['component']))]));
  for (const [id, element] of elements) {
    let up = outer.get(id) ?? '';
    for (let steps = 0; up !== '' && steps < 50 && elements.get(up)?.boundary === undefined; steps++)
      up = outer.get(up) ?? '';
    const boundary = elements.get(up)?.boundary;
    if (element.boundary === undefined && boundary !== undefined) elements.set(id, { ...element, boundary });
  }
}

function flowsOf(document: Json, elements: ReadonlySet<string>, assets: ReadonlySet<string>, notes: Notes): Flow[] {
  return listOf(document['dataflows']).flatMap((given) => {
    const one = objectOf(given);
    const [from, to] = [toKey(textOf(one['source'])), toKey(textOf(one['destination']))];
    const name = toName(textOf(one['name']), idOf(one));
    if (!elements.has(from) || !elements.has(to)) {
      notes.add(`The flow ${name} has an end that is no component; it was left out.`);
      return [];
    }
    const attributes = objectOf(one['attributes']);
    const login = textOf(attributes['authentication']).toLowerCase();
    const flow = whole({
      id: idOf(one),
      ...{ name, from, to },
      protocol: textOf(attributes['protocol']).slice(0, 60),
      authentication: (logins.has(login) ? login : 'unknown') as Flow['authentication'],
      encrypted: clears[textOf(attributes['encrypted']).toLowerCase()] ?? ('unknown' as const),
      data: knownOf(listOf(one['assets']), assets, notes, `The flow ${name}`),
    }) as Flow;
    const back: Flow = { ...flow, id: toKey(`${flow.id}:back`), from: to, to: from };
    return one['bidirectional'] === true ? [flow, back] : [flow];
  });
}

export function readOtm(document: Json): Read {
  const notes = new Notes();
  const [zones, components] = [
    listOf(document['trustZones']).map(objectOf),
    listOf(document['components']).map(objectOf),
  ];
  const data = listOf(document['assets'])
    .map(objectOf)
    .map((one) =>
      whole({
        id: idOf(one),
        name: toName(textOf(one['name']), idOf(one)),
        classification: levelOf(objectOf(one['risk'])),
        personal: /person|customer|\bpii\b/i.test(textOf(one['name'])) || undefined,
        credentials: /password|credential|secret|token/i.test(textOf(one['name'])) || undefined,
      }),
    ) as DataAsset[];
  const assets = new Set(data.map(({ id }) => id));
  const zoneIds = new Set(zones.map(idOf));
  const boundaries = zones.map((zone) => {
    const parent = toKey(textOf(objectOf(zone['parent'])['trustZone']));
    return whole({
      id: idOf(zone),
      name: toName(textOf(zone['name']), idOf(zone)),
      kind: zoneKindOf(zone),
      parent: zoneIds.has(parent) ? parent : undefined,
    });
  }) as Boundary[];
  const elements = new Map(
    components.map((one) => componentOf(one, zoneIds, assets, notes)).map((one) => [one.id, one]),
  );
  placeInner(components, elements);
  const flows = flowsOf(document, new Set(elements.keys()), assets, notes);
  if (listOf(document['mitigations']).length > 0)
    notes.add('mitigations is not kept: measures are those of the rules.');
  const name = toName(textOf(objectOf(document['project'])['name']), 'Open threat model');
  return {
    format: 'otm',
    name,
    dfd: { boundaries, elements: [...elements.values()], flows, data },
    notes: notes.list(),
  };
}
