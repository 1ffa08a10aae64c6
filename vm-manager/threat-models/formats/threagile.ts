// Threagile's model (threagile_version): technical and data assets, communication links, trust boundaries.
import type { Boundary, DataAsset, Dfd, Element, Flow, Trait } from '../model.js';
import { knownOf, listOf, Notes, objectOf, textOf, toKey, toName, whole, type Json, type Read } from './reading.js';

const levels: Readonly<Record<string, DataAsset['classification']>> = {
  public: 'public',
  internal: 'internal',
  restricted: 'confidential',
  confidential: 'confidential',
  'strictly-confidential': 'restricted',
};
const logins: Readonly<Record<string, Flow['authentication']>> = {
  none: 'none',
  credentials: 'credentials',
  'session-id': 'session',
  token: 'token',
  'client-certificate': 'certificate',
  'two-factor': 'credentials',
  externalized: 'token',
};
const boundaryKinds: readonly (readonly [RegExp, Boundary['kind']])[] = [
  [/namespace|policy/, 'cluster'],
  [/execution/, 'host'],
  [/security-group|virtual-lan/, 'zone'],
];
const encryptedProtocols = new Set(
  'https wss ssh ssh-tunnel sftp scp ftps ldaps smtp-encrypted pop3-encrypted imap-encrypted'.split(' '),
);
const clearProtocols = new Set(
  (
    'http ws ftp ldap smtp pop3 imap jdbc odbc telnet mqtt jms nfs smb text binary xmpp jrmp iiop ' +
    'nosql-access-protocol sql-access-protocol reverse-proxy-web-protocol'
  ).split(' '),
);
const flags: readonly (readonly [string, Trait])[] = [
  ['multi_tenant', 'multi_tenant'],
  ['redundant', 'redundant'],
];
const technologyTraits: readonly (readonly [RegExp, Trait])[] = [
  [/web-application|web-server|cms|erp|browser/, 'serves_pages'],
  [/identity-provider|identity-store/, 'authenticates'],
  [/build-pipeline|artifact-registry|sourcecode-repository/, 'builds'],
  [/container-platform/, 'container'],
  [/devops-client|monitoring|tool/, 'administers'],
];
const formatTraits: Readonly<Record<string, Trait>> = {
  xml: 'parses_xml',
  serialization: 'deserialises',
  file: 'takes_files',
};

const entriesOf = (value: unknown): readonly (readonly [string, Json])[] =>
  Object.entries(objectOf(value)).map(([title, one]) => [title, objectOf(one)] as const);
const idOf = (title: string, one: Json): string => toKey(textOf(one['id']) || title);

function traitsOf(one: Json): Trait[] {
  const technology = textOf(one['technology']) || listOf(one['technologies']).map(textOf).join(' ');
  const found = [
    ...flags.filter(([name]) => one[name] === true).map(([, trait]) => trait),
    ...technologyTraits.filter(([words]) => words.test(technology)).map(([, trait]) => trait),
    ...listOf(one['data_formats_accepted']).flatMap((format) => formatTraits[textOf(format)] ?? []),
    ...(textOf(one['machine']) === 'container' ? (['container'] as const) : []),
  ];
  return [...new Set(found)];
}

const elementKindOf = (one: Json): Element['kind'] => {
  const type = textOf(one['type']);
  if (type === 'datastore') return 'store';
  if (type !== 'external-entity') return 'process';
  return one['used_as_client_by_human'] === true ? 'person' : 'external';
};

function elementOf([title, one]: readonly [string, Json], assets: ReadonlySet<string>, notes: Notes): Element {
  const data = [...listOf(one['data_assets_processed']), ...listOf(one['data_assets_stored'])];
  const encryption = textOf(one['encryption']);
  if (one['out_of_scope'] === true) notes.add(`${title} is out of scope in the document; here it is in the model.`);
  return whole({
    id: idOf(title, one),
    name: toName(title, 'Asset'),
    kind: elementKindOf(one),
    technology: textOf(one['technology']).slice(0, 100),
    description: textOf(one['description']).slice(0, 2000),
    internet: one['internet'] === true ? true : undefined,
    data: knownOf(data, assets, notes, title),
    encrypted: encryption === '' ? undefined : encryption === 'none' ? ('no' as const) : ('yes' as const),
    traits: traitsOf(one),
  });
}

function flowsOf(
  [title, one]: readonly [string, Json],
  known: { readonly elements: ReadonlySet<string>; readonly assets: ReadonlySet<string> },
  notes: Notes,
): Flow[] {
  const from = idOf(title, one);
  return entriesOf(one['communication_links']).flatMap(([name, link]) => {
    const to = toKey(textOf(link['target']));
    if (!known.elements.has(to)) {
      notes.add(`The link ${name} of ${title} leads to ${to}, which the document does not have; it was left out.`);
      return [];
    }
    const protocol = textOf(link['protocol']);
    const isEncrypted = link['vpn'] === true || encryptedProtocols.has(protocol) || protocol.endsWith('-encrypted');
    const data = [...listOf(link['data_assets_sent']), ...listOf(link['data_assets_received'])];
    return [
      whole({
        id: toKey(`${from}:${name}`),
        name: toName(name, 'Link'),
        ...{ from, to },
        protocol: protocol.slice(0, 60),
        authentication: logins[textOf(link['authentication'])] ?? ('unknown' as const),
        encrypted: isEncrypted
          ? ('yes' as const)
          : clearProtocols.has(protocol)
            ? ('no' as const)
            : ('unknown' as const),
        data: knownOf(data, known.assets, notes, `The link ${name}`),
      }),
    ];
  });
}

function boundariesOf(document: Json, elements: Map<string, Element>, notes: Notes): Boundary[] {
  const entries = entriesOf(document['trust_boundaries']);
  const ids = new Set(entries.map(([title, one]) => idOf(title, one)));
  const parents = new Map<string, string>();
  for (const [title, one] of entries) {
    const id = idOf(title, one);
    for (const inner of knownOf(listOf(one['trust_boundaries_nested']), ids, notes, title)) parents.set(inner, id);
    for (const inside of knownOf(listOf(one['technical_assets_inside']), new Set(elements.keys()), notes, title)) {
      const element = elements.get(inside);
      if (element !== undefined) elements.set(inside, { ...element, boundary: id });
    }
  }
  return entries.map(([title, one]) =>
    whole({
      id: idOf(title, one),
      name: toName(title, 'Boundary'),
      kind: boundaryKinds.find(([words]) => words.test(textOf(one['type'])))?.[1] ?? ('network' as const),
      parent: parents.get(idOf(title, one)),
    }),
  );
}

export function readThreagile(document: Json): Read {
  const notes = new Notes();
  const dataEntries = entriesOf(document['data_assets']);
  const data = dataEntries.map(([title, one]) =>
    whole({
      id: idOf(title, one),
      name: toName(title, 'Data'),
      classification: levels[textOf(one['confidentiality'])],
      personal:
        /person|customer|gdpr|\bpii\b/i.test(`${title} ${listOf(one['tags']).map(textOf).join(' ')}`) || undefined,
      credentials: /password|credential|secret|token|private key/i.test(title) || undefined,
    }),
  ) as DataAsset[];
  const assets = new Set(data.map(({ id }) => id));
  const technical = entriesOf(document['technical_assets']);
  const elements = new Map(technical.map((entry) => elementOf(entry, assets, notes)).map((one) => [one.id, one]));
  const known = { elements: new Set(elements.keys()), assets };
  const flows = technical.flatMap((entry) => flowsOf(entry, known, notes));
  const boundaries = boundariesOf(document, elements, notes);
  for (const name of [
    'shared_runtimes',
    'individual_risk_categories',
    'risk_tracking',
    'abuse_cases',
    'security_requirements',
  ])
    if (Object.keys(objectOf(document[name])).length > 0) notes.add(`${name} is not kept.`);
  const dfd: Dfd = { boundaries, elements: [...elements.values()], flows, data };
  return { format: 'threagile', name: toName(textOf(document['title']), 'Threagile model'), dfd, notes: notes.list() };
}
