// Sections about the installation as a whole: its settings, its audit log, who has access, its backups, its policies.
import { asJson, asLines, rowsById, type Collecting, type Section } from './section.js';

const auditPage = 1000;

/** Texts as they were hashed, with their hashes, oldest first. */
async function* auditOf({ host, period }: Collecting) {
  for (let after = 0; ; ) {
    const entries = await host.audit.excerpt({ ...period, after, limit: auditPage });
    yield* entries;
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function auditFiles(of: Collecting) {
  const hashes: string[] = [];
  async function* texts() {
    for await (const { text, hash } of auditOf(of)) {
      hashes.push(hash);
      yield text;
    }
  }
  const log = await asLines('audit', texts());
  const held = hashes.slice(0, log.rows ?? 0);
  const list = { name: 'audit-hashes.txt', content: Buffer.from(held.map((hash) => `${hash}\n`).join('')) };
  return [
    log,
    { ...list, rows: held.length, isCut: log.isCut },
    asJson('audit-verification.json', await of.host.audit.verify()),
  ];
}

async function accessFiles({ host, sql }: Collecting) {
  const confined = await sql<{ user_id: string }[]>`select user_id from vm_confined`;
  const users = (await host.identity.users({})).map(({ created_at, last_login_at, ...user }) => ({
    ...user,
    confined: confined.some((one) => one.user_id === user.id),
    created_at: created_at.toISOString(),
    last_login_at: last_login_at?.toISOString() ?? null,
  }));
  const grants = await sql`select user_id, scope, scope_id, role from vm_grants order by user_id, scope, scope_id`;
  const roles = await sql`select name, permissions from vm_roles order by name`;
  const tokens = await sql`
    select id, name, kind, user_id, scopes, application_ids, allowed_cidrs, created_at, expires_at, last_used_at,
      revoked_at from vm_tokens order by id`;
  return [
    await asLines('users', users),
    await asLines('grants', grants),
    await asLines('roles', roles),
    await asLines('tokens', tokens),
  ];
}

async function policyFiles({ sql }: Collecting) {
  const table = (name: string) =>
    rowsById(sql, (after, page) => sql<{ id: number }[]>`select * from ${sql(name)} where ${after} ${page}`);
  return [
    await asLines('sla-policies', table('vm_sla_policies')),
    await asLines('policies', table('vm_policies')),
    await asLines('gate-definitions', table('vm_gates')),
    await asLines('rules', table('vm_rules')),
  ];
}

export const organisationSections = {
  settings: {
    title: 'Settings',
    about: 'the settings as they are, secrets hidden, and the versions that were saved in the period',
    source: 'settings',
    needs: [],
    topics: ['changes', 'configuration', 'perimeter', 'availability'],
    collect: async ({ host, period }) => {
      const { current, versions } = (await host.settingsRecord?.(period)) ?? { current: null, versions: [] };
      return [asJson('settings.json', current), await asLines('settings-versions', versions)];
    },
  },
  audit: {
    title: 'Audit log',
    about: 'every entry of the period as it was hashed, with the hashes that chain them, and whether the chain holds',
    source: 'audit log',
    needs: ['view_audit'],
    topics: ['audit', 'monitoring', 'changes'],
    collect: auditFiles,
  },
  access: {
    title: 'Access',
    about: 'users with role and second factor, grants, roles, and tokens without their secrets',
    source: 'accounts',
    needs: ['view_users'],
    topics: ['access', 'privileges', 'second_factor', 'authentication'],
    collect: accessFiles,
  },
  policies: {
    title: 'Policies',
    about: 'terms for fixes, policies, gates and triage rules as they are',
    source: 'governance',
    needs: ['view_policies', 'view_sla', 'view_gates'],
    topics: ['vulnerabilities', 'changes', 'testing'],
    collect: policyFiles,
  },
  backups: {
    title: 'Backups',
    about: 'the newest hundred backups that were made or tried, and how each was verified',
    source: 'backups',
    needs: ['manage_backups'],
    topics: ['availability'],
    collect: async ({ host, sql, period }) => [
      await asLines('backups', (await host.backups?.made()) ?? []),
      await asLines(
        'backup-verifications',
        rowsById(
          sql,
          (after, page) => sql<{ id: number }[]>`
            select id, kind, status, input, result, error, created_by, created_at, finished_at from vm_runs
            where kind in ('backup.verify', 'backup.restore') and created_at >= ${period.from}
              and created_at < ${period.to} and ${after} ${page}`,
        ),
      ),
    ],
  },
} satisfies Record<string, Section>;
