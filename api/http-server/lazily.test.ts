// Schemas are compiled when they are first used, hence a wrong one would show itself to a user: here all are compiled.
import { Ajv } from 'ajv';
import t from 'tap';
import { onBothDatabases } from '../testing/databases.js';
import { startTestApp } from '../testing/app.js';
import { LazySchemas } from './lazily.js';

t.test('a validator is compiled once, and says the errors of its last call', async (t) => {
  const schemas = new LazySchemas(() => ({}));
  const validate = schemas.validator(new Ajv(), { type: 'object', required: ['a'] });
  t.notOk(validate({}));
  t.match(validate.errors, [{ keyword: 'required' }]);
  t.ok(validate({ a: 1 }));
  t.equal(validate.errors, null);
  t.equal(schemas.compileAll(), 0, 'nothing is left');
});

t.test('a serializer is compiled once', async (t) => {
  const schemas = new LazySchemas(() => ({}));
  const write = schemas.serializer({ type: 'object', properties: { a: { type: 'number' } } });
  t.equal(write({ a: 1, b: 2 }), '{"a":1}');
  t.equal(schemas.compileAll(), 0);
});

t.test('a schema that is wrong is found by compiling all', async (t) => {
  const schemas = new LazySchemas(() => ({}));
  schemas.validator(new Ajv(), { type: 'no-such-type' });
  t.throws(() => schemas.compileAll(), /type/);
});

t.test('all routes', (t) =>
  onBothDatabases(t, 'every schema of every route compiles', async (t, database) => {
    const started = await startTestApp(database);
    const count = started.app.schemas.compileAll();
    t.ok(count > 300, `${count} schemas`);
    await started.close();
  }),
);
