import t from 'tap';
import { toldOf } from './additions.js';

t.test('X2: each operation, parameter and login of a patch is a row', async (t) => {
  const rows = (path: string, value: unknown): string[] =>
    toldOf({ path, value }).map((one) => `${one.kind} ${one.method} ${one.path} ${one.name}`);
  t.same(rows('/paths/~1orders~1{id}', { servers: [], get: {}, delete: {}, parameters: [] }), [
    'operation GET /orders/{id} ',
    'operation DELETE /orders/{id} ',
  ]);
  t.same(rows('/paths/~1a~0b/post', { responses: {} }), ['operation POST /a~b ']);
  t.same(rows('/paths/~1a/get/parameters', [{ name: 'page' }, { name: 'f[a]' }]), [
    'parameter GET /a page',
    'parameter GET /a f[a]',
  ]);
  t.same(rows('/paths/~1a/get/parameters/-', { name: 'q' }), ['parameter GET /a q']);
  t.same(rows('/components/pathItems/shared/put', {}), ['operation PUT shared '], 'a path that is referred to');
  t.same(rows('/components', { securitySchemes: { basic: {}, key: {} } }), ['scheme   basic', 'scheme   key']);
  t.same(rows('/components/securitySchemes', { basic: {} }), ['scheme   basic']);
  t.same(rows('/components/securitySchemes/basic', { type: 'http' }), ['scheme   basic']);
  t.same(rows('/paths', {}), [], 'room for what comes is no addition');
  t.equal(toldOf({ path: '/paths/~1a/get', value: { summary: 'x' } })[0]?.pointer, '/paths/~1a/get');
});
