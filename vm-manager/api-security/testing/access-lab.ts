// An API with planted flaws of access, each beside a twin that looks alike and is safe. Identities are bearer tokens.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const tokens = { ada: 'ada-token-4d2f9c81b7', bob: 'bob-token-91e07ac3d5' } as const;
type User = keyof typeof tokens;

const owners: Readonly<Record<string, Readonly<Record<string, User>>>> = {
  // ada is shown these alone; /invoices hands them to everybody who is logged in
  invoices: { '1001': 'ada', '2002': 'bob' },
  receipts: { '3003': 'ada', '4004': 'bob' },
};

export class AccessLab {
  origin = '';
  verifyToken = '';
  isFixed = false;
  /** Answers take so long. */
  pauseMs = 0;
  readonly seen: { readonly method: string; readonly path: string }[] = [];
  readonly #server: Server = createServer((request, reply) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    this.seen.push({ method: request.method ?? '', path });
    setTimeout(() => {
      const [status, body] = this.#answer(path, request.headers.authorization ?? '');
      reply.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' });
      reply.end(typeof body === 'string' ? body : JSON.stringify(body));
    }, this.pauseMs);
  });

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #answer(path: string, authorization: string): readonly [number, object | string] {
    if (path === '/.well-known/gatehouse-scan.txt') return [200, this.verifyToken];
    const user = (Object.keys(tokens) as User[]).find((one) => authorization === `Bearer ${tokens[one]}`) ?? null;
    if (path === '/') {
      const links = ['/me', '/status', '/export', '/export-safe', '/admin/users', '/admin/audit', '/hidden/notes'];
      const own = user === null ? [] : Object.keys(owners).map((kind) => `/${kind}/${this.#own(kind, user)}`);
      return [200, [...links, ...own].map((one) => `<a href="${one}">x</a>`).join('')];
    }
    if (path === '/status') return [200, { up: true, release: 'seven' }];
    // declared as protected; the first forgets to ask
    if (path === '/export' && !this.isFixed) return [200, { customers: ['marta@shop.example', 'jo@shop.example'] }];
    if (user === null) return [401, { error: 'log in' }];
    if (path === '/export' || path === '/export-safe') return [200, { customers: ['marta@shop.example'] }];
    if (path === '/me') return [200, { name: user, mail: `${user}@shop.example` }];
    if (path === '/admin/users' && (user === 'ada' || !this.isFixed)) return [200, { users: ['ada', 'bob'] }];
    if (path === '/admin/audit' && user === 'ada') return [200, { entries: ['ada logged in'] }];
    if (path.startsWith('/admin/')) return [403, { error: 'no' }];
    const [, kind = '', id = ''] = /^\/(\w+)\/(\d+)$/.exec(path) ?? [];
    const owner = owners[kind]?.[id];
    if (owner === undefined || (owner !== user && (kind === 'receipts' || this.isFixed)))
      return [404, { error: 'none' }];
    return [200, { number: id, holder: `${owner}@shop.example`, text: `what ${owner} bought` }];
  }

  #own(kind: string, user: User): string {
    return Object.entries(owners[kind] ?? {}).find(([, owner]) => owner === user)?.[0] ?? '';
  }
}

export const accessDocument = `openapi: 3.1.0
info: {title: Shop, version: '1'}
servers: [{url: https://api.shop.example/}]
components: {securitySchemes: {token: {type: http, scheme: bearer}, key: {type: apiKey, in: query, name: k}}}
security: [{token: []}]
paths:
  /export: {get: {responses: {'200': {description: x}}}}
  /export-safe: {get: {responses: {'200': {description: x}}}}
  /invoices/{number}:
    parameters: [{name: number, in: path, required: true, schema: {type: integer}}]
    get: {responses: {'200': {description: x, content: {application/json: {schema:
      {type: object, properties: {number: {type: string}, password: {type: string}}}}}}}}
  /orders:
    post:
      security: []
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {'201': {description: x}}
  /never/asked: {get: {deprecated: true, responses: {'200': {description: x}}}}
`;
