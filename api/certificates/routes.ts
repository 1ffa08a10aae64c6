import { randomUUID } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { ApiError, closed, OneOf, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { openDirectory } from './directory.js';
import type { CertificateJobParts } from './job.js';
import { canonicalNames, covers, isWildcard, namesMax } from './names.js';
import { keyPlace, pushCertificates } from './push.js';
import {
  addCertificate,
  addIssue,
  challengeKinds,
  findByNames,
  findCertificate,
  listCertificates,
  listIssues,
  noteSuccess,
  orderNow,
  removeCertificate,
  revoke,
  type CertificateRow,
} from './store.js';
import { readUpload } from './upload.js';
import { CertificateView, viewOf } from './view.js';
import { servedOf } from './warn.js';
import { directoryOf, orderDue } from './work.js';

const tags = ['certificates'];
const params = Type.Object({ id: Type.String({ maxLength: 64 }) }, closed);

const listSchema = {
  tags,
  summary: 'Certificates of the protected hosts, and what can be ordered',
  response: {
    200: Type.Object({
      items: Type.Array(CertificateView),
      directories: Type.Array(Type.Object({ name: Type.String(), url: Type.String() })),
      challenges: Type.Array(OneOf(challengeKinds), { description: 'dns-01 only with ACME_DNS_HOOK' }),
      uncovered: Type.Array(Type.String(), { description: 'hosts of sites for which there is no certificate' }),
    }),
    ...refusals,
  },
};
const orderSchema = {
  tags,
  summary: 'Order a certificate; it is issued in the background and renewed by itself',
  body: Type.Object(
    {
      names: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { minItems: 1, maxItems: namesMax }),
      challenge: Type.Optional(OneOf(challengeKinds)),
      directory: Type.Optional(Type.String({ maxLength: 100, description: 'of ACME_DIRECTORIES; left out: any' })),
    },
    closed,
  ),
  response: { 201: CertificateView, ...refusals },
};
const uploadSchema = {
  tags,
  summary: 'Upload a certificate and its key; one for the same names is replaced',
  body: Type.Object(
    {
      chain: Type.String({ maxLength: 262_144, description: 'PEM, the certificate of the host first' }),
      key: Type.String({ maxLength: 65_536, description: 'PEM, not encrypted; sealed, and never shown again' }),
    },
    closed,
  ),
  response: { 201: CertificateView, ...refusals },
};
const oneSchema = { tags, params, response: { 200: CertificateView, ...refusals } };
const removeSchema = {
  tags,
  summary: 'Take a certificate out of service without revoking it',
  params,
  response: { 204: Type.Null(), ...refusals },
};

const listed = (names: string): string => names.split(' ').join(', ');

class CertificateActions {
  private running: Promise<unknown> = Promise.resolve();
  private readonly closing = new AbortController();

  constructor(
    private readonly parts: CertificateJobParts,
    private readonly onError: (error: unknown) => void,
  ) {}

  get now(): Date {
    return new Date(this.parts.now());
  }

  /** Begins what is due without waiting for it; one round at a time. */
  kick(): void {
    const round = this.running.then(() => orderDue(this.parts, this.closing.signal));
    this.running = round.catch(this.onError);
  }

  /** No further step is begun; resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  async find(id: string): Promise<CertificateRow> {
    const row = await findCertificate(this.parts.database.sql, id);
    if (row === undefined) throw new ApiError('not_found', `There is no certificate ${id}; GET /api/certificates.`);
    return row;
  }

  async hosts(): Promise<readonly { readonly name: string; readonly host: string }[]> {
    const { sites } = await this.parts.currentSettings();
    return sites.flatMap(({ name, host }) => (host === null ? [] : [{ name, host: host.toLowerCase() }]));
  }

  async view(id: string) {
    const { sql } = this.parts.database;
    const row = await this.find(id);
    const names = row.names.split(' ');
    const sites = (await this.hosts()).filter(({ host }) => covers(names, host)).map(({ name }) => name);
    return viewOf(row, servedOf(await listIssues(sql)).get(id), sites, this.now);
  }

  async list() {
    const { database, acme } = this.parts;
    const served = servedOf(await listIssues(database.sql));
    const hosts = await this.hosts();
    const rows = await listCertificates(database.sql);
    const items = rows.map((row) => {
      const names = row.names.split(' ');
      const sites = hosts.filter(({ host }) => covers(names, host)).map(({ name }) => name);
      return viewOf(row, served.get(row.id), sites, this.now);
    });
    const have = items.filter(({ state }) => state !== 'revoked').map(({ names }) => names);
    const uncovered = hosts.map(({ host }) => host).filter((host) => !have.some((names) => covers(names, host)));
    return {
      items,
      directories: acme.directories.map(({ name, url }) => ({ name, url })),
      challenges: challengeKinds.filter((kind) => kind !== 'dns-01' || acme.dnsHook !== null),
      uncovered: [...new Set(uncovered)],
    };
  }
}

/** Throws ApiError where what is asked for cannot be ordered here. */
function checkOrder(
  { acme: { directories, dnsHook } }: CertificateJobParts,
  names: readonly string[],
  challenge: (typeof challengeKinds)[number],
  directory: string | null,
): void {
  const refuse = (path: string, reason: string): never => {
    throw new ApiError('validation_failed', reason, { errors: [{ path, reason }] });
  };
  const known = directories.map(({ name }) => name);
  if (known.length === 0) refuse('', 'ACME_DIRECTORIES names no directory: set it, or upload a certificate.');
  if (directory !== null && !known.includes(directory))
    refuse('/directory', `There is no directory ${directory} in ACME_DIRECTORIES; there are ${known.join(', ')}.`);
  if (challenge === 'dns-01' && dnsHook === null)
    refuse('/challenge', 'dns-01 needs a program that sets records: name it in ACME_DNS_HOOK.');
  const wild = names.find(isWildcard);
  if (wild !== undefined && challenge !== 'dns-01')
    refuse('/challenge', `${wild} is a wildcard, which authorities issue by dns-01 only.`);
}

function registerOrder(app: App, parts: CertificateJobParts, actions: CertificateActions): void {
  const { database, audit } = parts;
  app.post('/api/certificates', { schema: orderSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { challenge = 'http-01', directory = null } = request.body;
    const list = canonicalNames(request.body.names);
    checkOrder(parts, list, challenge, directory);
    const { now } = actions;
    const id = randomUUID();
    const names = list.join(' ');
    await database.sql.begin(async (tx) => {
      const row = { id, names, source: 'acme', challenge, directory, next_attempt_at: now } as const;
      if (!(await addCertificate(tx, { ...row, created_by: actor.name, created_at: now })))
        throw new ApiError('conflict', `There is a certificate for ${listed(names)}: renew that one.`);
      const summary = `ordered a certificate for ${listed(names)}`;
      await audit.record(tx, {
        actor,
        action: 'certificate.order',
        summary,
        details: { certificate: id, names: list },
      });
    });
    const view = await actions.view(id);
    actions.kick();
    return reply.code(201).send(view);
  });
  app.post(
    '/api/certificates/:id/renew',
    { schema: { ...oneSchema, summary: 'Order it again now, whether or not it is due' } },
    async (request) => {
      const { actor } = requirePrincipal(request);
      const row = await actions.find(request.params.id);
      if (row.revoked_at !== null) throw new ApiError('conflict', 'It is revoked: order a new certificate.');
      if (row.locked_until !== null && row.locked_until > actions.now)
        throw new ApiError('conflict', 'It is being ordered at this moment: look again in a minute.');
      checkOrder(parts, row.names.split(' '), row.challenge, row.directory);
      await database.sql.begin(async (tx) => {
        await orderNow(tx, row.id, actions.now);
        const summary = `ordered the certificate for ${listed(row.names)} again`;
        await audit.record(tx, { actor, action: 'certificate.order', summary, details: { certificate: row.id } });
      });
      const view = await actions.view(row.id);
      actions.kick();
      return view;
    },
  );
}

function registerUpload(app: App, parts: CertificateJobParts, actions: CertificateActions): void {
  const { database, audit, sealing } = parts;
  app.post('/api/certificates/upload', { schema: uploadSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { now } = actions;
    const given = readUpload(request.body.chain, request.body.key, now);
    const names = given.names.join(' ');
    const issueId = randomUUID();
    const id = await database.sql.begin(async (tx) => {
      const row = { id: randomUUID(), names, source: 'upload', challenge: 'http-01', directory: null } as const;
      await addCertificate(tx, { ...row, next_attempt_at: null, created_by: actor.name, created_at: now });
      const { id: certificate } = (await findByNames(tx, names)) as CertificateRow;
      await tx`update certificates set source = 'upload' where id = ${certificate}`;
      await noteSuccess(tx, certificate, now, null);
      await addIssue(tx, {
        id: issueId,
        certificate_id: certificate,
        chain: given.chain,
        key_sealed: sealing.seal(given.key, keyPlace(issueId)),
        directory: null,
        issuer: given.issuer,
        serial: given.serial,
        not_before: given.notBefore,
        not_after: given.notAfter,
        issued_at: now,
        state: 'new',
      });
      const summary = `uploaded a certificate for ${listed(names)}, until ${given.notAfter.toISOString()}`;
      const details = { certificate, serial: given.serial };
      await audit.record(tx, { actor, action: 'certificate.upload', summary, details });
      return certificate;
    });
    await pushCertificates(parts);
    return reply.code(201).send(await actions.view(id));
  });
}

/** At the authority that issued it, with the account that ordered it. */
async function revokeAtAuthority(parts: CertificateJobParts, row: CertificateRow): Promise<void> {
  const issues = (await listIssues(parts.database.sql)).filter(({ certificate_id }) => certificate_id === row.id);
  for (const { chain, directory } of issues) {
    if (directory === null) continue;
    const client = await openDirectory(parts, directoryOf(parts, { directory, attempts: 0 }));
    const [leaf = ''] = chain.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/) ?? [];
    try {
      await client.revokeCertificate(leaf, { reason: 4 }); // superseded (RFC 5280 section 5.3.1)
    } catch (error) {
      if (/already.?revoked/i.test((error as Error).message)) continue;
      throw new ApiError(
        'conflict',
        `The authority did not revoke it: ${(error as Error).message}. It goes on serving.`,
      );
    }
  }
}

function registerEnds(app: App, parts: CertificateJobParts, actions: CertificateActions): void {
  const { database, audit } = parts;
  app.post(
    '/api/certificates/:id/revoke',
    { schema: { ...oneSchema, summary: 'Revoke a certificate at its authority and take it out of service' } },
    async (request) => {
      const { actor } = requirePrincipal(request);
      const row = await actions.find(request.params.id);
      if (row.revoked_at !== null) throw new ApiError('conflict', 'It is revoked already.');
      if (row.source === 'upload')
        throw new ApiError(
          'conflict',
          'It was uploaded: revoke it where it was ordered, and take it out of service with DELETE.',
        );
      await revokeAtAuthority(parts, row);
      await database.sql.begin(async (tx) => {
        await revoke(tx, row.id, actions.now);
        const summary = `revoked the certificate for ${listed(row.names)}`;
        await audit.record(tx, { actor, action: 'certificate.revoke', summary, details: { certificate: row.id } });
      });
      await pushCertificates(parts);
      return actions.view(row.id);
    },
  );
  app.delete('/api/certificates/:id', { schema: removeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const row = await actions.find(request.params.id);
    await database.sql.begin(async (tx) => {
      await removeCertificate(tx, row.id);
      const summary = `took the certificate for ${listed(row.names)} out of service`;
      await audit.record(tx, { actor, action: 'certificate.remove', summary, details: { certificate: row.id } });
    });
    await pushCertificates(parts);
    return reply.code(204).send(null);
  });
}

export function registerCertificateRoutes(app: App, parts: CertificateJobParts): void {
  const actions = new CertificateActions(parts, (error) => app.log.error({ err: error }, 'ordering failed'));
  app.addHook('onClose', () => actions.close());
  app.get('/api/certificates', { schema: listSchema }, () => actions.list());
  app.get('/api/certificates/:id', { schema: { ...oneSchema, summary: 'One certificate' } }, (request) =>
    actions.view(request.params.id),
  );
  registerOrder(app, parts, actions);
  registerUpload(app, parts, actions);
  registerEnds(app, parts, actions);
}
