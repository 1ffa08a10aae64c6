// What rules ask of an element or a flow: one flat record each, worked out of the whole model.
import { classifications, type Boundary, type Dfd, type Element, type Flow } from './model.js';

export type Fact = string | number | boolean | readonly string[];
export interface Subject {
  readonly kind: 'element' | 'flow';
  readonly id: string;
  readonly name: string;
  readonly facts: Readonly<Record<string, Fact>>;
}

/** What a technology is, by its name; the first that fits. */
const technologyClasses: readonly (readonly [string, RegExp])[] = [
  ['directory', /ldap|active.?directory|identity.store/i],
  ['documents', /mongo|couch|dynamo|firestore|cosmos|cassandra|nosql|document/i],
  ['search', /elastic|opensearch|solr|lucene|search/i],
  ['cache', /redis|memcache|valkey|hazelcast|cache/i],
  ['queue', /kafka|rabbit|amqp|mqtt|sqs|pub.?sub|nats|activemq|queue|message|event.?hub/i],
  ['files', /s3|bucket|blob|minio|object.store|file|nfs|smb|ftp|disk|volume/i],
  ['database', /sql|postgres|maria|oracle|db2|sqlite|database|\bdb\b|warehouse|snowflake|bigquery/i],
  ['identity', /keycloak|oidc|oauth|saml|identity|sso|\bidp\b/i],
  ['model', /\bllm\b|language.?model|\bgpt\b|openai|inference|machine.?learning/i],
  ['vault', /vault|kms|hsm|secret/i],
  ['build', /jenkins|pipeline|\bci\b|build|registry|artifact/i],
];
export const technologyClass = (technology: string): string =>
  technologyClasses.find(([, words]) => words.test(technology))?.[0] ?? '';

const protocolClass = (protocol: string): string => {
  if (/http|rest|grpc|graphql|soap|wss?\b|websocket/i.test(protocol)) return 'web';
  if (/sql|jdbc|odbc|mongo|redis|database|db/i.test(protocol)) return 'database';
  if (/amqp|mqtt|kafka|jms|stomp|queue/i.test(protocol)) return 'queue';
  if (/ftp|nfs|smb|scp|file/i.test(protocol)) return 'files';
  return /smtp|imap|pop3|mail/i.test(protocol) ? 'mail' : '';
};

class Model {
  readonly elements: ReadonlyMap<string, Element>;
  readonly flows: readonly Flow[];
  private readonly boundaries: ReadonlyMap<string, Boundary>;
  private readonly data: ReadonlyMap<string, NonNullable<Dfd['data']>[number]>;

  constructor({ boundaries = [], elements, flows = [], data = [] }: Dfd) {
    this.elements = new Map(elements.map((one) => [one.id, one]));
    this.boundaries = new Map(boundaries.map((one) => [one.id, one]));
    this.data = new Map(data.map((one) => [one.id, one]));
    this.flows = flows;
  }

  isOutside({ internet, boundary, kind }: Element): boolean {
    if (kind !== 'person' && kind !== 'external') return false;
    if (internet !== undefined) return internet;
    let zone = boundary === undefined ? undefined : this.boundaries.get(boundary);
    if (zone === undefined) return true;
    for (; zone !== undefined; zone = zone.parent === undefined ? undefined : this.boundaries.get(zone.parent))
      if (zone.kind === 'internet') return true;
    return false;
  }

  /** What came with others, or says so itself. */
  isFacing(element: Element): boolean {
    if (element.kind !== 'process' && element.kind !== 'store') return false;
    return element.internet ?? this.incoming(element).some(({ from }) => this.isOutside(from));
  }

  incoming({ id }: Element) {
    return this.flows.flatMap((flow) => {
      const from = flow.to === id ? this.elements.get(flow.from) : undefined;
      return from === undefined ? [] : [{ flow, from }];
    });
  }
  outgoing({ id }: Element) {
    return this.flows.flatMap((flow) => {
      const to = flow.from === id ? this.elements.get(flow.to) : undefined;
      return to === undefined ? [] : [{ flow, to }];
    });
  }

  dataFacts(ids: readonly string[]): Record<string, Fact> {
    const held = ids.flatMap((id) => this.data.get(id) ?? []);
    return {
      data_level: Math.max(0, ...held.map((one) => classifications.indexOf(one.classification ?? 'internal'))),
      personal: held.some(({ personal }) => personal === true),
      credentials: held.some(({ credentials }) => credentials === true),
    };
  }

  elementFacts(element: Element): Record<string, Fact> {
    const incoming = this.incoming(element);
    const outgoing = this.outgoing(element);
    const passing = [...incoming, ...outgoing].flatMap(({ flow }) => flow.data ?? []);
    return {
      kind: element.kind,
      technology: technologyClass(`${element.technology ?? ''} ${element.kind === 'store' ? element.name : ''}`),
      traits: element.traits ?? [],
      encrypted: element.encrypted ?? 'unknown',
      outside: this.isOutside(element),
      internet: this.isFacing(element),
      ...this.dataFacts([...(element.data ?? []), ...passing]),
      clients: new Set(incoming.map(({ from }) => from.id)).size,
      open_clients: incoming.filter(({ flow }) => flow.authentication === 'none').length,
      asks_outside: outgoing.some(({ to }) => to.kind === 'external'),
      asks_web: outgoing.some(({ flow }) => protocolClass(flow.protocol ?? '') === 'web'),
      writes_stores: outgoing.some(({ to }) => to.kind === 'store'),
      serves_people: incoming.some(({ from }) => from.kind === 'person'),
      open_operations: incoming.reduce((sum, { flow }) => sum + (flow.open_operations ?? 0), 0),
    };
  }

  flowFacts(flow: Flow): Record<string, Fact> {
    const [from, to] = [this.elements.get(flow.from), this.elements.get(flow.to)];
    if (from === undefined || to === undefined) return {};
    const operations = flow.operations ?? [];
    const held = flow.data ?? [...(to.kind === 'store' ? (to.data ?? []) : [])];
    return {
      protocol: protocolClass(flow.protocol ?? '') || (operations.length > 0 ? 'web' : ''),
      authentication: flow.authentication ?? 'unknown',
      encrypted: flow.encrypted ?? 'unknown',
      from_kind: from.kind,
      to_kind: to.kind,
      technology: technologyClass(`${to.technology ?? ''} ${to.kind === 'store' ? to.name : ''}`),
      from_outside: this.isOutside(from),
      to_outside: to.kind === 'external',
      from_internet_facing: this.isFacing(from),
      to_traits: to.traits ?? [],
      crosses: from.boundary !== to.boundary || this.isOutside(from),
      ...this.dataFacts(held),
      operations: operations.length,
      objects: operations.some((one) => one.includes('{')),
      changes: operations.some((one) => /^(POST|PUT|PATCH|DELETE) /.test(one)),
      administers: operations.some((one) => /admin|internal|manage|config/i.test(one)),
      open_operations: flow.open_operations ?? 0,
      shadow_operations: flow.shadow_operations ?? 0,
    };
  }
}

/** Everything that threats may be about, in the order of the model. */
export function subjectsOf(dfd: Dfd): Subject[] {
  const model = new Model(dfd);
  return [
    ...dfd.elements.map((one) => ({
      kind: 'element' as const,
      id: one.id,
      name: one.name,
      facts: model.elementFacts(one),
    })),
    ...(dfd.flows ?? []).map((flow) => ({
      kind: 'flow' as const,
      id: flow.id,
      name: `${flow.name} (${model.elements.get(flow.from)?.name ?? ''} → ${model.elements.get(flow.to)?.name ?? ''})`,
      facts: model.flowFacts(flow),
    })),
  ];
}
