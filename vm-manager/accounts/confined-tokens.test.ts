// What a token leaves over of its owner's rights: confined to applications it changes nothing that belongs to the whole
// organisation, and scopes of pipelines write nothing that people write.
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';
const title = { title: 'Name', severity: 'Sev' };
const mapping = (name: string) => ({ name, format: 'csv', fields: title, severity_map: { 'P-A': 'critical' } });

t.test('confined tokens', (t) =>
  onBothDatabases(t, 'confined-tokens', async (t, database: Database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const { token } = await at.user('admin');
    const call = (as: string, method: string, url: string, body?: unknown) =>
      at.call(method, `${v1}${url}`, { token: as, body });
    const project = (await call(token, 'POST', '/projects', { name: 'p' })).body['id'];
    const application = async (name: string): Promise<string> =>
      String((await call(token, 'POST', '/applications', { name, project_id: project })).body['id']);
    const [mine, other] = [await application('mine'), await application('other')];
    t.not(mine, other);
    const id = (await call(token, 'POST', '/imports/mappings', mapping('all'))).body['id'];
    const role = (await call(token, 'POST', '/rbac/roles', { name: 'own', permissions: ['view_findings'] })).body['id'];
    const tokenOf = async (scopes: readonly string[], ids?: readonly string[]): Promise<string> =>
      String(
        (
          await call(token, 'POST', '/tokens', {
            name: `t${Math.random()}`,
            scopes,
            ...(ids && { application_ids: ids }),
          })
        ).body['token'],
      );

    for (const scope of ['ci', 'write', 'admin']) {
      const confined = await tokenOf([scope], [mine]);
      for (const [method, url, body] of [
        ['PATCH', `/imports/mappings/${id}`, { severity_map: { 'P-A': 'info' } }],
        ['DELETE', `/imports/mappings/${id}`, undefined],
        ['POST', '/imports/mappings', mapping(`mine-${scope}`)],
        ['POST', '/rbac/roles', { name: `r-${scope}`, permissions: ['view_findings'] }],
        ['PATCH', `/rbac/roles/${role}`, { permissions: ['view_assets'] }],
        ['PATCH', `/projects/${project}`, { name: 'renamed', owner: 'evil' }],
        ['POST', '/projects', { name: `p-${scope}` }],
      ] as const) {
        const { status } = await call(confined, method, url, body);
        t.ok([403, 404].includes(status), `${scope}: ${method} ${url}: ${status}`);
      }
    }
    t.match((await call(token, 'GET', `/imports/mappings/${id}`)).body['severity_map'], { 'P-A': 'critical' });
    t.match((await call(token, 'GET', `/projects/${project}`)).body, { name: 'p' });
    t.equal(
      (await call(token, 'PATCH', `/projects/${project}`, { name: 'q' })).status,
      200,
      'of the whole organisation',
    );
    t.equal((await call(token, 'PATCH', `/imports/mappings/${id}`, { rows_path: '' })).status, 200);

    const comment = { entity: 'application', entity_id: mine, text: 'x' };
    for (const [scope, status] of [
      ['ci', 403],
      ['report', 403],
      ['scan', 403],
      ['read', 403],
      ['write', 201],
      ['admin', 201],
    ] as const)
      t.equal((await call(await tokenOf([scope]), 'POST', '/comments', comment)).status, status, `comment by ${scope}`);
    t.equal((await call(token, 'POST', '/comments', comment)).status, 201, 'by a person');
  }),
);
