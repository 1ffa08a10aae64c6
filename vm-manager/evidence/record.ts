// What the audit log says of a pack or a file, looked up by the sums of the bytes that are there now.
import type { Host } from '../host.js';

const dayMs = 86_400_000;

/**
 * `ok` is null only where the log no longer reaches back to `at`, since retention removed what was before: with entries
 * of then or before in the log, one that is missing was never written, or taken out.
 */
export async function findRecord(
  { audit }: Pick<Host, 'audit'>,
  details: Readonly<Record<string, string>>,
  at: Date,
): Promise<{ readonly ok: boolean | null; readonly id: number | null }> {
  const [from, to] = [new Date(at.getTime() - dayMs), new Date(at.getTime() + dayMs)];
  const entry = await audit.find('vm.create', details, { from, to });
  if (entry !== null) return { ok: true, id: entry.id };
  const [older] = await audit.excerpt({ from: new Date(0), to: new Date(at.getTime() + 1), after: 0, limit: 1 });
  return { ok: older === undefined ? null : false, id: null };
}
