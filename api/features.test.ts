import t from 'tap';
import { mergeAccess } from './auth/route-matrix.js';
import { features } from './app.js';
import { registerFeatures } from './features.js';
import { everybody, may, open, type Feature } from './http-kit/index.js';
import { createForwarding } from './http-server/trusted-proxies.js';
import { createInstance } from './http-server/instance.js';

const needs = { answer: 42 };
type Needs = typeof needs;

const register = async (...given: readonly Feature<Needs>[]): Promise<void> => {
  const app = createInstance({ logger: false, forwarding: createForwarding([], null) });
  registerFeatures(app, given, needs);
  await app.ready();
  await app.close();
};

const right: Feature<Needs> = {
  name: 'right',
  access: { 'GET /api/answer': open, 'POST /api/answer': may('apply', everybody) },
  routes(app, { answer }) {
    app.get('/api/answer', async () => ({ answer }));
    app.post('/api/answer', async () => ({ answer }));
  },
};
const silent: Feature<Needs> = { name: 'silent', access: {} };

t.test('features register what their access rows say', async (t) => {
  await t.resolves(register(right, silent));
  await t.resolves(register(), 'none at all');
});

t.test('a mistake stops the start', async (t) => {
  const [, surplus] = Object.entries(right.access);
  await t.rejects(register({ ...right, access: Object.fromEntries([surplus ?? []]) }), {
    message: 'The feature right has no access row for GET /api/answer: say who may call it.',
  });
  await t.rejects(register({ ...right, access: { ...right.access, 'PUT /api/answer': open } }), {
    message: 'The feature right has access rows without a route: PUT /api/answer.',
  });
  await t.rejects(register({ ...silent, access: { 'GET /api/nothing': open } }), /access rows without a route/);
  await t.rejects(register(right, { ...silent, name: 'right' }), { message: 'Two features are called right.' });
  t.throws(() => mergeAccess([right, { name: 'other', access: { 'GET /api/answer': open } }]), {
    message: 'Both right and other have an access row for GET /api/answer.',
  });
});

t.test('every feature of the control plane', async (t) => {
  const names = features.map(({ name }) => name);
  t.equal(new Set(names).size, names.length, 'has a name of its own');
  for (const { name } of features) t.match(name, /^[a-z][a-z-]+$/);
  t.doesNotThrow(() => mergeAccess(features));
});
