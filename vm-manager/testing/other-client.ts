// Somebody who has every permission in an application of their own, and nothing of the others.
import type { TestApp } from '#api/testing/app';
import type { onBothDatabases } from '#api/testing/databases';
import { Client } from './import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

export async function otherClient(at: TestApp, { sql }: Database): Promise<Client> {
  const { id, token } = await at.user('operator');
  const [own] = await sql<{ id: number }[]>`
    insert into vm_applications (name, created_at, updated_at) values (${`own of ${id}`}, now(), now()) returning id`;
  await sql`
    insert into vm_grants (user_id, scope, scope_id, role) values (${id}, 'application', ${own?.id ?? 0}, 'operator')`;
  await sql`insert into vm_confined values (${id})`;
  return new Client(at, token);
}
