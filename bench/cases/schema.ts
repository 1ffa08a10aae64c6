// What holding a request to a specification costs: a body of 2 kB, with parameters, in process and without sockets. The
// bar is 15 µs of processor time; what JSON.parse takes of it alone stands beside it.
import { SiteSchemas, type SchemaPlan } from '#proxy/contract';
import type { BenchContext } from '../context.js';
import { HarnessProblem } from '../processes.js';

const text = { type: 'string' };
const address = {
  type: 'object',
  required: ['street', 'city', 'country'],
  properties: {
    street: { type: 'string', minLength: 1, maxLength: 200 },
    city: { type: 'string', maxLength: 100 },
    zip: { type: 'string', pattern: '^[0-9A-Z -]{3,10}$' },
    country: { enum: ['DE', 'FR', 'IT', 'ES'] },
  },
};
const line = {
  type: 'object',
  required: ['sku', 'quantity', 'price'],
  properties: {
    sku: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{4,8}$' },
    name: { type: 'string', maxLength: 120 },
    quantity: { type: 'integer', minimum: 1, maximum: 999 },
    price: { type: 'number', minimum: 0 },
    currency: { enum: ['EUR', 'USD'] },
    tags: { type: 'array', items: text, maxItems: 10 },
    gift: { type: 'boolean' },
  },
};
const order = {
  type: 'object',
  required: ['id', 'customer', 'lines'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    placed: { type: 'string', format: 'date-time' },
    customer: {
      type: 'object',
      required: ['name', 'email'],
      properties: { name: text, email: { type: 'string', format: 'email' }, phone: { type: ['string', 'null'] } },
    },
    shipping: { $ref: '#/components/schemas/Address' },
    billing: { $ref: '#/components/schemas/Address' },
    lines: { type: 'array', minItems: 1, maxItems: 100, items: { $ref: '#/components/schemas/Line' } },
    payment: {
      oneOf: [{ $ref: '#/components/schemas/Card' }, { $ref: '#/components/schemas/Transfer' }],
      discriminator: { propertyName: 'kind' },
    },
    note: { type: ['string', 'null'], maxLength: 500 },
    coupon: { type: 'string' },
  },
};

const plan: SchemaPlan = {
  ...{ name: 'shop', site: 'shop', action: 'block', responseAction: 'ignore', unknownPaths: 'ignore' },
  operations: [
    {
      ...{ method: 'POST', templates: ['/v1/shops/{shop}/orders'], action: null, responses: {} },
      parameters: [
        {
          ...{ name: 'shop', in: 'path', required: true, style: 'simple', explode: false },
          ...{ schema: { type: 'integer' }, mediaType: null, allowsEmpty: false },
        },
        {
          ...{ name: 'dry', in: 'query', required: false, style: 'form', explode: true },
          ...{ schema: { type: 'boolean' }, mediaType: null, allowsEmpty: false },
        },
      ],
      body: { required: true, content: { 'application/json': { schema: order, encoding: {} } } },
    },
  ],
  definitions: {
    '#/components/schemas/Address': address,
    '#/components/schemas/Line': line,
    '#/components/schemas/Card': {
      type: 'object',
      required: ['kind', 'token'],
      properties: { kind: { const: 'Card' }, token: text, last4: { type: 'string', pattern: '^[0-9]{4}$' } },
    },
    '#/components/schemas/Transfer': {
      type: 'object',
      required: ['kind', 'iban'],
      properties: { kind: { const: 'Transfer' }, iban: text },
    },
  },
};

function bodyOf(index: number): Buffer {
  const lines = Array.from({ length: 11 }, (_, at) => ({
    ...{
      sku: `AB-${10_000 + index + at}`,
      name: `Article ${index} in blue, size ${at}`,
      quantity: 1 + at,
      price: 9.95,
    },
    ...{ currency: 'EUR', tags: ['new', 'sale'], gift: at % 2 === 0 },
  }));
  const at = { street: `${index} Harbour Street`, city: 'Bremen', zip: '28195', country: 'DE' };
  return Buffer.from(
    JSON.stringify({
      id: `123e4567-e89b-12d3-a456-${String(426_614_174_000 + index)}`,
      placed: '2026-11-22T18:00:00.123Z',
      customer: { name: 'Ada Example', email: `ada${index}@example.org`, phone: null },
      ...{ shipping: at, billing: at, lines },
      payment: { kind: 'Card', token: `tok_${index}`, last4: '1881' },
      note: 'Leave it with the neighbours, please.',
    }),
  );
}

export function schemaCase({ options, recorder, progress }: BenchContext): void {
  const schemas = new SiteSchemas([plan]);
  const bodies = Array.from({ length: 500 }, (_, index) => bodyOf(index));
  const bytes = Math.round(bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length);
  const headers = ['Host', 'shop.example', 'Content-Type', 'application/json', 'Accept', '*/*'];
  const head = { method: 'POST', uri: '/v1/shops/12/orders?dry=true', headers };
  const rounds = options.short ? 40 : 200;
  const perRequest = (work: (body: Buffer) => boolean): number => {
    const before = process.cpuUsage();
    let refused = 0;
    for (let round = 0; round < rounds; round += 1) for (const body of bodies) if (!work(body)) refused += 1;
    const { user, system } = process.cpuUsage(before);
    if (refused > 0) throw new HarnessProblem(`${refused} of the bodies do not fit`);
    return (user + system) / (rounds * bodies.length);
  };
  const kinds: readonly (readonly [string, (body: Buffer) => boolean])[] = [
    ['check', (body) => schemas.request(head, body).violation === null],
    ['JSON.parse alone', (body) => JSON.parse(body.toString('utf8')) !== null],
  ];
  for (const [name, work] of kinds) {
    perRequest(work); // warm-up
    for (let repetition = 0; repetition < options.repetitions; repetition += 1)
      recorder.add(`schema / JSON of ${bytes} bytes / ${name} / CPU`, 'µs', 'lower', perRequest(work));
    progress(`schema: ${name}`);
  }
}
