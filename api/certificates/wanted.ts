// Certificates that nobody has to ask for: of the dashboard's name, and with https_automatic of every site with a host.
import { randomUUID } from 'node:crypto';
import { systemActor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { covers, whyNoName } from './names.js';
import { addCertificate, listCertificates } from './store.js';

export type WantedParts = Pick<Parts, 'database' | 'audit' | 'currentSettings' | 'upstreams' | 'acme'>;

/** Returns the names that are ordered from now on. One that was revoked by somebody is not ordered again by itself. */
export async function orderWanted(parts: WantedParts, now: Date): Promise<string[]> {
  const { database, audit, currentSettings, upstreams, acme } = parts;
  if (acme.directories.length === 0) return [];
  const settings = await currentSettings();
  const hosts = [
    ...(upstreams.dashboard == null ? [] : [upstreams.dashboard.host]),
    ...(settings.https_automatic ? settings.sites.map(({ host }) => host?.toLowerCase() ?? '') : []),
  ];
  const wanted = [...new Set(hosts)].filter((host) => host !== '' && whyNoName(host) === null && !host.startsWith('*'));
  if (wanted.length === 0) return [];
  const have = (await listCertificates(database.sql)).map(({ names }) => names.split(' '));
  const added: string[] = [];
  for (const name of wanted.filter((host) => !have.some((names) => covers(names, host))))
    await database.sql.begin(async (tx) => {
      const row = { id: randomUUID(), names: name, source: 'acme', challenge: 'http-01', directory: null } as const;
      const times = { next_attempt_at: now, created_at: now };
      if (!(await addCertificate(tx, { ...row, ...times, created_by: systemActor.name }))) return;
      added.push(name);
      await audit.record(tx, {
        actor: systemActor,
        action: 'certificate.order',
        summary: `a certificate for ${name} is ordered`,
        details: { certificate: row.id, names: [name] },
      });
    });
  return added;
}
