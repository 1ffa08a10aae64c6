// Packs and files whose time is over go by themselves; what is held stays.
import type { Host } from '../host.js';

/** Returns how many packs and files went. */
export async function removeExpired({ sql, audit }: Host, now: Date): Promise<number> {
  return sql.begin(async (tx) => {
    const packs = await tx<{ id: number; root: string | null }[]>`
      delete from vm_evidence_packs where keep_until <= ${now} and not hold returning id, root`;
    const files = await tx<{ id: number; sha256: string }[]>`
      delete from vm_evidence_files where keep_until <= ${now} and not hold returning id, sha256`;
    if (packs.length + files.length === 0) return 0;
    await audit.record(tx, {
      actor: { id: null, name: 'retention', role: 'system', sourceIp: '' },
      action: 'vm.delete',
      summary: `Removed ${packs.length} packs and ${files.length} files of evidence whose time was over`,
      details: { packs, files },
    });
    return packs.length + files.length;
  });
}
