import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** GATEHOUSE_ADMIN_TOKEN, or the one in `data/admin-token` (made on first start, mode 0600). */
export async function resolveAdminToken(given: string | null, dataDir: string): Promise<string> {
  if (given !== null && given !== '') return given;
  const path = join(dataDir, 'admin-token');
  try {
    const kept = (await readFile(path, 'utf8')).trim();
    if (kept !== '') return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const token = randomBytes(32).toString('hex');
  await mkdir(dataDir, { recursive: true, mode: 0o750 });
  await writeFile(path, `${token}\n`, { mode: 0o600 });
  return token;
}

/** Compared as digests: equal length, no early exit. */
export function isToken(given: string | undefined, token: string): boolean {
  if (given === undefined || !given.startsWith('Bearer ')) return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given.slice(7)), digest(token));
}
